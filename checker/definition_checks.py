"""The mistakes that methods show before anything runs: in their names, and in the order of what they do."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

from falsework import language
from falsework.body_names import CHANGES, check_names
from falsework.errors import DefinitionError, Place
from falsework.source import (
    deep,
    function_file,
    function_node,
    helper_called,
    named_object,
    nodes_in,
    parts_of,
    place_in,
    self_name,
)

if TYPE_CHECKING:
    from falsework.definition import Action, Definition, Property
    from falsework.obligations import Obligation

__all__ = ["Flow", "check_bodies", "helper_called", "named_object", "premise_sites"]

GUARDS = (language.require, language.given, language.disabled, language.bound)


def check_bodies(definition: Definition) -> None:
    """Raises DefinitionError for the first mistake that a method's body shows."""
    from falsework.definition import methods_of

    for function in methods_of(definition.cls).values():
        check_names(definition, function)
    for action in (*definition.initials, *definition.actions):
        _check_action(definition, action)
    for prop in (*definition.invariants, *definition.witnesses, *definition.terminals):
        _check_predicate(definition, prop)
    for obligation in definition.obligations:
        _check_obligation(definition, obligation)


def _check_action(definition: Definition, action: Action) -> None:
    flow = Flow(definition, action.function)
    flow.run()
    if action.kind == "tick":
        if len(flow.elapses) != 1:
            found = f"the tick {action.name} calls elapse {len(flow.elapses)} times"
            raise DefinitionError("M015", action.place, found, "elapse(self), once, right after the guards")
    elif flow.elapses:
        found = f"elapse in {action.name}, which is no tick"
        raise DefinitionError(
            "M015", flow.elapses[0], found, f"@tick above {action.name}, if it is the step of time"
        )
    if action.kind == "initial" and flow.bounds:
        write = "require(…): it says which states are initial, and a bound cuts steps"
        raise DefinitionError("M033", flow.bounds[0], f"bound in the initial action {action.name}", write)
    if action.answer is None:
        for value in _values_returned(function_node(action.function)):
            if not isinstance(value, ast.Call):  # a call may answer nothing: it is seen when it runs
                found = f"{action.name} returns {ast.unparse(value)} and declares no answer"
                write = "-> and a finite domain for the answer, or no value"
                raise DefinitionError("M010", place_in(action.function, value), found, write)


def _check_predicate(definition: Definition, prop: Property) -> None:
    flow = Flow(definition, prop.function)
    flow.run()
    if flow.changes:
        found = f"{prop.name} changes the state"
        raise DefinitionError(
            "M019", flow.changes[0], found, "a predicate that only reads; an action takes a step"
        )
    if flow.guards:
        write = "a condition instead: a predicate is asked everywhere and says True or False"
        raise DefinitionError("M019", flow.guards[0], f"a guard in {prop.name}", write)


def _check_obligation(definition: Definition, obligation: Obligation) -> None:
    """It reads no state and changes none; its `require`s may stand wherever they are met."""
    flow = Flow(definition, obligation.function)
    flow.run()
    if flow.bounds:
        write = "require(…): what the obligation assumes"
        raise DefinitionError("M037", flow.bounds[0], f"bound in the obligation {obligation.name}", write)
    for function in dict.fromkeys(flow.called):
        for node in ast.walk(function_node(function)):
            match node:
                case ast.Attribute(value=ast.Name(id=me), attr=name) if me == self_name(function):
                    if name in flow.variables:
                        found = f"{obligation.name} reads the state variable {name}"
                        write = "figures and parameters of its own; an @invariant speaks of states"
                        raise DefinitionError("M037", place_in(function, node), found, write)


def _values_returned(node: ast.FunctionDef) -> list[ast.expr]:
    returned = [inner.value for inner in nodes_in(node) if isinstance(inner, ast.Return)]
    return [v for v in returned if v is not None and not (isinstance(v, ast.Constant) and v.value is None)]


def premise_sites(definition: Definition, function: Callable[..., Any]) -> list[language.PremiseSite]:
    """The file, line and column of every `implies` that the predicate evaluates, its helpers included."""
    flow = Flow(definition, function)
    flow.run()
    return flow.premises


# --- what comes after what ----------------------------------------


@dataclass
class _Loop:
    """A loop over a variable; `keys` is what each method on the stack calls its current key, if anything."""

    variable: str
    keys: list[str | None] = field(default_factory=list)


