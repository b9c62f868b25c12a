"""An obligation lowered: what it assumes and what it concludes, as expressions over open slots."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from falsework.definition import Definition
from falsework.definition_checks import premise_sites
from falsework.domains import Bool, EnumOf
from falsework.errors import Place, Refused, display_file
from falsework.ir import DEEPEST, Node, Pool, TooDeep
from falsework.lower_context import NeverEnabled
from falsework.lower_statements import Statements
from falsework.lower_values import Inst, Member, Mismatch, Num, SymbolicState, Value, kind
from falsework.obligations import Obligation, Open, Range, Span
from falsework.source import deep, expression_text

_ENDLESS = 1 << 4096
"""Stands for no bound; an interval's end is a number well below it, or is as endless as this."""
_SMALL = 1 << 1024
_GREAT = 1 << 3072


class _TooWide(Exception):
    """An interval's end that is neither a number nor endless."""


class OpenPool(Pool):
    """Expressions over slots that may hold any number: no tables, and intervals that may be endless.

    An end beyond _GREAT comes from an endless slot alone and stays on its own side, so a comparison that is
    decided by intervals is decided by numbers.
    """

    def __init__(self) -> None:
        self.open: list[Open] = []
        self._ends: list[tuple[int, int]] = []
        super().__init__()

    def left_open(self, quantity: Open) -> Node:
        """A slot for the quantity; its range is a condition besides, of which only numbers are known here."""
        self.open.append(quantity)
        number = len(self.open) - 1
        low, high = _known_ends(quantity.range)
        self._ends.append((low, high))
        return self._intern(("slot", number), "slot", (), number, low, high, frozenset((number,)))

    def ends(self, number: int) -> tuple[int | None, int | None]:
        """The least and the greatest number that the slot may hold; None where no number bounds it."""
        low, high = self._ends[number]
        return None if low < -_GREAT else low, None if high > _GREAT else high

    def _intern(
        self, key: object, op: str, args: tuple[Node, ...], value: int, low: int, high: int,
        support: frozenset[int] = frozenset(), table: tuple[int, ...] = (),
    ) -> Node:  # fmt: skip
        for end, endless in ((low, low < -_GREAT), (high, high > _GREAT)):
            if abs(end) > _SMALL and not endless:
                raise _TooWide
        return super()._intern(key, op, args, value, low, high, support, table)


def _known_ends(among: Range) -> tuple[int, int]:
    match among:
        case Span(low, high):
            return (
                low if isinstance(low, int) else -_ENDLESS,
                high if isinstance(high, int) else _ENDLESS,
            )
        case EnumOf(cls):
            return 0, len(cls) - 1
        case Bool():
            return 0, 1


@dataclass(frozen=True)
class Part:
    """One condition with the place and the text that it was written as."""

    node: Node
    place: Place
    text: str


@dataclass(frozen=True)
class Statement:
    """Wherever all ranges and all assumptions are true, no fault and the conclusion: that is claimed."""

    obligation: Obligation
    pool: OpenPool
    open: tuple[Open, ...]
    ranges: tuple[Part, ...]
    assumptions: tuple[Part, ...]
    faults: tuple[tuple[int, Part], ...]  # each with how many assumptions come before it
    premises: tuple[Part, ...]
    conclusion: Node


class _Run(Statements):
    """Lowers an obligation, and keeps what each assumption says."""

    def require(self, condition: Node, node: ast.AST, kind: str = "require", text: str = "") -> None:
        """From here on the condition is assumed."""
        written = expression_text(node) if isinstance(node, ast.expr) else text
        super().require(condition, node, kind, re.sub(r"\bself\.", "", written))


@contextmanager
def _refusals(obligation: Obligation) -> Iterator[None]:
    name, place = obligation.name, obligation.place
    try:
        yield
    except Mismatch as problem:
        raise Refused("P005", place, f"{name}: {problem}", "values of one kind in every case") from None
    except (TooDeep, RecursionError):
        found = f"{name}: expressions nested more than {DEEPEST} deep"
        raise Refused("P010", place, found, "a shorter loop or chain of conditions") from None
    except _TooWide:
        raise Refused("P012", place, f"{name}: a number of hundreds of digits", "smaller constants") from None


def state_obligation(definition: Definition, obligation: Obligation) -> Statement:
    """The obligation as expressions; raises Refused for the first construct outside the subset."""
    with deep(), _refusals(obligation):
        return _stated(definition, obligation)


