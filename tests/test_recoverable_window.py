"""The window slice: how old an orphan grows, against closed forms and a simulation of the timeline alone."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from command_line import ROOT, falsework
from falsework.accounting import Bounds, Tally
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import Search, fast
from falsework.language import Model, require
from falsework.lower import lower
from falsework.models.recoverable_invocation.window import (
    ClosureWindow,
    CountedAsTicks,
    CountedFromTheStart,
    FencedAndNotCommitted,
    LongInvocations,
    Main,
    Reported,
    SizedForOne,
    SlipsOrDies,
)
from falsework.models.recoverable_invocation.window_figures import Counted
from falsework.models.recoverable_invocation.window_runs import Act, Holder
from falsework.naming import configurations_of, setting, twins_of, with_constants
from falsework.program import build
from falsework.state import live
from falsework.twins.recoverable_invocation.window import OldFloor

pytestmark = pytest.mark.slow

CLOSED = "every_orphan_is_closed_inside_its_window"
WORST = "no_orphan_lands_later_than_the_worst_closure"
ROWS = list(itertools.product((False, True), repeat=2))  # a run in flight at the edge, a death
FIGURES = [
    {"COMPLETION_BOUND": b, "ALLOWANCE": k, "CADENCE": c, "CLOSURE": closure, "WRITE": w}
    for b, k, c, closure, w in [
        (1, 0, 1, 1, 0), (2, 1, 1, 1, 1), (3, 0, 2, 1, 2), (1, 2, 2, 2, 1), (4, 1, 3, 2, 0), (2, 3, 0, 1, 1)
    ]
]  # fmt: skip


SOME = [*FIGURES[:2], *(pytest.param(figures, marks=pytest.mark.slow) for figures in FIGURES[2:])]


def searched(model: type[Model]) -> Tally:
    return fast(definition_of(model), Bounds(every=True))


def broken(model: type[Model]) -> dict[str, int]:
    return {name: violation.steps for name, violation in searched(model).violations.items()}


def landings(model: type[Model]) -> dict[tuple[bool, bool], int]:
    """The greatest age at which an orphan lands, by row: that of a closure whose time is up."""
    definition = definition_of(model)
    search = Search(definition, Bounds(every=True), build(lower(definition)))
    search.sweep()
    assert not search.found
    greatest: dict[tuple[bool, bool], int] = {}
    for word in search.seen:
        at: Any = live(definition, search.program.packing.unpack(word))
        for act, intent in at.acts.items():
            if intent is not None and at.run is not None and at.run.closing and at.run.at == act:
                row = (intent.crossed, intent.died)
                greatest[row] = max(greatest.get(row, 0), intent.age)
    return greatest


def closed_form(figures: dict[str, int], run: int, crossed: bool, died: bool) -> int:
    """B + 2K - 1, then the row's run bounds and cadences: 1/1, 2/1, 2/2, 3/2."""
    edge = figures["COMPLETION_BOUND"] + 2 * figures["ALLOWANCE"] - 1
    return edge + (1 + crossed + died) * run + (1 + died) * figures["CADENCE"]


def floor(figures: dict[str, int]) -> int:
    closure = figures["CLOSURE"]
    return max(figures["COMPLETION_BOUND"], closure + figures["WRITE"]) + closure


# --- the closed forms -----------------------------------------------------------------------------


@pytest.mark.parametrize("figures", SOME, ids=lambda figures: "-".join(map(str, figures.values())))
def test_each_row_lands_as_late_as_its_closed_form_and_no_later(figures: dict[str, int]) -> None:
    # The closed forms are those of the timeline worked out on paper: a run in flight costs a run bound more,
    # a death a run bound and a cadence.
    model = with_constants(ClosureWindow, figures)
    run = floor(figures)
    assert landings(model) == {row: closed_form(figures, run, *row) for row in ROWS}


def test_the_worst_landing_is_the_worst_closure_less_one() -> None:
    model = ClosureWindow()
    run = 3  # two of the completion bound, one of the closure
    assert model.worst_closure(run) == 2 + 2 * 1 + 2 * 1 + 3 * run == 15
    assert landings(ClosureWindow)[True, True] == 14
    starts = [state for state in (14, 15, 16, 17) if model.condition_1(state, run)]
    assert starts[0] == 16  # the least window that condition 1 admits


