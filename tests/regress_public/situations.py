"""Models of situations in which other checkers were reported to be wrong; the tests beside it say how."""

import itertools
import random
from enum import Enum
from typing import Annotated, Self

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
    given,
    initial,
    invariant,
    reachable,
    require,
)

Bit = Annotated[int, Upto(1)]
Process = Annotated[int, Below(2)]
Payload = Annotated[int, Between(1, 2)]


class Letter(Enum):
    A = 0
    B = 1


class Phase(Enum):
    IDLE = 0
    HOLDS = 1
    DONE = 2


# --- states ------------------------------------------------------------------------------------------


class GrowingSet(Model):
    """A letter is added, whether or not it is there."""

    members: Set[Letter] = Set()

    @action
    def add(self, letter: Letter) -> None:
        self.members.add(letter)

    @invariant
    def two_letters_are_all(self) -> bool:
        return len(self.members) <= 2


class AbsentPayload(Model):
    """A job is there or it is not: what an absent one carried is no part of the state."""

    job: Payload | None = None
    queue: Annotated[Seq[Payload], Length(1)] = Seq()

    @action
    def take(self, payload: Payload) -> None:
        require(self.job is None)
        self.job = payload
        self.queue.append(payload)

    @action
    def finish(self) -> None:
        require(self.job is not None)
        self.job = None
        self.queue.pop_first()

    @invariant
    def the_queue_holds_the_job(self) -> bool:
        return len(self.queue) == (0 if self.job is None else 1)


class PayloadLeftBehind(Model):
    """The same, but the model itself keeps what was carried: that it meant to is told by the counts."""

    busy: bool = False
    payload: Annotated[int, Upto(2)] = 0

    @action
    def take(self, payload: Payload) -> None:
        require(not self.busy)
        self.busy = True
        self.payload = payload

    @action
    def finish(self) -> None:
        require(self.busy)
        self.busy = False

    @invariant
    def a_busy_one_carries(self) -> bool:
        return self.payload > 0 or not self.busy


class NoStart(Model):
    """Its initial action contradicts itself."""

    number: Bit = 0

    @initial
    def start(self, number: Bit) -> None:
        require(number == 0 and number == 1)
        self.number = number

    @action
    def stay(self) -> None:
        self.number = self.number

    @invariant
    def all_is_well(self) -> bool:
        return self.number < 0


class WhoseTurn(Model):
    """Two states alike but for whose turn it is; from one of them alone the bug is reached."""

    turn: Process = 0
    fired: bool = False

    @action
    def hand_over(self) -> None:
        require(not self.fired)
        self.turn = 1 - self.turn

    @action
    def fire(self) -> None:
        require(self.turn == 1 and not self.fired)
        self.fired = True

    @invariant
    def nobody_fires(self) -> bool:
        return not self.fired


class Alike(Record):
    """Every value has the same hash."""

    number: Annotated[int, Upto(6)]

    def __hash__(self) -> int:
        return 0


class EveryHashCollides(Model):
    """A state is what it is, not what its hash says."""

    alike: Alike = Alike(0)

    @action
    def step(self) -> None:
        require(self.alike.number < 6)
        self.alike = Alike(self.alike.number + 1)

    @invariant
    def six_is_never_reached(self) -> bool:
        return self.alike.number < 6


class CountsToThree(Model):
    """A violation three steps deep."""

    number: Annotated[int, Upto(5)] = 0

    @action
    def step(self) -> None:
        require(self.number < 5)
        self.number += 1

    @invariant
    def three_is_never_reached(self) -> bool:
        return self.number != 3


# --- numbers -------------------------------------------------------------------------------------------


class WideNumbers(Model):
    """Products beyond sixty-four bits."""

    number: Annotated[int, Upto(4_000_000_000)] = 0

    @action
    def fill(self) -> None:
        self.number = 4_000_000_000

    def power(self) -> int:
        power = 1
        for _ in range(100):
            power = power * 2
        return power

    @invariant
    def the_square_is_exact(self) -> bool:
        return self.number * self.number in (0, 16_000_000_000_000_000_000)

    @invariant
    def a_power_of_two_is_positive(self) -> bool:
        return self.power() > 0 and self.power() // 2 + self.number > self.number

    @reachable
    def the_square_is_wide(self) -> bool:
        return self.number * self.number > 15_999_999_999_999_999_999


