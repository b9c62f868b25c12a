"""From an annotation to the finite domain that it names in one class, with the constants of that class."""

from __future__ import annotations

import ast
import dataclasses
import enum
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from falsework.domains import (
    Below,
    Between,
    Bool,
    Countdown,
    Domain,
    Elapsed,
    EnumOf,
    Int,
    Length,
    MapOf,
    OptionOf,
    RecordOf,
    SeqOf,
    SetOf,
    TupleOf,
    Upto,
    VariableDomain,
)
from falsework.values import Map, Record, Seq, Set

BOUNDS = (Below, Upto, Between, Countdown, Elapsed)
MOST_KEYS = 100_000
_UNBOUNDED = 'Annotated[int, Below("N")] or Annotated[int, Upto("N")], N being a constant of the class'
_CELLS = "bool, a bounded int, an Enum, a Record, or one of these | None"
_MUTABLE_VALUES = (list, dict, set, bytearray)
_A_MEMBER_ITSELF = ("__eq__", "__ne__", "__hash__", "__bool__", "__len__", "__getattribute__")
"""What every member of an Enum has alike, lest two engines differ in it."""


class DomainProblem(Exception):
    """An annotation that names no finite domain (M003) or a bad bound (M004)."""

    def __init__(self, found: str, write: str, code: str = "M003") -> None:
        self.found = found
        self.write = write
        self.code = code
        super().__init__(f"{found}; write: {write}")


# --- constant expressions ----------------------------------------

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def constant_value(expression: str | int, constants: Mapping[str, object]) -> int:
    """The int that a bound such as "WRITE_BOUND + max(LAG, 0)" stands for in one class.

    Raises DomainProblem for an unknown name, a non-int, or anything but + - * // % min max over constants.
    """
    if isinstance(expression, int) and not isinstance(expression, bool):
        return expression
    if not isinstance(expression, str):
        write = 'an int or an expression over constants, such as Below("WORKERS")'
        raise DomainProblem(f"the bound {expression!r}", write, "M004")
    try:
        return _evaluate(ast.parse(expression.strip(), mode="eval").body, constants, expression)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError) as problem:
        what = "a division by zero" if isinstance(problem, ZeroDivisionError) else "no expression"
        write = "an expression over constants"
        raise DomainProblem(f"the bound {expression!r}: {what}", write, "M004") from None


def _evaluate(node: ast.expr, constants: Mapping[str, object], whole: str) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            found = constants.get(name)
            if isinstance(found, int) and not isinstance(found, bool):
                return int(found)
            known = (
                ", ".join(n for n, v in constants.items() if type(v) is int)
                or "none yet: N: ClassVar[int] = 2"
            )
            what = f"the constant {name} is no int" if name in constants else f"no constant {name}"
            raise DomainProblem(
                f"the bound {whole!r}: {what}", f"one of the constants of the class: {known}", "M004"
            )
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, constants, whole), _evaluate(right, constants, whole))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, constants, whole)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, *_] as args, keywords=[]):
            numbers = [_evaluate(arg, constants, whole) for arg in args]
            return min(numbers) if name == "min" else max(numbers)
    raise DomainProblem(f"the bound {whole!r}", "ints, constants, + - * // %, min and max", "M004")


# --- variables ----------------------------------------


def resolve(annotation: Any, constants: Mapping[str, object]) -> VariableDomain:
    """The domain that a resolved annotation names; raises DomainProblem where it names none."""
    annotation = _unaliased(annotation)
    origin = get_origin(annotation)
    if origin is Annotated and get_origin(get_args(annotation)[0]) is Seq:
        inner, *marks = get_args(annotation)
        lengths = [mark for mark in marks if isinstance(mark, Length)]
        if len(lengths) != 1:
            raise DomainProblem(
                f"a Seq with {len(lengths)} lengths", 'Annotated[Seq[T], Length("N")]', "M004"
            )
        length = constant_value(lengths[0].bounds[0], constants)
        if length < 1:
            raise DomainProblem(f"{lengths[0]!r}, which is {length}", "a length of at least 1", "M004")
        return SeqOf(cell(get_args(inner)[0], constants), length)
    if origin is Seq or annotation is Seq:
        raise DomainProblem("a Seq without a length", 'Annotated[Seq[T], Length("N")]', "M004")
    if origin is Map:
        key, value = get_args(annotation)
        return MapOf(key_domain(key, constants), cell(value, constants))
    if origin is Set:
        return SetOf(key_domain(get_args(annotation)[0], constants))
    if annotation in (Map, Set):
        raise DomainProblem(f"a bare {annotation.__name__}", "Map[K, V], or Set[K]")
    try:
        return cell(annotation, constants)
    except DomainProblem as problem:
        if problem.write == _CELLS:
            problem.write += ', Map[K, V], Set[K] or Annotated[Seq[T], Length("N")]'
        raise


