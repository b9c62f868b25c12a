"""A breadth-first count over plain tuples, and nothing else."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

State = TypeVar("State")
Constants = Mapping[str, int]


@dataclass
class Counted:
    """Distinct states by level; the steps taken and the steps cut, by the name of the action."""

    levels: list[int] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)

    @property
    def states(self) -> int:
        return sum(self.levels)

    @property
    def generated(self) -> int:
        """TLC's states generated: the initial ones, and every successor, within its constraint or not."""
        return self.levels[0] + self.taken.total() + self.cut.total()


def walk(starts: Iterable[State], steps: Callable[[State], Iterator[tuple[str, State | None]]]) -> Counted:
    """All that can be reached; a step to None is one that leads out of the bounds, and is not taken."""
    counted = Counted()
    seen: set[State] = set()
    frontier = set(starts)
    while frontier:
        seen |= frontier
        counted.levels.append(len(frontier))
        reached: set[State] = set()
        for state in frontier:
            for action, after in steps(state):
                if after is None:
                    counted.cut[action] += 1
                else:
                    counted.taken[action] += 1
                    reached.add(after)
        frontier = reached - seen
    return counted
