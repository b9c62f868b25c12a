"""Runtimes whose Resolve leaves a rung out, blames something else, or writes a record that says too little.

Step counts are the model twins' own but where a comment tells another: what stands takes an intent, its
ageing and whoever closed it, before the call. Each is driven along the part of the graph in which it errs.
"""

from dataclasses import replace
from typing import Any, ClassVar

from falsework.conformance.subject import ANSWER, runtime_twin
from falsework.language import require
from falsework.models.recoverable_invocation.records_resolving import Answer, Form, Kind, Resolving, Trouble
from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    Disposition,
    InvalidCredential,
    InvalidRequest,
    NotKnown,
    Position,
    RecordingFailure,
    ResolveRefusal,
    SectionUnavailable,
)
from falsework.runtime.invocation.closing import Sweep
from falsework.runtime.invocation.figures import ServiceIdentity
from falsework.runtime.invocation.journal import NotLanded, Why, Write
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Closing, Sort
from falsework.runtime.invocation.resolve import _under_the_section
from falsework.runtime.invocation.section import ActSection, Standing, section_key
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.subjects.recoverable_invocation.place import credential_of
from falsework.runtime.subjects.recoverable_invocation.resolving import ResolvingSubject
from falsework.runtime.subjects.recoverable_invocation.world import OPERATOR

HERE = "falsework.twins.runtime.recoverable_invocation.resolving"


class Unfenced(Resolving):
    """A kind without a commit fence, and of the calls those that meet nothing and are sound."""

    FENCED: ClassVar[bool] = False
    FORMS: ClassVar[tuple[Form, ...]] = (Form.SOUND,)
    TROUBLES: ClassVar[tuple[Trouble, ...]] = (Trouble.NONE,)

    def start(self, fenced: bool) -> None:
        require(fenced == self.FENCED)
        super().start(fenced)

    def resolve(self, disposition: Kind, form: Form, trouble: Trouble) -> Answer:
        require(form in self.FORMS and trouble in self.TROUBLES)
        return super().resolve(disposition, form, trouble)


class EveryForm(Unfenced):
    """Calls of any form."""

    FORMS = tuple(Form)


class EveryTrouble(Unfenced):
    """Calls that meet any trouble."""

    TROUBLES = tuple(Trouble)


class _Refusal:
    """Whether the call that releases was refused over its credential."""

    seen = False


def _noticed(right: Right) -> Right:
    def under_the_section(*call: Any) -> object:
        found = right(*call)
        _Refusal.seen = isinstance(found, InvalidCredential)
        return found

    return under_the_section


def _kept(right: Right) -> Right:
    def release(self: ActSection, standing: Standing) -> None:
        if not _Refusal.seen:
            right(self, standing)
        _Refusal.seen = False

    return release


@runtime_twin(breaks={Resolving.an_operator_leaves_the_section_free: 2}, within=3)
class SectionKeptAfterARefusal(ResolvingSubject):
    """The call fails over its credential, and the way out forgets what the way in took."""

    model = f"{HERE}:EveryTrouble"
    bends = (
        Bend("invocation.resolve", "_under_the_section", _noticed),
        Bend("invocation.section:ActSection", "release", _kept),
    )


@runtime_twin(breaks={Resolving.nobody_abandons_an_act_in_flight: 2}, within=4)
class AbandonmentAtAnyAge(ResolvingSubject):
    """The operator knows that it is dead."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.resolve", "in_flight", always(False)),)


def _never_without_a_fence(right: Right) -> Right:
    def refused(
        parties: Parties, kind: Any, intent: Any, closings: Any, said: Disposition, now: int
    ) -> object:
        if isinstance(said, Abandon) and not kind.fenced:
            return InvalidRequest("no fence", ResolveRefusal.TOO_YOUNG)
        return right(parties, kind, intent, closings, said, now)

    return refused


@runtime_twin(breaks={Resolving.an_aged_act_is_abandoned_on_the_operators_word: 3}, within=4)
class NoAbandonmentWithoutAFence(ResolvingSubject):
    """What a sweep may not do an operator may not do either, and the act stays open for ever."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.resolve", "_refused", _never_without_a_fence),)


def _appended_first(right: Right) -> Right:
    def append(parties: Parties, write: Write) -> object:
        found = right(parties, write)
        if isinstance(found, NotLanded) and found.why is Why.CREDENTIAL:
            right(parties, replace(write, credential=credential_of(OPERATOR)))
        return found

    return append


@runtime_twin(breaks={Resolving.whatever_is_refused_appends_nothing: 2}, within=3)
class CredentialCheckedAfterwards(ResolvingSubject):
    """The record is appended, and then the credential under it is looked at."""

    model = f"{HERE}:EveryTrouble"
    bends = (Bend("invocation.resolve", "append", _appended_first),)


@runtime_twin(breaks={Resolving.what_an_operator_writes_says_so: 4}, within=4)
class ResolvedByInPlaceOfSupersedes(ResolvingSubject):
    """The record names the operator and no record."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.resolve", "superseding", always({})),)


def _of_one_actor(right: Right) -> Right:
    def payload(*call: Any) -> trail.Data:
        data: trail.Data = right(*call)
        return {field: value for field, value in data.items() if field != "acting_actor_ref"}

    return payload


@runtime_twin(breaks={Resolving.what_an_operator_writes_says_so: 2}, within=4)
class OperatorInTheCallersPlace(ResolvingSubject):
    """The record has one actor, and whose act it was is not in it."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.resolve", "recovered_payload", _of_one_actor),)


