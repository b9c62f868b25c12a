"""Breadth-first search by a compiled program: the model printed as C beside the core, and never believed.

Its counts are read, its traces are executed again on the class, and a fault that it meets is found there too.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from typing import IO, Any

from falsework.accounting import Bounds, Progress, Stop, Tally, Violation
from falsework.definition import Definition
from falsework.errors import FalseworkError
from falsework.faults import Faults
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import Lowered, lower
from falsework.model_c import ModelSource
from falsework.native_build import program
from falsework.packing import Packing
from falsework.trace import Fault, Faulted, Label, Trace, replay, starts


class EngineFailed(FalseworkError):
    """The compiled program ended without a result."""


def native(definition: Definition, bounds: Bounds | None = None, progress: Progress | None = None) -> Tally:
    """The whole search, counted; raises Refused, NoCompiler or EngineFailed."""
    began = time.process_time() + _children()
    tally = _Run(lower(definition), bounds or Bounds(), progress).tally()
    tally.seconds = time.process_time() + _children() - began
    return tally


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


class _Run:
    def __init__(self, lowered: Lowered, bounds: Bounds, progress: Progress | None) -> None:
        self.lowered = lowered
        self.definition = lowered.definition
        self.bounds = bounds
        self.progress = progress
        self.source = ModelSource(lowered)
        self.properties = [*self.source.numbers.properties, deadlock, values_stay_in_domain, "fault"]
        self.begun: list[tuple[Label, list[int]]] = []  # the distinct initial states, the least label of each
        self.ended = False  # a start has ended the search already
        self.counted = Tally(self.definition, "native", bounds)

    def tally(self) -> Tally:
        """The program's result as a tally."""
        self._starts()
        if self.begun:
            self._read(self._execute(self.bounds))
        return self.counted

    def _starts(self) -> None:
        packing = Packing(self.definition, self.lowered.slots)
        seen: dict[tuple[int, ...], Label] = {}
        for taken in starts(self.definition, failed=self._failed):
            if taken.outside:
                start = taken.label if self.definition.initials else None
                broken = Violation(values_stay_in_domain, Trace(start), taken.outside)
                self.counted.violations.setdefault(values_stay_in_domain, broken)
                continue
            words = tuple(self.source.words.pack(packing.codes(packing.pack(taken.state))))
            seen.setdefault(words, taken.label)
        self.begun = [(label, list(words)) for words, label in seen.items()]
        ends = bool(self.counted.violations) and not self.bounds.every
        self.ended = ends or self.counted.fault is not None

    def _failed(self, fault: Faulted) -> None:
        if self.counted.fault is None:
            self.counted.fault = Fault(fault.message, fault.place)

    # --- the program

    def _execute(self, bounds: Bounds, *, witnesses: bool = False) -> dict[str, Any]:
        depth = 0 if self.ended else -1 if bounds.max_depth is None else bounds.max_depth
        memory = (bounds.memory_mb or 0) << 20
        threads = os.environ.get("FALSEWORK_THREADS") or str(os.cpu_count() or 1)
        command = [
            program(self.source.text, self.source.words.count),
            threads,
            bounds.max_states,
            depth,
            memory,
        ]
        command += [int(bounds.every), int(self.progress is not None), "y" if witnesses else "n"]
        begun = "\n".join(" ".join(f"{word:x}" for word in words) for _, words in self.begun)
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as answered:
            given.write(f"{len(self.begun)}\n{begun}\n")
            given.seek(0)
            code, said = self._watch([str(part) for part in command], given, answered)
            answered.seek(0)
            return self._result(code, said, answered.read())

    def _watch(self, command: list[str], given: IO[str], answered: IO[str]) -> tuple[int, str]:
        """Runs the program to its end, its progress told on; answers its exit code and what else it said."""
        said = ""
        with subprocess.Popen(
            command, stdin=given, stdout=answered, stderr=subprocess.PIPE, text=True
        ) as running:
            try:
                assert running.stderr is not None
                for line in running.stderr:
                    word, *numbers = line.split()
                    if word == "progress" and self.progress is not None:
                        self._tell(*map(int, numbers))
                    else:
                        said += line
                return running.wait(), said.strip()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    running.kill()

    def _tell(self, levels: int, states: int, waiting: int, fired: int) -> None:
        shown = Tally(self.definition, "native", self.bounds, states=states, transitions=fired)
        shown.levels = [0] * levels
        assert self.progress is not None
        self.progress(shown, waiting)

    def _result(self, code: int, said: str, answer: str) -> dict[str, Any]:
        if code < 0:
            raise EngineFailed(f"the compiled search was ended by signal {-code} and gives no verdict")
        try:
            result: dict[str, Any] = json.loads(answer) if code == 0 else {}
        except ValueError:
            result = {}
        if not result:
            raise EngineFailed(f"the compiled search gives no verdict: {said or f'exit code {code}'}")
        return result

    # --- its result

    def _read(self, result: dict[str, Any]) -> None:
        tally, numbers = self.counted, self.source.numbers
        tally.states, tally.levels = result["states"], result["levels"]
        tally.transitions = sum(result["fired"])
        rows = zip(self.lowered.instances, result["fired"], result["stayed"], result["cut"], strict=True)
        for instance, fired, stayed, cut in rows:
            covered = tally.coverage[instance.action.name]
            covered.enabled += fired + cut
            covered.fired += fired
            covered.self_loops += stayed
            covered.cut += cut
        tally.cuts.update((place, n) for place, n in zip(numbers.cuts, result["cuts"], strict=True) if n)
        tally.premises.update(zip(numbers.premises, result["premises"], strict=True))
        for name, depth in zip(numbers.witnesses, result["witnesses"], strict=True):
            tally.witnesses[name] = None if depth < 0 else depth
        if result["stopped"] and not self.ended:
            limits = {"max-states": tally.bounds.max_states, "max-depth": tally.bounds.max_depth or 0}
            limit = limits.get(result["stopped"], tally.bounds.memory_mb or 0)
            tally.stop = Stop(result["stopped"], limit, result["waiting"])
        self._violations(result)

    def _violations(self, result: dict[str, Any]) -> None:
        tally = self.counted
        if tally.fault is not None:  # of a start: it comes before everything else
            return
        traces = {self.properties[row["property"]]: self._trace(row) for row in result["found"]}
        fault = traces.pop("fault", None)
        if fault is not None:
            found = Faults(self.definition, tally.witnesses).at_the_end(fault)
            tally.fault = found or Fault("a fault in compiled form alone", None, fault)
        for name, trace in traces.items():
            outside = replay(self.definition, trace)[-1].outside if name == values_stay_in_domain else ""
            tally.violations.setdefault(name, Violation(name, trace, outside))
        if tally.fault is None:
            tally.rebuild = self._witness_trace

    def _trace(self, row: dict[str, Any]) -> Trace:
        labels = tuple(self.lowered.instances[step].label for step in row["steps"])
        return Trace(self.begun[row["start"]][0] if self.definition.initials else None, labels)

    def _witness_trace(self, name: str) -> Trace:
        """The search again, for traces that nobody needed before."""
        for row in self._execute(self.bounds, witnesses=True)["reached"]:
            witness = self.source.numbers.witnesses[row["witness"]]
            self.counted.witness_traces[witness] = self._trace(row)
        return self.counted.witness_traces[name]
