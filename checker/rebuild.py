"""The least shortest trace to a set of states: backwards through the levels, then forwards on the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from falsework.definition import Action, Definition, Property
from falsework.errors import CutByBound, ModelFault
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
        self.reached = reached  # the steps in which each witness is first reached
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
        return Trace(trace.start, (*trace.steps, label)), outside

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
            found = self._of_state(trace, state) or self._first_at_fault(
                self.definition.terminals, trace, state
            )
            return found or Fault("a predicate is at fault in lowered form alone", None, trace)
        trace, state = self.walk(self.ways(steps - 1, self._last(steps, states, sources)))
        for action, labels in self.labels:
            for label in labels:
                path = Trace(trace.start, (*trace.steps, label))
                try:
                    taken = take(self.definition, action, state, label)
                    if taken is None or taken.outside:
                        continue
                    list(broken_by(self.definition, action, label, taken.answer, state, taken.state))
                except CutByBound:
                    continue
                except Faulted as fault:
                    return Fault(fault.message, fault.place, path)
                found = self._of_state(path, taken.state)
                if found is not None:
                    return found
        raise ModelFault("the class has no fault where the engine has one")

    def _of_state(self, trace: Trace, state: State) -> Fault | None:
        """The first fault of a predicate that a search judges where it reaches the state."""
        witnesses = (w for w in self.definition.witnesses if self._still_sought(w, len(trace)))
        invariants = (p for p in self.definition.invariants if p.kind == "state")
        return self._first_at_fault((*witnesses, *invariants), trace, state)

    def _still_sought(self, witness: Property, steps: int) -> bool:
        """Whether no fewer steps than these reach it: a witness is judged up to the level that reaches it."""
        reached = self.reached[witness.name]
        return reached is None or reached >= steps

    def _first_at_fault(self, properties: Iterable[Property], trace: Trace, state: State) -> Fault | None:
        for prop in properties:
            try:
                judge(self.definition, prop, state)
            except Faulted as fault:
                return Fault(fault.message, fault.place, trace, prop.name)
        return None
