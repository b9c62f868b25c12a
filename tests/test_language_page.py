"""docs/language.md: its whole example does what the page says of it, and its idiom is a model."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from bad_model import DOOR, module_of
from falsework.check import check
from falsework.definition import definition_of

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "language.md").read_text(encoding="utf-8")


@pytest.fixture
def watchdog(tmp_path: Path) -> Iterator[ModuleType]:
    block = next(b for b in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Watchdog" in b)
    yield module_of(tmp_path / "watchdog.py", block)
    del sys.modules["watchdog"]


def test_the_example_holds_in_the_states_that_the_page_counts(watchdog: ModuleType) -> None:
    result = check(watchdog.Watchdog)
    assert result.verdict.name == "HOLDS"
    assert result.tally.states == 4 * 2  # every value of remaining, 0..3, with both of alive
    assert f": {result.tally.states} states, and all are reached" in PAGE


@pytest.mark.parametrize("twin", ["WatchdogOffByOne", "WatchdogNeverUrgent"])
def test_each_twin_of_the_example_breaks_what_it_declares(watchdog: ModuleType, twin: str) -> None:
    cls = getattr(watchdog, twin)
    result = check(cls, every=True)
    assert result.broken == definition_of(cls).breaks
    assert result.tally.witnesses == {"a_dead_worker_is_noticed": 4}  # it hangs, and time passes three times


def test_a_sequence_for_each_node_is_a_map_with_lengths(tmp_path: Path) -> None:
    """The page's idiom: two nodes with up to two entries each, of two kinds, are (1 + 2 + 4)² states."""
    annotation, default = re.findall(r"`(Map\[tuple\[Node, Slot\], Entry \| None\]) = (Map\(None\))`", PAGE)[
        0
    ]
    append, grow = re.findall(r"where to append is `(.*?)` and then `(.*?)`", PAGE)[0]
    text = f"""
Node = Annotated[int, Below(2)]
Slot = Annotated[int, Below(2)]
Size = Annotated[int, Upto(2)]
Entry = Colour


class Logs(Model):
    log: {annotation} = {default}
    length: Map[Node, Size] = Map(0)

    @action
    def write(self, node: Node, entry: Entry) -> None:
        require(self.length[node] < 2)
        {append}
        {grow}

    @terminal
    def is_full(self) -> bool:
        return all(size == 2 for size in self.length.values())
"""
    assert "`length: Map[Node, Size] = Map(0)`" in PAGE
    logs = module_of(tmp_path / "logs.py", DOOR + text).Logs
    assert check(logs).tally.states == (1 + 2 + 4) ** 2
    del sys.modules["logs"]
