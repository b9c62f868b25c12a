"""The candidates of a log: the states in which the model may be after each event, advanced event by event.

Candidates that agree on what has taken place and on the state are one. With each stands, a bit an invariant,
which of them some way to it keeps and which of them some way to it breaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from falsework.conformance.observed_order import Ideal, Order, Placed
from falsework.conformance.observed_steps import Steps

Marks = tuple[int, int]
"""The invariants that some way keeps, and those that some way breaks."""

Level = dict[Ideal, dict[int, Marks]]
"""The candidates after so many events: what has taken place, in which state, with its marks."""

MAX_HIDDEN = 64
MAX_CANDIDATES = 100_000
STATES = 20
"""How many states may be met in all, for each of the candidates that may stand at a line."""
KEPT = 1_000_000
"""How many candidates of the levels are kept for a repair; of more, the last levels are."""
LAST_LEVELS = 32


@dataclass(frozen=True)
class Limits:
    """How many unlogged steps may stand in a gap, how many candidates at a line, how much work in all."""

    hidden: int = MAX_HIDDEN
    candidates: int = MAX_CANDIDATES
    work: int | None = None


@dataclass
class Searched:
    """How far the candidates came, and what cut the search."""

    order: Order
    levels: dict[int, Level] = field(default_factory=dict)
    reached: int = 0  # how many events the last level has behind it
    waiting: Placed | None = None  # the first line that no candidate has behind it
    before: Level = field(default_factory=dict)  # the candidates that wait for it
    there: Level = field(default_factory=dict)  # and those with the unlogged steps behind them
    hidden_cut: Placed | None = None  # the first event before which the limit of unlogged steps cut
    stop: str = ""  # "candidates", "states" or "work" where that limit ended the search
    bounded: bool = False  # whether a bound of the model cut a step of some candidate
    most: int = 0
    work: int = 0

    @property
    def explained(self) -> bool:
        """Whether a candidate is left after the last event."""
        return self.reached == self.order.total and not self.stop

    @property
    def last(self) -> Level:
        """The candidates after the last event that has some."""
        return self.levels[self.reached]

    @property
    def front(self) -> Placed:
        """The first line that no candidate has behind it: there they empty, or the search ended."""
        assert self.waiting is not None
        return self.waiting

    def looks_at(self, level: Level, closed: Level) -> None:
        """The candidates that have most lines behind them, whatever came besides, are remembered."""
        for ideal, states in closed.items():
            onward = [placed for placed, _ in self.order.next(ideal) if not placed.optional]
            first = min(onward, key=lambda placed: placed.event.line, default=None)
            if first is None or (self.waiting and first.event.line < self.waiting.event.line):
                continue
            if first is not self.waiting:
                self.waiting, self.before, self.there = first, {}, {}
            self.there[ideal] = states
            if ideal in level:
                self.before[ideal] = level[ideal]


class Search:
    """A search over one order; it may begin at a level that another search has reached."""

    def __init__(self, steps: Steps, order: Order, limits: Limits) -> None:
        self.steps = steps
        self.order = order
        self.limits = limits
        self.done = Searched(order)

    def begin(self) -> Level:
        """The initial states."""
        every = self.steps.every_invariant
        level: Level = {}
        for number, broken in self.steps.begins():
            level.setdefault(self.order.nothing, {})[number] = (every & ~broken, broken)
        return level

    def run(self, level: Level, reached: int = 0) -> Searched:
        """The candidates advanced to the end, to where they empty, or to a limit."""
        done = self.done
        done.reached, done.levels[reached] = reached, level
        held = 0
        while done.reached < self.order.total:
            closed = self._closed(level)
            done.looks_at(level, closed)
            level = {} if done.stop else self._advanced(closed)
            if not level:
                break
            done.reached += 1
            done.levels[done.reached] = level
            held += sum(map(len, level.values()))
            if held > KEPT:
                done.levels.pop(done.reached - LAST_LEVELS, None)
        return done

    def _closed(self, level: Level) -> Level:
        """The candidates and those that unlogged steps lead to, the nearest first."""
        done, limits = self.done, self.limits
        closed = {ideal: dict(states) for ideal, states in level.items()}
        size = sum(map(len, closed.values()))
        freer = _Freer(self.order, closed)
        frontier = [(ideal, state) for ideal, states in closed.items() for state in states]
        depth = 0
        while frontier:
            depth += 1
            fresh: list[tuple[Ideal, int]] = []
            for ideal, state in frontier:
                kept, broken = closed[ideal][state]
                done.work += 1
                for onward, target, bits in self._unlogged(ideal, state):
                    there = closed.setdefault(onward, {})
                    old = there.get(target)
                    if old is None and depth > limits.hidden:
                        self._cut(ideal)
                        continue
                    marks = (kept & ~bits, broken | bits)
                    if old is None:
                        if freer.than(onward, target, marks):
                            continue
                        size += 1
                    else:
                        marks = (old[0] | marks[0], old[1] | marks[1])
                        if marks == old:
                            continue
                    there[target] = marks
                    fresh.append((onward, target))
            done.stop = self._stopped(size)
            if done.stop:
                break
            frontier = fresh
        done.most = max(done.most, size)
        return closed

    def _stopped(self, size: int) -> str:
        """Which limit ends the search here, if one does."""
        limits = self.limits
        if size > limits.candidates:
            return "candidates"
        if self.steps.met > STATES * limits.candidates:
            return "states"
        return "work" if limits.work is not None and self.done.work > limits.work else ""

    def _cut(self, ideal: Ideal) -> None:
        if self.done.hidden_cut is None:
            self.done.hidden_cut = next(
                (placed for placed, _ in self.order.next(ideal) if not placed.optional), None
            )

    def _unlogged(self, ideal: Ideal, state: int) -> list[tuple[Ideal, int, int]]:
        """The steps that no line has to tell: hidden ones, and those that began and never ended."""
        found = [(ideal, target, bits) for target, bits in self.steps.hidden_from(state)]
        if self.order.pending:
            for placed, onward in self.order.next(ideal):
                if placed.optional:
                    moves = self.steps.explained(state, placed.event)
                    found += [(onward, target, bits) for target, bits in moves]
        return found

    def _advanced(self, closed: Level) -> Level:
        """The candidates after one more event."""
        level: Level = {}
        for ideal, states in closed.items():
            for placed, onward in self.order.next(ideal):
                if placed.optional:
                    continue
                there: dict[int, Marks] = {}
                for state, (kept, broken) in states.items():
                    moves = self.steps.explained(state, placed.event)
                    self.done.bounded = self.done.bounded or state in self.steps.cut_at
                    for target, bits in moves:
                        old = there.get(target, (0, 0))
                        there[target] = (old[0] | (kept & ~bits), old[1] | broken | bits)
                if there:
                    known = level.setdefault(onward, {})
                    for target, marks in there.items():
                        old = known.get(target, (0, 0))
                        known[target] = (old[0] | marks[0], old[1] | marks[1])
        return _freest(self.order, level)


class _Freer:
    """Which candidates have the same behind them and an event that never ended still before them.

    Whatever may follow where such an event has taken place may follow where it has not, for it may be left
    out for ever: of two candidates that differ in that alone, one is enough.
    """

    def __init__(self, order: Order, level: Level) -> None:
        self.order = order
        self.met: dict[tuple[Ideal, int], list[tuple[int, Marks]]] = {}
        if order.pending:
            for ideal, states in level.items():
                for state, marks in states.items():
                    self._add(ideal, state, marks)

    def _add(self, ideal: Ideal, state: int, marks: Marks) -> None:
        least, bits = self.order.split(ideal)
        self.met.setdefault((least, state), []).append((bits, marks))

    def than(self, ideal: Ideal, state: int, marks: Marks) -> bool:
        """Whether there is one already that is free to do all that this one may; else this one is met now."""
        if not self.order.pending:
            return False
        least, bits = self.order.split(ideal)
        for fewer, other in self.met.get((least, state), ()):
            less = fewer & ~bits == 0 and fewer != bits
            if less and not (marks[0] & ~other[0] or marks[1] & ~other[1]):
                return True
        self._add(ideal, state, marks)
        return False


def _freest(order: Order, level: Level) -> Level:
    """The level without the candidates of which there is a freer one."""
    if not order.pending or len(level) < 2:
        return level
    freer, found = _Freer(order, {}), {}
    for ideal in sorted(level, key=lambda one: order.split(one)[1].bit_count()):
        kept = {s: marks for s, marks in level[ideal].items() if not freer.than(ideal, s, marks)}
        if kept:
            found[ideal] = kept
    return found
