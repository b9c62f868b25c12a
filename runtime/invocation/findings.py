"""The findings register: what the sweep could not close and what the instance could not do, kept for good.

A finding of an act is one record for the invocation and the condition. A finding of the instance is one
record for each stretch of runs that saw the condition: it opens at the first, moves on with every further
one, and closes at the first run that does not see it. What cannot be written, the journal's database being
away, is held and written with the next run that can, and so it outlives the run's process where there is a
file to hold it. An outage of the journal tells when a run last had the register before it.
"""

import json
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from falsework.runtime.invocation.held import Held
from falsework.runtime.invocation.log import instant
from falsework.runtime.store import Row, Store, StoreError, Transaction, boundaries

SURFACE = "findings.surface"
BOUNDARIES = boundaries(SURFACE)

READ = """SELECT finding, kind, act_key, invocation_id, detail, run_id, first_seen, last_seen, closed_at
    FROM finding ORDER BY first_seen, id"""
INSERT = """INSERT INTO finding
    (id, finding, kind, act_key, invocation_id, detail, run_id, first_seen, last_seen, closed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"""
MOVE_ON = "UPDATE finding SET last_seen = ? WHERE id = ? AND last_seen < ?"
END = "UPDATE finding SET closed_at = ? WHERE id = ? AND last_seen <= ?"
AROUND = """SELECT id FROM finding WHERE finding = ? AND kind IS NOT DISTINCT FROM ?
    AND first_seen <= ? AND closed_at > ? ORDER BY first_seen LIMIT 1"""
STANDING = """SELECT id, finding, kind FROM finding WHERE last_seen IS NOT NULL AND closed_at IS NULL"""

LAST_BEAT = "SELECT beaten_at FROM heartbeat WHERE instance = ?"
BEAT = """INSERT INTO heartbeat (instance, run_id, beaten_at) VALUES (?, ?, ?)
    ON CONFLICT (instance) DO UPDATE SET run_id = excluded.run_id, beaten_at = excluded.beaten_at
    WHERE heartbeat.beaten_at < excluded.beaten_at"""


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
class Run:
    """What one run saw, at what instant; one that is no whole run ends nothing that it does not see."""

    run_id: str
    now: int
    sightings: tuple[Sighting, ...]
    whole: bool

    def line(self) -> str:
        """The run as it is held."""
        seen = [
            [each.finding.value, each.kind, each.act_key, each.invocation_id, each.detail]
            if isinstance(each, ActFinding)
            else [each.finding.value, each.kind, each.detail]
            for each in self.sightings
        ]
        return json.dumps([self.run_id, self.now, self.whole, seen])


def run_of(line: str) -> Run:
    """The run that is held in the line; `ValueError` where none is."""
    match json.loads(line):
        case [str() as run_id, int() as now, bool() as whole, list() as seen]:
            return Run(run_id, now, tuple(map(_sighting, seen)), whole)
    raise ValueError("it is no run with its sightings")


def _sighting(seen: object) -> Sighting:
    match seen:
        case [str() as what, str() as kind, str() as key, str() as name, str() as detail] if what in NAMES:
            return ActFinding(Condition(what), kind, key, name, detail)
        case [str() as what, str() | None as kind_or_none, str() as detail] if what in NAMES:
            return InstanceFinding(Condition(what), kind_or_none, detail)
    raise ValueError(f"{seen!r} is no sighting")


class Register:
    """The findings of one instance, in the journal's own database."""

    def __init__(
        self,
        store: Store,
        instance: str = "",
        held: Held | None = None,
        kinds: Collection[str] | None = None,
    ) -> None:
        self.store = store
        self.kinds = kinds  # whose outages this instance would see; None for those of any kind
        self.instance = instance
        self.held = held or Held()
        self._lock = threading.Lock()

    def surface(self, run_id: str, now: int, sightings: Iterable[Sighting], *, whole: bool) -> str | None:
        """Every sighting is in the register, behind those that were held; or the answer says where it is."""
        run = Run(run_id, now, tuple(sightings), whole)
        with self._lock:
            try:
                with self.held.taken() as lines, self.store.transaction(SURFACE) as transaction:
                    for each in (*map(run_of, lines), run):
                        _write(transaction, each, self.instance, self.kinds)
            except StoreError:
                return self.held.add(run.line())
            return None

    def findings(self) -> tuple[Finding, ...]:
        """Every record, the oldest first."""
        with self.store.snapshot() as snapshot:
            rows = snapshot.execute(READ)
        return tuple(map(_finding, rows))


def _write(transaction: Transaction, run: Run, instance: str, kinds: Collection[str] | None) -> None:
    """The run's sightings open or move on their records, and what a whole run did not see is closed.

    Runs of several processes come here in any order: none moves a record back, and none ends what was seen
    after it. What a late one saw had ended by the latest whole run, which was here before it.
    """
    beat = _last_beat(transaction, instance)
    standing = {(finding, kind): id_ for id_, finding, kind in transaction.execute(STANDING)}
    for sighting in run.sightings:
        what = sighting.finding.value
        if isinstance(sighting, ActFinding):
            name = f"{what}/{sighting.invocation_id}"
            act = (sighting.kind, sighting.act_key, sighting.invocation_id)
            transaction.execute(INSERT, (name, what, *act, sighting.detail, run.run_id, run.now, None, None))
            continue
        id_ = standing.pop((what, sighting.kind), None) or _around(transaction, sighting, run.now)
        if id_ is not None:
            transaction.execute(MOVE_ON, (run.now, id_, run.now))
            continue
        detail = sighting.detail
        if sighting.finding is Condition.JOURNAL_UNAVAILABLE:
            had = "no run had the register before"
            if beat is not None:
                had = f"a run last had the register at {instant(beat)}"
            detail = f"{detail}; {had}"
        name = f"{what}/{sighting.kind or ''}/{run.run_id}"
        ended = beat if beat is not None and run.now < beat else None
        about = (sighting.kind, None, None, detail)
        transaction.execute(INSERT, (name, what, *about, run.run_id, run.now, run.now, ended))
    if run.whole:
        for (_, kind), id_ in standing.items():
            if kind is None or kinds is None or kind in kinds:
                transaction.execute(END, (run.now, id_, run.now))
        transaction.execute(BEAT, (instance, run.run_id, run.now))


def _last_beat(transaction: Transaction, instance: str) -> int | None:
    """When a run last had the register: an outage began after it, whoever was there to see it begin."""
    match transaction.execute(LAST_BEAT, (instance,)):
        case [(int() as beaten_at,)]:
            return beaten_at
    return None


def _around(transaction: Transaction, sighting: InstanceFinding, now: int) -> str | None:
    """The ended record in whose span the instant lies."""
    rows = transaction.execute(AROUND, (sighting.finding.value, sighting.kind, now, now))
    return str(rows[0][0]) if rows else None


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