@pytest.mark.parametrize("figures", FIGURES[:3], ids=lambda figures: "-".join(map(str, figures.values())))
def test_a_simulation_of_the_timeline_alone_lands_as_late(figures: dict[str, int]) -> None:
    """Runs as bare intervals: a start with its offset, a length, a rest; the last one lands at its end."""
    b, k, c = (figures[name] for name in ("COMPLETION_BOUND", "ALLOWANCE", "CADENCE"))
    run = floor(figures)
    greatest: dict[tuple[bool, bool], int] = {}
    for died in (False, True):
        # The first of them starts at most one cadence after a run that ended before the edge.
        waiting = [(start, died, False) for start in range(b + 2 * k + c)]
        seen = set(waiting)
        while waiting:
            start, dies, crossed = waiting.pop()
            for offset, length in itertools.product(range(-k, k + 1), range(run + 1)):
                lists = start + offset >= b + k
                over = start < b + 2 * k <= start + length and not lists
                if lists and not dies:
                    row = (crossed, died)
                    greatest[row] = max(greatest.get(row, 0), start + length)
                    continue
                for rest in range(c + 1):
                    following = (start + length + rest, dies and not lists, crossed or over)
                    if following not in seen and following[0] <= 100:
                        seen.add(following)
                        waiting.append(following)
    assert greatest == {row: closed_form(figures, run, *row) for row in ROWS}


@pytest.mark.parametrize("model, cadence, gap", [
    (CountedFromTheStart, 2, 3),  # the run bound is longer than the cadence
    (CountedFromTheStart, 5, 5),  # the cadence is longer than the run bound
    (CountedAsTicks, 2, 4),  # a run of 3 covers one tick, and its landing lies past it
    (CountedAsTicks, 3, 6),  # a run of 3 covers the tick at which it lands
    (CountedAsTicks, 4, 4),  # no tick falls into the run
])  # fmt: skip
def test_a_cadence_counted_otherwise_has_another_gap(
    model: type[ClosureWindow], cadence: int, gap: int
) -> None:
    # Paper again: from one start to the next max(C, R), or C times the ticks that a run covers and one.
    assert landings(with_constants(model, {"CADENCE": cadence}))[True, True] == (2 + 2 - 1) + 2 * gap + 3


def test_a_fenced_act_that_did_not_commit_lands_one_allowance_later() -> None:
    for allowance in (0, 1, 2):
        model = with_constants(FencedAndNotCommitted, {"ALLOWANCE": allowance})
        figures = FIGURES[1] | {"ALLOWANCE": allowance}
        late = {row: closed_form(figures, 3, *row) + allowance for row in ROWS}
        assert landings(model) == late


# --- where the window is lost ---------------------------------------------------------------------


@pytest.mark.parametrize("model, constant, last", [
    (FencedAndNotCommitted, "ALLOWANCE", 2),  # the least window is two more than the worst landing
    (ClosureWindow, "BEYOND", 2),  # likewise two ticks of a run that lands nothing
])  # fmt: skip
def test_two_reach_the_window_and_three_pass_it(model: type[ClosureWindow], constant: str, last: int) -> None:
    assert broken(with_constants(model, {constant: last})) == {}
    assert set(broken(with_constants(model, {constant: last + 1}))) == {CLOSED}


def test_the_horizon_cuts_off_the_last_run_once_the_allowance_exceeds_a_completion_a_run_and_two() -> None:
    # On paper: run 3 starts at the window less R + 2 at the latest, and the edge is B + 1 past it, less K.
    figures = {"COMPLETION_BOUND": 1, "CLOSURE": 1, "WRITE": 1}
    run = floor(figures)
    assert broken(with_constants(ClosureWindow, figures | {"ALLOWANCE": 1 + run + 2})) == {}
    lost = broken(with_constants(ClosureWindow, figures | {"ALLOWANCE": 1 + run + 3}))
    assert set(lost) == {CLOSED, WORST}


def test_with_dead_runs_and_operators_alone_the_old_floor_is_enough() -> None:
    class NoOpenDies(setting(OldFloor)[0]):  # type: ignore[misc]
        """Whoever is in the way holds for a sweep's lease."""

        def hold(self, act: Act, holder: Holder) -> None:
            require(holder is Holder.OPERATOR)
            super().hold(act, holder)

    assert set(broken(setting(OldFloor)[0])) > {CLOSED}
    assert broken(NoOpenDies) == {}


