"""A lowered model as a Promela program, in which SPIN stores one state for each state of the model.

One process stands at one place for ever and chooses among d_steps, one an instance. The slots are globals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from falsework.definition import Action, Definition
from falsework.domains import spell
from falsework.emit_python import shared
from falsework.errors import InputError, Place, Refused
from falsework.ir import Node, Pool, Slot
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import Instance, Lowered, Predicate, lower
from falsework.packing import Packing
from falsework.promela_expressions import Expressions, Unsayable
from falsework.source import deep
from falsework.trace import Faulted, starts

MOST_STARTS = 10_000
MOST_OPTIONS = 10_000
"""SPIN's parser takes some more than these."""
TYPES = ((1 << 1, "bit"), (1 << 8, "byte"), (1 << 15, "short"), (1 << 31, "int"))


@dataclass(frozen=True)
class Start:
    """An initial state: the labels of its initial action, and the codes of its slots."""

    label: str
    codes: tuple[int, ...]


def promela(definition: Definition, *, asserts: bool = False) -> str:
    """The program; with `asserts`, SPIN judges every invariant and the deadlocks. Raises Refused."""
    with deep():
        return _Program(lower(definition), asserts=asserts).text()


def starts_of(definition: Definition) -> list[Start]:
    """The distinct initial states, each with its first label; raises InputError for one that is no state."""
    lowered = lower(definition)
    packing = Packing(definition, lowered.slots)
    found: dict[tuple[int, ...], Start] = {}
    try:
        for taken in starts(definition):
            if taken.outside:
                raise InputError(f"{taken.label} leaves a domain: {taken.outside}; falsework check says more")
            codes = tuple(packing.codes(packing.pack(taken.state)))
            found.setdefault(codes, Start(str(taken.label), codes))
    except Faulted as fault:
        raise InputError(f"the model faults: {fault.message} at {fault.place}") from None
    if not found:
        raise InputError(f"{definition.name} has no initial state, so there is nothing to export")
    return list(found.values())


