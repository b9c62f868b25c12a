"""Open: the act's section is taken, and its intent is in the journal under the caller's own credential."""

from falsework.runtime.invocation.answers import (
    ActInFlight,
    ActLanded,
    InvalidCredential,
    InvalidRequest,
    JournalUnavailable,
    OpenAnswer,
    Opened,
    Position,
    RecordingFailure,
    SectionUnavailable,
)
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.findings import ActFinding, Condition
from falsework.runtime.invocation.journal import Landed, Why, Write, append
from falsework.runtime.invocation.keyed import Act
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Intent, Sort, identified
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.invocation.standing import standing as standing_closing
from falsework.runtime.invocation.terms import in_flight
from falsework.runtime.trail import Data, Unavailable


def open_act(
    parties: Parties, kind_name: str, act_key: str, actor_ref: str, credential: str, intent_data: Data
) -> OpenAnswer:
    """The intent stands and the section is held, or nothing is, and here is why."""
    kind = parties.kind(kind_name)
    wrong = parties.sizing.refusal(kind, act_key, actor_ref, credential, intent_data)
    if wrong is not None:
        return InvalidRequest(wrong)
    invocation_id = parties.ids()
    standing = Standing(section_key(kind.name, act_key), invocation_id)
    if not parties.section.take(standing, kind.completion_bound):
        return SectionUnavailable()
    data = identified(intent_data, kind, act_key, invocation_id)
    write = Write(kind.ref("intended"), actor_ref, credential, data, invocation_id, standing)
    in_the_way = _standing_in_the_way(parties, kind, act_key, standing)
    answer = in_the_way or _record_the_intent(parties, kind, act_key, write)
    if not isinstance(answer, Opened):
        parties.section.release(standing)
    return answer


def _standing_in_the_way(
    parties: Parties, kind: Kind, act_key: str, standing: Standing
) -> ActInFlight | ActLanded | JournalUnavailable | SectionUnavailable | None:
    """What the journal, read again under the section, has against another invocation of the act.

    What was read in more time than the lease had was read beside whoever has the section now.
    """
    act = (kind.name, act_key)
    delta = parties.indexes.refresh(bounded=True)
    if not isinstance(delta, list):
        return JournalUnavailable(delta.detail)
    if parties.section.remaining(standing) is None:
        return SectionUnavailable()
    now = parties.seam.now()
    left_open: list[Intent] = []
    for intent in parties.indexes.open_intents(act, now):
        young = in_flight(kind, parties.figures, intent.recorded_at, now)
        if young or not kind.reports_only or not kind.repeatable:
            return ActInFlight(intent.invocation_id)
        left_open.append(intent)
    if not kind.repeatable:
        once = _once_only(parties, act)
        if once is not None:
            return once
    if left_open:
        _surface(parties, left_open, standing.holder, now)
    return None


def _once_only(parties: Parties, act: Act) -> ActLanded | ActInFlight | JournalUnavailable | None:
    """What bars a second act where only one may happen: that it happened, or that nobody knows yet.

    An escalation says just that nobody knows: it keeps the key until an operator has resolved it.
    """
    invocations = parties.indexes.of_act(act)
    if isinstance(invocations, Unavailable):
        return JournalUnavailable(invocations.detail)
    closings = [closing for found in invocations.values() for closing in found.closings]
    outcomes = [closing for closing in closings if closing.sort is Sort.OUTCOME]
    if outcomes:
        return ActLanded(max(outcomes, key=lambda closing: closing.sequence_number).event_id)
    for invocation_id, found in invocations.items():
        closing = standing_closing(found.closings)
        if closing is not None and closing.sort is Sort.ESCALATED:
            return ActInFlight(invocation_id)
    return None


def _surface(parties: Parties, left_open: list[Intent], invocation_id: str, now: int) -> None:
    """Nobody but an operator closes what another invocation goes past."""
    detail = f"aged and open; invocation {invocation_id} went past it: resolve it"
    sightings = [
        ActFinding(Condition.CLOSURE_AT_RISK, old.kind, old.act_key, old.invocation_id, detail)
        for old in left_open
    ]
    parties.register.surface(invocation_id, now, sightings, whole=False)


def _record_the_intent(parties: Parties, kind: Kind, act_key: str, write: Write) -> OpenAnswer:
    """The intent has landed and its section is still held, by the arms of its position.

    An intent that stands without its section, or of which nobody knows whether it stands, is the sweep's to
    account for: no code that says that nothing was written would be true.
    """
    found = append(parties, write)
    if isinstance(found, Landed):
        if found.late is not None:
            parties.alert("intent appended late", kind, act_key, write.invocation_id, found.late)
        if parties.section.remaining(write.standing) is None:
            return RecordingFailure(Position.OUTCOME, "the intent landed as its section's lease ended")
        return Opened(write.invocation_id, found.event_id)
    match found.why:
        case Why.GATE:
            return SectionUnavailable()
        case Why.CREDENTIAL:
            return InvalidCredential(found.detail)
        case Why.REQUEST:
            return InvalidRequest(found.detail)
        case Why.FAILED | Why.ABSENT:
            return RecordingFailure(Position.INTENT, found.detail)
        case Why.UNREAD:
            return RecordingFailure(Position.OUTCOME, found.detail)
