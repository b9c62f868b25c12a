"""The words that the slices share: who acts, what is written, what is answered and in which position."""

from enum import Enum
from typing import Annotated

from falsework.language import Below, Countdown, Record

Who = Enum("Who", "INVOCATION FIRST_RUN SECOND_RUN OPERATOR ANOTHER GHOST")
"""Who may hold the section: also a second Open of the act, and whoever died holding it."""

Author = Enum("Author", "INVOCATION SWEEP OPERATOR")
"""Who wrote a record, as the record itself says: by its attestation, not by its run."""

Kind = Enum("Kind", "INTENT OUTCOME REFUSED ABANDONED ESCALATED")
"""What is written: the intent, and the four closings."""

Commit = Enum("Commit", "UNISSUED IN_FLIGHT APPLIED NEVER")
"""How it stands with the act itself; NEVER also where nobody is left who would issue it."""

Arm = Enum("Arm", "COMMITTED PRE_COMMIT UNKNOWN")
"""The store's reply to the commit, in the adopter's partition."""

Probe = Enum("Probe", "COMMITTED NOT_COMMITTED UNDECIDABLE UNAVAILABLE")
"""What the store says when it is read."""

Reply = Enum("Reply", "LANDED NOT_LANDED")
"""What a writer can find out about the write that it issued."""

Answer = Enum(
    "Answer",
    "PROCEED OPENED SECTION_UNAVAILABLE JOURNAL_UNAVAILABLE ACT_IN_FLIGHT ACT_LANDED "
    "RECORDING_FAILURE_INTENT RECORDING_FAILURE_OUTCOME RECORDING_FAILURE_REFUSAL "
    "RECORDING_FAILURE_RESOLUTION LANDED_BY_INVOCATION LANDED_BY_SWEEP LANDED_BY_OPERATOR REFUSED "
    "ALREADY_ACCOUNTED NOT_KNOWN TOO_YOUNG ALREADY_ABANDONED RESOLVED "
    "CLOSED ABANDONED ESCALATED REPORTED SKIPPED CLOSED_ALREADY",
)
"""What an action answers; PROCEED where it has not ended. A failure's position is part of its name."""

At = Enum("At", "IDLE CALLED TAKEN READ DECIDED GATED CONFIRMED ISSUED OPEN COMMITTING DONE")
"""How far a process is: GATED once it has asked for what remains, DECIDED once it knows what to write."""

Place = Annotated[int, Below("RECORDS")]
Lease = Annotated[int, Countdown("max(COMPLETION_BOUND, SWEEP_LEASE)")]
Due = Annotated[int, Countdown("WRITE_BOUND")]


class Write(Record):
    """A journal write in flight; the death of its writer does not stop it."""

    author: Author
    kind: Kind
    names: Place | None  # the closing that it supersedes
    until: Lease  # how long the journal would still admit it
    due: Due  # what is left of its write bound; at 0 its writer may read back


class Closing(Record):
    """A closing record; its event id is its place."""

    author: Author
    kind: Kind
    names: Place | None
    hidden: Due  # how long a read may still miss it
