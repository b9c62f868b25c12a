"""The modelling language: what a model's file imports, and nothing else.

A model is an ordinary typed class. Its constants are capital ClassVars, its state variables every other
annotated name, its actions the decorated methods, whose parameters over finite domains are all that is open.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast, overload

from falsework.domains import (
    Below,
    Between,
    Countdown,
    Elapsed,
    Int,
    Length,
    MapOf,
    OptionOf,
    RecordOf,
    SeqOf,
    Upto,
    VariableDomain,
)
from falsework.errors import CutByBound, DefinitionError, Disabled, place_of_caller
from falsework.values import Map, Record, Seq, Set, assigned, replace

__all__ = [
    "Below", "Between", "Countdown", "Elapsed", "Length", "Map", "Model", "Record", "Row", "Seq", "Set",
    "Upto", "action", "bound", "configuration", "count", "deadlock", "disabled", "elapse", "fault", "first",
    "given", "implies", "initial", "internal", "invariant", "obligation", "reachable", "replace", "require",
    "rows", "terminal", "tick", "twin", "values_stay_in_domain",
]  # fmt: skip

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
P = ParamSpec("P")
Source = str | tuple[str, ...]
Broken = int | str | None
"""What `breaks` says of a property: the steps; of a witness None; of an obligation its counterexample."""

deadlock = "deadlock"
"""The property that every state has a step or is terminal; for `breaks`."""
values_stay_in_domain = "values_stay_in_domain"
"""The implicit invariant that no variable leaves its domain; for `breaks`."""


@dataclass(frozen=True)
class Mark:
    """What a decorator says of a method: its kind, and its options."""

    kind: str
    source: tuple[str, ...] = ()
    on: str | None = None
    rows: tuple[Row, ...] | None = None


class Row(Record):
    """One row of a catalogue that becomes one action: subclass it, add fields, and build it from data."""

    name: str
    file: str
    line: int


@dataclass(frozen=True)
class Role:
    """What `@twin` or `@configuration` says of a class."""

    kind: str  # "twin" or "configuration"
    breaks: Mapping[object, Broken] = field(default_factory=dict)
    within: type | None = None
    source: tuple[str, ...] = ()


def _misused(found: str, write: str) -> DefinitionError:
    return DefinitionError("M026", place_of_caller(__file__), found, write)


def _named(value: object) -> str:
    """The value as its source spells it: what has a name by its name."""
    if type(value) in (list, tuple, set):
        return (
            f"{type(value).__name__} of {', '.join(map(_named, cast(Iterable[object], value))) or 'nothing'}"
        )
    return str(getattr(value, "__name__", repr(value)))


def _with_arguments(name: str, example: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Makes what a decorator is not given, or is given amiss, an error that shows how it is used."""

    def around(decorator: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(decorator)

        @functools.wraps(decorator)
        def checked(*arguments: P.args, **options: P.kwargs) -> T:
            try:
                signature.bind(*arguments, **options)
            except TypeError as problem:
                bare = not options and len(arguments) == 1 and isinstance(arguments[0], type)
                found = f"@{name} without parentheses" if bare else f"@{name}(…): {problem}"
                raise _misused(found, example) from None
            return decorator(*arguments, **options)

        return checked

    return around


def _sources(source: Source) -> tuple[str, ...]:
    found: Any = (source,) if isinstance(source, str) else source
    if source == "":
        return ()
    if not isinstance(found, tuple) or not all(isinstance(rule, str) and rule for rule in found):
        raise _misused(f"source={_named(source)}", 'source="RULE" or source=("RULE", "RULE")')
    return found


def _marked(function: F, mark: Mark) -> F:
    if not isinstance(function, FunctionType):
        found = f"@{mark.kind} on a {type(function).__name__}, which is no plain method"
        raise _misused(found, f"@{mark.kind} right above the def of a method")
    marks: tuple[Mark, ...] = getattr(function, "__falsework_marks__", ())
    function.__falsework_marks__ = (*marks, mark)  # type: ignore[attr-defined]
    return function


def _decorator(kind: str, doc: str) -> Any:
    @_with_arguments(kind, f'@{kind}, or @{kind}(source="RULE")')
    def decorate(function: Any = None, /, *, source: Source = ()) -> Any:
        mark = Mark(kind, _sources(source))
        return _marked(function, mark) if function is not None else lambda method: _marked(method, mark)

    decorate.__name__ = decorate.__qualname__ = kind
    decorate.__doc__ = doc
    return decorate


class _Decorator:
    """The type of a decorator that is used bare or with a source."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, /, *, source: Source) -> Callable[[F], F]: ...
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Marks the function."""


action = cast(_Decorator, _decorator("action", "A step that can be observed from outside."))
internal = cast(_Decorator, _decorator("internal", "A step that nobody outside observes."))
fault = cast(_Decorator, _decorator("fault", "A step that the environment takes: a crash, a loss, a skew."))
tick = cast(
    _Decorator, _decorator("tick", "The step of time: it calls `elapse(self)` once, after its guards.")
)
initial = cast(
    _Decorator,
    _decorator("initial", "An action run once from the defaults; its instances give the initial states."),
)
reachable = cast(
    _Decorator, _decorator("reachable", "A witness: some state where it is true must be reached.")
)
terminal = cast(_Decorator, _decorator("terminal", "Where it is true the system may stay for ever."))
obligation = cast(
    _Decorator,
    _decorator(
        "obligation",
        "A statement over the figures, left open, and its own parameters: `require` says what it assumes.",
    ),
)


@overload
def invariant(function: F, /) -> F: ...
@overload
def invariant(*, on: Callable[..., Any] | None = None, source: Source = ()) -> Callable[[F], F]: ...
@_with_arguments("invariant", "@invariant, or @invariant(on=action)")
def invariant(function: Any = None, /, *, on: Callable[..., Any] | None = None, source: Source = ()) -> Any:
    """What holds of every state; with a parameter `before`, of every step; with `on`, of that action's."""
    mark = Mark("invariant", _sources(source), None if on is None else getattr(on, "__name__", repr(on)))
    return _marked(function, mark) if function is not None else lambda method: _marked(method, mark)


@_with_arguments("rows", "@rows(CATALOGUE), which is a list of rows, built from data")
def rows(catalog: Iterable[Row], *, source: Source = ()) -> Callable[[F], F]:
    """One action a row, named as the row and placed at its file and line; the parameter `row` is that row."""
    iterable: object = catalog
    if not isinstance(iterable, Iterable) or isinstance(iterable, (Map, Set, Seq)):
        raise _misused(f"rows of {_named(catalog)}, which is no catalogue", "a list of rows, built from data")
    taken: tuple[Any, ...] = tuple(catalog)
    if odd := [row for row in taken if not isinstance(row, Row)]:
        raise _misused(
            f"rows of a catalogue that holds {_named(odd[0])}",
            "instances of Row, or of a frozen subclass of it",
        )
    if not taken:
        raise _misused("rows of an empty catalogue", "at least one row: without one there is no action")
    mark = Mark("action", _sources(source), rows=taken)
    return lambda function: _marked(function, mark)


@_with_arguments(
    "twin", "@twin(breaks={Model.invariant: steps}), the steps as a check of the twin prints them"
)
def twin(
    *, breaks: Mapping[Any, Broken], within: type | None = None, source: Source = ()
) -> Callable[[C], C]:
    """A model that is wrong on purpose: it breaks exactly these properties, each first in that many steps.

    A witness that the twin no longer reaches is declared with None, an obligation with its least
    counterexample. `within` names the configuration it is checked in.
    """
    declared: object = breaks
    if not isinstance(declared, Mapping) or not declared:
        raise _misused(
            f"a twin with breaks={_named(breaks)}", "breaks={Model.invariant: steps}: a twin breaks something"
        )
    return _with_role(Role("twin", dict(breaks), within, _sources(source)))


@_with_arguments(
    "configuration", "@configuration(holds=True), or breaks={Model.invariant: steps} in its place"
)
def configuration(
    *, holds: bool = False, breaks: Mapping[Any, Broken] | None = None, source: Source = ()
) -> Callable[[C], C]:
    """The same model with other constants: it holds, or it breaks exactly these properties."""
    declared: object = breaks or {}
    if not isinstance(declared, Mapping) or holds == bool(breaks):
        raise _misused(
            f"a configuration with {'both' if holds else 'neither'} holds {'and' if holds else 'nor'} breaks",
            "holds=True, or breaks={Model.invariant: steps}, and not both",
        )
    return _with_role(Role("configuration", dict(breaks or {}), None, _sources(source)))


_roles: list[type] = []


def _with_role(role: Role) -> Callable[[C], C]:
    def decorate(cls: C) -> C:
        decorated: object = cls
        if not (isinstance(decorated, type) and issubclass(decorated, Model)):
            raise _misused(
                f"@{role.kind} on {_named(cls)}, which is no model",
                f"@{role.kind} above a subclass of a model",
            )
        if (known := role_of(cls)) is not None:
            raise _misused(
                f"@{role.kind} on {cls.__name__}, a {known.kind} already", "one of the two decorators"
            )
        cls.__falsework_role__ = role  # type: ignore[attr-defined]
        cls.__falsework_made_by__ = sys._getframe(1).f_code  # type: ignore[attr-defined]
        _roles.append(cls)
        return cls

    return decorate


def role_of(cls: type) -> Role | None:
    """The role that decorates this very class, if any."""
    return cast("Role | None", vars(cls).get("__falsework_role__"))


def classes_with_roles() -> Sequence[type]:
    """Every decorated class, in the order of decoration; of a module that was loaded anew the later ones.

    Code that is loaded anew is other code. A function or a loop that makes two classes of one name is the
    same code twice, and both are there.
    """
    found: dict[tuple[str, str], list[type]] = {}
    for cls in _roles:
        known = found.setdefault((cls.__module__, cls.__qualname__), [])
        if known and vars(known[-1])["__falsework_made_by__"] is not vars(cls)["__falsework_made_by__"]:
            known.clear()
        known.append(cls)
    return tuple(cls for several in found.values() for cls in several)


# --- guards ----------------------------------------


def require(condition: object) -> None:
    """The action is enabled only where the condition is true."""
    if not condition:
        raise Disabled


def given(value: T | None) -> T:
    """The value; where it is None the action is disabled."""
    if value is None:
        raise Disabled
    return value


def disabled() -> None:
    """The action is not enabled here."""
    raise Disabled


def bound(condition: object) -> None:
    """A deliberate cut: where the condition is false the step is counted and not taken."""
    if not condition:
        caller = sys._getframe(1)
        raise CutByBound(caller.f_globals.get("__name__", ""), caller.f_code.co_filename, caller.f_lineno)


# --- words of predicates ----------------------------------------

PremiseSite = tuple[str, int, int]
"""The file, line and column of a call of `implies`."""


class _Premises:
    """Where true premises are counted, if anywhere."""

    counter: Counter[PremiseSite] | None = None
    sites: dict[tuple[CodeType, int], PremiseSite] = {}


def implies(premise: object, conclusion: object) -> bool:
    """False only where the premise is true and the conclusion is not.

    Both sides are evaluated; true premises are counted.
    """
    if premise and _Premises.counter is not None:
        _Premises.counter[_call_site()] += 1
    return bool(not premise or conclusion)


def _call_site() -> PremiseSite:
    caller = sys._getframe(2)
    key = (caller.f_code, caller.f_lasti)
    if key not in _Premises.sites:
        line, _, column, _ = list(caller.f_code.co_positions())[caller.f_lasti // 2]
        _Premises.sites[key] = (caller.f_code.co_filename, line or 0, column or 0)
    return _Premises.sites[key]


def count_premises(counter: Counter[PremiseSite] | None) -> None:
    """From now on true premises are counted there (None: nowhere)."""
    _Premises.counter = counter


def first(items: Iterable[T]) -> T | None:
    """The first item, or None if there is none."""
    return next(iter(items), None)


def count(items: Iterable[object]) -> int:
    """How many of the items are true."""
    return sum(1 for item in items if item)


# --- the class ----------------------------------------


class Model:
    """What every model is: an instance is one state, and an action takes the step or raises Disabled."""

    def __init__(self) -> None:
        from falsework.definition import definition_of
        from falsework.domains import instantiate

        for variable in definition_of(type(self)).variables:
            self.__dict__[variable.name] = instantiate(variable.domain, variable.initial)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self.__dict__:
            known = ", ".join(self.__dict__)
            raise AttributeError(f"{type(self).__name__} has no state variable {name}; it has {known}")
        self.__dict__[name] = assigned(name, self.__dict__[name], value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the state variable {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        cells = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({cells})"


def elapse(model: Model) -> None:
    """Every countdown falls by one to 0, every elapsed time grows by one to its cap, wherever they stand."""
    from falsework.definition import definition_of

    for variable in definition_of(type(model)).variables:
        value = model.__dict__[variable.name]
        model.__dict__[variable.name] = _moved(variable.domain, value)


def _moved(domain: VariableDomain, value: Any) -> Any:
    match domain:
        case Int(clock="countdown"):
            return max(value - 1, 0)
        case Int(clock="elapsed"):
            return min(value + 1, domain.high)
        case OptionOf(inner):
            return None if value is None else _moved(inner, value)
        case RecordOf(cls, fields):
            return cls(*(_moved(inner, getattr(value, name)) for name, inner in fields))
        case MapOf(_, inner):
            return Map.of({key: _moved(inner, item) for key, item in value.items()})
        case SeqOf(inner, _):
            return Seq.over([_moved(inner, item) for item in value])
    return value
