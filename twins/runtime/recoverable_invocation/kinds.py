"""Runtimes that mix up kinds, or take destruction for absence.

Step counts are the model twins' own: an intent is opened and lands, and grows by steps: aged, beyond its
horizon, destroyed.
"""

from typing import Any

from falsework.conformance.subject import runtime_twin
from falsework.language import require
from falsework.models.recoverable_invocation.records_kinds import Kind, Kinds, OneAges, Opening, Unbinding
from falsework.runtime.invocation.answers import (
    InvalidRequest,
    JournalUnavailable,
    NotKnown,
    RecordingFailure,
    Report,
    ResolveRefusal,
    State,
)
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.records import Intent
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.subjects.recoverable_invocation.kinds import KindsSubject
from falsework.runtime.trail import NotKnown as Absent
from falsework.runtime.trail import Purged, ReadAnswer

HERE = "falsework.twins.runtime.recoverable_invocation.kinds"


class Alone(OneAges):
    """One kind alone, with a journal in reach as it opens."""

    def open_act(self, kind: Kind, journal: bool, late: bool) -> Opening:
        require(kind is Kind.DISCLOSURE and journal)
        return super().open_act(kind, journal, late)

    def unbind(self, kind: Kind) -> Unbinding:
        require(kind is Kind.DISCLOSURE)
        return super().unbind(kind)


@runtime_twin(
    breaks={
        Kinds.what_a_run_closes_is_aged_and_inside_its_horizon: 5,
        Kinds.no_act_is_closed_twice: 7,
    },
    within=7,
)
class HorizonOfTheRecordItself(KindsSubject):
    """The run takes the edge from when the record will be destroyed, and its intent was placed late."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.reconcile", "horizon_edge", always(2**62)),)


@runtime_twin(breaks={Kinds.what_a_run_closes_is_aged_and_inside_its_horizon: 3}, within=3)
class SweepWithoutAnExamineEdge(KindsSubject):
    """Every open intent is examined, the one of a moment ago included."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.reconcile", "in_flight", always(False)),)


def _by_the_key(_: Right) -> Right:
    def open_intents(self: Indexes, act: tuple[str, str], now: int) -> list[Intent]:
        found = [intent for intent in self.every_open_intent() if intent.act_key == act[1]]
        return [intent for intent in found if not self.gone(intent, now)]

    return open_intents


@runtime_twin(breaks={Kinds.a_key_of_another_kind_is_another_act: 3}, within=3)
class KeyWithoutItsKind(KindsSubject):
    """The check goes by the key alone, and a transfer waits for a disclosure."""

    bends = (Bend("invocation.indexes:Indexes", "open_intents", _by_the_key),)


@runtime_twin(breaks={Kinds.a_kind_with_an_open_intent_stays_bound: 3}, within=3)
class UnbindingAtOnce(KindsSubject):
    """A change of configuration asks for nothing but a review."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.bindings", "unbound_with_open_intents", always([])),)


def _unknown(right: Right) -> Right:
    def read(*call: Any) -> object:
        found = right(*call)
        return NotKnown() if isinstance(found, JournalUnavailable) else found

    return read


@runtime_twin(breaks={Kinds.an_outage_is_not_an_unknown_act: 1}, within=2)
class UnreadIsUnknown(KindsSubject):
    """The read failed, nothing came back, and the caller runs the act again."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.instance", "read_invocation", _unknown),)


def _open_alone(right: Right) -> Right:
    def read(*call: Any) -> object:
        found = right(*call)
        closed = isinstance(found, Report) and found.invocations[0].state is not State.OPEN
        return NotKnown() if closed else found

    return read


@runtime_twin(breaks={Kinds.an_act_is_known_inside_its_horizon: 4}, within=4)
class ClosedActsAreForgotten(KindsSubject):
    """The read goes by the map of open invocations, and an act that is done is in no such map."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.instance", "read_invocation", _open_alone),)


def _by_its_payload(right: Right) -> Right:
    def intent(*call: Any) -> object:
        found = right(*call)
        purged = isinstance(found, InvalidRequest) and found.cause is ResolveRefusal.PURGED
        return NotKnown() if purged else found

    return intent


@runtime_twin(breaks={Kinds.what_was_destroyed_is_purged_and_not_unknown: 6}, within=6)
class ResolveByThePayload(KindsSubject):
    """The operator's call looks for the invocation id, which was destroyed with the payload."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.resolve", "_intent", _by_its_payload),)


def _no_such_record(right: Right) -> Right:
    def resolve(*call: Any) -> object:
        found = right(*call)
        return NotKnown() if isinstance(found, RecordingFailure) else found

    return resolve


@runtime_twin(breaks={Kinds.an_outage_is_a_failure_to_record: 1}, within=2)
class OutageReadsAsAbsence(KindsSubject):
    """The record cannot be read, and the operator is told that there is none."""

    model = f"{HERE}:Alone"
    bends = (Bend("invocation.instance", "resolve", _no_such_record),)


def _forged(right: Right) -> Right:
    def read_record(*call: Any) -> ReadAnswer:
        found: ReadAnswer = right(*call)
        return Absent() if isinstance(found, Purged) else found

    return read_record


# The operator's call finds nothing either.
@runtime_twin(
    breaks={
        Kinds.an_auditor_answers_purged_and_never_absent: 6,
        Kinds.what_was_destroyed_is_purged_and_not_unknown: 6,
    },
    within=6,
)
class DestroyedIsAbsent(KindsSubject):
    """The journal forges absence: what was destroyed is answered as if it had never been."""

    model = f"{HERE}:Alone"
    bends = (Bend("trail.journal:AuditTrail", "read_record", _forged),)
