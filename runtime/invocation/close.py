"""Close: the outcome is in the journal, written by the invocation or, had another been first, adopted."""

from falsework.runtime.invocation.answers import (
    CloseAnswer,
    Closed,
    LandedBy,
    Position,
    RecordingFailure,
)
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.journal import Landed, NotLanded, Why, Write, append, may_write, pause
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import (
    OWN_FIELDS,
    Closing,
    Names,
    Sort,
    closing_payload,
    foreign_fields,
)
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.invocation.standing import standing as standing_closing
from falsework.runtime.trail import Data, Unavailable


def close(
    parties: Parties,
    kind_name: str,
    act_key: str,
    invocation_id: str,
    intent_event_id: str,
    actor_ref: str,
    credential: str,
    outcome_action_ref: str,
    outcome_data: Data,
) -> CloseAnswer:
    """The act has its outcome, or the sweep will see to it; the section is free."""
    kind = parties.kind(kind_name)
    holder = Standing(section_key(kind.name, act_key), invocation_id)
    data = closing_payload(outcome_data, kind, Names(act_key, invocation_id, intent_event_id))
    write = Write(outcome_action_ref, actor_ref, credential, data, invocation_id, holder)
    wrong = unrecordable(kind, outcome_action_ref, outcome_data)
    answer = _close(parties, kind, act_key, write, wrong)
    parties.section.release(holder)
    return answer


def unrecordable(kind: Kind, action_ref: str, data: Data) -> str | None:
    """Why no journal could hold this as an outcome of the kind; None where one may."""
    if action_ref not in kind.outcome_refs:
        return f"{action_ref} is no outcome of {kind.name}: {', '.join(sorted(kind.outcome_refs))}"
    foreign = foreign_fields(data, OWN_FIELDS)
    return None if foreign is None else f"outcome_data carries {foreign}, which the protocol writes"


def _close(parties: Parties, kind: Kind, act_key: str, write: Write, wrong: str | None) -> CloseAnswer:
    """Standing, re-read, write; and all of it again after a failure that left nothing behind."""
    attempts = 0
    while True:
        if may_write(parties, write.standing) is None:
            return RecordingFailure(Position.OUTCOME, Why.GATE.value)
        delta = parties.indexes.refresh()
        if not isinstance(delta, list):
            return RecordingFailure(Position.OUTCOME, delta.detail)
        account = parties.indexes.of((kind.name, act_key), write.invocation_id)
        if isinstance(account, Unavailable):
            return RecordingFailure(Position.OUTCOME, account.detail)
        closing = standing_closing(account.closings)
        if closing is not None:
            return _adopted(closing)
        if wrong is not None:
            found: Landed | NotLanded = NotLanded(Why.REQUEST, wrong)
        else:
            found = append(parties, write)
        if isinstance(found, Landed):
            if found.late is not None:
                parties.alert("outcome appended late", kind, act_key, write.invocation_id, found.late)
            return Closed(found.event_id, LandedBy.INVOCATION)
        attempts += 1
        spent = kind.retry_attempts is not None and attempts > kind.retry_attempts
        if spent or found.why not in (Why.FAILED, Why.ABSENT):
            if found.why is Why.REQUEST:
                parties.alert("outcome unrecordable", kind, act_key, write.invocation_id, found.detail)
            return RecordingFailure(Position.OUTCOME, found.detail)
        parties.section.wait(pause(parties))


def _adopted(closing: Closing) -> CloseAnswer:
    """An outcome is the invocation's own; another closing says that the act has none."""
    if closing.sort is not Sort.OUTCOME:
        return RecordingFailure(
            Position.OUTCOME, f"{closing.event_id} closes the invocation as {closing.sort.value}"
        )
    if closing.resolved_by is not None:
        return Closed(closing.event_id, LandedBy.OPERATOR)
    return Closed(closing.event_id, LandedBy.SWEEP if closing.recovery else LandedBy.INVOCATION)
