"""Where the acts of a test are journalled and executed: its files, its deployment, and a process's node."""

import fcntl
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from deployment_world import example
from falsework.runtime import trail
from falsework.runtime.clock import FileClock
from falsework.runtime.invocation.answers import Alert
from falsework.runtime.invocation.figures import Deployment, Fence, Kind, Pairing, Partition
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store import Failpoint, Store, pass_through
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward, found
from reliability.account import SWEEPER, Line
from reliability.deeds import LATE, Deeds

SECOND = 1_000_000
START = 1_000_000_000 * SECOND
REFUSED = "no-funds"
FENCED, BARE = "pay", "wire"
"""A kind whose store refuses what comes past its deadline, and one whose store cannot."""

ACTORS = ("dana", "erin", "olga", SWEEPER, "steward")
CREDENTIALS = {name: fresh_credential(bytes([number]).__mul__) for number, name in enumerate(ACTORS, 1)}


def deployment(*, journal_fence: bool) -> Deployment:
    """The walkthrough's figures for two kinds, with the journal's fence or without."""
    return _deployment(journal_fence)


@cache
def _deployment(journal_fence: bool) -> Deployment:
    walkthrough = example()
    kinds = {name: _kind(walkthrough.kinds["ledger"], name) for name in (FENCED, BARE)}
    lines = dict(walkthrough.lines)
    for place, line in walkthrough.lines.items():
        scope, _, figure = place.partition(".")
        if scope == "ledger":
            lines |= {f"{name}.{figure}": line for name in kinds}
    fence = Fence("in the journal's own transaction") if journal_fence else None
    figures = replace(
        walkthrough.figures,
        journal_fence=fence,
        record_action_bound=SECOND,
        journal_write_bound=6 * SECOND,
        closure_latency=16 * SECOND,
    )
    return replace(walkthrough, kinds=kinds, figures=figures, lines=lines)


def _kind(ledger: Kind, name: str) -> Kind:
    assert ledger.service_identity is not None
    return replace(
        ledger,
        name=name,
        partition=Partition(frozenset({REFUSED, LATE}), frozenset()),
        commit_fence=Fence("deadline") if name == FENCED else None,
        pairing=Pairing("nonce", "counter", None),
        outcomes=("paid",),
        service_identity=replace(ledger.service_identity, actor=SWEEPER),
    )


@dataclass(frozen=True, slots=True)
class Workplace:
    """One journal, one clock and one file of deeds; without a PostgreSQL server it is on SQLite."""

    folder: str
    server: str = ""
    schema: str = ""
    journal_fence: bool = True

    @property
    def clock(self) -> FileClock:
        return FileClock(Path(self.folder) / "clock")

    @property
    def deeds_path(self) -> Path:
        return Path(self.folder) / "deeds"

    def deeds(self, failpoint: Failpoint = pass_through) -> Deeds:
        return Deeds(self.deeds_path, self.clock, failpoint)

    def ordered(self, verb: str, **more: object) -> dict[str, object]:
        """An order for a process at this place."""
        return {"verb": verb, "place": asdict(self), **more}

    @contextmanager
    def store(self, failpoint: Failpoint = pass_through) -> Iterator[PostgresStore | SqliteStore]:
        """The journal's store, open for the block."""
        opened: PostgresStore | SqliteStore
        if self.server:
            opened = PostgresStore(self.server, schema=self.schema, clock=self.clock, failpoint=failpoint)
        else:
            path = Path(self.folder) / "journal.db"
            opened = SqliteStore(path, clock=self.clock, failpoint=failpoint)
        with opened:
            yield opened

    def passes(self, seconds: float) -> None:
        """So much time has gone by for every process."""
        advanced(self.clock, self.clock.now() + round(seconds * SECOND))

    def found(self) -> None:
        """The journal is founded, with its actors and its retention, and the clock runs."""
        self.clock.move_to(START)
        self.deeds_path.touch()
        with self.store() as store:
            found(store, "steward", CREDENTIALS["steward"])
            peopled(store)

    def lines(self) -> list[Line]:
        """The journal's records of acts, in order."""
        with self.store() as store:
            return lines_of(AuditTrail(store))


def peopled(store: Store) -> None:
    """Every actor is registered, and every kind is kept for a week."""
    steward = Steward(AuditTrail(store), "steward", CREDENTIALS["steward"])
    for actor in ACTORS[:-1]:
        assert isinstance(steward.register(actor, public_key_of(CREDENTIALS[actor])), trail.Recorded)
    for name in (FENCED, BARE):
        period = deployment(journal_fence=True).kinds[name].retention_period
        assert isinstance(steward.declare_retention(f"{name}.", period), trail.Recorded)


def lines_of(journal: AuditTrail) -> list[Line]:
    """The trail's records of acts; the trail's own are left out."""
    lines: list[Line] = []
    after, complete = 0, False
    while not complete:
        page = journal.read_range(after)
        assert isinstance(page, trail.Page), page
        for record in page.records:
            if not record.action_ref.startswith("trail."):
                assert record.data is not None
                stamps = (record.sequence_number, record.event_id, record.recorded_at)
                lines.append(Line(*stamps, record.action_ref, record.actor_ref, dict(record.data)))
        after, complete = page.cursor, page.complete
    return lines


def advanced(clock: FileClock, instant: int) -> None:
    """The clock shows the instant, or a later one that another process has moved it to."""
    with clock.path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if FileClock(clock.path).now() < instant:
            clock.move_to(instant)


class MovingWaiter:
    """Waiting is time that passes, for every process of the place."""

    def __init__(self, clock: FileClock) -> None:
        self.clock = clock

    def wait_until(self, instant: int) -> None:
        advanced(self.clock, instant)


class Bell:
    """Alerts are heard by nobody here: what must hold is judged from the records."""

    def __init__(self) -> None:
        self.rung: list[str] = []

    def alert(self, alert: Alert) -> None:
        self.rung.append(alert.what)


def node(
    place: Workplace,
    store: Store,
    name: str,
    failpoint: Failpoint = pass_through,
    seen_by: Callable[[trail.Trail], trail.Trail] = lambda inner: inner,
) -> Instance:
    """An instance of the place on an open store; `name` begins every id that it mints."""
    numbers = itertools.count(1)
    clock = place.clock
    chosen = deployment(journal_fence=place.journal_fence)
    deeds = place.deeds()
    return Instance(
        chosen,
        trail=seen_by(AuditTrail(store, failpoint=failpoint)),
        store=store,
        leases=LeaseHost(store, clock, MovingWaiter(clock)),
        seam=clock,
        ids=lambda: f"{name}.{next(numbers)}",
        alerts=Bell(),
        probes=dict.fromkeys(chosen.kinds, deeds.probe),
        credentials=dict.fromkeys(chosen.kinds, CREDENTIALS[SWEEPER]),
        in_order=True,
    )
