"""A journal opened to be read and nothing else: a snapshot of an SQLite file, of a copy, or of a schema."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, cast
from urllib.parse import quote

import apsw

Value: TypeAlias = int | str | bytes | None
Row: TypeAlias = tuple[Value, ...]

PAGE = 2_000
SCHEMA = "falsework"
"""The PostgreSQL schema that is a store."""

COLUMNS = (
    "seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref, retention_until, "
    "commitment, link, salt, payload"
)
TABLES = {
    "trail": "sole, trail_id",
    "actor_key": "key_id, actor_ref, public_key, administers, valid_until, registered_seq, revoked_seq",
    "policy": "prefix, period, declared_seq",
    "placed_late": "seq, policy_ref, retention_until, placed_seq",
    "destroyed": "seq, purge_seq",
    "checkpoint": "size, seq, frontier, note",
    "finding": "finding, kind, act_key, invocation_id, run_id, first_seen, last_seen, closed_at",
}
"""The tables beside the journal, with the columns that are read of them."""

LATE = ("finding",)
"""Tables that a store has only once an instance has been started on it."""


class NotAudited(Exception):
    """What the auditor was given cannot be audited: the message names the place, and what to give instead."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One row of the journal, as it is stored."""

    seq: int
    event_id: str
    recorded_at: int
    action_ref: str
    actor_ref: str
    key_id: str
    attestation: bytes
    policy_ref: str | None
    retention_until: int | None
    commitment: bytes
    link: bytes
    salt: bytes | None
    payload: bytes | None


class Select(Protocol):
    """How a snapshot answers one statement of SQL."""

    def __call__(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The statement's rows."""
        ...


@dataclass(frozen=True, slots=True)
class Journal:
    """One snapshot of a journal, by whatever it is kept in."""

    place: str
    select: Select
    has: Callable[[str], bool]
    now: int | None
    """What the clock of the journal's database reads; None where there is but a copy of it."""

    def rows(self) -> Iterator[Stored | Row]:
        """Every row in the order of its number: as it is stored, where it has not even a record's form."""
        last: Value = -(2**63)
        while page := self.select(
            f"SELECT {COLUMNS} FROM journal WHERE seq > ? ORDER BY seq LIMIT {PAGE}",  # noqa: S608  all ours
            (last,),
        ):
            for row in page:
                yield _stored(row)
            last = page[-1][0]

    def table(self, name: str) -> list[Row]:
        """The columns that are known of one of the tables beside the journal."""
        if name in LATE and not self.has(name):
            return []
        return self.select(f"SELECT {TABLES[name]} FROM {name}")  # noqa: S608  all ours


def _stored(row: Row) -> Stored | Row:
    match row:
        case (
            int() as seq,
            str() as event_id,
            int() as recorded_at,
            str() as action_ref,
            str() as actor_ref,
            str() as key_id,
            bytes() as attestation,
            str() | None as policy_ref,
            int() | None as until,
            bytes() as commitment,
            bytes() as link,
            bytes() | None as salt,
            bytes() | None as payload,
        ):
            names = (event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref, until)
            return Stored(seq, *names, commitment, link, salt, payload)
    return row


@contextmanager
def opened_file(path: Path, now: int | None) -> Iterator[Journal]:
    """The journal of an SQLite file; of a copy, which has no clock, nothing is written even beside it."""
    if not path.is_file():
        raise NotAudited(f"{path}: is no file: give the journal's database, or a copy of it")
    beside = [path.with_name(path.name + ending) for ending in ("-wal", "-shm")]
    alone = "" if now is not None or any(other.exists() for other in beside) else "&immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = None
    try:
        connection = apsw.Connection(f"file:{quote(str(path.absolute()))}?mode=ro{alone}", flags=flags)
        connection.set_busy_timeout(5_000)
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        select = _selecting(connection, path)
        names = {str(name) for (name,) in select("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        _refuse_strangers(str(path), names)
        yield Journal(str(path), select, names.__contains__, now)
    except apsw.Error as problem:
        raise NotAudited(
            f"{path}: cannot be read ({problem}): give a sound database, together with its -wal file if it "
            "has one, in a folder that may be written where it has"
        ) from problem
    finally:
        if connection is not None:
            connection.close()


def _selecting(connection: apsw.Connection, path: Path) -> Select:
    def select(statement: str, values: Sequence[Value] = ()) -> list[Row]:
        try:
            return cast(list[Row], connection.execute(statement, values).fetchall())
        except (apsw.Error, UnicodeDecodeError) as problem:
            raise NotAudited(f"{path}: cannot be read ({problem}): give a sound copy of it") from problem

    return select


@contextmanager
def opened_server(url: str, place: str) -> Iterator[Journal]:
    """The journal of a PostgreSQL schema, in one snapshot that cannot write."""
    try:
        import psycopg
    except ImportError as problem:
        raise NotAudited(f"{place}: needs psycopg ({problem}): install falsework[postgres]") from problem

    connection = None
    try:
        connection = psycopg.connect(url, autocommit=True)
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(f"SET LOCAL search_path TO {SCHEMA}")

        def select(statement: str, values: Sequence[Value] = ()) -> list[Row]:
            cursor = connection.execute(statement.replace("?", "%s").encode(), values)
            return cast(list[Row], cursor.fetchall())

        found = select(
            "SELECT table_name::text FROM information_schema.tables WHERE table_schema = ?", (SCHEMA,)
        )
        names = {str(name) for (name,) in found}
        _refuse_strangers(place, names)
        ((now,),) = select("SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint")
        yield Journal(place, select, names.__contains__, cast(int, now))
    except psycopg.Error as problem:
        said = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise NotAudited(
            f"{place}: cannot be read ({said}): give a server that lets this user read"
        ) from problem
    finally:
        if connection is not None:
            connection.close()


def _refuse_strangers(place: str, names: set[str]) -> None:
    missing = sorted({"journal", *TABLES} - names - set(LATE))
    if missing:
        raise NotAudited(
            f"{place}: holds no journal of this release (it lacks {', '.join(missing)}): give the database "
            "that the deployment names, or a copy of it"
        )


def read_witness(path: Path) -> list[tuple[int, str]]:
    """The notes of a witness's file, each with its line; one that was only begun was never acknowledged."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise NotAudited(f"{path}: cannot be read as a witness's file ({problem})") from problem
    notes: list[tuple[int, str]] = []
    for number, line in enumerate(content[: content.rfind("\n") + 1].splitlines(), start=1):
        try:
            note: object = json.loads(line)
        except ValueError as problem:
            raise NotAudited(f"{path}:{number}: is no line of a witness's file ({problem})") from problem
        if not isinstance(note, str):
            raise NotAudited(
                f"{path}:{number}: holds {note!r} where a note was expected: give the witness's file"
            )
        notes.append((number, note))
    return notes
