"""Models of situations in which other checkers were reported to be wrong; the tests beside it say how."""

import itertools
import random
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
    given,
    initial,
    invariant,
    reachable,
    require,
    terminal,
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


# --- interleavings -------------------------------------------------------------------------------------


class LockedCounter(Model):
    """Two processes add one each under a lock; the counter's values look like the processes' names."""

    phase: Map[Process, Phase] = Map(Phase.IDLE)
    counter: Annotated[int, Upto(2)] = 0

    @action
    def lock(self, process: Process) -> None:
        require(self.phase[process] is Phase.IDLE and all(p is not Phase.HOLDS for p in self.phase.values()))
        self.phase[process] = Phase.HOLDS

    @action
    def add(self, process: Process) -> None:
        require(self.phase[process] is Phase.HOLDS)
        self.counter += 1
        self.phase[process] = Phase.DONE

    @invariant
    def every_addition_counts(self) -> bool:
        return self.counter == sum(1 for phase in self.phase.values() if phase is Phase.DONE)

    @terminal
    def both_are_done(self) -> bool:
        return all(phase is Phase.DONE for phase in self.phase.values())


class Escrow(Model):
    """A withdrawal looks at the escrow, a payment changes it: the two are not independent."""

    escrow: Annotated[int, Between(-1, 1)] = 1
    withdrawn: Annotated[int, Upto(2)] = 0
    pending: Annotated[int, Upto(2)] = 0
    signed: Annotated[int, Upto(2)] = 0

    @action
    def withdraw(self) -> None:
        require(self.escrow > 0 and self.withdrawn < 2)
        self.withdrawn += 1
        self.pending += 1

    @action
    def sign(self) -> None:
        require(self.pending > 0 and self.signed == 0)
        self.signed = self.pending
        self.pending = 0

    @action
    def pay(self) -> None:
        require(self.signed > 0)
        self.escrow -= self.signed
        self.signed = 0

    @invariant
    def the_escrow_covers_what_is_paid(self) -> bool:
        return self.escrow >= 0

    @terminal
    def nothing_is_left_to_do(self) -> bool:
        return self.pending == 0 and self.signed == 0 and self.escrow <= 0


class FiveBits(Model):
    """Bits that could be exchanged for each other."""

    bits: Map[Annotated[int, Below(5)], bool] = Map(False)

    @action
    def flip(self, bit: Annotated[int, Below(5)]) -> None:
        self.bits[bit] = not self.bits[bit]

    @invariant
    def some_bit_is_off(self) -> bool:
        return not all(self.bits.values())


class RedundantRead(Model):
    """A writer sets k, then v, then v back, then k back; a reader reads v, then k."""

    READS: ClassVar[bool] = True  # whether the writer reads k, to no effect, before its last write

    written: Annotated[int, Upto(5)] = 0
    k: Bit = 0
    v: Bit = 0
    seen_v: Bit | None = None
    seen_k: Bit | None = None

    @action
    def write(self) -> None:
        require(self.written < 5)
        if self.written == 0:
            self.k = 1
        elif self.written == 1:
            self.v = 1
        elif self.written == 2:
            self.v = 0
        elif self.written == 4:
            self.k = 0
        self.written += 1 if self.READS or self.written != 2 else 2

    @action
    def read(self) -> None:
        require(self.seen_k is None)
        if self.seen_v is None:
            self.seen_v = self.v
        else:
            self.seen_k = self.k

    @reachable
    def neither_is_seen(self) -> bool:
        return self.seen_v == 0 and self.seen_k == 0

    @reachable
    def only_k_is_seen(self) -> bool:
        return self.seen_v == 0 and self.seen_k == 1

    @reachable
    def only_v_is_seen(self) -> bool:
        return self.seen_v == 1 and self.seen_k == 0

    @reachable
    def both_are_seen(self) -> bool:
        return self.seen_v == 1 and self.seen_k == 1

    @invariant
    def k_is_read_last(self) -> bool:
        return self.seen_k is None or self.seen_v is not None

    @terminal
    def all_is_written_and_read(self) -> bool:
        return self.written == 5 and self.seen_k is not None


class BothOffer(Model):
    """A rendezvous of two who both offer and never accept."""

    accepts: Map[Process, bool] = Map(False)
    met: bool = False

    @action
    def meet(self, process: Process) -> None:
        require(self.accepts[1 - process] and not self.met)
        self.met = True

    @invariant
    def nobody_meets_alone(self) -> bool:
        return not self.met or any(self.accepts.values())


class Spins(BothOffer):
    """The same, but each may go on offering: a step that changes nothing is a step."""

    @action
    def offer(self, process: Process) -> None:
        require(not self.accepts[process])
        self.met = self.met


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
