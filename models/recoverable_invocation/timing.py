"""Instance start as a theory: that the conditions, met by any figures whatever, keep what they are there for.

The adversary is exact. It sets each run's clock within the allowance, the phase of the run that is in flight
when the act crosses its edge, how long each run lasts, how long a holder keeps it waiting, and which run
dies. It is bound by this: a run ends by its bound unless a holder keeps it longer, a take succeeds when the
holder is gone, one run at most dies, and the cadence is counted from a run's end.
"""

from typing import Annotated, ClassVar

from falsework.language import Upto, configuration, obligation, require
from falsework.models.recoverable_invocation.timing_figures import (
    Dies,
    Holding,
    Offset,
    Said,
    StartFigures,
)


class Timing(StartFigures):
    """An instance that may start closes every orphan inside its window, whatever its figures."""

    WINDOW_SUM: ClassVar[Said] = Said.REPAIRED
    RETENTION: ClassVar[Said] = Said.REPAIRED
    LEASE: ClassVar[Said] = Said.REPAIRED
    THRESHOLD: ClassVar[Said] = Said.REPAIRED

    # --- closing inside the window

    @obligation(
        source=("Instance start 4", "Instance start 7", "Invariant 4.2", "run bound 1", "reconcile step 1.2")
    )
    def an_orphan_is_closed_inside_its_window(
        self,
        first_start: int,
        first_offset: Offset,
        first: int,
        second_offset: Offset,
        second_holder: Holding,
        second: int,
        third_holder: Holding,
        third: int,
        dies: Dies,
    ) -> bool:
        require(self.five_conditions())
        edge = self.examine_edge()
        self.runs(
            edge, first_start, first_offset, first, second_offset, second_holder, second, third_holder, third
        )
        return self.landing(first_start, first, second, third, dies) <= self.COMPENSATION_WINDOW

    @obligation(source=("Instance start 4", "Allowance 12", "reconcile step 3.4", "reconcile step 3.6"))
    def a_fenced_act_that_did_not_commit_is_closed_inside_its_window(
        self,
        first_start: int,
        first_offset: Offset,
        first: int,
        second_offset: Offset,
        second_holder: Holding,
        second: int,
        third_holder: Holding,
        third: int,
        dies: Dies,
    ) -> bool:
        require(self.five_conditions())
        require(self.WINDOW_SUM is Said.TEXT or self.repaired_condition_1())
        require(self.COMMIT_FENCE)
        edge = self.abandon_edge()  # short of it a run writes nothing, whether or not it has examined the act
        self.runs(
            edge, first_start, first_offset, first, second_offset, second_holder, second, third_holder, third
        )
        return self.landing(first_start, first, second, third, dies) <= self.COMPENSATION_WINDOW

    @obligation(source=("Instance start 4", "Instance start 7"))
    def every_landing_is_short_of_the_sum(
        self,
        first_start: int,
        first_offset: Offset,
        first: int,
        second_offset: Offset,
        second_holder: Holding,
        second: int,
        third_holder: Holding,
        third: int,
        dies: Dies,
    ) -> bool:
        require(self.condition_4())
        edge = self.examine_edge()
        self.runs(
            edge, first_start, first_offset, first, second_offset, second_holder, second, third_holder, third
        )
        return self.landing(first_start, first, second, third, dies) < self.worst_closure()

    def worst_landing(self, in_flight: bool, dies: bool) -> int:
        """Exactly how late it may be, whether or not the run bound is above its floor."""
        longest = self.longest_run(self.longest_hold())
        left = self.examine_edge() + self.CLOCK_OFFSET_ALLOWANCE - 1
        wasted = longest + self.RECONCILIATION_CADENCE if dies else 0
        in_the_way = self.RUN_BOUND if in_flight else 0
        return left + in_the_way + self.RECONCILIATION_CADENCE + wasted + longest

    @obligation(source=("Instance start 4", "run bound 1", "reconcile step 2.2"))
    def no_landing_is_later_than_the_worst(
        self,
        first_start: int,
        first_offset: Offset,
        first: int,
        second_offset: Offset,
        second_holder: Holding,
        second: int,
        third_holder: Holding,
        third: int,
        dies: Dies,
    ) -> bool:
        edge = self.examine_edge()
        self.runs(
            edge, first_start, first_offset, first, second_offset, second_holder, second, third_holder, third
        )
        in_flight = first_start + first >= edge + self.CLOCK_OFFSET_ALLOWANCE
        worst = self.worst_landing(in_flight, dies is Dies.SECOND)
        return self.landing(first_start, first, second, third, dies) <= worst

    # --- staying in the sweep's range

    @obligation(source=("Instance start 5", "journal 8", "reconcile step 1.2"))
    def an_intent_is_in_range_throughout_its_window(
        self, start: Annotated[int, Upto("COMPENSATION_WINDOW")], offset: Offset
    ) -> bool:
        require(self.five_conditions())
        require(self.RETENTION is Said.TEXT or self.repaired_condition_2())
        return start + offset < self.horizon_edge()

    @obligation(source=("Instance start 5", "journal 8", "Invariant 7.2"))
    def the_run_that_lands_still_keeps_the_intent(
        self,
        first_start: int,
        first_offset: Offset,
        first: int,
        second_offset: Offset,
        second_holder: Holding,
        second: int,
        third_offset: Offset,
    ) -> bool:
        require(self.five_conditions())
        require(self.RETENTION is Said.TEXT or self.repaired_condition_2())
        edge = self.examine_edge()
        self.runs(edge, first_start, first_offset, first, second_offset, second_holder, second, 0, 0)
        return self.third_start(first_start, first, second) + third_offset < self.horizon_edge()

    # --- spending inside the lease

    @obligation(source=("Instance start 6", "Allowance 11", "journal write bound 1", "retry terminus 2"))
    def an_invocation_ends_inside_its_usable_term(
        self,
        first_read: Annotated[int, Upto("READ_BOUND")],
        intent: Annotated[int, Upto("JOURNAL_WRITE_BOUND")],
        commit: Annotated[int, Upto("COMMIT_ROUND_TRIP")],
        second_read: Annotated[int, Upto("READ_BOUND")],
        outcome: Annotated[int, Upto("JOURNAL_WRITE_BOUND")],
        judge_ahead: Annotated[int, Upto("CLOCK_OFFSET_ALLOWANCE")],
    ) -> bool:
        require(self.five_conditions())
        require(self.LEASE is Said.TEXT or self.repaired_condition_3())
        spent = first_read + intent + commit + second_read + outcome
        lost = self.CLOCK_OFFSET_ALLOWANCE + judge_ahead if self.charged() else 0
        return spent < self.COMPLETION_BOUND - lost

    @obligation(source=("Instance start 8", "journal write bound 1", "reconcile step 2.7"))
    def a_closure_passes_both_gates_and_ends_by_its_latency(
        self,
        read: Annotated[int, Upto("READ_BOUND")],
        probe: Annotated[int, Upto("PROBE_ROUND_TRIP")],
        recovery: Annotated[int, Upto("JOURNAL_WRITE_BOUND")],
        closing: Annotated[int, Upto("JOURNAL_WRITE_BOUND")],
    ) -> bool:
        require(self.five_conditions())
        at_first_gate = self.sweep_lease() - read - probe
        at_second_gate = at_first_gate - recovery
        gates = at_first_gate >= self.JOURNAL_WRITE_BOUND and at_second_gate >= self.JOURNAL_WRITE_BOUND
        return gates and read + probe + recovery + closing < self.CLOSURE_LATENCY

    # --- and no sixth condition

    def repairs(self) -> bool:
        """What the text's conditions lack, each where it bites."""
        return self.repaired_condition_1() and self.repaired_condition_2() and self.repaired_condition_3()

    def may_start(self) -> bool:
        """The five conditions and the three that repair them: there is no other."""
        return self.five_conditions() and self.repairs()

    @obligation(source=("Instance start 1", "Instance start 3"))
    def a_closure_slower_than_the_act_is_no_bar(self) -> bool:
        require(self.five_conditions() and self.repairs())
        require(self.CLOSURE_LATENCY >= self.COMPLETION_BOUND)
        return self.may_start()

    # --- surfacing before the window is over

    def at_risk_threshold(self) -> int:
        """The window less what is still ahead of an intent that this run sees: with a death, one more run."""
        ahead = 2 * self.RUN_BOUND + self.RECONCILIATION_CADENCE + self.CLOCK_OFFSET_ALLOWANCE
        more = 0 if self.THRESHOLD is Said.TEXT else self.RUN_BOUND + self.RECONCILIATION_CADENCE
        return self.COMPENSATION_WINDOW - ahead - more

    @obligation(source=("reconcile step 5.1", "Invariant 4.6"))
    def an_open_act_is_surfaced_inside_its_window(
        self, first_start: int, first_offset: Offset, first: int, second: int
    ) -> bool:
        require(self.five_conditions())
        require(first_start + first_offset < self.at_risk_threshold())
        require(first <= self.RUN_BOUND and second <= self.RUN_BOUND)
        return self.second_start(first_start, first) + second <= self.COMPENSATION_WINDOW

    @obligation(source=("reconcile step 5.1", "Invariant 4.6", "Check 3.5"))
    def an_open_act_is_surfaced_though_a_run_dies(
        self, first_start: int, first_offset: Offset, first: int, second: int, third: int
    ) -> bool:
        require(self.five_conditions())
        require(first_start + first_offset < self.at_risk_threshold())
        require(first <= self.RUN_BOUND and second <= self.RUN_BOUND and third <= self.RUN_BOUND)
        return self.third_start(first_start, first, second) + third <= self.COMPENSATION_WINDOW


