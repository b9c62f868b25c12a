"""Disks that lose power: SQLite's writes and flushes recorded, and the files as a cut could have left them.

What was flushed is kept. Of what was not, each write by itself was kept, dropped, or torn at a sector. The
recording needs SQLite's exclusive locking, for a file system written in Python has no shared memory, so one
connection does everything here.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from falsework.runtime.store.sqlite import SqliteConnection, SqliteStore

SECTOR = 512
BELOW = apsw.vfs_names()[0]
"""The file system that writes: the default one, as long as none that records is registered."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a file; `acknowledged` is what had been answered by then."""

    what: str
    name: str
    offset: int = 0
    data: bytes = b""


@dataclass
class Disk:
    """What happened since the recording began, and which write fails, if one does."""

    events: list[Event] = field(default_factory=list)
    writes: int = 0
    fails_from: int | None = None
    failure: type[Exception] = apsw.FullError

    def happened(self, what: str, name: str, offset: int = 0, data: bytes = b"") -> None:
        """One more event; a write or a flush on a failing disk fails instead."""
        self.writes += what in {"write", "flush"}
        if self.fails_from is not None and self.writes >= self.fails_from and what in {"write", "flush"}:
            raise self.failure("the disk is full")
        self.events.append(Event(what, name, offset, data))


class RecordedFile(apsw.VFSFile):
    """A file whose writes are recorded before they are made."""

    def __init__(self, disk: Disk, name: "apsw.URIFilename | str | None", flags: list[int]) -> None:
        self.disk = disk
        self.name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name or "").name
        super().__init__(BELOW, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  the library's name
        self.disk.happened("write", self.name, offset, bytes(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  likewise
        self.disk.happened("flush", self.name)
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802  likewise
        self.disk.happened("truncate", self.name, size)
        super().xTruncate(size)


class RecordedFiles(apsw.VFS):
    """The file system on which all is recorded; the default one while it is registered."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        super().__init__("recorded", BELOW, makedefault=True)

    def xOpen(  # noqa: N802  the library's name
        self, name: "apsw.URIFilename | str | None", flags: list[int]
    ) -> RecordedFile:
        return RecordedFile(self.disk, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802  likewise
        self.disk.happened("delete", Path(name).name)
        super().xDelete(name, syncdir)


class OneConnectionStore(SqliteStore):
    """A store that reads on the connection that it writes on."""

    def _reader(self) -> SqliteConnection:
        return self._writer_connection


@contextmanager
def recorded(path: Path, synchronous: str = "FULL") -> Iterator[tuple[Disk, OneConnectionStore]]:
    """The store on a disk that records; its settings are the product's, but for the control's synchronous."""
    disk = Disk()
    files = RecordedFiles(disk)

    def exclusive(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA wal_autocheckpoint = 20")

    apsw.connection_hooks.append(exclusive)
    try:
        store = OneConnectionStore(path)
        store._writer_connection.ask(f"PRAGMA synchronous = {synchronous}")
        disk.events.clear()
        yield disk, store
        disk.fails_from = None
        store.close()
    finally:
        apsw.connection_hooks.remove(exclusive)
        files.unregister()


def image(before: dict[str, bytes], events: list[Event], draw: random.Random) -> dict[str, bytes]:
    """The files as a cut after these events could have left them."""
    files = {name: bytearray(content) for name, content in before.items()}
    waiting: dict[str, list[Event]] = {}
    for event in events:
        if event.what == "delete":
            files.pop(event.name, None)
            waiting.pop(event.name, None)
        elif event.what == "flush":
            for pending in waiting.pop(event.name, []):
                _apply(files, pending, len(pending.data))
        else:
            waiting.setdefault(event.name, []).append(event)
    for pending_of_one in waiting.values():
        for pending in pending_of_one:
            luck = draw.random()
            if luck < 0.4:
                continue
            whole = len(pending.data)
            kept = whole if luck < 0.8 else draw.randrange(whole // SECTOR + 1) * SECTOR
            _apply(files, pending, kept)
    return {name: bytes(content) for name, content in files.items()}


def _apply(files: dict[str, bytearray], event: Event, kept: int) -> None:
    """So much of the write has reached the file."""
    content = files.setdefault(event.name, bytearray())
    if event.what == "truncate":
        del content[event.offset :]
        return
    if len(content) < event.offset:
        content.extend(bytes(event.offset - len(content)))
    content[event.offset : event.offset + kept] = event.data[:kept]
