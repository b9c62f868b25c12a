"""How a sweep tells a story of its own: joins by what is near at hand, and answers that the store never gave.

Step counts: the initial action is none; an intent, its ageing by one or two steps, and the examination.
"""

from falsework.language import given, require, twin
from falsework.models.recoverable_invocation.records_pairing import (
    Actor,
    Age,
    Answer,
    Cause,
    Closing,
    Invocation,
    Kind,
    Pairing,
    Probe,
    Store,
)


@twin(breaks={Pairing.an_outcome_is_recorded_of_its_own_act: 7})
class StampWithinAWindow(Pairing):
    """The probe takes the record whose stamp is near the intent's, and the act before it was near enough."""

    def same_datum(self, invocation: Invocation, other: Invocation) -> bool:
        return True


@twin(
    breaks={
        Pairing.the_sweep_plans_an_outcome_before_it_writes_one: 5,
        Pairing.a_second_run_finds_the_plan_of_a_dead_one: None,
    }
)
class OutcomeWithoutAPlan(Pairing):
    """The run goes straight to the outcome, for the probe has just told it everything."""

    def plan(self, invocation: Invocation) -> None:
        pass


@twin(breaks={Pairing.every_outcome_has_one_of_the_declared_shapes: 5})
class SweepUnderTheCallersName(Pairing):
    """The sweep writes what the dead invocation would have written, under its caller's credential."""

    def attests(self, invocation: Invocation) -> Actor:
        return self.actor(invocation)


@twin(breaks={Pairing.an_outage_is_no_answer: 3, Pairing.an_abandoned_act_never_happens: 5})
class RejectedReadReadsEmpty(Pairing):
    """The store rejects the probe's query, and no record came back."""

    def of_a_read(self, store: Store) -> Probe | None:
        if store is Store.REJECTS:
            return Probe.NOT_COMMITTED
        return super().of_a_read(store)


@twin(
    breaks={
        Pairing.without_a_fence_what_is_not_there_is_not_observed: 3,
        Pairing.only_a_fenced_act_past_its_edge_is_abandoned: 3,
        Pairing.an_act_that_was_not_observed_happens_after_all: None,
    }
)
class SweepThatAbandonsWithoutAFence(Pairing):
    """What the store does not have by now it will never have, and a paused process thinks otherwise."""

    def may_abandon(self, invocation: Invocation) -> bool:
        return True


@twin(breaks={Pairing.only_a_fenced_act_past_its_edge_is_abandoned: 3})
class SweepThatDoesNotWaitForTheFence(Pairing):
    """Past the examine edge the fence has surely passed as well, the allowance between the clocks apart."""

    def finding(self, invocation: Invocation, found: Probe) -> Answer:
        if found is Probe.NOT_COMMITTED and self.fenced:
            return Answer.ABANDONED
        return super().finding(invocation, found)


@twin(
    breaks={
        Pairing.an_undecidable_act_names_what_matches_it: 7,
        Pairing.an_escalation_lists_candidates_up_to_the_cap: 7,
        Pairing.the_candidates_are_more_than_an_escalation_lists: None,
    }
)
class ListWithoutACap(Pairing):
    """All candidates are named, however many, and the record outgrows its envelope."""

    def listed(self, matching: int) -> int:
        return matching


@twin(
    breaks={
        Pairing.the_sweep_never_chooses_among_candidates: 4,
        Pairing.an_outcome_is_recorded_of_its_own_act: 6,
    }
)
class SweepThatGuesses(Pairing):
    """The escalation says which candidate it was most likely."""

    def chosen(self, invocation: Invocation) -> Invocation | None:
        return self.derived(invocation)


@twin(
    breaks={
        Pairing.an_abandoned_act_never_happens: 4,
        Pairing.no_act_is_made_twice: 4,
        Pairing.an_identical_act_makes_an_orphan_undecidable: None,
    }
)
class SweepThatRunsTheActAgain(Pairing):
    """Recovery is doing what was left undone, so the sweep commits what it did not find."""

    def examine(self, invocation: Invocation, store: Store) -> Answer:
        answer = super().examine(invocation, store)
        if answer in (Answer.ESCALATED, Answer.ABANDONED):
            self.store[invocation] += 1
        return answer


@twin(
    breaks={Pairing.what_is_skipped_is_left_as_it_was: 3, Pairing.an_undecidable_act_names_what_matches_it: 3}
)
class OutageIsEscalated(Pairing):
    """The run reports the act as skipped, and writes an escalation so that it has not seen it in vain."""

    def examine(self, invocation: Invocation, store: Store) -> Answer:
        answer = super().examine(invocation, store)
        if answer is Answer.SKIPPED:
            self.closing[invocation] = Closing(kind=Kind.ESCALATED, by=Actor.SERVICE, cause=Cause.UNDECIDABLE)
        return answer


@twin(
    breaks={
        Pairing.without_a_fence_what_is_not_there_is_not_observed: 3,
        Pairing.an_act_that_was_not_observed_happens_after_all: None,
    }
)
class WaitForAFenceThatIsNotThere(Pairing):
    """The run waits for the abandon edge of a kind that has none to wait for."""

    def waits(self, invocation: Invocation) -> bool:
        return not self.may_abandon(invocation)


