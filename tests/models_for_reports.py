"""Tiny models, one for each thing that a check can answer: what the goldens of the reports are made from."""

import enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    Upto,
    action,
    bound,
    configuration,
    count,
    fault,
    implies,
    initial,
    invariant,
    reachable,
    replace,
    require,
    terminal,
    twin,
)

Worker = Annotated[int, Below("WORKERS")]
Token = Annotated[int, Upto("GRANTS")]


class Lease(Model):
    """Each grant carries a larger token, and the store refuses a token older than its last."""

    WORKERS: ClassVar[int] = 2
    GRANTS: ClassVar[int] = 3

    holder: Worker | None = None
    issued: Token = 0
    written: Token = 0
    held: Map[Worker, Token] = Map(0)

    def fresh(self, token: Token) -> bool:
        return token >= self.written

    @action
    def acquire(self, worker: Worker) -> Token:
        require(self.holder is None and self.issued < self.GRANTS)
        self.issued += 1
        self.held[worker] = self.issued
        self.holder = worker
        return self.issued

    @fault
    def expire(self) -> None:
        require(self.holder is not None)
        self.holder = None

    @action
    def write(self, worker: Worker) -> None:
        require(self.held[worker] > 0 and self.fresh(self.held[worker]))
        self.written = self.held[worker]

    @invariant
    def holder_has_the_newest_token(self) -> bool:
        return self.holder is None or self.held[self.holder] == self.issued

    @invariant
    def writes_never_go_back(self, before: Self) -> bool:
        return self.written >= before.written

    @reachable
    def a_worker_wakes_late(self) -> bool:
        return any(0 < token < self.written for token in self.held.values())

    @terminal
    def nothing_was_granted_twice(self) -> bool:
        return self.issued == self.GRANTS


@configuration(holds=True)
class ThreeWorkers(Lease):
    """One more worker than the first figure."""

    WORKERS = 3


@twin(breaks={Lease.writes_never_go_back: 5})
class StoreWithoutFencing(Lease):
    """The store trusts its caller, so a worker that slept through its lease still writes."""

    def fresh(self, token: Token) -> bool:
        return True


@twin(breaks={Lease.holder_has_the_newest_token: 1}, within=ThreeWorkers)
class TokenOfAnother(Lease):
    """The token is booked one worker too low."""

    def acquire(self, worker: Worker) -> Token:
        require(self.holder is None and self.issued < self.GRANTS)
        self.issued += 1
        self.held[max(worker - 1, 0)] = self.issued
        self.holder = worker
        return self.issued


class Stuck(Model):
    """Two philosophers, each of whom takes the left fork first."""

    first: bool = False
    second: bool = False

    @action
    def take_first(self) -> None:
        require(not self.first)
        self.first = True

    @action
    def take_second(self) -> None:
        require(not self.second and self.first)
        self.second = True

    @invariant
    def the_second_comes_second(self) -> bool:
        return implies(self.second, self.first)


class Overflow(Model):
    """A counter that nothing stops at its bound."""

    TOP: ClassVar[int] = 2
    count: Annotated[int, Upto("TOP")] = 0

    @action
    def rise(self) -> None:
        self.count += 1

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class NeverFires(Model):
    """An action whose guard is never true."""

    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on

    @action
    def explode(self) -> None:
        require(self.on and not self.on)
        self.on = True

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on


class PremiseNeverTrue(Model):
    """An invariant that speaks of nothing that happens."""

    LIMIT: ClassVar[int] = 3
    count: Annotated[int, Upto("LIMIT")] = 0

    @action
    def rise(self) -> None:
        require(self.count < 2)
        self.count += 1

    @action
    def fall(self) -> None:
        require(self.count > 0)
        self.count -= 1

    @invariant
    def the_top_is_even(self) -> bool:
        return implies(self.count == self.LIMIT, self.count % 2 == 0)


class WitnessNotReached(Model):
    """A witness that never comes true."""

    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on

    @reachable
    def it_is_both(self) -> bool:
        return self.on and not self.on


class NoInvariant(Model):
    """Nothing is asked of its states."""

    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on


class Wide(Model):
    """Two thousand states in a line, more than the test lets the search look at."""

    TOP: ClassVar[int] = 2_000
    count: Annotated[int, Below("TOP")] = 0

    @action
    def rise(self) -> None:
        self.count = (self.count + 1) % self.TOP

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class Bounded(Model):
    """A retry counter that is deliberately looked at up to a bound only."""

    RETRIES: ClassVar[int] = 2
    tries: Annotated[int, Upto("RETRIES")] = 0

    @action
    def retry(self) -> None:
        bound(self.tries < self.RETRIES)
        self.tries += 1

    @action
    def succeed(self) -> None:
        self.tries = 0

    @invariant
    def tries_are_counted(self) -> bool:
        return self.tries >= 0


