"""Journals as an auditor finds them: what a deployment with both fences left behind, as states of models.

The deployment is the payment of the examples, its runtime the real one; time and the gateway are made up. A
seed decides who dies, sleeps, is refused or loses a reply, and each act is lived through to its account.
"""

import itertools
import random
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import ClassVar

from falsework.runtime import examples, trail
from falsework.runtime.audit.declared import read_declared
from falsework.runtime.audit.opened import opened_file
from falsework.runtime.invocation.answers import (
    Abandon,
    Alert,
    Committed,
    NotCommitted,
    Opened,
    Outcome,
    ProbeAnswer,
    State,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.section import Standing
from falsework.runtime.invocation.standing import state
from falsework.runtime.invocation.use import ConstituentRefused, InvocationFailed
from falsework.runtime.lease import LeaseHost
from falsework.runtime.projection import Act, Deed, Snapshot, acts_of, race_snapshots, supersession_snapshots
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import HandClock, in_memory
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail, Seams
from falsework.runtime.trail.steward import Steward, found
from falsework.runtime.trail.through import Through

FILE = Path(examples.__file__).with_name("payment.yaml")
KIND, OUTCOME_REF, REFUSAL = "payment", "payment.charged", "card-declined"
CALLER, OPERATOR, SWEEP = "dana", "olga", "payment-reconciler"
SECOND = 1_000_000
START = 1_000_000_000 * SECOND
ACTS = 40
CREDENTIALS = {
    actor: fresh_credential(bytes([number]).__mul__)
    for number, actor in enumerate(("admin", CALLER, OPERATOR, SWEEP), start=1)
}


class TroubledTrail(Through):
    """A trail before whose next record something happens, or whose next reply is lost, on demand."""

    def __init__(self, inner: trail.Trail) -> None:
        super().__init__(inner)
        self.loses = False
        self.before: Callable[[], None] | None = None

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        """The record lands, perhaps late, and its reply perhaps does not."""
        happens, self.before = self.before, None
        if happens is not None:
            happens()
        answer = self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)
        lost, self.loses = self.loses, False
        if lost and isinstance(answer, trail.Recorded):
            return trail.ReplyLost(answer.event_id, "the line went dead")
        return answer


class PassingTime:
    """Whoever waits has waited."""

    def __init__(self, clock: HandClock) -> None:
        self.clock = clock

    def wait_until(self, instant: int) -> None:
        """The clock reads at least this."""
        self.clock.instant = max(self.clock.instant, instant)


