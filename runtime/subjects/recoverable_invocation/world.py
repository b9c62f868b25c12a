"""A real deployment in a driver's hand: nodes on one journal, a constituent's store, and whoever calls.

Time stands still, so that an age and a lease are what the world makes of them: an intent is aged by the stamp
that the journal holds of it, and a lease ends in its row. Everything else is the runtime's own.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import Alert, Committed, NotCommitted, ProbeAnswer
from falsework.runtime.invocation.figures import (
    Deployment,
    Fence,
    Figures,
    Journal,
    Kind,
    Pairing,
    Partition,
    ServiceIdentity,
)
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.keyed import Keyed
from falsework.runtime.invocation.section import section_key
from falsework.runtime.store import StoreUnknown
from falsework.runtime.subjects.lease import HandClock
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Step, bent
from falsework.runtime.subjects.recoverable_invocation.place import SQLITE, Place, credential_of, restamp
from falsework.runtime.subjects.recoverable_invocation.substrate import HandedLeases, HandedTrail
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward

SECOND = 1_000_000
START = 1_000_000_000 * SECOND
KIND, KEY = "ledger", "act"
CALLER, ANOTHER_CALLER, SERVICE, OPERATOR = "dana", "erin", "ledger-reconciler", "olga"
ACTORS = (CALLER, ANOTHER_CALLER, SERVICE, OPERATOR)
OUTCOME = f"{KIND}.disclosed"
REFUSED_CODE, GUARDED_CODE = "unknown-authority-type", "already-disclosed"

FIGURES = Figures(
    reconciliation_cadence=60 * SECOND,
    clock_offset_allowance=SECOND,
    closure_latency=12 * SECOND,
    run_bound=135 * SECOND,
    journal_write_bound=3 * SECOND,
    read_bound=2 * SECOND,
    compensation_window=600 * SECOND,
    intent_candidates_cap=20,
    read_cap=50,
    journal_fence=None,
    record_action_bound=None,
)
LEDGER = Kind(
    name=KIND,
    act_key="subject and recipient",
    partition=Partition(frozenset({REFUSED_CODE, GUARDED_CODE}), frozenset()),
    commit_fence=None,
    pairing=Pairing("nonce", "seam instant", "grows on each node"),
    repeatable=True,
    probe="the world's",
    completion_bound=30 * SECOND,
    commit_round_trip=SECOND,
    probe_round_trip=SECOND,
    outcomes=("disclosed",),
    outcome_envelope=4_096,
    retention_period=7 * 86_400 * SECOND,
    service_identity=ServiceIdentity(SERVICE, Path("world.key")),
    retry_attempts=None,
    minted_key=None,
)
FENCED_JOURNAL = replace(FIGURES, journal_fence=Fence("deadline parameter"), record_action_bound=SECOND // 2)


def deployment(figures: Figures, *kinds: Kind) -> Deployment:
    """One instance as a file would declare it."""
    journal = Journal("the world's", None, None, 65_536, 256, 1_000)
    return Deployment(Path("world.yaml"), "world", journal, figures, {kind.name: kind for kind in kinds}, {})


class Bell:
    """Every alert that was raised."""

    def __init__(self) -> None:
        self.rung: list[Alert] = []

    def alert(self, alert: Alert) -> None:
        """It is heard."""
        self.rung.append(alert)


class World:
    """What every driven slice stands on; a slice adds its steps and what it observes."""

    surface: ClassVar[str] = SQLITE
    refuses: ClassVar[tuple[str, ...]] = ()  # every guard of these models is a caller's or the surroundings'
    internal: ClassVar[tuple[str, ...]] = ()
    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    unknowns: ClassVar[tuple[type[Exception], ...]] = (StoreUnknown,)
    kinds: ClassVar[tuple[str, ...]] = (KIND,)
    bends: ClassVar[tuple[Bend, ...]] = ()

    def __init__(self) -> None:
        self.clock = HandClock(START)
        self.place = Place(self.surface, self.clock)
        self.store = self.place.store
        self.place.found(ACTORS, self.kinds, LEDGER.retention_period)
        self.audit = AuditTrail(self.store)
        self.trail = HandedTrail(self.audit, self.audit.caps)
        self.leases = HandedLeases(self.store, self.clock)
        self.sections = self.leases.sections
        self.bell = Bell()
        self.numbers = itertools.count(1)
        self.nodes: dict[object, Instance] = {}
        self.steps: dict[str, Step] = {}

    # What a driver calls.

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        """The action has happened, by a runtime that is bent as the subject declares."""
        with bent(self.bends):
            return self.steps[action](**arguments)

    def close(self) -> None:
        """Nothing is left open."""
        self.end_of_walk()
        self.place.close()

    def end_of_walk(self) -> None:
        """Whatever still runs is gone."""

    # What a slice calls.

    def begin_with(self, name: object, declared: Callable[[], Deployment]) -> None:
        """The journal is as founded, and this walk's node is the one of that name."""
        self.end_of_walk()
        self.trail.down, self.trail.before_reads = False, None
        if name not in self.nodes:
            self.nodes[name] = self.node_of(declared())
        self.place.begin()
        self.clock.instant = START
        self.audit = AuditTrail(self.store)
        self.steward = Steward(self.audit, "admin", credential_of("admin"))
        self.trail.inner = self.audit
        self.trail.next_writes.clear()
        self.trail.during_reads.clear()
        self.leases.failing.clear()
        self.leases.before_takes.clear()
        self.bell.rung.clear()
        self.numbers = itertools.count(1)
        self.node = self.nodes[name]
        self.node.parties.refused_identities.clear()
        self.forgets(self.node)

    def node_of(self, declared: Deployment) -> Instance:
        """A node of the deployment, on the world's journal and section host."""
        return Instance(
            declared,
            trail=self.trail,
            store=self.store,
            leases=self.leases,
            seam=self.clock,
            ids=lambda: self.named(next(self.numbers)),
            alerts=self.bell,
            probes={name: self.probe if kind.probe else None for name, kind in declared.kinds.items()},
            credentials=dict.fromkeys(declared.kinds, credential_of(SERVICE)),
            in_order=True,
        )

    def named(self, number: int) -> str:
        """The id that is drawn next."""
        return f"id {number}"

    def starts_again(self, node: Instance | None = None) -> None:
        """The node is another process now, which has read what stands open and nothing else."""
        chosen = node or self.node
        self.forgets(chosen)
        unread = chosen.parties.indexes.start()
        assert unread is None, unread

    def forgets(self, node: Instance) -> None:
        """The node has read nothing yet."""
        parties = node.parties
        kinds, keyed = parties.deployment.kinds, Keyed(self.store, parties.deployment.kinds)
        figures = parties.figures
        parties.indexes = Indexes(self.trail, kinds, figures, self.clock, in_order=True, keyed=keyed)

    def ages(self, event_id: str, span: int) -> None:
        """The journal holds the record as so old; a node that starts now reads that."""
        restamp(self.store, event_id, self.clock.now() - span)

    def stands_again(self, *keys: str) -> None:
        """Time stands where it stood; a lease that had ended by the end of the call has ended."""
        later = self.clock.instant
        if later == START:
            return
        rows = {key: self.sections.row(self.key_of(key)) for key in keys}
        self.clock.instant = START
        for key, row in rows.items():
            if row is not None and row[1] <= later:
                self.sections.ends(self.key_of(key))

    def passes(self, span: int) -> None:
        """So much time has passed: no more than a lease, or what is young would have aged."""
        self.clock.instant += span

    @property
    def examined_at(self) -> int:
        """The age from which a sweep examines an intent of the ledger."""
        return LEDGER.completion_bound + FIGURES.clock_offset_allowance

    @property
    def abandoned_at(self) -> int:
        """The age from which a fenced store that holds nothing never will."""
        return self.examined_at + FIGURES.clock_offset_allowance

    def probe(self, act_key: str, payload: trail.Data) -> ProbeAnswer:
        """What the constituent's store says of the intent."""
        committed = self.applied(act_key, payload)
        return NotCommitted() if committed is None else Committed(OUTCOME, committed)

    def applied(self, act_key: str, payload: trail.Data) -> trail.Data | None:
        """The constituent's record of the intent's act, if it has one."""
        raise AssertionError(f"nobody asks this world's store of {act_key} and {payload}")

    def key_of(self, act_key: str) -> str:
        """The act's section at the host."""
        return section_key(KIND, act_key)

    def records(self) -> Sequence[trail.Record]:
        """Every record of this walk's journal."""
        return self.place.records(self.audit)
