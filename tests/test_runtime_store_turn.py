"""Whose turn it is: taken in order, waited for no longer than asked, and given up by whoever dies.

Time passes where a test's own sleep lets it; what happens meanwhile happens inside that sleep.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from falsework.runtime.store.turn import LONGEST, SHORTEST, Turn


class Passing:
    """Time that passes by sleeping alone, and what happens at each sleep."""

    def __init__(self, *events: Callable[[], object]) -> None:
        self.instant, self.slept, self.events = 0.0, list[float](), list(events)

    def monotonic(self) -> float:
        return self.instant

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += seconds
        if self.events:
            self.events.pop(0)()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def turns(path: Path) -> Iterator[Callable[..., Turn]]:
    """How to open one more turn at the place; all are closed with the test."""
    opened: list[Turn] = []

    def one_more(passing: Passing | None = None) -> Turn:
        passing = passing or Passing()
        opened.append(Turn(path, passing.sleep, passing.monotonic))
        return opened[-1]

    yield one_more
    for turn in opened:
        turn.close()


def test_a_free_turn_is_taken_without_waiting(turns: Callable[..., Turn]) -> None:
    passing = Passing()
    one = turns(passing)
    assert one.last_holder() == "unknown"
    assert one.take(0)
    assert turns().last_holder() == str(os.getpid())
    one.give_back()
    assert turns().take(0)
    assert passing.slept == []


def test_a_turn_that_another_has_is_looked_at_once_where_there_is_no_time(turns: Callable[..., Turn]) -> None:
    passing = Passing()
    assert turns().take(0)
    assert not turns(passing).take(0)
    assert passing.slept == []


def test_pauses_grow_and_end_with_the_time(turns: Callable[..., Turn]) -> None:
    passing = Passing()
    assert turns().take(0)
    assert not turns(passing).take(0.01)
    assert passing.slept[:6] == [SHORTEST * 2**n for n in range(5)] + [LONGEST]
    assert set(passing.slept[5:]) == {LONGEST}
    assert 0.01 <= passing.instant < 0.01 + LONGEST


def test_who_has_just_had_the_turn_stands_behind_who_waits(turns: Callable[..., Turn]) -> None:
    # A process that writes without pause must not take the turn again from under a waiter's nose.
    greedy, answers = turns(), list[bool]()

    def again() -> None:
        greedy.give_back()
        answers.append(greedy.take(0))

    assert greedy.take(0)
    patient = turns(Passing(again))
    assert patient.take(1)
    assert answers == [False]
    patient.give_back()
    assert greedy.take(0)


def test_a_third_one_waits_for_the_place_and_not_for_the_turn(turns: Callable[..., Turn]) -> None:
    holder, answers = turns(), list[bool]()
    third_passing = Passing()
    third = turns(third_passing)

    def a_third_comes() -> None:
        answers.append(third.take(0))
        holder.give_back()
        answers.append(third.take(0))  # the turn is free, and still the second one's

    assert holder.take(0)
    assert turns(Passing(a_third_comes)).take(1)
    assert answers == [False, False]
    assert third_passing.slept == []


def test_who_gave_up_holds_no_place(turns: Callable[..., Turn]) -> None:
    holder, impatient, next_one = turns(), turns(), turns()
    assert holder.take(0)
    assert not impatient.take(0)
    holder.give_back()
    assert next_one.take(0)


TAKE_AND_STAY = """
import sys
from pathlib import Path
from falsework.runtime.store.turn import Turn
turn = Turn(Path(sys.argv[1]))
print(turn.take(0), flush=True)
sys.stdin.read()
"""


def test_the_turn_of_a_process_that_dies_is_free(path: Path, turns: Callable[..., Turn]) -> None:
    command = [sys.executable, "-c", TAKE_AND_STAY, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        mine = turns()
        assert not mine.take(0)
        assert mine.last_holder() == str(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert mine.take(0)


def test_files_that_cannot_be_made_leave_nothing_open(path: Path) -> None:
    Path(f"{path}-turn").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(IsADirectoryError):
        Turn(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
