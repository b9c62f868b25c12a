"""The retention window: placed at recording, destroyed at the horizon, and what remains says so.

Expected values are hand arguments; the policy of `pay.` keeps a record for a hundred units of time.
"""

from collections.abc import Iterator

import pytest

from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import (
    InvalidRequest,
    Purged,
    RecordAnswer,
    Recorded,
    RecordingFailure,
    Retained,
    Source,
    Step,
)
from falsework.runtime.trail.identity import fingerprint, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import MOST_AT_ONCE, NothingToDo
from stores import BOTH, Place, placed
from trail_world import ALICE, TrailWorld, landed


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


@pytest.fixture
def world(place: Place) -> TrailWorld:
    return TrailWorld(place)


def recorded(answer: RecordAnswer | NothingToDo) -> Recorded:
    assert isinstance(answer, Recorded), answer
    return answer


def payloads(world: TrailWorld) -> list[object]:
    return [None if record.data is None else record.data.get("n") for record in world.records()]


def test_the_longest_prefix_decides(world: TrailWorld) -> None:
    landed(world.steward.declare_retention("pay.slow.", 500))
    landed(world.steward.declare_retention("p", None))
    for action in ("pay.intended", "pay.slow.intended", "pay.slower", "paid"):
        world.record(action=action)
    assert [(record.policy_ref, record.retention_until) for record in world.records(6)] == [
        ("pay.", 1_100),
        ("pay.slow.", 1_500),
        ("pay.", 1_100),
        ("p", None),
    ]
    assert world.verify().is_clean


def test_a_policy_declared_by_another_process_is_seen(world: TrailWorld, place: Place) -> None:
    other = AuditTrail(place.open(world.clock), None, world.seams)
    landed(other.record_action("pay.x", "alice", ALICE, {}))
    landed(world.steward.declare_retention("pay.x", 7))
    answer = landed(other.record_action("pay.x", "alice", ALICE, {}))
    assert world.records(answer.sequence_number - 1)[0].retention_until == 1_007


def test_a_policy_is_declared_once(world: TrailWorld) -> None:
    for period in (100, 200, None):
        answer = world.steward.declare_retention("pay.", period)
        assert answer == InvalidRequest(
            Source.RETENTION, "a policy of 'pay.' is declared already, and for good"
        )
    assert world.records() == []


@pytest.mark.parametrize(
    "prefix, period",
    [
        ("", 1),
        ("trail.", 1),
        ("trail.x", 1),
        ("t", 1),
        ("x.", 0),
        ("x.", -1),
        ("x.", 2**63),
        ("x.", True),
        ("x.", 1.5),
        ("\n", 1),
    ],
)
def test_a_bad_policy_is_refused(world: TrailWorld, prefix: str, period: int) -> None:
    answer = world.steward.declare_retention(prefix, period)
    assert isinstance(answer, InvalidRequest)
    assert answer.source is Source.INPUT
    assert world.records() == []


@pytest.mark.parametrize("now, due", [(1_099, 0), (1_100, 1), (1_101, 1)])
def test_a_payload_is_destroyed_from_its_horizon_on(world: TrailWorld, now: int, due: int) -> None:
    answer = world.record()
    world.clock.instant = now
    assert isinstance(world.steward.purge(), Recorded if due else NothingToDo)
    assert isinstance(world.trail.read_record(answer.event_id), Purged if due else Retained)
    assert world.verify().destroyed == due
    assert world.verify().is_clean


def test_a_purge_names_what_it_destroyed_and_no_more(world: TrailWorld) -> None:
    for number in range(4):
        world.clock.instant = 1_000 + 10 * number
        world.record({"n": number})
    world.clock.instant = 1_115
    purge = recorded(world.steward.purge())
    answer = world.trail.read_record(purge.event_id)
    assert isinstance(answer, Retained)
    assert answer.record.data == {"destroyed": [[5, "event 5"], [6, "event 6"]]}
    assert answer.record.action_ref == "trail.purged"
    assert payloads(world)[:4] == [None, None, 2, 3]
    assert isinstance(world.steward.purge(), NothingToDo)
    assert world.verify().is_clean


def test_what_is_spared_holds_up_nothing_else(world: TrailWorld) -> None:
    # A page of records that may not be destroyed must not starve those behind it.
    for number in range(6):
        world.record({"n": number})
    world.clock.instant = 2_000
    open_ones = {"event 5", "event 6", "event 7", "event 8"}
    recorded(world.steward.purge(limit=1, spares=open_ones.__contains__))
    assert payloads(world)[:6] == [0, 1, 2, 3, None, 5]
    recorded(world.steward.purge(spares=open_ones.__contains__))
    assert payloads(world)[:6] == [0, 1, 2, 3, None, None]
    recorded(world.steward.purge())
    assert payloads(world)[:6] == [None] * 6
    assert world.verify().is_clean


