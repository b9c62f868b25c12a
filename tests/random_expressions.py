"""Expressions of described models, drawn from a seed: they read what a scope offers."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluate import members

Expression = tuple[Any, ...]
Read = tuple[Expression, Expression]  # an expression and its domain
Number = tuple[Expression, int, int]  # an expression and the interval it is thought to lie in
SIGNS = ("==", "!=", "<", "<=", ">", ">=")
NONE: Expression = ("const", None)


@dataclass
class Scope:
    """What may be read here: locals, options known to be no None, the state before; what may not change."""

    locals: list[Read] = field(default_factory=list)
    facts: list[Read] = field(default_factory=list)
    before: bool = False
    predicate: bool = False
    pure: bool = True
    locked: frozenset[str] = frozenset()
    accumulators: tuple[str, ...] = ()

    def inside(self, *reads: Read, **changes: Any) -> "Scope":
        """The scope of a block: what is added there does not come out again."""
        return replace(self, locals=[*self.locals, *reads], facts=list(self.facts), **changes)


def scalar(domain: Expression) -> bool:
    return domain[0] in ("bool", "int", "enum")


def compare(left: Expression, sign: str, right: Expression) -> Expression:
    return ("compare", left, ((sign, right),))


class Draw:
    """Draws expressions over the variables and helpers that `about` has so far."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  a test wants the same models every time
        self.about: dict[str, Any] = {
            "constants": {},
            "enums": {},
            "records": {},
            "variables": [],
            "helpers": [],
        }
        self.serial = 0
        self.daring = 0.4 if self.chance(0.3) else 0.02  # how readily guards and clamps are left out

    def next(self) -> int:
        self.serial += 1
        return self.serial

    def name(self, letter: str) -> str:
        return f"{letter}{self.next()}"

    def expression(self, items: Sequence[Expression]) -> Expression:
        return self.random.choice(items)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, items: Any) -> Any:
        return self.random.choice(list(items))

    def collections(self, kind: str) -> list[tuple[str, Expression]]:
        return [(name, domain) for name, domain, _ in self.about["variables"] if domain[0] == kind]

    def who(self, scope: Scope) -> str:
        return "before" if scope.before and self.chance(0.35) else "self"

    # --- what can be read ---

    def reads(self, scope: Scope, wanted: Callable[[Expression], bool]) -> list[Read]:
        """Every variable, local, cell and field whose domain is wanted."""
        found = [*scope.locals, *scope.facts, *scope.facts]
        for name, domain, _ in self.about["variables"]:
            who = self.who(scope)
            if domain[0] == "map" and self.chance(0.8):
                found.append((("cell", who, name, self.key(scope, domain[1])), domain[2]))
            elif domain[0] not in ("map", "set", "seq"):
                found.append((("var", who, name), domain))
        for e, domain in found:
            if domain[0] == "record":
                found += [(("field", e, name), inner) for name, inner in self.about["records"][domain[1]]]
        return [(e, domain) for e, domain in found if wanted(domain)]

    def read(self, scope: Scope, wanted: Callable[[Expression], bool]) -> Read | None:
        found = self.reads(scope, wanted)
        return self.pick(found) if found else None

    def key(self, scope: Scope, domain: Expression) -> Expression:
        """A key or an element, now and then one that may lie outside."""
        if domain[0] == "tuple":
            return ("tuple", tuple(self.key(scope, part) for part in domain[1]))
        fitting = [e for e, d in scope.locals if self.fits(d, domain)]
        if not fitting or self.chance(0.3):
            plain = [(name, d) for name, d, _ in self.about["variables"]]
            risky = self.chance(self.daring)
            fitting = [
                ("var", self.who(scope), name)
                for name, d in plain
                if self.fits(d, domain) or (risky and d[0] == domain[0] == "int" and d[3] != "elapsed")
            ]
        if not fitting or self.chance(0.2):
            return ("const", self.pick(members(self.about, domain)))
        return self.expression(fitting)

    def fits(self, domain: Expression, wanted: Expression) -> bool:
        if domain[0] == wanted[0] == "int":
            return bool(wanted[1] <= domain[1] and domain[2] <= wanted[2] and domain[3] != "elapsed")
        return domain == wanted

    # --- numbers ---

    def integer(self, scope: Scope, depth: int = 2) -> Number:
        ways = ["read"] * 5 + ["const", "constant"]
        if depth > 0:
            ways += ["sum", "sum", "times", "divide", "minmax", "choose", "length", "fold", "abs"]
        way = self.pick(ways)
        if way == "read" or (way == "length" and not self.collections("seq")):
            read = self.read(scope, lambda d: d[0] == "int" and d[3] != "elapsed")
            if read is not None:
                return read[0], read[1][1], read[1][2]
            way = "const"
        if way == "constant" and self.about["constants"]:
            name = self.pick(self.about["constants"])
            return ("constant", name), self.about["constants"][name], self.about["constants"][name]
        if way in ("const", "constant"):
            number = self.random.randint(0, 2)
            return ("const", number), number, number
        return self.composed(way, scope, depth)

    def composed(self, way: str, scope: Scope, depth: int) -> Number:
        if way == "length":
            name, domain = self.pick(self.collections("seq"))
            return ("len", self.who(scope), name), 0, domain[2]
        if way == "fold":
            return self.number_fold(scope)
        e, low, high = self.integer(scope, depth - 1)
        if way == "abs":
            if self.chance(0.3):
                return ("negative", e), -high, -low
            return ("abs", e), 0, max(abs(low), abs(high))
        if way == "times":
            factor = self.pick((-1, 2, 3))
            return (
                ("arith", "*", e, ("const", factor)),
                min(low * factor, high * factor),
                max(low * factor, high * factor),
            )
        if way == "divide":
            divisor = self.pick((2, 3))
            if self.chance(0.5):
                return ("arith", "%", e, ("const", divisor)), 0, divisor - 1
            return ("arith", "//", e, ("const", divisor)), low // divisor, high // divisor
        other, left, right = self.integer(scope, depth - 1)
        if way == "minmax":
            if self.chance(0.5):
                return ("least", (e, other)), min(low, left), min(high, right)
            return ("most", (e, other)), max(low, left), max(high, right)
        if way == "choose":
            return ("choose", self.boolean(scope, depth - 1), e, other), min(low, left), max(high, right)
        if self.chance(0.5):
            return ("arith", "-", e, other), low - right, high - left
        return ("arith", "+", e, other), low + left, high + right

    def number_fold(self, scope: Scope) -> Number:
        source, bound, most = self.source(scope)
        inner = scope.inside(*bound)
        names = self.names(bound)
        condition = self.boolean(inner, 0) if self.chance(0.4) else None
        kind = self.pick(("sum", "count", "min", "max"))
        if kind == "count":
            return ("fold", "count", self.boolean(inner, 0), names, source, None, None), 0, most
        body, low, high = self.integer(inner, 0)
        if kind == "sum":
            return (
                ("fold", "sum", body, names, source, condition, None),
                min(0, low * most),
                max(0, high * most),
            )
        return ("fold", kind, body, names, source, condition, ("const", 0)), min(0, low), max(0, high)

    # --- what is iterated ---

    def names(self, bound: list[Read]) -> tuple[str, ...]:
        return tuple(e[1] for e, _ in bound)

    def source(self, scope: Scope) -> tuple[Expression, list[Read], int]:
        """Something to iterate, what it binds, and how many rounds at most."""
        about = self.about
        ways: list[tuple[Any, ...]] = [("range",), *(("enum", name) for name in about["enums"])]
        for name, domain, _ in about["variables"]:
            if domain[0] in ("map", "set", "seq"):
                ways += [(domain[0], name, domain)] * 3
        way = self.pick(ways)
        one, two = ("local", self.name("k")), ("local", self.name("v"))
        if way[0] == "range":
            name = self.pick(about["constants"])
            most = about["constants"][name]
            if self.chance(0.25):
                bound = [(one, ("int", 1, most - 1, "", ""))]
                return ("range", ("const", 1), ("constant", name)), bound, most - 1
            return ("range", ("const", 0), ("constant", name)), [(one, ("int", 0, most - 1, "", ""))], most
        if way[0] == "enum":
            return way, [(one, way)], len(about["enums"][way[1]])
        kind, name, domain = way
        who = self.who(scope)
        if kind == "set":
            return ("set", who, name), [(one, domain[1])], len(members(about, domain[1]))
        if kind == "seq":
            how, index = self.pick(("seq", "enumerate")), (one, ("int", 0, domain[2] - 1, "", ""))
            bound = [(two, domain[1])] if how == "seq" else [index, (two, domain[1])]
            return (how, who, name), bound, domain[2]
        how = self.pick(("keys", "bare", "values", "items", "items"))
        bound = {"values": [(two, domain[2])], "items": [(one, domain[1]), (two, domain[2])]}.get(
            how, [(one, domain[1])]
        )
        return (how, who, name), bound, len(members(about, domain[1]))

    # --- truths ---

    def boolean(self, scope: Scope, depth: int = 2) -> Expression:
        """A condition; each way gives None where the scope has nothing for it."""
        ways = [
            self.flag,
            self.order,
            self.order,
            self.member,
            self.none,
            self.same,
            self.clock,
            self.narrowed,
            self.item,
        ]
        if depth > 0:
            ways += [self.joined, self.joined, self.negated, self.fold, self.fold, self.asked, self.found]
        if scope.predicate and depth > 0:
            ways += [self.implied]
        if scope.predicate and depth > 1 and self.chance(0.25):
            return self.implied(scope, depth - 1)
        for _ in range(20):
            found = self.pick(ways)(scope, depth - 1)
            if found is not None:
                return found  # type: ignore[no-any-return]
        return self.order(scope, 0)

    def flag(self, scope: Scope, _: int) -> Expression | None:
        read = self.read(scope, lambda d: d == ("bool",))
        return read[0] if read else None

    def order(self, scope: Scope, depth: int) -> Expression:
        left, low, high = self.integer(scope, depth)
        if self.chance(0.08):
            some = self.random.sample(range(low - 1, high + 2), 2) if high - low < 50 else [low, high]
            return ("among", left, tuple(some), self.chance(0.5))
        if self.chance(0.5):
            right: Expression = ("const", self.random.randint(low, high) if high - low < 50 else low)
        else:
            right = self.integer(scope, depth)[0]
        if self.chance(0.15):
            return (
                "compare",
                left,
                ((self.pick(SIGNS), right), (self.pick(SIGNS), self.integer(scope, depth)[0])),
            )
        return compare(left, self.pick(SIGNS), right)

    def none(self, scope: Scope, _: int) -> Expression | None:
        read = self.read(scope, lambda d: d[0] == "option")
        return compare(read[0], self.pick(("is", "is not")), NONE) if read else None

    def same(self, scope: Scope, _: int) -> Expression | None:
        read = self.read(scope, lambda d: d[0] in ("enum", "option", "record", "bool"))
        if read is None:
            return None
        e, domain = read
        if domain[0] == "option" and domain[1][0] == "int" and domain[1][3] == "elapsed":
            return None  # at its cap a time is at least that: only `clock` compares it
        enum = domain[0] == "enum"
        right = (
            self.value(scope, domain, 0)
            if self.chance(0.5)
            else ("const", self.pick(members(self.about, domain)))
        )
        if enum and self.chance(0.25):
            return ("among", e, tuple(self.random.sample(members(self.about, domain), 1)), self.chance(0.5))
        if right == NONE:
            return compare(e, self.pick(("is", "is not")), NONE)
        inner = domain[1] if domain[0] == "option" else domain
        rests = inner[0] == "int" and inner[3] == "elapsed"
        if rests and (right[0], right[1] == inner[2]) != ("const", False):
            right = ("const", inner[1])  # a time at its cap is at least that, no more is known
        return compare(e, self.pick(("is", "is not") if enum else ("==", "!=")), right)

    def clock(self, scope: Scope, _: int) -> Expression | None:
        read = self.read(scope, lambda d: d[0] == "int" and d[3] != "")
        if read is None:
            return None
        sign, (_, low, high, kind, _) = self.pick(("<", ">=", "==")), read[1]
        if sign == "==" and kind == "elapsed":  # a time at its cap is at least that, no more is known
            high = max(high - 1, low)
        return compare(read[0], sign, ("const", self.random.randint(low, high)))

    def narrowed(self, scope: Scope, depth: int) -> Expression | None:
        """`x is not None and … x …`, or `x is None or … x …`."""
        read = self.read(scope, lambda d: d[0] == "option")
        if read is None:
            return None
        inner = scope.inside((read[0], read[1][1]), (read[0], read[1][1]))
        if self.chance(0.6):
            return ("and", (compare(read[0], "is not", NONE), self.boolean(inner, max(depth, 0))))
        return ("or", (compare(read[0], "is", NONE), self.boolean(inner, max(depth, 0))))

    def item(self, scope: Scope, depth: int) -> Expression | None:
        """`0 <= i < len(q) and … q[i] …`, now and then without the guard."""
        if not self.collections("seq"):
            return None
        name, domain = self.pick(self.collections("seq"))
        who = self.who(scope)
        index, low, _ = self.integer(scope, 0)
        length = ("len", who, name)
        inside = (
            compare(index, "<", length)
            if low >= 0
            else ("compare", ("const", 0), (("<=", index), ("<", length)))
        )
        then = self.boolean(scope.inside(*[(("item", who, name, index), domain[1])] * 4), max(depth, 0))
        return then if self.chance(self.daring) else ("and", (inside, then))

    def member(self, scope: Scope, _: int) -> Expression | None:
        found = self.collections("set") + self.collections("seq")
        if not found:
            return None
        name, domain = self.pick(found)
        element = self.key(scope, domain[1]) if domain[0] == "set" else self.value(scope, domain[1], 0)
        return ("member", element, self.who(scope), name, self.chance(0.4))

    def joined(self, scope: Scope, depth: int) -> Expression:
        parts = tuple(self.boolean(scope, depth) for _ in range(self.pick((2, 2, 3))))
        return (self.pick(("and", "or")), parts)

    def negated(self, scope: Scope, depth: int) -> Expression:
        return ("not", self.boolean(scope, depth))

    def implied(self, scope: Scope, depth: int) -> Expression:
        return ("implies", self.boolean(scope, depth), self.boolean(scope, depth), self.next())

    def fold(self, scope: Scope, depth: int) -> Expression:
        source, bound, _ = self.source(scope)
        inner = scope.inside(*bound, *bound)
        condition = self.boolean(inner, 0) if self.chance(0.3) else None
        return (
            "fold",
            self.pick(("any", "all")),
            self.boolean(inner, depth),
            self.names(bound),
            source,
            condition,
            None,
        )

    def found(self, scope: Scope, _: int) -> Expression:
        """`first(k for … if …) is None`."""
        source, bound, _ = self.source(scope)
        condition = self.boolean(scope.inside(*bound, *bound), 0)
        names = self.names(bound)
        return compare(
            ("fold", "first", ("local", names[0]), names, source, condition, None),
            self.pick(("is", "is not")),
            NONE,
        )

    def asked(self, scope: Scope, _: int) -> Expression | None:
        able = [h for h in self.about["helpers"] if h["returns"] == ("bool",)]
        return self.call(scope, self.pick(able)) if able else None

    def call(self, scope: Scope, helper: dict[str, Any]) -> Expression:
        arguments = tuple(self.key(scope, domain) for _, domain in helper["parameters"])
        return ("call", helper["name"], arguments)

    # --- values of a domain ---

    def value(self, scope: Scope, domain: Expression, depth: int = 1) -> Expression:
        """A value that mostly lies inside the domain."""
        given = [e for e, d in scope.locals if self.fits(d, domain)]
        if given and self.chance(0.35):
            return self.expression(given)
        match domain:
            case ("bool",):
                return ("const", self.chance(0.5)) if self.chance(0.25) else self.boolean(scope, depth)
            case ("int", low, high, "elapsed", _):
                return ("const", self.pick((low, low, high)))
            case ("int", low, high, *_):
                return self.fitted(self.integer(scope, depth), low, high)
            case ("option", inner):
                read = self.read(scope, lambda d: d == domain) if self.chance(0.3) else None
                if read is not None:
                    return read[0]
                return NONE if self.chance(0.35) else self.value(scope, inner, depth)
        read = self.read(scope, lambda d: d == domain) if self.chance(0.5) else None
        if domain[0] == "record":
            if read is not None and self.chance(0.3):
                return read[0]
            fields = self.about["records"][domain[1]]
            if read is not None:
                name, inner = self.pick(fields)
                return ("replace", read[0], ((name, self.value(scope, inner, 0)),))
            return ("make", domain[1], tuple(self.value(scope, inner, 0) for _, inner in fields))
        if read is None:
            return ("const", self.pick(members(self.about, domain)))
        if depth > 0 and self.chance(0.3):
            other = ("const", self.pick(members(self.about, domain)))
            return ("choose", self.boolean(scope, 0), read[0], other)
        return read[0]

    def fitted(self, number: Number, low: int, high: int) -> Expression:
        """The number, brought into the domain by one of several ways, now and then by none."""
        e, least, most = number
        if (low <= least and most <= high) or self.chance(self.daring / 2):
            return e
        if low == 0 and self.chance(0.4):
            return ("arith", "%", e, ("const", high + 1))
        if least < low:
            e = ("most", (e, ("const", low)))
        return ("least", (e, ("const", high))) if most > high else e
