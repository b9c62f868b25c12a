"""Why a predicate is false there: the conjunct that is false, its place, and the values that it read.

The predicate is executed once more on the class under a trace function that keeps the locals of its return;
its syntax tree is then walked from the returned expression down to the operand that decided, each part
evaluated in those locals.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from falsework import language
from falsework.definition import Action, Definition, Property
from falsework.domains import spell
from falsework.errors import Disabled, Place, display_path
from falsework.language import Model
from falsework.source import conjuncts, function_node, helper_called, named_object, place_in
from falsework.state import State, live
from falsework.trace import Label
from falsework.values import Map, Seq, Set

_EXPLAINED = (any, all, language.given, language.disabled, language.implies)
_MODULE_EVAL = "<a part of a predicate>"


@dataclass(frozen=True)
class Reason:
    """The part that decided: its text, its place, what it read, and the helpers that led to it."""

    text: str
    place: Place
    readings: tuple[str, ...] = ()
    through: tuple[str, ...] = ()


def source_file(place: Place) -> str:
    """The file that a printed place stands for."""
    ending = place.file.rpartition("/")[2]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(ending) and name != "__main__" and display_path(name, file) == place.file:
            return str(file)
    return place.file


def statement_text(place: Place) -> str:
    """The source line at a printed place, without its margin; empty where it cannot be read."""
    return linecache.getline(source_file(place), place.line).strip() if place.line else ""


@dataclass
class _Scene:
    """One frame at its end: the function, its locals, the line of its last statement."""

    function: Callable[..., Any]
    names: dict[str, Any]
    line: int
    cls: type[Model]
    through: tuple[str, ...] = ()
    bound: dict[str, Any] = field(default_factory=dict)  # the loop variables of generator expressions

    def value(self, node: ast.expr) -> Any:
        """The expression's value there; raises whatever it raises."""
        code = compile(ast.Expression(node), _MODULE_EVAL, "eval")
        known = {**self.function.__globals__, **self.names, **self.bound}
        return eval(code, known)  # noqa: S307  the model's own text

    def with_names(self, names: Mapping[str, Any]) -> _Scene:
        """The same frame inside one turn of a generator expression."""
        return _Scene(self.function, self.names, self.line, self.cls, self.through, {**self.bound, **names})


def false_conjunct(
    definition: Definition, prop: Property, state: State, known: Mapping[str, object]
) -> Reason:
    """Why the property is false there; `known` holds what a step invariant may read, `before` as a State."""
    arguments = [
        live(definition, known["before"]) if name == "before" else known[name]  # type: ignore[arg-type]
        for name in prop.arguments
    ]
    found = false_answer(definition.cls, prop.function, [live(definition, state), *arguments])
    return found or Reason(prop.name, prop.place)


def false_answer(cls: type[Model], function: Callable[..., Any], arguments: list[Any]) -> Reason | None:
    """Why the method answers False there; None where it does not, or cannot be watched."""
    scene = _watched(function, arguments, cls, ())
    return None if scene is None else _from_return(scene)


def false_guard(definition: Definition, action: Action, before: State, label: Label) -> Reason | None:
    """Which guard disables the step there, and why; None where it is enabled."""
    scene = _guarded(definition, action, before, label)
    return None if scene is None else _from_guard(scene)


def deciding_part(
    definition: Definition, action: Action, before: State, label: Label
) -> tuple[Place, int] | None:
    """Place and column of the first conjunct that disables the step there; None where it is enabled."""
    scene = _guarded(definition, action, before, label)
    if scene is None:
        return None
    for part, known in _guards_at(scene):
        if known is not language.require or not part.args:
            return place_in(scene.function, part), part.col_offset
        for operand in conjuncts(part.args[0]):
            if not _true(scene, operand):
                return place_in(scene.function, operand), operand.col_offset
    return place_in(scene.function, function_node(scene.function)), -1


def _true(scene: _Scene, node: ast.expr) -> bool:
    try:
        return bool(scene.value(node))
    except Exception:  # noqa: BLE001  `super()` means nothing outside its method: not told is not false
        return True


def _guarded(definition: Definition, action: Action, before: State, label: Label) -> _Scene | None:
    """The frame of the guard that disables the step; None where it is enabled, cut or faults."""
    instance = live(definition, before)
    try:
        action.function(instance, *action.constants, *label.arguments)
    except Disabled as problem:
        trail = problem.__traceback__
        functions = {function.__code__: function for function in _functions_of(definition.cls)}
        scene = None
        while trail is not None:
            frame = trail.tb_frame
            if frame.f_code in functions:
                function = functions[frame.f_code]
                scene = _Scene(function, dict(frame.f_locals), trail.tb_lineno, definition.cls)
            trail = trail.tb_next
        return scene
    except Exception:  # noqa: BLE001  a step that faults or is cut is not disabled
        return None
    return None


