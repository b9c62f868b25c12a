"""What the audit trail promises whoever records in it: two verbs, a range read, and every answer by name.

An instant is one of the database's clock, in its unit. An answer is returned and never raised, but for a
mistake of the caller's that no answer can carry (`ValueError`) and for what ends the process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol, TypeAlias

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"
"""What a record may carry: no floats, whole numbers within 2^53, keys and texts without lone surrogates."""

Data: TypeAlias = Mapping[str, Json]
"""A record's payload as its writer gives it, and as a reader gets it back."""

ATTESTATION_ID_WIDTH = 32
"""How many characters an attestation's id has, whoever attests."""

OWN_PREFIX = "trail."
"""The action refs that begin so are the trail's own records, and nobody else's."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How large a record and a page may be: beyond these a request is invalid, and nothing is cut short."""

    payload: int = 65_536  # bytes of the envelope, as `Trail.measure` counts them
    reference: int = 256  # characters of an action ref, an actor ref, an event id or a lease's name
    page: int = 1_000  # records


@dataclass(frozen=True, slots=True)
class Fence:
    """What a write stands under: the writer's lease as the host granted it, and the write's own terminus.

    The record is appended only where the holder's lease stands in the journal's own database, and the
    database's clock is before the terminus; both are looked at in the transaction that appends. `terminus` is
    minted by the writer for this one write, the allowance subtracted.
    """

    key: str
    holder: str
    terminus: int


class Source(Enum):
    """Which of the four sources an invalid request has; only `RETENTION` leaves the record appended."""

    INPUT = "input"  # a reference that is empty, too long, not printable, or the trail's own
    IDENTITY = "identity"  # an actor nobody has registered
    PAYLOAD = "payload"  # data that has no canonical form, or exceeds the cap
    RETENTION = "retention"  # no policy is declared for the action ref: appended, and not placed


class Step(IntEnum):
    """Where recording failed; only at `PLACE` is the record appended."""

    ATTEST = 2
    APPEND = 3
    PLACE = 4


class Because(Enum):
    """Why recording failed: for the log, and for whether another try could help."""

    FENCED_OUT = "the lease or the terminus had ended"
    BUSY = "another writer kept the journal"
    FAILED = "the journal could not be written"


@dataclass(frozen=True, slots=True)
class Recorded:
    """The record is appended, durable, and seen by every later read."""

    event_id: str
    sequence_number: int
    recorded_at: int


@dataclass(frozen=True, slots=True)
class InvalidCredential:
    """The credential is not a standing one of the actor's; nothing was written."""

    detail: str


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """The request cannot be recorded; nothing was written unless the source is retention."""

    source: Source
    detail: str


@dataclass(frozen=True, slots=True)
class RecordingFailure:
    """The record did not land, or at the last step landed without its retention."""

    step: Step
    because: Because
    detail: str


@dataclass(frozen=True, slots=True)
class ReplyLost:
    """The record may have landed or not: read back, behind the writers, before writing it again."""

    event_id: str
    detail: str


RecordAnswer: TypeAlias = Recorded | InvalidCredential | InvalidRequest | RecordingFailure | ReplyLost


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it is stored; without data where the retention window has destroyed the payload.

    `retention_until` is None where the record has not been placed yet, or is kept for good; the policy ref
    tells which, for it is None until the record is placed.
    """

    sequence_number: int
    event_id: str
    recorded_at: int
    action_ref: str
    actor_ref: str
    attestation_id: str
    policy_ref: str | None
    retention_until: int | None
    data: Data | None


@dataclass(frozen=True, slots=True)
class Retained:
    """The record stands with its payload."""

    record: Record


@dataclass(frozen=True, slots=True)
class Purged:
    """The record stands and its payload is destroyed, by the purge that is recorded under this event."""

    record: Record
    purge_event_id: str


@dataclass(frozen=True, slots=True)
class NotKnown:
    """No record has this event id, and none ever had."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The journal could not be read; this says nothing about what it holds."""

    detail: str


ReadAnswer: TypeAlias = Retained | Purged | NotKnown | Unavailable


@dataclass(frozen=True, slots=True)
class Page:
    """The records after a sequence number, in order, purged ones included; numbers may be missing.

    Read on from `cursor`; `complete` says that nothing stood after it when the page was read.
    """

    records: tuple[Record, ...]
    cursor: int
    complete: bool


@dataclass(frozen=True, slots=True)
class InvalidQuery:
    """The query can never be answered: asking again unchanged is a mistake."""

    detail: str


RangeAnswer: TypeAlias = Page | InvalidQuery | Unavailable


class Trail(Protocol):
    """The audit trail, for any number of threads."""

    caps: Caps

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
        ...

    def read_record(self, event_id: str) -> ReadAnswer:
        """The record of the event, or that its payload is destroyed, or that there never was one."""
        ...

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> RangeAnswer:
        """The page of records after the sequence number, 0 for the first; None asks for a whole page.

        Behind the writers: every write issued before has landed by now or never will, so that an absence is
        final; this waits for the journal's write lock.
        """
        ...

    def measure(self, action_ref: str, actor_ref: str, data: Data) -> int:
        """How many bytes of the payload cap a record takes; `ValueError` where data has no canonical form."""
        ...

    def now(self) -> int:
        """The database's clock, by which records are stamped and leases end."""
        ...
