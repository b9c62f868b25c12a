"""One instance of the protocol on a real SQLite journal: every clock, answer and wait is in a test's hand."""

import functools
import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from deployment_world import example
from falsework.runtime import trail
from falsework.runtime.invocation.answers import Alert, Committed, NotCommitted, Opened, ProbeAnswer
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.section import Standing
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store import Store
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import in_memory
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward, found

SECOND = 1_000_000
START = 1_000_000_000 * SECOND
KIND, KEY = "ledger", "act-1"
ACTORS = ("dana", "erin", "olga", "ledger-reconciler")
DATA: trail.Data = {"disclosed_at": 7}
OUTCOME = "ledger.disclosed"
JOURNAL_FENCE: dict[str, Any] = {
    "journal_fence": Fence("deadline parameter"),
    "record_action_bound": SECOND // 2,
    "clock_offset_allowance": SECOND,  # two of them leave room for the record in 3 s
}


@dataclass
class HandClock:
    """A clock that stands where it was put, apart from another by an offset."""

    instant: int = START
    follows: "HandClock | None" = None
    offset: int = 0

    def now(self) -> int:
        return self.instant if self.follows is None else self.follows.now() + self.offset


@dataclass
class Waiter:
    """Waiting is time that passes; whatever stands in the list happens first, one thing a wait."""

    clock: HandClock
    events: deque[Callable[[], object]] = field(default_factory=deque)
    waits: int = 0

    def wait_until(self, instant: int) -> None:
        self.waits += 1
        if self.events:
            self.events.popleft()()
        self.clock.instant = max(self.clock.instant, instant)


Answer = Callable[[Callable[[], trail.RecordAnswer]], trail.RecordAnswer]
"""A fault of the journal: it may record or not, and answers as it likes."""


