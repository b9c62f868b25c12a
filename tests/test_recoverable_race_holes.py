"""The holes of the race are what their commands print: each step's number and call, and what it changes."""

import re
from collections.abc import Iterator

import pytest

from command_line import ROOT, falsework

TEXT = (ROOT / "docs" / "holes.md").read_text("utf-8").partition("\n# Race\n")[2].partition("\n# ")[0]
HOLES = TEXT.split("\n## ")[1:]
CONFIG = re.compile(r"`--config\s(\w+)`")
STEP = re.compile(r"^ *(\d+)  (\S.*?)(?:  +(.*))?$")
CHANGE = re.compile(r"[\w\[\].]+: \S+ → \S+")
SHOWN = [hole for hole in HOLES if "```text" in hole]


def told(hole: str) -> Iterator[tuple[int, str, set[str]]]:
    """Each step that the page shows: its number, its call, and the changes among what it says beside it."""
    for line in hole.split("```")[1].splitlines()[1:]:
        found = STEP.match(line)
        assert found is not None, line
        yield int(found[1]), found[2], {each.rstrip(",") for each in CHANGE.findall(found[3] or "")}


def printed(out: str) -> Iterator[tuple[int, str, set[str]]]:
    """Each step of each counterexample; what it changes stands beside it and in the lines below."""
    step: tuple[int, str, set[str]] | None = None
    for line in out.splitlines():
        found = STEP.match(line)
        if found is not None:
            step = int(found[1]), found[2], set(CHANGE.findall(line))
            yield step
        elif step is not None and line.startswith(" " * 12):
            step[2].update(CHANGE.findall(line))
        else:
            step = None


@pytest.mark.slow
@pytest.mark.parametrize("hole", SHOWN, ids=lambda hole: hole.partition("\n")[0])
def test_a_hole_is_what_its_command_prints(hole: str) -> None:
    config = CONFIG.search(hole)
    assert config is not None
    done = falsework("check", "recoverable_invocation.race", "--config", config[1])
    assert done.code == 10
    steps = list(printed(done.out))
    for number, call, changes in told(hole):
        assert any(
            number == at and said.partition(" → ")[0] == call.partition(" → ")[0] and changes <= changed
            for at, said, changed in steps
        ), (number, call, changes)


def test_every_hole_has_a_configuration_and_a_choice() -> None:
    assert len(HOLES) == 15
    assert all(CONFIG.search(hole) and "**Choice:**" in hole for hole in HOLES)
