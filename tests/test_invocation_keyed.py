"""The journal read by act: what a start asks of the database is what the journal says from its beginning.

The oracle is the rebuild, which reads every record and looks at no index. Figures of edges are the text's.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    Committed,
    JournalUnavailable,
    NotCommitted,
    Outcome,
    RecordingFailure,
    State,
)
from falsework.runtime.invocation.findings import Register
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.keyed import Invocation, Keyed
from falsework.runtime.store import Store, StoreFailed, StoreRefused, postgres, schema, sqlite
from invocation_world import DATA, KEY, KIND, OUTCOME, SECOND, HandClock, World, deployment_with
from stores import BOTH, Place, placed


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as made:
        yield made


@pytest.fixture
def world(place: Place) -> Iterator[World]:
    clock = HandClock()
    made = World(deployment_with(retention_period=1_000 * SECOND), place.open(clock), clock)
    yield made
    made.end()


ODD: list[tuple[str, trail.Data]] = [
    ("ledger.disclosed", {"kind": "grant", "act_key": KEY, "invocation_id": "inv-1"}),
    ("ledger.disclosed", {"kind": KIND, "act_key": 7, "invocation_id": "inv-1"}),
    ("ledger.disclosed", {"kind": KIND, "act_key": KEY}),
    ("ledger.sold", {"kind": KIND, "act_key": KEY, "invocation_id": "inv-1"}),
    ("ledger.not.intended", {"kind": KIND, "act_key": KEY, "invocation_id": "inv-1"}),
    ("ledger.", {"kind": KIND, "act_key": KEY, "invocation_id": "inv-1"}),
    ("stray.intended", {"kind": "stray", "act_key": "a\\u0000b", "invocation_id": "s-1", "x": "\0"}),
    ("stray.intended", {"kind": "stray", "act_key": "s", "invocation_id": "s-2", "x": "\\\0\0"}),
    ("stray.x.intended", {"kind": "stray", "act_key": "s", "invocation_id": "s-2"}),
    ("stray.intended", {"kind": "stray", "act_key": "s", "invocation_id": "s-3"}),
    ("stray.recovery_intended", {"kind": "stray", "act_key": "s", "invocation_id": "s-3", "plan": "x"}),
    ("stray.", {"kind": "stray", "act_key": "s", "invocation_id": "s-3"}),
    ("ledger.escalated", {"kind": KIND, "act_key": "nobody's", "invocation_id": "inv-0"}),
]
"""Records that nobody of the protocol writes so, and what only looks like a closing."""


def lived(world: World) -> None:
    """Acts in every state, some of them with two closings or two intents, and records that are none."""
    for number, ends in enumerate(("open", "closed", "refused", "swept", "resolved", "abandoned", "twice")):
        act = world.opened(key=f"act-{number}")
        if ends in ("closed", "twice"):
            world.close(act, key=f"act-{number}")
        if ends == "refused":
            world.refuse(act, key=f"act-{number}")
        if ends == "twice":
            again = world.journal()[-1]
            world.audit.record_action(OUTCOME, "erin", world.credentials["erin"], again.data or {})
        world.passes(40 if ends in ("swept", "resolved", "abandoned") else 0)
        if ends in ("swept", "resolved", "abandoned"):
            world.says = Committed(OUTCOME, {"disclosure_id": "dsc-9"}) if ends == "swept" else NotCommitted()
            world.instance.reconcile()
        if ends == "resolved":
            world.resolve(act, Outcome(OUTCOME, {"disclosure_id": "dsc-1"}), key=f"act-{number}")
        if ends == "abandoned":
            world.resolve(act, Abandon("quiet"), key=f"act-{number}")
    data = {**DATA, "invocation_id": "inv-77", "kind": KIND, "act_key": "act-9"}
    for _ in range(2):
        world.audit.record_action("ledger.intended", "erin", world.credentials["erin"], data)
    for ref, odd in ODD:
        world.audit.record_action(ref, "erin", world.credentials["erin"], odd)


def fresh(world: World, *, keyed: bool) -> Indexes:
    kinds = world.deployment.kinds
    by_act = Keyed(world.store, kinds) if keyed else None
    made = Indexes(world.audit, kinds, world.deployment.figures, world.clock, in_order=True, keyed=by_act)
    assert made.start() is None
    return made


def test_a_start_finds_what_a_reading_of_the_whole_journal_finds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In stretches of three records, too, and by act."""
    lived(world)
    monkeypatch.setattr("falsework.runtime.invocation.keyed.STRETCH", 3)
    started, whole = fresh(world, keyed=True), fresh(world, keyed=False)
    again = fresh(world, keyed=True)
    assert isinstance(again.rebuild(), list)
    assert whole.for_a_run() is None
    for late in (started, whole):
        assert isinstance(late.take_late_closings(), list)
    for other in (whole, again):
        assert started.maps.open_invocations == other.maps.open_invocations
        assert started.maps.escalated == other.maps.escalated
        assert +started.counts() == +other.counts()
    assert sorted(started.take_rival_intents()) == sorted(whole.take_rival_intents())
    for name, found in whole.every_invocation():
        for intent in found.intents:
            act = (intent.kind, intent.act_key)
            assert started.in_the_journal(act, name) == found
            assert started.of_act(act) == whole.of_act(act)
    shown = {name for name, found in whole.every_invocation() if found.intents}
    assert {name for name, _ in started.every_invocation()} == shown
    assert len(shown) > 10


