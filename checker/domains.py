"""Finite domains: their values in order, which values are inside; values frozen, made live and spelled."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from falsework.values import Map, Record, Seq, Set

# --- annotations, as a user writes them ----------------------------------------


class _Mark:
    """What stands beside the type in `Annotated`: plain classes, for every model imports them all."""

    __slots__ = ("bounds",)

    bounds: tuple[str | int, ...]

    def __init__(self, bound: str | int) -> None:
        self.bounds = (bound,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.bounds == other.bounds

    def __hash__(self) -> int:
        return hash((type(self), self.bounds))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.bounds))})"


class Below(_Mark):
    """`Annotated[int, Below("N")]`: 0 .. N-1."""


class Upto(_Mark):
    """`Annotated[int, Upto("N")]`: 0 .. N."""


class Between(_Mark):
    """`Annotated[int, Between("LOW", "HIGH")]`: LOW .. HIGH, both included; the way to a negative number."""

    def __init__(self, low: str | int, high: str | int) -> None:
        self.bounds = (low, high)


class Countdown(_Mark):
    """`Annotated[int, Countdown("N")]`: 0 .. N, one less at each `elapse`, resting at 0."""


class Elapsed(_Mark):
    """`Annotated[int, Elapsed("CAP")]`: 0 .. CAP, one more at each `elapse`, saturating at CAP."""


class Length(_Mark):
    """`Annotated[Seq[T], Length("N")]`: at most N items."""


# --- domains, resolved for one class ----------------------------------------


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


# --- values of a variable ----------------------------------------


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
                bad.append(f" has {len(items)} items, more than its Length {length}")
            return (items, bad[0]) if bad else (tuple(map(inner.canonical, items)), "")
        case _:
            return (domain.canonical(value), "") if domain.contains(value) else (value, f" = {spell(value)}")


def thawing(domain: VariableDomain) -> Callable[[Frozen], Any] | None:
    """What makes the live value that `freeze` came from; None where the two are the same."""
    match domain:
        case MapOf(key, _):
            keys = tuple(key.values())
            return lambda cells: Map.of(dict(zip(keys, cells, strict=True)))
        case SetOf(key):
            order = {member: index for index, member in enumerate(key.values())}
            return lambda members: Set.of(order, members)
        case SeqOf():
            return Seq.over
    return None


def spell(value: Any) -> str:
    """A value as the tables print it: `-` for None, a member by its name, a record by its fields."""
    if value is None:
        return "-"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Record):
        fields = dataclasses.fields(value)  # type: ignore[arg-type]
        return "(" + " ".join(spell(getattr(value, field.name)) for field in fields) + ")"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(spell, value)) + ")"
    return str(value)
