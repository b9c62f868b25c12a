"""SPIN as a test runs it: an exported program searched to the end, and what its trail prints."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

FULL = ("-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=4096", "-DMEMLIM=2048")


@dataclass(frozen=True)
class Verified:
    """What pan counted: states stored, transitions stored or matched, and assertions violated."""

    states: int
    transitions: int
    errors: int


def run(folder: Path, *command: str) -> str:
    """What the command says; it must succeed and say nothing on stderr."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def searched(program: str, folder: Path, compiler: tuple[str, ...], *options: str) -> str:
    """What pan says of the program, its states kept whole and its depth not cut."""
    folder.mkdir(exist_ok=True)
    (folder / "model.pml").write_text(program, encoding="utf-8")
    run(folder, "spin", "-a", "model.pml")
    run(folder, "gcc", *compiler, *FULL, "-o", "pan", "pan.c")
    said = run(folder, "./pan", *options)
    assert "+ Partial Order Reduction" not in said, said
    return said


def verified(program: str, folder: Path, optimised: str = "-O0") -> Verified:
    """The whole search, errors counted."""
    said = searched(program, folder, (optimised,), "-m2000000", "-c0")
    assert "max search depth too small" not in said, said
    assert "Search not completed" not in said, said
    return Verified(
        number(said, r"^\s*(\d+) states, stored"),
        number(said, r"^\s*(\d+) transitions \(= "),
        number(said, r"errors: (\d+)$"),
    )


def shortest(program: str, folder: Path) -> list[str]:
    """What the program prints along a shortest trail to an error; nothing where pan finds none."""
    said = searched(program, folder, ("-O1", "-DREACH"), "-m100000", "-i")
    if number(said, r"errors: (\d+)$") == 0:
        return []
    printed = run(folder, "spin", "-T", "-t", "model.pml").splitlines()
    printed = [line for line in printed if not line.startswith("spin: warning")]
    return printed[: next(place for place, line in enumerate(printed) if line.startswith("spin: "))]


def number(said: str, pattern: str) -> int:
    """The number that the pattern finds in what pan said."""
    found = re.search(pattern, said, re.MULTILINE)
    assert found, f"no {pattern!r} in:\n{said}"
    return int(found.group(1))
