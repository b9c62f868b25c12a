"""Many writers on one trail: one chain, no number twice, no reader that skips a record."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import trail_process
from falsework.runtime.clock import SystemWaiter
from falsework.runtime.lease import Granted, LeaseHost
from falsework.runtime.store import StoreUnknown
from falsework.runtime.trail import Fence, Page, Recorded, ReplyLost
from falsework.runtime.trail.journal import AuditTrail
from stores import BOTH, Place, placed
from trail_world import ALICE, TrailWorld, landed


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


@pytest.mark.parametrize("writers, times", [(8, 5), pytest.param(16, 200, marks=pytest.mark.slow)])
def test_threads_make_one_chain_and_a_reader_skips_nothing(place: Place, writers: int, times: int) -> None:
    world = TrailWorld(place)
    trails = [world.trail, AuditTrail(place.open(world.clock), None, world.seams)]  # two stores, half each
    done = threading.Event()

    def write(writer: int) -> list[int]:
        answers = [
            landed(trails[writer % 2].record_action("pay.x", "alice", ALICE, {"w": writer, "n": number}))
            for number in range(times)
        ]
        return [answer.sequence_number for answer in answers]

    def read() -> list[int]:
        seen: list[int] = []
        cursor, ended = 4, False
        while not ended:
            ended = done.is_set()  # looked at before the page, so the last page is read after the last write
            page = world.trail.read_range(cursor, 7)
            assert isinstance(page, Page)
            seen += [record.sequence_number for record in page.records]
            cursor = page.cursor
            ended = ended and page.complete
        return seen

    with ThreadPoolExecutor(writers + 1) as pool:
        reader = pool.submit(read)
        written = list(pool.map(write, range(writers)))
        done.set()
        seen = reader.result()
    numbers = sorted(number for one in written for number in one)
    assert numbers == list(range(5, 5 + writers * times))
    assert seen == numbers
    assert all(one == sorted(one) for one in written)
    assert world.verify().is_clean


def test_a_policy_that_did_not_land_is_forgotten(place: Place) -> None:
    # A record that shared its commit has read it; the next policy may have its number and another period.
    inside, go = threading.Event(), threading.Event()

    def hold(passed: str) -> None:
        if passed == "trail.declare.written" and not go.is_set() and armed:
            inside.set()
            go.wait()

    armed = False
    world = TrailWorld(place, hold)
    armed = True
    writer = world.store.writer

    class NoCommit:
        """A connection whose every commit is lost."""

        def __getattr__(self, name: str) -> object:
            return getattr(writer, name)

        def commit(self, name: str) -> None:
            writer.roll_back()
            raise StoreUnknown(f"{name}: lost")

    world.store.writer = NoCommit()  # type: ignore[assignment]
    with ThreadPoolExecutor(2) as pool:
        declared = pool.submit(world.steward.declare_retention, "new.", 5)
        inside.wait()
        recorded = pool.submit(world.trail.record_action, "new.x", "alice", ALICE, {})
        while not world.store._queue:
            pass
        go.set()
        assert isinstance(declared.result(), ReplyLost)
        assert isinstance(recorded.result(), ReplyLost)
    world.store.writer = writer
    assert landed(world.steward.declare_retention("new.", 7)).sequence_number == 5
    world.record(action="new.x")
    assert [record.retention_until for record in world.records()] == [None, 1_007]


@pytest.mark.slow
def test_processes_make_one_chain(place: Place) -> None:
    world = TrailWorld(place)
    where = str(place.file) if place.kind == "sqlite" else f"{place.dsn}|{place.schema}"
    command = [sys.executable, trail_process.__file__, "write", place.kind, where]
    processes = [
        subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True) for number in range(3)
    ]
    events = {event for process in processes for event in process.communicate()[0].split()}
    assert len(events) == 3 * trail_process.RECORDS
    assert events == {record.event_id for record in world.records()}
    assert world.verify().is_clean


def test_leases_and_records_are_judged_by_the_databases_own_clock(place: Place) -> None:
    # No clock is injected: the store is the clock of the lease, of the stamp and of the fence.
    world = TrailWorld(place)
    store = place.open()
    host = LeaseHost(store, store, SystemWaiter(store))
    trail = AuditTrail(store, None, world.seams)
    before = trail.now()
    granted = host.take("k", "a", 60_000_000)
    assert isinstance(granted, Granted)
    answer = trail.record_action("pay.x", "alice", ALICE, {}, fence=Fence("k", "a", granted.expires_at))
    assert isinstance(answer, Recorded)
    assert before <= answer.recorded_at <= trail.now()
    assert before + 60_000_000 <= granted.expires_at <= answer.recorded_at + 60_000_000
