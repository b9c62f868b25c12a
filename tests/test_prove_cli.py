"""`falsework prove` and what the gate says of obligations, as texts to be read; exit codes by docs/cli.md."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

import models_to_prove
from command_line import ROOT, falsework
from falsework import twin
from falsework.gate import gate
from falsework.language import Model, role_of
from falsework.proofs import prove
from falsework.prove_contract import judge_obligations
from falsework.rules_elements import elements_of
from falsework.verdict import Verdict

MODELS = "tests/models_to_prove.py"
DEADLINES = f"{MODELS}:Deadlines"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


# --- prove --------------------------------------------------------------------------------------------------

TEXTS = {
    "proved": (0, DEADLINES, "--twins"),
    "refuted": (10, f"{MODELS}:FirstStageOnly"),
    "other_values": (10, DEADLINES, "-D", "ROUNDS=3", "--only", "a_round_more_is_a_whole_more"),
    "every_word": (13, f"{MODELS}:Corners"),
    "refused": (13, f"{MODELS}:Unproved", "--timeout", "0.2", "--only", "names_its_class"),
    "no_obligation": (11, "classics.peterson"),
    "no_such_obligation": (13, DEADLINES, "--only", "both_end"),
    "twins_of_a_twin": (13, f"{MODELS}:FirstStageOnly", "--twins"),
    "no_time": (2, DEADLINES, "--timeout", "soon"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_printed(name: str, golden: Callable[[str, str], None]) -> None:
    code, *arguments = TEXTS[name]
    said = falsework("prove", *map(str, arguments))
    assert said.code == code, said.all
    golden(f"prove/{name}", said.all)


def test_time_that_is_over_is_incomplete() -> None:
    said = falsework("prove", DEADLINES, "--timeout", "1e-9")
    assert said.code == 12
    assert said.out.startswith(f"INCOMPLETE  {DEADLINES}  2 obligations: 2 INCOMPLETE")


def test_a_missing_z3_is_never_green(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    said = falsework("prove", DEADLINES)
    assert said.code == 12
    assert said.out.count("NOT CHECKED  Deadlines.") == 2
    said = falsework("gate", DEADLINES)
    assert said.code == 12
    assert "pip install 'falsework[prove]'" in said.out


def test_one_obligation_of_several_models_is_asked_of_those_that_have_it() -> None:
    said = falsework("prove", MODELS, "--only", "the_next_is_above", "--only", "is_refuted_at_nothing")
    assert said.code == 10
    assert said.out.startswith(f"VIOLATED  {MODELS}  2 obligations: 1 REFUTED, 1 PROVED")


def test_a_figure_outside_its_range_is_told_of_whichever_obligation_is_asked() -> None:
    said = falsework("prove", DEADLINES, "--only", "any_name", "-D", "FIRST=-1")
    assert said.code == 13
    assert "M005: the figure FIRST is -1, outside 0.." in said.out


def test_json_says_it_all() -> None:
    said = falsework("prove", f"{MODELS}:FirstStageOnly", "--format", "json")
    report = json.loads(said.out)
    jsonschema.validate(report, json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8")))
    assert report["exit_code"] == said.code == 10
    first, second = report["items"]
    assert (first["verdict"], second["verdict"]) == ("REFUTED", "REFUTED")
    assert first["proof"]["counterexample"] == {
        "values": {"FIRST": 0, "SECOND": 1, "DEADLINE": 0, "first": 0, "second": 1},
        "smallest": True,
    }
    assert first["proof"]["open"]["first"] == "0..FIRST"


def test_of_a_file_those_are_asked_that_have_an_obligation(tmp_path: Path) -> None:
    said = falsework("prove", "classics.peterson", "--twins")
    assert said.code == 11
    said = falsework("prove", MODELS, "--timeout", "0.2")
    assert "Ledger.the_next_is_above" in said.out
    assert said.code == 13  # Corners and Unproved are among them


# --- what has no state --------------------------------------------------------------------------------------


def test_a_check_of_what_has_no_state_is_no_pass(golden: Callable[[str, str], None]) -> None:
    said = falsework("check", DEADLINES)
    assert said.code == 13
    golden("prove/check_without_a_state", said.all)
    for command in (["simulate"], ["graph"], ["profile"], ["export"], ["mutate"]):
        assert falsework(*command, DEADLINES).code not in (0, 1), command


def test_a_check_of_several_says_which_have_no_state() -> None:
    said = falsework("check", MODELS)
    assert said.code == 0
    assert said.out.startswith("HOLDS  Ledger")
    assert f"falsework: {DEADLINES} was not checked: it has no state; write: falsework prove" in said.err


def test_show_knows_obligations(golden: Callable[[str, str], None]) -> None:
    golden("prove/show", falsework("show", DEADLINES).all)


@pytest.mark.slow
def test_list_counts_obligations() -> None:
    (line,) = [line for line in falsework("list").out.splitlines() if "timing.claims" in line]
    assert "8 obligations" in line


def test_rules_are_carried_by_obligations() -> None:
    found = {str(element): element for element in elements_of(("models_to_prove.py",), ROOT / "tests")}
    first = found["obligation Deadlines.both_end_by_the_deadline"]
    assert (first.sources, first.broken_by) == (("stage 1",), ("FirstStageOnly", "NothingCharged"))
    second = found["obligation Deadlines.a_round_more_is_a_whole_more"]
    assert second.broken_by == ("FirstStageOnly", "NothingCharged", "ThreeRounds")


# --- the gate -----------------------------------------------------------------------------------------------


def test_the_gate_asks_obligations_and_who_refutes_them(golden: Callable[[str, str], None]) -> None:
    said = falsework("gate", DEADLINES, f"{MODELS}:Ledger")
    assert said.code == 0, said.all
    golden("prove/gate", said.all)


def test_the_gate_is_red_for_what_no_twin_refutes(golden: Callable[[str, str], None]) -> None:
    said = falsework("gate", f"{MODELS}:Corners")
    assert said.code == 13
    golden("prove/gate_red", said.all)


def judged(base: type[Model], breaks: dict[str, str], **body: object) -> tuple[str, ...]:
    """The words of the problems of a twin of the deadlines that declares this and overrides that."""
    cls = type("Made", (base,), {"__doc__": "Made here.", "__module__": base.__module__, **body})
    made = twin(breaks=breaks)(cls)
    contract = judge_obligations(made, "twin", prove)
    return tuple(dict.fromkeys(problem.word for problem in contract.problems))


def test_a_twin_is_held_to_what_it_declares() -> None:
    first, second = "both_end_by_the_deadline", "a_round_more_is_a_whole_more"
    right = {first: "SECOND=1 second=1", second: "SECOND=1"}
    wrong = {"whole": vars(models_to_prove.FirstStageOnly)["whole"]}
    base = models_to_prove.Deadlines
    assert judged(base, right, **wrong) == ()
    assert judged(base, {**right, second: "SECOND=2"}, **wrong) == ("other values",)
    assert judged(base, {first: right[first]}, **wrong) == ("surprise",)
    assert judged(base, right, FIRST=4) == ("survived",)
    assert judged(base, right, ROUNDS=3) == ("missing",)
    assert role_of(base) is None


def test_a_twin_of_what_is_not_proved_is_no_twin() -> None:
    contract = judge_obligations(models_to_prove.FirstStageOnly, "twin", lambda cls: prove(cls, seconds=1e-9))
    assert contract.verdict is Verdict.INCOMPLETE
    assert {problem.word for problem in contract.problems} == {"INCOMPLETE", "the model does not hold"}


def test_a_model_that_is_refuted_is_not_as_declared() -> None:
    answers = gate([f"{MODELS}:Corners"]).answers
    words = {asked.name: answer.word for asked, answer in answers.items() if asked.kind == "obligation"}
    assert words["is_refuted_at_nothing"] == "refuted"
    assert words["contradicts_itself"] == "VACUOUS"
    assert words["holds_of_choices"] == "no twin"


# --- the plugin ---------------------------------------------------------------------------------------------

PLUGIN = """
from falsework.pytest_plugin import model_tests
import models_to_prove

test_deadlines = model_tests(models_to_prove.Deadlines)
test_ledger = model_tests(models_to_prove.Ledger)
test_corners = model_tests(models_to_prove.Corners)
"""
pytest_plugins = ["pytester"]


@pytest.mark.slow
def test_the_plugin_proves_and_never_explores_what_has_no_state(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\n")
    pytester.makepyfile(test_models=PLUGIN)
    result = pytester.runpytest_subprocess("-q", "-rA", "-p", "no:randomly")
    text = "\n".join(result.outlines)
    for passed in (
        "deadlines[prove]", "deadlines[configuration LongDeadline]", "deadlines[configuration ThreeRounds]",
        "deadlines[twin FirstStageOnly]", "ledger[check]", "ledger[prove]", "ledger[machine]",
        "ledger[twin StuckLedger]", "ledger[twin SkippingLedger]",
    ):  # fmt: skip
        assert f"PASSED test_models.py::test_{passed}" in text, text
    assert "test_deadlines[check]" not in text
    assert "test_deadlines[machine]" not in text
    assert "FAILED test_models.py::test_corners[prove]" in text
    assert "REFUTED  Corners.is_refuted_at_nothing" in text
