"""Models of clocks within records, guards on some ways, helpers called again, walks in walks."""

from typing import Annotated, Self

from falsework import (
    Between,
    Countdown,
    Elapsed,
    Length,
    Map,
    Model,
    Record,
    Seq,
    Set,
    Upto,
    action,
    bound,
    count,
    disabled,
    elapse,
    given,
    implies,
    invariant,
    reachable,
    replace,
    require,
    terminal,
    tick,
)
from foreign_words import follows as foreign_follows

Two = Annotated[int, Upto(2)]
Kind = Annotated[int, Between(2, 3)]
Below0 = Annotated[int, Between(-1, 0)]


class Clock(Record):
    left: Annotated[int, Countdown(2)]
    since: Annotated[int, Elapsed(2)] | None
    kind: Annotated[int, Between(2, 4)]


class Case(Record):
    clock: Clock | None
    number: Two


class ClocksEverywhere(Model):
    """Time moves clocks in options of records of options, in maps and in rows."""

    case: Case | None = None
    clocks: Map[bool, Clock | None] = Map(None)
    row: Annotated[Seq[Clock], Length(1)] = Seq()

    @action
    def make(self, number: Two) -> None:
        clock = Clock(number, None if number == 1 else number, 2 + number)
        self.case = Case(clock, number) if number else Case(None, 0)

    @action
    def keep(self, key: bool) -> None:
        require(self.case is not None and self.case.clock is not None)
        self.clocks[key] = self.case.clock if self.case is not None else None

    @action
    def line_up(self) -> None:
        require(len(self.row) < 1)
        clock = self.clocks[True]
        if clock is not None and clock.kind != 3:
            self.row.append(replace(clock, left=2 - clock.left))

    @action
    def leave(self) -> None:
        require(len(self.row) > 0)
        self.row.pop_first()
        self.clocks[False] = None

    @action
    def open(self) -> None:
        self.case = None if self.case is None or self.case.clock is None else replace(self.case, clock=None)

    @tick
    def pass_time(self) -> None:
        require(all(clock.left > 0 for clock in self.row))
        elapse(self)
        if len(self.row) == 1:
            self.row[0] = replace(self.row[0], since=0)

    @invariant
    def time_is_positive(self) -> bool:
        return all(c is None or c.since is None or c.since >= 0 for c in self.clocks.values())


class HelpersAgain(Model):
    """Helpers with guards, loops and early returns, called from several places and in conditions."""

    x: Two = 0
    y: Two = 0

    def next_of(self, number: int) -> int:
        if number == 2:
            disabled()
        return number + 1

    def is_y(self, number: int) -> bool:
        for key in range(3):
            if key == number:
                return key == self.y
        return False

    @action
    def both(self) -> None:
        x = self.next_of(self.x)
        y = self.next_of(self.y) if self.x == 1 else 0
        self.x, self.y = x, y

    @action
    def mix(self, number: Two) -> None:
        require(self.is_y(number) or self.is_y(2 - number))
        self.y = (number + self.x) % 3

    @action
    def find(self) -> None:
        for key in range(3):
            if self.is_y(key):
                self.x = key
                found = True
                if found:
                    return
        self.y = 0

    @terminal
    def anywhere(self) -> bool:
        return True


class GuardsOnSomeWays(Model):
    """What a guard says on one way is not known on another."""

    x: Two = 0
    chosen: Two | None = None

    @action
    def take(self) -> None:
        if self.x == 0:
            number = given(self.chosen)
        elif self.x == 1:
            number = 2
        else:
            disabled()
            return
        self.x = number

    @action
    def choose(self, number: Two | None) -> None:
        self.chosen = number

    @action
    def turn(self) -> None:
        require(self.chosen is not None)
        if self.chosen is not None:
            self.x = 2 - self.chosen if self.chosen < 2 else 1

    @action
    def double(self) -> None:
        number = given(self.chosen) + given(self.chosen)
        require(number < 3)
        self.x = number

    @action
    def ask(self) -> Two | None:
        if self.x:
            return self.chosen
        return None

    @invariant(on=ask)
    def an_answer_is_small(self, before: Self, answer: Two | None) -> bool:
        return answer is None or implies(before.x == 1, answer != 3)

    @invariant
    def nothing_comes_of_nothing(self, before: Self) -> bool:
        nothing = before.chosen is None and self.chosen is None
        return implies(nothing, before.x == self.x or before.x > 0)


class WalksInWalks(Model):
    """Generators in generators, filters that protect, folds of nothing."""

    cells: Map[Two, Two | None] = Map(None)
    members: Set[Annotated[int, Upto(1)]] = Set()
    x: Two = 0

    @action
    def put(self, key: Two, number: Two | None) -> None:
        self.cells[key] = number

    @action
    def flip(self, key: Annotated[int, Upto(1)]) -> None:
        if key in self.members:
            self.members.discard(key)
        else:
            self.members.add(key)

    @action
    def add(self) -> None:
        self.x = sum(number for number in self.cells.values() if number is not None if number < 2) % 3

    @action
    def most(self) -> None:
        best = max((number for number in self.cells.values() if number is not None), default=None)
        self.x = 0 if best is None else best

    @action
    def least(self) -> None:
        require(all(self.cells[key] is not None for key in self.members))
        self.x = min(  # type: ignore[type-var,assignment]
            (self.cells[key] for key in self.members), default=0
        )

    @invariant
    def pairs_are_counted(self) -> bool:
        pairs = count(key == other for key in self.members for other in self.members if other <= key)
        return pairs == len(self.members)

    @reachable
    def a_cell_names_a_one(self) -> bool:
        return any(
            self.cells[n] == 1 for n in self.cells.values() if n is not None and n < 2 and n in self.members
        )