def key_domain(annotation: Any, constants: Mapping[str, object]) -> Domain:
    """The domain of a key: a scalar, an option of one, or a tuple of such; not too many for a table."""
    domain = _key(_unaliased(annotation), constants)
    if size(domain) > MOST_KEYS:
        raise DomainProblem(f"{size(domain)} keys", f"a key of at most {MOST_KEYS} values", "M004")
    return domain


def _key(annotation: Any, constants: Mapping[str, object]) -> Domain:
    if get_origin(annotation) is tuple:
        parts = get_args(annotation)
        if not parts or Ellipsis in parts:
            raise DomainProblem("a tuple of any length as a key", "tuple[A, B], one domain for each part")
        return TupleOf(tuple(_key(_unaliased(part), constants) for part in parts))
    domain = cell(annotation, constants)
    scalar = domain.inner if isinstance(domain, OptionOf) else domain
    if isinstance(scalar, RecordOf):
        raise DomainProblem(
            f"the record {scalar} as a key", "a bool, a bounded int, an Enum, or a tuple of these"
        )
    if isinstance(scalar, Int) and scalar.clock:
        raise DomainProblem(f"the clock {scalar} as a key", "Below or Upto: only a value can move with time")
    return domain


def size(domain: Domain) -> int:
    """How many values the domain has."""
    match domain:
        case Bool():
            return 2
        case Int(low, high):
            return high - low + 1
        case EnumOf(cls):
            return len(cls)
        case OptionOf(inner):
            return 1 + size(inner)
        case RecordOf(_, fields):
            return math.prod(size(inner) for _, inner in fields)
        case TupleOf(parts):
            return math.prod(map(size, parts))


# --- cells ----------------------------------------


