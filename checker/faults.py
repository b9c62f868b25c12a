"""A fault of the model that an engine met, found again on the class: its message, its line, and its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from falsework.definition import Action, Definition, Property
from falsework.errors import CutByBound
from falsework.judge import broken_by, judge
from falsework.state import State
from falsework.trace import Fault, Faulted, Label, Trace, replay, take


class Faults:
    """Looks for faults in the order in which a search meets them."""

    def __init__(self, definition: Definition, reached: Mapping[str, int | None]) -> None:
        self.definition = definition
        self.reached = reached  # the steps in which each witness is first reached

    def at_the_end(self, trace: Trace) -> Fault | None:
        """The fault that the trace ends in: of its last step, or of a predicate in its last state."""
        if not trace.steps:
            return self.of_state(trace, replay(self.definition, trace)[-1].state, stuck=True)
        before = Trace(trace.start, trace.steps[:-1])
        state, label = replay(self.definition, before)[-1].state, trace.steps[-1]
        action = next(a for a in self.definition.actions if a.name == label.action)
        found = self.of_step(before, state, action, label)
        if found is None:
            found = self.of_state(trace, replay(self.definition, trace)[-1].state, stuck=True)
        return found

    def of_step(self, trace: Trace, state: State, action: Action, label: Label) -> Fault | None:
        """The first fault of the step after the trace, or of a predicate that judges it."""
        path = Trace(trace.start, (*trace.steps, label))
        try:
            taken = take(self.definition, action, state, label)
            if taken is None or taken.outside:
                return None
            list(broken_by(self.definition, action, label, taken.answer, state, taken.state))
        except CutByBound:
            return None
        except Faulted as fault:
            return Fault(fault.message, fault.place, path)
        return self.of_state(path, taken.state)

    def of_state(self, trace: Trace, state: State, *, stuck: bool = False) -> Fault | None:
        """The first fault of a predicate that is judged where the state is reached, or where it is stuck."""
        witnesses = (w for w in self.definition.witnesses if self._still_sought(w, len(trace)))
        invariants = (p for p in self.definition.invariants if p.kind == "state")
        found = self._first((*witnesses, *invariants), trace, state)
        return found or (self._first(self.definition.terminals, trace, state) if stuck else None)

    def _still_sought(self, witness: Property, steps: int) -> bool:
        """Whether no fewer steps than these reach it: a witness is judged up to the level that reaches it."""
        reached = self.reached[witness.name]
        return reached is None or reached >= steps

    def _first(self, properties: Iterable[Property], trace: Trace, state: State) -> Fault | None:
        for prop in properties:
            try:
                judge(self.definition, prop, state)
            except Faulted as fault:
                return Fault(fault.message, fault.place, trace, prop.name)
        return None
