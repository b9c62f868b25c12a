"""The store on one SQLite file: WAL, every commit flushed, and no start on anything less."""

import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import apsw

from falsework.runtime.store.contract import (
    Failpoint,
    Row,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreRefused,
    StoreUnknown,
    Value,
    boundaries,
    pass_through,
)
from falsework.runtime.store.schema import APPLICATION_ID, TABLES, VERSION

SYNCHRONOUS_FULL = 2


def loses_committed_writes(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite has the defect by which a reset of the WAL may drop another's commits."""
    if version[:2] == (3, 50):
        return version < (3, 50, 7)
    if version[:2] == (3, 44):
        return version < (3, 44, 6)
    return (3, 7, 0) <= version < (3, 51, 3)


class SqliteTransaction:
    """The statements of one SQLite transaction, refused once it has ended."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self.ended = False

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The statement has run; its rows."""
        if self.ended:
            raise StoreError(f"{self._name}: the transaction has ended: execute inside its with block")
        try:
            # The tables are STRICT and hold integers and text, so no other kind of value can come back.
            return cast(list[Row], self._connection.execute(statement, values).fetchall())
        except apsw.BusyError as error:
            raise StoreBusy(f"{self._name}: {error}; nothing was written") from error
        except (apsw.Error, OverflowError) as error:
            raise StoreFailed(f"{self._name}: {error}; nothing was written, by: {statement}") from error


class SqliteStore:
    """One SQLite file, shared by any number of processes of one machine."""

    def __init__(
        self, path: Path, *, busy_timeout_ms: int = 5_000, failpoint: Failpoint = pass_through
    ) -> None:
        self.path = path
        self._failpoint = failpoint
        self._in_use = threading.Lock()
        _refuse_defective_library(path)
        if not path.parent.is_dir():
            raise StoreRefused(f"{path}: its directory does not exist: create {path.parent} first")
        try:
            if not path.exists():
                _create(path)
            self._connection = apsw.Connection(str(path.absolute()))
        except (apsw.Error, OSError) as error:
            raise StoreRefused(
                f"{path}: cannot be opened ({error}): give a file in a writable directory"
            ) from error
        try:
            self._start(busy_timeout_ms)
        except apsw.BusyError as error:
            self.close()
            raise StoreBusy(f"{path}: another process kept it while it was being opened ({error})") from error
        except apsw.NotADBError as error:
            self.close()
            raise StoreRefused(
                f"{path}: is not an SQLite database: give another file, or a new one"
            ) from error
        except apsw.Error as error:
            self.close()
            raise StoreRefused(
                f"{path}: cannot be used ({error}): give a sound, writable database"
            ) from error
        except StoreError:
            self.close()
            raise

    def _start(self, busy_timeout_ms: int) -> None:
        """The file is ours, durable and at the known schema; nothing of another's file has been changed."""
        self._connection.set_busy_timeout(busy_timeout_ms)
        if self._connection.readonly("main"):
            raise StoreRefused(f"{self.path}: is read-only: make the file and its directory writable")
        self._refuse_a_strange_file()
        self._ask("PRAGMA journal_mode = WAL")
        mode = self._ask("PRAGMA journal_mode")
        if mode != "wal":
            raise StoreRefused(
                f"{self.path}: its journal mode is {mode} after WAL was asked for: "
                "put it on a local file system that can share memory"
            )
        self._ask("PRAGMA synchronous = FULL")
        level = self._ask("PRAGMA synchronous")
        if not isinstance(level, int) or level < SYNCHRONOUS_FULL:
            raise StoreRefused(
                f"{self.path}: synchronous is {level} after FULL ({SYNCHRONOUS_FULL}) was asked for, "
                "so a power cut could undo a commit: remove what holds it down"
            )
        self._ask("PRAGMA mmap_size = 0")

    def _ask(self, pragma: str) -> object:
        """The pragma's first answer, if it has one."""
        row = self._connection.execute(pragma).fetchone()
        return None if row is None else row[0]

    def _refuse_a_strange_file(self) -> None:
        """The file is ours and of the known version."""
        application = self._ask("PRAGMA application_id")
        if application != APPLICATION_ID:
            raise StoreRefused(
                f"{self.path}: is another application's database (application_id {application}, "
                f"ours is {APPLICATION_ID}): give another file, or a new one"
            )
        version = self._ask("PRAGMA user_version")
        if version != VERSION:
            raise StoreRefused(
                f"{self.path}: has schema version {version}, this release knows {VERSION}: "
                "use the release that wrote it"
            )

    @contextmanager
    def transaction(self, name: str) -> Iterator[SqliteTransaction]:
        """Alone among the file's writers: flushed at the block's end, rolled back if the block raises."""
        begun, written, durable = boundaries(name)
        with self._alone(name):
            self._begin("BEGIN IMMEDIATE", name)
            inside = SqliteTransaction(self._connection, name)
            try:
                self._failpoint(begun)
                yield inside
                self._failpoint(written)
            except BaseException:
                self._roll_back()
                raise
            finally:
                inside.ended = True
            self._commit(name)
            self._failpoint(durable)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteTransaction]:
        """One consistent view of the file, beside any writer; whatever it writes is rolled back."""
        with self._alone("snapshot"):
            self._begin("BEGIN", "snapshot")
            inside = SqliteTransaction(self._connection, "snapshot")
            try:
                yield inside
            finally:
                inside.ended = True
                self._roll_back()

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """No other transaction of this store is under way: two would be one on a single connection."""
        if not self._in_use.acquire(blocking=False):
            raise StoreError(
                f"{name}: this store is in a transaction already: end it first, or open a second store"
            )
        try:
            yield
        finally:
            self._in_use.release()

    def _begin(self, statement: str, name: str) -> None:
        """A transaction is open."""
        try:
            self._connection.execute(statement)
        except apsw.BusyError as error:
            raise StoreBusy(f"{name}: another writer kept {self.path} for the whole busy timeout") from error
        except apsw.ConnectionClosedError as error:
            raise StoreError(f"{name}: {self.path} is closed: open a store again") from error
        except apsw.Error as error:
            raise StoreFailed(f"{name}: {error}; nothing was written") from error

    def _commit(self, name: str) -> None:
        """The transaction is on the disk; where that failed, whether it is cannot be known from here."""
        try:
            self._connection.execute("COMMIT")
        except apsw.Error as error:
            self._roll_back()
            raise StoreUnknown(
                f"{name}: the commit failed ({error}): read again before repeating it"
            ) from error

    def _roll_back(self) -> None:
        """No transaction is open; SQLite ends one by itself at the worst faults."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """The file is no longer open; closing twice is closing once."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _refuse_defective_library(path: Path) -> None:
    """The SQLite library in use keeps what it has committed."""
    text = apsw.sqlite_lib_version()
    major, minor, patch = (int(part) for part in text.split(".")[:3])
    if loses_committed_writes((major, minor, patch)):
        raise StoreRefused(
            f"{path}: SQLite {text} can lose committed writes in WAL mode (3.7.0 to 3.51.2, "
            "but for 3.50.7 and 3.44.6): install apsw 3.51.3 or newer"
        )


def _create(path: Path) -> None:
    """The file is there with all its tables: made aside and put in place whole, so none meets half of it."""
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new").absolute()
    try:
        connection = apsw.Connection(str(aside))
        try:
            for statement in (
                "PRAGMA synchronous = FULL",
                "BEGIN IMMEDIATE",
                *TABLES,
                f"PRAGMA application_id = {APPLICATION_ID}",
                f"PRAGMA user_version = {VERSION}",
                "COMMIT",
                "PRAGMA journal_mode = WAL",  # last: the one file that is put in place then holds it all
            ):
                connection.execute(statement)
        finally:
            connection.close()
        with suppress(FileExistsError):  # another process was first, and its file is as good
            path.hardlink_to(aside)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    finally:
        for rest in ("", "-journal", "-wal", "-shm"):
            aside.with_name(aside.name + rest).unlink(missing_ok=True)
