"""Check 8: each traversal finds what it is for in a journal that was tampered with so, and nothing else does.

Where a test breaks one traversal alone, whatever covers the change too is made to agree with it first.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from audit_world import SWEEP, WEEK, ByHand
from falsework.runtime.audit.found import Verdict
from falsework.runtime.audit.opened import NotAudited
from falsework.runtime.audit.sealed import NoNote, Roots, read_note
from falsework.runtime.store.contract import Value
from falsework.runtime.trail import Json
from falsework.runtime.trail.chain import FIRST, Entry, linked
from falsework.runtime.trail.checkpoint import Checkpoint, FileWitness, Note
from falsework.runtime.trail.checkpoint import read_note as as_written
from falsework.runtime.trail.identity import fingerprint, public_key_of, signing_key
from falsework.runtime.trail.merkle import root_of
from invocation_world import SECOND, credential_of

pytestmark = pytest.mark.slow


@pytest.fixture
def hand() -> Iterator[ByHand]:
    """Two acts, of which the first is purged, and a checkpoint over all but the last record."""
    with ByHand() as made:
        made.closes("disclosed", made.intent("inv-0", key="old"), invocation="inv-0", key="old")
        made.clock.instant += WEEK
        made.steward.purge()
        made.closes("disclosed", made.intent(), invocation="inv-1")
        made.witnessed()
        made.closes("refused", made.intent("inv-2", key="new"), invocation="inv-2", key="new", reason="no")
        made.unguarded()
        yield made


ROW = "seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref, retention_until"


def sealed_again(hand: ByHand) -> None:
    """Every link is computed anew, and every checkpoint is gone: only what is signed still shows a change."""
    with hand.store.snapshot() as snapshot:
        rows = snapshot.execute(f"SELECT {ROW}, commitment FROM journal ORDER BY seq")
    link = FIRST
    for row in rows:
        link = linked(link, Entry(*row))  # type: ignore[arg-type]
        hand.run("UPDATE journal SET link = ? WHERE seq = ?", link, row[0])
    hand.run("DELETE FROM checkpoint")


def records(hand: ByHand) -> int:
    with hand.store.snapshot() as snapshot:
        ((count,),) = snapshot.execute("SELECT MAX(seq) FROM journal")
    assert isinstance(count, int)
    return count


def test_before_anyone_touches_it_every_traversal_is_cleared(hand: ByHand) -> None:
    found = hand.audit(witness=True)
    assert found.verdict is Verdict.CLEARED
    assert [check.verdict for check in found.checks if check.number.startswith("8.1")] == [
        Verdict.CLEARED
    ] * 8
    # 6 at the founding, two acts of two records, a purge; two more since the checkpoint.
    assert (found.subject.records, found.subject.unwitnessed, found.check("8.1d").looked_at) == (13, 2, 2)


def edited(column: str, value: Value, seal: bool = True) -> Callable[[ByHand], None]:
    """One column of the last record is another."""

    def edit(hand: ByHand) -> None:
        hand.run(f"UPDATE journal SET {column} = ? WHERE seq = ?", value, records(hand))
        if seal:
            sealed_again(hand)

    return edit


def revoked_before(hand: ByHand) -> None:
    """A record is put behind the revocation of its key: signed, and too late."""
    key = fingerprint(public_key_of(credential_of("dana")))
    late = hand.intent("inv-3", key="late")
    hand.steward.revoke(key)
    last = records(hand)
    hand.run("UPDATE journal SET seq = 99 WHERE event_id = ?", late)
    hand.run("UPDATE journal SET seq = ? WHERE seq = ?", last - 1, last)
    hand.run("UPDATE journal SET seq = ? WHERE seq = 99", last)
    hand.run("UPDATE actor_key SET revoked_seq = ? WHERE key_id = ?", last - 1, key)
    sealed_again(hand)


def unplaced(hand: ByHand) -> None:
    """A record was appended before its policy was declared, and nobody placed it since."""
    hand.trail.record_action("other.thing", "dana", credential_of("dana"), {"n": 1})
    hand.steward.declare_retention("other.", 9)
    hand.passes(603)


def swapped(hand: ByHand) -> None:
    """Two payloads change places, with their salts."""
    with hand.store.snapshot() as snapshot:
        rows = snapshot.execute("SELECT seq, salt, payload FROM journal ORDER BY seq DESC LIMIT 2")
    for (seq, _, _), (_, salt, payload) in zip(rows, reversed(rows), strict=True):
        hand.run("UPDATE journal SET salt = ?, payload = ? WHERE seq = ?", salt, payload, seq)


def destroyed_by_nobody(hand: ByHand) -> None:
    hand.steward.declare_retention("other.", None)
    hand.record("thing", "dana", {"n": 1}, "other")
    hand.run("UPDATE journal SET salt = NULL, payload = NULL WHERE seq = ?", records(hand))


def put_back(hand: ByHand) -> None:
    """What a purge destroyed is there again: so is nothing that it committed to."""
    hand.run("UPDATE journal SET salt = ?, payload = ? WHERE event_id = 'event-1'", b"x" * 16, b"{}")


def recorded_twice(hand: ByHand) -> None:
    """The tables' own rule that an event is recorded once is gone, and so is that it is."""
    names = f"{ROW}, commitment, link, salt, payload"
    hand.run("CREATE TABLE bare AS SELECT * FROM journal")
    hand.run("DROP TABLE journal")
    hand.run("ALTER TABLE bare RENAME TO journal")
    again = (
        f"SELECT 99, {names.removeprefix('seq, ')} FROM journal WHERE seq = (SELECT MAX(seq) FROM journal)"
    )
    hand.run(f"INSERT INTO journal ({names}) {again}")
    sealed_again(hand)


