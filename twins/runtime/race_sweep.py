"""Runtimes of the race that are wrong on purpose: the sweep."""

from dataclasses import replace

from falsework.conformance.subject import runtime_twin
from falsework.models.recoverable_invocation.race import Race
from falsework.runtime.invocation.answers import Committed, NotCommitted, StoreUnavailable, Undecidable
from falsework.runtime.invocation.closing import Sweep
from falsework.runtime.invocation.figures import Fence, ServiceIdentity
from falsework.runtime.invocation.section import Standing
from falsework.runtime.invocation.terms import examine_edge
from falsework.runtime.subjects.race import RaceSubject
from falsework.runtime.subjects.race_parts import OUTCOME_REF, SWEEP, TICK, Section
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always

# Each path begins with the intent, which lands in five steps, and the ticks until a run calls it aged: three
# where a lease lasts two (four where it lasts three). Then the run starts, takes, reads and probes.
DRIVEN = "falsework.models.recoverable_invocation.race_driven:"
BRIEF = f"{DRIVEN}DrivenBrief"


def _taken_for(kind: type, other: object) -> Bend:
    """The probe's answer of one kind is taken for another answer."""

    def made(right: Right) -> Right:
        def probe(sweep: Sweep) -> object:
            answer = right(sweep)
            return other if isinstance(answer, kind) else answer

        return probe

    return Bend("invocation.closing:Sweep", "_probe", made)


@runtime_twin(breaks={"answer": 6}, within=6)
class SweepWithoutALowerEdge(RaceSubject):
    """A run at restart examines whatever is open, the living invocation's intent too."""

    model = BRIEF
    bends = (Bend("invocation.reconcile", "in_flight", always(False)),)


@runtime_twin(breaks={Race.the_sweep_abandons_only_past_the_abandon_edge: 14}, within=14)
class AbandonEdgeOneAllowanceShort(RaceSubject):
    """What is old enough to be examined is taken to be old enough to be abandoned."""

    model = f"{DRIVEN}DrivenSweepAhead"
    bends = (Bend("invocation.closing", "abandon_edge", lambda _: examine_edge),)


@runtime_twin(breaks={Race.an_outage_closes_nothing: 13}, within=13)
class OutageTakenForAbsence(RaceSubject):
    """A store that cannot be read is taken for one that does not hold the act."""

    model = BRIEF
    bends = (_taken_for(StoreUnavailable, NotCommitted()),)


@runtime_twin(breaks={Race.what_the_store_cannot_tell_is_escalated: 12}, within=12)
class SweepThatChooses(RaceSubject):
    """Of several records that may be the act's the sweep takes the nearest."""

    model = f"{DRIVEN}DrivenUndecidable"
    bends = (_taken_for(Undecidable, Committed(OUTCOME_REF, {})),)


@runtime_twin(breaks={Race.an_outcome_is_what_the_store_holds: 15}, within=15)
class SweepThatRemembers(RaceSubject):
    """The sweep writes the outcome that the intent announces, whatever the store says."""

    model = BRIEF
    bends = (_taken_for(NotCommitted, Committed(OUTCOME_REF, {})),)


def _counting(right: Right) -> Right:
    def write(*arguments: object) -> None:
        right(*arguments)

    return write


@runtime_twin(breaks={Race.what_a_run_counts_is_there: 18}, within=18)
class RunThatCountsWhatItSent(RaceSubject):
    """A run counts the closings that it has issued, and not those that have landed."""

    bends = (Bend("invocation.closing:Sweep", "_write", _counting),)


class _ForTheClosureAlone(Section):
    def take(self, standing: Standing, duration: int) -> bool:
        run = self.process.who.endswith("_RUN")
        return super().take(standing, duration - 2 * TICK if run else duration)


@runtime_twin(breaks={Race.a_run_is_granted_a_whole_lease: 11}, within=11)
class RunThatLeasesForTheClosureAlone(RaceSubject):
    """A run takes the section for as long as a closure lasts, and leaves no time for its write."""

    section_class = _ForTheClosureAlone


def _left_over(right: Right) -> Right:
    def closed(sweep: Sweep) -> object:
        sweep.kind = replace(
            sweep.kind, service_identity=ServiceIdentity(SWEEP, sweep.parties.deployment.path)
        )
        return right(sweep)

    return closed


@runtime_twin(breaks={Race.without_a_service_identity_the_sweep_writes_nothing: 16}, within=16)
class SweepUnderALeftOverIdentity(RaceSubject):
    """A sweep whose kind has no identity any more writes under the one that is still registered."""

    model = f"{DRIVEN}DrivenReportOnly"
    bends = (Bend("invocation.closing:Sweep", "closed", _left_over),)


def _as_if_fenced(right: Right) -> Right:
    def closed(sweep: Sweep) -> object:
        sweep.kind = replace(sweep.kind, commit_fence=Fence("none"))
        return right(sweep)

    return closed


@runtime_twin(
    breaks={Race.nothing_abandoned_ever_happens: 19, Race.the_sweep_abandons_no_act_without_a_fence: 16},
    within=19,
)
class SweepThatAbandonsWithoutAFence(RaceSubject):
    """The sweep abandons an act that a store without a fence may still apply."""

    model = f"{DRIVEN}DrivenFencelessStore"
    bends = (Bend("invocation.closing:Sweep", "closed", _as_if_fenced),)