def cell(annotation: Any, constants: Mapping[str, object], inside: tuple[type, ...] = ()) -> Domain:
    """The domain of one cell, within the records `inside`: a scalar, a record, or an option of either."""
    annotation = _unaliased(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _annotated(annotation, constants, inside)
    if origin in (Union, types.UnionType):
        rest = [arg for arg in get_args(annotation) if arg is not type(None)]
        if len(rest) != 1 or len(rest) == len(get_args(annotation)):
            raise DomainProblem(f"the union {_spelled(annotation)}", "X | None, with one X")
        inner = cell(rest[0], constants, inside)
        if isinstance(inner, OptionOf):
            raise DomainProblem("an option of an option", "X | None once")
        return OptionOf(inner)
    if annotation is bool:
        return Bool()
    if annotation is int:
        raise DomainProblem("an int without a bound", _UNBOUNDED)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enum(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Record) and annotation is not Record:
        return _record(annotation, constants, inside)
    if (origin or annotation) in (Map, Set, Seq) or _is_annotated_seq(annotation):
        raise DomainProblem(f"a {_spelled(annotation)} inside a value", _beside(annotation))
    raise DomainProblem(f"the type {_spelled(annotation)}", _CELLS)


def _unaliased(annotation: Any) -> Any:
    while type(annotation).__name__ == "TypeAliasType":  # `type Worker = …`, from Python 3.12 on
        annotation = annotation.__value__
    return annotation


def _beside(annotation: Any) -> str:
    """How the contents of a collection that stands inside another are kept: in one Map, by both keys."""
    whole = "a variable of its own; for many of them one Map whose key has both parts"
    collection = get_args(annotation)[0] if _is_annotated_seq(annotation) else annotation
    inner, *value = [_spelled(argument) for argument in get_args(collection)] or ["T"]
    if Seq in (collection, get_origin(collection)):
        return f"{whole}: Map[tuple[K, Place], {inner} | None], and a Map[K, …] of the lengths beside it"
    return f"{whole}: Map[tuple[K, {inner}], {value[0] if value else 'bool'}]"


def _is_annotated_seq(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and get_origin(get_args(annotation)[0]) is Seq


def _annotated(annotation: Any, constants: Mapping[str, object], inside: tuple[type, ...]) -> Domain:
    inner, *marks = get_args(annotation)
    bounds = [mark for mark in marks if isinstance(mark, BOUNDS)]
    if inner is not int:
        if bounds:
            found = f"{type(bounds[0]).__name__} on {_spelled(inner)}"
            raise DomainProblem(found, "the bound on an int: Annotated[int, …] | None for an option", "M004")
        return cell(inner, constants, inside)
    if not bounds:
        raise DomainProblem("an int without a bound", _UNBOUNDED)
    if len(bounds) > 1:
        raise DomainProblem(
            f"an int with {len(bounds)} bounds", "one of Below, Upto, Between, Countdown, Elapsed", "M004"
        )
    mark = bounds[0]
    *least, most = (constant_value(bound, constants) for bound in mark.bounds)
    low, high = least[0] if least else 0, most - isinstance(mark, Below)
    if high < low:
        write = "a bound that leaves at least one value"
        raise DomainProblem(f"{mark!r}, which is empty: {low}..{high}", write, "M004")
    clock = {Countdown: "countdown", Elapsed: "elapsed"}.get(type(mark), "")
    return Int(low, high, clock)


def _enum(cls: type[enum.Enum]) -> EnumOf:
    if issubclass(cls, (int, str, float, tuple, enum.Flag)):
        mixed = next(k.__name__ for k in cls.__mro__ if not issubclass(k, enum.Enum) or k is enum.Flag)
        raise DomainProblem(
            f"the Enum {cls.__name__}, whose members are also of type {mixed}",
            "a plain Enum, so that a member equals itself alone",
        )
    above = [k for k in cls.__mro__ if k not in (enum.Enum, object)]
    if odd := [name for name in _A_MEMBER_ITSELF for k in above if name in vars(k)]:
        raise DomainProblem(
            f"the Enum {cls.__name__}, which says itself what {odd[0]} of a member is",
            "a plain Enum: a member is true, and equals itself alone",
        )
    if len(cls) == 0:
        raise DomainProblem(f"the Enum {cls.__name__}, which has no member", "at least one member")
    for member in cls:
        if isinstance(member.value, _MUTABLE_VALUES):
            raise DomainProblem(
                f"the Enum {cls.__name__}, whose member {member.name} carries the mutable {member.value!r}",
                "members whose values cannot change: every state shares them",
            )
    return EnumOf(cls)


def _record(cls: type[Record], constants: Mapping[str, object], inside: tuple[type, ...]) -> RecordOf:
    if cls in inside:
        raise DomainProblem(f"the record {cls.__name__}, which holds itself", "records of finite depth")
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except Exception as problem:  # noqa: BLE001  evaluating a text may raise anything
        raise DomainProblem(
            f"the record {cls.__name__}, an annotation of which cannot be read: {problem}",
            "annotations whose names stand at the top of the module",
        ) from None
    fields = []
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        try:
            fields.append((field.name, cell(hints[field.name], constants, (*inside, cls))))
        except DomainProblem as problem:
            found = f"the field {field.name} of the record {cls.__name__}: {problem.found}"
            raise DomainProblem(found, problem.write, problem.code) from None
    if not fields:
        raise DomainProblem(f"the record {cls.__name__}, which has no field", "at least one field")
    return RecordOf(cls, tuple(fields))


def _spelled(annotation: Any) -> str:
    """The annotation as a user writes it, whatever the version of Python prints."""
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        return f"Annotated[{', '.join((_spelled(arguments[0]), *map(repr, arguments[1:])))}]"
    if origin in (Union, types.UnionType):
        return " | ".join("None" if arg is type(None) else _spelled(arg) for arg in arguments)
    if isinstance(origin, type) and arguments:
        return f"{origin.__name__}[{', '.join(map(_spelled, arguments))}]"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