class PremisesElsewhere(Model):
    """The premises of a function in a foreign module are its own affair; those of a helper are asked."""

    x: Two = 0

    def rises(self, number: int) -> bool:
        return implies(self.x > number, self.x > 0)

    @action
    def grow(self) -> None:
        require(self.x < 2)
        self.x += 1

    @terminal
    def it_is_grown(self) -> bool:
        return self.x == 2

    @invariant
    def follows(self, before: Self) -> bool:
        ours = self.rises(0) and before.rises(0) and all(self.rises(number) for number in range(3))
        return ours and foreign_follows(self.x > 0, before.x < 2)


class PremisesAbove(PremisesElsewhere):
    def rises(self, number: int) -> bool:
        return super().rises(number) and implies(number == 1, True)


class OddKeys(Model):
    """Keys below 0 and away from it, pairs, options, and an alias of a member."""

    cells: Map[Kind, Annotated[int, Upto(1)]] = Map(0)
    pairs: Map[tuple[Below0, bool], bool] = Map(False)
    kinds: Map[Below0 | None, Kind] = Map(2)
    members: Set[Below0] = Set([-1])
    kind: Kind = 3
    number: Below0 | None = None

    @action
    def flip(self) -> None:
        self.cells[self.kind] = (self.cells[self.kind] + 1) % 2
        self.kind = 2 if self.kind == 3 else 3

    @action
    def turn(self) -> None:
        self.number = None if self.number == 0 else -1 if self.number is None else self.number + 1

    @action
    def pair(self) -> None:
        number = given(self.number)
        require(self.kind == 2)
        self.pairs[number, True] = not self.pairs[(number, self.kind == 2)]
        if number in self.members:
            self.members.discard(number)

    @action
    def name(self) -> None:
        self.kinds[self.number] = self.kind

    @action
    def pick(self) -> None:
        require(self.cells[self.kind] == 1)
        self.kind = 2 if self.kinds[None] == 3 else self.kinds[self.number]

    @invariant
    def sums_are_small(self) -> bool:
        kinds = sum(kind for kind in self.cells if self.cells[kind])
        return kinds <= 5 and all(key is None or key <= 0 for key in self.kinds)

    @reachable
    def all_at_once(self) -> bool:
        return self.pairs[-1, True] and -1 not in self.members and self.kinds[-1] == 3


class IntsAndBools(Model):
    """A bool is a number and the other way round, and comes back from a variable as what its domain is."""

    flag: bool = False
    number: Annotated[int, Upto(1)] = 0

    @action
    def swap(self) -> None:
        self.flag = self.number  # type: ignore[assignment]
        self.number = self.flag == 0

    @action
    def ask(self) -> bool:
        return self.flag or self.number  # type: ignore[return-value]

    @action
    def leave(self) -> None:
        self.flag = self.number + 1  # type: ignore[assignment]

    @invariant
    def flags_are_bools(self) -> bool:
        return self.flag == (self.number == 0) or not self.flag or self.flag is True

    @invariant(on=ask)
    def an_answer_is_either(self, answer: bool) -> bool:
        return answer == bool(self.number) or self.flag


class GivenBehindABound(Model):
    """What is None on a way is asked for behind a bound: the step is not there, but the bound is counted."""

    many: Two = 0
    odd: bool = False
    kept: Two | None = None

    def either(self, one: int, other: int) -> int:
        return max(one, other)

    def doubled(self, way: Two | None) -> int:
        number = given(way)
        return number + number

    @action
    def keep(self, way: Two | None) -> None:
        if self.odd:
            bound(self.many > 0)
        number = given(way)
        self.kept = number if number > 1 else None
        self.odd = not self.odd

    @action
    def choose(self, way: Two | None, other: Two | None) -> None:
        if self.odd:
            bound(self.many > 1)
            self.many = self.either(given(way), given(other))
        else:
            self.many = given(way) if self.many == 2 else 1
        self.odd = not self.odd

    @action
    def double(self, way: Two | None) -> None:
        bound(not self.odd)
        require(self.doubled(way) < 3 and self.many < 2)
        self.many += min(self.doubled(way), 1)

    @action
    def walk(self, way: Two | None) -> None:
        if self.odd:
            bound(self.many != 1)
        all_told = 0
        for number in range(3):
            if number == self.many:
                all_told += given(way) if number < 2 else 1
        self.kept = min(all_told, 2)
        self.odd = not self.odd

    @reachable
    def two_are_kept(self) -> bool:
        return self.kept == 2 and self.odd
