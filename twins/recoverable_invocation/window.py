"""How a closure window is lost: one mistake a class.

Step counts: every unit of time is a step, and each run adds its beginning, its takes and its end.
"""

from falsework.language import replace, twin
from falsework.models.recoverable_invocation.window import (
    ClosureWindow,
    CountedAsTicks,
    FencedAndNotCommitted,
    LongInvocations,
    Reported,
)
from falsework.models.recoverable_invocation.window_runs import Act, Holder, Intent, Listing, Run

CLOSED = ClosureWindow.every_orphan_is_closed_inside_its_window
WORST = ClosureWindow.no_orphan_lands_later_than_the_worst_closure


@twin(
    breaks={CLOSED: 21, ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None},
    source="Instance start 4",
)
class OneRunBoundTerm(ClosureWindow):
    """The window is charged for the run that lands the closing, and for no run before it."""

    def run_terms(self) -> int:
        return 1


@twin(breaks={CLOSED: 28}, source="Instance start 4")
class TwoRunBoundTerms(ClosureWindow):
    """The run that was in flight when the act crossed the edge is forgotten."""

    def run_terms(self) -> int:
        return 2


@twin(
    breaks={CLOSED: 36, WORST: 22, ClosureWindow.a_run_lands_inside_its_bound: 16},
    within=LongInvocations,
    source="Instance start 7",
)
class OldFloor(ClosureWindow):
    """The run bound is charged with a sweep's lease, and the holder is an invocation."""

    def run_floor(self) -> int:
        return 2 * self.CLOSURE + self.WRITE


