"""What is measured: the same model for each contender, its pinned counts, and what is to be reached."""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import programs
from environments import ENVIRONMENTS, MINICHECK, MUSIL, Peer, present, python_of
from falsework import __version__
from measure import Contender, run
from tables import Job, Target

HERE = Path(__file__).resolve().parent
MODEL = "falsework.models.classics.two_phase_commit:TwoPhaseCommit"
CACHE, EMPTY = ENVIRONMENTS / "cache", ENVIRONMENTS / "empty"

# States and transitions: rows of tests/counts.toml, where it is said who else counts them.
COUNTS = {
    5: (8_832, 58_145),
    6: (50_816, 402_305),
    7: (296_448, 2_744_705),
    8: (1_745_408, 18_507_777),
    9: (10_340_352, 123_558_401),
}
SLOTS = {7: 19, 8: 22, 9: 24}
"""How large the tables of the peers are, as a power of 2: of those that were tried the fastest."""


def jobs(*, long: bool = False) -> list[Job]:
    """Every job with the contenders that are here."""
    sizes = (7, 8, 9) if long else (7, 8)
    compiled = [_beside_the_compiled(managers) for managers in sizes] if programs.compiler() else []
    threads = [_threads(sizes[-1])] if programs.compiler() else []
    return [_beside_the_peers(), *compiled, *threads, _cold_start(), _reference()]


def missing() -> list[str]:
    """A sentence for each peer that is not here."""
    absent = [f"{peer.name} {peer.version} is not here: --peers installs it" for peer in _absent()]
    return [*absent, *programs.missing()]


def _absent() -> list[Peer]:
    return [peer for peer in (MINICHECK, MUSIL) if not present(peer)]


# --- contenders


def _ours(engine: str, managers: int, name: str, threads: int = 1) -> Contender:
    command = (sys.executable, str(HERE / "search.py"), engine, MODEL, str(managers), str(threads))
    made = Contender(name, command, _version(), COUNTS[managers][0])
    if engine != "native":
        return made
    made = replace(made, variables={"FALSEWORK_CACHE": str(CACHE)})
    return replace(made, ready=partial(run, made))  # the program is compiled before the turns


def _version() -> str:
    return f"{__version__}, Python {platform.python_version()}"


def _peer(peer: Peer, managers: int) -> Contender:
    script = HERE / "peers" / f"{peer.name}_two_phase_commit.py"
    version = f"{peer.version}, Python {python_of(peer)}"
    return Contender(peer.name, (str(peer.python), str(script), str(managers)), version, COUNTS[managers][0])


def _by_hand(managers: int) -> Contender:
    command = (str(programs.BY_HAND), str(managers), str(SLOTS[managers]))
    version = programs.compiler_version()
    return Contender("C by hand", command, version, COUNTS[managers][0], ready=programs.make_by_hand)


def _spin(managers: int) -> Contender:
    slots = f"-w{SLOTS[managers]}"
    return Contender(
        "SPIN",
        (str(programs.verifier(managers)), "-m10000", slots, "-n"),
        f"{programs.spin_version()}, {programs.compiler_version()}",
        f"{COUNTS[managers][0]} states, stored",
        ready=partial(programs.make_verifier, managers),
    )


# --- jobs


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


def _beside_the_compiled(managers: int) -> Job:
    states, transitions = COUNTS[managers]
    ours = _ours("native", managers, "falsework, native")
    spin = (_spin(managers),) if programs.spin() else ()
    hand, rival = "at most 2 times the CPU of C by hand, which is at least 0.5", "C by hand"
    targets: tuple[Target, ...] = ()
    if managers > 7:  # a search of some hundredths of a second is told from starting up by larger ones
        targets = (
            Target(f"the search: {hand}", ours.name, rival=rival, least=0.5),
            Target("the search at least 4 times as fast as SPIN's", ours.name, rival="SPIN", least=4.0),
            Target("peak memory of at most 16 bytes a state", ours.name, most=16.0, states=states),
        )
    if managers > 8:
        targets += (Target(f"the whole process: {hand}", ours.name, rival=rival, least=0.5, of="process"),)
    title = f"Compiled, {managers} managers: {states:,} states, {transitions:,} transitions; one thread"
    return Job(title, (ours, _by_hand(managers), *spin), transitions, targets)


def _threads(managers: int) -> Job:
    states, transitions = COUNTS[managers]
    two = _ours("native", managers, "falsework, native, two threads", threads=2)
    one = _ours("native", managers, "falsework, native, one thread")
    text = "two threads beside one by the clock, where 1.6 is wanted of a quiet machine"
    return Job(
        f"Two threads, {managers} managers: {states:,} states, {transitions:,} transitions",
        (two, one),
        transitions,
        (Target(text, two.name, rival=one.name, least=1.6, of="wall"),),
    )


def _check(name: str, *flags: str, cache: Path) -> Contender:
    states, transitions = COUNTS[6]
    command = (sys.executable, "-m", "falsework", "check", MODEL, "-D", "MANAGERS=6", "--quiet", *flags)
    expected = f"{states:,} states, all of them · {transitions:,} transitions"
    return Contender(name, command, _version(), expected, variables={"FALSEWORK_CACHE": str(cache)})


def _cold_start() -> Job:
    states = COUNTS[6][0]
    ours = replace(_check("falsework check", cache=EMPTY), fresh=EMPTY)
    here = [ours]
    targets = [Target("answered in 0.5 s of CPU from a cold start", ours.name, most=0.5)]
    if programs.compiler():
        cold = replace(
            _check("falsework check, native, empty cache", "--engine", "native", cache=EMPTY), fresh=EMPTY
        )
        warm = _check("falsework check, native, compiled before", "--engine", "native", cache=CACHE)
        here += [cold, replace(warm, ready=partial(run, warm))]
        targets.append(Target("native, compiled before, in 0.5 s of CPU", warm.name, most=0.5))
    if programs.spin():
        build = f"{programs.compiler()} -O2 {' '.join(programs.EXACT)} -o pan pan.c"
        script = f'cd {EMPTY} && spin -a "$0" && {build} && ./pan -m10000 -n'
        model = ENVIRONMENTS / "spin-6" / "model.pml"
        spin = Contender(
            "spin -a, cc -O2, pan",
            ("sh", "-c", script, str(model)),
            programs.spin_version(),
            f"{states} states, stored",
            ready=partial(programs.promela, 6),
            fresh=EMPTY,
        )
        here.append(spin)
        text = "answered no later than SPIN is made, compiled and run"
        targets.append(Target(text, ours.name, rival=spin.name, least=1.0))
    floor = Contender("an empty program", (sys.executable, "-c", "pass"), platform.python_version(), "")
    title = f"From a cold start: `falsework {' '.join(ours.command[3:])}`, {states:,} states"
    return Job(title, (*here, floor), 0, tuple(targets))


def _reference() -> Job:
    states, transitions = COUNTS[5]
    return Job(
        f"The reference search, two-phase commit, 5 managers: {states:,} states, {transitions:,} transitions",
        (_ours("explore", 5, "falsework, explore"), _ours("fast", 5, "falsework, fast")),
        transitions,
    )
