"""How an adopter misreads its constituent, and tells its caller what is not so.

Step counts: Open, the reply, the question for what is left of the lease, and the re-read with its write.
"""

from falsework.language import require, twin
from falsework.models.recoverable_invocation.records_adopter import (
    SWEPT,
    Adopter,
    Call,
    Closing,
    Code,
    Part,
    Reply,
    Stage,
)


@twin(breaks={Adopter.a_refused_act_did_not_happen: 4})
class NoReplyIsARefusal(Adopter):
    """The call timed out, so it was refused, and the intent is closed over an act that may be there."""

    def partition(self, reply: Reply) -> Part:
        return Part.PRE_COMMIT if reply is Reply.LOST else super().partition(reply)


@twin(breaks={Adopter.an_outcome_is_of_an_act_that_happened: 4})
class AnyReplyIsACommit(Adopter):
    """The constituent answered something that it does not declare, and it did answer."""

    def partition(self, reply: Reply) -> Part:
        return Part.COMMITTED if reply is Reply.UNDECLARED else super().partition(reply)


@twin(
    breaks={Adopter.an_outcome_is_of_an_act_that_happened: 4, Adopter.what_is_unknown_is_left_to_the_sweep: 4}
)
class CloseOfTheUnknown(Adopter):
    """The caller wants an answer, so the adopter closes what it does not know."""

    def may_confirm(self) -> bool:
        return True


@twin(
    breaks={
        Adopter.a_refused_act_is_answered_as_one: 6,
        Adopter.what_nobody_closed_is_closed_unless_the_journal_is_out_of_reach: 6,
        Adopter.an_invocation_is_closed_by_one_writer: 6,
    }
)
class WriteWithoutAReread(Adopter):
    """The lease was good a moment ago, so nobody else can have written."""

    def rereads(self) -> bool:
        return False


@twin(breaks={Adopter.who_has_returned_holds_nothing: 3, Adopter.the_section_is_held_until_the_last_write: 3})
class ReturnWithoutARelease(Adopter):
    """The lease will end by itself, and until then the sweep waits for nobody."""

    def let_go(self) -> None:
        self.standing = False


@twin(
    breaks={
        Adopter.who_does_not_stand_does_not_look: 4,
        Adopter.who_does_not_stand_says_so_at_its_position: 5,
    }
)
class ReadBeforeStanding(Adopter):
    """A caller whose lease has ended reports a closing that it had no standing to observe."""

    def looks_first(self) -> bool:
        return True


@twin(
    breaks={
        Adopter.who_does_not_stand_says_so_at_its_position: 4,
        Adopter.a_refused_act_is_answered_as_one: 4,
    }
)
class OneFailureForBoth(Adopter):
    """Close and Refuse fail alike, and a caller whose act was refused is told that it may have happened."""

    def failure(self) -> Code:
        return Code.RECORDING_FAILURE_OUTCOME


@twin(breaks={Adopter.a_refused_act_is_answered_as_one: 6})
class RefusalThatAdopts(Adopter):
    """Refuse finds the invocation closed and reports what Close would."""

    def found(self) -> Code:
        return Code.LANDED_BY_SWEEP if self.swept is Closing.OUTCOME else Code.RECORDING_FAILURE_OUTCOME


@twin(breaks={Adopter.a_committed_act_is_answered_as_one: 6})
class CloseThatIsAlreadyAccounted(Adopter):
    """Close answers a code that it does not declare, which says nothing of who wrote what."""

    def found(self) -> Code:
        return Code.ALREADY_ACCOUNTED


@twin(breaks={Adopter.landed_by_says_who_wrote_the_outcome: 6})
class AnyClosingIsAdopted(Adopter):
    """The invocation is closed, by an abandonment, and the caller is told that its outcome has landed."""

    def found(self) -> Code:
        return Code.ALREADY_ACCOUNTED if self.part is Part.PRE_COMMIT else Code.LANDED_BY_SWEEP


@twin(breaks={Adopter.what_nobody_closed_is_closed_unless_the_journal_is_out_of_reach: 4})
class RefusalNotWorthARecord(Adopter):
    """Nothing happened, so nothing is written, and the attempt is gone."""

    def is_worth_a_record(self) -> bool:
        return self.part is not Part.PRE_COMMIT


@twin(breaks={Adopter.an_unknown_act_is_not_to_be_run_again: 3, Adopter.an_unknown_act_has_happened: None})
class UnknownAnsweredAsRefused(Adopter):
    """The adopter passes on that it heard nothing, in the words for a refusal."""

    def after_a_yield(self) -> Code:
        return Code.CONSTITUENTS_OWN


@twin(breaks={Adopter.not_open_is_the_adopters_to_say: 1})
class NotOpenFromAMap(Adopter):
    """The composition looks for the pair among what this node has open, and another node has it."""

    def of_a_stray(self, call: Call, checks: bool) -> Code:
        return Code.NOT_OPEN


@twin(breaks={Adopter.only_what_is_unknown_is_yielded: 3})
class YieldsWhatIsCommitted(Adopter):
    """The reply is in hand, and the adopter leaves the record to the sweep all the same."""

    def yield_section(self) -> Code:
        require(self.stage is Stage.REPLIED)
        self.stage = Stage.RETURNED
        self.let_go()
        return self.after_a_yield()


@twin(breaks={Adopter.a_sweep_closes_once_and_as_the_store_tells: 3})
class SweepWithoutAProbe(Adopter):
    """The run closes an intent as it likes, and asks no store."""

    def sweep(self, closing: Closing) -> None:
        require(closing in SWEPT and not self.standing and self.stage is not Stage.START)
        require(self.swept is Closing.NONE and self.written is Closing.NONE)
        self.swept = closing
