"""A described model written down as the source of a falsework model, and where each statement stands."""

import re
from collections.abc import Sequence
from typing import Any

Expression = tuple[Any, ...]

HEAD = '''"""A model drawn at random."""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework import (
    Below, Between, Countdown, Elapsed, Length, Map, Model, Record, Seq, Set, Upto, action, bound, count,
    disabled, elapse, fault, first, given, implies, initial, internal, invariant, reachable, replace, require,
    terminal, tick,
)
'''
MARK = re.compile(r"\x00(\d+)\x00")


def constant(value: Any) -> str:
    """A value as an expression."""
    if isinstance(value, tuple):
        if isinstance(value[0], str) and "." not in value[0]:
            return f"{value[0]}({', '.join(map(constant, value[1:]))})"
        return f"({', '.join(map(constant, value))})"
    return str(value)


def annotation(domain: Expression) -> str:
    match domain:
        case ("bool",):
            return "bool"
        case ("int", _, _, _, text):
            return f"Annotated[int, {text}]"
        case ("enum" | "record", name):
            return str(name)
        case ("option", inner):
            return f"{annotation(inner)} | None"
        case ("tuple", parts):
            return f"tuple[{', '.join(map(annotation, parts))}]"
        case ("map", key, inner):
            return f"Map[{annotation(key)}, {annotation(inner)}]"
        case ("set", key):
            return f"Set[{annotation(key)}]"
        case ("seq", inner, _, text):
            return f"Annotated[Seq[{annotation(inner)}], Length({text})]"
    raise AssertionError(domain)


def initial_value(domain: Expression, value: Any) -> str:
    match domain:
        case ("map", *_):
            return f"Map({constant(value)})"
        case ("set", _):
            return f"Set([{', '.join(map(constant, value))}])"
        case ("seq", *_):
            return f"Seq([{', '.join(map(constant, value))}])"
    return constant(value)


# --- expressions ----------------------------------------------------------------------------------


def owner(who: str, name: str) -> str:
    return f"{who}.{name}"


def text(e: Expression) -> str:
    """The expression, in parentheses wherever one could be missed."""
    match e:
        case ("const", value):
            return f"({value})" if isinstance(value, int) and value < 0 else constant(value)
        case ("constant", name):
            return f"self.{name}"
        case ("local", name):
            return str(name)
        case ("and" | "or" as word, parts):
            return f"({f' {word} '.join(map(text, parts))})"
        case ("not", part):
            return f"(not {text(part)})"
        case ("implies", premise, conclusion, site):
            return f"\x00{site}\x00implies({text(premise)}, {text(conclusion)})"
        case ("choose", condition, then, other):
            return f"({text(then)} if {text(condition)} else {text(other)})"
        case ("compare", left, rest):
            return f"({text(left)}{''.join(f' {sign} {text(part)}' for sign, part in rest)})"
        case ("among", part, constants, negated):
            listed = ", ".join(map(constant, constants)) + ("," if len(constants) == 1 else "")
            return f"({text(part)} {'not in' if negated else 'in'} ({listed}))"
        case ("call", name, arguments):
            who = f"super().{name[:-1]}" if name.endswith("^") else f"self.{name}"
            return f"{who}({', '.join(map(text, arguments))})"
        case ("fold", *_):
            return folded(e)
        case ("tuple", parts):
            return f"({', '.join(map(text, parts))})"
        case ("arith" | "negative" | "abs" | "least" | "most", *_):
            return number(e)
    return reading(e)


def number(e: Expression) -> str:
    match e:
        case ("arith", sign, left, right):
            return f"({text(left)} {sign} {text(right)})"
        case ("negative", part):
            return f"(-{text(part)})"
        case ("abs", part):
            return f"abs({text(part)})"
        case ("least" | "most" as word, parts):
            return f"{'min' if word == 'least' else 'max'}({', '.join(map(text, parts))})"
    raise AssertionError(e)


def reading(e: Expression) -> str:
    match e:
        case ("var", who, name):
            return owner(who, name)
        case ("cell" | "item", who, name, ("tuple", parts)):
            return f"{owner(who, name)}[{', '.join(map(text, parts))}]"
        case ("cell" | "item", who, name, key):
            return f"{owner(who, name)}[{text(key)}]"
        case ("len", who, name):
            return f"len({owner(who, name)})"
        case ("member", part, who, name, negated):
            return f"({text(part)} {'not in' if negated else 'in'} {owner(who, name)})"
        case ("field", part, name):
            return f"{text(part)}.{name}"
        case ("make", name, arguments):
            return f"{name}({', '.join(map(text, arguments))})"
        case ("replace", part, changes):
            return f"replace({text(part)}, {', '.join(f'{name}={text(change)}' for name, change in changes)})"
    raise AssertionError(e)


def folded(e: Expression) -> str:
    _, kind, body, names, source, condition, default = e
    where = "" if condition is None else f" if {text(condition)}"
    items = f"{text(body)} for {', '.join(names)} in {looped(source)}{where}"
    return f"{kind}(({items}), default={text(default)})" if default is not None else f"{kind}({items})"


