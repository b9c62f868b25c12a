"""Statements of the subset, lowered: assignments, conditionals, loops, returns, changes to collections."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from falsework.definition_checks import named_object
from falsework.domains import Int, MapOf, OptionOf, RecordOf, SeqOf, SetOf, VariableDomain
from falsework.ir import Node
from falsework.lower_calls import Calls
from falsework.lower_context import RuledOut
from falsework.lower_values import (
    Fresh,
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
    zero,
)
from falsework.values import Map, Seq, Set


class Statements(Calls):
    """Runs statements; each answers whether control goes on after it."""

    def body(self, statements: list[ast.stmt]) -> Node:
        """Runs the statements in order; what follows a possible return runs only where there was none."""
        return self._sequence([partial(self.statement, statement) for statement in statements])

    def _sequence(self, steps: list[Callable[[], Node]]) -> Node:
        for number, step in enumerate(steps):
            alive = step()
            if alive in (self.dead, self.pool.false):
                return alive
            alive = self.simplify(alive)
            if alive is not self.pool.true:
                rest = steps[number + 1 :]
                if not rest:
                    return alive
                return self.branch(alive, partial(self._sequence, rest), lambda: self.pool.false)
        return self.pool.true

    def statement(self, node: ast.stmt) -> Node:
        """Runs one statement."""
        method: Callable[[Any], Node] | None = getattr(self, f"s_{type(node).__name__.lower()}", None)
        if method is None:
            word = ast.unparse(node).split("\n")[0]
            raise self.refuse(
                node, "P001", f"the statement {word}", "assignments, if, for, return, and calls"
            )
        outer, self.level = self.level, self.conditional
        try:
            return method(node)
        except RuledOut:
            return self.dead
        finally:
            self.level = outer

    def s_pass(self, _: ast.Pass) -> Node:
        return self.pool.true

    def s_expr(self, node: ast.Expr) -> Node:
        if isinstance(node.value, ast.Constant):
            return self.pool.true
        self.value(node.value)
        return self.pool.true

    def s_return(self, node: ast.Return) -> Node:
        value = self.value(node.value) if node.value is not None else constant(self.pool, None)
        frame = self.frames[-1]
        frame.returned.append((self.path(frame.base), value))
        return self.pool.false

    def s_if(self, node: ast.If) -> Node:
        condition = self.test(node.test)
        return self.branch(condition, lambda: self.body(node.body), lambda: self.body(node.orelse))

    def s_for(self, node: ast.For) -> Node:
        if node.orelse:
            raise self.refuse(node, "P001", "an else of a loop", "a flag, or any(…)")
        steps: list[Callable[[], Node]] = []
        for there, thing in self.elements(node.iter):

            def step(there: Callable[[], Node] = there, thing: Callable[[], Value] = thing) -> Node:
                def inside() -> Node:
                    self.bind(node.target, thing())
                    return self.body(node.body)

                return self.branch(there(), inside, lambda: self.pool.true)

            steps.append(step)
        return self._sequence(steps)

    # --- assignments

    def s_assign(self, node: ast.Assign) -> Node:
        value = self._right_side(node.value)
        for target in node.targets:
            self.assign(target, value, node)
        return self.pool.true

    def s_annassign(self, node: ast.AnnAssign) -> Node:
        if node.value is not None:
            self.assign(node.target, self._right_side(node.value), node)
        return self.pool.true

    def s_augassign(self, node: ast.AugAssign) -> Node:
        """The place is looked up once: what stands there, the other operand, then the change."""
        place = node.target
        if not isinstance(place, ast.Subscript):
            self.assign(place, self._augmented(node, self.value(place)), node)
            return self.pool.true
        owner, at = self.value(place.value), self.value(place.slice)
        new = self._augmented(node, self.cell(owner, at, place))
        if not isinstance(owner, Ref):
            write = "self.map[key] or self.seq[index]"
            raise self.refuse(node, "P001", f"the target {ast.unparse(place)}", write)
        self._no_condition(node)
        self._put(owner, at, new, place)
        return self.pool.true

    def _augmented(self, node: ast.AugAssign, old: Value) -> Value:
        other = self.value(node.value)
        found = self.arithmetic(node, self.number(old, node.target), self.number(other, node.value))
        if isinstance(found, Num):
            self.note_width(found.node, node)
        return found

    def _right_side(self, node: ast.expr) -> Value:
        """A value; a fresh collection may stand here and nowhere else."""
        if isinstance(node, ast.Call):
            known = named_object(self.frames[-1].function, node.func)
            if known in (Map, Set, Seq):
                if node.keywords or len(node.args) > 1:
                    write = "Map(value), Set((key, …)) or Seq((item, …))"
                    raise self.refuse(node, "P003", f"the arguments of {ast.unparse(node)}", write)
                if known is Map:
                    return Fresh(known, tuple(self.value(default) for default in node.args))
                return Fresh(known, tuple(item for many in node.args for item in self._listed(many)))
        return self.value(node)

    def _listed(self, node: ast.expr) -> list[Value]:
        """What a fresh collection is made of."""
        if isinstance(node, (ast.List, ast.Set)):
            return [self.value(item) for item in node.elts]
        found = list(self.elements(node))
        if any(self.simplify(there()) is not self.pool.true for there, _ in found):
            write = "the members or items one by one"
            raise self.refuse(node, "P005", f"a collection made of {ast.unparse(node)}", write)
        return [thing() for _, thing in found]

    def assign(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        """Afterwards the target holds the value."""
        match target:
            case ast.Name(id=name):
                self.frames[-1].locals[name] = value
                return
            case ast.Tuple(elts=parts) if isinstance(value, Tup) and len(parts) == len(value.items):
                for part, item in zip(parts, value.items, strict=True):
                    self.assign(part, item, node)
                return
            case ast.Attribute(value=owner_node, attr=name):
                owner = self.value(owner_node)
                if isinstance(owner, Inst) and name in owner.state.cells:
                    self._no_condition(node)
                    owner.state.cells[name] = self._content(name, value, node)
                    return
            case ast.Subscript(value=owner_node, slice=at):
                owner = self.value(owner_node)
                if isinstance(owner, Ref):
                    self._no_condition(node)
                    self._put(owner, self.value(at), value, target)
                    return
        raise self.refuse(
            node,
            "P001",
            f"the target {ast.unparse(target)}",
            "self.variable, self.map[key], self.seq[index] or a local",
        )

    def _no_condition(self, node: ast.AST) -> None:
        if self.conditional:
            raise self.refuse(
                node,
                "P011",
                "a change inside an expression that is looked at only sometimes",
                "an if statement",
            )

    def _content(self, name: str, value: Value, node: ast.AST) -> Any:
        domain = next(v.domain for v in self.definition.variables if v.name == name)
        if not isinstance(domain, (MapOf, SetOf, SeqOf)):
            if isinstance(value, (Ref, Inst, Py, Fresh)):
                raise self.refuse(node, "P005", f"{name} is set to {kind(value)}", f"a value of {domain}")
            return value
        if isinstance(value, Ref) and isinstance(value.domain, SeqOf) and isinstance(domain, SeqOf):
            row: Items = value.state.cells[value.name]
            unused = [zero(self.pool, domain.item)] * (domain.length - len(row.slots))
            return Items(row.length, (*row.slots, *unused))
        if isinstance(value, Ref) and _over_the_same_keys(value.domain, domain):
            return value.state.cells[value.name]
        match domain, value:
            case MapOf(key, _), Fresh(made, (default,)) if made is Map:
                return tuple(default for _ in key.values())
            case SetOf(key), Fresh(made, items) if made is Set:
                places = [self.key(key, member, node) for member in items]
                count = len(tuple(key.values()))
                return tuple(
                    self.pool.or_(*(self.pool.eq(p, self.pool.const(i)) for p in places))
                    for i in range(count)
                )
            case SeqOf(item, length), Fresh(made, items) if made is Seq:
                filler = [zero(self.pool, item)] * (length - len(items))
                return Items(self.pool.const(len(items)), (*items, *filler))
        raise self.refuse(
            node,
            "P005",
            f"{name} is set to {kind(value)}",
            "another collection of the same domain, or Map(…), Set(…), Seq(…)",
        )

    def _put(self, owner: Ref, at: Value, value: Value, node: ast.Subscript) -> None:
        if isinstance(owner.domain, MapOf):
            index = self.key(owner.domain.key, at, node)
            ways = owner.state.cells[owner.name]
            owner.state.cells[owner.name] = self._with(index, ways, value, node)
        elif isinstance(owner.domain, SeqOf):
            content: Items = owner.state.cells[owner.name]
            index = self.position(content, at, node)
            owner.state.cells[owner.name] = Items(
                content.length, self._with(index, content.slots, value, node)
            )
        else:
            raise self.refuse(
                node, "P001", f"the target {ast.unparse(node)}", "add(…) or discard(…) on a Set"
            )

    def _with(self, index: Node, ways: tuple[Value, ...], value: Value, node: ast.AST) -> tuple[Value, ...]:
        """The cells with the one at the index replaced."""
        replaced = []
        try:
            for place, old in enumerate(ways):
                here = self.simplify(self.pool.eq(index, self.pool.const(place)))
                replaced.append(value if here is self.pool.true else choose(self.pool, here, value, old))
        except Mismatch as problem:
            raise self.mixed(node, problem) from None
        return tuple(replaced)

    # --- collections

    def change(self, owner: Ref, name: str, node: ast.Call) -> Value:
        """add, discard, append or pop_first."""
        state = owner.state
        nothing = constant(self.pool, None)
        if isinstance(owner.domain, SetOf) and name in ("add", "discard") and len(node.args) == 1:
            self._no_condition(node)
            index = self.key(owner.domain.key, self.value(node.args[0]), node)
            members: tuple[Node, ...] = state.cells[owner.name]
            new = self.pool.const(name == "add")
            hits = (self.pool.eq(index, self.pool.const(i)) for i in range(len(members)))
            state.cells[owner.name] = tuple(
                self.pool.ite(hit, new, old) for hit, old in zip(hits, members, strict=True)
            )
            return nothing
        if isinstance(owner.domain, SeqOf) and name == "append" and len(node.args) == 1:
            self._no_condition(node)
            self._append(owner, owner.domain, self.value(node.args[0]), node)
            return nothing
        if isinstance(owner.domain, SeqOf) and name == "pop_first" and not node.args:
            self._no_condition(node)
            content: Items = state.cells[owner.name]
            self.fault(self.pool.eq(content.length, self.pool.false), node, "pop_first of an empty sequence")
            shifted = (*content.slots[1:], zero(self.pool, owner.domain.item))
            state.cells[owner.name] = Items(
                self.simplify(self.pool.add(content.length, self.pool.const(-1))), shifted
            )
            return content.slots[0]
        raise self.refuse(
            node,
            "P009",
            f"the call {ast.unparse(node)}",
            "add, discard, append, pop_first, keys, values or items",
        )

    def _append(self, owner: Ref, domain: SeqOf, value: Value, node: ast.Call) -> None:
        content: Items = owner.state.cells[owner.name]
        length = self.simplify(content.length)
        slots = list(content.slots)
        if self.facts.span(length)[1] >= len(
            slots
        ):  # past the end for now; what is left there at the end is outside the domain
            slots.append(zero(self.pool, domain.item))
        try:
            for place, old in enumerate(slots):
                slots[place] = choose(
                    self.pool, self.simplify(self.pool.eq(length, self.pool.const(place))), value, old
                )
        except Mismatch as problem:
            raise self.mixed(node, problem) from None
        owner.state.cells[owner.name] = Items(self.pool.add(length, self.pool.true), tuple(slots))

    # --- time

    def word_elapse(self, _: ast.Call) -> Value:
        """Every clock moves, wherever it stands."""
        for variable in self.definition.variables:
            content = self.state.cells[variable.name]
            self.state.cells[variable.name] = self._moved(variable.domain, content)
        return constant(self.pool, None)

    def _moved(self, domain: VariableDomain, content: Any) -> Any:
        match domain:
            case MapOf(_, inner):
                return tuple(self._moved(inner, value) for value in content)
            case SeqOf(inner, _):
                moved = (self._moved_item(inner, place, content) for place in range(len(content.slots)))
                return Items(content.length, tuple(moved))
            case Int(clock="countdown"):
                number = self.simplify(content.node)
                return Num(
                    self.pool.ite(
                        self.pool.lt(self.pool.false, number),
                        self.pool.add(number, self.pool.const(-1)),
                        self.pool.false,
                    )
                )
            case Int(_, high, "elapsed"):
                number, cap = self.simplify(content.node), self.pool.const(high)
                return Num(
                    self.pool.ite(self.pool.lt(number, cap), self.pool.add(number, self.pool.true), cap), high
                )
            case OptionOf(inner):
                return (
                    content
                    if content.inner is None
                    else Option(content.present, self._moved(inner, content.inner))
                )
            case RecordOf(cls, fields):
                return Rec(cls, {name: self._moved(inner, content.fields[name]) for name, inner in fields})
        return content

    def _moved_item(self, inner: Any, place: int, content: Items) -> Value:
        moved: Value = self._moved(inner, content.slots[place])
        if moved is content.slots[place]:
            return moved
        there = self.pool.lt(self.pool.const(place), content.length)
        return choose(self.pool, there, moved, content.slots[place])


def _over_the_same_keys(one: VariableDomain, other: VariableDomain) -> bool:
    """Whether two collections are of one kind and have cells for the same keys."""
    return type(one) is type(other) and getattr(one, "key", None) == getattr(other, "key", None)
