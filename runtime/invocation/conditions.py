"""The conditions under which an instance may start: the five of the text, and those that repair them.

The text's first condition counts two allowances for every kind. A fenced act that did not commit is closed
only past the abandon edge, one allowance later than any other: its sum takes a third. The text's second
condition counts the act's bound and one allowance beyond the window. The sweep's upper edge is judged on a
clock that may be an allowance ahead of the one that stamped, and is itself early by one: two allowances.
Where no fence makes the act's bound exceed the allowance, the second may be the larger.
"""

from dataclasses import dataclass
from enum import Enum

from falsework.runtime.invocation.figures import Deployment, Figures, Kind
from falsework.runtime.invocation.units import spoken

HEADROOM = 0
"""The number of what is no condition of one kind: the journal write bound's own headroom."""

EVERY = "every kind"
"""For whom the headroom is."""


class Source(Enum):
    """Whose condition it is."""

    TEXT = "text"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True)
class Term:
    """A figure counted so many times."""

    name: str
    value: int
    times: int = 1

    @property
    def amount(self) -> int:
        """What it adds."""
        return self.value * self.times

    def __str__(self) -> str:
        return f"{self.times} × {spoken(self.value)}" if self.times > 1 else spoken(self.value)


@dataclass(frozen=True, slots=True)
class Condition:
    """One figure against a sum, for one kind: strictly above it, or at least it."""

    number: int
    source: Source
    kind: str
    scope: str
    figure: str
    value: int
    terms: tuple[Term, ...]
    strict: bool

    @property
    def bound(self) -> int:
        """What the figure is held against."""
        return sum(term.amount for term in self.terms)

    @property
    def least(self) -> int:
        """The least figure that would pass, in microseconds."""
        return self.bound + 1 if self.strict else self.bound

    @property
    def margin(self) -> int:
        """By how much the figure passes beyond the least; below nothing, it fails by as much."""
        return self.value - self.least

    @property
    def holds(self) -> bool:
        """Whether the instance may start as far as this goes."""
        return self.margin >= 0

    @property
    def name(self) -> str:
        """The condition's number, and whether it is the text's own."""
        name = "headroom" if self.number == HEADROOM else str(self.number)
        return name if self.source is Source.TEXT else f"{name} repaired"

    @property
    def sum(self) -> str:
        """The terms with their figures."""
        return " + ".join(map(str, self.terms))

    @property
    def remedy(self) -> str:
        """What figure would pass."""
        return f"{'more than' if self.strict else 'at least'} {spoken(self.bound)}"


def conditions(deployment: Deployment) -> tuple[Condition, ...]:
    """Every condition for every kind, in the order of both, and the journal fence's own."""
    found: list[Condition] = []
    for kind in deployment.kinds.values():
        found += conditions_of(kind, deployment.figures)
    return (*found, *headroom(deployment.figures))


def conditions_of(kind: Kind, figures: Figures) -> tuple[Condition, ...]:
    """The five of the text, and after each the one that repairs it where there is one."""
    first = _window(kind, figures, Source.TEXT, allowances=2)
    second = _retention(kind, figures)
    found = [first]
    if kind.fenced:
        found.append(_window(kind, figures, Source.REPAIRED, allowances=3))
    found.append(second)
    if not _charged(kind, figures):
        found.append(_retention_beyond_two_allowances(kind, figures))
    found.append(_lease(kind, figures, Source.TEXT))
    if _charged(kind, figures):
        found.append(_lease(kind, figures, Source.REPAIRED))
    return (*found, _run(kind, figures), _closure(kind, figures))


def _charged(kind: Kind, figures: Figures) -> bool:
    """Whether a fence pulls the terminus in by one allowance, which the lease then has to pay for."""
    return kind.fenced or figures.journal_fence is not None


