"""Finite domains: the annotations that declare them, their values in order, and the test that a value is inside."""

from __future__ import annotations

import ast
import dataclasses
import enum
import itertools
import operator
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from falsework.values import Map, Record, Seq, Set


class DomainProblem(Exception):
    """An annotation that names no finite domain: what was found, and what to write."""

    def __init__(self, found: str, write: str) -> None:
        self.found = found
        self.write = write
        super().__init__(f"{found}; write: {write}")


# --- annotations, as a user writes them -------------------------------------------------------------------------


@dataclass(frozen=True)
class Below:
    """`Annotated[int, Below("N")]`: 0 .. N-1."""

    bound: str | int


@dataclass(frozen=True)
class Upto:
    """`Annotated[int, Upto("N")]`: 0 .. N."""

    bound: str | int


@dataclass(frozen=True)
class Between:
    """`Annotated[int, Between("LOW", "HIGH")]`: LOW .. HIGH, both included; the way to a negative number."""

    low: str | int
    high: str | int


@dataclass(frozen=True)
class Countdown:
    """`Annotated[int, Countdown("N")]`: 0 .. N, one less at each `elapse`, resting at 0."""

    bound: str | int


@dataclass(frozen=True)
class Elapsed:
    """`Annotated[int, Elapsed("CAP")]`: 0 .. CAP, one more at each `elapse`, saturating at CAP."""

    bound: str | int


@dataclass(frozen=True)
class Length:
    """`Annotated[Seq[T], Length("N")]`: at most N items."""

    bound: str | int


# --- domains, resolved for one class ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bool:
    """False, True."""

    def values(self) -> Iterator[Any]:
        """The values in order."""
        yield False
        yield True

    def contains(self, value: object) -> bool:
        """Whether the value is a bool (or 0 or 1)."""
        return isinstance(value, int) and value in (0, 1)

    def canonical(self, value: Any) -> Any:
        """The value as a bool."""
        return bool(value)

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True)
class Int:
    """low .. high; a clock moves with `elapse`."""

    low: int
    high: int
    clock: str = ""  # "", "countdown" or "elapsed"

    def values(self) -> Iterator[Any]:
        """The values in order."""
        return iter(range(self.low, self.high + 1))

    def contains(self, value: object) -> bool:
        """Whether the value lies between the two bounds."""
        return isinstance(value, int) and self.low <= value <= self.high

    def canonical(self, value: Any) -> Any:
        """The value as an int."""
        return int(value)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}" + (f" {self.clock}" if self.clock else "")


@dataclass(frozen=True)
class EnumOf:
    """The members of an Enum, in the order of their definition."""

    cls: type[enum.Enum]

    def values(self) -> Iterator[Any]:
        """The members in order."""
        return iter(self.cls)

    def contains(self, value: object) -> bool:
        """Whether the value is a member."""
        return isinstance(value, self.cls)

    def canonical(self, value: Any) -> Any:
        """The member itself."""
        return value

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True)
class OptionOf:
    """None, then the values of the inner domain."""

    inner: Domain

    def values(self) -> Iterator[Any]:
        """None first, then the inner values."""
        yield None
        yield from self.inner.values()

    def contains(self, value: object) -> bool:
        """Whether the value is None or an inner one."""
        return value is None or self.inner.contains(value)

    def canonical(self, value: Any) -> Any:
        """None, or the canonical inner value."""
        return None if value is None else self.inner.canonical(value)

    def __str__(self) -> str:
        return f"{self.inner} | None"


@dataclass(frozen=True)
class RecordOf:
    """A frozen record; its values are the product of its fields, the first field slowest."""

    cls: type[Record]
    fields: tuple[tuple[str, Domain], ...]

    def values(self) -> Iterator[Any]:
        """Every record, the first field slowest."""
        for parts in itertools.product(*(tuple(domain.values()) for _, domain in self.fields)):
            yield self.cls(*parts)

    def contains(self, value: object) -> bool:
        """Whether it is a record of this class with every field inside its domain."""
        return type(value) is self.cls and all(d.contains(getattr(value, name)) for name, d in self.fields)

    def canonical(self, value: Any) -> Any:
        """The record with canonical fields."""
        return self.cls(*(domain.canonical(getattr(value, name)) for name, domain in self.fields))

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True)
class TupleOf:
    """A tuple key: the product of its parts, the first slowest."""

    parts: tuple[Domain, ...]

    def values(self) -> Iterator[Any]:
        """Every tuple, the first part slowest."""
        return itertools.product(*(tuple(part.values()) for part in self.parts))

    def contains(self, value: object) -> bool:
        """Whether it is a tuple with every part inside its domain."""
        return (
            isinstance(value, tuple)
            and len(value) == len(self.parts)
            and all(part.contains(item) for part, item in zip(self.parts, value, strict=True))
        )

    def canonical(self, value: Any) -> Any:
        """The tuple with canonical parts."""
        return tuple(part.canonical(item) for part, item in zip(self.parts, value, strict=True))

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.parts)) + ")"


