"""Resolve, rung by rung, on the real runtime: one intent, driven along `records_resolving`."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import Abandon, Disposition, Escalate, Outcome
from falsework.runtime.invocation.figures import Deployment, Fence
from falsework.runtime.subjects.recoverable_invocation.flow import Gone
from falsework.runtime.subjects.recoverable_invocation.one_act import CLOSINGS, ROLES, OneAct, dies, resolved
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.substrate import ANOTHER, delivered
from falsework.runtime.subjects.recoverable_invocation.world import (
    FIGURES,
    KEY,
    LEDGER,
    OPERATOR,
    OUTCOME,
    SECOND,
    deployment,
)

CAP = FIGURES.intent_candidates_cap
DISPOSED: Mapping[tuple[str, str], Disposition] = {
    ("OUTCOME", "MALFORMED"): Outcome("ledger.of-no-kind", {}),
    ("OUTCOME", "SOUND"): Outcome(OUTCOME, {"disclosure": KEY}),
    ("ABANDONED", "MALFORMED"): Abandon(""),
    ("ABANDONED", "SOUND"): Abandon("nobody is left"),
    ("ESCALATED", "MALFORMED"): Escalate(("",)),
    ("ESCALATED", "SOUND"): Escalate(("a record",)),
    ("ESCALATED", "CANDIDATES_OVER_CAP"): Escalate(("a record",) * (CAP + 1)),
}


class NothingWritten(Exception):
    """The call has left the journal as it was."""


class ResolvingSubject(OneAct):
    """An intent, whoever closes it, and an operator whose call meets every trouble."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_resolving:OneTroubleAtATime"
    refuses: ClassVar[tuple[str, ...]] = ("close",)
    refusals: ClassVar[tuple[type[Exception], ...]] = (NothingWritten,)

    def __init__(self) -> None:
        super().__init__()
        self.fenced = False
        self.operator = ""  # the holder that the operator's last call was
        self.steps = {
            "start": self.start,
            "open_act": lambda: self.beside_another(self.open_act),
            "happen": self.happen,
            "age": self.age,
            "purge": self.purge,
            "close": lambda: self.beside_another(self.close_own),
            "plan": lambda: self.beside_another(self.plan),
            "sweep": lambda: self.beside_another(self.node.reconcile),
            "take": self.take,
            "let_go": self.let_go,
            "resolve": self.resolve,
            "audit": self.audit_shape,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """The deployment is chosen by the first step."""

    def end_of_walk(self) -> None:
        """Nobody has called."""
        super().end_of_walk()
        self.operator = ""

    def observe(self) -> Mapping[str, object]:
        """What the journal, the section and the constituent hold."""
        intent = self.intent
        row = self.sections.row(self.key_of(KEY))
        standing = None if row is None or row[1] <= self.clock.now() else row[0]
        readable = "READABLE" if intent is not None and intent.data is not None else "PURGED"
        return {
            "fenced": self.fenced,
            "intent": "NONE" if intent is None else readable,
            "aged": self.is_aged(),
            "planned": self.planned(),
            "happened": self.happened,
            "closing": self.closing(),
            "taken": standing == ANOTHER,
            "held": standing is not None and standing == self.operator,
        }

    def planned(self) -> bool:
        """Whether a run has written down that it means to write an outcome."""
        return bool(self.refs("recovery_intended"))

    def closing(self) -> Mapping[str, object] | None:
        """The closing that stands, the last one: what it says of itself."""
        closings = self.closings()
        if not closings:
            return None
        data = closings[-1].data
        assert data is not None
        named = [found for found in closings if found.event_id == data.get("supersedes")]
        return {
            "kind": CLOSINGS[closings[-1].action_ref],
            "by": ROLES[closings[-1].actor_ref],
            "recovery": data.get("recovery") is True,
            "resolved_by": ROLES.get(str(data.get("resolved_by"))),
            "acting": ROLES.get(str(data.get("acting_actor_ref"))),
            "supersedes": CLOSINGS[named[0].action_ref] if named else None,
        }

    # What goes before.

    def start(self, fenced: bool) -> None:
        """The kind declares a commit fence, or does not."""
        self.fenced = fenced

        def declared() -> Deployment:
            fence = Fence("deadline parameter") if fenced else None
            return deployment(FIGURES, replace(LEDGER, commit_fence=fence))

        self.begin_with(fenced, declared)

    def purge(self) -> None:
        """The intent's retention has ended, and the steward destroys its payload."""
        event_id = self.whose[3]
        self.clock.instant += LEDGER.retention_period
        answer = self.steward.purge(spares=lambda found: found != event_id)
        assert isinstance(answer, trail.Recorded), answer
        self.stands_again()
        self.starts_again()

    def beside_another(self, happens: Callable[[], object]) -> None:
        """It happens before another takes the section, or once it has let it go, and is seen afterwards."""
        row = self.sections.row(self.key_of(KEY))
        taken = row is not None and row[0] == ANOTHER
        if taken:
            self.let_go()
        try:
            happens()
        finally:
            if taken:
                self.take()

    def close_own(self) -> None:
        """The invocation closes, by a lease that has ended once it is aged, if it was ever opened."""
        before = len(self.closings())
        if self.opened is None or self.is_aged():
            self.let_go()
            self.close_as_it_is()
        else:
            self.close_or_refuse()
        if len(self.closings()) == before:
            raise NothingWritten

    def plan(self) -> None:
        """A run dies behind its plan."""
        self.trail.next_writes.extend((delivered, dies))
        with suppress(Gone):
            self.node.reconcile()
        self.trail.next_writes.clear()

    def take(self) -> None:
        """Another has the section."""
        self.sections.put(self.key_of(KEY), (ANOTHER, self.clock.now() + SECOND))

    def let_go(self) -> None:
        """The section is free."""
        self.sections.put(self.key_of(KEY), None)

    # The operator, and the auditor.

    def resolve(self, disposition: str, form: str, trouble: str) -> str:
        """The operator's call, and what it meets."""
        taken = self.sections.holder(self.key_of(KEY)) == ANOTHER
        self.leases.patience.another_is_first = taken
        self.trail.down = trouble == "JOURNAL_UNREACHABLE"
        if trouble == "TOO_LITTLE_LEFT":
            span = FIGURES.sweep_lease - FIGURES.journal_write_bound + 1
            self.trail.during_reads.append(lambda: self.passes(span))
        who = "nobody" if trouble == "CREDENTIAL_REFUSED" else OPERATOR
        said = DISPOSED.get((disposition, form)) or DISPOSED[disposition, "SOUND"]
        drawn = len(self.drawn)
        answer = self.node.resolve(*self.whose, OPERATOR, credential_of(who), said)
        self.operator = self.drawn[drawn] if drawn < len(self.drawn) else ""
        self.leases.patience.another_is_first = self.trail.down = False
        self.trail.during_reads.clear()
        self.stands_again(KEY)
        if taken:
            self.take()
        return resolved(answer)

    def audit_shape(self) -> str:
        """Which of the declared shapes the outcome has, by what it says and who attests it."""
        closing = self.closing()
        assert closing is not None
        by, recovery, operator = closing["by"], closing["recovery"], closing["resolved_by"]
        if by == "CALLER" and not recovery:
            return "OF_THE_INVOCATION"
        if by == "OPERATOR" and recovery and operator == "OPERATOR":
            return "OF_THE_OPERATOR"
        swept = by == "SERVICE" and recovery and operator is None and self.planned()
        return "OF_THE_SWEEP" if swept else "NONE_OF_THESE"


class ResolvingOnPostgres(ResolvingSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)
