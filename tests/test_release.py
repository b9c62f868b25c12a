"""A release is refused for each of its reasons, and for none where all is well; the wheel is tried."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import release
from falsework import __version__

SOURCES = ("checker/fast.py", "runtime/lease.py")
KEPT = "# The last run\n\n2026-03-02 · some machine\n\n| falsework, fast | 1.2.3, Python |\n"


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., None]:
    """A checkout with both kept runs; called with a date and files, it commits these on that date."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)

    def commit(day: str, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        at = f"{day}T12:00:00"
        environment = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "PATH": os.environ["PATH"]}
        who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
        for command in (["add", "."], [*who, "commit", "-q", "--allow-empty", "-m", f"of {day}"]):
            subprocess.run(["git", "-C", str(tmp_path), *command], env=environment, check=True)

    commit("2026-03-01", dict.fromkeys(SOURCES, "first\n"))
    commit("2026-03-02", {"bench/RESULTS.md": KEPT, "bench/BESIDE_DBOS.md": KEPT.replace(", fast |", "")})
    return commit


def said(reasons: Iterator[str]) -> str:
    return "\n".join(reasons)


# --- the tree -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tree")
def test_a_tree_with_changes_is_refused(tmp_path: Path) -> None:
    assert said(release.changes(tmp_path)) == ""
    (tmp_path / "note.txt").write_text("", "utf-8")
    (tmp_path / "checker" / "fast.py").write_text("second\n", "utf-8")
    told = said(release.changes(tmp_path))
    assert told == "the tree has changes: M checker/fast.py and 1 more; commit them, or take them back"


# --- the benchmarks -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tree")
def test_fresh_benchmarks_are_no_reason(tmp_path: Path) -> None:
    assert said(release.stale(tmp_path, "1.2.3")) == ""


@pytest.mark.usefixtures("tree")
def test_benchmarks_of_another_version_are_refused(tmp_path: Path) -> None:
    told = said(release.stale(tmp_path, "1.2.4"))
    assert told.count("is of another version than 1.2.4") == 2


def test_benchmarks_older_than_what_they_measured_are_refused(
    tmp_path: Path, tree: Callable[..., None]
) -> None:
    tree("2026-03-03", {"checker/fast.py": "second\n"})
    (told,) = release.stale(tmp_path, "1.2.3")
    assert told.startswith(
        "bench/RESULTS.md is of 2026-03-02, and what it measured was changed on 2026-03-03"
    )


def test_benchmarks_kept_before_a_change_of_the_same_day_are_refused(
    tmp_path: Path, tree: Callable[..., None]
) -> None:
    tree("2026-03-02", {"runtime/lease.py": "second\n"})
    (told,) = release.stale(tmp_path, "1.2.3")
    assert told.startswith("bench/BESIDE_DBOS.md was kept before 1 changes to what it measured, the last: ")


def test_what_no_benchmark_measures_may_change(tmp_path: Path, tree: Callable[..., None]) -> None:
    tree(
        "2026-03-03",
        {"checker/cli.py": "new\n", "runtime/subjects/lease.py": "new\n", "docs/cli.md": "new\n"},
    )
    assert said(release.stale(tmp_path, "1.2.3")) == ""


@pytest.mark.parametrize(
    "text, reason",
    [(None, "is not there: run the benchmarks"), ("falsework 1.2.3\n", "names no date of its run")],
)
def test_a_run_that_says_nothing_is_refused(
    tmp_path: Path, tree: Callable[..., None], text: str | None, reason: str
) -> None:
    if text is None:
        (tmp_path / "bench" / "RESULTS.md").unlink()
    else:
        tree("2026-03-02", {"bench/RESULTS.md": text})
    assert f"bench/RESULTS.md {reason}" in said(release.stale(tmp_path, "1.2.3"))


def test_what_is_measured_is_there() -> None:
    """A file that was renamed would be watched no more."""
    for paths in release.MEASURED.values():
        assert [path for path in paths if not (release.ROOT / path).exists()] == []


def test_the_runs_that_are_kept_can_be_read() -> None:
    told = said(release.stale(release.ROOT, __version__))
    assert "names no date" not in told
    assert "of another version" not in told


# --- rules, counts, the gate --------------------------------------------------------------------------------


def test_a_rule_that_nothing_carries_yet_is_refused() -> None:
    states = {"a 1": "carried", "a 2": "external", "a 3": "runtime", "b 1": "runtime", "b 2": "missing"}
    assert said(release.uncarried({"a 1": "carried", "a 2": "external"}, [])) == ""
    assert list(release.uncarried(states, ["rules.toml:3: a 1: no such test"])) == [
        "the account of the rules is wrong: rules.toml:3: a 1: no such test",
        "2 rules are 'runtime', the first: a 3; carry them, or say why they are external",
        "1 rules are 'missing', the first: b 2; carry them, or say why they are external",
    ]


