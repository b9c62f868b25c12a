"""Breadth-first search by a compiled program: the model printed as C beside the core, and never believed.

Its counts are read, its traces are executed again on the class, and a fault that it meets is found there too.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from falsework.accounting import Bounds, Progress, Stop, Tally, Violation
from falsework.definition import Definition
from falsework.errors import EngineFailed
from falsework.faults import Faults
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import Lowered, lower
from falsework.machine_limits import available_memory, threads_for
from falsework.model_c import ModelSource
from falsework.native_build import program
from falsework.packing import Packing
from falsework.trace import Fault, Faulted, Label, Trace, replay, starts

OUT_OF_MEMORY = 4
"""The exit code of a compiled search that the machine refused memory."""
OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU}
"""Signals that somebody else sends; what a program does to itself is its own mistake."""


def native(
    definition: Definition,
    bounds: Bounds | None = None,
    progress: Progress | None = None,
    *,
    threads: int | None = None,
) -> Tally:
    """The whole search, counted; raises Refused, NoCompiler, EngineFailed, or InputError for the threads."""
    began = time.process_time() + _children()
    tally = _Run(lower(definition), bounds or Bounds(), progress, threads_for(threads)).tally()
    tally.seconds = time.process_time() + _children() - began
    return tally


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class _Known:
    """What the program had told of its progress: states waiting, steps fired, states of each level."""

    waiting: int = 0
    fired: int = 0
    levels: list[int] = field(default_factory=list)

    def told(self, line: str) -> bool:
        """Whether the line tells of progress, and is whole: its writer may have been killed."""
        word, *numbers = line.split() or [""]
        numeric = len(numbers) >= 2 and all(map(str.isdecimal, numbers))
        if word != "progress" or not numeric or not line.endswith("\n"):
            return False
        self.waiting, self.fired, *more = map(int, numbers)
        self.levels += more
        return True

    def reached(self, tally: Tally) -> None:
        """Afterwards the tally counts that, and no more."""
        tally.transitions, tally.levels = self.fired, list(self.levels)
        tally.states = sum(tally.levels)


@dataclass(frozen=True)
class _Ended:
    """How the program ended, and all that it said."""

    code: int
    answer: str
    said: str
    known: _Known


class _Run:
    def __init__(self, lowered: Lowered, bounds: Bounds, progress: Progress | None, threads: int) -> None:
        self.lowered = lowered
        self.definition = lowered.definition
        self.bounds = bounds
        self.progress = progress
        self.threads = threads
        self.memory_mb = bounds.memory_mb or available_memory()
        self.source = ModelSource(lowered)
        self.properties = [*self.source.numbers.properties, deadlock, values_stay_in_domain, "fault"]
        self.begun: list[tuple[Label, list[int]]] = []  # the distinct initial states, the least label of each
        self.ended = False  # a start has ended the search already
        self.counted = Tally(self.definition, "native", bounds)

    def tally(self) -> Tally:
        """The program's result as a tally."""
        self._starts()
        if self.begun:
            ended = self._execute()
            stopped = self._stopped(ended)
            if stopped is None:
                self._read(self._result(ended))
            else:
                ended.known.reached(self.counted)
                self.counted.stop = stopped
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

    def _execute(self, *, witnesses: bool = False) -> _Ended:
        bounds = self.bounds
        depth = 0 if self.ended else -1 if bounds.max_depth is None else bounds.max_depth
        asked = [self.threads, bounds.max_states, depth, self.memory_mb << 20, int(bounds.every), 1]
        begun = "\n".join(" ".join(f"{word:x}" for word in words) for _, words in self.begun)
        running = self._started([*map(str, asked), "y" if witnesses else "n"])
        return self._watch(running, f"{len(self.begun)}\n{begun}\n")

    def _started(self, arguments: list[str]) -> subprocess.Popen[str]:
        """The program running; it is made once more where somebody emptied the cache before it ran."""
        pipe, tries = subprocess.PIPE, 0
        while True:
            made, tries = program(self.source.text, self.source.words.count), tries + 1
            try:
                return subprocess.Popen(
                    [str(made), *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True, errors="replace"
                )
            except OSError as problem:
                if tries > 1 or made.exists():
                    raise EngineFailed(f"the compiled search cannot be started: {problem}") from None

    def _watch(self, running: subprocess.Popen[str], given: str) -> _Ended:
        """Hears the program to its end, its progress told on; nothing of it is left, whatever happens."""
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        answer: list[str] = []
        reader = Thread(target=lambda out: answer.append(out.read()), args=(running.stdout,), daemon=True)
        with running:
            try:
                reader.start()
                with contextlib.suppress(BrokenPipeError):
                    running.stdin.write(given)
                    running.stdin.close()
                said, known = self._listen(running.stderr)
                code = running.wait()
            finally:
                running.kill()
                running.wait()
                reader.join()
        return _Ended(code, "".join(answer), said, known)

    def _listen(self, lines: Iterable[str]) -> tuple[str, _Known]:
        """What it said beside its progress, and what that came to."""
        said, known = "", _Known()
        for line in lines:
            if not known.told(line):
                said += line
            elif self.progress is not None:
                shown = Tally(self.definition, "native", self.bounds)
                known.reached(shown)
                self.progress(shown, known.waiting)
        return said.strip(), known

    def _stopped(self, ended: _Ended) -> Stop | None:
        """The stop of a search that was ended from outside: what it had counted by then is its last word."""
        if ended.code == OUT_OF_MEMORY:
            return Stop("memory", 0, ended.known.waiting)
        return Stop("signal", -ended.code, ended.known.waiting) if -ended.code in OUTSIDE else None

    def _result(self, ended: _Ended) -> dict[str, Any]:
        try:
            result: dict[str, Any] = json.loads(ended.answer) if ended.code == 0 else {}
            if result and result["states"] == sum(result["levels"]):
                return result
        except (ValueError, KeyError, TypeError):
            pass
        how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
        raise EngineFailed(
            f"the compiled search of {self.definition.name} ended with {how} and no result"
            + (f": {ended.said}" if ended.said else "")
        )

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
            limits = {
                "max-states": ("max-states", tally.bounds.max_states),
                "max-depth": ("max-depth", tally.bounds.max_depth or 0),
                "memory": ("memory", self.memory_mb),
                "refused": ("memory", 0),
            }
            tally.stop = Stop(*limits[result["stopped"]], result["waiting"])
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
        for row in self._result(self._execute(witnesses=True))["reached"]:
            witness = self.source.numbers.witnesses[row["witness"]]
            self.counted.witness_traces[witness] = self._trace(row)
        return self.counted.witness_traces[name]
