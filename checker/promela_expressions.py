"""Expressions of the intermediate form written in Promela: C's operators over ints, and (c -> a : b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from falsework.ir import Node

LARGEST = (1 << 31) - 1
LONGEST = 50_000
"""No expression is written out with more signs."""
SLOPES = (0, 1, -1)


class Unsayable(Exception):
    """Promela has no such number, or SPIN would choke on the expression: what was found, what to write."""

    def __init__(self, found: str, write: str) -> None:
        self.found = found
        self.write = write
        super().__init__(found)


class Expressions:
    """Writes nodes over the named slots; a node in `lets` is written as its name."""

    def __init__(self, names: Sequence[str], lets: Mapping[int, str] | None = None) -> None:
        self.names = names
        self.lets = lets or {}
        self._written: dict[int, str] = {}

    def whole(self, node: Node) -> str:
        """Text whose value is the node's, where nothing stands beside it; raises Unsayable."""
        return _bare(self.value(node))

    def value(self, node: Node) -> str:
        """Text whose value is the node's and which may stand in any expression; raises Unsayable."""
        if node.index in self.lets:
            return self.lets[node.index]
        found = self._written.get(node.index)
        if found is None:
            if node.low < -LARGEST or node.high > LARGEST:
                raise Unsayable(f"a value from {node.low} to {node.high}", f"values up to {LARGEST}")
            found = self._written[node.index] = self._value(node)
            if len(found) > LONGEST:
                raise Unsayable(f"an expression of more than {LONGEST} signs", "shorter loops and conditions")
        return found

    def _value(self, node: Node) -> str:
        match node.op:
            case "const":
                return str(node.value) if node.value >= 0 else f"({node.value})"
            case "slot":
                return self.names[node.value]
            case "table":
                return self._table(node)
            case "add":
                return self._sum(*node.args)
            case "mul":
                return f"({self.value(node.args[0])} * {self.value(node.args[1])})"
            case "floordiv" | "mod":
                return self._divided(node)
            case "ite":
                condition, then, other = node.args
                return f"({self.whole(condition)} -> {self.value(then)} : {self.value(other)})"
            case "pick":
                ways = [(place, self.value(way)) for place, way in enumerate(node.args[1:])]
                return chosen(self.value(node.args[0]), ways)
            case "clamp":
                index, size = self.value(node.args[0]), node.args[1].value
                return f"((0 <= {index} && {index} < {size}) -> {index} : 0)"
        return self._condition(node)

    def _condition(self, node: Node) -> str:
        match node.op:
            case "lt" | "eq":
                sign = "<" if node.op == "lt" else "=="
                return f"({self.value(node.args[0])} {sign} {self.value(node.args[1])})"
            case "not" if node.args[0].op in ("lt", "eq") and node.args[0].index not in self.lets:
                sign = ">=" if node.args[0].op == "lt" else "!="
                return f"({self.value(node.args[0].args[0])} {sign} {self.value(node.args[0].args[1])})"
            case "not":
                return f"(!{self.value(node.args[0])})"
        sign = " && " if node.op == "and" else " || "
        return f"({sign.join(map(self._beside, node.args))})"

    def _beside(self, node: Node) -> str:
        """The node between && and ||: a comparison needs no parentheses there."""
        text = self.value(node)
        inner = _bare(text)
        return text if any(sign in inner for sign in ("&&", "||", "->")) else inner

    def _sum(self, left: Node, right: Node) -> str:
        if right.constant and right.value < 0:
            return f"({self.value(left)} - {-right.value})"
        for one, other in ((right, left), (left, right)):
            if one.op == "mul" and one.args[1].constant and one.args[1].value == -1 and (
                one.index not in self.lets
            ):  # fmt: skip
                return f"({self.value(other)} - {self.value(one.args[0])})"
        return f"({self.value(left)} + {self.value(right)})"

    def _divided(self, node: Node) -> str:
        """Rounded down: C rounds towards 0, which differs below it."""
        left, right = map(self.value, node.args)
        if node.args[0].low >= 0:
            return f"({left} {'/' if node.op == 'floordiv' else '%'} {right})"
        rest = f"((({left} % {right}) + {right}) % {right})"
        if node.op == "mod":
            return rest
        if node.args[0].low - node.args[1].value < -LARGEST:
            least = node.args[1].value - LARGEST
            raise Unsayable(f"the quotient of a value from {node.args[0].low}", f"values above {least}")
        return f"(({left} - {rest}) / {right})"

    def _table(self, node: Node) -> str:
        name = self.names[node.value]
        if (node.low, node.high) == (0, 1) and node.table != (0, 1):
            return _one_of(name, node.table)
        pieces = []
        for first, slope in _pieces(node.table):
            shift = node.table[first] - slope * first
            pieces.append((first, _line(name, slope, shift)))
        return chosen(name, pieces)


def chosen(index: str, ways: Sequence[tuple[int, str]]) -> str:
    """The text of the last way that begins at or below the index, found by halving."""
    if len(ways) == 1:
        return ways[0][1]
    middle = len(ways) // 2
    below, above = chosen(index, ways[:middle]), chosen(index, ways[middle:])
    return below if below == above else f"({index} < {ways[middle][0]} -> {below} : {above})"


def _line(name: str, slope: int, shift: int) -> str:
    if slope == 0:
        return str(shift) if shift >= 0 else f"({shift})"
    if slope == -1:
        return f"({shift} - {name})"
    if shift == 0:
        return name
    return f"({name} + {shift})" if shift > 0 else f"({name} - {-shift})"


def _pieces(table: Sequence[int]) -> list[tuple[int, int]]:
    """Where the straight pieces of the table begin, each as long as can be, and their slopes."""
    pieces, first = [], 0
    while first < len(table):
        ends = {slope: _end(table, first, slope) for slope in SLOPES}
        slope = max(SLOPES, key=lambda s: ends[s])
        pieces.append((first, slope))
        first = ends[slope]
    return pieces


def _end(table: Sequence[int], first: int, slope: int) -> int:
    end = first + 1
    while end < len(table) and table[end] - table[end - 1] == slope:
        end += 1
    return end


def _one_of(name: str, table: Sequence[int]) -> str:
    """Whether the table holds 1 at the slot's code, by comparisons with the ends of its runs."""
    if len(table) == 2:
        return f"(!{name})"
    inside, outside = _runs(table, 1), _runs(table, 0)
    last = len(table) - 1
    if len(outside) == 1 and outside[0][0] == outside[0][1]:
        return f"({name} != {outside[0][0]})"
    parts = []
    for low, high in inside:
        if low == high:
            parts.append(f"{name} == {low}")
        elif low == 0:
            parts.append(f"{name} <= {high}")
        elif high == last:
            parts.append(f"{name} >= {low}")
        else:
            parts.append(f"({low} <= {name} && {name} <= {high})")
    return f"({' || '.join(parts)})" if len(parts) > 1 or parts[0][0] != "(" else parts[0]


def _runs(table: Sequence[int], wanted: int) -> list[tuple[int, int]]:
    """The first and the last code of each run of that value."""
    runs: list[tuple[int, int]] = []
    for code, value in enumerate(table):
        if value != wanted:
            continue
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


def _bare(text: str) -> str:
    """The text without the parentheses around the whole of it; a conditional expression keeps its own."""
    if not text.startswith("(") or "->" in text:
        return text
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text