def _guards_at(scene: _Scene) -> Iterator[tuple[ast.Call, object]]:
    """The guards of the statement in which the frame ended."""
    for part in ast.walk(function_node(scene.function)):
        if isinstance(part, ast.Call) and part.lineno <= scene.line <= (part.end_lineno or part.lineno):
            known = named_object(scene.function, part.func)
            if known in (language.require, language.given, language.disabled):
                yield part, known


def _functions_of(cls: type[Model]) -> Iterator[Callable[..., Any]]:
    for k in cls.__mro__:
        for value in vars(k).values():
            if isinstance(getattr(value, "__code__", None), CodeType):
                yield value


def _watched(
    function: Callable[..., Any], arguments: list[Any], cls: type[Model], through: tuple[str, ...]
) -> _Scene | None:
    """The first frame of the function at its return; None where it does not return."""
    seen: list[tuple[dict[str, Any], int]] = []

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "return":
            seen.append((dict(frame.f_locals), frame.f_lineno))
        return local

    def every(frame: FrameType, event: str, _: Any) -> Any:
        return local if event == "call" and frame.f_code is function.__code__ else None

    kept = sys.gettrace()
    sys.settrace(every)
    try:
        function(*arguments)
    except Exception:  # noqa: BLE001  whoever asks has seen it return; now it is only not explained
        return None
    finally:
        sys.settrace(kept)
    if not seen:
        return None
    names, line = seen[-1]
    return _Scene(function, names, line, cls, through)


# --- from a frame to the expression that decided ------------------------------------------------------------


def _from_return(scene: _Scene) -> Reason | None:
    node = function_node(scene.function)
    returns = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Return) and part.lineno <= scene.line <= (part.end_lineno or part.lineno)
    ]
    if not returns or returns[-1].value is None:
        return None
    value = returns[-1].value
    if isinstance(value, ast.Constant):
        return _from_branch(scene, node, returns[-1])
    return _decide(scene, value, wanted=True)


def _from_branch(scene: _Scene, node: ast.FunctionDef, found: ast.Return) -> Reason | None:
    """`return False` is decided by the test around it, in the turn of the loop that it stands in."""
    tests = [part for part in ast.walk(node) if isinstance(part, ast.If) and found in list(ast.walk(part))]
    if not tests:
        return Reason(_text(scene, found), place_in(scene.function, found), (), scene.through)
    test = tests[-1].test
    readings = list(dict.fromkeys(_readings(scene, test)))
    loops = [
        part.target for part in ast.walk(node) if isinstance(part, ast.For) and found in list(ast.walk(part))
    ]
    for name in (inner.id for target in loops for inner in ast.walk(target) if isinstance(inner, ast.Name)):
        readings.insert(0, f"{name}: {shown(scene.names.get(name))}")
    text = f"{_text(scene, found)}  where {_plain(_text(scene, test))}"
    return Reason(text, place_in(scene.function, found), tuple(dict.fromkeys(readings)), scene.through)


def _from_guard(scene: _Scene) -> Reason:
    for part, known in _guards_at(scene):
        if known is not language.require:
            readings = tuple(_readings(scene, part))
            return Reason(_plain(_text(scene, part)), place_in(scene.function, part), readings)
        found = _decide(scene, part.args[0], wanted=True) if part.args else None
        if found is not None:
            return found
    return Reason(scene.function.__name__, place_in(scene.function, function_node(scene.function)))


def _decide(scene: _Scene, node: ast.expr, *, wanted: bool) -> Reason | None:
    """The innermost operand because of which the expression is not as wanted; None where it is as wanted."""
    try:
        if bool(scene.value(node)) == wanted:
            return None
    except Exception:  # noqa: BLE001  `super()` means nothing outside its method: not explained
        return Reason(_plain(_text(scene, node)), place_in(scene.function, node), (), scene.through)
    inner = _inner(scene, node, wanted)
    return inner if inner is not None else _leaf(scene, node, wanted=wanted)


def _inner(scene: _Scene, node: ast.expr, wanted: bool) -> Reason | None:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _inner(scene, operand, not wanted)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == wanted:
            return next(filter(None, (_decide(scene, value, wanted=wanted) for value in values)), None)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _decide(scene, body if scene.value(test) else orelse, wanted=wanted)
        case ast.Call(func=func, args=[ast.GeneratorExp() as each]) if named_object(scene.function, func) is (
            all if wanted else any
        ):
            return _turn(scene, each, wanted)
        case ast.Call(func=func, args=[premise, conclusion]) if (
            named_object(scene.function, func) is language.implies and wanted
        ):
            found = _decide(scene, conclusion, wanted=True)
            if found is None:
                return None
            readings = tuple(dict.fromkeys((*found.readings, *_readings(scene, premise))))
            return Reason(found.text, found.place, readings, found.through)
        case ast.Call(func=ast.Attribute() as attribute, args=arguments):
            return _within_helper(scene, attribute, arguments, node, wanted)
    return None