@twin(
    breaks={
        ClosureWindow.no_run_lists_an_act_in_flight: 2,
        ClosureWindow.a_run_in_flight_at_the_edge: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    source=("reconcile step 1.2", "Invariant 7.1"),
)
class TakesWhatIsNotAged(ClosureWindow):
    """A run examines whatever is open, and waits for invocations that live."""

    def keeps(self, reading: int) -> bool:
        return True


@twin(breaks={ClosureWindow.no_run_lists_an_act_in_flight: 5}, source="reconcile step 1.3")
class EdgeWithoutAllowance(ClosureWindow):
    """The reading is compared with the stamp as if one clock had made both."""

    def examine_edge(self) -> int:
        return self.COMPLETION_BOUND


@twin(breaks={WORST: 16}, source="reconcile step 1.2")
class EdgeNotIncluded(ClosureWindow):
    """An act is aged one tick later than the edge says."""

    def keeps(self, reading: int) -> bool:
        return self.examine_edge() < reading


@twin(breaks={CLOSED: 33, WORST: 18}, source=("reconcile step 2.1", "reconcile step 2.2"))
class SkipsTheBlocked(ClosureWindow):
    """A run that finds the section taken goes on without the act."""

    def waits(self) -> bool:
        return False


@twin(breaks={WORST: 25})
class RestsTwiceAfterADeath(ClosureWindow):
    """A dead run is noticed one cadence later, and only then the next one is counted down."""

    def rests_after_a_death(self) -> int:
        return self.CADENCE + self.CADENCE


@twin(breaks={ClosureWindow.no_run_starts_beside_another: 2}, source="run bound 1")
class StartsBesideAnother(ClosureWindow):
    """The scheduler does not look whether a run is in flight."""

    def may_start(self) -> bool:
        return True


@twin(breaks={CLOSED: 35, WORST: 27, ClosureWindow.nobody_dies_but_a_run: 1}, source="Instance start 4")
class RunsDieAgain(ClosureWindow):
    """A second run dies in the life of one act, which the budget does not cover."""

    def may_die(self) -> bool:
        return True


@twin(
    breaks={
        ClosureWindow.nothing_is_abandoned_short_of_its_edge: 8,
        ClosureWindow.a_run_in_flight_at_the_edge: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    within=FencedAndNotCommitted,
    source=("reconcile step 3.6", "Allowance 12"),
)
class AbandonsShortOfItsEdge(ClosureWindow):
    """What is past the examine edge is abandoned, whatever the store's clock still admits."""

    def lands(self, listing: Listing) -> bool:
        return listing is not Listing.LEFT


@twin(
    breaks={
        ClosureWindow.a_run_closes_under_the_section: 7,
        ClosureWindow.idle_at_the_edge_and_no_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge: None,
        ClosureWindow.idle_at_the_edge_and_a_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    source=("act section 11", "act section 12"),
)
class ClosesWithoutTheSection(ClosureWindow):
    """A run closes what it examines without taking its section."""

    def enter(self, run: Run, act: Act) -> None:
        self.run = replace(run, at=act, closing=True, left=self.CLOSURE)


@twin(
    breaks={ClosureWindow.what_is_at_risk_is_listed_so: 13},
    within=Reported,
    source="reconcile step 5.1",
)
class SurfacesTooLate(ClosureWindow):
    """The threshold leaves room for one run, and none for the one that only just missed it."""

    def threshold(self) -> int:
        return self.window - self.run_bound - self.ALLOWANCE


@twin(
    breaks={
        ClosureWindow.a_death_frees_no_section: 1,
        ClosureWindow.idle_at_the_edge_and_no_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge: None,
        ClosureWindow.idle_at_the_edge_and_a_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    source="act section 2",
)
class DeathFreesTheSection(ClosureWindow):
    """A lost connection is taken for a death, and the section is free at once."""

    def lease_of_the_dead(self) -> int:
        return 0


@twin(
    breaks={
        ClosureWindow.nobody_takes_a_section_that_is_held: 2,
        ClosureWindow.idle_at_the_edge_and_no_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge: None,
        ClosureWindow.idle_at_the_edge_and_a_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    source="act section 1",
)
class HostGrantsTwice(ClosureWindow):
    """The host does not look whether somebody has the section."""

    def is_free(self, act: Act) -> bool:
        return True


@twin(breaks={ClosureWindow.a_holder_holds_for_its_own_lease: 7}, within=LongInvocations)
class OneLeaseForAll(ClosureWindow):
    """Whoever takes the section has it for as long as an invocation."""

    def lease_of(self, holder: Holder) -> int:
        return self.COMPLETION_BOUND


@twin(
    breaks={
        ClosureWindow.a_run_lets_go_of_what_it_finished: 8,
        ClosureWindow.what_is_closed_is_held_by_nobody: 8,
    },
    source="reconcile step 4.4",
)
class KeepsTheSection(ClosureWindow):
    """A run goes on to the next act with the section of the last one in its hands."""

    def release(self, act: Act) -> None:
        pass


@twin(
    breaks={
        ClosureWindow.a_list_ends_with_its_run: 7,
        ClosureWindow.idle_at_the_edge_and_a_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    source="reconcile step 1.1",
)
class ListOutlivesItsRun(ClosureWindow):
    """What a run has listed is still there when it is dead."""

    def unlisted(self, intent: Intent) -> Intent:
        return intent


@twin(
    breaks={ClosureWindow.a_scheduled_run_starts_at_its_tick: 3}, within=CountedAsTicks, source="run bound 1"
)
class StartsBetweenTicks(ClosureWindow):
    """The scheduler starts a run whenever none is in flight."""

    def may_start(self) -> bool:
        return self.run is None


@twin(
    breaks={
        ClosureWindow.ticks_are_a_cadence_apart: 3,
        ClosureWindow.idle_at_the_edge_and_no_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge: None,
        ClosureWindow.idle_at_the_edge_and_a_death: None,
        ClosureWindow.a_run_in_flight_at_the_edge_and_a_death: None,
    },
    within=CountedAsTicks,
)
class TickPutOff(ClosureWindow):
    """A tick that found a run in flight is put off until a cadence after the next."""

    def next_tick(self) -> int:
        return self.CADENCE + self.CADENCE


@twin(
    breaks={ClosureWindow.every_orphan_is_reported_inside_its_window: 33},
    within=Reported,
    source="service identity 1b",
)
class SurfacesNothing(ClosureWindow):
    """A run without a service identity examines, and tells nobody."""

    def surfaces(self, intent: Intent) -> bool:
        return False
