"""Tampering: every mutation is found, every clean journal passes, a verifier without a witness is blind.

The counts are the acceptance's own: 5,000 mutations, 100 clean journals.
"""

import random
from collections.abc import Iterator

import pytest

from falsework.runtime.store import StoreFailed
from falsework.runtime.trail import append
from falsework.runtime.trail.canonical import canonical
from falsework.runtime.trail.checkpoint import Note, read_note
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of, signing_key
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.retention import OWN, Placement
from falsework.runtime.trail.verify import Reason, verify
from stores import BOTH, placed
from tampering import Tamperer, undone
from trail_world import ALICE, BOB, ROOT, TrailWorld, landed

KINDS = ["edit", "delete", "insert", "reorder", "truncate", "forge a purge", "hash again", "derived"]


def drawn(seed: int) -> random.Random:
    """Random numbers that are the same in every run."""
    return random.Random(seed)  # noqa: S311  a test's choices keep no secret


def lived_in(world: TrailWorld) -> None:
    """The trail has one of everything: late places, purges, a revoked key, an ended one, checkpoints."""
    for number in range(6):
        world.clock.instant += 3
        world.record({"n": number})
    world.trail.record_action("other.x", "alice", ALICE, {"n": "late"})
    world.trail.record_action("never.placed", "bob", BOB, {"n": "never"})
    landed(world.steward.declare_retention("other.", 50))
    landed(
        world.steward.register("carol", public_key_of(fresh_credential(b"\x07".__mul__)), valid_until=5_000)
    )
    world.steward.place_late()
    world.notary.checkpoint()
    world.clock.instant += 95
    world.steward.purge()
    world.record({"n": "after the purge"})
    landed(world.steward.revoke(fingerprint(public_key_of(BOB))))
    world.record({"n": "witnessed"})
    world.notary.checkpoint()
    for number in range(3):
        world.record({"n": number, "unwitnessed": True})


