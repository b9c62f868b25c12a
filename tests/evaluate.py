"""The oracle's evaluator: expressions and statements of a described model, sharing no line with the checker.

A description is what `random_models` draws and `model_text` writes down as source. Enum members are strings
such as "Mode.ON", a record is a tuple that begins with its name, a map is a tuple of cells in the order of
its keys, a set a tuple of its members in that order, a sequence a tuple of its items. Nothing here is clever:
it is to be read.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Description = dict[str, Any]
Expression = tuple[Any, ...]
State = tuple[Any, ...]


class Off(Exception):
    """A guard is false."""


class Cut(Exception):
    """A `bound` is false; the statement's number."""


class Wrong(Exception):
    """The model faults: a key or an index outside; the statement's number."""


# --- domains --------------------------------------------------------------------------------------


def members(about: Description, domain: Expression) -> list[Any]:
    """The values of a domain in order."""
    match domain:
        case ("bool",):
            return [False, True]
        case ("int", low, high, *_):
            return list(range(low, high + 1))
        case ("enum", name):
            return [f"{name}.{member}" for member in about["enums"][name]]
        case ("option", inner):
            return [None, *members(about, inner)]
        case ("record", name):
            parts = [members(about, inner) for _, inner in about["records"][name]]
            return [(name, *values) for values in itertools.product(*parts)]
        case ("tuple", inner):
            return list(itertools.product(*(members(about, part) for part in inner)))
    raise AssertionError(domain)


def inside(about: Description, domain: Expression, value: Any) -> bool:
    match domain:
        case ("int", low, high, *_):
            return value is not None and bool(low <= value <= high)
        case ("option", inner):
            return value is None or inside(about, inner, value)
        case ("record", name):
            fields = about["records"][name]
            return value is not None and all(
                inside(about, inner, part) for (_, inner), part in zip(fields, value[1:], strict=True)
            )
    return value is not None


def thawed(about: Description, domain: Expression, cell: Any) -> Any:
    """A live value: maps are dicts, sets are sets, sequences are lists."""
    match domain:
        case ("map", key, _):
            return dict(zip(members(about, key), cell, strict=True))
        case ("set", _):
            return set(cell)
        case ("seq", *_):
            return list(cell)
    return cell


def frozen(about: Description, domain: Expression, value: Any) -> tuple[Any, bool]:
    """The value as data, and whether it lies inside its domain."""
    match domain:
        case ("map", key, inner):
            cells = tuple(value[k] for k in members(about, key))
            return cells, all(inside(about, inner, cell) for cell in cells)
        case ("set", key):
            return tuple(k for k in members(about, key) if k in value), True
        case ("seq", inner, length, *_):
            return tuple(value), len(value) <= length and all(inside(about, inner, item) for item in value)
    return value, inside(about, domain, value)


def moved(about: Description, domain: Expression, value: Any) -> Any:
    """The live value after one tick of the clocks in it."""
    match domain:
        case ("int", _, _, "countdown", *_):
            return value - 1 if value > 0 else 0
        case ("int", _, high, "elapsed", *_):
            return value + 1 if value < high else high
        case ("option", inner):
            return None if value is None else moved(about, inner, value)
        case ("record", name):
            fields = about["records"][name]
            return (name, *(moved(about, d, part) for (_, d), part in zip(fields, value[1:], strict=True)))
        case ("map", _, inner):
            return {key: moved(about, inner, cell) for key, cell in value.items()}
        case ("seq", inner, *_):
            return [moved(about, inner, item) for item in value]
    return value


def spelled(value: Any) -> str:
    """A value as a step's label shows it."""
    if value is None:
        return "-"
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, str):
        return value.split(".")[1]
    if isinstance(value, tuple):
        if isinstance(value[0], str) and "." not in value[0]:
            return "(" + " ".join(map(spelled, value[1:])) + ")"
        return "(" + ", ".join(map(spelled, value)) + ")"
    return str(value)


# --- evaluation -----------------------------------------------------------------------------------


@dataclass
class Frame:
    """One evaluation: the live state, the one before it (of a step), locals, the statement that runs."""

    about: Description
    own: dict[str, Any]
    before: dict[str, Any] = field(default_factory=dict)
    local: dict[str, Any] = field(default_factory=dict)
    at: int = 0
    premises: Counter[int] = field(default_factory=Counter)

    def variable(self, who: str, name: str) -> Any:
        return (self.own if who == "self" else self.before)[name]

    def domain(self, name: str) -> Expression:
        return next(domain for known, domain, _ in self.about["variables"] if known == name)

    def inner(self, local: dict[str, Any]) -> "Frame":
        return Frame(self.about, self.own, self.before, local, self.at, self.premises)


