"""Symbolic values: what an expression stands for while its method is lowered, and how values become slots."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from falsework.domains import (
    Bool,
    Domain,
    EnumOf,
    Int,
    MapOf,
    OptionOf,
    RecordOf,
    SeqOf,
    SetOf,
    TupleOf,
    VariableDomain,
    spell,
)
from falsework.ir import Node, Pool
from falsework.values import Record


class Mismatch(Exception):
    """Two values that can never be the same kind of thing."""


@dataclass(frozen=True, eq=False)
class Num:
    """An int or a bool; `cap` is where an elapsed time saturates, `flag` says that Python sees a bool."""

    node: Node
    cap: int | None = None
    flag: bool = False


@dataclass(frozen=True, eq=False)
class Member:
    """An Enum member, by its place in the Enum."""

    cls: type[enum.Enum]
    node: Node


@dataclass(frozen=True, eq=False)
class Option:
    """None where `present` is 0, else the inner value (None inside where it is never present)."""

    present: Node
    inner: Value | None


@dataclass(frozen=True, eq=False)
class Rec:
    """A record, field by field."""

    cls: type[Record]
    fields: dict[str, Value]


@dataclass(frozen=True, eq=False)
class Tup:
    """A tuple."""

    items: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Py:
    """Anything that is known whole while lowering: a class, a function, a row, a range."""

    thing: object


@dataclass(frozen=True, eq=False)
class Ref:
    """A collection where it stands: the state it belongs to and the variable."""

    state: SymbolicState
    name: str
    domain: MapOf | SetOf | SeqOf


@dataclass(frozen=True, eq=False)
class Fresh:
    """A collection made anew, `Map(0)`, `Set()` or `Seq((a, b))`, about to be assigned to a variable."""

    made: object
    items: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Inst:
    """The model itself: `self`, or the state before the step."""

    state: SymbolicState


Value = Num | Member | Option | Rec | Tup | Py | Ref | Inst | Fresh


@dataclass(frozen=True, eq=False)
class Items:
    """A symbolic sequence: its length, and its item slots, as many as it might hold."""

    length: Node
    slots: tuple[Value, ...]


Cell = Value | tuple[Value, ...] | tuple[Node, ...] | Items
"""What a variable holds: a value, a Map's values by key, a Set's members as booleans, or a Seq's items."""


@dataclass(eq=False)
class SymbolicState:
    """Every variable's symbolic content; and the figures that are left open, if any are."""

    cells: dict[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Value] = field(default_factory=dict)


# --- keys -----------------------------------------------------------------------------------------


def key_count(domain: Domain) -> int:
    """How many keys the domain has."""
    match domain:
        case Bool():
            return 2
        case Int(low, high):
            return high - low + 1
        case EnumOf(cls):
            return len(cls)
        case OptionOf(inner):
            return 1 + key_count(inner)
        case TupleOf(parts):
            count = 1
            for part in parts:
                count *= key_count(part)
            return count
    raise Mismatch(f"{domain} is no key")


def key_index(pool: Pool, domain: Domain, value: Value) -> tuple[Node, Node]:
    """The place of the key in domain order, and whether it lies outside the domain."""
    match domain, value:
        case Int(low, high), Num(node):
            outside = pool.or_(pool.lt(node, pool.const(low)), pool.lt(pool.const(high), node))
            return pool.add(node, pool.const(-low)), outside
        case Bool(), Num(node):
            return node, pool.or_(pool.lt(node, pool.false), pool.lt(pool.true, node))
        case EnumOf(cls), Member(of, node):
            return node, pool.const(of is not cls)
        case OptionOf(inner), Option(present, held):
            if held is None:
                return pool.false, pool.false
            index, outside = key_index(pool, inner, held)
            return pool.ite(present, pool.add(index, pool.true), pool.false), pool.and_(present, outside)
        case OptionOf(inner), _:
            index, outside = key_index(pool, inner, value)
            return pool.add(index, pool.true), outside
        case _, Option(present, held) if held is not None:
            index, outside = key_index(pool, domain, held)
            return index, pool.or_(pool.not_(present), outside)
        case TupleOf(parts), Tup(items) if len(parts) == len(items):
            total, bad = pool.false, pool.false
            for part, item in zip(parts, items, strict=True):
                index, outside = key_index(pool, part, item)
                total = pool.add(pool.mul(total, pool.const(key_count(part))), index)
                bad = pool.or_(bad, outside)
            return total, bad
    return pool.false, pool.true


# --- constants ------------------------------------------------------------------------------------