def purged_early(hand: ByHand) -> None:
    """An administrator signs the purge of what is kept: the policies forbid it all the same."""
    intent = hand.intent("inv-3", key="kept")
    seq = records(hand)
    hand.record_own("trail.purged", {"destroyed": [[seq, intent]]})
    hand.run("UPDATE journal SET salt = NULL, payload = NULL WHERE seq = ?", seq)
    hand.run("INSERT INTO destroyed VALUES (?, ?)", seq, seq + 1)


@pytest.mark.parametrize(
    "tampers, violated",
    [
        (edited("actor_ref", "erin"), ["8.1a", "Invariant 2.2"]),
        (edited("attestation", bytes(64)), ["8.1a"]),
        (edited("key_id", "nobody's"), ["8.1a"]),
        (revoked_before, ["8.1a"]),
        (edited("retention_until", 5), ["8.1b"]),
        (edited("policy_ref", "trail."), ["8.1b"]),
        (unplaced, ["8.1b"]),
        (edited("recorded_at", 1_000_700_000 * SECOND, seal=False), ["8.1b", "8.1c"]),
        (edited("link", bytes(32), seal=False), ["8.1c"]),
        (destroyed_by_nobody, ["8.1d"]),
        (put_back, ["8.1d", "8.1e"]),
        (swapped, ["8.1e", "Invariant 2.2"]),
        (edited("salt", bytes(15)), ["8.1e"]),
        (recorded_twice, ["8.1f"]),
        (purged_early, ["7.1", "8.1d", "8.1g"]),
        (lambda hand: hand.run("UPDATE policy SET period = 5"), ["8.1g"]),
        (lambda hand: hand.run("DELETE FROM destroyed"), ["8.1g"]),
        (lambda hand: hand.run("INSERT INTO placed_late VALUES (9, 'ledger.', 1, 2)"), ["8.1g"]),
        (lambda hand: hand.run("UPDATE trail SET trail_id = 'x'"), ["8.1g"]),
        (lambda hand: hand.run("UPDATE checkpoint SET note = 'x'"), ["8.1h"]),
        (lambda hand: hand.run("UPDATE checkpoint SET frontier = ?", bytes(96)), ["8.1h"]),
    ],
)
def test_a_traversal_finds_what_it_is_for(
    hand: ByHand, tampers: Callable[[ByHand], None], violated: list[str]
) -> None:
    tampers(hand)
    assert hand.violated() == violated


# The witness.


def cut_off(hand: ByHand) -> None:
    """The last three records are gone, and with them every trace of them in the journal."""
    hand.run("DELETE FROM checkpoint")
    hand.run("DELETE FROM journal WHERE seq > 10")


def written_anew(hand: ByHand) -> None:
    """A stamp that nobody signs is edited, and all is sealed again."""
    earlier = "recorded_at = recorded_at - 1, retention_until = retention_until - 1"
    hand.run(f"UPDATE journal SET {earlier} WHERE seq = 10")
    sealed_again(hand)


@pytest.mark.parametrize("tampers", [cut_off, written_anew])
def test_only_the_witness_sees_what_was_cut_off_or_written_anew(
    hand: ByHand, tampers: Callable[[ByHand], None]
) -> None:
    tampers(hand)
    assert hand.violated() == []
    assert hand.violated(witness=True) == ["8.1h"]


def signed(actor: str, said: Checkpoint) -> str:
    """The checkpoint under the actor's own signature."""
    signer = signing_key(credential_of(actor))
    assert signer is not None
    return Note(said, signer.key_id, signer.sign(said.text().encode())).text(signer.public_key)


@pytest.mark.parametrize("actor, size", [("admin", 13), ("dana", 11), (SWEEP, 11)])
def test_a_note_over_another_tree_or_by_no_administrator_is_found(
    hand: ByHand, actor: str, size: int
) -> None:
    """A notary that signs what it did not read; and who may not sign, over the very tree."""
    genuine = as_written(FileWitness(hand.witness).held()[-1]).checkpoint
    said = genuine if size == genuine.size else replace(genuine, size=size, sequence_number=size)
    hand.witness.write_text(json.dumps(signed(actor, said)) + "\n", "utf-8")
    assert hand.violated(witness=True) == ["8.1h"]


