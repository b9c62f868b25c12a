"""Resolve, rung by rung: what an operator is answered, in which order, and what its record holds.

The auditor reads every outcome as one of three shapes. Left out: rivals and chains, the arms of the write but
the credential's, and clocks: an intent is young or aged, and the section is free or another's.
"""

from enum import Enum
from typing import ClassVar, Self

from falsework.language import (
    Model,
    Record,
    action,
    configuration,
    fault,
    implies,
    initial,
    internal,
    invariant,
    reachable,
    require,
)

Intent = Enum("Intent", "NONE READABLE PURGED")
Kind = Enum("Kind", "OUTCOME REFUSED ABANDONED ESCALATED")
Actor = Enum("Actor", "CALLER SERVICE OPERATOR")
Form = Enum("Form", "SOUND MALFORMED CANDIDATES_OVER_CAP")
Trouble = Enum("Trouble", "NONE JOURNAL_UNREACHABLE TOO_LITTLE_LEFT CREDENTIAL_REFUSED")
Answer = Enum(
    "Answer",
    "CLOSED MALFORMED CANDIDATES_OVER_CAP SECTION_UNAVAILABLE NOT_KNOWN PURGED ALREADY_ACCOUNTED "
    "ALREADY_ABANDONED TOO_YOUNG INVALID_CREDENTIAL RECORDING_FAILURE",
)
Shape = Enum("Shape", "OF_THE_INVOCATION OF_THE_OPERATOR OF_THE_SWEEP NONE_OF_THESE")


class Closing(Record):
    """The closing that stands: its kind, who attests it, and what it carries of that."""

    kind: Kind
    by: Actor
    recovery: bool = False
    resolved_by: Actor | None = None
    acting: Actor | None = None
    supersedes: Kind | None = None  # the kind of the record that it names


