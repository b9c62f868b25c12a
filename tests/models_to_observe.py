"""A tank whose logs are small enough to be judged by hand."""

from enum import Enum
from typing import Annotated, ClassVar

from falsework import (
    Below,
    Length,
    Map,
    Model,
    Record,
    Seq,
    Upto,
    action,
    bound,
    internal,
    invariant,
    require,
)

Colour = Enum("Colour", "RED BLUE")
Level = Annotated[int, Upto("CAP")]


class Mark(Record):
    """What is noted at a drain."""

    colour: Colour
    level: Level


class Tank(Model):
    """Water drips in unseen, and is drained by answers that tell how much is left."""

    CAP: ClassVar[int] = 6

    level: Level = 0
    valve: bool = False
    drained: Map[Colour, Level] = Map(0)
    marks: Annotated[Seq[Mark], Length("2")] = Seq()

    @internal
    def drip(self) -> None:
        require(self.level < self.CAP)
        self.level += 1

    @action
    def drain(self, amount: Annotated[int, Below("4")]) -> Level:
        require(self.level >= amount)
        self.level -= amount
        return self.level

    @action
    def turn(self) -> bool:
        self.valve = not self.valve
        return self.valve

    @action
    def mark(self, colour: Colour) -> Colour | None:
        require(len(self.marks) < 2)
        self.marks.append(Mark(colour, self.level))
        self.drained[colour] = self.level
        return colour if self.valve else None

    @action
    def overflow(self) -> None:
        bound(self.level < 2)
        self.level = 0

    @invariant
    def nothing_is_marked_thrice(self) -> bool:
        return len(self.marks) < 3


class WatchedTank(Tank):
    """The same, where the water can break what is asked of it."""

    @invariant
    def the_tank_is_never_full(self) -> bool:
        return self.level < self.CAP

    @invariant(on=Tank.turn)
    def nobody_turns_at_five(self) -> bool:
        return self.level != 5


class SmallTank(Tank):
    """Few states, so that all that it can answer is soon known."""

    CAP: ClassVar[int] = 2
