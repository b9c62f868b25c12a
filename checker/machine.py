"""A Hypothesis state machine over a model: it draws walks of enabled steps, and makes short what one finds.

In every state on a walk each enabled step is executed and judged; the first that breaks something is taken.
So a step is drawn only to get elsewhere: to another state, one not yet on the walk if there is any. Each walk
shuns some actions, drawn anew, so that what a common action undoes is met too. A walk that broke something is
shortened breadth-first to the least shortest trace; where that is too far to look, by leaving steps out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import new_class
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, event, settings
from hypothesis.stateful import RuleBasedStateMachine, rule
from hypothesis.strategies import integers

from falsework.accounting import Bounds, Tally, Violation
from falsework.check import Finding, Result, asked_of, confirm
from falsework.definition import Action, Definition, definition_now
from falsework.errors import CutByBound, InputError, ModelFault, Place
from falsework.judge import applies, judge, step_arguments
from falsework.language import Model, deadlock, values_stay_in_domain
from falsework.naming import with_constants
from falsework.report_text import details, headline, number_of
from falsework.state import State
from falsework.trace import Fault, Faulted, Label, Taken, Trace, instances, starts, take

STEPS = 50
"""How many steps are drawn in a walk."""
SEARCHED = 100_000
"""How many steps the shortening executes at most before it is content with leaving steps out."""

Way = tuple[str, Taken]
"""A step that leads elsewhere, by the name of its action."""
Path = tuple[Taken, ...]
"""The start and the steps after it."""


@dataclass(frozen=True)
class Broken:
    """The first thing that is wrong at the end of a walk: a property's name, or a fault of the model."""

    name: str
    fault: Faulted | None = None
    step: Taken | None = None  # the step that it takes from there
    label: Label | None = None  # the step that could not be taken, for it is the fault

    @property
    def takes_a_step(self) -> bool:
        """Whether the walk is one step longer than the state in which this was seen."""
        return self.step is not None or self.label is not None


@dataclass
class Ways:
    """Where one can go from a state: steps to different other states, the bounds' cuts, and what breaks."""

    steps: list[Way] = field(default_factory=list)
    cuts: list[Place] = field(default_factory=list)
    broken: Broken | None = None


class Refuted(AssertionError):
    """A walk that ends in a violation or a fault; its text is the report of a check that found the same."""

    def __init__(self, definition: Definition, broken: Broken, path: Path, prefix: int) -> None:
        super().__init__()
        self.definition = definition
        self.broken = broken
        self.path = path
        self.prefix = prefix

    def __str__(self) -> str:
        parts = [headline(self.result), details(self.result)]
        if self.prefix:
            parts.append(f"drawn from the end of a stated prefix of {number_of(self.prefix, 'step')}")
        return "\n\n".join(filter(None, parts))

    @property
    def trace(self) -> Trace:
        """The labels of the walk."""
        return _trace(self.definition, self.path)

    @cached_property
    def result(self) -> Result:
        """What was found as the result of a check, executed again on the class."""
        definition, broken = self.definition, self.broken
        tally = Tally(definition, "machine", Bounds())
        asked = asked_of(definition)
        result = Result(
            definition, tally, "machine", "drawn by Hypothesis", name=definition.name, asked=asked
        )
        if broken.fault is not None:
            trace = self.trace
            if broken.label is not None:
                trace = replace(trace, steps=(*trace.steps, broken.label))
            tally.fault = Fault(broken.fault.message, broken.fault.place, trace, broken.name)
            result.findings.append(Finding("fault", broken.fault.message, broken.fault.place, broken.name))
            return result
        violation = Violation(broken.name, self.trace, self.path[-1].outside)
        tally.violations[broken.name] = violation
        try:
            result.counterexamples[broken.name] = confirm(definition, violation)
        except (ModelFault, InputError, Faulted) as problem:
            result.findings.append(Finding("not-confirmed", str(problem), definition.place, broken.name))
        return result


def _trace(definition: Definition, path: Sequence[Taken]) -> Trace:
    start = path[0].label if definition.initials and path else None
    return Trace(start, tuple(taken.label for taken in path[1:]))


