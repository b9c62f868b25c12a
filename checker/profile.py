"""Where states come from: what each variable is worth, which guards never decide, how the levels grow.

Everything is counted over all reachable states: over packed ones where the model can be lowered, otherwise on
the class itself.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from falsework.accounting import Bounds, Progress, Stop, Tally
from falsework.definition import Action, Definition
from falsework.errors import Place, Refused
from falsework.graph import Reached, reached
from falsework.language import deadlock
from falsework.lower_context import Site
from falsework.mutate_operators import mutants
from falsework.report_reason import deciding_part
from falsework.state import State
from falsework.trace import Label, instances

MOST_WORDS, MOST_ON_THE_CLASS = 1_000_000, 50_000
"""States that are looked at unless more are asked for: packed, or by executing the class, far slower."""


@dataclass(frozen=True)
class VariableCost:
    """A variable: its distinct values, and how many states would be left if it were dropped."""

    name: str
    values: int
    without: int


@dataclass(frozen=True)
class GuardPart:
    """One conjunct of a guard, and how many instances it was the first to disable."""

    text: str
    place: Place
    decided: int


@dataclass
class Profile:
    """What was counted; nothing but states and levels where the search was stopped."""

    definition: Definition
    states: int
    levels: list[int]
    variables: list[VariableCost] = field(default_factory=list)
    guards: list[GuardPart] = field(default_factory=list)
    fired: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    unexplained: int = 0  # disabled instances whose deciding conjunct could not be told
    stop: Stop | None = None
    refusal: Refused | None = None  # why it was counted on the class

    @property
    def idle_guards(self) -> list[GuardPart]:
        """The conjuncts that never decide: whenever one is false, an earlier one is false too."""
        return [part for part in self.guards if not part.decided]

    def count_guards(self, decided: Mapping[Site, int]) -> None:
        """Lays what was decided at each site to the conjunct that stands there."""
        known = {mutant.site: mutant for mutant in mutants(self.definition, ("guard",))}
        self.guards = [GuardPart(m.text, m.place, decided.get(site, 0)) for site, m in known.items()]
        self.unexplained += sum(times for site, times in decided.items() if site not in known)


def profile(
    definition: Definition,
    max_states: int | None = None,
    memory_mb: int | None = None,
    progress: Progress | None = None,
) -> Profile:
    """Counts over all reachable states, unless it is stopped; raises Faulted where the model faults."""
    from falsework.profile_words import profile_words

    try:
        bounds = Bounds(max_states or MOST_WORDS, memory_mb=memory_mb, every=True)
        return profile_words(definition, bounds, progress)
    except Refused as refusal:
        bounds = Bounds(max_states or MOST_ON_THE_CLASS, memory_mb=memory_mb, every=True)
        made = _on_the_class(definition, bounds, progress)
        made.refusal = refusal
        return made


class _Stopped(Exception):
    """A bound was passed between two levels."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        super().__init__(str(stop))


def _on_the_class(definition: Definition, bounds: Bounds, progress: Progress | None) -> Profile:
    """The same counts, by executing the methods of the class in every state."""
    from falsework.fast import resident_mb

    tally = Tally(definition, "explore", bounds)

    def look(level: list[State]) -> None:
        tally.levels.append(len(level))
        tally.states += len(level)
        if progress is not None:
            progress(tally, len(level))
        if tally.states > bounds.max_states:
            raise _Stopped(Stop("max-states", bounds.max_states, len(level)))
        if bounds.memory_mb is not None and resident_mb() > bounds.memory_mb:
            raise _Stopped(Stop("memory", bounds.memory_mb, len(level)))

    try:
        found = reached(definition, sys.maxsize, look=look)
    except _Stopped as stopped:
        return Profile(definition, tally.states, tally.levels, stop=stopped.stop)
    states = found.states
    made = Profile(definition, len(states), [len(level) for level in found.levels])
    for index, variable in enumerate(definition.variables):
        values = len({state[index] for state in states})
        without = len({(*state[:index], *state[index + 1 :]) for state in states})
        made.variables.append(VariableCost(variable.name, values, without))
    _count_duplicates(made, found)
    _count_guards(made, found)
    return made


def _count_duplicates(made: Profile, found: Reached) -> None:
    """A step is a duplicate where its state had been reached before, level by level, action by action."""
    known: set[State] = set(found.initial)
    order = {action.name: number for number, action in enumerate(made.definition.actions)}
    depth = {state: steps for steps, level in enumerate(found.levels) for state in level}
    in_order = sorted(found.edges, key=lambda edge: (depth[edge[0]], order[edge[1].label.action]))
    for _, taken in in_order:
        made.fired[taken.label.action] += 1
        if taken.state in known:
            made.duplicates[taken.label.action] += 1
        known.add(taken.state)
    for _, taken in found.broken_steps:
        made.fired[taken.label.action] += 1


def _count_guards(made: Profile, found: Reached) -> None:
    definition = made.definition
    decided: Counter[Site] = Counter()
    labels = [(action, list(instances(definition, action))) for action in definition.actions]
    taken: set[tuple[State, Label]] = {(before, step.label) for before, step in found.edges}
    taken |= {(before, step.label) for before, step in found.broken_steps}
    for state in found.states:
        if found.broken.get(state, (deadlock,)) == (deadlock,):
            for action, label in _disabled(labels, state, taken):
                site = deciding_part(definition, action, state, label)
                if site is not None:
                    decided[site] += 1
    made.count_guards(decided)


def _disabled(
    labels: list[tuple[Action, list[Label]]], state: State, taken: set[tuple[State, Label]]
) -> list[tuple[Action, Label]]:
    return [(action, label) for action, many in labels for label in many if (state, label) not in taken]
