"""Both stores as tests open them: a file in a test's folder, or a schema of the server they are given."""

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import apsw
import psycopg
import pytest

from falsework.runtime.clock import Clock
from falsework.runtime.store import Failpoint, Row, Value, pass_through
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import in_memory

BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]

Run = Callable[[str, Sequence[Value]], list[Row]]


class Place:
    """Where one store is kept: as many as are wanted may be opened on it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.file = folder / "store.db"
        self.schema = f"test_{secrets.token_hex(8)}"
        self._opened: list[SharedStore] = []

    @property
    def dsn(self) -> str:
        return os.environ["FALSEWORK_POSTGRES"]

    def open(
        self, clock: Clock | None = None, failpoint: Failpoint = pass_through, wait_ms: int = 5_000
    ) -> SharedStore:
        """One more store at the place; it is closed with the test."""
        store: SharedStore
        if self.kind == "sqlite":
            store = SqliteStore(self.file, busy_timeout_ms=wait_ms, failpoint=failpoint, clock=clock)
        else:
            bound = max(2 * wait_ms, 500)
            store = PostgresStore(
                self.dsn, schema=self.schema, write_bound_ms=bound, failpoint=failpoint, clock=clock
            )
        self._opened.append(store)
        return store

    @contextmanager
    def bare(self) -> Iterator[Run]:
        """How somebody who has the database runs statements in it, beside every store."""
        if self.kind == "sqlite":
            connection = apsw.Connection(str(self.file))
            try:
                yield lambda statement, values: cast(
                    list[Row], connection.execute(statement, values).fetchall()
                )
            finally:
                connection.close()
            return
        with psycopg.connect(self.dsn, autocommit=True) as raw:
            raw.execute(f'SET search_path = "{self.schema}"'.encode())

            def run(statement: str, values: Sequence[Value]) -> list[Row]:
                cursor = raw.execute(statement.replace("?", "%s").encode(), values or None)
                return cast(list[Row], cursor.fetchall()) if cursor.description else []

            yield run

    def unguarded(self) -> None:
        """The tables' own guards are gone, as somebody who tampers would see to."""
        with self.bare() as run:
            if self.kind == "sqlite":
                for (name,) in run("SELECT name FROM sqlite_schema WHERE type = 'trigger'", ()):
                    run(f"DROP TRIGGER {name!s}", ())
            else:
                run("ALTER TABLE journal DISABLE TRIGGER ALL", ())

    def close(self) -> None:
        """Every store is closed, and nothing of the place is left on a server."""
        for store in self._opened:
            store.close()
        if self.kind == "postgres":
            with psycopg.connect(self.dsn, autocommit=True) as raw:
                raw.execute(f'DROP SCHEMA IF EXISTS "{self.schema}" CASCADE'.encode())


@contextmanager
def placed(kind: str) -> Iterator[Place]:
    """A place, for the length of a test; in memory, where every flush is asked for and costs nothing."""
    with tempfile.TemporaryDirectory(prefix="falsework-store-", dir=in_memory()) as folder:
        place = Place(kind, Path(folder))
        try:
            yield place
        finally:
            place.close()