def constant(pool: Pool, thing: object) -> Value:
    """A Python value as a symbolic one."""
    if thing is None:
        return Option(pool.false, None)
    if isinstance(thing, int):
        return Num(pool.const(int(thing)), flag=isinstance(thing, bool))
    if isinstance(thing, enum.Enum):
        return Member(type(thing), pool.const(list(type(thing)).index(thing)))
    if isinstance(thing, tuple):
        return Tup(tuple(constant(pool, part) for part in thing))
    if isinstance(thing, Record):
        names = [f.name for f in dataclasses.fields(thing)]  # type: ignore[arg-type]
        return Rec(type(thing), {name: constant(pool, getattr(thing, name)) for name in names})
    return Py(thing)


def zero(pool: Pool, domain: Domain) -> Value:
    """The first value of the domain: what unused places hold."""
    match domain:
        case Bool() | Int():
            return constant(pool, domain.low if isinstance(domain, Int) else False)
        case EnumOf(cls):
            return Member(cls, pool.false)
        case OptionOf(inner):
            return Option(pool.false, zero(pool, inner))
        case RecordOf(cls, fields):
            return Rec(cls, {name: zero(pool, inner) for name, inner in fields})
    raise Mismatch(f"{domain} is no cell")


# --- one of several -------------------------------------------------------------------------------


def pick(pool: Pool, index: Node, ways: Sequence[Value]) -> Value:
    """`ways[index]`, part by part; raises Mismatch where the ways are of different kinds."""
    if index.constant:
        return ways[index.value if 0 <= index.value < len(ways) else 0]
    head = ways[0]
    if all(way is head for way in ways):
        return head
    if any(isinstance(way, Option) for way in ways):
        return _pick_option(pool, index, ways)
    if isinstance(head, Num) and all(isinstance(way, Num) for way in ways):
        numbers = [way for way in ways if isinstance(way, Num)]
        cap = min((n.cap for n in numbers if n.cap is not None), default=None)
        return Num(pool.pick(index, [n.node for n in numbers]), cap, all(n.flag for n in numbers))
    if isinstance(head, Member) and all(isinstance(way, Member) and way.cls is head.cls for way in ways):
        return Member(head.cls, pool.pick(index, [w.node for w in ways if isinstance(w, Member)]))
    if isinstance(head, Rec) and all(isinstance(way, Rec) and way.cls is head.cls for way in ways):
        records = [way for way in ways if isinstance(way, Rec)]
        return Rec(head.cls, {n: pick(pool, index, [r.fields[n] for r in records]) for n in head.fields})
    if isinstance(head, Tup) and all(
        isinstance(way, Tup) and len(way.items) == len(head.items) for way in ways
    ):
        tuples = [way for way in ways if isinstance(way, Tup)]
        return Tup(tuple(pick(pool, index, [t.items[i] for t in tuples]) for i in range(len(head.items))))
    raise Mismatch(
        f"{kind(head)} in one case, {' or '.join(sorted({kind(w) for w in ways} - {kind(head)}))} in another"
    )


def _pick_option(pool: Pool, index: Node, ways: Sequence[Value]) -> Value:
    options = [way if isinstance(way, Option) else Option(pool.true, way) for way in ways]
    present = pool.pick(index, [option.present for option in options])
    inners = [option.inner for option in options if option.inner is not None]
    if not inners:
        return Option(pool.false, None)
    return Option(present, pick(pool, index, [inners[0] if o.inner is None else o.inner for o in options]))


def choose(pool: Pool, condition: Node, then: Value, other: Value) -> Value:
    """`then` where the condition is 1, else `other`."""
    return pick(pool, condition, (other, then))


def kind(value: Value) -> str:
    """What the value is, in a user's words."""
    match value:
        case Num(flag=flag):
            return "a bool" if flag else "an int"
        case Member(cls, _):
            return f"a {cls.__name__}"
        case Option():
            return "an option"
        case Rec(cls, _):
            return f"a {cls.__name__}"
        case Tup(items):
            return f"a tuple of {len(items)}"
        case Ref(_, name, _):
            return f"the collection {name}"
        case Inst():
            return "the model"
        case Fresh():
            return "a fresh collection"
        case Py(thing):
            return f"{thing!r}"


# --- comparing ------------------------------------------------------------------------------------


