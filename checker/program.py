"""The Python program of one model: comprehensions for the plain instances, memoised functions for the others.

An instance is plain where its guards only require, its result always lies inside its domains, and every step
invariant is known to hold: then it is one comprehension over the part of a level where all that the instances
of its action require in common is true. What any other instance does depends on the bits that it reads, so it
is run once for each combination of these, and the difference that it makes is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from falsework.accounting import PremiseKey
from falsework.emit_python import Body, Printer
from falsework.errors import Place
from falsework.ir import Node
from falsework.lower import Instance, Lowered, Predicate
from falsework.packing import Packing
from falsework.source import deep

SMALL = 24
"""Conditions of at most this many nodes stand inside a comprehension; larger ones are functions, memoised."""
MEMO_LIMIT = 1 << 20

Level = Iterable[int]


@dataclass
class Event:
    """What an instance does besides leading to new states, for one combination of the bits that it reads."""

    self_loops: int = 0
    cuts: Counter[Place] = field(default_factory=Counter)
    faults: int = 0
    outside: int = 0
    broken: list[tuple[int, tuple[str, ...]]] = field(
        default_factory=list
    )  # the difference, and the step invariants it breaks
    premises: Counter[PremiseKey] = field(default_factory=Counter)


class Memo(dict[int, Any]):
    """A function of a masked word, remembered; it forgets everything before it grows past its limit."""

    def __init__(self, function: Callable[[int], Any]) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, key: int) -> Any:
        if len(self) >= MEMO_LIMIT:
            self.clear()
        found = self[key] = self.function(key)
        return found


@dataclass
class Block:
    """The plain instances of an action, or a memoised group of its others.

    `run` adds what the level leads to to the set; it answers how many steps there were and how many stayed.
    """

    action: str
    run: Callable[[Level, set[int]], tuple[int, int]]
    sources: Callable[[Level, set[int]], list[int]]  # the states of the level with a step into the set
    mask: int = 0
    events: dict[int, Event] = field(default_factory=dict)


@dataclass
class Program:
    """Everything that the search calls."""

    packing: Packing
    blocks: list[Block]
    stuck: Callable[[Level], list[int]]
    bad: Callable[[Level], list[int]]  # the states in which some state invariant is false or at fault
    invariants: dict[str, Callable[[int], int]]  # 1 holds, 0 broken, 2 at fault
    witnesses: dict[str, Callable[[Level], bool]]
    witness_of: dict[str, Callable[[int], int]]
    terminal: Callable[[int], int]
    premises: list[tuple[PremiseKey, Callable[[Level], int]]]
    text: str


def build(lowered: Lowered) -> Program:
    """The model's program, printed, compiled and bound."""
    with deep():
        return _Builder(lowered).program()


def step_functions(lowered: Lowered, chosen: Sequence[Instance]) -> list[tuple[int, Callable[[int], Any]]]:
    """Each instance as a function of a word, with the bits that it reads: see `_Builder._step`."""
    with deep():
        return _Builder(lowered).steps(chosen)


def weight(node: Node, known: dict[int, int] | None = None) -> int:
    """How many nodes the expression has, each mention counted."""
    if node.op in ("const", "slot", "table"):
        return 1
    known = {} if known is None else known
    if node.index not in known:
        known[node.index] = 1 + sum([weight(arg, known) for arg in node.args])
    return known[node.index]


Made = tuple[str, str, int, dict[int, Event]]
"""A block in the making: its action, its function's name, the bits that it reads, and its events."""


def _parts(instance: Instance) -> list[Node]:
    """The conjuncts of the guards, in order."""
    return [
        part
        for guard in instance.guards
        for part in (guard.node.args if guard.node.op == "and" else (guard.node,))
    ]


