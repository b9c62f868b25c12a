"""The page on conformance: its files are written, its commands are run, its tables name the protocol."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from falsework import cli_conform
from falsework.conformance.finding import SECONDS, find_subject
from falsework.conformance.subject import ATTRIBUTES, METHODS, OPTIONAL, RECORDS, protocol_text
from falsework.errors import InputError

PAGE = (Path(__file__).parent.parent / "docs" / "conformance.md").read_text("utf-8")
FILES = dict(re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^```console\n\$ falsework (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MENDED = re.search(r"^`take`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def printed(folder: Path, command: str) -> tuple[int, str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "falsework", *command.split()],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def timeless(text: str) -> str:
    """The text without how long it took."""
    return re.sub(r"\d+\.\d+ s\b", "… s", text).rstrip()


def test_the_example_diverges_and_conforms_once_it_is_mended(tmp_path: Path) -> None:
    assert list(FILES) == ["locker.py", "lockers.py", "locker_subject.py"]
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    (first, diverges), (second, conforms) = COMMANDS
    code, text = printed(tmp_path, first)
    assert (code, timeless(text)) == (10, timeless(diverges))
    wrong = re.search(r"    def take.*?(?=\n    def)", FILES["lockers.py"], re.DOTALL)
    assert wrong is not None
    assert MENDED is not None
    mended = FILES["lockers.py"].replace(wrong[0], MENDED[1])
    (tmp_path / "lockers.py").write_text(mended, "utf-8")
    code, text = printed(tmp_path, second)
    assert (code, timeless(text)) == (0, timeless(conforms))


def test_every_part_of_the_protocol_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)(?:\(.*?\))?` \|", PAGE, re.MULTILINE)
    records = (method for method, _ in RECORDS.values())
    assert tuple(rows) == (*ATTRIBUTES, *OPTIONAL, *METHODS, *records)
    assert f"may take, {SECONDS['driven']:g} unless told" in PAGE


def test_the_command_s_help_lists_the_protocol() -> None:
    assert protocol_text() in (cli_conform.__doc__ or "")


def test_all_that_a_subject_lacks_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare_subject.py").write_text(
        'class Bare:\n    model = "lease:Lease"\n    surface = "none"\n'
        "    internal = refusals = unknowns = ()\n"
        "    def begin(self, constants): ...\n    def close(self): ...\n",
        "utf-8",
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(InputError) as told:
        find_subject(f"{tmp_path}/bare_subject.py:Bare")
    lines = str(told.value).splitlines()
    assert lines[0].endswith("is no subject: it has no refuses, perform and observe")
    assert [line.split()[0] for line in lines[1:]] == ["refuses", "perform", "observe"]
