"""A journal made by hand and audited: every record is signed and sealed, whatever it says."""

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from deployment_world import written
from falsework.runtime.audit.auditor import Asked, audit
from falsework.runtime.audit.corroborated import Probe
from falsework.runtime.audit.found import Audit
from falsework.runtime.invocation.answers import NotCommitted
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import in_memory
from falsework.runtime.trail import Data, Json, RecordAnswer, Recorded, append
from falsework.runtime.trail.canonical import canonical
from falsework.runtime.trail.checkpoint import FileWitness, Notary
from falsework.runtime.trail.identity import signing_key
from falsework.runtime.trail.journal import AuditTrail, Seams
from falsework.runtime.trail.retention import OWN, Placement
from falsework.runtime.trail.steward import Steward
from invocation_world import ACTORS, SECOND, HandClock, credential_of, founded_file

WEEK = 7 * 24 * 3_600 * SECOND
FENCED = ("commit_fence: none", "commit_fence: deadline parameter")
UNATTENDED = (
    "    service_identity:\n      actor: ledger-reconciler\n      credential_file: ledger-reconciler.key\n",
    "    service_identity: none\n",
)
JOURNAL_FENCE = (
    "  journal_fence: none\n",
    "  journal_fence: deadline parameter\n  record_action_bound: 500 ms\n",
)
SWEEP, CALLER, OPERATOR = "ledger-reconciler", "dana", "olga"
REGISTER = """CREATE TABLE IF NOT EXISTS finding
    (id TEXT NOT NULL PRIMARY KEY, finding TEXT NOT NULL, kind TEXT, act_key TEXT, invocation_id TEXT,
    detail TEXT NOT NULL, run_id TEXT NOT NULL, first_seen BIGINT NOT NULL, last_seen BIGINT,
    closed_at BIGINT)"""
FINDING = "INSERT INTO finding VALUES (?, ?, ?, ?, ?, 'by hand', 'run', ?, ?, ?)"


class ByHand:
    """A journal with the walkthrough's deployment, and a store that says what a test wants it to."""

    def __init__(self, *edits: tuple[str, str]) -> None:
        self._left = ExitStack()
        name = tempfile.TemporaryDirectory(prefix="falsework-audit-", dir=in_memory())
        self.folder = Path(self._left.enter_context(name))
        self.deployment = written(self.folder, ("witness: ledger.witness\n", ""), *edits)
        self.path = self.folder / "ledger.db"
        self.path.write_bytes(founded_file(ACTORS, (("ledger", WEEK),)))
        self.clock = HandClock()
        self.store = SqliteStore(self.path, clock=self.clock)
        self._left.callback(self.store.close)
        numbers = iter(range(1, 10_000))
        self.seams = Seams(lambda: f"event-{next(numbers)}", bytes)
        self.trail = AuditTrail(self.store, None, self.seams)
        self.says: object = NotCommitted()
        self.asked: list[tuple[str, Mapping[str, object]]] = []

    # What is written.

    def record(self, word: str, actor: str, data: Mapping[str, Json], kind: str = "ledger") -> str:
        """The record stands; its event."""
        answer: RecordAnswer = self.trail.record_action(f"{kind}.{word}", actor, credential_of(actor), data)
        assert isinstance(answer, Recorded), answer
        return answer.event_id

    def intent(
        self, invocation: str = "inv-1", actor: str = CALLER, key: str = "act", kind: str = "ledger"
    ) -> str:
        """An intent."""
        names: Data = {"invocation_id": invocation, "kind": kind, "act_key": key, "disclosed_at": 7}
        return self.record("intended", actor, names, kind)

    def closes(
        self,
        word: str,
        intent: str,
        actor: Json = CALLER,
        invocation: Json = "inv-1",
        key: Json = "act",
        **data: Json,
    ) -> str:
        """Any record after the intent; what is None is left out."""
        names = {"invocation_id": invocation, "kind": "ledger", "act_key": key, "intent_event_id": intent}
        said = {name: value for name, value in {**names, **data}.items() if value is not None}
        return self.record(word, str(actor), said)

    def plans(self, intent: str, invocation: str = "inv-1", key: str = "act") -> str:
        """The sweep's statement of what it is about to record."""
        return self.closes("recovery_intended", intent, SWEEP, invocation, key, plan="outcome")

    def recovers(
        self, word: str, intent: str, invocation: Json = "inv-1", key: Json = "act", **data: Json
    ) -> str:
        """The sweep's closing."""
        said: dict[str, Json] = {"recovery": True, "acting_actor_ref": CALLER, **data}
        return self.closes(word, intent, SWEEP, invocation, key, **said)

    def resolves(self, word: str, intent: str, supersedes: Json = None, **data: Json) -> str:
        """An operator's closing."""
        said: dict[str, Json] = {
            "recovery": True,
            "acting_actor_ref": CALLER,
            "resolved_by": OPERATOR,
            **data,
        }
        return self.closes(word, intent, OPERATOR, supersedes=supersedes, **said)

    def passes(self, seconds: float) -> None:
        """So much time."""
        self.clock.instant += round(seconds * SECOND)

    def finds(
        self,
        finding: str,
        first: int,
        last: int | None = None,
        closed: int | None = None,
        invocation: str | None = None,
    ) -> None:
        """A finding is on the register; of an act where an invocation is named, else of the instance."""
        kind = None if finding == "journal-unavailable" else "ledger"
        act = None if invocation is None else "act"
        self.run(REGISTER)
        self.run(FINDING, f"{finding}/{first}", finding, kind, act, invocation, first, last, closed)

    def run(self, statement: str, *values: int | str | bytes | None) -> None:
        """Somebody who has the database has run the statement."""
        with self.store.transaction("by hand") as transaction:
            transaction.execute(statement, values)

    def record_own(self, action_ref: str, data: Mapping[str, Json]) -> None:
        """A record of the trail's own, signed by its administrator, whatever it says."""
        key = signing_key(credential_of("admin"))
        assert key is not None
        prepared = self.trail.prepared(action_ref, "admin", key, canonical(data))
        with self.store.transaction("by hand") as transaction:
            head = append.look(transaction, key.key_id, None)
            where = head.sequence_number, head.link
            append.insert(transaction, prepared, where, self.clock.instant, Placement(OWN.prefix, None))

    def unguarded(self) -> None:
        """The tables' own rules are gone."""
        for table, event in (("journal", "update"), ("journal", "delete")):
            self.run(f"DROP TRIGGER {table}_{event}")

    @property
    def steward(self) -> Steward:
        """The administrator at work."""
        return Steward(self.trail, "admin", credential_of("admin"))

    @property
    def witness(self) -> Path:
        """The witness's file."""
        return self.folder / "witness"

    def witnessed(self) -> None:
        """A checkpoint is taken and held."""
        Notary(self.trail, credential_of("admin"), FileWitness(self.witness)).checkpoint()

    # What is found.

    def probe(self, act_key: str, payload: dict[str, object]) -> object:
        """The store's answer."""
        self.asked.append((act_key, payload))
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    def audit(self, probe: Probe | None = None, *, witness: bool = False) -> Audit:
        """The audit, as of the journal's own clock."""
        asked = Asked(self.deployment, None, self.witness if witness else None, self.clock.instant)
        return audit(asked, {"ledger": probe or self.probe})

    def violated(self, *, witness: bool = False) -> list[str]:
        """The checks that are violated, in order."""
        return [check.number for check in self.audit(witness=witness).checks if check.violations]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.close()
