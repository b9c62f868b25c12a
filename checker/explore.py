"""Breadth-first search over the class itself: the definition of what every other engine must answer.

Queue order is that of initial states, parents, actions, arguments: the first trace to a violation is shortest
and least. Everything is evaluated twice on the spot, and once more in a search backwards: what differs
depends on something that is no part of the state.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from falsework.accounting import Bounds, Progress, Stop, Tally, Violation
from falsework.definition import Action, Definition, Property
from falsework.errors import CutByBound
from falsework.judge import applies, judge, step_arguments
from falsework.language import deadlock, values_stay_in_domain
from falsework.state import State
from falsework.trace import IMPURE, Fault, Faulted, Label, Taken, Trace, instances, starts, take


class _Search:
    def __init__(self, definition: Definition, bounds: Bounds, *, backwards: bool = False) -> None:
        self.definition = definition
        self.tally = Tally(definition, "explore", bounds)
        self.order, self.times = (-1, 1) if backwards else (1, 2)
        self.trace_of: dict[State, Trace] = {}  # every state that is reached, the violating ones included
        self.steps = [(a, label) for a in definition.actions for label in instances(definition, a)]

    def run(self, progress: Progress) -> Tally:
        frontier = self.start()
        while self.level_ends(frontier, progress):
            frontier = [after for before in frontier[:: self.order] for after in self.expand(before)]
        return self.tally

    def level_ends(self, frontier: list[State], progress: Progress) -> bool:
        """Counts the level that has just been reached; whether there is another one to look for."""
        tally, bounds = self.tally, self.tally.bounds
        if found := len(self.trace_of) - tally.states:
            tally.levels.append(found)
            tally.states += found
        progress(tally, len(frontier))
        if not frontier or tally.fault is not None or (tally.violations and not bounds.every):
            return False
        if bounds.max_depth is not None and tally.depth >= bounds.max_depth:
            tally.stop = Stop("max-depth", bounds.max_depth, len(frontier))
        elif tally.states > bounds.max_states:
            tally.stop = Stop("max-states", bounds.max_states, len(frontier))
        return tally.stop is None

    def start(self) -> list[State]:
        """The distinct initial states that break nothing."""
        begun = list(starts(self.definition, failed=lambda fault: self.fault(fault, Trace(None))))
        labelled = bool(self.definition.initials)
        return [s for t in begun for s in self.arrive(Trace(t.label if labelled else None), t, [])]

    def expand(self, before: State) -> list[State]:
        """Counts and judges every step from there; the new states that break nothing."""
        fresh: list[State] = []
        stuck, trace = True, self.trace_of[before]
        for action, label in self.steps[:: self.order]:
            covered, path = self.tally.coverage[action.name], Trace(trace.start, (*trace.steps, label))
            try:
                if (taken := self.step(action, before, label)) is None:
                    continue
                covered.fired += 1
                covered.self_loops += not taken.outside and taken.state == before
                self.tally.transitions += 1
                fresh += self.arrive(path, taken, self.broken_by(path, action, before, taken))
            except CutByBound as cut:
                self.tally.cuts[cut.place] = self.tally.cuts.get(cut.place, 0) + 1
                covered.cut += 1
            except Faulted as fault:
                self.fault(fault, path)
            covered.enabled = covered.fired + covered.cut
            stuck = False
        if stuck and not any(self.holds(prop, before, trace) for prop in self.definition.terminals):
            self.violate(deadlock, trace)
        return fresh

    def step(self, action: Action, before: State, label: Label) -> Taken | None:
        taken = [take(self.definition, action, before, label) for _ in range(self.times)]
        if taken[0] != taken[-1]:
            raise Faulted(IMPURE.format(label), action.place)
        return taken[0]

    def broken_by(self, path: Trace, action: Action, before: State, taken: Taken) -> list[Property]:
        known = step_arguments(action, taken.label, taken.answer, before)
        judged = [p for p in self.definition.invariants if applies(p, action) and not taken.outside]
        return [p for p in judged if not self.holds(p, taken.state, path, known)]

    def arrive(self, path: Trace, taken: Taken, broken: list[Property]) -> list[State]:
        """Judges the state that the path ends in: that state alone if it is new and nothing is broken."""
        if taken.outside:
            self.violate(values_stay_in_domain, path, taken.outside)
            return []
        if new := not broken:
            if taken.state in self.trace_of:
                return []
            self.trace_of[taken.state] = path
            for witness in self.definition.witnesses:
                steps = self.tally.witnesses[witness.name]
                sought = steps is None or steps == len(path)
                if sought and self.holds(witness, taken.state, path) and steps is None:
                    self.tally.witnesses[witness.name] = len(path)
                    self.tally.witness_traces[witness.name] = path
        judged = [p for p in self.definition.invariants if p.kind == "state"]
        broken = broken + [p for p in judged if not self.holds(p, taken.state, path, count=new)]
        for prop in broken:
            self.violate(prop.name, path)
        return [] if broken else [taken.state]

    def holds(
        self, prop: Property, state: State, path: Trace, known: Mapping[str, object] = {}, count: bool = True
    ) -> bool:
        """The predicate's answer; its true premises are counted, its fault ends the search with the level."""
        try:
            answer, premises = judge(self.definition, prop, state, known, times=self.times)
        except Faulted as fault:
            self.fault(fault, path, prop.name)
            return True
        for site, times in premises.items():
            if count and (prop.name, site) in self.tally.premises:
                self.tally.premises[prop.name, site] += times
        return answer

    def violate(self, name: str, trace: Trace, outside: str = "") -> None:
        self.tally.violations.setdefault(name, Violation(name, trace, outside))

    def fault(self, fault: Faulted, trace: Trace, at: str = "") -> None:
        self.tally.fault = self.tally.fault or Fault(fault.message, fault.place, trace, at)


def explore(definition: Definition, bounds: Bounds | None = None, progress: Progress | None = None) -> Tally:
    """The whole search, counted; a fault of the model ends it at the end of the level."""
    began = time.process_time()
    tally = _Search(definition, bounds or Bounds()).run(progress or (lambda *_: None))
    if tally.fault is None and (tally.stop is None or tally.stop.bound != "memory"):
        again = _Search(definition, tally.bounds, backwards=True).run(lambda *_: None)
        steps = [{name: found.steps for name, found in t.violations.items()} for t in (tally, again)]
        if tally.counts() | {"violations": steps[0]} != again.counts() | {"violations": steps[1]}:
            tally.fault = Fault(IMPURE.format("the search"), definition.place)
    tally.seconds = time.process_time() - began
    return tally
