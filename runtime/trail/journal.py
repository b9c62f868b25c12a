"""The audit trail over a store: one transaction a record, and reads that tell absence from destruction."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from falsework.runtime.store import (
    Failpoint,
    Row,
    Store,
    StoreBusy,
    StoreError,
    StoreUnknown,
    Transaction,
    boundaries,
    pass_through,
)
from falsework.runtime.trail import append
from falsework.runtime.trail.canonical import canonical, measured, parsed
from falsework.runtime.trail.chain import SALT
from falsework.runtime.trail.contract import (
    OWN_PREFIX,
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
    RangeAnswer,
    ReadAnswer,
    Record,
    RecordAnswer,
    Recorded,
    RecordingFailure,
    ReplyLost,
    Retained,
    Source,
    Step,
    Unavailable,
)
from falsework.runtime.trail.identity import SigningKey, attestation_id, signing_key
from falsework.runtime.trail.retention import Placement, PlacementFailed, Policies, declared_policies

RECORD, READ_BEHIND = "trail.record", "trail.read_behind"
LOOKED, PLACED = "trail.record.looked", "trail.record.placed"

BOUNDARIES = (*boundaries(RECORD), LOOKED, PLACED, *boundaries(READ_BEHIND))
"""Every durable boundary this module passes."""

COLUMNS = """j.seq, j.event_id, j.recorded_at, j.action_ref, j.actor_ref, j.attestation,
    COALESCE(j.policy_ref, late.policy_ref), COALESCE(j.retention_until, late.retention_until), j.payload"""
TABLES = "journal AS j LEFT JOIN placed_late AS late ON late.seq = j.seq"
RANGE = f"SELECT {COLUMNS} FROM {TABLES} WHERE j.seq > ? ORDER BY j.seq LIMIT ?"  # noqa: S608  all ours
ONE = f"""SELECT {COLUMNS}, purge.event_id FROM {TABLES}
    LEFT JOIN destroyed AS d ON d.seq = j.seq LEFT JOIN journal AS purge ON purge.seq = d.purge_seq
    WHERE j.event_id = ?"""  # noqa: S608  all ours


class TrailError(Exception):
    """The trail cannot be opened, or is asked for what makes no sense."""


def fresh_event_id() -> str:
    """An id nobody has; those minted later sort later, so that their index grows at one end."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


@dataclass(frozen=True, slots=True)
class Seams:
    """Where what differs from run to run comes in: event ids and salts."""

    event_id: Callable[[], str] = fresh_event_id
    entropy: Callable[[int], bytes] = os.urandom


