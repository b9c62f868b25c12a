"""A lowered model printed as C: one function an instance, and the predicates, over states packed in words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from falsework.emit_python import Body
from falsework.errors import Refused
from falsework.ir import LARGEST, Facts, Node
from falsework.lower import Lowered

FIRST_WORD, WORD = 59, 64


@dataclass(frozen=True)
class Field:
    """Where a slot's code stands: in which word, how far up, how wide."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The slot's bits, in place."""
        return ((1 << self.width) - 1) << self.shift


class Words:
    """The slots of a model side by side in as few words as hold them, none across two."""

    def __init__(self, lowered: Lowered) -> None:
        self.fields: list[Field] = []
        word, shift = 0, 0
        for slot in lowered.slots:
            width = (slot.size - 1).bit_length()
            if width > FIRST_WORD:
                named = re.match(r"\w+", slot.name)
                place = next(v.place for v in lowered.definition.variables if named and v.name == named[0])
                found = f"{slot.name} has {slot.size} values, which take {width} bits"
                raise Refused("P012", place, found, f"a domain of at most 2**{FIRST_WORD} values")
            if shift + width > (WORD if word else FIRST_WORD):
                word, shift = word + 1, 0
            self.fields.append(Field(word, shift, width))
            shift += width
        self.count = word + 1

    def pack(self, codes: Iterable[int]) -> list[int]:
        """The words of these codes."""
        words = [0] * self.count
        for field, code in zip(self.fields, codes, strict=True):
            words[field.word] |= code << field.shift
        return words


class CPrinter:
    """Prints expressions of the words s0, s1, … as C; int64 everywhere, conditions 0 or 1."""

    def __init__(self, lowered: Lowered, words: Words) -> None:
        self.lowered = lowered
        self.pool = lowered.pool
        self.words = words
        self.tables: dict[tuple[int, ...], str] = {}
        self.lets: Mapping[int, str] = {}
        self.place = lowered.definition.place  # of the method that is being printed

    # --- slots

    def read(self, slot: int) -> str:
        """The slot's code."""
        field = self.words.fields[slot]
        inner = f"s{field.word} >> {field.shift}" if field.shift else f"s{field.word}"
        return f"(int64_t)({inner} & {(1 << field.width) - 1}ULL)" if field.width else "0"

    def together(self, codes: Mapping[int, int]) -> list[str]:
        """The condition that these slots have these codes, one comparison a word."""
        masks: dict[int, int] = {}
        wanted: dict[int, int] = {}
        for slot, code in codes.items():
            field = self.words.fields[slot]
            masks[field.word] = masks.get(field.word, 0) | field.mask
            wanted[field.word] = wanted.get(field.word, 0) | code << field.shift
        return [f"is(s{word}, {mask}ULL, {wanted[word]}ULL)" for word, mask in masks.items()]

    def one_of(self, slot: int, codes: list[int], size: int) -> str:
        """Whether the slot's code is one of these."""
        field = self.words.fields[slot]
        bits = f"(s{field.word} & {field.mask}ULL)"
        others = [code for code in range(size) if code not in codes]
        if len(codes) == 1:
            return f"is(s{field.word}, {field.mask}ULL, {codes[0] << field.shift}ULL)"
        if len(others) == 1:
            return f"!is(s{field.word}, {field.mask}ULL, {others[0] << field.shift}ULL)"
        if codes == list(range(codes[0], codes[-1] + 1)):
            parts = [f"{bits} >= {codes[0] << field.shift}ULL"] if codes[0] else []
            parts += [f"{bits} <= {codes[-1] << field.shift}ULL"] if codes[-1] < size - 1 else []
            return " && ".join(parts)
        if size <= 64:
            return f"(int64_t)({sum(1 << code for code in codes)}ULL >> {self.read(slot)} & 1)"
        return f"{self.table(tuple(int(c in set(codes)) for c in range(size)))}[{self.read(slot)}]"

    def table(self, values: tuple[int, ...]) -> str:
        """The constant array of these values."""
        return self.tables.setdefault(values, f"T{len(self.tables)}")

    # --- conditions

    def condition(self, node: Node) -> str:
        """Text that C takes for true where the node is not 0."""
        if node.index in self.lets:
            return self.lets[node.index]
        match node.op:
            case "const":
                return str(node.value)
            case "table" if (node.low, node.high) == (0, 1):
                return self.one_of(node.value, [c for c, v in enumerate(node.table) if v], len(node.table))
            case "not":
                return f"!({self.condition(node.args[0])})"
            case "and":
                return self._conjunction(node)
            case "or":
                return " || ".join(f"({self.condition(arg)})" for arg in node.args)
            case "lt" | "eq":
                sign = "<" if node.op == "lt" else "=="
                return f"{self.value(node.args[0])} {sign} {self.value(node.args[1])}"
        return self.value(node)

    def _conjunction(self, node: Node) -> str:
        fixed = [a for a in node.args if a.op == "table" and sum(a.table) == 1 and a.index not in self.lets]
        rest = [f"({self.condition(arg)})" for arg in node.args if arg not in fixed]
        return " && ".join([*self.together({a.value: a.table.index(1) for a in fixed}), *rest])

    # --- values

    def value(self, node: Node) -> str:
        """Text whose value is the node's, safe to stand in any expression."""
        if node.index in self.lets:
            return self.lets[node.index]
        if node.low < -LARGEST or node.high > LARGEST:
            found = f"a number that may be {node.low if node.high <= LARGEST else node.high}"
            place = self.pool.wide.get(node.index, self.place)
            raise Refused("P012", place, found, "numbers from -2**62 to 2**62, or --engine fast")
        match node.op:
            case "const":
                return f"({node.value}LL)" if node.value < 0 else f"{node.value}LL"
            case "slot":
                return self.read(node.value)
            case "table":
                return self._table(node)
            case "add" | "mul":
                sign = "+" if node.op == "add" else "*"
                return f"({self.value(node.args[0])} {sign} {self.value(node.args[1])})"
            case "floordiv" | "mod":
                left, right = map(self.value, node.args)
                if node.args[0].low >= 0:
                    return f"({left} {'/' if node.op == 'floordiv' else '%'} {right})"
                return f"{node.op}({left}, {right})"
            case "ite":
                then, other = self.value(node.args[1]), self.value(node.args[2])
                return f"(({self.condition(node.args[0])}) ? {then} : {other})"
            case "pick":
                return self._pick(node)
            case "clamp":
                return f"clamp({self.value(node.args[0])}, {node.args[1].value})"
        return f"({self.condition(node)})"

    def _table(self, node: Node) -> str:
        size, first = len(node.table), node.table[0]
        if node.table == tuple(range(first, first + size)):
            return f"({self.read(node.value)} + {first})" if first else f"({self.read(node.value)})"
        if (node.low, node.high) == (0, 1):
            return f"({self.condition(node)})"
        return f"{self.table(node.table)}[{self.read(node.value)}]"

    def _pick(self, node: Node) -> str:
        index, *ways = node.args
        if all(way.constant for way in ways):
            return f"{self.table(tuple(way.value for way in ways))}[{self.value(index)}]"
        strided = self._strided(ways)
        if strided is not None:
            word, base, stride, mask, offset = strided
            return f"((int64_t)(s{word} >> ({base} + {self.value(index)} * {stride}) & {mask}ULL) + {offset})"
        text = self.value(ways[-1])
        for place, way in reversed(list(enumerate(ways[:-1]))):
            text = f"({self.value(index)} == {place} ? {self.value(way)} : {text})"
        return text

    def _strided(self, ways: list[Node]) -> tuple[int, int, int, int, int] | None:
        """Word, base, stride, mask and offset where the ways are like slots at equal distances."""
        if any(way.op != "table" or way.index in self.lets for way in ways):
            return None
        offset, size = ways[0].table[0], len(ways[0].table)
        if any(way.table != tuple(range(offset, offset + size)) for way in ways):
            return None
        fields = [self.words.fields[way.value] for way in ways]
        stride = fields[1].shift - fields[0].shift
        regular = all(b.shift - a.shift == stride for a, b in itertools.pairwise(fields))
        if stride <= 0 or not regular or any(f.word != fields[0].word for f in fields):
            return None
        return fields[0].word, fields[0].shift, stride, (1 << fields[0].width) - 1, offset

    # --- effects

    def after(self, effects: Mapping[int, Node], facts: Facts) -> list[str]:
        """The lines that make *t of *s, a word at a time."""
        by_word: dict[int, dict[int, Node]] = {}
        for slot, code in effects.items():
            by_word.setdefault(self.words.fields[slot].word, {})[slot] = code
        count = self.words.count
        return [f"    t->w[{k}] = {self._word_after(k, by_word.get(k, {}), facts)};" for k in range(count)]

    def _word_after(self, word: int, effects: Mapping[int, Node], facts: Facts) -> str:
        cleared, constant, flip, parts = 0, 0, 0, []
        for slot, code in effects.items():
            field = self.words.fields[slot]
            old = facts.simplify(self.pool.code(self.pool.slots[slot]))
            if code.constant and old.constant:
                flip |= (code.value ^ old.value) << field.shift
                continue
            cleared |= field.mask
            if code.constant:
                constant |= code.value << field.shift
            else:
                parts.append(f"(word){self.value(code)} << {field.shift}")
        text = f"s{word}"
        if cleared:
            kept = ~cleared & ((1 << 64) - 1)
            text = f"(s{word} & {kept}ULL)"
        text = " | ".join([text, *([f"{constant}ULL"] if constant else []), *parts])
        return f"({text}) ^ {flip}ULL" if flip else text


class CBody(Body):
    """A C function's lines, over the words of *s."""

    let = "    const int64_t {name} = {value};"

    def __init__(self, printer: CPrinter, roots: Iterable[Node]) -> None:
        super().__init__(printer, roots)
        words = range(printer.words.count)
        self.lines.append(f"    const word {', '.join(f's{k} = s->w[{k}]' for k in words)};")
        self.lines.append("    " + " ".join(f"(void)s{k};" for k in words))

    def text(self, name: str) -> str:
        """The whole function, its head as given."""
        self.printer.lets = {}
        return "\n".join([f"{name} {{", *self.lines, "}"])
