"""The kill scores of the lease and of Recoverable Invocation, and every survivor explained on their page."""

from __future__ import annotations

import re

import pytest

from command_line import ROOT
from falsework.accounting import Bounds
from falsework.cli_model import one_target
from falsework.cli_mutate import other_configurations
from falsework.definition import definition_of
from falsework.mutate import BROKEN, outcomes
from falsework.naming import shipped

pytestmark = pytest.mark.deep  # minutes of searches, all in all

PAGE = (ROOT / "docs" / "mutation.md").read_text("utf-8").partition("\n## Scores\n")[2]
ROWS = re.findall(r"^\| `([\w.]+)` \| (\d+)% \|$", PAGE, re.MULTILINE)
RACE, WINDOW = "recoverable_invocation.race", "recoverable_invocation.window"
MOST = {RACE: 13_000, WINDOW: 20_000}


def test_the_page_has_a_score_of_every_slice() -> None:
    slices = {path.stem for path in (ROOT / "models" / "recoverable_invocation").glob("records_*.py")}
    named = {f"recoverable_invocation.{name}" for name in (*slices, "race", "window")}
    shipped_ones = named.intersection(shipped())
    assert {name for name, _ in ROWS} == shipped_ones | {"lease"}
    assert all(int(score) >= 90 for _, score in ROWS)


@pytest.mark.parametrize("name, score", ROWS)
def test_a_score_is_found_again_and_its_survivors_are_explained(name: str, score: str) -> None:
    most = MOST.get(name, 60_000)
    target = one_target(name, "Unattended" if name == RACE else None, [])
    also = other_configurations(target, most)
    found = list(outcomes(definition_of(target.cls), Bounds(max_states=most), also=also))
    adding = [outcome for outcome in found if outcome.kind == "additive"]
    assert 100 * sum(outcome.cause in BROKEN for outcome in adding) // len(adding) >= int(score)
    left = [outcome.mutant for outcome in found if outcome.cause in ("survived", "undecided")]
    assert [m.said for m in left if f"`{m.method}`: `{m.said}`" not in PAGE] == []
