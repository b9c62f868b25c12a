"""Lines that wait for a database: in a file beside the deployment, until whoever reaches it takes them along.

The findings' register is in the journal's own database, so that the outage which a finding tells of is what
keeps it out. What the file cannot take either is held in the process alone.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class Held:
    """The lines of one file, for any number of processes of one machine; without a file, of one process."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._here: list[str] = []  # what no file has
        self._lock = threading.Lock()

    def ready(self) -> None:
        """The file is there, if it can be: what cannot begin tells of an outage only where one once began."""
        if self.path is not None:
            with suppress(OSError):
                self.path.touch(mode=0o600)

    def add(self, line: str) -> str:
        """The line is held, after those before it; answers where."""
        if self.path is not None:
            try:
                with self.path.open("ab") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    file.write(line.encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError:
                pass  # told by the answer
            else:
                return str(self.path)
        with self._lock:
            self._here.append(line)
        return "this process alone"

    def lines(self) -> list[str]:
        """What the file holds now; nothing, where there is none or it cannot be read."""
        with self._opened() as file:
            return [] if file is None else _whole_lines(file)

    @contextmanager
    def taken(self) -> Iterator[list[str]]:
        """All lines that are held; if the block does not raise, they are held no more.

        While another process takes those of the file, they are left to it.
        """
        with self._lock:
            here = list(self._here)
        with self._opened() as file:
            yield ([] if file is None else _whole_lines(file)) + here
            if file is not None:
                file.truncate(0)
                file.flush()
                os.fsync(file.fileno())
        with self._lock:
            del self._here[: len(here)]

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        """The file with its lock; None where there is none, it cannot be read, or another has it."""
        file = None if self.path is None else _locked(self.path)
        try:
            yield file
        finally:
            if file is not None:
                file.close()


def _locked(path: Path) -> BinaryIO | None:
    """The file, open and locked; None where that cannot be had now."""
    try:
        file = path.open("r+b")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _whole_lines(file: BinaryIO) -> list[str]:
    """The lines of the file; one that was half written when its process died was never held."""
    content = file.read()
    return content[: content.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines()
