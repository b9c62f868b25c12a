"""What is measured: the same model for each contender, its pinned counts, and what is to be reached."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from environments import MINICHECK, MUSIL, Peer, present, python_of
from falsework import __version__
from measure import Contender
from tables import Job, Target

HERE = Path(__file__).resolve().parent
CLASSIC = "falsework.models.classics.two_phase_commit"

# States and transitions: rows of tests/counts.toml, where it is said who else counts them.
COUNTS = {5: (8_832, 58_145), 6: (50_816, 402_305), 7: (296_448, 2_744_705)}
NAMES = {5: "FiveManagers", 7: "SevenManagers"}


def jobs() -> list[Job]:
    """Every job with the contenders that are here."""
    return [_beside_the_peers(), _cold_start(), _reference()]


def missing() -> list[str]:
    """A sentence for each peer that is not here."""
    return [f"{peer.name} {peer.version} is not here: --peers installs it" for peer in _absent()]


def _absent() -> list[Peer]:
    return [peer for peer in (MINICHECK, MUSIL) if not present(peer)]


def _ours(engine: str, managers: int, name: str) -> Contender:
    command = (sys.executable, str(HERE / "search.py"), engine, f"{CLASSIC}:{NAMES[managers]}")
    return Contender(name, command, _version(), COUNTS[managers][0])


def _version() -> str:
    return f"{__version__}, Python {platform.python_version()}"


def _peer(peer: Peer, managers: int) -> Contender:
    script = HERE / "peers" / f"{peer.name}_two_phase_commit.py"
    version = f"{peer.version}, Python {python_of(peer)}"
    return Contender(peer.name, (str(peer.python), str(script), str(managers)), version, COUNTS[managers][0])


def _beside_the_peers() -> Job:
    states, transitions = COUNTS[7]
    here = [_peer(peer, 7) for peer in (MINICHECK, MUSIL) if present(peer)]
    text = "the search at least 2 times as fast as minicheck's"
    return Job(
        f"Two-phase commit, 7 managers: {states:,} states, {transitions:,} transitions",
        (_ours("fast", 7, "falsework, fast"), *here),
        transitions,
        (Target(text, "falsework, fast", rival=MINICHECK.name, least=2.0),),
    )


def _cold_start() -> Job:
    states, transitions = COUNTS[6]
    check = ("check", f"{CLASSIC}:TwoPhaseCommit", "-D", "MANAGERS=6", "--quiet")
    expected = f"{states:,} states, all of them · {transitions:,} transitions"
    ours = Contender("falsework check", (sys.executable, "-m", "falsework", *check), _version(), expected)
    floor = Contender("an empty program", (sys.executable, "-c", "pass"), platform.python_version(), "")
    target = Target("answered in 0.5 s of CPU from a cold start", ours.name, most=0.5)
    title = f"From a cold start: `falsework {' '.join(check)}`, {states:,} states"
    return Job(title, (ours, floor), 0, (target,))


def _reference() -> Job:
    states, transitions = COUNTS[5]
    return Job(
        f"The reference search, two-phase commit, 5 managers: {states:,} states, {transitions:,} transitions",
        (_ours("explore", 5, "falsework, explore"), _ours("fast", 5, "falsework, fast")),
        transitions,
    )
