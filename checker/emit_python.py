"""The intermediate form printed as Python over a packed word `s`: conditions, values, the word after."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Protocol

from falsework.ir import Facts, Node, Pool
from falsework.packing import Packing


class Printer:
    """Prints expressions; `tables` collects the constant tuples that the text refers to as T0, T1, ….

    A representation is the five small methods `read`, `one_of` and `after` rest on; tests print a second one.
    """

    def __init__(self, pool: Pool, packing: Packing) -> None:
        self.pool = pool
        self.packing = packing
        self.tables: dict[tuple[int, ...], str] = {}
        self.lets: Mapping[int, str] = {}

    # --- the representation

    def read(self, slot: int) -> str:
        """The slot's code."""
        field = self.packing.fields[slot]
        inner = f"s >> {field.shift}" if field.shift else "s"
        top = field.shift + field.width == self.packing.bits
        return f"({inner})" if top else f"({inner} & {(1 << field.width) - 1})"

    def one_of(self, slot: int, codes: list[int], size: int) -> str:
        """Whether the slot's code is one of these, as a condition."""
        field = self.packing.fields[slot]
        mask, shift = field.mask, field.shift
        others = [code for code in range(size) if code not in codes]
        if size == 2:
            return f"s & {mask}" if codes == [1] else f"not s & {mask}"
        if len(codes) == 1:
            return f"s & {mask} == {codes[0] << shift}"
        if len(others) == 1:
            return f"s & {mask} != {others[0] << shift}"
        if codes == list(range(codes[0], codes[-1] + 1)):
            if codes[0] == 0:
                return f"s & {mask} <= {codes[-1] << shift}"
            if codes[-1] == size - 1:
                return f"s & {mask} >= {codes[0] << shift}"
            return f"{codes[0] << shift} <= s & {mask} <= {codes[-1] << shift}"
        return f"{sum(1 << code for code in codes)} >> {self.read(slot)} & 1"

    def after(self, effects: Mapping[int, Node], facts: Facts) -> str:
        """The word after the step."""
        kept, constant, flip, moving = 0, 0, 0, []
        for slot, code in effects.items():
            field = self.packing.fields[slot]
            old = facts.simplify(self.pool.code(self.pool.slots[slot]))
            if code.constant and old.constant:
                flip |= (code.value ^ old.value) << field.shift
                continue
            step = self._increment(slot, code, facts)
            if step:
                moving.append(f"+ {step << field.shift}" if step > 0 else f"- {-step << field.shift}")
                continue
            kept |= field.mask
            if code.constant:
                constant |= code.value << field.shift
            else:
                moving.append(
                    f"| {self.value(code)} << {field.shift}" if field.shift else f"| {self.value(code)}"
                )
        word = f"s & {~kept}" if kept else "s"
        if constant:
            word = f"{word} | {constant}"
        ors = [part for part in moving if part[0] == "|"]
        sums = [part for part in moving if part[0] != "|"]
        word = (
            f"({word} {' '.join(ors)})"
            if ors
            else f"({word})"
            if (kept or constant) and (flip or sums)
            else word
        )
        word = f"{word} ^ {flip}" if flip else word
        return f"({word}) {' '.join(sums)}" if sums else word

    def _increment(self, slot: int, code: Node, facts: Facts) -> int:
        """The constant that the code adds to its own slot wherever the step is taken, or 0."""
        if code.op != "table" or code.value != slot:
            return 0
        allowed = facts.codes.get(slot, frozenset(range(len(code.table))))
        steps = {code.table[c] - c for c in allowed}
        return steps.pop() if len(steps) == 1 else 0

    # --- conditions

    def condition(self, node: Node) -> str:
        """Text that Python takes for true where the node is not 0."""
        if node.index in self.lets:
            return self.lets[node.index]
        match node.op:
            case "const":
                return "True" if node.value else "False"
            case "table" if (node.low, node.high) == (0, 1):
                return self.one_of(node.value, [c for c, v in enumerate(node.table) if v], len(node.table))
            case "not" if node.args[0].op == "lt" and node.args[0].index not in self.lets:
                return f"{self.value(node.args[0].args[0])} >= {self.value(node.args[0].args[1])}"
            case "not" if node.args[0].op == "eq" and node.args[0].index not in self.lets:
                return f"{self.value(node.args[0].args[0])} != {self.value(node.args[0].args[1])}"
            case "not":
                return f"not ({self.condition(node.args[0])})"
            case "and":
                return self._conjunction(node)
            case "or":
                return " or ".join(f"({self.condition(arg)})" for arg in node.args)
            case "lt":
                return f"{self.value(node.args[0])} < {self.value(node.args[1])}"
            case "eq":
                return f"{self.value(node.args[0])} == {self.value(node.args[1])}"
        return self.value(node)

    def _conjunction(self, node: Node) -> str:
        """Every slot that must have one certain code is compared in one go."""
        fixed = [
            arg
            for arg in node.args
            if arg.op == "table" and sum(arg.table) == 1 and arg.index not in self.lets
        ]
        rest = [f"({self.condition(arg)})" for arg in node.args if arg not in fixed]
        return " and ".join([*self.together({arg.value: arg.table.index(1) for arg in fixed}), *rest])

    def together(self, codes: Mapping[int, int]) -> list[str]:
        """The condition that these slots have these codes, in as few comparisons as there are."""
        if not codes:
            return []
        mask = self.packing.mask(frozenset(codes))
        wanted = sum(code << self.packing.fields[slot].shift for slot, code in codes.items())
        return [f"s & {mask} == {wanted}"]

    # --- values

    def value(self, node: Node) -> str:
        """Text whose value is the node's, safe to stand in any expression."""
        if node.index in self.lets:
            return self.lets[node.index]
        match node.op:
            case "const":
                return str(node.value) if node.value >= 0 else f"({node.value})"
            case "slot":
                return self.read(node.value)
            case "table":
                return self._table(node)
            case "add":
                left, right = node.args
                if right.constant and right.value < 0:
                    return f"({self.value(left)} - {-right.value})"
                return f"({self.value(left)} + {self.value(right)})"
            case "mul" | "floordiv" | "mod":
                sign = {"mul": "*", "floordiv": "//", "mod": "%"}[node.op]
                return f"({self.value(node.args[0])} {sign} {self.value(node.args[1])})"
            case "lt" | "eq":
                return f"({self.condition(node)})"
            case "ite":
                then, other = self.value(node.args[1]), self.value(node.args[2])
                return f"({then} if {self.condition(node.args[0])} else {other})"
            case "pick":
                return self._pick(node)
            case "clamp":
                return f"(i if 0 <= (i := {self.value(node.args[0])}) < {node.args[1].value} else 0)"
        return f"(1 if {self.condition(node)} else 0)"

    def _table(self, node: Node) -> str:
        size = len(node.table)
        first = node.table[0]
        if node.table == tuple(range(first, first + size)):
            read = self.read(node.value)
            return read if first == 0 else f"({read} + {first})" if first > 0 else f"({read} - {-first})"
        if (node.low, node.high) == (0, 1) and size > 2:
            return f"(1 if {self.condition(node)} else 0)"
        name = self.tables.setdefault(node.table, f"T{len(self.tables)}")
        return f"{name}[{self.read(node.value)}]"

    def _pick(self, node: Node) -> str:
        index, *ways = node.args
        strided = self.strided(ways)
        if strided is not None:
            base, stride, mask, offset = strided
            place = self.value(index) if stride == 1 else f"{self.value(index)} * {stride}"
            read = f"(s >> {base} + {place} & {mask})" if base else f"(s >> {place} & {mask})"
            return f"({read} + {offset})" if offset else read
        if all(way.constant for way in ways):
            name = self.tables.setdefault(tuple(way.value for way in ways), f"T{len(self.tables)}")
            return f"{name}[{self.value(index)}]"
        return f"({', '.join(self.value(way) for way in ways)})[{self.value(index)}]"

    def strided(self, ways: list[Node]) -> tuple[int, int, int, int] | None:
        """Base, stride, mask and offset where the ways are like slots at equal distances."""
        if any(way.op != "table" or way.index in self.lets for way in ways):
            return None
        offset, size = ways[0].table[0], len(ways[0].table)
        if any(way.table != tuple(range(offset, offset + size)) for way in ways):
            return None
        shifts = [self.packing.fields[way.value].shift for way in ways]
        stride = shifts[1] - shifts[0]
        if stride <= 0 or any(b - a != stride for a, b in itertools.pairwise(shifts)):
            return None
        return shifts[0], stride, (1 << self.packing.fields[ways[0].value].width) - 1, offset


