"""Random walks after the cover, and how a divergence that only its past explains is made short.

The cover drives each step once, from wherever it happens to be; what an implementation remembers beyond the
model's state shows on some walk, if at all.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from command_line import falsework
from falsework.conformance import Drive, drive, shrink
from falsework.conformance.walks import LONGEST, draw_walks
from falsework.definition import definition_of
from falsework.verdict import Verdict
from locks import Lock, LockServer, RightLock

LOCK = definition_of(Lock)


class _Forgetful(LockServer):
    """After so many sessions that end by themselves with no release between, a grant is not kept."""

    patience = 2

    def __init__(self) -> None:
        super().__init__()
        self.ended = 0

    def take(self, name: str) -> bool:
        free = self.owner is None
        if free and self.ended >= self.patience:
            return True
        return super().take(name)

    def free(self, name: str) -> None:
        super().free(name)
        self.ended = 0

    def session_ended(self, name: str) -> None:
        super().session_ended(name)
        self.ended += 1


def forgetful(patience: int) -> Any:
    server = type("Server", (_Forgetful,), {"patience": patience})
    return type("Subject", (RightLock,), {"server_class": server})()


def path_of(done: Drive) -> list[str]:
    assert done.divergence is not None
    return [label.action for label in done.divergence.path]


def test_a_right_subject_is_walked_as_often_as_was_asked() -> None:
    done = drive(RightLock(), LOCK, walks=7)
    assert done.verdict is Verdict.HOLDS
    assert (done.walks, done.walked) == (7, 7 * LONGEST)  # the lock never stops, so no walk ends early


def test_a_divergence_that_only_its_past_explains_is_shown_by_a_shortest_path() -> None:
    done = drive(forgetful(2), LOCK)
    # Two sessions begin and end by themselves, and one more is granted; with less, nothing is forgotten.
    assert path_of(done) == ["take", "crash", "take", "crash", "take"]
    assert done.divergence is not None
    assert done.divergence.shortest


def test_what_the_cover_misses_is_met_on_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrink, "SEARCHED", 2_000)
    assert drive(forgetful(4), LOCK).verdict is Verdict.HOLDS  # each step was right once
    done = drive(forgetful(4), LOCK, walks=25)
    assert done.verdict is Verdict.VIOLATED
    assert 0 < done.walks <= 25
    # Four sessions and a grant: no step can be left out. That no other path is shorter would take more steps
    # than the limit, and is not said.
    assert path_of(done) == ["take", "crash"] * 4 + ["take"]
    assert done.divergence is not None
    assert not done.divergence.shortest


def test_the_same_seed_draws_the_same_walks_and_another_draws_others() -> None:
    def drawn(seed: int) -> list[tuple[tuple[int, ...], int]]:
        found = []

        def walk(numbers: Sequence[int], shunned: int) -> bool:
            found.append((tuple(numbers), shunned))
            return True

        draw_walks(10, seed, walk)
        return found

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert {len(numbers) for numbers, _ in drawn(1)} == {LONGEST}


def test_walks_end_with_the_first_divergence() -> None:
    called = []

    def walk(numbers: Sequence[int], shunned: int) -> bool:
        called.append(numbers)
        return len(called) < 3

    draw_walks(10, 0, walk)
    assert len(called) == 3


def test_a_walk_goes_where_an_unknown_outcome_leaves_both_states_open() -> None:
    class Lossy(LockServer):
        calls = 0

        def take(self, name: str) -> bool:
            Lossy.calls += 1
            answer = super().take(name)
            if Lossy.calls % 3 == 0:
                raise TimeoutError
            return answer

    class Subject(RightLock):
        unknowns = (TimeoutError,)
        server_class = Lossy

        def observe(self) -> Mapping[str, object]:
            return {}

    assert drive(Subject(), LOCK, walks=10).divergence is None


@pytest.mark.slow
def test_without_hypothesis_the_walks_are_not_checked_and_can_be_asked_for_none(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['hypothesis'] = None; from falsework.cli import main; "
        "sys.exit(main(['conform', 'tests/locks.py:RightLock', *sys.argv[1:]]))"
    )
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 12
    assert "no random walk was taken, for hypothesis is not installed; write: pip install" in done.stdout
    none = subprocess.run([*run, "--walks", "0"], capture_output=True, text=True, check=False)
    assert none.returncode == 0
    assert "walk" not in none.stdout


@pytest.mark.slow
def test_nothing_is_written_where_the_command_is_run(tmp_path: Path) -> None:
    subject = Path(__file__).parent / "locks.py"
    run = [sys.executable, "-m", "falsework", "conform", f"{subject}:RightLock", "--walks", "3"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "3 random walks of 120 steps" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_number_of_walks_is_a_number() -> None:
    said = falsework("conform", "lease", "--walks", "-3")
    assert said.code == 2
    assert "'-3' is no number from 0 on" in said.all
