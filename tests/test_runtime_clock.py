"""The seams of time: what each shipped clock and waiter promises, with no time passing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from falsework.runtime.clock import ClockError, FileClock, SystemClock, SystemWaiter, wall_microseconds
from falsework.runtime.lease import Granted, LeaseHost, Unavailable
from falsework.runtime.store.sqlite import SqliteStore


def test_the_wall_clock_counts_microseconds() -> None:
    # An independent reading, in seconds, before and after.
    before, reading, after = int(time.time()), wall_microseconds(), int(time.time()) + 1
    assert before * 1_000_000 <= reading <= after * 1_000_000


def test_the_system_clock_never_goes_back() -> None:
    source: Iterator[int] = iter([100, 105, 90, 104, 106])
    clock = SystemClock(lambda: next(source))
    assert [clock.now() for _ in range(4)] == [105, 105, 105, 106]


def test_a_file_clock_reads_what_another_moved(tmp_path: Path) -> None:
    path = tmp_path / "clock"
    hand, reader = FileClock(path), FileClock(path)
    for instant in (100, 100, 130):
        hand.move_to(instant)
        assert reader.now() == instant
    assert [found.name for found in tmp_path.iterdir()] == ["clock"]


def test_a_file_clock_that_went_back_is_refused(tmp_path: Path) -> None:
    clock = FileClock(tmp_path / "clock")
    clock.move_to(130)
    clock.now()
    clock.move_to(129)
    with pytest.raises(ClockError, match=r"clock: went back from 130 to 129: move it forward only$"):
        clock.now()


@pytest.mark.parametrize("content", [b"", b"soon", b"1.5", b"\xff"])
def test_a_file_that_holds_no_number_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "clock"
    path.write_bytes(content)
    with pytest.raises(ClockError, match=rf"^{path}: .*write a whole number there"):
        FileClock(path).now()


def test_a_missing_clock_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ClockError, match=r"absent: cannot be read as a clock .*: write a whole number there$"
    ):
        FileClock(tmp_path / "absent").now()


class Passing:
    """Time that passes by sleeping alone; a wait that never ends is found out by its readings."""

    def __init__(self) -> None:
        self.instant = 0
        self.slept: list[float] = []
        self.readings = 0

    def now(self) -> int:
        self.readings += 1
        assert self.readings < 100
        return self.instant

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += round(seconds * 1_000_000)


@pytest.mark.parametrize(
    "instant, slept", [(1_000_000, [0.01]), (10_000, [0.01]), (4_000, [0.004]), (0, []), (-5, [])]
)
def test_a_wait_is_one_pause_or_less(instant: int, slept: list[float]) -> None:
    passing = Passing()
    SystemWaiter(passing, 10_000, passing.sleep).wait_until(instant)
    assert passing.slept == slept


def test_a_pause_must_be_positive() -> None:
    with pytest.raises(ValueError, match=r"^pause is 0: write a positive number of microseconds$"):
        SystemWaiter(Passing(), 0)


def test_a_take_pauses_until_the_terminus_and_not_past_it(tmp_path: Path) -> None:
    passing = Passing()
    with SqliteStore(tmp_path / "lease.db") as store:
        host = LeaseHost(store, passing, SystemWaiter(passing, 10_000, passing.sleep))
        host.take("k", "a", 25_000)
        assert host.take("k", "b", 9_000) == Granted(34_000)
        assert passing.slept == [0.01, 0.01, 0.005]

        def another_is_quicker(seconds: float) -> None:
            passing.sleep(seconds)
            host.try_take("k", "c", 50_000)

        host.waiter = SystemWaiter(passing, 10_000, another_is_quicker)
        assert host.take("k", "d", 9_000) == Unavailable()
        assert passing.now() == 34_000
