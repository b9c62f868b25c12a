"""The page on CI and its workflow: parsed, and their commands run as a service would run them."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from falsework import __version__

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
CONFORMANCE = (ROOT / "docs" / "conformance.md").read_text("utf-8")
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / "docs" / "github-action.yml").read_text("utf-8"))
JOB = WORKFLOW["jobs"]["gate"]
STEPS = {step["name"]: step["run"] for step in JOB["steps"] if "run" in step}
INSTALL, GATE, JUNIT = STEPS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of both pages, and the implementation mended."""
    found = re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", CONFORMANCE + PAGE, re.MULTILINE | re.DOTALL)
    files = dict(found)
    mended = re.search(r"^`take`:\n\n```python\n(.*?)^```$", CONFORMANCE, re.MULTILINE | re.DOTALL)
    assert mended is not None
    files["lockers.py"] = re.sub(
        r"    def take.*?(?=\n    def)", mended[1], files["lockers.py"], flags=re.DOTALL
    )
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run(project: Path, script: str) -> subprocess.CompletedProcess[str]:
    """The step as the service runs it: its shell, from the checkout, CI being set."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ, "PATH": programs, "CI": "true", "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_workflow_is_one() -> None:
    assert WORKFLOW[True] == {"push": None, "pull_request": None}  # YAML 1.1 reads `on` so
    assert JOB["defaults"]["run"]["shell"] == "bash"  # which is what gives the pipe its exit code
    assert all(("uses" in step) != ("run" in step) for step in JOB["steps"])


def test_what_it_installs_is_this_version_with_extras_that_there_are() -> None:
    wheel = re.search(r'"vendor/falsework-(.*?)-py3-none-any\.whl\[(.*?)\]"', STEPS[INSTALL])
    assert wheel is not None
    assert wheel[1] == __version__
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(wheel[2].split(",")) <= set(extras)


@pytest.mark.slow
def test_its_steps_are_green_and_leave_a_summary_and_a_report(project: Path) -> None:
    done = run(project, STEPS[GATE])
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "summary.md").read_text("utf-8") == done.stdout
    assert "AS DECLARED" in done.stdout
    assert run(project, STEPS[JUNIT]).returncode == 0
    assert 'failures="0"' in (project / "gate.xml").read_text("utf-8")


def test_the_page_s_command_is_the_workflow_s() -> None:
    (asked,) = re.findall(r"^\$ (falsework gate .*)$", PAGE, re.MULTILINE)
    for script in (STEPS[GATE], STEPS[JUNIT]):
        assert " ".join(script.replace("\\\n", "").split()).startswith(asked)


@pytest.mark.parametrize(
    "name, old, new, word, code",
    [
        # The model loses its guard: it breaks what its twin does, and the twin is no departure from it.
        ("locker.py", "if self.holder is not None:\n            return False", "if False: return False",
         "VIOLATED", 10),
        ("locker_twins.py", "locker_to_a_taker: 2", "locker_to_a_taker: 3", "OTHER STEP COUNT", 10),
        ("locker_twins.py", "        self.holder = person\n", "", "SURVIVED", 10),
        ("lockers.py", "if locker in self.held:", "if not locker:", "DIVERGES", 10),
        ("locker_subject.py", "refuses = (", "refuses = ('free', ", "ERROR", 13),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_what_goes_wrong_turns_the_step_red(
    project: Path, name: str, old: str, new: str, word: str, code: int
) -> None:
    text = (project / name).read_text("utf-8")
    assert old in text
    (project / name).write_text(text.replace(old, new), "utf-8")
    done = run(project, STEPS[GATE])
    assert done.returncode == code, done.stdout + done.stderr
    assert word in done.stdout


def test_the_entry_points_name_the_files_of_the_page(project: Path) -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    points = tomllib.loads(text)["project"]["entry-points"]
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    assert set(points) <= set(ours)
    for named in points.values():
        for module in named.values():
            assert (project / f"{module.partition(':')[0]}.py").is_file()


def test_the_table_of_exit_codes_is_that_of_the_command_line() -> None:
    told = set(re.findall(r"\| (\d+) \|$", PAGE, re.MULTILINE))
    assert told == {"10", "11", "12", "13"}
