"""Refuse: the constituent refused before committing, and the attempt is in the journal with its reason."""

from falsework.runtime.invocation.answers import (
    AlreadyAccounted,
    Misuse,
    Position,
    RecordingFailure,
    RefusalRecorded,
    RefuseAnswer,
    Yielded,
)
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.journal import Landed, Why, Write, append, may_write
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Names, closing_payload
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.invocation.standing import standing as standing_closing
from falsework.runtime.trail import Unavailable


def refuse(
    parties: Parties,
    kind_name: str,
    act_key: str,
    invocation_id: str,
    intent_event_id: str,
    actor_ref: str,
    credential: str,
    reason: str,
    constituent_code: str,
) -> RefuseAnswer:
    """The refusal is recorded, or the intent stays open for the sweep; the section is free."""
    kind = parties.kind(kind_name)
    if constituent_code not in kind.partition.pre_commit:
        declared = ", ".join(sorted(kind.partition.pre_commit)) or "none"
        raise Misuse(
            f"{constituent_code} is no arm that {kind.name} declares pre_commit ({declared}): an act that "
            "may have committed is never refused, so yield"
        )
    holder = Standing(section_key(kind.name, act_key), invocation_id)
    names = Names(act_key, invocation_id, intent_event_id)
    data = closing_payload({"reason": reason, "constituent_code": constituent_code}, kind, names)
    write = Write(kind.ref("refused"), actor_ref, credential, data, invocation_id, holder)
    answer = _refuse(parties, kind, act_key, write, constituent_code)
    parties.section.release(holder)
    return answer


def _refuse(parties: Parties, kind: Kind, act_key: str, write: Write, code: str) -> RefuseAnswer:
    """Standing before any read, then the re-read, then one write."""
    if may_write(parties, write.standing) is None:
        return RecordingFailure(Position.REFUSAL, Why.GATE.value, code)
    delta = parties.indexes.refresh()
    if not isinstance(delta, list):
        return RecordingFailure(Position.REFUSAL, delta.detail, code)
    account = parties.indexes.of((kind.name, act_key), write.invocation_id)
    if isinstance(account, Unavailable):
        return RecordingFailure(Position.REFUSAL, account.detail, code)
    closing = standing_closing(account.closings)
    if closing is not None:
        return AlreadyAccounted(closing.event_id)
    found = append(parties, write)
    if isinstance(found, Landed):
        if found.late is not None:
            parties.alert("refusal appended late", kind, act_key, write.invocation_id, found.late)
        return RefusalRecorded(found.event_id)
    return RecordingFailure(Position.REFUSAL, found.detail, code)


def yield_act(parties: Parties, kind_name: str, act_key: str, invocation_id: str) -> Yielded:
    """The section is free, nothing is written, and the intent stands open for the sweep."""
    kind = parties.kind(kind_name)
    parties.section.release(Standing(section_key(kind.name, act_key), invocation_id))
    return Yielded()
