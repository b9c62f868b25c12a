"""Recording and reading, answer by answer, on both stores.

Expected values are hand arguments from the text's rules, named at each test, and the contract's sentences.
"""

from collections.abc import Callable, Iterator

import pytest

from falsework.runtime.store import StoreBusy, StoreFailed, StoreUnknown
from falsework.runtime.trail import (
    Because,
    Caps,
    Data,
    Fence,
    InvalidCredential,
    InvalidQuery,
    InvalidRequest,
    NotKnown,
    Page,
    Purged,
    Record,
    Recorded,
    RecordingFailure,
    ReplyLost,
    Retained,
    Source,
    Step,
    Unavailable,
)
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail, TrailError, fresh_event_id
from falsework.runtime.trail.steward import Steward, found
from stores import BOTH, Place, placed
from trail_world import ALICE, BOB, ROOT, TrailWorld, landed


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


@pytest.fixture
def world(place: Place) -> TrailWorld:
    return TrailWorld(place)


# Recording.


def test_a_record_is_stamped_numbered_and_attested(world: TrailWorld) -> None:
    world.clock.instant = 1_234
    assert world.record({"a": [1, None, {"b": True}]}) == Recorded("event 5", 5, 1_234)
    (record,) = world.records()
    assert record == Record(
        sequence_number=5,
        event_id="event 5",
        recorded_at=1_234,
        action_ref="pay.intended",
        actor_ref="alice",
        attestation_id=record.attestation_id,
        policy_ref="pay.",
        retention_until=1_334,
        data={"a": [1, None, {"b": True}]},
    )
    assert len(record.attestation_id) == 32
    assert world.verify().is_clean


def test_event_ids_of_their_own_are_fresh_and_sorted() -> None:
    ids = [fresh_event_id() for _ in range(100)]
    assert len(set(ids)) == 100
    assert {len(event_id) for event_id in ids} == {32}
    assert [event_id[:12] for event_id in ids] == sorted(event_id[:12] for event_id in ids)


LONG = "x" * 257


@pytest.mark.parametrize(
    "action, actor, said",
    [
        ("", "alice", "action ref is ''"),
        ("pay.\n", "alice", "action ref is 'pay.\\n'"),
        (LONG, "alice", "action ref has 257 characters: write at most 256"),
        ("pay.x", "", "actor ref is ''"),
        ("pay.x", LONG, "actor ref has 257 characters"),
        ("trail.purged", "alice", "action ref is 'trail.purged': what begins with trail. is the trail's own"),
    ],
)
def test_a_bad_reference_is_refused(world: TrailWorld, action: str, actor: str, said: str) -> None:
    answer = world.trail.record_action(action, actor, ALICE, {})
    assert isinstance(answer, InvalidRequest)
    assert answer.source is Source.INPUT
    assert answer.detail.startswith(said)
    assert world.records() == []


@pytest.mark.parametrize("over", [0, 1])
def test_the_cap_is_of_the_whole_envelope(place: Place, over: int) -> None:
    # The serialised envelope of the text's payload cap, written out: 80 bytes and an attestation id of 32.
    envelope = '{"action_ref":"pay.x","actor_ref":"alice","attestation_id":"","data":{"t":"yy"}}'
    assert len(envelope) + 32 == 112
    world = TrailWorld(place, caps=Caps(payload=112))
    data: Data = {"t": "yy" + "y" * over}
    assert world.trail.measure("pay.x", "alice", data) == 112 + over
    answer = world.trail.record_action("pay.x", "alice", ALICE, data)
    if over:
        assert answer == InvalidRequest(
            Source.PAYLOAD, "data makes an envelope of 113 bytes: write at most 112"
        )
    assert len(world.records()) == 1 - over


def test_an_actor_nobody_registered_is_an_invalid_request(world: TrailWorld) -> None:
    # The text's four sources of an invalid request: the second is Actor Identity's.
    assert world.trail.record_action("pay.x", "eve", ALICE, {}) == InvalidRequest(
        Source.IDENTITY, "actor 'eve' is not registered: register it first"
    )
    assert world.records() == []


def forged(credential: str) -> str:
    """One letter of the credential is another."""
    return credential[:-2] + ("A" if credential[-2] != "A" else "B") + credential[-1]


