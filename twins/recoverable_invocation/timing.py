"""Instance start with a condition amiss: each is refuted at the least figures and the least bad luck."""

from falsework.language import twin
from falsework.models.recoverable_invocation.timing import Timing


@twin(
    breaks={
        Timing.an_orphan_is_closed_inside_its_window: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=4 "
            "RETENTION_PERIOD=6 first=1 second=2 third=2 dies=SECOND"
        ),
        Timing.a_fenced_act_that_did_not_commit_is_closed_inside_its_window: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=4 "
            "RETENTION_PERIOD=6 COMMIT_FENCE=True first=1 second=2 third=2 dies=SECOND"
        ),
        Timing.every_landing_is_short_of_the_sum: "COMPLETION_BOUND=1 RUN_BOUND=1 first=1 second=1",
        Timing.the_run_that_lands_still_keeps_the_intent: (
            "COMPLETION_BOUND=1 RUN_BOUND=4 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=6 "
            "RETENTION_PERIOD=8 first=4 second=4"
        ),
    },
    source="Instance start 4",
)
class OneRunBoundTerm(Timing):
    """Charges the run that lands, and neither the one that left the act nor the one that died."""

    def run_terms(self) -> int:
        return self.RUN_BOUND


@twin(
    breaks={
        Timing.an_orphan_is_closed_inside_its_window: (
            "COMPLETION_BOUND=1 RUN_BOUND=3 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 "
            "RETENTION_PERIOD=10 first=3 second=3 third=3 dies=SECOND"
        ),
        Timing.a_fenced_act_that_did_not_commit_is_closed_inside_its_window: (
            "COMPLETION_BOUND=1 RUN_BOUND=3 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 "
            "RETENTION_PERIOD=10 COMMIT_FENCE=True first=3 second=3 third=3 dies=SECOND"
        ),
        Timing.every_landing_is_short_of_the_sum: (
            "COMPLETION_BOUND=1 RUN_BOUND=1 first=1 second=1 third=1 dies=SECOND"
        ),
    },
    source="Instance start 4",
)
class TwoRunBoundTerms(Timing):
    """Charges the run that dies and the run that lands, and not the one in flight at the edge."""

    def run_terms(self) -> int:
        return 2 * self.RUN_BOUND


@twin(
    breaks={
        Timing.an_orphan_is_closed_inside_its_window: (
            "COMPLETION_BOUND=3 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=10 "
            "RETENTION_PERIOD=14 first_start=2 first=2 second_holder=2 second=3 third_holder=3 "
            "third=4 dies=SECOND"
        ),
        Timing.a_fenced_act_that_did_not_commit_is_closed_inside_its_window: (
            "COMPLETION_BOUND=3 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=10 "
            "RETENTION_PERIOD=14 COMMIT_FENCE=True first_start=2 first=2 second_holder=2 second=3 "
            "third_holder=3 third=4 dies=SECOND"
        ),
        Timing.every_landing_is_short_of_the_sum: (
            "COMPLETION_BOUND=1 RECONCILIATION_CADENCE=1 third_holder=1 third=1 dies=SECOND"
        ),
        Timing.the_run_that_lands_still_keeps_the_intent: (
            "COMPLETION_BOUND=6 CLOCK_OFFSET_ALLOWANCE=6 RUN_BOUND=2 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=25 RETENTION_PERIOD=38 first_start=17 first_offset=-6 first=2 "
            "second_holder=6 second=7 third_offset=6"
        ),
    },
    source="Instance start 7",
)
class OldRunFloor(Timing):
    """Takes every holder for a sweep run: an invocation may hold for longer."""

    def run_floor(self) -> int:
        return 2 * self.CLOSURE_LATENCY + self.JOURNAL_WRITE_BOUND


@twin(
    breaks={
        Timing.a_closure_passes_both_gates_and_ends_by_its_latency: (
            "COMPLETION_BOUND=1 RUN_BOUND=1 COMPENSATION_WINDOW=5 RETENTION_PERIOD=7"
        ),
    },
    source="Instance start 8",
)
class NoCondition5(Timing):
    """Starts whatever a closure spends: its second write finds too little of the lease left."""

    def condition_5(self) -> bool:
        return True


