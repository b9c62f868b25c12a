"""The README's claims are run: its files are written, and its commands give exactly what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
FENCES = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    tuple(text.removeprefix("$ ").split("\n", 1))
    for kind, text in FENCES
    if kind == "console" and text.startswith("$ falsework")
]


def files() -> dict[str, str]:
    """The Python files that the README shows, by the names that stand before them."""
    shown = re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return dict(shown)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in files().items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def timeless(text: str) -> str:
    """The text without what differs from run to run: how long it took."""
    return re.sub(r"\d+\.\d+ s\b", "… s", text).rstrip()


def test_the_readme_shows_a_model_a_counterexample_and_a_gate() -> None:
    assert [command.split()[1] for command, _ in COMMANDS] == ["check", "check", "gate"]
    assert list(files()) == ["box_office.py", "test_box_office.py"]


@pytest.mark.parametrize("command, shown", COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_prints_what_the_readme_shows(folder: Path, command: str, shown: str) -> None:
    done = run(folder, *command.split())
    assert timeless(done.stdout + done.stderr) == timeless(shown)


def test_the_two_lines_of_a_test_file_pass(folder: Path) -> None:
    done = run(folder, "pytest", "-q", "-p", "no:cacheprovider", "test_box_office.py")
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout  # the model, its twin, and the Hypothesis machine


def test_without_the_guard_the_gate_is_red(folder: Path) -> None:
    model = folder / "box_office.py"
    model.write_text(model.read_text("utf-8").replace("return look == self.sold", "return True", 1), "utf-8")
    done = run(folder, "falsework", "gate", "box_office.py")
    assert done.returncode == 10
    assert "no_seat_is_sold_twice" in done.stdout


def test_the_readme_says_what_is_not_proved_and_its_links_lead_somewhere() -> None:
    assert "## What this does not prove" in README
    root = Path(__file__).parent.parent
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert all((root / link).exists() for link in links)


def test_the_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (Path(__file__).parent.parent / "Makefile").read_text("utf-8")
    assert re.search(r"^gate:", makefile, re.MULTILINE)
    assert re.search(r"^test:", makefile, re.MULTILINE)
