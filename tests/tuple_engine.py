"""A second representation of the lowered model: states as tuples of codes, searched one state at a time.

It prints the same expressions through a printer of its own and shares with `fast` neither words nor levels:
states stand in a queue, each remembers the step that reached it first.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from falsework.accounting import Bounds, Coverage, PremiseKey, Violation
from falsework.definition import Definition
from falsework.emit_python import Body, Printer
from falsework.errors import Place
from falsework.ir import Facts, Node
from falsework.lower import Instance, Lowered, Predicate
from falsework.packing import Packing
from falsework.trace import Trace, starts

Codes = tuple[int, ...]
Test = Callable[[Codes], Any]


class TuplePrinter(Printer):
    """Prints expressions over a tuple `s` of codes."""

    def read(self, slot: int) -> str:
        return f"s[{slot}]"

    def one_of(self, slot: int, codes: list[int], size: int) -> str:
        return f"s[{slot}] in ({', '.join(map(str, codes))},)"

    def together(self, codes: Any) -> list[str]:
        return [f"s[{slot}] == {code}" for slot, code in codes.items()]

    def after(self, effects: Any, facts: Facts) -> str:
        cells = (
            self.value(effects[slot.index]) if slot.index in effects else self.read(slot.index)
            for slot in self.pool.slots
        )
        return f"({', '.join(cells)},)"

    def strided(self, ways: list[Node]) -> None:
        return None


@dataclass
class Judged:
    """A predicate's functions: the first fault if any, whether it holds, its premises by their key."""

    name: str
    faults: list[tuple[Place, Test]]
    holds: Test
    premises: list[tuple[PremiseKey, Test]]

    def fault(self, s: Codes) -> Place | None:
        return next((place for place, test in self.faults if test(s)), None)


@dataclass
class Step:
    """An instance's functions."""

    instance: Instance
    guards: list[tuple[str, Place, Test]]
    outside: Test
    after: Test
    judged: list[Judged]


