"""Every verdict in every format, as text to be read; and what each format promises to whoever parses it."""

import functools
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import models_for_reports as models
import models_wrong
from command_line import ROOT
from falsework.check import Failure, Outcome, check
from falsework.errors import FalseworkError, Refused
from falsework.judge import broken_by, broken_in
from falsework.language import Model
from falsework.report_check import check_document
from falsework.report_document import FORMATS, Document, Item, Remark, render
from falsework.verdict import Verdict, combine

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
EXPLORE: dict[str, Any] = {"engine": "explore"}

# The verdict of each by the sentence in its docstring; the exit codes by the table in docs/cli.md.
CASES: dict[str, tuple[type[Model], dict[str, Any], Verdict, int]] = {
    "holds": (models.Lease, EXPLORE, Verdict.HOLDS, 0),
    "holds-within": (models.Bounded, EXPLORE, Verdict.HOLDS_WITHIN, 0),
    "violated": (models.StoreWithoutFencing, {**EXPLORE, "every": True}, Verdict.VIOLATED, 10),
    "deadlock": (models.Stuck, EXPLORE, Verdict.VIOLATED, 10),
    "domain": (models.Overflow, EXPLORE, Verdict.VIOLATED, 10),
    "never-fires": (models.NeverFires, EXPLORE, Verdict.VACUOUS, 11),
    "premise-never-true": (models.PremiseNeverTrue, EXPLORE, Verdict.VACUOUS, 11),
    "witness-not-reached": (models.WitnessNotReached, EXPLORE, Verdict.VACUOUS, 11),
    "no-invariant": (models.NoInvariant, EXPLORE, Verdict.VACUOUS, 11),
    "incomplete": (models.Wide, {**EXPLORE, "max_states": 50}, Verdict.INCOMPLETE, 12),
    "fault": (models.FaultInPredicate, EXPLORE, Verdict.ERROR, 13),
    "no-initial-state": (models.NoInitialState, EXPLORE, Verdict.ERROR, 13),
    "definition-error": (models_wrong.UnboundedInt, EXPLORE, Verdict.ERROR, 13),
    "refused": (models.Refusing, {"engine": "fast"}, Verdict.ERROR, 13),
}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@functools.cache
def outcome(name: str) -> Outcome:
    cls, options, _, _ = CASES[name]
    try:
        result = check(cls, **options)
    except FalseworkError as problem:
        return Failure(cls.__name__, problem)
    result.tally.seconds = 0.0
    return result


def document(name: str, *, verbose: bool = False) -> Document:
    return check_document(CASES[name][0].__name__, [outcome(name)], verbose=verbose)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", FORMATS)
def test_each_verdict_in_each_format(name: str, form: str, golden: Callable[[str, str], None]) -> None:
    made = document(name)
    assert (made.word, made.exit_code) == (CASES[name][2].value, CASES[name][3])
    golden(f"cli/{form}/{name}", render(made, form))


@pytest.mark.parametrize("name", ["holds", "holds-within", "violated", "premise-never-true"])
def test_what_was_covered(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"cli/verbose/{name}", render(document(name, verbose=True)))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", FORMATS)
def test_the_first_line_says_what_was_asked_and_what_was_answered(name: str, form: str) -> None:
    first = render(document(name), form).partition("\n")[0]
    assert CASES[name][2].value in first
    assert CASES[name][0].__name__ in first


@pytest.mark.parametrize("name", CASES)
def test_json_keeps_its_schema(name: str) -> None:
    jsonschema.validate(json.loads(render(document(name), "json")), SCHEMA)


@pytest.mark.parametrize("field", ["verdict", "exit_code", "items", "asked"])
def test_the_schema_misses_what_is_missing(field: str) -> None:
    whole = json.loads(render(document("violated"), "json"))
    del whole[field]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(whole, SCHEMA)


@pytest.mark.parametrize("name", CASES)
def test_junit_paints_nothing_green_but_a_pass(name: str) -> None:
    suites = ET.fromstring(render(document(name), "junit"))  # noqa: S314  the text is ours
    verdict = CASES[name][2]
    wanted = {Verdict.VIOLATED: "failure"}.get(verdict, "error")
    assert not list(suites.iter("skipped"))
    assert {e.tag for e in suites.iter() if e.tag in ("failure", "error")} == (
        set() if verdict.passes else {wanted}
    )
    assert len(list(suites.iter("testcase"))) == int(suites.attrib["tests"]) == 1


def test_junit_holds_what_xml_cannot() -> None:
    item = Item("a", "fail", "VIOLATED", 'VIOLATED  <a> & "b" \x00\x1b[31m', "]]> \ud800")
    text = render(Document("check", "a", "VIOLATED", 10, (item,)), "junit")
    suites = ET.fromstring(text)  # noqa: S314  the text is ours
    (failure,) = suites.iter("failure")
    assert failure.attrib["message"] == 'VIOLATED  <a> & "b" ??[31m'