def test_a_purge_takes_a_record_out_of_the_index_with_its_payload(world: World) -> None:
    act = world.opened()
    world.close(act)
    keyed = Keyed(world.store, world.deployment.kinds)
    assert keyed.of((KIND, KEY), act.invocation_id).closings
    world.passes(1_001)
    world.steward.purge()
    assert keyed.of((KIND, KEY), act.invocation_id) == Invocation()
    assert keyed.act((KIND, KEY)) == {}
    assert world.store.look("SELECT 1 FROM journal WHERE act IS NOT NULL OR invocation_id IS NOT NULL") == []


def test_nobody_writes_what_the_database_makes_of_a_payload(place: Place, world: World) -> None:
    """Whoever has the database, and has taken its guards away, can hide no act and invent none."""
    world.opened()
    place.unguarded()
    with place.bare() as run, pytest.raises(Exception, match=r"generated|GENERATED"):
        run("UPDATE journal SET act = 'ledger:act-2' WHERE act IS NOT NULL", ())


class Failing:
    """A store whose looks fail: the journal was read, and cannot be read by act."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def look(self, statement: str, values: object = ()) -> object:
        raise StoreFailed("away")


def test_an_act_that_cannot_be_looked_up_is_not_taken_for_a_fresh_one(world: World) -> None:
    """An outage between the delta and the look: no absence, no second act, and nothing written."""
    act = world.opened()
    world.passes(40)
    world.instance.reconcile()  # escalated, so that only the journal knows of it
    keyed = world.instance.parties.indexes.keyed
    assert keyed is not None
    once = replace(world.deployment.kinds[KIND], repeatable=False)
    world.deployment.kinds[KIND] = once
    inner, keyed.store = keyed.store, Failing(keyed.store)  # type: ignore[assignment]
    before = world.refs()
    assert world.open("erin") == JournalUnavailable("away")
    assert world.instance.read_invocation(KIND, KEY) == JournalUnavailable("away")
    resolved = world.resolve(act, Abandon("quiet"))
    assert isinstance(resolved, RecordingFailure)
    assert world.close(act).code == "recording-failure(outcome)"
    assert world.refs() == before
    keyed.store = inner
    assert world.open("erin").code.startswith("act-in-flight")


def test_an_act_that_a_run_cannot_look_up_is_left_for_the_next(world: World) -> None:
    """And the register is told that the journal was away."""
    world.opened()
    world.passes(40)
    keyed = world.instance.parties.indexes.keyed
    assert keyed is not None
    inner, keyed.store = keyed.store, Failing(keyed.store)  # type: ignore[assignment]
    tally = world.instance.reconcile()
    assert (tally.skipped, tally.examined) == (1, 1)  # type: ignore[union-attr]
    assert [found.finding.value for found in world.instance.findings()] == ["journal-unavailable"]
    keyed.store = inner
    assert world.instance.reconcile().escalated == 1  # type: ignore[union-attr]


def test_an_escalation_is_told_of_before_its_horizon_and_at_it(world: World) -> None:
    """1,000 s less 2 s is the horizon, and its last tenth begins at 898 s; each is told once."""
    world.opened()
    world.passes(40)
    world.instance.reconcile()
    rung: list[tuple[float, str]] = []
    for seconds in (897, 898, 900, 997, 998, 999):
        world.clock.instant = HandClock().instant + seconds * SECOND
        world.bell.alerts.clear()
        world.instance.reconcile()
        rung += [(seconds, what) for what in world.bell.rung]
    assert rung == [(898, "escalation near its horizon"), (998, "escalation lapsed")]
    assert world.instance.parties.indexes.lapsed() == {KIND: 1}


def test_a_resolved_escalation_is_told_of_no_more(world: World) -> None:
    act = world.opened()
    world.passes(40)
    world.instance.reconcile()
    node = world.node()
    assert [intent.invocation_id for intent in node.parties.indexes.every_escalated()] == [act.invocation_id]
    world.resolve(act, Abandon("quiet"))
    for instance in (world.instance, node, world.node()):
        instance.reconcile()
        assert instance.parties.indexes.every_escalated() == []
        assert instance.parties.indexes.counts()[KIND, State.RESOLVED] == 1
    world.passes(950)
    world.bell.alerts.clear()
    world.instance.reconcile()
    assert world.bell.rung == []


@pytest.mark.parametrize(
    "change, what",
    [
        ("DROP TABLE finding", "table finding is gone"),
        ("DROP TABLE binding", "table binding is gone"),
        ("ALTER TABLE heartbeat DROP COLUMN run_id", "column run_id of table heartbeat is gone"),
        ("DROP INDEX journal_by_act", "index journal_by_act is gone"),
    ],
)
def test_a_table_that_somebody_changed_is_told_at_the_start(
    place: Place, world: World, change: str, what: str
) -> None:
    with place.bare() as run:
        run(change, ())
    with pytest.raises(StoreRefused, match=f"{what}: "):
        place.open()


OLD = """INSERT INTO journal (seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation,
    policy_ref, retention_until, commitment, link, salt, payload)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
    SELECT i, CAST(i AS TEXT), i, 'ledger.intended', 'dana', 'k', ?, NULL, NULL, ?, ?, ?, ? FROM n"""


@pytest.mark.slow
def test_an_older_journal_is_brought_forward_however_long_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was recorded before is found by act, however long it takes: longer than a write's half second."""
    with monkeypatch.context() as patch:
        patch.setattr(schema, "STEPS", schema.STEPS[:2])
        for module in (sqlite, postgres):
            patch.setattr(module, "VERSION", 2)
        with place.open() as store, store.transaction("fill") as transaction:
            payload = b'{"act_key":"act-1","invocation_id":"inv-1","kind":"ledger"}'
            transaction.execute(OLD, (b"a", b"c", b"l", b"s", payload))
            transaction.execute(
                "CREATE TABLE finding (id TEXT NOT NULL PRIMARY KEY, finding TEXT NOT NULL, "
                "kind TEXT, act_key TEXT, invocation_id TEXT, detail TEXT NOT NULL, run_id TEXT NOT NULL, "
                "first_seen BIGINT NOT NULL, last_seen BIGINT, closed_at BIGINT)"
            )
            transaction.execute(
                "INSERT INTO finding VALUES ('i', 'unbound-kind', NULL, NULL, NULL, 'd', 'r', 1, 1, 1)"
            )
    with place.open(wait_ms=20 if place.kind == "postgres" else 5_000) as store:
        assert len(Keyed(store, {}).of((KIND, KEY), "inv-1").intents) == 40_000
        assert len(Register(store).findings()) == 1
