"""The puzzle of the two jugs: water is measured with two jugs that bear no marks."""

from __future__ import annotations

from typing import Annotated, ClassVar

from falsework.language import Model, Upto, action, invariant, reachable


class DieHard(Model):
    """Two jugs are filled, emptied and poured into each other until one holds the wanted gallons."""

    SMALL: ClassVar[int] = 3
    BIG: ClassVar[int] = 5
    WANTED: ClassVar[int] = 4

    small: Annotated[int, Upto("SMALL")] = 0
    big: Annotated[int, Upto("BIG")] = 0

    def poured(self, water: int, room: int) -> int:
        """The gallons that pass from a jug into another one."""
        return min(water, room)

    def left(self, water: int, poured: int) -> int:
        """The gallons that stay behind in the jug that is poured from."""
        return water - poured

    @action
    def fill_small(self) -> None:
        self.small = self.SMALL

    @action
    def fill_big(self) -> None:
        self.big = self.BIG

    @action
    def empty_small(self) -> None:
        self.small = 0

    @action
    def empty_big(self) -> None:
        self.big = 0

    @action
    def pour_small_into_big(self) -> None:
        poured = self.poured(self.small, self.BIG - self.big)
        self.small = self.left(self.small, poured)
        self.big += poured

    @action
    def pour_big_into_small(self) -> None:
        poured = self.poured(self.big, self.SMALL - self.small)
        self.big = self.left(self.big, poured)
        self.small += poured

    @invariant
    def some_jug_is_full_or_empty(self) -> bool:
        return self.small in (0, self.SMALL) or self.big in (0, self.BIG)

    @invariant
    def pouring_loses_no_water(self, before: DieHard) -> bool:
        only_one_changed = self.small == before.small or self.big == before.big
        return only_one_changed or self.small + self.big == before.small + before.big

    @reachable
    def the_wanted_gallons_are_measured(self) -> bool:
        return self.WANTED in (self.small, self.big)