class Functions:
    """Prints functions of a state under names of their own, and compiles them all at once."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer
        self.texts: list[str] = []
        self.names: dict[str, Any] = {}

    def test(self, node: Node) -> Test:
        body = Body(self.printer, [node])
        asked = body.condition(node)
        body.lines.append(f"    return bool({asked})")
        return self._named(body)

    def value(self, node: Node) -> Test:
        body = Body(self.printer, [node])
        body.need(node)
        self.printer.lets = body.lets
        body.lines.append(f"    return {self.printer.value(node)}")
        return self._named(body)

    def after(self, instance: Instance) -> Test:
        body = Body(self.printer, instance.effects.values())
        for code in instance.effects.values():
            body.need(code)
        self.printer.lets = body.lets
        body.lines.append(f"    return {self.printer.after(instance.effects, instance.facts)}")
        return self._named(body)

    def _named(self, body: Body) -> Test:
        name = f"f{len(self.texts)}"
        self.texts.append(body.text(name))

        def named(s: Codes) -> Any:
            return self.names[name](s)

        return named

    def compiled(self) -> None:
        exec("\n".join(self.texts), self.names)  # noqa: S102  our own printed text
        self.names |= {name: table for table, name in self.printer.tables.items()}


@dataclass
class Counts:
    """What the search counts, under the names of `Tally.counts`."""

    levels: list[int] = field(default_factory=list)
    coverage: dict[str, Coverage] = field(default_factory=dict)
    premises: dict[PremiseKey, int] = field(default_factory=dict)
    cuts: dict[str, int] = field(default_factory=dict)
    violations: dict[str, Violation] = field(default_factory=dict)
    witnesses: dict[str, int | None] = field(default_factory=dict)
    fault: tuple[str, int] | None = None


class TupleSearch:
    """Breadth-first over tuples of codes."""

    def __init__(self, lowered: Lowered, bounds: Bounds, premises: Iterable[PremiseKey]) -> None:
        self.definition: Definition = lowered.definition
        self.bounds = bounds
        self.packing = Packing(lowered.definition, lowered.slots)
        functions = Functions(TuplePrinter(lowered.pool, self.packing))
        self.steps = [self._step(functions, instance) for instance in lowered.instances]
        self.invariants = [self._judged(functions, p) for p in lowered.invariants]
        self.witnesses = [self._judged(functions, p) for p in lowered.witnesses]
        self.terminals = [self._judged(functions, p) for p in lowered.terminals]
        functions.compiled()
        self.counts = Counts(premises=dict.fromkeys(premises, 0))
        self.counts.coverage = {action.name: Coverage() for action in self.definition.actions}
        self.counts.witnesses = {witness.name: None for witness in self.definition.witnesses}
        self.trace_of: dict[Codes, Trace] = {}

    def _step(self, functions: Functions, instance: Instance) -> Step:
        guards = [(guard.kind, guard.place, functions.test(guard.node)) for guard in instance.guards]
        judged = [self._judged(functions, predicate) for predicate in instance.steps]
        return Step(instance, guards, functions.test(instance.outside), functions.after(instance), judged)

    def _judged(self, functions: Functions, predicate: Predicate) -> Judged:
        name = predicate.prop.name
        return Judged(
            name,
            [(guard.place, functions.test(guard.node)) for guard in predicate.faults],
            functions.test(predicate.node),
            [((name, site), functions.test(node)) for site, node in predicate.premises],
        )

    def run(self) -> dict[str, object]:
        frontier = self.start()
        while self.level_ends(frontier):
            frontier = [after for before in frontier for after in self.expand(before)]
        counts = self.counts
        return {
            "states": len(self.trace_of),
            "transitions": sum(c.fired for c in counts.coverage.values()),
            "levels": counts.levels,
            "coverage": {n: (c.enabled, c.fired, c.self_loops, c.cut) for n, c in counts.coverage.items()},
            "premises": counts.premises,
            "cuts": dict(sorted(counts.cuts.items())),
            "violations": {
                n: (v.steps, str([str(s) for s in v.trace.steps]))
                for n, v in sorted(counts.violations.items())
            },
            "witnesses": counts.witnesses,
            "fault": counts.fault,
            "stop": None,
        }

    def level_ends(self, frontier: list[Codes]) -> bool:
        if found := len(self.trace_of) - sum(self.counts.levels):
            self.counts.levels.append(found)
        stopped = self.counts.fault is not None or (self.counts.violations and not self.bounds.every)
        return bool(frontier) and not stopped

    def start(self) -> list[Codes]:
        fresh = []
        for taken in starts(self.definition):
            trace = Trace(taken.label if self.definition.initials else None)
            if taken.outside:
                self.violate("values_stay_in_domain", trace)
            else:
                fresh += self.arrive(tuple(self.packing.codes(self.packing.pack(taken.state))), trace, [])
        return fresh

    def expand(self, before: Codes) -> list[Codes]:
        fresh, stuck, trace = [], True, self.trace_of[before]
        for step in self.steps:
            path = Trace(trace.start, (*trace.steps, step.instance.label))
            end = next((g for g in step.guards if bool(g[2](before)) == (g[0] == "fault")), None)
            if end is not None and end[0] == "require":
                continue
            stuck = False
            covered = self.counts.coverage[step.instance.action.name]
            if end is None:
                fresh += self.fire(step, before, path, covered)
            elif end[0] == "bound":
                covered.cut += 1
                self.counts.cuts[str(end[1])] = self.counts.cuts.get(str(end[1]), 0) + 1
            else:
                self.fault(end[1], path)
            covered.enabled = covered.fired + covered.cut
        if stuck and not any(self.holds(judged, before, trace) for judged in self.terminals):
            self.violate("deadlock", trace)
        return fresh

    def fire(self, step: Step, before: Codes, path: Trace, covered: Coverage) -> list[Codes]:
        covered.fired += 1
        if step.outside(before):
            self.violate("values_stay_in_domain", path)
            return []
        after = step.after(before)
        covered.self_loops += after == before
        broken = [judged.name for judged in step.judged if not self.holds(judged, before, path, count=True)]
        return self.arrive(after, path, broken)

    def arrive(self, s: Codes, path: Trace, broken: list[str]) -> list[Codes]:
        new = not broken
        if new:
            if s in self.trace_of:
                return []
            self.trace_of[s] = path
            for witness in self.witnesses:
                steps = self.counts.witnesses[witness.name]
                if steps in (None, len(path)) and self.holds(witness, s, path) and steps is None:
                    self.counts.witnesses[witness.name] = len(path)
        broken = broken + [j.name for j in self.invariants if not self.holds(j, s, path, count=new)]
        for name in broken:
            self.violate(name, path)
        return [] if broken else [s]

    def holds(self, judged: Judged, s: Codes, path: Trace, *, count: bool = False) -> bool:
        place = judged.fault(s)
        if place is not None:
            self.fault(place, path)
            return True
        for key, test in judged.premises:
            self.counts.premises[key] += count and test(s)
        return bool(judged.holds(s))

    def violate(self, name: str, trace: Trace) -> None:
        self.counts.violations.setdefault(name, Violation(name, trace))

    def fault(self, place: Place, trace: Trace) -> None:
        self.counts.fault = self.counts.fault or (str(place), len(trace))
