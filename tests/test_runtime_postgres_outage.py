"""A server that is stopped, killed and started again under load: nothing that was answered is lost.

Each caller numbers its records; what a caller was told is compared with what the journal holds afterwards.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from falsework.runtime.store import StoreRefused
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.trail import Page, Recorded, RecordingFailure, ReplyLost, Unavailable
from falsework.runtime.trail.identity import public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward, found
from falsework.runtime.trail.verify import verify
from pg_cluster import Cluster, cluster
from trail_world import ALICE, ROOT, landed

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

CALLERS = 4


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with cluster() as opened:
        yield opened


class Load:
    """Callers who record without pause, and keep what they were told."""

    def __init__(self, server: Cluster, schema: str) -> None:
        self.store = PostgresStore(server.dsn, schema=schema, write_bound_ms=2_000)
        found(self.store, "root", ROOT)
        self.trail = AuditTrail(self.store)
        steward = Steward(self.trail, "root", ROOT)
        landed(steward.register("alice", public_key_of(ALICE)))
        landed(steward.declare_retention("pay.", None))
        self.recorded: set[str] = set()
        self.lost: set[str] = set()
        self.failures = 0
        self.enough = threading.Event()
        self.some = threading.Semaphore(0)  # one permit for each record that is answered
        self.mutex = threading.Lock()

    def call(self, caller: int) -> None:
        number = 0
        while not self.enough.is_set():
            number += 1
            answer = self.trail.record_action("pay.x", "alice", ALICE, {"caller": caller, "n": number})
            with self.mutex:
                match answer:
                    case Recorded():
                        self.recorded.add(answer.event_id)
                        self.some.release()
                    case ReplyLost():
                        self.lost.add(answer.event_id)
                    case RecordingFailure():
                        self.failures += 1
                    case _:
                        raise AssertionError(answer)

    def under_load(self, fault: Callable[[], None], times: int) -> None:
        """The fault has happened so many times, each after the callers had got on."""
        with ThreadPoolExecutor(CALLERS) as pool:
            futures = [pool.submit(self.call, caller) for caller in range(CALLERS)]
            try:
                for _ in range(times):
                    self.get_on()
                    fault()
                self.get_on()
            finally:
                self.enough.set()
            for future in futures:
                future.result()

    def get_on(self) -> None:
        """Some more records have been answered."""
        for _ in range(40):
            assert self.some.acquire(timeout=30), "the callers do not get on"

    def journal(self) -> set[str]:
        """All event ids that the journal holds, read behind the writers."""
        after, events = 0, set()
        while True:
            page = self.trail.read_range(after, behind_writers=True)
            assert isinstance(page, Page)
            events |= {record.event_id for record in page.records}
            if page.complete:
                return events
            after = page.cursor


@pytest.mark.parametrize("how", ["fast", "immediate", "kill"])
def test_a_server_started_again_has_lost_nothing_that_was_answered(server: Cluster, how: str) -> None:
    load = Load(server, f"outage_{how}")

    def restart() -> None:
        if how == "kill":
            server.kill()
        else:
            server.stop(how)
        server.start()

    try:
        load.under_load(restart, times=3)
        there = load.journal()
        assert load.recorded <= there
        assert len(there - load.recorded - load.lost) == 3  # the trail's own: nothing else landed unsaid
        assert load.failures + len(load.lost) > 0  # else the callers never met the fault
        assert verify(load.store).is_clean
    finally:
        load.store.close()


def test_a_server_that_is_away_is_unavailable_and_then_is_there_again(server: Cluster) -> None:
    load = Load(server, "away")
    try:
        before = landed(load.trail.record_action("pay.x", "alice", ALICE, {}))
        server.stop("fast")
        try:
            answer = load.trail.record_action("pay.x", "alice", ALICE, {})
            assert isinstance(answer, RecordingFailure | ReplyLost)
            assert isinstance(load.trail.read_record(before.event_id), Unavailable)
            assert isinstance(load.trail.read_range(0), Unavailable)
            with pytest.raises(StoreRefused, match="cannot be reached"):
                PostgresStore(server.dsn, schema="away")
        finally:
            server.start()
        assert isinstance(load.trail.record_action("pay.x", "alice", ALICE, {}), Recorded)
        assert before.event_id in load.journal()
    finally:
        load.store.close()
