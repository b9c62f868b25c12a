"""One state of a model: live as an instance of the class, frozen as hashable data, named by a digest."""

from __future__ import annotations

from typing import Any

from falsework.definition import Definition
from falsework.domains import MapOf, SeqOf, SetOf, VariableDomain, freeze, spell
from falsework.language import Model

State = tuple[Any, ...]
"""The frozen variables in order of definition: Map and Seq as tuples of cells, Set as a tuple of members."""


def live(definition: Definition, state: State) -> Model:
    """An instance of the model in that state, sharing nothing with any other."""
    instance = definition.cls.__new__(definition.cls)
    cells = instance.__dict__
    for (name, make), cell in zip(definition.makers, state, strict=True):
        cells[name] = cell if make is None else make(cell)
    return instance


def frozen(definition: Definition, instance: Model) -> tuple[State, str]:
    """The instance's state, and "" or the first cell that lies outside its domain, such as `held[1] = 4`."""
    cells = []
    outside = ""
    for variable in definition.variables:
        cell, odd = freeze(variable.domain, instance.__dict__[variable.name])
        cells.append(cell)
        if odd and not outside:
            outside = variable.name + odd
    return tuple(cells), outside


def digest(state: State) -> str:
    """Eight hex digits that name the state in traces and logs."""
    import hashlib

    return hashlib.sha256(spell(state).encode()).hexdigest()[:8]


def columns(domain: VariableDomain, cell: Any) -> str:
    """A frozen variable as a table prints it: a map's cells side by side, {a set}, [a sequence]."""
    match domain:
        case MapOf():
            return " ".join(map(spell, cell))
        case SetOf():
            return "{" + " ".join(map(spell, cell)) + "}"
        case SeqOf():
            return "[" + " ".join(map(spell, cell)) + "]"
    return spell(cell)