def _turn(scene: _Scene, each: ast.GeneratorExp, wanted: bool) -> Reason | None:
    """The first turn of an all() that is false (of an any() that is true), with its loop variables."""
    targets = [n for g in each.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
    pairs = ast.Dict([ast.Constant(n.id) for n in targets], [ast.Name(n.id, ast.Load()) for n in targets])
    turns = ast.ListComp(pairs, each.generators)
    ast.copy_location(turns, each)
    for names in scene.value(ast.fix_missing_locations(turns)):
        inside = scene.with_names(names)
        found = _decide(inside, each.elt, wanted=wanted)
        if found is not None:
            turn = tuple(f"{name}: {shown(value)}" for name, value in names.items())
            readings = tuple(dict.fromkeys((*turn, *found.readings)))
            return Reason(found.text, found.place, readings, found.through)
    return None


def _within_helper(
    scene: _Scene, attribute: ast.Attribute, arguments: list[ast.expr], node: ast.expr, wanted: bool
) -> Reason | None:
    helper = helper_called(scene.cls, scene.function, attribute)
    if helper is None or not isinstance(attribute.value, ast.Name) or not wanted:
        return None
    values = [scene.value(attribute.value), *(scene.value(argument) for argument in arguments)]
    inside = _watched(helper, values, scene.cls, (*scene.through, _plain(_text(scene, node))))
    return None if inside is None else _from_return(inside)


def _leaf(scene: _Scene, node: ast.expr, *, wanted: bool) -> Reason:
    """The part itself; where it should have been false, its negation is what is false."""
    text = _plain(_text(scene, node) if wanted else ast.unparse(ast.UnaryOp(ast.Not(), node)))
    readings = tuple(dict.fromkeys(_readings(scene, node)))
    return Reason(text, place_in(scene.function, node), readings, scene.through)


# --- what was read ------------------------------------------------------------------------------------------


def _text(scene: _Scene, node: ast.AST) -> str:
    """The source of the node in one line, as it is written."""
    source = "".join(linecache.getlines(scene.function.__code__.co_filename))
    written = ast.get_source_segment(source, node) if hasattr(node, "lineno") else None
    return " ".join((written or ast.unparse(node)).split())


def _plain(text: str) -> str:
    return re.sub(r"\bself\.", "", text)


def _readings(scene: _Scene, node: ast.expr) -> list[str]:
    """Each thing that the expression reads, with its value; of a step, before and after side by side."""
    step = "before" in scene.names
    found: dict[str, dict[str, str]] = {}
    for part in _reads(scene, node):
        value = _value_shown(scene, part)
        if value is None:
            continue
        text, root = _text(scene, part), _root(part)
        when = {"before": "before", "self": "after"}.get(root, "") if step else ""
        bare = (
            re.sub(r"^(self|before)\.", "", text)
            if isinstance(part, (ast.Attribute, ast.Subscript))
            else text
        )
        found.setdefault(_plain(bare), {})[when] = value
    return [_side_by_side(text, values) for text, values in found.items()]


def _value_shown(scene: _Scene, part: ast.expr) -> str | None:
    try:
        return shown(scene.value(part))
    except Exception:  # noqa: BLE001  a read that a short circuit protects has no value
        return None


def _side_by_side(text: str, values: Mapping[str, str]) -> str:
    if list(values) == [""] or not any(values):
        return f"{text}: {values.get('', '')}"
    ordered = [f"{values[when]} {when}".strip() for when in ("", "before", "after") if when in values]
    return f"{text}: {', '.join(ordered)}"


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _reads(scene: _Scene, node: ast.expr) -> Iterator[ast.expr]:
    """The parts to show: paths from self, before or a local, and calls as a whole."""
    known = {**scene.names, **scene.bound}
    match node:
        case ast.Attribute() | ast.Subscript() | ast.Name():
            if _root(node) in known and not isinstance(known[_root(node)], type):
                if not (isinstance(node, ast.Name) and isinstance(known[node.id], Model)):
                    yield node
                if isinstance(node, ast.Subscript):
                    yield from _reads(scene, node.slice)
        case ast.Call():
            yield from _reads_of_call(scene, node)
        case ast.GeneratorExp() | ast.ListComp() | ast.Lambda():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _reads(scene, child)


def _reads_of_call(scene: _Scene, node: ast.Call) -> Iterator[ast.expr]:
    """The call as a whole, unless its value is what is explained, and the collections it goes through."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "values", "items"):
        yield from _reads(scene, node.func.value)
        return
    if named_object(scene.function, node.func) not in _EXPLAINED:
        yield node
    for argument in node.args:
        if isinstance(argument, ast.GeneratorExp):
            for each in argument.generators:
                yield from _reads(scene, each.iter)
        else:
            yield from _reads(scene, argument)


def shown(value: object) -> str:
    """A live value as a reader of the table knows it."""
    if isinstance(value, Map):
        return " ".join(f"{spell(k)}={spell(v)}" for k, v in value.items())
    if isinstance(value, Set):
        return "{" + " ".join(map(spell, value)) + "}"
    if isinstance(value, Seq):
        return "[" + " ".join(map(spell, value)) + "]"
    return spell(value)
