"""docs/prove.md: its example answers as the page says, to the letter."""

import re
import sys
from pathlib import Path

import pytest

from command_line import ROOT, falsework
from falsework.posed import with_figures

PAGE = (ROOT / "docs" / "prove.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The page's one block in that language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_example_answers_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "retry.py").write_text(block("python"), encoding="utf-8")
    proved = falsework("prove", "retry.py:Retry")
    assert (proved.code, proved.out.splitlines()[1].split()[0]) == (0, "PROVED")
    refuted = falsework("prove", "retry.py:RetryForFree")
    assert refuted.code == 10
    assert refuted.out.partition("\n\n")[2] == block("text")
    assert falsework("gate", "retry.py").code == 0
    assert "`with_figures(Retry, CALL=5).budget()` is 11" in PAGE
    assert with_figures(sys.modules["retry"].Retry, CALL=5).budget() == 11
    del sys.modules["retry"]


def test_every_word_has_its_exit_code() -> None:
    rows = dict(re.findall(r"^\| ([A-Z ]+) \| .* \| (\d+) \|$", PAGE, re.MULTILINE))
    failures = {"REFUTED": "10", "VACUOUS": "11", "INCOMPLETE": "12", "NOT CHECKED": "12", "ERROR": "13"}
    assert rows == {"PROVED": "0", **failures}
