"""How a writer misreads what it is answered: codes taken at their word, and one table for every position.

Step counts: beginning, the write, a read-back where the arm asks for one, and the answer.
"""

from falsework.language import require, twin
from falsework.models.recoverable_invocation.records_codes import (
    Arm,
    Code,
    CountedRetries,
    Fate,
    Found,
    Position,
    Positions,
    Stage,
)


@twin(
    breaks={
        Positions.a_code_that_says_nothing_was_written_is_true: 4,
        Positions.the_sweep_leaves_what_did_not_land_for_the_next_run: 4,
        Positions.a_retention_failure_hides_behind_an_invalid_request: None,
    }
)
class ReadBackByRetention(Positions):
    """The read-back goes by an index that a record without its retention is not in."""

    def read_back(self, reachable: bool) -> Found:
        require(self.stage is Stage.REPLIED and self.must_read_back() and self.may_read_back())
        require(self.found is None or self.found is Found.OUTAGE)
        there = Found.RECORD if self.appended > 0 and not self.unplaced else Found.NOTHING
        self.found = there if reachable else Found.OUTAGE
        return there if reachable else Found.OUTAGE


@twin(
    breaks={
        Positions.done_means_that_the_record_is_there: 5,
        Positions.the_sweep_leaves_what_did_not_land_for_the_next_run: 5,
    }
)
class NoReplyIsNoBadReply(Positions):
    """A reply that never came is taken for the record's."""

    def present(self) -> bool:
        return super().present() or self.arm is Arm.LOST


@twin(
    breaks={Positions.no_record_is_appended_twice: 5, Positions.who_tries_again_knows_that_nothing_landed: 4}
)
class RetryAfterTheFourthStep(Positions):
    """A recording failure is a failure, so it is tried again, and the first record was appended."""

    def may_retry(self) -> bool:
        return super().may_retry() or self.arm is Arm.STEP_4


@twin(breaks={Positions.no_record_is_appended_twice: 7})
class RetryWhateverWasFound(Positions):
    """Having waited and read back, the writer tries a lost write again without looking at what it read."""

    def may_retry(self) -> bool:
        return super().may_retry() or (self.arm is Arm.LOST and self.position is Position.OUTCOME)


@twin(
    breaks={
        Positions.open_answers_its_own_codes: 3,
        Positions.open_returns_with_the_section_held: 4,
        Positions.what_cannot_be_recorded_is_escalated: 4,
        Positions.a_code_that_says_nothing_was_written_is_true: 4,
    }
)
class OpenByTheSweepsTable(Positions):
    """One table maps the arms of every write, and Open answers that a run will do it."""

    def at_the_intent(self) -> Code:
        return self.of_the_sweep()


@twin(breaks={Positions.after_the_commit_no_code_invites_a_retry: 3})
class CloseThatPassesTheCredentialOn(Positions):
    """The credential was revoked during the commit, and the caller is told that nothing was written."""

    def at_the_outcome(self) -> Code:
        return Code.INVALID_CREDENTIAL if self.arm is Arm.INVALID_CREDENTIAL else super().at_the_outcome()


@twin(
    breaks={
        Positions.after_the_commit_no_code_invites_a_retry: 3,
        Positions.a_code_that_says_nothing_was_written_is_true: 4,
    }
)
class FailureWithoutAPosition(Positions):
    """A recording failure says nothing of where, and the caller runs the act again."""

    def at_the_outcome(self) -> Code:
        return Code.DONE if self.present() else Code.RECORDING_FAILURE_INTENT


@twin(breaks={Positions.refuse_answers_its_own_codes: 3})
class RefuseByTheOutcomesTable(Positions):
    """Refuse answers that the act may have been committed, where it knows that it was not."""

    def at_the_refusal(self) -> Code:
        return Code.DONE if self.present() else Code.RECORDING_FAILURE_OUTCOME


@twin(breaks={Positions.resolve_answers_its_own_codes: 3})
class ResolveByTheOutcomesTable(Positions):
    """The operator is told never to try again, where nothing was appended."""

    def at_the_resolution(self) -> Code:
        return Code.DONE if self.present() else Code.RECORDING_FAILURE_OUTCOME


@twin(
    breaks={
        Positions.the_sweep_leaves_what_did_not_land_for_the_next_run: 3,
        Positions.what_cannot_be_recorded_is_escalated: 3,
        Positions.a_code_that_says_nothing_was_written_is_true: 4,
    }
)
class SweepThatEscalatesAnyFailure(Positions):
    """A closing that the journal did not take is called unrecordable, and an outage becomes an escalation."""

    def of_the_sweep(self) -> Code:
        code = super().of_the_sweep()
        return Code.OUTCOME_UNRECORDABLE if code is Code.NEXT_RUN else code


