"""The profile of a model that can be lowered: counted over packed states, as sets of ints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from falsework.accounting import Bounds, Progress
from falsework.definition import Definition
from falsework.emit_python import Body, Printer
from falsework.fast import Search
from falsework.ir import Node
from falsework.lower import Lowered, lower
from falsework.lower_context import Guard, Site
from falsework.lower_values import variable_slots
from falsework.profile import Profile, VariableCost
from falsework.program import SMALL, Memo, build, weight
from falsework.source import deep
from falsework.trace import Faulted

Keep = Callable[[list[int], bool], list[int]]
"""The states in which a condition is true, or those in which it is not."""


def profile_words(definition: Definition, bounds: Bounds, progress: Progress | None) -> Profile:
    """Counts over all reachable states; raises Refused, or Faulted where the model faults."""
    lowered = lower(definition)
    search = Search(definition, bounds, build(lowered))
    tally = search.run(progress)
    if tally.fault is not None:
        raise Faulted(tally.fault.message, tally.fault.place)
    made = Profile(definition, tally.states, list(tally.levels), stop=tally.stop)
    if tally.stop is None:
        made.variables = list(_variables(definition, search))
        _count_steps(made, search)
        with deep():
            made.count_guards(_decided(lowered, search))
    return made


def _variables(definition: Definition, search: Search) -> Iterable[VariableCost]:
    """Each variable's values are those of its bits, and without it states are what the other bits say."""
    packing, first = search.program.packing, 0
    for variable in definition.variables:
        slots = len(list(variable_slots(variable.domain, variable.name)))
        mask = packing.mask(frozenset(range(first, first + slots)))
        first += slots
        values, without = {s & mask for s in search.seen}, len({s & ~mask for s in search.seen})
        yield VariableCost(variable.name, len(values), without)


def _count_steps(made: Profile, search: Search) -> None:
    """A step is a duplicate where its state had been reached before, level by level, action by action."""
    known = set(search.first)
    for level in search.levels:
        for block in search.program.blocks:
            out: set[int] = set()
            steps, _ = block.run(level, out)
            for event in (block.events.get(s & block.mask) for s in level) if block.events else ():
                steps += event.self_loops if event is not None else 0
            out -= known
            known |= out
            if steps > len(out):
                made.duplicates[block.action] += steps - len(out)
    for name, covered in search.tally.coverage.items():
        made.fired[name] = covered.fired


# --- guards -----------------------------------------------------------------------------------------------


def _decided(lowered: Lowered, search: Search) -> dict[Site, int]:
    """How many instances each conjunct was the first to disable."""
    states = [s for level in search.levels for s in level]
    conditions = _Conditions(lowered, search)
    decided: dict[Site, int] = {}
    for guards in (*(instance.guards for instance in lowered.instances), *lowered.silent):
        left = states
        for guard in guards:
            if not left:
                break
            keep = conditions.of(guard)
            passed = keep(left, guard.kind != "fault")
            if guard.kind == "require":
                decided[guard.site] = decided.get(guard.site, 0) + len(left) - len(passed)
            left = passed
    return decided


class _Conditions:
    """The conditions of guards as functions over lists of states, each printed once."""

    def __init__(self, lowered: Lowered, search: Search) -> None:
        self.packing = search.program.packing
        self.printer = Printer(lowered.pool, self.packing)
        self.known: dict[int, Keep] = {}

    def of(self, guard: Guard) -> Keep:
        """What keeps the states in which the guard's condition is true."""
        node = guard.node
        if node.index not in self.known:
            self.known[node.index] = self._small(node) if weight(node) <= SMALL else self._large(node)
        return self.known[node.index]

    def _small(self, node: Node) -> Keep:
        text = self.printer.condition(node)
        names = self._run(
            f"def true(level):\n    return [s for s in level if {text}]\n"
            f"def false(level):\n    return [s for s in level if not ({text})]"
        )
        return lambda level, wanted: names["true" if wanted else "false"](level)

    def _large(self, node: Node) -> Keep:
        body = Body(self.printer, [node])
        body.lines.append(f"    return bool({body.condition(node)})")
        memo, mask = Memo(self._run(body.text("holds"))["holds"]), self.packing.mask(node.support)
        return lambda level, wanted: [s for s in level if memo[s & mask] is wanted]

    def _run(self, text: str) -> dict[str, Any]:
        names: dict[str, Any] = {name: table for table, name in self.printer.tables.items()}
        exec(compile(text, "<the guards>", "exec"), names)  # noqa: S102  our own printed text
        return names