@pytest.mark.parametrize(
    "credential", [BOB, ROOT, "", "x", "ed25519:", "ed25519:AAAA", ALICE[:-1], ALICE.upper(), forged(ALICE)]
)
def test_a_wrong_credential_writes_nothing(world: TrailWorld, credential: str) -> None:
    # Invariant 1.2: invalid-credential lands as a pre-state refusal with nothing written.
    answer = world.trail.record_action("pay.x", "alice", credential, {})
    assert isinstance(answer, InvalidCredential)
    assert ALICE not in answer.detail
    assert len(credential) < 10 or credential not in answer.detail
    assert world.records() == []


def test_a_credential_ends_at_its_instant(world: TrailWorld) -> None:
    credential = fresh_credential()
    landed(world.steward.register("carol", public_key_of(credential), valid_until=1_010))
    world.clock.instant = 1_009
    landed(world.trail.record_action("pay.x", "carol", credential, {}))
    world.clock.instant = 1_010
    assert world.trail.record_action("pay.x", "carol", credential, {}) == InvalidCredential(
        "this credential of 'carol' ended at 1010"
    )
    assert world.verify().is_clean


def test_a_revoked_credential_attests_nothing_more_and_another_takes_its_place(world: TrailWorld) -> None:
    before = world.record()
    landed(world.steward.revoke(fingerprint(public_key_of(ALICE))))
    assert world.trail.record_action("pay.x", "alice", ALICE, {}) == InvalidCredential(
        "this credential of 'alice' has been revoked"
    )
    fresh = fresh_credential()
    landed(world.steward.register("alice", public_key_of(fresh)))
    landed(world.trail.record_action("pay.x", "alice", fresh, {}))
    assert isinstance(world.trail.read_record(before.event_id), Retained)
    assert world.verify().is_clean


def test_nothing_of_a_credential_is_stored(world: TrailWorld, place: Place) -> None:
    world.record()
    seed = bytes([2]) * 32
    with place.bare() as run:
        for table in ("journal", "actor_key", "trail", "policy"):
            for row in run(f"SELECT * FROM {table}", ()):
                assert not any(seed in value for value in row if isinstance(value, bytes))
                assert not any(ALICE in value for value in row if isinstance(value, str))


# Where recording fails.


def raising(boundary: str, error: Exception) -> Callable[[str], None]:
    def failpoint(passed: str) -> None:
        if passed == boundary:
            raise error

    return failpoint


@pytest.mark.parametrize(
    "boundary, step",
    [
        ("trail.record.looked", Step.ATTEST),
        ("trail.record.begun", Step.ATTEST),
        ("trail.record.written", Step.APPEND),
    ],
)
def test_a_failure_before_the_commit_appends_nothing(place: Place, boundary: str, step: Step) -> None:
    # Primitive policy 23: step-2 and step-3 leave nothing appended.
    world = TrailWorld(place)
    store = place.open(world.clock, raising(boundary, StoreFailed("a fault")))
    trail = AuditTrail(store, None, world.seams, raising(boundary, StoreFailed("a fault")))
    answer = trail.record_action("pay.x", "alice", ALICE, {})
    assert answer == RecordingFailure(step, Because.FAILED, "a fault")
    assert world.records() == []


def test_a_failed_placement_leaves_the_record_appended(place: Place) -> None:
    # The text's recording-failure(step-4): the append committed, the retention placement did not.
    world = TrailWorld(place)
    faulty = AuditTrail(
        world.store, None, world.seams, raising("trail.record.placed", StoreFailed("no place"))
    )
    answer = faulty.record_action("pay.x", "alice", ALICE, {})
    assert answer == RecordingFailure(Step.PLACE, Because.FAILED, "no place")
    (record,) = world.records()
    assert (record.policy_ref, record.retention_until) == (None, None)
    assert isinstance(world.trail.read_record(record.event_id), Retained)
    assert world.verify().unplaced == 1
    assert world.verify().is_clean


def test_a_kind_without_a_policy_is_recorded_all_the_same(world: TrailWorld) -> None:
    # Only the retention source of an invalid request leaves the record appended.
    assert world.trail.record_action("other.x", "alice", ALICE, {}) == InvalidRequest(
        Source.RETENTION, "no retention is declared for 'other.x': declare one for its kind"
    )
    (record,) = world.records()
    assert (record.action_ref, record.policy_ref) == ("other.x", None)