Domain = Bool | Int | EnumOf | OptionOf | RecordOf | TupleOf


@dataclass(frozen=True)
class MapOf:
    """A total map."""

    key: Domain
    value: Domain

    def __str__(self) -> str:
        return f"Map[{self.key}, {self.value}]"


@dataclass(frozen=True)
class SetOf:
    """A set over a finite domain."""

    key: Domain

    def __str__(self) -> str:
        return f"Set[{self.key}]"


@dataclass(frozen=True)
class SeqOf:
    """A sequence of at most `length` items."""

    item: Domain
    length: int

    def __str__(self) -> str:
        return f"Seq[{self.item}] up to {self.length}"


VariableDomain = Domain | MapOf | SetOf | SeqOf


# --- constant expressions -----------------------------------------------------------------------------------------

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
        raise DomainProblem(
            f"the bound {expression!r}", 'an int or the name of a constant, such as Below("WORKERS")'
        )
    try:
        return _evaluate(ast.parse(expression, mode="eval").body, constants, expression)
    except (SyntaxError, ZeroDivisionError) as problem:
        raise DomainProblem(f"the bound {expression!r} ({problem})", "an expression over constants") from None


def _evaluate(node: ast.expr, constants: Mapping[str, object], whole: str) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            found = constants.get(name)
            if isinstance(found, int):
                return int(found)
            known = ", ".join(n for n, v in constants.items() if isinstance(v, int)) or "none"
            what = f"the constant {name} is no int" if name in constants else f"no constant {name}"
            raise DomainProblem(f"the bound {whole!r}: {what}", f"one of the constants of the class: {known}")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, constants, whole), _evaluate(right, constants, whole))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, constants, whole)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, *_] as args, keywords=[]):
            numbers = [_evaluate(arg, constants, whole) for arg in args]
            return min(numbers) if name == "min" else max(numbers)
    raise DomainProblem(f"the bound {whole!r}", "ints, constants, + - * // %, min and max")


# --- from annotation to domain ------------------------------------------------------------------------------------


def resolve(annotation: Any, constants: Mapping[str, object]) -> VariableDomain:
    """The domain that a resolved annotation names; raises DomainProblem where it names none."""
    origin = get_origin(annotation)
    if origin is Annotated and get_origin(get_args(annotation)[0]) is Seq:
        inner, *marks = get_args(annotation)
        lengths = [mark for mark in marks if isinstance(mark, Length)]
        if len(lengths) != 1:
            raise DomainProblem("a Seq with no Length", 'Annotated[Seq[T], Length("N")]')
        length = constant_value(lengths[0].bound, constants)
        if length < 1:
            raise DomainProblem(f"Length({lengths[0].bound!r}), which is {length}", "a length of at least 1")
        return SeqOf(cell(get_args(inner)[0], constants), length)
    if origin is Seq or annotation is Seq:
        raise DomainProblem("a Seq with no Length", 'Annotated[Seq[T], Length("N")]')
    if origin is Map:
        key, value = get_args(annotation)
        return MapOf(key_domain(key, constants), cell(value, constants))
    if origin is Set:
        return SetOf(key_domain(get_args(annotation)[0], constants))
    return cell(annotation, constants)


def key_domain(annotation: Any, constants: Mapping[str, object]) -> Domain:
    """The domain of a key: a scalar, an option of one, or a tuple of such."""
    if get_origin(annotation) is tuple:
        return TupleOf(tuple(key_domain(part, constants) for part in get_args(annotation)))
    domain = cell(annotation, constants)
    if isinstance(domain, RecordOf) or (isinstance(domain, OptionOf) and isinstance(domain.inner, RecordOf)):
        raise DomainProblem(
            f"the record {domain} as a key", "a bool, a bounded int, an Enum, or a tuple of these"
        )
    return domain


