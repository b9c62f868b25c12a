"""The seams of time: where an instant is read, and how one is awaited.

An instant and a duration are integers. The system's clock counts microseconds; a test may count anything it
likes, as long as every party of one host counts the same.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class ClockError(Exception):
    """A clock cannot be read, or has gone back."""


class Clock(Protocol):
    """A reading never decreases: what has ended by this clock stays ended by it."""

    def now(self) -> int:
        """The present instant."""
        ...


class Waiter(Protocol):
    """How a caller waits: until an instant, or less long; whoever waits looks again afterwards."""

    def wait_until(self, instant: int) -> None:
        """The instant has come by the waiter's clock, or this is a good moment to look early."""
        ...


def wall_microseconds() -> int:
    """Microseconds since 1970 by this machine's wall clock."""
    return time.time_ns() // 1_000


class SystemClock:
    """This machine's wall clock in microseconds, held still where the machine sets it back.

    The wall clock and not a monotonic one, because a terminus is stored: it must mean the same to every
    process and after a restart, where a monotonic clock begins anew.
    """

    def __init__(self, source: Callable[[], int] = wall_microseconds) -> None:
        self._source = source
        self._latest = source()

    def now(self) -> int:
        """The wall clock's instant, or the latest one answered if that is later."""
        reading = self._source()
        self._latest = max(self._latest, reading)
        return self._latest


class FileClock:
    """A clock whose reading is the whole number in a file, so that one process moves another's time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._latest: int | None = None

    def now(self) -> int:
        """The number in the file."""
        try:
            text = self.path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise ClockError(
                f"{self.path}: cannot be read as a clock ({error}): write a whole number there"
            ) from None
        try:
            reading = int(text)
        except ValueError:
            raise ClockError(
                f"{self.path}: holds {text!r}: write a whole number there, such as 100"
            ) from None
        if self._latest is not None and reading < self._latest:
            raise ClockError(f"{self.path}: went back from {self._latest} to {reading}: move it forward only")
        self._latest = reading
        return reading

    def move_to(self, instant: int) -> None:
        """Every reading from now on is the instant; no reader ever sees half a number."""
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        fresh.write_text(str(instant), encoding="ascii")
        fresh.replace(self.path)


class SystemWaiter:
    """Waits in short pauses by a clock in microseconds, so that a release before the instant is noticed."""

    def __init__(
        self, clock: Clock, pause: int = 10_000, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if pause < 1:
            raise ValueError(f"pause is {pause}: write a positive number of microseconds")
        self._clock = clock
        self._pause = pause
        self._sleep = sleep

    def wait_until(self, instant: int) -> None:
        """One pause has passed, or less where the instant comes first."""
        left = instant - self._clock.now()
        if left > 0:
            self._sleep(min(left, self._pause) / 1_000_000)
