"""Checkpoints: how far the journal had got and its Merkle root, signed, and held by a witness outside.

A note is text in the form of a signed note: its origin, the number of records, the root in base64; then the
last record's number and link, and when it was taken. Who has one can tell whether the journal still begins
with what it began with then; nobody else can.
"""

import base64
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from falsework.runtime.store import Failpoint, Row, StoreError, Transaction, boundaries, pass_through
from falsework.runtime.trail.append import look
from falsework.runtime.trail.identity import attested, signing_key
from falsework.runtime.trail.journal import AuditTrail, TrailError
from falsework.runtime.trail.merkle import HASH, Tree

CHECKPOINT = "trail.checkpoint"
SIGNED, WITNESSED = f"{CHECKPOINT}.signed", f"{CHECKPOINT}.witnessed"

BOUNDARIES = (SIGNED, *boundaries(CHECKPOINT), WITNESSED)
"""Every durable boundary this module passes."""

ORIGIN = "falsework-trail/"
SIGNER = "falsework/"
PAGE = 10_000
TAIL = 4_096
"""How much of a witness's file is read to find its last note: more than any note takes."""

LINKS = "SELECT seq, link FROM journal WHERE seq > ? ORDER BY seq LIMIT ?"
LATEST_NOTE = "SELECT size, seq, frontier, note FROM checkpoint ORDER BY size DESC LIMIT 1"


class RolledBack(TrailError):
    """The witness has seen more of this trail, or something else, than the journal now holds."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a note says."""

    trail_id: str
    size: int
    root: bytes
    sequence_number: int
    link: bytes
    taken_at: int

    def text(self) -> str:
        """What is signed."""
        root = base64.b64encode(self.root).decode()
        return (
            f"{ORIGIN}{self.trail_id}\n{self.size}\n{root}\n"
            f"seq {self.sequence_number}\nlink {self.link.hex()}\nat {self.taken_at}\n"
        )


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint and who signed it."""

    checkpoint: Checkpoint
    key_id: str
    signature: bytes

    def text(self, public_key: bytes) -> str:
        """The note as it is written down."""
        signed = base64.b64encode(_key_hash(self.key_id, public_key) + self.signature).decode()
        return f"{self.checkpoint.text()}\n— {SIGNER}{self.key_id} {signed}\n"

    def is_signed_by(self, public_key: bytes) -> bool:
        """Whether the key signed it."""
        return attested(public_key, self.signature, self.checkpoint.text().encode())


def read_note(text: str) -> Note:
    """The note of a text; `ValueError` where it is none."""
    match text.split("\n"):
        case [origin, size, root, seq, link, taken_at, "", signature, ""]:
            if not origin.startswith(ORIGIN):
                raise ValueError(f"its origin is {origin!r}")
            checkpoint = Checkpoint(
                origin.removeprefix(ORIGIN),
                int(size),
                base64.b64decode(root, validate=True),
                int(_after("seq ", seq)),
                bytes.fromhex(_after("link ", link)),
                int(_after("at ", taken_at)),
            )
            signer, _, encoded = _after(f"— {SIGNER}", signature).partition(" ")
            return Note(checkpoint, signer, base64.b64decode(encoded, validate=True)[4:])
    raise ValueError("it does not have the nine lines of a note")


def _after(begin: str, line: str) -> str:
    """The rest of a line that begins so."""
    if not line.startswith(begin):
        raise ValueError(f"a line is {line!r} where {begin!r} was expected")
    return line.removeprefix(begin)


def _key_hash(key_id: str, public_key: bytes) -> bytes:
    """The four bytes that tell a reader of notes which key to try: of the name and the algorithm, Ed25519."""
    return hashlib.sha256(f"{SIGNER}{key_id}\n\x01".encode() + public_key).digest()[:4]


class Witness(Protocol):
    """Who holds notes where no writer of the journal can change them."""

    def hold(self, note: str) -> None:
        """The note is held, durably; `RolledBack` where it contradicts one that is held."""
        ...

    def latest(self) -> str | None:
        """The last note that is held; None where there is none."""
        ...

    def held(self) -> list[str]:
        """Every note that is held, in the order in which they came."""
        ...


class FileWitness:
    """A file that is only ever appended to, where the journal's writers cannot change it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def hold(self, note: str) -> None:
        """The note is flushed to the file, once."""
        fresh = read_note(note).checkpoint
        try:
            with self.path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                last, end = self._last(file)
                if note == last:
                    return
                if last is not None:
                    before = read_note(last).checkpoint
                    if fresh.size < before.size and note in self._all(file):
                        return
                    _refuse_a_contradiction(before, fresh)
                file.truncate(end)  # a note that was half written was never acknowledged
                file.write(json.dumps(note).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            if last is None:  # the file is new, and so is its name
                _flush_folder(self.path.parent)
        except OSError as error:
            raise TrailError(f"{self.path}: cannot hold a checkpoint ({error}): make it writable") from error

    def latest(self) -> str | None:
        """The last note of the file, found from its end however long it is; None where there is none."""
        with self._opened() as file:
            return None if file is None else self._last(file)[0]

    def held(self) -> list[str]:
        """The notes of the file; none where there is no file yet."""
        with self._opened() as file:
            return [] if file is None else self._all(file)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        """The file, open to be read; None where there is none yet."""
        try:
            with self.path.open("rb") as file:
                yield file
        except FileNotFoundError:
            yield None
        except OSError as error:
            raise TrailError(f"{self.path}: cannot be read ({error}): make it readable") from error

    def _last(self, file: BinaryIO) -> tuple[str | None, int]:
        """The last note, and where the whole lines end."""
        start = max(file.seek(0, os.SEEK_END) - TAIL, 0)
        file.seek(start)
        tail = file.read()
        if start and tail.count(b"\n") < 2:  # the last line may have lost its beginning
            start = file.seek(0)
            tail = file.read()
        whole = tail.rfind(b"\n") + 1
        if not whole:
            return None, 0
        note = _note_of(tail[:whole].splitlines()[-1])
        return (self._all(file)[-1] if isinstance(note, ValueError) else note), start + whole

    def _all(self, file: BinaryIO) -> list[str]:
        """Every note of the file; a line that is none is named by its number."""
        file.seek(0)
        content = file.read()
        notes = []
        for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1):
            note = _note_of(line)
            if isinstance(note, ValueError):
                raise TrailError(
                    f"{self.path}:{number}: is no checkpoint ({note}): restore the witness's file"
                )
            notes.append(note)
        return notes


