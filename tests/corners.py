"""Models of nasty corners of the language, each counted by hand: test_corners.py has the numbers."""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework import (
    Below,
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
    disabled,
    elapse,
    given,
    initial,
    invariant,
    reachable,
    replace,
    require,
    terminal,
    tick,
)

Bit = Annotated[int, Upto(1)]
Two = Annotated[int, Upto(2)]
Item = Annotated[int, Below("ITEMS")]


class Light(Enum):
    RED = 0
    GREEN = 1


class GuardsAfterALoop(Model):
    """Guards stand inside a loop and after it, on paths that have changed nothing."""

    ITEMS: ClassVar[int] = 3

    seen: Map[Item, bool] = Map(False)
    done: bool = False

    @action
    def mark(self, item: Item) -> None:
        require(not self.seen[item])
        self.seen[item] = True

    @action
    def finish(self) -> None:
        for item in self.seen:
            if not self.seen[item]:
                disabled()
        require(not self.done)
        self.done = True

    @terminal
    def it_is_done(self) -> bool:
        return self.done


class LoopOverWhatItChanges(Model):
    """Each cell is read when its round begins: the second sees what the first round wrote."""

    ITEMS: ClassVar[int] = 3

    cells: Map[Item, Two] = Map(0)

    @action
    def carry(self) -> None:
        for item, cell in self.cells.items():
            if item == 0:
                self.cells[item] = min(cell + 1, 2)
            else:
                self.cells[item] = self.cells[item - 1]


class LoopThatEmptiesItsSet(Model):
    """The members discarded at their own round; a sequence rewritten at its own index."""

    ITEMS: ClassVar[int] = 2

    members: Set[Item] = Set([0, 1])
    row: Annotated[Seq[Two], Length(2)] = Seq([0, 1])

    @action
    def empty(self) -> None:
        require(len(self.members) > 0)
        for item in self.members:
            self.members.discard(item)
        for index, number in enumerate(self.row):
            self.row[index] = number + len(self.members) + 1

    @terminal
    def nothing_is_left(self) -> bool:
        return len(self.members) == 0


class PartialReads(Model):
    """Reads that are only defined where what stands before them is true."""

    ITEMS: ClassVar[int] = 2

    chosen: Item | None = None
    hits: Map[Item, Bit] = Map(0)
    queue: Annotated[Seq[bool], Length(1)] = Seq()

    @action
    def choose(self, item: Item) -> None:
        require(self.chosen is None)
        self.chosen = item

    @action
    def hit(self) -> None:
        require(self.chosen is not None and self.hits[self.chosen] < 1)
        chosen = given(self.chosen)
        self.hits[chosen] += 1

    @action
    def leave(self) -> None:
        require(self.chosen is not None)
        self.chosen = None

    @action
    def ask(self) -> None:
        require(len(self.queue) < 1)
        self.queue.append(True)

    @action
    def reply(self) -> None:
        require(len(self.queue) > 0 and self.queue[0])
        self.queue.pop_first()

    @invariant
    def what_is_chosen_is_counted(self) -> bool:
        return self.chosen is None or 0 <= self.hits[self.chosen] <= 1

    @invariant
    def every_question_is_true(self) -> bool:
        return (
            all(0 <= index < len(self.queue) and self.queue[index] for index in range(1))
            or len(self.queue) == 0
        )


class Attempt(Record):
    number: Two
    urgent: bool


class Job(Record):
    owner: Bit
    attempt: Attempt


class NarrowedOption(Model):
    """A record under an option, replaced two levels down."""

    slot: Job | None = None

    @action
    def open(self, owner: Bit) -> None:
        require(self.slot is None)
        self.slot = Job(owner, Attempt(0, urgent=False))

    @action
    def again(self) -> None:
        job = given(self.slot)
        require(job.attempt.number < 2)
        self.slot = replace(
            job, attempt=replace(job.attempt, number=job.attempt.number + 1, urgent=job.owner == 1)
        )

    @action
    def close(self) -> None:
        if self.slot is not None and self.slot.attempt.number == 2:
            self.slot = None
        else:
            disabled()

    @invariant
    def only_the_second_owner_is_urgent(self) -> bool:
        return self.slot is None or not self.slot.attempt.urgent or self.slot.owner == 1

    @reachable
    def a_last_attempt_is_made(self) -> bool:
        return self.slot is not None and self.slot.attempt.number == 2


class Timer(Record):
    left: Annotated[int, Countdown(2)]
    age: Annotated[int, Elapsed(3)]


class RestingClocks(Model):
    """Clocks in a record, in a map and under an option, each resting at its own end."""

    ITEMS: ClassVar[int] = 2

    timer: Timer = Timer(2, 0)
    ages: Map[Item, Annotated[int, Elapsed(1)]] = Map(0)
    wait: Annotated[int, Countdown(1)] | None = None

    @tick
    def second(self) -> None:
        elapse(self)

    @action
    def arm(self) -> None:
        require(self.wait is None)
        self.wait = 1

    @invariant
    def what_is_left_and_what_has_passed_add_up(self) -> bool:
        return self.timer.left + self.timer.age == 2 or self.timer.left == 0


class EarlyReturns(Model):
    """A path that returns after its changes, and guards on the other path; a helper that returns early."""

    light: Light = Light.RED
    turns: Two = 0

    def settle(self) -> None:
        if self.turns == 1:
            self.turns = 2
            return
        self.turns += 1

    @action
    def press(self) -> None:
        if self.light is Light.RED:
            self.light = Light.GREEN
            return
        require(self.turns < 2)
        self.settle()
        self.light = Light.RED


