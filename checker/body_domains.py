"""The domains of what stands in a method, as far as its text and its annotations show them."""

from __future__ import annotations

import ast
import enum
import typing
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from falsework import language
from falsework.annotations import DomainProblem, cell
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
    TupleOf,
    VariableDomain,
)
from falsework.source import (
    function_node,
    helper_called,
    named_object,
    names_annotated,
    nodes_in,
    own_names,
    self_name,
)

if TYPE_CHECKING:
    from falsework.definition import Definition

_TRUTHS = (any, all, bool, language.implies)
_NUMBERS = (len, sum, abs, int, language.count)
Way = Callable[[], VariableDomain | None]
SOME_INT = Int(0, 0)
"""Stands for any int whose bounds the text does not show."""


class Domains:
    """What the expressions of one method may be; None wherever the text alone does not say."""

    def __init__(self, definition: Definition, function: FunctionType) -> None:
        self.definition = definition
        self.function = function
        self.node = function_node(function)
        self.variables = {variable.name: variable.domain for variable in definition.variables}
        parameters = [argument.arg for argument in self.node.args.args]
        self.states = [self_name(function), *(name for name in ("before",) if name in parameters)]
        self.asked: set[str] = set()

    def of(self, node: ast.expr) -> VariableDomain | None:
        """The domain of the expression."""
        match node:
            case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return Bool()
            case ast.Constant(value=int()) | ast.UnaryOp():
                return SOME_INT
            case ast.BinOp(left=left, right=right):
                return SOME_INT if any(isinstance(self.of(side), Int) for side in (left, right)) else None
            case ast.BoolOp(values=values):
                return _agreed(map(self.of, values))
            case ast.IfExp(body=body, orelse=orelse):
                return _agreed(map(self.of, (body, orelse)))
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.Name(id=name):
                return self._local(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=owner):
                return self._item(self.of(owner), node.slice)
            case ast.Call():
                return self._call(node)
        return None

    def _attribute(self, node: ast.Attribute) -> VariableDomain | None:
        if isinstance(node.value, ast.Name) and node.value.id in self.states:
            name = node.attr
            if name in self.definition.constants:
                return _domain_of(self.definition.constants[name])
            return self.variables.get(name) if self._annotated_once(name) else None
        owner = self.of(node.value)
        if (record := record_in(owner)) is not None:
            return dict(record.fields).get(node.attr)
        return _domain_of(named_object(self.function, node.value), node.attr)

    def _annotated_once(self, name: str) -> bool:
        """Whether one class alone says what the variable may be: a method may be older than another."""
        return sum(name in names_annotated(k) for k in self.definition.cls.__mro__) == 1

    def _item(self, owner: VariableDomain | None, at: ast.expr) -> Domain | None:
        match owner, at:
            case MapOf(_, value), _:
                return value
            case SeqOf(item, _), _:
                return item
            case TupleOf(parts), ast.Constant(value=int(place)) if 0 <= place < len(parts):
                return parts[place]
        return None

    # --- calls ----------------------------------------

    def _call(self, node: ast.Call) -> VariableDomain | None:
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func)
        known = named_object(self.function, node.func)
        if any(known is word for word in _TRUTHS):
            return Bool()
        if any(known is word for word in _NUMBERS):
            return SOME_INT
        if (known is language.given or known is language.replace) and node.args:
            found = self.of(node.args[0])
            return found.inner if isinstance(found, OptionOf) else found
        if isinstance(known, type) and issubclass(known, language.Record):
            return self._cell(known)
        return None

    def _method(self, callee: ast.Attribute) -> Domain | None:
        owner = self.of(callee.value) if not isinstance(callee.value, ast.Call) else None
        if isinstance(owner, SeqOf):
            return owner.item if callee.attr == "pop_first" else None
        if helper_called(self.definition.cls, self.function, callee) is None:
            return None
        classes = self.definition.cls.__mro__
        above = [vars(k)[callee.attr] for k in classes if isinstance(vars(k).get(callee.attr), FunctionType)]
        return typing.cast("Domain | None", _agreed([self._cell(_hints(f).get("return")) for f in above]))

    def _cell(self, annotation: Any) -> Domain | None:
        try:
            return cell(annotation, self.definition.constants)
        except DomainProblem:
            return None

    # --- locals ----------------------------------------

    def _local(self, name: str) -> VariableDomain | None:
        if name not in own_names(self.function) and name not in self._ways:
            return _domain_of(named_object(self.function, ast.Name(name)))
        if name in self.asked:
            return None
        self.asked.add(name)
        found = _agreed([way() for way in self._ways.get(name, [])])
        self.asked.discard(name)
        return found

    @cached_property
    def _ways(self) -> dict[str, list[Way]]:
        """Each local with every way in which it is given a value."""
        ways: dict[str, list[Way]] = {}
        hints = _hints(self.function)
        for argument in self.node.args.args[1:]:
            ways[argument.arg] = [partial(self._cell, hints.get(argument.arg))]
        for node in nodes_in(self.node):
            for target, way in self._given_by(node):
                for name, known in _targets(target):
                    ways.setdefault(name, []).append(way if known else _unknown)
        return ways

    def _given_by(self, node: ast.AST) -> Iterator[tuple[ast.expr, Way]]:
        """What the node gives a value, with the way in which it does."""
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, partial(self.of, value)) for target in targets)
            case (
                ast.NamedExpr(target=target, value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                yield target, partial(self.of, value)
            case ast.AugAssign(target=target):
                yield target, lambda: SOME_INT
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                yield from self._rounds(target, source)
            case ast.withitem(optional_vars=ast.expr() as target):
                yield target, _unknown
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                yield ast.Name(name), _unknown

    def _rounds(self, target: ast.expr, source: ast.expr) -> Iterator[tuple[ast.expr, Way]]:
        """The parts of a loop's target with what each of them goes over."""
        match source, target:
            case ast.Call(func=ast.Attribute(value=owner, attr="items")), ast.Tuple(elts=[key, value]):
                yield key, lambda: _keys(self.of(owner))
                yield value, lambda: _values(self.of(owner))
            case ast.Call(func=ast.Attribute(value=owner, attr="values")), _:
                yield target, lambda: _values(self.of(owner))
            case ast.Call(func=ast.Attribute(value=owner, attr="keys")), _:
                yield target, lambda: _keys(self.of(owner))
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]), ast.Tuple(elts=[place, item]):
                yield place, lambda: SOME_INT
                yield item, lambda: self._each(inner)
            case _:
                yield target, lambda: self._each(source)

    def _each(self, source: ast.expr) -> VariableDomain | None:
        if isinstance(source, ast.Call) and named_object(self.function, source.func) is range:
            return SOME_INT
        kind = named_object(self.function, source)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return EnumOf(kind)
        return _keys(self.of(source))