class Flow:
    """One walk through a method and what it calls, in the order of evaluation: guards, changes and elapses.

    `changed` says whether some path so far has changed the state; None that every path has returned.
    """

    def __init__(self, definition: Definition, function: Callable[..., Any]) -> None:
        self.definition = definition
        self.function = function
        self.variables = {variable.name for variable in definition.variables}
        self.modules = {k.__module__ for k in definition.cls.__mro__} - {language.__name__}
        self.stack: list[Callable[..., Any]] = []
        self.loops: list[_Loop] = []
        self.branches = 0  # how many conditions and loops enclose the place
        self.rounds = 0  # how many loops are walked a second time, as in a later round
        self.left = False  # whether a path of this method may have returned before the place
        self.elapses: list[Place] = []
        self.changes: list[Place] = []
        self.guards: list[Place] = []
        self.bounds: list[Place] = []
        self.premises: list[language.PremiseSite] = []
        self.called: list[Callable[..., Any]] = []

    def run(self) -> None:
        """Walks the whole method."""
        with deep():
            self._call(self.function, False, None)

    def _call(self, function: Callable[..., Any], changed: bool, call: ast.Call | None) -> bool:
        node = function_node(function)
        if function in self.stack:
            place = place_in(self.stack[-1], call) if call is not None else place_in(function, node)
            write = "a loop over a finite domain: no method may call itself, by way of others neither"
            raise DefinitionError("M014", place, f"{function.__name__} calls itself", write)
        for loop in self.loops:
            loop.keys.append(_passed(node, call, loop.keys[-1]))
        self.stack.append(function)
        self.called.append(function)
        before, left, self.left = len(self.changes), self.left, False
        after = self._block(node.body, changed)
        self.left = left
        self.stack.pop()
        for loop in self.loops:
            loop.keys.pop()
        changes = len(self.changes) > before
        helper = bool(self.stack) and function.__name__ != self.stack[0].__name__
        if helper and changes and (valued := _values_returned(node)):
            found = f"{function.__name__} changes the state and returns a value"
            write = "a helper that returns, or one that changes the state and returns nothing"
            raise DefinitionError("M013", place_in(function, valued[0]), found, write)
        return changed or changes if after is None else after

    def _block(self, body: list[ast.stmt], changed: bool) -> bool | None:
        for statement in body:
            after = self._statement(statement, changed)
            if after is None:
                return None
            changed = after
        return changed

    def _ways(self, bodies: list[list[ast.stmt]], changed: bool) -> bool | None:
        """After one of the bodies, whichever."""
        self.branches += 1
        ways = [self._block(body, changed) for body in bodies]
        self.branches -= 1
        going_on = [way for way in ways if way is not None]
        self.left = self.left or len(going_on) < len(ways)
        return any(going_on) if going_on else None

    def _statement(self, node: ast.stmt, changed: bool) -> bool | None:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return self._ways([body, orelse], self._expression(test, changed))
            case ast.Match(subject=subject, cases=cases):
                changed = self._expression(subject, changed)
                for case in cases:
                    changed = self._expression(case.guard, changed) if case.guard is not None else changed
                return self._ways([*(case.body for case in cases), []], changed)
            case ast.For(target=target, iter=source, body=body, orelse=orelse):
                return self._loop(
                    body, orelse, self._assign([target], source, changed), _loop_over(self, node)
                )
            case ast.While(test=test, body=body, orelse=orelse):
                return self._loop(body, orelse, self._expression(test, changed), None)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                after = self._ways([[*body, *orelse], *([*body, *h.body] for h in handlers)], changed)
                return self._block(last, bool(after)) if last else after
            case ast.With(items=items, body=body):
                for item in items:
                    changed = self._expression(item.context_expr, changed)
                return self._block(body, changed)
            case ast.FunctionDef(body=body):
                return self._ways([body], changed) or changed
            case ast.Return():
                self._expression(node, changed)
                return None
            case ast.Assign(targets=targets, value=value):
                return self._assign(targets, value, changed)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                return self._assign([target], value, changed)
        for child in parts_of(node):
            changed = self._expression(child, changed)
        return changed

    def _loop(
        self, body: list[ast.stmt], orelse: list[ast.stmt], changed: bool, loop: _Loop | None
    ) -> bool | None:
        if loop is not None:
            self.loops.append(loop)
        once = self._ways([body, []], changed)
        if once and not changed:
            self.rounds += 1
            self._ways([body, []], True)
            self.rounds -= 1
        if loop is not None:
            self.loops.pop()
        return self._block(orelse, changed or bool(once))

    # --- changes ----------------------------------------

    def _assign(self, targets: list[ast.expr], value: ast.expr, changed: bool) -> bool:
        changed = self._expression(value, changed)
        for target in targets:
            changed = self._expression(target, changed)
            for part in _parts(target):
                if (variable := self._own(part)) is not None:
                    key = part.slice if isinstance(part, ast.Subscript) else None
                    self._change(part, variable, key)
                    changed = True
        return changed

    def _own(self, node: ast.expr) -> str | None:
        """The variable of the model that the place `self.name…` is in."""
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            inner = node.value
            if isinstance(node, ast.Attribute) and isinstance(inner, ast.Name):
                own = inner.id == self_name(self.stack[-1]) and not self._is_plain(self.stack[-1])
                return node.attr if own else None
            node = inner
        return None

    def _is_plain(self, known: object) -> bool:
        """Whether it is a function beside the model, which may hold a guard but never the state."""
        if not isinstance(known, FunctionType) or known.__module__ not in self.modules:
            return False
        return "." not in known.__qualname__.rpartition("<locals>.")[2]

    def variable_read(self, node: ast.expr) -> str | None:
        """The variable that the expression is, whole."""
        whole = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return self._own(node) if whole else None

    def _change(self, node: ast.expr, variable: str, key: ast.expr | None) -> None:
        place = place_in(self.stack[-1], node)
        self.changes.append(place)
        for loop in self.loops:
            at_key = key is not None and ast.unparse(key) == loop.keys[-1]
            if loop.variable == variable and not at_key:
                found = f"{ast.unparse(node)} changes what the loop goes over"
                write = "a change at the loop's current key only, or a loop over the domain: for key in …"
                raise DefinitionError("M032", place, found, write)

    # --- expressions ----------------------------------------

    def _expression(self, node: ast.AST, changed: bool) -> bool:
        if isinstance(node, ast.IfExp):
            changed = self._expression(node.test, changed)
            ways = self._ways([[ast.Expr(node.body)], [ast.Expr(node.orelse)]], changed)
            return bool(ways)
        branch = isinstance(node, (ast.BoolOp, ast.Lambda, ast.GeneratorExp, ast.ListComp))
        self.branches += branch
        for child in parts_of(node):
            changed = self._expression(child, changed)
        self.branches -= branch
        return self._called(node, changed) if isinstance(node, ast.Call) else changed

    def _called(self, node: ast.Call, changed: bool) -> bool:
        function = self.stack[-1]
        known = named_object(function, node.func)
        if known in GUARDS:
            self.guards.append(place_in(function, node))
            if known is language.bound:
                self.bounds.append(self.guards[-1])
            if changed:
                when = " of an earlier round" if self.rounds else ""
                found = f"the guard {ast.unparse(node)} after an assignment{when}"
                write = "every require, given, disabled and bound before the first change on its path"
                raise DefinitionError("M011", place_in(function, node), found, write)
        elif known is language.implies:
            site = (function_file(function), node.lineno, node.col_offset)
            if site not in self.premises:
                self.premises.append(site)
        elif known is language.elapse:
            self._elapse(node, changed)
            return True
        elif isinstance(node.func, ast.Attribute):
            variable = self._own(node.func.value)
            if node.func.attr in CHANGES and variable in self.variables:
                key = node.args[0] if node.args and node.func.attr in ("add", "discard") else None
                self._change(node, variable, key)
                return True
            helper = helper_called(self.definition.cls, function, node.func)
            if helper is not None:
                return self._call(helper, changed, node)
        elif isinstance(known, FunctionType) and self._is_plain(known):
            return self._call(known, changed, node)
        return changed

    def _elapse(self, node: ast.Call, changed: bool) -> None:
        function = self.stack[-1]
        place = place_in(function, node)
        found = ""
        if [ast.unparse(argument) for argument in node.args] != [self_name(function)] or node.keywords:
            found = f"{ast.unparse(node)}"
        elif self.elapses:
            found = "elapse a second time"
        elif changed:
            found = "elapse after an assignment"
        elif self.branches:
            found = "elapse under a condition or in a loop"
        elif self.left:
            found = "elapse after a return: some path of the tick moves no clock"
        if found:
            raise DefinitionError(
                "M015", place, found, "elapse(self), once, right after the guards of a tick"
            )
        self.elapses.append(place)
        self.changes.append(place)


def _parts(target: ast.expr) -> list[ast.expr]:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [inner for part in parts for inner in _parts(part)]
        case ast.Starred(value=value):
            return _parts(value)
    return [target]


def _passed(node: ast.FunctionDef, call: ast.Call | None, name: str | None) -> str | None:
    """What the called method calls the caller's local of that name."""
    if call is None or name is None:
        return None
    parameters = [argument.arg for argument in node.args.args[1:]]
    given = [*zip(parameters, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return next((p for p, value in given if isinstance(value, ast.Name) and value.id == name), None)


def _loop_over(flow: Flow, node: ast.For) -> _Loop | None:
    """The loop if it goes over a variable's own cells: each round may change the current key's alone."""
    source, target = node.iter, node.target
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else None
    key: ast.expr | None = target
    match source:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            source, key = inner, first
        case ast.Call(func=ast.Attribute(value=inner, attr="keys" | "items" | "values" as view)):
            source, key = inner, {"keys": target, "items": first}.get(view)
    variable = flow.variable_read(source)
    if variable is None:
        return None
    return _Loop(variable, [None if key is None else ast.unparse(key)])
