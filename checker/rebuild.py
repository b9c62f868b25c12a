"""The least shortest trace to a set of states: backwards through the levels, then forwards on the class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from falsework.definition import Action, Definition, Property
from falsework.errors import CutByBound, ModelFault
from falsework.faults import Faults
from falsework.judge import applies, broken_by, judge, step_arguments
from falsework.language import deadlock, values_stay_in_domain
from falsework.program import Program
from falsework.state import State
from falsework.trace import Fault, Faulted, Label, Taken, Trace, instances, starts, take


class Rebuilder:
    """Holds the levels of one finished search."""

    def __init__(
        self,
        definition: Definition,
        program: Program,
        levels: list[list[int]],
        first: dict[int, Label],
        reached: Mapping[str, int | None],
    ) -> None:
        self.definition = definition
        self.program = program
        self.levels = levels
        self.first = first
        self.faults = Faults(definition, reached)
        self.labels = [(action, list(instances(definition, action))) for action in definition.actions]

    # --- backwards

    def ways(self, steps: int, wanted: set[int]) -> list[set[int]]:
        """For each level up to `steps`, the states from which the remaining steps lead to the wanted ones."""
        chain = [wanted]
        for level in reversed(self.levels[:steps]):
            before: set[int] = set()
            for block in self.program.blocks:
                before.update(block.sources(level, chain[0]))
            chain.insert(0, before)
        return chain

    # --- forwards

    def walk(self, chain: list[set[int]]) -> tuple[Trace, State]:
        """The least trace along the chain, and the state it ends in."""
        begun = next(
            t
            for t in starts(self.definition, failed=lambda _: None)
            if not t.outside and self.program.packing.pack(t.state) in chain[0]
        )
        trace, state = Trace(begun.label if self.definition.initials else None), begun.state
        for wanted in chain[1:]:
            label, state = self.step(state, partial(self._leads, state, wanted))
            trace = Trace(trace.start, (*trace.steps, label))
        return trace, state

    def _leads(self, before: State, wanted: set[int], action: Action, taken: Taken) -> bool:
        if taken.outside or self.program.packing.pack(taken.state) not in wanted:
            return False
        return not any(broken_by(self.definition, action, taken.label, taken.answer, before, taken.state))

    def step(self, state: State, fits: Callable[[Action, Taken], bool]) -> tuple[Label, State]:
        """The first step from the state that fits."""
        for action, labels in self.labels:
            for label in labels:
                try:
                    taken = take(self.definition, action, state, label)
                except (CutByBound, Faulted):
                    continue
                if taken is not None and fits(action, taken):
                    return label, taken.state
        raise ModelFault(f"the class has no step from {state} where the engine has one")

    def to_states(self, steps: int, states: set[int]) -> Trace:
        """The least shortest trace to one of these states."""
        return self.walk(self.ways(steps, states))[0]

    # --- violations

    def violation(self, name: str, steps: int, states: set[int], sources: set[int]) -> tuple[Trace, str]:
        """The trace to the first violation of the property, and what lies outside its domain at its end."""
        if not steps or name == deadlock:
            return self.to_states(steps, states), ""
        trace, state = self.walk(self.ways(steps - 1, self._last(steps, states, sources)))
        outside = ""

        def breaks(action: Action, taken: Taken) -> bool:
            nonlocal outside
            if taken.outside:
                outside = taken.outside
                return name == values_stay_in_domain
            known = step_arguments(action, taken.label, taken.answer, state)
            return any(
                prop.name == name and not self._holds(prop, taken.state, known)
                for prop in self.definition.invariants
                if prop.kind == "state" or applies(prop, action)
            )

        label, _ = self.step(state, breaks)
        # Steps that were passed over may have left a domain too: that is told of its own violation alone.
        return Trace(trace.start, (*trace.steps, label)), outside if name == values_stay_in_domain else ""

    def _holds(self, prop: Property, state: State, known: Mapping[str, object]) -> bool:
        """Whether the predicate is true there, or faults: a fault is no violation."""
        try:
            return judge(self.definition, prop, state, known)[0]
        except Faulted:
            return True

    def _last(self, steps: int, states: set[int], sources: set[int]) -> set[int]:
        """The states one step before."""
        last = set(sources)
        if states:
            for block in self.program.blocks:
                last.update(block.sources(self.levels[steps - 1], states))
        return last

    # --- faults

    def fault(self, steps: int, states: set[int], sources: set[int]) -> Fault:
        """The first fault of the model, executed again on the class."""
        if states and (not steps or not sources):
            trace, state = self.walk(self.ways(steps, states))
            found = self.faults.of_state(trace, state, stuck=True)
            return found or Fault("a predicate is at fault in lowered form alone", None, trace)
        trace, state = self.walk(self.ways(steps - 1, self._last(steps, states, sources)))
        for action, labels in self.labels:
            for label in labels:
                found = self.faults.of_step(trace, state, action, label)
                if found is not None:
                    return found
        raise ModelFault("the class has no fault where the engine has one")