def value(e: Expression, f: Frame) -> Any:
    """The expression's value: its first word says how, and what is not needed is not evaluated."""
    return MEANINGS[e[0]](f, *e[1:])


def implied(f: Frame, premise: Expression, conclusion: Expression, site: int) -> bool:
    left, right = value(premise, f), value(conclusion, f)
    f.premises[site] += bool(left)
    return not left or right


def cell(f: Frame, who: str, name: str, key: Expression) -> Any:
    cells, at = f.variable(who, name), value(key, f)
    if at not in cells:
        raise Wrong(f.at)
    return cells[at]


def item(f: Frame, who: str, name: str, index: Expression) -> Any:
    items, at = f.variable(who, name), value(index, f)
    if not 0 <= at < len(items):
        raise Wrong(f.at)
    return items[at]


def member(f: Frame, part: Expression, who: str, name: str, negated: bool) -> bool:
    wanted = value(part, f)
    if f.domain(name)[0] == "set":
        known(name, wanted, f)
    return (wanted in f.variable(who, name)) != negated


def part_of(f: Frame, part: Expression, name: str) -> Any:
    record = value(part, f)
    names = [known for known, _ in f.about["records"][record[0]]]
    return record[1 + names.index(name)]


def replaced(f: Frame, part: Expression, changes: Sequence[tuple[str, Expression]]) -> Any:
    record = value(part, f)
    names = [known for known, _ in f.about["records"][record[0]]]
    parts = dict(zip(names, record[1:], strict=True))
    for name, change in changes:
        parts[name] = value(change, f)
    return (record[0], *(parts[name] for name in names))


def computed(f: Frame, sign: str, left: Expression, right: Expression) -> int:
    one: int = value(left, f)
    other: int = value(right, f)
    match sign:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case "//":
            return (one - remainder(one, other)) // other
        case "%":
            return remainder(one, other)
    raise AssertionError(sign)


def remainder(dividend: int, divisor: int) -> int:
    """The one number in 0 .. divisor-1 that differs from the dividend by a multiple of the divisor."""
    return next(r for r in range(divisor) if (dividend - r) % divisor == 0)


def compared(f: Frame, first: Expression, rest: Sequence[tuple[str, Expression]]) -> bool:
    """A chain stops at its first comparison that is false."""
    left = value(first, f)
    for sign, part in rest:
        right = value(part, f)
        if not COMPARISONS[sign](left, right):
            return False
        left = right
    return True


def known(name: str, key: Any, f: Frame) -> Any:
    """The key, which must be one of the set's domain."""
    if key not in members(f.about, f.domain(name)[1]):
        raise Wrong(f.at)
    return key


def rounds(source: Expression, f: Frame) -> Iterator[tuple[Any, ...]]:
    """What a loop binds, round by round; a collection is read as it stands when the round begins."""
    match source:
        case ("range", low, high):
            yield from ((number,) for number in range(value(low, f), value(high, f)))
        case ("enum", name):
            yield from ((member,) for member in members(f.about, ("enum", name)))
        case ("keys" | "bare" | "values" | "items" as how, who, name):
            cells = f.variable(who, name)
            for key in members(f.about, f.domain(name)[1]):
                yield {"values": (cells[key],), "items": (key, cells[key])}.get(how, (key,))
        case ("set", who, name):
            for key in members(f.about, f.domain(name)[1]):
                if key in f.variable(who, name):
                    yield (key,)
        case ("seq" | "enumerate" as how, who, name):
            index = 0
            while index < len(f.variable(who, name)):
                item = f.variable(who, name)[index]
                yield (item,) if how == "seq" else (index, item)
                index += 1
        case _:
            raise AssertionError(source)


def folded(
    f: Frame,
    kind: str,
    body: Expression,
    names: Sequence[str],
    source: Expression,
    condition: Expression | None,
    default: Expression | None,
) -> Any:
    """any, all, sum, count, min, max and first of a generator expression, evaluated lazily."""

    def items() -> Iterator[Any]:
        for bound in rounds(source, f):
            inner = f.inner(f.local | dict(zip(names, bound, strict=True)))
            if condition is None or value(condition, inner):
                yield value(body, inner)

    match kind:
        case "any":
            return any(items())
        case "all":
            return all(items())
        case "sum":
            return sum(items())
        case "count":
            return len([item for item in items() if item])
        case "first":
            return next(items(), None)
    found = list(items())
    if not found:
        assert default is not None
        return value(default, f)
    return min(found) if kind == "min" else max(found)


