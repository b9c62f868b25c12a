"""What marked methods say by their decorators and signatures: the actions and properties of a class."""

from __future__ import annotations

import ast
import inspect
import math
import typing
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from falsework.annotations import DomainProblem, cell, size
from falsework.definition import (
    ACTION_KINDS,
    RESERVED,
    Action,
    Property,
    methods_of,
    model_classes,
)
from falsework.domains import Domain, OptionOf
from falsework.errors import DefinitionError, Place
from falsework.language import Mark, Model, Row
from falsework.obligations import Obligation, Open, range_of
from falsework.source import class_place, function_node, function_place, place_in

MOST_CALLS = 1_000_000
_PROPERTY_KINDS = {"invariant": "state", "reachable": "witness", "terminal": "terminal"}


def marked_methods(cls: type[Model]) -> Iterator[tuple[str, FunctionType, Mark]]:
    """Every decorated method, most derived, with the mark that it carries or inherits."""
    for name, function in methods_of(cls).items():
        mark: Mark | None = None
        for k in model_classes(cls):
            own: tuple[Mark, ...] = getattr(vars(k).get(name), "__falsework_marks__", ())
            if len(own) > 1:
                raise DefinitionError(
                    "M021",
                    function_place(vars(k)[name]),
                    f"{name} is marked {' and '.join(map(_spelled, reversed(own)))}",
                    "one decorator",
                )
            for new in own:
                if mark is not None and (new.kind, new.on) != (mark.kind, mark.on):
                    raise DefinitionError(
                        "M021",
                        function_place(vars(k)[name]),
                        f"{name} is marked {_spelled(new)}, what it overrides is marked {_spelled(mark)}",
                        "no decorator: an override inherits it",
                    )
                mark = new
        if mark is not None:
            yield name, function, mark


def _spelled(mark: Mark) -> str:
    kind = mark.kind if mark.rows is None else "rows"
    return kind if mark.on is None else f"{kind}(on={mark.on})"


def parameters_of(function: FunctionType, name: str) -> list[str]:
    """The parameters after self; raises M010 for any that is not plain: arguments go by position."""
    place = function_place(function)
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = list(inspect.signature(function).parameters.values())
    if function.__code__.co_flags & (
        inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    ):
        raise DefinitionError(
            "M010", place, f"{name} is async or yields", "a plain def: it runs at once, as a whole"
        )
    if not parameters or parameters[0].kind is not plain:
        raise DefinitionError("M010", place, f"{name} has no self", f"def {name}(self, …)")
    for parameter in parameters[1:]:
        if parameter.kind is not plain or parameter.default is not inspect.Parameter.empty:
            raise DefinitionError(
                "M010",
                place,
                f"the parameter {parameter.replace(annotation=inspect.Parameter.empty)} of {name}",
                "plain parameters: no default, no *, no keyword-only ones",
            )
    return [parameter.name for parameter in parameters[1:]]


