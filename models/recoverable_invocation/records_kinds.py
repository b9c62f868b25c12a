"""Kinds, their bindings and their horizon: whose intent is examined, and what is said of a destroyed one.

Two kinds have an act with the same key, and what becomes of one is nothing to the other. A record whose
payload is destroyed names nobody any more. Left out: clocks, for an intent is young, aged, beyond the horizon
edge, or destroyed; what a closing says, and who holds the section.
"""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Map,
    Model,
    Upto,
    action,
    configuration,
    implies,
    internal,
    invariant,
    reachable,
    require,
)

Kind = Enum("Kind", "DISCLOSURE TRANSFER")
Phase = Enum("Phase", "NONE FLYING YOUNG AGED BEYOND PURGED")
Closing = Enum("Closing", "NONE STANDS DESTROYED")
Opening = Enum("Opening", "ISSUED ACT_IN_FLIGHT JOURNAL_UNAVAILABLE")
Unbinding = Enum("Unbinding", "UNBOUND REFUSED")
Examined = Enum("Examined", "CLOSED CLOSED_ALREADY NOT_KEPT UNBOUND_KIND JOURNAL_UNAVAILABLE")
Read = Enum("Read", "OPEN CLOSED NOT_KNOWN JOURNAL_UNAVAILABLE")
Resolved = Enum("Resolved", "CLOSED ALREADY_ACCOUNTED NOT_KNOWN PURGED RECORDING_FAILURE")
Audited = Enum("Audited", "ACCOUNTED OWED EXEMPT PURGED ABSENT")


