"""A way to what a mutant breaks, executed again by evaluating its expressions one by one.

The class does not do what the mutant does, so it cannot judge; the program that was printed from the
expressions is not believed.
"""

from __future__ import annotations

from collections.abc import Iterable

from falsework.fast import FAULT, Search
from falsework.ir import evaluate
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import Instance, Lowered, Predicate
from falsework.rebuild import Rebuilder
from falsework.trace import Label

Codes = tuple[int, ...]


class Walk:
    """Executes the expressions of one mutant."""

    def __init__(self, lowered: Lowered, search: Search) -> None:
        self.lowered = lowered
        self.search = search
        self.packing = search.program.packing
        self.fault = ""  # what is wrong where the trace ends in a fault
        self.rebuilder = Rebuilder(
            lowered.definition, search.program, search.levels, search.first, search.tally.witnesses
        )

    def to(self, name: str, steps: int) -> tuple[Label, ...]:
        """The labels of a least trace to what is broken; an error of falsework's own if there is none."""
        found = self.search.found[name]
        if not steps or name == deadlock or (found.states and not found.sources and name == FAULT):
            labels, codes = self._along(steps, found.states)
            self._confirm(self._is_broken(name, codes), name, steps)
            self.fault = self._why(self._judges(), codes)
            return labels
        last = set(found.sources)
        for block in self.search.program.blocks if found.states else ():
            last.update(block.sources(self.search.levels[steps - 1], found.states))
        labels, codes = self._along(steps - 1, last)
        ends = [i for i in self.lowered.instances if name in self._broken_by(i, codes)]
        self._confirm(bool(ends), name, steps)
        end = ends[0]
        after = self._after(end, codes)
        self.fault = self._why([end, *end.steps], codes) or self._why(
            self._judges(), codes if isinstance(after, str) else after
        )
        return (*labels, end.label)

    def _judges(self) -> list[Predicate]:
        """Every predicate of a state."""
        return [*self.lowered.invariants, *self.lowered.witnesses, *self.lowered.terminals]

    def _why(self, parts: Iterable[Instance | Predicate], codes: Codes) -> str:
        """The first fault there."""
        guards = [g for part in parts for g in (part.guards if isinstance(part, Instance) else part.faults)]
        faults = (g for g in guards if g.kind == "fault" and evaluate(g.node, codes))
        return next((f"{fault.text}: {fault.place}" for fault in faults), "")

    def _confirm(self, holds: bool, name: str, steps: int) -> None:
        if not holds:
            told = f"{name} broken in {steps} steps"
            raise RuntimeError(f"the program finds {told} and the expressions it was printed from do not")

    def _along(self, steps: int, wanted: set[int]) -> tuple[tuple[Label, ...], Codes]:
        """The least way to one of the wanted states, and that state."""
        chain = self.rebuilder.ways(steps, wanted)
        start = next(word for word in self.search.first if word in chain[0])
        codes = tuple(self.packing.codes(start))
        labels: tuple[Label, ...] = ()
        for targets in chain[1:]:
            label, codes = self._step(codes, targets)
            labels = (*labels, label)
        return labels, codes

    def _word(self, codes: Codes) -> int:
        return sum(code << at.shift for code, at in zip(codes, self.packing.fields, strict=True))

    def _step(self, codes: Codes, targets: set[int]) -> tuple[Label, Codes]:
        """The first step to one of these states that breaks nothing."""
        for instance in self.lowered.instances:
            after = self._after(instance, codes)
            if isinstance(after, str) or self._word(after) not in targets:
                continue
            if not self._broken_steps(instance, codes):
                return instance.label, after
        raise RuntimeError(f"the expressions have no step from {self.packing.unpack(self._word(codes))}")

    def _after(self, instance: Instance, codes: Codes) -> Codes | str:
        """The state after, or the word for why there is none."""
        for guard in instance.guards:
            if evaluate(guard.node, codes) == (guard.kind == "fault"):
                return guard.kind
        if evaluate(instance.outside, codes):
            return values_stay_in_domain
        after = list(codes)
        for slot, node in instance.effects.items():
            after[slot] = evaluate(node, codes)
        return tuple(after)

    def _broken_steps(self, instance: Instance, codes: Codes) -> set[str]:
        return {self._judged(step, codes) for step in instance.steps} - {""}

    def _broken_by(self, instance: Instance, codes: Codes) -> set[str]:
        """What the step from there breaks, or that it is at fault."""
        after = self._after(instance, codes)
        if isinstance(after, str):
            return {after} & {FAULT, values_stay_in_domain}
        return self._broken_steps(instance, codes) | self._broken_in(after)

    def _broken_in(self, codes: Codes) -> set[str]:
        broken = {self._judged(each, codes) for each in self.lowered.invariants}
        return (broken | ({FAULT} & {self._judged(each, codes) for each in self._judges()})) - {""}

    def _is_broken(self, name: str, codes: Codes) -> bool:
        if name != deadlock:
            return name in self._broken_in(codes)
        ends = any(evaluate(each.node, codes) for each in self.lowered.terminals)
        return not ends and all(self._after(i, codes) == "require" for i in self.lowered.instances)

    def _judged(self, predicate: Predicate, codes: Codes) -> str:
        """The predicate's name where it is false, the word for a fault, or nothing."""
        if any(evaluate(guard.node, codes) for guard in predicate.faults):
            return FAULT
        return "" if evaluate(predicate.node, codes) else predicate.prop.name
