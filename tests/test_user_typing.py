"""The language as mypy --strict sees it from a user's own file: what it infers, and what it refuses."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tree
from bad_model import load
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.explore import explore

HERE = Path(__file__).parent / "user_typing"
pytestmark = pytest.mark.slow


def said_of(file: Path) -> list[str]:
    """What mypy --strict says of the file, without this repository's settings."""
    tree.sync()
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--no-error-summary",
        "--hide-error-context",
    ]
    done = subprocess.run(
        [*command, "--cache-dir", str(tree.ROOT / "build" / "mypy-users"), str(file)],
        cwd=file.parent,
        env=os.environ | {"MYPYPATH": str(tree.TREE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(file.name) and ": error:" in line]


def test_a_users_model_is_inferred_as_it_is_written() -> None:
    assert said_of(HERE / "parking.py") == []


def test_a_users_model_runs() -> None:
    parking = load(HERE / "parking.py", "parking")
    for cls in (parking.Parking, parking.OnePlace, parking.NoHours, parking.FreeEntry):
        tally = explore(definition_of(cls), Bounds(every=True))
        assert (tally.fault, tally.complete) == (None, True)


def test_a_users_mistakes_are_refused_at_their_lines(tmp_path: Path) -> None:
    text = (HERE / "mistakes.txt").read_text(encoding="utf-8")
    (tmp_path / "mistakes.py").write_text(text, encoding="utf-8")
    wanted = {
        (number, found.group(1))
        for number, line in enumerate(text.splitlines(), 1)
        if (found := re.search(r"# error: (\S+)", line))
    }
    refused = {
        (int(found.group(1)), found.group(2))
        for line in said_of(tmp_path / "mistakes.py")
        if (found := re.match(r"mistakes\.py:(\d+): error: .*\[([\w-]+)\]$", line))
    }
    assert refused == wanted
