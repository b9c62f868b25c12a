"""Where a class and its methods stand in source, and their syntax trees."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from falsework.errors import DefinitionError, Place


def display_path(module_name: str, file: str) -> str:
    """The path that is printed: of a module inside a package its dotted path, else relative to the working folder."""
    module = sys.modules.get(module_name)
    spec = getattr(module, "__spec__", None)
    if spec is not None and "." in module_name:
        name = module_name.replace(".", "/")
        return f"{name}/__init__.py" if os.path.basename(file) == "__init__.py" else f"{name}.py"
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def display_file(file: str) -> str:
    """The printed path of a file, through the module that was loaded from it."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == file and name != "__main__":
            return display_path(name, file)
    return display_path("", file)


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
    except (OSError, SyntaxError, KeyError):
        place = Place(display_path(function.__module__, code.co_filename), code.co_firstlineno)
        raise DefinitionError(
            "M001",
            place,
            f"the source of {function.__qualname__} cannot be read there",
            "the model in a file of its own, and start again after editing it",
        ) from None


def class_nodes(cls: type) -> list[ast.ClassDef]:
    """Every class statement of that name at the same nesting in the class's file; empty where there is no source."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if file is None or "<locals>" in cls.__qualname__:
        return []
    try:
        body: list[ast.stmt] = module_tree(file).body
    except (OSError, SyntaxError):
        return []
    *outer, name = cls.__qualname__.split(".")
    for part in outer:
        inside = [node for node in body if isinstance(node, ast.ClassDef) and node.name == part]
        body = inside[0].body if inside else []
    return [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]


def class_place(cls: type) -> Place:
    """The line of the class statement, as near as can be told."""
    nodes = class_nodes(cls)
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if nodes:
        return Place(display_path(cls.__module__, file or ""), nodes[0].lineno)
    for value in vars(cls).values():
        if isinstance(value, FunctionType):
            place = function_place(value)
            return Place(place.file, place.line)
    return Place(display_path(cls.__module__, file) if file else cls.__module__)


def name_line(cls: type, name: str) -> Place:
    """The line at which the class body assigns or annotates the name, or the class itself."""
    for node in class_nodes(cls):
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                    return Place(class_place(cls).file, statement.lineno)
                case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                    return Place(class_place(cls).file, statement.lineno)
                case ast.FunctionDef(name=found) if found == name:
                    return Place(class_place(cls).file, statement.lineno)
    return class_place(cls)
