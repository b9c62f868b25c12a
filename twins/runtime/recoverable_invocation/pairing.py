"""Runs that tell a story of their own: joins by what is near at hand, and answers that the store never gave.

Step counts are the model twins' own but where a comment tells another: an intent, its ageing by one or two
steps, and the examination. A probe is the adopter's, and some of these are wrong in it.
"""

from typing import ClassVar

from falsework.conformance.subject import runtime_twin
from falsework.language import require
from falsework.models.recoverable_invocation.records_pairing import (
    Answer,
    FourBindings,
    Invocation,
    Pairing,
    Store,
)
from falsework.runtime.invocation.answers import (
    Cause,
    Committed,
    NotCommitted,
    ProbeAnswer,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.closing import Part, Sweep
from falsework.runtime.invocation.figures import ServiceIdentity
from falsework.runtime.invocation.journal import Landed, Write, append
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.subjects.recoverable_invocation.pairing import Entry, PairingSubject
from falsework.runtime.subjects.recoverable_invocation.place import credential_of
from falsework.runtime.subjects.recoverable_invocation.world import OUTCOME
from falsework.runtime.trail import Data, Unavailable

HERE = "falsework.twins.runtime.recoverable_invocation.pairing"


class Fenced(FourBindings):
    """A kind that pairs by its datum and is fenced, whose callers do not die and whose store answers."""

    PAIRED: ClassVar[bool] = True
    FENCED: ClassVar[bool] = True

    def start(self, paired: bool, meeting: bool, alike: bool, fenced: bool, rederives: bool) -> None:
        require(paired == self.PAIRED and fenced == self.FENCED)
        super().start(paired, meeting, alike, fenced, rederives)

    def die(self, invocation: Invocation) -> None:
        require(not self.alive[invocation])
        super().die(invocation)

    def examine(self, invocation: Invocation, store: Store) -> Answer:
        require(store is Store.ANSWERS)
        return super().examine(invocation, store)


class Alike(Fenced):
    """A kind that binds no datum and has no fence, both of whose intents have one payload."""

    PAIRED = False
    FENCED = False


# An intent, a commit and its closing; another intent and its edge; and the examination, which plans of a
# record that is not the act's.
@runtime_twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 6}, within=6)
class StampWithinAWindow(PairingSubject):
    """The probe takes the record whose stamp is near the intent's, and the act before it was near enough."""

    model = f"{HERE}:Fenced"

    def matching(self, payload: Data) -> list[Entry]:
        """Every record of the act's key was made at about the time."""
        return list(self.entries) if self.paired else super().matching(payload)


# As above: the first invocation's record stands for the second's, whose value it has.
@runtime_twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 6}, within=6)
class AdoptionByEqualValue(PairingSubject):
    """Two acts of one amount, and the record of the one is adopted as the other's."""

    model = f"{HERE}:Fenced"

    def value(self, number: int) -> int:
        """The same of both, where a datum tells them apart."""
        return 0 if self.paired else super().value(number)

    def matching(self, payload: Data) -> list[Entry]:
        """Those whose value is the intent's."""
        return [entry for entry in self.entries if entry.value == payload["value"]]


def _without_a_plan(right: Right) -> Right:
    def write(self: Sweep, identity: ServiceIdentity, action_ref: str, payload: Data) -> object:
        plan = action_ref.endswith(".recovery_intended")
        return None if plan else right(self, identity, action_ref, payload)

    return write


@runtime_twin(breaks={Pairing.the_sweep_plans_an_outcome_before_it_writes_one: 5}, within=5)
class OutcomeWithoutAPlan(PairingSubject):
    """The run goes straight to the outcome, for the probe has just told it everything."""

    model = f"{HERE}:Fenced"
    bends = (Bend("invocation.closing:Sweep", "_write", _without_a_plan),)


def _as_the_caller(right: Right) -> Right:
    def write(self: Sweep, identity: ServiceIdentity, action_ref: str, payload: Data) -> object:
        if action_ref != OUTCOME:
            return right(self, identity, action_ref, payload)
        actor = self.intent.actor_ref
        name = self.intent.invocation_id
        found = append(
            self.parties, Write(action_ref, actor, credential_of(actor), payload, name, self.standing)
        )
        return None if isinstance(found, Landed) else found.why

    return write


@runtime_twin(breaks={Pairing.every_outcome_has_one_of_the_declared_shapes: 5}, within=5)
class SweepUnderTheCallersName(PairingSubject):
    """The sweep writes what the dead invocation would have written, under its caller's credential."""

    model = f"{HERE}:Fenced"
    bends = (Bend("invocation.closing:Sweep", "_write", _as_the_caller),)