class Life:
    """One journal with everybody who writes in it, one after the other."""

    def __init__(self, seed: int, folder: Path, bend: Callable[[Parties], None]) -> None:
        self.rng = random.Random(seed)  # noqa: S311  chance that can be had again, and no secret
        self.clock = HandClock(START)
        self.path = folder / "journal.db"
        self.store = SqliteStore(self.path, clock=self.clock)
        ids, salts, self.names = itertools.count(1), itertools.count(1), itertools.count(1)
        seams = Seams(lambda: f"event-{next(ids)}", lambda size: next(salts).to_bytes(size, "big"))
        deployment = read_deployment(FILE)
        found(self.store, "admin", CREDENTIALS["admin"], seams)
        audit = AuditTrail(self.store, None, seams)
        steward = Steward(audit, "admin", CREDENTIALS["admin"])
        for actor in (CALLER, OPERATOR, SWEEP):
            steward.register(actor, public_key_of(CREDENTIALS[actor]))
        steward.declare_retention(f"{KIND}.", deployment.kinds[KIND].retention_period)
        self.charges: dict[str, tuple[int, int]] = {}  # how often, and when
        self.decided: set[str] = set()
        self.away = False
        self.trail = TroubledTrail(audit)
        self.instance, self.second = self.node(deployment), self.node(deployment)
        for node in (self.instance, self.second):
            bend(node.parties)

    def node(self, deployment: Deployment) -> Instance:
        """An instance over the journal."""
        return Instance(
            deployment,
            trail=self.trail,
            store=self.store,
            leases=LeaseHost(self.store, self.clock, PassingTime(self.clock)),
            seam=self.clock,
            ids=lambda: f"i{next(self.names)}",
            alerts=self,
            probes={KIND: self.probe},
            credentials={KIND: CREDENTIALS[SWEEP]},
            in_order=True,
        )

    def alert(self, alert: Alert) -> None:
        """Nobody is there to hear of it."""

    # The gateway.

    def charge(self, nonce: str, times: int = 1) -> Outcome:
        """The card is charged, as often as the gateway's own mistake will have it."""
        self.charges[nonce] = (times, self.clock.instant)
        return Outcome(OUTCOME_REF, {"charge_id": nonce})

    def probe(self, _: str, payload: Mapping[str, object]) -> ProbeAnswer:
        """What the gateway says of the nonce."""
        nonce = str(payload["nonce"])
        times = self.charges.get(nonce, (0, 0))[0]
        if self.away:
            return StoreUnavailable("away")
        if times > 1:
            return Undecidable(tuple(f"{nonce}/{number}" for number in range(times)))
        return Committed(OUTCOME_REF, {"charge_id": nonce}) if times else NotCommitted()

    # Acts.

    def lives(self) -> None:
        """Forty acts, each to its account."""
        scenes = (
            *(self.closes, self.is_refused, self.dies_committed, self.dies_before, self.loses_the_reply),
            *(self.is_charged_twice, self.sleeps_behind_its_gate, self.loses_a_closing, self.meets_two_runs),
            self.is_abandoned_by_hand,
        )
        for number in range(ACTS):
            scene = scenes[number] if number < len(scenes) else self.rng.choice(scenes)
            scene(f"order-{number}", f"nonce-{number}")
            self.passes(self.rng.randrange(1, 40))
        for _ in range(3):
            self.away = False
            self.sweeps()
            self.resolves()

    def passes(self, seconds: int) -> None:
        """So much time."""
        self.clock.instant += seconds * SECOND

    def sweeps(self) -> None:
        """A run, once whatever is open is aged."""
        self.passes(self.rng.randrange(40, 60))
        self.instance.reconcile()

    def opened(self, order: str, nonce: str) -> Opened | None:
        """An act whose process does nothing more by itself."""
        data: trail.Data = {"nonce": nonce, "amount": 1}
        answer = self.instance.open(KIND, order, CALLER, CREDENTIALS[CALLER], data)
        return answer if isinstance(answer, Opened) else None

    def runs(self, order: str, nonce: str, does: Callable[[], Outcome]) -> None:
        """An act in its block, however it ends."""
        data: trail.Data = {"nonce": nonce, "amount": 1}
        act = self.instance.invocation(KIND, order, CALLER, CREDENTIALS[CALLER], data)
        with suppress(InvocationFailed), act:
            act.commit(does)

    def closes(self, order: str, nonce: str) -> None:
        """The invocation closes its own act."""
        self.runs(order, nonce, lambda: self.charge(nonce))

    def is_refused(self, order: str, nonce: str) -> None:
        """The gateway declines, and the refusal is recorded."""

        def declines() -> Outcome:
            raise ConstituentRefused(REFUSAL)

        self.runs(order, nonce, declines)

    def dies_committed(self, order: str, nonce: str) -> None:
        """The process dies between the charge and its record; now and then the gateway is away after it."""
        self.opened(order, nonce)
        self.charge(nonce)
        self.away = self.rng.random() < 0.3
        self.sweeps()
        self.away = False

    def dies_before(self, order: str, nonce: str) -> None:
        """The process dies before the charge."""
        self.opened(order, nonce)
        self.sweeps()

    def loses_the_reply(self, order: str, nonce: str) -> None:
        """The charge is made, and its reply lost: the act is yielded."""

        def charges() -> Outcome:
            self.charge(nonce)
            raise TimeoutError

        self.runs(order, nonce, charges)
        self.sweeps()

    def is_charged_twice(self, order: str, nonce: str) -> None:
        """The gateway keeps two records of it, and an operator decides between them."""
        self.opened(order, nonce)
        self.charge(nonce, 2)
        self.sweeps()
        self.resolves()

    def loses_a_closing(self, order: str, nonce: str) -> None:
        """The closing lands, and the journal's reply is lost."""

        def charges() -> Outcome:
            self.trail.loses = True
            return self.charge(nonce)

        self.runs(order, nonce, charges)
        self.trail.loses = False
        self.sweeps()

    def meets_two_runs(self, order: str, nonce: str) -> None:
        """Another node's run closes the act between a run's enumeration and its section."""
        self.opened(order, nonce)
        self.charge(nonce)
        section = self.instance.parties.section
        take = section.take

        def after_the_other(standing: Standing, duration: int) -> bool:
            section.take = take  # type: ignore[method-assign]
            self.second.reconcile()
            return take(standing, duration)

        section.take = after_the_other  # type: ignore[method-assign]
        self.sweeps()
        section.take = take  # type: ignore[method-assign]

    def sleeps_behind_its_gate(self, order: str, nonce: str) -> None:
        """The caller has passed its last gate, and sleeps until the sweep has closed its act."""

        def charges() -> Outcome:
            self.trail.before = self.sweeps
            return self.charge(nonce)

        self.runs(order, nonce, charges)

    def resolves(self) -> None:
        """An operator looks at what was escalated, and decides by the gateway's books."""
        indexes = self.instance.parties.indexes
        indexes.refresh()
        for invocation_id, known in indexes.every_invocation():
            escalated = known.intents and state(known.closings) is State.ESCALATED
            if escalated and invocation_id not in self.decided:
                self.decided.add(invocation_id)
                intent = known.intents[0]
                self.resolve(intent.act_key, Opened(invocation_id, intent.event_id), f"{invocation_id}/0")

    def resolve(self, order: str, act: Opened, charge: str | None) -> None:
        """The operator's own word for one act: the charge that is meant, or that there was none."""
        disposition = Outcome(OUTCOME_REF, {"charge_id": charge}) if charge else Abandon("nobody was charged")
        self.instance.resolve(
            *(KIND, order, act.invocation_id, act.intent_event_id),
            *(OPERATOR, CREDENTIALS[OPERATOR], disposition),
        )

    def is_abandoned_by_hand(self, order: str, nonce: str) -> None:
        """The process dies before the charge, and an operator is there before any run."""
        opened = self.opened(order, nonce)
        self.passes(self.rng.randrange(40, 60))
        if opened is not None:
            self.resolve(order, opened, None)


