"""Somebody with a key: what a signature does not make lawful, found by replaying the trail's own records.

Each record here is attested and linked as it should be, and written by hand past the trail's own checks.
"""

from collections.abc import Iterator

import pytest

from falsework.runtime.store import Store
from falsework.runtime.trail import Data, append
from falsework.runtime.trail.canonical import canonical
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of, signing_key
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.retention import Placement
from falsework.runtime.trail.verify import Fault, Reason, verify
from stores import placed
from tampering import undone
from trail_world import ALICE, BOB, ROOT, TrailWorld, landed

OWN = Placement("trail.", None)
CAROL = fresh_credential(b"\x0a".__mul__)
EVE = public_key_of(fresh_credential(b"\x0b".__mul__))


@pytest.fixture(scope="module")
def world() -> Iterator[TrailWorld]:
    """Records 5 to 8: one due, one not, one unplaced, a purge; carol's key has ended and bob's is revoked."""
    with placed("sqlite") as place:
        lived = TrailWorld(place)
        landed(lived.steward.register("carol", public_key_of(CAROL), valid_until=1_001))
        landed(lived.steward.revoke(fingerprint(public_key_of(BOB))))
        lived.record()
        lived.clock.instant = 1_100
        lived.record()
        lived.trail.record_action("other.x", "alice", ALICE, {})
        lived.steward.purge()
        place.unguarded()
        yield lived


def by_hand(
    world: TrailWorld,
    store: Store,
    action: str,
    actor: str,
    credential: str,
    data: Data,
    place: Placement | None,
) -> int:
    """The record follows the last one, with everything a record needs; its number."""
    key = signing_key(credential)
    assert key is not None
    trail = AuditTrail(store, None, world.seams)
    with store.transaction("by hand") as transaction:
        head = append.look(transaction, key.key_id, None)
        prepared = trail.prepared(action, actor, key, canonical(data))
        where = head.sequence_number, head.link
        return append.insert(transaction, prepared, where, world.clock.instant, place).sequence_number


def fault_of(
    world: TrailWorld, action: str, actor: str, credential: str, data: Data, place: Placement | None
) -> Fault:
    """What is found of the one record; it is the record itself that is found."""
    with world.place.bare() as run, undone(run) as store:
        seq = by_hand(world, store, action, actor, credential, data, place)
        fault = verify(store).fault
    assert fault is not None
    assert (fault.sequence_number, fault.reason) == (seq, Reason.UNLAWFUL), fault
    return fault


def test_the_world_is_clean_and_a_lawful_record_by_hand_too(world: TrailWorld) -> None:
    assert verify(world.store).fault is None
    with world.place.bare() as run, undone(run) as store:
        by_hand(world, store, "pay.x", "alice", ALICE, {"n": 1}, Placement("pay.", 1_200))
        assert verify(store).fault is None


def key_data(key: bytes, **changed: str | bool | None) -> Data:
    """The data of a registration of eve's, but for what is changed."""
    named: dict[str, str | bool | None] = {
        "actor_ref": "eve",
        "administers": False,
        "key_id": fingerprint(key),
        "public_key": key.hex(),
        "valid_until": None,
    }
    return {**named, **changed}