class Walks:
    """The model as walks see it; what was found of a state is remembered, for all walks of the machine."""

    def __init__(self, definition: Definition, prefix: Sequence[Taken]) -> None:
        self.definition = definition
        self.prefix = tuple(prefix)
        self.actions = {action.name: action for action in definition.actions}
        self.labels = [(a, label) for a in definition.actions for label in instances(definition, a)]
        self.known: dict[State, Ways] = {}
        self.false: dict[State, str] = {}

    @cached_property
    def beginnings(self) -> list[Path]:
        """The walks that have not begun: the stated prefix, or the distinct initial states."""
        if self.prefix:
            return [self.prefix]
        found: dict[State, Path] = {}
        for start in starts(self.definition):
            found.setdefault(start.state, (start,))
        return list(found.values())

    def at(self, state: State) -> Ways:
        """All that can be done there."""
        if state not in self.known:
            self.known[state] = self._look(state)
        return self.known[state]

    def wrong_before(self, beginning: Path) -> tuple[Path, Broken] | None:
        """The first thing wrong on a walk that is not drawn."""
        for number, taken in enumerate(beginning):
            upto = beginning[: number + 1]
            try:
                if number:
                    name = self._breaks(beginning[number - 1].state, self.actions[taken.label.action], taken)
                else:
                    name = values_stay_in_domain if taken.outside else self._false_in(taken.state)
            except _At as problem:
                return upto, Broken(problem.name, problem.fault)
            if name:
                return upto, Broken(name)
        return None

    def _look(self, state: State) -> Ways:
        ways = Ways()
        reached = {state}
        enabled = False
        for action, label in self.labels:
            taken = None
            try:
                taken = take(self.definition, action, state, label)
                name = "" if taken is None else self._breaks(state, action, taken)
            except CutByBound as cut:
                ways.cuts.append(cut.place)
                continue
            except Faulted as fault:
                ways.broken = Broken("", fault, None, label)
                return ways
            except _At as problem:
                ways.broken = Broken(problem.name, problem.fault, taken)
                return ways
            if taken is None:
                continue
            enabled = True
            if name:
                ways.broken = Broken(name, None, taken)
                return ways
            if taken.state not in reached:
                reached.add(taken.state)
                ways.steps.append((action.name, taken))
        if not enabled and not ways.cuts:
            ways.broken = self._stuck(state)
        return ways

    # What a walk has found, in fewer steps.

    def shortened(self, path: Path, broken: Broken) -> tuple[Path, Broken]:
        """The least shortest walk that breaks something; where that is too far to look, this one thinned."""
        return self._shortest or self._thinned(path, broken)

    @cached_property
    def _shortest(self) -> tuple[Path, Broken] | None:
        """Breadth-first from every beginning; None where that takes more than SEARCHED steps."""
        level = [(beginning, self.at(beginning[-1].state)) for beginning in self.beginnings]
        seen = {path[-1].state for path, _ in level}
        while level:
            found = [(path, ways.broken) for path, ways in level if ways.broken is not None]
            if found:
                return min(found, key=lambda each: each[1].takes_a_step)
            after: list[tuple[Path, Ways]] = []
            for path, ways in level:
                for _, taken in ways.steps:
                    if taken.state not in seen:
                        seen.add(taken.state)
                        if len(seen) * len(self.labels) > SEARCHED:
                            return None
                        after.append(((*path, taken), self.at(taken.state)))
            level = after
        return None

    def _thinned(self, path: Path, broken: Broken) -> tuple[Path, Broken]:
        """The walk with steps left out, as long as something breaks."""
        drawn = len(self.prefix) or 1
        found = (path, broken)
        size = len(path) - drawn
        while size:
            at = drawn
            while at + size <= len(found[0]):
                rest = found[0][at + size :] + ((broken.step,) if broken.step is not None else ())
                fewer = self._again(found[0][:at], rest)
                found, at = (fewer, at) if fewer is not None else (found, at + 1)
            size //= 2
        return found

    def _again(self, path: Path, rest: Path) -> tuple[Path, Broken] | None:
        """The walk with those of the steps that are enabled, up to the first that breaks something."""
        for step in rest:
            action = self.actions[step.label.action]
            try:
                taken = take(self.definition, action, path[-1].state, step.label)
                name = "" if taken is None else self._breaks(path[-1].state, action, taken)
            except (CutByBound, Faulted, _At):
                return None
            if taken is not None:
                if name:
                    return path, Broken(name, None, taken)
                path = (*path, taken)
        stuck = self.at(path[-1].state).broken
        return (path, stuck) if stuck is not None and stuck.name == deadlock else None

    def _stuck(self, state: State) -> Broken | None:
        try:
            if any(self._holds(prop.name, prop, state, {}) for prop in self.definition.terminals):
                return None
        except _At as problem:
            return Broken(problem.name, problem.fault)
        return Broken(deadlock)

    def _breaks(self, before: State, action: Action, taken: Taken) -> str:
        if taken.outside:
            return values_stay_in_domain
        known = step_arguments(action, taken.label, taken.answer, before)
        for prop in self.definition.invariants:
            if applies(prop, action) and not self._holds(prop.name, prop, taken.state, known):
                return prop.name
        return self._false_in(taken.state)

    def _false_in(self, state: State) -> str:
        if state not in self.false:
            judged = (prop for prop in self.definition.invariants if prop.kind == "state")
            found = (prop.name for prop in judged if not self._holds(prop.name, prop, state, {}))
            self.false[state] = next(found, "")
        return self.false[state]

    def _holds(self, name: str, prop: Any, state: State, known: dict[str, object]) -> bool:
        try:
            return judge(self.definition, prop, state, known, times=1)[0]
        except Faulted as fault:
            raise _At(name, fault) from None


