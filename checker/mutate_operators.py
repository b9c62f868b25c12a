"""The mutants of a model: each small change to what its actions do, as the changed tree of one method.

Three operators: a conjunct of a guard is left out; a comparison or a number that is assigned is off by one,
or the comparison turned round; an assignment is skipped. Initial actions and properties stay as they are:
they say what there is at first, and what is asked.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from falsework import language
from falsework.definition import Definition
from falsework.domains import Int, MapOf, RecordOf, SeqOf, VariableDomain
from falsework.errors import Place
from falsework.lower_context import Site
from falsework.source import (
    conjuncts,
    expression_text,
    function_node,
    helper_called,
    named_object,
    place_in,
    self_name,
)
from falsework.values import Record

OPERATORS = ("guard", "relation", "skip")
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OTHER_WAY: dict[type[ast.cmpop], type[ast.operator]] = {
    ast.Lt: ast.Sub, ast.LtE: ast.Add, ast.Gt: ast.Add, ast.GtE: ast.Sub,
}  # fmt: skip
"""What is done to the right side so that the boundary moves the other way than by turning the comparison."""
_WORDS = [getattr(language, name) for name in language.__all__]
_CHANGES = ("add", "discard", "append", "pop_first")


@dataclass(frozen=True)
class Mutant:
    """One change: by which operator, in which method, what stands there and what is to stand there."""

    operator: str
    method: str
    text: str
    change: str  # empty where it is left out
    place: Place
    column: int
    function: FunctionType = field(repr=False, compare=False)
    tree: ast.FunctionDef = field(repr=False, compare=False)
    actions: tuple[str, ...] = field(repr=False, compare=False)  # whose steps run the method

    @property
    def site(self) -> Site:
        """Where it stands, told apart from others on its line."""
        return self.place, self.column

    @property
    def said(self) -> str:
        """The change in words."""
        if self.change:
            return f"{self.text}  →  {self.change}"
        return f"without {self.text}" if self.operator == "guard" else f"skips {self.text}"


def mutants(definition: Definition, operators: tuple[str, ...] = OPERATORS) -> list[Mutant]:
    """Each mutant, operator by operator, in the order of the actions and what they call."""
    found: list[Mutant] = []
    methods = _methods(definition)
    for operator in operators:
        seen: set[tuple[Place, int, str, str]] = set()
        for function, actions in methods.items():
            for mutant in _FINDERS[operator](_Method(definition, function, tuple(actions))):
                key = (mutant.place, mutant.column, mutant.text, mutant.change)
                if key not in seen:
                    seen.add(key)
                    found.append(mutant)
    return found


def _methods(definition: Definition) -> dict[FunctionType, dict[str, None]]:
    """The methods of the actions, each followed by what it calls, with the actions that run it."""
    found: dict[FunctionType, dict[str, None]] = {}
    for action in definition.actions:
        waiting: list[Any] = [action.function]
        done: set[FunctionType] = set()
        while waiting:
            function = waiting.pop(0)
            if function in done:
                continue
            done.add(function)
            found.setdefault(function, {})[action.name] = None
            calls = (node for node in ast.walk(function_node(function)) if isinstance(node, ast.Call))
            called = [_called(definition, function, node) for node in calls]
            waiting[:0] = [each for each in called if each is not None]
    return found


def _called(definition: Definition, function: FunctionType, node: ast.Call) -> FunctionType | None:
    """The model's own function that the call runs."""
    if isinstance(node.func, ast.Attribute):
        helper = helper_called(definition.cls, function, node.func)
        if helper is not None:
            return helper
    known = named_object(function, node.func)
    return known if isinstance(known, FunctionType) and known not in _WORDS else None