class AuditedJournal(ABC):
    """Every act of some journals, by what their records show."""

    model: ClassVar[str]
    surface: ClassVar[str] = "audited"
    seeds: ClassVar[tuple[int, ...]] = (1, 2, 3)

    def bend(self, parties: Parties) -> None:  # noqa: B027  a right runtime is left as it is
        """What is wrong with the instance, which is nothing."""

    @abstractmethod
    def snapshots(self, act: Act, life: Life) -> Iterator[Snapshot]:
        """What the records show of the model after each of them."""

    def histories(self) -> Iterator[tuple[str, Iterator[Snapshot]]]:
        """The acts of each seed's journal, once it has been lived through."""
        declared = read_declared(FILE)
        for seed in self.seeds:
            with ExitStack() as left:
                name = tempfile.TemporaryDirectory(prefix="falsework-audited-", dir=in_memory())
                life = Life(seed, Path(left.enter_context(name)), self.bend)
                left.callback(life.store.close)
                life.lives()
                with opened_file(life.path, life.clock.now()) as journal:
                    acts = acts_of(journal.rows(), declared)
                for act in acts.values():
                    yield f"journal {seed}, {act.invocation_id}", self.snapshots(act, life)


class AuditedRace(AuditedJournal):
    """The race, as far as a journal and the gateway's books show it: the closings, the age, the charge."""

    model = "falsework.models.recoverable_invocation.race:Main"

    def snapshots(self, act: Act, life: Life) -> Iterator[Snapshot]:
        """Before the intent, after each record, and at last."""
        _, at = life.charges.get(str(act.payload.get("nonce")), (0, None))
        return race_snapshots(act, read_declared(FILE), life.clock.now(), Deed(at))


class AuditedSupersession(AuditedJournal):
    """Which closing stands, as a journal with a fence shows it."""

    model = "falsework.models.recoverable_invocation.records_supersession:Fenced"

    def snapshots(self, act: Act, life: Life) -> Iterator[Snapshot]:  # noqa: ARG002  names alone are shown
        """Before the first closing, and after each."""
        return supersession_snapshots(act)
