"""A state as one int: which bits each slot has, and the way from frozen states to ints and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from falsework.definition import Definition
from falsework.domains import (
    Bool,
    Domain,
    EnumOf,
    Int,
    MapOf,
    OptionOf,
    RecordOf,
    SeqOf,
    SetOf,
    VariableDomain,
)
from falsework.ir import Slot
from falsework.lower_values import cell_slots, key_count
from falsework.state import State


@dataclass(frozen=True)
class Field:
    """Where a slot's code stands in the word."""

    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The slot's bits, in place."""
        return ((1 << self.width) - 1) << self.shift


class Packing:
    """The word of one model: slots side by side, the first lowest, each as narrow as its size allows."""

    def __init__(self, definition: Definition, slots: tuple[Slot, ...]) -> None:
        self.definition = definition
        self.fields: list[Field] = []
        shift = 0
        for slot in slots:
            width = (slot.size - 1).bit_length()
            self.fields.append(Field(shift, width))
            shift += width
        self.bits = shift
        self._writers = [_writer(v.domain) for v in definition.variables]
        self._readers = [_reader(v.domain) for v in definition.variables]

    def pack(self, state: State) -> int:
        """The word of a frozen state that lies inside its domains."""
        word = 0
        fields = iter(self.fields)
        for writer, cell in zip(self._writers, state, strict=True):
            for code in writer(cell):
                word |= code << next(fields).shift
        return word

    def codes(self, word: int) -> list[int]:
        """Every slot's code."""
        return [word >> f.shift & ((1 << f.width) - 1) for f in self.fields]

    def unpack(self, word: int) -> State:
        """The frozen state of a word."""
        codes = iter(self.codes(word))
        return tuple(reader(codes) for reader in self._readers)

    def mask(self, support: frozenset[int]) -> int:
        """The bits of these slots."""
        bits = 0
        for slot in support:
            bits |= self.fields[slot].mask
        return bits


def _code(domain: Domain) -> Callable[[Any], Iterator[int]]:
    """From a cell's value to the codes of its slots."""
    match domain:
        case RecordOf(_, fields):
            parts = [(name, _code(inner)) for name, inner in fields]
            return lambda value: (code for name, part in parts for code in part(getattr(value, name)))
        case OptionOf(RecordOf() as inner):
            inside, width = _code(inner), len(list(cell_slots(inner, "")))
            return lambda value: iter((0,) * (width + 1)) if value is None else iter((1, *inside(value)))
    numbers = (
        {value: place for place, value in enumerate(domain.values())} if key_count(domain) <= 1024 else None
    )
    if numbers is not None:
        return lambda value: iter((numbers[value],))
    if isinstance(domain, OptionOf) and isinstance(domain.inner, Int):
        low = domain.inner.low
        return lambda value: iter((0 if value is None else value - low + 1,))
    assert isinstance(domain, (Int, EnumOf, Bool))
    start = domain.low if isinstance(domain, Int) else 0
    return lambda value: iter((value - start,))


def _writer(domain: VariableDomain) -> Callable[[Any], Iterator[int]]:
    match domain:
        case MapOf(_, value):
            part = _code(value)
            return lambda cells: (code for cell in cells for code in part(cell))
        case SetOf(key):
            keys = tuple(key.values())
            return lambda members: (int(k in members) for k in keys)
        case SeqOf(item, length):
            part, width = _code(item), len(list(cell_slots(item, "")))

            def codes(items: Any) -> Iterator[int]:
                yield len(items)
                for one in items:
                    yield from part(one)
                yield from (0,) * (width * (length - len(items)))

            return codes
    return _code(domain)


def _value(domain: Domain) -> Callable[[Iterator[int]], Any]:
    """From the codes of a cell's slots to its value."""
    match domain:
        case RecordOf(cls, fields):
            parts = [_value(inner) for _, inner in fields]
            return lambda codes: cls(*(part(codes) for part in parts))
        case OptionOf(RecordOf() as inner):
            inside = _value(inner)

            def option(codes: Iterator[int]) -> Any:
                present, value = next(codes), inside(codes)
                return value if present else None

            return option
        case Int(low, _):
            return lambda codes: next(codes) + low
        case OptionOf(Int(low, _)):
            return lambda codes: None if (code := next(codes)) == 0 else code - 1 + low
    values = tuple(domain.values())
    return lambda codes: values[next(codes)]


def _reader(domain: VariableDomain) -> Callable[[Iterator[int]], Any]:
    match domain:
        case MapOf(key, value):
            part, count = _value(value), key_count(key)
            return lambda codes: tuple(part(codes) for _ in range(count))
        case SetOf(key):
            keys = tuple(key.values())
            return lambda codes: tuple(k for k in keys if next(codes))
        case SeqOf(item, length):
            part = _value(item)

            def items(codes: Iterator[int]) -> Any:
                size = next(codes)
                return tuple([part(codes) for _ in range(length)][:size])

            return items
    return _value(domain)
