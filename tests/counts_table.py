"""The rows of counts.toml, and what the tuple program of a row counts."""

import importlib
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falsework.accounting import Tally
from falsework.definition import Definition, definition_of
from falsework.naming import with_constants
from peers.search import Counted


@dataclass(frozen=True, eq=False)
class Row:
    """A row of counts.toml."""

    model: str
    path: str
    constants: dict[str, Any]
    states: int
    transitions: int
    depth: int
    tier: str
    confirmed: str
    cut: int = 0
    generated: int | None = None
    never_fires: list[str] = field(default_factory=list)
    never_reached: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        sizes = ",".join(f"{name}={int(value)}" for name, value in self.constants.items())
        return f"{self.path.partition(':')[2]}[{sizes}]"

    def definition(self) -> Definition:
        module, _, name = self.path.partition(":")
        return definition_of(with_constants(getattr(importlib.import_module(module), name), self.constants))

    def figures(self) -> dict[str, Any]:
        """What a complete search is to find, in the terms of `found`."""
        return {
            "complete": True,
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "cut": self.cut,
            "broken": [],
            "never_fires": self.never_fires,
            "never_reached": self.never_reached,
        }

    def second_opinion(self, **options: bool) -> Counted:
        """What the tuple program counts."""
        counted: Counted = importlib.import_module(f"peers.{self.model}").counts(self.constants, **options)
        return counted


def found(tally: Tally) -> dict[str, Any]:
    """What the search found."""
    return {
        "complete": tally.complete,
        "states": tally.states,
        "transitions": tally.transitions,
        "depth": tally.depth,
        "cut": sum(tally.cuts.values()),
        "broken": [*tally.violations],
        "never_fires": [action for action, covered in tally.coverage.items() if not covered.fired],
        "never_reached": [witness for witness, steps in tally.witnesses.items() if steps is None],
    }


def steps_of(tally: Tally) -> Counted:
    """What the search counted, as a tuple program counts it."""
    taken = Counter({name: covered.fired for name, covered in tally.coverage.items() if covered.fired})
    cut = Counter({name: covered.cut for name, covered in tally.coverage.items() if covered.cut})
    return Counted(tally.levels, taken, cut)


TABLE = tomllib.loads(Path(__file__).with_name("counts.toml").read_text("utf-8"))
ROWS = [Row(**row) for row in TABLE["count"]]
