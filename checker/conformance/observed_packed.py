"""The model's steps over packed states, for logs that ask for many: the fast engine's program, a step each.

Nothing is believed of it that a line tells: a step with an answer is executed on the class all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from falsework.definition import Action, Definition
from falsework.errors import Refused
from falsework.lower import lower
from falsework.program import build, step_functions
from falsework.trace import Label

Found = tuple[Action, Label, int, int]
"""A step: its action and label, the word that it leads to, the bits of the step invariants that it breaks."""


class AtFault(Exception):
    """The model goes wrong in that step, or in what judges it: the class says how."""

    def __init__(self, action: Action, label: Label) -> None:
        self.action = action
        self.label = label
        super().__init__(str(label))


class Packed:
    """The functions of one model. Raises Refused where it cannot be lowered."""

    def __init__(self, definition: Definition, bits: Mapping[str, int]) -> None:
        lowered = lower(definition)
        program = build(lowered)
        functions = [function for _, function in step_functions(lowered, lowered.instances)]
        self.packing = program.packing
        self.bits = bits
        self.judges = [(bits[name], judge) for name, judge in program.invariants.items()]
        self.functions = {
            (one.label.action, one.label.arguments): function
            for one, function in zip(lowered.instances, functions, strict=True)
        }

    def steps(self, word: int, labels: list[tuple[Action, Label]]) -> Iterator[Found | None]:
        """Each of the steps that is there; None for one that a bound cuts. Raises AtFault."""
        for action, label in labels:
            known = self.functions.get((label.action, label.arguments))
            found = None if known is None else known(word)  # of one that is never enabled there is none
            if found is None:
                continue
            if isinstance(found, int):
                yield action, label, found, 0
            elif found[0] == "judged":
                yield action, label, *self._judged(action, label, found)
            elif found[0] == "cut":
                yield None
            elif found[0] == "fault":
                raise AtFault(action, label)

    def _judged(self, action: Action, label: Label, found: Any) -> tuple[int, int]:
        _, after, broken, _, at_fault = found
        if at_fault:
            raise AtFault(action, label)
        return after, sum(self.bits[name] for name in broken)

    def disabled(self, word: int, label: Label) -> bool:
        """Whether a guard is false there; not where it is never true, for that may be a bound."""
        known = self.functions.get((label.action, label.arguments))
        return known is not None and known(word) is None

    def broken_in(self, word: int) -> int | None:
        """The bits of the state invariants that are false there; None where one is at fault."""
        found = [(bit, judge(word)) for bit, judge in self.judges]
        if any(holds == 2 for _, holds in found):
            return None
        return sum(bit for bit, holds in found if not holds)


def packed(definition: Definition, bits: Mapping[str, int]) -> Packed | None:
    """The functions, or nothing for a model outside the subset: then the class alone is asked."""
    try:
        return Packed(definition, bits)
    except Refused:
        return None
