"""Mutants: the model lowered without one conjunct of one guard, searched, and what notices that it is gone.

It is left out of the expressions, not of the class: what a mutant breaks is executed again by evaluating them
one by one, and the program printed from them is not believed. The guards of initial actions stay as they are:
they say what there is at first, not what may happen then.

Without a guard there are more steps and none fewer. So no witness is lost and no action falls silent: what
can notice is an invariant, a state without a step, a domain, or a fault of the model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from falsework import language
from falsework.accounting import Bounds, Tally
from falsework.definition import Definition
from falsework.errors import InputError, Place, Refused
from falsework.fast import FAULT, Search
from falsework.ir import evaluate
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import Instance, Lowered, Predicate, lower, lower_without
from falsework.lower_context import Site
from falsework.program import build
from falsework.rebuild import Rebuilder
from falsework.source import (
    conjuncts,
    deep,
    expression_text,
    function_node,
    helper_called,
    named_object,
    place_in,
)
from falsework.trace import Label

DEFAULT_BOUNDS = Bounds(max_states=200_000, every=True)
CAUSES = ("invariant", "deadlock", "domain", "fault", "survived", "undecided")
"""What a mutant can end as; only the last two are no kill."""


@dataclass(frozen=True)
class Mutant:
    """One conjunct to leave out: in which method it stands, its text and its site."""

    method: str
    text: str
    site: Site

    @property
    def place(self) -> Place:
        """The line of the conjunct."""
        return self.site[0]


@dataclass(frozen=True)
class Notice:
    """What tells the mutant from the model: the cause, of which property, in how many steps."""

    cause: str
    name: str
    steps: int


@dataclass(frozen=True)
class Outcome:
    """What a mutant ends as: everything that notices it, the soonest first, and a least trace to that one."""

    mutant: Mutant
    notices: tuple[Notice, ...]
    trace: tuple[Label, ...] = ()
    text: str = ""  # of a fault, which; of a survivor, what else it does; of an undecided one, why
    decided: bool = True
    new_states: int = 0  # that a survivor reaches and the model does not
    new_steps: int = 0

    @property
    def cause(self) -> str:
        """One of CAUSES."""
        if self.notices:
            return self.notices[0].cause
        return "survived" if self.decided else "undecided"

    @property
    def killed(self) -> bool:
        """Whether something declared notices the mutant."""
        return bool(self.notices)


# --- the mutants ---------------------------------------------------------------------------------


def mutants(definition: Definition) -> list[Mutant]:
    """Each conjunct of each `require`, `given` and `disabled` of actions and of what they call, in order."""
    found: dict[Site, Mutant] = {}
    for function in _functions(definition):
        calls = [node for node in ast.walk(function_node(function)) if isinstance(node, ast.Call)]
        for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            for part in _parts(function, node):
                site = (place_in(function, part), part.col_offset)
                found.setdefault(site, Mutant(function.__name__, expression_text(part), site))
    return list(found.values())


def _parts(function: FunctionType, node: ast.Call) -> list[ast.expr]:
    known = named_object(function, node.func)
    if known is language.require and node.args:
        return conjuncts(node.args[0])
    return [node] if known in (language.given, language.disabled) else []


def _functions(definition: Definition) -> Iterator[FunctionType]:
    """The methods of the actions, each followed by what it calls, once."""
    seen: set[FunctionType] = set()
    waiting: list[Any] = [action.function for action in definition.actions]
    while waiting:
        function = waiting.pop(0)
        if function in seen:
            continue
        seen.add(function)
        yield function
        called = [
            _called(definition, function, node)
            for node in ast.walk(function_node(function))
            if isinstance(node, ast.Call)
        ]
        waiting[:0] = [each for each in called if each is not None]


def _called(definition: Definition, function: FunctionType, node: ast.Call) -> FunctionType | None:
    """The model's own function that the call runs."""
    if isinstance(node.func, ast.Attribute):
        helper = helper_called(definition.cls, function, node.func)
        if helper is not None:
            return helper
    known = named_object(function, node.func)
    own = isinstance(known, FunctionType) and known.__module__ != language.__name__
    return known if own and isinstance(known, FunctionType) else None


# --- one mutant ----------------------------------------------------------------------------------