class FlooredDivision(Model):
    """Division of a negative number floors."""

    number: Annotated[int, Between(-7, 7)] = 7

    @action
    def turn(self) -> None:
        self.number = -self.number

    @invariant
    def the_quotient_floors(self) -> bool:
        return self.number // 2 == (-4 if self.number == -7 else 3)

    @invariant
    def the_rest_is_one(self) -> bool:
        return self.number % 2 == 1


class OneMoreIsMore(Model):
    """True of numbers, false of numbers that wrap: at the end of its domain a number is just outside."""

    number: Annotated[int, Upto(7)] = 0

    @action
    def step(self) -> None:
        self.number += 1

    @invariant
    def one_more_is_more(self) -> bool:
        return self.number + 1 > self.number


class FarAway(Model):
    """A violation that no search of a few seconds can reach."""

    number: Annotated[int, Upto(1_000_000_000)] = 0

    @action
    def step(self) -> None:
        self.number += 1

    @invariant
    def a_far_number_is_never_reached(self) -> bool:
        return self.number != 123_456_789


class FarArgument(Model):
    """The same number, this time as one of a billion arguments."""

    number: Annotated[int, Upto(1_000_000_000)] = 0

    @action
    def put(self, number: Annotated[int, Upto(1_000_000_000)]) -> None:
        self.number = number

    @invariant
    def a_far_number_is_never_reached(self) -> bool:
        return self.number != 123_456_789


# --- verdicts ------------------------------------------------------------------------------------------


class NegativeFromTheStart(Model):
    """A counter that is claimed to be negative, and starts at 0."""

    number: Annotated[int, Upto(3)] = 0

    @action
    def step(self) -> None:
        require(self.number < 3)
        self.number += 1

    @invariant
    def it_is_negative(self) -> bool:
        return self.number < 0


DICE = random.Random(7)  # noqa: S311  the point is that a model rolls it
TICKET = itertools.count()


class RollsDice(Model):
    """A choice that is no parameter: the same step taken twice gives two results."""

    number: Annotated[int, Upto(999)] = 0

    @action
    def roll(self) -> None:
        self.number = DICE.randrange(1000)

    @invariant
    def it_is_small(self) -> bool:
        return self.number < 1000


class StartsByDice(Model):
    """The same where the initial state is chosen."""

    number: Annotated[int, Upto(999)] = 0

    @initial
    def start(self) -> None:
        self.number = DICE.randrange(1000)

    @action
    def stay(self) -> None:
        self.number = self.number

    @invariant
    def it_is_small(self) -> bool:
        return self.number < 1000


class ChangesItsMind(Model):
    """A predicate that answers yes and no in turn."""

    lamp: bool = False

    @action
    def flip(self) -> None:
        self.lamp = not self.lamp

    @invariant
    def every_other_time(self) -> bool:
        return next(TICKET) % 2 == 0


class ManyWaysWrong(Model):
    """Ten ways into one violation and one way into another."""

    way: Annotated[int, Upto(10)] | None = None

    @action
    def go(self, way: Annotated[int, Upto(10)]) -> None:
        require(self.way is None)
        self.way = way

    @action
    def back(self) -> None:
        given(self.way)
        self.way = None

    @invariant
    def no_way_is_gone(self) -> bool:
        return self.way is None or self.way == 0

    @invariant
    def the_way_back_is_not_gone(self, before: Self) -> bool:
        return before.way is None or self.way is not None


# --- determinism ---------------------------------------------------------------------------------------


class SevenDeep(Model):
    """Sets, maps and members in a few thousand states, and a violation seven steps deep."""

    phases: Map[Letter, Phase] = Map(Phase.IDLE)
    seen: Set[tuple[Letter, Phase]] = Set()
    row: Annotated[Seq[Letter], Length(3)] = Seq()

    @action
    def move(self, letter: Letter, phase: Phase) -> None:
        require(self.phases[letter] is not phase)
        self.phases[letter] = phase
        self.seen.add((letter, phase))

    @action
    def push(self, letter: Letter) -> None:
        require(len(self.row) < 3 and all(known is not letter for known in self.row))
        self.row.append(letter)

    @invariant
    def not_all_is_seen_and_pushed(self) -> bool:
        return len(self.seen) < 6 or len(self.row) < 1