class _Method:
    """One method, and how a change to it is made a mutant."""

    def __init__(self, definition: Definition, function: FunctionType, actions: tuple[str, ...]) -> None:
        self.definition = definition
        self.function = function
        self.actions = actions
        self.tree = function_node(function)
        self.nodes = [node for statement in self.tree.body for node in ast.walk(statement)]
        self.order = {id(node): number for number, node in enumerate(ast.walk(self.tree))}

    def calls(self, *words: object) -> Iterator[ast.Call]:
        """The calls of these words of the language, in the order of the source."""
        found = [
            node
            for node in self.nodes
            if isinstance(node, ast.Call) and named_object(self.function, node.func) in words
        ]
        return iter(sorted(found, key=_position))

    def mutant(self, operator: str, node: ast.AST, text: str, change: str, made: ast.AST) -> Mutant:
        """The method with `made` in the node's place."""
        place, column = place_in(self.function, node), getattr(node, "col_offset", 0)
        tree = self.edited(node, made)
        return Mutant(
            operator, self.function.__name__, text, change, place, column, self.function, tree, self.actions
        )

    def edited(self, node: ast.AST, made: ast.AST) -> ast.FunctionDef:
        changed = copy.deepcopy(self.tree)
        target = list(ast.walk(changed))[self.order[id(node)]]
        ast.copy_location(made, target)
        _Replace(target, made).visit(changed)
        return ast.fix_missing_locations(changed)

    def of_self(self, node: ast.expr) -> bool:
        """Whether the place is one of the state's: self.name, self.name[key]."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                return node.value.id == self_name(self.function)
            node = node.value
        return False

    def is_number(self, target: ast.expr) -> bool:
        """Whether the place holds an int and never None."""
        if isinstance(target, ast.Subscript):
            return isinstance(_cell(self.domain(target.value)), Int)
        return isinstance(self.domain(target), Int)

    def domain(self, node: ast.expr) -> VariableDomain | None:
        if not (isinstance(node, ast.Attribute) and self.of_self(node)):
            return None
        return next((v.domain for v in self.definition.variables if v.name == node.attr), None)

    def is_number_field(self, name: str) -> bool:
        """Whether every record of the state that has such a field holds an int there."""
        found = [domain for record in self.records() for known, domain in record.fields if known == name]
        return bool(found) and all(isinstance(domain, Int) for domain in found)

    def records(self) -> Iterator[RecordOf]:
        waiting: list[Any] = [variable.domain for variable in self.definition.variables]
        while waiting:
            domain = waiting.pop()
            if isinstance(domain, RecordOf):
                yield domain
                waiting += [inner for _, inner in domain.fields]
            waiting += [_cell(domain)] if _cell(domain) is not None else []


def _cell(domain: Any) -> Any:
    """What a collection or an option holds."""
    if isinstance(domain, MapOf):
        return domain.value
    if isinstance(domain, SeqOf):
        return domain.item
    return getattr(domain, "inner", None)


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, made: ast.AST) -> None:
        self.target = target
        self.made = made

    def visit(self, node: ast.AST) -> Any:
        return self.made if node is self.target else self.generic_visit(node)


def _position(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


# --- a conjunct of a guard left out ---------------------------------------------------------------


def _guards(method: _Method) -> Iterator[Mutant]:
    for call in method.calls(language.require, language.given, language.disabled):
        known = named_object(method.function, call.func)
        for part in conjuncts(call.args[0]) if known is language.require and call.args else [call]:
            kept = copy.deepcopy(call.args[0]) if known is language.given else ast.Constant(True)
            yield method.mutant("guard", part, expression_text(part), "", kept)


# --- turned round, or off by one ------------------------------------------------------------------


def _relations(method: _Method) -> Iterator[Mutant]:
    expressions = (
        node for node in method.nodes if isinstance(node, (ast.Compare, ast.Assign, ast.AugAssign, ast.Call))
    )
    for node in sorted(expressions, key=_position):
        if isinstance(node, ast.Compare):
            yield from _comparisons(method, node)
        elif isinstance(node, ast.Assign):
            if len(node.targets) == 1 and method.is_number(node.targets[0]):
                yield from _numbers(method, node.value, (1, -1))
        elif isinstance(node, ast.AugAssign):
            if method.is_number(node.target) and isinstance(node.op, (ast.Add, ast.Sub)):
                yield from _numbers(method, node.value, (1,))
        elif _makes_record(method, node):
            for keyword in node.keywords:
                if keyword.arg is not None and method.is_number_field(keyword.arg):
                    yield from _numbers(method, keyword.value, (1, -1))


def _comparisons(method: _Method, node: ast.Compare) -> Iterator[Mutant]:
    """Each comparison of the chain with its boundary moved either way, or turned into its opposite."""
    for number, operator in enumerate(node.ops):
        turned, moved = copy.deepcopy(node), copy.deepcopy(node)
        turned.ops[number] = _TURNED[type(operator)]()
        yield method.mutant("relation", node, expression_text(node), expression_text(turned), turned)
        if type(operator) in _OTHER_WAY:
            way = _OTHER_WAY[type(operator)]()
            moved.comparators[number] = ast.BinOp(moved.comparators[number], way, ast.Constant(1))
            yield method.mutant("relation", node, expression_text(node), expression_text(moved), moved)


def _numbers(method: _Method, node: ast.expr, changes: tuple[int, ...]) -> Iterator[Mutant]:
    for change in changes:
        made: ast.expr = ast.BinOp(
            copy.deepcopy(node), ast.Add() if change > 0 else ast.Sub(), ast.Constant(1)
        )
        if isinstance(node, ast.Constant) and type(node.value) is int:
            made = ast.parse(str(node.value + change), mode="eval").body
        yield method.mutant("relation", node, expression_text(node), expression_text(made), made)


def _makes_record(method: _Method, node: ast.Call) -> bool:
    known = named_object(method.function, node.func)
    return known is language.replace or (isinstance(known, type) and issubclass(known, Record))


# --- an assignment skipped ------------------------------------------------------------------------


def _skips(method: _Method) -> Iterator[Mutant]:
    statements = (node for node in method.nodes if isinstance(node, (ast.stmt, ast.Call)))
    for node in sorted(statements, key=_position):
        if isinstance(node, ast.stmt) and _assigns(method, node):
            yield method.mutant("skip", node, _line(node), "", ast.Pass())
        elif isinstance(node, ast.Call) and named_object(method.function, node.func) is language.replace:
            yield from _fields(method, node)


def _assigns(method: _Method, node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=targets):
            places = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
            return all(map(method.of_self, places))
        case ast.AugAssign(target=target):
            return method.of_self(target)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name))):
            return name in _CHANGES and method.of_self(owner)
    return False


def _fields(method: _Method, node: ast.Call) -> Iterator[Mutant]:
    """A record that is replaced without one of its changes, where it has others."""
    for number, keyword in enumerate(node.keywords):
        if len(node.keywords) > 1 and keyword.arg is not None:
            made = copy.deepcopy(node)
            del made.keywords[number]
            yield method.mutant("skip", node, f"{keyword.arg}={expression_text(keyword.value)}", "", made)


def _line(node: ast.stmt) -> str:
    return ast.unparse(node).partition("\n")[0]


_FINDERS: dict[str, Callable[[_Method], Iterator[Mutant]]] = {
    "guard": _guards,
    "relation": _relations,
    "skip": _skips,
}
