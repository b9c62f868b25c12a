"""Logs of the race: an invocation and runs of the sweep on the real runtime, stepped and killed by a seed.

The world is the driven one. Whoever steps it looks at no model: a process goes on to its next seam, a write
lands or is fenced out, the adopter's store applies the act or is away, a process dies, a tick passes.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, cast

from falsework.runtime import trail
from falsework.runtime.invocation.answers import OpenAnswer, Opened
from falsework.runtime.invocation.close import close
from falsework.runtime.invocation.open import open_act
from falsework.runtime.invocation.reconcile import reconcile
from falsework.runtime.invocation.refuse import refuse, yield_act
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.observe import Header, Plain, Recorder, header_from
from falsework.runtime.observe_invocation import ActLog
from falsework.runtime.subjects.race import Driven
from falsework.runtime.subjects.race_parts import CALLER, DATUM, KIND, OUTCOME_REF, REFUSAL, Message
from falsework.runtime.subjects.race_view import AUTHORS
from falsework.runtime.subjects.race_world import CREDENTIALS
from falsework.runtime.subjects.recoverable_invocation.bends import bent
from falsework.runtime.trail.journal import AuditTrail

UNLOGGED = (
    "apply", "miss", "die", "pass_time", "open_reads", "open_gates", "open_returns", "close_gates",
    "close_reads", "close_returns", "run_starts", "run_reads", "run_probes", "run_gates", "run_returns",
)  # fmt: skip
"""What may happen without a line; of what always has one, and of what nobody does here, nothing."""

SELDOM, OFTEN = 0.04, 0.3
"""How often it is a tick that passes: seldom while there is a lease to lose."""


class LoggedJournal(AuditTrail):
    """The journal, which tells each record that lands."""

    told: Callable[[trail.RecordAnswer], None] | None = None

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        answer = super().record_action(action_ref, actor_ref, credential, data, fence=fence)
        if self.told is not None:
            self.told(answer)
        return answer


class RaceWalk(Driven):
    """One world, in which one act after another is raced for by a seed, each with a log of its own."""

    journal_class = LoggedJournal

    def walked(self, rng: random.Random, steps: int, header: Header) -> list[str]:
        """The lines of one act."""
        self.rng = rng
        self.begin(header.constants)
        self.runs = 0
        lines: list[str] = []
        recorder = Recorder(lines.append, header)
        self.log = ActLog(recorder, self.deployment.kinds, KIND, self.act_key, AUTHORS, self.first)
        journal = cast(LoggedJournal, self.journal)
        journal.told = lambda answer: self.log.landed(journal, answer)
        for _ in range(steps):
            with bent(self.bends):
                self.happens()
        self.crew.dismiss()
        recorder.close()
        return lines

    # One thing that happens.

    def happens(self) -> None:
        """Somebody takes a step, or something arrives, or time passes."""
        what = self.rng.random()
        waiting = [who for who, node in self.nodes.items() if self.waits(node.message)]
        if what < (SELDOM if any(map(self.is_at_work, self.nodes)) else OFTEN):
            self.pass_time()
        elif what < 0.34:
            self.apply()
        elif what < 0.35:
            self.somebody_dies()
        elif what < 0.38 and self.orphan is not None:
            self.land("GHOST")
        elif what < 0.55 and waiting:
            self.land(self.rng.choice(waiting))
        elif what < 0.8:
            self.invocation_goes_on()
        elif self.is_at_work("FIRST_RUN") or self.rng.random() < 0.1:
            self.run_goes_on()

    def is_at_work(self, who: str) -> bool:
        """Whether a process is on the node, and alive."""
        actor = self.nodes[who].actor
        return actor is not None and not actor.ended and not actor.dead

    def waits(self, message: Message | None) -> bool:
        """Whether the write is on its way."""
        return message is not None and message.answer is None

    def somebody_dies(self) -> None:
        """At most one of a walk does, and only one that has asked for the section."""
        alive = [who for who, node in self.nodes.items() if node.holder and self.is_at_work(who)]
        if alive and not self.deaths:
            self.die(self.rng.choice(alive))

    def invocation_goes_on(self) -> None:
        """It begins, or comes to its next seam; the journal is away from it now and then."""
        node = self.nodes["INVOCATION"]
        if node.actor is None:
            self.starts("INVOCATION", self.invoked)
        elif not self.is_at_work("INVOCATION") or self.waits(node.message):
            return
        node.readable = self.rng.random() < 0.95
        node.arm = self.replied() if node.actor is not None and node.actor.seam == "arm" else node.arm
        self.on("INVOCATION")

    def replied(self) -> str:
        """What the store says of the commit; it may say nothing."""
        if self.rng.random() < 0.2:
            return "UNKNOWN"
        if self.adopter.applied:
            return "COMMITTED"
        self.adopter.declined = True
        return "PRE_COMMIT"

    def run_goes_on(self) -> None:
        """A run begins, or comes to its next seam; the store may be away, or unable to tell."""
        node = self.nodes["FIRST_RUN"]
        if node.actor is None:
            self.starts("FIRST_RUN", lambda: self.running("FIRST_RUN"))
        elif self.waits(node.message):
            return
        node.readable = True
        holds = "COMMITTED" if self.adopter.applied else "NOT_COMMITTED"
        node.probe = self.rng.choice((holds, holds, holds, "UNAVAILABLE", "UNDECIDABLE"))
        self.on("FIRST_RUN")

    def on(self, who: str) -> None:
        """The process comes to its next seam: what it issues is minted in the same instant."""
        self.goes(who, "record")
        message = self.nodes[who].message
        if message is not None and message.action_ref == f"{KIND}.recovery_intended" and self.waits(message):
            message.answer = self.delivered(message)
        elif message is not None:
            self.fences(message)

    # What the processes do, told.

    def invoked(self) -> object:
        """Open, the commit under its fence, and what its arm calls for."""
        process, node = self.nodes["INVOCATION"], "caller"
        parties = self.log.told(self.parties["INVOCATION"], "INVOCATION", node, lands=False)
        names = (KIND, self.act_key, CALLER, CREDENTIALS[CALLER])
        data = {DATUM: self.act_key}
        opened: OpenAnswer = self.log.opens(node, lambda: open_act(parties, *names, data))
        if not isinstance(opened, Opened):
            return opened
        process.meets("commit")
        standing = Standing(section_key(KIND, self.act_key), opened.invocation_id)
        allowance = self.deployment.figures.clock_offset_allowance
        self.adopter.send(parties.section.deadline(standing, allowance))
        self.log.commits(node)
        process.meets("arm")
        arm = process.arm
        self.log.replied(node, arm)
        act = (KIND, self.act_key, opened.invocation_id)
        known = (*act, opened.intent_event_id, CALLER, CREDENTIALS[CALLER])
        if arm == "UNKNOWN":
            return yield_act(parties, *act)
        if arm == "PRE_COMMIT":
            return self.log.refuses(node, lambda: refuse(parties, *known, "no", REFUSAL))
        return self.log.closes(node, lambda: close(parties, *known, OUTCOME_REF, {}))

    def running(self, who: str) -> object:
        """A run of the sweep."""
        self.runs += 1
        node = f"run {self.runs}"
        parties = self.log.told(self.parties[who], who, node, lands=False)
        return self.log.sweeps(node, who, lambda: reconcile(parties))


class RaceLogs:
    """What callers and runs are answered, and what lands in the journal."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.race_driven:AsBuilt"
    surface: ClassVar[str] = "observed"
    walk_class: ClassVar[type[RaceWalk]] = RaceWalk
    walks: ClassVar[int] = 24
    steps: ClassVar[int] = 260

    def begin(self, header: Mapping[str, Plain]) -> None:
        """The logs are to be of this model, in these constants."""
        self.header = header_from(header, UNLOGGED)

    def logs(self) -> Iterator[tuple[str, list[str]]]:
        """One log a seed, all of them of acts of one journal; an act that came to nothing tells nothing."""
        world = self.walk_class()
        try:
            for seed in range(self.walks):
                rng = random.Random(seed)  # noqa: S311  chance that can be had again, and no secret
                lines = world.walked(rng, self.steps, self.header)
                if any('"action"' in line for line in lines):
                    yield f"act {seed}", lines
        finally:
            world.close()