@twin(
    breaks={
        Positions.the_sweep_leaves_what_did_not_land_for_the_next_run: 4,
        Positions.what_cannot_be_recorded_is_escalated: 4,
    }
)
class SweepThatTriesForEver(Positions):
    """An outcome that outgrew its envelope is left to the next run, which will fare no better."""

    def of_the_sweep(self) -> Code:
        return Code.NEXT_RUN if self.denied() else super().of_the_sweep()


@twin(breaks={Positions.a_record_without_its_retention_raises_the_alert: 4})
class SilentSuccess(Positions):
    """The record was found, so all is well, and nobody learns that nothing will keep it."""

    def alerts(self) -> bool:
        return self.position is Position.OUTCOME and self.denied()


@twin(breaks={Positions.an_outcome_that_is_no_request_raises_the_alert: 4})
class SilentRejection(Positions):
    """The outcome of a committed act is refused for its size, and only the caller hears of it."""

    def alerts(self) -> bool:
        return self.arm in (Arm.STEP_4, Arm.INVALID_REQUEST) and self.found is Found.RECORD


@twin(breaks={Positions.what_was_not_told_is_read_back_when_it_can_be_known: 3})
class ReadBackAtOnce(Positions):
    """The writer reads back as soon as the reply is overdue, while the write may still land."""

    def may_read_back(self) -> bool:
        return True


@twin(
    breaks={
        Positions.nobody_writes_without_standing: 3,
        Positions.who_tries_again_knows_that_nothing_landed: 4,
    }
)
class WriteWithoutALease(Positions):
    """The writer took the section once and does not ask what is left of it."""

    def may_write(self) -> bool:
        return True


@twin(breaks={Positions.an_outcome_is_retried_after_a_reread: 4})
class RetryWithoutAReread(Positions):
    """The retry repeats the write and not the look before it."""

    def rereads(self) -> bool:
        return False


@twin(breaks={Positions.counted_retries_are_counted: 6}, within=CountedRetries)
class RetriesBesideTheCount(Positions):
    """The count was declared and the loop runs to the lease's end."""

    def has_retries(self) -> bool:
        return True


@twin(breaks={Positions.who_tries_again_knows_that_nothing_landed: 3})
class RetryAtEveryPosition(Positions):
    """Whatever is known not to have landed is tried again."""

    def may_retry(self) -> bool:
        return self.absent()


@twin(breaks={Positions.nothing_is_written_under_a_refused_credential: 4})
class SweepUnderARefusedCredential(Positions):
    """The next act may have better luck with the credential that was refused."""

    def is_barred(self) -> bool:
        return False


@twin(breaks={Positions.who_gives_up_has_lost_its_standing: 2})
class WriterThatGivesUpEarly(Positions):
    """One failure is enough, and the lease had room for more."""

    def may_give_up(self) -> bool:
        return True


@twin(breaks={Positions.a_refused_credential_bars_the_sweep: 3})
class SweepBarredByAnything(Positions):
    """Whatever the journal did not take bars the credential under which it was written."""

    def bars(self, code: Code) -> bool:
        return code in (Code.BARRED, Code.NEXT_RUN)


@twin(breaks={Positions.a_write_leaves_what_its_fate_says: 2})
class FailureAppendsNothing(Positions):
    """The fourth step fails after the append, and is taken to undo it."""

    def appends(self, fate: Fate) -> bool:
        return super().appends(fate) and fate is not Fate.STEP_4


@twin(breaks={Positions.within_the_write_bound_a_lost_write_lands: 3})
class LostForGood(Positions):
    """Without a reply a write has not happened."""

    def settle(self) -> None:
        require(not self.settled)
        self.flying = False
        self.settled = True


@twin(breaks={Positions.nothing_is_left_over_from_one_write_to_the_next: 3})
class CountThatIsNeverReset(Positions):
    """The writer keeps what it knew of its last record, and judges the next one by it."""

    def rest(self) -> None:
        self.stage = Stage.IDLE
        self.appended = 0
        self.flying = False
        self.settled = True
        self.standing = False


@twin(breaks={Positions.every_step_changes_something: 4})
class RereadThrownAway(Positions):
    """The journal is read before the retry, and what it holds is not looked at."""

    def reread(self) -> None:
        require(self.stage is Stage.READY and self.rereads() and not self.fresh)


@twin(breaks={Positions.a_retry_of_a_counted_outcome_is_counted: 3}, within=CountedRetries)
class RetriesUncounted(Positions):
    """The number of attempts is declared, and nobody keeps count."""

    def counts(self) -> bool:
        return False


@twin(breaks={Positions.an_invalid_request_is_not_tried_again: 4})
class RetryOfAnInvalidRequest(Positions):
    """Nothing was found, so nothing landed, and the same request is sent again."""

    def may_retry(self) -> bool:
        return super().may_retry() or (self.position is Position.OUTCOME and self.denied())
