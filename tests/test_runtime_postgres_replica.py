"""A standby beside the primary: it is refused while it follows, and what its promotion loses is noticed."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from falsework.runtime.store import StoreFailed, StoreRefused
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.trail import Unavailable
from falsework.runtime.trail.checkpoint import FileWitness, Notary, RolledBack, refuse_a_rollback
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import found
from falsework.runtime.trail.verify import Reason, verify
from pg_cluster import Cluster, cluster
from trail_world import ROOT

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

SCHEMA = "replicated"


@pytest.fixture
def primary() -> Iterator[Cluster]:
    with cluster() as opened:
        yield opened


@pytest.fixture
def standby(primary: Cluster) -> Iterator[Cluster]:
    """A server that follows the primary, and has all that is in it so far."""
    with PostgresStore(primary.dsn, schema=SCHEMA) as store:
        found(store, "root", ROOT)
    with cluster(primary) as opened:
        yield opened


def followed(primary: Cluster, standby: Cluster) -> None:
    """The standby has replayed all that the primary has written."""
    with (
        psycopg.connect(primary.dsn, autocommit=True) as first,
        psycopg.connect(standby.dsn, autocommit=True) as second,
    ):
        written = first.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert written is not None
        replayed = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        while second.execute(replayed, written).fetchone() != (True,):
            pass


def record(trail: AuditTrail, number: int) -> None:
    # The administrator acts, without a policy: appended all the same, and answered so.
    trail.record_action("act.x", "root", ROOT, {"n": number})


def test_a_replica_is_refused_at_the_start(primary: Cluster, standby: Cluster) -> None:
    followed(primary, standby)
    with pytest.raises(StoreRefused, match=r"is (a replica: give the primary|read-only)"):
        PostgresStore(standby.dsn, schema=SCHEMA)


def test_a_store_that_is_led_to_a_replica_reads_nothing_there(primary: Cluster, standby: Cluster) -> None:
    # The name stays and the server behind it changes, as when an address is moved.
    followed(primary, standby)
    with PostgresStore(primary.dsn, schema=SCHEMA) as store:
        trail = AuditTrail(store)
        record(trail, 1)
        store.server.dsn = standby.dsn
        primary.stop("fast")
        answer = trail.read_range(0)
        assert isinstance(answer, Unavailable)
        assert "is a replica: give the primary" in answer.detail
        with pytest.raises(StoreFailed, match="is a replica"), store.transaction("t"):
            pytest.fail("entered")


def test_a_promotion_that_lost_commits_is_noticed_by_the_witness(
    primary: Cluster, standby: Cluster, tmp_path: Path
) -> None:
    witness = FileWitness(tmp_path / "witness")
    with PostgresStore(primary.dsn, schema=SCHEMA) as store:
        trail = AuditTrail(store)
        record(trail, 1)
        followed(primary, standby)
        with psycopg.connect(standby.dsn, autocommit=True) as raw:
            raw.execute("SELECT pg_wal_replay_pause()")
        standby.stop("fast")  # it follows no longer, and nobody waits for it
        record(trail, 2)
        Notary(trail, ROOT, witness).checkpoint()
    primary.kill()
    standby.start()
    standby.promote()
    with PostgresStore(standby.dsn, schema=SCHEMA) as store:
        trail = AuditTrail(store)
        with pytest.raises(RolledBack, match=r"^the witness has seen record 3 of trail "):
            refuse_a_rollback(trail, witness)
        fault = verify(store, witness.held()).fault
        assert fault is not None
        assert fault.reason is Reason.TRUNCATED
        assert verify(store).fault is None  # without the witness nothing tells