@twin(
    breaks={
        Timing.a_closure_slower_than_the_act_is_no_bar: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 RETENTION_PERIOD=10"
        ),
    },
    source="Instance start 1",
)
class SixthCondition(Timing):
    """Asks besides that the sweep's lease be shorter than what it waits for: a slow closure never starts."""

    def may_start(self) -> bool:
        return super().may_start() and max(self.COMPLETION_BOUND, self.CLOSURE_LATENCY) > self.sweep_lease()


@twin(
    breaks={
        Timing.an_invocation_ends_inside_its_usable_term: (
            "COMPLETION_BOUND=1 RUN_BOUND=4 CLOSURE_LATENCY=2 READ_BOUND=1 "
            "COMPENSATION_WINDOW=14 RETENTION_PERIOD=16 second_read=1"
        ),
    },
    source="Instance start 6",
)
class OneWriteAndTheCommit(Timing):
    """Charges one write and the commit: the outcome is left without a lease to be written under."""

    def lease_spend(self) -> int:
        return self.JOURNAL_WRITE_BOUND + self.COMMIT_ROUND_TRIP


@twin(
    breaks={
        Timing.an_invocation_ends_inside_its_usable_term: (
            "COMPLETION_BOUND=2 CLOCK_OFFSET_ALLOWANCE=1 RUN_BOUND=3 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=14 RETENTION_PERIOD=18 JOURNAL_FENCE=True judge_ahead=1"
        ),
    },
    source=("Instance start 6", "Allowance 11"),
)
class FenceNotPaidFor(Timing):
    """Forgets that a fence is minted one allowance early."""

    def lease_spend(self) -> int:
        return 2 * self.READ_BOUND + 2 * self.JOURNAL_WRITE_BOUND + self.COMMIT_ROUND_TRIP


@twin(
    breaks={
        Timing.an_orphan_is_closed_inside_its_window: (
            "COMPLETION_BOUND=1 CLOCK_OFFSET_ALLOWANCE=3 RUN_BOUND=2 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=14 RETENTION_PERIOD=19 first_start=9 first_offset=-3 first=2 "
            "second=2 third=2 dies=SECOND"
        ),
        Timing.a_fenced_act_that_did_not_commit_is_closed_inside_its_window: (
            "COMPLETION_BOUND=4 CLOCK_OFFSET_ALLOWANCE=3 RUN_BOUND=5 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=29 RETENTION_PERIOD=37 COMMIT_FENCE=True first_start=15 "
            "first_offset=-3 first=5 second=5 third=5 dies=SECOND"
        ),
        Timing.every_landing_is_short_of_the_sum: "CLOCK_OFFSET_ALLOWANCE=1 first_start=2 first_offset=-1",
        Timing.the_run_that_lands_still_keeps_the_intent: (
            "COMPLETION_BOUND=1 CLOCK_OFFSET_ALLOWANCE=5 RUN_BOUND=2 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=18 RETENTION_PERIOD=29 first_start=15 first_offset=-5 first=2 "
            "second=2 third_offset=5"
        ),
    },
    source=("Allowance 4", "reconcile step 1.3"),
)
class AllowanceTwiceAtTheEdge(Timing):
    """Draws the examine edge where the abandon edge is: every orphan waits one allowance longer."""

    def examine_edge(self) -> int:
        return self.COMPLETION_BOUND + 2 * self.CLOCK_OFFSET_ALLOWANCE


@twin(
    breaks={
        Timing.no_landing_is_later_than_the_worst: "COMPLETION_BOUND=1 RUN_BOUND=1 first=1 second=1",
    },
    source="Instance start 4",
)
class WorstWithoutTheRunInFlight(Timing):
    """Takes the worst for what it is where the sweep is idle at the edge."""

    def worst_landing(self, in_flight: bool, dies: bool) -> int:
        return super().worst_landing(False, dies)


@twin(
    breaks={
        Timing.an_open_act_is_surfaced_inside_its_window: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 "
            "RETENTION_PERIOD=10 first_start=5 first=2 second=2"
        ),
        Timing.an_open_act_is_surfaced_though_a_run_dies: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 "
            "RETENTION_PERIOD=10 first_start=3 first=2 second=2 third=2"
        ),
    },
    source=("reconcile step 5.1", "Invariant 4.6"),
)
class OneRunToSurface(Timing):
    """Leaves one more cadence and one more run, as the finding's own description has it."""

    def at_risk_threshold(self) -> int:
        return self.COMPENSATION_WINDOW - self.RUN_BOUND - self.RECONCILIATION_CADENCE
