"""Where states come from: what each variable is worth, which guards never decide, how the levels grow.

Everything is counted over all reachable states, on the class itself.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field

from falsework import language
from falsework.definition import Action, Definition, methods_of
from falsework.errors import Place
from falsework.graph import DEFAULT_LIMIT, Reached, reached
from falsework.report_reason import deciding_part
from falsework.source import conjuncts, function_node, named_object, place_in
from falsework.state import State
from falsework.trace import Label, instances


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
    """What was counted."""

    definition: Definition
    states: int
    levels: list[int]
    variables: list[VariableCost] = field(default_factory=list)
    guards: list[GuardPart] = field(default_factory=list)
    fired: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    unexplained: int = 0  # disabled instances whose deciding conjunct could not be told

    @property
    def idle_guards(self) -> list[GuardPart]:
        """The conjuncts that never decide: whenever one is false, an earlier one is false too."""
        return [part for part in self.guards if not part.decided]


def profile(definition: Definition, limit: int = DEFAULT_LIMIT) -> Profile:
    """Counts over all reachable states; raises InputError above the limit, Faulted where the model faults."""
    found = reached(definition, limit)
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
    """A step is a duplicate where its state had been reached before, in the order of the search."""
    known: set[State] = set(found.initial)
    for _, taken in found.edges:
        made.fired[taken.label.action] += 1
        if taken.state in known:
            made.duplicates[taken.label.action] += 1
        known.add(taken.state)
    for _, taken in found.broken_steps:
        made.fired[taken.label.action] += 1


def _count_guards(made: Profile, found: Reached) -> None:
    definition = made.definition
    texts = _conjuncts(definition)
    sites = dict.fromkeys(texts, 0)
    labels = [(action, list(instances(definition, action))) for action in definition.actions]
    taken: set[tuple[State, Label]] = {(before, step.label) for before, step in found.edges}
    taken |= {(before, step.label) for before, step in found.broken_steps}
    for state in found.states:
        if state not in found.broken:
            for action, label in _disabled(labels, state, taken):
                site = deciding_part(definition, action, state, label)
                if site in sites:
                    sites[site] += 1
                elif site is not None:
                    made.unexplained += 1
    made.guards = [GuardPart(texts[site], site[0], decided) for site, decided in sites.items()]


def _disabled(
    labels: list[tuple[Action, list[Label]]], state: State, taken: set[tuple[State, Label]]
) -> list[tuple[Action, Label]]:
    return [(action, label) for action, many in labels for label in many if (state, label) not in taken]


Site = tuple[Place, int]
"""The place and the column of a conjunct."""


def _conjuncts(definition: Definition) -> dict[Site, str]:
    """Every conjunct of every `require`, and every `given`, in the methods of the model, in source order."""
    found: dict[Site, str] = {}
    for function in methods_of(definition.cls).values():
        calls = [node for node in ast.walk(function_node(function)) if isinstance(node, ast.Call)]
        for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            known = named_object(function, node.func)
            parts: list[ast.expr] = []
            if known is language.require and node.args:
                parts = conjuncts(node.args[0])
            elif known is language.given:
                parts = [node]
            for part in parts:
                found[place_in(function, part), part.col_offset] = ast.unparse(part)
    return found
