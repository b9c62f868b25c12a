"""The peers: which version of each, on which Python, in an environment of its own under build/."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "build" / "peers"


@dataclass(frozen=True)
class Peer:
    """A package from the registry that pip asks, its exact version, and the least Python that it runs on."""

    name: str
    version: str
    least_python: tuple[int, int]

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ENVIRONMENTS / f"{self.name}-{self.version}" / "bin" / "python"


MINICHECK = Peer("minicheck", "0.4.0", (3, 11))
MUSIL = Peer("musil", "0.36.7", (3, 12))
PEERS = (MINICHECK, MUSIL)

DBOS = Peer("dbos", "3.4.0", (3, 11))
"""Measured by beside_dbos.py, and by nothing of run.py."""


def present(peer: Peer) -> bool:
    """Whether its environment is there and holds it."""
    return peer.python.exists() and _runs(peer.python, f"import {peer.name}")


def python_of(peer: Peer) -> str:
    """The version of the Python that it runs on."""
    word = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    command = [str(peer.python), "-c", word]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def install(peer: Peer) -> str:
    """Makes the environment and installs the peer there; the sentence that says why not, or nothing."""
    if present(peer):
        return ""
    interpreter = _interpreter(peer.least_python)
    if interpreter is None:
        needed = ".".join(map(str, peer.least_python))
        return f"{peer.name} is left out: it needs Python {needed}, and no such Python is on the path"
    folder = peer.python.parent.parent
    subprocess.run([interpreter, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(peer.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, f"{peer.name}=={peer.version}"], check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        return f"{peer.name} is left out: it could not be installed: {last}"
    return ""


def _interpreter(least: tuple[int, int]) -> str | None:
    """This Python if it is new enough, else one on the path that is and runs."""
    if sys.version_info[:2] >= least:
        return sys.executable
    names = [f"python3.{minor}" for minor in range(least[1], least[1] + 4)]
    found = (path for name in names if (path := shutil.which(name)))
    return next((path for path in found if _runs(Path(path), "import venv, ensurepip")), None)


def _runs(python: Path, program: str) -> bool:
    return subprocess.run([str(python), "-c", program], check=False, capture_output=True).returncode == 0