def _window(kind: Kind, figures: Figures, source: Source, *, allowances: int) -> Condition:
    """The window is longer than the worst closure: three runs and two cadences after the act's own end."""
    terms = (
        Term("completion_bound", kind.completion_bound),
        Term("clock_offset_allowance", figures.clock_offset_allowance, allowances),
        Term("reconciliation_cadence", figures.reconciliation_cadence, 2),
        Term("run_bound", figures.run_bound, 3),
    )
    value = figures.compensation_window
    return Condition(1, source, kind.name, "instance", "compensation_window", value, terms, strict=True)


def _retention(kind: Kind, figures: Figures) -> Condition:
    """The records outlive the window."""
    terms = (
        Term("completion_bound", kind.completion_bound),
        Term("clock_offset_allowance", figures.clock_offset_allowance),
        Term("compensation_window", figures.compensation_window),
    )
    value = kind.retention_period
    return Condition(2, Source.TEXT, kind.name, kind.name, "retention_period", value, terms, strict=True)


def _retention_beyond_two_allowances(kind: Kind, figures: Figures) -> Condition:
    """The sweep's upper edge lies past the window on the sweep's own clock."""
    terms = (
        Term("compensation_window", figures.compensation_window),
        Term("clock_offset_allowance", figures.clock_offset_allowance, 2),
    )
    value = kind.retention_period
    return Condition(2, Source.REPAIRED, kind.name, kind.name, "retention_period", value, terms, strict=True)


def _lease(kind: Kind, figures: Figures, source: Source) -> Condition:
    """One lease holds two reads, two writes and the commit, and pays for the instant that a fence mints.

    The text counts the allowance that is taken off at the minting; the judge's clock may take off another.
    """
    terms: tuple[Term, ...] = (
        Term("read_bound", figures.read_bound, 2),
        Term("journal_write_bound", figures.journal_write_bound, 2),
        Term("commit_round_trip", kind.commit_round_trip),
    )
    if _charged(kind, figures):
        allowances = 1 if source is Source.TEXT else 2
        terms = (*terms, Term("clock_offset_allowance", figures.clock_offset_allowance, allowances))
    value = kind.completion_bound
    return Condition(3, source, kind.name, kind.name, "completion_bound", value, terms, strict=True)


def _run(kind: Kind, figures: Figures) -> Condition:
    """A run may wait out the longest holder there can be, and then close one act."""
    held = max(
        Term("completion_bound", kind.completion_bound),
        Term("closure_latency + journal_write_bound", figures.sweep_lease),
        key=lambda term: term.amount,
    )
    terms = (held, Term("closure_latency", figures.closure_latency))
    value = figures.run_bound
    return Condition(4, Source.TEXT, kind.name, "instance", "run_bound", value, terms, strict=False)


def _closure(kind: Kind, figures: Figures) -> Condition:
    """One closure holds a read, the probe and two writes, so that the second write passes its gate."""
    terms = (
        Term("read_bound", figures.read_bound),
        Term("journal_write_bound", figures.journal_write_bound, 2),
        Term("probe_round_trip", kind.probe_round_trip),
    )
    value = figures.closure_latency
    return Condition(5, Source.TEXT, kind.name, "instance", "closure_latency", value, terms, strict=True)


def headroom(figures: Figures) -> tuple[Condition, ...]:
    """What a declared journal fence costs its writes: an allowance, as the text has it, or really two.

    A write's own terminus is minted early by one allowance, and the journal's clock may be ahead of the
    writer's by another: what is left of the bound must still hold the journal's own worst case.
    """
    if figures.journal_fence is None or figures.record_action_bound is None:
        return ()
    found: list[Condition] = []
    for source, allowances in ((Source.TEXT, 1), (Source.REPAIRED, 2)):
        terms = (
            Term("record_action_bound", figures.record_action_bound),
            Term("clock_offset_allowance", figures.clock_offset_allowance, allowances),
        )
        value, strict = figures.journal_write_bound, source is Source.REPAIRED
        found.append(
            Condition(HEADROOM, source, EVERY, "instance", "journal_write_bound", value, terms, strict=strict)
        )
    return tuple(found)


def failing(deployment: Deployment) -> tuple[Condition, ...]:
    """What forbids the start; nothing, where the instance may start."""
    return tuple(condition for condition in conditions(deployment) if not condition.holds)
