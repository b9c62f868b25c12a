"""An adopter's action around its commit on the real runtime, driven along `records_adopter`.

The action is the runtime's own block, one call that stands still in its commit and before each re-read. Where
the model lets it write after its lease has ended, the lease ends behind the gate: between that and the write
is the only place for it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Closed,
    Misuse,
    NotCommitted,
    Outcome,
    Position,
    ProbeAnswer,
    RecordingFailure,
    Undecidable,
)
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.invocation.use import ConstituentRefused, InvocationFailed
from falsework.runtime.subjects.recoverable_invocation.flow import Flow, current
from falsework.runtime.subjects.recoverable_invocation.one_act import CLOSINGS, NOTHING, OneAct
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.substrate import Write
from falsework.runtime.subjects.recoverable_invocation.world import (
    CALLER,
    FIGURES,
    GUARDED_CODE,
    KEY,
    KIND,
    LEDGER,
    OUTCOME,
    REFUSED_CODE,
    SERVICE,
    deployment,
)

DONE = Outcome(OUTCOME, {"disclosure": KEY})
REPLIES: Mapping[str, Outcome | Exception] = {
    "ACCEPTED": DONE,
    "REFUSED": ConstituentRefused(REFUSED_CODE),
    "GUARDED": ConstituentRefused(GUARDED_CODE),
    "LOST": ConnectionError("the line went dead"),
    "UNDECLARED": ConstituentRefused("teapot"),
}
CODES = {
    REFUSED_CODE: "CONSTITUENTS_OWN",
    GUARDED_CODE: "CONSTITUENTS_OWN",
    "already-accounted": "ALREADY_ACCOUNTED",
    "recording-failure(outcome)": "RECORDING_FAILURE_OUTCOME",
    "recording-failure(refusal": "RECORDING_FAILURE_REFUSAL",
}
IN_COMMIT, AT_READ = "in its commit", "before its re-read"


class AdopterSubject(OneAct):
    """One block on one node, and a sweep on another."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_adopter:Adopter"

    def __init__(self) -> None:
        super().__init__()
        self.flow: Flow | None = None
        self.reply: str | None = None
        self.invocation_id = ""
        self.looked = self.expired = False
        self.told: ProbeAnswer = NotCommitted()
        self.steps = {
            "open_act": self.open_block,
            "reply": self.replies,
            "confirm": self.confirm,
            "finish": self.finish,
            "yield_section": self.yield_section,
            "stray": self.stray,
            "expire": self.expire,
            "sweep": self.sweep,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:  # noqa: ARG002  the model has none
        """Nobody has opened anything, and the kind is fenced, so that a run may abandon."""

        def declared() -> Deployment:
            return deployment(FIGURES, replace(LEDGER, commit_fence=Fence("deadline parameter")))

        self.begin_with("sweeper", declared)
        self.sweeper = self.node
        self.begin_with("adopter", declared)
        self.trail.before_reads = self.stands_before_its_read

    def end_of_walk(self) -> None:
        """The block's process is gone."""
        super().end_of_walk()
        if self.flow is not None:
            self.flow.kill()
        self.flow, self.reply, self.invocation_id = None, None, ""
        self.looked = self.expired = False
        self.trail.next_writes.clear()

    def observe(self) -> Mapping[str, object]:
        """Where the block stands, and what the journal and the section hold."""
        stage = self.stage()
        row = self.sections.row(self.key_of(KEY))
        standing = row is not None and row[0] == self.invocation_id and row[1] > self.clock.now()
        return {
            "stage": stage,
            "part": self.part(),
            "happened": self.happened,
            "standing": standing,
            "held": stage not in ("START", "RETURNED"),
            "looked": self.looked,
            "written": self.closed_by(CALLER),
            "swept": self.closed_by(SERVICE),
        }

    def stage(self) -> str:
        """How far the block is."""
        if self.flow is None:
            return "START"
        if self.flow.done:
            return "RETURNED"
        if self.flow.waits_for == AT_READ:
            return "CONFIRMED"
        return "OPENED" if self.reply is None else "REPLIED"

    def part(self) -> str | None:
        """In which part of the node's own binding the reply is."""
        match self.reply and REPLIES[self.reply]:
            case None:
                return None
            case Outcome():
                return "COMMITTED"
            case ConstituentRefused(code=code) if code in LEDGER.partition.pre_commit:
                return "PRE_COMMIT"
        return "UNKNOWN"

    def closed_by(self, actor: str) -> str:
        """The closing that the actor has written."""
        refs = [record.action_ref for record in self.closings() if record.actor_ref == actor]
        found = CLOSINGS[refs[-1]] if refs else "NONE"
        return "REFUSAL" if found == "REFUSED" else found

    # The block.

    def open_block(self) -> None:
        """The block is entered, and its commit has begun."""
        node = self.node

        def block() -> object:
            try:
                with node.invocation(KIND, KEY, CALLER, credential_of(CALLER), {"nonce": 7}) as act:
                    self.invocation_id = act.invocation_id
                    return act.commit(self.commits)
            except InvocationFailed as failed:
                return failed

        self.flow = Flow(block)
        self.flow.go()

    def commits(self) -> Outcome:
        """The constituent's reply, once there is one and somebody goes on with it."""
        running = current()
        assert running is not None
        running.stop(IN_COMMIT)
        reply = REPLIES[self.reply or "LOST"]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def stands_before_its_read(self) -> bool:
        """The block stands still before it re-reads, and is told whether it can."""
        running = current()
        if running is None or running is not self.flow or self.reply is None:
            return True
        self.looked = True
        return running.stop(AT_READ) is True

    def replies(self, reply: str, applied: bool) -> None:
        """The constituent has replied, or the line is dead."""
        self.reply, self.happened = reply, applied

    def confirm(self) -> str:
        """The block goes on to its re-read, or returns before it."""
        return self.goes_on(None)

    def finish(self, journal: bool) -> str:
        """It re-reads, or cannot; where nobody else has closed, a lease that ended did so behind the gate."""
        if self.expired and self.closed_by(SERVICE) == "NONE":
            self.sections.put(
                self.key_of(KEY), (self.invocation_id, self.clock.now() + LEDGER.completion_bound)
            )
            self.trail.next_writes.append(self.after_its_lease)
        return self.goes_on(journal)

    def after_its_lease(self, write: Write) -> trail.RecordAnswer:
        """The writer's lease has ended, and its write is on its way."""
        self.sections.ends(self.key_of(KEY))
        return write.deliver()

    def yield_section(self) -> str:
        """The block goes on with a reply that tells nothing."""
        return self.goes_on(None)

    def goes_on(self, told: object) -> str:
        """The block's code, or that it stands still again."""
        assert self.flow is not None
        self.flow.go(told)
        self.trail.next_writes.clear()
        if self.expired and self.sections.held_by(self.key_of(KEY)) == self.invocation_id:
            self.sections.ends(self.key_of(KEY))
        return coded(self.flow.answer) if self.flow.done else "GOES_ON"

    def stray(self, call: str, checks: bool) -> str:
        """A pair that no Open returned: the block's own check, or the action's first step."""
        block = self.node.invocation(KIND, KEY, CALLER, credential_of(CALLER), {"nonce": 7})
        pair = (NOTHING.invocation_id, NOTHING.intent_event_id)
        whose = (KIND, KEY, *pair, CALLER, credential_of(CALLER))
        try:
            if checks:
                return coded(block.commit(lambda: DONE))
            if call == "CLOSE":
                return coded(self.node.close(*whose, DONE.action_ref, DONE.data))
            return coded(self.node.refuse(*whose, "no authority", REFUSED_CODE))
        except Misuse:
            return "NOT_OPEN"

    # Its surroundings.

    def expire(self) -> None:
        """The invocation's lease has ended."""
        self.expired = True
        self.sections.ends(self.key_of(KEY))

    def sweep(self, closing: str) -> None:
        """A run on another node, which is told by the constituent's store what the closing needs."""
        self.told = Undecidable() if closing == "ESCALATED" else NotCommitted()
        intent = self.refs("intended")[0]
        self.ages(intent.event_id, self.abandoned_at)
        self.starts_again(self.sweeper)
        self.sweeper.reconcile()

    def probe(self, act_key: str, payload: trail.Data) -> ProbeAnswer:
        """What the store has, or that it cannot tell."""
        return self.told if isinstance(self.told, Undecidable) else super().probe(act_key, payload)


def coded(answer: object) -> str:
    """What the action tells its caller, by the model's names."""
    if isinstance(answer, Closed):
        return f"LANDED_BY_{answer.landed_by.name}"
    if isinstance(answer, RecordingFailure):
        position = Position.REFUSAL if answer.position is Position.REFUSAL else Position.OUTCOME
        return f"RECORDING_FAILURE_{position.name}"
    code = answer.code if isinstance(answer, InvocationFailed) else repr(answer)
    return next((name for start, name in CODES.items() if code.startswith(start)), code)


class AdopterOnPostgres(AdopterSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)
