"""A whole deployment in one process: callers, two sweeps, an operator, a journal and a store that misbehave.

The journal, the leases and the protocol are the real ones, on a real SQLite file. What is simulated is the
world: who runs when, what dies or sleeps, which reply is lost, what is away, by how much clocks differ.
"""

import functools
import itertools
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from deployment_world import example
from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    Alert,
    Committed,
    NotCommitted,
    Outcome,
    ProbeAnswer,
    State,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.invocation.instance import Instance, StartRefused
from falsework.runtime.invocation.standing import state
from falsework.runtime.invocation.use import ActRefused, ConstituentRefused, InvocationFailed
from falsework.runtime.lease import Granted, LeaseHost, NotHeld, Reentered, Released, Unavailable
from falsework.runtime.store import StoreError, StoreFailed, StoreUnknown
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail, Seams
from falsework.runtime.trail.steward import Steward, found
from scheduler import SECOND, Apart, Crash, Odds, Scheduler

KIND, OUTCOME = "ledger", "ledger.disclosed"
ACTORS = ("dana", "erin", "olga", "ledger-reconciler")
CREDENTIALS = {name: fresh_credential(bytes([n]).__mul__) for n, name in enumerate(("admin", *ACTORS), 1)}
ALLOWANCE = SECOND  # two of them leave room for a fenced record in the write's bound of 3 s


