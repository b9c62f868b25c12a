"""The window: how old an act whose invocation died may grow before the sweep has closed its account.

The runs and whoever is in their way are in window_runs, the figures and the edges in window_figures.
"""

from typing import Self

from falsework.language import configuration, invariant, reachable
from falsework.models.recoverable_invocation.window_figures import Counted
from falsework.models.recoverable_invocation.window_runs import Act, Holder, Intent, Listing, Offset, Runs


class ClosureWindow(Runs):
    """Every orphan is closed inside the compensation window, a tick before the closed form at the latest."""

    # How old an act may grow.

    def worst(self, intent: Intent) -> int:
        """The greatest age at which it lands: after a run that left it, one that died, and the last one."""
        first = self.gap() + self.BEYOND if intent.crossed else self.CADENCE
        more = (self.gap() if intent.died else 0) + (self.gap() if intent.slipped else 0)
        return self.last_edge() - 1 + first + more + self.run_bound

    def lands_at_its_worst(self, crossed: bool, died: bool) -> bool:
        run = self.run
        return (
            run is not None
            and run.closing
            and run.left == 0
            and any(
                intent is not None
                and run.at == act
                and intent.age == self.worst(intent)
                and intent.crossed == crossed
                and intent.died == died
                for act, intent in self.acts.items()
            )
        )

    @invariant(source=("Invariant 4.2", "reconcile 3"))
    def every_orphan_is_closed_inside_its_window(self) -> bool:
        return self.REPORT_ONLY or all(
            intent is None or intent.age <= self.window for intent in self.acts.values()
        )

    @invariant(source=("Invariant 4.6", "service identity 1b"))
    def every_orphan_is_reported_inside_its_window(self) -> bool:
        return not self.REPORT_ONLY or all(
            intent is None or intent.age <= self.window for intent in self.acts.values()
        )

    @invariant(on=Runs.finish, source="Instance start 4")
    def no_orphan_lands_later_than_the_worst_closure(self, before: Self) -> bool:
        return all(
            intent is None or self.acts[act] is not None or intent.age <= self.worst(intent)
            for act, intent in before.acts.items()
        )

    @invariant(on=Runs.finish, source=("run bound 1", "Instance start 7"))
    def a_run_lands_inside_its_bound(self, before: Self) -> bool:
        return before.run is None or not before.run.lands or before.run.spent <= before.run_bound

    @invariant(on=Runs.begin, source="Invariant 7.1")
    def no_run_lists_an_act_in_flight(self) -> bool:
        return all(
            intent is None or intent.listing is Listing.LEFT or intent.age >= self.COMPLETION_BOUND
            for intent in self.acts.values()
        )

    @invariant(on=Runs.begin, source="run bound 1")
    def no_run_starts_beside_another(self, before: Self) -> bool:
        return before.run is None

    @invariant(on=Runs.finish, source=("Allowance 12", "Invariant 5.7", "commit 13a"))
    def nothing_is_abandoned_short_of_its_edge(self, before: Self) -> bool:
        return all(
            intent is None or self.acts[act] is not None or not self.FENCED or intent.listing is Listing.RIPE
            for act, intent in before.acts.items()
        )

    @invariant(source="act section 12")
    def a_run_closes_under_the_section(self) -> bool:
        run = self.run
        if run is None or not run.closing:
            return True
        return run.at is not None and self.held[run.at] >= run.left

    # What the runs and the holders keep to.

    @invariant(on=Runs.orphan, source="act section 2")
    def a_death_frees_no_section(self, act: Act) -> bool:
        return self.held[act] == self.COMPLETION_BOUND

    @invariant(on=Runs.hold, source="act section 1")
    def nobody_takes_a_section_that_is_held(self, before: Self, act: Act) -> bool:
        return before.held[act] == 0

    @invariant(on=Runs.hold, source="act section 1")
    def a_holder_holds_for_its_own_lease(self, act: Act, holder: Holder) -> bool:
        lease = self.COMPLETION_BOUND if holder is Holder.OPEN else self.CLOSURE + self.WRITE
        return self.held[act] == lease

    @invariant(on=Runs.finish, source="reconcile step 4.4")
    def a_run_lets_go_of_what_it_finished(self, before: Self) -> bool:
        run, was = self.run, before.run
        if run is None or was is None or was.at is None:
            return False
        return was.closing and self.held[was.at] == 0 and run.at is None and not run.closing and run.left == 0

    @invariant(source="reconcile step 4.4")
    def what_is_closed_is_held_by_nobody(self) -> bool:
        return all(intent is not None or self.held[act] == 0 for act, intent in self.acts.items())

    @invariant(source="reconcile step 1.1")
    def a_list_ends_with_its_run(self) -> bool:
        return self.run is not None or self.unexamined() == 0

    @invariant(on=Runs.die)
    def nobody_dies_but_a_run(self, before: Self) -> bool:
        return before.run is not None

    @invariant(on=Runs.begin, source="reconcile step 5.1")
    def what_is_at_risk_is_listed_so(self, offset: Offset) -> bool:
        threshold = self.window - 2 * self.run_bound - self.CADENCE - self.ALLOWANCE
        return not self.REPORT_ONLY or all(
            intent is None or intent.at_risk == (intent.age + offset >= threshold)
            for intent in self.acts.values()
        )

    @invariant(on=Runs.begin, source="run bound 1")
    def a_scheduled_run_starts_at_its_tick(self, before: Self) -> bool:
        return self.CADENCE_COUNTED is not Counted.AS_TICKS or before.due == 0

    @invariant(on=Runs.pass_time)
    def ticks_are_a_cadence_apart(self, before: Self) -> bool:
        if self.CADENCE_COUNTED is not Counted.AS_TICKS or before.due != 1:
            return True
        return self.due == (0 if self.run is None else self.CADENCE)

    @reachable
    def idle_at_the_edge_and_no_death(self) -> bool:
        return self.lands_at_its_worst(False, False)

    @reachable
    def a_run_in_flight_at_the_edge(self) -> bool:
        return self.lands_at_its_worst(True, False)

    @reachable
    def idle_at_the_edge_and_a_death(self) -> bool:
        return self.lands_at_its_worst(False, True)

    @reachable(source="Instance start 4")
    def a_run_in_flight_at_the_edge_and_a_death(self) -> bool:
        """The closed form less one: the worst that the conditions leave room for."""
        return self.lands_at_its_worst(True, True)


