"""What a mutant does otherwise than its model: the steps that it adds, and those that it takes away.

Only instances whose expressions are others are looked at, and of each state only the bits that they read. A
step that leaves the state as it is adds nothing and is not missed: every system may stay where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from falsework.lower import Instance, Lowered
from falsework.program import step_functions
from falsework.trace import Label


@dataclass(frozen=True)
class Difference:
    """The labels of added and of removed steps, as far as both models reach the states before them."""

    adds: tuple[Label, ...]
    removes: tuple[Label, ...]


def changed(model: Lowered, mutant: Lowered) -> list[tuple[Label, Instance | None, Instance | None]]:
    """The instances that are others in the mutant, by label; None where one is never enabled."""
    ours = {instance.label: instance for instance in model.instances}
    theirs = {instance.label: instance for instance in mutant.instances}
    pairs = ((label, ours.get(label), theirs.get(label)) for label in {**ours, **theirs})
    return [(label, one, other) for label, one, other in pairs if not _same(one, other)]


def _same(one: Instance | None, other: Instance | None) -> bool:
    if one is other:
        return True
    if one is None or other is None:
        return False
    return (
        [(g.kind, g.node) for g in one.guards] == [(g.kind, g.node) for g in other.guards]
        and one.effects == other.effects
        and one.outside is other.outside
        and [(s.node, s.fault) for s in one.steps] == [(s.node, s.fault) for s in other.steps]
    )


def difference(model: Lowered, mutant: Lowered, reached: set[int], common: set[int]) -> Difference:
    """What is added to the states that both reach, and removed from those that the model reaches."""
    pairs = changed(model, mutant)
    ours = iter(step_functions(model, [one for _, one, _ in pairs if one is not None]))
    theirs = iter(step_functions(mutant, [other for _, _, other in pairs if other is not None]))
    adds: list[Label] = []
    removes: list[Label] = []
    for label, one, other in pairs:
        before, after = next(ours) if one else _NEVER, next(theirs) if other else _NEVER
        mask = before[0] | after[0]
        if any(_added(before[1], after[1], s) for s in {s & mask for s in common}):
            adds.append(label)
        if any(_added(after[1], before[1], s) for s in {s & mask for s in reached}):
            removes.append(label)
    return Difference(tuple(adds), tuple(removes))


_Step = tuple[int, Callable[[int], Any]]
_NEVER: _Step = (0, lambda _: None)


def _added(one: Callable[[int], Any], other: Callable[[int], Any], s: int) -> bool:
    """Whether the other takes a step to another state there that the one does not take."""
    target = _target(other(s))
    return target is not None and target != s and target != _target(one(s))


def _target(answer: Any) -> Any:
    """Where the step leads: a state, a fault, outside; None where there is no step."""
    if not isinstance(answer, tuple):
        return answer
    return None if answer[0] == "cut" else answer[1] if answer[0] == "judged" else answer[0]
