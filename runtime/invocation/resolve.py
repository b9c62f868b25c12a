"""Resolve: an operator closes what the sweep cannot, under a credential and on a reading of their own."""

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    AlreadyAccounted,
    Cause,
    Disposition,
    Escalate,
    InvalidCredential,
    InvalidRequest,
    NotKnown,
    Outcome,
    Position,
    RecordingFailure,
    ResolveAnswer,
    Resolved,
    ResolveRefusal,
    SectionUnavailable,
)
from falsework.runtime.invocation.close import unrecordable
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.journal import Landed, Why, Write, append
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import (
    Closing,
    Intent,
    Sort,
    escalation,
    noted,
    recovered_payload,
    superseding,
)
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.invocation.standing import unsuperseded
from falsework.runtime.invocation.terms import horizon_edge, in_flight
from falsework.runtime.trail import Data


def resolve(
    parties: Parties,
    kind_name: str,
    act_key: str,
    invocation_id: str,
    intent_event_id: str,
    actor_ref: str,
    credential: str,
    disposition: Disposition,
) -> ResolveAnswer:
    """The act has the operator's closing, which names what it supersedes; or here is why it has not."""
    kind = parties.kind(kind_name)
    malformed = _malformed(parties, kind, act_key, actor_ref, disposition)
    if malformed is not None:
        return malformed
    now = parties.seam.now()
    operator = Standing(section_key(kind.name, act_key), parties.ids())
    if not parties.section.take(operator, parties.figures.sweep_lease):
        return SectionUnavailable()
    answer = _under_the_section(
        parties,
        kind,
        act_key,
        invocation_id,
        intent_event_id,
        actor_ref,
        credential,
        disposition,
        operator,
        now,
    )
    parties.section.release(operator)
    return answer


def _malformed(
    parties: Parties, kind: Kind, act_key: str, actor_ref: str, disposition: Disposition
) -> InvalidRequest | None:
    """What is wrong with the request by itself, whatever the journal holds."""
    sizing = parties.sizing
    wrong = sizing.bad_reference("act_key", act_key) or sizing.bad_reference("actor_ref", actor_ref)
    match disposition:
        case Outcome(action_ref, data):
            wrong = wrong or unrecordable(kind, action_ref, data)
        case Abandon(cause):
            wrong = wrong or sizing.bad_reference("cause", cause)
        case Escalate(candidates):
            cap = parties.figures.intent_candidates_cap
            if wrong is None and len(candidates) > cap:
                return InvalidRequest(
                    f"{len(candidates)} candidates are given: {cap} are the cap",
                    ResolveRefusal.CANDIDATES_OVER_CAP,
                )
            for candidate in candidates:
                wrong = wrong or sizing.bad_reference("a candidate", candidate)
    return None if wrong is None else InvalidRequest(wrong, ResolveRefusal.MALFORMED)


def _under_the_section(
    parties: Parties,
    kind: Kind,
    act_key: str,
    invocation_id: str,
    intent_event_id: str,
    actor_ref: str,
    credential: str,
    disposition: Disposition,
    operator: Standing,
    now: int,
) -> ResolveAnswer:
    """The journal is read again, the rules are held against it, and the closing is written once."""
    delta = parties.indexes.refresh()
    if not isinstance(delta, list):
        return RecordingFailure(Position.RESOLUTION, delta.detail)
    intent = _intent(parties, kind, act_key, invocation_id, intent_event_id)
    if not isinstance(intent, Intent):
        return intent
    account = parties.indexes.in_the_journal((kind.name, act_key), invocation_id)
    if isinstance(account, trail.Unavailable):
        return RecordingFailure(Position.RESOLUTION, account.detail)
    closings = account.closings
    refusal = _accounted(closings, disposition) or _refused(parties, kind, intent, closings, disposition, now)
    if refusal is not None:
        return refusal
    superseded = tuple(closing.event_id for closing in unsuperseded(closings))
    action_ref, own = _disposed(kind, disposition)
    data = {
        **recovered_payload(own, kind, intent),
        "resolved_by": actor_ref,
        **superseding(superseded),
    }
    found = append(parties, Write(action_ref, actor_ref, credential, data, invocation_id, operator))
    if isinstance(found, Landed):
        if found.late is not None:
            parties.alert("resolution appended late", kind, act_key, invocation_id, found.late)
        return Resolved(found.event_id)
    if found.why is Why.CREDENTIAL:
        return InvalidCredential(found.detail)
    if found.why is Why.REQUEST:
        return InvalidRequest(found.detail, ResolveRefusal.MALFORMED)
    detail = found.detail
    if found.why is Why.UNREAD:  # asked again it is read again under the section, so that it is written once
        detail = f"{detail}: it may stand; ask again unchanged, and the answer will tell"
    return RecordingFailure(Position.RESOLUTION, detail)


