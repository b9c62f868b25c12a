"""A class with other figures, and an obligation executed on it: what Python itself answers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, TypeVar

from falsework.definition import Definition, definition_of, methods_of
from falsework.domains import spell
from falsework.errors import Disabled, InputError, ModelFault
from falsework.language import Model
from falsework.naming import nearest
from falsework.obligations import Obligation

M = TypeVar("M", bound=Model)


def with_figures(cls: type[M], **figures: object) -> M:
    """An instance whose methods read these figures instead of the class's own; raises InputError."""
    known = definition_of(cls).constants
    for name in figures:
        if name not in known:
            raise InputError(f"{cls.__name__} has no constant {name!r}{nearest(name, known)}")
    instance = object.__new__(cls)
    instance.__dict__.update(figures)
    return instance


def answer(definition: Definition, obligation: Obligation, values: Mapping[str, Any]) -> bool | None:
    """What the class answers there, None where an assumption is false; raises ModelFault where it fails."""
    answers = [_answer(definition, obligation, values) for _ in range(2)]
    if answers[0] is not answers[1]:
        raise ModelFault(f"{obligation.name} answers {answers[0]} and then {answers[1]} at the same values")
    return answers[0]


def _answer(definition: Definition, obligation: Obligation, values: Mapping[str, Any]) -> bool | None:
    try:
        found: object = obligation.function(*arguments(definition, obligation, values))
    except Disabled:
        return None
    except Exception as problem:  # noqa: BLE001  a user's method raises anything
        raise ModelFault(f"{obligation.name} raises {type(problem).__name__}: {problem}") from None
    if not isinstance(found, bool):
        raise ModelFault(f"{obligation.name} answers {found!r}, which is neither True nor False")
    return found


def arguments(definition: Definition, obligation: Obligation, values: Mapping[str, Any]) -> list[Any]:
    """The instance with its figures, and the parameters."""
    figures = {name: value for name, value in values.items() if name in definition.constants}
    instance = with_figures(definition.cls, **figures)
    return [instance, *(values[parameter.name] for parameter in obligation.parameters)]


def helper_values(
    definition: Definition, obligation: Obligation, values: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """What each call of an own helper answers there, in the order of answering, each once."""
    helpers = {
        function.__code__: name
        for name, function in methods_of(definition.cls).items()
        if function is not obligation.function
    }
    found: dict[str, Any] = {}
    calls: dict[FrameType, str] = {}  # what each was given: its locals may be others when it answers

    def heard(frame: FrameType, event: str, value: Any) -> Any:
        if event == "return":
            found.setdefault(f"{helpers[frame.f_code]}({calls[frame]})", value)
        return heard

    def called(frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or frame.f_code not in helpers:
            return None
        names = frame.f_code.co_varnames[1 : frame.f_code.co_argcount]
        calls[frame] = ", ".join(f"{each}={spell(frame.f_locals[each])}" for each in names)
        return heard

    given = arguments(definition, obligation, values)
    with _traced(called), contextlib.suppress(Disabled):
        obligation.function(*given)
    return list(found.items())


@contextlib.contextmanager
def _traced(called: Any) -> Iterator[None]:
    kept = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(kept)