class FaultInPredicate(Model):
    """An invariant that divides by what becomes zero."""

    left: Annotated[int, Upto(1)] = 1

    @action
    def use(self) -> None:
        self.left = 0

    @invariant
    def the_share_is_whole(self) -> bool:
        return 6 // self.left == 6


class NoInitialState(Model):
    """An initial action none of whose instances is enabled."""

    on: bool = False

    @initial
    def start(self, value: bool) -> None:
        require(value and self.on)
        self.on = value

    @action
    def switch(self) -> None:
        self.on = not self.on

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on


class Kind(enum.Enum):
    """What a line of the journal says."""

    NOTHING = enum.auto()
    INTENT = enum.auto()
    OUTCOME = enum.auto()


class Line(Record):
    """One line of the journal."""

    kind: Kind = Kind.NOTHING
    writer: Annotated[int, Below("WRITERS")] | None = None


class Journal(Model):
    """Wide records in a map: what the table of changed cells cannot hold side by side."""

    WRITERS: ClassVar[int] = 2
    LINES: ClassVar[int] = 6

    journal: Map[Annotated[int, Below("LINES")], Line] = Map(Line())
    length: Annotated[int, Upto("LINES")] = 0

    @action
    def intend(self, writer: Annotated[int, Below("WRITERS")]) -> None:
        require(self.length < self.LINES)
        self.journal[self.length] = Line(Kind.INTENT, writer)
        self.length += 1

    @action
    def conclude(self, line: Annotated[int, Below("LINES")]) -> None:
        require(self.journal[line].kind is Kind.INTENT)
        self.journal[line] = replace(self.journal[line], kind=Kind.OUTCOME)

    @invariant
    def an_outcome_stands_alone(self) -> bool:
        for number in range(self.LINES - 1):
            if self.journal[number].kind is Kind.OUTCOME and self.journal[number + 1].kind is Kind.OUTCOME:
                return False
        return True


class Refusing(Model):
    """Written with a while, which only the class itself runs."""

    count: Annotated[int, Upto(3)] = 0

    @action
    def rise(self) -> None:
        require(self.count < 3)
        while self.count < 3:
            self.count += 1

    @action
    def fall(self) -> None:
        self.count = 0

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class Reasons(Model):
    """Every invariant is broken, each in another part of its expression."""

    SIZE: ClassVar[int] = 3
    held: Map[Annotated[int, Below("SIZE")], bool] = Map(False)
    top: Annotated[int, Below("SIZE")] | None = None

    def quiet(self, limit: Annotated[int, Upto("SIZE")]) -> bool:
        return self.top is None and count(self.held.values()) <= limit

    @action
    def take(self, number: Annotated[int, Below("SIZE")]) -> None:
        require(not any(self.held.values()))
        self.held[number] = True
        self.top = number

    @action
    def rest(self) -> None:
        pass

    @invariant
    def by_the_second_operand(self) -> bool:
        return len(self.held) == 3 and self.held[0] == self.held[1] and self.top is None

    @invariant
    def by_one_turn_of_all(self) -> bool:
        return all(not held or number > 0 for number, held in self.held.items())

    @invariant
    def by_one_turn_of_not_any(self) -> bool:
        return not any(held for held in self.held.values())

    @invariant
    def by_a_helper(self) -> bool:
        return self.quiet(2)

    @invariant
    def by_an_implication(self) -> bool:
        return implies(self.held[0], self.top is None or self.top == 1)

    @invariant
    def by_a_branch(self) -> bool:
        return self.top is None if self.held[0] else True

    @invariant
    def by_a_sum(self) -> bool:
        return count(self.held.values()) + 1 <= 1

    @invariant
    def by_any_of_none(self) -> bool:
        return any(held and number == 1 for number, held in self.held.items()) or self.top is None

    @invariant
    def by_a_local(self) -> bool:
        taken = count(self.held.values())
        return taken < 1 or (self.top is None and taken > 2)


class ReasonsOfSteps(Model):
    """Both step invariants are broken by the first step."""

    level: Annotated[int, Upto(2)] = 1

    @action
    def move(self, value: Annotated[int, Upto(2)]) -> bool:
        self.level = value
        return value > 1

    @invariant
    def never_falls(self, before: Self) -> bool:
        return self.level >= before.level

    @invariant(on=move)
    def the_answer_is_no(self, before: Self, value: Annotated[int, Upto(2)], answer: bool) -> bool:
        return not (answer and value > before.level)