def kill(definition: Definition, mutant: Mutant, bounds: Bounds = DEFAULT_BOUNDS) -> Outcome:
    """What notices the mutant; raises Refused or InputError where the model by itself cannot be searched."""
    model = _unmutated(definition, bounds)
    try:
        lowered = lower_without(definition, mutant.site)
    except Refused as refusal:
        return Outcome(mutant, (), text=f"cannot be lowered: {refusal.code} {refusal.found}", decided=False)
    search = _swept(definition, lowered, bounds)
    broken = sorted(_broken(definition, model, search), key=lambda notice: notice.steps)
    tally = search.tally
    if broken:
        walk = _Walk(lowered, search)
        with deep():
            trace = walk.to(broken[0])
        return Outcome(mutant, tuple(broken), trace, walk.fault)
    if tally.stop is not None:
        text = f"stopped by {tally.stop.bound} {tally.stop.limit:,}"
        return Outcome(mutant, (), text=text, decided=False)
    states, steps = tally.states - model.tally.states, tally.transitions - model.tally.transitions
    return Outcome(mutant, (), text=_difference(states, steps), new_states=states, new_steps=steps)


def outcomes(definition: Definition, bounds: Bounds = DEFAULT_BOUNDS) -> list[Outcome]:
    """Every mutant with what notices it."""
    return [kill(definition, mutant, bounds) for mutant in mutants(definition)]


def _swept(definition: Definition, lowered: Lowered, bounds: Bounds) -> Search:
    search = Search(definition, bounds, build(lowered))
    search.sweep()
    return search


@dataclass(frozen=True)
class _Model:
    """The model as it is: its tally, and what it breaks by itself in how many steps."""

    tally: Tally
    broken: dict[str, int]


def _unmutated(definition: Definition, bounds: Bounds) -> _Model:
    """The model as it is, searched once."""
    known: dict[Bounds, _Model] = definition.__dict__.setdefault("_unmutated", {})
    if bounds not in known:
        search = _swept(definition, lower(definition), bounds)
        stop, fault = search.tally.stop, search.tally.fault
        if FAULT in search.found or fault is not None:
            raise InputError(f"{definition.name} is at fault by itself: falsework check says where")
        if stop is not None:
            raise InputError(
                f"{definition.name} by itself is stopped by {stop.bound} {stop.limit:,}, so that nothing can "
                "be compared with it; raise --max-states, or make the model smaller: -D NAME=VALUE"
            )
        if not search.tally.states:
            raise InputError(f"{definition.name} has no initial state, so no guard decides anything")
        known[bounds] = _Model(search.tally, _broken_of(search))
    return known[bounds]


def _broken_of(search: Search) -> dict[str, int]:
    """What is broken in how many steps; a start outside its domain stands in the tally alone."""
    starts = {name: violation.steps for name, violation in search.tally.violations.items()}
    return {name: found.steps for name, found in search.found.items()} | starts


def _broken(definition: Definition, model: _Model, search: Search) -> Iterator[Notice]:
    """What the mutant breaks and the model does not, or not so soon; in the order of the definition."""
    causes = {prop.name: "invariant" for prop in definition.invariants}
    causes |= {deadlock: "deadlock", values_stay_in_domain: "domain", FAULT: "fault"}
    broken = _broken_of(search)
    for name, cause in causes.items():
        if name in broken and broken[name] < model.broken.get(name, broken[name] + 1):
            yield Notice(cause, "" if name == FAULT else name, broken[name])


def _difference(states: int, steps: int) -> str:
    if not states and not steps:
        return "the same states and transitions: it decides nothing here"
    if not states:
        return f"{steps:+,} transitions, all to known states, and no invariant of a step is false of them"
    return f"{states:+,} states, {steps:+,} transitions, and nothing declared is false of them"


# --- executed again, expression by expression ----------------------------------------------------


Codes = tuple[int, ...]


class _Walk:
    """Executes the expressions of one mutant."""

    def __init__(self, lowered: Lowered, search: Search) -> None:
        self.lowered = lowered
        self.search = search
        self.packing = search.program.packing
        self.fault = ""  # what is wrong where the trace ends in a fault
        self.rebuilder = Rebuilder(
            lowered.definition, search.program, search.levels, search.first, search.tally.witnesses
        )

    def to(self, notice: Notice) -> tuple[Label, ...]:
        """The labels of a least trace to what is noticed; an error of falsework's own if there is none."""
        name, steps = notice.name or FAULT, notice.steps
        found = self.search.found[name]
        if not steps or name == deadlock or (found.states and not found.sources and name == FAULT):
            labels, codes = self._along(steps, found.states)
            self._confirm(self._is_broken(name, codes), notice)
            self.fault = self._why(self._judges(), codes)
            return labels
        last = set(found.sources)
        for block in self.search.program.blocks if found.states else ():
            last.update(block.sources(self.search.levels[steps - 1], found.states))
        labels, codes = self._along(steps - 1, last)
        ends = [i for i in self.lowered.instances if name in self._broken_by(i, codes)]
        self._confirm(bool(ends), notice)
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

    def _confirm(self, holds: bool, notice: Notice) -> None:
        if not holds:
            raise RuntimeError(f"the program finds {notice} and the expressions it was printed from do not")

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
