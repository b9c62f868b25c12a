"""One invocation of one act on the real runtime, and what an operator, a run and an auditor read of it."""

from collections.abc import Sequence

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    AlreadyAccounted,
    CloseAnswer,
    Closed,
    InvalidCredential,
    InvalidRequest,
    NotKnown,
    Opened,
    RecordingFailure,
    RefuseAnswer,
    Resolved,
    SectionUnavailable,
)
from falsework.runtime.subjects.recoverable_invocation.flow import Gone
from falsework.runtime.subjects.recoverable_invocation.place import credential_of
from falsework.runtime.subjects.recoverable_invocation.substrate import Write
from falsework.runtime.subjects.recoverable_invocation.world import (
    CALLER,
    KEY,
    KIND,
    LEDGER,
    OPERATOR,
    OUTCOME,
    REFUSED_CODE,
    SERVICE,
    World,
)

CLOSINGS = {
    f"{KIND}.disclosed": "OUTCOME",
    f"{KIND}.refused": "REFUSED",
    f"{KIND}.abandoned": "ABANDONED",
    f"{KIND}.escalated": "ESCALATED",
}
ROLES = {CALLER: "CALLER", SERVICE: "SERVICE", OPERATOR: "OPERATOR"}
RESOLVED: dict[type, str] = {
    Resolved: "CLOSED",
    SectionUnavailable: "SECTION_UNAVAILABLE",
    NotKnown: "NOT_KNOWN",
    AlreadyAccounted: "ALREADY_ACCOUNTED",
    InvalidCredential: "INVALID_CREDENTIAL",
    RecordingFailure: "RECORDING_FAILURE",
}
NOTHING = Opened("id of nobody", "0" * 32)


def resolved(answer: object) -> str:
    """The answer of Resolve by the models' names: an invalid request by its cause."""
    if isinstance(answer, InvalidRequest):
        return "NO_DECLARED_CODE" if answer.cause is None else answer.cause.name
    return RESOLVED.get(type(answer), repr(answer))


def dies(_: Write) -> trail.RecordAnswer:
    """The process is gone before it writes."""
    raise Gone


class OneAct(World):
    """A world in which one invocation of one act is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: Opened | None = None
        self.happened = False
        self.drawn: list[str] = []  # the ids of this walk, in their order

    def end_of_walk(self) -> None:
        """Nobody has opened anything."""
        self.opened, self.happened = None, False
        self.drawn.clear()

    def named(self, number: int) -> str:
        """The id that is drawn next."""
        self.drawn.append(super().named(number))
        return self.drawn[-1]

    def applied(self, act_key: str, payload: trail.Data) -> trail.Data | None:
        """The constituent's record of the act, once it has happened."""
        assert payload["act_key"] == act_key
        return {"disclosure": act_key} if self.happened else None

    # What is read.

    @property
    def whose(self) -> tuple[str, str, str, str]:
        """The act and the pair that Open returned; another pair where nobody has opened it."""
        pair = self.opened or NOTHING
        return KIND, KEY, pair.invocation_id, pair.intent_event_id

    @property
    def intent(self) -> trail.Record | None:
        """The intent as the journal holds it."""
        event_id = self.whose[3]
        return next((record for record in self.records() if record.event_id == event_id), None)

    def is_aged(self) -> bool:
        """Whether the intent is as old as a sweep examines."""
        intent = self.intent
        return intent is not None and self.clock.now() - intent.recorded_at >= self.examined_at

    def refs(self, word: str) -> list[trail.Record]:
        """The records with that word of the kind's vocabulary."""
        return [record for record in self.records() if record.action_ref == f"{KIND}.{word}"]

    def closings(self) -> Sequence[trail.Record]:
        """The closing records, in the journal's order."""
        return [record for record in self.records() if record.action_ref in CLOSINGS]

    # What happens.

    def open_act(self) -> None:
        """The caller's intent stands."""
        answer = self.node.open(KIND, KEY, CALLER, credential_of(CALLER), {"nonce": 7})
        if isinstance(answer, Opened):
            self.opened = answer

    def happen(self) -> None:
        """The constituent applies the act."""
        self.happened = True

    def age(self) -> None:
        """The intent is as old as a sweep examines, and as a fenced store needs to have done."""
        assert self.opened is not None
        self.ages(self.opened.intent_event_id, self.abandoned_at)
        self.starts_again()

    def stands(self) -> None:
        """The invocation has its section."""
        self.sections.put(self.key_of(KEY), (self.whose[2], self.clock.now() + LEDGER.completion_bound))

    def close_or_refuse(self) -> CloseAnswer | RefuseAnswer:
        """The invocation, which stands, closes: by its outcome, or by the constituent's refusal."""
        self.stands()
        return self.close_as_it_is() if self.happened else self.refuse_as_it_is()

    def close_as_it_is(self) -> CloseAnswer:
        """Close, with whatever is left of the lease."""
        return self.node.close(*self.whose, CALLER, credential_of(CALLER), OUTCOME, {"disclosure": KEY})

    def refuse_as_it_is(self) -> RefuseAnswer:
        """Refuse, with whatever is left of the lease."""
        return self.node.refuse(*self.whose, CALLER, credential_of(CALLER), "no authority", REFUSED_CODE)


def is_closed(answer: object) -> bool:
    """Whether the outcome has landed."""
    return isinstance(answer, Closed)
