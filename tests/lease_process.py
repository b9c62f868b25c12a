"""A lease host in a process of its own: it obeys lines of text, so a test orders it, holds it or kills it.

Run as a program it is the process; imported it is the test's hand on one.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from falsework.runtime.clock import FileClock
from falsework.runtime.lease import Judge, LeaseHost
from falsework.runtime.store import StoreBusy
from falsework.runtime.store.sqlite import SqliteStore


class LeaseProcess:
    """A running process; whatever was begun in it ends when the block ends."""

    def __init__(self, database: Path, clock: Path, killed_at: str = "") -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(database), str(clock), killed_at],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, verb: str, key: str = "k", holder: str = "", number: int = 0) -> None:
        """The order is given; the process works on it by itself."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([verb, key, holder, number]) + "\n")
        self._process.stdin.flush()

    def said(self) -> str:
        """The next thing the process says, "" once it is dead."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def does(self, verb: str, key: str = "k", holder: str = "", number: int = 0) -> str:
        """What the process answers to the order."""
        self.tell(verb, key, holder, number)
        return self.said()

    def kill(self) -> int:
        """The process is dead, without a chance to say so; the signal that ended it."""
        self._process.kill()
        return -self._process.wait()

    def ended_by(self) -> int:
        """The signal that ended the process."""
        return -self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class AskingWaiter:
    """Says that it waits, and looks again when it is told to."""

    def wait_until(self, instant: int) -> None:
        say(f"waits until {instant}")
        sys.stdin.readline()


def say(text: object) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def obey(host: LeaseHost, judge: Judge, verb: str, key: str, holder: str, number: int) -> object:
    match verb:
        case "take":
            return host.take(key, holder, number)
        case "try_take":
            return host.try_take(key, holder, number)
        case "remaining":
            return host.remaining(key, holder)
        case "release":
            return host.release(key, holder)
        case "admit":
            return judge.admit(key, holder, number)
    raise AssertionError(verb)


def main() -> None:
    database, clock_file, killed_at = sys.argv[1:]

    def failpoint(passed: str) -> None:
        if passed == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    clock = FileClock(Path(clock_file))
    with SqliteStore(Path(database), failpoint=failpoint) as store:
        host, judge = LeaseHost(store, clock, AskingWaiter()), Judge(store, clock)
        say("ready")
        for line in sys.stdin:
            try:
                say(obey(host, judge, *json.loads(line)))
            except StoreBusy as error:
                say(error)


if __name__ == "__main__":
    main()
