"""A gauge that may be filled to its limit, and twins of it in every relation to what they declare."""

from typing import Annotated, ClassVar, Self

from falsework.language import (
    Model,
    Upto,
    action,
    configuration,
    deadlock,
    invariant,
    reachable,
    require,
    twin,
)


class Gauge(Model):
    """It is filled and drained by one, and never above its limit."""

    LIMIT: ClassVar[int] = 2
    EXTRA: ClassVar[int] = 0
    WATCHED: ClassVar[int] = 2

    level: Annotated[int, Upto("LIMIT + 1")] = 0

    def may_fill(self) -> bool:
        return self.level < self.LIMIT + self.EXTRA

    def highest(self) -> int:
        return self.LIMIT

    @action
    def fill(self) -> None:
        require(self.may_fill())
        self.level += 1

    @action
    def drain(self) -> None:
        require(self.level > 0)
        self.level -= 1

    @invariant
    def it_is_never_over(self) -> bool:
        return self.level <= self.highest()

    @invariant(on=drain)
    def it_drains_by_one(self, before: Self) -> bool:
        return self.level == before.level - 1

    @reachable
    def it_is_full(self) -> bool:
        return self.level == self.WATCHED


@configuration(breaks={Gauge.it_is_never_over: 3})
class Loose(Gauge):
    """One more than the limit is let in."""

    EXTRA = 1


@configuration(holds=True)
class WatchedTooHigh(Gauge):
    """The level that is watched for is never reached."""

    WATCHED = 3


@configuration(holds=True)
class LooseAndDenied(Gauge):
    """It says that it holds."""

    EXTRA = 1


@twin(breaks={Gauge.it_is_never_over: 3})
class Overfilled(Gauge):
    """Nobody looks at the level."""

    def may_fill(self) -> bool:
        return self.level <= self.LIMIT


@twin(breaks={Gauge.it_is_never_over: 3})
class OverfilledByAConstant(Gauge):
    """The limit is configured with a margin."""

    EXTRA = 1


@twin(breaks={Gauge.it_is_never_over: 3})
class NotWrong(Gauge):
    """It overrides a helper by itself."""

    def may_fill(self) -> bool:
        return super().may_fill()


@twin(breaks={Gauge.it_is_never_over: 3})
class WrongForAnotherReason(Gauge):
    """It drains whole, and declares that it fills too much."""

    def drain(self) -> None:
        require(self.level > 0)
        self.level = 0


@twin(breaks={Gauge.it_is_never_over: 4})
class WrongSooner(Gauge):
    """It is over at the third step."""

    def may_fill(self) -> bool:
        return self.level <= self.LIMIT


@twin(breaks={Gauge.it_is_never_over: 2})
class BentPredicate(Gauge):
    """What is asked is bent, and not what is done."""

    def highest(self) -> int:
        return self.LIMIT - 1


@twin(breaks={Gauge.it_is_full: None})
class NeverFull(Gauge):
    """It stops one short of its limit."""

    def may_fill(self) -> bool:
        return self.level < self.LIMIT - 1


@twin(breaks={Gauge.it_is_full: None, Gauge.it_drains_by_one: 3})
class StillFull(Gauge):
    """It drains whole, and is full as ever."""

    def drain(self) -> None:
        require(self.level > 0)
        self.level = 0


@twin(breaks={deadlock: 2})
class Stuck(Gauge):
    """A full gauge is not drained."""

    def drain(self) -> None:
        require(0 < self.level < self.LIMIT)
        self.level -= 1


@twin(breaks={Gauge.it_is_never_over: 0, Gauge.it_is_full: None})
class StartsOver(Gauge):
    """It is delivered too full."""

    level = 3


@twin(breaks={Gauge.it_drains_by_one: 3}, within=Loose)
class WithinALooseOne(Gauge):
    """The model itself does not hold there."""

    def drain(self) -> None:
        require(self.level > 0)
        self.level = 0
