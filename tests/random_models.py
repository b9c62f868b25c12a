"""Descriptions of small models, drawn from a seed: domains, variables, helpers and actions."""

from typing import Any

from evaluate import members
from random_expressions import NONE, Draw, Expression, Read, Scope, compare, scalar

Body = list[Expression]


class Models(Draw):
    """Draws one description; `size` is how many dials it has: counters that multiply its states."""

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed)
        self.size = size
        self.strict = size == 0 and self.chance(0.2)  # every action is guarded, so that some states are stuck
        self.wanted: Body = []  # guards that the effects drawn so far ask for
        self.timed = self.chance(0.35)

    # --- domains ---

    def integers(self) -> Expression:
        name, size = self.pick(self.about["constants"].items())
        return self.expression(
            [
                ("int", 0, size - 1, "", f'Below("{name}")'),
                ("int", 0, size, "", f'Upto("{name}")'),
                ("int", 0, 2 * size - 2, "", f'Below("2 * {name} - 1")'),
                ("int", -1, size - 1, "", f'Between(-1, "{name} - 1")'),
                ("int", 0, 1, "", "Upto(1)"),
                ("int", 1, 3, "", "Between(1, 3)"),
            ]
        )

    def clocks(self) -> Expression:
        name, size = self.pick(self.about["constants"].items())
        if self.chance(0.5):
            return ("int", 0, size, "countdown", f'Countdown("{name}")')
        return ("int", 0, size, "elapsed", f'Elapsed("max({name}, 1)")')

    def scalars(self, *, clock: bool = False) -> Expression:
        if clock and self.timed and self.chance(0.45):
            return self.clocks()
        ways: list[Expression] = [("bool",), self.integers(), self.integers()]
        return self.expression(ways + [("enum", name) for name in self.about["enums"]])

    def cells(self) -> Expression:
        way = self.random.random()
        record = ("record", self.pick(self.about["records"])) if self.about["records"] else None
        if record and way < 0.16:
            return record
        if record and way < 0.36:
            return ("option", record)
        if way < 0.55:
            return ("option", self.scalars(clock=True))
        return self.scalars(clock=True)

    def keys(self) -> Expression:
        small = [d for d in (self.scalars() for _ in range(6)) if len(members(self.about, d)) <= 3]
        small = small or [("bool",)]
        if self.chance(0.35):
            pair = (self.pick(small), self.pick(small))
            if len(members(self.about, ("tuple", pair))) <= 6:
                return ("tuple", pair)
        return self.expression(small)

    def declare(self) -> None:
        about = self.about
        about["constants"] = {name: self.pick((2, 2, 3)) for name in ("N", "K")[: self.pick((1, 2))]}
        if self.chance(0.6):
            about["enums"]["Mode"] = ("OFF", "ON", "LOST")[: self.pick((2, 3))]
        if self.chance(0.55):
            about["records"]["Cell"] = tuple(
                (name, self.parts()) for name in ("key", "age")[: self.pick((1, 2, 2))]
            )
            if self.chance(0.2):
                about["records"]["Slot"] = (("inner", ("record", "Cell")), ("full", ("bool",)))
        for _ in range(self.pick((1, 2, 2, 3))):
            self.variable(self.cells())
        for _ in range(self.pick((0, 1, 1, 1, 2))):
            kind = self.pick(("map", "map", "set", "seq"))
            if kind == "map":
                self.variable(
                    ("map", self.keys(), self.cells() if self.chance(0.5) else self.scalars(clock=True))
                )
            elif kind == "set":
                self.variable(("set", self.keys()))
            else:
                name, size = self.pick(about["constants"].items())
                self.variable(
                    ("seq", self.cells() if self.chance(0.3) else self.scalars(), size, f'"{name}"')
                )
        if self.timed:
            self.variable(self.clocks())
        if self.chance(0.15):  # a second one of the same domain, to copy and to compare
            collections = [d for _, d, _ in about["variables"] if d[0] in ("map", "set", "seq")]
            self.variable(self.pick(collections or [about["variables"][0][1]]))

    def parts(self) -> Expression:
        domain = self.scalars(clock=True)
        return ("option", domain) if self.chance(0.2) else domain

    def variable(self, domain: Expression) -> None:
        name = self.name({"map": "m", "set": "s", "seq": "q"}.get(domain[0], "x"))
        match domain:
            case ("set", key):
                first: Any = tuple(k for k in members(self.about, key) if self.chance(0.3))
            case ("seq", inner, length, _):
                first = tuple(
                    self.pick(members(self.about, inner)) for _ in range(self.random.randint(0, length))
                )
            case ("map", _, inner):
                first = members(self.about, inner)[0]
            case _:
                first = self.pick(members(self.about, domain)[:2])
        self.about["variables"].append((name, domain, first))

    # --- helpers ---

    def helper(self) -> None:
        parameters = [(self.name("p"), self.scalars()) for _ in range(self.pick((0, 1, 1)))]
        scope = Scope([(("local", name), domain) for name, domain in parameters])
        way = self.pick(("pure", "pure", "override", "effect", "guard"))
        about: dict[str, Any] = {
            "name": self.name("h"),
            "parameters": parameters,
            "returns": ("bool",),
            "above": None,
        }
        if way in ("pure", "override"):
            about["body"] = self.predicate(scope)
            if way == "override":
                about["above"] = about["body"]
                arguments = tuple(("local", name) for name, _ in parameters)
                above = ("call", about["name"] + "^", arguments)
                parts = self.random.sample([above, self.boolean(scope, 1)], 2)
                about["body"] = [("return", self.next(), (self.pick(("and", "or")), tuple(parts)))]
        else:
            leave: Expression = ("return", self.next(), None)
            early: Expression = ("if", self.next(), self.boolean(scope, 1), [leave], [])
            about["returns"] = None
            about["effect"] = way == "effect"
            about["body"] = self.effects(scope, 1, 1) if way == "effect" else self.guards(scope, 1)
            self.wanted = []
            if way == "effect" and self.chance(0.3):
                about["body"].insert(0, early)
        if about["body"]:
            self.about["helpers"].append(about)

    def predicate(self, scope: Scope) -> Body:
        """The body of a predicate: one return, an early one, or a loop that returns."""
        way = self.random.random()
        if way < 0.6:
            return [("return", self.next(), self.boolean(scope))]
        if way < 0.75:
            early: Expression = (
                "if",
                self.next(),
                self.boolean(scope, 1),
                [("return", self.next(), self.boolean(scope, 1))],
                [],
            )
            return [early, ("return", self.next(), self.boolean(scope))]
        if way < 0.9:
            source, bound, _ = self.source(scope)
            inner = scope.inside(*bound, *bound)
            leave = ("return", self.next(), ("const", self.chance(0.5)))
            loop: Expression = ("if", self.next(), self.boolean(inner, 1), [leave], [])
            return [
                ("for", self.next(), self.names(bound), source, [loop]),
                ("return", self.next(), self.boolean(scope, 1)),
            ]
        local, number = self.name("t"), self.integer(scope)
        inner = scope.inside((("local", local), ("int", number[1], number[2], "", "")))
        return [
            ("assign", self.next(), ("local", local), number[0]),
            ("return", self.next(), self.boolean(inner, 1)),
        ]

    # --- guards ---

    def guards(self, scope: Scope, most: int = 2) -> Body:
        body: Body = []
        for _ in range(1 if most == 1 else self.pick((2, 3) if self.strict else (0, 0, 1, 1, 2))):
            way = self.random.random()
            option = self.read(scope, lambda d: d[0] == "option")
            if way < 0.2 and option is not None:
                local = ("local", self.name("g"))
                body.append(("given", self.next(), local[1], option[0]))
                scope.locals += [(local, option[1][1])] * 2
            elif way < 0.3:
                body.append(("if", self.next(), self.boolean(scope, 1), [self.off(scope)], []))
            elif way < 0.4:
                source, bound, _ = self.source(scope)
                inner = scope.inside(*bound)
                cond = self.boolean(inner, 0)
                loop: Expression = ("if", self.next(), cond, [self.off(inner)], [])
                body.append(("for", self.next(), self.names(bound), source, [loop]))
            elif way < 0.5 and (able := [h for h in self.about["helpers"] if h.get("effect") is False]):
                _, name, arguments = self.call(scope, self.pick(able))
                body.append(("call", self.next(), name, arguments))
            else:
                body.append(("require", self.next(), self.boolean(scope, 1)))
        return body

    def off(self, scope: Scope) -> Expression:
        return (
            ("disabled", self.next())
            if self.chance(0.4)
            else ("require", self.next(), self.boolean(scope, 0))
        )

    # --- effects ---

    def effects(self, scope: Scope, budget: int, depth: int = 0) -> Body:
        """Statements that change the state; what they want guarded is left in `wanted`."""
        body: Body = []
        for _ in range(budget):
            ways: list[Any] = [self.assign] * 4 + [self.augment] * 3 + [self.local]
            ways += [self.change] * (3 * len(self.about["variables"]) // 2)
            if depth < 2:
                ways += [self.branch, self.branch, self.loop]
            if depth == 0:
                ways += [self.helped, self.copied, self.copied]
            found = self.pick(ways)(scope, depth)
            scope.facts = []
            body += found or self.assign(scope, depth)
        return body

    def plain(self, scope: Scope) -> list[tuple[str, Expression]]:
        return [(name, d) for name, d, _ in self.about["variables"] if d[0] not in ("map", "set", "seq")]

    def assign(self, scope: Scope, _: int) -> Body:
        name, domain = self.pick(self.plain(scope))
        return [("assign", self.next(), ("var", "self", name), self.value(scope, domain))]

    def augment(self, scope: Scope, depth: int) -> Body:
        numbers = [(name, d) for name, d in self.plain(scope) if d[0] == "int" and d[3] != "elapsed"]
        if not numbers:
            return []
        name, (_, low, high, *_) = self.pick(numbers)
        variable, up = ("var", "self", name), self.chance(0.6)
        fits = compare(variable, "<", ("const", high)) if up else compare(variable, ">", ("const", low))
        step = ("augment", self.next(), "+" if up else "-", variable, ("const", 1))
        if depth == 0 and self.chance(0.7):
            self.wanted.append(("require", self.next(), fits))
            return [step]
        return [step] if self.chance(0.05) else [("if", self.next(), fits, [step], [])]

    def local(self, scope: Scope, depth: int) -> Body:
        local = ("local", self.name("t"))
        pairs = [d[1] for _, d, _ in self.about["variables"] if d[0] in ("map", "set") and d[1][0] == "tuple"]
        if pairs and self.chance(0.4):
            pair = self.pick(pairs)
            key = self.key(scope, pair)
            scope.locals += [(local, pair)] * 2
            return [("assign", self.next(), local, key)]
        read = (
            self.read(scope, lambda d: d[0] in ("option", "record", "enum", "bool"))
            if self.chance(0.6)
            else None
        )
        if read is not None:
            scope.locals += [(local, read[1])] * 2
            return [("assign", self.next(), local, read[0])]
        e, low, high = self.integer(scope)
        body: Body = [("assign", self.next(), local, e)]
        if self.chance(0.5):
            other, least, most = self.integer(scope, 1)
            body.append(
                ("if", self.next(), self.boolean(scope, 1), [("assign", self.next(), local, other)], [])
            )
            low, high = min(low, least), max(high, most)
        scope.locals.append((local, ("int", low, high, "", "")))
        return body

    def change(self, scope: Scope, depth: int) -> Body:
        """A change of a map, a set or a sequence, unless a loop that runs over it forbids."""
        able = [
            (n, d)
            for n, d, _ in self.about["variables"]
            if d[0] in ("map", "set", "seq") and n not in scope.locked
        ]
        if not able:
            return []
        name, domain = self.pick(able)
        if domain[0] == "map":
            target = ("cell", "self", name, self.key(scope, domain[1]))
            if domain[2][0] == "int" and domain[2][3] != "elapsed" and self.chance(0.25):
                fits = compare(target, "<", ("const", domain[2][2]))
                step = ("augment", self.next(), "+", target, ("const", 1))
                return [("if", self.next(), fits, [step], [])]
            return [("assign", self.next(), target, self.value(scope, domain[2]))]
        if domain[0] == "set":
            return [(self.pick(("add", "add", "discard")), self.next(), name, self.key(scope, domain[1]))]
        return self.queue(scope, depth, name, domain)

    def queue(self, scope: Scope, depth: int, name: str, domain: Expression) -> Body:
        length, way = ("len", "self", name), self.pick(("append", "append", "pop", "item"))
        if way == "item":
            index = self.integer(scope, 0)[0]
            inside = ("compare", ("const", 0), (("<=", index), ("<", length)))
            put = ("assign", self.next(), ("item", "self", name, index), self.value(scope, domain[1]))
            return [("if", self.next(), inside, [put], [])]
        fits = (
            compare(length, "<", ("const", domain[2]))
            if way == "append"
            else compare(length, ">", ("const", 0))
        )
        if way == "append":
            step: Expression = ("append", self.next(), name, self.value(scope, domain[1]))
        else:
            local = ("local", self.name("o"))
            step = ("pop", self.next(), name, local[1])
            if depth == 0:
                scope.locals += [(local, domain[1])] * 2
        if depth == 0:
            if not self.chance(self.daring):
                self.wanted.append(("require", self.next(), fits))
            return [step]
        return [("if", self.next(), fits, [step], [])]

    def branch(self, scope: Scope, depth: int) -> Body:
        option = self.read(scope, lambda d: d[0] == "option") if self.chance(0.4) else None
        then = scope.inside(*([] if option is None else [(option[0], option[1][1])] * 2))
        if option is not None and option[0][0] != "local":
            then.locals, then.facts = scope.locals[:], [(option[0], option[1][1])] * 2
        condition = self.boolean(scope, 1) if option is None else compare(option[0], "is not", NONE)
        body = self.effects(then, self.pick((1, 1, 2)), depth + 1)
        other = self.effects(scope.inside(), 1, depth + 1) if self.chance(0.5) else []
        return [("if", self.next(), condition, body, other)]

    def loop(self, scope: Scope, depth: int) -> Body:
        source, bound, _ = self.source(scope)
        inner = scope.inside(*bound, *bound)
        inner.facts = []
        over = source[2] if len(source) == 3 and source[0] != "range" else None
        if over is not None:
            inner.locked = scope.locked | {over}
        condition = self.boolean(inner, 1) if self.chance(0.5) else None
        body = self.own_cell(inner, source, bound) if over not in scope.locked else []
        if not body or self.chance(0.4):
            body += self.effects(inner, 1, depth + 1)
        if condition is not None:
            body = [("if", self.next(), condition, body, [])]
        return [("for", self.next(), self.names(bound), source, body)]

    def own_cell(self, scope: Scope, source: Expression, bound: list[Read]) -> Body:
        """A change of the collection that the loop runs over, at the current key only."""
        match source:
            case ("keys" | "bare" | "items", "self", name):
                domain = next(d for n, d, _ in self.about["variables"] if n == name)
                return [
                    ("assign", self.next(), ("cell", "self", name, bound[0][0]), self.value(scope, domain[2]))
                ]
            case ("set", "self", name):
                return [("discard", self.next(), name, bound[0][0])]
            case ("enumerate", "self", name):
                return [
                    (
                        "assign",
                        self.next(),
                        ("item", "self", name, bound[0][0]),
                        self.value(scope, bound[1][1]),
                    )
                ]
        return []

    def helped(self, scope: Scope, _: int) -> Body:
        able = [h for h in self.about["helpers"] if h.get("effect")]
        if not able:
            return []
        _, name, arguments = self.call(scope, self.pick(able))
        return [("call", self.next(), name, arguments)]

    def copied(self, scope: Scope, _: int) -> Body:
        """The whole of one collection assigned to another of the same domain."""
        pairs = [
            (a, b)
            for a, d, _ in self.about["variables"]
            for b, other, _ in self.about["variables"]
            if a != b and d == other and d[0] in ("map", "set", "seq")
        ]
        return [("copy", self.next(), *self.pick(pairs))] if pairs else []

    # --- actions ---

    def action(self, kind: str) -> dict[str, Any]:
        parameters = [(self.name("a"), self.parameter()) for _ in range(self.pick((0, 1, 1, 1, 2)))]
        scope = Scope([(("local", name), domain) for name, domain in parameters])
        scope.locals *= 2
        self.wanted = []
        guards = [] if kind == "tick" and not self.strict and self.chance(0.6) else self.guards(scope)
        answer = self.scalars() if kind == "action" and self.chance(0.35) else None
        early: Body = []
        if kind != "tick" and self.chance(0.15):
            inner = scope.inside()
            leave = [*self.effects(inner, 1, 1), ("return", self.next(), self.answered(inner, answer))]
            early = [("if", self.next(), self.boolean(scope, 1), leave, [])]
        effects = self.effects(scope, self.pick((1, 2, 2, 3)) if kind != "tick" else self.pick((0, 0, 1)))
        if kind == "tick":
            effects.insert(0, ("elapse", self.next()))
        if kind != "initial" and self.chance(0.1):
            cut: Expression = (
                "bound",
                self.next(),
                self.boolean(Scope(list(scope.locals[: 2 * len(parameters)])), 1),
            )
            self.wanted.append(
                cut if self.chance(0.5) else ("if", self.next(), self.boolean(Scope(), 1), [cut], [])
            )
        body = (
            [*self.wanted, *guards, *early, *effects]
            if self.chance(0.5)
            else [*guards, *early, *self.wanted, *effects]
        )
        if answer is not None:
            body.append(("return", self.next(), self.answered(scope, answer)))
        return {
            "name": self.name("act"),
            "kind": kind,
            "parameters": parameters,
            "answer": answer,
            "body": body,
        }

    def dial(self) -> dict[str, Any]:
        """A counter that turns for ever; what else there is may read it and set it."""
        name, size = self.pick(self.about["constants"].items())
        self.variable(("int", 0, 2 * size - 2, "", f'Below("2 * {name} - 1")'))
        dial = ("var", "self", self.about["variables"][-1][0])
        turned = ("arith", "%", ("arith", "+", dial, ("const", 1)), ("const", 2 * size - 1))
        body = [("assign", self.next(), dial, turned)]
        return {"name": self.name("act"), "kind": "action", "parameters": [], "answer": None, "body": body}

    def answered(self, scope: Scope, answer: Expression | None) -> Expression | None:
        scope.facts = []
        return None if answer is None else self.value(scope, answer)

    def parameter(self) -> Expression:
        if self.chance(0.1):
            return ("option", self.scalars())
        if self.about["records"] and self.chance(0.05) and not self.timed:
            return ("record", self.pick(self.about["records"]))
        return self.scalars()

    def describe(self) -> dict[str, Any]:
        self.declare()
        about = self.about
        if not any(scalar(d) for _, d, _ in about["variables"]):
            self.variable(self.scalars())
        for _ in range(self.pick((0, 0, 1, 2))):
            self.helper()
        dials = [self.dial() for _ in range(self.size)]
        kinds = ["action"] * self.pick((1, 2, 2, 3)) + (["tick"] if self.timed else [])
        kinds += [self.pick(("internal", "fault"))] if self.chance(0.4) else []
        self.random.shuffle(kinds)
        about["initials"] = [self.action("initial")] if self.chance(0.2) else []
        about["actions"] = [self.action(kind) for kind in kinds]
        about["actions"] += dials
        about |= {"invariants": [], "witnesses": [], "terminals": []}
        return about
