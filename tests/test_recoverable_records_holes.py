"""The holes of the records are what their commands print, step by step."""

import re
from pathlib import Path

import pytest

from command_line import falsework

TEXT = (Path(__file__).parent.parent / "docs" / "holes.md").read_text("utf-8")
SECTION = TEXT.split("\n# Records\n")[1].split("\n# ")[0]
HOLES = SECTION.split("\n## ")[1:]
COMMAND = re.compile(r"`falsework (check|replay) ([^`]+)`")
STEP = re.compile(r"^ *(\d+)  (.+?)(?:  |$)", re.MULTILINE)


def arguments(hole: str) -> list[str]:
    """The command of a hole as the shell would split it."""
    found = COMMAND.search(hole)
    assert found is not None, hole.partition("\n")[0]
    words, _, steps = found[2].partition(" '")
    return [found[1], *words.split(), *([steps.removesuffix("'")] if steps else [])]


@pytest.mark.slow
@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.partition("\n")[0])
def test_a_hole_is_what_its_command_prints(hole: str) -> None:
    done = falsework(*arguments(hole))
    printed = set(STEP.findall(done.out))
    told = set(STEP.findall(hole.split("```")[1]))
    assert told
    assert told <= printed


def test_every_hole_has_a_choice() -> None:
    assert len(HOLES) == 15
    assert all("**Choice:**" in hole for hole in HOLES)
