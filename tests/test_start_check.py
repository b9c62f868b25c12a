"""The conditions of instance start against the text's published figures, and the command that checks a file.

The walkthrough's numbers (559, 632, 11, 42, 9; 5 s refused) and the grid of 432 tuples with its 288 admitted
are the text's own. The third allowance and the two of the upper edge are hand arguments, told at each test.
"""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import falsework
from deployment_world import example, with_figures, written
from falsework.runtime.invocation.conditions import Condition, Source, conditions_of
from falsework.runtime.invocation.figures import Fence, Figures, Kind

SECOND = 1_000_000


def held(kind: Kind, figures: Figures, number: int, source: Source = Source.TEXT) -> Condition:
    (found,) = (
        condition
        for condition in conditions_of(kind, figures)
        if (condition.number, condition.source) == (number, source)
    )
    return found


@pytest.mark.parametrize(
    "number, figure, value, bound, strict",
    [
        (1, "compensation_window", 600, 559, True),  # 30 + 2×2 + 2×60 + 3×135
        (2, "retention_period", 604_800, 632, True),  # 30 + 2 + 600
        (3, "completion_bound", 30, 11, True),  # 2×2 + 2×3 + 1, no fence and so no allowance
        (4, "run_bound", 135, 42, False),  # max(30, 12 + 3) + 12
        (5, "closure_latency", 12, 9, True),  # 2 + 2×3 + 1
    ],
)
def test_the_walkthrough_holds_with_its_figures(
    number: int, figure: str, value: int, bound: int, strict: bool
) -> None:
    deployment = example()
    found = held(deployment.kinds["ledger"], deployment.figures, number)
    assert (found.figure, found.value, found.bound) == (figure, value * SECOND, bound * SECOND)
    assert found.strict is strict
    assert found.holds


def test_a_closure_latency_of_five_seconds_is_refused() -> None:
    """The text's earlier draft: the gate of the second write fails for any probe."""
    found = held(*with_figures(closure_latency=5 * SECOND), 5)
    assert not found.holds
    assert found.least == 9 * SECOND + 1
    assert found.margin == -4 * SECOND - 1


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_each_condition_turns_at_its_least_figure(number: int) -> None:
    kind, figures = with_figures()
    least, figure = held(kind, figures, number).least, held(kind, figures, number).figure
    assert held(*with_figures(**{figure: least}), number).margin == 0
    assert held(*with_figures(**{figure: least}), number).holds
    assert not held(*with_figures(**{figure: least - 1}), number).holds


def test_a_fence_of_either_kind_charges_the_lease_one_allowance() -> None:
    """Allowance 11: 2×2 + 2×3 + 1 + 2 = 13, once even where both are declared."""
    kind, figures = with_figures()
    fence = Fence("deadline parameter")
    for fenced_kind, fenced_figures in (
        (replace(kind, commit_fence=fence), figures),
        (kind, replace(figures, journal_fence=fence)),
        (replace(kind, commit_fence=fence), replace(figures, journal_fence=fence)),
    ):
        assert held(fenced_kind, fenced_figures, 3).bound == 13 * SECOND


def test_a_fence_owes_the_lease_an_allowance_for_each_clock() -> None:
    """Early by one at the minting, and earlier by another on a judge's clock that is ahead: 11 + 2×2."""
    kind, figures = with_figures()
    fenced = replace(kind, commit_fence=Fence("deadline parameter"))
    assert held(fenced, figures, 3, Source.REPAIRED).bound == 15 * SECOND
    assert [found.source for found in conditions_of(kind, figures) if found.number == 3] == [Source.TEXT]


def test_a_fenced_kind_owes_the_window_a_third_allowance() -> None:
    """What did not commit is closed past the abandon edge alone: 559 + 2 = 561."""
    kind, figures = with_figures(compensation_window=560 * SECOND)
    fenced = replace(kind, commit_fence=Fence("deadline parameter"))
    assert held(fenced, figures, 1).holds
    assert not held(fenced, figures, 1, Source.REPAIRED).holds
    assert held(fenced, figures, 1, Source.REPAIRED).bound == 561 * SECOND
    assert [found.source for found in conditions_of(kind, figures) if found.number == 1] == [Source.TEXT]


