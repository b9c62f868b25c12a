"""Models that the lowering is easily wrong about: test_lowering_corners.py searches each with both."""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework import (
    Below,
    Between,
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
    first,
    implies,
    invariant,
    reachable,
    replace,
    require,
    terminal,
)

Bit = Annotated[int, Upto(1)]
Two = Annotated[int, Upto(2)]
Around = Annotated[int, Between(-3, 2)]
Nine = Annotated[int, Upto(9)]
Four = Annotated[int, Below(4)]

limit = 5


class Light(Enum):
    RED = 0
    GREEN = 1
    ROT = 0  # noqa: PIE796  an alias, on purpose


class Pair(Record):
    a: Two = 0
    b: Around = -3
    c: bool | None = None


TABLE = {0: 2, 1: 0, 2: 1}
NUMBERS = {Light.RED: 1, Light.GREEN: 2}
LIGHTS = {True: Light.RED, False: Light.GREEN}


def bent(number: int, by: int = 1) -> int:
    if number > 1:
        return 0
    return number + by


class PopInAPlace(Model):
    """The place of an augmented assignment is looked up once."""

    hits: Map[Two, Two] = Map(0)
    queue: Annotated[Seq[Two], Length(2)] = Seq([1, 2])

    @action
    def hit(self) -> None:
        require(len(self.queue) > 0)
        self.hits[self.queue.pop_first()] += 1


class UndeclaredAnswer(Model):
    """A call may answer what the action does not declare: a fault when it runs."""

    x: Two = 0

    def large(self):  # type: ignore[no-untyped-def]
        return self.x > 1

    @action
    def ask(self) -> None:
        require(self.x < 2)
        return self.large()  # type: ignore[no-any-return,no-untyped-call]


def within(limit: int) -> type[Model]:
    class Within(Model):
        """The name of the enclosing function goes before that of the module."""

        x: Two = 0

        @action
        def grow(self) -> None:
            require(self.x < limit)
            self.x += 1

    return Within


Closed = within(1)


class ReadOutsideUnderACondition(Model):
    """What a condition protects is read twice, at a key that may lie outside on the other way."""

    a: Two = 0
    b: Nine = 0
    cells: Map[Four, Bit] = Map(0)
    x: Two = 0
    y: Two = 0

    @action
    def set_a(self, number: Two) -> None:
        self.a = number

    @action
    def set_b(self, number: Nine) -> None:
        self.b = number

    @action
    def go(self) -> None:
        if 5 * self.a - self.b >= 0 and 5 * self.a - self.b < 4:
            self.x = self.cells[5 * self.a - self.b]
            self.y = 2 - self.cells[5 * self.a - self.b]
            self.cells[5 * self.a - self.b] = (self.cells[5 * self.a - self.b] + 1) % 2

    @invariant
    def cells_are_small(self) -> bool:
        if 5 * self.a - self.b >= 0 and 5 * self.a - self.b <= 3:
            return self.cells[5 * self.a - self.b] == 0 or self.cells[5 * self.a - self.b] < 2
        return True


class PopInAComparison(Model):
    """A chain of comparisons looks at its last operand in any case where the first comparison is certain."""

    ONE: ClassVar[int] = 1

    x: Two = 1
    queue: Annotated[Seq[Two], Length(2)] = Seq([1, 2])

    @action
    def take(self) -> None:
        require(len(self.queue) > 0)
        smaller = 0 < self.ONE < self.queue.pop_first()
        self.x = 1 if smaller else 2


