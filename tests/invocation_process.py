"""The protocol in real processes: each does one thing, and may be killed or stopped at a boundary.

A process opens the store by itself, reads its time from a file that the test moves, and keeps its acts in a
file of lines, one a commit. Processes are forked from a server that has imported everything already.
"""

import functools
import multiprocessing
import os
import secrets
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from pathlib import Path
from typing import cast

from deployment_world import example
from falsework.runtime import trail
from falsework.runtime.clock import FileClock
from falsework.runtime.invocation.answers import (
    Abandon,
    Alert,
    Committed,
    NotCommitted,
    Outcome,
    ProbeAnswer,
)
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.records import Intent
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store import Store
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward, found

KIND, OUTCOME = "ledger", "ledger.disclosed"
ACTORS = ("dana", "olga", "ledger-reconciler")
CREDENTIALS = {name: fresh_credential(bytes([n]).__mul__) for n, name in enumerate(("admin", *ACTORS), 1)}
SECOND = 1_000_000


@dataclass(frozen=True)
class Place:
    """Where everything is: the store, the clock, the acts, and what each process passed."""

    kind: str
    folder: Path
    schema: str
    journal_fence: bool

    @property
    def acts(self) -> Path:
        return self.folder / "acts"

    @property
    def passed(self) -> Path:
        return self.folder / "passed"

    @property
    def clock(self) -> FileClock:
        return FileClock(self.folder / "clock")

    def store(self, failpoint: Callable[[str], None]) -> Store:
        if self.kind == "sqlite":
            return SqliteStore(self.folder / "journal.db", clock=self.clock, failpoint=failpoint)
        dsn = os.environ["FALSEWORK_POSTGRES"]
        return PostgresStore(dsn, schema=self.schema, clock=self.clock, failpoint=failpoint)

    def deployment(self) -> Deployment:
        """The walkthrough's, with both fences or none, so that the sweep abandons or escalates."""
        base = example()
        if not self.journal_fence:
            return base
        fence = Fence("deadline parameter")
        kind = replace(base.kinds[KIND], commit_fence=fence)
        figures = replace(
            base.figures,
            journal_fence=fence,
            record_action_bound=SECOND // 2,
            clock_offset_allowance=SECOND,
        )
        return replace(base, kinds={KIND: kind}, figures=figures)

    def applied(self) -> list[str]:
        """Every commit there ever was, by its datum."""
        return self.acts.read_text(encoding="ascii").split() if self.acts.exists() else []


@dataclass(frozen=True)
class Task:
    """What a process does, and at which passage of a boundary it is killed; 0 is never."""

    does: str
    act_key: str
    datum: int
    killed_at: int = 0
    stops_before: str = ""


class Boundaries:
    """Counts the boundaries that the process passes, and ends it at one of them."""

    def __init__(self, place: Place, task: Task) -> None:
        self.place = place
        self.task = task
        self.names: list[str] = []
        self.armed = False

    def passes(self, name: str) -> None:
        if not self.armed:
            return
        self.names.append(name)
        if len(self.names) == self.task.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def kept(self) -> None:
        """What was passed is in a file, for the test to count."""
        self.place.passed.write_text("\n".join(self.names), encoding="ascii")


class StoppingTrail(AuditTrail):
    """A trail whose process is stopped, once, as it is about to write a record of one kind."""

    stops_before = ""

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        if action_ref == self.stops_before:
            self.stops_before = ""
            os.kill(os.getpid(), signal.SIGSTOP)
        return super().record_action(action_ref, actor_ref, credential, data, fence=fence)


class Patience:
    """Waiting for a lease is time that passes by the file, for nobody else moves it meanwhile."""

    def __init__(self, clock: FileClock) -> None:
        self.clock = clock

    def wait_until(self, instant: int) -> None:
        self.clock.move_to(max(instant, self.clock.now()))


class Silence:
    """Nobody listens to alerts here."""

    def alert(self, alert: Alert) -> None:
        """It is heard by nobody."""


def run(place: Place, task: Task) -> None:
    """The whole of a process."""
    boundaries = Boundaries(place, task)
    store = place.store(boundaries.passes)
    journal = StoppingTrail(store, failpoint=boundaries.passes)
    journal.stops_before = task.stops_before
    instance = Instance(
        place.deployment(),
        trail=journal,
        store=store,
        leases=LeaseHost(store, store, Patience(place.clock)),
        seam=place.clock,
        ids=lambda: secrets.token_hex(8),
        alerts=Silence(),
        probes={KIND: lambda _, payload: probed(place, payload)},
        credentials={KIND: CREDENTIALS["ledger-reconciler"]},
        in_order=True,
    )
    boundaries.armed = True
    if task.does == "sweep":
        instance.reconcile()
    elif task.does == "resolve":
        resolves(instance, task)
    else:
        discloses(instance, place, task, boundaries)
    boundaries.kept()
    store.close()


def discloses(instance: Instance, place: Place, task: Task, boundaries: Boundaries) -> None:
    """One act, of which the commit is one line at the end of a file."""

    def commit() -> Outcome:
        boundaries.passes("commit.issued")
        line = os.open(place.acts, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(line, f"{task.datum}\n".encode())
        os.close(line)
        boundaries.passes("commit.applied")
        if task.does == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(OUTCOME, {"datum": task.datum})

    data: trail.Data = {"disclosed_at": task.datum}
    with instance.invocation(KIND, task.act_key, "dana", CREDENTIALS["dana"], data) as act:
        act.commit(commit)


def probed(place: Place, payload: Mapping[str, object]) -> ProbeAnswer:
    """The line is there or not."""
    datum = cast(int, payload["disclosed_at"])
    times = place.applied().count(str(datum))
    assert times <= 1, f"datum {datum} was committed {times} times"
    return Committed(OUTCOME, {"datum": datum}) if times else NotCommitted()


def resolves(instance: Instance, task: Task) -> None:
    """The operator abandons the act, whatever stands of it."""
    for intent in _intents(instance, task.act_key):
        instance.resolve(
            KIND,
            task.act_key,
            intent.invocation_id,
            intent.event_id,
            "olga",
            CREDENTIALS["olga"],
            Abandon("the store has been quiet"),
        )


def _intents(instance: Instance, act_key: str) -> list[Intent]:
    found = instance.parties.indexes.of_act((KIND, act_key))
    assert isinstance(found, dict)
    return [intent for invocation in found.values() for intent in invocation.intents]


def founded(place: Place) -> None:
    """The journal is there, and everybody is in it."""
    store = place.store(lambda _: None)
    found(store, "admin", CREDENTIALS["admin"])
    steward = Steward(AuditTrail(store), "admin", CREDENTIALS["admin"])
    for actor in ACTORS:
        steward.register(actor, public_key_of(CREDENTIALS[actor]))
    steward.declare_retention(f"{KIND}.", example().kinds[KIND].retention_period)
    store.close()


SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["invocation_process"])


@functools.cache
def serving() -> None:
    """The server has imported this module: it looks where the environment says, and not where a test does."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def started(place: Place, task: Task) -> multiprocessing.process.BaseProcess:
    """The process is running."""
    serving()
    process = SERVER.Process(target=run, args=(place, task))
    process.start()
    return process


def ended(place: Place, task: Task) -> int:
    """How the process ended: 0, or the negative number of the signal that ended it."""
    process = started(place, task)
    process.join(60)
    assert process.exitcode is not None, f"{task} does not end"
    return process.exitcode