@pytest.mark.parametrize(
    "action, data, said",
    [
        ("trail.key_registered", key_data(public_key_of(ALICE)), "it registers key "),
        ("trail.key_registered", key_data(EVE, key_id="another"), "it registers key "),
        ("trail.key_registered", {"key_id": "k"}, "its public_key is None, where a text was expected"),
        ("trail.key_registered", key_data(EVE, valid_until=True), "its valid_until is True, where a text"),
        ("trail.key_registered", key_data(EVE, public_key="no hex"), "non-hexadecimal number found"),
        ("trail.key_revoked", {"key_id": "nothing"}, "it revokes a key that did not stand"),
        ("trail.key_revoked", {"key_id": fingerprint(public_key_of(BOB))}, "it revokes a key that did not"),
        ("trail.retention_declared", {"prefix": "pay.", "period": "5"}, "it declares a policy of 'pay.' for"),
        (
            "trail.retention_declared",
            {"prefix": "trail.x", "period": "5"},
            "it declares a policy of 'trail.x'",
        ),
        ("trail.placed", {"placed": [[7, "pay.", "1105"]]}, "it places [7, 'pay.', '1105'], which was not"),
        (
            "trail.placed",
            {"placed": [[9, "other.", "5"]]},
            "it is placed under Placement(policy_ref='other.'",
        ),
        ("trail.placed", {"placed": [[9, "other."]]}, "its placed is [[9, 'other.']], where rows of 3"),
        ("trail.placed", {"placed": 9}, "its placed is 9, where rows of 3 were expected"),
        (
            "trail.purged",
            {"destroyed": [[8, "event 8"]]},
            "it destroys record 8 at 1100, which is kept until 1200",
        ),
        ("trail.purged", {"destroyed": [[7, "event 7"]]}, "it destroys record 7, as record 10 did before it"),
        (
            "trail.purged",
            {"destroyed": [[9, "event 9"]]},
            "it destroys record 9 at 1100, which is kept until None",
        ),
        ("trail.purged", {"destroyed": [[7, "event 8"]]}, "it destroys [7, 'event 8'], which is no record"),
        (
            "trail.purged",
            {"destroyed": [[77, "event 77"]]},
            "it destroys [77, 'event 77'], which is no record",
        ),
        (
            "trail.purged",
            {"destroyed": [[1, "event 1"]]},
            "it destroys record 1 at 1100, which is kept until None",
        ),
        ("trail.invented", {}, "'trail.invented' is no act of a trail's"),
        ("trail.founded", {"format": 1}, "'trail.founded' is no act of a trail's"),
    ],
)
def test_an_administrator_cannot_do_what_no_trail_does(
    world: TrailWorld, action: str, data: Data, said: str
) -> None:
    assert fault_of(world, action, "root", ROOT, data, OWN).detail.startswith(said)


@pytest.mark.parametrize(
    "action, actor, credential, place, said",
    [
        ("pay.x", "bob", BOB, Placement("pay.", 1_200), "its key was revoked before it, by record 6"),
        ("pay.x", "carol", CAROL, Placement("pay.", 1_200), "its key had ended at 1001, and it is of 1100"),
        ("pay.x", "alice", ROOT, Placement("pay.", 1_200), "its key is 'root''s, and its actor is 'alice'"),
        ("trail.key_revoked", "alice", ALICE, OWN, "'alice' did not administer the trail"),
        ("pay.x", "alice", ALICE, Placement("pay.", 1_201), "it is placed under Placement(policy_ref='pay.'"),
        ("pay.x", "alice", ALICE, Placement("pay.", None), "it is placed under Placement(policy_ref='pay.'"),
        (
            "pay.x",
            "alice",
            ALICE,
            Placement("trail.", None),
            "it is placed under Placement(policy_ref='trail.",
        ),
        ("none.x", "alice", ALICE, Placement("none.", 5), "it is placed under Placement(policy_ref='none.'"),
    ],
)
def test_a_record_that_the_trail_would_have_refused_is_found(
    world: TrailWorld, action: str, actor: str, credential: str, place: Placement, said: str
) -> None:
    assert fault_of(world, action, actor, credential, {}, place).detail.startswith(said)


def test_a_key_that_nobody_registered_attests_nothing(world: TrailWorld) -> None:
    stranger = fresh_credential()
    fault = fault_of(world, "pay.x", "alice", stranger, {}, Placement("pay.", 1_200))
    assert fault.detail == f"its key {fingerprint(public_key_of(stranger))} was not registered before it"


@pytest.mark.parametrize(
    "data, action, said",
    [
        ({"format": 1}, "pay.founded", "the first record is 'pay.founded', where a founding was expected"),
        (
            {"format": 2},
            "trail.founded",
            "the first record is 'trail.founded', where a founding was expected",
        ),
        ({"format": 1}, "trail.founded", "its trail_id is None, where a text was expected"),
        (
            {"format": 1, "trail_id": "t", "public_key": EVE.hex(), "actor_ref": "root"},
            "trail.founded",
            "the first record is not attested by the key that it names",
        ),
    ],
)
def test_a_journal_founded_otherwise_is_found(world: TrailWorld, data: Data, action: str, said: str) -> None:
    with world.place.bare() as run, undone(run) as store:
        run("DELETE FROM journal", ())
        run("DELETE FROM checkpoint", ())
        key = signing_key(ROOT)
        assert key is not None
        prepared = world.trail.prepared(action, "root", key, canonical(data))
        with store.transaction("by hand") as transaction:
            append.insert(transaction, prepared, (0, bytes(32)), 1_000, OWN)
        fault = verify(store).fault
    assert fault == Fault(1, Reason.UNLAWFUL, said)
