"""The race's world on the real runtime: one store, five nodes, and what runs on them, each on its own thread.

The journal keeps its records for good, so each walk has an act and a stretch of the journal of its own.
"""

import functools
import itertools
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    Alert,
    Committed,
    Disposition,
    Escalate,
    NotCommitted,
    Opened,
    Outcome,
    Position,
    ProbeAnswer,
    RecordingFailure,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.close import close
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.findings import Register
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.open import open_act
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.reconcile import reconcile
from falsework.runtime.invocation.refuse import refuse, yield_act
from falsework.runtime.invocation.resolve import resolve
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.invocation.sizing import Sizing
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.actors import Actor, Crew
from falsework.runtime.subjects.race_parts import (
    CALLER,
    DATUM,
    FOR_EVER,
    KIND,
    OPERATOR,
    OUTCOME_REF,
    REFUSAL,
    SWEEP,
    TICK,
    AdoptersStore,
    Ahead,
    HandClock,
    Impatient,
    Mailbox,
    Message,
    NoWaiter,
    Process,
    Section,
    declared,
)
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import PLACED, AuditTrail, Seams
from falsework.runtime.trail.steward import Steward, found

NODES = ("INVOCATION", "FIRST_RUN", "SECOND_RUN", "OPERATOR", "ANOTHER")
SKEWS = {"FIRST_RUN": "SWEEP_SKEW", "SECOND_RUN": "SWEEP_SKEW", "OPERATOR": "OPERATOR_SKEW"}
CREDENTIALS = {
    name: fresh_credential(bytes([n]).__mul__) for n, name in enumerate(("admin", CALLER, OPERATOR, SWEEP), 1)
}
APART = 100 * TICK
"""From one walk to the next: longer than anything of a walk lasts."""
DISPOSITIONS: dict[str, Disposition] = {
    "OUTCOME": Outcome(OUTCOME_REF, {}),
    "ABANDONED": Abandon("the store holds nothing"),
    "ESCALATED": Escalate(("a record", "another")),
}


class _DryRun(BaseException):
    """The journal would have admitted the write; nothing was written."""


class Silence:
    """Alerts are for people, and nobody is here."""

    def alert(self, alert: Alert) -> None:
        """Nobody hears of it."""


