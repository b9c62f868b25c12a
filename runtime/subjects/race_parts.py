"""What the race's world is made of: clocks, the mailbox before the journal, the adopter's store.

The journal, its fence, the section host and the protocol are the runtime's own. A write is issued into the
mailbox, and lands when the driver says so, in the journal's own transaction, be its writer dead or not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from falsework.runtime import trail
from falsework.runtime.clock import Clock
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
from falsework.runtime.invocation.section import ActSection, Standing
from falsework.runtime.lease import LeaseHost, Waiting
from falsework.runtime.subjects.actors import Actor
from falsework.runtime.trail.journal import AuditTrail

KIND, OUTCOME, OUTCOME_REF, REFUSAL, DATUM = "payment", "made", "payment.made", "declined", "nonce"
CALLER, OPERATOR, SWEEP = "carla", "olga", "payment-reconciler"
TICK = 1_000
"""A tick of the model in the clocks' units: whole, so that every edge of the runtime falls on a tick."""
FOR_EVER = 10**12
"""A span that no walk comes to the end of."""


@dataclass
class HandClock:
    """A clock that reads what stands in it."""

    instant: int

    def now(self) -> int:
        """The instant it was set to."""
        return self.instant


class Process:
    """One node and the process on it, while there is one: what its program meets, and what it waits for."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.actor: Actor[object] | None = None
        self.forgets()

    def forgets(self) -> None:
        """Nothing is known of a process that has ended, or has yet to begin."""
        self.holder = ""
        self.terminus = 0  # of its latest lease
        self.message: Message | None = None
        self.readable = self.replies = True
        self.accounted = False  # whether the act had an account when the operator was called
        self.arm = self.probe = self.disposition = ""

    def begins(self, actor: Actor[object]) -> None:
        """A new process is on the node."""
        self.forgets()
        self.actor = actor

    def ends(self) -> None:
        """Nobody is on the node any more."""
        self.forgets()
        self.actor = None

    def meets(self, seam: str) -> None:
        """The process stands at the seam, until it may go on."""
        if self.actor is not None:
            self.actor.meets(seam)


@dataclass
class Message:
    """A write on its way to the journal: as it was issued, when, and its answer once there is one."""

    action_ref: str
    actor_ref: str
    credential: str
    data: trail.Data
    fence: trail.Fence | None
    issued_at: int
    event_id: str = ""
    answer: trail.RecordAnswer | None = None


class Ahead:
    """A process's own clock, ahead of the host's by its skew; a seam where its program reads it."""

    def __init__(self, process: Process | None, clock: Clock, skew: int) -> None:
        self.process, self.clock, self.skew = process, clock, skew

    def now(self) -> int:
        """The reading."""
        if self.process is not None:
            self.process.meets("clock")
        return self.clock.now() + self.skew


class NoWaiter:
    """Time passes when the driver says so, and never because somebody waits."""

    def wait_until(self, instant: int) -> None:
        """A good moment to look again."""


class Impatient(LeaseHost):
    """The host's first further look is its last: a take is waited for by not happening yet.

    How long it may wait is the lease's own model, which has a subject of its own.
    """

    def gives_up(self, waiting: Waiting, now: int) -> bool:  # noqa: ARG002
        """Always."""
        return True


class Section(ActSection):
    """The act's section, met by a process at its seams."""

    def __init__(self, host: LeaseHost, process: Process, *, fenced: bool) -> None:
        super().__init__(host, fenced=fenced)
        self.process = process

    def take(self, standing: Standing, duration: int) -> bool:
        """A seam, and then the host's own take."""
        self.process.meets("take")
        self.process.holder = standing.holder
        taken = super().take(standing, duration)
        row = self.host.recorded(standing.key)
        self.process.terminus = row.expires_at if taken and row is not None else 0
        return taken

    def remaining(self, standing: Standing) -> int | None:
        """A seam, and then the host's own answer."""
        self.process.meets("remaining")
        return super().remaining(standing)

    def wait(self, span: int) -> None:  # noqa: ARG002
        """Nothing has passed by itself."""
        self.process.meets("wait")