def looped(source: Expression) -> str:
    match source:
        case ("range", ("const", 0), high):
            return f"range({text(high)})"
        case ("range", low, high):
            return f"range({text(low)}, {text(high)})"
        case ("enum", name):
            return str(name)
        case ("keys" | "values" | "items" as how, who, name):
            return f"{owner(who, name)}.{how}()"
        case ("enumerate", who, name):
            return f"enumerate({owner(who, name)})"
        case ("bare" | "set" | "seq", who, name):
            return owner(who, name)
    raise AssertionError(source)


# --- statements and classes -----------------------------------------------------------------------


class Page:
    """The lines written so far, and in `lines` and `columns` where a statement and an `implies` stand."""

    def __init__(self) -> None:
        self.written = HEAD.splitlines()
        self.lines: dict[int, int] = {}
        self.columns: dict[int, tuple[int, int]] = {}

    def put(self, indent: int, line: str, number: int | None = None) -> None:
        line = "    " * indent + line
        while found := MARK.search(line):
            self.columns[int(found[1])] = (len(self.written) + 1, found.start())
            line = line[: found.start()] + line[found.end() :]
        self.written.append(line)
        if number is not None:
            self.lines[number] = len(self.written)

    def block(self, indent: int, body: Sequence[Expression]) -> None:
        for statement in body:
            self.statement(indent, statement)
        if not body:
            self.put(indent, "pass")

    def statement(self, indent: int, statement: Expression, word: str = "if") -> None:
        match statement:
            case ("if", number, condition, then, other):
                self.put(indent, f"{word} {text(condition)}:", number)
                self.block(indent + 1, then)
                if len(other) == 1 and other[0][0] == "if":
                    self.statement(indent, other[0], "elif")
                elif other:
                    self.put(indent, "else:")
                    self.block(indent + 1, other)
            case ("for", number, names, source, body):
                self.put(indent, f"for {', '.join(names)} in {looped(source)}:", number)
                self.block(indent + 1, body)
            case _:
                self.put(indent, simple(statement), statement[1])

    def function(
        self, mark: str, name: str, signature: str, returns: str, body: Sequence[Expression]
    ) -> None:
        if mark:
            self.put(1, mark)
        self.put(1, f"def {name}(self{signature}) -> {returns}:")
        self.block(2, body)
        self.written.append("")


def simple(statement: Expression) -> str:
    match statement:
        case ("return", _, e):
            return "return" if e is None else f"return {text(e)}"
        case ("require" | "bound" as word, _, e):
            return f"{word}({text(e)})"
        case ("disabled", _):
            return "disabled()"
        case ("given", _, name, e):
            return f"{name} = given({text(e)})"
        case ("assign", _, target, e):
            return f"{text(target)} = {text(e)}"
        case ("augment", _, sign, target, e):
            return f"{text(target)} {sign}= {text(e)}"
        case ("copy", _, name, other):
            return f"self.{name} = self.{other}"
        case ("append" | "add" | "discard" as word, _, name, e):
            return f"self.{name}.{word}({text(e)})"
        case ("pop", _, name, local):
            return f"{f'{local} = ' if local else ''}self.{name}.pop_first()"
        case ("call", _, name, arguments):
            return text(("call", name, arguments))
        case ("elapse", _):
            return "elapse(self)"
    raise AssertionError(statement)


def signature(parameters: Sequence[tuple[str, Expression]]) -> str:
    return "".join(f", {name}: {annotation(domain)}" for name, domain in parameters)


def written(about: dict[str, Any]) -> Page:
    """The model as a page of source: its class is named M."""
    page = Page()
    for name, names in about["enums"].items():
        page.put(0, f"class {name}(Enum):")
        for number, member in enumerate(names):
            page.put(1, f"{member} = {number}")
    for name, fields in about["records"].items():
        page.put(0, f"class {name}(Record):")
        for part, domain in fields:
            page.put(1, f"{part}: {annotation(domain)}")
    above = [helper for helper in about["helpers"] if helper["above"] is not None]
    page.put(0, "class M(Model):" if not above else "class Above(Model):")
    for name, value in about["constants"].items():
        page.put(1, f"{name}: ClassVar[int] = {value}")
    for name, domain, value in about["variables"]:
        page.put(1, f"{name}: {annotation(domain)} = {initial_value(domain, value)}")
    for helper in about["helpers"]:
        body = helper["body"] if helper["above"] is None else helper["above"]
        returns = "None" if helper["returns"] is None else annotation(helper["returns"])
        page.function("", helper["name"], signature(helper["parameters"]), returns, body)
    for action in (*about["initials"], *about["actions"]):
        returns = "None" if action.get("answer") is None else annotation(action["answer"])
        mark = f"@{action['kind']}"
        page.function(mark, action["name"], signature(action["parameters"]), returns, action["body"])
    for prop in about["invariants"]:
        mark = "@invariant" if prop["on"] is None else f"@invariant(on={prop['on']})"
        page.function(mark, prop["name"], "".join(prop["signature"]), "bool", prop["body"])
    for kind, word in (("witnesses", "reachable"), ("terminals", "terminal")):
        for prop in about[kind]:
            page.function(f"@{word}", prop["name"], "", "bool", prop["body"])
    if above:
        page.put(0, "class M(Above):")
    for helper in above:
        returns = "None" if helper["returns"] is None else annotation(helper["returns"])
        page.function("", helper["name"], signature(helper["parameters"]), returns, helper["body"])
    return page
