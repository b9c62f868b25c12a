"""Measures falsework beside whatever peers are here, in turns, and prints the tables as markdown.

--peers installs the peers into environments of their own under build/, --write keeps the run in RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import programs
from environments import PEERS, install
from jobs import jobs, missing
from measure import Unfit, in_turns
from tables import answers, table

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
MISSED = 10
"""The exit code where a target was measured and missed."""


def machine() -> str:
    """What it ran on: processor, how many of them, system, and how busy it was."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    load = f"{os.getloadavg()[0]:.1f}"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processor = model or platform.processor() or "unknown processor"
    return f"{processor}, {cores} cores, {platform.system()}, load {load}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs every job; 10 where a target was missed."""
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="turns of each contender; default 5"
    )
    parser.add_argument("--long", action="store_true", help="9 managers as well: a minute more a round")
    parser.add_argument("--peers", action="store_true", help="install the peers that are not here")
    parser.add_argument("--write", action="store_true", help="keep this run in bench/RESULTS.md")
    args = parser.parse_args(arguments)
    if args.rounds < 1:
        parser.error("--rounds: at least 1")
    if args.peers:
        left_out = [sentence for peer in PEERS if (sentence := install(peer))] + programs.missing()
    else:
        left_out = missing()
    today = datetime.now(tz=UTC).date().isoformat()
    blocks = [f"{today} · {machine()} · {args.rounds} rounds, in turns; medians (least–most)"]
    found = []
    try:
        for job in jobs(long=args.long):
            samples = in_turns(job.contenders, args.rounds)
            blocks.append(table(job, samples))
            found += answers(job, samples)
    except Unfit as problem:
        sys.stderr.write(f"bench: {problem}\n")
        return 1
    blocks += ["\n".join(left_out)] if left_out else []
    text = "\n\n".join(block.rstrip() for block in blocks) + "\n"
    print(text, end="")
    if args.write:
        RESULTS.write_text(f"# The last run that was kept\n\n{text}", encoding="utf-8")
    return MISSED if any(answer.figure is not None and not answer.met for answer in found) else 0


if __name__ == "__main__":
    sys.exit(main())
