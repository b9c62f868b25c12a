"""Kinds, bindings and the horizon on the real runtime: two kinds with one key, along `records_kinds`.

What a binding decides is decided as a node starts: leaving a kind out is a start without it. A reader and an
operator are of a node that serves both. What an auditor reads is read from the journal by the world.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    ActInFlight,
    AlreadyAccounted,
    Committed,
    InvalidRequest,
    JournalUnavailable,
    NotKnown,
    Outcome,
    ProbeAnswer,
    RecordingFailure,
    Report,
    Resolved,
    Tally,
)
from falsework.runtime.invocation.figures import Deployment, Kind
from falsework.runtime.invocation.instance import StartRefused
from falsework.runtime.subjects.recoverable_invocation.flow import Flow, current
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.substrate import Write
from falsework.runtime.subjects.recoverable_invocation.world import (
    CALLER,
    FIGURES,
    KEY,
    LEDGER,
    OPERATOR,
    World,
    deployment,
)

NAMES = {"DISCLOSURE": "disclosure", "TRANSFER": "transfer"}
KINDS: Mapping[str, Kind] = {model: replace(LEDGER, name=name) for model, name in NAMES.items()}
SPARE = replace(LEDGER, name="spare")
"""A third kind, which is always bound: a deployment binds one at least."""
RESOLVED: Mapping[type, str] = {
    Resolved: "CLOSED",
    AlreadyAccounted: "ALREADY_ACCOUNTED",
    NotKnown: "NOT_KNOWN",
    RecordingFailure: "RECORDING_FAILURE",
}
UNBOUND = "SELECT invocation_id FROM finding WHERE finding = 'unbound-kind'"


class KindsSubject(World):
    """A node whose bindings change, another that serves both kinds, and a steward who destroys."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_kinds:OneAges"
    kinds: ClassVar[tuple[str, ...]] = (*NAMES.values(), SPARE.name)

    def __init__(self) -> None:
        super().__init__()
        self.bound = dict.fromkeys(KINDS, True)
        self.late = dict.fromkeys(KINDS, False)
        self.flows: dict[str, Flow] = {}
        self.events: dict[str, str] = {}  # of each kind's intent, once it has landed
        self.trail.writes = stands_on_its_way
        self.steps = {
            "open_act": self.open_act,
            "land": self.land,
            "grow": self.grow,
            "destroy": self.destroy,
            "unbind": self.unbind,
            "bind": self.bind,
            "examine": self.examine,
            "read": self.read,
            "resolve": self.resolve,
            "audit": self.audit_one,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:  # noqa: ARG002  they bound the model alone
        """Both kinds are bound, and nobody has opened anything."""
        self.begin_with("both", lambda: self.serving(*KINDS))
        self.reader = self.node
        with self.store.transaction("world.bound", flush=False) as transaction:
            for kind in KINDS.values():
                transaction.write("DELETE FROM binding WHERE kind = ?", (kind.name,))
                transaction.write("INSERT INTO binding VALUES ('world', ?)", (kind.name,))

    def serving(self, *names: str) -> Deployment:
        """A deployment that binds these kinds."""
        return deployment(FIGURES, *(KINDS[name] for name in names), SPARE)

    def end_of_walk(self) -> None:
        """Whatever stands still is gone."""
        for flow in self.flows.values():
            flow.kill()
        self.flows, self.events = {}, {}
        self.bound, self.late = dict.fromkeys(KINDS, True), dict.fromkeys(KINDS, False)

    def observe(self) -> Mapping[str, object]:
        """What the journal holds of either kind."""
        closings = {name: self.closings(name) for name in KINDS}
        return {
            "phase": {name: self.phase(name) for name in KINDS},
            "placed_late": dict(self.late),
            "closing": {name: standing(closings[name]) for name in KINDS},
            "closed_beyond": {
                name: any(
                    record.data is not None and record.recorded_at > self.clock.now()
                    for record in closings[name]
                )
                for name in KINDS
            },
            "written": {name: len(closings[name]) for name in KINDS},
            "bound": dict(self.bound),
        }

    def intent(self, name: str) -> trail.Record | None:
        """The kind's intent, be its payload destroyed or not."""
        event = self.events.get(name)
        return next((record for record in self.records() if record.event_id == event), None)

    def phase(self, name: str) -> str:
        """How far the kind's intent is."""
        if name in self.flows:
            return "FLYING"
        intent = self.intent(name)
        if intent is None:
            return "NONE"
        if intent.data is None:
            return "PURGED"
        age = self.clock.now() - intent.recorded_at
        return "BEYOND" if age >= self.horizon_at else "AGED" if age >= self.examined_at else "YOUNG"

    @property
    def horizon_at(self) -> int:
        """The age from which the act's closings may be destroyed."""
        return LEDGER.retention_period - FIGURES.clock_offset_allowance

    def closings(self, name: str) -> Sequence[trail.Record]:
        """The kind's closings, be their payloads destroyed or not."""
        return [record for record in self.records() if record.action_ref in KINDS[name].closing_refs]

    # The invocations, and time.

    def open_act(self, kind: str, journal: bool, late: bool) -> str:
        """An Open goes as far as its intent, or is refused."""
        node, name = self.node, KINDS[kind].name
        self.trail.down = not journal
        flow = Flow(lambda: node.open(name, KEY, CALLER, credential_of(CALLER), {"nonce": 1}))
        flow.go()
        self.trail.down = False
        if not flow.done:
            self.flows[kind], self.late[kind] = flow, late
            return "ISSUED"
        if isinstance(flow.answer, ActInFlight):
            return "ACT_IN_FLIGHT"
        unavailable = isinstance(flow.answer, JournalUnavailable)
        return "JOURNAL_UNAVAILABLE" if unavailable else repr(flow.answer)

    def land(self, kind: str) -> None:
        """The intent lands, and its invocation dies with its section."""
        flow = self.flows.pop(kind)
        write = flow.waits_for
        assert isinstance(write, Write)
        answer = write.deliver()
        if isinstance(answer, trail.Recorded):
            self.events[kind] = answer.event_id
        flow.go(answer)
        self.sections.put(f"{KINDS[kind].name}:{KEY}", None)

    def grow(self, kind: str) -> None:
        """The intent ages, comes to its horizon, and is destroyed."""
        phase, event = self.phase(kind), self.events[kind]
        if phase == "BEYOND":
            self.purge(event)
        else:
            self.ages(event, self.abandoned_at if phase == "YOUNG" else self.horizon_at)
        self.starts_again()

    def destroy(self, kind: str) -> None:
        """The closing's retention has ended."""
        self.purge(self.closings(kind)[-1].event_id)
        self.starts_again()

    def purge(self, event_id: str) -> None:
        """The steward destroys the record's payload, and no other's."""
        self.clock.instant += 2 * LEDGER.retention_period
        answer = self.steward.purge(spares=lambda found: found != event_id)
        assert isinstance(answer, trail.Recorded), answer
        self.stands_again()

    # The bindings table.

    def unbind(self, kind: str) -> str:
        """A node starts without the kind, or may not."""
        kept = [name for name, bound in self.bound.items() if bound and name != kind]
        try:
            self.node = self.node_of(self.serving(*kept))
        except StartRefused:
            return "REFUSED"
        self.bound[kind] = False
        return "UNBOUND"

    def bind(self, kind: str) -> None:
        """A node starts with the kind again."""
        self.bound[kind] = True
        self.node = self.node_of(self.serving(*(name for name, bound in self.bound.items() if bound)))

    # The sweep, the readers, the operator and the auditor.

    def probe(self, act_key: str, payload: trail.Data) -> ProbeAnswer:
        """The act has happened."""
        kind = payload["kind"]
        assert isinstance(kind, str)
        return Committed(f"{kind}.disclosed", {"disclosure": act_key})

    def examine(self, kind: str, journal: bool) -> str:
        """A run, which finds no section but this kind's to be had."""
        before = len(self.closings(kind))
        hidden = [record.event_id for record in self.closings(kind) if record.data is not None]
        late = self.phase(kind) == "AGED" and bool(hidden) and self.bound[kind]
        rows = self.place.taken_out(hidden) if late else []
        with self.store.transaction("world.found", flush=False) as transaction:
            transaction.write("DELETE FROM finding")
        self.starts_again()
        if late:
            self.leases.before_takes.append(lambda: self.place.put_back(rows))
        self.leases.failing.extend(name != kind for name in self.owed(kind if late else ""))
        self.trail.down = not journal
        answer = self.node.reconcile()
        self.trail.down = False
        self.leases.failing.clear()
        if self.leases.before_takes:
            self.leases.before_takes.popleft()()
        self.starts_again()
        if isinstance(answer, JournalUnavailable):
            return "JOURNAL_UNAVAILABLE"
        assert isinstance(answer, Tally), answer
        if len(self.closings(kind)) > before:
            return "CLOSED"
        intent = self.intent(kind)
        named = intent is not None and intent.data is not None and intent.data["invocation_id"]
        if named in [row[0] for row in self.store.look(UNBOUND)]:
            return "UNBOUND_KIND"
        return "CLOSED_ALREADY" if answer.closed_already else "NOT_KEPT"

    def owed(self, late: str) -> list[str]:
        """The kinds whose sections a run takes, in the order of their intents."""
        found = [
            name
            for name in KINDS
            if self.bound[name]
            and self.phase(name) == "AGED"
            and (name == late or standing(self.closings(name)) == "NONE")
        ]
        return sorted(found, key=lambda name: [r.event_id for r in self.records()].index(self.events[name]))

    def read(self, kind: str, journal: bool) -> str:
        """A read on a node that serves both kinds."""
        self.starts_again(self.reader)
        self.trail.down = not journal
        answer = self.reader.read_invocation(KINDS[kind].name, KEY)
        self.trail.down = False
        if isinstance(answer, NotKnown):
            return "NOT_KNOWN"
        if isinstance(answer, Report):
            return "OPEN" if answer.invocations[0].state.name == "OPEN" else "CLOSED"
        return "JOURNAL_UNAVAILABLE"

    def resolve(self, kind: str, journal: bool) -> str:
        """An operator's outcome, on a node that serves both kinds."""
        self.starts_again(self.reader)
        name, intent = KINDS[kind].name, self.intent(kind)
        known = intent is not None and intent.data is not None and str(intent.data["invocation_id"])
        event = self.events.get(kind, "0" * 32)
        done = Outcome(f"{name}.disclosed", {"disclosure": KEY})
        self.trail.down = not journal
        answer = self.reader.resolve(
            name, KEY, known or "id of nobody", event, OPERATOR, credential_of(OPERATOR), done
        )
        self.trail.down = False
        self.starts_again()
        if isinstance(answer, InvalidRequest):
            return "NO CAUSE" if answer.cause is None else answer.cause.name
        return RESOLVED.get(type(answer), repr(answer))

    def audit_one(self, kind: str) -> str:
        """What the records and the bindings say of the intent."""
        phase = self.phase(kind)
        if phase in ("NONE", "FLYING"):
            return "ABSENT"
        if phase == "PURGED":
            answer = self.audit.read_record(self.events[kind])
            return "PURGED" if isinstance(answer, trail.Purged) else "ABSENT"
        if standing(self.closings(kind)) == "STANDS":
            return "ACCOUNTED"
        return "OWED" if self.bound[kind] and phase != "BEYOND" else "EXEMPT"


def standing(closings: Sequence[trail.Record]) -> str:
    """Whether a closing can be read, or was destroyed."""
    if not closings:
        return "NONE"
    return "STANDS" if closings[-1].data is not None else "DESTROYED"


def stands_on_its_way(write: Write) -> trail.RecordAnswer:
    """An intent stands still on its way; whatever else is written is written at once."""
    call = current()
    if call is None:
        return write.deliver()
    answer = call.stop(write)
    assert isinstance(answer, trail.RecordAnswer), answer
    return answer


class KindsOnPostgres(KindsSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)