class World:
    """The store and what stands in it, for one walk after another."""

    host_class: ClassVar[type[LeaseHost]] = Impatient
    journal_class: ClassVar[type[AuditTrail]] = AuditTrail
    section_class: ClassVar[type[Section]] = Section
    indexes_class: ClassVar[type[Indexes]] = Indexes
    mailbox_class: ClassVar[type[Mailbox]] = Mailbox

    def __init__(self) -> None:
        self.clock = HandClock(FOR_EVER)
        self.dry = False
        self.naming = ""
        self.store = self.opened(self.clock)
        salts = itertools.count(1)
        seams = Seams(lambda: self.naming, lambda size: next(salts).to_bytes(size, "big"))
        self.founded(seams)
        self.journal = self.journal_class(self.store, None, seams, self.failpoint)
        self.host = self.host_class(self.store, self.store, NoWaiter())
        self.register = Register(self.store)
        self.crew = Crew()
        self.walks = 0
        self.last = 0  # the last number in the journal, as far as anybody here has read

    def opened(self, clock: HandClock) -> SharedStore:
        """A database with the runtime's tables, of this world alone."""
        memory = Path("/dev/shm")  # noqa: S108  every flush is asked for as ever, and costs no turn of a disk
        where = memory if os.access(memory, os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(prefix="falsework-race-", dir=where)
        return SqliteStore(Path(self.folder.name) / "race.db", clock=clock)

    def founded(self, seams: Seams) -> None:
        """The journal has its administrator, its actors, and a retention for the kind's records."""
        numbers = itertools.count(1)
        naming = Seams(lambda: f"founding {next(numbers)}", seams.entropy)
        found(self.store, "admin", CREDENTIALS["admin"], naming)
        steward = Steward(AuditTrail(self.store, None, naming), "admin", CREDENTIALS["admin"])
        for actor in (CALLER, OPERATOR, SWEEP):
            steward.register(actor, public_key_of(CREDENTIALS[actor]))
        steward.declare_retention(f"{KIND}.", FOR_EVER)

    def failpoint(self, boundary: str) -> None:
        """A dry run of the journal's own transaction ends once it would be written."""
        if self.dry and boundary == PLACED:
            raise _DryRun

    def fresh(self, constants: Mapping[str, object]) -> None:
        """An act that nobody has heard of, and nobody at work."""
        self.crew.dismiss()
        self.walks += 1
        self.clock.instant += APART
        self.constants = constants
        self.deployment = self.declares(constants)
        self.first = self.last_number()
        self.act_key = f"act {self.walks}"
        behind = Ahead(None, self.clock, -self.number("STORE_LAG") * TICK)
        self.adopter = AdoptersStore(behind, fenced=bool(constants["COMMIT_FENCE"]))
        self.sizing = Sizing(self.journal, self.deployment.figures)
        self.nodes = {who: Process(who) for who in NODES}
        self.parties = {who: self.node(process) for who, process in self.nodes.items()}
        self.ghosts: set[str] = set()  # the holders that have died
        self.orphan: Message | None = None
        self.deaths = self.calls = self.written = 0
        self.let_in = False

    def declares(self, constants: Mapping[str, object]) -> Deployment:
        """The deployment with the model's figures."""
        return declared(constants)

    def dissolves(self) -> None:
        """Nobody is at work, the store is closed, and nothing is left of it."""
        self.crew.dismiss()
        self.store.close()
        self.clears_away()

    def clears_away(self) -> None:
        """The file is gone."""
        self.folder.cleanup()

    def number(self, name: str) -> int:
        """A constant of the model that is a number."""
        value = self.constants[name]
        assert isinstance(value, int), f"{name} = {value!r}, where a number was expected"
        return value

    def last_number(self) -> int:
        """The last number that the journal has given."""
        while True:
            page = self.journal.read_range(self.last)
            assert isinstance(page, trail.Page), f"the journal of a walk can be read, and answered {page}"
            self.last = page.cursor
            if page.complete:
                return self.last

    # The nodes.

    def node(self, process: Process) -> Parties:
        """One node of the instance, with maps of its own."""
        skew = self.number(SKEWS.get(process.who, "INVOCATION_SKEW")) * TICK
        mailbox = self.mailbox_class(self.journal, process, self.first, self.posted)
        kinds, figures = self.deployment.kinds, self.deployment.figures
        numbers = itertools.count(1)
        return Parties(
            self.deployment,
            mailbox,
            self.section_class(self.host, process, fenced=figures.journal_fence is not None),
            self.indexes_class(mailbox, kinds, figures, Ahead(None, self.clock, skew), in_order=True),
            self.sizing,
            self.register,
            Ahead(process, self.clock, skew),
            lambda: f"{self.walks} {process.who} {next(numbers)}",
            Silence(),
            {KIND: functools.partial(self.probed, process)},
            {KIND: CREDENTIALS[SWEEP]},
        )

    def probed(self, process: Process, act_key: str, payload: trail.Data) -> ProbeAnswer:  # noqa: ARG002
        """What the adopter's store says, as the driver has it."""
        process.meets("probe")
        answers: dict[str, ProbeAnswer] = {
            "COMMITTED": Committed(OUTCOME_REF, {}),
            "NOT_COMMITTED": NotCommitted(),
            "UNDECIDABLE": Undecidable(("a record", "another")),
            "UNAVAILABLE": StoreUnavailable("away"),
        }
        return answers[process.probe]

    # What runs on them.

    def starts(self, who: str, program: Callable[[], object]) -> Process:
        """A new process on the node, which has not taken a step yet."""
        process = self.nodes[who]
        process.begins(Actor(self.crew, who, program))
        process.replies = bool(self.constants.get("REPLIES", True))
        return process

    def invoked(self) -> object:
        """The adopter's service: Open, the commit under its fence, and what its arm calls for."""
        process, parties = self.nodes["INVOCATION"], self.parties["INVOCATION"]
        data = {DATUM: self.act_key}
        opened = open_act(parties, KIND, self.act_key, CALLER, CREDENTIALS[CALLER], data)
        if not isinstance(opened, Opened):
            return opened
        process.meets("commit")
        standing = Standing(section_key(KIND, self.act_key), opened.invocation_id)
        allowance = self.deployment.figures.clock_offset_allowance
        fenced = self.adopter.fenced
        self.adopter.send(parties.section.deadline(standing, allowance) if fenced else None)
        process.meets("arm")
        act = (KIND, self.act_key, opened.invocation_id)
        names = (*act, opened.intent_event_id, CALLER, CREDENTIALS[CALLER])
        if process.arm == "UNKNOWN":
            yield_act(parties, *act)
            return RecordingFailure(Position.OUTCOME, "on the unknown arm")
        if process.arm == "PRE_COMMIT":
            return refuse(parties, *names, "no", REFUSAL)
        return close(parties, *names, OUTCOME_REF, {})

    def running(self, who: str) -> object:
        """A run of the sweep."""
        return reconcile(self.parties[who])

    def resolving(self) -> object:
        """The operator's call, which names the intent that the invocation has written or will write."""
        chosen = DISPOSITIONS[self.nodes["OPERATOR"].disposition]
        names = (KIND, self.act_key, f"{self.walks} INVOCATION 1", self.event("intent"))
        return resolve(self.parties["OPERATOR"], *names, OPERATOR, CREDENTIALS[OPERATOR], chosen)

    def reopening(self) -> object:
        """A second Open of the act, on a node of its own."""
        parties, data = self.parties["ANOTHER"], {DATUM: "another"}
        return open_act(parties, KIND, self.act_key, CALLER, CREDENTIALS[CALLER], data)

    # Writes on their way.

    def event(self, name: object) -> str:
        """The event id of a record of this walk."""
        return f"{self.walks} {name}"

    def posted(self, process: Process, message: Message) -> bool:
        """The write is on its way, and an earlier one that is too is nobody's; whether its lease stands."""
        if process.message is not None and process.message.answer is None:
            self.orphan = process.message
        self.written += 1
        intent = message.action_ref == f"{KIND}.intended" and process.who == "INVOCATION"
        message.event_id = self.event("intent" if intent else self.written)
        process.message = message
        row = self.host.recorded(section_key(KIND, self.act_key))
        return row is not None and self.host.has_standing(row, process.holder, self.store.now())

    def delivered(self, message: Message) -> trail.RecordAnswer:
        """The write has arrived, and the journal has landed it in its own transaction, or refused it."""
        self.naming = message.event_id
        return self.journal.record_action(
            message.action_ref, message.actor_ref, message.credential, message.data, fence=message.fence
        )

    def refused(self, message: Message) -> trail.RecordAnswer | None:
        """How the journal would refuse the write now; None where it would land it. Nothing is written."""
        self.dry = True
        try:
            return self.delivered(message)
        except _DryRun:
            return None
        finally:
            self.dry = False

    def left(self, message: Message) -> int:
        """How long the journal will admit the write, by the lease in its database and by its own terminus."""
        bound = self.deployment.figures.journal_write_bound
        instants = [message.issued_at + bound]
        if message.fence is not None:
            row = self.host.recorded(message.fence.key)
            held = row is not None and row.holder == message.fence.holder
            instants = [message.fence.terminus, row.expires_at if row is not None and held else 0]
        return max(min(instants) - self.store.now(), 0)
