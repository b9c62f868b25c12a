"""Guards left out one by one: each of the lease is noticed, and what is found is found on the class too."""

import ast
import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import models_to_mutate as small
from command_line import ROOT, falsework
from falsework.accounting import Bounds, Tally
from falsework.definition import Definition, definition_of
from falsework.errors import InputError
from falsework.explore import explore
from falsework.fast import Search, fast
from falsework.language import Model, deadlock, values_stay_in_domain
from falsework.lower import Lowered, lower_edited
from falsework.models.classics.alternating_bit import AlternatingBit
from falsework.models.classics.peterson import Peterson
from falsework.models.classics.two_phase_commit import TwoPhaseCommit
from falsework.models.lease import Lease
from falsework.mutate import DEFAULT_BOUNDS, Outcome, kill, outcomes
from falsework.mutate_operators import Mutant, mutants
from falsework.mutate_walk import Walk
from falsework.program import build
from falsework.report_mutate import mutants_text
from falsework.source import expression_text
from falsework.trace import Label

pytestmark = pytest.mark.slow  # many compilations and searches: `make test`, not `make check`

EVERY = Bounds(every=True)
MODELS = "tests/models_to_mutate.py"


def guards_of(model: type[Model], bounds: Bounds = DEFAULT_BOUNDS) -> list[Outcome]:
    """What becomes of each guard that is left out."""
    return list(outcomes(definition_of(model), bounds, ("guard",)))


def without_guard(definition: Definition, mutant: Mutant) -> Lowered:
    return lower_edited(definition, {mutant.function: mutant.tree}, mutant.actions)


def noticed(model: type[Model]) -> dict[str, list[tuple[str, int | None]]]:
    """For each conjunct, by its text and where that is not one of a kind by its method, what notices it."""
    found = guards_of(model)
    texts = [outcome.mutant.text for outcome in found]
    named = {
        o.mutant.text if texts.count(o.mutant.text) == 1 else f"{o.mutant.method}: {o.mutant.text}": [
            (notice.name or notice.cause, notice.steps) for notice in o.notices
        ]
        for o in found
    }
    assert len(named) == len(found)
    return named


def outcome_of(model: type[Model], method: str, text: str) -> Outcome:
    named = {(o.mutant.method, o.mutant.text): o for o in guards_of(model)}
    return named[method, text]


# --- the lease ------------------------------------------------------------------------------------------


def test_no_guard_of_the_lease_can_be_left_out(golden: Callable[[str, str], None]) -> None:
    found = guards_of(Lease)
    text = mutants_text(definition_of(Lease), "", found, verbose=True)
    print(text)  # noqa: T201  shown with -s: the table is what was asked for
    golden("mutate/lease", text + "\n")
    assert [o.mutant.method for o in found] == ["ask", "poll", "try_take", "release", "admit", "pass_time"]
    assert all(outcome.killed for outcome in found)


def test_the_command_says_the_same_of_the_lease() -> None:
    said = falsework("mutate", "lease", "--operator", "guard")
    assert said.code == 0
    assert said.out.startswith(
        "KILLED  Lease  WORKERS=2 LEASE=3 ALLOWANCE=1 LAG=0   6 mutants · 6 add steps: 6"
    )


# --- the same on the class, its source without the conjunct ---------------------------------------------


def without(source: str, mutant: Mutant) -> str:
    """The source with the conjunct cut out of the text: True stands there; of a `given`, what it is of."""
    line, column = mutant.place.line, mutant.site[1]
    node = next(
        n for n in ast.walk(ast.parse(source))
        if isinstance(n, ast.expr) and (n.lineno, n.col_offset) == (line, column)
        and expression_text(n) == mutant.text
    )  # fmt: skip
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.splitlines(keepends=True)
    kept = "True"
    if mutant.text.startswith("given("):
        assert isinstance(node, ast.Call)
        kept = ast.unparse(node.args[0])
    before, after = lines[line - 1][:column], lines[node.end_lineno - 1][node.end_col_offset :]
    blank = "\n" * (node.end_lineno - line)  # so that every place stays what it was
    return "".join(lines[: line - 1]) + before + kept + after + blank + "".join(lines[node.end_lineno :])


_numbers = itertools.count()


def loaded(path: Path, source: str) -> ModuleType:
    """The source as a module of its own."""
    path.write_text(source, encoding="utf-8")
    name = f"without_a_guard_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def of_the_class(model: type[Model], mutant: Mutant, tmp_path: Path) -> Definition:
    source = Path(sys.modules[model.__module__].__file__ or "").read_text(encoding="utf-8")
    module = loaded(tmp_path / f"cut{mutant.place.line}_{mutant.site[1]}.py", without(source, mutant))
    return definition_of(getattr(module, model.__name__))


