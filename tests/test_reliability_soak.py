"""Acts by the thousand, with kills, stops and lost replies, and two sweeping nodes: every act accounted for.

A journal holds five thousand acts, since every process that starts reads it whole; the next begins another.
"""

import os
from collections.abc import Iterator

import pytest

from reliability.nursery import Nursery
from reliability.scenarios import Places
from reliability.soak import Figures, soaked
from stores import BOTH, placed

ACTS_OF_A_JOURNAL = 5_000


@pytest.fixture(params=BOTH)
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    with placed(request.param) as place:
        yield Places(place.folder, os.environ["FALSEWORK_POSTGRES"] if place.kind == "postgres" else "")


def soak(places: Places, acts: int) -> Figures:
    """So many acts, and not one of them without its account."""
    total = Figures()
    with Nursery() as nursery:
        for seed in range(-(-acts // ACTS_OF_A_JOURNAL)):
            with places.fresh() as place:
                total.add(soaked(place, nursery, min(acts - total.tried, ACTS_OF_A_JOURNAL), seed))
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
    total = soak(places, 100_000)
    assert set(total.faults) == {"killed", "stopped", "reply lost"}
    words = ("paid", "refused", "paid by the sweep", "abandoned by the sweep", "escalated by the sweep")
    assert set(words) <= set(total.states)
