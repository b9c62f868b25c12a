"""The store on a PostgreSQL primary: every commit waited for, timeouts on all that could hold its lock.

All tables stand in one schema of the database, and that schema is the store. Its writers exclude each other
by an advisory lock that ends with its transaction; the server gives it in the order in which they asked.
"""

import hashlib
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg.pq.abc import PGresult

from falsework.runtime.clock import Clock
from falsework.runtime.store.contract import (
    Failpoint,
    Question,
    Row,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreRefused,
    StoreUnknown,
    StoreUnreachable,
    Value,
    pass_through,
)
from falsework.runtime.store.pipeline import FAILURES, Pipeline, rows
from falsework.runtime.store.schema import APPLICATION_ID, VERSION, altered, postgres_statements
from falsework.runtime.store.shared import SharedStore

OLDEST_SERVER = 120_000
"""The first release that the tables and the timeouts work with, as servers number themselves."""

NOT_LANDED = ("25P03", "40001", "40P01")
"""The states in which a commit that failed has certainly not landed: ended while idle, and conflicts."""

READER_IDLE_MS = 60_000
"""How long a reader may think between two statements: it keeps nobody waiting, only the vacuum."""

CLOCK = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint"

SETTINGS = """SELECT current_setting('server_version_num')::int, pg_is_in_recovery()::text,
    current_setting('transaction_read_only'), current_setting('fsync'), current_setting('full_page_writes'),
    current_setting('synchronous_commit'), current_setting('server_encoding')"""

DEMANDED = (
    (1, "false", "is a replica", "give the primary: what a replica shows may be old"),
    (2, "off", "is read-only", "give a database and a role that may write"),
    (3, "on", "runs with fsync off, so a power cut could undo a commit", "set fsync = on"),
    (4, "on", "runs with full_page_writes off, so a power cut could tear pages", "set full_page_writes = on"),
    (5, "on", "does not commit synchronously after that was asked for", "remove what holds it down"),
    (6, "UTF8", "does not store texts in UTF-8", "give a database whose encoding is UTF8"),
)


@dataclass
class Server:
    """Which store on which server, and how long anything there may take."""

    dsn: str
    schema: str
    write_bound_ms: int
    clock: Clock | None
    latest: int = 0
    mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """The store as messages name it: no password is in it."""
        known = psycopg.conninfo.conninfo_to_dict(self.dsn)
        shown = {part: str(value).rpartition("@")[2] for part, value in known.items() if value}
        server = ":".join(shown[part] for part in ("host", "port") if part in shown)
        place = "/".join(part for part in (server, shown.get("dbname", "")) if part)
        return f"PostgreSQL {place or 'at its default place'}, schema {self.schema}"

    @property
    def lock(self) -> int:
        """The number of the advisory lock that the store's writers exclude each other by."""
        digest = hashlib.sha256(f"falsework store {self.schema}".encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    def never_back(self, reading: int) -> int:
        """The reading, or the latest one before it if that is later."""
        with self.mutex:
            self.latest = max(self.latest, reading)
            return self.latest


BEGIN: Question = ("BEGIN", ())
VIEW: Question = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ())
LAZY: Question = ("SET LOCAL synchronous_commit = off", ())
READ_CLOCK: Question = (CLOCK, ())
COMMIT: Question = ("COMMIT", ())
ROLLBACK: Question = ("ROLLBACK", ())
WAIT = "SELECT set_config('lock_timeout', ?, true)"


