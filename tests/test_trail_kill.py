"""A process killed at every durable boundary of the trail: what it was told stands, and the journal is clean.

The children are forked by a process that does nothing else, so that hundreds of them cost no start each.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

import trail_process
from falsework.runtime.store import boundaries
from falsework.runtime.trail import checkpoint, journal, steward
from stores import BOTH, Place, placed
from trail_world import TrailWorld

BOUNDARIES = [
    boundary
    for boundary in (*journal.BOUNDARIES, *steward.BOUNDARIES, *checkpoint.BOUNDARIES)
    if boundary not in boundaries(steward.FOUND)
]


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


class Killer:
    """The process whose children are killed."""

    def __init__(self, place: Place, world: TrailWorld) -> None:
        where = str(place.file) if place.kind == "sqlite" else f"{place.dsn}|{place.schema}"
        command = [sys.executable, trail_process.__file__, "kill", place.kind, where, str(world.witness.path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def killed_at(self, boundary: str, times: int) -> tuple[int, set[str]]:
        """The signal that ended the child, and the events that it had been answered."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{boundary} {times}\n")
        self.process.stdin.flush()
        ended_by, *events = self.process.stdout.readline().split()
        return int(ended_by), set(events)


def survives(place: Place, kills: int) -> None:
    """Every boundary has killed a child so often, and nothing was lost or left half done."""
    world = TrailWorld(place)
    killer = Killer(place, world)
    told: set[str] = set()
    try:
        for times in range(1, kills + 1):
            for boundary in BOUNDARIES:
                ended_by, events = killer.killed_at(boundary, times % 3 + 1)
                assert ended_by == signal.SIGKILL, boundary  # else the boundary is never passed
                told |= events
            verdict = world.verify()
            assert verdict.fault is None, verdict
    finally:
        killer.process.communicate()
    with world.store.snapshot() as snapshot:
        there = {event for (event,) in snapshot.execute("SELECT event_id FROM journal")}
    assert told <= there
    assert len(told) > 2 * kills * len(BOUNDARIES)
    world.notary.checkpoint()
    assert world.verify().is_clean


def test_there_are_as_many_boundaries_as_the_modules_say() -> None:
    # 3 + 2 of recording, 3 of the read behind the writers, 3 of each of five acts, 3 + 2 of a checkpoint.
    assert len(BOUNDARIES) == len(set(BOUNDARIES)) == 28


@pytest.mark.slow
def test_a_kill_at_any_boundary_loses_nothing(place: Place) -> None:
    survives(place, 5)


@pytest.mark.slow
def test_a_crowd_that_is_killed_loses_nothing_it_was_answered(place: Place) -> None:
    # Eight threads share commits when the process dies, each somewhere else.
    world = TrailWorld(place)
    killer = Killer(place, world)
    told: set[str] = set()
    try:
        for enough in range(20, 60, 4):
            ended_by, events = killer.killed_at("crowd", enough)
            assert ended_by == signal.SIGKILL
            assert len(events) >= enough
            told |= events
    finally:
        killer.process.communicate()
    there = {record.event_id for record in world.records()}
    assert told <= there
    assert len(there) - len(told) <= 10 * 8  # at most what each thread had not been answered yet
    assert world.verify().is_clean


@pytest.mark.deep
def test_a_hundred_kills_at_each_boundary_lose_nothing(place: Place) -> None:
    survives(place, 100)
