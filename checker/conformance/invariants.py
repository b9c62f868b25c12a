"""The model's invariants as a surface can show them: which can be judged there, and each judged once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from falsework.conformance.reads import reads
from falsework.definition import Action, Definition, Property
from falsework.judge import applies, judge, step_arguments
from falsework.state import State
from falsework.trace import Faulted, Label

THE_ACTION = "the action"
"""What an invariant of one action's steps needs, where only states are shown."""


class Invariants:
    """Those of one model on one surface. `sort` comes first: it tells what the surface shows."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        # The invariants that can be judged here, and how often each was; the others, and what they lack.
        self.observable: dict[str, int] = {}
        self.hidden: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, tuple[int, ...]] = {}  # of the variables that each observable one reads
        self._judged: dict[Any, bool] = {}
        self._steps: dict[Any, tuple[str, ...]] = {}

    def sort(self, shown: Collection[str], *, actions: bool = True) -> None:
        """Each is observable here, or hidden by the variables, or by the actions, that cannot be shown."""
        places = {variable.name: place for place, variable in enumerate(self.definition.variables)}
        for prop in self.definition.invariants:
            wanted = reads(self.definition, prop)
            if missing := tuple(sorted(wanted - set(shown))):
                self.hidden[prop.name] = missing
            elif prop.on is not None and not actions:
                self.hidden[prop.name] = (THE_ACTION,)
            else:
                self.observable[prop.name] = 0
                self._places[prop.name] = tuple(places[name] for name in wanted)

    def broken_by(self, action: Action, label: Label, answer: Any, was: State, now: State) -> tuple[str, ...]:
        """The observable invariants that are false of the step from one projected state to another."""
        key = (label, answer, was, now)
        if key not in self._steps:
            known = step_arguments(action, label, answer, was)
            concerned = [p for p in self._observable() if p.kind == "state" or applies(p, action)]
            self._steps[key] = tuple(p.name for p in concerned if not self._holds(p, was, now, known))
        return self._steps[key]

    def broken_in(self, state: State) -> tuple[str, ...]:
        """The observable state invariants that are false in the projected state."""
        return tuple(
            p.name for p in self._observable() if p.kind == "state" and not self._holds(p, state, state, {})
        )

    def broken_between(self, was: State, now: State) -> tuple[str, ...]:
        """The observable invariants of states and of every step, false of a step whose action is unknown."""
        known = {"before": was}
        return tuple(
            p.name for p in self._observable() if p.on is None and not self._holds(p, was, now, known)
        )

    def _observable(self) -> Iterator[Property]:
        return (prop for prop in self.definition.invariants if prop.name in self.observable)

    def _holds(self, prop: Property, was: State, now: State, known: Mapping[str, object]) -> bool:
        """Whether the invariant is true there; answered once for all steps that agree on what it reads."""
        self.observable[prop.name] += 1
        places = self._places[prop.name]
        arguments = tuple(known[name] for name in prop.arguments if name != "before")
        before = tuple(was[place] for place in places) if "before" in prop.arguments else None
        key = (prop.name, tuple(now[place] for place in places), before, arguments)
        if key not in self._judged:
            try:
                self._judged[key] = judge(self.definition, prop, now, known)[0]
            except Faulted:
                self._judged[key] = False  # no state of the model raises there, so what was observed is none
        return self._judged[key]
