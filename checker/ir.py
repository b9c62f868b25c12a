"""The intermediate form: interned integer expressions over slots, with intervals, folded as they are built.

A slot holds a code 0 .. size-1. A boolean is an int 0 or 1. Every expression is total: what could fail stands
beside it as a fault condition. An expression over one small slot is its table, so that two ways of saying the
same thing are the same node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from falsework.errors import Place

TABLE_LIMIT = 4096
"""Expressions over one slot of at most this size are kept as tables."""
DEEPEST = 2000
"""No expression nests deeper."""
LARGEST = 1 << 62
"""The compiled engine's numbers lie no further from 0; Python's may lie anywhere."""
NO_SUPPORT: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Slot:
    """One cell of the packed state: its name for people, and how many codes it has."""

    index: int
    name: str
    size: int


class TooDeep(Exception):
    """An expression nests deeper than DEEPEST."""


class Node:
    """An interned expression: operation, arguments, interval, the slots it reads, its table if it has one.

    Ops: const (value), slot (a large slot's code), table (one small slot), add, mul, floordiv, mod, lt, eq,
    and clamp (its first argument where that is an index below the second, else 0).
    """

    __slots__ = ("args", "depth", "high", "index", "low", "op", "support", "table", "value")

    def __init__(
        self, index: int, op: str, args: tuple[Node, ...], value: int, low: int, high: int,
        support: frozenset[int], table: tuple[int, ...],
    ) -> None:  # fmt: skip
        self.index = index
        self.op = op
        self.args = args
        self.value = value
        self.low = low
        self.high = high
        self.support = support
        self.table = table
        self.depth: int = 1 + max([arg.depth for arg in args]) if args else 0
        if self.depth > DEEPEST:
            raise TooDeep

    @property
    def constant(self) -> bool:
        return self.op == "const"

    def __repr__(self) -> str:
        return f"<{self.op} {self.value} {self.args}>"


_APPLY: dict[str, Callable[[Sequence[int]], int]] = {
    "add": lambda v: v[0] + v[1],
    "mul": lambda v: v[0] * v[1],
    "floordiv": lambda v: v[0] // v[1],
    "mod": lambda v: v[0] % v[1],
    "lt": lambda v: int(v[0] < v[1]),
    "eq": lambda v: int(v[0] == v[1]),
    "not": lambda v: int(not v[0]),
    "and": lambda v: int(all(v)),
    "or": lambda v: int(any(v)),
    "ite": lambda v: v[1] if v[0] else v[2],
    "clamp": lambda v: v[0] if 0 <= v[0] < v[1] else 0,
    "pick": lambda v: v[1 + v[0]] if 0 <= v[0] < len(v) - 1 else v[1],
}


class Pool:
    """Makes and interns nodes; every constructor folds what it can."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.payloads: set[tuple[int, int]] = (
            set()
        )  # (presence condition, slot that is 0 wherever the condition is)
        self.wide: dict[int, Place] = {}  # where an expression was written that may lie beyond LARGEST
        self._interned: dict[object, Node] = {}
        self.false = self.const(0)
        self.true = self.const(1)

    def new_slot(self, name: str, size: int) -> Slot:
        slot = Slot(len(self.slots), name, size)
        self.slots.append(slot)
        return slot

    def _intern(
        self, key: object, op: str, args: tuple[Node, ...], value: int, low: int, high: int,
        support: frozenset[int] = NO_SUPPORT, table: tuple[int, ...] = (),
    ) -> Node:  # fmt: skip
        found = self._interned.get(key)
        if found is None:
            found = Node(len(self._interned), op, args, value, low, high, support, table)
            self._interned[key] = found
        return found

    # --- leaves

    def const(self, value: int) -> Node:
        value = int(value)
        return self._intern(("const", value), "const", (), value, value, value)

    def code(self, slot: Slot) -> Node:
        """The slot's code."""
        if slot.size == 1:
            return self.const(0)
        if slot.size <= TABLE_LIMIT:
            return self.table(slot.index, tuple(range(slot.size)))
        return self._intern(
            ("slot", slot.index), "slot", (), slot.index, 0, slot.size - 1, frozenset((slot.index,))
        )

    def table(self, slot: int, table: tuple[int, ...]) -> Node:
        """The function of one slot that the table lists, a constant if all its entries are one."""
        low, high = min(table), max(table)
        if low == high:
            return self.const(low)
        return self._intern(("table", slot, table), "table", (), slot, low, high, frozenset((slot,)), table)

    def member(self, slot: int, codes: Iterable[int]) -> Node:
        """Whether the slot's code is one of these."""
        wanted = set(codes)
        return self.table(slot, tuple(int(code in wanted) for code in range(self.slots[slot].size)))

    # --- building

    def _build(self, op: str, args: tuple[Node, ...], low: int, high: int) -> Node:
        if all(arg.op == "const" for arg in args):
            return self.const(_APPLY[op]([arg.value for arg in args]))
        support = frozenset().union(*(arg.support for arg in args))
        if len(support) == 1 and all(arg.op in ("const", "table") for arg in args):
            (slot,) = support
            columns = [arg.table or (arg.value,) * self.slots[slot].size for arg in args]
            return self.table(slot, tuple(map(_APPLY[op], zip(*columns, strict=True))))
        if low == high:
            return self.const(low)
        return self._intern((op, *(arg.index for arg in args)), op, args, 0, low, high, support)

    def add(self, *terms: Node) -> Node:
        """The sum; constants are gathered."""
        flat: list[Node] = []
        for term in terms:
            flat.extend(_summands(term))
        constant = sum(term.value for term in flat if term.constant)
        total: Node | None = None
        for term in sorted((t for t in flat if not t.constant), key=_order):
            total = (
                term
                if total is None
                else self._build("add", (total, term), total.low + term.low, total.high + term.high)
            )
        if total is None:
            return self.const(constant)
        if constant == 0:
            return total
        tail = self.const(constant)
        return self._build("add", (total, tail), total.low + constant, total.high + constant)

    def mul(self, left: Node, right: Node) -> Node:
        ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        if left.constant and left.value == 1:
            return right
        if right.constant and right.value == 1:
            return left
        return self._build("mul", (left, right), min(ends), max(ends))

    def sub(self, left: Node, right: Node) -> Node:
        return self.add(left, self.mul(right, self.const(-1)))

    def floordiv(self, left: Node, divisor: int) -> Node:
        return self._build("floordiv", (left, self.const(divisor)), left.low // divisor, left.high // divisor)

    def mod(self, left: Node, divisor: int) -> Node:
        if left.low >= 0 and left.high < divisor:
            return left
        return self._build("mod", (left, self.const(divisor)), 0, divisor - 1)

    def lt(self, left: Node, right: Node) -> Node:
        if left.high < right.low:
            return self.true
        if left is right or left.low >= right.high:
            return self.false
        for this, other, flipped in ((left, right, False), (right, left, True)):
            if this.op == "ite" and other.constant and any(a.constant for a in this.args[1:]):
                ways = [self.lt(other, a) if flipped else self.lt(a, other) for a in this.args[1:]]
                return self.ite(this.args[0], *ways)
        return self._build("lt", (left, right), 0, 1)

    def le(self, left: Node, right: Node) -> Node:
        return self.not_(self.lt(right, left))

    def eq(self, left: Node, right: Node) -> Node:
        if left is right:
            return self.true
        if left.high < right.low or right.high < left.low:
            return self.false
        if left.constant or (right.index < left.index and not right.constant):
            left, right = right, left
        if right.constant:
            if left.op == "ite" and any(a.constant for a in left.args[1:]):
                return self.ite(left.args[0], self.eq(left.args[1], right), self.eq(left.args[2], right))
            if (left.low, left.high) == (0, 1):
                return left if right.value else self.not_(left)
        return self._build("eq", (left, right), 0, 1)

    # --- booleans

    def truth(self, node: Node) -> Node:
        """1 where the int is not 0."""
        if (node.low, node.high) in ((0, 1), (0, 0), (1, 1)):
            return node
        return self.not_(self.eq(node, self.false))

    def not_(self, node: Node) -> Node:
        if node.op == "not":
            return node.args[0]
        if node.op in ("and", "or"):
            other = self.or_ if node.op == "and" else self.and_
            return other(*(self.not_(arg) for arg in node.args))
        return self._build("not", (node,), 0, 1)

    def and_(self, *args: Node) -> Node:
        return self._junction("and", args, self.false, self.true)

    def or_(self, *args: Node) -> Node:
        return self._junction("or", args, self.true, self.false)

    def _junction(self, op: str, args: Iterable[Node], ends: Node, neutral: Node) -> Node:
        """Flattened, each slot's tables merged into one, the order of first mention kept."""
        tables: dict[int, Node] = {}
        rest: dict[int, Node] = {}
        for arg in (part for whole in args for part in (whole.args if whole.op == op else (whole,))):
            if arg is ends:
                return ends
            if arg is neutral:
                continue
            if arg.op == "table":
                slot = arg.value
                merged = arg if slot not in tables else self._build(op, (tables[slot], arg), 0, 1)
                if merged is ends:
                    return ends
                tables[slot] = merged
            else:
                if arg.op == "not" and arg.args[0].index in rest:
                    return ends
                rest[arg.index] = arg
        if any(node.op == "not" and node.args[0].index in rest for node in rest.values()):
            return ends
        parts = [table for table in tables.values() if table is not neutral] + list(rest.values())
        if not parts:
            return neutral
        return parts[0] if len(parts) == 1 else self._build(op, tuple(sorted(parts, key=_order)), 0, 1)

    def implies(self, premise: Node, conclusion: Node) -> Node:
        return self.or_(self.not_(premise), conclusion)

    def ite(self, condition: Node, then: Node, other: Node) -> Node:
        """`then` where the condition is 1, else `other`."""
        if condition.constant:
            return then if condition.value else other
        if then is other:
            return then
        if condition.op == "not":
            condition, then, other = condition.args[0], other, then
        if then.op == "ite" and then.args[0] is condition:
            then = then.args[1]
        if other.op == "ite" and other.args[0] is condition:
            other = other.args[2]
        if (
            then.op == "table"
            and other is self.false
            and then.table[0] == 0
            and (condition.index, then.value) in self.payloads
        ):
            return then
        if min(then.low, other.low) >= 0 and max(then.high, other.high) <= 1:
            if then.constant:
                return self.or_(condition, other) if then.value else self.and_(self.not_(condition), other)
            if other.constant:
                return self.implies(condition, then) if other.value else self.and_(condition, then)
        return self._build(
            "ite", (condition, then, other), min(then.low, other.low), max(then.high, other.high)
        )

    def pick(self, index: Node, ways: Sequence[Node]) -> Node:
        """`ways[index]`, and the first of them where the index lies outside."""
        if index.constant:
            return ways[index.value] if 0 <= index.value < len(ways) else ways[0]
        if all(way is ways[0] for way in ways):
            return ways[0]
        if len(ways) == 2 and (index.low, index.high) == (0, 1):
            return self.ite(index, ways[1], ways[0])
        if index.low < 0 or index.high >= len(ways):
            index = self._clamped(index, len(ways))
            if index.constant:
                return ways[index.value]
        if index.table:
            used = sorted(set(index.table) & set(range(len(ways))))
            if len(used) <= 3 or index.high <= 1:
                picked = ways[used[-1]]
                for place in reversed(used[:-1]):
                    picked = self.ite(self.eq(index, self.const(place)), ways[place], picked)
                return picked
        return self._build("pick", (index, *ways), min(w.low for w in ways), max(w.high for w in ways))

    def _clamped(self, index: Node, size: int) -> Node:
        """The index where it lies below the size, else 0: a read there cannot fail, wherever printed."""
        if index.low >= 0 and index.high < size:
            return index
        return self._build("clamp", (index, self.const(size)), 0, max(min(index.high, size - 1), 0))

    def rebuild(self, node: Node, args: Sequence[Node]) -> Node:
        """The same operation over other arguments, folded anew."""
        match node.op:
            case "add":
                return self.add(*args)
            case "mul":
                return self.mul(args[0], args[1])
            case "floordiv":
                return self.floordiv(args[0], args[1].value)
            case "mod":
                return self.mod(args[0], args[1].value)
            case "lt":
                return self.lt(args[0], args[1])
            case "eq":
                return self.eq(args[0], args[1])
            case "not":
                return self.not_(args[0])
            case "and":
                return self.and_(*args)
            case "or":
                return self.or_(*args)
            case "ite":
                return self.ite(args[0], args[1], args[2])
            case "pick":
                return self.pick(args[0], args[1:])
            case "clamp":
                return self._clamped(args[0], args[1].value)
        return node


def _order(node: Node) -> tuple[bool, int]:
    return (node.op != "table", node.index)


def _summands(node: Node) -> list[Node]:
    if node.op != "add":
        return [node]
    return [part for arg in node.args for part in _summands(arg)]


# --- what is known on a path ----------------------------------------------------------------------


@dataclass
class Facts:
    """What is known on a path: the codes that each slot may have, and which compound conditions hold."""

    pool: Pool
    codes: Mapping[int, frozenset[int]] = field(default_factory=dict)
    decided: Mapping[int, int] = field(default_factory=dict)
    _seen: dict[int, Node] = field(default_factory=dict)

    def given(self, condition: Node, *, holds: bool = True) -> Facts:
        """These facts and that the condition holds (or does not)."""
        codes, decided = dict(self.codes), dict(self.decided)
        _learn(self.pool, condition, int(holds), codes, decided)
        return Facts(self.pool, codes, decided)

    def simplify(self, node: Node) -> Node:
        """The node as it reads where these facts are true."""
        if node.op == "const" or not (self.codes or self.decided):
            return node
        found = self._seen.get(node.index)
        if found is None:
            found = self._seen[node.index] = self._simplified(node)
        return found

    def _simplified(self, node: Node) -> Node:
        if node.index in self.decided:
            return self.pool.const(self.decided[node.index])
        if node.op == "table":
            allowed = self.codes.get(node.value)
            if allowed is not None:
                values = {node.table[code] for code in allowed}
                if len(values) == 1:
                    return self.pool.const(values.pop())
            return node
        if node.op == "slot" or (not self.decided and node.support.isdisjoint(self.codes)):
            return node
        args = [self.simplify(arg) for arg in node.args]
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        rebuilt = self.pool.rebuild(node, args)
        return rebuilt if rebuilt is node else self.simplify(rebuilt)

    def span(self, node: Node) -> tuple[int, int]:
        """The least and the greatest value that the node can have here, as far as is known."""
        if node.op == "table" and node.value in self.codes:
            values = [node.table[code] for code in self.codes[node.value]]
            return (min(values), max(values)) if values else (node.low, node.high)
        if node.op == "add":
            spans = [self.span(arg) for arg in node.args]
            return sum(s[0] for s in spans), sum(s[1] for s in spans)
        if node.op == "ite":
            spans = [self.span(arg) for arg in node.args[1:]]
            return min(s[0] for s in spans), max(s[1] for s in spans)
        return node.low, node.high


def _learn(
    pool: Pool, node: Node, holds: int, codes: dict[int, frozenset[int]], decided: dict[int, int]
) -> None:
    if node.op == "const":
        return
    if node.op == "table":
        fits = frozenset(code for code, value in enumerate(node.table) if value == holds)
        codes[node.value] = codes.get(node.value, fits) & fits
        return
    decided[node.index] = holds
    if node.op == "not":
        _learn(pool, node.args[0], 1 - holds, codes, decided)
    elif (node.op, holds) in (("and", 1), ("or", 0)):
        for arg in node.args:
            _learn(pool, arg, holds, codes, decided)
    elif node.op == "eq" and holds and node.args[1].constant and node.args[0].op == "table":
        _learn(pool, pool.eq(*node.args), 1, codes, decided)


# --- evaluation: the meaning of a node, for tests and for rare cases ------------------------------


def evaluate(node: Node, codes: Sequence[int]) -> int:
    """The node's value where slot i has code codes[i]."""
    if node.op == "const":
        return node.value
    if node.op == "table":
        return node.table[codes[node.value]]
    if node.op == "slot":
        return codes[node.value]
    if node.op == "ite":
        return evaluate(node.args[1 if evaluate(node.args[0], codes) else 2], codes)
    return _APPLY[node.op]([evaluate(arg, codes) for arg in node.args])


def text(node: Node, slots: Sequence[Slot]) -> str:
    """The canonical text of a node: prefix form, slots by name, one-slot conditions as `name in {codes}`."""
    match node.op:
        case "const":
            return str(node.value)
        case "slot":
            return slots[node.value].name
        case "table":
            return _table_text(node, slots[node.value])
    return f"({node.op} {' '.join(text(arg, slots) for arg in node.args)})"


def _table_text(node: Node, slot: Slot) -> str:
    if (node.low, node.high) == (0, 1) and slot.size > 2:
        return f"({slot.name} in {{{','.join(str(c) for c, v in enumerate(node.table) if v)}}})"
    if node.table == tuple(range(slot.size)):
        return slot.name
    shift = node.table[0]
    if node.table == tuple(range(shift, shift + slot.size)):
        return f"(add {slot.name} {shift})"
    return f"(table {slot.name} {','.join(map(str, node.table))})"