class _Builder:
    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.pool = lowered.pool
        self.packing = Packing(lowered.definition, lowered.slots)
        self.printer = Printer(lowered.pool, self.packing)
        self.functions: list[str] = []
        self.names: dict[str, Any] = {}
        self.bound_names = 0

    def program(self) -> Program:
        plain = [i for i in self.lowered.instances if self._plain(i)]
        others = [i for i in self.lowered.instances if not self._plain(i)]
        made: list[Made] = []
        tests: list[tuple[int, str]] = []
        for number, action in enumerate(self.lowered.definition.actions):
            mine = [instance for instance in plain if instance.action is action]
            if mine:
                made.append(self._plain_block(number, action.name, mine, tests))
        for number, (name, mask, group) in enumerate(self._groups(others)):
            made.append(self._group_block(number, name, mask, group, tests))
        enabled = " or ".join(dict.fromkeys(test for _, test in sorted(tests)))
        self._define(
            "stuck(level)",
            f"[s for s in level if not ({enabled or 'False'})]",
        )
        inline = [f"({self._judgement(p)})" for p in self.lowered.invariants]
        self._define("bad(level)", f"[s for s in level if not ({' and '.join(inline) or 'True'})]")
        for predicate in self.lowered.witnesses:
            inside = self._reached(predicate)
            self._define(f"witness_{predicate.prop.name}(level)", f"any({inside} for s in level)")
        premises = self._premise_counts()
        for predicate in (*self.lowered.invariants, *self.lowered.witnesses, *self.lowered.terminals):
            self.functions.append(self._judge(predicate))
        self.names |= {name: table for table, name in self.printer.tables.items()}
        text = "\n".join(self.functions)
        file = f"<program of {self.lowered.definition.name}>"
        exec(compile(text, file, "exec"), self.names)  # noqa: S102  our own printed text
        return self._bind(made, premises, text)

    def steps(self, chosen: Sequence[Instance]) -> list[tuple[int, Callable[[int], Any]]]:
        text = "\n".join(self._step(f"step{number}", one) for number, one in enumerate(chosen))
        self.names |= {name: table for table, name in self.printer.tables.items()}
        exec(compile(text, f"<steps of {self.lowered.definition.name}>", "exec"), self.names)  # noqa: S102
        return [(self._reads(one), self.names[f"step{number}"]) for number, one in enumerate(chosen)]

    def _bind(self, made: list[Made], premises: list[tuple[PremiseKey, str]], text: str) -> Program:
        names = self.names
        order = {action.name: place for place, action in enumerate(self.lowered.definition.actions)}
        blocks = [
            Block(action, names[name], names[f"sources_{name}"], mask, events)
            for action, name, mask, events in made
        ]
        blocks.sort(key=lambda block: order[block.action])
        terminals = [names[f"judge_{p.prop.name}"] for p in self.lowered.terminals]

        def terminal(s: int) -> int:
            return next((found for judge in terminals if (found := judge(s))), 0)

        return Program(
            packing=self.packing,
            blocks=blocks,
            stuck=names["stuck"],
            bad=names["bad"],
            invariants={p.prop.name: names[f"judge_{p.prop.name}"] for p in self.lowered.invariants},
            witnesses={p.prop.name: names[f"witness_{p.prop.name}"] for p in self.lowered.witnesses},
            witness_of={p.prop.name: names[f"judge_{p.prop.name}"] for p in self.lowered.witnesses},
            terminal=terminal,
            premises=[(key, names[name]) for key, name in premises],
            text=text,
        )

    def _define(self, head: str, result: str) -> None:
        self.functions.append(f"def {head}:\n    return {result}")

    # --- plain instances

    def _plain(self, instance: Instance) -> bool:
        if (
            any(guard.kind != "require" for guard in instance.guards)
            or instance.outside is not self.pool.false
        ):
            return False
        if not all(step.decided for step in instance.steps):
            return False
        size = sum(weight(guard.node) for guard in instance.guards) + sum(
            map(weight, instance.effects.values())
        )
        return size <= SMALL + len(instance.effects)

    def _plain_block(
        self, number: int, action: str, mine: list[Instance], tests: list[tuple[int, str]]
    ) -> Made:
        """One function for the action: what all its instances require is looked at once."""
        shared = (
            set.intersection(*({part.index for part in _parts(i)} for i in mine)) if len(mine) > 1 else set()
        )
        common = self.printer.condition(
            self.pool.and_(*(part for part in _parts(mine[0]) if part.index in shared))
        )
        lines = [f"    level = [s for s in level if {common}]"] if shared else []
        body, sources = [*lines, "    fired = loops = 0"], [*lines, "    found = []"]
        for instance in mine:
            rest = self.pool.and_(*(part for part in _parts(instance) if part.index not in shared))
            where = "" if rest is self.pool.true else f" if ({self.printer.condition(rest)})"
            after = self.printer.after(instance.effects, instance.facts)
            moves = self._moves(instance, after) if instance.may_stay else ""
            both = f"{where} and {moves}" if where and moves else f" if {moves}" if moves else where
            body.append(f"    out = [{after} for s in level{both}]")
            body.append("    fresh.update(out)")
            if moves:
                count = f"len([1 for s in level{where}])" if where else "len(level)"
                body += [f"    count = {count}", "    fired += count", "    loops += count - len(out)"]
            else:
                body.append("    fired += len(out)")
            sources.append(
                f"    found += [s for s in level{where}{' and' if where else ' if'} ({after}) in fresh]"
            )
            test = self.printer.condition(self.pool.and_(*_parts(instance)))
            tests.append((sum(weight(part) for part in _parts(instance)), f"({test})"))
        self.functions.append(
            "\n".join([f"def plain{number}(level, fresh):", *body, "    return fired, loops"])
        )
        self.functions.append(
            "\n".join([f"def sources_plain{number}(level, fresh):", *sources, "    return found"])
        )
        return action, f"plain{number}", 0, {}

    def _moves(self, instance: Instance, after: str) -> str:
        """The condition under which the step changes something, where its guards hold."""
        if not all(code.constant for code in instance.effects.values()):
            return f"({after}) != s"
        codes = {slot: code.value for slot, code in instance.effects.items()}
        same = self.printer.together(codes)
        return same[0].replace("==", "!=") if same else "False"

    # --- the others

    def _groups(self, others: list[Instance]) -> list[tuple[str, int, list[Instance]]]:
        """Instances of one action whose reads lie inside those of another share its memo."""
        groups: list[tuple[str, int, list[Instance]]] = []
        for instance in sorted(others, key=lambda i: -self._reads(i).bit_count()):
            reads = self._reads(instance)
            home = next((g for g in groups if g[0] == instance.action.name and reads | g[1] == g[1]), None)
            if home is None:
                groups.append((instance.action.name, reads, [instance]))
            else:
                home[2].append(instance)
        return groups

    def _reads(self, instance: Instance) -> int:
        nodes = [guard.node for guard in instance.guards] + [*instance.effects.values(), instance.outside]
        for step in instance.steps:
            nodes += [step.node, *(g.node for g in step.faults), *(node for _, node in step.premises)]
        support = frozenset(instance.effects).union(*(node.support for node in nodes))
        return self.packing.mask(support)

    def _group_block(
        self, number: int, action: str, mask: int, group: list[Instance], tests: list[tuple[int, str]]
    ) -> Made:
        events: dict[int, Event] = {}
        steps = []
        for place, instance in enumerate(group):
            self.functions.append(self._step(f"step{number}_{place}", instance))
            steps.append(f"step{number}_{place}")
        names = self.names

        def compute(key: int) -> tuple[int, ...]:
            return _run(key, [names[step] for step in steps], events)

        names[f"memo{number}"] = Memo(compute)
        names[f"events{number}"] = events
        before = self._early_test(group)
        where = f" if {before}" if before else ""
        look = f"memo{number}[s & {mask}]"
        tests.append(
            (
                1000 + mask.bit_count(),
                f"({f'({before}) and ' if before else ''}({look} or s & {mask} in events{number}))",
            )
        )
        self.functions.append(
            f"def group{number}(level, fresh):\n    out = [s ^ d for s in level{where} for d in {look}]\n"
            "    fresh.update(out)\n    return len(out), 0"
        )
        self._define(
            f"sources_group{number}(level, wanted)",
            f"[s for s in level{where} if any(s ^ d in wanted for d in {look})]",
        )
        return action, f"group{number}", mask, events

    def _early_test(self, group: list[Instance]) -> str:
        """What a lone instance requires of single slots before all else: cheaper than the memo."""
        if len(group) > 1:
            return ""
        parts = []
        for guard in group[0].guards:
            if guard.kind != "require":
                break
            whole = guard.node.args if guard.node.op == "and" else (guard.node,)
            parts += [self.printer.condition(part) for part in whole if part.op == "table"]
        return " and ".join(f"({part})" for part in parts)

    def _step(self, name: str, instance: Instance) -> str:
        """The instance as a function: None, the word after, or a tuple that says what else happened."""
        roots = [guard.node for guard in instance.guards] + [instance.outside, *instance.effects.values()]
        for judged in instance.steps:
            roots += [judged.fault, judged.holds, *(node for _, node in judged.sound)]
        body = Body(self.printer, roots)
        for guard in instance.guards:
            if guard.kind == "fault":
                body.lines.append(f"    if {body.condition(guard.node)}: return ('fault',)")
            else:
                end = "None" if guard.kind == "require" else f"('cut', {self._name(guard.place)})"
                body.lines.append(f"    if not ({body.condition(guard.node)}): return {end}")
        if instance.outside is not self.pool.false:
            body.lines.append(f"    if {body.condition(instance.outside)}: return ('outside',)")
        for code in instance.effects.values():
            body.need(code)
        self.printer.lets = body.lets
        body.lines.append(f"    t = {self.printer.after(instance.effects, instance.facts)}")
        if all(judged.decided for judged in instance.steps):
            body.lines.append("    return t")
        else:
            self._judge_step(body, instance)
        return body.text(name)

    def _judge_step(self, body: Body, instance: Instance) -> None:
        body.lines.append("    broken = (); premises = (); at_fault = False")
        for judged in instance.steps:
            if judged.fault is not self.pool.false:
                body.lines.append(f"    if {body.condition(judged.fault)}: at_fault = True")
            for key, node in judged.sound:
                if node is not self.pool.false:
                    body.lines.append(f"    if {body.condition(node)}: premises += ({key!r},)")
            if judged.holds is not self.pool.true:
                broken = f"broken += ({judged.prop.name!r},)"
                body.lines.append(f"    if not ({body.condition(judged.holds)}): {broken}")
        body.lines.append(
            "    return ('judged', t, broken, premises, at_fault) if broken or premises or at_fault else t"
        )

    def _name(self, thing: object) -> str:
        name = f"n{self.bound_names}"
        self.bound_names += 1
        self.names[name] = thing
        return name

    # --- predicates

    def _judge(self, predicate: Predicate) -> str:
        """The predicate as a function of a word: 1 holds, 0 does not, 2 is at fault."""
        body = Body(self.printer, [*(g.node for g in predicate.faults), predicate.node])
        for guard in predicate.faults:
            body.lines.append(f"    if {body.condition(guard.node)}: return 2")
        body.lines.append(f"    return 1 if {body.condition(predicate.node)} else 0")
        return body.text(f"judge_{predicate.prop.name}")

    def _inline(self, predicate: Predicate) -> bool:
        return not predicate.faults and weight(predicate.node) <= SMALL

    def _memoised(self, predicate: Predicate) -> str:
        support = predicate.node.support.union(*(g.node.support for g in predicate.faults))
        name = f"judged_{predicate.prop.name}"
        self.names[name] = Memo(self._later(f"judge_{predicate.prop.name}"))
        return f"{name}[s & {self.packing.mask(support)}]"

    def _judgement(self, predicate: Predicate) -> str:
        return (
            self.printer.condition(predicate.node)
            if self._inline(predicate)
            else f"{self._memoised(predicate)} == 1"
        )

    def _reached(self, predicate: Predicate) -> str:
        return (
            self.printer.condition(predicate.node) if self._inline(predicate) else self._memoised(predicate)
        )

    def _later(self, name: str) -> Callable[[int], Any]:
        """The printed function of that name, which exists once the text is compiled."""

        def call(key: int) -> Any:
            return self.names[name](key)

        return call

    def _premise_counts(self) -> list[tuple[PremiseKey, str]]:
        """One counting function per call of `implies`; a call in a loop counts each time that it is made."""
        found = []
        for predicate in self.lowered.invariants:
            by_site: dict[PremiseKey, list[Node]] = {}
            for key, node in predicate.sound:
                by_site.setdefault(key, []).append(node)
            for key, nodes in by_site.items():
                name = f"premise{self.bound_names}"
                self.bound_names += 1
                body = Body(self.printer, nodes)
                total = " + ".join(f"(1 if {body.condition(node)} else 0)" for node in nodes)
                body.lines.append(f"    return {total}")
                self.functions.append(body.text(f"one_{name}"))
                self.names[f"memo_{name}"] = Memo(self._later(f"one_{name}"))
                mask = self.packing.mask(frozenset().union(*(node.support for node in nodes)))
                self._define(f"{name}(level)", f"sum(memo_{name}[s & {mask}] for s in level)")
                found.append((key, name))
        return found


def _run(key: int, steps: list[Callable[[int], Any]], events: dict[int, Event]) -> tuple[int, ...]:
    """The differences that lead to other states; anything else is noted as the key's event."""
    differences = []
    event = Event()
    special = False
    for step in steps:
        found = step(key)
        if found is None:
            continue
        if isinstance(found, int):
            if found != key:
                differences.append(found ^ key)
            else:
                event.self_loops += 1
                special = True
            continue
        special = True
        match found:
            case ("cut", place):
                event.cuts[place] += 1
            case ("fault",):
                event.faults += 1
            case ("outside",):
                event.outside += 1
            case ("judged", after, broken, premises, at_fault):
                event.premises.update(premises)
                event.faults += at_fault
                if broken:
                    event.broken.append((after ^ key, broken))
                elif after != key:
                    differences.append(after ^ key)
                else:
                    event.self_loops += 1
    if special:
        events[key] = event
    return tuple(differences)
