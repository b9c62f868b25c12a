"""Random obligations as source text, and what brute force on the class says of them: no z3, no lowering."""

import itertools
import random
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from falsework.definition import Definition
from falsework.obligations import Obligation, Span
from falsework.posed import answer

HEAD = '''"""Obligations made at random."""

from enum import Enum
from typing import Annotated, ClassVar

from falsework import Between, Model, Upto, implies, obligation, require

Colour = Enum("Colour", "RED GREEN BLUE")

'''
FIGURES = ("ALPHA", "BETA")
NUMBERS = ("self.ALPHA", "self.BETA", "x", "y", "self.mixed(x)")
MOST = 7
"""The greatest total that brute force looks at."""


class Found(NamedTuple):
    """What brute force finds among all values of at most that total."""

    assumed: bool  # whether some values make every assumption true
    least: dict[str, Any] | None  # the first counterexample, by total and then in order


def module_text(seed: int, count: int) -> str:
    """A module of so many classes, each with two figures left open and one obligation."""
    source = random.Random(seed)  # noqa: S311  the same seed, the same obligations
    return HEAD + "\n\n".join(_class(source, number) for number in range(count))


def _class(source: random.Random, number: int) -> str:
    low = source.randint(-3, 0)
    annotations = [
        source.choice(["int", 'Annotated[int, Upto("ALPHA")]', 'Annotated[int, Upto("BETA + 1")]']),
        source.choice(["int", f'Annotated[int, Between({low}, "max(ALPHA, 2)")]']),
    ]
    beta = source.choice(["int", "Annotated[int, Between(1, 4)]"])
    lines = [
        f"class Random{number}(Model):",
        '    """One of many."""',
        "    ALPHA: ClassVar[int] = 1",
        f"    BETA: ClassVar[{beta}] = 2",
        "    def mixed(self, given: int) -> int:",
        f"        if {_condition(source, 1, ('self.ALPHA', 'self.BETA', 'given'))}:",
        f"            return {_number(source, 1, ('self.ALPHA', 'given'))}",
        f"        return {_number(source, 1, ('self.BETA', 'given'))}",
        "    def assume(self, one: int, two: int) -> None:",
        f"        if {_condition(source, 1, ('self.ALPHA', 'one', 'two'))}:",
        f"            require({_condition(source, 1, ('self.BETA', 'one', 'two'))})",
        "    @obligation",
        f"    def holds(self, x: {annotations[0]}, y: {annotations[1]}, b: bool, c: Colour) -> bool:",
    ]
    lines += [line for _ in range(source.randint(0, 2)) for line in _statement(source)]
    lines.append(f"        return {_condition(source, 3)}")
    return "\n".join(lines) + "\n"


def _statement(source: random.Random) -> list[str]:
    """An assumption, by itself, under a condition or in a helper; or an early return, or a local."""
    one, two = _condition(source, 2), _condition(source, 1)
    return source.choice(
        [
            [f"        require({one})"],
            [f"        require({one})"],
            [f"        if {two}:", f"            require({one})"],
            [f"        if {two}:", "            self.assume(x, y)"],
            ["        self.assume(y, x)"],
            [f"        if {two}:", f"            return {one}"],
            [f"        if {two}:", "            x = x + 1", "        else:", f"            require({one})"],
        ]
    )


def _number(source: random.Random, depth: int, names: tuple[str, ...] = NUMBERS) -> str:
    if depth == 0 or source.random() < 0.2:
        return source.choice([*names, *names, str(source.randint(-4, 6))])
    one, two = (_number(source, depth - 1, names) for _ in range(2))
    return source.choice(
        [
            f"({one} + {two})",
            f"({one} - {two})",
            f"{source.randint(-3, 3)} * {one}",
            f"({one} // {source.randint(1, 4)})",
            f"({one} % {source.randint(1, 4)})",
            f"min({one}, {two})",
            f"max({one}, {two})",
            f"abs({one})",
            f"({one} if {_condition(source, depth - 1, names)} else {two})",
        ]
    )


def _condition(source: random.Random, depth: int, names: tuple[str, ...] = NUMBERS) -> str:
    if depth == 0 or source.random() < 0.3:
        one, two = (_number(source, min(depth, 1), names) for _ in range(2))
        choices = [f"{one} {source.choice(['<', '<=', '==', '!=', '>', '>='])} {two}"] * 4
        if names is NUMBERS:
            choices += ["b", "c is Colour.GREEN", "c is not Colour.RED"]
        return source.choice(choices)
    one, two = (_condition(source, depth - 1, names) for _ in range(2))
    return source.choice(
        [f"({one} and {two})", f"({one} or {two})", f"not ({one})", f"implies({one}, {two})"]
        if names is NUMBERS
        else [f"({one} and {two})", f"({one} or {two})", f"not ({one})"]
    )


# --- brute force --------------------------------------------------------------------------------------------


def brute_force(definition: Definition, obligation: Obligation, colours: type[Enum]) -> Found:
    """Every tuple of values of at most that total, by total and then in order, asked of the class."""
    assumed, least = False, None
    for values in _tuples(definition, obligation, list(colours)):
        said = answer(definition, obligation, values)
        assumed = assumed or said is not None
        if said is False:
            least = values
            break
    return Found(assumed, least)


def _tuples(definition: Definition, obligation: Obligation, colours: list[Any]) -> Iterator[dict[str, Any]]:
    numbers = range(-MOST, MOST + 1)
    found = []
    for alpha, beta, x, y in itertools.product(range(MOST + 1), range(MOST + 1), range(MOST + 1), numbers):
        size = alpha + beta + x + abs(y)
        if size <= MOST and _in_range(definition, obligation, alpha, beta, x, y):
            for b, c in itertools.product((0, 1), range(3)):
                if size + b + c <= MOST:
                    found.append((size + b + c, alpha, beta, x, y, b, c))
    for _, alpha, beta, x, y, b, c in sorted(found):
        yield {"ALPHA": alpha, "BETA": beta, "x": x, "y": y, "b": bool(b), "c": colours[c]}


def _in_range(definition: Definition, obligation: Obligation, alpha: int, beta: int, x: int, y: int) -> bool:
    """The ranges as the generator wrote them, evaluated as Python."""
    ranges = [*(f.range for f in definition.figures), *(p.range for p in obligation.parameters[:2])]
    for value, among in zip((alpha, beta, x, y), ranges, strict=True):
        assert isinstance(among, Span)
        known = {"ALPHA": alpha, "BETA": beta, "max": max}
        ends = [eval(str(end), known) for end in (among.low, among.high)]  # noqa: S307  the generator's text
        if value < ends[0] or (ends[1] is not None and value > ends[1]):
            return False
    return True
