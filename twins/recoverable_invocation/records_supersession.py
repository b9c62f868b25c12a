"""How closings go wrong: names that are left out or not followed, and writers that do not look.

Step counts: a closing takes a call and its landing, and the sweep's the ageing of the intent before that.
"""

from falsework.language import bound, given, require, twin
from falsework.models.recoverable_invocation.records_supersession import (
    Answer,
    Closing,
    Fenced,
    Kind,
    Slot,
    State,
    Supersession,
    Surface,
    Write,
    Writer,
)


@twin(breaks={Supersession.under_the_fence_every_closing_is_one: 4}, within=Fenced)
class JournalThatAdmitsTheLate(Supersession):
    """The fence is declared and nobody judges by it, so a writer that overslept appends beside another."""

    def enter(self, writer: Writer) -> None:
        self.evicted = False


@twin(
    breaks={
        Supersession.an_operator_names_whatever_stood: 4,
        Supersession.rivals_are_what_a_late_write_leaves: 4,
        Supersession.a_chain_of_three_is_one_closing: None,
    }
)
class ResolutionWithoutAName(Supersession):
    """The resolution says by whom and not over which record, as if resolved by were a name."""

    def supersedes(self, writer: Writer, write: Write, slot: int, standing: Slot | None) -> bool:
        return False


@twin(
    breaks={
        Supersession.rivals_are_what_a_late_write_leaves: 4,
        Supersession.only_an_operators_closing_names_another: 4,
        Supersession.an_outcome_gives_way_to_an_outcome_alone: 4,
        Supersession.an_abandonment_by_itself_gives_way_to_an_outcome_alone: 5,
    }
)
class NameForWhateverIsThere(Supersession):
    """Every writer names what its record lands upon, so that a late write replaces what it never saw."""

    def supersedes(self, writer: Writer, write: Write, slot: int, standing: Slot | None) -> bool:
        return slot < self.length and not self.is_named(slot)


@twin(breaks={Supersession.an_outcome_or_a_refusal_by_itself_is_final: 3})
class ResolutionOverAnOutcome(Supersession):
    """An operator knows better than any record, so nothing is ever accounted for."""

    def is_accounted_for(self) -> bool:
        return False


@twin(
    breaks={
        Supersession.an_abandonment_by_itself_gives_way_to_an_outcome_alone: 5,
        Supersession.an_outcome_gives_way_to_an_outcome_alone: 6,
    }
)
class AbandonmentOverAnAbandonment(Supersession):
    """A second operator abandons what was abandoned, and the first one's judgement is gone."""

    def over_an_abandonment(self, disposition: Kind) -> Answer:
        return Answer.WRITES


@twin(breaks={Supersession.the_sweep_leaves_what_another_closed: 4})
class SweepWithoutAReread(Supersession):
    """The run trusts what it enumerated before it waited for the section."""

    def swept(self) -> bool:
        return False


@twin(breaks={Supersession.two_sweep_runs_never_close_one_act: 4})
class SweepThatRetriesBlind(Supersession):
    """The reply to the closing write is lost, and the run sends it again without reading back."""

    def land(self, writer: Writer) -> None:
        write = given(self.pending[writer])
        super().land(writer)
        if writer is Writer.SWEEP:
            self.pending[writer] = write


@twin(
    breaks={
        Supersession.a_closing_is_never_taken_back: 4,
        Supersession.an_operator_names_whatever_stood: 4,
        Supersession.a_chain_of_three_is_one_closing: None,
    }
)
class ResolutionInPlace(Supersession):
    """The correction is written over the record that it corrects."""

    def land(self, writer: Writer) -> None:
        if writer is Writer.OPERATOR and self.length > 0:
            write = given(self.pending[writer])
            bound(self.length < self.CLOSINGS)
            self.closings[self.length - 1] = Closing(kind=write.kind, by=writer)
            self.pending[writer] = None
        else:
            super().land(writer)


