"""How the sweep closes one act: what its store says becomes an outcome, an abandonment or an escalation."""

from collections.abc import Mapping
from enum import Enum

from falsework.runtime.invocation.answers import (
    Cause,
    Committed,
    NotCommitted,
    ProbeAnswer,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.close import unrecordable
from falsework.runtime.invocation.figures import Kind, ServiceIdentity
from falsework.runtime.invocation.findings import ActFinding, Condition, InstanceFinding, Sighting
from falsework.runtime.invocation.journal import Landed, Why, Write, append, may_write, pause
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import (
    Intent,
    Names,
    closing_payload,
    escalation,
    recovered_payload,
)
from falsework.runtime.invocation.section import Standing
from falsework.runtime.invocation.terms import abandon_edge
from falsework.runtime.trail import Data, Unavailable


class Part(Enum):
    """The parts of what was examined: every act is in one."""

    CLOSED = "closed"
    ABANDONED = "abandoned"
    ESCALATED = "escalated"
    REPORTED = "reported"
    SKIPPED = "skipped"
    CLOSED_ALREADY = "closed_already"


class Sweep:
    """One act under its section, in one run."""

    def __init__(self, parties: Parties, kind: Kind, intent: Intent, standing: Standing, now: int) -> None:
        self.parties = parties
        self.kind = kind
        self.intent = intent
        self.standing = standing
        self.now = now
        self.sightings: list[Sighting] = []
        self.detail = ""

    def closed(self) -> Part:
        """The act's part: read again, probe, write."""
        delta = self.parties.indexes.refresh()
        if not isinstance(delta, list):
            self.sightings.append(InstanceFinding(Condition.JOURNAL_UNAVAILABLE, None, delta.detail))
            return self._skipped(f"the journal could not be read again: {delta.detail}")
        closed = self._closed_by_another()
        if isinstance(closed, Unavailable):
            self.sightings.append(InstanceFinding(Condition.JOURNAL_UNAVAILABLE, None, closed.detail))
            return self._skipped(f"the act could not be read again: {closed.detail}")
        if closed:
            return Part.CLOSED_ALREADY
        identity = self.kind.service_identity
        if identity is None:
            return self._reported(self._probe())
        if may_write(self.parties, self.standing) is None:
            return self._skipped(Why.GATE.value)
        return self._by(self._probe(), identity)

    def _closed_by_another(self) -> bool | Unavailable:
        """Whether a closing stands in the journal itself, be it a run's, an operator's or the caller's."""
        act = (self.intent.kind, self.intent.act_key)
        found = self.parties.indexes.in_the_journal(act, self.intent.invocation_id)
        return found if isinstance(found, Unavailable) else bool(found.closings)

    def _skipped(self, detail: str) -> Part:
        self.detail = detail
        return Part.SKIPPED

    # What the store says.

    def _probe(self) -> ProbeAnswer:
        """The probe's answer; whatever it fails with says nothing of what the store holds."""
        probe = self.parties.probes[self.kind.name]
        if probe is None:
            return Undecidable()
        try:
            answer: object = probe(self.intent.act_key, dict(self.intent.payload))
        except Exception as problem:  # noqa: BLE001  the adopter's code: every failure of it is an outage
            return StoreUnavailable(f"{type(problem).__name__}: {problem}")
        return self._understood(answer)

    def _understood(self, answer: object) -> ProbeAnswer:
        """The answer, if it is one; what is none says nothing of the store, and a person must hear of it."""
        match answer:
            case Committed(str(), Mapping()):
                # Without a datum to match, one record is a candidate and no proof.
                return answer if self.kind.pairing is not None else Undecidable()
            case Undecidable(candidates) if _texts(candidates):
                return answer
            case NotCommitted() | StoreUnavailable():
                return answer
        self._alert("probe misunderstood", f"it answered {answer!r}")
        return StoreUnavailable(f"the probe answered {answer!r}, which is no probe's answer")

    def _reported(self, answer: ProbeAnswer) -> Part:
        """Nothing is written for a kind without an identity: an operator reads what the store said."""
        if isinstance(answer, StoreUnavailable):
            self._see_the_outage(answer)
        detail = f"aged and open, for an operator to resolve; the probe says: {answer}"
        intent = self.intent
        self.sightings.append(
            ActFinding(Condition.CLOSURE_AT_RISK, intent.kind, intent.act_key, intent.invocation_id, detail)
        )
        return Part.REPORTED

    def _see_the_outage(self, answer: StoreUnavailable) -> None:
        self.sightings.append(InstanceFinding(Condition.STORE_UNAVAILABLE, self.kind.name, answer.detail))

    def _by(self, answer: ProbeAnswer, identity: ServiceIdentity) -> Part:
        """The closing that the answer calls for."""
        match answer:
            case Committed(action_ref, data):
                return self._outcome(identity, action_ref, data)
            case NotCommitted() if not self.kind.fenced:
                return self._escalated(identity, Cause.NOT_OBSERVED)
            case NotCommitted():
                edge = abandon_edge(self.kind, self.parties.figures, self.intent.recorded_at)
                if self.now < edge:
                    return self._skipped("the store holds nothing, and may yet")
                return self._abandoned(identity)
            case Undecidable(candidates):
                self._alert("undecidable", f"{len(candidates)} candidates")
                return self._escalated(identity, Cause.UNDECIDABLE, candidates)
            case StoreUnavailable(detail):
                self._see_the_outage(answer)
                return self._skipped(f"the store could not be read: {detail}")

    # What is written.

    def _outcome(self, identity: ServiceIdentity, action_ref: str, data: Data) -> Part:
        """The plan first, then the outcome; an outcome that the journal cannot take is an escalation."""
        wrong = unrecordable(self.kind, action_ref, data)
        if wrong is not None:
            return self._unrecordable(identity, wrong)
        intent = self.intent
        names = Names(intent.act_key, intent.invocation_id, intent.event_id)
        plan = closing_payload({"plan": "outcome"}, self.kind, names)
        for ref, payload in (
            (self.kind.ref("recovery_intended"), plan),
            (action_ref, recovered_payload(data, self.kind, intent)),
        ):
            why = self._write(identity, ref, payload)
            if why is Why.REQUEST:
                return self._unrecordable(identity, self.detail)
            if why is not None:
                return self._not_written(why)
        return Part.CLOSED

    def _unrecordable(self, identity: ServiceIdentity, detail: str) -> Part:
        self._alert("outcome unrecordable", detail)
        return self._escalated(identity, Cause.OUTCOME_UNRECORDABLE)

    def _escalated(self, identity: ServiceIdentity, cause: Cause, candidates: tuple[str, ...] = ()) -> Part:
        """The act is a person's now, with as many candidates as the cap admits."""
        cap = self.parties.trail.caps.reference
        listed = escalation(
            cause,
            tuple(candidate[:cap] for candidate in candidates),
            self.parties.figures.intent_candidates_cap,
        )
        payload = recovered_payload(listed, self.kind, self.intent)
        why = self._write(identity, self.kind.ref("escalated"), payload)
        return Part.ESCALATED if why is None else self._not_written(why)

    def _abandoned(self, identity: ServiceIdentity) -> Part:
        """The store is fenced and holds nothing: the act did not happen, and cannot any more."""
        payload = recovered_payload({"cause": Cause.NOT_COMMITTED.value}, self.kind, self.intent)
        why = self._write(identity, self.kind.ref("abandoned"), payload)
        return Part.ABANDONED if why is None else self._not_written(why)

    def _not_written(self, why: Why) -> Part:
        """Another has closed the act meanwhile, or the next run will; what no run could write is told."""
        if why is Why.REQUEST:
            self._alert("closing unrecordable", self.detail)
        if self._closed_by_another() is True:
            return Part.CLOSED_ALREADY
        return Part.SKIPPED

    def _write(self, identity: ServiceIdentity, action_ref: str, payload: Data) -> Why | None:
        """The record has landed (None), tried again as long as the lease lasts; else why not."""
        write = Write(
            action_ref,
            identity.actor,
            self.parties.credentials[self.kind.name],
            payload,
            self.intent.invocation_id,
            self.standing,
        )
        while True:
            found = append(self.parties, write)
            if isinstance(found, Landed):
                if found.late is not None:
                    self._alert("closing appended late", found.late)
                return None
            self.detail = found.detail
            if found.why is Why.CREDENTIAL:
                self.parties.refused_identities.add(identity.actor)
                self._alert("service credential refused", found.detail)
            if found.why not in (Why.FAILED, Why.ABSENT):
                return found.why
            self.parties.section.wait(pause(self.parties))
            if not isinstance(self.parties.indexes.refresh(), list) or self._closed_by_another() is not False:
                return Why.UNREAD

    def _alert(self, what: str, detail: str) -> None:
        self.parties.alert(what, self.kind, self.intent.act_key, self.intent.invocation_id, detail)


def _texts(values: tuple[object, ...]) -> bool:
    """Whether each value is a text that is not empty."""
    return all(isinstance(value, str) and bool(value) for value in values)
