"""The section host and the adopter's store: who holds the section, until when, and whether the act happened.

The host's clock is the time of this model; the store's is STORE_LAG behind it, ahead if negative.
"""

from typing import Annotated, ClassVar

from falsework.language import Countdown, Map, Model, internal, require
from falsework.models.recoverable_invocation.vocabulary import At, Commit, Lease, Who


class Section(Model):
    """A lease ends by release or at its terminus alone; the store applies no act past its fence."""

    COMPLETION_BOUND: ClassVar[int] = 3  # the lease of an invocation
    SWEEP_LEASE: ClassVar[int] = 3  # that of a sweep run and of an operator
    ALLOWANCE: ClassVar[int] = 1
    JOURNAL_LAG: ClassVar[int] = 1
    STORE_LAG: ClassVar[int] = 1
    COMMIT_FENCE: ClassVar[bool] = True
    COMMIT_MARGIN: ClassVar[bool] = True  # whether the allowance is subtracted where an instant is minted
    LEASE_MARGIN: ClassVar[bool] = True
    CLOSED_COMMIT_EDGE: ClassVar[bool] = False  # whether a judge still admits at the very instant
    CLOSED_JOURNAL_EDGE: ClassVar[bool] = False

    at: Map[Who, At] = Map(At.IDLE)
    holder: Who | None = None
    left: Lease = 0  # what is left of the holder's lease
    lapsed: Map[Who, Annotated[int, Countdown("max(JOURNAL_LAG, STORE_LAG, 0) + 1")]] = Map(0)
    commit: Commit = Commit.UNISSUED
    commit_left: Annotated[int, Countdown("COMPLETION_BOUND + max(STORE_LAG, 0) + 1")] = 0

    # What an instant that is minted on one clock means on another.

    def slack(self, lag: int, margin: bool, closed: bool) -> int:
        """By how much later than minted a judge so far behind still admits."""
        return lag - (self.ALLOWANCE if margin else 0) + (1 if closed else 0)

    def commit_slack(self) -> int:
        return self.slack(self.STORE_LAG, self.COMMIT_MARGIN, self.CLOSED_COMMIT_EDGE)

    def journal_slack(self, margin: bool) -> int:
        return self.slack(self.JOURNAL_LAG, margin, self.CLOSED_JOURNAL_EDGE)

    def grace(self) -> int:
        """How long after a lease's end some judge would still admit under it; 0 where the margins suffice."""
        return max(self.commit_slack(), self.journal_slack(self.LEASE_MARGIN), 0)

    def terminus(self, who: Who) -> int:
        """How far ahead the end of its lease is; behind, if it has passed."""
        return self.left if self.holder is who else self.lapsed[who] - self.grace()

    def remaining(self, who: Who) -> int:
        return self.left if self.holder is who else 0

    # What the host does.

    def free(self) -> bool:
        return self.holder is None

    def enter(self, who: Who, lease: int) -> None:
        self.holder = who
        self.left = lease

    def leave(self, who: Who, after: At) -> None:
        """To release what one does not hold does nothing."""
        if self.holder is who:
            self.holder = None
            self.left = 0
        self.at[who] = after

    def bury(self, who: Who) -> None:
        """The host does not see a death: the lease runs on, and is nobody's."""
        if self.holder is who:
            self.holder = Who.GHOST

    def lapse(self) -> None:
        """After time has passed, a lease of which nothing is left is over."""
        if self.left == 0 and self.holder is not None:
            self.lapsed[self.holder] = self.grace()
            self.holder = None

    # What the store does.

    def issue_commit(self, who: Who) -> None:
        self.commit = Commit.IN_FLIGHT
        self.commit_left = max(self.terminus(who) + self.commit_slack(), 0) if self.COMMIT_FENCE else 0
        self.fence_commit()

    def fence_commit(self) -> None:
        """Past its fence an act is not late: it never happens."""
        if self.COMMIT_FENCE and self.commit is Commit.IN_FLIGHT and self.commit_left == 0:
            self.commit = Commit.NEVER

    @internal(source=("commit 10", "act section 1"))
    def apply(self) -> None:
        require(self.commit is Commit.IN_FLIGHT)
        self.commit = Commit.APPLIED
        self.commit_left = 0

    def happened(self) -> bool:
        return self.commit is Commit.APPLIED

    def stays_quiet(self) -> bool:
        """The act has not happened and never will."""
        return self.commit is Commit.NEVER
