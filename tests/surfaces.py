"""The lock's other surfaces: what was recorded of it, stand-ins of the kinds that a gate may meet.

The snapshots show the holder and nothing of the count, as a journal might. Of the lock's three invariants two
speak of one action's steps and one reads the count, so `Latch` is what is judged here: by hand, at each.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Self

from falsework.conformance import runtime_twin
from falsework.language import Below, Model, action, invariant, require, terminal, twin

Turn = Annotated[int, Below("TURNS")]
Snapshots = list[Mapping[str, object]]


class Latch(Model):
    """Numbers are handed out in turn, each once."""

    TURNS: ClassVar[int] = 3

    last: Turn = 0
    open: bool = False
    hidden: bool = False  # no record shows it

    @action
    def advance(self) -> None:
        require(self.last < self.TURNS - 1)
        self.last += 1
        self.open = True

    @action
    def shut(self) -> None:
        require(self.open)
        self.open = False
        self.hidden = not self.hidden

    @invariant
    def nothing_is_open_before_the_first(self) -> bool:
        return self.last > 0 or not self.open

    @invariant
    def numbers_never_go_back(self, before: Self) -> bool:
        return self.last >= before.last

    @invariant(on=shut)
    def shutting_takes_no_number(self, before: Self) -> bool:
        return self.last == before.last

    @invariant
    def the_hidden_stays_hidden(self) -> bool:
        return not self.hidden or self.last > 0

    @terminal
    def all_are_handed_out(self) -> bool:
        return self.last == self.TURNS - 1 and not self.open


@twin(breaks={Latch.nothing_is_open_before_the_first: 1})
class OpensWithoutANumber(Latch):
    """The first number is not handed out."""

    def advance(self) -> None:
        require(self.last < self.TURNS - 1 and not self.open)
        self.last += self.last > 0
        self.open = True


@twin(breaks={Latch.numbers_never_go_back: 2, Latch.shutting_takes_no_number: 2})
class ShutsForGood(Latch):
    """Shutting begins again, and the second state of that path is no longer followed."""

    def shut(self) -> None:
        require(self.open)
        self.open, self.last = False, 0


@twin(breaks={Latch.the_hidden_stays_hidden: 0})
class ShownAtOnce(Latch):
    """It starts where it should have come."""

    hidden = True


def told(*pairs: tuple[int, bool]) -> Snapshots:
    return [{"last": last, "open": is_open} for last, is_open in pairs]


class AuditedLatch:
    """Two histories, as a journal would show them."""

    model: ClassVar[str] = f"{__name__}:Latch"
    surface: ClassVar[str] = "audited"
    recorded: ClassVar[dict[str, Snapshots]] = {
        "the first": told((0, False), (1, True), (1, False), (2, True)),
        "the second": told((0, False), (1, True)),
    }

    def histories(self) -> Iterator[tuple[str, Snapshots]]:
        yield from self.recorded.items()


@runtime_twin(breaks={Latch.numbers_never_go_back: 3})
class BackToTheFirst(AuditedLatch):
    """The third record has the first one's number again."""

    recorded = {"only": told((0, False), (1, True), (0, False))}


@runtime_twin(breaks={Latch.nothing_is_open_before_the_first: 1, "values_stay_in_domain": 2})
class OpenFromTheStart(AuditedLatch):
    """The first record is open already; the second has a number that is none."""

    recorded = {"odd": told((0, True), (3, True))}


class ElsewhereLatch(AuditedLatch):
    """The same records on a server that has to be named."""

    surface = "audited elsewhere"
    needs: ClassVar[tuple[str, ...]] = ("LATCH_SERVER",)