class Resolving(Model):
    """A call is judged by its form, the section, the journal, the intent, what stands, and its age."""

    ESCALATES_THE_YOUNG: ClassVar[bool] = False  # whether too-young is said of abandonments alone
    BAD_FORMS_MEET_TROUBLE: ClassVar[bool] = True  # whether a call may be wrong in itself and meet trouble

    fenced: bool = False  # the kind declares a commit fence
    intent: Intent = Intent.NONE
    aged: bool = False
    planned: bool = False  # a run has written its recovery_intended
    happened: bool = False
    closing: Closing | None = None
    taken: bool = False  # another holds the section
    held: bool = False  # the operator does, after its call

    @initial
    def start(self, fenced: bool) -> None:
        self.fenced = fenced

    # The decisions, each by itself.

    def stands(self, kind: Kind) -> bool:
        return self.closing is not None and self.closing.kind is kind

    def of_the_form(self, disposition: Kind, form: Form) -> Answer | None:
        if form is Form.MALFORMED:
            return Answer.MALFORMED
        over = form is Form.CANDIDATES_OVER_CAP and disposition is Kind.ESCALATED
        return Answer.CANDIDATES_OVER_CAP if over else None

    def of_the_section(self) -> Answer | None:
        return Answer.SECTION_UNAVAILABLE if self.taken else None

    def of_the_intent(self) -> Answer | None:
        if self.intent is Intent.NONE:
            return Answer.NOT_KNOWN
        return Answer.PURGED if self.intent is Intent.PURGED else None

    def of_what_stands(self, disposition: Kind) -> Answer | None:
        if self.stands(Kind.OUTCOME) or self.stands(Kind.REFUSED):
            return Answer.ALREADY_ACCOUNTED
        again = self.stands(Kind.ABANDONED) and disposition is not Kind.OUTCOME
        return Answer.ALREADY_ABANDONED if again else None

    def of_its_age(self, disposition: Kind) -> Answer | None:
        waits = disposition is Kind.ABANDONED or (
            disposition is Kind.ESCALATED and not self.ESCALATES_THE_YOUNG
        )
        return Answer.TOO_YOUNG if waits and not self.aged else None

    def of_the_write(self, trouble: Trouble) -> Answer:
        if trouble is Trouble.TOO_LITTLE_LEFT:
            return Answer.RECORDING_FAILURE
        return Answer.INVALID_CREDENTIAL if trouble is Trouble.CREDENTIAL_REFUSED else Answer.CLOSED

    def answer(self, disposition: Kind, form: Form, trouble: Trouble) -> Answer:
        refused = self.of_the_form(disposition, form)
        if refused is not None:
            return refused
        refused = self.of_the_section()
        if refused is not None:
            return refused
        if trouble is Trouble.JOURNAL_UNREACHABLE:
            return Answer.RECORDING_FAILURE
        refused = self.of_the_intent()
        if refused is not None:
            return refused
        refused = self.of_what_stands(disposition)
        if refused is not None:
            return refused
        refused = self.of_its_age(disposition)
        return self.of_the_write(trouble) if refused is None else refused

    def written(self, disposition: Kind) -> Closing:
        return Closing(
            kind=disposition,
            by=Actor.OPERATOR,
            recovery=True,
            resolved_by=Actor.OPERATOR,
            acting=Actor.CALLER,
            supersedes=None if self.closing is None else self.closing.kind,
        )

    def keeps_the_section(self, answer: Answer) -> bool:
        return False

    def may_happen(self) -> bool:
        """Whether the store still applies the act: late too, where nothing fences it."""
        fenced_out = self.fenced and self.aged
        return self.intent is Intent.READABLE and not fenced_out and not self.stands(Kind.REFUSED)

    def may_close(self) -> bool:
        return self.intent is Intent.READABLE and not self.aged and self.closing is None

    def may_sweep(self) -> bool:
        return self.intent is Intent.READABLE and self.aged and self.closing is None

    def may_purge(self) -> bool:
        return self.intent is Intent.READABLE and self.aged

    def may_dispose(self, disposition: Kind) -> bool:
        return disposition is not Kind.REFUSED

    def may_plan(self) -> bool:
        return self.aged and self.intent is Intent.READABLE

    def has_planned(self) -> bool:
        return self.planned

    def shape(self) -> Shape:
        """Which of the outcome shapes the outcome that stands has."""
        closing = self.closing
        if closing is None or (closing.by is Actor.CALLER and not closing.recovery):
            return Shape.OF_THE_INVOCATION
        if closing.by is Actor.OPERATOR and closing.recovery and closing.resolved_by is Actor.OPERATOR:
            return Shape.OF_THE_OPERATOR
        by_sweep = closing.by is Actor.SERVICE and closing.recovery and closing.resolved_by is None
        return Shape.OF_THE_SWEEP if by_sweep and self.planned else Shape.NONE_OF_THESE

    # What goes before.

    @internal
    def open_act(self) -> None:
        require(self.intent is Intent.NONE)
        self.intent = Intent.READABLE

    @internal
    def happen(self) -> None:
        require(self.may_happen() and not self.happened)
        self.happened = True

    @internal
    def age(self) -> None:
        require(self.intent is Intent.READABLE and not self.aged)
        self.aged = True

    @internal(source=("resolve 12", "Invariant 7.3"))
    def purge(self) -> None:
        require(self.may_purge())
        self.intent = Intent.PURGED

    @action(source=("close step 3.1", "refuse step 3.1"))
    def close(self) -> None:
        """The invocation closes its own intent."""
        require(self.may_close())
        self.closing = Closing(kind=Kind.OUTCOME if self.happened else Kind.REFUSED, by=Actor.CALLER)

    @action(source=("reconcile step 3.2a", "Invariant 5.1"))
    def plan(self) -> None:
        require(self.may_plan() and self.closing is None and self.happened and not self.planned)
        self.planned = True

    @action(source=("reconcile step 3.2b", "reconcile step 3.4a", "reconcile step 3.5a"))
    def sweep(self) -> None:
        """A run closes: the outcome behind its plan, or an abandonment under a fence, or an escalation."""
        require(self.may_sweep())
        require(not self.happened or self.has_planned())
        if self.happened:
            self.closing = Closing(kind=Kind.OUTCOME, by=Actor.SERVICE, recovery=True, acting=Actor.CALLER)
        else:
            kind = Kind.ABANDONED if self.fenced else Kind.ESCALATED
            self.closing = Closing(kind=kind, by=Actor.SERVICE, recovery=True, acting=Actor.CALLER)

    @fault(source="resolve 5")
    def take(self) -> None:
        """Another takes the section and will hold it beyond the operator's wait."""
        require(not self.taken)
        self.taken = True

    @internal(source="resolve 5")
    def let_go(self) -> None:
        require(self.taken)
        self.taken = False

    # The operator, and the auditor.

    @action(source=("resolve 1", "resolve 2", "resolve 4", "resolve 8", "resolve 11", "resolve 27"))
    def resolve(self, disposition: Kind, form: Form, trouble: Trouble) -> Answer:
        require(self.may_dispose(disposition))
        require(self.BAD_FORMS_MEET_TROUBLE or form is Form.SOUND or trouble is Trouble.NONE)
        answer = self.answer(disposition, form, trouble)
        if answer is Answer.CLOSED:
            self.closing = self.written(disposition)
        self.held = self.keeps_the_section(answer)
        return answer

    @action(source=("Check 2.5", "Check 2.6"))
    def audit(self) -> Shape:
        require(self.stands(Kind.OUTCOME))
        return self.shape()

    # What is true.

    @invariant(source=("resolve 22", "resolve 3"))
    def an_operator_leaves_the_section_free(self) -> bool:
        return not self.held

    @invariant(source=("Invariant 5.8", "resolve 18", "resolve 19"))
    def nobody_abandons_an_act_in_flight(self) -> bool:
        return self.aged or not self.stands(Kind.ABANDONED)

    @invariant(on=resolve, source=("resolve 3", "resolve 7", "resolve 9", "resolve 12", "resolve 28"))
    def whatever_is_refused_appends_nothing(self, before: Self, answer: Answer) -> bool:
        return answer is Answer.CLOSED or self.closing == before.closing

    @invariant(on=resolve, source=("resolve 13", "resolve 21", "Invariant 5.4", "Invariant 5.5"))
    def what_an_operator_writes_says_so(self, before: Self, disposition: Kind, answer: Answer) -> bool:
        """It carries its own attestation, the caller behind it, what it supersedes, and owes no plan."""
        closing = self.closing
        stood = None if before.closing is None else before.closing.kind
        return answer is not Answer.CLOSED or (
            closing is not None
            and closing.kind is disposition
            and closing.by is Actor.OPERATOR
            and closing.recovery
            and closing.resolved_by is Actor.OPERATOR
            and closing.acting is Actor.CALLER
            and closing.supersedes is stood
            and self.planned == before.planned
        )

    @invariant(on=resolve, source=("resolve 27", "resolve 28"))
    def a_form_is_judged_before_anything_is_read(
        self, before: Self, disposition: Kind, form: Form, answer: Answer
    ) -> bool:
        over = form is Form.CANDIDATES_OVER_CAP and disposition is Kind.ESCALATED
        return (answer is Answer.MALFORMED) == (form is Form.MALFORMED) and (
            answer is Answer.CANDIDATES_OVER_CAP
        ) == over

    @invariant(on=resolve, source=("resolve 5", "resolve 6", "act section 5"))
    def section_unavailable_is_said_while_another_holds_it(self, before: Self, answer: Answer) -> bool:
        closed = answer is Answer.CLOSED or answer is Answer.RECORDING_FAILURE
        return implies(answer is Answer.SECTION_UNAVAILABLE, before.taken) and not (closed and before.taken)

    @invariant(on=resolve, source=("resolve 10", "resolve 11", "resolve 12", "Capability requirement 10"))
    def absence_destruction_and_an_outage_are_told_apart(
        self, before: Self, trouble: Trouble, answer: Answer
    ) -> bool:
        read = trouble is not Trouble.JOURNAL_UNREACHABLE
        return implies(answer is Answer.NOT_KNOWN, read and before.intent is Intent.NONE) and implies(
            answer is Answer.PURGED, read and before.intent is Intent.PURGED
        )

    @invariant(on=resolve, source=("resolve 9", "resolve 16", "resolve 17", "resolve 15"))
    def what_stands_decides_which_disposition_is_taken(
        self, before: Self, disposition: Kind, answer: Answer
    ) -> bool:
        accounted = before.stands(Kind.OUTCOME) or before.stands(Kind.REFUSED)
        abandoned = before.stands(Kind.ABANDONED)
        return (
            implies(answer is Answer.ALREADY_ACCOUNTED, accounted)
            and implies(answer is Answer.ALREADY_ABANDONED, abandoned and disposition is not Kind.OUTCOME)
            and not (
                answer is Answer.CLOSED and (accounted or (abandoned and disposition is not Kind.OUTCOME))
            )
        )

    @invariant(on=resolve, source=("resolve 18", "resolve 20", "resolve 20a", "Invariant 5.8"))
    def an_aged_act_is_abandoned_on_the_operators_word(
        self, before: Self, disposition: Kind, answer: Answer
    ) -> bool:
        """With a commit fence and without: too-young is all that the guard says."""
        return implies(answer is Answer.TOO_YOUNG, disposition is not Kind.OUTCOME and not before.aged)

    @invariant(on=resolve, source=("resolve 2", "resolve 3", "resolve 7"))
    def the_write_has_its_own_answers(self, trouble: Trouble, answer: Answer) -> bool:
        return (
            implies(answer is Answer.INVALID_CREDENTIAL, trouble is Trouble.CREDENTIAL_REFUSED)
            and implies(
                answer is Answer.RECORDING_FAILURE,
                trouble in (Trouble.JOURNAL_UNREACHABLE, Trouble.TOO_LITTLE_LEFT),
            )
            and (trouble is Trouble.NONE or answer is not Answer.CLOSED)
        )

    @invariant(on=audit, source=("Check 2.5", "Check 2.6", "Invariant 5.1"))
    def every_outcome_has_a_declared_shape(self, answer: Shape) -> bool:
        return answer is not Shape.NONE_OF_THESE

    # What is true of the surroundings.

    @invariant(source=("Action wiring 4", "Invariant 1.1"))
    def everything_begins_with_an_intent(self) -> bool:
        later = self.aged or self.happened or self.planned or self.closing is not None
        return self.intent is not Intent.NONE or not later

    @invariant(source=("refuse step 3.1", "resolve 1"))
    def a_refusal_is_the_invocations_own(self) -> bool:
        closing = self.closing
        return closing is None or closing.kind is not Kind.REFUSED or closing.by is Actor.CALLER

    @invariant(on=happen, source=("commit 9", "commit 11"))
    def the_store_applies_what_it_may(self, before: Self) -> bool:
        fenced_out = before.fenced and before.aged
        refused = before.stands(Kind.REFUSED)
        return before.intent is Intent.READABLE and not (before.happened or fenced_out or refused)

    @invariant(on=purge, source="Instance start 5")
    def only_what_is_old_is_destroyed(self, before: Self) -> bool:
        return before.aged

    @invariant(on=plan, source=("Invariant 5.1", "reconcile step 3.2a", "Invariant 7.1"))
    def a_plan_is_of_an_open_aged_act_that_happened(self, before: Self) -> bool:
        return before.aged and before.happened and before.closing is None

    @invariant(on=close, source=("close step 2.1", "refuse step 2.2", "close step 1.2a"))
    def an_invocation_closes_what_nobody_closed_in_time(self, before: Self) -> bool:
        kind = Kind.OUTCOME if self.happened else Kind.REFUSED
        return before.closing is None and not before.aged and self.stands(kind)

    @invariant(on=sweep, source=("reconcile step 2.5", "Invariant 7.1", "Invariant 7.2"))
    def a_sweep_closes_what_nobody_closed_and_can_be_read(self, before: Self) -> bool:
        return before.closing is None and before.aged and before.intent is Intent.READABLE

    # What must be able to happen.

    @reachable
    def a_sweep_records_an_outcome(self) -> bool:
        closing = self.closing
        return closing is not None and closing.kind is Kind.OUTCOME and closing.by is Actor.SERVICE

    @reachable
    def a_sweep_escalates(self) -> bool:
        closing = self.closing
        return closing is not None and closing.kind is Kind.ESCALATED and closing.by is Actor.SERVICE

    @reachable
    def a_refusal_stands(self) -> bool:
        return self.stands(Kind.REFUSED)

    @reachable
    def an_operators_abandonment_is_belied(self) -> bool:
        """Without a fence the act lands after the operator's word."""
        return self.stands(Kind.ABANDONED) and self.happened and not self.fenced

    @reachable
    def an_operator_corrects_a_sweeps_abandonment(self) -> bool:
        closing = self.closing
        return closing is not None and closing.supersedes is Kind.ABANDONED

    @reachable
    def an_open_intent_is_destroyed(self) -> bool:
        return self.intent is Intent.PURGED and self.closing is None


@configuration(holds=True)
class EscalatesAsWritten(Resolving):
    """The guard looks at abandonments alone; what that lets in is seen where an act is begun again."""

    ESCALATES_THE_YOUNG = True


@configuration(holds=True)
class OneTroubleAtATime(Resolving):
    """Small enough to be driven: a call is wrong in itself, or meets trouble, or neither."""

    BAD_FORMS_MEET_TROUBLE = False
