"""Calls of the subset, lowered: guards, own helpers inlined, records, and the words that take one value."""

from __future__ import annotations

import ast
import dataclasses
import enum
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import FunctionType
from typing import Any

from falsework import language
from falsework.definition_checks import helper_called, named_object
from falsework.errors import DefinitionError
from falsework.ir import Node
from falsework.lower_context import Frame
from falsework.lower_expressions import BoundMethod
from falsework.lower_loops import Loops
from falsework.lower_values import (
    Inst,
    Mismatch,
    Num,
    Option,
    Py,
    Rec,
    Ref,
    Tup,
    Value,
    choose,
    constant,
    kind,
)
from falsework.source import conjuncts, function_file, function_node
from falsework.values import Record


class Calls(Loops, ABC):
    """Evaluates calls; the statements of inlined methods are run by `body`, which the next layer supplies."""

    @abstractmethod
    def body(self, statements: list[ast.stmt]) -> Node:
        """Runs the statements; answers whether control goes on after them."""

    def _call(self, node: ast.Call) -> Value:
        frame = self.frames[-1]
        if isinstance(node.func, ast.Attribute):
            helper = helper_called(self.definition.cls, frame.function, node.func)
            if isinstance(node.func.value, ast.Call) and helper is not None:  # super().name(…)
                own_name = next(iter(frame.function.__code__.co_varnames))
                return self.inline(helper, [frame.locals[own_name]], node)
            return self._method(node, node.func)
        called = isinstance(node.func, ast.Name) and node.func.id in frame.locals
        known = None if called else named_object(frame.function, node.func)
        word = (
            getattr(self, f"word_{known.__name__}", None)
            if callable(known) and hasattr(known, "__name__")
            else None
        )
        if word is not None and known in _WORDS:
            self._arity(known, node)
            result: Value = word(node)
            return result
        if isinstance(known, type) and issubclass(known, Record):
            return self._record(known, node)
        if isinstance(known, FunctionType) and not known.__module__.startswith("falsework.language"):
            return self.inline(known, [], node)
        raise self.refuse(
            node,
            "P003",
            f"the call {ast.unparse(node)}",
            "an own helper, or any all sum min max len first count abs implies …",
        )

    def _arity(self, known: Any, node: ast.Call) -> None:
        least, most = {language.implies: (2, 2), language.disabled: (0, 0), min: (1, 99), max: (1, 99)}.get(
            known, (1, 1)
        )
        named = {k.arg for k in node.keywords}
        allowed = {"default"} if known in (min, max) and len(node.args) == 1 else set()
        odd = set() if known is language.replace else named - allowed
        if not least <= len(node.args) <= most or odd or None in named:
            raise self.refuse(
                node, "P003", f"the arguments of {ast.unparse(node)}", f"the plain form of {known.__name__}"
            )

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value:
        owner = self.value(func.value)
        if isinstance(owner, Inst):
            bound = self._of_model(owner.state, func)
            if isinstance(bound, Py) and isinstance(bound.thing, BoundMethod):
                return self.inline(bound.thing.function, [bound.thing.owner], node)
        if isinstance(owner, Ref):
            return self.change(owner, func.attr, node)
        raise self.refuse(
            node,
            "P003",
            f"the call {ast.unparse(node)}",
            "a method of the model or of one of its collections",
        )

    @abstractmethod
    def change(self, owner: Ref, name: str, node: ast.Call) -> Value:
        """A method of a collection that changes it."""

    # --- inlining

    def inline(self, function: Callable[..., Any], leading: list[Value], node: ast.Call) -> Value:
        """The call, its body run here with its own locals."""
        if any(frame.function is function for frame in self.frames):
            raise self.refuse(
                node, "P003", f"{function.__name__} calls itself", "a loop over a finite domain"
            )
        try:
            function_node(function)
        except DefinitionError:
            write = "a function under a def of its own in a file"
            raise self.refuse(node, "P003", f"{function.__name__}, which has no source", write) from None
        arguments = [*leading, *(self.value(argument) for argument in node.args)]
        return self.run(function, arguments, self.keywords(node), node)

    def keywords(self, node: ast.Call) -> dict[str, Value]:
        """The arguments given by name."""
        if any(k.arg is None for k in node.keywords):
            raise self.refuse(node, "P003", f"the arguments of {ast.unparse(node)}", "each one by its name")
        return {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}

    def run(
        self,
        function: Callable[..., Any],
        arguments: list[Value],
        keywords: dict[str, Value],
        node: ast.AST | None = None,
    ) -> Value:
        """The function's answer for these arguments."""
        tree = self.edited.get(function) or function_node(function)
        names = [argument.arg for argument in tree.args.args]
        locals_ = dict(zip(names, arguments, strict=False)) | keywords
        defaults = function.__defaults__ or ()
        for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            locals_.setdefault(name, constant(self.pool, default))
        missing = [name for name in names if name not in locals_]
        odd = len(arguments) > len(names) or set(keywords) - set(names[len(arguments) :])
        if node is not None and (missing or odd):
            raise self.refuse(
                node,
                "P003",
                f"the arguments of {ast.unparse(node)}",
                f"{function.__name__}({', '.join(names)})",
            )
        frame = Frame(function, locals_, len(self.conditions))
        self.frames.append(frame)
        alive = self.body(tree.body)
        self.frames.pop()
        if alive is self.dead and not frame.returned and self.frames:
            self.end_way()
        ends = frame.returned
        if alive not in (self.dead, self.pool.false) or not ends:
            ends = [*ends, (alive, Option(self.pool.false, None))]
        found = ends[-1][1]
        for condition, value in reversed(ends[:-1]):
            try:
                found = choose(self.pool, condition, value, found)
            except Mismatch as problem:
                raise self.mixed(node or tree, problem) from None
        return found

    def _record(self, cls: type[Record], node: ast.Call) -> Value:
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        given = dict(zip((f.name for f in fields), (self.value(a) for a in node.args), strict=False))
        by_name = self.keywords(node)
        if len(node.args) > len(fields) or set(by_name) & set(given):
            names = ", ".join(f.name for f in fields)
            raise self.refuse(node, "P003", f"the arguments of {ast.unparse(node)}", names)
        given |= by_name
        for f in fields:
            if f.name not in given:
                if f.default is dataclasses.MISSING:
                    raise self.refuse(
                        node,
                        "P003",
                        f"{ast.unparse(node)} leaves out {f.name}",
                        f"{cls.__name__}(…, {f.name}=…)",
                    )
                given[f.name] = constant(self.pool, f.default)
        if len(given) != len(fields):
            raise self.refuse(
                node, "P003", f"the arguments of {ast.unparse(node)}", ", ".join(f.name for f in fields)
            )
        return Rec(cls, {f.name: given[f.name] for f in fields})

    # --- guards and words

    def word_require(self, node: ast.Call) -> Value:
        """Each conjunct is a guard of its own; those after one that is never true are not looked at."""
        for part in conjuncts(node.args[0]):
            self.require(self.test(part), part)
        return constant(self.pool, None)

    def word_bound(self, node: ast.Call) -> Value:
        self.require(self.test(node.args[0]), node, "bound")
        return constant(self.pool, None)

    def word_disabled(self, node: ast.Call) -> Value:
        self.require(self.pool.false, node)
        return constant(self.pool, None)

    def word_given(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        if not isinstance(value, Option):
            return value
        self.require(value.present, node)
        return value.inner if value.inner is not None else value

    def word_implies(self, node: ast.Call) -> Value:
        premise, conclusion = self.test(node.args[0]), self.test(node.args[1])
        if self.judging:
            site = (function_file(self.frames[-1].function), node.lineno, node.col_offset)
            self.premises.append((site, self.pool.and_(self.path(), premise)))
        return Num(self.pool.implies(premise, conclusion), flag=True)

    def word_replace(self, node: ast.Call) -> Value:
        owner = self.value(node.args[0])
        if isinstance(owner, Option) and owner.inner is not None:
            self.fault(self.pool.not_(owner.present), node, f"{ast.unparse(node.args[0])} is None here")
            owner = owner.inner
        changes = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        if not isinstance(owner, Rec) or set(changes) - set(owner.fields):
            raise self.refuse(node, "P003", f"the call {ast.unparse(node)}", "replace(record, field=…)")
        return Rec(owner.cls, {**owner.fields, **changes})

    def word_len(self, node: ast.Call) -> Value:
        owner = self.value(node.args[0])
        if isinstance(owner, Ref):
            return Num(self.size_of(owner))
        if isinstance(owner, Tup):
            return Num(self.pool.const(len(owner.items)))
        if isinstance(owner, Py) and isinstance(
            owner.thing, (range, tuple, dict, frozenset, type(enum.Enum))
        ):
            return Num(self.pool.const(len(owner.thing)))
        raise self.refuse(
            node, "P003", f"the length of {kind(owner)}", "len of a Map, a Set, a Seq or a tuple"
        )

    def word_bool(self, node: ast.Call) -> Value:
        return Num(self.test(node.args[0]), flag=True)

    def word_int(self, node: ast.Call) -> Value:
        return self.plain(self.value(node.args[0]), node.args[0])

    def word_abs(self, node: ast.Call) -> Value:
        number = self.number(self.value(node.args[0]), node.args[0]).node
        negative = self.pool.mul(number, self.pool.const(-1))
        return Num(self.pool.ite(self.pool.lt(number, self.pool.false), negative, number))


_WORDS = (
    *(language.require, language.bound, language.disabled, language.given, language.elapse),
    *(language.implies, language.replace, language.first, language.count),
    *(any, all, sum, min, max, len, abs, bool, int),
)
