"""Kill −9 of real processes at every durable boundary that the runtime names, on both stores.

An expected account is a hand argument from the text: an act is executed at most once, exactly one closing
stands, and it says what the deeds, which are kept outside the journal, say.
"""

import math
import os
from collections import Counter
from collections.abc import Iterator

import pytest

from reliability.nursery import Nursery
from reliability.scenarios import (
    LEADS,
    STEWARDLY,
    Places,
    account_of_kills,
    named_boundaries,
    passed,
)
from stores import BOTH, placed

SCENARIOS = (*LEADS, *STEWARDLY)
Passings = dict[str, list[str]]


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened


@pytest.fixture(scope="module", params=BOTH)
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    with placed(request.param) as place:
        yield Places(place.folder, os.environ["FALSEWORK_POSTGRES"] if place.kind == "postgres" else "")


@pytest.fixture(scope="module")
def passings(places: Places, nursery: Nursery) -> Passings:
    """What each scenario passes where nothing befalls it."""
    return {name: passed(places, nursery, name) for name in SCENARIOS}


@pytest.mark.slow
def test_every_named_boundary_is_reached(passings: Passings) -> None:
    reached = {boundary for found in passings.values() for boundary in found}
    assert named_boundaries() - reached == set(), "named, and never passed: nothing was killed there"
    assert reached - named_boundaries() == set(), "passed, and in no module's list"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_kill_at_any_boundary_leaves_one_account(
    places: Places, nursery: Nursery, passings: Passings, name: str
) -> None:
    """Every passing once, and every boundary at least five times in all."""
    assert_accounted(places, nursery, passings, name, at_least=5)


@pytest.mark.deep
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_hundred_kills_at_any_boundary_leave_one_account(
    places: Places, nursery: Nursery, passings: Passings, name: str
) -> None:
    assert_accounted(places, nursery, passings, name, at_least=100)


def assert_accounted(places: Places, nursery: Nursery, passings: Passings, name: str, at_least: int) -> None:
    counts = Counter(boundary for found in passings.values() for boundary in found)
    seen: Counter[str] = Counter()
    kills: list[tuple[str, int]] = []
    for boundary in passings[name]:
        seen[boundary] += 1
        kills += [(boundary, seen[boundary])] * math.ceil(at_least / counts[boundary])
    found = account_of_kills(places, nursery, name, kills)
    assert not found, "\n".join(found)