@twin(
    breaks={
        Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 4,
        Pairing.an_identical_act_makes_an_orphan_undecidable: None,
        Pairing.the_candidates_are_more_than_an_escalation_lists: None,
    }
)
class PairedByPayload(Pairing):
    """One record has the intent's payload, so that must be it."""

    def probe(self, invocation: Invocation, store: Store) -> Probe:
        found = super().probe(invocation, store)
        return Probe.COMMITTED if found is Probe.UNDECIDABLE and not self.paired else found


@twin(breaks={Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 4})
class OutcomeFromMemory(Pairing):
    """The store has the record and not what the outcome must say, and the sweep fills in the rest."""

    def probe(self, invocation: Invocation, store: Store) -> Probe:
        found = super().probe(invocation, store)
        return Probe.COMMITTED if found is Probe.UNDECIDABLE and self.paired else found


@twin(
    breaks={
        Pairing.an_undecidable_act_names_what_matches_it: 4,
        Pairing.an_identical_act_makes_an_orphan_undecidable: None,
    }
)
class EscalationWithoutCandidates(Pairing):
    """Whoever investigates can look for the candidates again."""

    def listed(self, matching: int) -> int:
        return 0


@twin(
    breaks={
        Pairing.closed_already_is_said_of_the_invocations_own_closing: 6,
        Pairing.an_outcome_is_planned_of_one_record_that_tells_it: 7,
        Pairing.an_identical_act_makes_an_orphan_undecidable: None,
        Pairing.the_candidates_are_more_than_an_escalation_lists: None,
    }
)
class ClosedByAnotherOfTheAct(Pairing):
    """The journal is joined by the act's key, so the closing before counts for the invocation after it."""

    def is_closed(self, invocation: Invocation) -> bool:
        return any(closing is not None for closing in self.closing.values())


@twin(breaks={Pairing.the_second_intent_follows_the_first_closing: 1})
class OpenBesideAnOpenIntent(Pairing):
    """The first invocation is surely dead by now, so the second does not wait for its closing."""

    def may_open(self, invocation: Invocation) -> bool:
        return True


@twin(breaks={Pairing.a_live_invocation_commits_once: 3})
class CommitOutOfTheQueue(Pairing):
    """The call was queued, and somebody else delivers it after its caller's death."""

    def may_commit(self, invocation: Invocation) -> bool:
        return self.opened[invocation]


@twin(breaks={Pairing.a_live_invocation_commits_once: 1, Pairing.everything_begins_with_an_intent: 1})
class CommitBeforeTheIntent(Pairing):
    """The act is made first, and written down where it succeeded."""

    def may_commit(self, invocation: Invocation) -> bool:
        return self.alive[invocation] or not self.opened[invocation]


@twin(breaks={Pairing.an_invocations_outcome_is_of_its_act_in_time: 4})
class CloseAtAnyAge(Pairing):
    """The invocation closes whenever it wakes."""

    def in_time(self, invocation: Invocation) -> bool:
        return True


@twin(breaks={Pairing.who_dies_was_alive: 2})
class DeathThatIsNone(Pairing):
    """The process is killed, and the thread that commits belongs to another."""

    def die(self, invocation: Invocation) -> None:
        require(self.alive[invocation])


@twin(
    breaks={
        Pairing.nothing_is_undone: 2,
        Pairing.an_outcome_outgrows_what_the_journal_takes: None,
        Pairing.an_act_is_abandoned: None,
        Pairing.an_act_that_was_not_observed_happens_after_all: None,
        Pairing.an_identical_act_makes_an_orphan_undecidable: None,
        Pairing.the_candidates_are_more_than_an_escalation_lists: None,
        Pairing.a_second_run_finds_the_plan_of_a_dead_one: None,
    }
)
class EdgesThatFallTogether(Pairing):
    """The abandon edge is the examine edge, and the allowance between them is gone."""

    def grow(self, invocation: Invocation) -> None:
        require(self.opened[invocation] and self.closing[invocation] is None)
        require(self.age[invocation] is not Age.FINAL)
        self.age[invocation] = Age.FINAL


@twin(breaks={Pairing.an_open_intent_grows_older: 4})
class AgeOfTheClosed(Pairing):
    """The age is the record's and goes on after the closing."""

    def grow(self, invocation: Invocation) -> None:
        require(self.opened[invocation] and self.age[invocation] is not Age.FINAL)
        self.age[invocation] = Age.AGED if self.age[invocation] is Age.YOUNG else Age.FINAL


@twin(breaks={Pairing.only_an_aged_intent_is_examined: 2})
class SweepWithoutAnExamineEdge(Pairing):
    """The run examines what is open, the invocations at work included."""

    def is_aged(self, invocation: Invocation) -> bool:
        return True


@twin(
    breaks={
        Pairing.a_run_ends_with_the_closing_it_planned: 5,
        Pairing.an_outcome_outgrows_what_the_journal_takes: None,
    }
)
class OutcomeThatIsNeverWritten(Pairing):
    """The plan is in the journal, and the run takes it for the outcome."""

    def finish(self, fits: bool) -> Answer:
        given(self.run)
        self.run = None
        return Answer.CLOSED


@twin(
    breaks={
        Pairing.a_dead_run_leaves_its_plan_alone: 5,
        Pairing.a_second_run_finds_the_plan_of_a_dead_one: None,
    }
)
class RunThatRisesAgain(Pairing):
    """A run that died takes up where it was, under a lease that has ended."""

    def crash(self) -> None:
        require(self.run is not None)
