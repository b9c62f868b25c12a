"""The compiled peers, made under build/: two-phase commit by hand in C, and SPIN's verifier of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from environments import ENVIRONMENTS

SOURCES = Path(__file__).resolve().parent / "peers"
BY_HAND = ENVIRONMENTS / "two_phase_commit"
EXACT = ("-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-w")
"""Full states, every transition taken, and none of the work that only cycles need."""


def compiler() -> str | None:
    """The C compiler that is here."""
    return next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)


def spin() -> bool:
    """Whether SPIN and what it needs are here."""
    return shutil.which("spin") is not None and compiler() is not None


def missing() -> list[str]:
    """A sentence for each compiled peer that is not here."""
    if compiler() is None:
        return ["no C compiler is here: native, SPIN and the program by hand are left out"]
    return [] if spin() else ["SPIN is not here: Debian's package is called spin"]


def compiler_version() -> str:
    """The compiler's name and version."""
    first = _said(compiler() or "cc", "--version").splitlines()[0]
    return f"{compiler()} {first.split()[-1]}"


def spin_version() -> str:
    """The number of SPIN's version."""
    return _said("spin", "-V").split()[2]


def make_by_hand() -> None:
    """Afterwards the program by hand is there."""
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    source = SOURCES / "two_phase_commit.c"
    _run(ENVIRONMENTS, compiler() or "cc", "-O3", "-march=native", "-o", str(BY_HAND), str(source))


def promela(managers: int) -> Path:
    """The model for SPIN of so many managers, written out."""
    folder = ENVIRONMENTS / f"spin-{managers}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.pml"
    text = _said(sys.executable, str(SOURCES / "spin_two_phase_commit.py"), str(managers))
    path.write_text(text, encoding="utf-8")
    return path


def verifier(managers: int) -> Path:
    """Where SPIN's verifier of so many managers is, once it is made."""
    return ENVIRONMENTS / f"spin-{managers}" / "pan"


def make_verifier(managers: int) -> None:
    """Afterwards SPIN's verifier is there, compiled as fast as it will be."""
    folder = promela(managers).parent
    _run(folder, "spin", "-a", "model.pml")
    _run(folder, compiler() or "cc", "-O3", *EXACT, "-o", "pan", "pan.c")


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
