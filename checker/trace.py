"""A trace: labels from an initial state onwards, and the one way to execute it again, on the class itself."""

from __future__ import annotations

import itertools
import linecache
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from falsework.definition import Action, Definition
from falsework.domains import spell
from falsework.errors import CutByBound, Disabled, InputError, Place, display_file
from falsework.language import Model
from falsework.state import State, frozen, live

IMPURE = "impure: a second evaluation of {} differs from the first"


@dataclass(frozen=True)
class Label:
    """One step's name: an action and its arguments."""

    action: str
    arguments: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}({', '.join(map(spell, self.arguments))})"


@dataclass(frozen=True)
class Trace:
    """The initial action's label (None where the defaults are the start) and the steps after it."""

    start: Label | None
    steps: tuple[Label, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Taken:
    """A step executed on the class: where it led, what it answered, what lies outside its domain there."""

    label: Label
    state: State
    answer: Any = None
    outside: str = ""


@dataclass(frozen=True)
class Fault:
    """The model itself went wrong: what was raised, its line, the way there, and the predicate, if any."""

    message: str
    place: Place | None
    trace: Trace = field(default_factory=lambda: Trace(None))
    at: str = ""


class Faulted(Exception):
    """A step or a predicate raised: what, and where."""

    def __init__(self, message: str, place: Place | None) -> None:
        self.message = message
        self.place = place
        super().__init__(message)


def faulted(definition: Definition, problem: BaseException, otherwise: Place | None = None) -> Faulted:
    """The exception as a fault, placed at the innermost line of the model's own code that it passed.

    Its message says what to write instead, where Python's own words do not; of None, by which call it came.
    """
    own = {k.__module__ for k in definition.cls.__mro__} - {Model.__module__}
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(problem.__traceback__)
              if frame.f_globals.get("__name__") in own]  # fmt: skip
    places = [Place(display_file(code.co_filename), line) for code, line in frames]
    kind = "" if type(problem).__module__.startswith("falsework") else type(problem).__name__
    message = ": ".join(part for part in (kind, str(problem)) if part) or type(problem).__name__
    if hint := _instead(problem, frames):
        message += f"; write {hint}"
    named = [code.co_name for code, _ in frames if not code.co_name.startswith("<")]  # no generator's own
    if _of_none(problem) and len(named) > 1:  # the guard may be missing in either
        message += f"; in {named[-1]}, called from {named[0]} at {places[0]}"
    return Faulted(message, places[-1] if places else otherwise)


def _of_none(problem: BaseException) -> bool:
    return isinstance(problem, (AttributeError, TypeError)) and "'NoneType'" in str(problem)


def _instead(problem: BaseException, frames: list[tuple[CodeType, int]]) -> str:
    """What to write instead of what raised the exception, where that can be told."""
    if isinstance(problem, AssertionError):
        return "require(…) for a guard, an @invariant for what must hold"
    if _of_none(problem):
        return "given(…) where it is read, or ask `is not None` first"
    code, line = frames[-1] if frames else (None, 0)
    text = linecache.getline(code.co_filename, line) if code is not None else ""
    if isinstance(problem, Exception) and text.lstrip().startswith("raise"):
        return "require(…) or disabled() for a step that does not exist, an @invariant for what must hold"
    return ""


def instances(definition: Definition, action: Action) -> Iterator[Label]:
    """Every label of the action of that model, its arguments in domain order, the first slowest."""
    assert action in definition.actions + definition.initials
    for arguments in itertools.product(*(tuple(domain.values()) for _, domain in action.parameters)):
        yield Label(action.name, arguments)


def take(definition: Definition, action: Action, before: State, label: Label) -> Taken | None:
    """The step from that state, or None where it is disabled; raises CutByBound or Faulted."""
    instance = live(definition, before)
    try:
        answer = action.function(instance, *action.constants, *label.arguments)
        state, outside = frozen(definition, instance)
    except Disabled:
        return None
    except (CutByBound, KeyboardInterrupt):
        raise
    except BaseException as problem:  # noqa: BLE001  whatever an action raises is a fault
        raise faulted(definition, problem, action.place) from None
    if action.answer is None:
        if answer is not None:
            raise Faulted(f"{action.name} answered {answer!r} and declares no answer", action.place)
    elif not action.answer.contains(answer):
        outside = outside or _answered(action, answer)
    else:
        answer = action.answer.canonical(answer)
    return Taken(label, state, answer, outside)


def _answered(action: Action, answer: object) -> str:
    """What is said of an answer outside its domain: whose it is, where, and what was declared."""
    found = f"answer = {'None' if answer is None else spell(answer)}, of {action.name} at {action.place}"
    hint = "; write return <value> on every path" if answer is None else ""
    return f"{found}, which declares {action.answer}{hint}"


def nothing_to_explore(definition: Definition, name: str = "") -> InputError:
    """The error for a class of figures and obligations alone, with the command that is for it."""
    return InputError(
        f"{definition.name} has no state, so there is nothing to explore: it consists of figures and "
        f"obligations\nwrite: falsework prove {name or definition.path}"
    )


def starts(definition: Definition, failed: Callable[[Faulted], None] | None = None) -> Iterator[Taken]:
    """The initial states with the labels of the initial actions that make them, in order.

    A start that faults is handed to `failed`, and the others follow; without it Faulted is raised.
    """
    if not definition.explorable:
        raise nothing_to_explore(definition)
    state, outside = frozen(definition, definition.cls())
    if not definition.initials:
        yield Taken(Label("start"), state, None, outside)
    for action in definition.initials:
        for label in instances(definition, action):
            try:
                taken = _twice(definition, action, state, label)
            except Faulted as fault:
                if failed is None:
                    raise
                failed(fault)
                continue
            if taken is not None:
                yield taken


def _twice(definition: Definition, action: Action, before: State, label: Label) -> Taken | None:
    taken, again = (take(definition, action, before, label) for _ in range(2))
    if taken != again:
        raise Faulted(IMPURE.format(label), action.place)
    return taken


def replay(definition: Definition, trace: Trace) -> list[Taken]:
    """Every step executed on the class, the start first; raises InputError where one cannot be taken."""
    actions = {action.name: action for action in definition.actions}
    began = starts(definition, failed=lambda _: None)
    taken = list(itertools.islice((start for start in began if trace.start in (None, start.label)), 1))
    if not taken:
        raise InputError(f"{definition.name} has no initial state {trace.start}")
    for number, label in enumerate(trace.steps, 1):
        if label.action not in actions:
            raise InputError(f"step {number}: {definition.name} has no action {label.action}")
        try:
            after = take(definition, actions[label.action], taken[-1].state, label)
        except CutByBound as cut:
            raise InputError(f"step {number}: {label} is {cut}") from None
        if after is None:
            raise InputError(f"step {number}: {label} is not enabled there")
        taken.append(after)
    return taken