class Mailbox:
    """The journal as one process reaches it: what it issues is on its way until somebody lands it.

    Only what this walk has written is read, for a journal keeps its records for good.
    """

    def __init__(
        self, inner: AuditTrail, process: Process, first: int, posts: Callable[[Process, Message], bool]
    ) -> None:
        self.inner, self.process, self.first, self.posts = inner, process, first, posts
        self.caps = inner.caps

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        """The write is issued, and its writer waits for a reply; one that is lost is given up at once.

        Where the lease has ended already, the reply is awaited all the same: nobody reads back any more.
        """
        self.process.meets("record")
        message = Message(action_ref, actor_ref, credential, data, fence, self.inner.now())
        stands = self.posts(self.process, message)
        if not self.process.replies:
            if not stands:
                self.process.meets("reply")
            return trail.ReplyLost(message.event_id, "no reply has come")
        while message.answer is None:
            self.process.meets("reply")
        return message.answer

    def read_record(self, event_id: str) -> trail.ReadAnswer:
        """The journal's own answer, or an outage."""
        self.process.meets("lookup")
        return self.inner.read_record(event_id) if self.process.readable else trail.Unavailable("away")

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> trail.RangeAnswer:
        """The journal's own page, or an outage."""
        self.process.meets("read")
        if not self.process.readable:
            return trail.Unavailable("away")
        return self.inner.read_range(max(after, self.first), limit, behind_writers=behind_writers)

    def measure(self, action_ref: str, actor_ref: str, data: trail.Data) -> int:
        """The journal's own measure."""
        return self.inner.measure(action_ref, actor_ref, data)

    def now(self) -> int:
        """The journal's own clock."""
        return self.inner.now()


class AdoptersStore:
    """Where the act itself happens, once, and before the instant that was sent with it."""

    def __init__(self, clock: Clock, *, fenced: bool) -> None:
        self.clock, self.fenced = clock, fenced
        self.sent = self.applied = self.declined = False
        self.deadline: int | None = None

    def send(self, deadline: int | None) -> None:
        """The act is on its way; with a fence it is not even sent where there is no instant to send."""
        self.sent, self.deadline = True, deadline
        self.declined = self.fenced and deadline is None

    def left(self) -> int:
        """How long the store will still apply an act that is on its way, on its own clock."""
        return 0 if self.deadline is None else max(self.deadline - self.clock.now(), 0)

    def status(self, *, may_be_sent: bool) -> str:
        """How it stands with the act, as the model names it."""
        if self.applied:
            return "APPLIED"
        if not self.sent:
            return "UNISSUED" if may_be_sent else "NEVER"
        return "NEVER" if self.declined or (self.fenced and self.left() == 0) else "IN_FLIGHT"

    def apply(self) -> None:
        """The act has happened, if it still may."""
        if self.status(may_be_sent=False) == "IN_FLIGHT":
            self.applied = True


def declared(constants: Mapping[str, object]) -> Deployment:
    """The deployment with the model's figures.

    They are smaller than the conditions of instance start admit, so that the whole graph can be driven: what
    is driven are the protocol's actions, which take whatever is declared.
    """

    def ticks(name: str) -> int:
        value = constants[name]
        assert isinstance(value, int), f"{name} = {value!r}, where a number of ticks was expected"
        return value * TICK

    fence = Fence("deadline parameter")
    nowhere = Path("race.yaml")
    retries = constants["RETRIES"]
    assert isinstance(retries, int), "the model counts its retries"
    identity = ServiceIdentity(SWEEP, nowhere) if constants["SERVICE_IDENTITY"] else None
    kind = Kind(
        name=KIND,
        act_key="order",
        partition=Partition(frozenset({REFUSAL}), frozenset()),
        commit_fence=fence if constants["COMMIT_FENCE"] else None,
        pairing=Pairing(DATUM, "nonce", None),
        repeatable=bool(constants["REPEATABLE"]),
        probe="race:probe",
        completion_bound=ticks("COMPLETION_BOUND"),
        commit_round_trip=0,
        probe_round_trip=0,
        outcomes=(OUTCOME,),
        outcome_envelope=256,
        retention_period=FOR_EVER,
        service_identity=identity,
        retry_attempts=None if retries < 0 else retries,
        minted_key=None,
    )
    figures = Figures(
        reconciliation_cadence=0,
        clock_offset_allowance=ticks("ALLOWANCE"),
        closure_latency=ticks("SWEEP_LEASE") - ticks("WRITE_BOUND"),
        run_bound=0,
        journal_write_bound=ticks("WRITE_BOUND"),
        read_bound=FOR_EVER,
        compensation_window=FOR_EVER,
        intent_candidates_cap=20,
        read_cap=50,
        journal_fence=fence,
        record_action_bound=None,
    )
    journal = Journal("race", None, None, 65_536, 256, 1_000)
    return Deployment(nowhere, "race", journal, figures, {KIND: kind}, {})
