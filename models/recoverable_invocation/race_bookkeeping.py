"""What each process keeps of what it has learnt, and in which order it goes on."""

from typing import Self

from falsework.language import implies, invariant
from falsework.models.recoverable_invocation.race_world import World
from falsework.models.recoverable_invocation.vocabulary import Answer, At, Commit, Kind, Reply, Who


class Bookkeeping(World):
    """Nothing is kept that decides nothing, and no step is taken out of its order."""

    # What is kept.

    @invariant(source=("close 2", "Primitive policy 18", "resolve 19"))
    def who_has_gone_home_remembers_nothing(self) -> bool:
        return all(
            at not in (At.IDLE, At.DONE)
            or (self.decided[who] is None and self.reply[who] is None and not self.late[who])
            for who, at in self.at.items()
        )

    @invariant(source=("Action wiring 4", "resolve 8"))
    def nothing_is_left_of_an_end(self) -> bool:
        ended = self.at[Who.INVOCATION] is At.DONE
        closed = self.retries == 0 and self.commit is not Commit.UNISSUED
        return (not ended or closed) and (self.at[Who.OPERATOR] is not At.IDLE or self.named is None)

    @invariant(source=("Primitive policy 32", "Primitive policy 33"))
    def who_has_issued_waits_for_a_reply_or_has_it(self) -> bool:
        return all(
            (self.in_flight[who] is None) != (self.reply[who] is None)
            if at is At.ISSUED
            else self.reply[who] is None and self.unheard[who] == 0
            for who, at in self.at.items()
        )

    @invariant(source=("act section 1", "Capability requirement 11"))
    def the_section_is_held_as_long_as_a_lease(self) -> bool:
        over = all(lapsed <= self.grace() for lapsed in self.lapsed.values())
        return over and (self.holder is None) == (self.left == 0)

    @invariant(source="commit 10")
    def only_an_act_in_flight_has_a_fence(self) -> bool:
        return self.commit_left == 0 or self.commit is Commit.IN_FLIGHT

    @invariant(source=("Primitive policy 18", "Primitive policy 14"))
    def a_reading_is_kept_until_it_has_decided(self) -> bool:
        return all(
            not late or self.at[who] in (At.CALLED, At.TAKEN, At.READ) for who, late in self.late.items()
        )

    def keeps_its_reading(self, run: Who) -> bool:
        """The run has not read the journal again, and still knows how old the intent was."""
        return self.late[run] and self.at[run] in (At.CALLED, At.TAKEN)

    @invariant(source="reconcile step 2.5")
    def nobody_asks_for_the_age_of_an_account(self) -> bool:
        """Once a closing can be read, a run that will read it has no reading; an outcome ends all ages."""
        seen = self.RE_READ and self.VISIBLE_ON_RETURN and len(self.journal) > 0
        waiting = self.keeps_its_reading(Who.FIRST_RUN) or self.keeps_its_reading(Who.SECOND_RUN)
        accounted = self.VISIBLE_ON_RETURN and (self.sees(Kind.OUTCOME) or self.sees(Kind.REFUSED))
        age = self.intent_age
        return not (seen and waiting) and (not accounted or age is None or age >= self.oldest())

    # In which order.

    @invariant(on=World.open_takes, source=("open step 2.1", "act section 10b"))
    def open_is_granted_a_whole_lease(self, answer: Answer) -> bool:
        return implies(answer is Answer.PROCEED, self.remaining(Who.INVOCATION) == self.COMPLETION_BOUND)

    @invariant(on=World.run_takes, source="reconcile step 2.1")
    def a_run_is_granted_a_whole_lease(self, run: Who, answer: Answer) -> bool:
        return implies(answer is Answer.PROCEED, self.remaining(run) == self.SWEEP_LEASE)

    @invariant(on=World.resolve_takes, source="resolve 4")
    def an_operator_is_granted_a_whole_lease(self, answer: Answer) -> bool:
        return implies(answer is Answer.PROCEED, self.remaining(Who.OPERATOR) == self.SWEEP_LEASE)

    @invariant(on=World.open_issues, source=("journal fence 3", "Allowance 8"))
    def a_write_is_dead_only_past_its_fence(self, before: Self) -> bool:
        dead = self.in_flight[Who.INVOCATION] is None
        return dead == (before.latest(Who.INVOCATION) == 0)

    @invariant(on=World.miss, source=("Primitive policy 33", "Primitive policy 34"))
    def only_who_waits_is_told(self, before: Self, who: Who) -> bool:
        return before.at[who] is At.ISSUED

    @invariant(on=World.close_returns, source=("close step 3.6", "close step 3.7", "refuse step 3.4"))
    def close_tries_again_as_often_as_declared(self, before: Self, again: bool, answer: Answer) -> bool:
        failed = before.reply[Who.INVOCATION] is Reply.NOT_LANDED
        outcome = before.decided[Who.INVOCATION] is Kind.OUTCOME
        left = self.RETRIES < 0 or before.retries < self.RETRIES
        return again == (answer is Answer.PROCEED) and (not again or (failed and outcome and left))

    @invariant(on=World.run_starts, source=("reconcile step 1.1", "reconcile step 1.2"))
    def a_run_examines_what_stands_open(self, before: Self, run: Who) -> bool:
        return run in (Who.FIRST_RUN, Who.SECOND_RUN) and not before.sees_a_closing()

    @invariant(on=World.run_reads, source=("reconcile 6", "reconcile step 2.4"))
    def only_a_run_reads_as_a_run(self, run: Who) -> bool:
        return run in (Who.FIRST_RUN, Who.SECOND_RUN)

    @invariant(on=World.resolve_reads, source="resolve 8")
    def an_operator_reads_under_the_section(self, before: Self) -> bool:
        return before.at[Who.OPERATOR] is At.TAKEN

    @invariant(on=World.resolve_issues, source=("resolve 7", "resolve 14"))
    def an_operator_writes_behind_its_gate(self, before: Self) -> bool:
        return before.at[Who.OPERATOR] is At.GATED

    @invariant(on=World.die, source="act section 2")
    def only_the_living_die(self, before: Self, who: Who) -> bool:
        counted = self.DEATHS < 0 or self.deaths == before.deaths + 1
        return counted and before.at[who] not in (At.IDLE, At.DONE)
