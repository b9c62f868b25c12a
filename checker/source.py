"""Where a class and its methods stand in source, and their syntax trees."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType
from typing import Any

from falsework.errors import DefinitionError, Place, display_path

_READ = (OSError, SyntaxError, ValueError)


@contextmanager
def deep() -> Iterator[None]:
    """Inside, what is walked recursively may nest as deeply as a long loop or chain of elif makes it."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def function_file(function: Callable[..., Any]) -> str:
    """The file that the function was compiled from."""
    return function.__code__.co_filename


def function_place(function: Callable[..., Any]) -> Place:
    """The line of the method's `def`."""
    try:
        line = function_node(function).lineno
    except DefinitionError:
        line = function.__code__.co_firstlineno
    return Place(display_path(function.__module__, function_file(function)), line)


def place_in(function: Callable[..., Any], node: ast.AST) -> Place:
    """The place of a node of the function's syntax tree."""
    return Place(display_path(function.__module__, function_file(function)), getattr(node, "lineno", 0))


@functools.lru_cache(maxsize=64)
def module_tree(file: str) -> ast.Module:
    """The syntax tree of a file; raises OSError or SyntaxError where there is none."""
    lines = linecache.getlines(file)
    if not lines:
        raise OSError(f"no source for {file}")
    return ast.parse("".join(lines), file)


@functools.lru_cache(maxsize=64)
def _functions(file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    found: dict[tuple[str, int], ast.FunctionDef] = {}
    for node in ast.walk(module_tree(file)):
        if isinstance(node, ast.FunctionDef):
            firsts = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
            found[node.name, min(firsts)] = node
    return found


def function_node(function: Callable[..., Any]) -> ast.FunctionDef:
    """The syntax tree of the method; raises DefinitionError M001 where its source cannot be read."""
    code = function.__code__
    try:
        return _functions(code.co_filename)[code.co_name, code.co_firstlineno]
    except (*_READ, KeyError):
        write = "the model in an imported file, not at a prompt or under exec; after an edit, start again"
        raise DefinitionError(
            "M001",
            Place(display_path(function.__module__, code.co_filename), code.co_firstlineno),
            f"the source of {function.__qualname__} cannot be read there",
            "a def instead of the lambda" if code.co_name == "<lambda>" else write,
        ) from None


@functools.cache
def nodes_in(tree: ast.AST) -> tuple[ast.AST, ...]:
    """The tree and all inside it. It is walked once: a system's twins share most of their methods."""
    return tuple(ast.walk(tree))


@functools.cache
def parts_of(node: ast.AST) -> tuple[ast.AST, ...]:
    """What stands in the node itself, one level down."""
    return tuple(ast.iter_child_nodes(node))


def annotations_of(cls: type) -> dict[str, Any]:
    """The annotations that this very class statement carries, unresolved."""
    return inspect.get_annotations(cls)


@functools.cache
def names_annotated(cls: type) -> frozenset[str]:
    """The names that this very class statement annotates."""
    return frozenset(annotations_of(cls))


def _file_of(cls: type) -> str | None:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def class_nodes(cls: type) -> list[ast.ClassDef]:
    """Every class statement of that name in the same body of the file; empty where there is no source."""
    file = _file_of(cls)
    if file is None:
        return []
    try:
        body: list[ast.stmt] = module_tree(file).body
    except _READ:
        return []
    *outer, name = cls.__qualname__.split(".")
    for part in outer:
        if part != "<locals>":
            scopes = [n for n in body if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and n.name == part]
            body = scopes[0].body if scopes else []
    return [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]


def class_place(cls: type) -> Place:
    """The line of the class statement, as near as can be told."""
    nodes = class_nodes(cls)
    file = _file_of(cls)
    if nodes:
        return Place(display_path(cls.__module__, file or ""), nodes[0].lineno)
    for value in vars(cls).values():
        if isinstance(value, FunctionType):
            return function_place(value)
    return Place(display_path(cls.__module__, file) if file else cls.__module__)


def name_line(cls: type, name: str) -> Place:
    """The line at which the class body assigns or annotates the name, or the class itself."""
    for node in class_nodes(cls):
        for statement in node.body:
            if name in names_bound(statement):
                return Place(class_place(cls).file, statement.lineno)
    return class_place(cls)


def names_bound(statement: ast.stmt) -> list[str]:
    """The names that a statement of a class body defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def conjuncts(node: ast.expr) -> list[ast.expr]:
    """The conjuncts of a condition, in the order of evaluation."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [inner for value in node.values for inner in conjuncts(value)]
    return [node]


# --- what a name in a method stands for ----------------------------------------


def expression_text(node: ast.expr) -> str:
    """The expression in one line; a lone generator in a call is not put in parentheses of its own."""
    text = ast.unparse(node)
    for call in ast.walk(node):  # the outer before what is inside, so that each is found as it was printed
        if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
            inner, name = ast.unparse(call.args[0]), ast.unparse(call.func)
            if isinstance(call.args[0], ast.GeneratorExp):
                text = text.replace(f"{name}({inner})", f"{name}{inner}")
    return text


def named_object(function: Callable[..., Any], node: ast.expr) -> object:
    """What a plain or dotted name around the function stands for; None where it is a local or unknown."""
    if isinstance(node, ast.Name):
        if node.id in own_names(function):
            return None
        free = function.__code__.co_freevars
        if node.id in free:
            return _content((function.__closure__ or ())[free.index(node.id)])
        return function.__globals__.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = named_object(function, node.value)
        return getattr(owner, node.attr, None) if owner is not None and not isinstance(owner, type) else None
    return None


def own_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters and locals of the function."""
    return (*function.__code__.co_varnames, *function.__code__.co_cellvars)


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def self_name(function: Callable[..., Any]) -> str:
    """What the method calls its instance."""
    arguments = function_node(function).args
    return next((argument.arg for argument in (*arguments.posonlyargs, *arguments.args)), "self")


def helper_called(cls: type, function: Callable[..., Any], node: ast.Attribute) -> FunctionType | None:
    """The method that `self.name`, `before.name` or `super().name` stands for in that function."""
    match node.value:
        case ast.Name(id=name) if name in (self_name(function), "before"):
            found = getattr(cls, node.attr, None)
        case ast.Call(func=ast.Name(id="super"), args=[]):
            found = next(_above(cls, function, node.attr), None)
        case _:
            return None
    return found if isinstance(found, FunctionType) else None


def _above(cls: type, function: Callable[..., Any], name: str) -> Iterator[object]:
    classes = list(cls.__mro__)
    own = (i for i, k in enumerate(classes) if any(value is function for value in vars(k).values()))
    for k in classes[next(own, len(classes)) + 1 :]:
        if name in vars(k):
            yield vars(k)[name]
