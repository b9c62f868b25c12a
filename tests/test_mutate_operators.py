"""Comparisons and numbers off by one, assignments skipped: by hand, and the same on the class."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import pytest

import models_to_mutate as small
from command_line import ROOT, falsework
from falsework.accounting import Bounds
from falsework.definition import Definition, definition_of
from falsework.domains import spell
from falsework.fast import Search, fast
from falsework.graph import reached
from falsework.language import Model
from falsework.lower import lower, lower_edited
from falsework.models.classics.peterson import Peterson
from falsework.models.classics.two_phase_commit import TwoPhaseCommit
from falsework.models.lease import Lease
from falsework.mutate import Outcome, kill, outcomes, unmutated
from falsework.mutate_operators import Mutant, mutants
from falsework.program import build
from falsework.report_mutate import mutants_text
from falsework.state import State
from falsework.trace import Taken

EVERY = Bounds(every=True)
MODELS = "tests/models_to_mutate.py"
SMALL = [small.Door, small.Stairs, small.Shelf, small.Start, small.Post]


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def said(model: type[Model], operator: str) -> list[str]:
    return [f"{m.method}: {m.said}" for m in mutants(definition_of(model), (operator,))]


def ends(model: type[Model], operator: str) -> dict[str, tuple[str, str]]:
    """For each mutant its kind and what notices it first, or how it ends."""
    found = list(outcomes(definition_of(model), EVERY, (operator,)))
    return {
        f"{o.mutant.method}: {o.mutant.said}": (o.kind, o.notices[0].name if o.notices else o.cause)
        for o in found
    }


# --- what is changed, by hand from the source -----------------------------------------------------


def test_every_comparison_and_number_of_the_stairs_is_changed() -> None:
    assert said(small.Stairs, "relation") == [
        "rise: self.level < 3  →  self.level <= 3",
        "rise: self.level < 3  →  self.level < 3 - 1",
        "rise: 1  →  2",
        "below: self.level < step  →  self.level <= step",
        "below: self.level < step  →  self.level < step - 1",
        "fall: self.level > 0  →  self.level >= 0",
        "fall: self.level > 0  →  self.level > 0 + 1",
        "fall: 1  →  2",
        "switch: self.level > 0  →  self.level >= 0",
        "switch: self.level > 0  →  self.level > 0 + 1",
    ]


def test_comparisons_are_turned_and_fields_of_records_are_moved() -> None:
    # A flag is no number; None and an empty record have none.
    assert said(small.Post, "relation") == [
        "send: self.parcel is None  →  self.parcel is not None",
        "send: 0  →  1",
        "send: 0  →  -1",
        "stop: parcel.stops < 2  →  parcel.stops <= 2",
        "stop: parcel.stops < 2  →  parcel.stops < 2 - 1",
        "stop: parcel.stops == 1  →  parcel.stops != 1",
        "stop: parcel.stops + 1  →  parcel.stops + 1 + 1",
        "stop: parcel.stops + 1  →  parcel.stops + 1 - 1",
        "keep: cell not in self.kept  →  cell in self.kept",
        "lose: self.parcel is not None  →  self.parcel is None",
    ]


def test_every_change_of_the_state_is_skipped_and_no_local() -> None:
    assert said(small.Post, "skip") == [
        "send: skips self.parcel = Parcel(stops=0)",
        "stop: skips self.parcel = replace(parcel, stops=parcel.stops + 1, opened=opened)",
        "stop: skips stops=parcel.stops + 1",
        "stop: skips opened=opened",
        "keep: skips self.kept.add(cell)",
        "keep: skips self.parcel = None",
        "lose: skips self.parcel = None",
    ]
    assert said(small.Shelf, "skip")[-2:] == [
        "queue: skips self.line.append(cell)",
        "serve: skips self.line.pop_first()",
    ]


def test_what_is_off_by_one_on_the_stairs() -> None:
    # rise is guarded twice: below(2) alone decides while the other says 3. Without the last stair but one the
    # invariant is never near; by two from 1 it is broken at once. fall from 0 leaves the domain.
    assert ends(small.Stairs, "relation") == {
        "rise: self.level < 3  →  self.level <= 3": ("equivalent", "equivalent"),
        "rise: self.level < 3  →  self.level < 3 - 1": ("equivalent", "equivalent"),
        "rise: 1  →  2": ("additive", "nobody_stands_on_the_top"),
        "below: self.level < step  →  self.level <= step": ("additive", "nobody_stands_on_the_top"),
        "below: self.level < step  →  self.level < step - 1": ("removing", "unnoticed"),
        "fall: self.level > 0  →  self.level >= 0": ("additive", "values_stay_in_domain"),
        "fall: self.level > 0  →  self.level > 0 + 1": ("removing", "unnoticed"),
        "fall: 1  →  2": ("additive", "values_stay_in_domain"),
        "switch: self.level > 0  →  self.level >= 0": ("additive", "survived"),
        "switch: self.level > 0  →  self.level > 0 + 1": ("removing", "unnoticed"),
    }


def test_what_the_post_is_without_an_assignment() -> None:
    # Sent and never under way, or never stopped, the step that is left stays where it is: it adds nothing,
    # and the witness is lost. Not opened at the second stop, it breaks the invariant. Nobody misses a loss.
    assert ends(small.Post, "skip") == {
        "send: skips self.parcel = Parcel(stops=0)": ("removing", "everything_is_kept"),
        "stop: skips self.parcel = replace(parcel, stops=parcel.stops + 1, opened=opened)": (
            "removing", "everything_is_kept",
        ),
        "stop: skips stops=parcel.stops + 1": ("removing", "everything_is_kept"),
        "stop: skips opened=opened": ("additive", "it_is_opened_at_the_second_stop"),
        "keep: skips self.kept.add(cell)": ("additive", "everything_is_kept"),
        "keep: skips self.parcel = None": ("additive", "survived"),
        "lose: skips self.parcel = None": ("removing", "unnoticed"),
    }  # fmt: skip


def test_steps_that_are_taken_away_are_missed_by_a_witness_or_by_nobody() -> None:
    # When all is kept a third parcel can only be lost.
    found = ends(small.Post, "relation")
    assert found["stop: parcel.stops < 2  →  parcel.stops < 2 - 1"] == ("removing", "everything_is_kept")
    assert found["send: self.parcel is None  →  self.parcel is not None"] == ("removing", "deadlock")
    assert found["lose: self.parcel is not None  →  self.parcel is None"] == ("removing", "deadlock")


# --- the same on the class, its source with the changed method ------------------------------------


_numbers = itertools.count()


def of_the_class(model: type[Model], mutant: Mutant, folder: Path) -> Definition:
    """The model of a file in which the method is written as the mutant has it."""
    source = Path(sys.modules[model.__module__].__file__ or "").read_text("utf-8").splitlines(keepends=True)
    tree = mutant.tree
    found = next(
        n for n in ast.walk(ast.parse("".join(source)))
        if isinstance(n, ast.FunctionDef) and (n.name, n.lineno) == (tree.name, tree.lineno)
    )  # fmt: skip
    first = min([found.lineno, *(d.lineno for d in found.decorator_list)])
    assert found.end_lineno is not None
    lines = ast.unparse(tree).splitlines()
    changed = [f"{' ' * found.col_offset}{line}\n" for line in lines]
    number = next(_numbers)
    path = folder / f"changed_{number}.py"
    path.write_text("".join([*source[: first - 1], *changed, *source[found.end_lineno :]]), "utf-8")
    spec = importlib.util.spec_from_file_location(f"changed_{number}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return definition_of(getattr(module, model.__name__))


def asked(definition: Definition) -> set[str]:
    """The names that properties and starts read: on the class such a method is changed for them too."""
    names: set[str] = set()
    properties = (*definition.invariants, *definition.witnesses, *definition.terminals)
    waiting: list[object] = [prop.function.__code__ for prop in properties]
    waiting += [start.function.__code__ for start in definition.initials]
    while waiting:
        code = waiting.pop()
        if isinstance(code, CodeType):
            new = set(code.co_names) - names
            names |= new
            waiting += [*code.co_consts]
            waiting += [getattr(getattr(definition.cls, n, None), "__code__", None) for n in new]
    return names


def changes(model: type[Model]) -> list[Mutant]:
    definition = definition_of(model)
    return [m for m in mutants(definition, ("relation", "skip")) if m.method not in asked(definition)]


@pytest.mark.slow
@pytest.mark.parametrize("model", [*SMALL, Lease, TwoPhaseCommit, Peterson])
def test_the_changed_class_is_counted_the_same(model: type[Model], tmp_path: Path) -> None:
    definition = definition_of(model)
    assert changes(model)
    for mutant in changes(model):
        lowered = lower_edited(definition, {mutant.function: mutant.tree}, mutant.actions)
        search = Search(definition, EVERY, build(lowered))
        search.sweep()
        found = fast(of_the_class(model, mutant, tmp_path), EVERY)
        if found.fault is None:
            ours, theirs = search.tally.counts(), found.counts()
            for key in ("states", "transitions", "levels", "coverage", "witnesses"):
                assert ours[key] == theirs[key], mutant.said
            notices = {
                n.name: n.steps for n in kill(definition, mutant, EVERY).notices if n.steps is not None
            }
            assert {name: v.steps for name, v in found.violations.items()} == notices, mutant.said
        else:
            assert [n.cause for n in kill(definition, mutant, EVERY).notices][:1] == ["fault"]


def _step(before: State, taken: Taken) -> tuple[str, str, str]:
    return spell(before), str(taken.label), spell(taken.state)


@pytest.mark.slow
@pytest.mark.parametrize("model", SMALL)
def test_what_is_added_and_removed_is_so_in_the_graph_of_the_class(
    model: type[Model], tmp_path: Path
) -> None:
    """The graphs of both classes, step by step, say which kind a mutant is."""
    definition = definition_of(model)
    ours = reached(definition)
    steps = {_step(*edge) for edge in ours.edges if edge[0] != edge[1].state}
    known = {spell(state) for state in ours.states}
    for mutant in changes(model):
        outcome = kill(definition, mutant, EVERY)
        if any(notice.cause == "fault" for notice in outcome.notices):
            continue  # a fault ends the graph
        theirs = reached(of_the_class(model, mutant, tmp_path))
        edges = (*theirs.edges, *theirs.broken_steps)
        taken = {_step(*edge) for edge in edges if edge[0] != edge[1].state}
        added = any(step not in steps for step in taken if step[0] in known)
        left = {spell(state) for state in theirs.states}
        removed = any(step not in taken for step in steps if step[0] in left)
        kind = "additive" if added else "removing" if removed else "equivalent"
        assert outcome.kind == kind, mutant.said


def test_what_the_change_leaves_alone_is_the_same_expression() -> None:
    definition = definition_of(Lease)
    whole = lower(definition)
    mutant = next(m for m in mutants(definition, ("skip",)) if m.method == "die")
    edited = lower_edited(definition, {mutant.function: mutant.tree}, mutant.actions)
    others = [(a, b) for a, b in zip(whole.instances, edited.instances, strict=True) if a is not b]
    assert {a.action.name for a, _ in others} == {"die"}


# --- the report and the command -------------------------------------------------------------------


@pytest.mark.slow
def test_all_mutants_of_the_lease(golden: Callable[[str, str], None]) -> None:
    # What survives is told in docs/mutation.md.
    found = list(outcomes(definition_of(Lease), EVERY))
    golden("mutate/lease_all", mutants_text(definition_of(Lease), "", found, verbose=True) + "\n")
    assert [o.mutant.said for o in found if o.cause == "undecided"] == []


def test_a_time_that_is_over_leaves_mutants_undecided() -> None:
    left = iter([True, True, False, False, False, False, False, False, False, False])
    found = list(outcomes(definition_of(small.Stairs), EVERY, ("relation",), in_time=lambda: next(left)))
    assert [o.cause for o in found].count("undecided") == 8
    assert found[-1].text == "not looked at: the time was over"


def test_another_configuration_may_kill_what_this_one_does_not_see() -> None:
    # With one cell a second choice replaces the first by itself: nothing is another.
    alone: list[Outcome] = list(outcomes(definition_of(small.OneCell), EVERY, ("guard",)))
    both = list(
        outcomes(definition_of(small.OneCell), EVERY, ("guard",), also={"Shelf": definition_of(small.Shelf)})
    )
    ends_alone, ends_both = ({o.mutant.said: o.cause for o in found} for found in (alone, both))
    assert ends_alone["without disabled()"] == "equivalent"
    assert ends_both["without disabled()"] == "invariant"
    assert next(o for o in both if o.mutant.said == "without disabled()").configuration == "Shelf"


def test_the_model_itself_is_searched_once() -> None:
    definition = definition_of(small.Stairs)
    assert unmutated(definition, 1_000) is unmutated(definition, 1_000)


def test_the_command_tells_what_it_left_out_and_what_survives(golden: Callable[[str, str], None]) -> None:
    post = falsework("mutate", f"{MODELS}:Post")
    everywhere = falsework(
        "mutate", f"{MODELS}:Wide", "--everywhere", "--max-states", "500", "--operator", "skip"
    )
    golden("mutate/post", f"{post.all}\n{everywhere.all}")
    assert (post.code, everywhere.code) == (10, 0)
