"""The same journal on a server is audited to the same end, in one snapshot that cannot write."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from audit_world import SWEEP, WEEK, ByHand
from command_line import falsework
from falsework.runtime.audit.auditor import Asked, audit
from falsework.runtime.audit.found import Audit
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.trail.journal import AuditTrail
from invocation_world import ACTORS, founded
from pg_cluster import Cluster, cluster

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with cluster() as opened:
        yield opened


@pytest.fixture
def hand(server: Cluster, tmp_path: Path) -> Iterator[ByHand]:
    """The journal by hand, kept by the server."""
    with ByHand() as made:
        made.store.close()
        with psycopg.connect(server.dsn, autocommit=True) as raw:
            raw.execute("DROP SCHEMA IF EXISTS falsework CASCADE")
        url = f"postgresql://falsework@127.0.0.1:{server.port}/postgres"
        text = made.deployment.read_text("utf-8").replace("sqlite:ledger.db", url)
        made.deployment.write_text(text, "utf-8")
        with PostgresStore(url, clock=made.clock) as store:
            founded(store, ACTORS, (("ledger", WEEK),))
            made.store = store  # type: ignore[assignment]
            made.trail = AuditTrail(store, None, made.seams)
            yield made


def lived(hand: ByHand) -> None:
    """One act purged, one recovered, and one that the sweep closed twice."""
    hand.closes("disclosed", hand.intent("inv-0", key="old"), invocation="inv-0", key="old")
    hand.clock.instant += WEEK
    hand.steward.purge()
    intent, other = hand.intent(), hand.intent("inv-2", key="other")
    hand.passes(90)
    hand.plans(intent)
    hand.recovers("disclosed", intent, disclosure_id="a")
    for _ in range(2):
        hand.recovers("escalated", other, "inv-2", "other", cause="not-observed")
    hand.finds("journal-unavailable", 5, 6, 7)
    hand.witnessed()


def told(found: Audit) -> tuple[object, ...]:
    """All of an audit but where it was."""
    return replace(found.subject, journal="", deployment="", witness=""), found.checks


def test_a_server_is_audited_to_the_same_end_as_a_file(hand: ByHand) -> None:
    lived(hand)
    with ByHand() as file:
        lived(file)
        on_file = file.audit(witness=True)
    on_server = hand.audit(witness=True)
    assert [c.number for c in on_server.checks if c.violations] == ["2.1", "6.1", "Invariant 2.3"]
    assert told(on_server) == told(on_file)
    assert on_server.check("5.1").looked_at == 4
    assert {record.actor_ref for record in on_server.check("5.1").examined} == {SWEEP}


def test_the_server_is_read_in_one_snapshot_that_cannot_write(hand: ByHand) -> None:
    lived(hand)
    before = hand.audit().subject.records

    def probe(act_key: str, payload: dict[str, object]) -> object:
        hand.intent("inv-9", key="nine")
        return hand.says

    asked = Asked(hand.deployment, at=hand.clock.instant)
    assert audit(asked, {"ledger": probe}).subject.records == before


def test_a_server_without_a_journal_is_told(hand: ByHand, server: Cluster) -> None:
    hand.store.close()
    with psycopg.connect(server.dsn, autocommit=True) as raw:
        raw.execute("DROP SCHEMA falsework CASCADE")
    answer = falsework("audit", str(hand.deployment))
    assert answer.code == 13
    assert "its postgresql store: holds no journal of this release" in answer.err
    hand.deployment.write_text(hand.deployment.read_text("utf-8").replace(f":{server.port}/", ":1/"), "utf-8")
    answer = falsework("audit", str(hand.deployment))
    assert answer.code == 13
    assert "cannot be read (connection" in answer.err
