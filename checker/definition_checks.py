"""The mistakes in a model that its class and its syntax show before anything runs."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from falsework import language
from falsework.domains import Int, MapOf, OptionOf, RecordOf, SeqOf, SetOf, VariableDomain
from falsework.errors import DefinitionError, Place
from falsework.language import Model, role_of
from falsework.source import class_nodes, class_place, display_path, function_file, function_node, name_line

if TYPE_CHECKING:
    from falsework.definition import Definition

_GUARDS = (language.require, language.given, language.disabled, language.bound)
_TAKEN = (
    "__init__",
    "__new__",
    "__setattr__",
    "__getattr__",
    "__getattribute__",
    "__eq__",
    "__hash__",
    "__slots__",
)
_CHANGES = {"append": SeqOf, "pop_first": SeqOf, "add": SetOf, "discard": SetOf}
_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def named_object(function: Callable[..., Any], node: ast.expr) -> object:
    """What a plain or dotted module-level name in the function stands for; None where it is a local or unknown."""
    if isinstance(node, ast.Name):
        return function.__globals__.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = named_object(function, node.value)
        return getattr(owner, node.attr, None) if owner is not None and not isinstance(owner, type) else None
    return None


# --- classes ------------------------------------------------------------------------------------------------------------


def check_classes(cls: type[Model]) -> None:
    """Raises DefinitionError for a class written twice, a stray attribute, a taken name, or a twin of the wrong shape."""
    from falsework.definition import model_classes

    inherited: set[str] = set()
    constants: set[str] = set()
    for k in model_classes(cls):
        nodes = class_nodes(k)
        if len(nodes) > 1:
            place = Place(class_place(k).file, nodes[-1].lineno)
            raise DefinitionError(
                "M017",
                place,
                f"a second class {k.__name__}; the first stands at line {nodes[0].lineno}",
                "one of them, or another name: the second hides the first",
            )
        if nodes:
            _no_name_twice(k, nodes[0])
        _attributes(k, inherited, constants)
        annotated = vars(k).get("__annotations__", {})
        inherited |= {name for name in annotated if not name.isupper()}
        constants |= {name for name in annotated if name.isupper()}
    if (role := role_of(cls)) is not None:
        _overrides(cls, role.kind)


def _no_name_twice(cls: type, node: ast.ClassDef) -> None:
    seen: dict[str, int] = {}
    for statement in node.body:
        match statement:
            case (
                ast.FunctionDef(name=name)
                | ast.AnnAssign(target=ast.Name(id=name))
                | ast.Assign(targets=[ast.Name(id=name)])
            ):
                if name in seen:
                    raise DefinitionError(
                        "M017",
                        Place(class_place(cls).file, statement.lineno),
                        f"a second {name} in {cls.__name__}; the first stands at line {seen[name]}",
                        "one of them: the second hides the first",
                    )
                seen[name] = statement.lineno


def _attributes(cls: type, variables: set[str], constants: set[str]) -> None:
    annotated = vars(cls).get("__annotations__", {})
    for name, value in vars(cls).items():
        if name in _TAKEN and not (name == "__hash__" and value is None):
            raise DefinitionError(
                "M028",
                name_line(cls, name),
                f"{cls.__name__} defines {name}",
                "state variables and actions only",
            )
        if name.startswith("__") or name in annotated or isinstance(value, (FunctionType, type)):
            continue
        if isinstance(value, (staticmethod, classmethod, property)):
            raise DefinitionError(
                "M028", name_line(cls, name), f"{name} is a {type(value).__name__}", "a plain method"
            )
        known = constants if name.isupper() else variables
        if name not in known:
            what = "a constant" if name.isupper() else "a state variable"
            near = (
                f"{name}: domain = {value!r}" if not name.isupper() else f"{name}: ClassVar[int] = {value!r}"
            )
            raise DefinitionError(
                "M006",
                name_line(cls, name),
                f"{name} = {value!r} without an annotation overrides nothing",
                f"{near} for {what} of its own, or one of: {', '.join(sorted(known)) or 'none to override'}",
            )


def overridden(cls: type) -> list[str]:
    """The names of this class statement that a model above it defines."""
    above = [k for k in cls.__mro__[1:] if issubclass(k, Model) and k is not Model]
    known = {
        name
        for k in above
        for name in (*vars(k), *vars(k).get("__annotations__", {}))
        if not name.startswith("__")
    }
    own = [name for name in vars(cls) if not name.startswith("__")]
    own += [name for name in vars(cls).get("__annotations__", {}) if name not in own]
    return [name for name in own if name in known]


def _overrides(cls: type, kind: str) -> None:
    names = overridden(cls)
    own = {n: v for n, v in vars(cls).items() if not n.startswith("__")} | dict.fromkeys(
        vars(cls).get("__annotations__", {})
    )
    new = [n for n, v in own.items() if n not in names and not isinstance(v, type)]
    place = class_place(cls)
    if kind == "configuration":
        odd = [name for name in (*names, *new) if not name.isupper()]
        if odd or not names:
            raise DefinitionError(
                "M027",
                place,
                f"the configuration {cls.__name__} overrides {', '.join(odd) or 'nothing'}",
                "constants only, at least one",
            )
        return
    marked = [
        name
        for name in new
        if not isinstance(own[name], FunctionType) or hasattr(own[name], "__falsework_marks__")
    ]
    if len(names) != 1 or marked:
        found = ", ".join((*names, *(f"a new {name}" for name in marked))) or "nothing"
        raise DefinitionError(
            "M023",
            place,
            f"the twin {cls.__name__} overrides {found}",
            "one override: a method, a constant or an initial value (helper methods of its own are free)",
        )


# --- bodies -------------------------------------------------------------------------------------------------------------


def check_bodies(definition: Definition) -> None:
    """Raises DefinitionError for a guard after an assignment, a mutable local, a predicate that changes the state, and the like."""
    from falsework.definition import methods_of

    for function in methods_of(definition.cls).values():
        _names_and_locals(definition, function)
    for action in (*definition.initials, *definition.actions):
        flow = _Flow(definition, action.function)
        flow.run()
        if flow.elapses and action.kind != "tick":
            raise DefinitionError(
                "M015",
                flow.elapses[0],
                f"elapse in {action.name}, which is no tick",
                "@tick on the step of time",
            )
        if action.kind == "tick" and len(flow.elapses) != 1:
            raise DefinitionError(
                "M015",
                action.place,
                f"the tick {action.name} calls elapse {len(flow.elapses)} times",
                "elapse(self), once, after its guards",
            )
    for prop in (*definition.invariants, *definition.witnesses, *definition.terminals):
        flow = _Flow(definition, prop.function)
        flow.run()
        if flow.changes:
            raise DefinitionError(
                "M019", flow.changes[0], f"{prop.name} changes the state", "a predicate that only reads"
            )
        if flow.guards:
            raise DefinitionError(
                "M019", flow.guards[0], f"a guard in {prop.name}", "a predicate that returns True or False"
            )


def place_in(function: Callable[..., Any], node: ast.AST) -> Place:
    """The place of a node of the function's syntax tree."""
    return Place(display_path(function.__module__, function_file(function)), getattr(node, "lineno", 0))