def _note_of(line: bytes) -> str | ValueError:
    """The note of a line of the file, or why it is none."""
    try:
        note = json.loads(line)
        if not isinstance(note, str):
            return ValueError(f"it is {note!r}, where a text was expected")
        read_note(note)
    except ValueError as error:
        return error
    return note


def _flush_folder(folder: Path) -> None:
    """The names of the folder's files are on its disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _refuse_a_contradiction(held: Checkpoint, fresh: Checkpoint) -> None:
    """The fresh checkpoint may come after the one that is held."""
    if held.trail_id != fresh.trail_id:
        raise RolledBack(
            f"the witness holds checkpoints of trail {held.trail_id}, and this is {fresh.trail_id}: "
            "give each trail a witness of its own"
        )
    if (fresh.size, fresh.root) == (held.size, held.root) or fresh.size > held.size:
        return
    raise RolledBack(
        f"the witness has seen {held.size} records, and the journal has {fresh.size} or others: "
        "the journal was rolled back or replaced; verify it against the witness"
    )


def refuse_a_rollback(trail: AuditTrail, witness: Witness) -> None:
    """The journal still has the last record that was witnessed; a quick look, for every start."""
    note = witness.latest()
    if note is None:
        return
    last = read_note(note).checkpoint
    with trail.store.snapshot() as snapshot:
        rows = snapshot.execute("SELECT link FROM journal WHERE seq = ?", (last.sequence_number,))
    if last.trail_id != trail.trail_id or rows != [(last.link,)]:
        raise RolledBack(
            f"the witness has seen record {last.sequence_number} of trail {last.trail_id}, and the journal "
            "does not have it: it was rolled back or replaced; verify it against the witness"
        )


class Notary:
    """Takes checkpoints of a trail, under an administrator's key, and gives them to a witness."""

    def __init__(
        self,
        trail: AuditTrail,
        credential: str,
        witness: Witness,
        failpoint: Failpoint = pass_through,
    ) -> None:
        key = signing_key(credential)
        if key is None:
            raise TrailError(
                "the notary's credential is none: write ed25519: and the 43 characters of a seed"
            )
        self.trail, self.key, self.witness = trail, key, witness
        self._failpoint = failpoint

    def checkpoint(self) -> Checkpoint:
        """All that was recorded before the call is under a checkpoint that the witness holds."""
        refuse_a_rollback(self.trail, self.witness)
        with self.trail.store.snapshot() as snapshot:
            self._refuse_a_stranger(snapshot)
            tree, last, link, stored = _grown(snapshot)
        if stored is not None:  # nothing came since: the witness may have missed it
            self.witness.hold(stored)
            return read_note(stored).checkpoint
        taken = Checkpoint(self.trail.trail_id, tree.size, tree.root(), last, link, self.trail.now())
        signature = self.key.sign(taken.text().encode())
        note = Note(taken, self.key.key_id, signature).text(self.key.public_key)
        self._failpoint(SIGNED)
        with self.trail.store.transaction(CHECKPOINT) as transaction:
            transaction.execute(
                "INSERT INTO checkpoint (size, seq, frontier, note) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (size) DO NOTHING",
                (tree.size, last, b"".join(tree.frontier), note),
            )
        self.witness.hold(note)
        self._failpoint(WITNESSED)
        return taken

    def _refuse_a_stranger(self, snapshot: Transaction) -> None:
        """The notary's key administers the trail."""
        key = look(snapshot, self.key.key_id, None).key
        if key is None or not key.administers or key.revoked:
            raise TrailError(f"key {self.key.key_id} does not administer this trail: register it first")


def _grown(snapshot: Transaction) -> tuple[Tree, int, bytes, str | None]:
    """The tree of all records, the last record's number and link, and the note if one has just this tree."""
    tree, last, link, note = Tree(), 0, b"", None
    match snapshot.execute(LATEST_NOTE):
        case [(int() as size, int() as seq, bytes() as frontier, str() as text)]:
            steps = [frontier[place : place + HASH] for place in range(0, len(frontier), HASH)]
            tree, last, link, note = _tree(size, steps), seq, read_note(text).checkpoint.link, text
    while page := snapshot.execute(LINKS, (last, PAGE)):
        note = None
        for row in page:
            last, link = _link(row)
            tree.add(link)
    return tree, last, link, note


def _tree(size: int, frontier: list[bytes]) -> Tree:
    """The tree of a stored frontier."""
    try:
        return Tree(size, frontier)
    except ValueError as error:
        raise StoreError(f"a checkpoint's frontier is wrong ({error}): verify the journal") from None


def _link(row: Row) -> tuple[int, bytes]:
    """A record's number and link."""
    match row:
        case (int() as seq, bytes() as link):
            return seq, link
    raise StoreError(f"a link is stored as {row}: verify the journal")
