"""Expressions of the subset, lowered: names, attributes, arithmetic, comparisons, indexing, conditionals."""

from __future__ import annotations

import ast
import builtins
import enum
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from falsework.domains import Domain, MapOf, SeqOf, SetOf
from falsework.errors import DefinitionError
from falsework.ir import LARGEST, Node
from falsework.language import Model
from falsework.lower_context import Context
from falsework.lower_values import (
    Inst,
    Items,
    Member,
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
    key_count,
    key_index,
    kind,
    pick,
    same,
)
from falsework.source import own_names


class Expressions(Context):
    """Evaluates an expression to a symbolic value."""

    def value(self, node: ast.expr) -> Value:
        """What the expression stands for on this path."""
        method: Callable[[Any], Value] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refuse(
                node,
                "P002",
                f"the expression {ast.unparse(node)}",
                "arithmetic, comparisons, own helpers, any/all/sum/…",
            )
        found = method(node)
        if isinstance(found, Num):
            self.note_width(found.node, node)
        return found

    def note_width(self, found: Node, node: ast.AST) -> None:
        """Remembers where a number is written that may be too large for some engine."""
        if found.low < -LARGEST or found.high > LARGEST:
            self.pool.wide.setdefault(found.index, self.place(node))

    def test(self, node: ast.expr) -> Node:
        """The expression as a condition."""
        if isinstance(node, ast.BoolOp):
            return self.junction(node)
        return self.truth(self.value(node), node)

    # --- names

    def _constant(self, node: ast.Constant) -> Value:
        if node.value is None or isinstance(node.value, int):
            return constant(self.pool, node.value)
        if isinstance(node.value, str):
            return Py(node.value)
        raise self.refuse(node, "P002", f"the constant {node.value!r}", "an int, a bool or None")

    def _name(self, node: ast.Name) -> Value:
        frame = self.frames[-1]
        if node.id in frame.locals:
            return frame.locals[node.id]
        if node.id in own_names(frame.function):
            write = "a local that every way here gives a value, of one kind"
            raise self.refuse(node, "P002", f"the local {node.id}", write)
        code = frame.function.__code__
        if node.id in code.co_freevars:
            place = code.co_freevars.index(node.id)
            return constant(self.pool, (frame.function.__closure__ or ())[place].cell_contents)
        for scope in (frame.function.__globals__, vars(builtins)):
            if node.id in scope:
                return constant(self.pool, scope[node.id])
        write = "a parameter, a local, or a name of the module"
        raise self.refuse(node, "P002", f"the name {node.id}", write)

    def _attribute(self, node: ast.Attribute) -> Value:
        match owner := self.value(node.value):
            case Inst(state):
                return self._of_model(state, node)
            case Rec(cls, fields):
                if node.attr in fields:
                    return fields[node.attr]
                raise self.refuse(
                    node,
                    "P002",
                    f"{ast.unparse(node)}: {cls.__name__} has no field {node.attr}",
                    f"one of: {', '.join(fields)}",
                )
            case Option(present, inner) if inner is not None:
                self.fault(self.pool.not_(present), node, f"{ast.unparse(node.value)} is None here")
                return self._field(inner, node)
            case Py(thing) if isinstance(thing, (type, ModuleType)) or hasattr(thing, node.attr):
                if node.attr in self.state.figures and isinstance(thing, type) and issubclass(thing, Model):
                    raise self.refuse(
                        node, "P002", f"the figure {ast.unparse(node)}, left open here", f"self.{node.attr}"
                    )
                if hasattr(thing, node.attr):
                    return constant(self.pool, getattr(thing, node.attr))
            case _:
                return self._field(owner, node)
        raise self.refuse(
            node,
            "P002",
            f"the attribute {ast.unparse(node)}",
            "a state variable, a constant, or a field of a record",
        )

    def _field(self, owner: Value, node: ast.Attribute) -> Value:
        if isinstance(owner, Rec) and node.attr in owner.fields:
            return owner.fields[node.attr]
        raise self.refuse(
            node, "P002", f"{ast.unparse(node)}: {kind(owner)} has no {node.attr}", "a field of a record"
        )

    def _of_model(self, state: Any, node: ast.Attribute) -> Value:
        for variable in self.definition.variables:
            if variable.name == node.attr:
                if isinstance(variable.domain, (MapOf, SetOf, SeqOf)):
                    return Ref(state, variable.name, variable.domain)
                content: Value = state.cells[variable.name]
                return content
        if node.attr in state.figures:
            figure: Value = state.figures[node.attr]
            return figure
        if node.attr in self.definition.constants:
            return constant(self.pool, self.definition.constants[node.attr])
        found = getattr(self.definition.cls, node.attr, None)
        if isinstance(found, FunctionType):
            return Py(_Bound(found, Inst(state)))
        if found is not None:
            return constant(self.pool, found)
        raise self.refuse(
            node,
            "P002",
            f"the attribute {ast.unparse(node)}",
            "a state variable, a constant or a method of the model",
        )

    def _tuple(self, node: ast.Tuple) -> Value:
        return Tup(tuple(self.value(item) for item in node.elts))

    # --- arithmetic

    def _binop(self, node: ast.BinOp) -> Value:
        one, two = self.value(node.left), self.value(node.right)
        return self.arithmetic(node, self.number(one, node.left), self.number(two, node.right))

    def arithmetic(self, node: ast.BinOp | ast.AugAssign, left: Num, right: Num) -> Value:
        """Two numbers under the node's operator."""
        pool = self.pool
        match node.op:
            case ast.Add():
                return Num(pool.add(left.node, right.node))
            case ast.Sub():
                return Num(pool.sub(left.node, right.node))
            case ast.Mult():
                return Num(pool.mul(left.node, right.node))
            case ast.FloorDiv() | ast.Mod():
                if not right.node.constant or right.node.value <= 0:
                    raise self.refuse(
                        node,
                        "P007",
                        f"{ast.unparse(node)}: the divisor is no positive constant",
                        "a constant above 0",
                    )
                divide = pool.floordiv if isinstance(node.op, ast.FloorDiv) else pool.mod
                return Num(divide(left.node, right.node.value))
        write = "+= -= *= //= %=" if isinstance(node, ast.AugAssign) else "+ - * // %"
        raise self.refuse(node, "P002", f"the operator in {ast.unparse(node)}", write)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Num(self.pool.not_(self.test(node.operand)), flag=True)
        operand = self.number(self.value(node.operand), node.operand)
        if isinstance(node.op, ast.USub):
            return Num(self.pool.mul(operand.node, self.pool.const(-1)))
        if isinstance(node.op, ast.UAdd):
            return self.plain(operand, node)
        raise self.refuse(node, "P002", f"the operator in {ast.unparse(node)}", "- or not")

    def _boolop(self, node: ast.BoolOp) -> Value:
        """As in Python, `a or b` is the operand that decided."""
        try:
            return self._decided(node, node.values)
        except Mismatch as problem:
            raise self.mixed(node, problem) from None

    def _decided(self, node: ast.BoolOp, operands: list[ast.expr]) -> Value:
        pool = self.pool
        conjunction = isinstance(node.op, ast.And)
        value = self.narrowed(self.value(operands[0]))
        truth = self.truth(value, operands[0])
        goes_on = truth if conjunction else pool.not_(truth)
        if len(operands) == 1 or goes_on is pool.false:
            return value
        if goes_on is pool.true:
            return self._decided(node, operands[1:])
        self.conditional += 1
        with self.assuming(goes_on):
            rest = self._decided(node, operands[1:])
        self.conditional -= 1
        if (
            isinstance(value, Num)
            and value.node is truth
            and isinstance(rest, Num)
            and rest.node is pool.truth(rest.node)
        ):
            joined = pool.and_(truth, rest.node) if conjunction else pool.or_(truth, rest.node)
            return Num(joined, flag=value.flag and rest.flag)
        return choose(pool, goes_on, rest, value)

    def narrowed(self, value: Value) -> Value:
        """The inner value of an option that is known to be present here."""
        if (
            isinstance(value, Option)
            and value.inner is not None
            and self.simplify(value.present) is self.pool.true
        ):
            return self.narrowed(value.inner)
        return value

    def junction(self, node: ast.BoolOp) -> Node:
        """Each operand is looked at only where those before it have not decided."""
        conjunction = isinstance(node.op, ast.And)
        depth, outer = len(self.conditions), self.facts
        parts: list[Node] = []
        try:
            for operand in node.values:
                part = self.test(operand)
                parts.append(part)
                self.conditional += len(parts) == 1
                if part.constant:
                    if bool(part.value) != conjunction:
                        break
                    continue
                goes_on = part if conjunction else self.pool.not_(part)
                self.conditions.append(goes_on)
                self.facts = self.facts.given(goes_on)
        finally:
            self.conditional -= bool(parts)
            del self.conditions[depth:]
            self.facts = outer
        return self.pool.and_(*parts) if conjunction else self.pool.or_(*parts)

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.test(node.test)
        if condition.constant:
            return self.value(node.body if condition.value else node.orelse)
        self.conditional += 1
        with self.assuming(condition):
            then = self.value(node.body)
        with self.assuming(self.pool.not_(condition)):
            other = self.value(node.orelse)
        self.conditional -= 1
        try:
            return choose(self.pool, condition, then, other)
        except Mismatch as problem:
            raise self.mixed(node, problem) from None

    # --- comparisons

    def _compare(self, node: ast.Compare) -> Value:
        parts: list[Node] = []
        depth, outer, outside = len(self.conditions), self.facts, self.conditional
        left_node, left = node.left, self.value(node.left)
        try:
            for op, right_node in zip(node.ops, node.comparators, strict=True):
                right = self.value(right_node)
                part = self.simplify(self._one_comparison(op, left, right, left_node, right_node, node))
                parts.append(part)
                if part is self.pool.false:
                    break
                if len(node.ops) > 1 and not part.constant:
                    self.conditional = outside + 1
                    self.conditions.append(part)
                    self.facts = self.facts.given(part)
                left_node, left = right_node, right
        finally:
            del self.conditions[depth:]
            self.facts, self.conditional = outer, outside
        return Num(self.pool.and_(*parts), flag=True)

    def _one_comparison(
        self,
        op: ast.cmpop,
        left: Value,
        right: Value,
        left_node: ast.expr,
        right_node: ast.expr,
        node: ast.Compare,
    ) -> Node:
        pool = self.pool
        match op:
            case ast.Is() | ast.IsNot():
                sides = (left, right)
                if not (any(map(_one_object, sides)) or all(_one_object(s, bools=True) for s in sides)):
                    raise self._identity(node, sides)
                equal = same(pool, left, right)
                return equal if isinstance(op, ast.Is) else pool.not_(equal)
            case ast.Eq() | ast.NotEq():
                self._below_cap(op, left, right, node)
                equal = self._equal(left, right, node)
                return equal if isinstance(op, ast.Eq) else pool.not_(equal)
            case ast.In() | ast.NotIn():
                inside = self._contains(right, left, node)
                return inside if isinstance(op, ast.In) else pool.not_(inside)
        a, b = self.number(left, left_node), self.number(right, right_node)
        self._below_cap(op, a, b, node)
        match op:
            case ast.Lt():
                return pool.lt(a.node, b.node)
            case ast.LtE():
                return pool.le(a.node, b.node)
            case ast.Gt():
                return pool.lt(b.node, a.node)
        return pool.le(b.node, a.node)

    def _identity(self, node: ast.Compare, sides: tuple[Value, Value]) -> Exception:
        """M034 between values of the model: which of them are one object, Python alone decides."""
        found = f"{ast.unparse(node)} compares by identity"
        write = "== or != for values; `is` for Enums and None"
        if any(isinstance(side, (Py, Inst)) for side in sides):
            return self.refuse(node, "P004", found, write)
        return DefinitionError("M034", self.place(node), found, write)

    def _equal(self, left: Value, right: Value, node: ast.Compare) -> Node:
        if isinstance(left, Ref) and isinstance(right, Ref):
            one, two = ((type(side.domain), getattr(side.domain, "key", None)) for side in (left, right))
            if one != two:
                write = "collections over the same keys"
                raise self.refuse(node, "P005", f"{ast.unparse(node)} compares two kinds", write)
            return self._same_content(left.state.cells[left.name], right.state.cells[right.name])
        return same(self.pool, left, right)

    def _same_content(self, a: Any, b: Any) -> Node:
        pool = self.pool
        if a is b:
            return pool.true
        if isinstance(a, Items) and isinstance(b, Items):
            shorter = min(len(a.slots), len(b.slots))
            each = [
                pool.implies(pool.lt(pool.const(i), a.length), same(pool, a.slots[i], b.slots[i]))
                for i in range(shorter)
            ]
            return pool.and_(pool.eq(a.length, b.length), *each)
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            pairs = zip(a, b, strict=True)
            return pool.and_(*(pool.eq(x, y) if isinstance(x, Node) else same(pool, x, y) for x, y in pairs))
        return pool.false

    def _below_cap(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> None:
        """M016: an elapsed time rests at its cap, so a comparison that tells the cap from more would lie."""
        left, right = (s.inner if isinstance(s, Option) and s.inner is not None else s for s in (left, right))
        for this, other, over in ((left, right, (ast.LtE, ast.Gt)), (right, left, (ast.GtE, ast.Lt))):
            if not isinstance(this, Num) or this.cap is None or not isinstance(other, Num):
                continue
            if other.cap is not None and other.cap <= this.cap:
                continue  # both rest at their caps
            _, high = self.facts.span(self.simplify(other.node))
            limit = this.cap - isinstance(op, (*over, ast.Eq, ast.NotEq))
            if high > limit:
                found = f"{ast.unparse(node)}: a time resting at {this.cap} against up to {high}"
                write = "a larger cap in Elapsed(…), or < or >= of at most the cap"
                raise DefinitionError("M016", self.place(node), found, write)

    def _contains(self, where: Value, item: Value, node: ast.Compare) -> Node:
        pool = self.pool
        match where:
            case Tup(items):
                for one in items:
                    self._below_cap(ast.Eq(), item, one, node)
                return pool.or_(*(same(pool, item, one) for one in items))
            case Ref(state, name, SetOf(key)):
                index = self.key(key, item, node)
                return self.simplify(pool.pick(index, state.cells[name]))
            case Ref(state, name, SeqOf()):
                content: Items = state.cells[name]
                places = enumerate(content.slots)
                return pool.or_(
                    *(
                        pool.and_(pool.lt(pool.const(i), content.length), same(pool, item, one))
                        for i, one in places
                    )
                )
            case Py(thing) if isinstance(thing, type) and issubclass(thing, enum.Enum):
                return pool.or_(*(same(pool, item, constant(pool, member)) for member in thing))
            case Py(range() | frozenset() | dict() as thing):
                return pool.or_(*(same(pool, item, constant(pool, one)) for one in sorted(thing, key=repr)))
        raise self.refuse(
            node, "P002", f"{ast.unparse(node)}: in {kind(where)}", "in a tuple, a Set, a Seq or an Enum"
        )

    # --- indexing

    def key(self, domain: Domain, value: Value, node: ast.AST) -> Node:
        """The place of a key; a key outside the domain is a fault there."""
        index, outside = key_index(self.pool, domain, value)
        self.fault(outside, node, f"the key in {ast.unparse(node)} is outside {domain}")
        return self.simplify(index)

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.cell(self.value(node.value), self.value(node.slice), node)

    def cell(self, owner: Value, at: Value, node: ast.Subscript) -> Value:
        """What stands at the key or the index."""
        try:
            match owner:
                case Ref(state, name, MapOf(key, _)):
                    return pick(self.pool, self.key(key, at, node), state.cells[name])
                case Ref(state, name, SeqOf()):
                    content: Items = state.cells[name]
                    return pick(self.pool, self.position(content, at, node), content.slots)
                case Tup(items):
                    index = self.number(at, node.slice).node
                    outside = self.pool.or_(
                        self.pool.lt(index, self.pool.false), self.pool.le(self.pool.const(len(items)), index)
                    )
                    self.fault(outside, node, f"the index in {ast.unparse(node)} is outside the tuple")
                    return pick(self.pool, self.simplify(index), items)
                case Py(dict() as table):
                    return self._from_table(table, at, node)
        except Mismatch as problem:
            raise self.mixed(node, problem) from None
        raise self.refuse(
            node,
            "P002",
            f"{ast.unparse(node)}: {kind(owner)} has no index",
            "an index of a Map, a Seq or a tuple",
        )

    def _from_table(self, table: dict[Any, Any], at: Value, node: ast.Subscript) -> Value:
        hits = [
            (self.simplify(same(self.pool, at, constant(self.pool, key))), value)
            for key, value in table.items()
        ]
        self.fault(
            self.pool.not_(self.pool.or_(*(hit for hit, _ in hits))),
            node,
            f"the key in {ast.unparse(node)} is not in the table",
        )
        ways = [(hit, constant(self.pool, value)) for hit, value in hits if hit is not self.pool.false]
        if not ways:
            raise self.refuse(node, "P002", f"{ast.unparse(node)}: no such key", "a key of the table")
        found = ways[-1][1]
        for hit, value in reversed(ways[:-1]):
            found = choose(self.pool, hit, value, found)
        return found

    def position(self, content: Items, at: Value, node: ast.Subscript) -> Node:
        """The index into a sequence; one outside its length is a fault there."""
        index = self.number(at, node.slice).node
        outside = self.pool.or_(self.pool.lt(index, self.pool.false), self.pool.le(content.length, index))
        self.fault(outside, node, f"the index in {ast.unparse(node)} is outside the sequence")
        return self.simplify(index)

    def domain_values(self, domain: Domain) -> Iterator[Value]:
        """Every value of a key domain, in order."""
        assert key_count(domain) >= 0
        for thing in domain.values():
            yield constant(self.pool, thing)


def _one_object(value: Value, *, bools: bool = False) -> bool:
    """Whether it is None or an Enum member (or a bool), of which Python keeps one object each."""
    match value:
        case Option(_, inner):
            return inner is None or _one_object(inner, bools=bools)
        case Num(flag=flag):
            return bools and flag
    return isinstance(value, Member)


class _Bound:
    """A method of the model together with the state that it is called on."""

    def __init__(self, function: FunctionType, owner: Inst) -> None:
        self.function = function
        self.owner = owner


BoundMethod = _Bound
