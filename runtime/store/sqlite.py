"""The store on one SQLite file: WAL, every commit flushed, and no start on anything less."""

import os
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import apsw

from falsework.runtime.clock import Clock, SystemClock
from falsework.runtime.store.contract import (
    Failpoint,
    Question,
    Row,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreRefused,
    StoreUnknown,
    Value,
    pass_through,
)
from falsework.runtime.store.schema import APPLICATION_ID, VERSION, altered, sqlite_statements
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.store.turn import Turn

SYNCHRONOUS_FULL = 2

LEVELS = {True: "PRAGMA synchronous = FULL", False: "PRAGMA synchronous = NORMAL"}
"""What a writer asks for before it begins: whether its commit flushes the log of writes."""


def loses_committed_writes(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite has the defect by which a reset of the WAL may drop another's commits."""
    if version[:2] == (3, 50):
        return version < (3, 50, 7)
    if version[:2] == (3, 44):
        return version < (3, 44, 6)
    return (3, 7, 0) <= version < (3, 51, 3)


class SqliteConnection:
    """One connection to the file, as the store uses it: the writer's takes its turn among processes."""

    def __init__(self, path: Path, clock: Clock, busy_timeout_ms: int) -> None:
        self._path, self._clock = path, clock
        self._turn: Turn | None = None
        self._has_turn = False
        self._inside = False  # a transaction is open, or was when the database ended it
        self._flushes = True  # as the file is opened; nobody else changes it on this connection
        self._busy_ms = busy_timeout_ms
        self.raw = apsw.Connection(str(path.absolute()))
        self.raw.set_busy_timeout(busy_timeout_ms)
        # A plan does not hang on the values: else a statement would be compiled anew at every change of them.
        self.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)

    def begin(self, name: str, seconds: float, first: Question | None, flush: bool) -> list[Row]:
        """A transaction is open: the writer's has the file's lock, a reader's its view at the first look."""
        if self._turn is None:
            self._do("BEGIN", name)
            self._inside = True
            return []
        deadline = time.monotonic() + seconds
        if not self._turn.take(seconds):
            raise StoreBusy(self._kept(name, f"process {self._turn.last_holder()}"))
        self._has_turn = True
        try:
            self._wait_no_longer(deadline)
            if flush is not self._flushes:
                self._do(LEVELS[flush], name)
                self._flushes = flush
            self._do("BEGIN IMMEDIATE", name)
            self._inside = True
            return [] if first is None else self.execute(name, *first)
        except BaseException:
            self.roll_back()
            raise

    def _wait_no_longer(self, deadline: float) -> None:
        """SQLite's own waiting, for a writer that takes no turns, ends with the whole wait."""
        left = max(round((deadline - time.monotonic()) * 1_000), 0)
        if left != self._busy_ms:
            self.raw.set_busy_timeout(left)
            self._busy_ms = left

    def execute(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run; its rows."""
        if self._inside and not self.raw.in_transaction:  # else it would be a transaction of its own
            raise StoreFailed(f"{name}: the database has ended the transaction; nothing was written")
        try:
            # The tables are STRICT and hold integers, texts and bytes, so no other kind of value comes back.
            return cast(list[Row], self.raw.execute(statement, values).fetchall())
        except apsw.BusyError as error:
            raise StoreBusy(f"{name}: {error}; nothing was written") from error
        except (apsw.Error, OverflowError, UnicodeError) as error:
            raise StoreFailed(f"{name}: {error}; nothing was written, by: {statement}") from error

    def write(self, name: str, statement: str, values: Sequence[Value]) -> None:
        """The statement has run."""
        self.execute(name, statement, values)

    def settle(self, name: str) -> None:
        """What was written has run: nothing here is put off."""

    def look(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run by itself; its rows."""
        return self.execute(name, statement, values)

    def mark(
        self, depth: int, name: str = "savepoint", first: Question | None = None
    ) -> list[Row] | StoreError:
        """A savepoint of this depth is set, and the first question asked behind it."""
        self._do(f"SAVEPOINT s{depth}", "savepoint")
        try:
            return [] if first is None else self.execute(name, *first)
        except StoreError as error:
            return error

    def keep(self, depth: int) -> None:
        """The savepoint of this depth is gone."""
        self._do(f"RELEASE s{depth}", "savepoint")

    def undo(self, depth: int) -> None:
        """All since the savepoint is undone, and the savepoint is gone."""
        self._do(f"ROLLBACK TO s{depth}", "savepoint")
        self._do(f"RELEASE s{depth}", "savepoint")

    def commit(self, name: str) -> None:
        """The transaction is on the disk; where that failed, whether it is cannot be known from here."""
        self._inside = False
        try:
            self.raw.execute("COMMIT")
        except apsw.Error as error:
            self.roll_back()
            raise StoreUnknown(
                f"{name}: the commit failed ({error}): read again before repeating it"
            ) from error
        self._end_turn()

    def roll_back(self) -> None:
        """No transaction is open; SQLite ends one by itself at the worst faults."""
        self._inside = False
        try:
            if self.raw.in_transaction:
                self.raw.execute("ROLLBACK")
        finally:
            self._end_turn()

    def is_open(self) -> bool:
        """Whether the transaction is still open."""
        return self.raw.in_transaction

    def now(self) -> int:
        """The clock of the machine, which is the database's."""
        return self._clock.now()

    def close(self) -> None:
        """The connection is closed, be its disk full: what is durable was flushed by its commit."""
        with suppress(apsw.Error):
            self.raw.close()
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def take_turns(self, turn: Turn) -> None:
        """From now on this connection writes, and waits for its turn to."""
        self._turn = turn

    def ask(self, pragma: str) -> object:
        """The pragma's first answer, if it has one."""
        row = self.raw.execute(pragma).fetchone()
        return None if row is None else row[0]

    def _end_turn(self) -> None:
        """The turn is the next process's."""
        if self._has_turn and self._turn is not None:
            self._has_turn = False
            self._turn.give_back()

    def _kept(self, name: str, who: str) -> str:
        """What is said of a file that another kept."""
        return f"{name}: another writer kept {self._path} for the whole busy timeout ({who})"

    def _do(self, statement: str, name: str) -> None:
        """The statement, which begins or ends something, has run."""
        try:
            self.raw.execute(statement)
        except apsw.BusyError as error:
            raise StoreBusy(self._kept(name, "one that takes no turns")) from error
        except apsw.ConnectionClosedError as error:
            raise StoreError(f"{name}: {self._path} is closed: open a store again") from error
        except apsw.Error as error:
            raise StoreFailed(f"{name}: {error}; nothing was written") from error


class SqliteStore(SharedStore):
    """One SQLite file, shared by any number of threads, and of processes of one machine."""

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_ms: int = 5_000,
        failpoint: Failpoint = pass_through,
        clock: Clock | None = None,
    ) -> None:
        self.path = path
        self._clock = clock or SystemClock()
        self._busy_timeout_ms = busy_timeout_ms
        _refuse_defective_library(path)
        if not path.parent.is_dir():
            raise StoreRefused(f"{path}: its directory does not exist: create {path.parent} first")
        writer = self._opened()
        super().__init__(writer, self._reader, failpoint, busy_timeout_ms / 1_000)

    def now(self) -> int:
        """The clock of the machine, which is the database's."""
        self.refuse_the_closed("now")
        return self._clock.now()

    def sweep_destroyed(self) -> bool:
        """What was overwritten is gone from the log of writes too; False while a reader still needs it."""
        sweeper = SqliteConnection(self.path, self._clock, self._busy_timeout_ms)
        try:
            return sweeper.ask("PRAGMA wal_checkpoint(TRUNCATE)") == 0
        except apsw.Error as error:
            raise StoreFailed(f"{self.path}: its log cannot be swept ({error})") from error
        finally:
            sweeper.close()

    def _opened(self) -> SqliteConnection:
        """The connection that writes, to a file that is there, ours, sound and of the newest tables."""
        path = self.path
        try:
            if not path.exists():
                _create(path)
            connection = SqliteConnection(path, self._clock, self._busy_timeout_ms)
        except (apsw.Error, OSError) as error:
            raise StoreRefused(
                f"{path}: cannot be opened ({error}): give a file in a writable directory"
            ) from error
        try:
            _start(connection, path)
            connection.take_turns(Turn(path))
            _migrate(connection, path, self._busy_timeout_ms / 1_000)
            _refuse_altered_tables(connection, path)
        except apsw.BusyError as error:
            connection.close()
            raise StoreBusy(f"{path}: another process kept it while it was being opened ({error})") from error
        except apsw.NotADBError as error:
            connection.close()
            raise StoreRefused(
                f"{path}: is not an SQLite database: give another file, or a new one"
            ) from error
        except (apsw.Error, OSError) as error:
            connection.close()
            raise StoreRefused(
                f"{path}: cannot be used ({error}): give a sound, writable database"
            ) from error
        except StoreError:
            connection.close()
            raise
        self._writer_connection = connection
        return connection

    def _reader(self) -> SqliteConnection:
        """Another connection, on which no statement can write."""
        try:
            reader = SqliteConnection(self.path, self._clock, self._busy_timeout_ms)
            reader.ask("PRAGMA mmap_size = 0")
            reader.ask("PRAGMA query_only = 1")
        except apsw.Error as error:
            raise StoreFailed(f"{self.path}: cannot be read ({error})") from error
        return reader


