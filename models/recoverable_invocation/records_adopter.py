"""The adopter's action around the commit: which of its three ways it takes, and what it may tell its caller.

The constituent's reply is partitioned; Close and Refuse first ask whether they still stand, then re-read,
then write. Left out: Open, the arms of a write, and when a lease ends: it may end between any two steps.
"""

from enum import Enum
from typing import Self

from falsework.language import (
    Model,
    action,
    fault,
    implies,
    internal,
    invariant,
    reachable,
    require,
    terminal,
)

Stage = Enum("Stage", "START OPENED REPLIED CONFIRMED RETURNED")
Reply = Enum("Reply", "ACCEPTED REFUSED GUARDED LOST UNDECLARED")
Part = Enum("Part", "PRE_COMMIT COMMITTED UNKNOWN")
Closing = Enum("Closing", "NONE OUTCOME REFUSAL ABANDONED ESCALATED")
Call = Enum("Call", "CLOSE REFUSE")
Code = Enum(
    "Code",
    "GOES_ON LANDED_BY_INVOCATION LANDED_BY_SWEEP CONSTITUENTS_OWN ALREADY_ACCOUNTED NOT_OPEN "
    "RECORDING_FAILURE_OUTCOME RECORDING_FAILURE_REFUSAL",
)
SWEPT = (Closing.OUTCOME, Closing.ABANDONED, Closing.ESCALATED)
CERTAIN = (Reply.ACCEPTED, Reply.REFUSED, Reply.GUARDED)


