"""Compilers that are missing or lie, damaged caches, builders that meet: a clear word, no wrong verdict."""

import functools
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import ROOT, falsework
from compiled import CHEAP, compile_all
from falsework import engines, native_build
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.errors import InputError, NoCompiler
from falsework.explore import explore
from falsework.lower import lower
from falsework.machine_limits import available_memory, threads_for
from falsework.model_c import ModelSource
from falsework.models.classics.die_hard import DieHard
from falsework.native import native

pytestmark = pytest.mark.slow  # many compilations and searches: `make test`, not `make check`

DEFINITION = definition_of(DieHard)
NAME = "classics.die_hard"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own, and no other place to fall back to."""
    monkeypatch.setattr(native_build, "FLAGS", CHEAP)
    monkeypatch.setenv("FALSEWORK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache"


@functools.cache
def expected() -> dict[str, object]:
    return explore(DEFINITION, Bounds(every=True)).counts()


def counts() -> dict[str, object]:
    return native(DEFINITION, Bounds(every=True)).counts()


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", "ascii")
    path.chmod(0o755)
    return path


def finished(cache: Path) -> list[str]:
    """The kept programs of models, and nothing half-made besides."""
    assert not list(cache.glob("building-*"))
    return sorted(path.name for path in cache.iterdir() if path.name.count("-") == 1)


# --- compilers ----------------------------------------------------------------------------------------------

OUT = 'while [ "$1" != -o ]; do shift || exit 9; done; '
COMPILERS = {
    "missing": ("", "CC names .*missing, which is no program here"),
    "refusing": ("echo no licence >&2; exit 3", r"refusing failed \(exit code 3\):\n  no licence"),
    "silent": ("exit 1", r"silent failed \(exit code 1\)$"),
    "idle": ("exit 0", r"idle failed \(no file came of it\)"),
    "garbage": (OUT + 'echo garbage > "$2"; chmod +x "$2"', "no program for this machine: Exec format"),
    "liar": (OUT + r'printf "#!/bin/sh\necho 7\n" > "$2"; chmod +x "$2"', "is no program for this machine"),
    "crasher": ("kill -SEGV $$", r"crasher failed \(exit code -11\)"),
}  # fmt: skip


@pytest.fixture(params=COMPILERS)
def bad_compiler(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the message must say of the compiler that CC names."""
    body, told = COMPILERS[request.param]
    path = tmp_path / request.param
    if body:
        script(path, body)
    monkeypatch.setenv("CC", str(path))
    return told


def test_a_bad_compiler_is_named_with_what_it_said(bad_compiler: str, empty_cache: Path) -> None:
    with pytest.raises(NoCompiler, match=bad_compiler):
        counts()
    assert not empty_cache.exists() or finished(empty_cache) == []
    said = falsework("check", NAME, "--engine", "native")
    assert said.code == 13
    assert "Traceback" not in said.all


def test_a_quote_that_nobody_closes_names_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "'gcc")
    with pytest.raises(NoCompiler, match=r"^CC=.*gcc.* cannot be read: No closing quotation"):
        native_build.compiler()


@pytest.mark.parametrize("form", ["json", "junit"])
def test_a_bad_compiler_is_an_answer_in_every_format(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent")
    said = falsework("check", NAME, "--engine", "native", "--format", form)
    assert said.code == 13
    assert "CC names /nonexistent" in said.out


def test_without_a_good_compiler_auto_takes_fast_and_says_so(
    bad_compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "PROBE", 5)
    tally, engine, why = engines.search(DEFINITION, "auto", Bounds(every=True), None)
    assert (engine, tally.counts()) == ("fast", expected())
    assert why.startswith("native is not to be had: ")


def test_the_gate_says_of_each_model_that_it_was_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent")
    said = falsework("gate", NAME, "--engine", "native")
    assert said.code == 13
    assert "CC names /nonexistent" in said.out
    assert "Traceback" not in said.all


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NoCompiler, match=r"install cc, gcc or clang, or pip install falsework\[native\]"):
        counts()


def test_the_wheel_of_zig_stands_in_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    assert native_build.compiler() == (sys.executable, "-m", "ziglang", "cc")


def test_a_compiler_is_called_with_its_own_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    script(tmp_path / "mycc", f'echo "$1" >> {tmp_path}/heard; shift; exec cc "$@"')
    monkeypatch.setenv("CC", f"{tmp_path}/mycc '--one option'")
    assert counts() == expected()
    assert set((tmp_path / "heard").read_text("ascii").splitlines()) == {"--one option"}