class PostgresConnection:
    """One connection to the server, made again where it was lost between transactions."""

    def __init__(self, server: Server, *, writes: bool) -> None:
        self._server, self._writes = server, writes
        self._lock: Question = (f"SELECT pg_advisory_xact_lock({server.lock})::text", ())
        self._reading: int | None = None  # the clock as it was when the lock was given
        self._inside = False  # a transaction is open, or was when the connection was lost
        self._unsent: list[Question] = []  # what was written, and goes with the next turn
        self._connect()

    def _connect(self) -> None:
        """A connection that is held to every demand."""
        self.raw = connect(self._server, writes=self._writes)
        self._pipeline = Pipeline(self.raw)

    def begin(self, name: str, seconds: float, first: Question | None, flush: bool) -> list[Row]:
        """A transaction is open: the writer's has the store's lock, a reader's one view of a moment."""
        if not self._writes:
            self._begun(name, [VIEW])
            return []
        steps = [BEGIN, self._lock, READ_CLOCK]
        wait_ms = max(round(seconds * 1_000), 1)  # 0 would be without end
        if wait_ms != self._server.write_bound_ms // 2:  # as each connection has been told
            steps.insert(1, (WAIT, (f"{wait_ms}ms",)))
        if not flush:
            steps.insert(1, LAZY)
        clock = len(steps) - 1
        if first is not None:
            steps.append(first)
        answers = self._begun(name, steps)
        self._reading = _instant(answers[clock])
        return [] if first is None else rows(answers[-1])

    def _begun(self, name: str, steps: list[Question]) -> list[PGresult]:
        """The transaction is open, on a fresh connection where this one was lost before."""
        try:
            answers = self._reached(name, steps)
        except psycopg.errors.LockNotAvailable as error:
            self.roll_back()
            raise StoreBusy(f"{name}: another writer kept {self._server.name} for the whole wait") from error
        except FAILURES as error:
            self.roll_back()
            raise StoreFailed(f"{name}: {_said(error)}; nothing was written") from error
        self._inside = True
        return answers

    def execute(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run, behind what was written before it; its rows."""
        answers = self._run(name, [*self._unsent, (statement, values)])
        try:
            return rows(answers[-1])
        except FAILURES as error:
            raise StoreFailed(f"{name}: {_said(error)}; nothing was written, by: {statement}") from error

    def write(self, name: str, statement: str, values: Sequence[Value]) -> None:  # noqa: ARG002  told later
        """The statement goes with the next turn to the server."""
        self._unsent.append((statement, values))

    def settle(self, name: str) -> None:
        """What was written has run."""
        if self._unsent:
            self._run(name, self._unsent)

    def _run(self, name: str, steps: list[Question]) -> list[PGresult]:
        """The statements have run in the transaction that is open."""
        self._unsent = []
        try:
            return self._pipeline.turn(steps)
        except FAILURES as error:
            statement, _ = steps[self._pipeline.refused or 0]
            raise StoreFailed(f"{name}: {_said(error)}; nothing was written, by: {statement}") from error

    def look(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run by itself, on a fresh connection where this one was lost; its rows."""
        try:
            return rows(self._reached(name, [(statement, values)])[0])
        except FAILURES as error:
            raise StoreFailed(f"{name}: {_said(error)}; nothing was written, by: {statement}") from error

    def mark(
        self, depth: int, name: str = "savepoint", first: Question | None = None
    ) -> list[Row] | StoreError:
        """A savepoint of this depth is set, and the clock read in the same turn to the server."""
        steps = [*self._unsent, (f"SAVEPOINT s{depth}", ()), READ_CLOCK]
        self._unsent = []
        clock = len(steps) - 1
        if first is not None:
            steps.append(first)
        try:
            answers = self._pipeline.turn(steps)
            self._reading = _instant(answers[clock])
            return [] if first is None else rows(answers[-1])
        except FAILURES as error:
            said = f"{name}: {_said(error)}; nothing was written"
            if first is not None and self._pipeline.refused == clock + 1:
                return StoreFailed(f"{said}, by: {first[0]}")
            raise StoreFailed(said) from error

    def keep(self, depth: int) -> None:
        """The savepoint may stay: the next one of its depth hides it, and the commit ends them all."""

    def undo(self, depth: int) -> None:
        """All since the savepoint is undone, and the savepoint is gone."""
        self._unsent = []
        self._run("savepoint", [(f"ROLLBACK TO SAVEPOINT s{depth}", ()), (f"RELEASE SAVEPOINT s{depth}", ())])

    def commit(self, name: str) -> None:
        """The server has said that the transaction is durable; where it said nothing, it may be."""
        unsent, self._unsent = self._unsent, []
        self._reading, self._inside = None, False
        if self.raw.closed:
            raise StoreFailed(f"{name}: the connection was lost before the commit; nothing was written")
        try:
            answer = self._pipeline.turn([*unsent, COMMIT])[-1].command_status
        except FAILURES as error:
            self._uncommitted(name, unsent, error)
        if answer != b"COMMIT":
            said = "nothing" if answer is None else answer.decode()
            raise StoreFailed(f"{name}: the server answered {said} to COMMIT; nothing was written")

    def _uncommitted(self, name: str, unsent: list[Question], error: Exception) -> NoReturn:
        """Why there was no commit, or why nobody knows: none where the server refused what went before."""
        refused, lost = self._pipeline.refused, self.raw.closed
        self.roll_back()
        if refused is not None and refused < len(unsent) and not lost:
            raise StoreFailed(
                f"{name}: {_said(error)}; nothing was written, by: {unsent[refused][0]}"
            ) from error
        if isinstance(error, psycopg.Error) and error.sqlstate not in NOT_LANDED:
            raise StoreUnknown(
                f"{name}: the commit failed ({_said(error)}): read again before repeating it"
            ) from error
        raise StoreFailed(f"{name}: {_said(error)}; nothing was written") from error

    def roll_back(self) -> None:
        """No transaction is open; a connection on which that cannot be had is given up."""
        self._reading, self._inside, self._unsent = None, False, []
        if self.raw.closed or self.raw.info.transaction_status == TransactionStatus.IDLE:
            return
        try:
            self._pipeline.turn([ROLLBACK])
        except psycopg.Error:
            self.close()

    def is_open(self) -> bool:
        """Whether the transaction is still open, if only to be undone."""
        return not self.raw.closed and self.raw.info.transaction_status in {
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        }

    def now(self) -> int:
        """The server's clock; the first time in a writer's transaction, as it was when the lock was given."""
        if self._server.clock is not None:
            return self._server.clock.now()
        if self._reading is not None:
            reading, self._reading = self._reading, None
            return self._server.never_back(reading)
        try:
            asked = self._reached("now", [*self._unsent, READ_CLOCK])
        except psycopg.Error as error:
            raise StoreFailed(f"now: {_said(error)}") from error
        finally:
            self._unsent = []
        return self._server.never_back(_instant(asked[-1]))

    def close(self) -> None:
        """The connection is closed."""
        with suppress(psycopg.Error):
            self.raw.close()

    def _reached(self, name: str, steps: Sequence[Question]) -> list[PGresult]:
        """The answers, on a fresh connection where this one was lost while no transaction was open."""
        if self._inside:  # what went on elsewhere would be neither in the transaction nor under its lock
            return self._pipeline.turn(steps)
        try:
            if not self.raw.closed:
                return self._pipeline.turn(steps)
        except psycopg.OperationalError:
            if not (self.raw.closed or self.raw.broken):
                raise
        try:
            self._connect()
        except StoreRefused as error:
            raise StoreFailed(f"{name}: {error}; nothing was written") from error
        return self._pipeline.turn(steps)


Raw = psycopg.Connection[tuple[object, ...]]


class PostgresStore(SharedStore):
    """One schema of a PostgreSQL primary, shared by any number of threads, processes and machines."""

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = "falsework",
        write_bound_ms: int = 3_000,
        failpoint: Failpoint = pass_through,
        clock: Clock | None = None,
        create: bool = True,
    ) -> None:
        if write_bound_ms < 2:
            raise StoreRefused(f"the write bound is {write_bound_ms} ms: write 2 or more")
        if not schema.isidentifier() or not schema.isascii() or schema != schema.lower():
            raise StoreRefused(f"the schema is {schema!r}: write a plain name in small letters")
        try:
            psycopg.conninfo.conninfo_to_dict(dsn)
        except psycopg.Error:  # whose text would repeat the name, with the password in it
            raise StoreRefused(
                "the server's name cannot be read: write postgresql://user@host:5432/database"
            ) from None
        self.server = Server(dsn, schema, write_bound_ms, clock)
        writer = PostgresConnection(self.server, writes=True)
        try:
            _own(writer.raw, self.server, create=create)
        except BaseException:
            writer.close()
            raise
        super().__init__(
            writer,
            lambda: PostgresConnection(self.server, writes=False),
            failpoint,
            write_bound_ms / 2_000,  # as long as for the lock, and well before the server ends who holds it
        )

    def sweep_destroyed(self) -> bool:
        """The rows that were overwritten are given back to their tables, to be written over in time."""
        raw = connect(self.server)
        try:
            raw.execute("SET statement_timeout = 0; SET lock_timeout = 0", prepare=False)
            raw.execute("VACUUM journal", prepare=False)
        except psycopg.Error as error:
            raise StoreFailed(f"vacuum: {_said(error)}") from error
        finally:
            raw.close()
        return True


