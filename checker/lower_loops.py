"""Loops of the subset, lowered: what they run over, and the words that fold many values into one."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from falsework.definition_checks import named_object
from falsework.domains import MapOf, SeqOf, SetOf
from falsework.ir import LARGEST, Node
from falsework.lower_expressions import Expressions
from falsework.lower_values import (
    Items,
    Mismatch,
    Num,
    Option,
    Py,
    Ref,
    Tup,
    Value,
    choose,
    constant,
    kind,
)

Visit = Callable[[Node, Value, ast.expr], object]
"""What is done with an element: the condition under which it is there, the element, and its expression."""
Going = Callable[[], Node] | None
"""The condition under which a walk has not stopped yet; what it rules out is not looked at."""
Element = tuple[Callable[[], Node], Callable[[], Value]]
"""What a loop may meet: whether it is there, and what it is, both read when the loop comes to it."""

MOST_ROUNDS = 10_000
"""A loop is unrolled, so a longer one is refused."""


def still(thing: Any) -> Callable[[], Any]:
    """Something that does not change while the loop runs."""
    return lambda: thing


class Loops(Expressions):
    """Walks over collections, generators and ranges, unrolled."""

    # --- walks

    def each(self, node: ast.expr, visit: Visit, going: Going = None) -> None:
        """Every element of a generator expression or an iterable is visited in order."""
        self.conditional += 1
        saved = dict(self.frames[-1].locals)
        if isinstance(node, ast.GeneratorExp):
            self._nested(node, 0, [], visit, going)
        else:
            for there, thing in self.elements(node):
                self._under(self.simplify(there()), going, partial(self._visit, visit, thing, node))
        self.frames[-1].locals = saved
        self.conditional -= 1

    def _visit(self, visit: Visit, thing: Callable[[], Value], node: ast.expr, here: Node) -> None:
        visit(here, thing(), node)

    def _nested(
        self, node: ast.GeneratorExp, depth: int, there: list[Node], visit: Visit, going: Going
    ) -> None:
        if depth == len(node.generators):
            visit(self.pool.and_(*there), self.value(node.elt), node.elt)
            return
        part = node.generators[depth]
        for present, thing in self.elements(part.iter):

            def enter(here: Node, thing: Callable[[], Value] = thing) -> None:
                self.bind(part.target, thing())
                self._filtered(node, depth, list(part.ifs), [*there, here], visit, going)

            self._under(self.simplify(present()), going, enter)

    def _filtered(
        self,
        node: ast.GeneratorExp,
        depth: int,
        tests: list[ast.expr],
        there: list[Node],
        visit: Visit,
        going: Going,
    ) -> None:
        if not tests:
            self._nested(node, depth + 1, there, visit, going)
            return
        condition = self.test(tests[0])
        if condition is not self.pool.false:
            with self.assuming(condition):
                self._filtered(node, depth, tests[1:], [*there, condition], visit, going)

    def _under(self, here: Node, going: Going, enter: Callable[[Node], object]) -> None:
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
        elif (
            isinstance(target, ast.Tuple) and isinstance(value, Tup) and len(target.elts) == len(value.items)
        ):
            for part, item in zip(target.elts, value.items, strict=True):
                self.bind(part, item)
        else:
            write = "a name, or a tuple of names of the same length"
            raise self.refuse(target, "P001", f"the target {ast.unparse(target)}", write)

    # --- what there is to walk over

    def elements(self, node: ast.expr) -> Iterator[Element]:
        """What a loop over the expression meets, in order."""
        called = self._called_elements(node) if isinstance(node, ast.Call) else None
        if called is not None:
            yield from called
            return
        always = still(self.pool.true)
        match thing := self.value(node):
            case Ref(_, _, MapOf(key, _)):
                yield from ((always, still(value)) for value in self.domain_values(key))
            case Ref(_, _, SetOf(key)):
                for place, value in enumerate(self.domain_values(key)):
                    yield partial(self._cell, thing, place), still(value)
            case Ref(_, _, SeqOf()):
                for place in range(len(thing.state.cells[thing.name].slots)):
                    yield partial(self._there, thing, place), partial(self._item, thing, place)
            case Tup(items):
                yield from ((always, still(item)) for item in items)
            case Py(range() | tuple() as many):
                yield from ((always, still(constant(self.pool, one))) for one in many)
            case Py(cls) if isinstance(cls, type) and issubclass(cls, enum.Enum):
                yield from ((always, still(constant(self.pool, one))) for one in cls)
            case _:
                write = "range, an Enum, a Map, a Set, a Seq or a tuple"
                raise self.refuse(node, "P006", f"a loop over {kind(thing)}", write)

    def _cell(self, owner: Ref, place: int) -> Any:
        return owner.state.cells[owner.name][place]

    def _item(self, owner: Ref, place: int) -> Value:
        content: Items = owner.state.cells[owner.name]
        return content.slots[place]

    def _there(self, owner: Ref, place: int) -> Node:
        content: Items = owner.state.cells[owner.name]
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
        for position, (there, thing) in enumerate(self.elements(node)):
            if self.simplify(there()) is not self.pool.true and not self._prefix(node):
                write = "enumerate of a Seq, a Map, an Enum or a range"
                raise self.refuse(node, "P006", f"enumerate({ast.unparse(node)})", write)
            yield there, partial(self._numbered, position, thing)

    def _numbered(self, position: int, thing: Callable[[], Value]) -> Value:
        return Tup((constant(self.pool, position), thing()))

    def _prefix(self, node: ast.expr) -> bool:
        """Whether the elements that are there are always the first ones."""
        if isinstance(node, ast.Call):
            return named_object(self.frames[-1].function, node.func) is range
        owner = self.value(node)
        return isinstance(owner, Ref) and isinstance(owner.domain, SeqOf)

    def _map_elements(self, owner: Ref, domain: MapOf, what: str) -> Iterator[Element]:
        always = still(self.pool.true)
        for place, key in enumerate(self.domain_values(domain.key)):
            read = partial(self._cell, owner, place)
            reads: dict[str, Callable[[], Value]] = {"keys": still(key), "values": read}
            reads["items"] = partial(self._pair, key, read)
            yield always, reads[what]

    def _pair(self, key: Value, read: Callable[[], Value]) -> Value:
        return Tup((key, read()))

    def _range(self, node: ast.Call) -> Iterator[Element]:
        ends = [self.number(self.value(a), a).node for a in node.args]
        start, stop = (self.pool.false, ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        if len(ends) > 2 or not start.constant:
            write = "range(stop), or range(start, stop) from a constant"
            raise self.refuse(node, "P006", f"the range {ast.unparse(node)}", write)
        rounds = range(start.value, self.facts.span(stop)[1])
        if (longest := rounds.stop - rounds.start) > MOST_ROUNDS:
            many = "no end" if longest > LARGEST else f"up to {longest} rounds"
            write = f"a range of at most {MOST_ROUNDS} rounds"
            raise self.refuse(node, "P006", f"{ast.unparse(node)} of {many}", write)
        for value in rounds:
            number = self.pool.const(value)
            yield partial(self.pool.lt, number, stop), still(Num(number))

    # --- words over many

    def word_any(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        self.each(
            node.args[0],
            lambda there, item, at: parts.append(self.pool.and_(there, self.truth(item, at))),
            lambda: self.pool.not_(self.pool.or_(*parts)),
        )
        return Num(self.pool.or_(*parts), flag=True)

    def word_all(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        self.each(
            node.args[0],
            lambda there, item, at: parts.append(self.pool.implies(there, self.truth(item, at))),
            lambda: self.pool.and_(*parts),
        )
        return Num(self.pool.and_(*parts), flag=True)

    def word_sum(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        zero = self.pool.false
        self.each(
            node.args[0],
            lambda there, item, at: parts.append(self.pool.ite(there, self.number(item, at).node, zero)),
        )
        return Num(self.pool.add(*parts))

    def word_count(self, node: ast.Call) -> Value:
        parts: list[Node] = []
        self.each(
            node.args[0], lambda there, item, at: parts.append(self.pool.and_(there, self.truth(item, at)))
        )
        return Num(self.pool.add(*parts))

    def word_first(self, node: ast.Call) -> Value:
        found: list[tuple[Node, Value]] = []
        self.each(
            node.args[0],
            lambda there, item, _: found.append((there, item)),
            lambda: self.pool.not_(self.pool.or_(*(there for there, _ in found))),
        )
        result: Value = Option(self.pool.false, None)
        try:
            for there, item in reversed(found):
                result = choose(
                    self.pool,
                    there,
                    item if isinstance(item, Option) else Option(self.pool.true, item),
                    result,
                )
        except Mismatch as problem:
            raise self.mixed(node, problem) from None
        return result

    def word_min(self, node: ast.Call) -> Value:
        return self._least(node, self.pool.lt)

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
        if not defaults:
            return Num(best)
        try:
            return choose(pool, self.simplify(some), Num(best), self.value(defaults[0]))
        except Mismatch as problem:
            raise self.mixed(node, problem) from None
