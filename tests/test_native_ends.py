"""However a compiled search ends, the word is right: killed, out of memory, interrupted, broken; `auto`."""

import ctypes
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from command_line import falsework
from compiled import SANITIZED, STRICT, compiled_with
from falsework import engines
from falsework import native as native_module
from falsework.accounting import Bounds, Stop, Tally
from falsework.check import check
from falsework.definition import Definition, definition_of
from falsework.errors import EngineFailed
from falsework.fast import fast
from falsework.language import Model, Upto, action, invariant, require
from falsework.lower import lower
from falsework.models.classics.two_phase_commit import TwoPhaseCommit
from falsework.naming import with_constants
from falsework.native import native
from falsework.native_build import program
from falsework.verdict import Verdict

pytestmark = pytest.mark.slow  # many compilations and searches: `make test`, not `make check`

NAME = "classics.two_phase_commit"
SET_CHILD_SUBREAPER = 36


@pytest.fixture(autouse=True)
def optimised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with compiled_with((*STRICT, "-O2"), tmp_path_factory.getbasetemp() / "optimised"):
        yield


@functools.cache
def managers(number: int) -> Definition:
    """Two-phase commit: 50,816 states with 6 managers, 296,448 with 7, 1,745,408 with 8."""
    return definition_of(with_constants(TwoPhaseCommit, {"MANAGERS": number}))


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a shell script stand where the compiled search would."""

    def put(body: str) -> None:
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{body}\n", "ascii")
        path.chmod(0o755)
        monkeypatch.setattr(native_module, "program", lambda *_: path)

    return put


class Stairs(Model):
    """One way, and that is up."""

    TOP: ClassVar[int] = 10

    height: Annotated[int, Upto("TOP")] = 0

    @action
    def climb(self) -> None:
        require(self.height < self.TOP)
        self.height += 1

    @invariant
    def nobody_reaches_the_top(self) -> bool:
        return self.height < self.TOP


# --- ended from outside -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["KILL", "TERM", "INT", "HUP"])
def test_a_search_that_somebody_ends_is_incomplete(name: str, instead: Callable[[str], None]) -> None:
    instead(f"echo progress 7 12 1 4 9 >&2; kill -{name} $$; exit 0")
    tally = native(managers(3))
    number = getattr(signal, f"SIG{name}")
    assert tally.stop == Stop("signal", number, 7)
    assert (tally.states, tally.levels, tally.transitions) == (14, [1, 4, 9], 12)
    said = falsework("check", NAME, "--engine", "native")
    assert said.code == 12
    assert f"ended by signal {int(number)} from outside with 7 states known and not looked at" in said.out
    assert falsework("gate", NAME, "--engine", "native").code == 12


def test_what_a_killed_search_had_told_is_added_up_and_half_a_line_is_none(
    instead: Callable[[str], None],
) -> None:
    instead("printf 'progress 7 12 1 4 9\\nprogress 3 20 6\\nprogress 5 30 2' >&2; kill -KILL $$")
    heard: list[list[int]] = []
    tally = native(managers(3), progress=lambda tally, _: heard.append(tally.levels))
    assert heard == [[1, 4, 9], [1, 4, 9, 6]]
    assert tally.stop == Stop("signal", signal.SIGKILL, 3)
    assert (tally.states, tally.levels, tally.transitions) == (20, [1, 4, 9, 6], 20)


def test_how_an_ended_search_is_told(
    instead: Callable[[str], None], golden: Callable[[str, str], None]
) -> None:
    instead("echo progress 7 12 1 4 9 >&2; kill -KILL $$")
    golden("native/killed", falsework("check", NAME, "--engine", "native").all)
    instead("kill -SEGV $$")
    golden("native/crashed", versionless(falsework("check", NAME, "--engine", "native").all))
    instead("echo out of memory >&2; exit 4")
    golden("native/refused-memory", falsework("check", NAME, "--engine", "native", "--memory", "100").all)


def versionless(text: str) -> str:
    return text.replace(sys.version.split()[0], "3.x")


def test_the_real_program_is_killed_and_leaves_what_it_had_counted() -> None:
    heard: list[tuple[int, int]] = []
    others = set(children())  # of tests before this one in the same process

    def kill(tally: Tally, waiting: int) -> None:
        heard.append((tally.states, waiting))
        for child in set(children()) - others:
            os.kill(child, signal.SIGKILL)

    tally = native(managers(8), progress=kill)
    assert tally.stop is not None
    assert (tally.stop.bound, tally.stop.limit) == ("signal", 9)
    assert (tally.states, tally.stop.unexpanded) == heard[-1]
    assert not tally.complete
    assert set(children()) <= others


def children() -> Iterator[int]:
    """The processes that this one has started and not yet awaited."""
    for task in Path("/proc/self/task").iterdir():
        yield from map(int, (task / "children").read_text("ascii").split())


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_search_leaves_no_process_behind(problem: type[BaseException]) -> None:
    others = set(children())

    def interrupt(*_: object) -> None:
        assert set(children()) - others
        raise problem

    with pytest.raises(problem):
        native(managers(8), progress=interrupt)
    assert set(children()) <= others


def test_a_search_ends_when_the_process_that_wants_it_is_killed() -> None:
    text = """
