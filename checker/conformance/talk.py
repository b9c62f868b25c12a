"""A program that is spoken with by lines: started, read within a time limit, and ended for certain."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from falsework.conformance.messages import LONGEST, printable, shortened
from falsework.conformance.subject import SubjectFault

ENDS = "ended, its input being closed,"
LAST_WORDS = 12
"""So many lines of the program's stderr are shown where it fails."""


class Talk:
    """One running program. Raises SubjectFault for whatever it does but answer, and then it is ended."""

    def __init__(
        self, command: Sequence[str], seconds: float, folder: Path | None = None, record: Path | None = None
    ) -> None:
        self.command, self.seconds, self.record = shlex.join(command), seconds, record
        self.heard = 0  # lines
        self.over = False
        self._held = b""  # what was read and is no whole line yet
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the program
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                cwd=folder,
                bufsize=0,
                start_new_session=True,  # so that what it starts is ended with it
            )
        except (OSError, ValueError) as problem:
            self._stderr.close()
            self.over = True
            raise SubjectFault(f"the program {self.command} cannot be started: {problem}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for end in (self._in, self._out):
            os.set_blocking(end, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._writable.register(self._in, select.POLLOUT)

    @property
    def place(self) -> str:
        """Where the line heard last stands."""
        return f"line {self.heard} of the program's output"

    def say(self, line: str, about: str) -> bytes:
        """The line is written, and this is the one that answers it, without its end."""
        self._note(">", line)
        deadline = time.monotonic() + self.seconds
        self._write(line.encode() + b"\n", deadline, about)
        answer = self._line(deadline, about)
        self._note("<", answer.decode("utf-8", "replace"))
        return answer

    def surplus(self) -> bytes | None:
        """A whole line that nobody has asked for, if one has come with the last answer."""
        line, end, rest = self._held.partition(b"\n")
        if not end:
            return None
        self._held, self.heard = rest, self.heard + 1
        return line

    def leave(self) -> None:
        """Its input is closed, and it has ended by itself and said nothing more."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        deadline = time.monotonic() + self.seconds
        more = True
        while more:
            if self._held.strip():
                self.heard += 1
                raise self.fault(f"{self.place} comes after the answer to close: {shortened(self._held)}")
            more = self._read(deadline, ENDS)
        try:
            code = self._process.wait(max(deadline - time.monotonic(), 0.001))
        except subprocess.TimeoutExpired:
            raise self.fault(self._late(ENDS)) from None
        if code:
            raise self.fault(f"the program {_ended(code)} after it had answered close")
        self.end()

    def fault(self, text: str) -> SubjectFault:
        """The program is ended; the error says what it has said on stderr besides."""
        words = self._last_words()
        self.end()
        return SubjectFault(f"{text}{words}")

    def end(self) -> None:
        """The program runs no more, nor anything that it started."""
        if self.over:
            return
        self.over = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                stream.close()

    def _write(self, data: bytes, deadline: float, about: str) -> None:
        while data:
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                if not self._writable.poll(_left(deadline)):
                    text = f"the program has not read {about} within {self.seconds:g} s"
                    raise self.fault(text) from None
            except BrokenPipeError:
                raise self.fault(self._gone(about)) from None

    def _line(self, deadline: float, about: str) -> bytes:
        while b"\n" not in self._held:
            if len(self._held) > LONGEST:
                self.heard += 1
                raise self.fault(
                    f"{self.place} is longer than {LONGEST:,} bytes: {shortened(self._held[:1000])}\n"
                    "write less: the variables that the model has, and nothing of the implementation's own"
                )
            if not self._read(deadline, f"answered {about}"):
                raise self.fault(self._gone(about))
        line, _, self._held = self._held.partition(b"\n")
        self.heard += 1
        return line.rstrip(b"\r")

    def _read(self, deadline: float, what: str) -> bool:
        """Whether more was read; not so at the end of its output."""
        if not self._readable.poll(_left(deadline)):
            raise self.fault(self._late(what))
        more = os.read(self._out, 65_536)
        self._held += more
        return bool(more)

    def _late(self, what: str) -> str:
        if (code := self._process.poll()) is not None:
            missed = "" if what == ENDS else f" and has not {what} within {self.seconds:g} s"
            return (
                f"the program {_ended(code)}{missed}, but what it has started still holds its stdout open\n"
                "end that before the program ends, or give it a stdout of its own"
            )
        held = (
            f"\nit has written so far, without the end of a line: {shortened(self._held)}"
            if self._held
            else ""
        )
        return (
            f"the program has not {what} within {self.seconds:g} s{held}\n"
            "flush stdout after each line; what takes longer is given longer by a description: seconds = …"
        )

    def _gone(self, about: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        code = self._process.poll()
        how = _ended(code) if code is not None else "has closed its output"
        held = f"\nits last line has no end: {shortened(self._held)}" if self._held else ""
        return f"the program {how} before it answered {about}{held}"

    def _last_words(self) -> str:
        if self._stderr.closed:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(size - 20_000, 0))
        lines = self._stderr.read().decode("utf-8", "replace").splitlines()
        if not lines:
            return "\nit has written nothing on stderr"
        more = f" (the last {LAST_WORDS} of {len(lines)} lines)" if len(lines) > LAST_WORDS else ""
        return "\n".join([f"\nits stderr{more}:", *(f"  {printable(line)}" for line in lines[-LAST_WORDS:])])

    def _note(self, sign: str, line: str) -> None:
        if self.record is not None:
            with self.record.open("a", encoding="utf-8") as file:
                file.write(f"{sign} {line}\n")


def _left(deadline: float) -> float:
    """The milliseconds until then."""
    return max(deadline - time.monotonic(), 0) * 1_000


def _ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"