class AuditTrail:
    """The trail that a store holds, for any number of threads."""

    def __init__(
        self,
        store: Store,
        caps: Caps | None = None,
        seams: Seams | None = None,
        failpoint: Failpoint = pass_through,
    ) -> None:
        self.store = store
        self.caps = caps or Caps()
        self.seams = seams or Seams()
        self.trail_id = stored_trail_id(store)
        self._failpoint = failpoint
        self._policies: Policies | None = None

    # Recording.

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: Data,
        *,
        fence: Fence | None = None,
    ) -> RecordAnswer:
        """The action is recorded under the actor's own attestation, or here is why not."""
        wrong = self._wrong_input(action_ref, actor_ref, fence)
        if wrong is not None:
            return InvalidRequest(Source.INPUT, wrong)
        try:
            payload = self.sized(action_ref, actor_ref, data)
        except ValueError as error:
            return InvalidRequest(Source.PAYLOAD, str(error))
        key = signing_key(credential)
        if key is None:
            return InvalidCredential(
                "this is no credential: write ed25519: and the 43 characters of its seed"
            )
        prepared = self.prepared(action_ref, actor_ref, key, payload)
        return self._append(prepared, fence)

    def sized(self, action_ref: str, actor_ref: str, data: Data) -> bytes:
        """The data's canonical form; `ValueError` where it has none, or takes more than the cap."""
        payload = canonical(data)
        size = measured(action_ref, actor_ref, payload)
        if size > self.caps.payload:
            raise ValueError(f"data makes an envelope of {size} bytes: write at most {self.caps.payload}")
        return payload

    def prepared(self, action_ref: str, actor_ref: str, key: SigningKey, payload: bytes) -> append.Prepared:
        """The record, attested, with an id and a salt that nobody has."""
        event_id, salt = self.seams.event_id(), self.seams.entropy(SALT)
        return append.prepare(self.trail_id, event_id, action_ref, actor_ref, key, salt, payload)

    def measure(self, action_ref: str, actor_ref: str, data: Data) -> int:
        """How many bytes of the payload cap a record takes."""
        return measured(action_ref, actor_ref, canonical(data))

    def now(self) -> int:
        """The database's clock."""
        return self.store.now()

    def _append(self, prepared: append.Prepared, fence: Fence | None) -> RecordAnswer:
        """The record's answer, whatever becomes of its transaction."""
        step = Step.ATTEST
        try:
            first = append.question(prepared.key_id, None if fence is None else fence.key)
            with self.store.transaction(RECORD, first) as transaction:
                standing = append.stood(transaction.found, prepared.key_id)
                self._failpoint(LOOKED)
                now = self.store.now()
                refused = unattested(transaction, prepared.actor_ref, standing, now)
                if refused is not None:
                    return refused
                step = Step.APPEND
                late = None if fence is None else append.fenced_out(fence, standing, now)
                if late is not None:
                    return RecordingFailure(step, Because.FENCED_OUT, late)
                placement, unplaced = self.placement(transaction, standing, prepared.action_ref, now)
                head = standing.sequence_number, standing.link
                appended = append.insert(transaction, prepared, head, now, placement)
        except StoreBusy as error:
            return RecordingFailure(step, Because.BUSY, str(error))
        except StoreUnknown as error:
            self._policies = None  # one that was read in a transaction that may not have landed
            return ReplyLost(prepared.event_id, str(error))
        except StoreError as error:
            return RecordingFailure(step, Because.FAILED, str(error))
        return unplaced or Recorded(prepared.event_id, appended.sequence_number, appended.recorded_at)

    def placement(
        self, transaction: Transaction, standing: append.Standing, action_ref: str, now: int
    ) -> tuple[Placement | None, InvalidRequest | RecordingFailure | None]:
        """The record's place in the retention window, or why it has none; it is appended all the same."""
        try:
            policies = self._known_policies(transaction, standing.latest_policy)
            self._failpoint(PLACED)
            placement = policies.place(action_ref, now)
        except (PlacementFailed, StoreError) as error:
            return None, RecordingFailure(Step.PLACE, Because.FAILED, str(error))
        if placement is None:
            return None, InvalidRequest(
                Source.RETENTION, f"no retention is declared for {action_ref!r}: declare one for its kind"
            )
        return placement, None

    def _known_policies(self, transaction: Transaction, latest: int) -> Policies:
        """The policies up to the latest, read again only where one was declared since."""
        policies = self._policies
        if policies is None or policies.latest != latest:
            with transaction.attempt():
                policies = declared_policies(transaction)
            self._policies = policies
        return policies

    # Reading.

    def read_record(self, event_id: str) -> ReadAnswer:
        """The record of the event, or that its payload is destroyed, or that there never was one."""
        if self.wrong_name("event id", event_id) is not None:
            return NotKnown()  # no record can have such an id
        try:
            return _answer(self.store.look(ONE, (event_id,)))
        except StoreError as error:
            return Unavailable(str(error))

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> RangeAnswer:
        """The page of records after the sequence number."""
        asked = self.caps.page if limit is None else limit
        if not _is_number(after) or after < 0:
            return InvalidQuery(f"after is {after!r}: write a sequence number, or 0 for the first page")
        if not _is_number(asked) or not 1 <= asked <= self.caps.page:
            return InvalidQuery(f"limit is {limit!r}: write a number from 1 to {self.caps.page}")
        try:
            if behind_writers:
                with self.store.transaction(READ_BEHIND) as view:
                    rows = view.execute(RANGE, (after, asked + 1))
            else:
                rows = self.store.look(RANGE, (after, asked + 1))
            if not rows:
                return Page((), after, complete=True)
            records = tuple(record_of(row) for row in rows[:asked])
        except StoreError as error:
            return Unavailable(str(error))
        return Page(records, records[-1].sequence_number, complete=len(rows) <= asked)

    # What is wrong with a request.

    def _wrong_input(self, action_ref: str, actor_ref: str, fence: Fence | None) -> str | None:
        """What is wrong with the references; None where nothing is."""
        names = [("action ref", action_ref), ("actor ref", actor_ref)]
        if fence is not None:
            names += [("fence's key", fence.key), ("fence's holder", fence.holder)]
        for what, name in names:
            wrong = self.wrong_name(what, name)
            if wrong is not None:
                return wrong
        if action_ref.startswith(OWN_PREFIX):
            return f"action ref is {action_ref!r}: what begins with {OWN_PREFIX} is the trail's own"
        if fence is not None and not _is_number(fence.terminus):
            return f"fence's terminus is {fence.terminus!r}: write the instant that was minted"
        return None

    def wrong_name(self, what: str, name: object) -> str | None:
        """What is wrong with a name; None where nothing is."""
        return wrong_name(what, name, self.caps.reference)


