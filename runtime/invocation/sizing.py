"""Whether every record that an act may need would fit the journal, asked before the act begins.

The largest are the sweep's and the operator's: a recovered outcome, and an escalation with all its
candidates. A reference that nobody knows yet is counted at its cap.
"""

from falsework.runtime.invocation.answers import Cause
from falsework.runtime.invocation.figures import Figures, Kind
from falsework.runtime.invocation.records import (
    NOT_OF_AN_INTENT,
    Names,
    closing_payload,
    escalation,
    foreign_fields,
    identified,
)
from falsework.runtime.trail import Data, Json, Trail


class Sizing:
    """The caps of one journal, and how large the closings of an act may become."""

    def __init__(self, trail: Trail, figures: Figures) -> None:
        self.trail = trail
        self.figures = figures
        self._largest: dict[tuple[str, int, str], dict[str, int]] = {}

    def refusal(self, kind: Kind, act_key: str, actor_ref: str, credential: str, data: Data) -> str | None:
        """Why the act cannot be opened as it was asked for; None where it can."""
        cap = self.trail.caps.reference
        bad = self.bad_reference("act_key", act_key) or self.bad_reference("actor_ref", actor_ref)
        if bad is not None:
            return bad
        if len(kind.name) + 1 + len(act_key) > cap:
            return f"act_key has {len(act_key)} characters: with the kind's name, {cap} are the cap"
        if not credential:
            return "credential is empty"
        if kind.service_identity is not None and actor_ref == kind.service_identity.actor:
            return f"actor_ref is {actor_ref}, the identity that closes acts of this kind and opens none"
        return _bad_data(kind, data) or self._oversize(kind, act_key, actor_ref, data)

    def bad_reference(self, what: str, text: str) -> str | None:
        """What is wrong with a reference; None where it can be stored, compared and printed."""
        if not text or not text.isprintable():
            return f"{what} is {text!r}: it must be printable and not empty"
        if len(text) > self.trail.caps.reference:
            return f"{what} has {len(text)} characters: {self.trail.caps.reference} are the cap"
        return None

    def _oversize(self, kind: Kind, act_key: str, actor_ref: str, data: Data) -> str | None:
        """Which of the records would exceed the payload's cap."""
        longest = "x" * self.trail.caps.reference
        intent = identified(data, kind, act_key, longest)
        try:
            size = self.trail.measure(kind.ref("intended"), actor_ref, intent)
        except ValueError as error:
            return f"intent_data cannot be recorded: {error}"
        # A key adds its own length to a record, and nothing else does: keys as long have records as large.
        named = (kind.name, _written(act_key), actor_ref)
        if named not in self._largest:
            self._largest[named] = self._closings(kind, act_key, actor_ref)
        for name, bytes_ in {"the intent": size, **self._largest[named]}.items():
            if bytes_ > self.trail.caps.payload:
                return f"{name} would take {bytes_} bytes: the journal's cap is {self.trail.caps.payload}"
        return None

    def _closings(self, kind: Kind, act_key: str, actor_ref: str) -> dict[str, int]:
        """The sizes of the largest closings that the act may need."""
        longest = "x" * self.trail.caps.reference
        identity = "" if kind.service_identity is None else kind.service_identity.actor
        writer = max(actor_ref, identity, key=len)
        recovered: dict[str, Json] = {
            **closing_payload({}, kind, Names(act_key, longest, longest)),
            "recovery": True,
            "acting_actor_ref": actor_ref,
            "resolved_by": longest,
            "supersedes": longest,
        }
        cap = self.figures.intent_candidates_cap
        listed = escalation(Cause.OUTCOME_UNRECORDABLE, (longest,) * (cap + 1), cap)
        outcome = self.trail.measure(max(kind.outcome_refs, key=len), writer, recovered)
        escalated = self.trail.measure(kind.ref("escalated"), writer, {**recovered, **listed})
        return {
            "the outcome, as large as outcome_envelope says": outcome + kind.outcome_envelope,
            "the escalation with every candidate": escalated,
        }


def _written(text: str) -> int:
    """How many bytes a printable text takes inside a record."""
    return len(text.encode()) + text.count('"') + text.count("\\") + 2


def _bad_data(kind: Kind, data: Data) -> str | None:
    """What the intent's data may not carry, or must."""
    foreign = foreign_fields(data, NOT_OF_AN_INTENT)
    if foreign is not None:
        return f"intent_data carries {foreign}, which the protocol or the journal writes"
    if kind.pairing is not None and data.get(kind.pairing.field) in (None, ""):
        return f"intent_data lacks {kind.pairing.field}, the pairing datum of {kind.name}"
    return None
