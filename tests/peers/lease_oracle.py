"""The lease once more, with instants instead of what is left of them, and a search of its own.

The host's clock always reads 0 and the world slides past it: a tick moves every instant down by one. The
judge's clock reads minus the lag. An instant is forgotten where no comparison tells it from an earlier one.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

DEAD = -1


@dataclass(frozen=True)
class Figures:
    workers: int = 2
    lease: int = 3
    allowance: int = 1
    lag: int = 0


@dataclass(frozen=True)
class World:
    """Who holds until when (or held until before now), and what else is remembered or under way."""

    owner: int | None
    until: int
    again: bool
    told: tuple[int, ...]
    last_looks: tuple[int | None, ...]
    act: tuple[int, int] | None  # its instant, and the terminus of the lease that it was sent under


@dataclass
class Counts:
    levels: list[int]
    steps: Counter[str]
    late_admission: int | None  # the steps after which an act is first admitted past its lease

    @property
    def states(self) -> int:
        return sum(self.levels)

    @property
    def transitions(self) -> int:
        return sum(self.steps.values())


def put(cells: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*cells[:index], value, *cells[index + 1 :])


def put_look(cells: tuple[int | None, ...], index: int, value: int | None) -> tuple[int | None, ...]:
    return (*cells[:index], value, *cells[index + 1 :])


def settled(world: World, figures: Figures) -> World:
    """The same world without what no longer matters."""
    until = max(world.until, 0)
    owner = None if until == 0 and world.owner == DEAD else world.owner
    act = world.act
    if act is not None:
        act = (max(act[0], -figures.lag), max(act[1], 0))
    return replace(world, owner=owner, until=until, told=tuple(max(t, 0) for t in world.told), act=act)


def taken(world: World, worker: int, figures: Figures) -> World | None:
    """The world after the worker got in, or None where another holds."""
    if world.until > 0 and world.owner != worker:
        return None
    again = world.until > 0
    until = world.until if again else figures.lease
    looks = put_look(world.last_looks, worker, None)
    return replace(
        world, owner=worker, until=until, again=again, told=put(world.told, worker, until), last_looks=looks
    )


def of_worker(world: World, worker: int, figures: Figures) -> Iterator[tuple[str, World]]:
    entered = taken(world, worker, figures)
    look = world.last_looks[worker]
    if look is None:
        waits = replace(world, last_looks=put_look(world.last_looks, worker, world.until))
        yield "ask", waits if entered is None else entered
        yield "try_take", world if entered is None else entered
    elif entered is not None:
        yield "poll", entered
    else:
        last = look <= 0
        yield "poll", replace(world, last_looks=put_look(world.last_looks, worker, None)) if last else world
    yield "remaining", world
    holds = world.owner == worker and world.until > 0
    if not holds:
        yield "release", world
        yield "mint", world
    else:
        if world.act is None or world.act[1] <= 0:
            told = put(world.told, worker, 0)
            yield "release", replace(world, owner=None, until=0, again=False, told=told)
        yield "mint", replace(world, act=(world.until - figures.allowance, world.until))
    owner = DEAD if world.owner == worker else world.owner
    looks = put_look(world.last_looks, worker, None)
    yield "die", replace(world, owner=owner, told=put(world.told, worker, 0), last_looks=looks)


def of_world(world: World, figures: Figures) -> Iterator[tuple[str, World]]:
    if world.act is not None:
        yield "admit", replace(world, act=None)
    if all(look is None or look > 0 for look in world.last_looks):
        yield (
            "pass_time",
            replace(
                world,
                until=world.until - 1,
                told=tuple(t - 1 for t in world.told),
                last_looks=tuple(None if look is None else look - 1 for look in world.last_looks),
                act=None if world.act is None else (world.act[0] - 1, world.act[1] - 1),
            ),
        )


def admitted_late(world: World, figures: Figures) -> bool:
    """The judge would admit the act that is under way, though its lease has ended by the host's clock."""
    return world.act is not None and -figures.lag < world.act[0] and world.act[1] <= 0


def count(figures: Figures) -> Counts:
    """All that can be reached, a level at a time; a late admission is seen and not followed."""
    start = World(None, 0, False, (0,) * figures.workers, (None,) * figures.workers, None)
    counts = Counts([], Counter(), None)
    seen = {start}
    frontier = [start]
    while frontier:
        counts.levels.append(len(frontier))
        reached: list[World] = []
        for world in frontier:
            moves = [m for worker in range(figures.workers) for m in of_worker(world, worker, figures)]
            for name, after in (*moves, *of_world(world, figures)):
                counts.steps[name] += 1
                if name == "admit" and admitted_late(world, figures):
                    counts.late_admission = counts.late_admission or len(counts.levels)
                    continue
                settles = settled(after, figures)
                if settles not in seen:
                    seen.add(settles)
                    reached.append(settles)
        frontier = reached
    return counts
