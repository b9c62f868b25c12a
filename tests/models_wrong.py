"""Models that are defined wrongly, one mistake a class; nothing here can be run."""

from typing import Annotated, ClassVar

from falsework.language import Model, Upto, action, invariant, require


class GuardAfterAssignment(Model):
    """Counts first and asks afterwards."""

    count: Annotated[int, Upto(3)] = 0

    @action
    def rise(self) -> None:
        self.count += 1
        require(self.count < 3)

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class UnboundedInt(Model):
    """Counts for ever."""

    count: int = 0

    @action
    def rise(self) -> None:
        self.count += 1

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class MutableLocal(Model):
    """Keeps a list beside the state."""

    count: Annotated[int, Upto(3)] = 0

    @action
    def rise(self) -> None:
        require(self.count < 3)
        seen = [self.count]
        self.count = seen[0] + 1

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class Twice(Model):
    """The first copy."""

    TOP: ClassVar[int] = 3
    count: Annotated[int, Upto("TOP")] = 0

    @action
    def rise(self) -> None:
        require(self.count < self.TOP)
        self.count += 1

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0


class Twice(Model):  # type: ignore[no-redef]  # noqa: F811
    """The second copy, which hides the first."""

    TOP: ClassVar[int] = 2
    count: Annotated[int, Upto("TOP")] = 0

    @action
    def rise(self) -> None:
        require(self.count < self.TOP)
        self.count += 1

    @invariant
    def counts_from_zero(self) -> bool:
        return self.count >= 0
