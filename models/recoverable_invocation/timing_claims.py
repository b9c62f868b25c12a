"""What the text says beside its conditions of instance start, each sentence in the form in which it is true.

A configuration holds the sentence as the text has it, or as one of two places has it where two differ.
"""

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import Upto, configuration, obligation, require
from falsework.models.recoverable_invocation.timing_figures import Holding, Said, StartFigures

Cadence = Enum("Cadence", "AFTER_THE_RUN FROM_ITS_START TICKS")
Holders = Enum("Holders", "RUNS_AND_OPERATORS ANOTHER_OPEN_TOO")

Left = Annotated[int, Upto("COMPLETION_BOUND + 2 * CLOCK_OFFSET_ALLOWANCE - 1")]
Run = Annotated[int, Upto("RUN_BOUND")]


class TimingClaims(StartFigures):
    """The sentences around the conditions, as they hold for any figures."""

    RUN_BOUND_ENDS: ClassVar[Said] = Said.REPAIRED
    FAILED_TAKE: ClassVar[Said] = Said.REPAIRED
    SECOND_GATE: ClassVar[Said] = Said.REPAIRED
    PROBE: ClassVar[Said] = Said.REPAIRED
    FLOOR: ClassVar[Said] = Said.REPAIRED
    CADENCE: ClassVar[Cadence] = Cadence.AFTER_THE_RUN
    HOLDERS: ClassVar[Holders] = Holders.RUNS_AND_OPERATORS
    BACKLOG: ClassVar[int] = 3

    @obligation(source=("run bound 1", "Instance start 4"))
    def a_run_that_lands_nothing_is_budgeted(self, left: Left, first: int, second: Run, third: Run) -> bool:
        """The bound ends at the last closing landed: of a run that lands nothing the text bounds nothing."""
        require(self.five_conditions())
        require(self.RUN_BOUND_ENDS is Said.TEXT or first <= self.RUN_BOUND)
        return self.third_start(left, first, second) + third <= self.COMPENSATION_WINDOW

    @obligation(source=("reconcile step 2.3", "Instance start 4"))
    def a_failed_take_is_budgeted(
        self, left: Left, first: Run, second: Run, third: Run, fourth: Run, dies: bool, fails: bool
    ) -> bool:
        """A take that fails after its wait costs a run and a cadence, as a death does; both cost two."""
        require(self.five_conditions())
        require(self.FAILED_TAKE is Said.TEXT or not (dies and fails))
        lands = self.second_start(left, first) + second
        if dies or fails:
            lands = lands + self.RECONCILIATION_CADENCE + third
        if dies and fails:
            lands = lands + self.RECONCILIATION_CADENCE + fourth
        return lands <= self.COMPENSATION_WINDOW

    # --- the gates of a closure

    def at_the_second_gate(self, probe: int) -> int:
        """What is left of the sweep's lease, if everything before takes its whole bound."""
        return self.sweep_lease() - self.READ_BOUND - probe - self.JOURNAL_WRITE_BOUND

    def too_short(self) -> bool:
        """The closures that are said to fail at their second write."""
        if self.SECOND_GATE is Said.TEXT:
            return not self.condition_5()
        return self.CLOSURE_LATENCY < self.READ_BOUND + self.JOURNAL_WRITE_BOUND + self.PROBE_ROUND_TRIP

    @obligation(source=("Instance start 8", "journal write bound 1"))
    def a_closure_that_is_too_short_fails_its_second_gate(self) -> bool:
        require(self.JOURNAL_WRITE_BOUND > 0)
        require(self.too_short())
        return self.at_the_second_gate(self.PROBE_ROUND_TRIP) < self.JOURNAL_WRITE_BOUND

    @obligation(source=("Instance start 8", "journal write bound 1"))
    def a_read_and_a_write_leave_no_time_for_a_probe(self, probe: int) -> bool:
        """The earlier draft's closure latency: as long as one read and one write together."""
        require(self.JOURNAL_WRITE_BOUND > 0)
        require(self.CLOSURE_LATENCY == self.READ_BOUND + self.JOURNAL_WRITE_BOUND)
        require(self.PROBE is Said.TEXT or probe > 0)
        return self.at_the_second_gate(probe) < self.JOURNAL_WRITE_BOUND

    # --- the floor of a run

    def old_floor(self) -> int:
        return self.sweep_lease() + self.CLOSURE_LATENCY

    @obligation(source="Instance start 7")
    def the_old_floor_does_where_nobody_opens_again(
        self, left: Left, first: Run, second_holder: Holding, second: int, third_holder: Holding, third: int
    ) -> bool:
        """Waiting for a dead run or an operator a run ends by the old floor; for another Open it may not."""
        require(self.condition_1() and self.old_floor() <= self.RUN_BOUND)
        if self.HOLDERS is Holders.RUNS_AND_OPERATORS:
            require(second_holder <= self.sweep_lease() and third_holder <= self.sweep_lease())
        require(second <= self.longest_run(second_holder) and third <= self.longest_run(third_holder))
        return self.third_start(left, first, second) + third <= self.COMPENSATION_WINDOW

    def backlog_floor(self) -> int:
        """What a run lasts that finds as many orphans as are sized for, each behind a holder."""
        return sum(self.run_floor() for _ in range(self.BACKLOG))

    @obligation(source=("Instance start 7", "run bound 1"))
    def a_run_lands_its_backlog_by_its_bound(
        self, first_holder: Holding, second_holder: Holding, third_holder: Holding
    ) -> bool:
        floor = self.run_floor() if self.FLOOR is Said.TEXT else self.backlog_floor()
        require(floor <= self.RUN_BOUND)
        return first_holder + second_holder + third_holder + 3 * self.CLOSURE_LATENCY <= self.RUN_BOUND

    # --- two cadences, one after each of the first two runs

    def from_start_to_start(self) -> int:
        """Between the starts of two runs, the first of which lasts its whole bound.

        From its start: the next waits for both. As ticks: one beside a run in flight is dropped.
        """
        if self.CADENCE is Cadence.FROM_ITS_START:
            return max(self.RECONCILIATION_CADENCE, self.RUN_BOUND)
        if self.CADENCE is Cadence.TICKS:
            return self.RECONCILIATION_CADENCE * (self.RUN_BOUND // self.RECONCILIATION_CADENCE + 1)
        return self.RUN_BOUND + self.RECONCILIATION_CADENCE

    def worst_landing(self) -> int:
        left = self.COMPLETION_BOUND + 2 * self.CLOCK_OFFSET_ALLOWANCE - 1
        return left + 2 * self.from_start_to_start() + self.longest_run(self.longest_hold())

    def sum_of(self, runs: int) -> int:
        """The sum of condition 1 with that many run bounds."""
        return self.worst_closure() - self.run_terms() + runs * self.RUN_BOUND

    @obligation(source="Instance start 4")
    def two_run_bounds_never_suffice(self) -> bool:
        require(self.condition_4() and self.condition_5())
        return self.worst_landing() >= self.sum_of(2)

    @obligation(source="Instance start 4")
    def three_run_bounds_suffice(self) -> bool:
        require(self.condition_4())
        return self.worst_landing() < self.sum_of(3)


@configuration(
    breaks={
        TimingClaims.a_run_that_lands_nothing_is_budgeted: (
            "COMPLETION_BOUND=1 RUN_BOUND=2 CLOSURE_LATENCY=1 COMPENSATION_WINDOW=8 "
            "RETENTION_PERIOD=10 first=5 second=2 third=2"
        ),
    },
    source="run bound 1",
)
class BoundOfClosingsOnly(TimingClaims):
    """The run bound ends at the last closing, so a run that lands none may block the next for ever."""

    RUN_BOUND_ENDS = Said.TEXT


@configuration(
    breaks={
        TimingClaims.a_failed_take_is_budgeted: (
            "COMPLETION_BOUND=1 RECONCILIATION_CADENCE=1 RUN_BOUND=2 CLOSURE_LATENCY=1 "
            "COMPENSATION_WINDOW=10 RETENTION_PERIOD=12 first=2 second=2 third=2 fourth=2 dies=True "
            "fails=True"
        ),
    },
    source="reconcile step 2.3",
)
class FailedTakeAndDeath(TimingClaims):
    """A take fails after its wait and a run dies: the budget has one run for the two."""

    FAILED_TAKE = Said.TEXT


@configuration(
    breaks={
        TimingClaims.a_closure_that_is_too_short_fails_its_second_gate: (
            "CLOSURE_LATENCY=1 JOURNAL_WRITE_BOUND=1"
        ),
    },
    source="Instance start 8",
)
class SecondGateOfTheText(TimingClaims):
    """Whatever fails condition 5 is said to fail the second gate: the condition asks for one write more."""

    SECOND_GATE = Said.TEXT


@configuration(
    breaks={
        TimingClaims.a_read_and_a_write_leave_no_time_for_a_probe: "CLOSURE_LATENCY=1 JOURNAL_WRITE_BOUND=1",
    },
    source="Instance start 8",
)
class ClosureLatencyOfTheDraft(TimingClaims):
    """Five seconds, a read of two and a write of three: said to fail whatever the probe takes."""

    PROBE = Said.TEXT


@configuration(
    breaks={
        TimingClaims.the_old_floor_does_where_nobody_opens_again: (
            "COMPLETION_BOUND=2 COMPENSATION_WINDOW=3 left=1 second_holder=1 second=1 third_holder=2 third=2"
        ),
    },
    source="Instance start 7",
)
class AnotherOpenHolds(TimingClaims):
    """A second Open of the act has died holding its section, with its whole bound to go."""

    HOLDERS = Holders.ANOTHER_OPEN_TOO


@configuration(
    breaks={
        TimingClaims.a_run_lands_its_backlog_by_its_bound: "third_holder=7",
    },
    source="Instance start 7",
)
class RunBoundAtItsFloor(TimingClaims):
    """The walkthrough's figures with the least run bound that condition 4 admits, and its three orphans."""

    FLOOR = Said.TEXT
    COMPLETION_BOUND = 30
    CLOSURE_LATENCY = 12
    JOURNAL_WRITE_BOUND = 3
    RUN_BOUND = 42


@configuration(
    breaks={
        TimingClaims.two_run_bounds_never_suffice: "RECONCILIATION_CADENCE=1 RUN_BOUND=2 CLOSURE_LATENCY=1"
    },
    source="Instance start 4",
)
class CountedFromTheStart(TimingClaims):
    """A cadence from start to start, which a run in flight defers: a run costs no more than the longer."""

    CADENCE = Cadence.FROM_ITS_START


@configuration(
    breaks={
        TimingClaims.two_run_bounds_never_suffice: "RUN_BOUND=2 CLOSURE_LATENCY=1",
    },
    source="Instance start 4",
)
class TicksOfFour(TimingClaims):
    """A cadence of four that goes on ticking: only so does the shorter sum do for some figures."""

    CADENCE = Cadence.TICKS
    RECONCILIATION_CADENCE = 4
