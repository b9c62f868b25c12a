"""The mistakes that a method's names show: unknown attributes, mutable locals, writes to what is no state."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

from falsework import language
from falsework.body_domains import Domains, is_one_object, record_in
from falsework.domains import Bool, MapOf, OptionOf, SeqOf, SetOf, VariableDomain
from falsework.errors import DefinitionError
from falsework.source import function_node, named_object, nodes_in, own_names, place_in, self_name

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
_WORDS = (
    language.require, language.given, language.disabled, language.bound, language.implies, language.first,
    language.count,
)  # fmt: skip
_TAKERS = (language.elapse, print, repr, str)


def check_names(definition: Definition, function: FunctionType) -> None:
    """Raises DefinitionError for a name that stands for nothing, or for what a method must leave alone."""
    _Names(definition, function).check()


@cache
def _holders(tree: ast.FunctionDef) -> dict[ast.AST, ast.AST]:
    return {child: node for node in nodes_in(tree) for child in ast.iter_child_nodes(node)}


@cache
def _by_line(tree: ast.FunctionDef) -> list[ast.expr | ast.stmt]:
    placed = [node for node in nodes_in(tree) if isinstance(node, (ast.expr, ast.stmt))]
    return sorted(placed, key=lambda node: node.lineno)


@cache
def _never_evaluated(tree: ast.FunctionDef) -> set[ast.AST]:
    """What stands in annotations and decorators: it is not evaluated when the method runs."""
    heads: list[ast.AST] = [*tree.decorator_list]
    for node in nodes_in(tree):
        match node:
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
                heads.append(annotation)
            case ast.FunctionDef(returns=ast.expr() as annotation):
                heads.append(annotation)
    return {inner for head in heads for inner in nodes_in(head)}


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
        self.domains = Domains(definition, function)
        self.above = _holders(self.node)

    def check(self) -> None:
        for node in _by_line(self.node):
            match node:
                case ast.Attribute():
                    self._attribute(node)
                    self._thing(node)
                    self._write(node)
                case ast.Subscript():
                    self._write(node)
                case ast.Name(id=name) if name == self.me:
                    self._whole_state(node)
                case ast.Name(ctx=ast.Load()):
                    self._name(node)
                case ast.Compare():
                    self._identity(node)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    raise self._no_state(node, names[0])
                case ast.Call(func=ast.Attribute() as callee):
                    self._foreign_change(node, callee)
                case ast.Call():
                    self._word(node)
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
                raise self._mistake("M020", node, found, one_of(node.attr, known))
        record = record_in(self.domains.of(node.value))
        if record is not None and not hasattr(record.cls, node.attr):
            fields = [name for name, _ in record.fields]
            if node.attr not in fields and not isinstance(node.ctx, ast.Store):
                found = f"{ast.unparse(node)}: the record {record.cls.__name__} has no field {node.attr}"
                raise self._mistake("M020", node, found, one_of(node.attr, fields))

    def _thing(self, node: ast.Attribute) -> None:
        """An attribute of a class or a module, a member of an Enum among them."""
        owner = named_object(self.function, node.value)
        if isinstance(owner, (type, ModuleType)) and not hasattr(owner, node.attr):
            members = getattr(owner, "__members__", None)
            kind = "module" if isinstance(owner, ModuleType) else "Enum" if members is not None else "class"
            found = f"{ast.unparse(node)}: the {kind} {owner.__name__} has no {node.attr}"
            near = difflib.get_close_matches(node.attr, dir(owner), n=1, cutoff=0.6)
            write = f"{near[0]}, if that is meant" if near else f"a name of that {kind}"
            raise self._mistake("M020", node, found, one_of(node.attr, members) if members else write)

    def _name(self, node: ast.Name) -> None:
        """A bare name: a local, a parameter, or what stands around the function."""
        function, name = self.function, node.id
        around = (*function.__code__.co_freevars, *function.__globals__, *vars(builtins), "__class__")
        if name in self._bound or name in around or node in _never_evaluated(self.node):
            return
        members = [*self.variables, *(m for m in dir(self.definition.cls) if not m.startswith("__"))]
        write = f"{self.me}.{name}, which is a name of the model"
        if name not in members:
            locals_ = [*self._bound, *(f"{self.me}.{member}" for member in members)]
            known = dict.fromkeys([*locals_, *members, *(n for n in function.__globals__ if n[0] != "_")])
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            meant = f"{self.me}.{near[0]}" if near and near[0] in members else "".join(near)
            write = "a parameter, a local, or a name of the module"
            write = f"{meant}, if that is meant; or {write}" if near else write
        raise self._mistake("M020", node, f"the name {name} stands for nothing in {function.__name__}", write)

    @cached_property
    def _bound(self) -> set[str]:
        """Every name that something in the method binds, its comprehensions included."""
        found = set(own_names(self.function))
        for node in nodes_in(self.node):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                    found.add(name)
                case (
                    ast.ExceptHandler(name=str(name))
                    | ast.MatchAs(name=str(name))
                    | ast.MatchStar(name=str(name))
                ):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
                    found.add(name)
                case ast.alias(name=name, asname=asname):
                    found.add(asname or name.split(".")[0])
        return found

    def _word(self, node: ast.Call) -> None:
        """What a word of the language is given: as many arguments as it takes, and `given` an option."""
        known = named_object(self.function, node.func)
        word = next((word for word in _WORDS if word is known), None)
        if word is None or any(isinstance(argument, ast.Starred) for argument in node.args):
            return
        signature, spelled = inspect.signature(word), ast.unparse(node)
        try:
            signature.bind(*node.args, **{keyword.arg: keyword for keyword in node.keywords if keyword.arg})
        except TypeError as problem:
            write = f"{word.__name__}({', '.join(signature.parameters)})"
            if word in (language.require, language.bound) and len(node.args) > 1:
                write = f"{word.__name__}({' and '.join(map(ast.unparse, node.args))})"
            raise self._mistake("M035", node, f"{spelled}: {problem}", write) from None
        if word is language.given and node.args:
            self._option(node, node.args[0])

    def _option(self, node: ast.Call, value: ast.expr) -> None:
        domain = self.domains.of(value)
        if domain is None or isinstance(domain, OptionOf):
            return
        what = ast.unparse(value)
        write = f"require({what})" if isinstance(domain, Bool) else f"{what}: it is never None"
        found = f"{ast.unparse(node)}: given takes an option, and {what} is never None, so nothing is guarded"
        raise self._mistake("M036", node, found, write)

    def _identity(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            domains = [self.domains.of(side) for side in (left, right)]
            known = [domain for domain in domains if domain is not None]
            if not isinstance(op, (ast.Is, ast.IsNot)) or len(known) < 2:
                continue
            if not any(map(is_one_object, known)) and not all(is_one_object(d, bools=True) for d in known):
                found = f"{ast.unparse(node)} compares by identity"
                raise self._mistake("M034", node, found, "== or != for values; `is` for Enums and None")

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
        members = [*self.variables, *(name for name in dir(self.definition.cls) if name[0] != "_")]
        near = difflib.get_close_matches(node.attr, members, n=1, cutoff=0.6)
        meant = f"{state}.{near[0]}, if that is meant; or " if near else ""
        write = f"{meant}one of: {', '.join(self.variables)}, a constant or a method"
        raise self._mistake("M020", node, found, write)

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
        record = node.value
        is_record = record_in(self.domains.of(record)) is not None
        own = root == self.me and not isinstance(record, ast.Name)
        if isinstance(node, ast.Attribute) and (own or is_record):
            found = f"{ast.unparse(node)} is assigned, but a record is frozen"
            whole = ast.unparse(record)
            write = f"{whole} = replace({whole}, {node.attr}=…)"
            if root != self.me:
                write += f", and that assigned to the variable that it came from: {self.me}.<name> = …"
            raise self._mistake("M030", node, found, write)
        if root != self.me:
            raise self._no_state(node, ast.unparse(record))

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


def one_of(name: str, known: Iterable[str]) -> str:
    """What to write instead of the name: the nearest first, and all that there is."""
    listed = list(known)
    near = difflib.get_close_matches(name, listed, n=1, cutoff=0.6)
    meant = f"{near[0]}, if that is meant; or " if near else ""
    return f"{meant}one of: {', '.join(listed)}"


def _names(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _names(part)
    else:
        yield target