def test_sarif_points_at_the_line_of_the_invariant() -> None:
    whole = json.loads(render(document("violated"), "sarif"))
    (found,) = whole["runs"][0]["results"]
    place = found["locations"][0]["physicalLocation"]
    line = Path(place["artifactLocation"]["uri"]).read_text(encoding="utf-8").splitlines()
    assert found["ruleId"] == "writes_never_go_back"
    assert line[place["region"]["startLine"] - 1].strip() == "return self.written >= before.written"


def test_markdown_cannot_be_broken_out_of() -> None:
    item = Item("a|b", "error", "ERROR", "ERROR  a|b  <script>", "```\n</details>")
    text = render(Document("gate", "a", "ERROR", 13, (item, item)), "markdown")
    assert "| a\\|b |" in text
    assert "````text\n```\n</details>\n````" in text
    assert "<summary>ERROR  a|b  &lt;script&gt;</summary>" in text


def test_many_answers_make_one_document(golden: Callable[[str, str], None]) -> None:
    outcomes = [outcome(name) for name in ("holds", "holds-within", "incomplete", "never-fires")]
    made = check_document("models_for_reports", outcomes)
    assert made.exit_code == 12  # INCOMPLETE is graver than VACUOUS, by the order of the verdicts
    for form in FORMATS:
        golden(f"cli/{form}/many", render(made, form))


def test_a_gate_can_bring_items_and_tables_of_its_own(golden: Callable[[str, str], None]) -> None:
    items = (
        Item("Lease", "pass", "HOLDS", "HOLDS  Lease"),
        Item(
            "Twin",
            "fail",
            "SURVIVED",
            "SURVIVED  Twin",
            "nothing is broken",
            remarks=(Remark("survived", "x"),),
        ),
    )
    made = Document("gate", "lease", "NOT AS DECLARED", 10, items, "2 of 3", (("twin × invariant", "a  b"),))
    jsonschema.validate(json.loads(render(made, "json")), SCHEMA)
    for form in FORMATS:
        golden(f"cli/{form}/gate", render(made, form))


# --- the reasons ----------------------------------------------------------------------------------------


def test_the_table_falls_back_to_differences_where_it_is_too_wide(golden: Callable[[str, str], None]) -> None:
    result = check(models.Journal, engine="explore")
    result.tally.seconds = 0.0
    for width in (110, 60, 40):
        golden(f"cli/width-{width}", render(check_document("Journal", [result], width=width)))


@pytest.mark.parametrize("cls", [models.Reasons, models.ReasonsOfSteps])
def test_the_conjunct_that_is_false_is_shown_with_what_it_read(
    cls: type[Model], golden: Callable[[str, str], None]
) -> None:
    result = check(cls, engine="explore", every=True)
    result.tally.seconds = 0.0
    assert set(result.counterexamples) == {p.name for p in result.definition.invariants}
    golden(f"cli/reasons-{cls.__name__}", render(check_document(cls.__name__, [result])))


def test_every_counterexample_is_broken_on_the_class_and_no_step_before_it_is() -> None:
    for name in ("violated", "domain", "deadlock"):
        result = outcome(name)
        assert not isinstance(result, Failure)
        for found in result.counterexamples.values():
            assert len(found.taken) == found.violation.steps + 1
            for before, after in zip(found.taken, found.taken[1:-1], strict=False):
                action = next(a for a in result.definition.actions if a.name == after.label.action)
                assert not list(broken_in(result.definition, before.state))
                assert not list(
                    broken_by(result.definition, action, after.label, after.answer, before.state, after.state)
                )


def test_of_nothing_the_verdict_is_an_error() -> None:
    assert combine([]) is Verdict.ERROR
    assert check_document("nothing", []).exit_code == 13


@pytest.mark.parametrize(
    "verdicts, gravest",
    [
        ([Verdict.HOLDS, Verdict.HOLDS_WITHIN], Verdict.HOLDS_WITHIN),
        ([Verdict.VACUOUS, Verdict.HOLDS], Verdict.VACUOUS),
        ([Verdict.INCOMPLETE, Verdict.VACUOUS], Verdict.INCOMPLETE),
        ([Verdict.VIOLATED, Verdict.INCOMPLETE], Verdict.VIOLATED),
        ([Verdict.VIOLATED, Verdict.ERROR], Verdict.ERROR),
    ],
)
def test_the_graver_verdict_wins(verdicts: list[Verdict], gravest: Verdict) -> None:
    assert combine(verdicts) is gravest


def test_what_fast_refuses_is_refused_by_name() -> None:
    with pytest.raises(Refused):
        check(models.Refusing, engine="fast")
    assert check(models.Refusing).engine == "explore"
