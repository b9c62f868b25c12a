"""A store of its own for a driven world: a founded journal that every walk finds as it was founded.

A walk begins with nothing of the walks before it, so what they wrote is deleted. No journal allows that: the
tables' own guards are lifted in the world's store, and nowhere else.
"""

import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from falsework.runtime import trail
from falsework.runtime.store import Row, Store
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import HandClock, in_memory
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward, found

SQLITE, POSTGRES = "driven SQLite", "driven PostgreSQL"
SERVER = "FALSEWORK_POSTGRES"
GUARDS = ("journal_update", "journal_delete")
WRITTEN = ("lease", "placed_late", "destroyed", "checkpoint", "finding", "heartbeat")
STORED = """seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref,
    retention_until, commitment, link, salt, payload"""


class Place:
    """The store on either surface, and what is done to it between two walks."""

    def __init__(self, surface: str, clock: HandClock) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._schema = ""
        self.surface = surface
        self._changed = True  # since the journal was read last
        self._records: tuple[trail.Record, ...] = ()
        self.store = self._opened(clock)
        self._founded = 0

    def _opened(self, clock: HandClock) -> SharedStore:
        """A new store, whose clock stands where the world puts it."""
        if self.surface == SQLITE:
            self._folder = tempfile.TemporaryDirectory(prefix="falsework-driven-", dir=in_memory())
            path = Path(self._folder.name) / "journal.db"
            return SqliteStore(path, clock=clock, failpoint=self._passed)
        from falsework.runtime.store.postgres import PostgresStore  # psycopg is an extra

        self._schema = f"driven_{secrets.token_hex(8)}"
        server = os.environ[SERVER]
        return PostgresStore(server, schema=self._schema, clock=clock, failpoint=self._passed)

    def _passed(self, boundary: str) -> None:
        """Whatever has been made durable may be another record, or another stamp of one."""
        self._changed = self._changed or boundary.endswith(".durable")

    def found(self, actors: Sequence[str], kinds: Sequence[str], period: int) -> None:
        """The journal has its actors and a retention for every kind, and its guards are lifted."""
        found(self.store, "admin", credential_of("admin"))
        steward = Steward(AuditTrail(self.store), "admin", credential_of("admin"))
        for actor in actors:
            _recorded(steward.register(actor, public_key_of(credential_of(actor))))
        for kind in kinds:
            _recorded(steward.declare_retention(f"{kind}.", period))
        on = "" if self.surface == SQLITE else " ON journal"
        with self.store.transaction("world.unguarded") as transaction:
            for guard in GUARDS:
                transaction.execute(f"DROP TRIGGER {guard}{on}")
            match transaction.execute("SELECT MAX(seq) FROM journal"):
                case [(int() as last,)]:
                    self._founded = last

    def begin(self) -> None:
        """The journal is as it was founded, and nobody holds anything."""
        with self.store.transaction("world.begin", flush=False) as transaction:
            transaction.write("DELETE FROM journal WHERE seq > ?", (self._founded,))
            for table in WRITTEN:
                transaction.write(f"DELETE FROM {table}")  # noqa: S608  the names are ours

    def records(self, audit: AuditTrail) -> tuple[trail.Record, ...]:
        """Every record of the walk; read again where a transaction has ended since."""
        if self._changed:
            page = audit.read_range(self._founded)
            assert isinstance(page, trail.Page) and page.complete, page  # noqa: PT018  one claim
            self._records, self._changed = page.records, False
        return self._records

    def taken_out(self, event_ids: Sequence[str]) -> list[Row]:
        """These records have not landed yet."""
        rows: list[Row] = []
        with self.store.transaction("world.taken_out", flush=False) as transaction:
            for name in event_ids:
                rows += transaction.execute(
                    f"SELECT {STORED} FROM journal WHERE event_id = ?",  # noqa: S608  the names are ours
                    (name,),
                )
                transaction.write("DELETE FROM journal WHERE event_id = ?", (name,))
        return rows

    def put_back(self, rows: Sequence[Row]) -> None:
        """These records have landed, where they stood."""
        with self.store.transaction("world.put_back", flush=False) as transaction:
            for row in rows:
                transaction.write(
                    f"INSERT INTO journal ({STORED}) VALUES ({', '.join('?' for _ in row)})",  # noqa: S608
                    row,
                )

    def close(self) -> None:
        """Nothing is left of the store."""
        if self._schema:
            with self.store.transaction("world.end") as transaction:
                transaction.execute(f"DROP SCHEMA {self._schema} CASCADE")
        self.store.close()
        if self._folder is not None:
            self._folder.cleanup()


def restamp(store: Store, event_id: str, instant: int) -> None:
    """The journal stamped the record at another instant."""
    with store.transaction("world.age", flush=False) as transaction:
        transaction.write("UPDATE journal SET recorded_at = ? WHERE event_id = ?", (instant, event_id))


def credential_of(actor: str) -> str:
    """The actor's, the same in every world."""
    return fresh_credential(lambda size: actor.encode().ljust(size, b".")[:size])


def _recorded(answer: trail.RecordAnswer) -> None:
    assert isinstance(answer, trail.Recorded), answer
