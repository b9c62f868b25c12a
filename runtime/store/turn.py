"""Whose turn it is to write, among the processes of one machine: in their order, and never starved.

SQLite's own waiting is a sleep between tries, and a process that writes without pause leaves the others no
moment to try in. Here a writer first locks the place of the next one, then the turn itself, and then gives
the place up: whoever has just had the turn stands behind the next one. The system drops both locks of a
process that dies.
"""

import os
import time
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path

AT_ONCE = LOCK_EX | LOCK_NB

SHORTEST, LONGEST = 0.000_05, 0.001
"""The pauses between two looks at a lock that another has, in seconds: longer and longer."""


class Turn:
    """The turn to write one database file, held by at most one of all that opened it."""

    def __init__(
        self,
        database: Path,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep, self._monotonic = sleep, monotonic
        self._next = os.open(f"{database}-next", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            self._turn = os.open(f"{database}-turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            os.close(self._next)
            raise
        self._mine = f"{os.getpid():<20}".encode()

    def take(self, seconds: float) -> bool:
        """The turn is the caller's, or others kept it for the whole of the time."""
        deadline = self._monotonic() + seconds
        if not (_free(self._next) or self._lock(self._next, deadline)):
            return False
        try:
            if not (_free(self._turn) or self._lock(self._turn, deadline)):
                return False
        finally:
            flock(self._next, LOCK_UN)
        os.pwrite(self._turn, self._mine, 0)
        return True

    def give_back(self) -> None:
        """The turn is the next one's."""
        flock(self._turn, LOCK_UN)

    def last_holder(self) -> str:
        """The number of the process that had the turn last, and has it where it is taken."""
        return os.pread(self._turn, 20, 0).decode("ascii", "replace").strip() or "unknown"

    def close(self) -> None:
        """Neither lock is held, nor can be."""
        os.close(self._turn)
        os.close(self._next)

    def _lock(self, file: int, deadline: float) -> bool:
        """The lock is held, tried for until the deadline and at least once."""
        pause = SHORTEST
        while not _free(file):
            if self._monotonic() >= deadline:
                return False
            self._sleep(pause)
            pause = min(2 * pause, LONGEST)
        return True


def _free(file: int) -> bool:
    """The lock was nobody's, and is held now."""
    try:
        flock(file, AT_ONCE)
    except BlockingIOError:
        return False
    return True
