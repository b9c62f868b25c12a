"""What a model's class says, gathered once: constants, variables, actions, properties, what it breaks."""

from __future__ import annotations

import ast
import contextlib
import enum
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Annotated, Any, ClassVar, get_args, get_origin

from falsework.annotations import DomainProblem, resolve
from falsework.domains import Domain, MapOf, SeqOf, SetOf, VariableDomain, freeze, instantiate, spell, thawing
from falsework.errors import DefinitionError, Place
from falsework.language import Model, Role, Row, role_of
from falsework.obligations import Obligation, Open, default_outside, range_of, sizes_in
from falsework.source import annotations_of, class_place, deep, function_node, name_line
from falsework.values import Map, Seq, Set

ACTION_KINDS = ("action", "internal", "fault", "tick")
RESERVED = ("deadlock", "values_stay_in_domain", "before", "answer")


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
    """One class, gathered by MRO. `breaks` names properties and the steps in which each is first broken.

    `refutes` names obligations and what of each one's least counterexample is not 0. `figures` are the
    constants that an obligation leaves open.
    """

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
    obligations: tuple[Obligation, ...] = ()
    figures: tuple[Open, ...] = ()
    refutes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def explorable(self) -> bool:
        """Whether there is a state: a class of figures and obligations alone has none."""
        return bool(self.variables)

    @cached_property
    def path(self) -> str:
        """module:Class, as the command line takes it."""
        return f"{self.cls.__module__}:{self.cls.__qualname__}"

    @cached_property
    def makers(self) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
        """Each variable's name with what makes its frozen value live."""
        return tuple((variable.name, thawing(variable.domain)) for variable in self.variables)

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits of the definition: the same whatever its comments and layout."""
        import hashlib

        parts = [self.cls.__qualname__, repr(sorted((k, spell(v)) for k, v in self.constants.items()))]
        parts += [f"{v.name}: {v.domain} = {v.initial!r}" for v in self.variables]
        for name, function in sorted(methods_of(self.cls).items()):
            node = function_node(function)
            body = [
                s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
            ]
            parts.append(name + ast.unparse(node.args) + "".join(map(ast.unparse, body)))
        parts += [f"{action.name} {action.row!r}" for action in self.actions if action.row]
        parts += [f"{figure.name} in {figure.range}" for figure in self.figures]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def definition_of(cls: type[Model]) -> Definition:
    """The gathered definition; raises DefinitionError for the first mistake, in the order of reading."""
    found = cls.__dict__.get("__falsework_definition__")
    if found is None:
        with deep():
            found = _gather(cls)
        found.__dict__["_read"] = what_is_read(cls)
        cls.__falsework_definition__ = found  # type: ignore[attr-defined]
    return typing.cast(Definition, found)


def definition_now(cls: type[Model]) -> Definition:
    """The definition, gathered anew if the class or a name that its methods read was bound anew since."""
    found = definition_of(cls)
    read, known = what_is_read(cls), found.__dict__["_read"]
    if len(read) != len(known) or any(now is not before for now, before in zip(read, known, strict=True)):
        del cls.__falsework_definition__  # type: ignore[attr-defined]
        found = definition_of(cls)
    return found


def what_is_read(cls: type[Model]) -> list[object]:
    """Everything that the classes and their methods' names stand for: what a definition was made from."""
    found: list[object] = []
    waiting: list[FunctionType] = []
    for k in model_classes(cls):
        for name, value in vars(k).items():
            if not name.startswith("__"):
                found += [name, value]
                waiting += [value] if isinstance(value, FunctionType) else []
    modules = {k.__module__ for k in model_classes(cls)}
    for function in waiting:  # grows by the functions beside the model that are met
        for value in _read_by(function):
            found.append(value)
            beside = isinstance(value, FunctionType) and value.__module__ in modules
            if beside and value not in waiting:
                waiting.append(value)
    return found


def _read_by(function: FunctionType) -> Iterator[Any]:
    """The values of the names in the function's code, the attributes of modules too, and of its closure."""
    codes = [function.__code__]
    for code in codes:
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    names = [name for code in codes for name in code.co_names]
    yield function.__code__
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value).get(other) for other in names)
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not bound yet
            yield cell.cell_contents


