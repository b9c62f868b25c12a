"""The mistakes that a method's names show: unknown attributes, mutable locals, writes to what is no state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType
from typing import TYPE_CHECKING

from falsework import language
from falsework.domains import MapOf, OptionOf, RecordOf, SeqOf, SetOf, VariableDomain
from falsework.errors import DefinitionError
from falsework.source import function_node, named_object, place_in, self_name

if TYPE_CHECKING:
    from falsework.definition import Definition

CHANGES = ("append", "pop_first", "add", "discard")
_COLLECTION = (MapOf, SetOf, SeqOf)
_METHODS = {MapOf: ("keys", "values", "items"), SetOf: ("add", "discard"), SeqOf: ("append", "pop_first")}
_FOREIGN_CHANGES = (
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "discard", "update",
    "setdefault", "popitem", "pop_first",
)  # fmt: skip
_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_MAKERS = (list, dict, set, language.Map, language.Set, language.Seq)
_READERS = (
    len, any, all, sum, min, max, enumerate, zip, reversed, sorted, list, tuple, set, frozenset, bool,
    print, repr, str, language.first, language.count, language.require, language.bound, language.implies,
)  # fmt: skip
_TAKERS = (language.elapse, print, repr, str)


def check_names(definition: Definition, function: FunctionType) -> None:
    """Raises DefinitionError for a name that stands for nothing, or for what a method must leave alone."""
    _Names(definition, function).check()


class _Names:
    """One method, node by node; `above` leads from a node to the one that holds it."""

    def __init__(self, definition: Definition, function: FunctionType) -> None:
        self.definition = definition
        self.function = function
        self.node = function_node(function)
        self.me = self_name(function)
        parameters = [argument.arg for argument in self.node.args.args]
        self.states = [self.me, *(name for name in ("before",) if name in parameters)]
        self.variables = {variable.name: variable.domain for variable in definition.variables}
        self.above = {child: node for node in ast.walk(self.node) for child in ast.iter_child_nodes(node)}

    def check(self) -> None:
        placed = [node for node in ast.walk(self.node) if isinstance(node, (ast.expr, ast.stmt))]
        for node in sorted(placed, key=lambda node: node.lineno):
            match node:
                case ast.Attribute():
                    self._attribute(node)
                    self._write(node)
                case ast.Subscript():
                    self._write(node)
                case ast.Name(id=name) if name == self.me:
                    self._whole_state(node)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    raise self._no_state(node, names[0])
                case ast.Call(func=ast.Attribute() as callee):
                    self._foreign_change(node, callee)
                case (
                    ast.Assign(value=value)
                    | ast.AnnAssign(value=ast.expr() as value)
                    | ast.NamedExpr(value=value)
                ):
                    self._local(node, value)

    def _mistake(self, code: str, node: ast.AST, found: str, write: str) -> DefinitionError:
        return DefinitionError(code, place_in(self.function, node), found, write)

    def _no_state(self, node: ast.AST, name: str) -> DefinitionError:
        found = f"{self.function.__name__} changes {name}, which is no part of the state"
        return self._mistake("M030", node, found, f"a state variable of the model: {self.me}.<name>")

    def _domain(self, node: ast.expr) -> VariableDomain | None:
        """The domain of the variable that the expression is, whole."""
        match node:
            case ast.Attribute(value=ast.Name(id=state), attr=name) if state in self.states:
                return self.variables.get(name)
        return None

    # --- reading ----------------------------------------

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.states:
            self._member(node, node.value.id)
            if isinstance(self.variables.get(node.attr), _COLLECTION) and not self._stays(node):
                found = f"the collection {ast.unparse(node)} is handed on, as if it were a value"
                write = "a scalar or a record; read and change a collection where it stands"
                raise self._mistake("M012", node, found, write)
            return
        domain = self._domain(node.value)
        if isinstance(domain, _COLLECTION):
            known = _METHODS[type(domain)]
            if node.attr not in known:
                kind = type(domain).__name__.removesuffix("Of")
                found = f"{ast.unparse(node)}: a {kind} has no {node.attr}"
                raise self._mistake("M020", node, found, f"one of: {', '.join(known)}")
        record = domain.inner if isinstance(domain, OptionOf) else domain
        if isinstance(record, RecordOf) and not hasattr(record.cls, node.attr):
            fields = [name for name, _ in record.fields]
            if node.attr not in fields:
                found = f"{ast.unparse(node)}: the record {record.cls.__name__} has no field {node.attr}"
                raise self._mistake("M020", node, found, f"one of: {', '.join(fields)}")

    def _member(self, node: ast.Attribute, state: str) -> None:
        if node.attr in self.variables:
            return
        known = hasattr(self.definition.cls, node.attr) and not node.attr.startswith("__")
        if known and isinstance(node.ctx, ast.Load):
            return
        if known:
            found = f"{self.function.__name__} assigns to {state}.{node.attr}, which is no state variable"
            write = f"one of: {', '.join(self.variables)}; constants and methods never change"
            raise self._mistake("M030", node, found, write)
        found = f"{state}.{node.attr}: {self.definition.name} has no {node.attr}"
        raise self._mistake(
            "M020", node, found, f"one of: {', '.join(self.variables)}, a constant or a method"
        )

    def _stays(self, node: ast.expr) -> bool:
        """Whether the collection is used where it stands, or is assigned whole to another variable."""
        match self.above[node]:
            case ast.Subscript(value=inner) | ast.Attribute(value=inner):
                return inner is node and isinstance(node, ast.Attribute)
            case ast.For(iter=inner) | ast.comprehension(iter=inner):
                return inner is node
            case ast.Call(func=callee):
                known = named_object(self.function, callee)
                return any(known is reader for reader in _READERS)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.If() | ast.While():
                return True
            case ast.IfExp(test=test) as above:
                return test is node or self._stays(above)
            case ast.BoolOp() as above:
                return self._stays(above) or isinstance(self.above[above], ast.Return)
            case ast.Assign(targets=targets):
                return node in targets or all(self._domain(target) is not None for target in targets)
            case ast.AugAssign(target=target):
                return target is node
        return isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del))

    def _whole_state(self, node: ast.Name) -> None:
        match self.above.get(node):
            case ast.Attribute() | ast.Compare() | ast.arguments():
                return
            case ast.Call(func=callee) if named_object(self.function, callee) in _TAKERS:
                return
        found = f"{self.function.__name__} hands on {self.me} itself"
        raise self._mistake(
            "M012", node, found, "a method of the model, so that its guards and changes are seen"
        )

    # --- writing ----------------------------------------

    def _write(self, node: ast.Attribute | ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            return
        if isinstance(node.ctx, ast.Del):
            raise self._mistake(
                "M030", node, f"del {ast.unparse(node)}", "a value of its domain assigned, such as None"
            )
        root = self._root(node)
        if root == "before" and root in self.states:
            found = f"{ast.unparse(node)} is assigned: the state before has been"
            raise self._mistake("M030", node, found, "a comparison with it")
        if root != self.me:
            raise self._no_state(node, ast.unparse(node.value))
        record = node.value
        if isinstance(node, ast.Attribute) and not isinstance(record, ast.Name):
            found = f"{ast.unparse(node)} is assigned, but a record is frozen"
            whole = ast.unparse(record)
            raise self._mistake("M030", node, found, f"{whole} = replace({whole}, {node.attr}=…)")

    def _root(self, node: ast.expr) -> str:
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        return node.id if isinstance(node, ast.Name) else ""

    def _foreign_change(self, node: ast.Call, callee: ast.Attribute) -> None:
        if callee.attr not in _FOREIGN_CHANGES or isinstance(self._domain(callee.value), _COLLECTION):
            return
        match callee.value:
            case ast.Name(id=name):
                own_method = name in self.states
            case ast.Call(func=ast.Name(id="super")) | ast.IfExp() | ast.BoolOp():
                own_method = True  # a collection among them is handed on, which has its own number
            case _:
                own_method = False
        discarded = isinstance(self.above[node], ast.Expr)
        if not own_method and (discarded or self._is_foreign(callee.value)):
            raise self._no_state(node, ast.unparse(callee.value))

    def _is_foreign(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(named_object(self.function, node), (list, dict, set))

    def _local(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr, value: ast.expr) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not any(isinstance(name, ast.Name) for target in targets for name in _names(target)):
            return
        made = isinstance(value, ast.Call) and named_object(self.function, value.func) in _MAKERS
        if made or isinstance(value, _MUTABLE):
            found = f"a local holds the mutable {ast.unparse(value)}"
            raise self._mistake("M012", value, found, "a scalar, a record or a tuple in a local")


def _names(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _names(part)
    else:
        yield target