def test_a_slip_costs_as_much_as_a_death_and_both_are_too_many() -> None:
    alone = with_constants(SlipsOrDies, {"BOTH": False})
    both = with_constants(SlipsOrDies, {"BOTH": True})
    assert (broken(alone), set(broken(both))) == ({}, {CLOSED})


def test_whoever_may_surface_may_not_die() -> None:
    # The threshold is the window less two runs, a cadence and the allowance: a tick before its end at most.
    assert broken(Reported) == {}
    assert set(broken(with_constants(Reported, {"ANY_RUN_DIES": True}))) == {
        "every_orphan_is_reported_inside_its_window"
    }


# --- the engines, and the twins -------------------------------------------------------------------


QUICK = (CountedAsTicks,)
TWO_ACTS = (Main, SizedForOne)


@pytest.mark.parametrize("model", [
    ClosureWindow, *QUICK,
    *(pytest.param(c, marks=pytest.mark.slow) for c in configurations_of(ClosureWindow)
      if c not in (*QUICK, *TWO_ACTS)),
])  # fmt: skip
def test_the_definition_counts_the_same(model: type[Model]) -> None:
    bounds = Bounds(every=True)
    assert explore(definition_of(model), bounds).counts() == fast(definition_of(model), bounds).counts()


def test_the_model_holds_in_so_many_states() -> None:
    # As explore counts them above; the second in the slow tier.
    for model, counted in ((ClosureWindow, (592, 1_446, 28)), (LongInvocations, (2_348, 5_878, 40))):
        tally = searched(model)
        assert (tally.states, tally.transitions, tally.depth) == counted
        assert tally.complete
        assert all(covered.fired for covered in tally.coverage.values())
        assert None not in tally.witnesses.values()


@pytest.mark.slow
def test_a_backlog_of_two_holds_in_so_many_states() -> None:
    # The compiled search counts the same: falsework check recoverable_invocation.window --config main.
    tally = searched(Main)
    assert (tally.states, tally.transitions, tally.depth) == (131_973, 352_612, 39)
    assert (tally.violations, None in tally.witnesses.values()) == ({}, False)


@pytest.mark.slow
@pytest.mark.parametrize("twin", twins_of(ClosureWindow), ids=lambda twin: twin.__name__)
def test_a_twin_breaks_exactly_what_it_declares(twin: type[Model]) -> None:
    wrong, clean = setting(twin)
    tally = searched(wrong)
    lost = {name: None for name, steps in tally.witnesses.items() if steps is None}
    found = {name: violation.steps for name, violation in tally.violations.items()}
    assert found | lost == dict(definition_of(twin).breaks)
    assert broken(clean) == {}


def test_every_invariant_is_broken_by_a_twin() -> None:
    claimed = {name for twin in twins_of(ClosureWindow) for name in definition_of(twin).breaks}
    assert {prop.name for prop in definition_of(ClosureWindow).invariants} <= claimed


def test_every_way_to_count_the_cadence_is_looked_at() -> None:
    counted = {c.CADENCE_COUNTED for c in configurations_of(ClosureWindow) if issubclass(c, ClosureWindow)}
    assert counted == set(Counted)


# --- the holes --------------------------------------------------------------------------------------------


WINDOW = (ROOT / "docs" / "holes.md").read_text("utf-8").partition("\n# Window\n")[2].partition("\n# ")[0]
HOLES = re.findall(r"```text\n(.*?)```\n\n`falsework (check [^`]*)`", WINDOW, flags=re.DOTALL)


def test_every_configuration_that_breaks_something_is_a_hole() -> None:
    broken = {c.__name__ for c in configurations_of(ClosureWindow) if definition_of(c).breaks}
    assert {command.rpartition(" ")[2] for _, command in HOLES} == broken


@pytest.mark.slow
@pytest.mark.parametrize("told, command", HOLES)
def test_a_hole_shows_what_its_command_prints(told: str, command: str) -> None:
    printed = {" ".join(line.split()) for line in falsework(*command.split()).out.splitlines()}
    rows = [line.partition("   the ")[0] for line in told.splitlines() if line != "…"]
    assert len(rows) >= 3
    assert [row for row in rows if " ".join(row.split()) not in printed] == []
