"""What a line of a log says of a value: read into its domain, and compared with a state of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from falsework.conformance.projection import Unreadable, plain, read
from falsework.definition import Variable
from falsework.domains import Domain, Int, MapOf, OptionOf, SeqOf, SetOf, spell
from falsework.state import State, columns


@dataclass(frozen=True)
class Shown:
    """A variable, or one cell of a map, with the value that a line says it had."""

    name: str
    place: int
    value: Any
    cell: int | None = None

    def fits(self, state: State) -> bool:
        """Whether the state has that value there."""
        return bool(self.found(state) == self.value)

    def found(self, state: State) -> Any:
        """What the state has there."""
        frozen = state[self.place]
        return frozen if self.cell is None else frozen[self.cell]

    def told(self, variable: Variable, value: Any) -> str:
        """A value of it as a table prints it."""
        return columns(variable.domain, value) if self.cell is None else spell(value)


@dataclass(frozen=True)
class Odd:
    """A number that the implementation told and the model's domain does not have: no state shows it."""

    number: int
    domain: Domain

    def __str__(self) -> str:
        return f"{self.number}, which is outside {self.domain}"


def value_in(domain: Domain, data: Any) -> Any:
    """The value of the domain that stands in JSON as plain data; raises Unreadable."""
    return read(domain, data)


def told_in(domain: Domain, data: Any) -> Any:
    """Likewise of what the implementation answered or showed, where a number may be outside the domain."""
    inner = domain.inner if isinstance(domain, OptionOf) else domain
    outside = isinstance(data, int) and not isinstance(data, bool) and not inner.contains(data)
    return Odd(data, inner) if outside and isinstance(inner, Int) else read(domain, data)


def key_text(key: Any) -> str:
    """A map's key as the name of a JSON object's field: a member's name, a number, parts joined by commas."""
    if isinstance(key, tuple):
        return ",".join(map(key_text, key))
    told = plain(key)
    if isinstance(told, bool):
        return "true" if told else "false"
    return "-" if told is None else str(told)


def shown_in(variable: Variable, place: int, data: Any) -> list[Shown]:
    """What the JSON says of the variable; an object for a map may name some of its keys only."""
    domain = variable.domain
    if isinstance(domain, MapOf) and isinstance(data, dict):
        keys = {key_text(key): cell for cell, key in enumerate(domain.key.values())}
        if odd := [key for key in data if key not in keys]:
            raise Unreadable(f"no key {odd[0]!r}; the keys are {', '.join(keys)}")
        return [
            Shown(f"{variable.name}[{key}]", place, told_in(domain.value, item), keys[key])
            for key, item in data.items()
        ]
    if isinstance(domain, (MapOf, SetOf, SeqOf)):
        return [Shown(variable.name, place, read(domain, data))]
    return [Shown(variable.name, place, told_in(domain, data))]