def called(name: str, arguments: list[Any], f: Frame) -> Any:
    """What a helper returns; `name^` is the helper as the class above has it."""
    helper = next(h for h in f.about["helpers"] if h["name"] == name.removesuffix("^"))
    body = helper["above"] if name.endswith("^") else helper["body"]
    names = [parameter for parameter, _ in helper["parameters"]]
    answer = run(body, f.inner(dict(zip(names, arguments, strict=True))))
    return None if answer is None else answer[0]


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "is": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "is not": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
MEANINGS: dict[str, Callable[..., Any]] = {
    "const": lambda _, constant: constant,
    "constant": lambda f, name: f.about["constants"][name],
    "local": lambda f, name: f.local[name],
    "var": lambda f, who, name: f.variable(who, name),
    "len": lambda f, who, name: len(f.variable(who, name)),
    "cell": cell,
    "item": item,
    "member": member,
    "field": part_of,
    "make": lambda f, name, arguments: (name, *(value(argument, f) for argument in arguments)),
    "replace": replaced,
    "tuple": lambda f, parts: tuple(value(part, f) for part in parts),
    "and": lambda f, parts: all(value(part, f) for part in parts),
    "or": lambda f, parts: any(value(part, f) for part in parts),
    "not": lambda f, part: not value(part, f),
    "implies": implied,
    "compare": compared,
    "among": lambda f, part, constants, negated: (value(part, f) in constants) != negated,
    "choose": lambda f, condition, then, other: value(then, f) if value(condition, f) else value(other, f),
    "fold": folded,
    "call": lambda f, name, arguments: called(name, [value(argument, f) for argument in arguments], f),
    "arith": computed,
    "negative": lambda f, part: -value(part, f),
    "abs": lambda f, part: abs(value(part, f)),
    "least": lambda f, parts: min([value(part, f) for part in parts]),
    "most": lambda f, parts: max([value(part, f) for part in parts]),
}


# --- statements -----------------------------------------------------------------------------------


def run(body: Sequence[Expression], f: Frame) -> tuple[Any] | None:
    """Runs the statements; a one-tuple of what was returned, or None where the end was reached."""
    for statement in body:
        f.at = statement[1]
        match statement:
            case ("return", _, None):
                return (None,)
            case ("return", _, e):
                return (value(e, f),)
            case ("if", _, condition, then, other):
                answer = run(then if value(condition, f) else other, f)
                if answer is not None:
                    return answer
            case ("for", number, names, source, inner):
                for bound in rounds(source, f):
                    f.local.update(zip(names, bound, strict=True))
                    answer = run(inner, f)
                    if answer is not None:
                        return answer
                    f.at = number
            case ("require" | "disabled" | "given" | "bound", *_):
                guard(statement, f)
            case _:
                change(statement, f)
    return None


def guard(statement: Expression, f: Frame) -> None:
    match statement:
        case ("require", _, e):
            if not value(e, f):
                raise Off
        case ("disabled", _):
            raise Off
        case ("given", _, name, e):
            f.local[name] = value(e, f)
            if f.local[name] is None:
                raise Off
        case ("bound", at, e):
            if not value(e, f):
                raise Cut(at)


def change(statement: Expression, f: Frame) -> None:
    match statement:
        case ("assign", _, target, e):
            put(target, value(e, f), f)
        case ("augment", _, sign, target, e):
            old = value(target, f)
            put(target, computed(f, sign, ("const", old), e), f)
        case ("copy", _, name, other):
            f.own[name] = f.own[other].copy()
        case ("append", _, name, e):
            f.own[name].append(value(e, f))
        case ("pop", at, name, local):
            if not f.own[name]:
                raise Wrong(at)
            item = f.own[name].pop(0)
            if local:
                f.local[local] = item
        case ("add", _, name, e):
            f.own[name].add(known(name, value(e, f), f))
        case ("discard", _, name, e):
            f.own[name].discard(known(name, value(e, f), f))
        case ("call", _, name, arguments):
            called(name, [value(argument, f) for argument in arguments], f)
        case ("elapse", _):
            for name, domain, _ in f.about["variables"]:
                f.own[name] = moved(f.about, domain, f.own[name])
        case _:
            raise AssertionError(statement)


def put(target: Expression, new: Any, f: Frame) -> None:
    match target:
        case ("local", name):
            f.local[name] = new
        case ("var", "self", name):
            f.own[name] = new
        case ("cell", "self", name, key):
            at = value(key, f)
            if at not in f.own[name]:
                raise Wrong(f.at)
            f.own[name][at] = new
        case ("item", "self", name, index):
            at = value(index, f)
            if not 0 <= at < len(f.own[name]):
                raise Wrong(f.at)
            f.own[name][at] = new
        case _:
            raise AssertionError(target)
