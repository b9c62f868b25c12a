"""What this machine lets a search have: how many threads, and how much memory."""

from __future__ import annotations

import os
from pathlib import Path

from falsework.errors import InputError

MOST_THREADS = 64
SHARE = 80
"""Percent of the memory that is available now which a search may fill unless it is told otherwise."""
UNKNOWN = 2048
"""MB, where the system does not say what is available."""


def threads_for(wanted: int | None) -> int:
    """The threads that are wanted, else $FALSEWORK_THREADS, else one for each processor that may be used."""
    if wanted is None:
        named = os.environ.get("FALSEWORK_THREADS", "")
        if not named:
            return min(processors(), MOST_THREADS)
        if not named.isdecimal():
            raise InputError(f"FALSEWORK_THREADS is {named!r}: write a number from 1 to {MOST_THREADS}")
        wanted = int(named)
    if not 1 <= wanted <= MOST_THREADS:
        raise InputError(f"{wanted} threads: write a number from 1 to {MOST_THREADS}")
    return wanted


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory(root: Path = Path("/")) -> int:
    """The share of the memory that is free now, in MB; what a container is left with counts too."""
    free = [_meminfo(root / "proc/meminfo"), _left(root / "sys/fs/cgroup", "memory.max", "memory.current")]
    free.append(_left(root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"))
    known = [number for number in free if number is not None]
    return max(min(known) * SHARE // 100, 1) if known else UNKNOWN


def _meminfo(path: Path) -> int | None:
    try:
        rows = dict(line.split(":", 1) for line in path.read_text("ascii").splitlines())
        return int(rows["MemAvailable"].split()[0]) >> 10
    except (OSError, ValueError, KeyError, IndexError):
        return None


def _left(folder: Path, limit: str, used: str) -> int | None:
    try:
        most, now = (folder / limit).read_text("ascii").strip(), (folder / used).read_text("ascii").strip()
        return max(int(most) - int(now), 0) >> 20
    except (OSError, ValueError):
        return None  # no such limit: the file is not there, or says "max"
