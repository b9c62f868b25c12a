"""The race on the real runtime: an invocation, two sweep runs and an operator, driven step by step.

Each process runs the runtime's own action on a thread of its own, and stands still wherever the model takes a
step of its own: before it takes the section, reads the journal, asks what remains, mints its fence's instant,
or waits for a reply. A step of the model is a process's way to its next such seam.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    ActInFlight,
    ActLanded,
    AlreadyAccounted,
    Closed,
    InvalidRequest,
    JournalUnavailable,
    NotKnown,
    RecordingFailure,
    RefusalRecorded,
    Resolved,
    SectionUnavailable,
    Tally,
)
from falsework.runtime.invocation.journal import Write
from falsework.runtime.invocation.section import section_key
from falsework.runtime.store import StoreUnknown
from falsework.runtime.subjects.race_parts import KIND, TICK, Message, Process
from falsework.runtime.subjects.race_view import View
from falsework.runtime.subjects.race_world import World
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, bent

AS_BUILT: dict[str, object] = {
    "JOURNAL_LAG": 0,  # the host reads the journal's own clock
    "LEASE_MARGIN": False,  # the journal looks at the lease itself, in its own database
    "JOURNAL_FENCE": True,
    "WRITE_FENCE": True,
    "WRITE_MARGIN": True,
    "COMMIT_MARGIN": True,
    "CLOSED_COMMIT_EDGE": False,
    "CLOSED_JOURNAL_EDGE": False,
    "VISIBLE_ON_RETURN": True,
    "GATE": True,
    "ASKS_AGAIN": True,
    "GIVES_UP": False,
    "ESCALATES_THE_YOUNG": False,
    "CLOSE_RE_READS": True,
    "RE_READ": True,
    "LOWER_EDGE": True,
    "SWEEP_READS_LATE": False,
    "OPERATOR_READS_LATE": False,
    "SUPERSEDES_NAMED": True,
    "PATIENCE": 1,
}
"""What the runtime does, in the model's constants; the others are a deployment's figures, or the world's."""

MISSED = trail.RecordingFailure(trail.Step.APPEND, trail.Because.BUSY, "another writer kept the journal")
PARTS = ("closed", "abandoned", "escalated", "reported", "skipped", "closed_already")


class NotNow(Exception):
    """The runtime finds nothing to do."""


class Unfit(Exception):
    """The model's configuration is not one that the runtime is built to."""


def named(answer: object) -> str:
    """The runtime's answer, as the model names it."""
    match answer:
        case Tally():
            return next((part.upper() for part in PARTS if getattr(answer, part)), "NOTHING_EXAMINED")
        case Closed(landed_by=who):
            return f"LANDED_BY_{who.name}"
        case RecordingFailure(position=position):
            return f"RECORDING_FAILURE_{position.name}"
        case InvalidRequest(cause=cause) if cause is not None:
            return cause.name
    return NAMES.get(type(answer), repr(answer))


NAMES: dict[type, str] = {
    SectionUnavailable: "SECTION_UNAVAILABLE",
    JournalUnavailable: "JOURNAL_UNAVAILABLE",
    ActInFlight: "ACT_IN_FLIGHT",
    ActLanded: "ACT_LANDED",
    AlreadyAccounted: "ALREADY_ACCOUNTED",
    NotKnown: "NOT_KNOWN",
    RefusalRecorded: "REFUSED",
    Resolved: "RESOLVED",
}


