"""Breadth-first search as set algebra over packed states, a level at a time, by the printed program.

No parents are kept: a trace is found backwards through the levels, then forwards on the class itself.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from falsework.accounting import Bounds, Progress, Stop, Tally, Violation
from falsework.definition import Definition
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import lower
from falsework.program import Block, Event, Program, build
from falsework.rebuild import Rebuilder
from falsework.trace import Fault, Faulted, Label, Trace, starts

CHUNK = 1 << 17
"""States expanded between two looks at the memory."""
FAULT = "fault"


@dataclass
class Found:
    """Where a property is first broken: in how many steps, in which states, or by steps from which states."""

    steps: int
    states: set[int] = field(default_factory=set)
    sources: set[int] = field(default_factory=set)


class Search:
    """One search by one program: `sweep` counts it, and `run` also writes its traces, taken on the class."""

    def __init__(self, definition: Definition, bounds: Bounds, program: Program) -> None:
        self.definition = definition
        self.program = program
        self.tally = Tally(definition, "fast", bounds)
        self.seen: set[int] = set()
        self.levels: list[list[int]] = []  # the unbroken states of each level
        self.first: dict[int, Label] = {}  # the least label of each initial state
        self.found: dict[str, Found] = {}
        self.reached: dict[str, list[int]] = {}

    # --- levels

    def sweep(self, progress: Progress | None = None) -> None:
        """Every level; what is broken or reached stands in `found` and `reached` as sets of states."""
        frontier = self.start()
        while self.level_ends(frontier, progress):
            frontier = self.expand(frontier)

    def run(self, progress: Progress | None) -> Tally:
        """The tally, with its traces."""
        self.sweep(progress)
        if self.tally.fault is None:
            self.write_traces()
        return self.tally

    def level_ends(self, frontier: list[int], progress: Progress | None) -> bool:
        tally, bounds = self.tally, self.tally.bounds
        if len(self.seen) > tally.states:
            tally.levels.append(len(self.seen) - tally.states)
            tally.states = len(self.seen)
            self.levels.append(frontier)
        if progress is not None:
            progress(tally, len(frontier))
        if tally.stop is not None or tally.fault is not None or not frontier:
            return False
        if FAULT in self.found or ((self.found or tally.violations) and not bounds.every):
            return False
        if bounds.max_depth is not None and tally.depth >= bounds.max_depth:
            tally.stop = Stop("max-depth", bounds.max_depth, len(frontier))
        elif tally.states > bounds.max_states:
            tally.stop = Stop("max-states", bounds.max_states, len(frontier))
        return tally.stop is None

    def start(self) -> list[int]:
        """The distinct initial states that break nothing."""
        fresh: set[int] = set()
        for taken in starts(self.definition, failed=self.failed):
            start = taken.label if self.definition.initials else None
            if taken.outside:
                broken = Violation(values_stay_in_domain, Trace(start), taken.outside)
                self.tally.violations.setdefault(values_stay_in_domain, broken)
                continue
            word = self.program.packing.pack(taken.state)
            self.first.setdefault(word, taken.label)
            fresh.add(word)
        return self.judge(fresh, 0)

    def failed(self, fault: Faulted) -> None:
        """Keeps the first fault of a start: it comes before those of predicates."""
        if self.tally.fault is None:
            self.tally.fault = Fault(fault.message, fault.place)

    def expand(self, level: list[int]) -> list[int]:
        """The new states that the level leads to and that break nothing, everything counted."""
        depth = len(self.levels)
        fresh: set[int] = set()
        for begin in range(0, len(level), CHUNK):
            part = level[begin : begin + CHUNK] if len(level) > CHUNK else level
            for block in self.program.blocks:
                fired, loops = block.run(part, fresh)
                covered = self.tally.coverage[block.action]
                covered.enabled += fired
                covered.fired += fired
                covered.self_loops += loops
                self.tally.transitions += fired
                if block.events:
                    self.note(block, part, depth)
            fresh -= self.seen
            if self.out_of_memory():
                limit = self.tally.bounds.memory_mb or 0
                self.tally.stop = Stop("memory", limit, len(level) - begin + len(fresh))
                break
        for s in self.program.stuck(level):
            ends = self.program.terminal(s)
            if ends != 1:
                self.find(deadlock if ends == 0 else FAULT, depth - 1).states.add(s)
        return self.judge(fresh, depth)

    def judge(self, fresh: set[int], depth: int) -> list[int]:
        """Counts the new states, and keeps those that break nothing."""
        program = self.program
        self.seen |= fresh
        for key, count in program.premises:
            self.tally.premises[key] += count(fresh)
        for name, holds in program.witnesses.items():
            if self.tally.witnesses[name] is None and holds(fresh):
                self.tally.witnesses[name] = depth
                self.reached[name] = [s for s in fresh if program.witness_of[name](s)]
                if at_fault := {s for s in self.reached[name] if program.witness_of[name](s) == 2}:
                    self.find(FAULT, depth).states.update(at_fault)
        bad = program.bad(fresh)
        broken = [s for s in bad if self.broken_in(s, depth)]
        return list(fresh.difference(broken)) if broken else list(fresh)

    def broken_in(self, s: int, depth: int) -> bool:
        """Notes every state invariant that is false there."""
        broken = False
        for name, holds in self.program.invariants.items():
            answer = holds(s)
            if answer == 2:
                self.find(FAULT, depth).states.add(s)
            elif not answer:
                self.find(name, depth).states.add(s)
                broken = True
        return broken

    def find(self, name: str, steps: int) -> Found:
        """The record of the property's first violation; a later one is thrown away."""
        known = self.found.setdefault(name, Found(steps))
        return known if known.steps == steps else Found(steps)

    # --- what happens besides

    def note(self, block: Block, level: list[int], depth: int) -> None:
        """Counts the events of the block's group over the level."""
        events, mask = block.events, block.mask
        for s in level:
            event = events.get(s & mask)
            if event is not None:
                self.one_event(block, event, s, depth)

    def one_event(self, block: Block, event: Event, s: int, depth: int) -> None:
        covered = self.tally.coverage[block.action]
        taken = event.self_loops + event.outside + len(event.broken)
        cut = sum(event.cuts.values())
        covered.enabled += taken + cut
        covered.fired += taken
        covered.cut += cut
        covered.self_loops += event.self_loops + sum(not d for d, _ in event.broken)
        self.tally.transitions += taken
        for place, times in event.cuts.items():
            self.tally.cuts[place] = self.tally.cuts.get(place, 0) + times
        for key, times in event.premises.items():
            self.tally.premises[key] += times
        if event.faults:
            self.find(FAULT, depth).sources.add(s)
        if event.outside:
            self.find(values_stay_in_domain, depth).sources.add(s)
        for difference, names in event.broken:
            for name in names:
                self.find(name, depth).sources.add(s)
            for name, holds in self.program.invariants.items():
                answer = holds(s ^ difference)
                if answer != 1:
                    self.find(FAULT if answer == 2 else name, depth).sources.add(s)

    def out_of_memory(self) -> bool:
        limit = self.tally.bounds.memory_mb
        return limit is not None and resident_mb() > limit

    # --- traces

    def write_traces(self) -> None:
        rebuilder = Rebuilder(self.definition, self.program, self.levels, self.first, self.tally.witnesses)
        if FAULT in self.found and self.tally.fault is None:
            fault = self.found[FAULT]
            self.tally.fault = rebuilder.fault(fault.steps, fault.states, fault.sources)
        for name, found in self.found.items():
            if name != FAULT and name not in self.tally.violations:
                trace, outside = rebuilder.violation(name, found.steps, found.states, found.sources)
                self.tally.violations[name] = Violation(name, trace, outside)
        if FAULT not in self.found:
            self.tally.rebuild = lambda name: rebuilder.to_states(
                self.tally.witnesses[name] or 0, set(self.reached[name])
            )


def resident_mb() -> int:
    """How much memory the process holds now, in MB; its peak where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return pages * resource.getpagesize() >> 20


def fast(definition: Definition, bounds: Bounds | None = None, progress: Progress | None = None) -> Tally:
    """The whole search, counted; raises Refused where the model cannot be lowered."""
    began = time.process_time()
    program = build(lower(definition))
    tally = Search(definition, bounds or Bounds(), program).run(progress)
    tally.seconds = time.process_time() - began
    return tally