@dataclass(frozen=True)
class Plan:
    """What is declared, and who is there."""

    commit_fence: bool
    journal_fence: bool
    repeatable: bool
    keys: int
    callers: int

    def deployment(self) -> Deployment:
        base = example()
        fence = Fence("deadline parameter")
        kind = replace(
            base.kinds[KIND],
            commit_fence=fence if self.commit_fence else None,
            repeatable=self.repeatable,
        )
        figures = replace(base.figures, clock_offset_allowance=ALLOWANCE)
        if self.journal_fence:
            figures = replace(figures, journal_fence=fence, record_action_bound=SECOND // 2)
        return replace(base, kinds={KIND: kind}, figures=figures)


def plan_of(seed: int) -> Plan:
    """The seed's low bits choose what is declared, so that every combination has its share."""
    return Plan(
        commit_fence=bool(seed & 1),
        journal_fence=bool(seed & 2),
        repeatable=bool(seed & 4),
        keys=1 + (seed >> 3) % 2,
        callers=2 + (seed >> 4) % 3,
    )


def template(folder: Path) -> Path:
    """A journal that is founded, to be copied for each run."""
    path = folder / "template.db"
    clock = Scheduler(0, Odds()).time
    store = SqliteStore(path, clock=clock)
    found(store, "admin", CREDENTIALS["admin"], counted())
    steward = Steward(AuditTrail(store, None, counted(100)), "admin", CREDENTIALS["admin"])
    for actor in ACTORS:
        steward.register(actor, public_key_of(CREDENTIALS[actor]))
    steward.declare_retention(f"{KIND}.", example().kinds[KIND].retention_period)
    store.sweep_destroyed()
    store.close()
    return path


def counted(first: int = 1_000) -> Seams:
    """Event ids and salts that are the same in every run."""
    ids, salts = itertools.count(first), itertools.count(first)
    return Seams(lambda: f"{next(ids):032x}", lambda size: next(salts).to_bytes(size, "big"))


class Constituent:
    """The adopter's store: what was applied, by its datum; it may be away, and is fenced or not."""

    def __init__(self, world: "Simulation", ahead: int) -> None:
        self.world = world
        self.clock = Apart(world.scheduler.time, ahead)
        self.applied: dict[int, list[int]] = {}
        self.refused: set[int] = set()
        self.away = False

    def apply(self, datum: int, deadline: int | None) -> Outcome:
        """The act happens, once more whenever this is called, or is refused before it does."""
        scheduler = self.world.scheduler
        scheduler.hook()
        if scheduler.chance(0.1, "refusal"):
            self.refused.add(datum)
            raise ConstituentRefused("invalid-request", "by the seed")
        if deadline is not None and self.clock.now() >= deadline:
            scheduler.fired["commit fenced out"] += 1
            self.refused.add(datum)
            raise ConstituentRefused("storage-failure", "past the deadline")
        self.applied.setdefault(datum, []).append(scheduler.time.now())
        scheduler.hook()
        if scheduler.chance(0.15, "lost reply of the commit"):
            raise TimeoutError("by the seed")
        return Outcome(OUTCOME, {"datum": datum})

    def probe(self, act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
        self.world.scheduler.hook()
        if self.away:
            return StoreUnavailable(f"away: {act_key}")
        datum = payload["disclosed_at"]
        assert isinstance(datum, int)
        times = len(self.applied.get(datum, ()))
        if times > 1:
            return Undecidable((str(datum),) * times)
        return Committed(OUTCOME, {"datum": datum}) if times else NotCommitted()


class Journal:
    """The trail as one process reaches it: late, away, or answering wrongly of what it did."""

    def __init__(self, world: "Simulation") -> None:
        self.world = world
        self.inner = AuditTrail(world.store, None, world.seams)
        self.caps = self.inner.caps

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        scheduler = self.world.scheduler
        scheduler.hook()
        if self.world.journal_away:
            return trail.RecordingFailure(trail.Step.APPEND, trail.Because.FAILED, "away")
        if scheduler.chance(0.02, "request of a write lost"):
            return trail.ReplyLost("0" * 32, "by the seed")
        answer = self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)
        if isinstance(answer, trail.RecordingFailure) and answer.because is trail.Because.FENCED_OUT:
            scheduler.fired["write fenced out"] += 1
        if isinstance(answer, trail.Recorded):
            if scheduler.chance(0.03, "reply of a write lost"):
                answer = trail.ReplyLost(answer.event_id, "by the seed")
            elif scheduler.chance(0.02, "record not placed"):
                answer = trail.RecordingFailure(trail.Step.PLACE, trail.Because.FAILED, "by the seed")
        scheduler.hook()
        return answer

    def read_record(self, event_id: str) -> trail.ReadAnswer:
        self.world.scheduler.hook()
        return trail.Unavailable("away") if self.world.journal_away else self.inner.read_record(event_id)

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> trail.RangeAnswer:
        self.world.scheduler.hook()
        if self.world.journal_away:
            return trail.Unavailable("away")
        answer = self.inner.read_range(after, limit, behind_writers=behind_writers)
        self.world.scheduler.hook()
        return answer

    def measure(self, action_ref: str, actor_ref: str, data: trail.Data) -> int:
        return self.inner.measure(action_ref, actor_ref, data)

    def now(self) -> int:
        return self.inner.now()


class Leases(LeaseHost):
    """The host, before and after whose answers anything may happen."""

    def __init__(self, world: "Simulation") -> None:
        super().__init__(world.store, world.store, world.scheduler)
        self.world = world

    def take(
        self, key: str, holder: str, duration: int, *, flush: bool = True
    ) -> Granted | Reentered | Unavailable:
        self.world.scheduler.hook()
        answer = super().take(key, holder, duration, flush=flush)
        self.world.scheduler.hook()
        return answer

    def left(self, expires_at: int) -> int | None:
        answer = super().left(expires_at)
        self.world.scheduler.hook()
        return answer

    def remaining(self, key: str, holder: str) -> int | None:
        answer = super().remaining(key, holder)
        self.world.scheduler.hook()
        return answer

    def release(self, key: str, holder: str) -> Released | NotHeld:
        self.world.scheduler.hook()
        return super().release(key, holder)


class Simulation:
    """One seed's run, to its end, and what is left of it; a harder world has other parts."""

    parts: ClassVar[tuple[type[Scheduler], type[Constituent], type[Journal]]] = (
        Scheduler,
        Constituent,
        Journal,
    )

    def __init__(self, seed: int, path: Path, founded: Path, plan: Plan | None = None) -> None:
        self.plan = plan or plan_of(seed)
        scheduler, constituent, _ = self.parts
        self.scheduler = scheduler(seed, Odds())
        rng = self.scheduler.rng
        shutil.copyfile(founded, path)
        self.store = SqliteStore(
            path,
            clock=Apart(self.scheduler.time, rng.randrange(ALLOWANCE + 1)),
            failpoint=self.failpoint,
        )
        self.seams = counted(10_000)  # none of the ids with which the journal was founded
        self.deployment = self.plan.deployment()
        self.constituent = constituent(self, rng.randrange(ALLOWANCE + 1))
        self.journal_away = False
        self.ids = itertools.count(1)
        self.data = itertools.count(1)
        self.alerts: list[Alert] = []
        self.told: dict[int, str] = {}  # what each caller was told, by its datum

    def failpoint(self, boundary: str) -> None:
        """A death or a lost answer at a durable boundary of the store itself."""
        scheduler = self.scheduler
        scheduler.refuse_the_dead()
        if scheduler.chance(0.004, f"crash at {boundary}"):
            scheduler.kill()
        if boundary.endswith(".begun"):
            if scheduler.chance(0.004, "store failed"):
                raise StoreFailed("by the seed")
        elif scheduler.chance(0.004, "commit of the store unknown"):
            raise StoreUnknown("by the seed")

    def alert(self, alert: Alert) -> None:
        self.alerts.append(alert)

    def node(self, name: str) -> Instance:
        """An instance on a machine whose clock is apart by no more than the allowance."""
        return Instance(
            self.deployment,
            trail=self.parts[2](self),
            store=self.store,
            leases=Leases(self),
            seam=Apart(self.scheduler.time, self.scheduler.rng.randrange(ALLOWANCE + 1)),
            ids=lambda: f"{name}-{next(self.ids)}",
            alerts=self,
            probes={KIND: self.constituent.probe},
            credentials={KIND: CREDENTIALS["ledger-reconciler"]},
            in_order=True,
        )

    def started(self, name: str) -> Instance:
        """Likewise, tried again while the journal is away or the start's own writes fail."""
        while True:
            try:
                return self.node(name)
            except (StartRefused, StoreError):
                self.scheduler.sleep(5 * SECOND)

    # The actors.

    def caller(self, number: int) -> None:
        """One act, begun at some moment; what it was told is kept, unless it dies."""
        rng = self.scheduler.rng
        self.scheduler.sleep(rng.randrange(60 * SECOND))
        instance = self.started(f"inv{number}")
        actor, key = ACTORS[number % 2], f"act-{rng.randrange(self.plan.keys)}"
        datum = next(self.data)
        act = instance.invocation(KIND, key, actor, CREDENTIALS[actor], {"disclosed_at": datum})
        try:
            with act:
                deadline = act.deadline
                answer = act.commit(lambda: self.constituent.apply(datum, deadline))
                self.told[datum] = f"closed by {answer.landed_by.value}"
        except ActRefused as refused:
            self.told[datum] = refused.code
        except InvocationFailed as problem:
            self.told[datum] = problem.code
        except RuntimeError:
            self.told[datum] = "no deadline"  # the lease ended before the commit began: it never did

    def sweeper(self, number: int) -> None:
        """A node that sweeps on its cadence, and is started again wherever it dies."""
        for _ in range(6):
            try:
                self.sweep_until_calm(self.started(f"run{number}"))
            except Crash:
                assert self.scheduler.current is not None
                self.scheduler.current.dead = False
                self.scheduler.fired["node started again"] += 1
            else:
                return

    def sweep_until_calm(self, instance: Instance) -> None:
        while not self.scheduler.calm:
            self.scheduler.sleep(60 * SECOND)
            instance.reconcile()

    def operator(self) -> None:
        """A person who looks now and then at what was escalated, and asks the store."""
        instance = self.started("op")
        for _ in range(4):
            self.scheduler.sleep(self.scheduler.rng.randrange(120 * SECOND))
            if not isinstance(instance.parties.indexes.refresh(), list):
                continue
            for invocation_id, known in instance.parties.indexes.every_invocation():
                if known.intents and state(known.closings) in (State.ESCALATED, State.ABANDONED):
                    intent = known.intents[0]
                    record = instance.parties.trail.read_record(intent.event_id)
                    if isinstance(record, trail.Retained) and record.record.data is not None:
                        self.judge(
                            instance, intent.act_key, invocation_id, intent.event_id, record.record.data
                        )

    def judge(
        self, instance: Instance, act_key: str, invocation_id: str, event_id: str, payload: trail.Data
    ) -> None:
        """An outcome where the store holds the act; an abandonment where nobody is left to commit it."""
        answer = self.constituent.probe(act_key, payload)
        callers = [actor for actor in self.scheduler.actors if actor.name.startswith("caller")]
        if isinstance(answer, Committed):
            disposition: Outcome | Abandon = Outcome(answer.outcome_action_ref, answer.outcome_data)
        elif isinstance(answer, NotCommitted) and all(actor.done for actor in callers):
            disposition = Abandon("nobody is left who could commit it")
        else:
            return
        self.scheduler.fired["resolution"] += 1
        instance.resolve(KIND, act_key, invocation_id, event_id, "olga", CREDENTIALS["olga"], disposition)

    def weather(self) -> None:
        """The journal and the store are away for a while, now and then; at last there is calm."""
        rng = self.scheduler.rng
        for _ in range(3):
            self.scheduler.sleep(rng.randrange(120 * SECOND))
            which = rng.choice(("journal", "store", "none", "none"))
            if which != "none":
                self.scheduler.fired[f"{which} away"] += 1
            self.journal_away = which == "journal"
            self.constituent.away = which == "store"
            self.scheduler.sleep(rng.randrange(90 * SECOND))
            self.journal_away = self.constituent.away = False
        self.scheduler.sleep(240 * SECOND)
        self.scheduler.calm = True

    def run(self) -> None:
        """Everybody is done, and the sweep has had its time in the calm."""
        for number in range(self.plan.callers):
            self.scheduler.add(f"caller {number}", functools.partial(self.caller, number))
        for number in range(2):
            self.scheduler.add(f"sweep {number}", functools.partial(self.sweeper, number))
        self.scheduler.add("operator", self.operator)
        self.scheduler.add("weather", self.weather)
        self.scheduler.run()
        self.scheduler.calm = True
        last = self.node("last")
        for _ in range(3):
            self.scheduler.time.instant += 100 * SECOND
            last.reconcile()
        self.last = last

    def records(self) -> list[trail.Record]:
        """All that the journal holds of the protocol."""
        page = AuditTrail(self.store).read_range(0)
        assert isinstance(page, trail.Page)
        assert page.complete
        return [record for record in page.records if record.action_ref.startswith(f"{KIND}.")]