def cell(annotation: Any, constants: Mapping[str, object]) -> Domain:
    """The domain of one cell: a scalar, a record, or an option of either."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _annotated(annotation, constants)
    if origin in (Union, types.UnionType):
        rest = [arg for arg in get_args(annotation) if arg is not type(None)]
        if len(rest) != 1 or len(rest) == len(get_args(annotation)):
            raise DomainProblem(f"the union {_spelled(annotation)}", "X | None, with one X")
        inner = cell(rest[0], constants)
        if isinstance(inner, OptionOf):
            raise DomainProblem("an option of an option", "X | None once")
        return OptionOf(inner)
    if annotation is bool:
        return Bool()
    if annotation is int:
        raise DomainProblem(
            "an int without a bound", 'Annotated[int, Below("N")] or Annotated[int, Upto("N")]'
        )
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        if issubclass(annotation, (int, str)):
            raise DomainProblem(
                f"the Enum {annotation.__name__}, whose members are also {annotation.__mro__[1].__name__}s",
                "a plain Enum, so that a member equals itself alone",
            )
        if len(annotation) == 0:
            raise DomainProblem(f"the Enum {annotation.__name__}, which has no member", "at least one member")
        return EnumOf(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Record) and annotation is not Record:
        return _record(annotation, constants)
    raise DomainProblem(
        f"the type {_spelled(annotation)}",
        "bool, a bounded int, an Enum, a Record, one of these | None, Map, Set or Annotated[Seq[T], Length(…)]",
    )


def _annotated(annotation: Any, constants: Mapping[str, object]) -> Domain:
    inner, *marks = get_args(annotation)
    bounds = [mark for mark in marks if isinstance(mark, (Below, Upto, Between, Countdown, Elapsed))]
    if inner is not int:
        if bounds:
            raise DomainProblem(f"{type(bounds[0]).__name__} on {_spelled(inner)}", "the bound on an int")
        return cell(inner, constants)
    if len(bounds) != 1:
        raise DomainProblem(
            f"an int with {len(bounds)} bounds", "one of Below, Upto, Between, Countdown, Elapsed"
        )
    mark = bounds[0]
    if isinstance(mark, Between):
        low, high = constant_value(mark.low, constants), constant_value(mark.high, constants)
    else:
        low, high = 0, constant_value(mark.bound, constants) - isinstance(mark, Below)
    if high < low:
        raise DomainProblem(
            f"{mark}, which is empty ({low}..{high})", "a bound that leaves at least one value"
        )
    clock = {Countdown: "countdown", Elapsed: "elapsed"}.get(type(mark), "")
    return Int(low, high, clock)


def _record(cls: type[Record], constants: Mapping[str, object]) -> RecordOf:
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = []
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        try:
            fields.append((field.name, cell(hints[field.name], constants)))
        except DomainProblem as problem:
            raise DomainProblem(
                f"field {cls.__name__}.{field.name}: {problem.found}", problem.write
            ) from None
    if not fields:
        raise DomainProblem(f"the record {cls.__name__}, which has no field", "at least one field")
    return RecordOf(cls, tuple(fields))


def _spelled(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


# --- values of a variable -----------------------------------------------------------------------------------------


def instantiate(domain: VariableDomain, initial: Any) -> Any:
    """The value a fresh instance starts with: the initial value, bound to its domain."""
    match domain:
        case MapOf(key, value):
            return Map.over(
                key.values(),
                value.canonical(initial.default) if value.contains(initial.default) else initial.default,
            )
        case SetOf(key):
            return Set.over(key.values(), initial.initial)
        case SeqOf():
            return Seq.over(initial)
        case _:
            return domain.canonical(initial) if domain.contains(initial) else initial


Frozen = Any
T = TypeVar("T")


def freeze(domain: VariableDomain, value: Any) -> tuple[Frozen, str]:
    """The variable's value as hashable data, and "" or what lies outside the domain."""
    match domain:
        case MapOf(_, inner):
            cells = tuple(value.values())
            bad = [
                f"[{spell(key)}] = {spell(item)}" for key, item in value.items() if not inner.contains(item)
            ]
            return (cells, bad[0]) if bad else (tuple(map(inner.canonical, cells)), "")
        case SetOf():
            return tuple(value), ""
        case SeqOf(inner, length):
            items = tuple(value)
            bad = [
                f"[{index}] = {spell(item)}" for index, item in enumerate(items) if not inner.contains(item)
            ]
            if len(items) > length:
                bad.append(f" has {len(items)} items, one more than its Length {length}")
            return (items, bad[0]) if bad else (tuple(map(inner.canonical, items)), "")
        case _:
            return (domain.canonical(value), "") if domain.contains(value) else (value, f" = {spell(value)}")


def thaw(domain: VariableDomain, frozen: Frozen) -> Any:
    """The live value that `freeze` came from."""
    match domain:
        case MapOf(key, _):
            made: Map[Any, Any] = Map(None)
            made._cells = dict(zip(key.values(), frozen, strict=True))
            return made
        case SetOf(key):
            return Set.over(key.values(), frozen)
        case SeqOf():
            return Seq.over(frozen)
        case _:
            return frozen


def spell(value: Any) -> str:
    """A value as the tables print it: `-` for None, a member by its name, a record by its fields."""
    if value is None:
        return "-"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Record):
        return "(" + " ".join(spell(getattr(value, f.name)) for f in dataclasses.fields(value)) + ")"  # type: ignore[arg-type]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(spell, value)) + ")"
    return str(value)
