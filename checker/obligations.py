"""What an obligation is about: figures of the class left open, parameters of its own, and their ranges."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin

from falsework.annotations import BOUNDS, DomainProblem, cell, constant_value
from falsework.domains import Below, Between, Bool, EnumOf, Upto
from falsework.errors import Place
from falsework.source import function_node, self_name

ALL_ZERO = "all 0"
"""How a counterexample is written that names no value: each is 0, False, or the first member."""
_RANGES = 'int, Annotated[int, Below("N")], Upto("N"), Between("LOW", "HIGH"), bool or an Enum'


@dataclass(frozen=True)
class Span:
    """The ints from `low` on, up to `high` if there is one; a text is an expression over constants."""

    low: str | int
    high: str | int | None

    def __str__(self) -> str:
        return f"{self.low}.." + ("" if self.high is None else str(self.high))


Range = Span | Bool | EnumOf


@dataclass(frozen=True)
class Open:
    """A figure or a parameter: whatever value of its range it has, the obligation is asked of it."""

    name: str
    range: Range
    place: Place

    @property
    def least(self) -> Any:
        """The value that a counterexample need not name: 0, False, or the first member."""
        return next(self.range.values()) if isinstance(self.range, (Bool, EnumOf)) else 0

    def read(self, text: str) -> Any:
        """The value that the text names, a member by its name; None where it names none."""
        if isinstance(self.range, Span):
            return int(text) if re.fullmatch(r"-?\d+", text) else None
        if isinstance(self.range, Bool):
            return {"False": False, "True": True}.get(text)
        return {member.name: member for member in self.range.cls}.get(text)


@dataclass(frozen=True)
class Obligation:
    """A statement over figures and its own parameters; the `require`s at its head are what it assumes."""

    name: str
    function: Callable[..., bool]
    parameters: tuple[Open, ...]
    place: Place
    source: tuple[str, ...] = ()


def range_of(annotation: Any, constants: Mapping[str, object]) -> Range:
    """The range that an annotation names; raises DomainProblem where it names none."""
    if annotation is int:
        return Span(0, None)
    if get_origin(annotation) is Annotated and get_args(annotation)[0] is int:
        marks = [mark for mark in get_args(annotation)[1:] if isinstance(mark, BOUNDS)]
        if len(marks) == 1 and isinstance(marks[0], (Below, Upto, Between)):
            for end in marks[0].bounds:
                constant_value(end, constants)  # its names are constants of the class
            return _span(marks[0])
        raise DomainProblem(f"an int with the bounds {marks}", _RANGES, "M004")
    if get_origin(annotation) is Annotated:
        raise DomainProblem(f"the type {annotation}".replace("typing.", ""), _RANGES)
    found = cell(annotation, constants)
    if not isinstance(found, (Bool, EnumOf)):
        raise DomainProblem(f"the domain {found}", _RANGES)
    return found


def _span(mark: Below | Upto | Between) -> Span:
    *low, high = mark.bounds
    if isinstance(mark, Below):
        high = high - 1 if isinstance(high, int) else f"({high}) - 1"
    return Span(low[0] if low else 0, high)


def default_outside(found: Range, value: object, constants: Mapping[str, object]) -> str:
    """What is wrong with the figure's own value; empty where it lies in its range."""
    if not isinstance(found, Span):
        return ""
    ends = [None if end is None else constant_value(end, constants) for end in (found.low, found.high)]
    low, high = ends
    assert isinstance(value, int)
    if (low is not None and value < low) or (high is not None and value > high):
        return f"{value}, outside {found}" + (f", which is {low}..{high}" if high is not None else "")
    return ""


def sizes_in(functions: Iterator[FunctionType]) -> set[str]:
    """The constants that a loop's `range` is made of: a loop has as many rounds as the class says."""
    found: set[str] = set()
    for function in functions:
        me = self_name(function)
        for node in ast.walk(function_node(function)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
                for inner in (part for argument in node.args for part in ast.walk(argument)):
                    match inner:
                        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner == me:
                            found.add(name)
    return found