@configuration(
    breaks={
        Timing.a_fenced_act_that_did_not_commit_is_closed_inside_its_window: (
            "COMPLETION_BOUND=4 CLOCK_OFFSET_ALLOWANCE=3 RUN_BOUND=5 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=26 RETENTION_PERIOD=34 COMMIT_FENCE=True first_start=12 "
            "first_offset=-3 first=5 second=5 third=5 dies=SECOND"
        ),
    },
    source=("Instance start 4", "Allowance 12"),
)
class WindowSumOfTheText(Timing):
    """Two allowances for every kind: a fenced act that did not commit waits for a third."""

    WINDOW_SUM = Said.TEXT


@configuration(
    breaks={
        Timing.an_intent_is_in_range_throughout_its_window: (
            "COMPLETION_BOUND=1 CLOCK_OFFSET_ALLOWANCE=2 RUN_BOUND=2 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=12 RETENTION_PERIOD=16 start=12 offset=2"
        ),
        Timing.the_run_that_lands_still_keeps_the_intent: (
            "COMPLETION_BOUND=1 CLOCK_OFFSET_ALLOWANCE=6 RUN_BOUND=2 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=20 RETENTION_PERIOD=28 first_start=12 first_offset=-6 first=2 "
            "second=2 third_offset=6"
        ),
    },
    source=("Instance start 5", "journal 8"),
)
class RetentionOfTheText(Timing):
    """One allowance and the act's bound: without a fence the allowance may be the larger of the two."""

    RETENTION = Said.TEXT


@configuration(
    breaks={
        Timing.an_invocation_ends_inside_its_usable_term: (
            "COMPLETION_BOUND=2 CLOCK_OFFSET_ALLOWANCE=1 RUN_BOUND=3 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=14 RETENTION_PERIOD=18 JOURNAL_FENCE=True judge_ahead=1"
        ),
    },
    source=("Instance start 6", "Allowance 11"),
)
class LeaseOfTheText(Timing):
    """One allowance for a fence: what is minted early is judged early too, by a clock that is ahead."""

    LEASE = Said.TEXT


@configuration(
    breaks={
        Timing.an_open_act_is_surfaced_though_a_run_dies: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 "
            "RETENTION_PERIOD=10 first_start=3 first=2 second=2 third=2"
        ),
    },
    source=("reconcile step 5.1", "Invariant 4.6"),
)
class ThresholdOfTheText(Timing):
    """Two runs and a cadence: they leave nothing for the run that surfaces the act and dies."""

    THRESHOLD = Said.TEXT