def _stated(definition: Definition, obligation: Obligation) -> Statement:
    pool = OpenPool()
    quantities = (*definition.figures, *obligation.parameters)
    nodes = {each.name: pool.left_open(each) for each in quantities}
    values = {each.name: _value(each.range, nodes[each.name]) for each in quantities}
    figures = {figure.name: values[figure.name] for figure in definition.figures}
    state = SymbolicState({}, figures)
    run = _Run(pool, definition, state)
    run.judging = True
    try:
        parameters = [values[parameter.name] for parameter in obligation.parameters]
        answer = run.run(obligation.function, [Inst(state), *parameters], {})
    except NeverEnabled as never:
        run.guards = list(never.guards)
        answer = Num(pool.false, flag=True)
    if not isinstance(answer, Num) or not answer.flag:
        found = f"{obligation.name} answers {kind(answer)}"
        raise Refused("P005", obligation.place, found, "True or False on every path")
    written = [Part(guard.node, guard.place, guard.text) for guard in run.guards]
    assumptions: list[Part] = []
    faults: list[tuple[int, Part]] = []
    for guard, part in zip(run.guards, written, strict=True):
        if guard.kind == "fault":
            faults.append((len(assumptions), part))
        else:
            assumptions.append(part)
    read = _read([answer.node, *(part.node for part in written)])
    shown, ranges = _ranges(pool, quantities, nodes, read, definition.constants)
    return Statement(
        obligation, pool, shown, ranges, tuple(assumptions), tuple(faults),
        _premises(definition, obligation, run), answer.node,
    )  # fmt: skip


def _value(among: Range, node: Node) -> Value:
    return Member(among.cls, node) if isinstance(among, EnumOf) else Num(node, flag=isinstance(among, Bool))


def _premises(definition: Definition, obligation: Obligation, run: Statements) -> tuple[Part, ...]:
    asked = frozenset(premise_sites(definition, obligation.function))
    return tuple(
        Part(node, Place(display_file(site[0]), site[1]), "a premise of implies")
        for site, node in run.premises
        if site in asked
    )


def _read(nodes: list[Node]) -> set[int]:
    return {slot for node in nodes for slot in node.support}


def _ranges(
    pool: OpenPool,
    quantities: tuple[Open, ...],
    nodes: Mapping[str, Node],
    read: set[int],
    constants: Mapping[str, Any],
) -> tuple[tuple[Open, ...], tuple[Part, ...]]:
    """What the obligation reads, and the parameters; and that each lies in its range, which may read more."""
    figures = {name: node for name, node in nodes.items() if name in constants}
    shown = {number for number, each in enumerate(quantities) if each.name not in figures} | read
    parts: dict[int, list[Part]] = {}
    waiting = sorted(shown)
    for number in waiting:  # grows by what the ranges read
        parts[number] = list(_in_range(pool, quantities[number], nodes, figures, constants))
        for part in parts[number]:
            more = [slot for slot in sorted(part.node.support) if slot not in shown]
            shown |= set(more)
            waiting += more
    ordered = sorted(shown)
    return (
        tuple(quantities[number] for number in ordered),
        tuple(part for number in ordered for part in parts[number]),
    )


def _in_range(
    pool: OpenPool,
    quantity: Open,
    nodes: Mapping[str, Node],
    figures: Mapping[str, Node],
    constants: Mapping[str, Any],
) -> Iterator[Part]:
    """The ends that are no numbers, as conditions; those that are numbers are the slot's own interval."""
    among, node = quantity.range, nodes[quantity.name]
    if isinstance(among, Span):
        bound = _Bound(pool, quantity.place, figures, constants)
        text = f"{quantity.name} in {among}"
        if isinstance(among.low, str):
            yield Part(pool.le(bound.value(among.low), node), quantity.place, text)
        if isinstance(among.high, str):
            yield Part(pool.le(node, bound.value(among.high)), quantity.place, text)


@dataclass(frozen=True)
class _Bound:
    """A range's end over the figures that are open; its form was looked at when the class was gathered."""

    pool: OpenPool
    place: Place
    figures: Mapping[str, Node]
    constants: Mapping[str, Any]

    def value(self, bound: str) -> Node:
        """The end as an expression."""
        return self._lowered(ast.parse(bound.strip(), mode="eval").body)

    def _lowered(self, node: ast.expr) -> Node:
        pool = self.pool
        match node:
            case ast.Constant(value=int(value)):
                return pool.const(value)
            case ast.Name(id=name):
                return self.figures[name] if name in self.figures else pool.const(self.constants[name])
            case ast.UnaryOp(operand=operand):
                return pool.mul(self._lowered(operand), pool.const(-1))
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(node, op, self._lowered(left), self._lowered(right))
            case ast.Call(func=ast.Name(id=name), args=[first, *rest]):
                best = self._lowered(first)
                for other in map(self._lowered, rest):
                    wins = pool.lt(other, best) if name == "min" else pool.lt(best, other)
                    best = pool.ite(wins, other, best)
                return best
        raise AssertionError(ast.unparse(node))

    def _operation(self, node: ast.expr, op: ast.operator, left: Node, right: Node) -> Node:
        pool = self.pool
        match op:
            case ast.Add():
                return pool.add(left, right)
            case ast.Sub():
                return pool.sub(left, right)
            case ast.Mult():
                return pool.mul(left, right)
        if not right.constant or right.value <= 0:
            found = f"{ast.unparse(node)}: the divisor is no positive constant"
            raise Refused("P007", self.place, found, "a constant above 0")
        return (pool.floordiv if isinstance(op, ast.FloorDiv) else pool.mod)(left, right.value)