def same(pool: Pool, left: Value, right: Value) -> Node:
    """Whether the two are equal, as Python's == on the values says."""
    match left, right:
        case Num(a), Num(b):
            return pool.eq(a, b)
        case Member(one, a), Member(two, b):
            return pool.eq(a, b) if one is two else pool.false
        case Option(p, a), Option(q, b):
            if a is None or b is None:
                return pool.and_(pool.not_(p), pool.not_(q))
            return pool.or_(pool.and_(pool.not_(p), pool.not_(q)), pool.and_(p, q, same(pool, a, b)))
        case Option(p, a), _:
            return pool.false if a is None else pool.and_(p, same(pool, a, right))
        case _, Option():
            return same(pool, right, left)
        case Rec(one, a), Rec(two, b):
            return pool.and_(*(same(pool, a[n], b[n]) for n in a)) if one is two else pool.false
        case Tup(a), Tup(b):
            return (
                pool.and_(*(same(pool, x, y) for x, y in zip(a, b, strict=True)))
                if len(a) == len(b)
                else pool.false
            )
        case Py(a), Py(b):
            return pool.const(a == b)
    return pool.false


# --- slots ----------------------------------------------------------------------------------------


def cell_slots(domain: Domain, name: str) -> Iterator[tuple[str, int]]:
    """The slots of one cell: a name and a size each."""
    match domain:
        case Bool() | Int() | EnumOf():
            yield name, key_count(domain)
        case OptionOf(RecordOf() as inner):
            yield f"{name}?", 2
            yield from cell_slots(inner, name)
        case OptionOf(inner):
            yield name, 1 + key_count(inner)
        case RecordOf(_, fields):
            for part, inner in fields:
                yield from cell_slots(inner, f"{name}.{part}")


def variable_slots(domain: VariableDomain, name: str) -> Iterator[tuple[str, int]]:
    """The slots of a variable, in the order in which they are packed."""
    match domain:
        case MapOf(key, value):
            for k in key.values():
                yield from cell_slots(value, f"{name}[{spell(k)}]")
        case SetOf(key):
            for k in key.values():
                yield f"{name}[{spell(k)}]", 2
        case SeqOf(item, length):
            yield f"len({name})", length + 1
            for place in range(length):
                yield from cell_slots(item, f"{name}[{place}]")
        case _:
            yield from cell_slots(domain, name)


def load(pool: Pool, domain: Domain, codes: Iterator[Node]) -> Value:
    """The cell that these slots hold."""
    match domain:
        case Bool():
            return Num(next(codes), flag=True)
        case Int(low, high, clock):
            return Num(pool.add(next(codes), pool.const(low)), high if clock == "elapsed" else None)
        case EnumOf(cls):
            return Member(cls, next(codes))
        case OptionOf(RecordOf() as inner):
            return Option(next(codes), load(pool, inner, codes))
        case OptionOf(inner):
            code = next(codes)
            shifted = pool.add(code, pool.const(-1))
            if (
                shifted.table
            ):  # where the option is None nobody may look; 0 keeps the table inside the inner domain
                shifted = pool.table(shifted.value, tuple(max(value, 0) for value in shifted.table))
            present = pool.not_(pool.eq(code, pool.false))
            return Option(present, load(pool, inner, iter((shifted,))))
        case RecordOf(cls, fields):
            return Rec(cls, {name: load(pool, inner, codes) for name, inner in fields})
    raise Mismatch(f"{domain} is no cell")


def store(pool: Pool, domain: Domain, value: Value) -> tuple[list[Node], Node]:
    """The codes of the cell's slots, and whether the value lies outside the domain."""
    if isinstance(value, Option) and not isinstance(domain, OptionOf):
        if value.inner is None:
            return [pool.false for _ in cell_slots(domain, "")], pool.true
        codes, outside = store(pool, domain, value.inner)
        return codes, pool.or_(pool.not_(value.present), outside)
    match domain, value:
        case ((Bool() | Int() | EnumOf()), (Num() | Member())):
            index, outside = key_index(pool, domain, value)
            return [index], outside
        case OptionOf(inner), Option(present, held):
            if held is None:
                return [pool.false for _ in cell_slots(domain, "")], pool.false
            codes, outside = store(pool, inner, held)
            if isinstance(inner, RecordOf):
                return [present, *(pool.ite(present, code, pool.false) for code in codes)], pool.and_(
                    present, outside
                )
            return [pool.ite(present, pool.add(codes[0], pool.true), pool.false)], pool.and_(present, outside)
        case OptionOf(), _:
            return store(pool, domain, Option(pool.true, value))
        case RecordOf(cls, fields), Rec(of, parts) if of is cls:
            all_codes: list[Node] = []
            bad = pool.false
            for name, inner in fields:
                codes, outside = store(pool, inner, parts[name])
                all_codes += codes
                bad = pool.or_(bad, outside)
            return all_codes, bad
    return [pool.false for _ in cell_slots(domain, "")], pool.true
