"""Whether a journal is what was recorded: every row, every derived table, every checkpoint; the first fault.

What was recorded before the last checkpoint that a witness outside holds cannot be changed unseen. After it,
whoever can write to the database can still take whole records off the end: the verdict says how many records
no witness has seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from falsework.runtime.store import Row, Store, StoreError, Transaction, Value
from falsework.runtime.trail.chain import FIRST, Entry, committed, linked, statement
from falsework.runtime.trail.checkpoint import Note, read_note
from falsework.runtime.trail.contract import OWN_PREFIX
from falsework.runtime.trail.identity import attested
from falsework.runtime.trail.merkle import Tree
from falsework.runtime.trail.replay import Replay, Unlawful

PAGE = 1_000
LEAST = -(2**63)

ROWS = """SELECT seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref,
    retention_until, commitment, link, salt, payload FROM journal WHERE seq > ? ORDER BY seq LIMIT ?"""


class Reason(Enum):
    """What kind of fault was found."""

    UNREADABLE = "the journal cannot be read"
    MALFORMED = "a row is not of a record's form"
    LINK = "the record does not follow the one before it"
    ATTESTATION = "the record is not attested by its actor"
    PAYLOAD = "the payload is not the one committed to"
    DESTROYED = "the payload is gone, and no purge destroyed it"
    RESTORED = "the payload is there, and a purge destroyed it"
    UNLAWFUL = "the record is none that the trail would have written"
    TABLE = "a derived table does not say what the records say"
    CHECKPOINT = "the journal is not the one of a checkpoint"
    TRUNCATED = "the journal ends before a checkpoint"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first fault: the record's number, unless it is of the journal as a whole."""

    sequence_number: int | None
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was verified, and the first fault where there is one."""

    records: int
    destroyed: int
    unplaced: int
    checkpoints: int
    unwitnessed: int
    fault: Fault | None

    @property
    def is_clean(self) -> bool:
        """Whether there is no fault."""
        return self.fault is None


class Broken(Exception):
    """A fault, on its way to the verdict."""

    def __init__(self, sequence_number: int | None, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(sequence_number, reason, detail)


def verify(store: Store, witnessed: Iterable[str] = ()) -> Verdict:
    """The journal of the store, against itself and against the notes that a witness holds."""
    walk, fault, seen = Walk(), None, 0
    try:
        notes = [_note(text) for text in witnessed]
        with store.snapshot() as snapshot:
            kept = snapshot.execute("SELECT size, seq, frontier, note FROM checkpoint ORDER BY size")
            own = [_note(text) for *_, text in kept]
            walk.expect(notes + own)
            walk.through(snapshot)
            walk.compare_checkpoints(notes + own)
            walk.compare_payloads()
            walk.compare_tables(snapshot)
            walk.compare_frontiers(kept, own)
        seen = max((note.checkpoint.size for note in notes), default=0)
    except Broken as broken:
        fault = broken.fault
    except StoreError as error:
        fault = Fault(None, Reason.UNREADABLE, str(error))
    return Verdict(
        walk.tree.size,
        len(walk.replay.destroyed),
        len(walk.replay.unplaced),
        len(walk.found),
        walk.tree.size - seen,
        fault,
    )


class Walk:
    """One walk through the journal, record by record."""

    def __init__(self) -> None:
        self.replay = Replay()
        self.tree = Tree()
        self.found: dict[int, tuple[bytes, int, bytes]] = {}  # by size: the root, the last record, its link
        self._frontiers: dict[int, bytes] = {}
        self._sizes: set[int] = set()
        self._before = FIRST
        self._last = LEAST
        self._gone: set[int] = set()

    def expect(self, notes: list[Note]) -> None:
        """The tree's root is remembered at the size of each note."""
        self._sizes = {note.checkpoint.size for note in notes}

    def through(self, snapshot: Transaction) -> None:
        """Every record is what it was when it was recorded."""
        while page := snapshot.execute(ROWS, (self._last, PAGE)):
            for row in page:
                self._record(row)
        if self.tree.size == 0:
            raise Broken(None, Reason.TRUNCATED, "it has no record, and every trail is founded with one")

    def compare_payloads(self) -> None:
        """The payloads that are gone are those that purges destroyed."""
        for seq in sorted(self._gone ^ self.replay.destroyed.keys()):
            if seq in self._gone:
                raise Broken(seq, Reason.DESTROYED, "no purge names it")
            raise Broken(seq, Reason.RESTORED, f"record {self.replay.destroyed[seq]} destroyed it")

    def _record(self, row: Row) -> None:
        """The record follows, is attested, keeps its payload or lost it lawfully, and has had its effect."""
        entry, link, salt, payload = entry_of(row)
        seq = entry.sequence_number
        try:
            follows = seq > max(self._last, 0) and linked(self._before, entry) == link
        except OverflowError:
            follows = False
        if not follows:
            raise Broken(seq, Reason.LINK, f"it does not follow record {max(self._last, 0)} as it stands")
        self._last, self._before = seq, link
        self._payload(entry, salt, payload)
        try:
            if self.tree.size == 0:
                self.replay.found(entry, payload or b"")
            key = self.replay.attesting_key(entry)
            said = statement(
                self.replay.trail_id, entry.event_id, entry.action_ref, entry.actor_ref, entry.commitment
            )
            if not attested(key.public_key, entry.attestation, said):
                raise Broken(seq, Reason.ATTESTATION, f"{entry.actor_ref!r} did not sign it as it stands")
            self.replay.place(entry)
            if entry.action_ref.startswith(OWN_PREFIX) and self.tree.size > 0:
                self.replay.apply(entry, payload or b"")
        except (Unlawful, ValueError) as error:
            raise Broken(seq, Reason.UNLAWFUL, str(error)) from None
        self.tree.add(link)
        if self.tree.size in self._sizes:
            self.found[self.tree.size] = (self.tree.root(), seq, link)
            self._frontiers[self.tree.size] = b"".join(self.tree.frontier)

    def _payload(self, entry: Entry, salt: bytes | None, payload: bytes | None) -> None:
        """The payload is the one committed to, or gone with its salt."""
        if payload is None and salt is None:
            self._gone.add(entry.sequence_number)
            if entry.action_ref.startswith(OWN_PREFIX):
                raise Broken(entry.sequence_number, Reason.DESTROYED, "it is the trail's own, kept for good")
        elif payload is None or salt is None or committed(salt, payload) != entry.commitment:
            raise Broken(
                entry.sequence_number, Reason.PAYLOAD, "its commitment is to another payload or salt"
            )

    # The derived tables.

    def compare_tables(self, snapshot: Transaction) -> None:
        """The derived tables say what the records say, and no more."""
        replay = self.replay
        tables: dict[str, list[Row]] = {
            "SELECT sole, trail_id FROM trail": [(1, replay.trail_id)],
            "SELECT key_id, actor_ref, public_key, administers, valid_until, registered_seq, revoked_seq "
            "FROM actor_key": [
                (
                    key_id,
                    key.actor_ref,
                    key.public_key,
                    int(key.administers),
                    key.valid_until,
                    key.registered_seq,
                    key.revoked_seq,
                )
                for key_id, key in replay.keys.items()
            ],
            "SELECT prefix, period, declared_seq FROM policy": [
                (policy.prefix, policy.period, seq) for policy, seq in replay.policies.values()
            ],
            "SELECT seq, policy_ref, retention_until, placed_seq FROM placed_late": [
                (seq, place.policy_ref, place.retention_until, by) for seq, (place, by) in replay.late.items()
            ],
            "SELECT seq, purge_seq FROM destroyed": list(replay.destroyed.items()),
        }
        for query, said in tables.items():
            stored = set(snapshot.execute(query))
            for row in stored ^ set(said):
                what = "holds" if row in stored else "lacks"
                table = query.rpartition(" ")[2]
                raise Broken(None, Reason.TABLE, f"{table} {what} {row}, which the records do not say")

    # The checkpoints.

    def compare_checkpoints(self, notes: list[Note]) -> None:
        """The journal is, up to each checkpoint, the one that was signed."""
        for note in sorted(notes, key=lambda note: note.checkpoint.size):
            checkpoint = note.checkpoint
            if checkpoint.trail_id != self.replay.trail_id:
                raise Broken(None, Reason.CHECKPOINT, f"a checkpoint is of trail {checkpoint.trail_id}")
            key = self.replay.keys.get(note.key_id)
            if key is None or not key.administers or not note.is_signed_by(key.public_key):
                raise Broken(None, Reason.CHECKPOINT, f"the note of {checkpoint.size} records is not signed")
            if checkpoint.size > self.tree.size:
                raise Broken(
                    None,
                    Reason.TRUNCATED,
                    f"a checkpoint has {checkpoint.size} records, and the journal {self.tree.size}",
                )
            expected = (checkpoint.root, checkpoint.sequence_number, checkpoint.link)
            if self.found.get(checkpoint.size) != expected:
                raise Broken(
                    None,
                    Reason.CHECKPOINT,
                    f"the first {checkpoint.size} records, up to record {checkpoint.sequence_number}, are "
                    "not those that were signed",
                )

    def compare_frontiers(self, kept: list[Row], notes: list[Note]) -> None:
        """What the journal keeps beside its notes, to go on from, is of the same tree."""
        for (size, seq, frontier, _), note in zip(kept, notes, strict=True):
            said = (note.checkpoint.size, note.checkpoint.sequence_number)
            if (size, seq) != said or frontier != self._frontiers.get(note.checkpoint.size):
                raise Broken(
                    None, Reason.TABLE, f"checkpoint {size!r} is kept beside another tree's frontier"
                )


def entry_of(row: Row) -> tuple[Entry, bytes, bytes | None, bytes | None]:
    """The entry of a row, its link, and its salt and payload."""
    match row:
        case (
            int() as seq,
            str() as event_id,
            int() as recorded_at,
            str() as action_ref,
            str() as actor_ref,
            str() as key_id,
            bytes() as attestation,
            str() | None as policy_ref,
            int() | None as retention_until,
            bytes() as commitment,
            bytes() as link,
            bytes() | None as salt,
            bytes() | None as payload,
        ):
            entry = Entry(
                seq,
                event_id,
                recorded_at,
                action_ref,
                actor_ref,
                key_id,
                attestation,
                policy_ref,
                retention_until,
                commitment,
            )
            return entry, link, salt, payload
    raise Broken(None, Reason.MALFORMED, f"a row is stored as {row}")


def _note(text: Value) -> Note:
    """The note of a text."""
    try:
        return read_note(str(text))
    except ValueError as error:
        raise Broken(None, Reason.CHECKPOINT, f"a checkpoint's note cannot be read: {error}") from None
