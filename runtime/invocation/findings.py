"""The findings register: what the sweep could not close and what the instance could not do, kept for good.

A finding of an act is one record for the invocation and the condition. A finding of the instance is one
record for each stretch of runs that saw the condition: it opens at the first, moves on with every further
one, and closes at the first run that does not see it. What cannot be written, the journal's database being
away, is held and written with the next run that can.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from falsework.runtime.store import Row, Store, StoreError, Transaction, boundaries

SURFACE = "findings.surface"
BOUNDARIES = boundaries(SURFACE)

READ = """SELECT finding, kind, act_key, invocation_id, detail, run_id, first_seen, last_seen, closed_at
    FROM finding ORDER BY first_seen, id"""
INSERT = """INSERT INTO finding
    (id, finding, kind, act_key, invocation_id, detail, run_id, first_seen, last_seen)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"""
STANDING = """SELECT id, finding, kind FROM finding WHERE last_seen IS NOT NULL AND closed_at IS NULL"""


class Condition(Enum):
    """The five conditions, and no other."""

    JOURNAL_UNAVAILABLE = "journal-unavailable"
    STORE_UNAVAILABLE = "store-unavailable"
    CLOSURE_AT_RISK = "closure-at-risk"
    BINDING_DUPLICATE = "binding duplicate"
    UNBOUND_KIND = "unbound-kind"


NAMES = tuple(condition.value for condition in Condition)


@dataclass(frozen=True, slots=True)
class ActFinding:
    """One act that a run could not close, or that more than one writer closed."""

    finding: Condition
    kind: str
    act_key: str
    invocation_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class InstanceFinding:
    """A condition of the instance, or of one kind."""

    finding: Condition
    kind: str | None
    detail: str


Sighting = ActFinding | InstanceFinding


@dataclass(frozen=True, slots=True)
class Finding:
    """A record of the register; one of an act carries no last seen and no end."""

    finding: Condition
    kind: str | None
    act_key: str | None
    invocation_id: str | None
    detail: str
    run_id: str
    first_seen: int
    last_seen: int | None
    closed_at: int | None


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run saw, at what instant; one that is no whole run ends nothing that it does not see."""

    run_id: str
    now: int
    sightings: tuple[Sighting, ...]
    whole: bool


class Register:
    """The findings of one instance, in the journal's own database."""

    def __init__(self, store: Store, instance: str = "") -> None:
        self.store = store
        self.instance = instance
        self._held: list[_Run] = []
        self._lock = threading.Lock()

    def surface(self, run_id: str, now: int, sightings: Iterable[Sighting], *, whole: bool) -> bool:
        """Every sighting is in the register, or held for the next call; answers which."""
        with self._lock:
            self._held.append(_Run(run_id, now, tuple(sightings), whole))
            try:
                with self.store.transaction(SURFACE) as transaction:
                    for run in self._held:
                        _write(transaction, run)
            except StoreError:
                return False
            self._held.clear()
            return True

    def findings(self) -> tuple[Finding, ...]:
        """Every record, the oldest first."""
        with self.store.snapshot() as snapshot:
            rows = snapshot.execute(READ)
        return tuple(map(_finding, rows))


def _write(transaction: Transaction, run: _Run) -> None:
    """The run's sightings open or move on their records, and what a whole run did not see is closed."""
    standing = {(finding, kind): id_ for id_, finding, kind in transaction.execute(STANDING)}
    for sighting in run.sightings:
        what = sighting.finding.value
        if isinstance(sighting, ActFinding):
            name = f"{what}/{sighting.invocation_id}"
            act = (sighting.kind, sighting.act_key, sighting.invocation_id)
            transaction.execute(INSERT, (name, what, *act, sighting.detail, run.run_id, run.now, None))
        elif (what, sighting.kind) in standing:
            id_ = standing.pop((what, sighting.kind))
            transaction.execute("UPDATE finding SET last_seen = ? WHERE id = ?", (run.now, id_))
        else:
            name = f"{what}/{sighting.kind or ''}/{run.run_id}"
            about = (sighting.kind, None, None, sighting.detail)
            transaction.execute(INSERT, (name, what, *about, run.run_id, run.now, run.now))
    if run.whole:
        for id_ in standing.values():
            transaction.execute("UPDATE finding SET closed_at = ? WHERE id = ?", (run.now, id_))


def _finding(row: Row) -> Finding:
    """The record of a row."""
    match row:
        case (
            str() as finding,
            str() | None as kind,
            str() | None as act_key,
            str() | None as invocation_id,
            str() as detail,
            str() as run_id,
            int() as first_seen,
            int() | None as last_seen,
            int() | None as closed_at,
        ) if finding in NAMES:
            return Finding(
                Condition(finding),
                kind,
                act_key,
                invocation_id,
                detail,
                run_id,
                first_seen,
                last_seen,
                closed_at,
            )
    raise StoreError(
        f"a finding is stored as {row}: one of {', '.join(NAMES)}, with its texts and instants, was "
        "expected: use the release that wrote it"
    )
