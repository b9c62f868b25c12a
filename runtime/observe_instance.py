"""An instance that logs what is done with one of its acts: the same actions, and the same answers.

Its log is for the race's model. What the adopter does between Open and Close it does not see, unless it is
told (`ActLog.commits`, `ActLog.replied`): so these two may go without a line, with all that `UNLOGGED` names.
"""

import itertools
from collections.abc import Callable, Mapping

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.answers import (
    CloseAnswer,
    Disposition,
    OpenAnswer,
    ReconcileAnswer,
    RefuseAnswer,
    ResolveAnswer,
)
from falsework.runtime.invocation.close import close
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.held import Held
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.open import open_act
from falsework.runtime.invocation.parties import Alerts, Parties, Probe
from falsework.runtime.invocation.refuse import refuse
from falsework.runtime.invocation.resolve import resolve
from falsework.runtime.lease import LeaseHost
from falsework.runtime.observe_invocation import ActLog
from falsework.runtime.store import Store
from falsework.runtime.trail import Data, Trail

UNLOGGED = (
    "apply", "miss", "land", "die", "pass_time", "commits", "commit_replies", "open_reads", "open_gates",
    "open_returns", "close_gates", "close_reads", "close_returns", "run_starts", "run_reads", "run_probes",
    "run_gates", "run_returns", "resolve_calls", "resolve_reads", "resolve_gates", "resolve_returns",
    "another_opens",
)  # fmt: skip
"""What may happen to the act without a line of this instance."""


class ObservedInstance(Instance):
    """The instance, which tells its log of every action on the act that the log is of."""

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
        log: ActLog,
        run: str = "FIRST_RUN",
    ) -> None:
        super().__init__(
            deployment, trail=trail, store=store, leases=leases, seam=seam, ids=ids, alerts=alerts,
            probes=probes, credentials=credentials, in_order=in_order, held=held,
        )  # fmt: skip
        self.log = log
        self.run = run  # which of the model's runs this instance's are
        self._untold = self.parties
        self._numbers = itertools.count(1)

    def open(self, kind: str, act_key: str, actor_ref: str, credential: str, data: Data) -> OpenAnswer:
        parties, node = self._process(kind, act_key, "INVOCATION")

        def call() -> OpenAnswer:
            return open_act(parties, kind, act_key, actor_ref, credential, data)

        return self.log.opens(node, call) if node else call()

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
        parties, node = self._process(kind, act_key, "INVOCATION")
        names = (kind, act_key, invocation_id, intent_event_id, actor_ref, credential)

        def call() -> CloseAnswer:
            return close(parties, *names, outcome_action_ref, outcome_data)

        return self.log.closes(node, call) if node else call()

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
        parties, node = self._process(kind, act_key, "INVOCATION")
        names = (kind, act_key, invocation_id, intent_event_id, actor_ref, credential)

        def call() -> RefuseAnswer:
            return refuse(parties, *names, reason, constituent_code)

        return self.log.refuses(node, call) if node else call()

    def reconcile(self) -> ReconcileAnswer:
        node = f"run {next(self._numbers)}"
        self.parties = self.log.told(self._untold, self.run, node, lands=True)
        try:
            return self.log.sweeps(node, self.run, super().reconcile)
        finally:
            self.parties = self._untold

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
        parties, node = self._process(kind, act_key, "OPERATOR")
        names = (kind, act_key, invocation_id, intent_event_id, actor_ref, credential)

        def call() -> ResolveAnswer:
            return resolve(parties, *names, disposition)

        return self.log.resolves(node, call) if node else call()

    def _process(self, kind: str, act_key: str, who: str) -> tuple[Parties, str]:
        """The parties in the hands of one process, and its name; of another act those that tell nothing."""
        if (kind, act_key) != (self.log.kind, self.log.act_key):
            return self._untold, ""
        node = f"{who.lower()} {next(self._numbers)}"
        return self.log.told(self._untold, who, node, lands=True), node