def _hints_of(function: FunctionType, name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as problem:  # noqa: BLE001  evaluating a text may raise anything
        raise DefinitionError(
            "M003",
            function_place(function),
            f"an annotation of {name} cannot be read: {problem}",
            "annotations whose names stand at the top of the module",
        ) from None


# --- actions ----------------------------------------


def actions_of(
    cls: type[Model], constants: Mapping[str, Any], marked: list[tuple[str, FunctionType, Mark]]
) -> dict[str, Action]:
    """The actions by name, in order of definition; the rows of a catalogue in its own order."""
    actions: dict[str, Action] = {}
    for name, function, mark in marked:
        if mark.kind not in ACTION_KINDS:
            continue
        for row in mark.rows if mark.rows is not None else (None,):
            action = action_of(name if row is None else row.name, function, mark, constants, row)
            if action.name in actions or (row is not None and hasattr(cls, action.name)):
                raise DefinitionError(
                    "M017", action.place, f"a second {action.name}", "another name for one of the two"
                )
            actions[action.name] = action
    if not actions:
        raise DefinitionError(
            "M009", class_place(cls), f"{cls.__name__} has no action", "at least one method under @action"
        )
    return actions


def action_of(
    name: str, function: FunctionType, mark: Mark, constants: Mapping[str, Any], row: Row | None = None
) -> Action:
    """The action that the method is, for that row if there is one."""
    place = function_place(function)
    names = parameters_of(function, function.__name__)
    if row is not None:
        if names[:1] != ["row"]:
            found = f"{function.__name__} under @rows has no parameter row"
            raise DefinitionError(
                "M010", place, found, f"def {function.__name__}(self, row: {type(row).__name__}, …)"
            )
        names = names[1:]
    hints = _hints_of(function, name)
    for parameter in names:
        if parameter in ("before", "answer"):
            write = "another name: invariants of steps call the state before and the answer so"
            raise DefinitionError("M025", place, f"the parameter {parameter} of {name}", write)
        if parameter not in hints:
            write = f'{parameter}: a finite domain, such as Annotated[int, Below("N")]'
            raise DefinitionError(
                "M010", place, f"the parameter {parameter} of {name} has no annotation", write
            )
    parameters = tuple(
        (n, _domain(hints[n], constants, place, f"the parameter {n} of {name}")) for n in names
    )
    if (calls := math.prod(size(domain) for _, domain in parameters)) > MOST_CALLS:
        write = f"parameters of at most {MOST_CALLS} combinations: a search tries each of them in each state"
        raise DefinitionError("M004", place, f"{name} has {calls} combinations of arguments", write)
    answer = None
    if hints.get("return", type(None)) is not type(None):
        answer = _domain(hints["return"], constants, place, f"the answer of {name}")
        _answers(function, name, answer)
    at = place if row is None else Place(row.file, row.line)
    return Action(name, mark.kind, parameters, answer, function, at, mark.source, row)


def _answers(function: FunctionType, name: str, answer: Domain) -> None:
    """Raises M010 where a path plainly ends without the answer that the action declares."""
    node = function_node(function)
    silent = next((node for node in _returns(node.body) if not _says_something(node)), None)
    if isinstance(answer, OptionOf) or (silent is None and _ends(node.body)):
        return
    where = "returns nothing" if silent is not None else "has a path without a return"
    found = f"{name} {where}, and declares the answer {answer}"
    write = f"return <one of {answer}> on every path; or -> None, for an action without an answer"
    raise DefinitionError("M010", place_in(function, silent or node), found, write)


def _returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """The returns of the method itself, not those of a function inside it."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield statement
        elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for child in ast.iter_child_nodes(statement):
                inner = child.body if isinstance(child, (ast.match_case, ast.ExceptHandler)) else [child]
                yield from _returns([part for part in inner if isinstance(part, ast.stmt)])


def _says_something(node: ast.Return) -> bool:
    return node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None)


def _ends(body: list[ast.stmt]) -> bool:
    """Whether the block may be meant to end in a return on every path: where it is doubtful, yes."""
    ways = [node for node in body if isinstance(node, ast.If) and _ends(node.body)]  # may name every case
    return len(ways) > 1 or any(map(_ends_in, body))


def _ends_in(node: ast.stmt) -> bool:
    match node:
        case ast.Return() | ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="disabled"))):
            return True
        case ast.If(body=body, orelse=[*_, last] as orelse):  # a chain of elif may name every case
            chain = len(orelse) == 1 and isinstance(last, ast.If) and not last.orelse
            return _ends(body) and _ends(last.body if chain and isinstance(last, ast.If) else orelse)
        case ast.Match(cases=cases):
            return all(_ends(case.body) for case in cases)
        case ast.For() | ast.While() | ast.Try():  # which of their rounds return is known when they run
            return any(True for _ in _returns([node]))
        case ast.With(body=body):
            return _ends(body)
    return False


def _domain(hint: Any, constants: Mapping[str, Any], place: Place, what: str) -> Domain:
    try:
        return cell(hint, constants)
    except DomainProblem as problem:
        raise DefinitionError(problem.code, place, f"{what}: {problem.found}", problem.write) from None


# --- properties ----------------------------------------


def property_of(name: str, function: FunctionType, mark: Mark, actions: Mapping[str, Action]) -> Property:
    """The invariant, witness or terminal predicate that the method is."""
    place = function_place(function)
    arguments = tuple(parameters_of(function, name))
    kind = _PROPERTY_KINDS[mark.kind]
    if name in RESERVED:
        raise DefinitionError("M025", place, f"a property named {name}", "another name: this one is taken")
    allowed: set[str] = set()
    if mark.kind == "invariant":
        allowed = {"before"}
        if mark.on is not None:
            allowed |= _arguments_of(name, mark.on, actions, place)
        if mark.on is not None or "before" in arguments:
            kind = "step"
    for argument in arguments:
        if argument not in allowed:
            able = f"self and no more than: {', '.join(sorted(allowed))}" if allowed else "self alone"
            raise DefinitionError("M018", place, f"{name} has a parameter {argument}", able)
    return Property(name, kind, function, arguments, mark.on, place, mark.source)


def _arguments_of(name: str, on: str, actions: Mapping[str, Action], place: Place) -> set[str]:
    targets = [a for a in actions.values() if on == (a.name if a.row is None else a.function.__name__)]
    if not targets:
        known = dict.fromkeys(a.name if a.row is None else a.function.__name__ for a in actions.values())
        raise DefinitionError(
            "M018", place, f"{name} is on={on}, which is no action", f"on= one of: {', '.join(known)}"
        )
    shared = {parameter for parameter, _ in targets[0].parameters} | ({"row"} if targets[0].row else set())
    return shared | ({"answer"} if targets[0].answer is not None else set())


# --- obligations ----------------------------------------


def obligation_of(name: str, function: FunctionType, mark: Mark, constants: Mapping[str, Any]) -> Obligation:
    """The statement that the method is; its parameters are the adversary's, each over a range."""
    place = function_place(function)
    if name in RESERVED:
        raise DefinitionError("M025", place, f"an obligation named {name}", "another name: this one is taken")
    names = parameters_of(function, name)
    hints = _hints_of(function, name)
    if hints.get("return") is not bool:
        write = f"def {name}(…) -> bool: what it answers is what is to be proved"
        raise DefinitionError("M010", place, f"the obligation {name} declares no bool", write)
    parameters = []
    for parameter in names:
        if parameter in ("before", "answer", *constants):
            write = "another name: this one stands for something else"
            raise DefinitionError("M025", place, f"the parameter {parameter} of {name}", write)
        if parameter not in hints:
            write = f"{parameter}: int, which is every number from 0 on, or a range"
            raise DefinitionError(
                "M010", place, f"the parameter {parameter} of {name} has no annotation", write
            )
        try:
            among = range_of(hints[parameter], constants)
        except DomainProblem as problem:
            found = f"the parameter {parameter} of {name}: {problem.found}"
            raise DefinitionError(problem.code, place, found, problem.write) from None
        parameters.append(Open(parameter, among, place))
    return Obligation(name, function, tuple(parameters), place, mark.source)