class Driven(World):
    """The runtime on an SQLite file, as a driver meets it; the configuration is a subclass's to name."""

    surface: ClassVar[str] = "driven SQLite"
    refuses: ClassVar[tuple[str, ...]] = ("run_starts",)
    internal: ClassVar[tuple[str, ...]] = ()
    refusals: ClassVar[tuple[type[Exception], ...]] = (NotNow,)
    unknowns: ClassVar[tuple[type[Exception], ...]] = (StoreUnknown,)
    bends: ClassVar[tuple[Bend, ...]] = ()  # of a runtime that is wrong on purpose

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """An act that nobody has heard of, and nobody at work."""
        for name, value in AS_BUILT.items():
            if constants[name] != value:
                raise Unfit(f"{name} is {constants[name]!r} in the model: the runtime is built to {value!r}")
        if not constants["REPLIES"] and (constants["FIRST_RUN"] or constants["SECOND_RUN"]):
            raise Unfit(
                "REPLIES is false in the model: a run would wait for its plan too, which is no step there"
            )
        self.fresh(constants)
        self.view = View(self)

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        """The action has happened; its answer by name."""
        with bent(self.bends):
            return getattr(self, action)(**arguments)

    def observe(self) -> Mapping[str, object]:
        """What the database holds, what is on its way, and where each process stands."""
        with bent(self.bends):
            return self.view.shown()

    def close(self) -> None:
        """Nothing is left of it."""
        self.dissolves()

    # How a process goes on.

    def goes(self, who: str, *passing: str) -> str:
        """The process stands at the first seam that it may not pass, or has ended; its answer."""
        process = self.nodes[who]
        assert process.actor is not None, f"{who} takes a step and is not there"
        if process.actor.go(passing):
            return "PROCEED"
        answer = process.actor.result
        if process.message is not None and process.message.answer is None:
            self.orphan = process.message
        process.forgets()
        if who != "INVOCATION":
            process.actor = None
        return named(answer)

    def reads(self, who: str, readable: bool, *passing: str) -> str:
        """The process goes on, and can read the journal or cannot."""
        process = self.nodes[who]
        process.readable = readable
        answer = self.goes(who, *passing)
        process.readable = True
        return answer

    def issues(self, who: str) -> None:
        """The process has minted its fence's instant, and its write is on its way or dead on arrival."""
        process = self.nodes[who]
        if process.replies:
            self.goes(who, "record")
        else:
            self.goes(who, "record", "remaining")
            if process.actor is not None and process.actor.remembers("begun", int) is None:
                self.pauses(process)
        message = process.message
        if message is not None:
            self.fences(message)

    def pauses(self, process: Process) -> None:
        """A writer that does not wait for its write's bound goes on behind its pause."""
        if process.actor is not None and process.actor.seam == "wait":
            self.goes(process.who, "wait")

    def returns(self, who: str, *passing: str) -> str:
        """The writer has its reply, or has read back what became of its write, or may not any more."""
        process = self.nodes[who]
        if process.actor is not None and process.actor.seam == "wait":
            answer = self.goes(who, "remaining")
            if answer != "PROCEED" or process.actor.seam != "read":
                return answer
        elif not process.replies:
            passing = (*passing, "remaining")  # it asks once, and finds that the lease has ended
        answer = self.goes(who, *passing)
        process.message = None
        return answer

    def fences(self, message: Message) -> bool:
        """A write past its fence is dead: the journal says so, in a transaction that writes nothing."""
        if message.answer is None and self.left(message) == 0:
            message.answer = self.refused(message)
        return message.answer is not None

    # The invocation.

    def open_takes(self) -> str:
        self.starts("INVOCATION", self.invoked)
        return self.goes("INVOCATION", "take")

    def open_reads(self, readable: bool) -> str:
        """Behind its read Open asks whether it still holds the section."""
        answer = self.reads("INVOCATION", readable)
        return self.goes("INVOCATION", "clock") if answer == "PROCEED" else answer

    def open_gates(self) -> str:
        return self.goes("INVOCATION")

    def open_issues(self) -> None:
        self.issues("INVOCATION")

    def open_returns(self) -> str:
        answer = self.returns("INVOCATION", "remaining")
        return "OPENED" if answer == "PROCEED" else answer

    def commits(self) -> None:
        self.goes("INVOCATION")

    def apply(self) -> None:
        self.adopter.apply()

    def commit_replies(self, arm: str) -> str:
        self.adopter.declined = self.adopter.declined or arm == "PRE_COMMIT"
        self.nodes["INVOCATION"].arm = self.taken_for(arm)
        return self.goes("INVOCATION")

    def taken_for(self, arm: str) -> str:
        """What the adopter's own partition makes of the store's reply."""
        return arm

    def close_gates(self) -> str:
        return self.goes("INVOCATION")

    def close_reads(self, readable: bool) -> str:
        return self.reads("INVOCATION", readable, "remaining")

    def close_issues(self) -> None:
        self.issues("INVOCATION")

    def close_returns(self, again: bool) -> str:  # noqa: ARG002
        """Whether Close tries again is its own to decide: the model says so likewise."""
        return self.returns("INVOCATION", "wait")

    # The sweep.

    def run_starts(self, run: str) -> None:
        there = run in ("FIRST_RUN", "SECOND_RUN") and self.constants[run]
        if not there or self.nodes[run].actor is not None:
            raise NotNow(f"{run} is no run that could start")
        self.starts(run, lambda: self.running(run))
        if self.goes(run, "clock", "read") != "PROCEED":
            raise NotNow("the run has found nothing to examine")

    def run_takes(self, run: str) -> str:
        return self.goes(run)

    def run_reads(self, run: str) -> str:
        return self.goes(run)

    def run_probes(self, run: str, probe: str) -> str:
        """First what remains, for whoever may write; then the store, and what it says is thought over."""
        actor = self.nodes[run].actor
        self.nodes[run].probe = probe
        if actor is not None and actor.seam == "remaining":
            answer = self.goes(run)
            if answer != "PROCEED":
                return answer
        return self.goes(run)

    def run_gates(self, run: str) -> str:
        """The plan of an outcome is a record of its own, under the same gate and in the same instant."""
        answer = self.goes(run)
        actor = self.nodes[run].actor
        write = actor.remembers("write", Write) if actor is not None else None
        if answer == "PROCEED" and write is not None and write.action_ref == f"{KIND}.recovery_intended":
            self.goes(run, "record")
            message = self.nodes[run].message
            assert message is not None, "a run that has passed its gate issues its plan"
            message.answer = self.delivered(message)
            answer = self.goes(run, "remaining")
            self.nodes[run].message = None
        return answer

    def run_issues(self, run: str) -> None:
        self.issues(run)

    def run_returns(self, run: str, again: bool) -> str:
        """A run tries again as long as it can read the journal."""
        message = self.nodes[run].message
        landed = message is not None and isinstance(message.answer, trail.Recorded)
        answer = self.reads(run, again or landed, "wait", "read")
        self.nodes[run].message = None
        return answer

    # The operator.

    def resolve_calls(self, disposition: str) -> None:
        self.calls += 1
        process = self.starts("OPERATOR", self.resolving)
        process.disposition, process.accounted = disposition, self.view.is_accounted()
        self.goes("OPERATOR", "clock")

    def resolve_takes(self) -> str:
        return self.goes("OPERATOR")

    def resolve_reads(self, readable: bool) -> str:
        return self.reads("OPERATOR", readable, "lookup")

    def resolve_gates(self) -> str:
        return self.goes("OPERATOR")

    def resolve_issues(self) -> None:
        self.issues("OPERATOR")

    def resolve_returns(self) -> str:
        return self.returns("OPERATOR")

    # A second Open, as far as its answer: what it does when it is let in is another invocation's story.

    def another_opens(self) -> str:
        process = self.starts("ANOTHER", self.reopening)
        assert process.actor is not None
        answer = self.goes("ANOTHER", "take", "read")
        if answer == "PROCEED":
            answer = self.goes("ANOTHER", "clock")
        if answer == "PROCEED":
            answer = "OPENED"
            process.actor.die()
            self.host.release(section_key(KIND, self.act_key), process.holder)
            self.let_in = self.let_in or not self.view.records()
        process.ends()
        return answer

    # The world.

    def land(self, who: str) -> None:
        """The write arrives, be its writer dead, and the journal lands it or refuses it."""
        if who == "GHOST":
            orphan, self.orphan = self.orphan, None
            assert orphan is not None, "a dead writer's write lands only while it is on its way"
            self.delivered(orphan)
            return
        message = self.in_flight(who)
        message.answer = self.delivered(message)

    def miss(self, who: str) -> None:
        """The writer is told that its write did not land; past its bound the write may go on by itself."""
        message = self.in_flight(who)
        if message.issued_at + self.deployment.figures.journal_write_bound <= self.store.now():
            self.orphan = replace(message)
        message.answer = MISSED

    def in_flight(self, who: str) -> Message:
        """The process's write that is on its way."""
        message = self.nodes[who].message
        assert message is not None, f"{who} has no write on its way"
        return message

    def die(self, who: str) -> None:
        """The process is gone where it stands: its lease runs on, and its write is nobody's."""
        process = self.nodes[who]
        assert process.actor is not None, f"{who} dies and is not there"
        self.deaths += 1
        self.ghosts.add(process.holder)
        if process.message is not None and process.message.answer is None:
            self.orphan = process.message
        process.actor.die()
        self.host.connection_lost(process.holder)
        process.forgets()
        if who != "INVOCATION":
            process.actor = None
        self.fences_the_orphan()

    def fences_the_orphan(self) -> None:
        """A dead writer's write that the journal admits no longer is gone."""
        if self.orphan is not None and self.fences(self.orphan):
            self.orphan = None

    def pass_time(self) -> None:
        """A tick has passed on every clock, and the journal admits no longer what is past its fence."""
        self.clock.instant += TICK
        for process in self.nodes.values():
            if process.message is not None:
                self.fences(process.message)
        self.fences_the_orphan()


class RaceSubject(Driven):
    """The invocation and a run of the sweep, and nobody dies."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:Driven"


class InvocationSubject(Driven):
    """The invocation by itself: it dies anywhere, tries again, and meets a second Open."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:DrivenInvocation"


class LostSubject(Driven):
    """The invocation by itself: every reply of the journal is lost, and what was written is read back."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:DrivenLost"


class DeathsSubject(Driven):
    """The invocation and a run of the sweep, and one of them dies anywhere."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:DrivenDeaths"


class OperatorSubject(Driven):
    """The invocation and an operator."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:DrivenOperator"


class TogetherSubject(Driven):
    """The invocation, a run of the sweep and an operator: more than can be driven whole."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:DrivenTogether"
