"""Whole processes, measured in turns: CPU seconds and peak memory, as the system counts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MEGABYTE = 1 << 20 if sys.platform == "darwin" else 1 << 10
"""How many units of `ru_maxrss` a megabyte has."""


class Unfit(Exception):
    """A contender failed, or counted something else than the others: its time means nothing."""


@dataclass(frozen=True)
class Contender:
    """One command of a job. It prints `expected`: a text, or as JSON so many states and what it took."""

    name: str
    command: tuple[str, ...]
    version: str
    expected: int | str


@dataclass(frozen=True)
class Sample:
    """One process: all of its CPU seconds, those of its search if it says so, and its peak memory in MB."""

    cpu: float
    peak: float
    search: float | None = None


class Runner(Protocol):
    """Runs a contender once."""

    def __call__(self, contender: Contender) -> Sample:
        """The sample; raises Unfit."""


def run(contender: Contender) -> Sample:
    """The contender, run once by itself; raises Unfit for a failure or a wrong count."""
    process = subprocess.Popen(
        contender.command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONHASHSEED": "0"}
    )
    assert process.stdout is not None
    with process.stdout:
        said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Unfit(f"{contender.name}: exit code {process.returncode} of {' '.join(contender.command)}")
    search = answered(contender, said)
    return Sample(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MEGABYTE, search)


def answered(contender: Contender, said: str) -> float | None:
    """What the search alone took, where it is said; raises Unfit where the answer is another one."""
    if isinstance(contender.expected, str):
        if contender.expected not in said:
            raise Unfit(f"{contender.name}: printed {said!r}, without {contender.expected!r}")
        return None
    found = json.loads(said.splitlines()[-1]) if said.strip() else {}
    if found.get("states") != contender.expected:
        raise Unfit(f"{contender.name}: {found.get('states')} states, and there are {contender.expected}")
    return float(found["search"])


def in_turns(contenders: Sequence[Contender], rounds: int, runner: Runner = run) -> dict[str, list[Sample]]:
    """A B A B …: whatever else the machine does, it does to all of them."""
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            samples[contender.name].append(runner(contender))
    return samples