class TwoEffectsOnOneCell(Model):
    """Two keys that may be one: the second effect reads what the first wrote."""

    ITEMS: ClassVar[int] = 2

    cells: Map[Item, Two] = Map(0)

    @action
    def both(self, one: Item, other: Item) -> None:
        self.cells[one] = 1
        self.cells[other] = min(self.cells[other] + 1, 2)


class SwapThroughALocal(Model):
    """A local holds the value, not the variable."""

    left: Two = 0
    right: Two = 1

    @action
    def swap(self) -> None:
        kept = self.left
        self.left = self.right
        self.right = kept

    @action
    def turn(self) -> None:
        self.left = (self.left + 1) % 3

    @invariant(on=swap)
    def a_swap_loses_nothing(self, before: Self) -> bool:
        return self.left == before.right and self.right == before.left


class NegativeDivision(Model):
    """`//` floors and `%` is never negative: -7 // 2 is -4, and -7 % 2 is 1."""

    number: Annotated[int, Between(-7, 7)] = -7

    @action
    def halve(self) -> Bit:
        require(self.number < -1)
        rest = self.number % 2
        self.number = self.number // 2
        return rest

    @invariant(on=halve)
    def the_answer_is_the_rest(self, before: Self, answer: Bit) -> bool:
        return before.number == 2 * self.number + answer and answer == (1 if before.number == -7 else 0)

    @terminal
    def it_rests(self) -> bool:
        return self.number == -1


class WriteThenRead(Model):
    """A cell is written under one key and read under another that may be the same, in one step."""

    ITEMS: ClassVar[int] = 2

    cells: Map[Item, Bit] = Map(0)
    at: Item = 0
    last: Bit = 0

    @action
    def write(self, item: Item) -> None:
        self.cells[self.at] = 1
        self.last = self.cells[item]
        self.at = item


class FullQueue(Model):
    """Between the two effects the sequence is longer than its Length; where the step ends it is not."""

    queue: Annotated[Seq[Bit], Length(2)] = Seq([0, 0])

    @action
    def push(self, bit: Bit) -> Bit:
        self.queue.append(bit)
        return self.queue.pop_first()

    @invariant(on=push)
    def first_in_is_first_out(self, before: Self, bit: Bit, answer: Bit) -> bool:
        return answer == before.queue[0] and self.queue[0] == before.queue[1] and self.queue[1] == bit


class ThereAndBack(Model):
    """A value outside its domain in the middle of a step is nothing; at its end it is a violation."""

    number: Two = 0

    @action
    def step(self) -> None:
        self.number += 5
        self.number -= 4


class CopiedCollection(Model):
    """A whole collection is assigned as a value: a change of the copy leaves the original alone."""

    ITEMS: ClassVar[int] = 2

    original: Map[Item, bool] = Map(False)
    copy: Map[Item, bool] = Map(False)

    @action
    def set(self, item: Item) -> None:
        require(not self.original[item])
        self.original[item] = True

    @action
    def take_but(self, item: Item) -> None:
        self.copy = self.original
        self.copy[item] = False

    @invariant(on=take_but)
    def the_original_is_left_alone(self, before: Self) -> bool:
        return all(self.original[item] == before.original[item] for item in self.original)


class CopiedSequence(Model):
    """Likewise for a sequence and a set: what is assigned is what stood there before the step."""

    ITEMS: ClassVar[int] = 2

    old: Annotated[Seq[Bit], Length(2)] = Seq()
    new: Annotated[Seq[Bit], Length(2)] = Seq()
    was: Set[Item] = Set()
    now: Set[Item] = Set()

    @action
    def grow(self) -> None:
        require(len(self.new) < 2)
        self.old = self.new
        self.new.append(len(self.new))
        self.was = self.now
        self.now.add(len(self.old))

    @invariant
    def the_old_one_is_one_behind(self) -> bool:
        return len(self.old) == max(len(self.new) - 1, 0) == len(self.was) == max(len(self.now) - 1, 0)

    @terminal
    def it_is_full(self) -> bool:
        return len(self.new) == 2


class BoundInABranch(Model):
    """One way through the action is cut, the other is not."""

    number: Annotated[int, Upto(5)] = 0

    @action
    def count(self, quick: bool) -> None:
        require(self.number < 5)
        if quick:
            bound(self.number < 2)
        self.number += 1

    @terminal
    def it_is_counted(self) -> bool:
        return self.number == 5


class OnlySelfLoopsBreakIt(Model):
    """A step invariant is judged on steps that change nothing, too."""

    lamp: bool = False

    @action
    def flip(self) -> None:
        self.lamp = not self.lamp

    @action
    def stay(self) -> None:
        self.lamp = self.lamp

    @invariant
    def something_moves(self, before: Self) -> bool:
        return self.lamp != before.lamp


class StartsInSeveralStates(Model):
    """The initial action gives a set: two of its four instances are off, and two lead to one state."""

    first: Bit = 0
    second: Bit = 0

    @initial
    def start(self, one: Two, other: Bit) -> None:
        require(one != 1)
        self.first = one // 2
        self.second = 1 if one == 0 else other

    @action
    def meet(self) -> None:
        require(self.first != self.second)
        self.first = self.second

    @terminal
    def they_met(self) -> bool:
        return self.first == self.second


class Lower(Model):
    """The class above: what is free, and what may be taken."""

    ITEMS: ClassVar[int] = 2

    taken: Map[Item, bool] = Map(False)

    def free(self, item: Item) -> bool:
        return not self.taken[item]

    @action
    def take(self, item: Item) -> None:
        require(self.free(item))
        self.taken[item] = True

    @terminal
    def nothing_is_free(self) -> bool:
        return not any(self.free(item) for item in self.taken)


class Upper(Lower):
    """An override that asks the class above: the second item may only be taken after the first."""

    def free(self, item: Item) -> bool:
        if item == 0:
            return super().free(item)
        return super().free(item) and self.taken[0]