import os, signal
from test_native_ends import children, managers, native
def die(*_):
    os.write(1, b"".join(b"%d " % child for child in children()))
    os.kill(os.getpid(), signal.SIGKILL)
native(managers(8), progress=die)
"""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)  # orphans become children of this process
    try:
        command = [sys.executable, "-c", text]
        done = subprocess.run(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, check=False)
        assert done.returncode == -signal.SIGKILL
        for orphan in map(int, done.stdout.split()):
            assert os.WTERMSIG(os.waitpid(orphan, 0)[1]) == signal.SIGKILL
        assert done.stdout
    finally:
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 0)


# --- its own mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, told",
    [
        ("kill -SEGV $$", "ended with signal 11 and no result"),
        ("kill -ABRT $$", "ended with signal 6 and no result"),
        ("exit 0", "ended with exit code 0 and no result"),
        ("echo '{\"states\":'", "ended with exit code 0 and no result"),
        ('echo \'{"states":3,"levels":[1,1]}\'', "ended with exit code 0 and no result"),
        ("echo '[]'", "ended with exit code 0 and no result"),
        (
            "echo fatal: the table grew out of order >&2; exit 3",
            "exit code 3 and no result: fatal: the table",
        ),
        (r"printf '\377\376\n\n' >&2; exit 9", "exit code 9"),
    ],
)
def test_a_search_that_fails_of_itself_gives_no_verdict(
    body: str, told: str, instead: Callable[[str], None]
) -> None:
    instead(body)
    with pytest.raises(EngineFailed, match=told):
        native(managers(3))
    said = falsework("check", NAME, "--engine", "native")
    assert (said.code, said.out) == (1, "")
    assert told in said.err
    assert "falsework itself failed, and gives no verdict" in said.err
    assert "Traceback" not in said.err
    assert falsework("gate", NAME, "--engine", "native").code == 13


def test_a_program_that_has_gone_is_no_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native_module, "program", lambda *_: tmp_path / "gone")
    with pytest.raises(EngineFailed, match=r"the compiled search cannot be started: .*No such file"):
        native(managers(3))


def test_a_counterexample_that_the_class_does_not_confirm_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program that lies about a violation is caught where the class executes its steps."""

    def lying(run: native_module._Run, ended: native_module._Ended) -> dict[str, object]:
        result = truth(run, ended)
        result["found"] = [{"property": 0, "start": 0, "steps": [0]}]
        return result

    truth = native_module._Run._result
    monkeypatch.setattr(native_module._Run, "_result", lying)
    result = check(TwoPhaseCommit, engine="native")
    assert result.verdict is Verdict.ERROR
    assert [finding.word for finding in result.findings] == ["not-confirmed"]