@pytest.fixture(scope="module", params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[TrailWorld]:
    with placed(request.param) as place:
        lived = TrailWorld(place)
        lived_in(lived)
        place.unguarded()
        yield lived


def undetected(world: TrailWorld, kind: str, seeds: range) -> list[str]:
    """What was done to the journal and not found."""
    notes = world.witness.held()
    witnessed = read_note(notes[-1]).checkpoint.size
    missed = []
    with world.place.bare() as run:
        tamperer = Tamperer(run, witnessed)
        for seed in seeds:
            with undone(run) as store:
                done = tamperer.mutate(kind, drawn(seed))
                if verify(store, notes).is_clean:
                    missed.append(f"{kind} {seed}: {done}")
    return missed


def test_the_journal_is_clean_before_anyone_touches_it(world: TrailWorld) -> None:
    verdict = world.verify()
    assert verdict.fault is None
    # 4 at the founding, 6 + 2 records, 3 of the trail's, a purge, a record, a revocation, a record; 3 unseen
    # At 1113 the records of 1003, 1006, 1009 and 1012 are due, and the one of 1018 that is kept for fifty
    assert (verdict.records, verdict.unplaced, verdict.checkpoints) == (22, 1, 2)
    assert (verdict.destroyed, verdict.unwitnessed) == (5, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutation_is_found(world: TrailWorld, kind: str) -> None:
    assert undetected(world, kind, range(20)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_one_of_many_mutations_is_found(world: TrailWorld, kind: str) -> None:
    assert undetected(world, kind, range(20, 645)) == []  # 625 of each kind: 5,000


@pytest.mark.parametrize("kind", ["truncate", "hash again"])
def test_without_a_witness_the_verifier_is_blind(world: TrailWorld, kind: str) -> None:
    # The control: who has the whole database and drops its checkpoints leaves no trace of what it cut off.
    with world.place.bare() as run:
        tamperer, missed = Tamperer(run, 19), 0
        for seed in range(40 if kind == "truncate" else 200):
            with undone(run) as store:
                tamperer.mutate(kind, drawn(seed))
                run("DELETE FROM checkpoint", ())
                verdict = verify(store)
                missed += verdict.is_clean
                assert verify(store, world.witness.held()).fault is not None
    assert missed > 0


def test_who_holds_a_credential_is_held_to_the_policies(world: TrailWorld) -> None:
    # Even an administrator's own signature does not make an early purge lawful.
    with world.place.bare() as run:
        rows = run("SELECT seq, event_id, retention_until FROM journal WHERE payload IS NOT NULL", ())
        early = next(row for row in rows if row[2] is not None)
        key = signing_key(ROOT)
        assert key is not None
        with undone(run) as store:
            trail = AuditTrail(store, None, world.seams)
            seq, event = early[0], early[1]
            assert isinstance(seq, int)
            assert isinstance(event, str)
            payload = canonical({"destroyed": [[seq, event]]})
            prepared = trail.prepared("trail.purged", "root", key, payload)
            with store.transaction("by hand") as transaction:
                head = append.look(transaction, key.key_id, None)
                place = Placement(OWN.prefix, None)
                where = head.sequence_number, head.link
                appended = append.insert(transaction, prepared, where, world.clock.instant, place)
            run("UPDATE journal SET salt = NULL, payload = NULL WHERE seq = ?", (seq,))
            run("INSERT INTO destroyed VALUES (?, ?)", (seq, appended.sequence_number))
            fault = verify(store, world.witness.held()).fault
    assert fault is not None
    assert fault.sequence_number == appended.sequence_number
    assert fault.reason is Reason.UNLAWFUL
    assert f"it destroys record {seq}" in fault.detail


# The first bad row is named.


@pytest.mark.parametrize(
    "statement, seq, reason",
    [
        ("UPDATE journal SET action_ref = 'pay.x' WHERE seq = 7", 7, Reason.LINK),
        ("DELETE FROM journal WHERE seq = 7", 8, Reason.LINK),
        ("UPDATE journal SET payload = salt WHERE seq = 19", 19, Reason.PAYLOAD),
        ("UPDATE journal SET payload = NULL, salt = NULL WHERE seq = 19", 19, Reason.DESTROYED),
        ("UPDATE journal SET payload = salt, salt = commitment WHERE seq = 5", 5, Reason.PAYLOAD),
        ("UPDATE journal SET payload = NULL, salt = NULL WHERE seq = 2", 2, Reason.DESTROYED),
        ("DELETE FROM journal", None, Reason.TRUNCATED),
        ("DELETE FROM journal WHERE seq > 10", None, Reason.TRUNCATED),
        ("DELETE FROM destroyed", None, Reason.TABLE),
        ("UPDATE policy SET period = 5", None, Reason.TABLE),
        ("UPDATE checkpoint SET note = 'x'", None, Reason.CHECKPOINT),
        ("UPDATE trail SET trail_id = 'x'", None, Reason.TABLE),
        ("UPDATE checkpoint SET frontier = (SELECT link FROM journal WHERE seq = 1)", None, Reason.TABLE),
        ("UPDATE checkpoint SET seq = seq - 1", None, Reason.TABLE),
    ],
)
def test_the_first_bad_row_is_named(
    world: TrailWorld, statement: str, seq: int | None, reason: Reason
) -> None:
    with world.place.bare() as run, undone(run) as store:
        run(statement, ())
        fault = verify(store, world.witness.held()).fault
    assert fault is not None
    assert (fault.sequence_number, fault.reason) == (seq, reason), fault


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO actor_key VALUES ('eve', 'alice', ?, 1, NULL, 5, NULL)",
        "INSERT INTO policy VALUES ('eve.', 1, 5)",
        "INSERT INTO placed_late VALUES (12, 'pay.', 1, 15)",
        "INSERT INTO destroyed VALUES (17, 16)",
    ],
)
def test_a_row_that_no_record_speaks_of_is_found(world: TrailWorld, statement: str) -> None:
    with world.place.bare() as run, undone(run) as store:
        run(statement, (bytes(32),) if "?" in statement else ())
        fault = verify(store, world.witness.held()).fault
    assert fault is not None
    assert fault.reason is Reason.TABLE
    assert " holds (" in fault.detail


@pytest.mark.parametrize("credential", [ALICE, fresh_credential(b"\x09".__mul__)])
def test_a_note_that_no_administrator_signed_is_found(world: TrailWorld, credential: str) -> None:
    key = signing_key(credential)
    assert key is not None
    genuine = read_note(world.witness.held()[-1])
    signature = key.sign(genuine.checkpoint.text().encode())
    for signer in (key.key_id, genuine.key_id):  # in its own name, and in the administrator's
        note = Note(genuine.checkpoint, signer, signature).text(key.public_key)
        fault = verify(world.store, [note]).fault
        assert fault is not None
        assert (fault.reason, fault.detail) == (Reason.CHECKPOINT, "the note of 19 records is not signed")


def test_a_note_of_another_trail_or_of_nothing_is_found(world: TrailWorld) -> None:
    genuine = world.witness.held()[-1]
    fault = verify(world.store, [genuine.replace(world.trail_id, "ff" * 16)]).fault
    assert fault is not None
    assert (fault.reason, fault.detail) == (Reason.CHECKPOINT, f"a checkpoint is of trail {'ff' * 16}")
    fault = verify(world.store, ["a letter"]).fault
    assert fault is not None
    assert fault.detail.startswith("a checkpoint's note cannot be read: ")


def test_a_journal_that_cannot_be_read_is_a_fault_and_no_traceback(world: TrailWorld) -> None:
    class Broken:
        """A store whose statements fail."""

        def snapshot(self) -> object:
            raise StoreFailed("database disk image is malformed")

    fault = verify(Broken()).fault  # type: ignore[arg-type]
    assert fault is not None
    assert (fault.reason, fault.detail) == (Reason.UNREADABLE, "database disk image is malformed")


# Clean journals.


def random_life(world: TrailWorld, draw: random.Random) -> None:
    """The trail has lived for a while, lawfully."""
    for _ in range(draw.randrange(5, 40)):
        world.clock.instant += draw.randrange(0, 40)
        match draw.randrange(12):
            case 0:
                world.steward.purge(limit=draw.randrange(1, 5))
            case 1:
                world.steward.purge(spares=lambda event_id: event_id.endswith("3"))
            case 2:
                world.trail.record_action(f"new.{draw.randrange(3)}", "bob", BOB, {"n": 1})
            case 3:
                period = draw.choice([None, 1, 30])
                world.steward.declare_retention(draw.choice(["new.", "new.1", "pay.x"]), period)
            case 4:
                world.steward.place_late(limit=draw.randrange(1, 3))
            case 5:
                world.notary.checkpoint()
            case 6:
                fresh = fresh_credential()
                until = draw.choice([None, world.clock.instant + 20])
                world.steward.register("dave", public_key_of(fresh), administers=True, valid_until=until)
                world.trail.record_action("pay.x", "dave", fresh, {"dave": "did"})
                world.steward.revoke(fingerprint(public_key_of(fresh)))
            case _:
                world.record({"n": draw.randrange(100)}, action=draw.choice(["pay.a", "pay.x"]))


def faults_of_clean_journals(seeds: range) -> list[object]:
    found: list[object] = []
    for seed in seeds:
        with placed("sqlite") as place:
            world = TrailWorld(place)
            random_life(world, drawn(seed))
            verdict = world.verify()
            if verdict.fault is not None:
                found.append((seed, verdict.fault))
    return found


def test_a_clean_journal_passes() -> None:
    assert faults_of_clean_journals(range(5)) == []


@pytest.mark.slow
def test_a_hundred_clean_journals_pass() -> None:
    assert faults_of_clean_journals(range(100)) == []
