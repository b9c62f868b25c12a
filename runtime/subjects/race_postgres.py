"""The race on a PostgreSQL server, as a driver meets it: the same world, the same runtime.

The driver's library is imported once there is a server to be asked, for without one it need not be installed.
"""

import os
import secrets
from typing import ClassVar

from falsework.runtime.store.shared import SharedStore
from falsework.runtime.subjects.lease_postgres import SERVER
from falsework.runtime.subjects.race import (
    DeathsSubject,
    InvocationSubject,
    LostSubject,
    OperatorSubject,
    RaceSubject,
    TogetherSubject,
)
from falsework.runtime.subjects.race_parts import HandClock
from falsework.runtime.subjects.race_world import World


class OnPostgres(World):
    """A world whose store is a schema of its own."""

    surface: ClassVar[str] = "driven PostgreSQL"
    needs: ClassVar[tuple[str, ...]] = (SERVER,)

    def opened(self, clock: HandClock) -> SharedStore:
        """A new store, in a schema that nobody else knows."""
        from falsework.runtime.store.postgres import PostgresStore

        self.schema = f"driven_{secrets.token_hex(8)}"
        return PostgresStore(os.environ[SERVER], schema=self.schema, clock=clock)

    def clears_away(self) -> None:
        """The schema is gone."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(os.environ[SERVER], autocommit=True) as raw:
            raw.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(self.schema)))


class RaceOnPostgres(OnPostgres, RaceSubject):
    """The invocation and a run of the sweep, and nobody dies."""


class InvocationOnPostgres(OnPostgres, InvocationSubject):
    """The invocation by itself: it dies anywhere, tries again, and meets a second Open."""


class LostOnPostgres(OnPostgres, LostSubject):
    """The invocation by itself: every reply of the journal is lost, and what was written is read back."""


class DeathsOnPostgres(OnPostgres, DeathsSubject):
    """The invocation and a run of the sweep, and one of them dies anywhere."""


class OperatorOnPostgres(OnPostgres, OperatorSubject):
    """The invocation and an operator."""


class TogetherOnPostgres(OnPostgres, TogetherSubject):
    """The invocation, a run of the sweep and an operator: more than can be driven whole."""