def test_a_compiler_named_by_a_path_from_here_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is called in another folder."""
    script(tmp_path / "mycc", 'exec cc "$@"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", "./mycc")
    assert counts() == expected()


def test_a_compiler_that_failed_leaves_nothing_for_the_one_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    """Both are called alike and say the same of their version."""
    monkeypatch.setenv("CC", str(script(tmp_path / "mycc", COMPILERS["garbage"][0])))
    with pytest.raises(NoCompiler):
        counts()
    assert list(empty_cache.iterdir()) == []
    script(tmp_path / "mycc", '[ "$1" = --version ] && exit 9; exec cc "$@"')
    assert counts() == expected()


def test_a_compiler_that_does_not_know_this_processor_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = 'for a; do case $a in -march*) echo "unknown -march" >&2; exit 1;; esac; done; exec cc "$@"'
    monkeypatch.setenv("CC", str(script(tmp_path / "plain", known)))
    monkeypatch.setattr(native_build, "FLAGS", (*CHEAP, "-march=native"))
    assert counts() == expected()


def test_another_compiler_or_another_core_is_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = native_build._identity(("cc",), CHEAP, 1)
    assert native_build._identity(("cc",), CHEAP, 1) == identity
    assert native_build._identity(("cc",), CHEAP, 2) != identity
    assert native_build._identity(("cc",), (*CHEAP, "-g"), 1) != identity
    assert native_build._identity(("cc", "-g"), CHEAP, 1) != identity
    for change, value in (("_processor", lambda: "another"), ("HEADERS", ())):
        native_build._identity.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(native_build, change, value)
            assert native_build._identity(("cc",), CHEAP, 1) != identity
    native_build._identity.cache_clear()


# --- the cache ----------------------------------------------------------------------------------------------


def test_a_kept_program_is_not_compiled_again(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counts() == expected()
    kept = finished(empty_cache)
    assert len(kept) == 1
    assert len(list(empty_cache.iterdir())) == 1 + len(native_build.SOURCES)
    monkeypatch.setattr(native_build._Build, "run", None)
    assert counts() == expected()
    assert finished(empty_cache) == kept


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    changed = {
        "truncated": content[: len(content) // 2],
        "emptied": b"",
        "changed": content[:-9] + b"\0" + content[-8:],
        "garbage": b"garbage" * 999,
    }
    path.write_bytes(changed[how])


@pytest.mark.parametrize("how", ["truncated", "emptied", "changed", "garbage"])
@pytest.mark.parametrize("what", ["program", "core"])
def test_a_damaged_file_is_made_again(what: str, how: str, empty_cache: Path) -> None:
    counts()
    (kept,) = finished(empty_cache)
    for path in list(empty_cache.iterdir()):
        if what == "program" and path.name == kept:
            damage(path, how)
        elif what == "core":
            path.unlink() if path.name == kept else damage(path, how)
    assert counts() == expected()
    assert finished(empty_cache) == [kept]


def test_a_program_that_may_not_be_run_is_made_again(empty_cache: Path) -> None:
    counts()
    (kept,) = finished(empty_cache)
    (empty_cache / kept).chmod(0o600)
    assert counts() == expected()


def not_a_folder(path: Path) -> None:
    path.write_text("a file", "ascii")


def for_everybody(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


@pytest.mark.parametrize("make", [not_a_folder, for_everybody])
def test_a_cache_that_does_not_serve_is_passed_over(
    make: Callable[[Path], None], empty_cache: Path, tmp_path: Path
) -> None:
    make(empty_cache)
    assert counts() == expected()
    instead = tmp_path / f"falsework-{os.getuid()}"
    assert native_build.folders() == (empty_cache, instead)
    assert len(finished(instead)) == 1
    assert not empty_cache.is_dir() or not list(empty_cache.iterdir())


def test_where_nothing_serves_both_places_are_named(empty_cache: Path, tmp_path: Path) -> None:
    not_a_folder(empty_cache)
    for_everybody(tmp_path / f"falsework-{os.getuid()}")
    with pytest.raises(NoCompiler) as problem:
        counts()
    instead = tmp_path / f"falsework-{os.getuid()}"
    assert str(problem.value) == (
        f"a compiled model can be kept nowhere: {empty_cache}: File exists; {instead}: others may write "
        "there, so no program is taken from it (FALSEWORK_CACHE names another folder)"
    )


def test_one_without_a_home_has_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs for a user whom it does not know."""

    def homeless(path: Path) -> Path:
        raise RuntimeError(f"{path}: Could not determine home directory.")

    monkeypatch.delenv("FALSEWORK_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert native_build.folders() == (tmp_path / f"falsework-{os.getuid()}",)
    assert counts() == expected()


@pytest.mark.parametrize("when", ["*model.c*", "*-o*program*"])
def test_a_cache_that_somebody_deletes_meanwhile_leads_to_the_other_place(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    gone = f'case "$*" in {when}) rm -rf {empty_cache};; esac; exec cc "$@"'
    monkeypatch.setenv("CC", str(script(tmp_path / "mycc", gone)))
    assert counts() == expected()
    assert not empty_cache.exists()
    assert len(finished(tmp_path / f"falsework-{os.getuid()}")) == 1


def test_a_program_that_somebody_deletes_before_it_runs_is_made_again(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    made = iter((True, False))

    def emptied(text: str, words: int) -> Path:
        path = native_build.program(text, words)
        if next(made):
            shutil.rmtree(empty_cache)
        return path

    monkeypatch.setattr("falsework.native.program", emptied)
    assert counts() == expected()


def test_what_a_killed_builder_left_is_swept_away_once_it_is_old(empty_cache: Path) -> None:
    for name, age in (("building-old", 2 * native_build.FORGOTTEN), ("building-new", 0)):
        (empty_cache / name).mkdir(parents=True)
        (empty_cache / name / "model.c").write_text("half", "ascii")
        then = (empty_cache / name).stat().st_mtime - age
        os.utime(empty_cache / name, (then, then))
    counts()
    assert [path.name for path in empty_cache.glob("building-*")] == ["building-new"]


def test_two_processes_that_build_the_same_model_agree(empty_cache: Path) -> None:
    command = [sys.executable, "-m", "falsework", "check", NAME, "--engine", "native", "--format", "json"]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(3)]
    answers = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert all(b'"verdict": "HOLDS"' in answer for answer in answers)
    assert len(finished(empty_cache)) == 1


def test_threads_of_one_process_may_build_at_once(empty_cache: Path) -> None:
    compile_all([DEFINITION] * 4)
    assert len(finished(empty_cache)) == 1


# --- a full disk --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most, told", [(900, "can be kept nowhere"), (9_000, "cc failed")])
@pytest.mark.parametrize("engine, code", [("native", 13), ("auto", 0)])
def test_where_nothing_can_be_written_there_is_no_program(
    engine: str, code: int, most: int, told: str, empty_cache: Path
) -> None:
    """The limit on the size of a file strikes where a full disk does: in the compiler, or in a copy."""
    short = f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most})); "
    probed = "import falsework.engines as e; e.PROBE = 5; from falsework.cli import main; "
    program = f"{short}{probed}sys.exit(main(['check', '{NAME}', '--engine', '{engine}', '--verbose']))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert told in done.stdout
    assert ("native is not to be had" in done.stdout) == (engine == "auto")
    assert finished(empty_cache) == []


