"""Who writes over whose closing, on the real runtime: one invocation, driven along `records_supersession`.

Each of the three writers is a call that stands still before its closing, behind its gate and its re-read. The
slice knows of no lease but that the last one to take the section has evicted the others: so the invocation
passes its gate whenever it calls, and under the journal fence what it writes then is seen to be refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation import standing
from falsework.runtime.invocation.answers import (
    Closed,
    Committed,
    Disposition,
    NotCommitted,
    ProbeAnswer,
    Report,
    Tally,
    Undecidable,
)
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.subjects.recoverable_invocation.flow import Flow, current
from falsework.runtime.subjects.recoverable_invocation.one_act import CLOSINGS, OneAct, resolved
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.resolving import DISPOSED
from falsework.runtime.subjects.recoverable_invocation.substrate import Write
from falsework.runtime.subjects.recoverable_invocation.world import (
    CALLER,
    FENCED_JOURNAL,
    FIGURES,
    KEY,
    KIND,
    LEDGER,
    OPERATOR,
    OUTCOME,
    SERVICE,
    deployment,
)

WRITERS = {CALLER: "INVOCATION", SERVICE: "SWEEP", OPERATOR: "OPERATOR"}
FOUND: Mapping[str, ProbeAnswer] = {
    "OUTCOME": Committed(OUTCOME, {"disclosure": KEY}),
    "ABANDONED": NotCommitted(),
    "ESCALATED": Undecidable(),
}


@dataclass
class Pending:
    """A writer's call, which stands before its closing, and how many closings it had read."""

    flow: Flow
    write: Write
    seen: int


