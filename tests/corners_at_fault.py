"""Models that fault at a corner: what a fault hides, and where a predicate is judged at all."""

from typing import Annotated

from falsework import (
    Between,
    Length,
    Model,
    Seq,
    Upto,
    action,
    initial,
    invariant,
    reachable,
    require,
    terminal,
)

Two = Annotated[int, Upto(2)]


class ReadPastTheEnd(Model):
    """The same read without its guard: a fault of the model."""

    queue: Annotated[Seq[bool], Length(1)] = Seq([True])

    @action
    def take(self) -> None:
        require(self.queue[0])
        self.queue.pop_first()


class FaultBesideAViolation(Model):
    """The same predicate faults after one step and is false after another: both are told."""

    row: Annotated[Seq[bool], Length(2)] = Seq([True, False])
    at: Annotated[int, Between(-1, 1)] = 0

    @action
    def put(self, at: Annotated[int, Between(-1, 1)]) -> None:
        self.at = at

    @invariant
    def what_is_there_is_true(self) -> bool:
        return self.row[self.at]


class WitnessOnceReached(Model):
    """Past the level that reaches it a witness is not judged; a terminal only where nothing is enabled."""

    row: Annotated[Seq[bool], Length(1)] = Seq([True])
    number: Two = 0

    @action
    def step(self) -> None:
        require(self.number < 2)
        self.number += 1

    @reachable
    def the_number_is_in_the_row(self) -> bool:
        return self.row[self.number]

    @terminal
    def the_number_is_two_more(self) -> bool:
        return self.row[self.number - 2]


class FaultOfAnotherWitness(WitnessOnceReached):
    """The same, and a witness that is never reached and faults in the second step."""

    @reachable
    def the_number_before_is_not_in_the_row(self) -> bool:
        return self.number > 0 and not self.row[self.number - 1]


class FaultAtTheStart(Model):
    """One of three starts faults; the others are started from all the same, and no step is taken."""

    row: Annotated[Seq[bool], Length(2)] = Seq([True, True])
    at: Two = 0

    @initial
    def start(self, at: Annotated[int, Between(-1, 1)]) -> None:
        require(self.row[at])
        self.at = at

    @action
    def step(self) -> None:
        self.at = 0
