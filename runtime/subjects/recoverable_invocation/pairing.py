"""Which store record is whose, on the real runtime: two invocations of one act, along `records_pairing`.

The constituent's store and the probe that reads it are the world's. A run is one call of Reconcile, which
stands still between its plan and its outcome; what the model lets it come upon closed already was closed
while it waited for the section.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Committed,
    NotCommitted,
    Opened,
    ProbeAnswer,
    StoreUnavailable,
    Tally,
    Undecidable,
)
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.subjects.recoverable_invocation.flow import Flow, current
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.substrate import Write
from falsework.runtime.subjects.recoverable_invocation.world import (
    ANOTHER_CALLER,
    CALLER,
    FIGURES,
    KEY,
    KIND,
    LEDGER,
    OUTCOME,
    SERVICE,
    World,
    deployment,
)

WHO = (CALLER, ANOTHER_CALLER)
ROLES = {CALLER: "FIRST_CALLER", ANOTHER_CALLER: "SECOND_CALLER", SERVICE: "SERVICE"}
KINDS = {OUTCOME: "OUTCOME", LEDGER.ref("abandoned"): "ABANDONED", LEDGER.ref("escalated"): "ESCALATED"}
PARTS = {
    "closed": "CLOSED",
    "abandoned": "ABANDONED",
    "escalated": "ESCALATED",
    "skipped": "SKIPPED",
    "closed_already": "CLOSED_ALREADY",
}
TOO_LARGE = trail.InvalidRequest(trail.Source.PAYLOAD, "too large, by the walk")


@dataclass(frozen=True)
class Entry:
    """A record of the constituent's store: whose act it is, and what of the intent it holds."""

    whose: int
    nonce: int
    value: int


class RejectedRead(Exception):
    """The constituent's store does not understand the probe's query."""