class Adopter(Model):
    """A reply that the constituent does not declare pre-commit is never taken for a refusal."""

    stage: Stage = Stage.START
    part: Part | None = None
    happened: bool = False  # the store has applied the act, whatever the reply says
    standing: bool = False  # the invocation's lease has what a write needs
    held: bool = False  # the invocation has the section, as far as it knows
    looked: bool = False  # it has read the journal since it was replied to
    written: Closing = Closing.NONE  # by the invocation
    swept: Closing = Closing.NONE  # by a sweep

    # The decisions, each by itself.

    def partition(self, reply: Reply) -> Part:
        if reply is Reply.ACCEPTED:
            return Part.COMMITTED
        return Part.PRE_COMMIT if reply in (Reply.REFUSED, Reply.GUARDED) else Part.UNKNOWN

    def may_confirm(self) -> bool:
        return self.part is not Part.UNKNOWN

    def looks_first(self) -> bool:
        """Whether Close and Refuse read before they ask for their standing."""
        return False

    def failure(self) -> Code:
        """The position's own arm."""
        refuses = self.part is Part.PRE_COMMIT
        return Code.RECORDING_FAILURE_REFUSAL if refuses else Code.RECORDING_FAILURE_OUTCOME

    def found(self) -> Code:
        """What the re-read makes of another's closing."""
        if self.part is Part.PRE_COMMIT:
            return Code.ALREADY_ACCOUNTED
        adopts = self.swept is Closing.OUTCOME
        return Code.LANDED_BY_SWEEP if adopts else Code.RECORDING_FAILURE_OUTCOME

    def done(self) -> Code:
        return Code.CONSTITUENTS_OWN if self.part is Part.PRE_COMMIT else Code.LANDED_BY_INVOCATION

    def is_worth_a_record(self) -> bool:
        return True

    def rereads(self) -> bool:
        return True

    def after_a_yield(self) -> Code:
        return Code.RECORDING_FAILURE_OUTCOME

    def of_a_stray(self, call: Call, checks: bool) -> Code:
        """A pair that no Open returned: the adopter's own check, or else the action's first step."""
        if checks:
            return Code.NOT_OPEN
        return Code.RECORDING_FAILURE_OUTCOME if call is Call.CLOSE else Code.RECORDING_FAILURE_REFUSAL

    def let_go(self) -> None:
        self.held = False
        self.standing = False

    # The action.

    @action(source=("Action wiring 4", "act section 8", "open step 5.3"))
    def open_act(self) -> None:
        require(self.stage is Stage.START)
        self.stage = Stage.OPENED
        self.standing = True
        self.held = True

    @internal(source=("commit 1", "commit 5", "commit 6", "commit 7", "Invariant 9.3"))
    def reply(self, reply: Reply, applied: bool) -> None:
        """The constituent replies, or not; what a lost or undeclared reply hides, the store alone knows."""
        require(self.stage is Stage.OPENED)
        require(reply not in CERTAIN or applied == (reply is Reply.ACCEPTED))
        self.part = self.partition(reply)
        self.happened = applied
        self.stage = Stage.REPLIED

    @action(source=(
        "close step 1.1", "refuse step 1.1", "close step 1.3", "commit 2", "commit 4",
        "act section 10c", "close step 1.2b",
    ))  # fmt: skip
    def confirm(self) -> Code:
        """Close or Refuse asks what is left of its lease, and reads nothing before."""
        require(self.stage is Stage.REPLIED and self.may_confirm())
        self.looked = self.standing or self.looks_first()
        if self.looks_first() and self.swept is not Closing.NONE:
            self.stage = Stage.RETURNED
            self.let_go()
            return self.found()
        if not self.standing:
            self.stage = Stage.RETURNED
            self.let_go()
            return self.failure()
        self.stage = Stage.CONFIRMED
        return Code.GOES_ON

    @action(
        source=("close step 2.1", "close step 2.4", "refuse step 2.1", "refuse step 3.1", "close step 4.2")
    )
    def finish(self, journal: bool) -> Code:
        """It re-reads, and writes where nobody has closed the invocation; then it lets the section go."""
        require(self.stage is Stage.CONFIRMED)
        self.stage = Stage.RETURNED
        self.let_go()
        if not journal:
            return self.failure()
        if self.rereads() and self.swept is not Closing.NONE:
            return self.found()
        if self.is_worth_a_record():
            self.written = Closing.REFUSAL if self.part is Part.PRE_COMMIT else Closing.OUTCOME
        return self.done()

    @action(source=("yield 1", "yield 2", "commit 8", "commit 8c", "commit 8d", "Action wiring 1"))
    def yield_section(self) -> Code:
        require(self.stage is Stage.REPLIED and self.part is Part.UNKNOWN)
        self.stage = Stage.RETURNED
        self.let_go()
        return self.after_a_yield()

    @action(
        source=("Not Open 1", "Not Open 4", "Not Open 5", "close 4", "refuse step 0.1", "refuse step 0.2")
    )
    def stray(self, call: Call, checks: bool) -> Code:
        """Close or Refuse with a pair that no Open returned, by an adopter that checks or does not."""
        require(self.stage is Stage.START)
        return self.of_a_stray(call, checks)

    # Its surroundings.

    @fault(source="act section 10")
    def expire(self) -> None:
        require(self.standing)
        self.standing = False

    @internal(source=("Invariant 2.2", "yield 4"))
    def sweep(self, closing: Closing) -> None:
        """A run closes the invocation once its lease has ended, by what the store tells."""
        require(closing in SWEPT and not self.standing and self.stage is not Stage.START)
        require(self.swept is Closing.NONE and self.written is Closing.NONE)
        require(self.happened or closing is not Closing.OUTCOME)
        require(not self.happened or closing is not Closing.ABANDONED)
        self.swept = closing

    @terminal
    def the_action_has_returned(self) -> bool:
        return self.stage is Stage.RETURNED

    # What is true of every state.

    @invariant(source=("commit 9", "commit 2", "Action wiring 5"))
    def a_refused_act_did_not_happen(self) -> bool:
        return self.written is not Closing.REFUSAL or not self.happened

    @invariant(source=("commit 4", "commit 8a", "Invariant 5.3"))
    def an_outcome_is_of_an_act_that_happened(self) -> bool:
        return self.written is not Closing.OUTCOME or self.happened

    @invariant(source=("commit 8", "commit 8a", "commit 8b", "yield 1", "yield 4"))
    def what_is_unknown_is_left_to_the_sweep(self) -> bool:
        return self.part is not Part.UNKNOWN or self.written is Closing.NONE

    @invariant(source=("Invariant 2.1", "close step 2.1", "refuse step 2.3", "Action wiring 6"))
    def an_invocation_is_closed_by_one_writer(self) -> bool:
        return self.written is Closing.NONE or self.swept is Closing.NONE

    @invariant(source=("close step 4.2", "refuse step 3.10", "yield 1", "yield 3", "close step 2.2b"))
    def who_has_returned_holds_nothing(self) -> bool:
        return self.stage is not Stage.RETURNED or not (self.held or self.standing)

    @invariant(source=("act section 9", "act section 8"))
    def the_section_is_held_until_the_last_write(self) -> bool:
        return self.held == (self.stage in (Stage.OPENED, Stage.REPLIED, Stage.CONFIRMED))

    # What is true of the steps.

    @invariant(
        on=confirm,
        source=("refuse step 1.1", "refuse step 1.3", "refuse step 1.4", "close step 1.2", "act section 10"),
    )
    def who_does_not_stand_does_not_look(self, before: Self, answer: Code) -> bool:
        return self.looked == before.standing and (answer is Code.GOES_ON) == before.standing

    @invariant(
        on=confirm, source=("close step 1.2a", "close step 1.2c", "refuse step 1.2a", "refuse step 1.2b")
    )
    def who_does_not_stand_says_so_at_its_position(self, before: Self, answer: Code) -> bool:
        refuses = before.part is Part.PRE_COMMIT
        failure = Code.RECORDING_FAILURE_REFUSAL if refuses else Code.RECORDING_FAILURE_OUTCOME
        return before.standing or answer is failure

    @invariant(on=finish, source=("commit 3", "refuse step 2.2", "refuse step 3.5", "Invariant 8.1"))
    def a_refused_act_is_answered_as_one(self, before: Self, journal: bool, answer: Code) -> bool:
        accounted = journal and before.swept is not Closing.NONE
        return before.part is not Part.PRE_COMMIT or answer is (
            Code.ALREADY_ACCOUNTED
            if accounted
            else Code.CONSTITUENTS_OWN
            if journal
            else Code.RECORDING_FAILURE_REFUSAL
        )

    @invariant(on=finish, source=("close step 2.2c", "close step 2.3b", "close step 2.4b", "Invariant 8.4"))
    def a_committed_act_is_answered_as_one(self, before: Self, answer: Code) -> bool:
        return before.part is not Part.COMMITTED or answer in (
            Code.LANDED_BY_INVOCATION,
            Code.LANDED_BY_SWEEP,
            Code.RECORDING_FAILURE_OUTCOME,
        )

    @invariant(on=finish, source=("close step 2.2a", "close step 2.3a", "close step 4.3"))
    def landed_by_says_who_wrote_the_outcome(self, before: Self, answer: Code) -> bool:
        mine = self.written is Closing.OUTCOME
        return (answer is Code.LANDED_BY_INVOCATION) == mine and implies(
            answer is Code.LANDED_BY_SWEEP, before.swept is Closing.OUTCOME
        )

    @invariant(on=finish, source=(
        "close step 2.4a", "close step 3.1", "refuse step 3.1", "refuse step 3.11",
        "Invariant 4.3", "Invariant 4.3a",
    ))  # fmt: skip
    def what_nobody_closed_is_closed_unless_the_journal_is_out_of_reach(
        self, before: Self, journal: bool
    ) -> bool:
        return (self.written is not Closing.NONE) == (journal and before.swept is Closing.NONE)

    @invariant(on=yield_section, source=("commit 8d", "yield 2", "Invariant 8.4"))
    def an_unknown_act_is_not_to_be_run_again(self, answer: Code) -> bool:
        return answer is Code.RECORDING_FAILURE_OUTCOME

    @invariant(on=yield_section, source=("commit 4", "commit 9"))
    def only_what_is_unknown_is_yielded(self, before: Self) -> bool:
        return before.part is Part.UNKNOWN

    @invariant(on=sweep, source=("Invariant 2.2", "Invariant 5.3", "Invariant 5.6", "reconcile step 2.5"))
    def a_sweep_closes_once_and_as_the_store_tells(self, before: Self, closing: Closing) -> bool:
        idle = not before.standing and before.stage is not Stage.START
        unclosed = before.swept is Closing.NONE and before.written is Closing.NONE
        told = closing is Closing.ESCALATED or (closing is Closing.OUTCOME) == before.happened
        return idle and unclosed and closing in SWEPT and told

    @invariant(on=stray, source=("Not Open 4", "Not Open 5", "Not Open 3", "refuse step 2.4", "Not Open 2"))
    def not_open_is_the_adopters_to_say(self, call: Call, checks: bool, answer: Code) -> bool:
        failure = Code.RECORDING_FAILURE_OUTCOME if call is Call.CLOSE else Code.RECORDING_FAILURE_REFUSAL
        return answer is (Code.NOT_OPEN if checks else failure)

    # What must be able to happen.

    @reachable
    def the_sweep_closes_a_confirmed_invocation(self) -> bool:
        """Its writer sleeps between the question and the re-read."""
        return self.stage is Stage.CONFIRMED and self.swept is not Closing.NONE

    @reachable
    def an_unknown_act_has_happened(self) -> bool:
        return self.part is Part.UNKNOWN and self.happened and self.stage is Stage.RETURNED

    @reachable
    def a_refusal_comes_too_late(self) -> bool:
        return self.part is Part.PRE_COMMIT and self.swept is Closing.ESCALATED
