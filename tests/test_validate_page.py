"""The page on logs: its example is run, its tables name every field that is read."""

import re
from pathlib import Path

import pytest

from command_line import falsework
from falsework.conformance.observed_log import EVENT, HEADER, HIDDEN_KINDS
from falsework.conformance.observed_repair import WINDOW
from falsework.conformance.observed_search import MAX_CANDIDATES, MAX_HIDDEN

PAGE = (Path(__file__).parent.parent / "docs" / "validate.md").read_text("utf-8")


def test_the_example_is_rejected_as_it_stands_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = re.search(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown = re.search(r"^```console\n\$ falsework (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert log is not None
    assert shown is not None
    monkeypatch.chdir(tmp_path)
    Path("run.jsonl").write_text(log[1], "utf-8")
    said = falsework(*shown[1].split())
    assert (said.code, said.err) == (10, "")
    assert said.out.rstrip() == shown[2].rstrip()
    mended = [line for line in log[1].splitlines() if '"seq": 3' not in line]
    Path("run.jsonl").write_text("\n".join(mended).replace('"end": 5', '"end": 4'), "utf-8")
    assert falsework(*shown[1].split()).code == 0


def test_every_field_has_a_row() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    named = [word for row in rows for word in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted((*HEADER, *EVENT))


def test_the_limits_are_those_of_the_code() -> None:
    assert f"steps in a gap ({MAX_HIDDEN})" in PAGE
    assert f"states at a line ({MAX_CANDIDATES:,})" in PAGE
    assert f"up to {WINDOW} lines" in PAGE
    assert all(f"`@{kind}`" in PAGE for kind in HIDDEN_KINDS)