def test_a_full_disk_leads_to_the_other_place(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    full = usage._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full if "cache" in str(path) else usage)
    failing = 'case $PWD in */cache/*) echo "no space" >&2; exit 1;; esac; exec cc "$@"'
    monkeypatch.setenv("CC", str(script(tmp_path / "mycc", failing)))
    assert counts() == expected()
    assert finished(empty_cache) == []
    assert len(finished(tmp_path / f"falsework-{os.getuid()}")) == 1


# --- what the machine has -----------------------------------------------------------------------------------


def test_the_threads_are_those_asked_for_then_the_environments_then_the_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FALSEWORK_THREADS", raising=False)
    assert threads_for(None) == min(len(os.sched_getaffinity(0)), 64)
    monkeypatch.setenv("FALSEWORK_THREADS", "3")
    assert (threads_for(None), threads_for(5)) == (3, 5)
    for wrong in ("many", "0", "65", "-1"):
        monkeypatch.setenv("FALSEWORK_THREADS", wrong)
        with pytest.raises(InputError, match=f"^FALSEWORK_THREADS is '{wrong}': write a number from 1 to 64"):
            threads_for(None)
    with pytest.raises(InputError, match="65 threads: write a number from 1 to 64"):
        threads_for(65)


def test_too_many_threads_are_bad_input() -> None:
    said = falsework("check", NAME, "--engine", "native", "--threads", "65")
    assert (said.code, said.err) == (13, "falsework: 65 threads: write a number from 1 to 64\n")


MEMORY = "MemTotal: 9000 kB\nMemAvailable:  4096000 kB\nHugePages_Free: 0\n"


@pytest.mark.parametrize(
    "files, megabytes",
    [
        ({}, 2048),  # nothing is known
        ({"proc/meminfo": MEMORY}, 3200),  # four fifths of 4,000 MB
        ({"proc/meminfo": "MemAvailable: 10 kB\n"}, 64),
        ({"proc/meminfo": "of another system\n"}, 2048),
        (
            {
                "proc/meminfo": MEMORY,
                "sys/fs/cgroup/memory.max": "1048576000\n",  # 1,000 MB, of which 500 are taken,
                "sys/fs/cgroup/memory.current": "524288000\n",
                "sys/fs/cgroup/memory.stat": "anon 1\nfile 104857600\n",  # and 100 of these by files
            },
            480,
        ),
        (
            {
                "proc/meminfo": MEMORY,
                "sys/fs/cgroup/memory.max": "max\n",
                "sys/fs/cgroup/memory.current": "9\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576000\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "524288000\n",
                "sys/fs/cgroup/memory/memory.stat": "total_cache 0\n",
            },
            400,
        ),
    ],
)
def test_four_fifths_of_what_is_free_may_be_filled(
    files: dict[str, str], megabytes: int, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")
    assert available_memory(tmp_path / "root") == megabytes


def test_the_limits_of_this_machine_can_be_read() -> None:
    assert 64 <= available_memory() <= resource.RLIM_INFINITY % (1 << 40)


def test_the_sources_are_where_the_package_says(empty_cache: Path) -> None:
    assert {path.name for path in native_build.CORE.iterdir()} == {
        *native_build.SOURCES, *native_build.HEADERS
    }  # fmt: skip
    assert "engine.h" in ModelSource(lower(DEFINITION)).text
