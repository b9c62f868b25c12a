"""A process that has everything imported and nothing opened, and from which each process of a test is forked.

Its program is ward.py; here is how it forks, and the test's hand on it. Every child is a process of its own
with its own connections: it may kill itself or stop itself, and the nursery tells which it did.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

TESTS = Path(__file__).resolve().parent.parent
Order = Mapping[str, Any]
Does = Callable[[Order], object]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended, or that it stopped: the signal, and what it said where it came to its end."""

    pid: int
    signal: int
    stopped: bool
    said: Any


class Nursery:
    """A running nursery; no child outlives its block."""

    def __init__(self) -> None:
        self._children: set[int] = set()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "reliability.ward"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), *_given()))},
        )

    def start(self, order: Order) -> int:
        """A child works on the order by itself; its number."""
        pid = int(self._asked(["start", order]))
        self._children.add(pid)
        return pid

    def wait(self, pid: int) -> Ending:
        """The child has ended, or stopped."""
        ending = Ending(pid, *self._asked(["wait", pid]))
        if not ending.stopped:
            self._children.discard(pid)
        return ending

    def run(self, order: Order) -> Ending:
        """The order is worked on until its child has ended, or stopped."""
        return self.wait(self.start(order))

    def wake(self, pid: int) -> Ending:
        """A child that had stopped went on, and has ended or stopped again."""
        os.kill(pid, signal.SIGCONT)
        return self.wait(pid)

    def _asked(self, request: list[Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline()
        assert said, "the nursery is gone"
        return json.loads(said)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()


def _given() -> list[str]:
    """Where whoever runs the tests has modules looked for."""
    return [given] if (given := os.environ.get("PYTHONPATH")) else []


def keep(does: Does) -> None:
    """Every request of the standard input is done: a child for each order, and how each ended."""
    hearing: dict[int, int] = {}
    for line in sys.stdin:
        verb, what = json.loads(line)
        answer = _forked(does, what, hearing) if verb == "start" else _ended(what, hearing)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _forked(does: Does, order: Order, hearing: dict[int, int]) -> int:
    """The number of a child that does the order, and whose words can be heard."""
    hear, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(hear)
        code = 1
        try:
            os.write(say, json.dumps(does(order)).encode())
            code = 0
        except BaseException:  # noqa: BLE001  the child ends here, whatever ended it
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(say)
    hearing[pid] = hear
    return pid


def _ended(pid: int, hearing: dict[int, int]) -> tuple[int, bool, Any]:
    """How the child ended, or that it stopped; a failure of its own is no ending that a test may want."""
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return os.WSTOPSIG(status), True, None
    with os.fdopen(hearing.pop(pid), "rb") as heard:
        said = heard.read()
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status), False, None
    return 0, False, json.loads(said) if said else "failed: its traceback is on the standard error"
