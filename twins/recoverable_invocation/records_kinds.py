"""How kinds are mixed up and destruction is taken for absence.

Step counts: an intent is opened and lands, and grows by steps: aged, beyond its horizon, destroyed.
"""

from falsework.language import require, twin
from falsework.models.recoverable_invocation.records_kinds import (
    Audited,
    Closing,
    Kind,
    Kinds,
    Opening,
    Phase,
    Read,
    Resolved,
)


@twin(breaks={Kinds.what_a_run_closes_is_aged_and_inside_its_horizon: 5, Kinds.no_act_is_closed_twice: 7})
class HorizonOfTheRecordItself(Kinds):
    """The run takes the edge from when the record will be destroyed, and its intent was placed late."""

    def keeps(self, kind: Kind) -> bool:
        return self.phase[kind] in (Phase.AGED, Phase.BEYOND)


@twin(breaks={Kinds.what_a_run_closes_is_aged_and_inside_its_horizon: 3})
class SweepWithoutAnExamineEdge(Kinds):
    """Every open intent is examined, the one of a moment ago included."""

    def keeps(self, kind: Kind) -> bool:
        return self.phase[kind] in (Phase.YOUNG, Phase.AGED)


@twin(
    breaks={
        Kinds.one_kinds_step_is_nothing_to_the_other: 3,
        Kinds.a_closing_is_destroyed_before_its_intent: None,
    }
)
class ClosingByTheKeyAlone(Kinds):
    """The closing carries the act's key and not its kind, so it closes whatever has that key."""

    def close(self, kind: Kind) -> None:
        for other in Kind:
            if self.unclosed(other):
                self.closing[other] = Closing.STANDS
                self.written[other] += 1


@twin(breaks={Kinds.a_key_of_another_kind_is_another_act: 3})
class KeyWithoutItsKind(Kinds):
    """The section and the check go by the key alone, and a transfer waits for a disclosure."""

    def in_flight(self, kind: Kind) -> bool:
        return any(self.open_intent(other) for other in Kind)


@twin(breaks={Kinds.an_intent_of_an_unbound_kind_is_surfaced_and_left_open: 4})
class SweepOfEveryKind(Kinds):
    """The run closes what it finds, by whatever binding is at hand."""

    def served(self, kind: Kind) -> bool:
        return True


@twin(breaks={Kinds.a_kind_with_an_open_intent_stays_bound: 3})
class UnbindingAtOnce(Kinds):
    """A change of configuration asks for nothing but a review."""

    def holds_back(self, kind: Kind) -> bool:
        return False


@twin(breaks={Kinds.an_outage_is_not_an_unknown_act: 1})
class UnreadIsUnknown(Kinds):
    """The read failed, nothing came back, and the caller runs the act again."""

    def of_an_outage(self, journal: bool) -> Read | None:
        return None if journal else Read.NOT_KNOWN


@twin(breaks={Kinds.an_act_is_known_inside_its_horizon: 4})
class ClosedActsAreForgotten(Kinds):
    """The read goes by the map of open invocations, and an act that is done is in no such map."""

    def inside(self, kind: Kind) -> bool:
        return self.open_intent(kind)


@twin(breaks={Kinds.what_was_destroyed_is_purged_and_not_unknown: 6})
class ResolveByThePayload(Kinds):
    """The operator's call looks for the invocation id, which was destroyed with the payload."""

    def by_event_id(self, kind: Kind) -> Resolved | None:
        return None if self.inside(kind) else Resolved.NOT_KNOWN


@twin(breaks={Kinds.an_outage_is_a_failure_to_record: 1})
class OutageReadsAsAbsence(Kinds):
    """The record cannot be read, and the operator is told that there is none."""

    def out_of_reach(self, kind: Kind) -> Resolved:
        return Resolved.NOT_KNOWN


@twin(breaks={Kinds.an_auditor_answers_purged_and_never_absent: 6})
class DestroyedIsAbsent(Kinds):
    """The auditor finds an outcome whose intent is not there, and reports it."""

    def of_what_is_purged(self, kind: Kind) -> Audited:
        return Audited.ABSENT


@twin(breaks={Kinds.what_nobody_serves_is_owed_by_nobody: 4, Kinds.what_was_closed_is_owed_no_more: 7})
class OwedWhateverTheBinding(Kinds):
    """The auditor counts the intents of a kind that no instance can close."""

    def audit(self, kind: Kind) -> Audited:
        answer = super().audit(kind)
        return Audited.OWED if answer is Audited.EXEMPT else answer


@twin(breaks={Kinds.each_closing_is_one_more_record: 3, Kinds.a_closing_is_destroyed_before_its_intent: None})
class ClosingIsNotCounted(Kinds):
    """The closing stands, and what counts closings was told nothing."""

    def close(self, kind: Kind) -> None:
        self.closing[kind] = Closing.STANDS
        self.closed_beyond[kind] = self.phase[kind] is Phase.BEYOND


@twin(breaks={Kinds.only_a_kind_that_is_bound_opens: 2})
class OpensWhatIsNotBound(Kinds):
    """Open takes the kind from its caller, and looks it up in no table."""

    def open_act(self, kind: Kind, journal: bool, late: bool) -> Opening:
        require(self.phase[kind] is Phase.NONE)
        if not journal:
            return Opening.JOURNAL_UNAVAILABLE
        self.phase[kind] = Phase.FLYING
        self.placed_late[kind] = late
        return Opening.ISSUED


@twin(
    breaks={
        Kinds.an_intent_ages_ends_its_horizon_and_is_destroyed: 4,
        Kinds.a_closing_is_destroyed_before_its_intent: None,
        Kinds.an_orphan_is_destroyed_before_anybody_closed_it: None,
    }
)
class DestroyedWhileItIsOwed(Kinds):
    """The retention of the kind ends before its horizon does."""

    def grow(self, kind: Kind) -> None:
        require(self.phase[kind] in (Phase.YOUNG, Phase.AGED))
        self.phase[kind] = Phase.AGED if self.phase[kind] is Phase.YOUNG else Phase.PURGED


@twin(breaks={Kinds.a_closing_is_destroyed_at_its_own_horizon: 4})
class ClosingDestroyedWithAnotherKind(Kinds):
    """One retention for all records: whatever stands is destroyed when the shortest has ended."""

    def destroy(self, kind: Kind) -> None:
        require(self.closing[kind] is Closing.STANDS)
        self.closing[kind] = Closing.DESTROYED