@pytest.mark.slow
def test_a_purge_of_many_goes_on_where_it_stopped(world: TrailWorld) -> None:
    many = MOST_AT_ONCE + 10
    for number in range(many):
        world.record({"n": number})
    world.clock.instant = 2_000
    recorded(world.steward.purge())
    assert payloads(world)[:many].count(None) == MOST_AT_ONCE
    recorded(world.steward.purge())
    assert payloads(world)[:many].count(None) == many
    assert world.verify().is_clean


def test_the_trails_own_records_are_kept_for_good(world: TrailWorld) -> None:
    world.record()
    world.clock.instant = 10**15
    recorded(world.steward.purge())
    assert all(
        record.data is not None for record in world.records(0) if record.action_ref.startswith("trail.")
    )
    assert isinstance(world.steward.purge(), NothingToDo)


def test_a_record_without_a_place_is_placed_later(world: TrailWorld) -> None:
    # Retention coverage at quiescence: placed late at worst, and counted from when it was recorded.
    world.trail.record_action("other.x", "alice", ALICE, {"n": 1})
    assert isinstance(world.steward.place_late(), NothingToDo)
    world.clock.instant = 1_500
    landed(world.steward.declare_retention("other.", 600))
    assert isinstance(world.steward.purge(), NothingToDo)
    placing = recorded(world.steward.place_late())
    assert isinstance(world.steward.place_late(), NothingToDo)
    (record, *_) = world.records()
    assert (record.policy_ref, record.retention_until) == ("other.", 1_600)
    said = world.trail.read_record(placing.event_id)
    assert isinstance(said, Retained)
    assert said.record.data == {"placed": [[5, "other.", "1600"]]}
    assert world.verify().is_clean
    world.clock.instant = 1_600
    recorded(world.steward.purge())
    assert isinstance(world.trail.read_record(record.event_id), Purged)
    assert world.verify().is_clean


def test_a_period_that_gives_no_end_fails_at_its_step(world: TrailWorld) -> None:
    landed(world.steward.declare_retention("long.", 2**62 - 1))
    world.clock.instant = 2**62 + 5
    answer = world.trail.record_action("long.x", "alice", ALICE, {})
    assert isinstance(answer, RecordingFailure)
    assert answer.step is Step.PLACE
    assert isinstance(world.steward.place_late(), NothingToDo)
    assert world.verify().is_clean


PLAIN = "a secret that the law says must go"


def test_nothing_of_a_destroyed_payload_is_left_in_the_files() -> None:
    with placed("sqlite") as place:
        world = TrailWorld(place)
        for _ in range(20):
            world.record({"secret": PLAIN})
        world.clock.instant = 2_000

        def found() -> bool:
            return any(PLAIN.encode() in path.read_bytes() for path in place.folder.iterdir())

        assert found()  # else the search is blind
        recorded(world.steward.purge())
        assert isinstance(world.store, SqliteStore)
        assert world.store.sweep_destroyed()
        assert not found()


@pytest.mark.postgres
def test_destroyed_rows_are_given_back_to_their_table() -> None:
    with placed("postgres") as place:
        world = TrailWorld(place)
        for _ in range(20):
            world.record({"plain": PLAIN})
        world.clock.instant = 2_000
        recorded(world.steward.purge())
        assert isinstance(world.store, PostgresStore)
        assert world.store.sweep_destroyed()
        count = (
            "SELECT vacuum_count FROM pg_stat_user_tables "
            "WHERE relname = 'journal' AND schemaname = current_schema()"
        )
        with place.bare() as run:
            assert run(
                "SELECT COUNT(*) FROM journal WHERE position(?::bytea in payload) > 0", (PLAIN.encode(),)
            ) == [(0,)]
            # A server counts a little later than it answers.
            assert any(run(count, ()) == [(1,)] for _ in range(5_000))


def test_a_reader_holds_up_the_sweep_of_the_log_and_is_told() -> None:
    with placed("sqlite") as place:
        world = TrailWorld(place)
        store = SqliteStore(place.file, busy_timeout_ms=0)
        with store.snapshot() as snapshot:
            snapshot.execute("SELECT * FROM journal")
            world.record()
            assert not store.sweep_destroyed()
        with world.store.transaction("a writer that has written nothing yet"):
            assert store.sweep_destroyed() in {True, False}  # whoever else writes, it neither fails nor waits
        assert store.sweep_destroyed()
        store.close()


def test_keys_are_registered_once_and_revoked_once(world: TrailWorld) -> None:
    alice = public_key_of(ALICE)
    assert isinstance(world.steward.register("carol", alice), InvalidRequest)
    assert isinstance(world.steward.register("carol", b"short"), InvalidRequest)
    for instant in (0, -1, 2**63, True):
        answer = world.steward.register("carol", bytes(range(32)), valid_until=instant)
        assert isinstance(answer, InvalidRequest)
        assert answer.detail.startswith(f"valid until is {instant!r}: write an instant")
    assert isinstance(world.steward.revoke("nothing"), InvalidRequest)
    landed(world.steward.revoke(fingerprint(alice)))
    assert isinstance(world.steward.revoke(fingerprint(alice)), InvalidRequest)
    assert [record.action_ref for record in world.records()] == ["trail.key_revoked"]
