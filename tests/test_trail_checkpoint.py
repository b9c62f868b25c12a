"""Checkpoints and their witness: what is signed, what is held, and what a rollback meets."""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from falsework.runtime.trail.checkpoint import (
    BOUNDARIES,
    Checkpoint,
    FileWitness,
    Notary,
    RolledBack,
    read_note,
    refuse_a_rollback,
)
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of
from falsework.runtime.trail.journal import TrailError
from falsework.runtime.trail.merkle import root_of
from stores import BOTH, Place, placed
from trail_world import ALICE, ROOT, TrailWorld


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


@pytest.fixture
def world(place: Place) -> TrailWorld:
    return TrailWorld(place)


def links(world: TrailWorld) -> list[bytes]:
    with world.store.snapshot() as snapshot:
        return [
            link
            for (link,) in snapshot.execute("SELECT link FROM journal ORDER BY seq")
            if isinstance(link, bytes)
        ]


def test_a_checkpoint_is_of_all_records_before_it(world: TrailWorld) -> None:
    world.record()
    world.clock.instant = 1_005
    taken = world.notary.checkpoint()
    all_links = links(world)
    assert taken == Checkpoint(world.trail_id, 5, root_of(all_links), 5, all_links[-1], 1_005)
    assert [read_note(text).checkpoint for text in world.witness.held()] == [taken]


def test_a_checkpoint_goes_on_from_the_one_before(world: TrailWorld) -> None:
    for number in range(1, 20):
        world.record()
        if number % 3 == 0:
            taken = world.notary.checkpoint()
            assert (taken.size, taken.root) == (4 + number, root_of(links(world)))
    assert len(world.witness.held()) == 6
    assert world.verify().checkpoints == 6


def test_a_note_is_a_signed_note_that_others_can_read(world: TrailWorld) -> None:
    # The form of a C2SP checkpoint, read here by its own rules and with the signature checked by hand.
    world.notary.checkpoint()
    (text,) = world.witness.held()
    body, _, signatures = text.partition("\n\n")
    origin, size, root, *extra = body.split("\n")
    assert (origin, size, len(base64.b64decode(root))) == (f"falsework-trail/{world.trail_id}", "4", 32)
    assert [line.split()[0] for line in extra] == ["seq", "link", "at"]
    dash, name, encoded = signatures.removesuffix("\n").split(" ")
    public, signed = public_key_of(ROOT), base64.b64decode(encoded)
    assert (dash, name) == ("—", f"falsework/{fingerprint(public)}")
    assert signed[:4] == hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    Ed25519PublicKey.from_public_bytes(public).verify(signed[4:], (body + "\n").encode())


def test_nothing_new_is_no_new_checkpoint(world: TrailWorld) -> None:
    first = world.notary.checkpoint()
    world.clock.instant += 60
    assert world.notary.checkpoint() == first
    assert len(world.witness.held()) == 1


class Fault(Exception):
    """What an injected fault raises."""


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_checkpoint_cut_short_is_completed_by_the_next(place: Place, boundary: str) -> None:
    world = TrailWorld(place)
    passed: list[str] = []

    def failpoint(name: str) -> None:
        passed.append(name)
        if name == boundary:
            raise Fault

    store = place.open(world.clock, failpoint)
    faulty = Notary(type(world.trail)(store), ROOT, world.witness, failpoint)
    with pytest.raises(Fault):
        faulty.checkpoint()
    assert passed[-1] == boundary
    taken = world.notary.checkpoint()
    assert [read_note(text).checkpoint for text in world.witness.held()] == [taken]
    assert world.verify().is_clean


def test_only_an_administrator_signs(world: TrailWorld) -> None:
    with pytest.raises(TrailError, match=r"^key [0-9a-f]{32} does not administer this trail"):
        Notary(world.trail, ALICE, world.witness).checkpoint()
    with pytest.raises(TrailError, match=r"^the notary's credential is none"):
        Notary(world.trail, "a word", world.witness)
    credential = fresh_credential()
    world.steward.register("dave", public_key_of(credential), administers=True)
    world.steward.revoke(fingerprint(public_key_of(credential)))
    with pytest.raises(TrailError, match=r"^key [0-9a-f]{32} does not administer this trail"):
        Notary(world.trail, credential, world.witness).checkpoint()
    assert world.witness.held() == []


# A rollback.


def test_a_journal_put_back_to_an_earlier_copy_is_noticed_at_once() -> None:
    with placed("sqlite") as place:
        world = TrailWorld(place)
        world.record()
        world.store.close()
        copy = place.file.read_bytes()
        later = TrailWorldAgain(place, world)
        later.record()
        later.notary.checkpoint()
        refuse_a_rollback(later.trail, later.witness)
        later.store.close()
        place.file.write_bytes(copy)
        restored = TrailWorldAgain(place, world)
        with pytest.raises(RolledBack, match=r"^the witness has seen record 6 of trail .* does not have it"):
            refuse_a_rollback(restored.trail, restored.witness)
        with pytest.raises(RolledBack):
            restored.notary.checkpoint()
        with restored.store.snapshot() as snapshot:  # nothing was signed for the wrong history
            assert snapshot.execute("SELECT * FROM checkpoint") == []
        fault = restored.verify().fault
        assert fault is not None
        assert fault.detail == "a checkpoint has 6 records, and the journal 5"
        restored.record({"another": "history"})  # as many records as were witnessed, and not the same
        with pytest.raises(RolledBack, match=r"^the witness has seen record 6 of trail .* does not have it"):
            refuse_a_rollback(restored.trail, restored.witness)
        fault = restored.verify().fault
        assert fault is not None
        assert fault.detail == "the first 6 records, up to record 6, are not those that were signed"


