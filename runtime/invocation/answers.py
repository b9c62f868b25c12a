"""Every answer of the protocol's actions, by the names of the text; each tells its code as it is exported."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from falsework.runtime.trail import Data, Record


class Position(Enum):
    """The record that a failed write was to land; it says whether the caller may run the action again."""

    INTENT = "intent"
    OUTCOME = "outcome"
    REFUSAL = "refusal"
    RESOLUTION = "resolution"


class LandedBy(Enum):
    """Which writer landed the outcome."""

    INVOCATION = "invocation"
    SWEEP = "sweep"
    OPERATOR = "operator"


class State(Enum):
    """What the standing closing makes of an invocation."""

    OPEN = "open"
    CLOSED = "closed"
    REFUSED = "refused"
    ABANDONED = "abandoned"
    ESCALATED = "escalated"
    RESOLVED = "resolved"


class Cause(Enum):
    """Why an act was abandoned or escalated."""

    NOT_COMMITTED = "not-committed"
    NOT_OBSERVED = "not-observed"
    UNDECIDABLE = "undecidable"
    OUTCOME_UNRECORDABLE = "outcome-unrecordable"


class ResolveRefusal(Enum):
    """Why a resolution is an invalid request."""

    PURGED = "purged"
    MALFORMED = "malformed"
    TOO_YOUNG = "too-young"
    ALREADY_ABANDONED = "already-abandoned"
    CANDIDATES_OVER_CAP = "candidates-over-cap"


# What the actions achieve.


@dataclass(frozen=True, slots=True)
class Opened:
    """The intent is in the journal, and the act's section is held."""

    invocation_id: str
    intent_event_id: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The outcome is in the journal, and this is who wrote it."""

    outcome_event_id: str
    landed_by: LandedBy


@dataclass(frozen=True, slots=True)
class RefusalRecorded:
    """The constituent's refusal is in the journal."""

    refusal_event_id: str


@dataclass(frozen=True, slots=True)
class Yielded:
    """The section is given back, and the intent stands open for the sweep."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The operator's closing is in the journal."""

    closing_event_id: str


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of every act that a run of the sweep examined, and of those that it did not."""

    run_id: str
    examined: int = 0
    closed: int = 0
    abandoned: int = 0
    escalated: int = 0
    reported: int = 0
    skipped: int = 0
    closed_already: int = 0
    surfaced: int = 0
    unreached: int = 0

    @property
    def accounted(self) -> int:
        """The sum of the parts, which is what was examined."""
        return (
            self.closed + self.abandoned + self.escalated + self.reported + self.skipped + self.closed_already
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One invocation: its state, whether two closings stand, and its records in the journal's order."""

    invocation_id: str
    state: State
    binding_duplicate: bool
    records: tuple[Record, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The act's invocations, the most recent first, and whether two of them stand open at once."""

    invocations: tuple[Entry, ...]
    binding_duplicate: bool
    more: bool


# What the actions refuse with.


@dataclass(frozen=True, slots=True)
class InvalidCredential:
    """The credential is not the actor's; nothing was written."""

    detail: str
    code: str = "invalid-credential"


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """The request is the caller's to mend; nothing was written."""

    detail: str
    cause: ResolveRefusal | None = None

    @property
    def code(self) -> str:
        """The code, with the cause that a resolution gives."""
        return "invalid-request" if self.cause is None else f"invalid-request({self.cause.value})"


@dataclass(frozen=True, slots=True)
class ActInFlight:
    """Another invocation of the act is under way, or waits for the sweep."""

    invocation_id: str

    @property
    def code(self) -> str:
        """The code with the invocation."""
        return f"act-in-flight({self.invocation_id})"


@dataclass(frozen=True, slots=True)
class ActLanded:
    """The act, which is not repeatable, has an outcome."""

    outcome_event_id: str

    @property
    def code(self) -> str:
        """The code with the outcome's record."""
        return f"act-landed({self.outcome_event_id})"


@dataclass(frozen=True, slots=True)
class SectionUnavailable:
    """The act's section was another's, or was left too short; nothing was written."""

    code: str = "section-unavailable"


@dataclass(frozen=True, slots=True)
class JournalUnavailable:
    """The journal could not be read, which says nothing of what it holds; nothing was written."""

    detail: str
    code: str = "journal-unavailable"


@dataclass(frozen=True, slots=True)
class RecordingFailure:
    """The record at this position did not land, as far as the writer knows."""

    position: Position
    detail: str
    constituent_code: str | None = None

    @property
    def code(self) -> str:
        """The code with its position, and at a refusal the constituent's own."""
        second = f", {self.constituent_code}" if self.position is Position.REFUSAL else ""
        return f"recording-failure({self.position.value}{second})"

    @property
    def may_retry(self) -> bool:
        """Whether running the action again is safe: nothing has been committed, or nothing appended."""
        return self.position in (Position.INTENT, Position.RESOLUTION)


@dataclass(frozen=True, slots=True)
class AlreadyAccounted:
    """A closing names the invocation already; nothing was appended."""

    closing_event_id: str

    @property
    def code(self) -> str:
        """The code with the closing's record."""
        return f"already-accounted({self.closing_event_id})"


@dataclass(frozen=True, slots=True)
class NotKnown:
    """No intent of the act, or of the invocation, can be read."""

    code: str = "not-known"


OpenAnswer: TypeAlias = (
    Opened
    | InvalidCredential
    | InvalidRequest
    | ActInFlight
    | ActLanded
    | SectionUnavailable
    | JournalUnavailable
    | RecordingFailure
)
CloseAnswer: TypeAlias = Closed | RecordingFailure
RefuseAnswer: TypeAlias = RefusalRecorded | AlreadyAccounted | RecordingFailure
ResolveAnswer: TypeAlias = (
    Resolved
    | AlreadyAccounted
    | NotKnown
    | SectionUnavailable
    | InvalidCredential
    | InvalidRequest
    | RecordingFailure
)
ReconcileAnswer: TypeAlias = Tally | JournalUnavailable
ReadAnswer: TypeAlias = Report | NotKnown | JournalUnavailable


# What an operator disposes.


@dataclass(frozen=True, slots=True)
class Outcome:
    """The act happened, and this is its outcome."""

    action_ref: str
    data: Data


@dataclass(frozen=True, slots=True)
class Abandon:
    """The act did not happen, as the operator attests."""

    cause: str


@dataclass(frozen=True, slots=True)
class Escalate:
    """These records of the store may be the act's."""

    candidates: tuple[str, ...]


Disposition: TypeAlias = Outcome | Abandon | Escalate


# What the adopter's probe answers.


@dataclass(frozen=True, slots=True)
class Committed:
    """Exactly one record of the store is the intent's, and this is all that the store can derive of it."""

    outcome_action_ref: str
    outcome_data: Data


@dataclass(frozen=True, slots=True)
class NotCommitted:
    """No record of the store is the intent's."""


@dataclass(frozen=True, slots=True)
class Undecidable:
    """Several records may be the intent's, or its outcome was in the dead invocation's memory alone."""

    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreUnavailable:
    """The store could not be read, which says nothing of what it holds."""

    detail: str


ProbeAnswer: TypeAlias = Committed | NotCommitted | Undecidable | StoreUnavailable


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that a person must hear of although the protocol goes on."""

    what: str
    kind: str
    act_key: str
    invocation_id: str
    detail: str


class Misuse(RuntimeError):
    """The protocol was called as it must not be: a mistake in the adopter's program, no state of an act."""
