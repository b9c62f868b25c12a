"""Tiny models whose graphs, walks, profiles, arguments and constants can be counted by hand."""

from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Model,
    Set,
    Upto,
    action,
    bound,
    implies,
    invariant,
    require,
    terminal,
)
from models_for_reports import Kind, Line


class Arguments(Model):
    """One parameter of each kind, for whoever writes arguments down and reads them back."""

    WRITERS: ClassVar[int] = 3
    on: bool = False

    @action
    def say(
        self,
        yes: bool,
        kind: Kind | None,
        writer: Annotated[int, Below("WRITERS")] | None,
        line: Line,
        other: Line | None,
    ) -> None:
        self.on = yes

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on


class Constants(Model):
    """One constant of each type."""

    WORKERS: ClassVar[int | None] = 2
    ASK: ClassVar[bool] = True
    KIND: ClassVar[Kind] = Kind.INTENT
    ORDER: ClassVar[tuple[int, int]] = (1, 2)
    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on


class Parallel(Model):
    """Two actions that do the same."""

    on: bool = False

    @action
    def press(self) -> None:
        self.on = not self.on

    @action
    def push(self) -> None:
        self.on = not self.on

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on


class Members(Model):
    """A set, whose braces mean something else where graphs are drawn."""

    members: Set[Kind] = Set()

    @action
    def enter(self, kind: Kind) -> None:
        self.members.add(kind)

    @invariant
    def has_no_more_than_there_are(self) -> bool:
        return len(self.members) <= 3


class Ending(Model):
    """Ends after two steps, and may."""

    done: Annotated[int, Upto(2)] = 0

    @action
    def work(self) -> None:
        require(self.done < 2)
        self.done += 1

    @terminal
    def all_is_done(self) -> bool:
        return self.done == 2

    @invariant
    def counts_from_zero(self) -> bool:
        return self.done >= 0


class Cutting(Model):
    """Goes on for ever, and is looked at for two steps."""

    done: Annotated[int, Upto(2)] = 0

    @action
    def work(self) -> None:
        bound(self.done < 2)
        self.done += 1

    @invariant
    def counts_from_zero(self) -> bool:
        return self.done >= 0


class Uneven(Model):
    """One action with one instance, and one with a hundred."""

    last: Annotated[int, Below(100)] = 0

    @action
    def one(self) -> None:
        self.last = 0

    @action
    def many(self, number: Annotated[int, Below(100)]) -> None:
        self.last = number

    @invariant
    def counts_from_zero(self) -> bool:
        return self.last >= 0


class Idle(Model):
    """Guards of which two never decide, and a variable that only repeats another."""

    level: Annotated[int, Upto(2)] = 0
    copy: Annotated[int, Upto(2)] = 0

    def below(self, limit: Annotated[int, Upto(3)]) -> bool:
        return self.level < limit

    @action
    def rise(self) -> None:
        require(self.below(2) and self.copy < 2)
        require(self.level < 3)
        self.level += 1
        self.copy = self.level

    @action
    def fall(self) -> None:
        require(self.level > 0)
        self.level = 0
        self.copy = 0

    @invariant
    def they_are_equal(self) -> bool:
        return self.level == self.copy


class Still(Model):
    """Nothing can happen, and nothing need."""

    on: bool = False

    @action
    def switch(self) -> None:
        require(self.on)
        self.on = False

    @terminal
    def it_is_off(self) -> bool:
        return not self.on

    @invariant
    def it_stays_off(self) -> bool:
        return not self.on


class Promise(Model):
    """A helper with a premise, for a model in another file."""

    level: Annotated[int, Upto(2)] = 0

    def is_kept(self) -> bool:
        return implies(self.level > 2, self.level == 0)

    @action
    def move(self, level: Annotated[int, Upto(2)]) -> None:
        self.level = level

    @invariant
    def counts_from_zero(self) -> bool:
        return self.level >= 0