class _Program:
    def __init__(self, lowered: Lowered, *, asserts: bool) -> None:
        self.lowered = lowered
        self.definition = lowered.definition
        self.pool: Pool = lowered.pool
        self.asserts = asserts
        self.names = _names(lowered.slots)
        self.plain = Expressions(self.names)
        self.temporaries = 0
        self.starts = starts_of(self.definition)
        if len(self.starts) > MOST_STARTS:
            place = self.definition.initials[0].place
            raise Refused("P013", place, f"more than {MOST_STARTS} initial states", "smaller constants")

    def text(self) -> str:
        """The whole program."""
        declared = self.globals()
        options = [*(line for i in self.lowered.instances for line in self.options(i)), *self.monitors()]
        if len(options) - len(self.lowered.instances) > MOST_OPTIONS:
            place = max(self.definition.actions, key=self.instances_of).place
            raise Refused("P013", place, f"more than {MOST_OPTIONS} options", "smaller domains of parameters")
        body = ["active proctype model() {", *self.beginning(), "end: do", self.kept(), *options, "  od", "}"]
        hidden = [f"hidden int t{number};" for number in range(self.temporaries)]
        return "\n".join([*self.head(), *declared, *hidden, "", *body, ""])

    def instances_of(self, action: Action) -> int:
        """How many instances of the action there are."""
        return sum(instance.action is action for instance in self.lowered.instances)

    # --- the state

    def head(self) -> list[str]:
        """What this is, and how SPIN's counts are read."""
        sizes = " ".join(f"{name}={spell(value)}" for name, value in self.definition.constants.items())
        several = len(self.starts) if len(self.starts) > 1 else 0
        states = "states, of which one is before the start" if several else "states"
        return [
            f"/* {_comment(f'{self.definition.path} {sizes}'.rstrip())}",
            " *",
            " *   spin -a FILE && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -c0",
            " *",
            f' * "states, stored" are the {states}. "transitions" are the model\'s, and {1 + several} more.',
            " * An option with assert(false) is there where the model is wrong: in a sound one, never. */",
        ]

    def globals(self) -> list[str]:
        """One global a slot that can change, with its initial code."""
        first = self.starts[0].codes if len(self.starts) == 1 else (0,) * len(self.names)
        lines = []
        for slot, code in zip(self.lowered.slots, first, strict=True):
            kind = next((name for size, name in TYPES if slot.size <= size), None)
            if kind is None:
                found = f"{slot.name} has {slot.size} values, more than an int of Promela"
                raise Refused("P013", self.place_of(slot), found, "a smaller domain")
            initial = f" = {code}" if code else ""
            about = "" if slot.name == self.names[slot.index][2:] else f" /* {_comment(slot.name)} */"
            if slot.size > 1:
                lines.append(f"{kind} {self.names[slot.index]}{initial};{about}")
        return lines

    def place_of(self, slot: Slot) -> Place:
        """The line of the slot's variable."""
        return next(
            v.place
            for v in self.definition.variables
            if re.match(rf"(?:len\()?{re.escape(v.name)}(?!\w)", slot.name)
        )

    def beginning(self) -> list[str]:
        """The choice of the initial state, where there are several."""
        if len(self.starts) == 1:
            return []
        lines = ["  if"]
        for start in self.starts:
            codes = zip(self.names, start.codes, strict=True)
            made = [_said(start.label), *(f"{name} = {code}" for name, code in codes if code)]
            lines.append(f"  :: d_step {{ true -> {'; '.join(made)} }}")
        return [*lines, "  fi;"]

    def kept(self) -> str:
        """An option that is never there and reads each slot: SPIN hides from its states what none reads."""
        read = " || ".join(f"{self.names[slot.index]} < 0" for slot in self.lowered.slots if slot.size > 1)
        return f"  :: {read or 'false'} -> skip /* never: what is read nowhere, SPIN hides */"

    # --- steps

    def options(self, instance: Instance) -> Iterator[str]:
        """The instance's d_step, and one that fails for each thing that can be wrong with it."""
        yield f"  /* {_comment(str(instance.label))} */"
        label, place, standing = str(instance.label), instance.action.place, self.pool.true
        for guard in instance.guards:
            self.condition(guard.node, guard.place)  # a refusal names the guard's own line
            if guard.kind == "fault":
                yield from self.wrong(self.pool.and_(standing, guard.node), label, "fault", guard.place)
            holds = self.pool.not_(guard.node) if guard.kind == "fault" else guard.node
            standing = self.pool.and_(standing, holds)
        outside = self.pool.and_(standing, instance.outside)
        yield from self.wrong(outside, label, values_stay_in_domain, place)
        standing = self.pool.and_(standing, self.pool.not_(instance.outside))
        for step in instance.steps if self.asserts else ():
            yield from self.judged(step, standing, label)
        if standing is not self.pool.false:
            yield self.step(instance, standing)

    def judged(self, predicate: Predicate, standing: Node, label: str) -> Iterator[str]:
        """The options that are there where the predicate is false, or at fault."""
        name, place, pool = predicate.prop.name, predicate.prop.place, self.pool
        yield from self.wrong(pool.and_(standing, predicate.fault), label, f"fault in {name}", place)
        yield from self.wrong(pool.and_(standing, pool.not_(predicate.holds)), label, name, place)

    def wrong(self, condition: Node, label: str, name: str, place: Place) -> Iterator[str]:
        """The option that fails there, or nothing where it cannot be."""
        if condition is not self.pool.false:
            said = _said(label, f"wrong: {name}") if label else _said(f"wrong: {name}")
            yield f"  :: d_step {{ {self.condition(condition, place)} -> {said}; assert(false) }}"

    def condition(self, node: Node, place: Place) -> str:
        """The node as a guard; refused at that place where it cannot be written."""
        if node is self.pool.true:
            return "true"
        try:
            return self.plain.whole(node)
        except Unsayable as problem:
            raise Refused("P013", place, problem.found, problem.write) from None

    def step(self, instance: Instance, standing: Node) -> str:
        """The step itself: what is used twice and what is still read once overwritten go by hidden names."""
        guard = self.condition(standing, instance.action.place)
        try:
            effects = self.effects(instance)
        except Unsayable as problem:
            raise Refused("P013", instance.action.place, problem.found, problem.write) from None
        return f"  :: d_step {{ {guard} -> {'; '.join([_said(str(instance.label)), *effects])} }}"

    def effects(self, instance: Instance) -> list[str]:
        """The assignments, one after the other with the effect of all at once."""
        lets: dict[int, str] = {}
        lines: list[str] = []

        def keep(node: Node) -> None:
            lines.append(f"t{len(lets)} = {Expressions(self.names, lets).whole(node)}")
            lets[node.index] = f"t{len(lets)}"
            self.temporaries = max(self.temporaries, len(lets))

        for node in in_order(shared(instance.effects.values())):
            keep(node)
        waiting = dict(instance.effects)
        late: list[str] = []
        while waiting:
            ready = [s for s in waiting if not any(s in n.support for t, n in waiting.items() if t != s)]
            slot = ready[0] if ready else next(iter(waiting))
            node = waiting.pop(slot)
            if not ready and not node.constant and node.index not in lets:
                keep(node)
            text = Expressions(self.names, lets).whole(node)
            (lines if ready else late).append(f"{self.names[slot]} = {text}")
        return lines + late

    # --- states

    def monitors(self) -> Iterator[str]:
        """The options that fail in a broken state; last, as pan -i keeps the last of trails of one length."""
        if not self.asserts:
            return
        for predicate in self.lowered.invariants:
            yield from self.judged(predicate, self.pool.true, "")
        cut = self.pool.or_(*(node for i in self.lowered.instances for node in cuts(self.pool, i)))
        terminals = self.lowered.terminals
        stays = self.pool.or_(cut, *(p.holds for p in terminals))
        place = self.definition.place
        for name, node in [
            *((f"fault in {p.prop.name}", self.pool.and_(self.pool.not_(cut), p.fault)) for p in terminals),
            (deadlock, self.pool.not_(stays)),
        ]:
            if node is not self.pool.false:
                guard = self.condition(node, place)
                condition = "timeout" if guard == "true" else f"timeout && ({guard})"
                yield f"  :: d_step {{ {condition} -> {_said(f'wrong: {name}')}; assert(false) }}"


