"""The lease between real processes on one file: contention, a killed holder, a kill at every boundary.

Each process reads its time from a file that the test moves, so nothing here waits for time to pass.
"""

import signal
from pathlib import Path

import pytest

from falsework.runtime.clock import FileClock
from falsework.runtime.lease import BOUNDARIES, Granted, Judge, LeaseHost, Waiting
from falsework.runtime.store import Row
from falsework.runtime.store.sqlite import SqliteStore
from lease_process import LeaseProcess
from lease_world import Script

pytestmark = pytest.mark.slow


class Place:
    """A store and a clock in files, and how to start a process on them."""

    def __init__(self, directory: Path) -> None:
        self.database = directory / "lease.db"
        self.clock = FileClock(directory / "clock")
        self.clock.move_to(100)

    def process(self, killed_at: str = "") -> LeaseProcess:
        started = LeaseProcess(self.database, self.clock.path, killed_at)
        assert started.said() == "ready"
        return started

    def table(self, name: str) -> list[Row]:
        with SqliteStore(self.database) as store, store.snapshot() as snapshot:
            return snapshot.execute(f"SELECT * FROM {name}")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_of_two_processes_one_is_granted_each_key(place: Place) -> None:
    keys = [f"k{number}" for number in range(60)]
    with place.process() as one, place.process() as two:
        for key in keys:
            one.tell("try_take", key, "one", 30)
            two.tell("try_take", key, "two", 30)
        answers = [sorted((one.said(), two.said())) for _ in keys]
    assert answers == [["Granted(expires_at=130)", "Unavailable()"]] * len(keys)
    assert len(place.table("lease")) == len(keys)


def test_a_killed_holder_keeps_its_key_until_the_terminus(place: Place) -> None:
    # act section 2, and the walkthrough's crash: the section stays held until the lease runs out at t + 30.
    with place.process() as holder, place.process() as other:
        assert holder.does("take", holder="a", number=30) == "Granted(expires_at=130)"
        assert holder.kill() == signal.SIGKILL
        assert other.does("try_take", holder="b", number=5) == "Unavailable()"
        place.clock.move_to(129)
        assert other.does("try_take", holder="b", number=5) == "Unavailable()"
        assert other.does("remaining", holder="a") == "1"
        assert other.does("take", holder="b", number=5) == "waits until 130"
        place.clock.move_to(130)
        assert other.does("look again") == "Granted(expires_at=135)"


def test_a_waiting_process_is_granted_what_another_releases(place: Place) -> None:
    with place.process() as holder, place.process() as other:
        holder.does("take", holder="a", number=30)
        assert other.does("take", holder="b", number=5) == "waits until 130"
        place.clock.move_to(110)
        assert holder.does("release", holder="a") == "Released()"
        assert other.does("look again") == "Granted(expires_at=115)"
        assert holder.does("release", holder="a") == "NotHeld()"
        assert other.does("remaining", holder="b") == "5"


def test_a_restarted_holder_finds_its_lease(place: Place) -> None:
    # Nothing is kept in a process: a new one under the same name has the same standing (act section 14).
    with place.process() as first:
        first.does("take", holder="a", number=30)
    place.clock.move_to(120)
    with place.process() as second:
        assert second.does("remaining", holder="a") == "10"
        assert second.does("take", holder="a", number=30) == "Reentered(expires_at=130)"


ORDERS = {
    # verb killed: the order that passes it, what stands in the tables before it, and once it is durable
    "lease.take": (("take", "k", "a", 30), [], [("k", "a", 130)]),
    "lease.poll": (("take", "held", "a", 30), [("held", "h", 105)], [("held", "a", 135)]),
    "lease.release": (("release", "held", "h", 0), [("held", "h", 105)], []),
    "judge.admit": (("admit", "k", "a", 128), [], [(1, "k", "a", 128, 100)]),
}


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_kill_at_a_boundary_leaves_all_or_nothing(place: Place, boundary: str) -> None:
    verb, _, moment = boundary.rpartition(".")
    order, before, after = ORDERS[verb]
    with SqliteStore(place.database) as store:
        host = LeaseHost(store, place.clock, Script())
        if before:
            assert host.take("held", "h", 5) == Granted(105)
    with place.process(boundary) as doomed:
        answer = doomed.does(*order)
        if verb == "lease.poll":
            assert answer == "waits until 105"
            place.clock.move_to(105)
            answer = doomed.does("look again")
        assert answer == ""  # the reply is lost, whatever has landed
        assert doomed.ended_by() == signal.SIGKILL
    landed = after if moment == "durable" else before
    assert place.table("admitted" if verb == "judge.admit" else "lease") == landed
    with SqliteStore(place.database) as store:  # and nobody is kept waiting by the dead writer's lock
        assert LeaseHost(store, place.clock, Script()).try_take("next", "b", 1) == Granted(
            place.clock.now() + 1
        )


def test_a_host_of_this_process_waits_for_a_killed_holder_like_any_other(place: Place) -> None:
    with place.process() as holder, SqliteStore(place.database) as store:
        holder.does("take", holder="a", number=30)
        holder.does("admit", holder="a", number=128)
        holder.kill()
        host = LeaseHost(store, place.clock, Script([lambda: place.clock.move_to(130)]))
        assert host.ask("k", "b", 5) == Waiting("k", "b", 5, deadline=130)
        assert host.take("k", "b", 5) == Granted(135)
        assert [act.holder for act in Judge(store, place.clock).acts()] == ["a"]  # what was admitted stays
