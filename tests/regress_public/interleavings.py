"""Models of processes whose steps interleave, where other checkers were reported to lose or invent some."""

from enum import Enum
from typing import Annotated, ClassVar

from falsework import Below, Between, Map, Model, Upto, action, invariant, reachable, require, terminal

Bit = Annotated[int, Upto(1)]
Process = Annotated[int, Below(2)]


class Phase(Enum):
    IDLE = 0
    HOLDS = 1
    DONE = 2


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