def _nothing_came_back(right: Right) -> Right:
    def probe(self: Sweep) -> ProbeAnswer:
        found: ProbeAnswer = right(self)
        rejected = isinstance(found, StoreUnavailable) and "RejectedRead" in found.detail
        return NotCommitted() if rejected else found

    return probe


@runtime_twin(breaks={Pairing.an_outage_is_no_answer: 3, Pairing.an_abandoned_act_never_happens: 5}, within=5)
class RejectedReadReadsEmpty(PairingSubject):
    """The store rejects the probe's query, and no record came back."""

    bends = (Bend("invocation.closing:Sweep", "_probe", _nothing_came_back),)


def _abandoned_without_a_fence(right: Right) -> Right:
    def by(self: Sweep, answer: ProbeAnswer, identity: ServiceIdentity) -> object:
        if isinstance(answer, NotCommitted) and not self.kind.fenced:
            return self._abandoned(identity)
        return right(self, answer, identity)

    return by


@runtime_twin(
    breaks={
        Pairing.without_a_fence_what_is_not_there_is_not_observed: 3,
        Pairing.only_a_fenced_act_past_its_edge_is_abandoned: 3,
    },
    within=4,
)
class SweepThatAbandonsWithoutAFence(PairingSubject):
    """What the store does not have by now it will never have, and a paused process thinks otherwise."""

    bends = (Bend("invocation.closing:Sweep", "_by", _abandoned_without_a_fence),)


@runtime_twin(breaks={Pairing.only_a_fenced_act_past_its_edge_is_abandoned: 3}, within=4)
class SweepThatDoesNotWaitForTheFence(PairingSubject):
    """Past the examine edge the fence has surely passed as well, the allowance between the clocks apart."""

    bends = (Bend("invocation.closing", "abandon_edge", always(0)),)


def _all_of_them(right: Right) -> Right:
    def escalation(cause: Cause, candidates: tuple[str, ...], cap: int) -> Data:
        ranged: Data = right(cause, candidates, cap)
        listed: Data = right(cause, candidates, len(candidates))
        return {**ranged, **listed}

    return escalation


@runtime_twin(
    breaks={
        Pairing.an_undecidable_act_names_what_matches_it: 7,
        Pairing.an_escalation_lists_candidates_up_to_the_cap: 7,
    },
    within=7,
)
class ListWithoutACap(PairingSubject):
    """All candidates are named, however many, and the record outgrows its envelope."""

    model = f"{HERE}:Alike"
    bends = (Bend("invocation.closing", "escalation", _all_of_them),)


def _number(candidate: str) -> int:
    return int(candidate.removeprefix("record of "))


def _most_likely(right: Right) -> Right:
    def escalation(cause: Cause, candidates: tuple[str, ...], cap: int) -> Data:
        found: Data = right(cause, candidates, cap)
        return {**found, "of": _number(candidates[0])} if candidates else found

    return escalation


@runtime_twin(
    breaks={
        Pairing.the_sweep_never_chooses_among_candidates: 4,
        Pairing.an_outcome_is_recorded_of_its_own_act: 6,
    },
    within=6,
)
class SweepThatGuesses(PairingSubject):
    """The escalation says which candidate it was most likely."""

    model = f"{HERE}:Alike"
    bends = (Bend("invocation.closing", "escalation", _most_likely),)


def _the_first(right: Right) -> Right:
    def by(self: Sweep, answer: ProbeAnswer, identity: ServiceIdentity) -> object:
        if isinstance(answer, Undecidable) and answer.candidates:
            return right(self, Committed(OUTCOME, {"of": _number(answer.candidates[0])}), identity)
        return right(self, answer, identity)

    return by


# An intent, a commit that no datum tells, an edge, and the examination, which plans.
@runtime_twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 4}, within=5)
class SweepThatPicksACandidate(PairingSubject):
    """One of the candidates must be it, and the first is as good as any."""

    model = f"{HERE}:Alike"
    bends = (Bend("invocation.closing:Sweep", "_by", _the_first),)


@runtime_twin(breaks={Pairing.an_abandoned_act_never_happens: 4, Pairing.no_act_is_made_twice: 4}, within=4)
class SweepThatRunsTheActAgain(PairingSubject):
    """Recovery is doing what was left undone, so the probe commits what it did not find."""

    def probe(self, act_key: str, payload: Data) -> ProbeAnswer:
        """The act is made once more, if it is not certain to have been."""
        found = super().probe(act_key, payload)
        if isinstance(found, NotCommitted | Undecidable):
            self.commit(self.examined)
        return found


