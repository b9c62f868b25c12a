"""Random walks over the class: a quick look, which may refute a model and never proves anything.

At each state an action is drawn uniformly from those that are enabled, then one of its enabled instances.
So an action with few instances is taken more often than if all enabled instances were drawn alike: rare
actions are favoured, and the histogram says how often each was taken, not how often it is possible.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from falsework.accounting import Violation
from falsework.check import Counterexample
from falsework.definition import Action, Definition
from falsework.errors import CutByBound, InputError
from falsework.judge import broken_by, broken_in, judge
from falsework.language import deadlock, values_stay_in_domain
from falsework.state import State
from falsework.trace import Label, Taken, Trace, instances, starts, take


@dataclass
class Walks:
    """What the walks met: how often each action was taken, which witnesses, and the first violation."""

    definition: Definition
    seed: int
    asked: int
    limit: int
    walks: int = 0
    steps: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    witnesses: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)  # why walks ended: limit, terminal, cut
    states: set[State] = field(default_factory=set)
    found: Counterexample | None = None


def simulate(definition: Definition, *, seed: int = 0, steps: int = 100, walks: int = 100) -> Walks:
    """So many walks of at most so many steps; the first violation ends them, a seed walks the same way again.

    Raises InputError for a model without an initial state, and Faulted where the model faults.
    """
    done = Walks(definition, seed, walks, steps)
    chance = random.Random(seed)  # noqa: S311  a walk is no secret
    labels = {action.name: list(instances(definition, action)) for action in definition.actions}
    first = list(starts(definition))
    if not first:
        raise InputError(f"{definition.name} has no initial state to start from")
    while done.walks < walks and done.found is None:
        done.walks += 1
        _walk(done, chance, labels, chance.choice(first))
    return done


def _walk(done: Walks, chance: random.Random, labels: dict[str, list[Label]], start: Taken) -> None:
    definition = done.definition
    path = [start]
    broken = _broken(definition, None, path)
    while not broken:
        state = path[-1].state
        _meet(done, state)
        if len(path) > done.limit:
            done.ends["limit"] += 1
            return
        drawn, cut = _drawn(definition, chance, labels, state)
        if drawn is None:
            terminal = any(judge(definition, prop, state)[0] for prop in definition.terminals)
            if cut or terminal:
                done.ends["terminal" if terminal else "cut"] += 1
                return
            broken = [deadlock]
            break
        action, taken = drawn
        path.append(taken)
        done.taken[action.name] += 1
        done.steps += 1
        broken = _broken(definition, action, path)
    trace = Trace(start.label if definition.initials else None, tuple(step.label for step in path[1:]))
    done.found = Counterexample(Violation(broken[0], trace, path[-1].outside), tuple(path))


def _meet(done: Walks, state: State) -> None:
    if state in done.states:
        return
    done.states.add(state)
    for witness in done.definition.witnesses:
        done.witnesses[witness.name] += judge(done.definition, witness, state)[0]


def _broken(definition: Definition, action: Action | None, path: list[Taken]) -> list[str]:
    last = path[-1]
    if last.outside:
        return [values_stay_in_domain]
    found: list[str] = []
    if action is not None:
        found += broken_by(definition, action, last.label, last.answer, path[-2].state, last.state)
    return found + list(broken_in(definition, last.state))


def _drawn(
    definition: Definition, chance: random.Random, labels: dict[str, list[Label]], state: State
) -> tuple[tuple[Action, Taken] | None, bool]:
    """An enabled step, and whether a bound cut one on the way."""
    cut = False
    for action in chance.sample(definition.actions, len(definition.actions)):
        many = labels[action.name]
        for label in chance.sample(many, len(many)):
            try:
                taken = take(definition, action, state, label)
            except CutByBound:
                cut = True
                continue
            if taken is not None:
                return (action, taken), cut
    return None, cut
