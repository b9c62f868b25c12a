"""A writer paused past its lease: with the fence nobody closes an act twice, with the gate alone many do.

Real processes are stopped by signals; the clock is a file that the test moves, so no time has to pass.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

import trail_paused
from falsework.runtime.clock import FileClock
from falsework.runtime.lease import Granted, LeaseHost
from falsework.runtime.store import StoreBusy
from falsework.runtime.trail import Fence, Page
from falsework.runtime.trail.journal import AuditTrail
from lease_world import Script
from stores import BOTH, Place, placed
from trail_paused import LEASE, closing, opened
from trail_world import TrailWorld


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened_place:
        yield opened_place


class Duel:
    """A writer in a process that is paused, and a sweep that closes what the writer has not."""

    def __init__(self, place: Place) -> None:
        self.world = TrailWorld(place)
        self.clock = FileClock(place.folder / "clock")
        self.clock.move_to(2_000)
        where = str(place.file) if place.kind == "sqlite" else f"{place.dsn}|{place.schema}"
        command = [sys.executable, trail_paused.__file__, place.kind, where, str(self.clock.path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # The sweep waits long enough for a server to end who is stopped inside, where there is a server.
        self.store = opened(place.kind, where, self.clock, 10 if place.kind == "sqlite" else 5_000)
        self.host = LeaseHost(self.store, self.store, Script())
        self.trail = AuditTrail(self.store)

    def pause(self, key: str, fenced: str, where: str) -> None:
        """The writer has taken the key, has passed its gate, and is stopped."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{key} {fenced} {where}\n")
        self.process.stdin.flush()
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def sweep(self, key: str) -> bool:
        """The act is closed, by this sweep if it was open; False where the key is held, or the store kept."""
        try:
            granted = self.host.try_take(key, "sweep", LEASE)
        except StoreBusy:
            return False
        if not isinstance(granted, Granted):
            return False
        if not self.closings(key):
            said = closing(self.trail, key, Fence(key, "sweep", granted.expires_at))
            assert said == "Recorded"
        self.host.release(key, "sweep")
        return True

    def go_on(self) -> str:
        """The writer goes on; what became of its record."""
        self.process.send_signal(signal.SIGCONT)
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def closings(self, key: str) -> int:
        """How many records close the act."""
        page = self.trail.read_range(4)
        assert isinstance(page, Page)
        return sum(record.data is not None and record.data.get("key") == key for record in page.records)

    def fought(self, number: int, fenced: str, where: str) -> int:
        """How many closings one act has in the end; the lease is over in half of the pauses."""
        key = f"act-{number}"
        self.pause(key, fenced, where)
        self.clock.move_to(self.clock.now() + number % (2 * LEASE))
        self.sweep(key)
        self.go_on()
        self.clock.move_to(self.clock.now() + 2 * LEASE)
        assert self.sweep(key)  # a later run closes what is open still
        return self.closings(key)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.store.close()


@pytest.fixture
def duel(place: Place) -> Iterator[Duel]:
    fighting = Duel(place)
    yield fighting
    fighting.close()


@pytest.mark.slow
def test_a_hundred_pauses_before_the_write_close_each_act_once(duel: Duel) -> None:
    assert [duel.fought(number, "fenced", "before") for number in range(100)] == [1] * 100
    assert duel.world.verify().is_clean


@pytest.mark.slow
def test_the_gate_alone_lets_acts_be_closed_twice(duel: Duel) -> None:
    # The control: the writer looked at its lease, was paused, and wrote all the same.
    counts = [duel.fought(number, "unfenced", "before") for number in range(60)]
    assert counts == [1 + (number >= LEASE) for number in range(60)]


@pytest.mark.slow
def test_pauses_inside_the_transaction_close_each_act_once(duel: Duel) -> None:
    # SQLite: nobody gets in until the writer goes on. PostgreSQL: the server ends it, and the sweep goes on.
    assert [duel.fought(number, "fenced", "inside") for number in range(10, 60, 5)] == [1] * 10
    assert duel.world.verify().is_clean
