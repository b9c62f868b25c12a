"""What was found in an implementation's records, the logs or the histories that were looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

from falsework.conformance.subject import OBSERVATION
from falsework.definition import Definition
from falsework.verdict import Verdict


@dataclass(frozen=True)
class Sighting:
    """Where a record is none of the model's or breaks an invariant: the source, its line, what is there."""

    source: str
    line: int
    text: str


@dataclass
class Survey:
    """The records of one subject on one surface, counted and judged."""

    subject: str
    surface: str
    definition: Definition
    unit: str  # what a source consists of, for people: "line", "snapshot"
    sources: dict[str, int] = field(default_factory=dict)  # each log or history, and how long it is
    observable: dict[str, int] = field(default_factory=dict)  # how often each invariant was judged
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the others, and what they lack
    broken: dict[str, Sighting] = field(default_factory=dict)  # the nearest to the beginning, by invariant
    rejected: list[Sighting] = field(default_factory=list)  # what is no behaviour of the model at all
    undecided: list[str] = field(default_factory=list)
    problem: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The gravest: an adapter that fails, records that are wrong or undecided, nothing judged."""
        if self.problem:
            return Verdict.ERROR
        if self.broken or self.rejected:
            return Verdict.VIOLATED
        if self.undecided:
            return Verdict.INCOMPLETE
        return Verdict.HOLDS if any(self.observable.values()) else Verdict.VACUOUS

    @property
    def found(self) -> dict[str, Sighting]:
        """What is broken; of what is no behaviour of the model the sighting nearest to the beginning."""
        if not self.rejected:
            return self.broken
        return {**self.broken, OBSERVATION: min(self.rejected, key=lambda seen: seen.line)}

    def breaks(self, name: str, sighting: Sighting) -> None:
        """The invariant is false there; the sighting nearest to the beginning of its source is kept."""
        if name not in self.broken or sighting.line < self.broken[name].line:
            self.broken[name] = sighting
