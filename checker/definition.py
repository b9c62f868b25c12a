"""What a model's class says, gathered once: constants, variables, actions, properties, and what a twin declares."""

from __future__ import annotations

import ast
import enum
import hashlib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar, get_origin

from falsework import domains, language
from falsework.domains import (
    Domain,
    DomainProblem,
    MapOf,
    SeqOf,
    SetOf,
    VariableDomain,
    freeze,
    instantiate,
    spell,
)
from falsework.errors import DefinitionError, Place
from falsework.language import Mark, Model, Role, Row, role_of
from falsework.source import class_place, function_node, function_place, name_line
from falsework.values import Map, Seq, Set

ACTION_KINDS = ("action", "internal", "fault", "tick")
_RESERVED = ("deadlock", "values_stay_in_domain", "before", "answer")


@dataclass(frozen=True)
class Variable:
    """A state variable: its finite domain and the value it starts with."""

    name: str
    domain: VariableDomain
    initial: Any
    place: Place


@dataclass(frozen=True)
class Action:
    """A method that takes a step; its parameters range over finite domains, its answer too."""

    name: str
    kind: str
    parameters: tuple[tuple[str, Domain], ...]
    answer: Domain | None
    function: Callable[..., Any]
    place: Place
    source: tuple[str, ...] = ()
    row: Row | None = None

    @property
    def constants(self) -> tuple[Any, ...]:
        """The leading arguments that are no parameters: the row, if there is one."""
        return () if self.row is None else (self.row,)


@dataclass(frozen=True)
class Property:
    """An invariant of states, of steps or of one action's steps; or a witness, or the terminal predicate."""

    name: str
    kind: str  # "state", "step", "witness", "terminal"
    function: Callable[..., bool]
    arguments: tuple[str, ...]  # after self: before, the action's parameters, answer
    on: str | None
    place: Place
    source: tuple[str, ...] = ()