@twin(breaks={Supersession.a_duplicate_is_reported_of_rivals_and_of_no_chain: 7})
class PairwiseScan(Supersession):
    """The sweep's scan takes two closings for a duplicate unless one names the other itself."""

    # A chain of three: its first and its last are no pair.
    def duplicate(self, surface: Surface) -> bool:
        if surface is not Surface.RECONCILE:
            return super().duplicate(surface)
        return any(not self.names[later, earlier] for later in range(self.length) for earlier in range(later))


@twin(breaks={Supersession.a_duplicate_is_reported_of_rivals_and_of_no_chain: 5})
class AuditOfOutcomesAlone(Supersession):
    """The auditor's duplicate is two outcomes, so an escalation beside an outcome is none."""

    def duplicate(self, surface: Surface) -> bool:
        if surface is not Surface.AUDIT:
            return super().duplicate(surface)
        return (
            sum(1 for slot in range(self.CLOSINGS) if self.is_rival(slot) and self.is_of(slot, Kind.OUTCOME))
            > 1
        )


@twin(
    breaks={
        Supersession.of_a_chain_the_last_closing_stands: 5,
        Supersession.of_rivals_the_first_that_nothing_names_stands: 5,
        Supersession.resolved_is_an_operators_abandonment_and_abandoned_the_sweeps: 6,
    }
)
class PositionBeforeNames(Supersession):
    """The lowest sequence number stands, whatever names it."""

    def standing(self) -> Slot | None:
        return 0 if self.length > 0 else None


@twin(
    breaks={
        Supersession.of_rivals_the_first_that_nothing_names_stands: 5,
        Supersession.resolved_is_an_operators_abandonment_and_abandoned_the_sweeps: 6,
    }
)
class LastWriterWins(Supersession):
    """Of two rivals the later one stands, so that a late write can change what the act is."""

    def standing(self) -> Slot | None:
        return self.length - 1 if self.length > 0 else None


@twin(breaks={Supersession.an_act_without_a_closing_reads_open: 3})
class EscalationThatLeavesOpen(Supersession):
    """An escalated act waits for somebody, so it reads as open."""

    def projected(self) -> State:
        return State.OPEN if self.stands_as(Kind.ESCALATED) else super().projected()


@twin(breaks={Supersession.whatever_an_outcome_was_written_over_it_reads_closed: 3})
class OperatorsOutcomeReadsResolved(Supersession):
    """Whatever an operator closed reads resolved, and nobody sees that the act happened."""

    def projected(self) -> State:
        closed = self.length > 0 and self.stands_by(Writer.OPERATOR)
        return State.RESOLVED if closed and not self.stands_as(Kind.ESCALATED) else super().projected()


@twin(
    breaks={
        Supersession.resolved_is_an_operators_abandonment_and_abandoned_the_sweeps: 4,
        Supersession.an_act_reads_resolved: None,
    }
)
class AbandonedWhoeverSaidSo(Supersession):
    """The state forgets who abandoned, so the auditor tests a person's judgement against the store."""

    def projected(self) -> State:
        return State.ABANDONED if self.stands_as(Kind.ABANDONED) else super().projected()


@twin(breaks={Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 3})
class OutcomeAlwaysTheSweeps(Supersession):
    """Whoever closed while the invocation slept is taken for the sweep."""

    def landed_by(self) -> Answer:
        return Answer.LANDED_BY_SWEEP


@twin(
    breaks={
        Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 3,
        Supersession.close_never_adopts_an_abandonment_or_an_escalation: 3,
    }
)
class AnyClosingIsAdopted(Supersession):
    """Close finds its invocation closed and reports success, although the record says it was given up."""

    def forbids_adoption(self) -> bool:
        return False