def lost(write: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The record lands and the reply does not."""
    answer = write()
    assert isinstance(answer, trail.Recorded)
    return trail.ReplyLost(answer.event_id, "the line went dead")


def lost_before(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """Neither lands."""
    return trail.ReplyLost("0" * 32, "the line went dead")


def failed(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The journal could not append."""
    return trail.RecordingFailure(trail.Step.APPEND, trail.Because.FAILED, "the disk is full")


def unattested(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The journal could not attest."""
    return trail.RecordingFailure(trail.Step.ATTEST, trail.Because.BUSY, "another writes")


def unplaced(write: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The record lands without its place in the retention window."""
    assert isinstance(write(), trail.Recorded)
    return trail.RecordingFailure(trail.Step.PLACE, trail.Because.FAILED, "no policy to be read")


def undeclared(write: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The record lands, and no policy is declared for it."""
    assert isinstance(write(), trail.Recorded)
    return trail.InvalidRequest(trail.Source.RETENTION, "no policy")


def undeclared_and_gone(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The journal says that the retention was at fault, and appended nothing all the same."""
    return trail.InvalidRequest(trail.Source.RETENTION, "no policy")


def unpayable(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The payload cannot be recorded."""
    return trail.InvalidRequest(trail.Source.PAYLOAD, "too large")


def unknown_actor(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """Nobody has registered the actor."""
    return trail.InvalidRequest(trail.Source.IDENTITY, "nobody")


def refused(_: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """The credential does not stand."""
    return trail.InvalidCredential("revoked")


def recorded(write: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
    """No fault: the record lands."""
    return write()


class ScriptedTrail:
    """A trail whose answers a test may replace, one after the other; without a script it is the real one."""

    def __init__(self, inner: AuditTrail, between: Callable[[], object]) -> None:
        self.inner = inner
        self.caps = inner.caps
        self.writes: deque[Answer] = deque()
        self.reads: deque[str] = deque()  # "down" or "up", one a range read
        self.recorded: list[str] = []
        self.fences: list[trail.Fence | None] = []
        self.down = False
        self._between = between

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        self._between()
        self.recorded.append(action_ref)
        self.fences.append(fence)
        answer = self.writes.popleft() if self.writes else recorded
        return answer(lambda: self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence))

    def read_record(self, event_id: str) -> trail.ReadAnswer:
        return trail.Unavailable("down") if self.down else self.inner.read_record(event_id)

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> trail.RangeAnswer:
        if self.down or (self.reads and self.reads.popleft() == "down"):
            return trail.Unavailable("down")
        return self.inner.read_range(after, limit, behind_writers=behind_writers)

    def measure(self, action_ref: str, actor_ref: str, data: trail.Data) -> int:
        return self.inner.measure(action_ref, actor_ref, data)

    def now(self) -> int:
        return self.inner.now()


@dataclass
class Bell:
    """Every alert that was raised."""

    alerts: list[Alert] = field(default_factory=list)

    def alert(self, alert: Alert) -> None:
        self.alerts.append(alert)

    @property
    def rung(self) -> list[str]:
        return [alert.what for alert in self.alerts]


def deployment_with(**changes: Any) -> Deployment:
    """The walkthrough's deployment with some bindings of its kind and some figures replaced."""
    deployment = example()
    kind, figures = deployment.kinds[KIND], deployment.figures
    of_kind = {name: value for name, value in changes.items() if hasattr(kind, name)}
    of_instance = {name: value for name, value in changes.items() if name not in of_kind}
    return replace(
        deployment,
        kinds={KIND: replace(kind, **of_kind)},
        figures=replace(figures, **of_instance),
        lines=deployment.lines,
    )


def credential_of(actor: str) -> str:
    """The actor's, the same in every run."""
    return fresh_credential(lambda size: actor.encode().ljust(size, b".")[:size])


def founded(store: Store, actors: tuple[str, ...], periods: tuple[tuple[str, int], ...]) -> None:
    """The store holds a journal with everybody in it, and each kind's records are kept for its period."""
    found(store, "admin", credential_of("admin"))
    steward = Steward(AuditTrail(store), "admin", credential_of("admin"))
    for actor in actors:
        assert isinstance(steward.register(actor, public_key_of(credential_of(actor))), trail.Recorded)
    for kind, period in periods:
        assert isinstance(steward.declare_retention(f"{kind}.", period), trail.Recorded)


@functools.cache
def founded_file(actors: tuple[str, ...], periods: tuple[tuple[str, int], ...]) -> bytes:
    """Such a store's file, made once: most tests begin with the same one."""
    with tempfile.TemporaryDirectory(prefix="falsework-founded-", dir=in_memory()) as folder:
        path = Path(folder) / "journal.db"
        with SqliteStore(path, clock=HandClock()) as store:
            founded(store, actors, periods)
            assert store.sweep_destroyed()  # all of it is in the one file
        return path.read_bytes()


class World:
    """A journal, its actors, and any number of instances over it: each one a node."""

    def __init__(
        self,
        deployment: Deployment | None = None,
        store: Store | None = None,
        clock: HandClock | None = None,
    ) -> None:
        self.deployment = deployment or example()
        self.clock = clock or HandClock()
        self.waiter = Waiter(self.clock)
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.credentials = {actor: credential_of(actor) for actor in ("admin", *self.actors)}
        periods = tuple((kind.name, kind.retention_period) for kind in self.deployment.kinds.values())
        if store is None:
            self.folder = tempfile.TemporaryDirectory(prefix="falsework-invocation-", dir=in_memory())
            path = Path(self.folder.name) / "journal.db"
            path.write_bytes(founded_file(self.actors, periods))
            store = SqliteStore(path, clock=self.clock)
        else:
            founded(store, self.actors, periods)
        self.store = store
        self.audit = AuditTrail(store)
        self.steward = Steward(self.audit, "admin", self.credentials["admin"])
        self.numbers: dict[str, int] = {}
        self.says: object = NotCommitted()  # the probe's answer, or what it raises
        self.probed: list[str] = []
        self.bell = Bell()
        self.pause: deque[Callable[[], object]] = deque()  # what happens before each write of the journal
        self.trail = ScriptedTrail(self.audit, self._paused)
        try:
            self.instance = self.node()
        except BaseException:
            self.end()  # an instance that may not start leaves nothing behind
            raise

    @property
    def actors(self) -> tuple[str, ...]:
        """Everybody who is registered; the last one is the sweep's identity."""
        return ACTORS

    def _paused(self) -> None:
        if self.pause:
            self.pause.popleft()()

    def node(self, offset: int = 0, deployment: Deployment | None = None, word: str = "inv") -> Instance:
        """Another instance over the same journal, whose own seam reads so much more."""
        chosen = deployment or self.deployment
        return Instance(
            chosen,
            trail=self.trail,
            store=self.store,
            leases=LeaseHost(self.store, self.clock, self.waiter),
            seam=HandClock(follows=self.clock, offset=offset),
            ids=lambda: self.fresh(word),
            alerts=self.bell,
            probes={name: self.probe if kind.probe else None for name, kind in chosen.kinds.items()},
            credentials=dict.fromkeys(chosen.kinds, self.credentials[self.actors[-1]]),
            in_order=True,
        )

    def fresh(self, word: str) -> str:
        self.numbers[word] = self.numbers.get(word, 0) + 1
        return f"{word}-{self.numbers[word]}"

    def probe(self, act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
        self.probed.append(act_key)
        assert payload["invocation_id"]
        if isinstance(self.says, Exception):
            raise self.says
        return cast(ProbeAnswer, self.says)

    def store_forgets_bindings(self) -> None:
        """The kinds of this journal were bound by another deployment's instance, and not by this one's."""
        with self.store.transaction("forget") as transaction:
            transaction.execute("DELETE FROM binding")

    def passes(self, seconds: float) -> None:
        self.clock.instant += round(seconds * SECOND)

    def sleeps_after_the_gate(self, happens: Callable[[], object]) -> None:
        """The next writer passes its gate, and then sleeps while this happens."""
        section = self.instance.parties.section
        asked = section.remaining

        def once(standing: Standing) -> int | None:
            section.remaining = asked  # type: ignore[method-assign]
            left = asked(standing)
            happens()
            return left

        section.remaining = once  # type: ignore[method-assign]

    # The actions with the arguments that most tests want.

    def open(self, actor: str = "dana", key: str = KEY, data: Mapping[str, Any] | None = None) -> Any:
        return self.instance.open(KIND, key, actor, self.credentials[actor], DATA if data is None else data)

    def opened(self, actor: str = "dana", key: str = KEY) -> Opened:
        answer = self.open(actor, key)
        assert isinstance(answer, Opened), answer
        return answer

    def close(self, act: Opened, actor: str = "dana", ref: str = OUTCOME, key: str = KEY) -> Any:
        return self.instance.close(
            KIND,
            key,
            act.invocation_id,
            act.intent_event_id,
            actor,
            self.credentials[actor],
            ref,
            {"disclosure_id": "dsc-1"},
        )

    def refuse(self, act: Opened, code: str = "invalid-request", key: str = KEY) -> Any:
        return self.instance.refuse(
            KIND,
            key,
            act.invocation_id,
            act.intent_event_id,
            "dana",
            self.credentials["dana"],
            "no scope",
            code,
        )

    def resolve(self, act: Opened, disposition: Any, actor: str = "olga", key: str = KEY) -> Any:
        return self.instance.resolve(
            KIND,
            key,
            act.invocation_id,
            act.intent_event_id,
            actor,
            self.credentials[actor],
            disposition,
        )

    def commits(self, number: int = 1) -> None:
        """The store will say that the act committed."""
        self.says = Committed(OUTCOME, {"disclosure_id": f"dsc-{number}"})

    # What the journal holds.

    def journal(self) -> list[trail.Record]:
        page = self.audit.read_range(0)
        assert isinstance(page, trail.Page)
        return [record for record in page.records if not record.action_ref.startswith("trail.")]

    def refs(self) -> list[str]:
        return [record.action_ref.partition(".")[2] for record in self.journal()]

    def last(self) -> dict[str, Any]:
        data = self.journal()[-1].data
        assert data is not None
        return dict(data)

    def held(self, key: str = KEY) -> str | None:
        """Who holds the act's section."""
        row = LeaseHost(self.store, self.clock, self.waiter).recorded(f"{KIND}:{key}")
        return None if row is None or row.expires_at <= self.clock.now() else row.holder

    def end(self) -> None:
        self.store.close()
        if self.folder is not None:
            self.folder.cleanup()