def test_counts_that_differ_are_refused() -> None:
    assert said(release.miscounted(0, "all passed")) == ""
    told = said(release.miscounted(1, "FAILED test_there_are_the_states"))
    assert told == "tests/counts.toml is not as confirmed:\nFAILED test_there_are_the_states"


def document(**changed: Any) -> dict[str, Any]:
    tables = [{"title": "surfaces", "text": "x  model  driven SQLite  driven PostgreSQL"}]
    item = {"status": "pass", "headline": "HOLDS  lease model"}
    return {"answered": "answered all", "items": [item], "tables": tables, **changed}


def test_a_gate_that_is_green_on_both_stores_is_no_reason() -> None:
    assert said(release.ungated(0, document())) == ""


@pytest.mark.parametrize(
    "code, changed, reason",
    [
        (10, {"items": [{"status": "fail", "headline": "SURVIVED  lease twin X"}]},
         "the gate is red, exit code 10, 1 answers, the first: SURVIVED  lease twin X"),
        (0, {"answered": "answered all · NOT CHECKED: 1 subject"}, "the gate has left something out: "),
        (0, {"tables": [{"title": "surfaces", "text": "x  model  driven SQLite"}]},
         "the gate has no column 'driven PostgreSQL'"),
        (0, {"tables": []}, "the gate has no column 'driven SQLite'"),
    ],
)  # fmt: skip
def test_a_gate_that_is_not_is_refused(code: int, changed: dict[str, Any], reason: str) -> None:
    assert said(release.ungated(code, document(**changed))).startswith(reason)


def test_without_a_server_the_gate_is_not_even_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FALSEWORK_POSTGRES", raising=False)
    assert (
        said(release.gated())
        == "FALSEWORK_POSTGRES names no server, so the gate cannot be green on both stores"
    )


def test_no_stage_is_begun_after_one_that_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    begun = []

    def stage(name: str, *reasons: str) -> tuple[str, Callable[[], Iterator[str]]]:
        def run() -> Iterator[str]:
            begun.append(name)
            yield from reasons

        return name, run

    assert release.refused([stage("one"), stage("two", "because", "and because"), stage("three")])
    assert begun == ["one", "two"]
    assert capsys.readouterr().err == "NOT RELEASED: because\nNOT RELEASED: and because\n"
    assert not release.refused([stage("four")])


# --- what is built ------------------------------------------------------------------------------------------


def packed(folder: Path, names: list[str], version: str) -> Path:
    wheel = folder / "falsework-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, "")
        archive.writestr("falsework-1.2.3.dist-info/METADATA", f"Name: falsework\nVersion: {version}\n")
    return wheel


@pytest.mark.usefixtures("tree")
def test_a_wheel_that_lacks_a_file_or_is_of_another_version_is_refused(tmp_path: Path) -> None:
    whole = ["falsework/fast.py", "falsework/runtime/lease.py"]
    assert said(release.incomplete(packed(tmp_path, whole, "1.2.3"), tmp_path, "1.2.3")) == ""
    told = said(release.incomplete(packed(tmp_path, whole[:1], "1.2.4"), tmp_path, "1.2.3"))
    assert "lacks 1 files, the first: falsework/runtime/lease.py" in told
    assert "does not say that it is version 1.2.3" in told


@pytest.mark.slow
def test_the_wheel_of_what_was_committed_is_whole_and_answers(tmp_path: Path) -> None:
    sdist, wheel = release.built(release.ROOT, tmp_path)
    assert sdist.name == f"falsework-{__version__}.tar.gz"
    assert said(release.incomplete(wheel, tmp_path / "sources", __version__)) == ""
    assert said(release.broken(wheel, tmp_path)) == ""


@pytest.mark.slow
def test_a_wheel_that_does_not_answer_is_refused(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    (sources / "falsework").mkdir(parents=True)
    (sources / "falsework" / "__init__.py").write_text("", "utf-8")
    (sources / "falsework" / "cli.py").write_text("raise SystemExit('no cli here')\n", "utf-8")
    (sources / "pyproject.toml").write_text('[project]\nname = "falsework"\nversion = "1.2.3"\n', "utf-8")
    command = [sys.executable, "-m", "build", "-w", "-n", "-o", str(tmp_path / "out"), str(sources)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    assert "falsework --version fails:\nno cli here" in said(release.broken(wheel, tmp_path))


def test_make_has_the_target() -> None:
    makefile = (release.ROOT / "Makefile").read_text("utf-8")
    assert "\nrelease: $(STAMP)\n\t$(BIN)/python .ci/release.py\n" in makefile
