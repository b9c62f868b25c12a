"""The account of a specification's rules: what carries each, what is wrong, how a bad file is answered."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from command_line import ROOT, falsework
from falsework.errors import InputError
from falsework.rules import read
from falsework.rules_account import Account, account

SYSTEM = ROOT / "tests" / "rules_system"
BOOK = (SYSTEM / "rules.toml").read_text("utf-8")


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def written(folder: Path, text: str) -> Path:
    """A book with that text, over the model of the small system."""
    path = folder / "rules.toml"
    path.write_text(text.replace('"one_place.py"', f'"{SYSTEM / "one_place.py"}"'), encoding="utf-8")
    return path


def changed(folder: Path, old: str, new: str) -> Account:
    """The account of the small system's book with one change."""
    assert BOOK.count(old) == 1
    return account(read("small", written(folder, BOOK.replace(old, new))))


def said(found: Account) -> list[tuple[str, str]]:
    return [(mistake.rule, mistake.word) for mistake in found.mistakes]


def untested(text: str) -> str:
    """The book without its tests."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("tests"))


def test_every_rule_of_a_small_system_is_accounted_for(golden: Callable[[str, str], None]) -> None:
    # By hand: the twin bends has_room, which put reads, breaks the invariant, and is in the configuration.
    counted = falsework("rules", "tests/rules_system")
    carried = falsework("rules", "tests/rules_system/rules.toml", "--state", "carried")
    owed = falsework("rules", "tests/rules_system", "--state", "runtime")
    none = falsework("rules", "tests/rules_system", "--state", "missing")
    golden("rules/small", f"{counted.all}\n{carried.all}\n{owed.all}\n{none.all}")
    assert {counted.code, carried.code, owed.code, none.code} == {0}


def test_what_no_twin_breaks_and_no_test_names_is_a_mistake(tmp_path: Path) -> None:
    # take reads full alone, close and its invariant nothing that the twin bends; no twin loses the witness.
    found = account(read("small", written(tmp_path, untested(BOOK))))
    wanted = ["take 1", "take 2", "close 1", "close 2", "close 3"]
    assert said(found) == [(rule, "not broken") for rule in wanted]
    assert found.verdict.exit_code == 10


@pytest.mark.parametrize("old, new, wanted", [
    ('"paper" = ["1"]', '"paper" = ["1", "2"]', [("paper 2", "missing")]),
    ('ids = ["paper 1"]', 'ids = ["paper 1", "papre 1"]', [("papre 1", "unknown")]),
    ('ids = ["paper 1"]', 'ids = ["paper 1", "speed 1"]', [("speed 1", "twice")]),
    ('ids = ["paper 1"]', 'ids = ["paper 1", "put 2"]', [("put 2", "twice")]),
    ('"put" = ["1", "2"]', '"put" = ["1"]', [("put 2", "unknown"), ("put 2", "unknown")]),
    ('"put 1", "put 2",', '"put 1", "put 2", "paper 1",', [("paper 1", "not carried"), ("paper 1", "twice")]),
    ('"put 1", "put 2",', '"put 1",', [("put 2", "missing")]),
    ('["speed 1", "speed 2"]', '["speed 1", "speed 2", "room 2"]', [("room 2", "twice")]),
    ("_is_accounted_for", "_is_counted", [
        (rule, "no such test") for rule in ("take 1", "take 2", "close 1", "close 2", "close 3")
    ]),
])  # fmt: skip
def test_a_mistake_in_the_account(
    old: str, new: str, wanted: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (tmp_path / "pyproject.toml").touch()
    (folder / "test_rules.py").write_text(Path(__file__).read_text("utf-8"), encoding="utf-8")
    found = changed(folder, old, new)
    assert sorted(said(found)) == sorted(wanted)
    assert found.verdict.exit_code == 10


def test_what_an_element_carries_is_not_listed_as_owed(tmp_path: Path) -> None:
    text = (
        untested(BOOK).replace('"put 1", "put 2",', '"put 1",').replace('"paper 1"]', '"paper 1", "put 2"]')
    )
    found = account(read("small", written(tmp_path, text)))
    assert ("put 2", "listed otherwise") in said(found)
    assert "what_is_put_is_there at " in next(m.text for m in found.mistakes if m.rule == "put 2")


def test_a_test_that_is_not_installed_here_leaves_the_rule_undecided(tmp_path: Path) -> None:
    found = account(read("small", written(tmp_path, BOOK)))
    assert {word for _, word in said(found)} == {"not here"}
    assert found.verdict.exit_code == 12


def test_the_mistakes_as_text(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    text = untested(BOOK).replace('"paper 1"]', '"paper 1", "papre 1", "speed 2"]')
    written(tmp_path, text)
    answer = falsework("rules", str(tmp_path), "--state", "carried")
    assert answer.code == 10
    text = answer.all.replace(os.path.relpath(tmp_path), "folder").replace(str(tmp_path), "folder")
    golden("rules/mistakes", text.replace(tmp_path.name, "folder"))


@pytest.mark.parametrize("form", ["json", "junit", "markdown", "sarif"])
def test_other_formats_hold_every_rule(form: str) -> None:
    answer = falsework("rules", "tests/rules_system", "--format", form)
    assert answer.code == 0
    if form != "sarif":  # which holds what is wrong, and nothing is
        for rule in ("put 1", "take 2", "close 3", "room 2", "paper 1", "speed 2"):
            assert rule in answer.out


def test_the_json_keeps_to_its_schema_and_says_where(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8"))
    good = json.loads(falsework("rules", "tests/rules_system", "--format", "json").out)
    written(tmp_path, untested(BOOK))
    bad = json.loads(falsework("rules", str(tmp_path), "--format", "json").out)
    for answer in (good, bad):
        jsonschema.validate(answer, schema)
    (put,) = [item for item in good["items"] if item["name"].endswith("put 2")]
    assert put["state"] == "carried"
    assert [(e["name"], e["broken_by"]) for e in put["elements"]] == [
        ("Queue.what_is_put_is_there", ["PutsOver"])
    ]
    assert (good["exit_code"], bad["exit_code"]) == (0, 10)
    assert [item["status"] for item in bad["items"]].count("fail") == 5


# --- a bad file: the place, what was found, and what to write instead -------------------------------------


@pytest.mark.parametrize("old, new, told", [
    ('"put" = ["1", "2"]', '"put" = ["1", "2"', ":6: not TOML"),
    ('"put" = ["1", "2"]', '"put" = ["1", "1"]', ":5: the rule 'put 1' stands twice"),
    ('"put" = ["1", "2"]', '"put" = "1"', ":5: \"put\" = '1', which is no list of texts"),
    ('why = "It is about paper."', 'why = " "', ":23: [[external]] without a reason"),
    ('why = "It is about paper."\n', "", ":23: [[external]] without a reason"),
    ("[[external]]", "[[outside]]", ":23: 'outside' is no part of the file"),
    ("[[external]]", "[external]", ":23: external is no list of groups"),
    ('ids = ["paper 1"]', 'rules = ["paper 1"]', ":25: 'rules' in [[external]]"),
    ('ids = ["paper 1"]', "ids = []", ":23: ids = [], which is no list of texts"),
    ('tests = ["tests/test_rules.py::', 'tests = ["tests/test_rules.py:', "names no test"),
    ('models = ["one_place.py"]', "models = 3", ":2: models = 3, which is no list of texts"),
    ('models = ["one_place.py"]', 'models = ["no_such_model"]', "models: no model 'no_such_model'"),
    ('models = ["one_place.py"]', 'models = ["nowhere.py"]', "models: no file "),
    ('models = ["one_place.py"]', "models = " + "[" * 20_000, "rules.toml: nested too deep"),
])  # fmt: skip
def test_a_bad_file_is_told_by_its_line(old: str, new: str, told: str, tmp_path: Path) -> None:
    written(tmp_path, BOOK.replace(old, new))
    answer = falsework("rules", str(tmp_path))
    assert answer.code == 13
    assert told in answer.err
    assert "rules.toml:" in answer.err


def test_a_book_without_rules_is_bad() -> None:
    with pytest.raises(InputError, match="no file"):
        falsework_books("tests/rules_system/nothing.toml")
    assert "no rules.toml beside its models" in falsework("rules", "lease").err
    assert falsework("rules", "leese").code == 13
    assert "did you mean lease?" in falsework("rules", "leese").err


def falsework_books(system: str) -> None:
    from falsework.rules import books

    books(system)


def test_an_empty_table_of_rules_is_bad(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text("[rules]\n", encoding="utf-8")
    answer = falsework("rules", str(tmp_path))
    assert (answer.code, "no rules" in answer.err) == (13, True)
