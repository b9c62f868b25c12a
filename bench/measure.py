"""Whole processes, measured in turns: CPU seconds, seconds, and peak memory, as the system counts them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

MEGABYTE = 1 << 20 if sys.platform == "darwin" else 1 << 10
"""How many units of `ru_maxrss` a megabyte has."""


class Unfit(Exception):
    """A contender failed, or counted something else than the others: its time means nothing."""


@dataclass(frozen=True)
class Contender:
    """One command of a job. It prints `expected`: a text, or as JSON so many states and what it took.

    `ready` is called once, before the turns. The folder `fresh` is emptied before every turn.
    """

    name: str
    command: tuple[str, ...]
    version: str
    expected: int | str
    variables: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], object] | None = None
    fresh: Path | None = None


@dataclass(frozen=True)
class Sample:
    """One process with its children: all of its CPU seconds, and its peak memory in MB.

    Beside them what it says of the search alone, if it does: CPU seconds and the peak memory of its program.
    The seconds that went by are the search's if it says so, else the process's.
    """

    cpu: float
    peak: float
    search: float | None = None
    wall: float = 0.0
    search_peak: float | None = None


class Runner(Protocol):
    """Runs a contender once."""

    def __call__(self, contender: Contender) -> Sample:
        """The sample; raises Unfit."""


def run(contender: Contender) -> Sample:
    """The contender, run once by itself; raises Unfit for a failure or a wrong count."""
    if contender.fresh is not None:
        shutil.rmtree(contender.fresh, ignore_errors=True)
        contender.fresh.mkdir(parents=True)
    variables = {**os.environ, "PYTHONHASHSEED": "0", **contender.variables}
    # Where it is set, each round compiles all that it imports, as no user's does.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.monotonic()
    process = subprocess.Popen(contender.command, stdout=subprocess.PIPE, text=True, env=variables)
    assert process.stdout is not None
    with process.stdout:
        said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Unfit(f"{contender.name}: exit code {process.returncode} of {' '.join(contender.command)}")
    alone = answered(contender, said)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MEGABYTE
    return Sample(cpu, peak, alone.get("search"), alone.get("wall", wall), alone.get("peak"))


def answered(contender: Contender, said: str) -> dict[str, float]:
    """What is said of the search alone, if anything; raises Unfit where the answer is another one."""
    if isinstance(contender.expected, str):
        if contender.expected not in said:
            raise Unfit(f"{contender.name}: printed {said!r}, without {contender.expected!r}")
        return {}
    found = json.loads(said.splitlines()[-1]) if said.strip() else {}
    if found.get("states") != contender.expected:
        raise Unfit(f"{contender.name}: {found.get('states')} states, and there are {contender.expected}")
    return {name: float(found[name]) for name in ("search", "wall", "peak") if name in found}


def in_turns(contenders: Sequence[Contender], rounds: int, runner: Runner = run) -> dict[str, list[Sample]]:
    """A B A B …: whatever else the machine does, it does to all of them."""
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    for contender in contenders:
        if contender.ready is not None:
            contender.ready()
    for _ in range(rounds):
        for contender in contenders:
            samples[contender.name].append(runner(contender))
    return samples
