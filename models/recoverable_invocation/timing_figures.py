"""The figures of instance start, the sums and edges made of them, and where an orphan's closing lands.

All is real time in one unit, counted from the intent's own stamp; a clock reads real time and an offset, no
larger than the allowance. The walkthrough's figures stand as defaults, in seconds.
"""

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import Between, Model, Upto, require

Dies = Enum("Dies", "NOBODY FIRST SECOND")  # which run dies; the budget is one death
Said = Enum("Said", "TEXT REPAIRED")  # as the text has it, or as it holds

Offset = Annotated[int, Between("-CLOCK_OFFSET_ALLOWANCE", "CLOCK_OFFSET_ALLOWANCE")]
Holding = Annotated[int, Upto("max(COMPLETION_BOUND, CLOSURE_LATENCY + JOURNAL_WRITE_BOUND)")]


class StartFigures(Model):
    """What a deployment declares of one kind and of its instance, and the conditions that it is held to."""

    COMPLETION_BOUND: ClassVar[int] = 30
    CLOCK_OFFSET_ALLOWANCE: ClassVar[int] = 2
    RECONCILIATION_CADENCE: ClassVar[int] = 60
    RUN_BOUND: ClassVar[int] = 135
    CLOSURE_LATENCY: ClassVar[int] = 12
    JOURNAL_WRITE_BOUND: ClassVar[int] = 3
    READ_BOUND: ClassVar[int] = 2
    COMMIT_ROUND_TRIP: ClassVar[int] = 1
    PROBE_ROUND_TRIP: ClassVar[int] = 1
    COMPENSATION_WINDOW: ClassVar[int] = 600
    RETENTION_PERIOD: ClassVar[int] = 633
    COMMIT_FENCE: ClassVar[bool] = False
    JOURNAL_FENCE: ClassVar[bool] = False

    # --- the sums

    def charged(self) -> bool:
        """Whether a fence pulls the terminus in by one allowance."""
        return self.COMMIT_FENCE or self.JOURNAL_FENCE

    def run_terms(self) -> int:
        """What the runs add to the worst closure: the one that leaves the act, that dies, that lands."""
        return 3 * self.RUN_BOUND

    def worst_closure(self) -> int:
        return (
            self.COMPLETION_BOUND
            + 2 * self.CLOCK_OFFSET_ALLOWANCE
            + 2 * self.RECONCILIATION_CADENCE
            + self.run_terms()
        )

    def worst_abandonment(self) -> int:
        """The worst closure of what is closed past the abandon edge only: one allowance more."""
        return self.worst_closure() + self.CLOCK_OFFSET_ALLOWANCE

    def window_end(self) -> int:
        return self.COMPLETION_BOUND + self.CLOCK_OFFSET_ALLOWANCE + self.COMPENSATION_WINDOW

    def lease_spend(self) -> int:
        spent = 2 * self.READ_BOUND + 2 * self.JOURNAL_WRITE_BOUND + self.COMMIT_ROUND_TRIP
        return spent + self.CLOCK_OFFSET_ALLOWANCE if self.charged() else spent

    def sweep_lease(self) -> int:
        return self.CLOSURE_LATENCY + self.JOURNAL_WRITE_BOUND

    def longest_hold(self) -> int:
        """How long a run may wait: for an invocation, or for a dead run or an operator."""
        return max(self.COMPLETION_BOUND, self.sweep_lease())

    def run_floor(self) -> int:
        return self.longest_hold() + self.CLOSURE_LATENCY

    def closure_spend(self) -> int:
        return self.READ_BOUND + 2 * self.JOURNAL_WRITE_BOUND + self.PROBE_ROUND_TRIP

    # --- the conditions

    def condition_1(self) -> bool:
        return self.worst_closure() < self.COMPENSATION_WINDOW

    def condition_2(self) -> bool:
        return self.window_end() < self.RETENTION_PERIOD

    def condition_3(self) -> bool:
        return self.lease_spend() < self.COMPLETION_BOUND

    def condition_4(self) -> bool:
        return self.run_floor() <= self.RUN_BOUND

    def condition_5(self) -> bool:
        return self.closure_spend() < self.CLOSURE_LATENCY

    def repaired_condition_1(self) -> bool:
        """The third allowance, where the abandon edge is what an act waits for."""
        return not self.COMMIT_FENCE or self.worst_abandonment() < self.COMPENSATION_WINDOW

    def repaired_condition_2(self) -> bool:
        """Two allowances past the window: the edge is drawn one early, on a clock that may be one ahead."""
        return self.RETENTION_PERIOD > self.COMPENSATION_WINDOW + 2 * self.CLOCK_OFFSET_ALLOWANCE

    def repaired_condition_3(self) -> bool:
        """A fence's second allowance: it is minted one early, for a judge whose clock may be one ahead."""
        return not self.charged() or self.lease_spend() + self.CLOCK_OFFSET_ALLOWANCE < self.COMPLETION_BOUND

    def five_conditions(self) -> bool:
        return (
            self.condition_1()
            and self.condition_2()
            and self.condition_3()
            and self.condition_4()
            and self.condition_5()
        )

    # --- the edges, as ages on a sweep's clock

    def examine_edge(self) -> int:
        """From here on a run keeps the intent."""
        return self.COMPLETION_BOUND + self.CLOCK_OFFSET_ALLOWANCE

    def abandon_edge(self) -> int:
        """From here on a fenced store's empty answer is final."""
        return self.examine_edge() + self.CLOCK_OFFSET_ALLOWANCE

    def horizon_edge(self) -> int:
        """From here on a run keeps the intent no more."""
        return self.RETENTION_PERIOD - self.CLOCK_OFFSET_ALLOWANCE

    # --- the runs

    def longest_run(self, holding: int) -> int:
        """A run ends by its bound, unless the holder that it waits for keeps it longer."""
        return max(self.RUN_BOUND, holding + self.CLOSURE_LATENCY)

    def second_start(self, first_start: int, first: int) -> int:
        """The cadence is counted from a run's end: none starts beside one in flight."""
        return first_start + first + self.RECONCILIATION_CADENCE

    def third_start(self, first_start: int, first: int, second: int) -> int:
        return self.second_start(first_start, first) + second + self.RECONCILIATION_CADENCE

    def landing(self, first_start: int, first: int, second: int, third: int, dies: Dies) -> int:
        """When the closing lands, at the latest: at the end of the run that examines the act and lives."""
        if dies is Dies.SECOND:
            return self.third_start(first_start, first, second) + third
        return self.second_start(first_start, first) + second

    def runs(
        self,
        edge: int,
        first_start: int,
        first_offset: int,
        first: int,
        second_offset: int,
        second_holder: int,
        second: int,
        third_holder: int,
        third: int,
    ) -> None:
        """Three runs in a row; the first is the last whose reading, short of the edge, leaves the act."""
        require(first_start + first_offset < edge)
        require(first <= self.RUN_BOUND)
        require(self.second_start(first_start, first) + second_offset >= edge)
        require(second <= self.longest_run(second_holder))
        require(third <= self.longest_run(third_holder))