def _however_many(right: Right) -> Right:
    def malformed(*call: Any) -> InvalidRequest | None:
        found: InvalidRequest | None = right(*call)
        return None if found is not None and found.cause is ResolveRefusal.CANDIDATES_OVER_CAP else found

    return malformed


@runtime_twin(breaks={Resolving.a_form_is_judged_before_anything_is_read: 1}, within=2)
class ListOfAnyLength(ResolvingSubject):
    """The operator's candidates are the operator's business."""

    model = f"{HERE}:EveryForm"
    bends = (Bend("invocation.resolve", "_malformed", _however_many),)


def _beside_the_section(right: Right) -> Right:
    def resolve(parties: Parties, kind_name: str, act_key: str, name: str, event: str, *rest: Any) -> object:
        kind, (actor_ref, credential, said) = parties.kind(kind_name), rest
        answer = right(parties, kind_name, act_key, name, event, *rest)
        if not isinstance(answer, SectionUnavailable):
            return answer
        holder = Standing(section_key(kind.name, act_key), parties.ids())
        now = parties.seam.now()
        return _under_the_section(
            parties, kind, act_key, name, event, actor_ref, credential, said, holder, now
        )

    return resolve


# Its gate finds no lease, so that it fails to record an intent that it has read, and the trouble was none.
@runtime_twin(
    breaks={
        Resolving.section_unavailable_is_said_while_another_holds_it: 2,
        Resolving.the_write_has_its_own_answers: 3,
    },
    within=3,
)
class ResolveBesideTheSection(ResolvingSubject):
    """A human is slow enough to need no lock."""

    model = f"{HERE}:EveryTrouble"
    bends = (Bend("invocation.instance", "resolve", _beside_the_section),)


def _not_known(right: Right) -> Right:
    def intent(*call: Any) -> object:
        found = right(*call)
        purged = isinstance(found, InvalidRequest) and found.cause is ResolveRefusal.PURGED
        return NotKnown() if purged else found

    return intent


@runtime_twin(breaks={Resolving.absence_destruction_and_an_outage_are_told_apart: 4}, within=4)
class DestroyedIsNotKnown(ResolvingSubject):
    """The invocation id is in no payload any more, so there was no such invocation."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.resolve", "_intent", _not_known),)


def _forged(right: Right) -> Right:
    def read_record(*call: Any) -> trail.ReadAnswer:
        found: trail.ReadAnswer = right(*call)
        return trail.NotKnown() if isinstance(found, trail.Purged) else found

    return read_record


# As above: an intent, its ageing, its purge, and the call.
@runtime_twin(breaks={Resolving.absence_destruction_and_an_outage_are_told_apart: 4}, within=4)
class PurgeThatForgesAbsence(ResolvingSubject):
    """The journal answers of a destroyed record as of one that never was."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("trail.journal:AuditTrail", "read_record", _forged),)


def _but_refusals(right: Right) -> Right:
    def accounted(closings: list[Closing], said: Disposition) -> object:
        return right([closing for closing in closings if closing.sort is not Sort.REFUSED], said)

    return accounted


@runtime_twin(breaks={Resolving.what_stands_decides_which_disposition_is_taken: 3}, within=4)
class RefusalsCountForNothing(ResolvingSubject):
    """Only an outcome accounts for an act, so what was refused may be resolved."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.resolve", "_accounted", _but_refusals),)


def _try_again(right: Right) -> Right:
    def resolve(*call: Any) -> object:
        found = right(*call)
        if isinstance(found, InvalidCredential):
            return RecordingFailure(Position.RESOLUTION, found.detail)
        return found

    return resolve


@runtime_twin(breaks={Resolving.the_write_has_its_own_answers: 2}, within=3)
class EveryFailureIsARecordingFailure(ResolvingSubject):
    """The operator's credential is wrong, and the code says to try again."""

    model = f"{HERE}:EveryTrouble"
    bends = (Bend("invocation.instance", "resolve", _try_again),)


def _without_a_plan(right: Right) -> Right:
    def write(self: Sweep, identity: ServiceIdentity, action_ref: str, payload: trail.Data) -> object:
        if action_ref.endswith(".recovery_intended"):
            return None
        return right(self, identity, action_ref, payload)

    return write


# The run that was to die behind its plan has written the outcome, and is audited.
@runtime_twin(breaks={Resolving.every_outcome_has_a_declared_shape: 5}, within=5)
class OutcomeWithoutAPlan(ResolvingSubject):
    """The run writes what it found, and nothing says that it meant to."""

    model = f"{HERE}:Unfenced"
    bends = (Bend("invocation.closing:Sweep", "_write", _without_a_plan),)


# An intent, an operator's outcome, and the invocation's Close, which the model disables and must be refused.
@runtime_twin(breaks={ANSWER: 3}, within=4)
class CloseOverAnother(ResolvingSubject):
    """The invocation writes over what an operator has resolved."""

    model = f"{HERE}:Unfenced"
    bends = (
        Bend("invocation.close", "standing_closing", always(None)),
        Bend("invocation.refuse", "standing_closing", always(None)),
    )