class _At(Exception):
    """A predicate that raised: its name, and what."""

    def __init__(self, name: str, fault: Faulted) -> None:
        self.name = name
        self.fault = fault
        super().__init__(name)


class ModelMachine(RuleBasedStateMachine):
    """What every machine does; `machine` gives it a model."""

    walks: ClassVar[Walks]
    cuts: ClassVar[dict[Place, int]]  # how often each bound cut a step of a state on a walk
    steps: ClassVar[int]
    told: Path = ()

    def walk(self, drawn: int) -> None:
        """A whole walk, decided by that number; where there is nowhere to go it begins again."""
        __tracebackhide__ = True
        chance = random.Random(drawn)  # noqa: S311  a walk is no secret
        names = list(self.walks.actions)
        shunned = set(chance.sample(names, chance.randrange(len(names))))
        path: Path = ()
        for _ in range(self.steps + 1):
            ways = self.walks.at(path[-1].state).steps if path else []
            path = _further(path, ways, shunned, chance) if ways else self._begun(chance)
            seen = self.walks.at(path[-1].state)
            for place in seen.cuts:
                self.cuts[place] = self.cuts.get(place, 0) + 1
                event(f"cut by bound at {place}")
            if seen.broken is not None:
                self._fail(*self.walks.shortened(path, seen.broken))

    def _begun(self, chance: random.Random) -> Path:
        __tracebackhide__ = True
        definition = self.walks.definition
        try:
            beginnings = self.walks.beginnings
        except Faulted as fault:
            text = f"{fault.place}: the start of {definition.name} faults: {fault.message}"
            raise ModelFault(text) from None
        if not beginnings:
            raise InputError(f"{definition.name} has no initial state: no initial action is enabled")
        for beginning in beginnings:
            if (wrong := self.walks.wrong_before(beginning)) is not None:
                self._fail(*wrong)
        return chance.choice(beginnings)

    def _fail(self, path: Path, broken: Broken) -> None:
        __tracebackhide__ = True
        self.told = path = (*path, broken.step) if broken.step is not None else path
        raise Refuted(self.walks.definition, broken, path, len(self.walks.prefix[1:]))

    def _repr_step(self, *_: object) -> str:
        """What Hypothesis prints of a walk: of one that broke something its steps, one a line."""
        shown = self.told if self.walks.definition.initials else self.told[1:]
        return "\n".join(str(taken.label) for taken in shown) or "# no step"


def _further(path: Path, ways: Sequence[Way], shunned: set[str], chance: random.Random) -> Path:
    """One step more: to a state not yet met if there is one, by an action not shunned if there is one."""
    been = {taken.state for taken in path}
    fresh = [way for way in ways if way[1].state not in been] or ways
    liked = [way for way in fresh if way[0] not in shunned] or fresh
    action = chance.choice(list(dict.fromkeys(name for name, _ in liked)))
    return (*path, chance.choice([taken for name, taken in liked if name == action]))


def machine(
    model: type[Model], *, prefix: str | Trace = "", steps: int = STEPS, **constants: Any
) -> type[ModelMachine]:
    """The state machine of the model, with other constants if given; each walk has that many steps.

    `prefix` is a trace, or a line of steps such as `acquire(0) expire()`, from whose end every walk starts.
    Raises DefinitionError or InputError.
    """
    from falsework.tracefile import executed, parsed

    definition = definition_now(with_constants(model, constants) if constants else model)
    if not definition.invariants:
        raise InputError(f"{definition.name} declares no invariant, so no walk could break one")
    if steps < 1:
        raise InputError(f"machine({model.__name__}, steps={steps}): a walk has 1 step or more")
    stated = parsed(definition, prefix) if isinstance(prefix, str) else prefix
    walks = Walks(definition, tuple(executed(definition, stated)) if prefix != "" else ())

    def walk(self: ModelMachine, drawn: int) -> None:
        __tracebackhide__ = True
        self.walk(drawn)

    body = {
        "__doc__": f"Walks over {definition.name}.",
        "__module__": model.__module__,
        "walks": walks,
        "cuts": {},
        "steps": steps,
        "draw": rule(drawn=integers(0, 2**63 - 1))(walk),
    }
    name = f"{definition.name}Machine"
    made: type[ModelMachine] = new_class(name, (ModelMachine,), exec_body=lambda space: space.update(body))
    made.TestCase.settings = _settings()
    return made


def _settings() -> settings:
    """The profile's settings, but one walk an example, no deadline, and no shrinking: that is done here."""
    phases = [
        phase
        for phase in (settings.default or settings()).phases
        if phase not in (Phase.shrink, Phase.explain)
    ]
    return settings(
        deadline=None, suppress_health_check=list(HealthCheck), phases=phases, stateful_step_count=1
    )
