"""A sweep simulated tick by tick: where an orphan's closing lands, with no sum and no closed form anywhere.

It knows the rules alone: a run reads its clock once, when it starts; it leaves an act whose reading is short
of the edge; one run dies with the act unclosed; the next lands. The cadence is read in three ways: counted
from a run's end; from its start, a run in flight deferring the next; or ticking on, a tick beside a run in
flight (the tick of its end included) being dropped.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple


class Sweep(NamedTuple):
    """The figures that the simulation needs, by the letters of the published table."""

    bound: int
    allowance: int
    cadence: int
    run: int
    latency: int
    write: int

    @property
    def kept_waiting(self) -> range:
        """How long a run may last that waits for a holder: an invocation, a dead run, an operator."""
        holders = range(max(self.bound, self.latency + self.write) + 1)
        longest = max([self.run, *(held + self.latency for held in holders)])
        return range(longest + 1)

    def leaves(self, now: int, offset: int) -> bool:
        """Whether a run that starts now, on a clock that is off by so much, leaves the act."""
        return now + offset < self.bound + self.allowance

    @property
    def offsets(self) -> range:
        """How far a clock may be off."""
        return range(-self.allowance, self.allowance + 1)


class Landing(NamedTuple):
    """When a closing lands, and in which case."""

    at: int
    in_flight: bool  # a run that left the act was in flight when every clock had passed the edge
    died: bool


# --- the cadence counted from a run's end, every choice open ------------------------------------------------


def landings(sweep: Sweep) -> Iterator[Landing]:
    """Every landing there is: each run's offset and length, and whether one dies that examines the act."""
    crossed = sweep.bound + 2 * sweep.allowance  # from then on no clock within the allowance is short of it
    for start, offset, lasts in itertools.product(range(crossed), sweep.offsets, range(sweep.run + 1)):
        if not sweep.leaves(start, offset):
            continue
        now = start
        while now < start + lasts:  # the run passes without the act
            now += 1
        in_flight = now >= crossed
        for _ in range(sweep.cadence):
            now += 1
        if any(not sweep.leaves(now, other) for other in sweep.offsets):
            yield from _from_the_second(sweep, now, in_flight)


def _from_the_second(sweep: Sweep, now: int, in_flight: bool) -> Iterator[Landing]:
    for second in sweep.kept_waiting:
        yield Landing(now + second, in_flight, died=False)
        for third in sweep.kept_waiting:
            yield Landing(now + second + sweep.cadence + third, in_flight, died=True)


# --- the cadence from start to start, every run lasting its bound -------------------------------------------


def latest_from_starts(sweep: Sweep) -> int:
    """The latest landing of all phases and offsets, where one run dies and the last takes its longest."""
    whole = sweep.cadence + sweep.run  # no two starts lie further apart
    return max(
        _from_starts(sweep, first, offset) for first in range(-whole, 1) for offset in (-sweep.allowance, 0)
    )


def _from_starts(sweep: Sweep, first: int, offset: int) -> int:
    due, free, died = first, first, False
    for now in itertools.count(first):
        if now < due or now < free:
            continue
        if now >= 0 and not sweep.leaves(now, offset):
            if died:
                return now + max(sweep.kept_waiting)
            died = True
        due, free = now + sweep.cadence, now + sweep.run
    raise AssertionError("unreachable: time goes on for ever")


# --- the cadence as ticks, every run lasting its bound ------------------------------------------------------


def latest_on_ticks(sweep: Sweep) -> int:
    """The latest landing of all phases and offsets, where one run dies and the last takes its longest."""
    whole = sweep.cadence * (sweep.run + 1)  # no two starts lie further apart
    return max(
        _on_ticks(sweep, first, offset) for first in range(-whole, 1) for offset in (-sweep.allowance, 0)
    )


def _on_ticks(sweep: Sweep, first: int, offset: int) -> int:
    """One schedule: a tick each cadence from `first` on, a run at each that finds none in flight."""
    in_flight_until = first - 1
    died = False
    for now in itertools.count(first, sweep.cadence):
        if now <= in_flight_until:
            continue  # dropped
        lasts = sweep.run
        if now >= 0 and not sweep.leaves(now, offset):
            if died:
                return now + max(sweep.kept_waiting)
            died = True
        in_flight_until = now + lasts
    raise AssertionError("unreachable: the ticks go on for ever")
