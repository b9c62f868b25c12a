"""Calls of the subset, lowered: guards, the words of predicates, own helpers inlined, records, and what loops run over."""

from __future__ import annotations

import ast
import dataclasses
import enum
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from falsework import language
from falsework.definition_checks import helper_called, named_object
from falsework.domains import MapOf, SeqOf, SetOf
from falsework.ir import Node
from falsework.lower_context import Frame
from falsework.lower_expressions import BoundMethod, Expressions
from falsework.lower_values import (
    Inst,
    Items,
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
from falsework.source import function_node
from falsework.values import Record

Element = tuple[Callable[[], Node], Callable[[], Value]]
"""One thing that a loop may meet: whether it is there, and what it is, both read when the loop comes to it."""


class Calls(Expressions):
    """Evaluates calls; the statements of inlined methods are run by `body`, which the next layer supplies."""

    def body(self, statements: list[ast.stmt]) -> Node:
        """Runs the statements; answers whether control goes on after them."""
        raise AssertionError("supplied by Statements")

    def _call(self, node: ast.Call) -> Value:
        frame = self.frames[-1]
        if isinstance(node.func, ast.Attribute):
            helper = helper_called(self.definition.cls, frame.function, node.func)
            if isinstance(node.func.value, ast.Call) and helper is not None:  # super().name(…)
                own_name = next(iter(frame.function.__code__.co_varnames))
                return self.inline(helper, [frame.locals[own_name]], node)
            return self._method(node, node.func)
        known = named_object(frame.function, node.func)
        word = getattr(self, f"word_{known.__name__}", None) if callable(known) and hasattr(known, "__name__") else None
        if word is not None and known in _WORDS:
            self._arity(known, node)
            result: Value = word(node)
            return result
        if isinstance(known, type) and issubclass(known, Record):
            return self._record(known, node)
        if isinstance(known, FunctionType) and not known.__module__.startswith("falsework.language"):
            return self.inline(known, [], node)
        raise self.refuse(node, "P003", f"the call {ast.unparse(node)}", "an own helper, or any all sum min max len first count abs implies …")

    def _arity(self, known: Any, node: ast.Call) -> None:
        least, most = {language.implies: (2, 2), language.disabled: (0, 0), min: (1, 99), max: (1, 99)}.get(known, (1, 1))
        named = {k.arg for k in node.keywords}
        allowed = {"default"} if known in (min, max) and len(node.args) == 1 else set()
        odd = set() if known is language.replace else named - allowed
        if not least <= len(node.args) <= most or odd or None in named:
            raise self.refuse(node, "P003", f"the arguments of {ast.unparse(node)}", f"the plain form of {known.__name__}")

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value:
        owner = self.value(func.value)
        if isinstance(owner, Inst):
            bound = self._of_model(owner.state, func)
            if isinstance(bound, Py) and isinstance(bound.thing, BoundMethod):
                return self.inline(bound.thing.function, [bound.thing.owner], node)
        if isinstance(owner, Ref):
            return self.change(owner, func.attr, node)
        raise self.refuse(node, "P003", f"the call {ast.unparse(node)}", "a method of the model or of one of its collections")

    def change(self, owner: Ref, name: str, node: ast.Call) -> Value:
        """A method of a collection that changes it."""
        raise AssertionError("supplied by Statements")

    # --- inlining

    def inline(self, function: Callable[..., Any], leading: list[Value], node: ast.Call) -> Value:
        """The call, its body run here with its own locals."""
        if any(frame.function is function for frame in self.frames):
            raise self.refuse(node, "P003", f"{function.__name__} calls itself", "a loop over a finite domain")
        arguments = [*leading, *(self.value(argument) for argument in node.args)]
        keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        return self.run(function, arguments, keywords, node)

    def run(self, function: Callable[..., Any], arguments: list[Value], keywords: dict[str, Value], node: ast.AST | None = None) -> Value:
        """The function's answer for these arguments."""
        tree = function_node(function)
        names = [argument.arg for argument in tree.args.args]
        locals_ = dict(zip(names, arguments, strict=False)) | keywords
        defaults = function.__defaults__ or ()
        for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            locals_.setdefault(name, constant(self.pool, default))
        missing = [name for name in names if name not in locals_]
        if node is not None and (missing or len(arguments) > len(names) or set(keywords) - set(names)):
            raise self.refuse(node, "P003", f"the arguments of {ast.unparse(node)}", f"{function.__name__}({', '.join(names)})")
        frame = Frame(function, locals_, len(self.conditions))
        self.frames.append(frame)
        alive = self.body(tree.body)
        self.frames.pop()
        self.impossible = alive is self.dead and not frame.returned
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
        given |= {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        for f in fields:
            if f.name not in given:
                if f.default is dataclasses.MISSING:
                    raise self.refuse(node, "P003", f"{ast.unparse(node)} leaves out {f.name}", f"{cls.__name__}(…, {f.name}=…)")
                given[f.name] = constant(self.pool, f.default)
        if len(given) != len(fields):
            raise self.refuse(node, "P003", f"the arguments of {ast.unparse(node)}", ", ".join(f.name for f in fields))
        return Rec(cls, {f.name: given[f.name] for f in fields})

    # --- guards and words

    def word_require(self, node: ast.Call) -> Value:
        self.require(self.test(node.args[0]), node)
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
            self.premises.append((node.lineno, node.col_offset, self.pool.and_(self.path(), premise)))
        return Num(self.pool.implies(premise, conclusion))

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
        if isinstance(owner, Py) and isinstance(owner.thing, (range, tuple, dict, frozenset, type(enum.Enum))):
            return Num(self.pool.const(len(owner.thing)))  # type: ignore[arg-type]
        raise self.refuse(node, "P003", f"the length of {kind(owner)}", "len of a Map, a Set, a Seq or a tuple")

    def word_bool(self, node: ast.Call) -> Value:
        return Num(self.test(node.args[0]))

    def word_int(self, node: ast.Call) -> Value:
        return self.number(self.value(node.args[0]), node.args[0])

    def word_abs(self, node: ast.Call) -> Value:
        number = self.number(self.value(node.args[0]), node.args[0]).node
        negative = self.pool.mul(number, self.pool.const(-1))
        return Num(self.pool.ite(self.pool.lt(number, self.pool.false), negative, number))

    # --- words over many

    def word_any(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        self.each(node.args[0], lambda there, item, at: parts.append(self.pool.and_(there, self.truth(item, at))),
                  lambda: self.pool.not_(self.pool.or_(*parts)))
        return Num(self.pool.or_(*parts))

    def word_all(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        self.each(node.args[0], lambda there, item, at: parts.append(self.pool.implies(there, self.truth(item, at))),
                  lambda: self.pool.and_(*parts))
        return Num(self.pool.and_(*parts))

    def word_sum(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        zero = self.pool.false
        self.each(node.args[0], lambda there, item, at: parts.append(self.pool.ite(there, self.number(item, at).node, zero)))
        return Num(self.pool.add(*parts))

    def word_count(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        self.each(node.args[0], lambda there, item, at: parts.append(self.pool.and_(there, self.truth(item, at))))
        return Num(self.pool.add(*parts))

    def word_first(self, node: ast.Call) -> Value:
        found: list[tuple[Node, Value]] = []
        self.each(node.args[0], lambda there, item, at: found.append((there, item)),
                  lambda: self.pool.not_(self.pool.or_(*(there for there, _ in found))))
        result: Value = Option(self.pool.false, None)
        try:
            for there, item in reversed(found):
                result = choose(self.pool, there, item if isinstance(item, Option) else Option(self.pool.true, item), result)
        except Mismatch as problem:
            raise self.mixed(node, problem) from None
        return result

    def word_min(self, node: ast.Call) -> Value:
        return self._least(node, lambda a, b: self.pool.lt(a, b))

    def word_max(self, node: ast.Call) -> Value:
        return self._least(node, lambda a, b: self.pool.lt(b, a))

    def _least(self, node: ast.Call, better: Callable[[Node, Node], Node]) -> Value:
        """The best of several numbers; of none the default, or a fault."""
        pool = self.pool
        found: list[tuple[Node, Node]] = []
        if len(node.args) > 1:
            found = [(pool.true, self.number(self.value(a), a).node) for a in node.args]
        else:
            self.each(node.args[0], lambda there, item, at: found.append((there, self.number(item, at).node)))
        some = pool.or_(*(there for there, _ in found))
        defaults = [k.value for k in node.keywords if k.arg == "default"]
        if not defaults:
            self.fault(pool.not_(some), node, f"{ast.unparse(node)} of nothing")
        best, any_yet = pool.false, pool.false
        for there, number in found:
            wins = pool.and_(there, pool.or_(pool.not_(any_yet), better(number, best)))
            best = number if any_yet is pool.false and there is pool.true else pool.ite(wins, number, best)
            any_yet = pool.or_(any_yet, there)
        if defaults and some is not pool.true:
            best = pool.ite(some, best, self.number(self.value(defaults[0]), defaults[0]).node)
        return Num(best)

    # --- what loops run over

    def each(
        self, node: ast.expr, visit: Callable[[Node, Value, ast.expr], object], going: Callable[[], Node] | None = None
    ) -> None:
        """Visits every element of a generator expression or an iterable, with the condition under which it is there.

        `going` is the condition under which the walk has not stopped yet; what it rules out is not looked at.
        """
        self.conditional += 1
        saved = dict(self.frames[-1].locals)
        if isinstance(node, ast.GeneratorExp):
            self._nested(node, 0, [], visit, going)
        else:
            for there, thing in self.elements(node):
                self._under(self.simplify(there()), going, lambda here, thing=thing: visit(here, thing(), node), [])  # type: ignore[misc]
        self.frames[-1].locals = saved
        self.conditional -= 1

    def _nested(
        self, node: ast.GeneratorExp, depth: int, there: list[Node], visit: Callable[[Node, Value, ast.expr], object],
        going: Callable[[], Node] | None,
    ) -> None:  # fmt: skip
        if depth == len(node.generators):
            visit(self.pool.and_(*there), self.value(node.elt), node.elt)
            return
        part = node.generators[depth]
        for present, thing in self.elements(part.iter):

            def enter(here: Node, thing: Callable[[], Value] = thing) -> None:
                self.bind(part.target, thing())
                self._filtered(node, depth, list(part.ifs), [*there, here], visit, going)

            self._under(self.simplify(present()), going, enter, there)

    def _filtered(
        self, node: ast.GeneratorExp, depth: int, tests: list[ast.expr], there: list[Node],
        visit: Callable[[Node, Value, ast.expr], object], going: Callable[[], Node] | None,
    ) -> None:  # fmt: skip
        if not tests:
            self._nested(node, depth + 1, there, visit, going)
            return
        condition = self.test(tests[0])
        if condition is not self.pool.false:
            with self.assuming(condition):
                self._filtered(node, depth, tests[1:], [*there, condition], visit, going)

    def _under(self, here: Node, going: Callable[[], Node] | None, enter: Callable[[Node], object], there: list[Node]) -> None:
        if here is self.pool.false:
            return
        on = self.simplify(going()) if going is not None else self.pool.true
        if on is self.pool.false:
            return
        with self.assuming(here), self.assuming(on):
            enter(here)

    def bind(self, target: ast.expr, value: Value) -> None:
        """The loop's names stand for the element."""
        if isinstance(target, ast.Name):
            self.frames[-1].locals[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, Tup) and len(target.elts) == len(value.items):
            for part, item in zip(target.elts, value.items, strict=True):
                self.bind(part, item)
        else:
            raise self.refuse(target, "P001", f"the target {ast.unparse(target)}", "a name, or a tuple of names of the same length")

    def elements(self, node: ast.expr) -> Iterator[Element]:
        """What a loop over the expression meets, in order."""
        always = self.pool.true
        called = self._called_elements(node) if isinstance(node, ast.Call) else None
        if called is not None:
            yield from called
            return
        match thing := self.value(node):
            case Ref(_, _, MapOf(key, _)):
                for value in self.domain_values(key):
                    yield (lambda: always), (lambda value=value: value)  # type: ignore[misc]
            case Ref(state, name, SetOf(key)):
                for place, value in enumerate(self.domain_values(key)):
                    yield (lambda place=place: state.cells[name][place]), (lambda value=value: value)  # type: ignore[misc]
            case Ref(state, name, SeqOf()):
                for place in range(len(state.cells[name].slots)):
                    yield (lambda place=place: self._there(state.cells[name], place)), (lambda place=place: state.cells[name].slots[place])  # type: ignore[misc]
            case Tup(items):
                for item in items:
                    yield (lambda: always), (lambda item=item: item)  # type: ignore[misc]
            case Py(range() | tuple() as many):
                for one in many:
                    yield (lambda: always), (lambda one=one: constant(self.pool, one))  # type: ignore[misc]
            case Py(thing) if isinstance(thing, type) and issubclass(thing, enum.Enum):
                for one in thing:
                    yield (lambda: always), (lambda one=one: constant(self.pool, one))  # type: ignore[misc]
            case _:
                raise self.refuse(node, "P006", f"a loop over {kind(thing)}", "range, an Enum, a Map, a Set, a Seq or a tuple")

    def _there(self, content: Items, place: int) -> Node:
        return self.pool.lt(self.pool.const(place), content.length)

    def _called_elements(self, node: ast.Call) -> Iterator[Element] | None:
        """What range, enumerate, keys, values and items meet; None for any other call."""
        known = named_object(self.frames[-1].function, node.func)
        if known is range:
            return self._range(node)
        if known is enumerate and len(node.args) == 1 and not node.keywords:
            return self._enumerated(node.args[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "values", "items"):
            owner = self.value(node.func.value)
            if isinstance(owner, Ref) and isinstance(owner.domain, MapOf):
                return self._map_elements(owner, owner.domain, node.func.attr)
        return None

    def _enumerated(self, node: ast.expr) -> Iterator[Element]:
        position = self.pool.false
        for there, thing in self.elements(node):
            if self.simplify(there()) is not self.pool.true and not self._prefix(node):
                raise self.refuse(node, "P006", f"enumerate({ast.unparse(node)})", "enumerate of a Seq, a Map, an Enum or a range")
            number = Num(position)
            yield there, (lambda number=number, thing=thing: Tup((number, thing())))  # type: ignore[misc]
            position = self.pool.add(position, self.pool.true)

    def _prefix(self, node: ast.expr) -> bool:
        """Whether the elements that are there are always the first ones."""
        if isinstance(node, ast.Call):
            return named_object(self.frames[-1].function, node.func) is range
        owner = self.value(node)
        return isinstance(owner, Ref) and isinstance(owner.domain, SeqOf)

    def _map_elements(self, owner: Ref, domain: MapOf, what: str) -> Iterator[Element]:
        always, state, name = self.pool.true, owner.state, owner.name
        for place, key in enumerate(self.domain_values(domain.key)):
            if what == "keys":
                yield (lambda: always), (lambda key=key: key)  # type: ignore[misc]
            elif what == "values":
                yield (lambda: always), (lambda place=place: state.cells[name][place])  # type: ignore[misc]
            else:
                yield (lambda: always), (lambda place=place, key=key: Tup((key, state.cells[name][place])))  # type: ignore[misc]

    def _range(self, node: ast.Call) -> Iterator[Element]:
        ends = [self.number(self.value(a), a).node for a in node.args]
        start, stop = (self.pool.false, ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        if len(ends) > 2 or not start.constant:
            raise self.refuse(node, "P006", f"the range {ast.unparse(node)}", "range(stop), or range(start, stop) from a constant")
        for value in range(start.value, self.facts.span(stop)[1]):
            number = constant(self.pool, value)
            yield (lambda value=value: self.pool.lt(self.pool.const(value), stop)), (lambda number=number: number)  # type: ignore[misc]


_WORDS = (
    language.require, language.bound, language.disabled, language.given, language.implies, language.replace, language.first,
    language.count, language.elapse, any, all, sum, min, max, len, abs, bool, int,
)  # fmt: skip
