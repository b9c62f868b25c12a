"""One instance: started only where every condition holds, and then the six actions and the read."""

import threading
from collections.abc import Callable, Mapping

from falsework.runtime.clock import Clock
from falsework.runtime.invocation import bindings
from falsework.runtime.invocation.answers import (
    CloseAnswer,
    Disposition,
    Misuse,
    OpenAnswer,
    ReadAnswer,
    ReconcileAnswer,
    RefuseAnswer,
    ResolveAnswer,
    Yielded,
)
from falsework.runtime.invocation.close import close
from falsework.runtime.invocation.conditions import failing
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.findings import ActFinding, Condition, Finding, Register
from falsework.runtime.invocation.held import Held
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.keyed import Keyed
from falsework.runtime.invocation.open import open_act
from falsework.runtime.invocation.parties import Alerts, Parties, Probe
from falsework.runtime.invocation.read import read_invocation
from falsework.runtime.invocation.reconcile import reconcile
from falsework.runtime.invocation.refuse import refuse, yield_act
from falsework.runtime.invocation.resolve import resolve
from falsework.runtime.invocation.section import ActSection
from falsework.runtime.invocation.sizing import Sizing
from falsework.runtime.invocation.use import Invocation
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store import Store
from falsework.runtime.trail import Data, Trail


class StartRefused(Exception):
    """The instance may not start; the message holds every reason, a line each."""


class Instance:
    """Recoverable Invocation over one journal, one section host and one deployment file."""

    def __init__(
        self,
        deployment: Deployment,
        *,
        trail: Trail,
        store: Store,
        leases: LeaseHost,
        seam: Clock,
        ids: Callable[[], str],
        alerts: Alerts,
        probes: Mapping[str, Probe | None],
        credentials: Mapping[str, str],
        in_order: bool,
        held: Held | None = None,
    ) -> None:
        refuse_failing_conditions(deployment)
        keyed = Keyed(store, deployment.kinds)
        figures = deployment.figures
        indexes = Indexes(trail, deployment.kinds, figures, seam, in_order=in_order, keyed=keyed)
        self.parties = Parties(
            deployment,
            trail,
            ActSection(leases, fenced=deployment.figures.journal_fence is not None),
            indexes,
            Sizing(trail, deployment.figures),
            Register(store, deployment.name, held, deployment.kinds),
            seam,
            ids,
            alerts,
            dict(probes),
            dict(credentials),
        )
        self._running = threading.Lock()
        self._read_and_bind(store)

    def _read_and_bind(self, store: Store) -> None:
        """The maps are whole, and no kind has been unbound over an open intent."""
        parties = self.parties
        unread = parties.indexes.start()
        if unread is not None:
            raise StartRefused(f"{parties.deployment.path}: the journal cannot be read: {unread.detail}")
        now = parties.seam.now()
        owed = bindings.unbound_with_open_intents(store, parties.deployment, parties.indexes, now)
        if owed:
            detail = "the deployment file leaves the kind out while the intent stands open"
            sightings = [
                ActFinding(Condition.UNBOUND_KIND, found.kind, found.act_key, found.invocation_id, detail)
                for found in parties.indexes.every_open_intent()
                if found.kind in owed
            ]
            parties.register.surface(parties.ids(), now, sightings, whole=False)
            raise StartRefused(
                f"{parties.deployment.path}: leaves out {', '.join(owed)} with intents open: bind it until "
                "they are closed"
            )
        bindings.bind(store, parties.deployment)

    # The adopter's side.

    def invocation(self, kind: str, act_key: str, actor_ref: str, credential: str, data: Data) -> Invocation:
        """One act, to be entered with `with`: opened at the block's begin, closed by its commit's arm."""
        return Invocation(self.parties, kind, act_key, actor_ref, credential, data)

    def open(self, kind: str, act_key: str, actor_ref: str, credential: str, data: Data) -> OpenAnswer:
        """The intent stands and the section is held, or nothing is."""
        return open_act(self.parties, kind, act_key, actor_ref, credential, data)

    def close(
        self,
        kind: str,
        act_key: str,
        invocation_id: str,
        intent_event_id: str,
        actor_ref: str,
        credential: str,
        outcome_action_ref: str,
        outcome_data: Data,
    ) -> CloseAnswer:
        """The act has its outcome, or the sweep will see to it."""
        return close(
            self.parties,
            kind,
            act_key,
            invocation_id,
            intent_event_id,
            actor_ref,
            credential,
            outcome_action_ref,
            outcome_data,
        )

    def refuse(
        self,
        kind: str,
        act_key: str,
        invocation_id: str,
        intent_event_id: str,
        actor_ref: str,
        credential: str,
        reason: str,
        constituent_code: str,
    ) -> RefuseAnswer:
        """The refusal is recorded, or the sweep will see to the intent."""
        return refuse(
            self.parties,
            kind,
            act_key,
            invocation_id,
            intent_event_id,
            actor_ref,
            credential,
            reason,
            constituent_code,
        )

    def yield_act(self, kind: str, act_key: str, invocation_id: str) -> Yielded:
        """The section is free, and the intent stands open for the sweep."""
        return yield_act(self.parties, kind, act_key, invocation_id)

    def read_invocation(self, kind: str, act_key: str, invocation_id: str | None = None) -> ReadAnswer:
        """What the journal says of the act."""
        return read_invocation(self.parties, kind, act_key, invocation_id)

    # The deployment's side.

    def reconcile(self) -> ReconcileAnswer:
        """One run of the sweep; never beside another of this instance."""
        if not self._running.acquire(blocking=False):
            raise Misuse("a run of the sweep is in flight: start the next one when it has ended")
        try:
            return reconcile(self.parties)
        finally:
            self._running.release()

    def resolve(
        self,
        kind: str,
        act_key: str,
        invocation_id: str,
        intent_event_id: str,
        actor_ref: str,
        credential: str,
        disposition: Disposition,
    ) -> ResolveAnswer:
        """The operator's closing stands, or here is why not."""
        return resolve(
            self.parties,
            kind,
            act_key,
            invocation_id,
            intent_event_id,
            actor_ref,
            credential,
            disposition,
        )

    def findings(self) -> tuple[Finding, ...]:
        """The register, the oldest finding first."""
        return self.parties.register.findings()


def refuse_failing_conditions(deployment: Deployment) -> None:
    """Every condition holds for every kind."""
    broken = [
        f"{deployment.place(condition.scope, condition.figure)}: condition {condition.name} of "
        f"{condition.kind} fails: write {condition.figure}: {condition.remedy}"
        for condition in failing(deployment)
    ]
    if broken:
        raise StartRefused("\n".join(broken))