class PairingSubject(World):
    """Two callers one after the other, a constituent's store, and the runs of a sweep."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_pairing:FourBindings"

    def __init__(self) -> None:
        super().__init__()
        self.cap = 0
        self.paired = self.meeting = self.alike = self.fenced = self.rederives = False
        self.opened: list[Opened | None] = [None, None]
        self.alive = [False, False]
        self.entries: list[Entry] = []
        self.mode = "ANSWERS"
        self.run: Flow | None = None
        self.examined = 0
        self.trail.writes = self.stands_before_its_outcome
        self.steps = {
            "start": self.start,
            "open": self.open_act,
            "commit": self.commit,
            "close": self.close_own,
            "die": self.die,
            "grow": self.grow,
            "examine": self.examine,
            "finish": self.finish,
            "crash": self.crash,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """The deployment is chosen by the first step."""
        cap = constants["CAP"]
        assert isinstance(cap, int), "a cap is a number"
        self.cap = cap

    def end_of_walk(self) -> None:
        """Nobody has opened anything, and no run is in flight."""
        if self.run is not None:
            self.run.kill()
        self.run = None
        self.opened, self.alive, self.entries = [None, None], [False, False], []

    def observe(self) -> Mapping[str, object]:
        """What the journal and the constituent's store hold."""
        return {
            "paired": self.paired,
            "meeting": self.meeting,
            "alike": self.alike,
            "fenced": self.fenced,
            "rederives": self.rederives,
            "opened": [self.intent(number) is not None for number in (0, 1)],
            "alive": list(self.alive),
            "age": [self.age(number) for number in (0, 1)],
            "store": [sum(entry.whose == number for entry in self.entries) for number in (0, 1)],
            "planned": [bool(self.naming(number, "recovery_intended")) for number in (0, 1)],
            "closing": [self.closing(number) for number in (0, 1)],
            "run": self.planned_run(),
        }

    def naming(self, number: int, word: str = "") -> list[trail.Record]:
        """The records that name the invocation, those with that word or all."""
        opened = self.opened[number]
        return [
            record
            for record in self.records()
            if opened is not None
            and record.data is not None
            and record.data.get("invocation_id") == opened.invocation_id
            and (not word or record.action_ref == LEDGER.ref(word))
        ]

    def intent(self, number: int) -> trail.Record | None:
        """The invocation's intent."""
        return next(iter(self.naming(number, "intended")), None)

    def age(self, number: int) -> str:
        """How old the journal's stamp of the intent is."""
        intent = self.intent(number)
        span = 0 if intent is None else self.clock.now() - intent.recorded_at
        return "FINAL" if span >= self.abandoned_at else "AGED" if span >= self.examined_at else "YOUNG"

    def closings(self, number: int) -> Sequence[trail.Record]:
        """The invocation's closings, in the journal's order."""
        return [record for record in self.naming(number) if record.action_ref in KINDS]

    def closing(self, number: int) -> Mapping[str, object] | None:
        """The invocation's closing, and what it says of itself."""
        closings = self.closings(number)
        if not closings:
            return None
        data, kind = closings[-1].data, KINDS[closings[-1].action_ref]
        assert data is not None
        candidates, cause = data.get("store_candidates", ()), data.get("cause")
        assert isinstance(candidates, Sequence)
        return {
            "kind": kind,
            "by": ROLES[closings[-1].actor_ref],
            "cause": None if cause is None else str(cause).replace("-", "_").upper(),
            "acting": ROLES.get(str(data.get("acting_actor_ref"))) if kind == "OUTCOME" else None,
            "derived": data.get("of"),
            "candidates": len(candidates),
            "ranged": "candidates_range" in data,
        }

    def planned_run(self) -> Mapping[str, object] | None:
        """The run in flight: of which invocation, and from whose store record its outcome is."""
        write = None if self.run is None else self.run.waits_for
        if not isinstance(write, Write):
            return None
        return {"invocation": self.examined, "derived": write.data.get("of")}

    # The invocations and the store.

    def start(self, paired: bool, meeting: bool, alike: bool, fenced: bool, rederives: bool) -> None:
        """The kind's bindings, and what the constituent's store is like."""
        self.paired, self.meeting, self.alike = paired, meeting, alike
        self.fenced, self.rederives = fenced, rederives

        def declared() -> Deployment:
            kind = LEDGER if paired else replace(LEDGER, pairing=None)
            fence = Fence("deadline parameter") if fenced else None
            figures = replace(FIGURES, intent_candidates_cap=self.cap)
            return deployment(figures, replace(kind, commit_fence=fence))

        self.begin_with((paired, fenced, self.cap), declared)

    def datum(self, number: int) -> int:
        """What pairs the invocation with its store record."""
        return 1 if self.meeting else number + 1

    def value(self, number: int) -> int:
        """All else that the intent says of the act."""
        return 0 if self.alike else number

    def open_act(self, invocation: int) -> None:
        """The caller's intent stands."""
        data: dict[str, trail.Json] = {"value": self.value(invocation)}
        if self.paired:
            data["nonce"] = self.datum(invocation)
        actor = WHO[invocation]
        answer = self.node.open(KIND, KEY, actor, credential_of(actor), data)
        if isinstance(answer, Opened):
            self.opened[invocation], self.alive[invocation] = answer, True

    def commit(self, invocation: int) -> None:
        """The constituent applies the act."""
        self.entries.append(Entry(invocation, self.datum(invocation), self.value(invocation)))

    def close_own(self, invocation: int) -> None:
        """The invocation, which stands, records its outcome."""
        opened, actor = self.opened[invocation], WHO[invocation]
        assert opened is not None
        self.sections.put(
            self.key_of(KEY), (opened.invocation_id, self.clock.now() + LEDGER.completion_bound)
        )
        pair = (opened.invocation_id, opened.intent_event_id)
        self.node.close(KIND, KEY, *pair, actor, credential_of(actor), OUTCOME, {"of": invocation})
        self.alive[invocation] = False

    def die(self, invocation: int) -> None:
        """The process is gone."""
        self.alive[invocation] = False

    def grow(self, invocation: int) -> None:
        """The intent is as old as a sweep examines, and then as a fenced store needs to have done."""
        opened = self.opened[invocation]
        assert opened is not None
        young = self.age(invocation) == "YOUNG"
        self.ages(opened.intent_event_id, self.examined_at if young else self.abandoned_at)
        self.starts_again()

    # The sweep.

    def probe(self, act_key: str, payload: trail.Data) -> ProbeAnswer:
        """What the adopter's probe reads: by the datum, or by all that the intent says; never a choice."""
        if self.mode == "REJECTS":
            raise RejectedRead(act_key)
        if self.mode == "UNREACHABLE":
            return StoreUnavailable("away")
        found = self.matching(payload)
        if not found:
            return NotCommitted()
        if self.paired and len(found) == 1 and self.rederives:
            return Committed(OUTCOME, {"of": found[0].whose})
        return Undecidable(tuple(f"record of {entry.whose}" for entry in found))

    def matching(self, payload: trail.Data) -> list[Entry]:
        """The store records that may be the intent's."""
        if self.paired:
            return [entry for entry in self.entries if entry.nonce == payload["nonce"]]
        return [entry for entry in self.entries if entry.value == payload["value"]]

    def stands_before_its_outcome(self, write: Write) -> trail.RecordAnswer:
        """A run stands still between its plan and its outcome; whatever else is written lands at once."""
        running = current()
        if running is None or write.action_ref != OUTCOME:
            return write.deliver()
        return write.deliver() if running.stop(write) is True else TOO_LARGE

    def examine(self, invocation: int, store: str) -> str:
        """A run that finds no section but the invocation's to be had, and goes as far as its plan."""
        self.mode, self.examined = store, invocation
        hidden = [record.event_id for record in self.closings(invocation)]
        owed = [number for number in (0, 1) if self.is_owed(number) or number == invocation]
        self.leases.failing.extend(number != invocation for number in owed)
        if hidden:
            rows = self.place.taken_out(hidden)
            self.starts_again()
            self.leases.before_takes.append(lambda: self.place.put_back(rows))
        node = self.node
        self.run = Flow(node.reconcile)
        self.run.go()
        self.leases.failing.clear()
        if hidden:
            self.starts_again()  # a mark that has passed a number is not to be moved back by this world
        return self.part(len(owed) - 1)

    def is_owed(self, number: int) -> bool:
        """Whether the invocation's intent is open and aged."""
        return self.intent(number) is not None and self.age(number) != "YOUNG" and not self.closings(number)

    def part(self, others: int) -> str:
        """What became of the act, by the run's tally, in which so many others were skipped."""
        assert self.run is not None
        if not self.run.done:
            return "PLANNED"
        tally, self.run = self.run.answer, None
        assert isinstance(tally, Tally), tally
        counts = {name: getattr(tally, word) for word, name in PARTS.items()}
        counts["SKIPPED"] -= others
        return ", ".join(name for name, count in counts.items() if count) or "NONE"

    def finish(self, fits: bool) -> str:
        """The journal takes the outcome, or finds it too large; and the run goes on to its end."""
        assert self.run is not None
        self.run.go(fits)
        return self.part(0)

    def crash(self) -> None:
        """The run's process is gone."""
        assert self.run is not None
        self.run.kill()
        self.run = None


class PairingOnPostgres(PairingSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)
