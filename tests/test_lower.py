"""Each construct of the subset as the canonical text of what it is lowered to.

tests/lowered.txt holds small models, each with the text that a hand derives and, on lines `---`, the reason.
"""

import re
from pathlib import Path

import pytest

from bad_model import module_of
from falsework.definition import definition_of
from falsework.lower import lower, lower_edited
from falsework.mutate_operators import mutants

HEAD = """from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework import *


class Color(Enum):
    RED = 1
    GREEN = 2


Two = Annotated[int, Upto(2)]


class Pair(Record):
    a: Two
    b: bool


class Line(Row):
    to: Two


TABLE = {0: 2, 1: 0, 2: 1}


class M(Model):
"""


def cases() -> dict[str, tuple[str, str]]:
    """Each case by its title: the body of the class, and the text expected."""
    whole = (Path(__file__).parent / "lowered.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^=== (.+)\n", whole, flags=re.MULTILINE)
    found = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        body, expected = re.split(r"(?:^--- .+\n)+", text, flags=re.MULTILINE)
        found[title] = (body, expected)
    return found


CASES = cases()


@pytest.mark.parametrize("title", CASES)
def test_a_construct_is_lowered_to_what_a_hand_derives(title: str, tmp_path: Path) -> None:
    body, expected = CASES[title]
    definition = definition_of(module_of(tmp_path / "model.py", HEAD + body, "lowered_model").M)
    assert lower(definition).text() + "\n" == expected


class TestSuper:
    """`super().name()` in a twin lowers what stands above it."""

    BODY = """    x: Two = 0
    def ready(self, n: int) -> bool:
        return self.x < n
    @action
    def go(self) -> None:
        require(self.ready(2))
        self.x = 2


class Twin(M):
    def ready(self, n: int) -> bool:
        return super().ready(n) or self.x == 2
"""

    def test_the_override_is_one_condition(self, tmp_path: Path) -> None:
        """x below 2, or 2: always."""
        module = module_of(tmp_path / "model.py", HEAD + self.BODY, "lowered_twin")
        above = "slots x:3\naction go()\n  require (x in {0,1})\n  x := 2"
        assert lower(definition_of(module.M)).text() == above
        assert lower(definition_of(module.Twin)).text() == "slots x:3\naction go()\n  x := 2"


def test_a_model_is_lowered_once_and_the_same_each_time(tmp_path: Path) -> None:
    body = CASES["words over many"][0]
    definition = definition_of(module_of(tmp_path / "model.py", HEAD + body, "lowered_once").M)
    assert lower(definition) is lower(definition)
    again = definition_of(module_of(tmp_path / "again.py", HEAD + body, "lowered_again").M)
    assert lower(again).text() == lower(definition).text()


def test_a_conjunct_taken_out_is_gone_from_every_instance(tmp_path: Path) -> None:
    body = """    x: Two = 0
    y: Two = 0
    @action
    def put(self, n: Two) -> None:
        require(self.x < 2 and self.y == n)
        self.x = 2
"""
    definition = definition_of(module_of(tmp_path / "model.py", HEAD + body, "lowered_without").M)
    guards = [[g for g in i.guards if g.kind == "require"] for i in lower(definition).instances]
    assert [len(mine) for mine in guards] == [2, 2, 2]
    mutant = mutants(definition, ("guard",))[0]
    assert mutant.text == "self.x < 2"
    text = lower_edited(definition, {mutant.function: mutant.tree}, mutant.actions).text()
    assert "(x in {0,1})" in lower(definition).text()
    assert "(x in {0,1})" not in text
    assert text.count("require (y in") == 3