def _start(connection: SqliteConnection, path: Path) -> None:
    """The file is ours and durable; nothing of another's file has been changed."""
    if connection.raw.readonly("main"):
        raise StoreRefused(f"{path}: is read-only: make the file and its directory writable")
    _refuse_a_strange_file(connection, path)
    found = connection.ask("PRAGMA quick_check(1)")
    if found != "ok":
        what = " ".join(str(found).split())
        raise StoreRefused(
            f"{path}: is damaged ({what}): put a sound copy in its place, and verify its journal "
            "against the witness"
        )
    connection.ask("PRAGMA journal_mode = WAL")
    mode = connection.ask("PRAGMA journal_mode")
    if mode != "wal":
        raise StoreRefused(
            f"{path}: its journal mode is {mode} after WAL was asked for: "
            "put it on a local file system that can share memory"
        )
    connection.ask("PRAGMA synchronous = FULL")
    level = connection.ask("PRAGMA synchronous")
    if not isinstance(level, int) or level < SYNCHRONOUS_FULL:
        raise StoreRefused(
            f"{path}: synchronous is {level} after FULL ({SYNCHRONOUS_FULL}) was asked for, "
            "so a power cut could undo a commit: remove what holds it down"
        )
    connection.ask("PRAGMA mmap_size = 0")
    connection.ask("PRAGMA secure_delete = ON")


