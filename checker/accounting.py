"""What a search counts and finds, the same for every engine, so that two searches can be compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from falsework.definition import Definition
from falsework.definition_checks import premise_sites
from falsework.errors import Place
from falsework.language import PremiseSite
from falsework.trace import Fault, Trace

DEFAULT_MAX_STATES = 5_000_000


@dataclass(frozen=True)
class Bounds:
    """When a search stops short. `every` explores on after a violation, to find the whole broken set."""

    max_states: int = DEFAULT_MAX_STATES
    max_depth: int | None = None
    memory_mb: int | None = None
    every: bool = False


@dataclass
class Coverage:
    """One action: instances enabled, those taken, those that changed nothing, those cut by a bound."""

    enabled: int = 0
    fired: int = 0
    self_loops: int = 0
    cut: int = 0


@dataclass(frozen=True)
class Violation:
    """A property false at the end of a shortest trace, the least by initial state, action and arguments."""

    name: str
    trace: Trace
    outside: str = ""

    @property
    def steps(self) -> int:
        """How many actions the trace takes."""
        return len(self.trace)


@dataclass(frozen=True)
class Stop:
    """What ended the search: a bound's name and limit, and how many states were left unexpanded.

    The bound is max-states, max-depth, memory (in MB; 0: the system gave no more), or signal (the limit is
    its number): somebody else ended a compiled search, and what it left unexpanded is what was known last.
    """

    bound: str
    limit: int
    unexpanded: int

    @property
    def ended(self) -> str:
        """What ended it, in words."""
        if self.bound == "signal":
            return f"signal {self.limit} from outside"
        return f"{self.bound} {self.limit}" if self.chosen else "the system, which gives no more memory,"

    @property
    def chosen(self) -> bool:
        """Whether it is a bound that another one could be chosen for."""
        return self.bound != "signal" and (self.bound, self.limit) != ("memory", 0)

    def __str__(self) -> str:
        return f"{self.ended} left {self.unexpanded} states unexpanded"


Progress = Callable[["Tally", int], None]
"""Called after each level with the tally and the number of waiting states; may set `stop` (a full memory)."""
PremiseKey = tuple[str, PremiseSite]
"""The invariant, and the line and column of the `implies` call."""


@dataclass
class Tally:
    """One search, counted.

    `states` are the distinct states at the end of steps that broke no step invariant; `transitions` are the
    steps taken from expanded states; `levels[d]` is how many states are first reached in d steps. A violating
    state is counted and not expanded.
    """

    definition: Definition
    engine: str
    bounds: Bounds
    states: int = 0
    transitions: int = 0
    levels: list[int] = field(default_factory=list)
    coverage: dict[str, Coverage] = field(default_factory=dict)
    premises: dict[PremiseKey, int] = field(default_factory=dict)
    cuts: dict[Place, int] = field(default_factory=dict)
    violations: dict[str, Violation] = field(default_factory=dict)
    witnesses: dict[str, int | None] = field(default_factory=dict)
    witness_traces: dict[str, Trace] = field(default_factory=dict)
    rebuild: Callable[[str], Trace] | None = None
    fault: Fault | None = None
    stop: Stop | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for action in self.definition.actions:
            self.coverage[action.name] = Coverage()
        for witness in self.definition.witnesses:
            self.witnesses[witness.name] = None
        for prop in self.definition.invariants:
            for site in premise_sites(self.definition, prop.function):
                self.premises[prop.name, site] = 0

    def witness_trace(self, name: str) -> Trace | None:
        """The least shortest trace to the witness, rebuilt when first asked for; None if not reached."""
        if self.witnesses[name] is not None and name not in self.witness_traces and self.rebuild is not None:
            self.witness_traces[name] = self.rebuild(name)
        return self.witness_traces.get(name)

    @property
    def depth(self) -> int:
        """The most steps that any state needs."""
        return max(len(self.levels) - 1, 0)

    @property
    def complete(self) -> bool:
        """Whether every state that `bound` leaves was expanded (violating ones apart)."""
        return self.stop is None and self.fault is None

    def counts(self) -> dict[str, object]:
        """Everything that two engines must agree on, as plain data."""
        return {
            "states": self.states,
            "transitions": self.transitions,
            "levels": list(self.levels),
            "coverage": {n: (c.enabled, c.fired, c.self_loops, c.cut) for n, c in self.coverage.items()},
            "premises": dict(self.premises),
            "cuts": {str(p): n for p, n in sorted(self.cuts.items(), key=str)},
            "violations": {
                n: (v.steps, str([str(s) for s in v.trace.steps])) for n, v in sorted(self.violations.items())
            },
            "witnesses": dict(self.witnesses),
            "fault": None if self.fault is None else (str(self.fault.place), len(self.fault.trace)),
            "stop": self.stop,
        }