def _unknown() -> None:
    """A way that the text does not follow."""


def _targets(target: ast.expr, whole: bool = True) -> Iterator[tuple[str, bool]]:
    """The names that are given a value, and whether each is given the whole of it."""
    match target:
        case ast.Name(id=name):
            yield name, whole
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _targets(part, False)
        case ast.Starred(value=part):
            yield from _targets(part, False)


def record_in(domain: VariableDomain | None) -> RecordOf | None:
    """The record that a value of the domain is, where it is not None."""
    inner = domain.inner if isinstance(domain, OptionOf) else domain
    return inner if isinstance(inner, RecordOf) else None


def is_one_object(domain: VariableDomain, *, bools: bool = False) -> bool:
    """Whether Python keeps one object for each of its values: of an Enum's members (and of bools) it does."""
    inner = domain.inner if isinstance(domain, OptionOf) else domain
    return isinstance(inner, EnumOf) or (bools and isinstance(inner, Bool))


def _keys(domain: VariableDomain | None) -> VariableDomain | None:
    """What an iteration goes over."""
    match domain:
        case MapOf(key, _) | SetOf(key):
            return key
        case SeqOf(item, _):
            return item
    return None


def _values(domain: VariableDomain | None) -> VariableDomain | None:
    return domain.value if isinstance(domain, MapOf) else None


def _agreed(domains: typing.Iterable[VariableDomain | None]) -> VariableDomain | None:
    """The one domain of all of them, the bounds of ints apart; None where they differ or one is unknown."""
    first: VariableDomain | None = None
    for number, domain in enumerate(domains):
        if domain is None:
            return None
        alike = domain == first or (isinstance(domain, Int) and isinstance(first, Int))
        if number and not alike:
            return None
        first = domain
    return first


def _domain_of(thing: object, member: str = "") -> Domain | None:
    """The domain of a constant, or of a member of an Enum."""
    if member:
        known = isinstance(thing, type) and issubclass(thing, enum.Enum) and member in thing.__members__
        return EnumOf(typing.cast("type[enum.Enum]", thing)) if known else None
    match thing:
        case bool():
            return Bool()
        case int():
            return SOME_INT
        case enum.Enum():
            return EnumOf(type(thing))
    return None


def _hints(function: FunctionType) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001  what cannot be read is reported where it must be
        return {}