def cuts(pool: Pool, instance: Instance) -> Iterator[Node]:
    """Where a bound of the instance cuts it."""
    standing = pool.true
    for guard in instance.guards:
        if guard.kind == "bound":
            yield pool.and_(standing, pool.not_(guard.node))
        standing = pool.and_(standing, pool.not_(guard.node) if guard.kind == "fault" else guard.node)


def in_order(named: dict[int, Node]) -> list[Node]:
    """These nodes, each after those that it contains."""
    done: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if node.index in seen:
            return
        seen.add(node.index)
        for arg in node.args:
            visit(arg)
        if node.index in named:
            done[node.index] = node

    seen: set[int] = set()
    for node in named.values():
        visit(node)
    return list(done.values())


def _names(slots: Sequence[Slot]) -> list[str]:
    """A name of its own for each slot; the s_ keeps it apart from the words of Promela and C."""
    taken: dict[str, str] = {}
    for slot in slots:
        plain = "s_" + re.sub(r"[^a-z0-9]+", "_", slot.name, flags=re.IGNORECASE | re.ASCII).strip("_")
        taken[plain if plain not in taken else f"{plain}_{slot.index}_"] = slot.name
    return list(taken)


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")


def _said(*lines: str) -> str:
    """What `spin -t` prints when the trail passes here; pan itself prints nothing."""
    text = "\\n".join(lines).encode("ascii", "replace").decode("ascii")
    return f'printf("{text.replace("%", "%%")}\\n")'