def _intent(
    parties: Parties, kind: Kind, act_key: str, invocation_id: str, intent_event_id: str
) -> Intent | NotKnown | InvalidRequest | RecordingFailure:
    """The intent as the journal answers for its event: destroyed, absent and unreadable are told apart."""
    match parties.trail.read_record(intent_event_id):
        case trail.Purged(record=record):
            if record.action_ref != kind.ref("intended"):
                return NotKnown()
            return InvalidRequest(f"the payload of {intent_event_id} is destroyed", ResolveRefusal.PURGED)
        case trail.Unavailable(detail=detail):
            return RecordingFailure(Position.RESOLUTION, detail)
        case trail.Retained(record=record):
            found = noted(record, parties.deployment.kinds)
            if isinstance(found, Intent):
                named = (found.kind, found.act_key, found.invocation_id)
                if named == (kind.name, act_key, invocation_id):
                    return found
    return NotKnown()


def _accounted(closings: list[Closing], disposition: Disposition) -> AlreadyAccounted | None:
    """An outcome or a refusal that stands by itself accounts for the act.

    Of rivals one has to give way to a resolution that names them all; where an outcome is among them, nothing
    but an outcome can be what it resolves to.
    """
    rivals = unsuperseded(closings)
    if len(rivals) > 1:
        outcomes = [closing for closing in rivals if closing.sort is Sort.OUTCOME]
        if not outcomes or isinstance(disposition, Outcome):
            return None
        return AlreadyAccounted(outcomes[0].event_id)
    for closing in rivals:
        if closing.sort in (Sort.OUTCOME, Sort.REFUSED):
            return AlreadyAccounted(closing.event_id)
    return None


def _refused(
    parties: Parties,
    kind: Kind,
    intent: Intent,
    closings: list[Closing],
    disposition: Disposition,
    now: int,
) -> InvalidRequest | None:
    """What the disposition may not do: only an outcome corrects an abandonment, or closes what is young.

    An abandonment beside another closing is a rival, and gives way to whatever names them both.
    """
    if now >= horizon_edge(kind, parties.figures, intent.recorded_at):
        return InvalidRequest(
            "the intent is past its horizon: its closings may be destroyed", ResolveRefusal.PURGED
        )
    if isinstance(disposition, Outcome):
        return None
    if [closing.sort for closing in unsuperseded(closings)] == [Sort.ABANDONED]:
        return InvalidRequest(
            "an abandonment stands, and only an outcome supersedes it", ResolveRefusal.ALREADY_ABANDONED
        )
    if in_flight(kind, parties.figures, intent.recorded_at, now):
        return InvalidRequest(
            "the invocation may still be at work: ask again unchanged, later", ResolveRefusal.TOO_YOUNG
        )
    return None


def _disposed(kind: Kind, disposition: Disposition) -> tuple[str, Data]:
    """The closing's action ref and what it says by itself."""
    match disposition:
        case Outcome(action_ref, data):
            return action_ref, data
        case Abandon(cause):
            return kind.ref("abandoned"), {"cause": cause}
        case Escalate(candidates):
            return kind.ref("escalated"), escalation(Cause.UNDECIDABLE, candidates, len(candidates))
