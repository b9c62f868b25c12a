"""Where an implementation and its model part: a path, and at its last step what was expected and observed."""

from __future__ import annotations

from dataclasses import dataclass

from falsework.state import State
from falsework.trace import Label


@dataclass(frozen=True)
class Row:
    """One line of the table beside a divergence: the answer or a variable, as expected and as observed."""

    what: str
    before: str
    expected: str
    observed: str

    @property
    def differs(self) -> bool:
        """Whether this is where they part."""
        return self.expected != self.observed


@dataclass(frozen=True)
class Divergence:
    """A path at whose last step model and implementation part."""

    start: Label | None
    path: tuple[Label, ...]
    states: tuple[State, ...]  # of the model: the start, and after each step but the last
    rows: tuple[Row, ...]
    shortest: bool = True  # false where the search for a shorter one was given up

    @property
    def name(self) -> str:
        """What they part in: the answer, or an observation."""
        return "answer" if self.rows[0].differs else "observation"

    @property
    def steps(self) -> int:
        """How many steps were performed, the one that parts included."""
        return len(self.path)
