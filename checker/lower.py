"""A model lowered: an instance of an action as guards and effects over slots, a predicate as a node."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from falsework.accounting import PremiseKey
from falsework.definition import Action, Definition, Property
from falsework.definition_checks import premise_sites
from falsework.domains import MapOf, SeqOf, SetOf, VariableDomain
from falsework.errors import Place, Refused
from falsework.ir import DEEPEST, TABLE_LIMIT, Facts, Node, Pool, Slot, TooDeep, text
from falsework.judge import applies
from falsework.language import PremiseSite
from falsework.lower_context import Edited, Guard, NeverEnabled
from falsework.lower_statements import Statements
from falsework.lower_values import (
    Inst,
    Items,
    Mismatch,
    Num,
    Option,
    SymbolicState,
    Value,
    constant,
    kind,
    load,
    store,
    variable_slots,
    zero,
)
from falsework.source import deep
from falsework.trace import Label, instances

MOST_INSTANCES = 50_000


@dataclass(frozen=True, eq=False)
class Predicate:
    """A property as an expression: true where `node` is 1, at fault where one of `faults` is 1."""

    prop: Property
    pool: Pool
    node: Node
    faults: tuple[Guard, ...]
    premises: tuple[tuple[PremiseSite, Node], ...]

    @cached_property
    def fault(self) -> Node:
        """Where the predicate is at fault."""
        return self.pool.or_(*(guard.node for guard in self.faults))

    @cached_property
    def holds(self) -> Node:
        """Where the predicate is not false: a fault is no violation."""
        return self.pool.or_(self.fault, self.node)

    @cached_property
    def sound(self) -> tuple[tuple[PremiseKey, Node], ...]:
        """The premises by their keys, true only where the predicate is not at fault."""
        sound = self.pool.not_(self.fault)
        return tuple(((self.prop.name, site), self.pool.and_(sound, node)) for site, node in self.premises)

    @property
    def decided(self) -> bool:
        """Whether nothing about it depends on the state: it holds, and counts no premise."""
        return self.node.op == "const" and bool(self.node.value) and not self.faults and not self.premises


@dataclass(frozen=True, eq=False)
class Instance:
    """One label: what decides whether the step exists, in order; what it changes; what it is judged by.

    `effects` maps slots to their new codes; `outside` is 1 where the result leaves a domain.
    """

    action: Action
    label: Label
    number: int
    guards: tuple[Guard, ...]
    effects: dict[int, Node]
    outside: Node
    steps: tuple[Predicate, ...]
    facts: Facts

    @cached_property
    def may_stay(self) -> bool:
        """Whether the step may leave a state as it is, as far as its guards and effects tell."""
        for slot, code in self.effects.items():
            size = self.facts.pool.slots[slot].size
            allowed = self.facts.codes.get(slot, range(size) if size <= TABLE_LIMIT else ())
            if code.constant and allowed and code.value not in allowed:
                return False
            if (
                code.op == "table"
                and code.value == slot
                and allowed
                and all(code.table[c] != c for c in allowed)
            ):
                return False
        return True


@dataclass(frozen=True, eq=False)
class Lowered:
    """The whole model over one pool of expressions; slots in the order of the variables."""

    definition: Definition
    pool: Pool
    slots: tuple[Slot, ...]
    instances: tuple[Instance, ...]
    invariants: tuple[Predicate, ...]
    witnesses: tuple[Predicate, ...]
    terminals: tuple[Predicate, ...]
    silent: tuple[tuple[Guard, ...], ...] = ()  # the guards of each instance that is never enabled

    def text(self) -> str:
        """The canonical text of the lowered model."""
        return "\n".join(_text(self))


@contextmanager
def _refusals(name: str, place: Place) -> Iterator[None]:
    """What goes wrong inside without a line of its own is refused where the method stands."""
    try:
        yield
    except Mismatch as problem:
        raise Refused("P005", place, f"{name}: {problem}", "values of one kind in every case") from None
    except (TooDeep, RecursionError):
        found = f"{name}: expressions nested more than {DEEPEST} deep"
        raise Refused("P010", place, found, "a shorter loop or chain of conditions, or a table") from None


def lower(definition: Definition) -> Lowered:
    """The lowered model, made once; raises Refused for the first construct outside the subset."""
    found = definition.__dict__.get("_lowered")
    if found is None:
        lowering = _Lowering(definition)
        with deep():
            found = lowering.lowered()
        definition.__dict__["_lowered"] = found
        definition.__dict__["_lowering"] = lowering
    return found


def lower_edited(definition: Definition, edited: Edited, actions: Collection[str]) -> Lowered:
    """The model with other bodies of methods in these actions, over the pool of the model itself.

    What the change leaves as it is, is the same node as in the model.
    """
    whole = lower(definition)
    lowering: _Lowering = definition.__dict__["_lowering"]
    kept = [i for i in whole.instances if i.action.name not in actions]
    with deep():
        made, silent = lowering.instances(actions, edited)
    order = {action.name: place for place, action in enumerate(definition.actions)}
    both = sorted([*kept, *made], key=lambda i: (order[i.action.name], i.number))
    return replace(whole, instances=tuple(both), silent=(*whole.silent, *silent))


class _Lowering:
    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.pool = Pool()
        self.slots: dict[str, list[Slot]] = {}
        self.sites: dict[str, frozenset[PremiseSite]] = {}
        for variable in definition.variables:
            named = variable_slots(variable.domain, variable.name)
            self.slots[variable.name] = [self.pool.new_slot(name, size) for name, size in named]
        self._note_payloads()
        self.before = self.state({s.index: self.pool.code(s) for s in self.pool.slots})

    def _note_payloads(self) -> None:
        """The slots of an absent record and of an unused place are 0 in every state; no step need say so."""
        for slot in self.pool.slots:
            if slot.name.endswith("?"):
                present, inside = self.pool.code(slot).index, slot.name[:-1] + "."
                for other in self.pool.slots[slot.index + 1 :]:
                    if not other.name.startswith(inside):
                        break
                    self.pool.payloads.add((present, other.index))
        for variable in self.definition.variables:
            if isinstance(variable.domain, SeqOf):
                length, *items = self.slots[variable.name]
                for number, slot in enumerate(items):
                    place = number // (len(items) // variable.domain.length)
                    used = self.pool.lt(self.pool.const(place), self.pool.code(length))
                    self.pool.payloads.add((used.index, slot.index))

    def lowered(self) -> Lowered:
        definition = self.definition
        made, silent = self.instances([action.name for action in definition.actions], {})
        return Lowered(
            definition, self.pool, tuple(self.pool.slots), tuple(made),
            tuple(self.predicate(p) for p in definition.invariants if p.kind == "state"),
            tuple(self.predicate(p) for p in definition.witnesses),
            tuple(self.predicate(p) for p in definition.terminals),
            tuple(silent),
        )  # fmt: skip

    def instances(
        self, names: Collection[str], edited: Edited
    ) -> tuple[list[Instance], list[tuple[Guard, ...]]]:
        """The instances of these actions, and the guards of those that are never enabled."""
        made: list[Instance] = []
        silent: list[tuple[Guard, ...]] = []
        for action in self.definition.actions:
            for number, label in enumerate(instances(self.definition, action)):
                if action.name not in names:
                    break
                if len(made) >= MOST_INSTANCES:
                    raise Refused(
                        "P008",
                        action.place,
                        f"more than {MOST_INSTANCES} instances of actions",
                        "smaller parameter domains",
                    )
                with _refusals(action.name, action.place):
                    try:
                        made.append(self.instance(action, label, number, edited))
                    except NeverEnabled as never:
                        silent.append(never.guards)
        return made, silent

    # --- states

    def state(self, codes: dict[int, Node]) -> SymbolicState:
        """The variables that these slot codes stand for."""
        state = SymbolicState()
        for variable in self.definition.variables:
            supply = iter([codes[slot.index] for slot in self.slots[variable.name]])
            state.cells[variable.name] = self._load(variable.domain, supply)
        return state

    def _load(self, domain: VariableDomain, supply: Iterator[Node]) -> Any:
        match domain:
            case MapOf(key, value):
                return tuple(load(self.pool, value, supply) for _ in key.values())
            case SetOf(key):
                return tuple(next(supply) for _ in key.values())
            case SeqOf(item, length):
                size = next(supply)
                return Items(size, tuple(load(self.pool, item, supply) for _ in range(length)))
        return load(self.pool, domain, supply)

    def codes(self, state: SymbolicState) -> tuple[dict[int, Node], Node]:
        """The slot codes of the state, and whether it lies outside its domains."""
        codes: dict[int, Node] = {}
        outside = self.pool.false
        for variable in self.definition.variables:
            if state.cells[variable.name] is self.before.cells[variable.name]:
                codes.update((slot.index, self.pool.code(slot)) for slot in self.slots[variable.name])
                continue
            found, odd = self._store(variable.domain, state.cells[variable.name])
            outside = self.pool.or_(outside, odd)
            codes.update(
                (slot.index, code) for slot, code in zip(self.slots[variable.name], found, strict=True)
            )
        return codes, outside

    def _store(self, domain: VariableDomain, content: Any) -> tuple[list[Node], Node]:
        pool = self.pool
        match domain:
            case MapOf(_, value):
                parts = [store(pool, value, cell) for cell in content]
            case SetOf():
                return list(content), pool.false
            case SeqOf(item, length):
                codes, outside = [content.length], pool.lt(pool.const(length), content.length)
                for place in range(length):
                    there = pool.lt(pool.const(place), content.length)
                    cell, odd = store(pool, item, content.slots[place])
                    empty, _ = store(pool, item, zero(pool, item))
                    codes += [
                        pool.ite(there, code, nothing) for code, nothing in zip(cell, empty, strict=True)
                    ]
                    outside = pool.or_(outside, pool.and_(there, odd))
                return codes, outside
            case _:
                return store(pool, domain, content)
        return [code for part, _ in parts for code in part], pool.or_(*(odd for _, odd in parts))

    # --- actions

    def instance(self, action: Action, label: Label, number: int, edited: Edited) -> Instance:
        """One label, its method run symbolically from the state before."""
        before = SymbolicState(dict(self.before.cells))
        run = Statements(self.pool, self.definition, before, edited=edited)
        arguments: list[Value] = [
            Inst(run.state),
            *(constant(self.pool, a) for a in (*action.constants, *label.arguments)),
        ]
        answer = run.run(action.function, arguments, {})
        codes, outside = self.codes(run.state)
        if action.answer is not None:
            outside = self.pool.or_(outside, store(self.pool, action.answer, answer)[1])
        else:
            answered = run.simplify(answer.present if isinstance(answer, Option) else self.pool.true)
            if answered is not self.pool.false:
                text = f"{action.name} answers and declares no answer"
                run.guards.append(Guard("fault", answered, action.place, text))
        outside = run.facts.simplify(outside)
        facts = run.facts.given(outside, holds=False) if not outside.constant else run.facts
        codes = {slot: facts.simplify(code) for slot, code in codes.items()}
        effects = {
            s: code
            for s, code in codes.items()
            if code is not self.pool.code(self.pool.slots[s]) and not self._known(facts, s, code)
        }
        after = self.state(codes)
        known: dict[str, Value] = {"before": Inst(self.before), "answer": answer}
        known |= {
            name: constant(self.pool, a)
            for (name, _), a in zip(action.parameters, label.arguments, strict=True)
        }
        if action.row is not None:
            known["row"] = constant(self.pool, action.row)
        judged = [p for p in self.definition.invariants if applies(p, action)]
        steps = (
            tuple(self.predicate(p, after, facts, known) for p in judged)
            if outside is not self.pool.true
            else ()
        )
        return Instance(action, label, number, tuple(run.guards), effects, outside, steps, run.facts)

    def _known(self, facts: Facts, slot: int, code: Node) -> bool:
        """Whether the slot is known to hold that code already."""
        return code.constant and facts.simplify(self.pool.code(self.pool.slots[slot])) is code

    # --- predicates

    def predicate(
        self,
        prop: Property,
        state: SymbolicState | None = None,
        facts: Facts | None = None,
        known: dict[str, Value] | None = None,
    ) -> Predicate:
        """The property over a state; a step invariant over the state after, with what it may read by name."""
        here = state if state is not None else self.before
        run = Statements(self.pool, self.definition, here, facts)
        run.judging = prop.kind in ("state", "step")
        with _refusals(prop.name, prop.place):
            answer = run.run(prop.function, [Inst(here), *((known or {})[a] for a in prop.arguments)], {})
            holds = run.simplify(self._bool(answer, prop))
            asked = self._sites(prop)
            counted = [(site, node) for site, node in run.premises if site in asked]
            premises = tuple((site, run.simplify(node)) for site, node in counted)
        return Predicate(prop, self.pool, holds, tuple(run.guards), premises)

    def _sites(self, prop: Property) -> frozenset[PremiseSite]:
        """Where the property's premises are counted: a function of a foreign module may hold others."""
        if prop.name not in self.sites:
            self.sites[prop.name] = frozenset(premise_sites(self.definition, prop.function))
        return self.sites[prop.name]

    def _bool(self, answer: Value, prop: Property) -> Node:
        if not isinstance(answer, Num) or not answer.flag:
            raise Refused(
                "P005",
                prop.place,
                f"{prop.name} answers {kind(answer)}",
                "a predicate that returns True or False",
            )
        return answer.node


# --- canonical text -------------------------------------------------------------------------------


def _text(lowered: Lowered) -> Iterator[str]:
    slots = lowered.slots
    yield "slots " + " ".join(f"{slot.name}:{slot.size}" for slot in slots)
    for instance in lowered.instances:
        yield f"{instance.action.kind} {instance.label}"
        for guard in instance.guards:
            yield f"  {guard.kind} {text(guard.node, slots)}"
        for slot, code in sorted(instance.effects.items()):
            yield f"  {slots[slot].name} := {text(code, slots)}"
        if instance.outside is not lowered.pool.false:
            yield f"  outside {text(instance.outside, slots)}"
        for step in instance.steps:
            if step.node is not lowered.pool.true:
                yield f"  invariant {step.prop.name} {text(step.node, slots)}"
    for word, predicates in (
        ("invariant", lowered.invariants),
        ("witness", lowered.witnesses),
        ("terminal", lowered.terminals),
    ):
        for predicate in predicates:
            yield f"{word} {predicate.prop.name} {text(predicate.node, slots)}"
            for fault in predicate.faults:
                yield f"  fault {text(fault.node, slots)}"
