"""Which event may come next: the events of a log by node, each with what must have come before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from falsework.conformance.observed_log import Event, Log, LogProblem

Ideal = tuple[int, ...]
"""Of each lane how many of its events have taken place; what an event needs is written the same way."""

INSERTED = ""
"""The lane of an event that stands in no line; no node has this name."""


@dataclass(frozen=True)
class Placed:
    """An event with its lane, what must have come before it, and whether it may also be left out."""

    event: Event
    lane: int
    needs: Ideal
    optional: bool = False

    @property
    def before(self) -> int:
        """How many events must have come before it."""
        return sum(self.needs)

    def allowed(self, ideal: Ideal) -> bool:
        """Whether all that must come before it has taken place."""
        return all(done >= need for done, need in zip(ideal, self.needs, strict=True))


class Order:
    """The partial order of a log's events. Raises LogProblem where causes go round in a circle.

    A cause that stands in no line is left out of account: the reader has refused it, or a repair dropped it.
    """

    def __init__(self, log: Log, events: tuple[Event, ...], nodes: list[str]) -> None:
        self.log = log
        self.lanes: list[list[Placed]] = [[] for _ in range(len(nodes) + 1)]
        self.number = {node: lane for lane, node in enumerate([*nodes, INSERTED])}
        self.total = len(events)
        needs = _by_parents(log, events, self.number) if log.causal else _by_lines(log, events, self.number)
        self.placed = [
            Placed(event, self.number[event.node], need) for event, need in zip(events, needs, strict=False)
        ]
        self.pending = [
            Placed(event, self.number[event.node], need, optional=True)
            for event, need in zip(log.pending, needs[len(events) :], strict=True)
        ]
        for placed in (*self.placed, *self.pending):
            self.lanes[placed.lane].append(placed)
        self._split: dict[Ideal, tuple[Ideal, int]] = {}
        self._next: dict[Ideal, list[tuple[Placed, Ideal]]] = {}

    @property
    def nothing(self) -> Ideal:
        """Before the first event."""
        return (0,) * len(self.lanes)

    def split(self, ideal: Ideal) -> tuple[Ideal, int]:
        """Without the events that never ended, and which of those have taken place, a bit each."""
        found = self._split.get(ideal)
        if found is None:
            bits, least = 0, list(ideal)
            for bit, placed in enumerate(self.pending):
                if ideal[placed.lane] == len(self.lanes[placed.lane]):
                    bits |= 1 << bit
                    least[placed.lane] -= 1
            found = self._split[ideal] = tuple(least), bits
        return found

    def next(self, ideal: Ideal) -> list[tuple[Placed, Ideal]]:
        """The events that may take place then, each with what has taken place after it."""
        if ideal not in self._next:
            self._next[ideal] = list(self._allowed(ideal))
        return self._next[ideal]

    def _allowed(self, ideal: Ideal) -> Iterator[tuple[Placed, Ideal]]:
        for lane, done in enumerate(ideal):
            if done < len(self.lanes[lane]) and (placed := self.lanes[lane][done]).allowed(ideal):
                yield placed, (*ideal[:lane], done + 1, *ideal[lane + 1 :])


def _by_lines(log: Log, events: tuple[Event, ...], number: dict[str, int]) -> list[Ideal]:
    """What had ended before each event began."""
    counts = [0] * len(number)
    prefixes = [tuple(counts)]
    for event in events:
        counts[number[event.node]] += 1
        prefixes.append(tuple(counts))
    return [prefixes[min(event.began, len(events))] for event in (*events, *log.pending)]


def _by_parents(log: Log, events: tuple[Event, ...], number: dict[str, int]) -> list[Ideal]:
    """What each event names as its causes, and theirs; and what its own node did before."""
    every = [*events, *log.pending]
    lanes: dict[str, list[int]] = {node: [] for node in number}
    by_name: dict[tuple[str, int], tuple[int, int]] = {}
    for place, event in enumerate(every):
        by_name[event.node, event.seq] = place, len(lanes[event.node])
        lanes[event.node].append(place)
    before = {place: lane[i - 1] for lane in lanes.values() for i, place in enumerate(lane) if i}
    found: dict[int, Ideal] = {}
    for place in range(len(every)):
        waiting = [place]
        while waiting:
            here = waiting[-1]
            named = [by_name[parent][0] for parent in every[here].after if parent in by_name]
            causes = [before[here], *named] if here in before else named
            if missing := [cause for cause in causes if cause not in found and here not in found]:
                if missing[0] in waiting:
                    raise LogProblem(
                        log.name, every[here].line, "its causes go round in a circle; leave an after out"
                    )
                waiting.append(missing[0])
                continue
            waiting.pop()
            found[here] = _joined(every, found, by_name, number, causes)
    return [found[place] for place in range(len(every))]


def _joined(
    every: list[Event],
    found: dict[int, Ideal],
    by_name: dict[tuple[str, int], tuple[int, int]],
    number: dict[str, int],
    causes: list[int],
) -> Ideal:
    """The causes and all that they need."""
    counts = [0] * len(number)
    for cause in causes:
        counts = [max(mine, other) for mine, other in zip(counts, found[cause], strict=True)]
        event = every[cause]
        lane = number[event.node]
        counts[lane] = max(counts[lane], by_name[event.node, event.seq][1] + 1)
    return tuple(counts)
