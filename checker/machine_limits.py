"""What this machine lets a search have: how many threads, and how much memory."""

from __future__ import annotations

import os
from pathlib import Path

from falsework.errors import InputError

MOST_THREADS = 64
SHARE = 80
"""Percent of the memory that is available now which a search may fill unless it is told otherwise."""
LEAST, UNKNOWN = 64, 2048
"""MB: never less unless asked for; and where the system does not say what is available."""


def threads_for(wanted: int | None) -> int:
    """The threads that are wanted, else $FALSEWORK_THREADS, else one for each processor that may be used."""
    if wanted is None:
        named = os.environ.get("FALSEWORK_THREADS", "")
        if not named:
            return min(processors(), MOST_THREADS)
        if not named.isdecimal() or not 1 <= int(named) <= MOST_THREADS:
            raise InputError(f"FALSEWORK_THREADS is {named!r}: write a number from 1 to {MOST_THREADS}")
        return int(named)
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
    group = root / "sys/fs/cgroup"
    free = [
        _meminfo(root / "proc/meminfo"),
        _left(group, "memory.max", "memory.current", "file"),
        _left(group / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"),
    ]
    known = [number for number in free if number is not None]
    return max(min(known) * SHARE // 100, LEAST) if known else UNKNOWN


def _meminfo(path: Path) -> int | None:
    try:
        return _rows(path)["MemAvailable:"] >> 10
    except (OSError, ValueError, KeyError):
        return None


def _left(folder: Path, limit: str, used: str, cached: str) -> int | None:
    """What a group of processes may still take, in MB; files that it has read are given up for it."""
    try:
        most, now = (int((folder / name).read_text("ascii")) for name in (limit, used))
        return max(most - now + _rows(folder / "memory.stat").get(cached, 0), 0) >> 20
    except (OSError, ValueError):
        return None  # there is no such limit: the file is not there, or says "max"


def _rows(path: Path) -> dict[str, int]:
    """The file's lines, a name and a number each."""
    words = [line.split() for line in path.read_text("ascii").splitlines()]
    return {row[0]: int(row[1]) for row in words if len(row) > 1}