def _gather(cls: type[Model]) -> Definition:
    from falsework.class_checks import check_classes, declared_breaks, declared_refutations
    from falsework.definition_checks import check_bodies
    from falsework.signatures import (
        action_of,
        actions_of,
        marked_methods,
        obligation_of,
        property_of,
    )

    asked: object = cls
    if not (isinstance(asked, type) and issubclass(asked, Model) and asked is not Model):
        name = asked.__name__ if isinstance(asked, type) else repr(asked)
        raise DefinitionError("M000", None, f"{name} is no model", "a subclass: class Name(Model): …")
    check_classes(cls)
    marked = list(marked_methods(cls))
    stateless = {m.kind for _, _, m in marked} == {"obligation"}
    constants, variables = _constants_and_variables(cls, stateless=stateless)
    obligations = tuple(obligation_of(n, f, m, constants) for n, f, m in marked if m.kind == "obligation")
    figures = _figures(cls, constants) if obligations else ()
    actions = actions_of(cls, constants, marked) if variables or not stateless else {}
    initials = [action_of(n, f, m, constants) for n, f, m in marked if m.kind == "initial"]
    others = (*ACTION_KINDS, "initial", "obligation")
    properties = [property_of(n, f, m, actions) for n, f, m in marked if m.kind not in others]
    definition = Definition(
        cls=cls,
        name=cls.__name__,
        place=class_place(cls),
        constants=constants,
        variables=variables,
        initials=tuple(initials),
        actions=tuple(actions.values()),
        invariants=tuple(p for p in properties if p.kind in ("state", "step")),
        witnesses=tuple(p for p in properties if p.kind == "witness"),
        terminals=tuple(p for p in properties if p.kind == "terminal"),
        role=role_of(cls),
        breaks=declared_breaks(cls, properties, obligations),
        obligations=obligations,
        figures=figures,
        refutes=declared_refutations(cls, obligations, figures),
    )
    check_bodies(definition)
    return definition


# --- constants and variables ----------------------------------------


def model_classes(cls: type[Model]) -> list[type]:
    """The classes of the MRO that may define the model, the base first."""
    return [k for k in reversed(cls.__mro__) if issubclass(k, Model) and k is not Model]


def _hints(cls: type[Model]) -> dict[str, Any]:
    """Every annotation of the classes of the model, resolved, in order of first definition."""
    found: dict[str, Any] = {}
    for k in model_classes(cls):
        for name, annotation in annotations_of(k).items():
            # One at a time, so that the line of the guilty one is known.
            alone = type(k.__name__, (), {"__annotations__": {name: annotation}, "__module__": k.__module__})
            names = {k.__name__: k, **{n: v for n, v in vars(k).items() if isinstance(v, type)}}
            try:
                found[name] = typing.get_type_hints(alone, localns=names, include_extras=True)[name]
            except Exception as problem:  # noqa: BLE001  evaluating a text may raise anything
                raise DefinitionError(
                    "M003",
                    name_line(k, name),
                    f"the annotation of {name} cannot be read: {problem}",
                    "an annotation whose names stand at the top of the module",
                ) from None
    return found


def _owner_of(cls: type, name: str) -> type:
    return next((k for k in cls.__mro__ if name in vars(k) or name in annotations_of(k)), cls)


def _is_constant(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (int, enum.Enum))


def _constants_and_variables(
    cls: type[Model], *, stateless: bool
) -> tuple[dict[str, Any], tuple[Variable, ...]]:
    constants: dict[str, Any] = {}
    hints = _hints(cls)
    for name, hint in hints.items():
        if get_origin(hint) is ClassVar or hint is ClassVar:
            constants[name] = _constant(cls, name)
    names = [name for name in hints if name not in constants]
    if not names and not stateless:
        raise DefinitionError(
            "M002", class_place(cls), f"{cls.__name__} has no state variable", "name: domain = initial value"
        )
    return constants, tuple(_variable(cls, name, hints[name], constants) for name in names)


