"""Open's checks on the real runtime: two invocations of one act, driven along `records_opening`.

An Open whose intent is on its way to the journal is a call that stands still; it lands, in time or late, or
it fails. Under the journal fence what has lost its section is delivered as soon as another has it, since it
can never land: where it does land, that is seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    ActInFlight,
    ActLanded,
    InvalidRequest,
    JournalUnavailable,
    Opened,
    Outcome,
    Report,
    SectionUnavailable,
    Tally,
)
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.subjects.recoverable_invocation import flow
from falsework.runtime.subjects.recoverable_invocation.flow import Flow
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.substrate import ANOTHER, Write
from falsework.runtime.subjects.recoverable_invocation.world import (
    CALLER,
    FENCED_JOURNAL,
    FIGURES,
    KEY,
    KIND,
    LEDGER,
    OPERATOR,
    OUTCOME,
    REFUSED_CODE,
    SECOND,
    SERVICE,
    World,
    deployment,
)

CLOSINGS = {
    "disclosed": "OUTCOME",
    "refused": "REFUSED",
    "escalated": "ESCALATED",
    "abandoned": "ABANDONED",
}
INVALID = ("EMPTY", "BY_SERVICE", "OUTCOME_TOO_LARGE", "ESCALATION_TOO_LARGE")
CAPS = {"OUTCOME_TOO_LARGE": 3_000, "ESCALATION_TOO_LARGE": 6_500}
"""An intent takes some 300 bytes, an outcome at most 4,096 and the names in it, an escalation 21 times
the 256 of a reference and the names: no outcome fits the first cap, and no escalation the second."""
FAILED = trail.RecordingFailure(trail.Step.APPEND, trail.Because.FAILED, "by the walk")
CODES = {
    InvalidRequest: "INVALID_REQUEST",
    SectionUnavailable: "SECTION_UNAVAILABLE",
    JournalUnavailable: "JOURNAL_UNAVAILABLE",
    ActInFlight: "ACT_IN_FLIGHT",
    ActLanded: "ACT_LANDED",
}


@dataclass
class Caller:
    """One invocation, as its process knows it, and whether the constituent has applied its act."""

    number: int
    invocation_id: str = ""
    flow: Flow | None = None
    opened: Opened | None = None
    alive: bool = False  # it was answered, and has not closed
    committed: bool = False

    @property
    def write(self) -> Write | None:
        """Its intent, on the way to the journal."""
        waits_for = None if self.flow is None else self.flow.waits_for
        return waits_for if isinstance(waits_for, Write) else None


@dataclass
class Walk:
    """What one walk knows beside the journal."""

    callers: list[Caller] = field(default_factory=list)
    last_refused: str | None = None  # the invocation of the last call of Open, if it was refused
    flawed: bool = False
    probed: set[str] = field(default_factory=set)


class OpeningSubject(World):
    """One node, one act, two callers, a sweep and an operator."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_opening:FourDeployments"

    def __init__(self) -> None:
        super().__init__()
        self.walk = Walk()
        self.invocations = 0
        self.opening: Caller | None = None
        self.service = self.repeatable = self.fenced = False
        self.trail.writes = stands_still
        self.steps = {
            "start": self.start,
            "open_act": self.open_act,
            "land": self.land,
            "fail": self.fail,
            "commit": self.commit,
            "age": self.age,
            "close": self.close_own,
            "sweep": self.sweep,
            "resolve": self.resolve,
            "look": self.look,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """Nobody has opened anything; the deployment is chosen by the first step."""
        invocations = constants["INVOCATIONS"]
        assert isinstance(invocations, int), "the model's invocations are numbered"
        self.invocations = invocations

    def end_of_walk(self) -> None:
        """Whatever stands still is gone."""
        for caller in self.walk.callers:
            if caller.flow is not None:
                caller.flow.kill()
        self.walk = Walk([Caller(number) for number in range(self.invocations)])

    def observe(self) -> Mapping[str, object]:
        """What the journal, the register, the section and the callers hold."""
        row = self.sections.row(self.key_of(KEY))
        records = self.records()
        held = [naming(records, caller) for caller in self.callers]
        found = self.store.look("SELECT invocation_id FROM finding WHERE finding = 'closure-at-risk'")
        surfaced = {name for (name,) in found}
        return {
            "service": self.service,
            "repeatable": self.repeatable,
            "fenced": self.fenced,
            "stage": [stage_of(caller, found) for caller, found in zip(self.callers, held, strict=True)],
            "aged": [self.is_aged(found) for found in held],
            "alive": [is_alive(caller, row) for caller in self.callers],
            "committed": [caller.committed for caller in self.callers],
            "surfaced": [caller.invocation_id in surfaced for caller in self.callers],
            "kept": row is not None and row[1] > self.clock.now() and row[0] == self.walk.last_refused,
            "flawed": self.walk.flawed,
        }

    # What stands where.

    @property
    def callers(self) -> list[Caller]:
        """Both invocations."""
        return self.walk.callers

    def records_of(self, caller: Caller) -> list[trail.Record]:
        """The journal's records that name the invocation, in its order."""
        return naming(self.records(), caller)

    def intent_of(self, caller: Caller) -> trail.Record:
        """The invocation's intent, which has landed."""
        return self.records_of(caller)[0]

    def is_aged(self, records: Sequence[trail.Record]) -> bool:
        """Whether the journal's stamp of the intent is as old as a sweep examines."""
        return bool(records) and self.clock.now() - records[0].recorded_at >= self.examined_at

    def applied(self, act_key: str, payload: trail.Data) -> trail.Data | None:
        """The constituent's record with the intent's nonce, if there is one."""
        name = payload["invocation_id"]
        self.walk.probed.add(str(name))
        committed = any(caller.committed for caller in self.callers if caller.invocation_id == name)
        return {"disclosure": act_key} if committed else None

    def named(self, number: int) -> str:
        """The id that is drawn next, which in an Open is the invocation's."""
        name = super().named(number)
        if self.opening is not None:
            self.opening.invocation_id = name
        return name

    # Open.

    def start(self, service: bool, repeatable: bool, fenced: bool) -> None:
        """The deployment is one of eight."""
        self.service, self.repeatable, self.fenced = service, repeatable, fenced

        def declared() -> Deployment:
            identity = LEDGER.service_identity if service else None
            figures = FENCED_JOURNAL if fenced else FIGURES
            return deployment(figures, replace(LEDGER, repeatable=repeatable, service_identity=identity))

        self.begin_with((service, repeatable, fenced), declared)

    def open_act(self, invocation: int, call: str) -> Mapping[str, object]:
        """The caller's Open goes as far as its intent, or is refused."""
        caller = self.callers[invocation]
        caller.invocation_id = ""
        before = self.sections.row(self.key_of(KEY))
        self.meet(call)
        actor = SERVICE if call == "BY_SERVICE" else CALLER
        credential = "" if call == "EMPTY" else credential_of(actor)
        data = {"nonce": invocation + 1}
        node = self.node
        self.opening = caller
        caller.flow = Flow(lambda: node.open(KIND, KEY, actor, credential, data))
        caller.flow.go()
        self.opening = None
        self.meet_no_more()
        answer = self.answered(caller)
        issued = answer["code"] == "ISSUED"
        self.walk.last_refused = None if issued else caller.invocation_id
        self.walk.flawed = self.walk.flawed or (issued and call in INVALID)
        if answer["code"] == "SECTION_UNAVAILABLE":
            self.give_back(before)
        self.deliver_what_is_shut_out()
        return answer

    def meet(self, call: str) -> None:
        """What the call is to meet on its way is set up."""
        key, bound = self.key_of(KEY), FIGURES.journal_write_bound
        if call in CAPS:
            self.trail.caps = replace(self.audit.caps, payload=CAPS[call])
        elif call == "SECTION_TAKEN":
            self.sections.put(key, (ANOTHER, self.clock.now() + SECOND))
            self.leases.patience.another_is_first = True
        elif call == "READ_FAILS":
            self.trail.down = True
        elif call == "READ_EXHAUSTS_LEASE":
            self.trail.during_reads.append(lambda: self.passes(LEDGER.completion_bound))
        elif call == "TOO_LITTLE_LEFT":
            self.trail.during_reads.append(lambda: self.passes(LEDGER.completion_bound - bound + 1))

    def meet_no_more(self) -> None:
        """Nothing is in the way of the next call, and time stands where it stood."""
        self.trail.caps = self.audit.caps
        self.trail.down = self.leases.patience.another_is_first = False
        self.trail.during_reads.clear()
        self.stands_again(KEY)

    def answered(self, caller: Caller) -> Mapping[str, object]:
        """The answer of Open by the model's names; an intent on its way is issued."""
        assert caller.flow is not None
        if not caller.flow.done:
            return {"code": "ISSUED", "names": None}
        answer = caller.flow.answer
        names = None
        if isinstance(answer, ActInFlight):
            names = self.number_of(answer.invocation_id)
        elif isinstance(answer, ActLanded):
            closing = self.audit.read_record(answer.outcome_event_id)
            assert isinstance(closing, trail.Retained) and closing.record.data  # noqa: PT018  one claim
            names = self.number_of(closing.record.data["invocation_id"])
        return {"code": CODES.get(type(answer), repr(answer)), "names": names}

    def number_of(self, invocation_id: object) -> int | None:
        """The model's number of the invocation."""
        found = [caller.number for caller in self.callers if caller.invocation_id == invocation_id]
        return found[0] if found else None

    def give_back(self, row: tuple[str, int] | None) -> None:
        """The section is whose it was, if that one's intent is still on its way."""
        if row is not None and any(caller.write for caller in self.callers if caller.invocation_id == row[0]):
            self.sections.put(self.key_of(KEY), row)

    def deliver_what_is_shut_out(self) -> None:
        """Under the fence a write whose section is another's can never land, and is seen to try."""
        holder = self.sections.holder(self.key_of(KEY))
        for caller in self.callers:
            if self.fenced and caller.write is not None and caller.invocation_id != holder:
                self.land(caller.number)

    def land(self, invocation: int) -> None:
        """The intent arrives at the journal, and its Open goes on with the answer."""
        write = self.callers[invocation].write
        assert write is not None, "only what is on its way arrives"
        self.go_on(self.callers[invocation], write.deliver())

    def fail(self, invocation: int) -> None:
        """The journal could not append, and the Open goes on with that."""
        self.go_on(self.callers[invocation], FAILED)

    def go_on(self, caller: Caller, answer: trail.RecordAnswer) -> None:
        """The Open has had its write's answer."""
        assert caller.flow is not None
        caller.flow.go(answer)
        if caller.flow.done and isinstance(caller.flow.answer, Opened):
            caller.opened, caller.alive = caller.flow.answer, True

    # The act, and whoever closes it.

    def commit(self, invocation: int) -> None:
        """The constituent applies the act."""
        self.callers[invocation].committed = True

    def age(self, invocation: int) -> None:
        """The intent is as old as a sweep examines."""
        self.ages(self.intent_of(self.callers[invocation]).event_id, self.examined_at)
        self.starts_again()

    def close_own(self, invocation: int) -> None:
        """The invocation, which stands, closes: by its outcome, or by the constituent's refusal."""
        caller = self.callers[invocation]
        assert caller.opened is not None
        name, event_id = caller.opened.invocation_id, caller.opened.intent_event_id
        self.sections.put(self.key_of(KEY), (name, self.clock.now() + LEDGER.completion_bound))
        whose = (KIND, KEY, name, event_id, CALLER, credential_of(CALLER))
        if caller.committed:
            self.node.close(*whose, OUTCOME, {"disclosure": KEY})
        else:
            self.node.refuse(*whose, "no authority", REFUSED_CODE)
        caller.alive = False

    def sweep(self, invocation: int) -> str:
        """A run that finds no other section of this act than the invocation's to be had."""
        caller = self.callers[invocation]
        before = self.sections.row(self.key_of(KEY))
        owed = [found for found in self.callers if self.is_owed(found)]
        owed.sort(key=lambda found: self.intent_of(found).sequence_number)
        self.leases.failing.extend(found is not caller for found in owed)
        self.walk.probed.clear()
        tally = self.swept()
        self.give_back(before)
        if caller.invocation_id not in self.walk.probed:
            return "NOT_KEPT"
        return "REPORTED" if tally.reported == len(owed) else "CLOSED"

    def swept(self) -> Tally:
        """A run's tally."""
        answer = self.node.reconcile()
        self.leases.failing.clear()
        assert isinstance(answer, Tally), answer
        return answer

    def is_owed(self, caller: Caller) -> bool:
        """Whether the invocation's intent stands open and is aged."""
        records = self.records_of(caller)
        return stage_of(caller, records) == "OPEN" and self.is_aged(records)

    def resolve(self, invocation: int) -> None:
        """An operator closes by what the constituent holds, nobody being left who could commit."""
        caller = self.callers[invocation]
        before = self.sections.row(self.key_of(KEY))
        done = Outcome(OUTCOME, {"disclosure": KEY}) if caller.committed else Abandon("nobody is left")
        self.node.resolve(
            KIND,
            KEY,
            caller.invocation_id,
            self.intent_of(caller).event_id,
            OPERATOR,
            credential_of(OPERATOR),
            done,
        )
        caller.alive = False
        self.give_back(before)

    def look(self) -> bool:
        """Whether a read of the act reports two open intents."""
        answer = self.node.read_invocation(KIND, KEY)
        return isinstance(answer, Report) and answer.binding_duplicate


class OpeningOnPostgres(OpeningSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)


def stands_still(write: Write) -> trail.RecordAnswer:
    """An intent stands still on its way; whatever else is written is written at once."""
    call = flow.current()
    if call is None:
        return write.deliver()
    answer = call.stop(write)
    assert isinstance(answer, trail.RecordAnswer), answer
    return answer


def naming(records: Sequence[trail.Record], caller: Caller) -> list[trail.Record]:
    """Those of the records that name the invocation."""
    name = caller.invocation_id
    return [record for record in records if record.data and record.data["invocation_id"] == name]


def stage_of(caller: Caller, records: Sequence[trail.Record]) -> str:
    """How far the invocation is: its last closing, its intent, or the intent's way."""
    if caller.write is not None:
        return "FLYING"
    words = [record.action_ref.partition(".")[2] for record in records]
    if "intended" not in words:
        return "NONE"
    if words[-1] == "intended":
        return "OPEN"
    return next((CLOSINGS[word] for word in reversed(words) if word in CLOSINGS), "OPEN")


def is_alive(caller: Caller, row: tuple[str, int] | None) -> bool:
    """Whether the invocation may still commit: its section is not another's before it has landed."""
    if caller.write is not None:
        return row is not None and row[0] == caller.invocation_id
    return caller.alive
