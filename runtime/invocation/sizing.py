"""Whether every record that an act may need would fit the journal, asked before the act begins.

The largest are the sweep's and the operator's: a recovered outcome, and an escalation with all its
candidates. A reference that nobody knows yet is counted at its cap.
"""

from falsework.runtime.invocation.answers import Cause
from falsework.runtime.invocation.figures import Figures, Kind
from falsework.runtime.invocation.records import (
    OWN_FIELDS,
    STAMPED_FIELDS,
    Names,
    closing_payload,
    escalation,
    foreign_fields,
    identified,
)
from falsework.runtime.trail import Data, Json, Trail


def refusal(
    trail: Trail, kind: Kind, figures: Figures, act_key: str, actor_ref: str, credential: str, data: Data
) -> str | None:
    """Why the act cannot be opened as it was asked for; None where it can."""
    bad = bad_reference(trail, "act_key", act_key) or bad_reference(trail, "actor_ref", actor_ref)
    if bad is not None:
        return bad
    if len(kind.name) + 1 + len(act_key) > trail.caps.reference:
        return (
            f"act_key has {len(act_key)} characters: with the kind's name, {trail.caps.reference} are the cap"
        )
    if not credential:
        return "credential is empty"
    if kind.service_identity is not None and actor_ref == kind.service_identity.actor:
        return f"actor_ref is {actor_ref}, the identity that closes acts of this kind and opens none"
    return _bad_data(kind, data) or _oversize(trail, kind, figures, act_key, actor_ref, data)


def bad_reference(trail: Trail, what: str, text: str) -> str | None:
    """What is wrong with a reference; None where it can be stored, compared and printed."""
    if not text or not text.isprintable():
        return f"{what} is {text!r}: it must be printable and not empty"
    if len(text) > trail.caps.reference:
        return f"{what} has {len(text)} characters: {trail.caps.reference} are the cap"
    return None


def _bad_data(kind: Kind, data: Data) -> str | None:
    """What the intent's data may not carry, or must."""
    foreign = foreign_fields(data, OWN_FIELDS | STAMPED_FIELDS)
    if foreign is not None:
        return f"intent_data carries {foreign}, which the protocol or the journal writes"
    if kind.pairing is not None and data.get(kind.pairing.field) in (None, ""):
        return f"intent_data lacks {kind.pairing.field}, the pairing datum of {kind.name}"
    return None


def _oversize(
    trail: Trail, kind: Kind, figures: Figures, act_key: str, actor_ref: str, data: Data
) -> str | None:
    """Which of the records would exceed the payload's cap."""
    cap, longest = trail.caps.payload, "x" * trail.caps.reference
    identity = "" if kind.service_identity is None else kind.service_identity.actor
    writer = max(actor_ref, identity, key=len)
    names = Names(act_key, longest, longest)
    recovered: dict[str, Json] = {
        **closing_payload({}, kind, names),
        "recovery": True,
        "acting_actor_ref": actor_ref,
        "resolved_by": longest,
        "supersedes": longest,
    }
    candidates = tuple(longest for _ in range(figures.intent_candidates_cap + 1))
    escalated = {
        **recovered,
        **escalation(Cause.OUTCOME_UNRECORDABLE, candidates, figures.intent_candidates_cap),
    }
    outcome_ref = max(kind.outcome_refs, key=len)
    try:
        sizes = {
            "the intent": trail.measure(
                kind.ref("intended"), actor_ref, identified(data, kind, act_key, longest)
            ),
            "the outcome, as large as outcome_envelope says": kind.outcome_envelope
            + trail.measure(outcome_ref, writer, recovered),
            "the escalation with every candidate": trail.measure(kind.ref("escalated"), writer, escalated),
        }
    except ValueError as error:
        return f"intent_data cannot be recorded: {error}"
    for name, size in sizes.items():
        if size > cap:
            return f"{name} would take {size} bytes: the journal's cap is {cap}"
    return None