def test_a_lost_reply_is_neither_landed_nor_failed(place: Place) -> None:
    # Primitive policy 32: a record_action whose reply is lost is unknown.
    world = TrailWorld(place)
    lost = raising("trail.record.durable", StoreUnknown("the reply is lost"))
    trail = AuditTrail(place.open(world.clock, lost), None, world.seams)
    assert trail.record_action("pay.x", "alice", ALICE, {}) == ReplyLost("event 5", "the reply is lost")
    page = world.trail.read_range(4, behind_writers=True)
    assert isinstance(page, Page)
    assert [record.event_id for record in page.records] == ["event 5"]


def test_a_kept_journal_is_busy(place: Place) -> None:
    world = TrailWorld(place)
    other = AuditTrail(place.open(world.clock, wait_ms=1), None, world.seams)
    with world.store.transaction("a long one"):
        answer = other.record_action("pay.x", "alice", ALICE, {})
    assert isinstance(answer, RecordingFailure)
    assert (answer.step, answer.because) == (Step.ATTEST, Because.BUSY)


# The fence.


@pytest.mark.parametrize(
    "holder, terminus, now, inside",
    [  # the lease is a's from 1000 until 1030; both ends are half-open
        ("a", 1_020, 1_019, True),
        ("a", 1_020, 1_020, False),
        ("a", 1_040, 1_029, True),
        ("a", 1_040, 1_030, False),
        ("b", 1_040, 1_000, False),
    ],
)
def test_a_record_lands_inside_its_fence_alone(
    world: TrailWorld, holder: str, terminus: int, now: int, inside: bool
) -> None:
    assert world.take(duration=30) == 1_030
    world.clock.instant = now
    fence = Fence("k", holder, terminus)
    answer = world.trail.record_action("pay.x", "alice", ALICE, {}, fence=fence)
    if inside:
        assert isinstance(answer, Recorded)
    else:  # journal fence 3: on the existing recording-failure arm
        assert isinstance(answer, RecordingFailure)
        assert (answer.step, answer.because) == (Step.APPEND, Because.FENCED_OUT)
    assert len(world.records()) == int(inside)


def test_a_fence_on_a_key_nobody_holds_lets_nothing_in(world: TrailWorld) -> None:
    world.take("another key")
    answer = world.trail.record_action("pay.x", "alice", ALICE, {}, fence=Fence("k", "a", 9_999))
    assert answer == RecordingFailure(Step.APPEND, Because.FENCED_OUT, "nobody holds 'k'")


@pytest.mark.parametrize(
    "fence", [Fence("", "a", 1), Fence("k", "\t", 1), Fence("k", "a", True), Fence("k", "a", 2**63)]
)
def test_a_bad_fence_is_refused(world: TrailWorld, fence: Fence) -> None:
    answer = world.trail.record_action("pay.x", "alice", ALICE, {}, fence=fence)
    assert isinstance(answer, InvalidRequest)
    assert answer.source is Source.INPUT
    assert answer.detail.startswith("fence's ")


def test_the_fence_is_looked_at_in_the_transaction_that_appends(place: Place) -> None:
    # Nobody can take the key between the look and the append: the text's journal fence made real.
    seen: list[str] = []

    def intrude(passed: str) -> None:
        if passed == "trail.record.looked" and armed:
            with pytest.raises(StoreBusy), intruder.transaction("intruder"):
                pytest.fail("a writer came between the look and the append")
            seen.append(passed)

    armed = False
    world = TrailWorld(place, intrude)
    intruder = place.open(world.clock, wait_ms=1)
    armed = True
    terminus = world.take()
    fence = Fence("k", "a", terminus)
    assert isinstance(world.trail.record_action("pay.x", "alice", ALICE, {}, fence=fence), Recorded)
    assert seen == ["trail.record.looked"]


# Reading.


def test_an_event_nobody_recorded_is_not_known(world: TrailWorld) -> None:
    world.record()
    for event_id in ("event 99", "", "event\0", "\ud800", LONG):
        assert world.trail.read_record(event_id) == NotKnown()


def test_a_journal_that_cannot_be_read_says_nothing_of_what_it_holds(world: TrailWorld) -> None:
    # Capability requirement 10: an outage is never answered not-known.
    recorded = world.record()
    world.store.close()
    for event_id in (recorded.event_id, "event 99"):
        assert world.trail.read_record(event_id) == Unavailable(
            "look: this store is closed: open a store again"
        )
    assert isinstance(world.trail.read_range(0), Unavailable)
    assert isinstance(world.trail.read_range(0, behind_writers=True), Unavailable)


