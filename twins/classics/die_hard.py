"""How water is measured wrongly.

Four gallons come only of a pour that stops when the jug is full: who cannot do that never has them.
"""

from __future__ import annotations

from falsework.language import twin, values_stay_in_domain
from falsework.models.classics.die_hard import DieHard


# Shortest: fill_big, pour_big_into_small.
@twin(breaks={values_stay_in_domain: 2, DieHard.the_wanted_gallons_are_measured: None})
class PourerWhoDoesNotStop(DieHard):
    """All the water is poured, whatever room there is for it."""

    def poured(self, water: int, room: int) -> int:
        return water


# Shortest: fill_big, pour_big_into_small, after which the big jug is held upside down.
@twin(breaks={DieHard.pouring_loses_no_water: 2, DieHard.the_wanted_gallons_are_measured: None})
class RestIsThrownAway(DieHard):
    """What finds no room in the other jug is poured on the ground."""

    def left(self, water: int, poured: int) -> int:
        return 0


# Shortest: fill_big, pour_big_into_small leaves 2 and 3 gallons.
@twin(breaks={DieHard.some_jug_is_full_or_empty: 2, DieHard.the_wanted_gallons_are_measured: None})
class PourerByEye(DieHard):
    """A gallon is held back for fear of spilling it, so that nobody knows how much either jug holds."""

    def poured(self, water: int, room: int) -> int:
        return max(min(water, room) - 1, 0)


# Every amount is a sum and difference of threes and sixes, and four is no multiple of three.
@twin(breaks={DieHard.the_wanted_gallons_are_measured: None})
class JugsWithACommonDivisor(DieHard):
    """Jugs of three and six gallons are brought, which measure only multiples of three."""

    BIG = 6