def _constant(cls: type[Model], name: str) -> Any:
    place = name_line(_owner_of(cls, name), name)
    if not name.isupper():
        found = f"{name} is a ClassVar, a constant, in lower case"
        raise DefinitionError(
            "M007", place, found, f"{name.upper()}: ClassVar[int], or {name}: domain for a variable"
        )
    if not hasattr(cls, name):
        raise DefinitionError(
            "M002", place, f"the constant {name} has no value", f"{name}: ClassVar[int] = <value>"
        )
    value = getattr(cls, name)
    if not _is_constant(value):
        write = "an int, a bool, an Enum member, None, or a tuple of these"
        raise DefinitionError("M008", place, f"the constant {name} is {value!r}", write)
    return value


def _figures(cls: type[Model], constants: Mapping[str, Any]) -> tuple[Open, ...]:
    """The ints and bools that stand as they were declared; a class below that sets one has fixed it."""
    found = []
    sizes = sizes_in(iter(methods_of(cls).values()))
    for name, hint in _hints(cls).items():
        inner = next(iter(get_args(hint)), bool if isinstance(constants.get(name), bool) else int)
        numeric = inner in (int, bool) or get_origin(inner) is Annotated  # int | None is a choice, and stays
        if not isinstance(constants.get(name), int) or not numeric or name in sizes:
            continue
        declared = next(k for k in cls.__mro__ if name in annotations_of(k))
        place = name_line(declared, name)
        try:
            among = range_of(inner, constants)
            outside = default_outside(among, constants[name], constants)
        except DomainProblem as problem:
            raise DefinitionError(problem.code, place, f"{name}: {problem.found}", problem.write) from None
        if outside:
            raise DefinitionError("M005", place, f"the figure {name} is {outside}", "a value of its range")
        if _owner_of(cls, name) is declared:
            found.append(Open(name, among, place))
    return tuple(found)


def _variable(cls: type[Model], name: str, hint: Any, constants: Mapping[str, Any]) -> Variable:
    place = name_line(_owner_of(cls, name), name)
    if name in RESERVED or name.startswith("_") or hasattr(Model, name):
        raise DefinitionError(
            "M025", place, f"a state variable named {name}", "another name: this one is taken"
        )
    if name.isupper():
        write = f"{name}: ClassVar[int] for a constant, or {name.lower()} for a variable"
        raise DefinitionError(
            "M007", place, f"{name} is in capitals, as a constant, but is no ClassVar", write
        )
    if not hasattr(cls, name):
        write = f"{name}: <domain> = <value>"
        raise DefinitionError("M002", place, f"the state variable {name} has no initial value", write)
    try:
        domain = resolve(hint, constants)
    except DomainProblem as problem:
        at = next(k for k in cls.__mro__ if name in annotations_of(k))
        found = f"{name}: {problem.found}" + ("" if at is cls else f" in {cls.__name__}")
        raise DefinitionError(problem.code, name_line(at, name), found, problem.write) from None
    return Variable(name, domain, _initial(cls, name, domain, place), place)


def _initial(cls: type[Model], name: str, domain: VariableDomain, place: Place) -> Any:
    value = getattr(cls, name)
    wanted = {MapOf: Map, SetOf: Set, SeqOf: Seq}.get(type(domain))
    if wanted is not None and type(value) is not wanted:
        raise DefinitionError(
            "M005", place, f"{name} starts as {value!r}", f"{name}: … = {wanted.__name__}(…)"
        )
    try:
        _, outside = freeze(domain, instantiate(domain, value))
    except Exception as problem:  # noqa: BLE001  a value of any type may stand there
        outside = f" = {value!r}: {problem}"
    if outside:
        where = "" if _owner_of(cls, name) is cls else f" in {cls.__name__}"
        found = f"{name} starts outside its domain{where}: {name}{outside}"
        raise DefinitionError("M005", place, found, f"a value of {domain}")
    return value


# --- methods ----------------------------------------


def methods_of(cls: type[Model]) -> dict[str, FunctionType]:
    """Every plain method by name, the most derived one, in the order in which the names are first defined."""
    found: dict[str, FunctionType] = {}
    for k in model_classes(cls):
        for name, value in vars(k).items():
            if isinstance(value, FunctionType) and not name.startswith("__"):
                found[name] = value  # noqa: PERF403  the order is that of the first definition
    return found