class TrailWorldAgain(TrailWorld):
    """The same world, opened again."""

    def __init__(self, place: Place, before: TrailWorld) -> None:
        self.place, self.clock, self.seams = place, before.clock, before.seams
        self.store = place.open(self.clock)
        self.trail_id = before.trail_id
        self.trail = type(before.trail)(self.store, None, self.seams)
        self.witness = before.witness
        self.notary = Notary(self.trail, ROOT, self.witness)


# The witness's file.


@pytest.fixture
def notes() -> list[str]:
    """Three checkpoints of one trail, each of one record more."""
    with placed("sqlite") as place:
        world = TrailWorld(place)
        for _ in range(3):
            world.record()
            world.notary.checkpoint()
        return world.witness.held()


def test_a_witness_holds_each_note_once_and_in_order(tmp_path: Path, notes: list[str]) -> None:
    witness = FileWitness(tmp_path / "witness")
    assert witness.held() == []
    for note in (notes[0], notes[0], notes[1], notes[0]):
        witness.hold(note)
    assert FileWitness(tmp_path / "witness").held() == notes[:2]


def test_a_note_is_flushed_before_it_is_held(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "witness"
    flushed: list[tuple[bool, int]] = []  # whether a folder, and how long the file was by then

    def fsync(descriptor: int) -> None:
        flushed.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), path.stat().st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    sizes = []
    for note in notes[:2]:
        FileWitness(path).hold(note)
        sizes.append(path.stat().st_size)
    assert flushed == [(False, sizes[0]), (True, sizes[0]), (False, sizes[1])]


def test_a_witness_refuses_what_contradicts_it(tmp_path: Path, notes: list[str]) -> None:
    witness = FileWitness(tmp_path / "witness")
    witness.hold(notes[2])
    with pytest.raises(RolledBack, match=r"^the witness has seen 7 records, and the journal has 6 or others"):
        witness.hold(notes[1])
    with placed("sqlite") as place:
        other = TrailWorld(place)
        other.seams.entropy(1)
        for number in range(3):
            other.record({"other": number})
        other.notary.checkpoint()
        with pytest.raises(
            RolledBack, match=r"^the witness has seen 7 records, and the journal has 7 or others"
        ):
            witness.hold(other.witness.held()[0])
    assert witness.held() == [notes[2]]


def test_a_witness_is_of_one_trail(tmp_path: Path, notes: list[str]) -> None:
    witness = FileWitness(tmp_path / "witness")
    witness.hold(notes[0])
    strange = notes[1].replace(read_note(notes[1]).checkpoint.trail_id, "ff" * 16)
    with pytest.raises(RolledBack, match=r"and this is ffff.*: give each trail a witness of its own$"):
        witness.hold(strange)


@pytest.mark.parametrize("tail", [1, 200, 600, 4_096])
def test_the_last_note_is_found_from_the_end(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch, tail: int
) -> None:
    # However little is read at first: a part of a note, one of two, or all.
    monkeypatch.setattr("falsework.runtime.trail.checkpoint.TAIL", tail)
    path = tmp_path / "witness"
    witness = FileWitness(path)
    assert witness.latest() is None
    for count, note in enumerate(notes, start=1):
        witness.hold(note)
        assert witness.latest() == note
        assert witness.held() == notes[:count]
    with path.open("ab") as file:
        file.write(b'"half a note')
    assert witness.latest() == notes[-1]
    witness.hold(notes[0])  # held long since
    assert witness.held() == notes
    path.write_bytes(b'"half a note')
    assert witness.latest() is None
    assert witness.held() == []


def test_a_note_that_was_half_written_was_never_held(tmp_path: Path, notes: list[str]) -> None:
    path = tmp_path / "witness"
    witness = FileWitness(path)
    witness.hold(notes[0])
    whole = path.read_bytes()
    path.write_bytes(whole + json.dumps(notes[1]).encode()[:40])
    assert witness.held() == [notes[0]]
    witness.hold(notes[1])
    assert witness.held() == notes[:2]


@pytest.mark.parametrize("line", ["", "x", '"x"', "1", "null", "[]", '"a\\nb\\nc\\nd\\ne\\nf\\n\\ng\\n"'])
def test_a_witness_with_a_strange_line_is_named(tmp_path: Path, notes: list[str], line: str) -> None:
    path = tmp_path / "witness"
    FileWitness(path).hold(notes[0])
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(TrailError, match=r"witness:2: is no checkpoint \(.*\): restore the witness's file$"):
        FileWitness(path).held()


def test_a_witness_that_cannot_be_reached_is_named(tmp_path: Path, notes: list[str]) -> None:
    witness = FileWitness(tmp_path)  # a folder
    with pytest.raises(TrailError, match=r": cannot be read \("):
        witness.held()
    with pytest.raises(TrailError, match=r": cannot hold a checkpoint \("):
        witness.hold(notes[0])