def counted(tally: Tally) -> dict[str, object]:
    """What two searches must agree on, whatever file the model stands in."""
    counts = tally.counts()
    return {key: counts[key] for key in ("states", "transitions", "levels", "coverage", "witnesses")}


def is_the_same_on_the_class(model: type[Model], mutant: Mutant, found: Tally) -> None:
    definition = definition_of(model)
    search = Search(definition, EVERY, build(without_guard(definition, mutant)))
    search.sweep()
    notices = {n.name: n.steps for n in kill(definition, mutant, EVERY).notices}
    if found.fault is not None:
        assert notices == {"": len(found.fault.trace)}
        return
    assert counted(search.tally) == counted(found)
    assert {name: v.steps for name, v in found.violations.items()} == notices


@pytest.mark.parametrize("model", [Lease, TwoPhaseCommit, Peterson, AlternatingBit])
def test_cut_out_of_the_source_each_conjunct_does_the_same(model: type[Model], tmp_path: Path) -> None:
    for mutant in mutants(definition_of(model), ("guard",)):
        is_the_same_on_the_class(model, mutant, fast(of_the_class(model, mutant, tmp_path), EVERY))


@pytest.mark.parametrize("method", ["ask", "admit"])
def test_the_reference_search_agrees_without_a_guard_of_the_lease(method: str, tmp_path: Path) -> None:
    (mutant,) = [m for m in mutants(definition_of(Lease), ("guard",)) if m.method == method]
    is_the_same_on_the_class(Lease, mutant, explore(of_the_class(Lease, mutant, tmp_path), EVERY))


@pytest.mark.parametrize("model", [small.Door, small.Stairs, small.Shelf, small.Start])
def test_the_reference_search_agrees_without_a_guard(model: type[Model], tmp_path: Path) -> None:
    for mutant in mutants(definition_of(model), ("guard",)):
        is_the_same_on_the_class(model, mutant, explore(of_the_class(model, mutant, tmp_path), EVERY))


def test_a_trace_to_a_mutant_ends_where_the_class_without_the_guard_breaks(tmp_path: Path) -> None:
    for outcome in guards_of(Lease):
        cut = fast(of_the_class(Lease, outcome.mutant, tmp_path), EVERY)
        trace = cut.fault.trace if cut.fault else cut.violations[outcome.notices[0].name].trace
        assert [str(label) for label in outcome.trace] == [str(label) for label in trace.steps]


def test_without_a_guard_no_witness_is_lost_and_no_action_falls_silent() -> None:
    # More steps and none fewer: so these are no causes. A fault ends the search, and is one.
    for model in (Lease, TwoPhaseCommit, Peterson):
        definition = definition_of(model)
        whole = fast(definition, EVERY)
        for mutant in mutants(definition, ("guard",)):
            search = Search(definition, EVERY, build(without_guard(definition, mutant)))
            search.sweep()
            if not any(notice.cause == "fault" for notice in kill(definition, mutant).notices):
                assert search.tally.states >= whole.states
                assert all((search.tally.witnesses[n] or 0) <= (s or 0) for n, s in whole.witnesses.items())
                assert all(search.tally.witnesses[n] is not None for n in whole.witnesses)
                assert all(search.tally.coverage[n].fired >= c.fired for n, c in whole.coverage.items())


# --- counted by hand ------------------------------------------------------------------------------------


def test_a_door_is_stuck_without_one_guard() -> None:
    # Shut and bolted nothing can be done, and two steps lead there where one of the two guards that keep them
    # apart is gone. To shut, open, bolt or unbolt what is so already changes nothing.
    assert noticed(small.Door) == {
        "close: not self.shut": [],
        "close: not self.bolted": [(deadlock, 2)],
        "self.shut": [],
        "open: not self.bolted": [],
        "bolt: not self.shut": [(deadlock, 2)],
        "bolt: not self.bolted": [],
        "self.bolted": [],
        "unbolt: not self.shut": [],
    }
    assert outcome_of(small.Door, "close", "not self.bolted").trace == (Label("bolt"), Label("close"))


def test_stairs_without_a_guard() -> None:
    # Without below(2) the third step is reached in three. From 0 a fall leads to -1. Below 2 is below 3; with
    # no guard the lamp is switched at 0 too: no state is new, and two steps are.
    assert noticed(small.Stairs) == {
        "self.below(2)": [("nobody_stands_on_the_top", 3)],
        "self.level < 3": [],
        "fall: self.level > 0": [(values_stay_in_domain, 1)],
        "switch: self.level > 0": [],
    }
    decorative = outcome_of(small.Stairs, "rise", "self.level < 3")
    assert decorative.text == "the same states and transitions: it decides nothing here"
    missing = outcome_of(small.Stairs, "switch", "self.level > 0")
    told = "switch() added, +2 transitions, all to known states, and no invariant of a step is false of them"
    assert missing.text == told
    assert [(o.new_states, o.new_steps) for o in (decorative, missing)] == [(0, 0), (0, 2)]
    assert (missing.cause, missing.kind, missing.killed) == ("survived", "additive", False)
    assert (decorative.cause, decorative.kind) == ("equivalent", "equivalent")


