"""The lease on a PostgreSQL server, as a driver meets it: the same world, the same host and judge.

The driver's library is imported once there is a server to be asked, for without one it need not be installed.
"""

import os
import secrets
from typing import ClassVar

from falsework.runtime.store import Store
from falsework.runtime.subjects.lease import LeaseSubject

SERVER = "FALSEWORK_POSTGRES"
"""The environment variable that names a server that may be written to."""


class LeaseOnPostgres(LeaseSubject):
    """The host and the judge on a schema of their own."""

    surface: ClassVar[str] = "driven PostgreSQL"
    needs: ClassVar[tuple[str, ...]] = (SERVER,)

    def opened(self) -> Store:
        """A new store, in a schema that nobody else knows."""
        from falsework.runtime.store.postgres import PostgresStore

        self.schema = f"driven_{secrets.token_hex(8)}"
        return PostgresStore(os.environ[SERVER], schema=self.schema)

    def close(self) -> None:
        """The store is closed and its schema is gone."""
        import psycopg
        from psycopg import sql

        self.store.close()
        with psycopg.connect(os.environ[SERVER], autocommit=True) as raw:
            raw.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(self.schema)))