class ScalarsOfAllKinds(Model):
    """Tables, functions beside the model, aliases of an Enum, options of bools, numbers below 0."""

    SMALL: ClassVar[int] = -2
    PLACES: ClassVar[tuple[int, ...]] = (2, 0, 1)

    x: Two = 0
    n: Around = 0
    light: Light = Light.RED
    flag: bool | None = None
    pair: Pair = Pair()
    other: Pair | None = None

    @action
    def bend(self) -> None:
        self.x = bent(self.x)

    @action
    def bend_by_name(self) -> None:
        self.x = bent(by=self.x, number=0)

    @action
    def look_up(self) -> None:
        self.light = LIGHTS[self.x == 1]
        self.x = TABLE[NUMBERS[self.light]]

    @action
    def set_flag(self, flag: bool | None) -> None:
        if self.flag:
            self.flag = flag
        elif self.flag is None:
            self.flag = not flag
        else:
            self.flag = None

    @action
    def turn(self) -> None:
        self.n = max(self.SMALL, -self.n) - (self.n % 2)

    @action
    def halve(self) -> None:
        require(self.n // 2 > -2)
        self.n = self.n // 2 + (self.x == 1) - True

    @action
    def pack(self) -> None:
        self.pair = replace(self.pair, c=self.flag or None, a=self.PLACES[self.pair.a])
        if self.other is not None and self.other.c:
            self.other = None
        else:
            self.other = self.pair if self.light is Light.ROT else self.other

    @invariant
    def least_stays(self) -> bool:
        return self.other is None or self.other.b == -3

    @invariant
    def an_alias_is_its_member(self) -> bool:
        known = all(light in Light for light in (self.light, Light.RED))
        return known and (self.light is Light.RED) == (self.light == Light.ROT)

    @reachable
    def a_flag_is_packed(self) -> bool:
        return self.other is not None and self.other.c is True and self.n == -2


class ReadsThroughTheClass(Model):
    """`ReadsThroughTheClass.SIZE` is that of this class, `self.SIZE` that of the subclass."""

    SIZE: ClassVar[int] = 1

    x: Two = 0

    @action
    def grow(self) -> None:
        require(self.x < ReadsThroughTheClass.SIZE and self.x < self.SIZE)
        self.x += 1

    @terminal
    def it_is_grown(self) -> bool:
        return self.x in (1, self.SIZE)


class Larger(ReadsThroughTheClass):
    SIZE: ClassVar[int] = 2


class BoundBeforeRequire(Model):
    """A bound that is met first cuts what a later require would have ruled out."""

    x: Nine = 0
    y: Two = 0

    @action
    def grow(self) -> None:
        if self.y == 0:
            bound(self.x < 3)
        require(self.x < 5)
        self.x += 1

    @action
    def change(self, y: Two) -> None:
        require(self.y != y)
        bound(self.x > 1)
        self.y = y

    @terminal
    def anywhere(self) -> bool:
        return True


class RecordsInARow(Model):
    """Sequences of records and of options, rewritten at symbolic places and made anew."""

    row: Annotated[Seq[Pair], Length(2)] = Seq()
    spare: Annotated[Seq[Two | None], Length(2)] = Seq([None])

    @action
    def push(self, number: Two) -> None:
        require(len(self.row) < 2)
        self.row.append(Pair(number, c=number == 1))

    @action
    def pop(self) -> None:
        require(len(self.row) > 0)
        pair = self.row.pop_first()
        if pair.c:
            self.spare[0] = pair.a
        else:
            self.spare = Seq([pair.a, None])

    @action
    def bend(self, place: Two) -> None:
        require(place < len(self.row))
        self.row[place] = replace(self.row[place], a=2 - self.row[place].a)

    @action
    def clear(self) -> None:
        place = self.spare[0]
        if place is not None and place < len(self.row):
            self.row[place] = Pair()

    @invariant
    def one_row_changes(self, before: Self) -> bool:
        return implies(self.row == before.row, self.spare == before.spare) or len(self.row) == len(before.row)

    @reachable
    def a_two_waits(self) -> bool:
        return Pair(2, c=False) in self.row and None in self.spare and 1 not in self.spare


class TupleMembers(Model):
    """Sets of tuples, keys that may be None, and whole collections assigned."""

    members: Set[tuple[Light, bool]] = Set([(Light.RED, True)])
    lights: Map[Bit | None, Light | None] = Map(None)

    @action
    def add(self, light: Light, flag: bool) -> None:
        require((light, flag) not in self.members)
        self.members.add((light, flag))

    @action
    def discard(self, flag: bool) -> None:
        light = first(member[0] for member in self.members if member[1] == flag)
        if light is not None:
            self.members.discard((light, not flag))

    @action
    def put(self, key: Bit | None) -> None:
        light = self.lights[key]
        self.lights[key] = Light.GREEN if light is None else None if light is Light.GREEN else Light.RED

    @action
    def reset(self) -> None:
        require(count(light is not None for light in self.lights.values()) >= 2)
        self.lights = Map(Light.RED)
        self.members = Set()

    @invariant
    def few_are_red(self) -> bool:
        red = sum(1 for light, flag in self.members if flag and light is Light.RED)
        return red <= len(self.members) and (not self.members or len(self.members) < 4)


class SymbolicRanges(Model):
    """Ranges as long as a variable says, left early, folded, and over numbers below 0."""

    TOP: ClassVar[int] = 2

    x: Nine = 0
    y: Around = 0

    @action
    def set(self, number: Nine) -> None:
        self.x = number

    @action
    def fold(self) -> None:
        total = 0
        for number in range(self.x):
            if number * number > self.x:
                total -= 1
            else:
                total = (total + number) % 3
        self.y = max(total, -3)

    @action
    def least(self) -> None:
        self.y = min((number for number in range(-3, self.y) if number % 2 == 0), default=0)

    @action
    def half(self) -> None:
        found = first(number for number in range(self.x) if number * 2 > self.x)
        self.y = -1 if found is None else found % 2

    @action
    def leave(self) -> None:
        for number in range(self.x):
            if number == 3:
                self.y = 2
                return
            self.y = -2

    @invariant
    def y_stays(self) -> bool:
        return -3 <= self.y <= self.TOP != 3


class CollectionsMadeAnew(Model):
    """Sets and sequences from displays, tuples and ranges; a shorter row assigned to a longer one."""

    row: Annotated[Seq[Two], Length(2)] = Seq()
    short: Annotated[Seq[Two], Length(1)] = Seq()
    members: Set[Annotated[int, Below(3)]] = Set()
    cells: Map[Bit, Two] = Map(0)
    x: Two = 0

    @action
    def some(self) -> None:
        self.members = Set(range(2))

    @action
    def pair(self) -> None:
        self.members = Set([self.x, 1])

    @action
    def lengthen(self) -> None:
        self.row = self.short
        self.x = 2

    @action
    def shorten(self) -> None:
        self.short = self.row

    @action
    def make(self, number: Two) -> None:
        self.row = Seq((number, self.x))
        self.cells[number % 2] %= 2
        self.cells[self.x // 2] //= 2

    @action
    def fill(self) -> None:
        self.cells = Map(self.x)


class FaultsOfPredicates(Model):
    """Reads that short-circuits protect, and one that nothing does."""

    x: Two = 0
    row: Annotated[Seq[Two], Length(2)] = Seq()
    chosen: Two | None = None

    @action
    def set(self, number: Two) -> None:
        self.x = number

    @action
    def move(self) -> None:
        if self.x == 1:
            self.row.append(2)
        elif self.x == 2:
            self.x = self.row[0]

    @action
    def choose(self) -> None:
        self.x = (self.chosen or 0) + 1 if self.x < 2 else 0
        self.chosen = self.x if self.chosen is None else None

    @invariant
    def the_second_is_two(self) -> bool:
        return self.x != 2 or len(self.row) == 0 or self.row[1] == 2

    @reachable
    def much_is_chosen(self) -> bool:
        return self.chosen is not None and self.chosen > 3


class TerminalsInOrder(Model):
    """Where one terminal predicate is true, those after it are not asked, whatever they would raise."""

    x: Two = 0
    chosen: Two | None = None

    @action
    def grow(self) -> None:
        require(self.x < 2)
        self.x += 1

    @terminal
    def it_is_grown(self) -> bool:
        return self.x == 2

    @terminal
    def much_is_chosen(self) -> bool:
        return self.chosen > 1  # type: ignore[operator]


class WitnessAtFaultElsewhere(Model):
    """A witness that one state reaches is asked in each state of that level, and raises in another."""

    x: Two = 0
    chosen: Two | None = None

    @action
    def put(self, x: Two) -> None:
        self.x = x

    @reachable
    def it_is_one(self) -> bool:
        return self.x == 1 or (self.x == 2 and self.chosen > 1)  # type: ignore[operator]


class WitnessAtFaultFirst(WitnessAtFaultElsewhere):
    """Here the state where it raises comes first."""

    @reachable
    def it_is_one(self) -> bool:
        return self.x == 2 or (self.x == 1 and self.chosen > 1)  # type: ignore[operator]