def test_what_the_model_breaks_by_itself_kills_nothing() -> None:
    # The third step is reached in three, guarded or not; and what is broken there is not expanded.
    assert noticed(small.Steeper)["self.below(2)"] == []
    assert noticed(small.Steeper)["self.level < 3"] == []


def test_a_shelf_without_a_guard() -> None:
    # A second choice replaces the first in two steps. A third in line leaves the domain. An empty line has no
    # first, and nothing is no cell. Whoever takes what is taken changes nothing that anybody minds.
    assert noticed(small.Shelf) == {
        "disabled()": [("nothing_is_chosen_twice", 2)],
        "given(self.chosen)": [("fault", 1)],
        "not self.taken[cell]": [],
        "len(self.line) < 2": [(values_stay_in_domain, 3)],
        "len(self.line) > 0": [("fault", 1)],
    }
    assert outcome_of(small.Shelf, "serve", "len(self.line) > 0").text.startswith(
        "pop_first of an empty sequence: "
    )


def test_a_guard_that_actions_share_is_one_mutant_and_that_of_the_start_is_none() -> None:
    # Past the end, `go` leaves the domain at once from 3, which one step from 2 reaches: 2 is a start.
    assert noticed(small.Start) == {"self.place < 3": [(values_stay_in_domain, 2)]}


def test_the_guard_that_a_twin_inherits_is_left_out_of_the_twin() -> None:
    assert set(noticed(small.Returns)) == {"self.place < 3", "self.place != 1", "self.place > 1"}
    assert noticed(small.Returns)["self.place < 3"] == [(values_stay_in_domain, 2)]
    assert noticed(small.Returns)["self.place != 1"] == []


def test_a_score_is_never_rounded_up() -> None:
    killed = outcome_of(small.Stairs, "rise", "self.below(2)")
    survivor = outcome_of(small.Stairs, "switch", "self.level > 0")
    text = mutants_text(definition_of(small.Stairs), "", [killed] * 299 + [survivor])
    assert text.partition("\n")[0].endswith("300 mutants · 300 add steps: 299 killed, score 99%")


# --- no false green -------------------------------------------------------------------------------------


def test_a_mutant_that_cannot_be_lowered_is_not_decided() -> None:
    (outcome,) = guards_of(small.Off)
    assert (outcome.cause, outcome.killed) == ("undecided", False)
    assert outcome.text.startswith("cannot be lowered: P001 the statement while self.level < 3:")


def test_a_mutant_that_is_too_large_is_not_decided() -> None:
    (outcome,) = guards_of(small.Sum, Bounds(max_states=1_000, every=True))
    assert (outcome.cause, outcome.text) == ("undecided", "stopped by max-states 1,000")
    (decided,) = guards_of(small.Sum)
    assert decided.text.startswith("other() added, +9,900 states, ")
    assert decided.new_states == 9_900


@pytest.mark.parametrize("model, bounds, told", [
    (small.Faulty, EVERY, "Faulty is at fault by itself"),
    (small.Sum, Bounds(max_states=10, every=True), "Sum by itself is stopped by max-states 10"),
])  # fmt: skip
def test_a_model_that_gives_nothing_to_compare_with_is_an_error(
    model: type[Model], bounds: Bounds, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        guards_of(model, bounds)


def test_what_the_expressions_do_not_confirm_is_an_error_of_its_own() -> None:
    definition = definition_of(small.Stairs)
    mutant = next(m for m in mutants(definition, ("guard",)) if m.text == "self.below(2)")
    lowered = without_guard(definition, mutant)
    search = Search(definition, EVERY, build(lowered))
    search.sweep()
    search.found["nobody_stands_on_the_top"].states = set(search.levels[1])
    with pytest.raises(RuntimeError, match="do not"):
        Walk(lowered, search).to("nobody_stands_on_the_top", 1)


@pytest.mark.parametrize("model, code", [
    ("Stairs", 10), ("Off", 12), ("Unguarded", 11), ("Faulty", 13), ("Start", 0),
])  # fmt: skip
def test_the_exit_code_of(model: str, code: int, golden: Callable[[str, str], None]) -> None:
    said = falsework("mutate", f"{MODELS}:{model}", "--operator", "guard", "--verbose")
    golden(f"mutate/{model.lower()}", said.all)
    assert said.code == code


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_a_conjunct_is_spelled_as_it_was_written() -> None:
    for text in (
        "all(any(x for x in y) for y in z) and f(g(a for a in b), c)",
        "any((x for x in y), start=1)",
    ):
        assert expression_text(ast.parse(text, mode="eval").body) == text