def test_a_declared_witness_that_is_not_there_leaves_its_check_open(hand: ByHand) -> None:
    found = hand.audit(witness=True)
    assert found.check("8.1h").verdict is Verdict.CLEARED
    hand.witness.unlink()
    found = hand.audit(witness=True)
    assert found.check("8.1h").verdict is Verdict.NOT_CHECKED
    assert found.verdict is Verdict.NOT_CHECKED
    assert "the witness's file is not there" in found.check("8.1h").not_checked[0]


# The bytes, by the writers' own code and by the published tree.


def test_the_roots_are_those_of_the_writers_tree() -> None:
    roots, leaves = Roots(), []
    assert roots.root() == root_of([])
    for number in range(40):
        leaves.append(bytes([number]))
        roots.add(leaves[-1])
        assert roots.root() == root_of(leaves)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "falsework-trail/t\n1\nAA==\nseq 1\nlink 00\nat 1\n\n— falsework/k AA==",
        "a\nb\nc\nd\ne\nf\n\ng\n",
    ],
)
def test_what_is_no_note_is_told(text: str) -> None:
    with pytest.raises(NoNote):
        read_note(text)


def test_a_journal_without_a_record_has_lost_them_or_was_never_founded(hand: ByHand) -> None:
    hand.run("DELETE FROM journal")
    assert {"8.1c", "8.1g", "8.1h"} <= set(hand.violated())
    hand.run("DELETE FROM trail")
    with pytest.raises(NotAudited, match="its journal has no record"):
        hand.audit()


# Acts of the trail's own.


def early(hand: ByHand) -> int:
    """A record whose policy was declared after it; its number."""
    hand.trail.record_action("other.thing", "dana", credential_of("dana"), {"n": 1})
    seq = records(hand)
    hand.steward.declare_retention("other.", 9)
    return seq


@pytest.mark.parametrize("seconds, violated", [(602, []), (602.000_001, ["8.1b"])])
def test_a_record_has_its_window_to_be_placed(hand: ByHand, seconds: float, violated: list[str]) -> None:
    """The window is 10 min, and the allowance 2 s."""
    early(hand)
    hand.passes(seconds)
    assert hand.violated() == violated


def test_a_record_that_is_placed_late_has_its_place(hand: ByHand) -> None:
    early(hand)
    hand.steward.declare_retention("forever.", None)
    hand.trail.record_action("later.thing", "dana", credential_of("dana"), {"n": 2})
    hand.steward.declare_retention("later.", None)
    hand.steward.place_late()
    hand.passes(700)
    assert hand.violated() == []


@pytest.mark.parametrize(
    "place, violated",
    [
        (["other.", "5"], ["8.1g"]),  # another end than the policy gives
        (["ledger.", None], ["8.1g"]),
        (["other.", "x"], ["8.1g"]),
    ],
)
def test_a_late_place_that_no_policy_gives(
    hand: ByHand, place: list[str | None], violated: list[str]
) -> None:
    seq = early(hand)
    hand.record_own("trail.placed", {"placed": [[seq, *place]]})
    assert hand.violated() == violated


@pytest.mark.parametrize(
    "action, said",
    [
        ("placed", {"placed": [[9, "ledger.", None]]}),  # it has its place
        ("placed", {"placed": "x"}),
        ("placed", {"placed": [5]}),
        ("purged", {"destroyed": [[99, "event-99"]]}),
        ("retention_declared", {"prefix": "ledger.", "period": "5"}),
        ("retention_declared", {"prefix": "trail.x", "period": "5"}),
        ("retention_declared", {"prefix": "x.", "period": "soon"}),
        ("retention_declared", {"period": "5"}),
        ("key_registered", {"public_key": "xyz", "actor_ref": "eve"}),
        ("key_registered", {"public_key": "00" * 32, "key_id": "x", "actor_ref": "eve"}),
        ("key_revoked", {"key_id": "nobody's"}),
        ("dreamt", {}),
    ],
)
def test_an_act_that_no_trail_records(hand: ByHand, action: str, said: dict[str, Json]) -> None:
    """Signed by the administrator, sealed, and lawless all the same."""
    hand.record_own(f"trail.{action}", said)
    assert hand.violated() == ["8.1g"]


def test_a_payload_that_left_its_salt_behind_is_not_purged(hand: ByHand) -> None:
    hand.run("UPDATE journal SET payload = NULL WHERE seq = ?", records(hand))
    assert hand.violated() == ["8.1e"]


def test_what_a_table_holds_or_lacks_is_said(hand: ByHand) -> None:
    hand.run("UPDATE policy SET period = 5")
    found = [violation.found for violation in hand.audit().check("8.1g").violations]
    assert len(found) == 2
    assert any(text.startswith("policy holds ") and "do not say" in text for text in found)
    assert any(text.startswith("policy lacks ") and "which the records say" in text for text in found)