# --- memory -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("megabytes", [1, 3, 5])
def test_the_memory_that_is_allowed_is_not_exceeded(megabytes: int, threads: int) -> None:
    tally = native(managers(8), Bounds(memory_mb=megabytes), threads=threads)
    assert tally.stop is not None
    assert (tally.stop.bound, tally.stop.limit) == ("memory", megabytes)
    assert 0 < tally.states == sum(tally.levels) < 1_745_408
    assert tally.stop.unexpanded > 0
    assert tally.states * 8 <= megabytes << 20


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_where_memory_ends_nothing_is_written_beside_it(
    threads: int, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One part has no room for what others had room for; the bound strikes at each of many places."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    with compiled_with(SANITIZED, tmp_path_factory.getbasetemp() / "sanitized-ends"):
        for megabytes in range(1, 5):
            tally = native(managers(8), Bounds(memory_mb=megabytes), threads=threads)
            assert tally.stop is not None
            assert (tally.stop.bound, tally.stop.limit) == ("memory", megabytes)
            assert tally.states == sum(tally.levels)


def test_more_memory_ends_later_and_enough_is_enough() -> None:
    found = [native(managers(7), Bounds(memory_mb=size)) for size in (1, 2, 100)]
    assert found[0].states < found[1].states < found[2].states == 296_448
    assert found[2].complete
    assert found[2].counts() == fast(managers(7)).counts()


def test_a_search_that_memory_ends_is_incomplete_with_what_it_had_done() -> None:
    said = falsework("check", NAME, "-D", "MANAGERS=8", "--engine", "native", "--memory", "2")
    assert said.code == 12
    assert said.out.startswith("INCOMPLETE  ")
    assert "stopped by --memory 2 MB with" in said.out


@pytest.mark.parametrize("kilobytes", [6_000, 12_000, 20_000, 30_000])
def test_a_system_that_refuses_memory_ends_the_search_likewise(
    kilobytes: int, instead: Callable[[str], None]
) -> None:
    """Below what the program needs to begin with, above that, and in the midst of the search."""
    limited = native_module._Run(lower(managers(9)), Bounds(), None, 1).source
    path = program(limited.text, limited.words.count)
    instead(f'ulimit -v {kilobytes}; exec {path} "$@"')
    tally = native(managers(9), Bounds(max_states=20_000_000), threads=1)
    assert tally.stop is not None
    assert (tally.stop.bound, tally.stop.limit) == ("memory", 0)
    assert tally.states < 10_340_352
    assert tally.violations == {}


def test_a_way_back_of_many_levels_takes_little_memory(instead: Callable[[str], None]) -> None:
    """10,000 levels of one state: 60 MB of addresses, of which the program without a search takes some 10."""
    definition = definition_of(with_constants(Stairs, {"TOP": 10_000}))
    source = native_module._Run(lower(definition), Bounds(), None, 1).source
    path = program(source.text, source.words.count)
    instead(f'ulimit -v 60000; exec {path} "$@"')
    assert native(definition, threads=1).violations["nobody_reaches_the_top"].steps == 10_000


def test_without_a_limit_most_of_what_is_free_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_module, "available_memory", lambda: 2)
    tally = native(managers(8))
    assert tally.stop is not None
    assert (tally.stop.bound, tally.stop.limit) == ("memory", 2)


# --- auto ---------------------------------------------------------------------------------------------------


def test_auto_goes_native_where_the_probe_ends_and_the_probe_is_not_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[tuple[str, int]] = []
    monkeypatch.setattr(engines, "PROBE", 1_000)
    tally, engine, why = engines.search(
        managers(6), "auto", Bounds(every=True), lambda tally, _: heard.append((tally.engine, tally.states))
    )
    assert (engine, why, tally.engine) == ("native", "there are more than 1,000 states", "native")
    assert tally.stop is None
    assert tally.counts() == fast(managers(6), Bounds(every=True)).counts()
    assert tally.bounds == Bounds(every=True)
    told = dict.fromkeys(name for name, _ in heard)
    assert list(told) == ["fast", "native"]
    assert max(states for name, states in heard if name == "fast") > 1_000


def test_auto_stays_with_fast_below_the_probe_and_within_a_smaller_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "PROBE", 2_000)
    tally, engine, why = engines.search(managers(4), "auto", Bounds(), None)
    assert (engine, why, tally.states, tally.complete) == ("fast", "the default", 1_568, True)
    for bounds, stop in ((Bounds(max_states=1_000), "max-states"), (Bounds(max_depth=3), "max-depth")):
        tally, engine, _ = engines.search(managers(6), "auto", bounds, None)
        assert tally.stop is not None
        assert (engine, tally.stop.bound) == ("fast", stop)


def test_auto_gives_the_compiled_search_the_memory_that_was_too_little_for_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("falsework.fast.resident_mb", lambda: 99)
    tally, engine, why = engines.search(managers(6), "auto", Bounds(memory_mb=50), None)
    assert (engine, why) == ("native", "the same memory holds more states")
    assert (tally.states, tally.complete) == (50_816, True)


def test_the_report_says_which_engine_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PROBE", 100)
    said = falsework("check", NAME, "--verbose", "--threads", "2")
    assert said.code == 0
    assert "engine: native (there are more than 100 states)" in said.out
