"""SIGSTOP of real processes past their lease: the journal's fence lets no closing land twice, on both stores.

The clocks stand in a file that the test moves, so that nobody waits. The control is the same pauses without
the fence, where each of three places ends in two closings: the text's Invariant 2.1 and its degraded 2.4.
"""

import os
from collections.abc import Iterator

import pytest

from reliability.nursery import Nursery
from reliability.pauses import DOUBLING, PAUSES
from reliability.scenarios import Places, Shop
from stores import BOTH, placed

EACH = 20
"""Five places of a pause: a hundred pauses."""


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened


@pytest.fixture(scope="module", params=BOTH)
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    with placed(request.param) as place:
        yield Places(place.folder, os.environ["FALSEWORK_POSTGRES"] if place.kind == "postgres" else "")


def paused(places: Places, nursery: Nursery, name: str, times: int) -> None:
    """After so many pauses at this place no account is wrong."""
    with places.fresh() as place:
        shop = Shop(place, nursery)
        answers = [PAUSES[name](shop) for _ in range(times)]
        found = shop.recovers()
        assert not found, f"{answers}\n" + "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAUSES)
def test_behind_the_fence_no_pause_doubles_a_closing(places: Places, nursery: Nursery, name: str) -> None:
    paused(places, nursery, name, EACH)


@pytest.mark.deep
@pytest.mark.parametrize("name", PAUSES)
def test_behind_the_fence_no_pause_of_a_thousand_doubles_a_closing(
    places: Places, nursery: Nursery, name: str
) -> None:
    for _ in range(10):
        paused(places, nursery, name, EACH)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAUSES)
def test_without_the_fence_pauses_double_closings_and_each_is_told_of(
    places: Places, nursery: Nursery, name: str
) -> None:
    with places.fresh(journal_fence=False) as place:
        shop = Shop(place, nursery)
        for _ in range(5):
            PAUSES[name](shop)
        found = shop.recovers()
        ids = {sentence.partition(":")[0] for sentence in found}
        assert all("closings stand" in sentence or "more than one" in sentence for sentence in found), found
        assert len(ids) == (5 if name in DOUBLING else 0)
        register = nursery.run(shop.named("sweep")).said["code"]["findings"]
        assert {invocation for what, invocation in register if what == "binding duplicate"} == ids