class Kinds(Model):
    """An intent is examined under its own kind's binding, from its examine edge to its horizon."""

    HORIZON_EVERYWHERE: ClassVar[bool] = True  # whether all but the sweep keep to the horizon edge as well

    BOTH_AGE: ClassVar[bool] = True  # whether both kinds' time goes on, or the one's alone

    phase: Map[Kind, Phase] = Map(Phase.NONE)  # of the one intent of each kind
    placed_late: Map[Kind, bool] = Map(
        False
    )  # its retention was placed late, so that it outlives its closing
    closing: Map[Kind, Closing] = Map(Closing.NONE)
    closed_beyond: Map[Kind, bool] = Map(
        False
    )  # it was written beyond the horizon, and will outlive all here
    written: Map[Kind, Annotated[int, Upto(2)]] = Map(0)  # how many closings were ever written
    bound: Map[Kind, bool] = Map(True)  # whether the instance serves the kind

    # The decisions, each by itself.

    def readable(self, kind: Kind) -> bool:
        return self.phase[kind] in (Phase.YOUNG, Phase.AGED, Phase.BEYOND)

    def inside(self, kind: Kind) -> bool:
        beyond = self.phase[kind] is Phase.BEYOND
        return self.readable(kind) and not (beyond and self.HORIZON_EVERYWHERE)

    def unclosed(self, kind: Kind) -> bool:
        """Whether no closing can be read that names the invocation."""
        return self.closing[kind] is not Closing.STANDS

    def open_intent(self, kind: Kind) -> bool:
        return self.phase[kind] in (Phase.YOUNG, Phase.AGED) and self.unclosed(kind)

    def in_flight(self, kind: Kind) -> bool:
        """What Open's check finds under the kind and the key."""
        return self.open_intent(kind)

    def keeps(self, kind: Kind) -> bool:
        """Whether the run's step 1 keeps the intent, by the kind's own edges."""
        return self.phase[kind] is Phase.AGED

    def holds_back(self, kind: Kind) -> bool:
        """Whether the kind must stay bound: an intent that nobody closed stands open until it is gone."""
        return self.readable(kind) and self.unclosed(kind)

    def served(self, kind: Kind) -> bool:
        return self.bound[kind]

    def of_an_outage(self, journal: bool) -> Read | None:
        return None if journal else Read.JOURNAL_UNAVAILABLE

    def by_event_id(self, kind: Kind) -> Resolved | None:
        """What read_record makes of the intent, where there is nothing to close."""
        if self.phase[kind] is Phase.PURGED:
            return Resolved.PURGED
        if not self.readable(kind):
            return Resolved.NOT_KNOWN
        return None if self.inside(kind) or not self.unclosed(kind) else Resolved.PURGED

    def out_of_reach(self, kind: Kind) -> Resolved:
        return Resolved.RECORDING_FAILURE

    def close(self, kind: Kind) -> None:
        self.closing[kind] = Closing.STANDS
        self.written[kind] += 1
        self.closed_beyond[kind] = self.phase[kind] is Phase.BEYOND

    # The invocations, and time.

    @action(
        source=("open step 4.3", "open step 3.13b", "act section 4", "Invariant 4.3b", "open invocations 2")
    )
    def open_act(self, kind: Kind, journal: bool, late: bool) -> Opening:
        """An invocation of the kind opens; its intent is issued and lands by and by."""
        require(self.bound[kind] and self.phase[kind] is not Phase.FLYING)
        require(self.BOTH_AGE or kind is Kind.DISCLOSURE or not late)
        if not journal:
            return Opening.JOURNAL_UNAVAILABLE
        if self.in_flight(kind):
            return Opening.ACT_IN_FLIGHT
        require(self.phase[kind] is Phase.NONE)
        self.phase[kind] = Phase.FLYING
        self.placed_late[kind] = late
        return Opening.ISSUED

    @internal
    def land(self, kind: Kind) -> None:
        require(self.phase[kind] is Phase.FLYING)
        self.phase[kind] = Phase.YOUNG

    @internal(source=("journal 6", "journal 8", "sequence high water 5", "open invocations 7"))
    def grow(self, kind: Kind) -> None:
        """The kind's time goes on, by its own bound and its own retention."""
        require(self.phase[kind] in (Phase.YOUNG, Phase.AGED, Phase.BEYOND))
        require(self.BOTH_AGE or kind is Kind.DISCLOSURE)
        if self.phase[kind] is Phase.YOUNG:
            self.phase[kind] = Phase.AGED
        elif self.phase[kind] is Phase.AGED:
            self.phase[kind] = Phase.BEYOND
        else:
            self.phase[kind] = Phase.PURGED

    @internal(source="journal 9")
    def destroy(self, kind: Kind) -> None:
        """The closing reaches its own horizon: after the intent, or before one that was placed late."""
        require(self.closing[kind] is Closing.STANDS)
        late = self.placed_late[kind] and self.phase[kind] is Phase.BEYOND and not self.closed_beyond[kind]
        require(late or self.phase[kind] is Phase.PURGED)
        self.closing[kind] = Closing.DESTROYED

    # The bindings table.

    @action(source=("Binding 2", "Binding 3"))
    def unbind(self, kind: Kind) -> Unbinding:
        require(self.bound[kind])
        if self.holds_back(kind):
            return Unbinding.REFUSED
        self.bound[kind] = False
        return Unbinding.UNBOUND

    @action
    def bind(self, kind: Kind) -> None:
        require(not self.bound[kind])
        self.bound[kind] = True

    # The sweep, the readers, the operator and the auditor.

    @action(source=("Binding 1", "Binding 4", "Binding 6", "reconcile step 1.2", "reconcile step 1.6"))
    def examine(self, kind: Kind, journal: bool) -> Examined:
        """What a run makes of the kind's intent."""
        require(self.phase[kind] not in (Phase.NONE, Phase.FLYING))
        if not journal:
            return Examined.JOURNAL_UNAVAILABLE
        if not self.served(kind):
            return Examined.UNBOUND_KIND if self.readable(kind) and self.unclosed(kind) else Examined.NOT_KEPT
        if not self.keeps(kind):
            return Examined.NOT_KEPT
        if self.closing[kind] is Closing.STANDS:
            return Examined.CLOSED_ALREADY
        self.close(kind)
        return Examined.CLOSED

    @action(source=("read invocation 1", "read invocation 11", "read invocation 12", "Action wiring 3"))
    def read(self, kind: Kind, journal: bool) -> Read:
        outage = self.of_an_outage(journal)
        if outage is not None:
            return outage
        if not self.inside(kind):
            return Read.NOT_KNOWN
        return Read.OPEN if self.unclosed(kind) else Read.CLOSED

    @action(source=("resolve 10", "resolve 11", "resolve 12", "Capability requirement 9"))
    def resolve(self, kind: Kind, journal: bool) -> Resolved:
        """An operator closes what an invocation left, by the intent's event id."""
        if not journal:
            return self.out_of_reach(kind)
        nothing = self.by_event_id(kind)
        if nothing is not None:
            return nothing
        if not self.unclosed(kind):
            return Resolved.ALREADY_ACCOUNTED
        self.close(kind)
        return Resolved.CLOSED

    @action(source=("Check 1.2", "Check 3.2", "Check 7.1", "Check 7.2"))
    def audit(self, kind: Kind) -> Audited:
        if self.phase[kind] is Phase.PURGED:
            return self.of_what_is_purged(kind)
        if not self.readable(kind):
            return Audited.ABSENT
        if not self.unclosed(kind):
            return Audited.ACCOUNTED
        return Audited.OWED if self.bound[kind] and self.inside(kind) else Audited.EXEMPT

    def of_what_is_purged(self, kind: Kind) -> Audited:
        return Audited.PURGED

    # What is true.

    @invariant(source=("Invariant 2.2", "journal 9", "reconcile step 1.2"))
    def no_act_is_closed_twice(self) -> bool:
        return all(written <= 1 for written in self.written.values())

    @invariant(source=("Invariant 3.2", "Primitive policy 11", "act section 11"))
    def one_kinds_step_is_nothing_to_the_other(self, before: Self) -> bool:
        return (
            self.closing[Kind.DISCLOSURE] is before.closing[Kind.DISCLOSURE]
            or self.closing[Kind.TRANSFER] is before.closing[Kind.TRANSFER]
        )

    @invariant(on=open_act, source=("open step 3.4", "open step 3.5", "act section 4"))
    def a_key_of_another_kind_is_another_act(self, before: Self, kind: Kind, answer: Opening) -> bool:
        return implies(answer is Opening.ACT_IN_FLIGHT, before.open_intent(kind))

    @invariant(source=("reconcile step 3.2c", "Check 2.1"))
    def each_closing_is_one_more_record(self, before: Self) -> bool:
        return all(
            (self.closing[kind] is Closing.STANDS and before.closing[kind] is not Closing.STANDS)
            == (self.written[kind] == before.written[kind] + 1)
            for kind in Kind
        )

    @invariant(on=open_act, source=("open step 4.3", "Binding 2"))
    def only_a_kind_that_is_bound_opens(self, before: Self, kind: Kind, answer: Opening) -> bool:
        return implies(answer is Opening.ISSUED, before.bound[kind] and before.phase[kind] is Phase.NONE)

    @invariant(on=grow, source=("journal 6", "journal 8", "sequence high water 5", "open invocations 7"))
    def an_intent_ages_ends_its_horizon_and_is_destroyed(self, before: Self, kind: Kind) -> bool:
        was, now = before.phase[kind], self.phase[kind]
        if was is Phase.YOUNG:
            return now is Phase.AGED
        return now is (Phase.BEYOND if was is Phase.AGED else Phase.PURGED) and was in (
            Phase.AGED,
            Phase.BEYOND,
        )

    @invariant(on=destroy, source=("journal 9", "journal 6"))
    def a_closing_is_destroyed_at_its_own_horizon(self, before: Self, kind: Kind) -> bool:
        late = before.placed_late[kind] and before.phase[kind] is Phase.BEYOND
        due = before.phase[kind] is Phase.PURGED or (late and not before.closed_beyond[kind])
        return before.closing[kind] is Closing.STANDS and due

    @invariant(on=examine, source=("Invariant 7.1", "Invariant 7.2", "reconcile step 1.2"))
    def what_a_run_closes_is_aged_and_inside_its_horizon(
        self, before: Self, kind: Kind, answer: Examined
    ) -> bool:
        return implies(answer is Examined.CLOSED, before.phase[kind] is Phase.AGED)

    @invariant(on=examine, source=("Binding 4", "Binding 5", "Binding 6"))
    def an_intent_of_an_unbound_kind_is_surfaced_and_left_open(
        self, before: Self, kind: Kind, journal: bool, answer: Examined
    ) -> bool:
        lost = journal and not before.bound[kind] and before.readable(kind) and before.unclosed(kind)
        return (answer is Examined.UNBOUND_KIND) == lost and (not lost or self.unclosed(kind))

    @invariant(on=unbind, source=("Binding 2", "Binding 3"))
    def a_kind_with_an_open_intent_stays_bound(self, before: Self, kind: Kind, answer: Unbinding) -> bool:
        return (answer is Unbinding.REFUSED) == (before.readable(kind) and before.unclosed(kind))

    @invariant(on=read, source=("read invocation 11", "Action wiring 3", "Capability requirement 6"))
    def an_outage_is_not_an_unknown_act(self, journal: bool, answer: Read) -> bool:
        return (answer is Read.JOURNAL_UNAVAILABLE) != journal

    @invariant(on=read, source="read invocation 12")
    def an_act_is_known_inside_its_horizon(
        self, before: Self, kind: Kind, journal: bool, answer: Read
    ) -> bool:
        known = before.phase[kind] in (Phase.YOUNG, Phase.AGED)
        return implies(journal and known, answer is not Read.NOT_KNOWN)

    @invariant(on=read, source=("read invocation 10", "journal 9"))
    def what_was_closed_never_reads_open(self, kind: Kind, answer: Read) -> bool:
        return implies(answer is Read.OPEN, self.written[kind] == 0)

    @invariant(on=resolve, source=("resolve 10", "resolve 11", "resolve 12"))
    def what_was_destroyed_is_purged_and_not_unknown(
        self, before: Self, kind: Kind, journal: bool, answer: Resolved
    ) -> bool:
        return implies(journal and before.phase[kind] is Phase.PURGED, answer is Resolved.PURGED)

    @invariant(on=resolve, source=("Capability requirement 9", "Capability requirement 10"))
    def an_outage_is_a_failure_to_record(self, journal: bool, answer: Resolved) -> bool:
        return (answer is Resolved.RECORDING_FAILURE) != journal

    @invariant(on=audit, source=("Check 1.4", "Check 5.3", "Check 7.1", "Invariant 7.3"))
    def an_auditor_answers_purged_and_never_absent(self, kind: Kind, answer: Audited) -> bool:
        return (answer is Audited.PURGED) == (self.phase[kind] is Phase.PURGED)

    @invariant(on=audit, source="Check 3.2")
    def what_nobody_serves_is_owed_by_nobody(self, kind: Kind, answer: Audited) -> bool:
        return implies(answer is Audited.OWED, self.bound[kind])

    @invariant(on=audit, source=("Check 3.1", "Check 1.3", "journal 9"))
    def what_was_closed_is_owed_no_more(self, kind: Kind, answer: Audited) -> bool:
        return implies(answer is Audited.OWED, self.written[kind] == 0)

    # What must be able to happen.

    @reachable
    def an_intent_lands_after_its_kind_was_unbound(self) -> bool:
        return any(self.open_intent(kind) and not bound for kind, bound in self.bound.items())

    @reachable
    def both_kinds_have_an_open_intent(self) -> bool:
        return self.open_intent(Kind.DISCLOSURE) and self.open_intent(Kind.TRANSFER)

    @reachable
    def a_closing_is_destroyed_before_its_intent(self) -> bool:
        return any(
            closing is Closing.DESTROYED and self.readable(kind) for kind, closing in self.closing.items()
        )

    @reachable
    def an_orphan_is_destroyed_before_anybody_closed_it(self) -> bool:
        return any(phase is Phase.PURGED and self.written[kind] == 0 for kind, phase in self.phase.items())


@configuration(
    breaks={
        Kinds.what_was_closed_never_reads_open: 7,
        Kinds.what_was_closed_is_owed_no_more: 7,
        Kinds.no_act_is_closed_twice: 7,
    }
)
class HorizonOfTheSweepAlone(Kinds):
    """All but the sweep take an intent for inside its horizon as long as it can be read."""

    HORIZON_EVERYWHERE = False


@configuration(holds=True)
class OneAges(Kinds):
    """Small enough to be driven: the one kind lives its whole life beside another that stays young."""

    BOTH_AGE = False