def _self_name(node: ast.FunctionDef) -> str:
    return node.args.args[0].arg if node.args.args else "self"


def _names_and_locals(definition: Definition, function: FunctionType) -> None:
    node = function_node(function)
    me = _self_name(node)
    variables = {v.name: v.domain for v in definition.variables}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == me:
            written = isinstance(inner.ctx, (ast.Store, ast.Del))
            if inner.attr not in variables and (written or not hasattr(definition.cls, inner.attr)):
                raise DefinitionError(
                    "M020",
                    place_in(function, inner),
                    f"{me}.{inner.attr}, which is no state variable",
                    f"one of: {', '.join(variables)}",
                )
        if isinstance(inner, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and inner.value is not None:
            targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
            if any(isinstance(target, ast.Name) for target in targets):
                _no_mutable(function, inner.value, me, variables)


def _no_mutable(
    function: FunctionType, value: ast.expr, me: str, variables: dict[str, VariableDomain]
) -> None:
    made = isinstance(value, ast.Call) and named_object(function, value.func) in (
        list,
        dict,
        set,
        language.Map,
        language.Set,
        language.Seq,
    )
    shared = (
        isinstance(value, ast.Attribute)
        and isinstance(value.value, ast.Name)
        and value.value.id == me
        and isinstance(variables.get(value.attr), (MapOf, SetOf, SeqOf))
    )
    if isinstance(value, _MUTABLE) or made or shared:
        raise DefinitionError(
            "M012",
            place_in(function, value),
            f"a local holds the mutable {ast.unparse(value)}",
            "a scalar or a record in a local; read and change a collection where it stands",
        )


class _Flow:
    """One walk through a method and what it calls, in the order of evaluation: guards, changes and elapses."""

    def __init__(self, definition: Definition, function: Callable[..., Any]) -> None:
        self.definition = definition
        self.function = function
        self.stack: list[Callable[..., Any]] = []
        self.elapses: list[Place] = []
        self.changes: list[Place] = []
        self.guards: list[Place] = []
        self.premises: list[tuple[int, int]] = []

    def run(self) -> None:
        """Walks the whole method."""
        self._call(self.function, False)

    def _call(self, function: Callable[..., Any], changed: bool) -> bool:
        if function in self.stack:
            raise DefinitionError(
                "M014",
                place_in(function, function_node(function)),
                f"{function.__name__} calls itself",
                "a loop over a finite domain",
            )
        self.stack.append(function)
        before = len(self.changes)
        node = function_node(function)
        after = self._block(node.body, changed)
        returns = [r for r in ast.walk(node) if isinstance(r, ast.Return) and r.value is not None]
        valued = [r for r in returns if not (isinstance(r.value, ast.Constant) and r.value.value is None)]
        helper = function.__name__ != self.stack[0].__name__
        if helper and valued and len(self.changes) > before:
            raise DefinitionError(
                "M013",
                place_in(function, valued[0]),
                f"{function.__name__} changes the state and returns a value",
                "a helper that returns, or one that changes the state, not both",
            )
        self.stack.pop()
        return changed or len(self.changes) > before if after is None else after

    def _block(self, body: list[ast.stmt], changed: bool | None) -> bool | None:
        for statement in body:
            if changed is None:
                return None
            changed = self._statement(statement, changed)
        return changed

    def _statement(self, node: ast.stmt, changed: bool) -> bool | None:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                changed = self._expression(test, changed)
                ways = [
                    way
                    for way in (self._block(body, changed), self._block(orelse, changed))
                    if way is not None
                ]
                return any(ways) if ways else None
            case ast.For(iter=source, body=body, orelse=orelse):
                changed = self._expression(source, changed)
                once = self._block(body, changed)
                if once and not changed:
                    self._block(body, True)
                return self._block(orelse, changed or bool(once))
            case ast.Return(value=value):
                if value is not None:
                    self._expression(value, changed)
                return None
            case ast.Assign(targets=targets, value=value):
                return self._assign(targets, value, changed)
            case ast.AugAssign(target=target, value=value):
                return self._assign([target], value, changed)
            case ast.AnnAssign(target=target, value=value):
                return self._assign([target], value, changed) if value is not None else changed
        for child in ast.iter_child_nodes(node):
            changed = self._expression(child, changed)
        return changed

    def _assign(self, targets: list[ast.expr], value: ast.expr, changed: bool) -> bool:
        changed = self._expression(value, changed)
        for target in targets:
            changed = self._expression(target, changed)
            if self._own(target):
                self.changes.append(place_in(self.stack[-1], target))
                changed = True
        return changed

    def _own(self, target: ast.expr) -> bool:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            inner = target.value
            if isinstance(target, ast.Attribute) and isinstance(inner, ast.Name):
                return inner.id == _self_name(function_node(self.stack[-1]))
            target = inner
        return isinstance(target, ast.Tuple) and any(map(self._own, target.elts))

    def _expression(self, node: ast.AST, changed: bool) -> bool:
        for child in ast.iter_child_nodes(node):
            changed = self._expression(child, changed)
        return self._called(node, changed) if isinstance(node, ast.Call) else changed

    def _called(self, node: ast.Call, changed: bool) -> bool:
        function = self.stack[-1]
        place = place_in(function, node)
        known = named_object(function, node.func)
        if known in _GUARDS:
            self.guards.append(place)
            if changed:
                raise DefinitionError(
                    "M011",
                    place,
                    f"the guard {ast.unparse(node)} after an assignment",
                    "every require, given, disabled and bound before the first change on its path",
                )
            return changed
        if known is language.implies and (node.lineno, node.col_offset) not in self.premises:
            self.premises.append((node.lineno, node.col_offset))
        if known is language.elapse:
            if changed:
                raise DefinitionError(
                    "M015", place, "elapse after an assignment", "elapse(self) right after the guards"
                )
            if place not in self.elapses:
                self.elapses.append(place)
            self.changes.append(place)
            return True
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in _CHANGES and self._own(node.func.value):
                self.changes.append(place)
                return True
            helper = helper_called(self.definition.cls, function, node.func)
            if helper is not None:
                return self._call(helper, changed)
        return changed


def helper_called(cls: type[Model], function: Callable[..., Any], node: ast.Attribute) -> FunctionType | None:
    """The method of the model that `self.name` or `super().name` stands for in that function."""
    match node.value:
        case ast.Name(id=name) if name == _self_name(function_node(function)):
            found = getattr(cls, node.attr, None)
        case ast.Call(func=ast.Name(id="super"), args=[]):
            found = next(_above(cls, function, node.attr), None)
        case _:
            return None
    return found if isinstance(found, FunctionType) else None


def _above(cls: type[Model], function: Callable[..., Any], name: str) -> Iterator[object]:
    classes = list(cls.__mro__)
    owner = next((i for i, k in enumerate(classes) if function in vars(k).values()), len(classes))
    for k in classes[owner + 1 :]:
        if name in vars(k):
            yield vars(k)[name]


def premise_sites(definition: Definition, function: Callable[..., Any]) -> list[tuple[int, int]]:
    """The line and column of every `implies` that the predicate evaluates, its helpers included."""
    flow = _Flow(definition, function)
    flow.run()
    return flow.premises


def clocks_of(domain: VariableDomain) -> bool:
    """Whether a countdown or an elapsed time stands anywhere in the domain."""
    match domain:
        case Int(clock=clock):
            return bool(clock)
        case OptionOf(inner) | MapOf(_, inner) | SeqOf(inner, _):
            return clocks_of(inner)
        case RecordOf(_, fields):
            return any(clocks_of(inner) for _, inner in fields)
    return False
