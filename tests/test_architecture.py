"""ARCHITECTURE.md names every module of the checker, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
NAMED = set(re.findall(r"`(\w+)\.py`", TEXT))
FAMILIES = re.findall(r"`(\w+_)\*\.py`", TEXT)


def modules(folder: str) -> set[str]:
    """The names of the folder's modules, the package's own apart."""
    return {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__", "__main__"}


def test_every_module_of_the_checker_is_named() -> None:
    missing = {name for name in modules("checker") - NAMED if not name.startswith(tuple(FAMILIES))}
    assert not missing


def test_no_module_is_named_that_is_not_there() -> None:
    runtime = {path.stem for path in (ROOT / "runtime").rglob("*.py")}
    assert not NAMED - modules("checker") - modules("checker/conformance") - runtime
