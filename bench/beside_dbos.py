"""Measures an invocation of the runtime beside dbos's workflow of one step, in turns, on both stores.

--peers installs dbos into an environment of its own under build/, --write keeps the run in BESIDE_DBOS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from environments import DBOS, ENVIRONMENTS, install, present
from falsework import __version__
from run import MISSED, machine

HERE = Path(__file__).resolve().parent
KEPT = HERE / "BESIDE_DBOS.md"
DATABASE = "falsework_bench_dbos"
OURS, THEIRS = "falsework", "dbos"
STORES = ("SQLite", "PostgreSQL")
LEAST = {"SQLite": 5.0, "PostgreSQL": 2.0}
SHARE = 0.8
SETTINGS = {
    "SQLite": "WAL, synchronous=FULL for both; dbos sets neither by itself",
    "PostgreSQL": "synchronous_commit=on for both; CPU is the client's, without the server's",
}


@dataclass(frozen=True)
class Turn:
    """What one process said of its callers."""

    acts: int
    cpu: float
    wall: float
    p50: float
    p99: float
    share: float

    @property
    def cpu_each(self) -> float:
        """CPU milliseconds of an act."""
        return 1_000 * self.cpu / self.acts

    @property
    def rate(self) -> float:
        """Acts a second by the clock."""
        return self.acts / self.wall


Turns = dict[tuple[str, str, int], list[Turn]]
"""By contender, store and number of callers, a turn for each round."""


def command(contender: str, store: str, callers: int, seconds: float, server: str) -> list[str]:
    """How a contender is run, in a folder that is its own."""
    folder = ENVIRONMENTS / "acts"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    common = [str(folder), str(callers), str(seconds)]
    if contender == OURS:
        return [sys.executable, str(HERE / "act_loop.py"), *common, *([server] if store != "SQLite" else [])]
    program = [str(DBOS.python), str(HERE / "peers" / "dbos_workflow.py"), *common]
    return [*program, *([fresh_database(server)] if store != "SQLite" else [])]


def fresh_database(server: str) -> str:
    """The URL of an empty database for dbos, which wants one of its own."""
    with psycopg.connect(server, autocommit=True) as raw:
        raw.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)".encode())
        raw.execute(f"CREATE DATABASE {DATABASE}".encode())
    known = psycopg.conninfo.conninfo_to_dict(server)
    user = f"{known.get('user', 'postgres')}"
    password = f":{known['password']}" if known.get("password") else ""
    return f"postgresql+psycopg://{user}{password}@{known['host']}:{known.get('port', 5432)}/{DATABASE}"


def turn(line: Sequence[str]) -> Turn:
    """What the process printed last; a failure ends the run."""
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: exit code {done.returncode} of {' '.join(line)}\n{done.stderr[-2_000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return Turn(**found)


def in_turns(stores: Iterable[str], rounds: int, seconds: float, server: str) -> Turns:
    """Ours, theirs, ours, theirs …: whatever else the machine does, it does to both."""
    turns: Turns = {}
    contenders = (OURS, THEIRS) if present(DBOS) else (OURS,)
    for _ in range(rounds):
        for store in stores:
            for callers in (1, 8):
                for contender in contenders:
                    line = command(contender, store, callers, seconds, server)
                    turns.setdefault((contender, store, callers), []).append(turn(line))
    return turns


# --- what it says


def ratios(turns: Turns, store: str, callers: int) -> tuple[float, float] | None:
    """How many times dbos's CPU of an act ours is, and ours dbos's rate: medians of the rounds' ratios."""
    theirs = turns.get((THEIRS, store, callers))
    if theirs is None:
        return None
    pairs = list(zip(turns[OURS, store, callers], theirs, strict=True))
    cpu = median(their.cpu_each / our.cpu_each for our, their in pairs)
    return cpu, median(our.rate / their.rate for our, their in pairs)


def spread(figures: Sequence[float]) -> str:
    """The median, and in brackets the least and the most."""
    return f"{median(figures):.2f} ({min(figures):.2f}–{max(figures):.2f})"


def table(turns: Turns, store: str) -> str:
    """The store's rows as markdown."""
    lines = [
        f"### {store}: {SETTINGS[store]}",
        "",
        "|  | callers | CPU ms an act | acts/s | p50, ms | p99, ms | smallest share of the largest |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (contender, kept, callers), mine in turns.items():
        if kept == store:
            cells = [spread([each.cpu_each for each in mine]), f"{median(each.rate for each in mine):.0f}"]
            cells += [
                f"{1_000 * median(getattr(each, name) for each in mine):.1f}" for name in ("p50", "p99")
            ]
            cells.append(f"{min(each.share for each in mine):.2f}")
            lines.append(f"| {contender} | {callers} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {text}" for text, _ in answers(turns, store))]) + "\n"


def answers(turns: Turns, store: str) -> list[tuple[str, bool]]:
    """Each target with its figure, and whether it is met or only noted."""
    found: list[tuple[str, bool]] = []
    for callers in (1, 8):
        both = ratios(turns, store, callers)
        if both is None:
            found.append((f"{callers} callers beside dbos: not measured, for dbos is not here", True))
            continue
        cpu, rate = both
        figures = f"{cpu:.2f}× in CPU, {rate:.2f}× by the clock"
        if callers == 1:
            met = cpu >= LEAST[store]  # what goes by the clock is as much the other processes' of the machine
            verdict = "met" if met else "MISSED"
            found.append((f"at least {LEAST[store]:.0f} times dbos, one caller: {figures}: {verdict}", met))
        else:
            found.append((f"beside dbos, eight callers: {figures}: noted", True))
    share = min(each.share for each in turns[OURS, store, 8])
    met = share >= SHARE
    text = f"of eight callers the smallest share at least {SHARE} of the largest: {share:.2f}"
    return [*found, (f"{text}: {'met' if met else 'MISSED'}", met)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all of it; 10 where a target was missed."""
    parser = argparse.ArgumentParser(prog="bench/beside_dbos.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each; default 5")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a turn is; default 3")
    parser.add_argument("--peers", action="store_true", help="install dbos if it is not here")
    parser.add_argument("--write", action="store_true", help="keep this run in bench/BESIDE_DBOS.md")
    args = parser.parse_args(arguments)
    left_out = [install(DBOS)] if args.peers else []
    server = os.environ.get("FALSEWORK_POSTGRES", "")
    stores = STORES if server else STORES[:1]
    if not server:
        left_out.append("PostgreSQL is left out: FALSEWORK_POSTGRES names no server")
    turns = in_turns(stores, args.rounds, args.seconds, server)
    today = datetime.now(tz=UTC).date().isoformat()
    versions = f"falsework {__version__}, dbos {DBOS.version}, Python {platform.python_version()}"
    head = f"{today} · {machine()} · {versions} · {args.rounds} rounds of {args.seconds:g} s, in turns"
    text = "\n".join([head, "", *(table(turns, store) for store in stores), *filter(None, left_out)])
    print(text)
    if args.write:
        KEPT.write_text(f"# The last run beside dbos that was kept\n\n{text.rstrip()}\n", encoding="utf-8")
    return 0 if all(met for store in stores for _, met in answers(turns, store)) else MISSED


if __name__ == "__main__":
    sys.exit(main())