@configuration(holds=True)
class Main(ClosureWindow):
    """A backlog of two, and a run bound over both."""

    ACTS = 2
    SIZED_FOR = 2


@configuration(holds=True)
class ClocksInStep(ClosureWindow):
    """No allowance is needed, and no write bound: the smallest figures."""

    ALLOWANCE = 0
    WRITE = 0


@configuration(holds=True)
class LongInvocations(ClosureWindow):
    """An invocation may hold the section for longer than a sweep's lease."""

    COMPLETION_BOUND = 4
    CADENCE = 3


@configuration(holds=True)
class CountedFromTheStart(ClosureWindow):
    """The next run is due one cadence after the last began, and waits for its end."""

    CADENCE_COUNTED = Counted.FROM_THE_START
    CADENCE = 2


@configuration(holds=True)
class CountedAsTicks(ClosureWindow):
    """A scheduler ticks at every cadence; a tick beside a run in flight starts nothing."""

    CADENCE_COUNTED = Counted.AS_TICKS
    CADENCE = 2


@configuration(holds=True)
class FencedAndNotCommitted(ClosureWindow):
    """Nothing is abandoned before the abandon edge, one allowance later; two leave room, and no more."""

    FENCED = True
    ALLOWANCE = 2


@configuration(breaks={ClosureWindow.every_orphan_is_closed_inside_its_window: 41}, source="Instance start 4")
class FencedWithAWideAllowance(ClosureWindow):
    """The allowance is charged twice for every kind, fenced or not; a fenced one needs a third."""

    FENCED = True
    ALLOWANCE = 3


@configuration(
    breaks={
        ClosureWindow.every_orphan_is_closed_inside_its_window: 47,
        ClosureWindow.no_orphan_lands_later_than_the_worst_closure: 47,
    },
    source="Instance start 5",
)
class HorizonInsideTheWindow(ClosureWindow):
    """A clock that runs ahead drops an intent two allowances before its retention ends; one is charged."""

    COMPLETION_BOUND = 1
    ALLOWANCE = 7


@configuration(holds=True)
class SlipsOrDies(ClosureWindow):
    """Somebody takes what a run has waited for: that alone costs no more than a death."""

    SLIPS = True


@configuration(
    breaks={ClosureWindow.every_orphan_is_closed_inside_its_window: 36}, source="reconcile step 2.3"
)
class SlipsAndDies(ClosureWindow):
    """A take that fails after its wait leaves the act to the next run, and no term of the window pays."""

    SLIPS = True
    BOTH = True


@configuration(holds=True)
class BeyondByTwo(ClosureWindow):
    """A run that lands nothing is in no bound; two ticks beyond it reach the least window."""

    BEYOND = 2


@configuration(breaks={ClosureWindow.every_orphan_is_closed_inside_its_window: 31}, source="run bound 1")
class BeyondByThree(ClosureWindow):
    """Three ticks beyond, and the window is passed: the bound ends with the last closing that a run lands."""

    BEYOND = 3


@configuration(
    breaks={
        ClosureWindow.every_orphan_is_closed_inside_its_window: 36,
        ClosureWindow.no_orphan_lands_later_than_the_worst_closure: 19,
        ClosureWindow.a_run_lands_inside_its_bound: 17,
    },
    source="Instance start 7",
)
class SizedForOne(ClosureWindow):
    """The run floor charges one act; with two in the backlog a run outlasts a bound that meets it."""

    ACTS = 2


@configuration(holds=True)
class Reported(ClosureWindow):
    """Without a service identity a run surfaces what is at risk, and no run that is to do so dies."""

    REPORT_ONLY = True
    ANY_RUN_DIES = False


@configuration(
    breaks={ClosureWindow.every_orphan_is_reported_inside_its_window: 33}, source="reconcile step 5.1"
)
class ReporterDies(ClosureWindow):
    """The threshold leaves room for two runs and one cadence: not for the death of the one that surfaces."""

    REPORT_ONLY = True
