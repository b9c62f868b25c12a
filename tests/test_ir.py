"""Expressions built through the pool, simplified and printed, against the same trees evaluated naively.

What is expected comes from `naive`, which walks the drawn tree and shares nothing with the pool; every claim
is looked at for every assignment of the slots.
"""

import itertools
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from falsework import ir
from falsework.definition import definition_of
from falsework.emit_python import Body, Printer
from falsework.ir import Facts, Node, Pool, evaluate
from falsework.language import Model, Upto, action
from falsework.lower import Lowered, lower
from falsework.packing import Packing

SIZES = (2, 3, 4)
Tree = tuple[Any, ...]


class Slots(Model):
    """Three slots of these sizes."""

    a: bool = False
    b: Annotated[int, Upto(2)] = 0
    c: Annotated[int, Upto(3)] = 0

    @action
    def stay(self) -> None:
        pass


# --- trees --------------------------------------------------------------------------------------------


def ints(slots: tuple[int, ...], depth: int) -> st.SearchStrategy[Tree]:
    """Trees whose value is an int."""
    leaves = st.one_of(
        st.tuples(st.just("const"), st.integers(-3, 4)), st.tuples(st.just("slot"), st.sampled_from(slots))
    )
    if not depth:
        return leaves
    part, test = ints(slots, depth - 1), bools(slots, depth - 1)
    return st.one_of(
        *([leaves] if depth == 1 else []),
        st.tuples(st.just("add"), st.lists(part, min_size=1, max_size=3).map(tuple)),
        st.tuples(st.just("mul"), part, part),
        st.tuples(st.sampled_from(("floordiv", "mod")), part, st.integers(1, 3)),
        st.tuples(st.just("ite"), test, part, part),
        st.tuples(st.just("pick"), part, st.lists(part, min_size=1, max_size=5).map(tuple)),
        test,
    )


def bools(slots: tuple[int, ...], depth: int) -> st.SearchStrategy[Tree]:
    """Trees whose value is 0 or 1."""
    member = st.tuples(st.just("member"), st.sampled_from(slots), st.frozensets(st.integers(0, 3)).map(tuple))
    if not depth:
        return member
    part, test = ints(slots, depth - 1), bools(slots, depth - 1)
    return st.one_of(
        *([member] if depth == 1 else []),
        st.tuples(st.sampled_from(("lt", "le", "eq")), part, part),
        st.tuples(st.just("truth"), part),
        st.tuples(st.just("not"), test),
        st.tuples(st.sampled_from(("and", "or")), st.lists(test, max_size=4).map(tuple)),
        st.tuples(st.just("ite"), test, test, test),
    )


def naive(tree: Tree, codes: tuple[int, ...]) -> int:
    """The tree's value, in plain Python."""
    match tree:
        case ("const", value):
            return int(value)
        case ("slot", slot):
            return codes[slot]
        case ("member", slot, wanted):
            return int(codes[slot] in wanted)
        case ("add", parts):
            return sum(naive(part, codes) for part in parts)
        case ("and", parts):
            return int(all(naive(part, codes) for part in parts))
        case ("or", parts):
            return int(any(naive(part, codes) for part in parts))
        case ("not" | "truth" as op, part):
            return int((naive(part, codes) != 0) == (op == "truth"))
        case ("ite", test, then, other):
            return naive(then if naive(test, codes) else other, codes)
        case ("pick", index, ways):
            at = naive(index, codes)
            return naive(ways[at] if 0 <= at < len(ways) else ways[0], codes)
        case ("floordiv", part, divisor):
            return naive(part, codes) // int(divisor)
        case ("mod", part, divisor):
            return naive(part, codes) % int(divisor)
    op, left, right = tree[0], naive(tree[1], codes), naive(tree[2], codes)
    return int({"mul": left * right, "lt": left < right, "le": left <= right, "eq": left == right}[op])


def built(pool: Pool, tree: Tree) -> Node:
    """The tree through the pool's constructors."""
    match tree:
        case ("const", value):
            return pool.const(value)
        case ("slot", slot):
            return pool.code(pool.slots[slot])
        case ("member", slot, wanted):
            return pool.member(slot, wanted)
        case ("add" | "and" | "or" as op, parts):
            join = {"add": pool.add, "and": pool.and_, "or": pool.or_}[op]
            return join(*(built(pool, part) for part in parts))
        case ("not", part):
            return pool.not_(built(pool, part))
        case ("truth", part):
            return pool.truth(built(pool, part))
        case ("ite", test, then, other):
            return pool.ite(built(pool, test), built(pool, then), built(pool, other))
        case ("pick", index, ways):
            return pool.pick(built(pool, index), [built(pool, way) for way in ways])
        case ("floordiv" | "mod" as op, part, divisor):
            return (pool.floordiv if op == "floordiv" else pool.mod)(built(pool, part), divisor)
    two = {"mul": pool.mul, "lt": pool.lt, "le": pool.le, "eq": pool.eq}[tree[0]]
    return two(built(pool, tree[1]), built(pool, tree[2]))


def slots_of(sizes: tuple[int, ...]) -> Pool:
    pool = Pool()
    for place, size in enumerate(sizes):
        pool.new_slot("abc"[place], size)
    return pool


