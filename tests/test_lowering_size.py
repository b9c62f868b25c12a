"""Models that nest deeply or have many cells: lowered, searched as the class is, or refused by a line."""

from pathlib import Path

import pytest

from bad_model import module_of
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.errors import Refused
from falsework.explore import explore
from falsework.fast import fast
from falsework.lower import lower

HEAD = """from typing import Annotated

from falsework import Below, Map, Model, Upto, action, invariant, require

Two = Annotated[int, Upto(2)]


class M(Model):
"""


def nested(depth: int) -> str:
    """Conditional expressions inside each other, on both sides in turn."""
    e = "self.x"
    for k in range(depth):
        e = f"({k % 3} if self.y == {k} else {e})" if k % 2 else f"({e} if self.y != {k} else self.x % 3)"
    return f"""
    x: Two = 0
    y: Annotated[int, Upto({depth})] = 0

    @action
    def turn(self) -> None:
        self.x = {e}
        self.y = (self.y + 1) % {depth + 1}

    @invariant
    def stays(self) -> bool:
        return {e} <= 2
"""


def cells(size: int) -> str:
    """A map with as many keys, read and written at a symbolic one, and its sum."""
    return f"""
    cells: Map[Annotated[int, Below({size})], bool] = Map(False)
    at: Annotated[int, Below({size})] = 0
    last: bool = False

    @action
    def move(self) -> None:
        self.at = (self.at + 1) % {size}

    @action
    def put(self) -> None:
        require(self.at < 2)
        self.cells[self.at] = not self.cells[self.at]
        self.last = self.cells[{size} - 1 - self.at]

    @invariant
    def few(self) -> bool:
        return sum(self.cells.values()) <= 2 and sum(1 for key in self.cells if self.cells[key]) < 3
"""


def table(size: int) -> str:
    """A dict beside the model, looked up at a variable and at a sum."""
    return f"""
    x: Annotated[int, Below({size})] = 0
    y: Annotated[int, Below({size})] = 0

    @action
    def look(self) -> None:
        self.x = TABLE[self.x]

    @action
    def add(self) -> None:
        require(self.x < 3)
        self.y = TABLE[(self.x + self.y) % {size}]


TABLE = {{k: (k * 7 + 3) % {size} for k in range({size})}}
"""


def rounds(size: int) -> str:
    """Loops that carry a value along and leave early."""
    return f"""
    cells: Map[Annotated[int, Below({size})], Two] = Map(0)
    x: Two = 0

    @action
    def put(self, number: Two) -> None:
        self.cells[0] = number

    @action
    def put_last(self, number: Two) -> None:
        self.cells[{size} - 1] = number

    @action
    def most(self) -> None:
        best = 0
        for key in self.cells:
            best = max(best, self.cells[key])
        self.x = best

    @action
    def fold(self) -> None:
        total = 1
        for key in self.cells:
            total = total * 2 % 7 if self.cells[key] == 1 else total * 3 % 7 + self.cells[key]
        self.x = total % 3

    @action
    def first_empty(self) -> None:
        for key in self.cells:
            if self.cells[key] == 0:
                self.cells[key] = 1 if key < 2 else 0
                return
            if self.cells[key] == 2:
                self.x = 2

    @invariant
    def small(self) -> bool:
        return max(self.cells.values()) <= 2
"""


def chain(length: int) -> str:
    """One if with as many elif."""
    ways = "".join(
        f"        {'elif' if k else 'if'} self.x + self.y == {k}:\n"
        f"            self.x = {(k * 5 + 1) % length}\n"
        for k in range(length)
    )
    return f"""
    x: Annotated[int, Upto({length})] = 0
    y: Annotated[int, Upto({length})] = 0

    @action
    def add(self) -> None:
        require(self.y < 3)
        self.y += 1

    @action
    def choose(self) -> None:
{ways}"""


SIZES = {
    "60 conditional expressions": nested(60),
    "200 keys": cells(200),
    "a table of 100": table(100),
    "100 rounds": rounds(100),
    "300 elif": chain(300),
}


@pytest.mark.parametrize("name", SIZES)
def test_large_models_are_searched_as_their_class_is(name: str, tmp_path: Path) -> None:
    definition = definition_of(module_of(tmp_path / "model.py", HEAD + SIZES[name], "large_model").M)
    counts = fast(definition, Bounds(every=True)).counts()
    assert counts == explore(definition, Bounds(every=True)).counts()
    assert isinstance(counts["states"], int)
    assert counts["states"] > 15


def test_what_nests_deeper_than_can_be_walked_is_refused_by_its_line(tmp_path: Path) -> None:
    """A running maximum nests two deep a round, a comparison and a choice: 1,200 rounds are above 2,000."""
    definition = definition_of(module_of(tmp_path / "model.py", HEAD + rounds(1200), "deep_model").M)
    with pytest.raises(Refused) as caught:
        lower(definition)
    assert caught.value.code == "P010"
    assert caught.value.place is not None
    assert caught.value.place.line == definition.actions[2].place.line