def _refuse_a_strange_file(connection: SqliteConnection, path: Path) -> None:
    """The file is ours and of a known version."""
    application = connection.ask("PRAGMA application_id")
    if application != APPLICATION_ID:
        raise StoreRefused(
            f"{path}: is another application's database (application_id {application}, "
            f"ours is {APPLICATION_ID}): give another file, or a new one"
        )
    version = connection.ask("PRAGMA user_version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise StoreRefused(
            f"{path}: has schema version {version}, this release knows {VERSION}: "
            "use the release that wrote it"
        )


def _migrate(connection: SqliteConnection, path: Path, seconds: float) -> None:
    """The tables are the newest ones, made in one transaction of those that were there."""
    if connection.ask("PRAGMA user_version") == VERSION:
        return
    connection.begin(f"{path}: migration", seconds, None, flush=True)
    try:
        version = connection.ask("PRAGMA user_version")  # another process may have been first
        assert isinstance(version, int), "a version is a number, as was looked at before"
        for statement in (*sqlite_statements(version), f"PRAGMA user_version = {VERSION}"):
            connection.raw.execute(statement)
        connection.commit(f"{path}: migration")
    finally:
        connection.roll_back()


def _refuse_altered_tables(connection: SqliteConnection, path: Path) -> None:
    """Every table is there as it was made."""
    columns = connection.raw.execute(
        "SELECT m.name, x.name, x.hidden IN (2, 3) FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS x "
        "WHERE m.type = 'table'"
    ).fetchall()
    indexes = connection.raw.execute("SELECT name FROM sqlite_schema WHERE type = 'index'").fetchall()
    found = altered(
        ((str(table), str(column), bool(reckoned)) for table, column, reckoned in columns),
        (str(name) for (name,) in indexes),
    )
    if found is not None:
        raise StoreRefused(f"{path}: {found}: put a sound copy in its place, and verify its journal")


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
                *sqlite_statements(0),
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