def assignments() -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, SIZES))


EVERY = tuple(range(len(SIZES)))


# --- what the pool promises -----------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [4096, 2])
@given(tree=ints(EVERY, 3))
@settings(max_examples=300, deadline=None)
def test_a_node_has_the_value_of_its_tree_inside_its_interval(limit: int, tree: Tree) -> None:
    """With a limit of 2, slots b and c are too large for tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ir, "TABLE_LIMIT", limit)
        node = built(slots_of(SIZES), tree)
    for codes in assignments():
        value = evaluate(node, codes)
        assert value == naive(tree, codes)
        assert node.low <= value <= node.high


@given(tree=ints((2,), 3), other=ints((2,), 3))
@settings(max_examples=300, deadline=None)
def test_one_function_of_one_slot_is_one_node(tree: Tree, other: Tree) -> None:
    pool = slots_of(SIZES)
    node, second = built(pool, tree), built(pool, other)
    table = tuple(naive(tree, (0, 0, code)) for code in range(4))
    assert node is pool.table(2, table)
    assert (node is second) == (table == tuple(naive(other, (0, 0, code)) for code in range(4)))


Conditions = st.lists(st.tuples(bools(EVERY, 3), st.booleans()), min_size=1, max_size=3)


@pytest.mark.parametrize("limit", [4096, 2])
@given(tree=ints(EVERY, 3), conditions=Conditions)
@settings(max_examples=300, deadline=None)
def test_what_facts_simplify_is_the_same_wherever_they_hold(
    limit: int, tree: Tree, conditions: list[tuple[Tree, bool]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ir, "TABLE_LIMIT", limit)
        pool = slots_of(SIZES)
        node = built(pool, tree)
        facts = Facts(pool)
        for condition, holds in conditions:
            facts = facts.given(facts.simplify(built(pool, condition)), holds=holds)
        simple, span = facts.simplify(node), facts.span(node)
    for codes in assignments():
        if all(bool(naive(condition, codes)) == holds for condition, holds in conditions):
            assert evaluate(simple, codes) == naive(tree, codes)
            assert span[0] <= naive(tree, codes) <= span[1]
            assert all(codes[slot] in allowed for slot, allowed in facts.codes.items())


# --- what is printed ------------------------------------------------------------------------------------


def laid() -> tuple[Lowered, Packing]:
    lowered = lower(definition_of(Slots))
    assert tuple(slot.size for slot in lowered.slots) == SIZES
    return lowered, Packing(lowered.definition, lowered.slots)


def packed(packing: Packing, codes: tuple[int, ...]) -> int:
    return sum(code << field.shift for code, field in zip(codes, packing.fields, strict=True))


BELOW_THE_FIRST = ("add", (("slot", 1), ("mul", ("const", -1), ("slot", 2))))


@given(tree=ints(EVERY, 3), test=bools(EVERY, 3))
@example(
    tree=("pick", BELOW_THE_FIRST, (("slot", 0), ("const", 3), ("slot", 2))), test=("truth", ("const", 1))
)
@settings(max_examples=200, deadline=None)
def test_printed_text_has_the_value_of_its_tree(tree: Tree, test: Tree) -> None:
    lowered, packing = laid()
    value, condition = built(lowered.pool, tree), built(lowered.pool, test)
    printer = Printer(lowered.pool, packing)
    body = Body(printer, [value, condition])
    asked = body.condition(condition)
    body.need(value)
    printer.lets = body.lets
    body.lines.append(f"    return {printer.value(value)}, bool({asked})")
    names: dict[str, Any] = {}
    exec(body.text("printed"), names)  # noqa: S102  our own printed text
    names |= {name: table for table, name in printer.tables.items()}
    for codes in assignments():
        found = names["printed"](packed(packing, codes))
        assert found == (naive(tree, codes), bool(naive(test, codes)))


@pytest.mark.slow
@given(trees=st.tuples(*(ints(EVERY, 3) for _ in SIZES)), conditions=Conditions)
@settings(max_examples=200, deadline=None)
def test_the_word_after_a_step_holds_the_new_codes(
    trees: tuple[Tree, ...], conditions: list[tuple[Tree, bool]]
) -> None:
    """Each slot takes a value brought into its range; the facts are those of the guards before."""
    lowered, packing = laid()
    pool, facts = lowered.pool, Facts(lowered.pool)
    for condition, holds in conditions:
        facts = facts.given(built(pool, condition), holds=holds)
    effects = {
        slot: facts.simplify(pool.mod(built(pool, tree), SIZES[slot])) for slot, tree in enumerate(trees)
    }
    effects = {slot: code for slot, code in effects.items() if code is not pool.code(pool.slots[slot])}
    printer = Printer(pool, packing)
    text = printer.after(effects, facts)
    for codes in assignments():
        if all(bool(naive(condition, codes)) == holds for condition, holds in conditions):
            after = tuple(naive(tree, codes) % size for tree, size in zip(trees, SIZES, strict=True))
            names = {"s": packed(packing, codes)} | {name: table for table, name in printer.tables.items()}
            assert eval(text, names) == packed(packing, after)  # noqa: S307  our own printed text
