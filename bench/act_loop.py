"""Callers that run acts through the runtime for some seconds; prints what each took, as one line of JSON.

Usage: act_loop.py FOLDER CALLERS SECONDS [SERVER]. The journal is a new one: a file of the folder in WAL with
synchronous=FULL, or a schema of the PostgreSQL server. The act itself does nothing: what is measured is
its intent and its outcome, both attested, chained and durable, under a lease.
"""

from __future__ import annotations

import json
import secrets
import sys
from dataclasses import replace
from pathlib import Path

import falsework.runtime.examples
from falsework.runtime.clock import SystemClock, SystemWaiter
from falsework.runtime.invocation.answers import Alert, NotCommitted, Outcome, ProbeAnswer
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.figures import Fence
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Data
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward, found
from loops import measured

SECOND = 1_000_000
KIND = "ledger"


class Silent:
    """Nobody listens."""

    def alert(self, alert: Alert) -> None:
        """The alert is an error of the measurement."""
        raise AssertionError(alert)


def opened(folder: Path, server: str) -> PostgresStore | SqliteStore:
    """A store of its own."""
    if server:
        return PostgresStore(server, schema=f"bench_{secrets.token_hex(6)}")
    return SqliteStore(folder / "journal.db")


def instance(store: PostgresStore | SqliteStore) -> tuple[Instance, str]:
    """A node of the walkthrough's deployment behind the journal's fence, and a caller's credential."""
    caller, sweeper, admin = (fresh_credential() for _ in range(3))
    found(store, "admin", admin)
    trail = AuditTrail(store)
    steward = Steward(trail, "admin", admin)
    steward.register("caller", public_key_of(caller))
    steward.register("ledger-reconciler", public_key_of(sweeper))
    example = read_deployment(Path(falsework.runtime.examples.__file__).with_name("disclosure.yaml"))
    steward.declare_retention(f"{KIND}.", example.kinds[KIND].retention_period)
    figures = replace(
        example.figures,
        journal_fence=Fence("in the journal's own transaction"),
        record_action_bound=SECOND,
        journal_write_bound=6 * SECOND,
        closure_latency=16 * SECOND,
    )
    clock = SystemClock()

    def probe(_: str, __: Data) -> ProbeAnswer:
        return NotCommitted()

    node = Instance(
        replace(example, figures=figures),
        trail=trail,
        store=store,
        leases=LeaseHost(store, store, SystemWaiter(clock)),
        seam=clock,
        ids=lambda: secrets.token_hex(8),
        alerts=Silent(),
        probes={KIND: probe},
        credentials={KIND: sweeper},
        in_order=True,
    )
    return node, caller


def main() -> None:
    """The line is printed."""
    folder, callers, seconds, *server = sys.argv[1:]
    with opened(Path(folder), server[0] if server else "") as store:
        node, credential = instance(store)

        def act(caller: int, number: int) -> None:
            data: Data = {"disclosed_at": number}
            with node.invocation(KIND, f"act {caller} {number}", "caller", credential, data) as opened_act:
                opened_act.commit(lambda: Outcome("ledger.disclosed", {"disclosure_id": "d"}))

        print(json.dumps(measured(act, int(callers), float(seconds))))


if __name__ == "__main__":
    main()
