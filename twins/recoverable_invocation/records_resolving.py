"""How a resolution goes wrong: rungs left out, codes that blame something else, records that say too little.

Step counts: what stands takes an intent, its ageing and whoever closed it, before the call.
"""

from falsework.language import replace, twin
from falsework.models.recoverable_invocation.records_resolving import (
    Answer,
    Closing,
    Form,
    Intent,
    Kind,
    Resolving,
    Trouble,
)


@twin(breaks={Resolving.an_operator_leaves_the_section_free: 2})
class SectionKeptAfterARefusal(Resolving):
    """The call fails over its credential, and the way out forgets what the way in took."""

    def keeps_the_section(self, answer: Answer) -> bool:
        return answer is Answer.INVALID_CREDENTIAL


@twin(breaks={Resolving.nobody_abandons_an_act_in_flight: 2})
class AbandonmentAtAnyAge(Resolving):
    """The operator knows that it is dead."""

    def of_its_age(self, disposition: Kind) -> Answer | None:
        return None


@twin(
    breaks={
        Resolving.an_aged_act_is_abandoned_on_the_operators_word: 3,
        Resolving.an_operators_abandonment_is_belied: None,
    }
)
class NoAbandonmentWithoutAFence(Resolving):
    """What a sweep may not do an operator may not do either, and the act stays open for ever."""

    def of_its_age(self, disposition: Kind) -> Answer | None:
        young = not (self.aged and self.fenced)
        return Answer.TOO_YOUNG if disposition is Kind.ABANDONED and young else None


@twin(breaks={Resolving.whatever_is_refused_appends_nothing: 2})
class CredentialCheckedAfterwards(Resolving):
    """The record is appended, and then the credential under it is looked at."""

    def resolve(self, disposition: Kind, form: Form, trouble: Trouble) -> Answer:
        answer = super().resolve(disposition, form, trouble)
        if answer is Answer.INVALID_CREDENTIAL:
            self.closing = self.written(disposition)
        return answer


@twin(
    breaks={
        Resolving.what_an_operator_writes_says_so: 4,
        Resolving.an_operator_corrects_a_sweeps_abandonment: None,
    }
)
class ResolvedByInPlaceOfSupersedes(Resolving):
    """The record names the operator and no record."""

    def written(self, disposition: Kind) -> Closing:
        return replace(super().written(disposition), supersedes=None)


@twin(
    breaks={
        Resolving.what_an_operator_writes_says_so: 2,
        Resolving.an_operators_abandonment_is_belied: None,
        Resolving.an_operator_corrects_a_sweeps_abandonment: None,
    }
)
class OperatorInTheCallersPlace(Resolving):
    """The record has one actor, and whose act it was is not in it."""

    def written(self, disposition: Kind) -> Closing:
        return replace(super().written(disposition), acting=None)


@twin(breaks={Resolving.a_form_is_judged_before_anything_is_read: 1})
class ListOfAnyLength(Resolving):
    """The operator's candidates are the operator's business."""

    def of_the_form(self, disposition: Kind, form: Form) -> Answer | None:
        return Answer.MALFORMED if form is Form.MALFORMED else None


@twin(breaks={Resolving.section_unavailable_is_said_while_another_holds_it: 2})
class ResolveBesideTheSection(Resolving):
    """A human is slow enough to need no lock."""

    def of_the_section(self) -> Answer | None:
        return None


@twin(breaks={Resolving.absence_destruction_and_an_outage_are_told_apart: 4})
class DestroyedIsNotKnown(Resolving):
    """The invocation id is in no payload any more, so there was no such invocation."""

    def of_the_intent(self) -> Answer | None:
        return None if self.intent is Intent.READABLE else Answer.NOT_KNOWN


@twin(breaks={Resolving.what_stands_decides_which_disposition_is_taken: 3})
class RefusalsCountForNothing(Resolving):
    """Only an outcome accounts for an act, so what was refused may be resolved."""

    def of_what_stands(self, disposition: Kind) -> Answer | None:
        return None if self.stands(Kind.REFUSED) else super().of_what_stands(disposition)


@twin(breaks={Resolving.the_write_has_its_own_answers: 2})
class EveryFailureIsARecordingFailure(Resolving):
    """The operator's credential is wrong, and the code says to try again."""

    def of_the_write(self, trouble: Trouble) -> Answer:
        return Answer.CLOSED if trouble is Trouble.NONE else Answer.RECORDING_FAILURE


@twin(breaks={Resolving.every_outcome_has_a_declared_shape: 5})
class OutcomeWithoutAPlan(Resolving):
    """The run writes what it found, and nothing says that it meant to."""

    def has_planned(self) -> bool:
        return True


@twin(breaks={Resolving.the_store_applies_what_it_may: 1, Resolving.everything_begins_with_an_intent: 1})
class CommitBeforeTheIntent(Resolving):
    """The act is made first, and written down where it worked."""

    def may_happen(self) -> bool:
        return self.intent is not Intent.PURGED


@twin(breaks={Resolving.the_store_applies_what_it_may: 3})
class StoreWithoutItsFence(Resolving):
    """The fence is declared, and the store applies what arrives."""

    def may_happen(self) -> bool:
        return self.intent is Intent.READABLE and not self.stands(Kind.REFUSED)


@twin(breaks={Resolving.a_refusal_is_the_invocations_own: 2})
class OperatorWhoRefuses(Resolving):
    """A fourth disposition says that the constituent refused, which no operator has heard."""

    def may_dispose(self, disposition: Kind) -> bool:
        return True


@twin(breaks={Resolving.only_what_is_old_is_destroyed: 2})
class PurgeOfTheYoung(Resolving):
    """The retention is shorter than the act is long."""

    def may_purge(self) -> bool:
        return self.intent is Intent.READABLE


@twin(breaks={Resolving.a_plan_is_of_an_open_aged_act_that_happened: 3})
class PlanOfTheYoung(Resolving):
    """The run plans what it finds in the store, for an invocation that is about to write it itself."""

    def may_plan(self) -> bool:
        return self.intent is Intent.READABLE


@twin(breaks={Resolving.an_invocation_closes_what_nobody_closed_in_time: 3})
class CloseOverAnother(Resolving):
    """The invocation writes over what an operator has resolved."""

    def may_close(self) -> bool:
        return self.intent is Intent.READABLE and not self.aged


@twin(breaks={Resolving.a_sweep_closes_what_nobody_closed_and_can_be_read: 4})
class SweepOverAnother(Resolving):
    """The run closes every aged intent, the closed ones too."""

    def may_sweep(self) -> bool:
        return self.intent is Intent.READABLE and self.aged