@dataclass(frozen=True)
class Definition:
    """One class, gathered by MRO. `breaks` names properties and the steps in which each is first broken."""

    cls: type[Model]
    name: str
    place: Place
    constants: Mapping[str, Any]
    variables: tuple[Variable, ...]
    initials: tuple[Action, ...]
    actions: tuple[Action, ...]
    invariants: tuple[Property, ...]
    witnesses: tuple[Property, ...]
    terminals: tuple[Property, ...]
    role: Role | None
    breaks: Mapping[str, int | None]

    @cached_property
    def path(self) -> str:
        """module:Class, as the command line takes it."""
        return f"{self.cls.__module__}:{self.cls.__qualname__}"

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits of the definition: the same for the same meaning, whatever its comments and layout."""
        parts = [self.cls.__qualname__, repr(sorted((k, spell(v)) for k, v in self.constants.items()))]
        parts += [f"{v.name}: {v.domain} = {v.initial!r}" for v in self.variables]
        for name, function in sorted(methods_of(self.cls).items()):
            node = function_node(function)
            body = [
                s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
            ]
            parts.append(name + ast.unparse(node.args) + "".join(map(ast.unparse, body)))
        parts += [f"{action.name} {action.row!r}" for action in self.actions if action.row]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def definition_of(cls: type[Model]) -> Definition:
    """The gathered definition; raises DefinitionError for the first mistake, in the order of reading."""
    found = cls.__dict__.get("__falsework_definition__")
    if found is None:
        found = _gather(cls)
        cls.__falsework_definition__ = found  # type: ignore[attr-defined]
    return typing.cast(Definition, found)


def _gather(cls: type[Model]) -> Definition:
    from falsework.definition_checks import check_bodies, check_classes

    if not (isinstance(cls, type) and issubclass(cls, Model) and cls is not Model):
        raise DefinitionError("M000", None, f"{cls!r} is no model", "class Name(Model): …")
    place = class_place(cls)
    check_classes(cls)
    constants = _constants(cls)
    variables = _variables(cls, constants)
    marked = list(_marked_methods(cls))
    actions: list[Action] = []
    for name, function, mark in marked:
        if mark.kind in ACTION_KINDS:
            actions.extend(_actions(cls, name, function, mark, constants))
    initials = [_action(cls, n, f, m, constants, None) for n, f, m in marked if m.kind == "initial"]
    if not actions:
        raise DefinitionError(
            "M009", place, f"{cls.__name__} has no action", "at least one method under @action"
        )
    by_name: dict[str, Action] = {}
    for action in actions:
        if action.name in by_name:
            raise DefinitionError(
                "M017", action.place, f"a second action named {action.name}", "another name"
            )
        by_name[action.name] = action
    properties = [
        _property(cls, n, f, m, by_name) for n, f, m in marked if m.kind not in (*ACTION_KINDS, "initial")
    ]
    definition = Definition(
        cls=cls,
        name=cls.__name__,
        place=place,
        constants=constants,
        variables=variables,
        initials=tuple(initials),
        actions=tuple(actions),
        invariants=tuple(p for p in properties if p.kind in ("state", "step")),
        witnesses=tuple(p for p in properties if p.kind == "witness"),
        terminals=tuple(p for p in properties if p.kind == "terminal"),
        role=role_of(cls),
        breaks=_breaks(cls, properties),
    )
    check_bodies(definition)
    return definition


# --- constants and variables ------------------------------------------------------------------------------------------


def model_classes(cls: type[Model]) -> list[type]:
    """The classes of the MRO that may define the model, the base first."""
    return [k for k in reversed(cls.__mro__) if issubclass(k, Model) and k is not Model]


def _hints(cls: type[Model]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, SyntaxError) as problem:
        raise DefinitionError(
            "M003", class_place(cls), f"an annotation of {cls.__name__} cannot be read: {problem}",
            "annotations whose names stand at the top of the module",
        ) from None  # fmt: skip


def owner_of(cls: type, name: str) -> type:
    """The class of the MRO that defines the name last, or the class itself."""
    for k in cls.__mro__:
        if name in vars(k) or name in vars(k).get("__annotations__", {}):
            return k
    return cls


def _is_constant(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (int, enum.Enum))


def _constants(cls: type[Model]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, hint in _hints(cls).items():
        if get_origin(hint) is not ClassVar and hint is not ClassVar:
            continue
        if name.startswith("_") or not hasattr(Model, name):
            place = name_line(owner_of(cls, name), name)
            if not name.isupper():
                raise DefinitionError(
                    "M007", place, f"the constant {name} in lower case", f"{name.upper()}: ClassVar[int] = …"
                )
            if not hasattr(cls, name):
                raise DefinitionError(
                    "M002", place, f"the constant {name} has no value", f"{name}: ClassVar[int] = <value>"
                )
            value = getattr(cls, name)
            if not _is_constant(value):
                raise DefinitionError(
                    "M008",
                    place,
                    f"the constant {name} = {value!r}",
                    "an int, a bool, an Enum member or a tuple of these",
                )
            found[name] = value
    return found


def _variables(cls: type[Model], constants: Mapping[str, Any]) -> tuple[Variable, ...]:
    variables = []
    hints = _hints(cls)
    names: list[str] = []
    for k in model_classes(cls):
        names += [n for n in vars(k).get("__annotations__", {}) if n not in names]
    for name in names:
        if get_origin(hints[name]) is ClassVar or hints[name] is ClassVar:
            continue
        place = name_line(owner_of(cls, name), name)
        if name in _RESERVED or name.startswith("_") or hasattr(Model, name):
            raise DefinitionError(
                "M025", place, f"a state variable named {name}", "another name: this one is taken"
            )
        if name.isupper():
            raise DefinitionError(
                "M007",
                place,
                f"{name} is in capitals but is no ClassVar",
                f"{name}: ClassVar[int] = … for a constant, or lower case for a variable",
            )
        if not hasattr(cls, name):
            raise DefinitionError(
                "M002", place, f"the state variable {name} has no initial value", f"{name}: … = <value>"
            )
        variables.append(_variable(cls, name, hints[name], constants, place))
    if not variables:
        raise DefinitionError(
            "M002", class_place(cls), f"{cls.__name__} has no state variable", "name: domain = initial value"
        )
    return tuple(variables)


def _variable(cls: type[Model], name: str, hint: Any, constants: Mapping[str, Any], place: Place) -> Variable:
    try:
        domain = domains.resolve(hint, constants)
    except DomainProblem as problem:
        raise DefinitionError("M003", place, f"{name}: {problem.found}", problem.write) from None
    value = getattr(cls, name)
    wanted = {MapOf: Map, SetOf: Set, SeqOf: Seq}.get(type(domain))
    if wanted is not None and not isinstance(value, wanted):
        raise DefinitionError("M005", place, f"{name} starts as {value!r}", f"{name} = {wanted.__name__}(…)")
    try:
        _, outside = freeze(domain, instantiate(domain, value))
    except Exception as problem:
        raise DefinitionError(
            "M005", place, f"{name} starts as {value!r}: {problem}", f"a value of {domain}"
        ) from None
    if outside:
        raise DefinitionError(
            "M005", place, f"{name} starts outside its domain: {name}{outside}", f"a value of {domain}"
        )
    return Variable(name, domain, value, place)


# --- methods ----------------------------------------------------------------------------------------------------------


def methods_of(cls: type[Model]) -> dict[str, FunctionType]:
    """Every plain method by name, the most derived one, in the order in which the names are first defined."""
    found: dict[str, FunctionType] = {}
    for k in model_classes(cls):
        for name, value in vars(k).items():
            if isinstance(value, FunctionType) and not name.startswith("__"):
                found[name] = value
    return found


def _marked_methods(cls: type[Model]) -> typing.Iterator[tuple[str, FunctionType, Mark]]:
    for name, function in methods_of(cls).items():
        mark: Mark | None = None
        for k in model_classes(cls):
            for new in getattr(vars(k).get(name), "__falsework_marks__", ()):
                if mark is not None and (new.kind, new.on) != (mark.kind, mark.on):
                    raise DefinitionError(
                        "M021", function_place(vars(k)[name]), f"{name} is marked {new.kind} and was marked {mark.kind} before",
                        "one decorator; an override without one inherits it",
                    )  # fmt: skip
                mark = new
        if mark is not None:
            yield name, function, mark


def _actions(
    cls: type[Model], name: str, function: FunctionType, mark: Mark, constants: Mapping[str, Any]
) -> list[Action]:
    if mark.rows:
        return [_action(cls, row.name, function, mark, constants, row) for row in mark.rows]
    return [_action(cls, name, function, mark, constants, None)]


def _function_hints(function: FunctionType) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError) as problem:
        raise DefinitionError(
            "M010",
            function_place(function),
            f"an annotation of {function.__name__} cannot be read: {problem}",
            "annotations whose names stand at the top of the module",
        ) from None


def _action(
    cls: type[Model],
    name: str,
    function: FunctionType,
    mark: Mark,
    constants: Mapping[str, Any],
    row: Row | None,
) -> Action:
    place = function_place(function)
    hints = _function_hints(function)
    names = list(inspect.signature(function).parameters)[1:]
    if row is not None:
        if not names or names[0] != "row":
            raise DefinitionError(
                "M010", place, f"{function.__name__} has no parameter row", "def …(self, row: Row, …)"
            )
        names = names[1:]
    parameters = []
    for parameter in names:
        try:
            if parameter not in hints:
                raise DomainProblem(
                    "no annotation", 'a finite domain, such as Annotated[int, Below("WORKERS")]'
                )
            parameters.append((parameter, domains.cell(hints[parameter], constants)))
        except DomainProblem as problem:
            raise DefinitionError(
                "M010", place, f"parameter {parameter} of {name}: {problem.found}", problem.write
            ) from None
    answer = None
    if hints.get("return", type(None)) is not type(None):
        try:
            answer = domains.cell(hints["return"], constants)
        except DomainProblem as problem:
            raise DefinitionError(
                "M010", place, f"the answer of {name}: {problem.found}", problem.write
            ) from None
    at = place if row is None else Place(row.file, row.line)
    kind = mark.kind
    return Action(name, kind, tuple(parameters), answer, function, at, mark.source, row)


def _property(
    cls: type[Model], name: str, function: FunctionType, mark: Mark, actions: Mapping[str, Action]
) -> Property:
    place = function_place(function)
    arguments = tuple(list(inspect.signature(function).parameters)[1:])
    allowed: set[str] = set()
    kind = {"reachable": "witness", "terminal": "terminal"}.get(mark.kind, "state")
    if name in _RESERVED:
        raise DefinitionError("M025", place, f"a property named {name}", "another name: this one is taken")
    if mark.kind == "invariant":
        allowed = {"before"}
        if mark.on is not None:
            allowed |= _arguments_of(mark.on, actions, place)
        if mark.on is not None or "before" in arguments:
            kind = "step"
    unknown = [argument for argument in arguments if argument not in allowed]
    if unknown:
        able = ", ".join(sorted(allowed)) or "none besides self"
        raise DefinitionError("M018", place, f"{name} has a parameter {unknown[0]}", f"one of: {able}")
    return Property(name, kind, function, arguments, mark.on, place, mark.source)


def _arguments_of(on: str, actions: Mapping[str, Action], place: Place) -> set[str]:
    targets = [
        a for a in actions.values() if a.name == on or (a.row is not None and a.function.__name__ == on)
    ]
    if not targets:
        raise DefinitionError("M018", place, f"on={on}, which is no action", f"one of: {', '.join(actions)}")
    shared = {name for name, _ in targets[0].parameters} | ({"row"} if targets[0].row else set())
    return shared | ({"answer"} if targets[0].answer is not None else set())


# --- what a twin or a configuration declares ------------------------------------------------------------------------------


def _breaks(cls: type[Model], properties: list[Property]) -> dict[str, int | None]:
    role = role_of(cls)
    if role is None:
        return {}
    known = {p.name: p for p in properties if p.kind != "terminal"}
    found: dict[str, int | None] = {}
    for key, steps in role.breaks.items():
        name = _declared_name(cls, key, known)
        witness = name in known and known[name].kind == "witness"
        if witness != (steps is None) or (steps is not None and (not isinstance(steps, int) or steps < 0)):
            write = (
                f"{name}: None, for a witness no longer reached"
                if witness
                else f"{name}: the number of steps"
            )
            raise DefinitionError("M022", class_place(cls), f"breaks {name}: {steps!r}", write)
        found[name] = steps
    return found


def _declared_name(cls: type[Model], key: object, known: Mapping[str, Property]) -> str:
    place = class_place(cls)
    if key in (language.deadlock, language.values_stay_in_domain):
        return str(key)
    name = getattr(key, "__name__", str(key))
    if name not in known:
        raise DefinitionError(
            "M022",
            place,
            f"{cls.__name__} breaks {name}, which is no property of it",
            f"one of: {', '.join(known)}, deadlock, values_stay_in_domain",
        )
    if callable(key) and not any(vars(k).get(name) is key for k in cls.__mro__):
        where = getattr(key, "__module__", "?")
        raise DefinitionError(
            "M022",
            place,
            f"{cls.__name__} breaks {name} of another copy of the class (from {where})",
            "one copy: import the model under one name",
        )
    return name