def test_pages_follow_each_other_to_the_end(world: TrailWorld) -> None:
    for number in range(7):
        world.record({"n": number})
    pages: list[Page] = []
    cursor = 4
    while not pages or not pages[-1].complete:
        page = world.trail.read_range(cursor, 3)
        assert isinstance(page, Page)
        pages.append(page)
        cursor = page.cursor
    assert [[record.sequence_number for record in page.records] for page in pages] == [
        [5, 6, 7],
        [8, 9, 10],
        [11],
    ]
    assert [page.complete for page in pages] == [False, False, True]
    assert world.trail.read_range(11) == Page((), 11, complete=True)
    assert world.trail.read_range(8, 3) == Page(tuple(world.records(8)), 11, complete=True)


@pytest.mark.parametrize("after, limit", [(-1, 1), (True, 1), (2**63, 1), (0, 0), (0, -1), (0, 1_001)])
def test_a_query_that_makes_no_sense_is_told_from_an_outage(
    world: TrailWorld, after: int, limit: int
) -> None:
    assert isinstance(world.trail.read_range(after, limit), InvalidQuery)


def test_a_record_is_seen_by_everyone_once_it_is_answered(world: TrailWorld, place: Place) -> None:
    # Capability requirement 7.
    other = AuditTrail(place.open(world.clock))
    assert other.read_record("event 5") == NotKnown()
    world.record()
    assert isinstance(other.read_record("event 5"), Retained)
    page = other.read_range(4)
    assert isinstance(page, Page)
    assert len(page.records) == 1


def test_a_read_behind_the_writers_waits_for_them(world: TrailWorld, place: Place) -> None:
    # Otherwise an absence would not be final: the writer inside its transaction may land after the look.
    other = AuditTrail(place.open(world.clock, wait_ms=1))
    with world.store.transaction("a writer"):
        assert other.read_range(4) == Page((), 4, complete=True)
        answer = other.read_range(4, behind_writers=True)
    assert isinstance(answer, Unavailable)
    assert "another writer kept" in answer.detail
    assert other.read_range(4, behind_writers=True) == Page((), 4, complete=True)


def test_what_is_purged_is_told_from_what_is_absent(world: TrailWorld) -> None:
    recorded = world.record({"secret": "s"})
    world.clock.instant = recorded.recorded_at + 100
    purge = world.steward.purge()
    assert isinstance(purge, Recorded)
    answer = world.trail.read_record(recorded.event_id)
    assert isinstance(answer, Purged)
    assert answer.purge_event_id == purge.event_id
    assert (answer.record.data, answer.record.action_ref) == (None, "pay.intended")
    (record, _) = world.records()
    assert record == answer.record


# Opening.


def test_a_store_holds_one_trail(world: TrailWorld) -> None:
    with pytest.raises(TrailError, match=r"^this store holds an audit trail already"):
        found(world.store, "eve", fresh_credential())


def test_a_store_without_a_trail_is_refused(place: Place) -> None:
    store = place.open()
    with pytest.raises(TrailError, match=r"^this store holds no audit trail: found one"):
        AuditTrail(store)
    with pytest.raises(TrailError, match=r"^the administrator's credential is none"):
        found(store, "root", "a word")
    with store.snapshot() as snapshot:
        assert snapshot.execute("SELECT * FROM journal") == []


def test_only_administrators_administer(world: TrailWorld) -> None:
    steward = Steward(world.trail, "alice", ALICE)
    assert steward.declare_retention("x.", 1) == InvalidCredential("'alice' does not administer this trail")
    assert steward.register("eve", bytes(32)) == InvalidCredential("'alice' does not administer this trail")
    assert Steward(world.trail, "root", ALICE).register("eve", bytes(32)) == InvalidCredential(
        "this credential is not one of 'root'"
    )
    assert Steward(world.trail, "eve", ALICE).register("eve", bytes(32)) == InvalidRequest(
        Source.IDENTITY, "actor 'eve' is not registered: register it first"
    )
    assert world.records() == []
    with pytest.raises(TrailError, match=r"^the steward's credential is none"):
        Steward(world.trail, "root", "a word")