NESTING = 20
"""An expression nested deeper than this is cut by a let, far below what Python's parser takes."""


def shared(roots: Iterable[Node]) -> dict[int, Node]:
    """The compound nodes to bind to a name: those mentioned more than once, and cuts through deep nesting."""
    uses: dict[int, int] = {}
    height: dict[int, int] = {}
    named: dict[int, Node] = {}

    def visit(node: Node) -> int:
        if node.op in ("const", "slot", "table"):
            return 0
        uses[node.index] = uses.get(node.index, 0) + 1
        if uses[node.index] == 1:
            height[node.index] = 1 + max([visit(arg) for arg in node.args])
            if height[node.index] >= NESTING:
                named[node.index] = node
        else:
            named[node.index] = node
        return 0 if node.index in named else height[node.index]

    for root in roots:
        visit(root)
    return named


class Prints(Protocol):
    """What a body asks of a printer, of Python or of C."""

    lets: Mapping[int, str]

    def condition(self, node: Node) -> str: ...
    def value(self, node: Node) -> str: ...


class Body:
    """A function's lines, its shared expressions bound just before the first line that needs them."""

    let = "    {name} = {value}"

    def __init__(self, printer: Prints, roots: Iterable[Node]) -> None:
        self.printer = printer
        self.named = shared(roots)
        self.lets: dict[int, str] = {}
        self.lines: list[str] = []

    def need(self, node: Node) -> None:
        """Afterwards every shared part of the node has its name."""
        if node.op in ("const", "slot", "table") or node.index in self.lets:
            return
        for arg in node.args:
            self.need(arg)
        if node.index in self.named:
            self.printer.lets = self.lets
            self.lines.append(self.let.format(name=f"v{node.index}", value=self.printer.value(node)))
            self.lets[node.index] = f"v{node.index}"

    def condition(self, node: Node) -> str:
        """The node as a condition in the next line."""
        self.need(node)
        self.printer.lets = self.lets
        return self.printer.condition(node)

    def text(self, name: str) -> str:
        """The whole function of the word `s`."""
        self.printer.lets = {}
        return "\n".join([f"def {name}(s):", *self.lines])
