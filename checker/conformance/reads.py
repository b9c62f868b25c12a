"""Which variables a predicate reads: more rather than fewer, so that what is called observable is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from falsework.definition import Definition, Property
from falsework.definition_checks import helper_called
from falsework.source import function_node


def reads(definition: Definition, prop: Property) -> frozenset[str]:
    """Every variable that the predicate can read, through its helpers too, of both its states."""
    found: set[str] = set()
    walker = _Reader(definition, found)
    walker.function(prop.function, {"before"} if "before" in prop.arguments else set())
    return frozenset(found)


class _Reader:
    def __init__(self, definition: Definition, found: set[str]) -> None:
        self.definition = definition
        self.variables = {variable.name for variable in definition.variables}
        self.found = found
        self.seen: set[Callable[..., Any]] = set()

    def function(self, function: Callable[..., Any], others: set[str]) -> None:
        """Adds what the function reads through its first parameter and through the other names of a state."""
        if function in self.seen:
            return
        self.seen.add(function)
        node = function_node(function)
        states = {node.args.args[0].arg, *others} if node.args.args else set(others)
        attributes = [n for n in ast.walk(node) if isinstance(n, ast.Attribute)]
        owned = {id(n.value) for n in attributes if isinstance(n.value, ast.Name) and n.value.id in states}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in states and id(inner) not in owned:
                self.found |= (
                    self.variables
                )  # a whole state is handed on: whatever happens to it may read anything
        for attribute in attributes:
            self._attribute(function, attribute, owned)

    def _attribute(self, function: Callable[..., Any], node: ast.Attribute, owned: set[int]) -> None:
        if id(node.value) in owned and node.attr in self.variables:
            self.found.add(node.attr)
            return
        helper = helper_called(self.definition.cls, function, node)
        if helper is None and id(node.value) in owned:
            helper = getattr(self.definition.cls, node.attr, None)
        if callable(helper) and hasattr(helper, "__code__"):
            self.function(helper, set())
