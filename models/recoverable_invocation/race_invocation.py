"""The invocation: Open in five steps, the commit, and then Close, Refuse or Yield."""

from typing import Annotated, ClassVar

from falsework.language import Upto, action, require
from falsework.models.recoverable_invocation.race_journal import Journal
from falsework.models.recoverable_invocation.vocabulary import (
    Answer,
    Arm,
    At,
    Author,
    Commit,
    Kind,
    Reply,
    Who,
)


class Invocation(Journal):
    """It writes its intent, commits, and writes what became of it, under one lease that it cannot renew."""

    RETRIES: ClassVar[int] = 1  # of Close; -1 is no limit
    CLOSE_RE_READS: ClassVar[bool] = True
    GIVES_UP: ClassVar[bool] = True  # whether Close may leave to the sweep what it could still try again
    ASKS_AGAIN: ClassVar[bool] = False  # behind each read and before a probe too, and once the intent landed

    retries: Annotated[int, Upto("max(RETRIES, 1)")] = 0

    def ends(self) -> None:
        """The invocation gives the section back and does nothing any more."""
        self.leave(Who.INVOCATION, At.DONE)
        self.rests()

    def rests(self) -> None:
        """What it knew is gone, and an act that it did not issue will not be issued."""
        self.decided[Who.INVOCATION] = None
        self.reply[Who.INVOCATION] = None
        self.unheard[Who.INVOCATION] = 0
        self.retries = 0
        if self.commit is Commit.UNISSUED:
            self.commit = Commit.NEVER

    def failure(self) -> Answer:
        """The position's own failure: of the outcome after a commit, of the refusal after a refusal."""
        if self.decided[Who.INVOCATION] is Kind.REFUSED:
            return Answer.RECORDING_FAILURE_REFUSAL
        return Answer.RECORDING_FAILURE_OUTCOME

    # Open.

    @action(source=("open step 2.1", "open step 2.2", "open step 2.3", "act section 8"))
    def open_takes(self) -> Answer:
        """A take that finds the section held is waited for by not happening yet, or is given up."""
        require(self.at[Who.INVOCATION] is At.IDLE)
        if not self.free():
            self.ends()
            return Answer.SECTION_UNAVAILABLE
        self.enter(Who.INVOCATION, self.COMPLETION_BOUND)
        self.at[Who.INVOCATION] = At.TAKEN
        return Answer.PROCEED

    @action(source=("open step 3.1", "open step 3.3", "open step 3.12", "open step 3.13"))
    def open_reads(self, readable: bool) -> Answer:
        require(self.at[Who.INVOCATION] is At.TAKEN)
        if not readable:
            self.ends()
            return Answer.JOURNAL_UNAVAILABLE
        if self.ASKS_AGAIN and self.remaining(Who.INVOCATION) == 0:
            self.ends()
            return Answer.SECTION_UNAVAILABLE
        self.at[Who.INVOCATION] = At.READ
        return Answer.PROCEED

    @action(source=("open step 4.1", "open step 4.2", "journal write bound 1"))
    def open_gates(self) -> Answer:
        require(self.at[Who.INVOCATION] is At.READ)
        if not self.may_write(Who.INVOCATION):
            self.ends()
            return Answer.SECTION_UNAVAILABLE
        self.at[Who.INVOCATION] = At.GATED
        return Answer.PROCEED

    @action(source="open step 4.3")
    def open_issues(self) -> None:
        require(self.at[Who.INVOCATION] is At.GATED and self.decided[Who.INVOCATION] is None)
        self.send(Who.INVOCATION, Kind.INTENT, None)

    @action(source=("open step 4.4", "open step 5.2", "Primitive policy 23", "Primitive policy 36"))
    def open_returns(self) -> Answer:
        require(self.at[Who.INVOCATION] is At.ISSUED and self.decided[Who.INVOCATION] is None)
        require(self.knows(Who.INVOCATION))
        if self.reply[Who.INVOCATION] is Reply.NOT_LANDED and not self.is_unread(Who.INVOCATION):
            self.ends()
            return Answer.RECORDING_FAILURE_INTENT
        if (self.ASKS_AGAIN or not self.REPLIES) and self.remaining(Who.INVOCATION) == 0:
            self.ends()
            return Answer.RECORDING_FAILURE_OUTCOME
        self.reply[Who.INVOCATION] = None
        self.at[Who.INVOCATION] = At.OPEN
        return Answer.OPENED

    # The commit.

    @action(source=("Action wiring 4", "commit 11"))
    def commits(self) -> None:
        require(self.at[Who.INVOCATION] is At.OPEN)
        self.at[Who.INVOCATION] = At.COMMITTING
        self.issue_commit(Who.INVOCATION)

    def refusal_is_known(self) -> bool:
        """The store has declared that the act did not happen and will not."""
        return self.commit in (Commit.IN_FLIGHT, Commit.NEVER)

    @action(source=("commit 1", "commit 2", "commit 4", "commit 6", "commit 8", "yield 1", "yield 4"))
    def commit_replies(self, arm: Arm) -> Answer:
        """An unknown arm yields: the section is released, and the act may still be on its way."""
        require(self.at[Who.INVOCATION] is At.COMMITTING)
        require(arm is not Arm.COMMITTED or self.happened())
        require(arm is not Arm.PRE_COMMIT or self.refusal_is_known())
        if arm is Arm.UNKNOWN:
            self.ends()
            return Answer.RECORDING_FAILURE_OUTCOME
        if arm is Arm.PRE_COMMIT:
            self.commit = Commit.NEVER
            self.commit_left = 0
        self.decided[Who.INVOCATION] = Kind.OUTCOME if arm is Arm.COMMITTED else Kind.REFUSED
        self.at[Who.INVOCATION] = At.DECIDED
        return Answer.PROCEED

    # Close, and Refuse, which differ in what they write and answer.

    @action(
        source=("close step 1.1", "close step 1.2", "refuse step 1.1", "refuse step 1.2", "retry terminus 2")
    )
    def close_gates(self) -> Answer:
        require(self.at[Who.INVOCATION] is At.DECIDED)
        if not self.may_write(Who.INVOCATION):
            answer = self.failure()
            self.ends()
            return answer
        self.at[Who.INVOCATION] = At.GATED
        return Answer.PROCEED

    def adopts(self) -> Answer:
        """What Close and Refuse answer of a closing that somebody else wrote."""
        if self.decided[Who.INVOCATION] is Kind.REFUSED:
            return Answer.ALREADY_ACCOUNTED
        if not self.sees(Kind.OUTCOME):
            return Answer.RECORDING_FAILURE_OUTCOME
        by_operator = any(c.kind is Kind.OUTCOME and c.author is Author.OPERATOR for c in self.journal)
        return Answer.LANDED_BY_OPERATOR if by_operator else Answer.LANDED_BY_SWEEP

    @action(
        source=("close step 2.1", "close step 2.2", "close step 2.3", "close step 2.4", "refuse step 2.2")
    )
    def close_reads(self, readable: bool) -> Answer:
        require(self.at[Who.INVOCATION] is At.GATED and self.decided[Who.INVOCATION] is not None)
        if not readable:
            answer = self.failure()
            self.ends()
            return answer
        if self.CLOSE_RE_READS and self.sees_a_closing():
            answer = self.adopts()
            self.ends()
            return answer
        if self.ASKS_AGAIN and not self.may_write(Who.INVOCATION):
            answer = self.failure()
            self.ends()
            return answer
        self.at[Who.INVOCATION] = At.CONFIRMED
        return Answer.PROCEED

    @action(source=("close step 3.1", "refuse step 3.1"))
    def close_issues(self) -> None:
        require(self.at[Who.INVOCATION] is At.CONFIRMED)
        kind = self.decided[Who.INVOCATION]
        self.send(Who.INVOCATION, Kind.OUTCOME if kind is None else kind, None)

    def may_retry(self) -> bool:
        """Refuse never does; Close does as often as is declared, and through its gate and its re-read."""
        left = self.RETRIES < 0 or self.retries < self.RETRIES
        return self.decided[Who.INVOCATION] is Kind.OUTCOME and left and not self.is_unread(Who.INVOCATION)

    @action(
        source=("close step 3.4", "close step 3.6", "close step 3.7", "close step 4.2", "refuse step 3.10")
    )
    def close_returns(self, again: bool) -> Answer:
        require(self.at[Who.INVOCATION] is At.ISSUED and self.decided[Who.INVOCATION] is not None)
        require(self.knows(Who.INVOCATION))
        if self.has_landed(Who.INVOCATION):
            require(not again)
            closed = self.decided[Who.INVOCATION] is Kind.OUTCOME
            self.ends()
            return Answer.LANDED_BY_INVOCATION if closed else Answer.REFUSED
        require(self.may_retry() if again else self.GIVES_UP or not self.may_retry())
        if not again:
            answer = self.failure()
            self.ends()
            return answer
        self.retries = min(self.retries + 1, max(self.RETRIES, 1))
        self.reply[Who.INVOCATION] = None
        self.at[Who.INVOCATION] = At.DECIDED
        return Answer.PROCEED