def wrong_name(what: str, name: object, longest: int) -> str | None:
    """What is wrong with a name of no more than so many characters; None where nothing is."""
    if not isinstance(name, str) or not name or not name.isprintable():
        return f"{what} is {name!r}: write a text that is not empty and has only printable characters"
    if len(name) > longest:
        return f"{what} has {len(name)} characters: write at most {longest}"
    return None


def unattested(
    transaction: Transaction, actor_ref: str, standing: append.Standing, now: int
) -> InvalidCredential | InvalidRequest | None:
    """Why the credential does not attest what the actor records; None where it does."""
    key = standing.key
    if key is None or key.actor_ref != actor_ref:
        if not transaction.execute("SELECT 1 FROM actor_key WHERE actor_ref = ? LIMIT 1", (actor_ref,)):
            return InvalidRequest(
                Source.IDENTITY, f"actor {actor_ref!r} is not registered: register it first"
            )
        return InvalidCredential(f"this credential is not one of {actor_ref!r}")
    if key.revoked:
        return InvalidCredential(f"this credential of {actor_ref!r} has been revoked")
    if key.valid_until is not None and now >= key.valid_until:
        return InvalidCredential(f"this credential of {actor_ref!r} ended at {key.valid_until}")
    return None


def stored_trail_id(store: Store) -> str:
    """The id of the trail that the store holds."""
    with store.snapshot() as snapshot:
        rows = snapshot.execute("SELECT trail_id FROM trail")
    match rows:
        case [(str() as trail_id,)]:
            return trail_id
        case []:
            raise TrailError("this store holds no audit trail: found one, under its first administrator")
    raise TrailError(f"the trail's id is stored as {rows}: verify the journal")


def _answer(rows: list[Row]) -> ReadAnswer:
    """What the rows of one event say."""
    match rows:
        case []:
            return NotKnown()
        case [(*columns, purge_event_id)]:
            record = record_of(tuple(columns))
            if record.data is not None:
                return Retained(record)
            if isinstance(purge_event_id, str):
                return Purged(record, purge_event_id)
    raise StoreError("the event has no payload, and no purge destroyed it: verify the journal")


def record_of(row: Row) -> Record:
    """The record of a row."""
    match row:
        case (
            int() as seq,
            str() as event_id,
            int() as recorded_at,
            str() as action_ref,
            str() as actor_ref,
            bytes() as attestation,
            str() | None as policy_ref,
            int() | None as retention_until,
            bytes() | None as payload,
        ):
            try:
                data = None if payload is None else parsed(payload)
            except ValueError as error:
                raise StoreError(
                    f"the payload of record {seq} is not what was recorded ({error}): verify the journal"
                ) from None
            return Record(
                seq,
                event_id,
                recorded_at,
                action_ref,
                actor_ref,
                attestation_id(attestation),
                policy_ref,
                retention_until,
                data,
            )
    raise StoreError(f"a record is stored as {row}: verify the journal")


def _is_number(value: object) -> bool:
    """Whether the value is a whole number, and one that a store can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
