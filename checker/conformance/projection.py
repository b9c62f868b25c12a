"""Values across the border: the model's as plain data, and a subject's read into the model's domains."""

from __future__ import annotations

import contextlib
import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from falsework.definition import Definition, Variable
from falsework.domains import (
    Bool,
    EnumOf,
    Int,
    MapOf,
    OptionOf,
    RecordOf,
    SeqOf,
    SetOf,
    TupleOf,
    VariableDomain,
)
from falsework.state import State, columns
from falsework.values import Record


class Unreadable(Exception):
    """A value of a subject that no value of the domain corresponds to."""


def plain(value: Any) -> Any:
    """The model's value as plain data: a member's name, a mapping for a record, lists for tuples of cells."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Record):
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value


def read(domain: VariableDomain, value: Any) -> Any:
    """The value of the domain that a subject's value stands for; raises Unreadable where there is none."""
    match domain:
        case Bool() | Int() if isinstance(value, bool) == isinstance(domain, Bool) and domain.contains(value):
            return value
        case EnumOf(cls):
            if isinstance(value, str) and value in cls.__members__:
                return cls[value]
        case OptionOf(inner):
            return None if value is None else read(inner, value)
        case RecordOf(cls, parts):
            names = [name for name, _ in parts]
            if isinstance(value, Mapping) and sorted(value) == sorted(names):
                return cls(*(read(inner, value[name]) for name, inner in parts))
        case TupleOf(parts):
            if isinstance(value, (tuple, list)) and len(value) == len(parts):
                return tuple(read(inner, item) for inner, item in zip(parts, value, strict=True))
        case MapOf(key, inner):
            return _map(key.values(), inner, value, domain)
        case SetOf(key):
            if _is_listed(value) or isinstance(value, (set, frozenset)):
                members = {read(key, item) for item in value}
                return tuple(item for item in key.values() if item in members)
        case SeqOf(inner, length):
            if _is_listed(value) and len(value) <= length:
                return tuple(read(inner, item) for item in value)
    raise Unreadable(f"{value!r} is no value of {domain}")


def _map(keys: Iterable[Any], inner: VariableDomain, value: Any, domain: VariableDomain) -> tuple[Any, ...]:
    wanted = tuple(keys)
    if isinstance(value, Mapping):
        cells = _cells(wanted)
        given = {_hashable(key): item for key, item in value.items()}
        if given.keys() != cells.keys():
            given = {_of_text(key): item for key, item in given.items()}
        if given.keys() != cells.keys():
            odd = [key for key in value if _hashable(key) not in cells]
            missing = [key for key in cells if key not in given]
            which = f"no key {odd[0]!r}" if odd else f"the key {missing[0]!r} is missing"
            raise Unreadable(f"{value!r} is no value of {domain}: {which}")
        return tuple(read(inner, given[cell]) for cell in cells)
    if _is_listed(value) and len(value) == len(wanted):
        return tuple(read(inner, item) for item in value)
    raise Unreadable(f"{value!r} is no value of {domain}")


@lru_cache(maxsize=256)
def _cells(keys: tuple[Any, ...]) -> dict[Any, Any]:
    """The keys of a map as a subject names them, in their order."""
    return {_hashable(plain(key)): key for key in keys}


def _of_text(key: Any) -> Any:
    """The key that is meant: in JSON all keys are texts, so there a key stands as its own JSON text."""
    if isinstance(key, str):
        with contextlib.suppress(ValueError):
            return _hashable(json.loads(key))
    return key


def _hashable(key: Any) -> Any:
    return tuple(_hashable(part) for part in key) if isinstance(key, (tuple, list)) else key


def _is_listed(value: object) -> bool:
    return isinstance(value, (list, tuple))


@dataclass(frozen=True)
class Observed:
    """What a subject showed: the frozen value of each variable it can show, and what could not be read."""

    values: Mapping[str, Any]
    odd: Mapping[str, str]

    def spelled(self, variable: Variable) -> str:
        """The variable as a table prints it."""
        if variable.name in self.odd:
            return self.odd[variable.name]
        return columns(variable.domain, self.values[variable.name])


def observed(definition: Definition, shown: Mapping[str, object]) -> Observed:
    """The shown variables, each read into its domain."""
    domains = {variable.name: variable.domain for variable in definition.variables}
    values: dict[str, Any] = {}
    odd: dict[str, str] = {}
    for name, value in shown.items():
        try:
            values[name] = read(domains[name], value)
        except Unreadable:
            odd[name] = f"{value!r}"
    return Observed(values, odd)


def projected(definition: Definition, state: State, seen: Observed) -> State:
    """The model's state with what was observed in the place of its own."""
    names = (variable.name for variable in definition.variables)
    return tuple(seen.values.get(name, cell) for name, cell in zip(names, state, strict=True))