def _not_in_vain(right: Right) -> Right:
    def by(self: Sweep, answer: ProbeAnswer, identity: ServiceIdentity) -> object:
        found = right(self, answer, identity)
        if found is Part.SKIPPED:
            self._escalated(identity, Cause.UNDECIDABLE)
        return found

    return by


@runtime_twin(
    breaks={
        Pairing.what_is_skipped_is_left_as_it_was: 3,
        Pairing.an_undecidable_act_names_what_matches_it: 3,
    },
    within=4,
)
class OutageIsEscalated(PairingSubject):
    """The run reports the act as skipped, and writes an escalation so that it has not seen it in vain."""

    bends = (Bend("invocation.closing:Sweep", "_by", _not_in_vain),)


def _for_an_edge(right: Right) -> Right:
    def by(self: Sweep, answer: ProbeAnswer, identity: ServiceIdentity) -> object:
        if isinstance(answer, NotCommitted) and not self.kind.fenced:
            return self._skipped("the store holds nothing, and may yet")
        return right(self, answer, identity)

    return by


@runtime_twin(breaks={Pairing.without_a_fence_what_is_not_there_is_not_observed: 3}, within=4)
class WaitForAFenceThatIsNotThere(PairingSubject):
    """The run waits for the abandon edge of a kind that has none to wait for."""

    bends = (Bend("invocation.closing:Sweep", "_by", _for_an_edge),)


@runtime_twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 4}, within=5)
class PairedByPayload(PairingSubject):
    """One record has the intent's payload, so that must be it; and nobody asks what the kind binds."""

    model = f"{HERE}:Alike"
    bends = (Bend("invocation.closing:Sweep", "_understood", lambda _: lambda _, answer: answer),)

    def probe(self, act_key: str, payload: Data) -> ProbeAnswer:
        """One record is the act's, whatever it was matched by."""
        found, one = super().probe(act_key, payload), self.matching(payload)
        certain = isinstance(found, Undecidable) and len(one) == 1 and not self.paired
        return Committed(OUTCOME, {"of": one[0].whose}) if certain else found


@runtime_twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 4}, within=5)
class OutcomeFromMemory(PairingSubject):
    """The store has the record and not what the outcome must say, and the probe fills in the rest."""

    def probe(self, act_key: str, payload: Data) -> ProbeAnswer:
        """One record is the act's, whatever it lacks."""
        found, one = super().probe(act_key, payload), self.matching(payload)
        certain = isinstance(found, Undecidable) and len(one) == 1 and self.paired
        return Committed(OUTCOME, {"of": one[0].whose}) if certain else found


def _nobody_named(right: Right) -> Right:
    return lambda cause, _, cap: right(cause, (), cap)


@runtime_twin(breaks={Pairing.an_undecidable_act_names_what_matches_it: 4}, within=5)
class EscalationWithoutCandidates(PairingSubject):
    """Whoever investigates can look for the candidates again."""

    model = f"{HERE}:Alike"
    bends = (Bend("invocation.closing", "escalation", _nobody_named),)


def _by_its_key(_: Right) -> Right:
    def closed(self: Sweep) -> bool:
        known = self.parties.indexes.of_act((self.intent.kind, self.intent.act_key))
        return not isinstance(known, Unavailable) and any(found.closings for found in known.values())

    return closed


@runtime_twin(
    breaks={
        Pairing.closed_already_is_said_of_the_invocations_own_closing: 6,
        Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 7,
    },
    within=7,
)
class ClosedByAnotherOfTheAct(PairingSubject):
    """The journal is joined by the act's key, so the closing before counts for the invocation after it."""

    model = f"{HERE}:Fenced"
    bends = (Bend("invocation.closing:Sweep", "_closed_by_another", _by_its_key),)


def _planned_is_done(right: Right) -> Right:
    def write(self: Sweep, identity: ServiceIdentity, action_ref: str, payload: Data) -> object:
        return None if action_ref == OUTCOME else right(self, identity, action_ref, payload)

    return write


# It goes past the outcome at once, and is done where it should have stood behind its plan.
@runtime_twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 4}, within=5)
class OutcomeThatIsNeverWritten(PairingSubject):
    """The plan is in the journal, and the run takes it for the outcome."""

    model = f"{HERE}:Fenced"
    bends = (Bend("invocation.closing:Sweep", "_write", _planned_is_done),)