def connect(server: Server, *, writes: bool = True) -> Raw:
    """A connection to a primary that keeps what it commits, with every timeout set."""
    if not psycopg.Pipeline.is_supported():
        raise StoreRefused(
            f"{server.name}: cannot be used with this libpq, which knows no pipelines: "
            "install psycopg[binary], or a libpq of 14 or newer"
        )
    bound = server.write_bound_ms
    idle = bound if writes else max(bound, READER_IDLE_MS)
    try:
        raw = psycopg.connect(
            server.dsn,
            autocommit=True,
            prepare_threshold=2,
            connect_timeout=max(2, bound // 1_000),
            tcp_user_timeout=bound,
            client_encoding="utf8",
            application_name=f"falsework {server.schema}",
        )
    except psycopg.Error as error:
        raise StoreUnreachable(
            f"{server.name}: cannot be reached ({_said(error)}): give a running server"
        ) from error
    try:
        raw.execute(
            f"SET synchronous_commit = on; SET lock_timeout = {bound // 2}; "
            f"SET statement_timeout = {bound}; SET idle_in_transaction_session_timeout = {idle}; "
            f"SET search_path = \"{server.schema}\"; SET default_transaction_isolation = 'read committed'",
            prepare=False,
        )
        _refuse_what_loses_writes(server, raw.execute(SETTINGS).fetchone())
        if not writes:
            raw.execute("SET default_transaction_read_only = on", prepare=False)
    except BaseException as error:
        raw.close()
        if isinstance(error, psycopg.Error):
            raise StoreRefused(f"{server.name}: cannot be used ({_said(error)})") from error
        raise
    return raw


def _refuse_what_loses_writes(server: Server, settings: tuple[object, ...] | None) -> None:
    """The server keeps what it commits, and is the one that commits."""
    assert settings is not None, "a SELECT without a table has one row"
    version = settings[0]
    if not isinstance(version, int) or version < OLDEST_SERVER:
        raise StoreRefused(
            f"{server.name}: is of version {version}: give a server of {OLDEST_SERVER} or newer"
        )
    for place, demanded, found, remedy in DEMANDED:
        if settings[place] != demanded:
            raise StoreRefused(f"{server.name}: {found}: {remedy}")


def _own(raw: Raw, server: Server, *, create: bool) -> None:
    """The schema is ours and has the newest tables, made in one transaction of whatever was there."""
    try:
        with raw.transaction():
            raw.execute("SELECT pg_advisory_xact_lock(%s)", (server.lock,))
            version = _found_version(raw, server)
            if version == 0 and not create:
                raise StoreRefused(f"{server.name}: is not there: found it first, with falsework found")
            if version == 0:
                raw.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(server.schema)))
                raw.execute("CREATE TABLE store (application BIGINT NOT NULL, version BIGINT NOT NULL)")
                raw.execute("INSERT INTO store VALUES (%s, 0)", (APPLICATION_ID,))
            if version < VERSION:
                raw.execute("SET LOCAL statement_timeout = 0")  # a long journal is written over, once
                for statement in postgres_statements(version):
                    raw.execute(statement, prepare=False)
                raw.execute("UPDATE store SET version = %s", (VERSION,))
            _refuse_altered_tables(raw, server)
    except psycopg.errors.LockNotAvailable as error:
        raise StoreBusy(f"{server.name}: another process kept it while it was being opened") from error
    except psycopg.Error as error:
        raise StoreRefused(
            f"{server.name}: its tables cannot be made or read ({_said(error)}): give a role that may"
        ) from error