class Writers(OneAct):
    """An invocation, a sweep and an operator, each with at most one closing on its way."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self.fenced = False
        self.pending: dict[str, Pending] = {}
        self.over = self.evicted = self.rivals = False
        self.told: ProbeAnswer = NotCommitted()
        self.trail.writes = stands_before_its_closing
        self.steps = {
            "close": lambda: self.calls("INVOCATION", self.close_as_it_is),
            "refuse": lambda: self.calls("INVOCATION", self.refuse_as_it_is),
            "sweep": self.sweep,
            "resolve": self.resolve,
            "land": self.land,
            "lose": self.lose,
            "age": self.age,
            "look": self.look,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """The intent stands, and its invocation has the section."""
        most, self.fenced = constants["CLOSINGS"], bool(constants["FENCE"])
        assert isinstance(most, int), "so many closings are a number"
        self.most = most

        def declared() -> Deployment:
            kind = replace(LEDGER, commit_fence=Fence("deadline parameter"))
            return deployment(FENCED_JOURNAL if self.fenced else FIGURES, kind)

        self.begin_with((self.fenced, "scanner"), declared)
        self.scanner = self.node
        self.begin_with(self.fenced, declared)
        self.open_act()

    def end_of_walk(self) -> None:
        """Nobody calls any more."""
        super().end_of_walk()
        for pending in self.pending.values():
            pending.flow.kill()
        self.pending = {}
        self.over = self.evicted = self.rivals = False

    def observe(self) -> Mapping[str, object]:
        """What the journal holds, and what is on its way there."""
        closings, slots = self.closings(), range(self.most)
        return {
            "closings": [closing_of(closings[slot]) if slot < len(closings) else None for slot in slots],
            "length": len(closings),
            "names": {
                (later, earlier): later < len(closings) > earlier
                and closings[earlier].event_id in named_by(closings[later])
                for later in slots
                for earlier in slots
            },
            "pending": {writer: self.on_its_way(writer) for writer in WRITERS.values()},
            "over": self.over,
            "evicted": self.evicted,
            "aged": self.is_aged(),
            "rivals": self.rivals,
        }

    def on_its_way(self, writer: str) -> Mapping[str, object] | None:
        """The writer's closing, on its way to the journal."""
        pending = self.pending.get(writer)
        if pending is None:
            return None
        return {"kind": CLOSINGS[pending.write.action_ref], "seen": pending.seen}

    # The writers.

    def calls(self, writer: str, does: Callable[[], object]) -> str:
        """The invocation calls, and stands as far as its gate can tell."""
        self.over = True
        row = self.sections.row(self.key_of(KEY))
        self.stands()
        answer = self.goes(writer, does)
        if self.evicted:
            self.sections.put(self.key_of(KEY), row)
            self.deliver_the_evicted("OPERATOR", "SWEEP")
        return answer

    def goes(self, writer: str, does: Callable[[], object]) -> str:
        """The call has gone as far as its closing, or to its end."""
        flow = Flow(does)
        flow.go()
        if isinstance(flow.waits_for, Write):
            self.pending[writer] = Pending(flow, flow.waits_for, len(self.closings()))
            return "WRITES"
        if isinstance(flow.answer, Closed):
            return f"LANDED_BY_{flow.answer.landed_by.name}"
        if isinstance(flow.answer, Tally):
            return "CLOSED_ALREADY" if flow.answer.closed_already else repr(flow.answer)
        told = resolved(flow.answer)
        return "WRITES" if told == "CLOSED" else told

    def enters(self, writer: str) -> None:
        """The writer has the section: under the fence the others' writes are dead, and are seen to try."""
        self.evicted = self.fenced
        if self.fenced:
            self.deliver_the_evicted(writer)

    def deliver_the_evicted(self, *standing: str) -> None:
        """Every other's write is delivered; where the journal takes it, it has landed."""
        for other in [writer for writer in self.pending if writer not in standing]:
            pending = self.pending.pop(other)
            answer = self.delivered(other, pending)
            if isinstance(answer, trail.Recorded):
                pending.flow.go(answer)
            pending.flow.kill()

    def delivered(self, writer: str, pending: Pending) -> trail.RecordAnswer:
        """The journal's answer; a closing that landed beside one that its writer had not seen is a rival."""
        before = len(self.closings())
        answer = pending.write.deliver()
        if len(self.closings()) > before:
            self.rivals = pending.seen < before or (self.rivals and writer != "OPERATOR")
        return answer

    def sweep(self, finding: str) -> str:
        """A run, which is told by the store what its closing needs."""
        self.told = FOUND[finding]
        hidden = [record.event_id for record in self.closings()]
        if hidden:
            rows = self.place.taken_out(hidden)
            self.starts_again()
            self.leases.before_takes.append(lambda: self.place.put_back(rows))
        answer = self.goes("SWEEP", self.node.reconcile)
        if hidden:
            self.starts_again()
        self.enters("SWEEP")
        return answer

    def probe(self, act_key: str, payload: trail.Data) -> ProbeAnswer:  # noqa: ARG002  told by the model
        """What the store says."""
        return self.told

    def resolve(self, disposition: str) -> str:
        """The operator's call."""
        said: Disposition = DISPOSED[disposition, "SOUND"]
        whose, node = self.whose, self.node
        answer = self.goes("OPERATOR", lambda: node.resolve(*whose, OPERATOR, credential_of(OPERATOR), said))
        self.enters("OPERATOR")
        return answer

    def land(self, writer: str) -> None:
        """The closing is appended, whatever came before it in the meantime."""
        pending = self.pending.pop(writer)
        pending.flow.go(self.delivered(writer, pending))
        again = pending.flow.waits_for
        if isinstance(again, Write):
            self.pending[writer] = Pending(pending.flow, again, pending.seen)

    def lose(self, writer: str) -> None:
        """The writer dies, and its closing with it."""
        self.pending.pop(writer).flow.kill()

    # The surfaces.

    def look(self, surface: str) -> Mapping[str, object]:
        """The state, the closing that stands and whether there are rivals, as the surface reads them."""
        if surface == "AUDIT":
            return self.audited()
        closings = self.closings()
        answer = self.node.read_invocation(KIND, KEY)
        assert isinstance(answer, Report), answer
        (entry,) = answer.invocations
        known = self.node.parties.indexes.in_the_journal((KIND, KEY), entry.invocation_id)
        assert not isinstance(known, trail.Unavailable), known
        stands = standing.standing(known.closings)
        events = [record.event_id for record in closings]
        duplicate = entry.binding_duplicate if surface == "READ_INVOCATION" else self.scanned()
        return {
            "state": entry.state.name,
            "standing": None if stands is None else events.index(stands.event_id),
            "duplicate": duplicate,
        }

    def scanned(self) -> bool:
        """Whether a run on another node, which scans the whole journal and closes nothing, finds rivals."""
        with self.store.transaction("world.found", flush=False) as transaction:
            transaction.write("DELETE FROM finding")
        self.leases.failing.append(True)
        self.starts_again(self.scanner)
        self.scanner.reconcile()
        self.leases.failing.clear()
        found = self.store.look("SELECT 1 FROM finding WHERE finding = 'binding duplicate'")
        return bool(found)

    def audited(self) -> Mapping[str, object]:
        """What an auditor reads from the names alone: the first that nothing names, and what it says."""
        closings = self.closings()
        named = {name for closing in closings for name in named_by(closing)}
        unnamed = [slot for slot, closing in enumerate(closings) if closing.event_id not in named]
        return {
            "state": state_of(closings[unnamed[0]]) if unnamed else "OPEN",
            "standing": unnamed[0] if unnamed else None,
            "duplicate": len(unnamed) > 1,
        }


def closing_of(record: trail.Record) -> Mapping[str, object]:
    """The closing's kind and writer."""
    return {"kind": CLOSINGS[record.action_ref], "by": WRITERS[record.actor_ref]}


def named_by(record: trail.Record) -> Sequence[object]:
    """The closings that the record supersedes by name."""
    match (record.data or {}).get("supersedes"):
        case None:
            return ()
        case str() as one:
            return (one,)
        case several:
            assert isinstance(several, Sequence)
            return several


def state_of(record: trail.Record) -> str:
    """What the closing makes of its invocation."""
    kind = CLOSINGS[record.action_ref]
    if kind == "ABANDONED" and record.actor_ref == OPERATOR:
        return "RESOLVED"
    return "CLOSED" if kind == "OUTCOME" else kind


def stands_before_its_closing(write: Write) -> trail.RecordAnswer:
    """A closing stands still on its way; an intent and a plan are written at once."""
    call = current()
    if call is None or write.action_ref not in CLOSINGS:
        return write.deliver()
    answer = call.stop(write)
    assert isinstance(answer, trail.RecordAnswer), answer
    return answer


class SupersessionSubject(Writers):
    """The writers with the journal fence."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_supersession_driven:FencedAsBuilt"


class SupersessionOnPostgres(SupersessionSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)


class UnfencedSubject(Writers):
    """The writers without the journal fence, where one that slept appends beside another."""

    model: ClassVar[str] = (
        "falsework.models.recoverable_invocation.records_supersession_driven:UnfencedAsBuilt"
    )


class UnfencedOnPostgres(UnfencedSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)