def test_an_unfenced_kind_owes_its_retention_two_allowances() -> None:
    """The upper edge is judged early by one allowance, on a clock that may be another one ahead."""
    kind, figures = with_figures(completion_bound=12 * SECOND, clock_offset_allowance=20 * SECOND)
    kind = replace(kind, retention_period=633 * SECOND)  # past 12 + 20 + 600, short of 600 + 2×20
    assert held(kind, figures, 2).holds
    assert not held(kind, figures, 2, Source.REPAIRED).holds
    assert held(kind, figures, 2, Source.REPAIRED).least == 640 * SECOND + 1


def worst_landing(tuple_of: dict[str, int]) -> int:
    """The latest landing, a tick beside a run in flight being dropped: by hand from the text."""
    bound, allowance, cadence, run_bound = (tuple_of[name] for name in ("B", "K", "C", "R"))
    gap = cadence * (run_bound // cadence + 1)
    floor = max(bound, tuple_of["L"] + tuple_of["W"]) + tuple_of["L"]
    return bound + 2 * allowance - 1 + 2 * gap + max(run_bound, floor)


def test_of_the_432_tuples_288_are_admitted_and_none_is_late() -> None:
    """The text's count: the floor admits 288, and three run bounds suffice for each, by one tick at least."""
    grid = {"B": (2, 3, 4), "K": (0, 1, 2), "C": (2, 3, 4, 5), "R": (4, 5, 6), "L": (1, 2), "W": (1, 2)}
    admitted, slack = 0, []
    for values in itertools.product(*grid.values()):
        tick = dict(zip(grid, values, strict=True))
        kind, figures = with_figures(
            completion_bound=tick["B"],
            clock_offset_allowance=tick["K"],
            reconciliation_cadence=tick["C"],
            run_bound=tick["R"],
            closure_latency=tick["L"],
            journal_write_bound=tick["W"],
        )
        if held(kind, figures, 4).holds:
            admitted += 1
            slack.append(held(kind, figures, 1).bound - worst_landing(tick))
    assert admitted == 288
    assert min(slack) == 1


# The command.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_shipped_example_may_start(golden: Callable[[str, str], None], folder: Path) -> None:
    written(folder)
    golden("start_check_holds", falsework("start-check", "ledger.yaml").all)


def test_a_failing_condition_says_where_and_by_how_much(
    golden: Callable[[str, str], None], folder: Path
) -> None:
    written(folder, ("latency: 12 s", "latency: 5 s"), ("retention_period: 7 d", "retention_period: 632 s"))
    golden("start_check_fails", falsework("start-check", "ledger.yaml").all)


def test_the_repaired_conditions_are_told_apart(golden: Callable[[str, str], None], folder: Path) -> None:
    written(
        folder,
        ("commit_fence: none", "commit_fence: deadline parameter"),
        ("compensation_window: 10 min", "compensation_window: 560 s"),
    )
    golden("start_check_repaired", falsework("start-check", "ledger.yaml").all)


def test_a_journal_fence_owes_its_writes_an_allowance_for_each_clock(
    golden: Callable[[str, str], None], folder: Path
) -> None:
    """Allowance 13 asks for one; a journal whose clock is ahead of the writer's takes it back.

    Minted at issue + 3 - 2 s by the writer's clock, judged by one that is 2 s ahead: nothing is left.
    """
    fence = "journal_fence: deadline parameter\n  record_action_bound: 1 s"
    written(folder, ("journal_fence: none", fence))
    golden("start_check_headroom", falsework("start-check", "ledger.yaml").all)


def test_machines_read_the_same(folder: Path) -> None:
    written(folder, ("closure_latency: 12 s", "closure_latency: 5 s"))
    said = falsework("start-check", "ledger.yaml", "--format", "json")
    document = json.loads(said.out)
    assert said.code == 10
    assert document["verdict"] == "the text's conditions do not hold"
    failing = [condition for condition in document["conditions"] if not condition["holds"]]
    assert [(found["condition"], found["place"], found["least_us"]) for found in failing] == [
        ("5", "ledger.yaml:8", 9_000_001)
    ]


def test_a_file_that_is_no_deployment_is_bad_input(folder: Path) -> None:
    written(folder, ("read_bound: 2 s", "read_bound: 2"))
    said = falsework("start-check", "ledger.yaml")
    assert (said.code, said.out) == (13, "")
    assert said.err.startswith(
        "falsework: ledger.yaml:11: read_bound of instance is '2'\n  write: a number with"
    )
