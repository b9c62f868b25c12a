"""The figures of the window slice: the conditions under which an instance starts, and the edges of a run."""

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import Model, Upto, initial, require

Counted = Enum("Counted", "FROM_THE_END FROM_THE_START AS_TICKS")

LEASE = "max(COMPLETION_BOUND, CLOSURE + WRITE)"
RUN = f"ACTS * ({LEASE} + CLOSURE)"
WINDOW = f"COMPLETION_BOUND + 3 * ALLOWANCE + 2 * CADENCE + 3 * {RUN} + 2"

RunBound = Annotated[int, Upto(RUN)]
Window = Annotated[int, Upto(WINDOW)]


class Figures(Model):
    """An instance starts with the least window and the least run bound that its conditions admit."""

    ACTS: ClassVar[int] = 1
    COMPLETION_BOUND: ClassVar[int] = 2
    ALLOWANCE: ClassVar[int] = 1
    CADENCE: ClassVar[int] = 1
    CLOSURE: ClassVar[int] = 1  # the closure latency
    WRITE: ClassVar[int] = 1  # the journal's write bound; a sweep's lease is both of them
    SIZED_FOR: ClassVar[int] = 1  # the backlog that the run bound is sized for
    CADENCE_COUNTED: ClassVar[Counted] = Counted.FROM_THE_END
    FENCED: ClassVar[bool] = False  # a commit fence, and no act committed: each is to be abandoned

    window: Window = 0
    run_bound: RunBound = 0

    def sweep_lease(self) -> int:
        return self.CLOSURE + self.WRITE

    def run_floor(self) -> int:
        return max(self.COMPLETION_BOUND, self.sweep_lease()) + self.CLOSURE

    def run_terms(self) -> int:
        return 3

    def worst_closure(self, run_bound: int) -> int:
        fixed = self.COMPLETION_BOUND + 2 * self.ALLOWANCE + 2 * self.CADENCE
        return fixed + self.run_terms() * run_bound

    def condition_1(self, window: int, run_bound: int) -> bool:
        return window > self.worst_closure(run_bound)

    def condition_4(self, run_bound: int) -> bool:
        return self.run_floor() <= run_bound

    def sized(self, run_bound: int) -> bool:
        """The bound is disclosed over the whole backlog, one act after the other."""
        return self.SIZED_FOR * self.run_floor() <= run_bound

    def admits(self, window: int, run_bound: int) -> bool:
        return self.condition_1(window, run_bound) and self.condition_4(run_bound) and self.sized(run_bound)

    # What a run reads and decides.

    def examine_edge(self) -> int:
        return self.COMPLETION_BOUND + self.ALLOWANCE

    def abandon_edge(self) -> int:
        return self.examine_edge() + self.ALLOWANCE

    def horizon_edge(self) -> int:
        """Of the least retention that condition 2 admits, one more than the end of the window."""
        retention = self.COMPLETION_BOUND + self.ALLOWANCE + self.window + 1
        return retention - self.ALLOWANCE

    def keeps(self, reading: int) -> bool:
        return self.examine_edge() <= reading < self.horizon_edge()

    def ripe(self, reading: int) -> bool:
        return reading >= self.abandon_edge()

    def threshold(self) -> int:
        return self.window - 2 * self.run_bound - self.CADENCE - self.ALLOWANCE

    def last_edge(self) -> int:
        """From this age on whichever clock a run reads lists the act as one that it lands."""
        return (self.abandon_edge() if self.FENCED else self.examine_edge()) + self.ALLOWANCE

    def gap(self) -> int:
        """From the start of a run that lasts its whole bound to the start of the next, at most."""
        if self.CADENCE_COUNTED is Counted.FROM_THE_END:
            return self.run_bound + self.CADENCE
        if self.CADENCE_COUNTED is Counted.FROM_THE_START:
            return max(self.run_bound, self.CADENCE)
        return self.CADENCE * (self.run_bound // self.CADENCE + 1)

    @initial(source=("Instance start 2", "Instance start 3", "Instance start 4", "Instance start 7"))
    def start(self, window: Window, run_bound: RunBound) -> None:
        """The least figures that the conditions admit: whatever is larger leaves more room."""
        require(self.admits(window, run_bound))
        require(run_bound == 0 or not (self.condition_4(run_bound - 1) and self.sized(run_bound - 1)))
        require(window == 0 or not self.condition_1(window - 1, run_bound))
        self.window = window
        self.run_bound = run_bound
