"""Acts by the thousand, with kills, stops and lost replies, and two sweeping nodes: every act accounted for.

All of them are in one journal, however many: a process that starts asks it what stands open, and no more.
"""

import os
from collections.abc import Iterator

import pytest

from reliability.nursery import Nursery
from reliability.scenarios import Places
from reliability.soak import ACTS_OF_A_TURN, Figures, soaked
from stores import BOTH, placed

LONG_TURN, RARER = 1_000, 5
"""Of the long soak: acts that a worker begins before it is replaced, if it lives so long, which more do."""


@pytest.fixture(params=BOTH)
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    with placed(request.param) as place:
        yield Places(place.folder, os.environ["FALSEWORK_POSTGRES"] if place.kind == "postgres" else "")


def soak(places: Places, acts: int, turn: int = ACTS_OF_A_TURN, rarer: int = 1) -> Figures:
    """So many acts of one journal, and not one of them without its account."""
    with Nursery() as nursery, places.fresh() as place:
        total = soaked(place, nursery, acts, 1, turn, rarer)
    assert total.complaints == [], "\n".join(total.complaints)
    assert total.tried >= acts
    assert total.tried == total.states.total()
    return total


@pytest.mark.slow
def test_every_act_of_a_few_hundred_is_accounted_for_once(places: Places) -> None:
    total = soak(places, 600)
    assert total.faults["reply lost"] > 0
    assert total.faults["killed"] > 0


@pytest.mark.deep
def test_every_act_of_a_hundred_thousand_is_accounted_for_once(places: Places) -> None:
    total = soak(places, 100_000, LONG_TURN, RARER)
    print(total)  # noqa: T201  what the page of figures is written from
    assert set(total.faults) == {"killed", "stopped", "reply lost"}
    words = ("paid", "refused", "paid by the sweep", "abandoned by the sweep", "escalated by the sweep")
    assert set(words) <= set(total.states)
