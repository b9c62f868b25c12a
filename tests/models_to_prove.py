"""Models of figures and obligations: what is proved, refuted, vacuous, at fault or undecided, one each."""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework import (
    Between,
    Model,
    Upto,
    action,
    configuration,
    implies,
    invariant,
    obligation,
    reachable,
    require,
    twin,
)

Speed = Enum("Speed", "SLOW FAST")


class Deadlines(Model):
    """Two stages, one after the other, end by the deadline."""

    FIRST: ClassVar[int] = 3
    SECOND: ClassVar[int] = 4
    DEADLINE: ClassVar[int] = 7
    ROUNDS: ClassVar[int] = 2

    def whole(self) -> int:
        return self.FIRST + self.SECOND

    @obligation(source="stage 1")
    def both_end_by_the_deadline(
        self, first: Annotated[int, Upto("FIRST")], second: Annotated[int, Upto("SECOND")]
    ) -> bool:
        require(self.whole() <= self.DEADLINE)
        return first + second <= self.DEADLINE

    @obligation(source="stage 2")
    def a_round_more_is_a_whole_more(self) -> bool:
        """ROUNDS is what a loop runs over, so it keeps its value."""
        return sum(self.whole() for _ in range(self.ROUNDS)) == 2 * self.FIRST + 2 * self.SECOND


@configuration(holds=True)
class LongDeadline(Deadlines):
    """A deadline that is fixed."""

    DEADLINE = 100


@configuration(breaks={Deadlines.a_round_more_is_a_whole_more: "SECOND=1"})
class ThreeRounds(Deadlines):
    """The sum is of two."""

    ROUNDS = 3


@twin(
    breaks={
        Deadlines.both_end_by_the_deadline: "SECOND=1 second=1",
        Deadlines.a_round_more_is_a_whole_more: "SECOND=1",
    }
)
class FirstStageOnly(Deadlines):
    """Charges the first stage alone."""

    def whole(self) -> int:
        return self.FIRST


@twin(
    breaks={
        Deadlines.both_end_by_the_deadline: "SECOND=101 second=101",
        Deadlines.a_round_more_is_a_whole_more: "SECOND=1",
    },
    within=LongDeadline,
)
class NothingCharged(Deadlines):
    """Charges nothing; with a deadline of 100 that is late from 101 on."""

    def whole(self) -> int:
        return 0


class Corners(Model):
    """One obligation for each word, and for each way to be refuted."""

    LIMIT: ClassVar[int] = 5
    SPEED: ClassVar[Speed] = Speed.SLOW
    ARMED: ClassVar[bool] = True
    DEPTH: ClassVar[Annotated[int, Between(-2, "LIMIT")]] = 1
    TABLE: ClassVar[tuple[int, ...]] = (2, 3)
    CAP: ClassVar[int | None] = 3

    def twice(self, armed: bool) -> bool:
        return bool(armed)

    @obligation
    def is_refuted_at_nothing(self, x: int) -> bool:
        return x + self.LIMIT > 0

    @obligation
    def contradicts_itself(self, x: int) -> bool:
        require(x > self.LIMIT)
        require(self.LIMIT > 3)
        require(x < 3)
        return x > 1

    @obligation
    def has_an_idle_premise(self, x: int) -> bool:
        require(x < 3)
        return implies(x > self.LIMIT + 5, x == 0)

    @obligation
    def reads_past_the_table(self, x: Annotated[int, Upto("LIMIT")]) -> bool:
        require(x > 0)
        return self.TABLE[x] > 0

    @obligation
    def holds_of_choices(self, speed: Speed, armed: bool) -> bool:
        """An Enum constant is no figure: it keeps its value. A bool is left open."""
        same = armed == self.twice(armed)
        return self.SPEED is Speed.SLOW and (speed is not Speed.FAST or not armed or same)

    @obligation
    def is_refuted_by_choices(self, speed: Speed, armed: bool) -> bool:
        return speed is Speed.SLOW or not armed or self.ARMED

    @obligation
    def is_refuted_below_zero(self, x: Annotated[int, Between("-LIMIT", -2)]) -> bool:
        return x // 2 > self.DEPTH - 1


class Unproved(Model):
    """What lies outside the subset, what the class answers otherwise, what z3 may take long for."""

    LIMIT: ClassVar[int] = 5

    @obligation
    def names_its_class(self, x: int) -> bool:
        return x < Unproved.LIMIT

    @obligation
    def answers_a_number(self, x: int) -> bool:
        return x  # type: ignore[return-value]

    @obligation
    def divides_by_what_is_open(self, x: int) -> bool:
        return x // self.LIMIT >= 0

    @obligation
    def sums_cubes(self, x: int, y: int, z: int) -> bool:
        require(x > 0 and y > 0)
        return x * x * x + y * y * y != z * z * z


class Ledger(Model):
    """A model with a state, and an obligation beside it."""

    MOST: ClassVar[int] = 2

    entries: Annotated[int, Upto("MOST")] = 0

    def next(self, entries: int) -> int:
        return entries + 1

    @action
    def enter(self) -> None:
        require(self.entries < self.MOST)
        self.entries = self.next(self.entries)

    @action
    def clear(self) -> None:
        require(self.entries > 0)
        self.entries = 0

    @invariant
    def enters_one_at_a_time(self, before: Self) -> bool:
        return self.entries <= before.entries + 1

    @reachable
    def gets_full(self) -> bool:
        return self.entries == self.MOST

    @obligation
    def the_next_is_above(self, entries: int) -> bool:
        return self.next(entries) > entries


@twin(breaks={Ledger.enters_one_at_a_time: 1, Ledger.gets_full: None})
class SkippingLedger(Ledger):
    """Enters two at once."""

    def next(self, entries: int) -> int:
        return entries + 2


@twin(breaks={Ledger.the_next_is_above: "all 0", Ledger.gets_full: None})
class StuckLedger(Ledger):
    """Enters nothing."""

    def next(self, entries: int) -> int:
        return entries
