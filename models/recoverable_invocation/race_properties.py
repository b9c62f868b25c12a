"""What is true of a race, in every state and of every step, under the numbers of the text's invariants."""

from typing import Self

from falsework.language import count, implies, invariant
from falsework.models.recoverable_invocation.race_bookkeeping import Bookkeeping
from falsework.models.recoverable_invocation.race_world import World
from falsework.models.recoverable_invocation.vocabulary import Answer, At, Author, Commit, Kind, Probe, Who


class Properties(Bookkeeping):
    """The invariants of Race."""

    # Authentication precedes commitment.

    @invariant(source=("Invariant 1.1", "Invariant 4.1", "act section 8"))
    def nothing_happens_before_the_journal_shows_its_intent(self) -> bool:
        return not self.happened() or self.sees_the_intent()

    # One writer per act.

    @invariant(source=("Invariant 2.1", "Invariant 2.4", "Check 2.1"))
    def no_two_closings_stand(self) -> bool:
        return self.unsuperseded() <= 1

    @invariant(on=World.land, source=("Invariant 2.2", "act section 9", "act section 12", "act section 13"))
    def a_closing_lands_under_its_writers_lease(self, before: Self, who: Who) -> bool:
        write = before.in_flight[who]
        return write is None or write.kind is Kind.INTENT or before.holder is who

    @invariant(source=("Invariant 2.3", "sweep closed ids 1", "reconcile 7"))
    def two_runs_never_close_one_act(self) -> bool:
        return count(closing.author is Author.SWEEP for closing in self.journal) <= 1

    # Which closing stands.

    @invariant(on=World.land, source=("Which closing stands 2", "resolve 13", "resolve 15"))
    def a_resolution_names_what_it_found(self, before: Self, who: Who) -> bool:
        write = before.in_flight[who]
        return write is None or who is not Who.OPERATOR or write.names == before.named

    @invariant(source=("Which closing stands 5", "Check 2.4"))
    def no_closing_is_superseded_twice(self) -> bool:
        return all(
            count(closing.names == place for closing in self.journal) <= 1
            for place, _ in enumerate(self.journal)
        )

    @invariant(source=("resolve 9", "resolve 16", "resolve 17"))
    def an_outcome_is_never_superseded_nor_an_abandonment_but_by_one(self) -> bool:
        return all(
            closing.names is None
            or self.journal[closing.names].kind is Kind.ESCALATED
            or (self.journal[closing.names].kind is Kind.ABANDONED and closing.kind is Kind.OUTCOME)
            for closing in self.journal
        )

    # Recovery is derived, never remembered.

    @invariant(source=("Invariant 5.3", "Check 6.1", "reconcile step 3.12"))
    def an_outcome_is_what_the_store_holds(self) -> bool:
        return self.happened() or not any(closing.kind is Kind.OUTCOME for closing in self.journal)

    @invariant(source=("Invariant 5.6", "Check 6.3", "commit 13"))
    def nothing_abandoned_ever_happens(self) -> bool:
        return not self.happened() or not any(closing.kind is Kind.ABANDONED for closing in self.journal)

    def abandoned_by(self, author: Author) -> bool:
        return any(c.kind is Kind.ABANDONED and c.author is author for c in self.journal)

    def is_older_than(self, age: int) -> bool:
        """By the host's own clock."""
        return self.intent_age is not None and self.intent_age >= age

    @invariant(source=("Invariant 5.7", "Allowance 12", "reconcile step 3.6"))
    def the_sweep_abandons_only_past_the_abandon_edge(self) -> bool:
        """What is past the edge by a clock that is ahead by the allowance, is so old by the host's."""
        edge = self.COMPLETION_BOUND + self.ALLOWANCE
        return not self.abandoned_by(Author.SWEEP) or self.is_older_than(edge)

    @invariant(source=("Invariant 5.8", "resolve 18"))
    def an_operator_abandons_only_what_is_aged(self) -> bool:
        return not self.abandoned_by(Author.OPERATOR) or self.is_older_than(self.COMPLETION_BOUND)

    @invariant(source=("Invariant 4.9", "Invariant 5.7", "commit 14", "Check 6.4"))
    def the_sweep_abandons_no_act_without_a_fence(self) -> bool:
        return self.COMMIT_FENCE or not self.abandoned_by(Author.SWEEP)

    @invariant(on=World.run_probes, source=("Invariant 5.10", "reconcile step 3.13", "reconcile step 3.14"))
    def an_outage_closes_nothing(self, run: Who, probe: Probe) -> bool:
        return implies(probe is Probe.UNAVAILABLE, self.decided[run] is None)

    @invariant(on=World.run_probes, source=("Invariant 5.9", "reconcile step 3.8", "reconcile step 3.11"))
    def what_the_store_cannot_tell_is_escalated(self, run: Who, probe: Probe) -> bool:
        found = self.decided[run]
        return implies(probe is Probe.UNDECIDABLE, found is None or found is Kind.ESCALATED)

    @invariant(source=("service identity 1", "reconcile 2"))
    def without_a_service_identity_the_sweep_writes_nothing(self) -> bool:
        return self.SERVICE_IDENTITY or not any(c.author is Author.SWEEP for c in self.journal)

    # The sweep is bounded.

    @invariant(on=World.run_takes, source=("Invariant 7.1", "reconcile step 1.2"))
    def the_sweep_examines_no_intent_in_flight(self, answer: Answer) -> bool:
        """In flight by any clock within the allowance: the invocation's lease could not yet have ended."""
        taken = answer is Answer.PROCEED
        return not self.LOWER_EDGE or not taken or self.is_older_than(self.COMPLETION_BOUND)

    # Positioned codes.

    @invariant(source=("open invocations 1", "act section 10a"))
    def an_intent_in_flight_has_its_section(self) -> bool:
        """The eighth invariant of the text's own model."""
        return all(
            write is None or write.kind is not Kind.INTENT or self.holder is who
            for who, write in self.in_flight.items()
        )

    @invariant(on=World.open_returns, source=("Invariant 8.3", "Action wiring 1", "open step 4.4"))
    def an_intent_that_failed_is_nowhere(self, answer: Answer) -> bool:
        """So the action may be retried: nothing landed, nothing is in flight, nothing will be committed."""
        in_flight = any(w is not None and w.kind is Kind.INTENT for w in self.in_flight.values())
        nowhere = self.intent_age is None and not in_flight and self.commit is Commit.NEVER
        return implies(answer is Answer.RECORDING_FAILURE_INTENT, nowhere)

    @invariant(source=("Invariant 8.4", "commit 2", "commit 9", "Invariant 9.3"))
    def a_refused_act_never_happens(self) -> bool:
        return self.stays_quiet() or not any(closing.kind is Kind.REFUSED for closing in self.journal)

    @invariant(on=World.close_reads, source=("close step 2.2", "close step 2.3", "refuse step 2.2"))
    def an_adopted_closing_is_there(self, answer: Answer) -> bool:
        by_sweep = any(c.kind is Kind.OUTCOME and c.author is Author.SWEEP for c in self.journal)
        by_operator = any(c.kind is Kind.OUTCOME and c.author is Author.OPERATOR for c in self.journal)
        return (
            implies(answer is Answer.LANDED_BY_SWEEP, by_sweep)
            and implies(answer is Answer.LANDED_BY_OPERATOR, by_operator)
            and implies(answer is Answer.ALREADY_ACCOUNTED, self.sees_a_closing())
        )

    def wrote(self, author: Author, kind: Kind) -> bool:
        return any(closing.author is author and closing.kind is kind for closing in self.journal)

    @invariant(on=World.close_returns, source=("close step 4.3", "Primitive policy 36", "refuse step 3.1"))
    def what_the_invocation_says_it_wrote_is_there(self, answer: Answer) -> bool:
        return implies(
            answer is Answer.LANDED_BY_INVOCATION, self.wrote(Author.INVOCATION, Kind.OUTCOME)
        ) and implies(answer is Answer.REFUSED, self.wrote(Author.INVOCATION, Kind.REFUSED))

    @invariant(
        on=World.run_returns, source=("reconcile step 3.2", "reconcile step 3.4", "reconcile step 3.5")
    )
    def what_a_run_counts_is_there(self, answer: Answer) -> bool:
        return (
            implies(answer is Answer.CLOSED, self.wrote(Author.SWEEP, Kind.OUTCOME))
            and implies(answer is Answer.ABANDONED, self.wrote(Author.SWEEP, Kind.ABANDONED))
            and implies(answer is Answer.ESCALATED, self.wrote(Author.SWEEP, Kind.ESCALATED))
        )

    @invariant(
        on=World.resolve_reads,
        source=("resolve 9", "resolve 10", "resolve 17", "resolve 18", "resolve 27"),
    )
    def a_resolution_is_refused_for_what_the_records_say(self, before: Self, answer: Answer) -> bool:
        accounted = self.sees(Kind.OUTCOME) or self.sees(Kind.REFUSED)
        abandons = before.decided[Who.OPERATOR] is Kind.ABANDONED
        return (
            implies(answer is Answer.NOT_KNOWN, not self.sees_the_intent())
            and implies(answer is Answer.ALREADY_ACCOUNTED, accounted)
            and implies(
                answer is Answer.TOO_YOUNG, (abandons or not self.ESCALATES_THE_YOUNG) and not accounted
            )
            and implies(answer is Answer.ALREADY_ABANDONED, self.sees(Kind.ABANDONED))
        )

    # The section.

    @invariant(source=("close step 4.2", "yield 1", "reconcile step 4.4", "resolve 22", "refuse step 3.10"))
    def who_has_ended_holds_nothing(self) -> bool:
        return all(
            who in (Who.ANOTHER, Who.GHOST) or at not in (At.IDLE, At.DONE) or self.holder is not who
            for who, at in self.at.items()
        )

    def is_gated(self, answer: Answer, remaining: int) -> bool:
        """Who has time for a write passes, and nobody else does."""
        return not self.GATE or (answer is Answer.PROCEED) == (remaining >= self.WRITE_BOUND)

    @invariant(on=World.open_gates, source=("open step 4.1", "journal write bound 1"))
    def open_passes_its_gate_in_time(self, before: Self, answer: Answer) -> bool:
        return self.is_gated(answer, before.remaining(Who.INVOCATION))

    @invariant(on=World.close_gates, source=("retry terminus 2", "close step 1.2a", "close step 3.5"))
    def close_passes_its_gate_in_time(self, before: Self, answer: Answer) -> bool:
        return self.is_gated(answer, before.remaining(Who.INVOCATION))

    @invariant(on=World.run_gates, source="reconcile step 2.7")
    def a_run_passes_its_gate_in_time(self, before: Self, run: Who, answer: Answer) -> bool:
        return self.SWEEP_READS_LATE or self.is_gated(answer, before.remaining(run))

    @invariant(on=World.resolve_gates, source="resolve 7")
    def an_operator_passes_its_gate_in_time(self, before: Self, answer: Answer) -> bool:
        return self.is_gated(answer, before.remaining(Who.OPERATOR))

    # A second Open.

    @invariant(source=("open invocations 1", "Check 2.3", "Which closing stands 9"))
    def two_intents_never_stand_open(self) -> bool:
        let_in = self.at[Who.ANOTHER] is At.OPEN
        return not (self.SERVICE_IDENTITY and let_in and self.intent_age is not None)

    @invariant(on=World.another_opens, source=("open step 3.5", "open step 3.7", "open step 3.8"))
    def another_is_let_in_past_no_open_intent(self, answer: Answer) -> bool:
        aged = not self.SERVICE_IDENTITY and self.is_older_than(self.COMPLETION_BOUND)
        free = self.intent_age is None or len(self.journal) > 0 or aged
        return implies(answer is Answer.OPENED, free)

    @invariant(on=World.another_opens, source=("open step 3.9", "repeatable 1"))
    def what_has_landed_is_not_begun_again(self, answer: Answer) -> bool:
        return self.REPEATABLE or answer is not Answer.OPENED or not self.sees(Kind.OUTCOME)