@twin(breaks={Supersession.a_closed_invocation_is_not_refused_again: 3})
class RefuseWithoutAReread(Supersession):
    """Refuse knows that nothing was committed, and does not look whether somebody else said so."""

    def refuse(self) -> Answer:
        require(not self.over)
        self.over = True
        self.pending[Writer.INVOCATION] = None if self.evicted else Write(kind=Kind.REFUSED, seen=self.length)
        return Answer.WRITES


@twin(breaks={Supersession.already_accounted_leaves_no_duplicate_behind: 5})
class ResolveThatStopsAtAnyOutcome(Supersession):
    """An outcome among rivals ends the matter, so that no writer is left who could resolve the duplicate."""

    def is_accounted_for(self) -> bool:
        return self.has(Kind.OUTCOME) or self.has(Kind.REFUSED)


@twin(
    breaks={
        Supersession.an_open_or_escalated_act_takes_any_disposition: 3,
        Supersession.already_accounted_leaves_no_duplicate_behind: 5,
        Supersession.a_chain_of_three_is_one_closing: None,
    }
)
class EscalationIsFinal(Supersession):
    """Whatever closed an act accounts for it, and the investigation that was asked for has nowhere to go."""

    def is_accounted_for(self) -> bool:
        return self.length > 0


@twin(
    breaks={
        Supersession.already_abandoned_means_that_an_abandonment_stands: 3,
        Supersession.an_open_or_escalated_act_takes_any_disposition: 3,
    }
)
class AlreadyAbandonedForAnyAbandonment(Supersession):
    """An escalation is a kind of abandonment, so a person may not abandon what the sweep could not decide."""

    def over_an_abandonment(self, disposition: Kind) -> Answer:
        answer = super().over_an_abandonment(disposition)
        return Answer.ALREADY_ABANDONED if self.stands_as(Kind.ESCALATED) else answer


@twin(breaks={Supersession.no_operator_abandons_an_act_in_flight: 1})
class OperatorWithoutAClock(Supersession):
    """Nobody asks how old the intent is, and an act is abandoned whose commit is on its way."""

    def too_young(self) -> bool:
        return False


@twin(
    breaks={
        Supersession.too_young_is_said_of_an_act_in_flight: 2,
        Supersession.an_act_reads_resolved: None,
    }
)
class NeverOldEnough(Supersession):
    """The guard waits for a clock that nothing moves, so a person can never abandon."""

    def too_young(self) -> bool:
        return True


@twin(breaks={Supersession.every_call_is_answered_by_a_declared_code: 4})
class EscalationWithoutACause(Supersession):
    """The operator who doubts an abandonment is refused without being told why."""

    UNCAUSED = Answer.NO_DECLARED_CODE


@twin(
    breaks={
        Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 3,
        Supersession.close_writes_once_and_where_nothing_stands: 3,
        Supersession.close_never_adopts_an_abandonment_or_an_escalation: 3,
    }
)
class CloseWithoutAReread(Supersession):
    """The act is committed and the lease was good, so the outcome is written."""

    def close(self) -> Answer:
        require(not self.over)
        self.over = True
        self.pending[Writer.INVOCATION] = None if self.evicted else Write(kind=Kind.OUTCOME, seen=self.length)
        return Answer.WRITES


@twin(
    breaks={
        Supersession.an_operator_issues_what_it_answers_to_write: 1,
        Supersession.a_chain_of_three_is_one_closing: None,
        Supersession.an_act_reads_resolved: None,
        Supersession.close_may_find_an_operators_outcome: None,
    }
)
class ResolutionOnPaper(Supersession):
    """The operator is told that it was written, and it never left the console."""

    def resolve(self, disposition: Kind) -> Answer:
        answer = super().resolve(disposition)
        self.pending[Writer.OPERATOR] = None
        return answer


@twin(breaks={Supersession.what_is_lost_was_on_its_way: 2})
class WriteThatOutlivesItsLoss(Supersession):
    """A write that was given up for lost is still in somebody's queue."""

    def lose(self, writer: Writer) -> None:
        require(self.pending[writer] is not None)
