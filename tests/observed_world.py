"""Logs of the lease under a scheduler: workers and a judge on threads of their own, as a seed decides.

They are interrupted before and after what a verb does to the store, so that events overlap in the log; they
die there, and replies of the store are lost. What a log is changed by is chosen by a seed too.
"""

import functools
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from falsework.conformance.observed_log import header_of
from falsework.definition import definition_of
from falsework.models.lease import Lease
from falsework.runtime.lease import (
    Admitted,
    Granted,
    Judge,
    Late,
    LeaseHost,
    NotHeld,
    Reentered,
    Released,
    Unavailable,
    Waiting,
)
from falsework.runtime.observe import header_from
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease_log import LeaseWalk, Worker, losing
from scheduler import Crash, Odds, Scheduler

T = TypeVar("T")
HEADER = header_from(header_of(definition_of(Lease)))
TURNS = 16
"""How often each worker works."""
TICKS = 0.1
"""How often a tick passes between two turns."""


class TickingScheduler(Scheduler):
    """Time passes by whole ticks, and not past the deadline of somebody who waits."""

    walk: LeaseWalk

    def between_turns(self) -> None:
        if self.rng.random() < TICKS:
            self.walk.time_passes()

    def around(self, verb: Callable[[], T]) -> T:
        """What the verb does is done between two moments at which others may have their turn."""
        self.hook()
        answer = verb()
        self.hook()
        return answer


class HookedHost(LeaseHost):
    """The host, interrupted around each verb."""

    scheduler: TickingScheduler

    def ask(self, key: str, holder: str, duration: int, **how: bool) -> Granted | Reentered | Waiting:
        return self.scheduler.around(lambda: LeaseHost.ask(self, key, holder, duration, **how))

    def poll(self, waiting: Waiting, **how: bool) -> Granted | Reentered | Waiting | Unavailable:
        return self.scheduler.around(lambda: LeaseHost.poll(self, waiting, **how))

    def try_take(self, key: str, holder: str, duration: int) -> Granted | Reentered | Unavailable:
        answer = self.ask(key, holder, duration)  # interrupted there
        return Unavailable() if isinstance(answer, Waiting) else answer

    def remaining(self, key: str, holder: str) -> int | None:
        return self.scheduler.around(lambda: LeaseHost.remaining(self, key, holder))

    def release(self, key: str, holder: str) -> Released | NotHeld:
        return self.scheduler.around(lambda: LeaseHost.release(self, key, holder))

    def mint(self, key: str, holder: str, allowance: int) -> int | None:
        return self.scheduler.around(lambda: LeaseHost.mint(self, key, holder, allowance))


class HookedJudge(Judge):
    """The judge, likewise."""

    scheduler: TickingScheduler

    def admit(self, key: str, holder: str, instant: int) -> Admitted | Late:
        return self.scheduler.around(lambda: Judge.admit(self, key, holder, instant))


def recorded(seed: int, folder: Path, turns: int = TURNS) -> tuple[list[str], Mapping[str, int]]:
    """The lines that one run of the runtime wrote, and how often which fault was brought about."""
    scheduler = TickingScheduler(seed, Odds(crash=0.008, pause=0.0))
    lines: list[str] = []
    store = SqliteStore(folder / f"{seed}.db", failpoint=_lost(scheduler, losing(seed, lines)))
    host = type("Host", (HookedHost,), {"scheduler": scheduler})
    judge = type("Judge", (HookedJudge,), {"scheduler": scheduler})
    try:
        walk = LeaseWalk(scheduler.rng, lines.append, HEADER, store, host_class=host, judge_class=judge)
        scheduler.walk = walk
        for worker in walk.workers:
            scheduler.add(worker.name, functools.partial(works, scheduler, walk, worker, turns))
        scheduler.add("judge", lambda: delivers(scheduler, walk, turns))
        scheduler.run()
        walk.recorder.close()
    finally:
        store.close()
    return lines, scheduler.fired


def _lost(scheduler: Scheduler, failing: Callable[[str], None]) -> Callable[[str], None]:
    def failpoint(boundary: str) -> None:
        scheduler.refuse_the_dead()
        failing(boundary)

    return failpoint


def works(scheduler: TickingScheduler, walk: LeaseWalk, worker: Worker, turns: int) -> None:
    """The worker does one thing after another, and is replaced where it dies."""
    turn = 0
    while turn < turns or worker.waiting is not None:
        turn += 1
        try:
            walk.works(worker)
            scheduler.hook()
        except Crash:
            assert scheduler.current is not None
            scheduler.current.dead = False
            walk.dies(worker)


