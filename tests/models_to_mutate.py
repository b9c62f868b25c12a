"""Small models whose guards are left out one by one; what that does is argued in the tests."""

from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Length,
    Map,
    Model,
    Record,
    Seq,
    Set,
    Upto,
    action,
    configuration,
    disabled,
    given,
    initial,
    invariant,
    reachable,
    replace,
    require,
    terminal,
)

Cell = Annotated[int, Below("CELLS")]


class Door(Model):
    """A door that is locked only while it is open, so that nobody is ever stuck."""

    shut: bool = False
    bolted: bool = False

    @action
    def close(self) -> None:
        require(not self.shut and not self.bolted)
        self.shut = True

    @action
    def open(self) -> None:
        require(self.shut and not self.bolted)
        self.shut = False

    @action
    def bolt(self) -> None:
        require(not self.shut)
        require(not self.bolted)
        self.bolted = True

    @action
    def unbolt(self) -> None:
        require(self.bolted and not self.shut)
        self.bolted = False

    @invariant
    def the_door_is_shut_or_open(self) -> bool:
        return self.shut in (False, True)


class Stairs(Model):
    """Up and down three steps: one guard says what another has said, and one holds back what nobody minds."""

    level: Annotated[int, Upto("3")] = 0
    lamp: bool = False

    def below(self, step: int) -> bool:
        return self.level < step

    @action
    def rise(self) -> None:
        require(self.below(2) and self.level < 3)
        self.level += 1

    @action
    def fall(self) -> None:
        require(self.level > 0)
        self.level -= 1

    @action
    def switch(self) -> None:
        require(self.level > 0)
        self.lamp = not self.lamp

    @invariant
    def nobody_stands_on_the_top(self) -> bool:
        return self.level < 3


class Shelf(Model):
    """Options and a sequence: without its guard, each action meets nothing where it expects something."""

    CELLS: ClassVar[int] = 2

    chosen: Cell | None = None
    taken: Map[Cell, bool] = Map(False)
    line: Annotated[Seq[Cell], Length("2")] = Seq()

    @action
    def choose(self, cell: Cell) -> None:
        if self.chosen is not None:
            disabled()
        self.chosen = cell

    @action
    def take(self) -> None:
        cell = given(self.chosen)
        require(not self.taken[cell])
        self.taken[cell] = True
        self.chosen = None

    @action
    def queue(self, cell: Cell) -> None:
        require(len(self.line) < 2)
        self.line.append(cell)

    @action
    def serve(self) -> None:
        require(len(self.line) > 0)
        self.line.pop_first()

    @invariant
    def nothing_is_chosen_twice(self, before: "Shelf") -> bool:
        return before.chosen is None or self.chosen in (None, before.chosen)


class Start(Model):
    """Begins anywhere but at the end, and stops there."""

    place: Annotated[int, Upto("3")] = 0

    @initial
    def begin(self, place: Annotated[int, Upto("3")]) -> None:
        require(place < 3)
        self.place = place

    def may_go(self) -> None:
        require(self.place < 3)

    @action
    def go(self) -> None:
        self.may_go()
        self.place += 1

    @action
    def jump(self) -> None:
        self.may_go()
        self.place = 3

    @terminal
    def the_end(self) -> bool:
        return self.place == 3

    @invariant
    def nobody_goes_back(self, before: "Start") -> bool:
        return self.place >= before.place


class Returns(Start):
    """Goes back after it has come, and not on from 1."""

    def may_go(self) -> None:
        super().may_go()
        require(self.place != 1)

    @action
    def back(self) -> None:
        require(self.place > 1)
        self.place -= 1


class Off(Model):
    """What stands behind a guard that is never true is not looked at, and could not be lowered."""

    ON: ClassVar[bool] = False

    level: Annotated[int, Upto("3")] = 0

    @action
    def turn(self) -> None:
        self.level = 3 - self.level

    @action
    def climb(self) -> None:
        require(self.ON)
        while self.level < 3:
            self.level += 1

    @invariant
    def the_level_is_at_an_end(self) -> bool:
        return self.level in (0, 3)


class Unguarded(Model):
    """Nothing holds it back."""

    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on

    @invariant
    def it_is_on_or_off(self) -> bool:
        return self.on in (False, True)


class Faulty(Model):
    """At fault by itself."""

    line: Annotated[Seq[bool], Length("1")] = Seq()

    @action
    def serve(self) -> None:
        require(True)
        self.line.pop_first()


class Sum(Model):
    """A hundred states, and ten thousand without the guard."""

    TOP: ClassVar[int] = 99

    left: Annotated[int, Upto("TOP")] = 0
    right: Annotated[int, Upto("TOP")] = 0

    @action
    def more(self) -> None:
        self.left = 0 if self.left == self.TOP else self.left + 1

    @action
    def other(self) -> None:
        require(self.left < 0)
        self.right = 0 if self.right == self.TOP else self.right + 1

    @invariant
    def both_are_numbers(self) -> bool:
        return self.left >= 0 and self.right >= 0


class Steeper(Stairs):
    """Broken by itself: what it breaks by itself kills no mutant."""

    def below(self, step: int) -> bool:
        return True


class Parcel(Record):
    """What is under way: how many stops it has made, and whether it was opened."""

    stops: Annotated[int, Upto("3")] = 0
    opened: bool = False


class Post(Model):
    """A parcel makes two stops at most, and is opened at the second."""

    CELLS: ClassVar[int] = 2

    parcel: Parcel | None = None
    kept: Set[Cell] = Set()

    @action
    def send(self) -> None:
        require(self.parcel is None)
        self.parcel = Parcel(stops=0)

    @action
    def stop(self) -> None:
        parcel = given(self.parcel)
        require(parcel.stops < 2)
        opened = parcel.stops == 1
        self.parcel = replace(parcel, stops=parcel.stops + 1, opened=opened)

    @action
    def keep(self, cell: Cell) -> None:
        parcel = given(self.parcel)
        require(parcel.opened and cell not in self.kept)
        self.kept.add(cell)
        self.parcel = None

    @action
    def lose(self) -> None:
        """Nobody asks that a parcel may be lost."""
        require(self.parcel is not None)
        self.parcel = None

    @invariant
    def it_is_opened_at_the_second_stop(self) -> bool:
        return self.parcel is None or self.parcel.opened == (self.parcel.stops == 2)

    @reachable
    def everything_is_kept(self) -> bool:
        return len(self.kept) == 2


@configuration(holds=True)
class OneCell(Shelf):
    """A shelf with one cell."""

    CELLS = 1


class Wide(Model):
    """Counts round, in a configuration further than one looks."""

    TOP: ClassVar[int] = 9

    at: Annotated[int, Upto("TOP")] = 0

    @action
    def go(self) -> None:
        self.at = (self.at + 1) % (self.TOP + 1)

    @invariant(on=go)
    def it_goes(self, before: "Wide") -> bool:
        return self.at != before.at


@configuration(holds=True)
class Wider(Wide):
    """Too far."""

    TOP = 999


@configuration(holds=True)
class Narrow(Wide):
    """Nearer."""

    TOP = 3