def _refuse_altered_tables(raw: Raw, server: Server) -> None:
    """Every table is there as it was made."""
    columns = raw.execute(
        "SELECT table_name::text, column_name::text, is_generated::text = 'ALWAYS' "
        "FROM information_schema.columns WHERE table_schema = %s",
        (server.schema,),
    ).fetchall()
    indexes = raw.execute(
        "SELECT indexname::text FROM pg_indexes WHERE schemaname = %s", (server.schema,)
    ).fetchall()
    found = altered(
        ((str(table), str(column), bool(reckoned)) for table, column, reckoned in columns),
        (str(name) for (name,) in indexes),
    )
    if found is not None:
        raise StoreRefused(f"{server.name}: {found}: restore it, and verify its journal")


def _found_version(raw: Raw, server: Server) -> int:
    """The version of the schema's tables, 0 where there is no such schema."""
    there = raw.execute("SELECT to_regnamespace(%s)::text", (server.schema,)).fetchone()
    if there is None or there[0] is None:
        return 0
    ours = raw.execute("SELECT to_regclass(%s)::text", (f'"{server.schema}".store',)).fetchone()
    rows = raw.execute("SELECT application, version FROM store").fetchall() if ours and ours[0] else []
    match rows:
        case [(int() as application, int() as version)] if application == APPLICATION_ID:
            if not 1 <= version <= VERSION:
                raise StoreRefused(
                    f"{server.name}: has schema version {version}, this release knows {VERSION}: "
                    "use the release that wrote it"
                )
            return version
    raise StoreRefused(f"{server.name}: is another application's schema: give another name, or a new one")


def _instant(answer: PGresult) -> int:
    """The instant of a reading."""
    match rows(answer):
        case [(int() as instant,)]:
            return instant
        case found:
            raise StoreFailed(f"the server's clock reads {found}")


def _said(error: Exception) -> str:
    """What the server or the driver said, on one line."""
    return " ".join(str(error).split())