def delivers(scheduler: TickingScheduler, walk: LeaseWalk, turns: int) -> None:
    """The judge receives whatever is on its way; it is started anew where it dies."""
    for turn in range(3 * turns):
        try:
            scheduler.hook()
            walk.arrives()
        except Crash:
            assert scheduler.current is not None
            scheduler.current.dead = False
            walk.judge.name = f"judge {turn}"


# --- a log that is changed --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """A log with one event dropped, swapped with the next or altered."""

    how: str
    lines: list[str]


Line = dict[str, object]


def changed(lines: Sequence[str], seed: int) -> Changed:
    """One change, by the seed; the numbers of the events are put in order again."""
    rng = random.Random(seed)  # noqa: S311
    head, *body = (json.loads(line) for line in lines[:-1])
    ends = [place for place, line in enumerate(body) if not line.get("begun")]
    how = ("dropped", "swapped", "altered")[seed % 3]
    if how == "dropped":
        gone = body[rng.choice(ends)]
        body = [line for line in body if name_of(line) != name_of(gone)]
    elif how == "swapped":
        first = rng.randrange(len(ends) - 1)
        body = _swapped(body, name_of(body[ends[first]]), name_of(body[ends[first + 1]]))
    else:
        body = _altered(body, ends, rng)
    numbered = _numbered(body)
    events = len({name_of(line) for line in numbered})
    return Changed(how, [json.dumps(line) + "\n" for line in (head, *numbered, {"end": events})])


def name_of(line: Line) -> tuple[object, object]:
    return line["node"], line["seq"]


def _swapped(body: list[Line], one: tuple[object, object], two: tuple[object, object]) -> list[Line]:
    """The second event has wholly taken place before the first began, or as early as its node could."""
    moved = [line for line in body if name_of(line) == two]
    rest = [line for line in body if name_of(line) != two]
    place = next(i for i, line in enumerate(rest) if name_of(line) == one)
    end = next(i for i, line in enumerate(rest) if name_of(line) == one and not line.get("begun"))
    own = [i for i, line in enumerate(rest[:end]) if line["node"] == two[0] and one[0] != two[0]]
    place = max([place, *(i + 1 for i in own)])
    return [*rest[:place], *moved, *rest[place:]]


ANSWERS = {
    "ask": ("GRANTED", "REENTERED", "WAITING"),
    "poll": ("GRANTED", "WAITING", "UNAVAILABLE"),
    "try_take": ("GRANTED", "REENTERED", "UNAVAILABLE"),
    "remaining": (None, 1, 2, 3),
    "release": ("RELEASED", "NOT_HELD"),
    "mint": (None, -1, 0, 1, 2),
    "admit": ("ADMITTED", "LATE"),
}


def _altered(body: list[Line], ends: list[int], rng: random.Random) -> list[Line]:
    """Another answer, another worker, or another number of ticks that were left."""
    said = [place for place in ends if "answer" in body[place]]
    place = rng.choice(said)
    line = dict(body[place])
    what = rng.choice(("answer", "observed", "worker"))
    if what == "observed" and isinstance(seen := line.get("observed"), dict) and "left" in seen:
        line["observed"] = {**seen, "left": rng.choice([n for n in range(1, 4) if n != seen["left"]])}
    elif what == "worker" and line["action"] != "admit":
        return [
            {**one, "arguments": {"worker": 1 - one["arguments"]["worker"]}}  # type: ignore[index]
            if name_of(one) == name_of(line) and "arguments" in one
            else {key: value for key, value in one.items() if key != "observed"}
            if name_of(one) == name_of(line)
            else one
            for one in body
        ]
    else:
        others = [a for a in ANSWERS[str(line["action"])] if a != line["answer"]]
        line["answer"] = rng.choice(others)
    return [*body[:place], line, *body[place + 1 :]]


def _numbered(body: list[Line]) -> list[Line]:
    """Each node's events numbered from 1 in the order of their first lines."""
    latest: dict[object, int] = {}
    numbers: dict[tuple[object, object], int] = {}
    found = []
    for line in body:
        if name_of(line) not in numbers:
            latest[line["node"]] = numbers[name_of(line)] = latest.get(line["node"], 0) + 1
        found.append({**line, "seq": numbers[name_of(line)]})
    return found
