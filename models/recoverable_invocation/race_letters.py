"""Sentences of the text that the protocol does not keep, each judged where a configuration asks for it."""

from enum import Enum
from typing import ClassVar, Self

from falsework.language import invariant
from falsework.models.recoverable_invocation.race_properties import Properties
from falsework.models.recoverable_invocation.vocabulary import Answer, Author, Commit, Kind, Who

Letter = Enum(
    "Letter",
    "NONE TWO_CLOSINGS HELD_AT_RETURN HELD_WHEN_APPLIED WORK_IN_PROGRESS EXPIRED_WRITES_NOTHING "
    "EXPIRED_SAYS_OUTCOME DUPLICATES_RESOLVED CLOSINGS_KEY BEGUN_ONCE ONE_IN_FLIGHT REFUSED_DISPOSITIONS",
)
"""Which sentence is taken at its letter."""


class Letters(Properties):
    """What holds is in Properties; what was said and does not hold is here, with a counterexample each."""

    LETTER: ClassVar[Letter] = Letter.NONE

    @invariant(source="Invariant 2.1")
    def two_closings_never_name_one_act(self) -> bool:
        """A resolution is a second closing by design: what must not be is two that stand."""
        return self.LETTER is not Letter.TWO_CLOSINGS or len(self.journal) <= 1

    @invariant(on=Properties.open_returns, source="open step 5.3")
    def open_holds_the_section_when_it_returns(self, answer: Answer) -> bool:
        """Nobody asks for what remains between the intent's issue and Open's return, nor then."""
        held = answer is not Answer.OPENED or self.remaining(Who.INVOCATION) > 0
        return self.LETTER is not Letter.HELD_AT_RETURN or held

    @invariant(on=Properties.apply, source=("act section 9", "yield 1"))
    def the_act_happens_under_its_section(self, before: Self) -> bool:
        """Yield gives the section back while the commit may still be on its way."""
        return self.LETTER is not Letter.HELD_WHEN_APPLIED or before.holder in (Who.INVOCATION, Who.GHOST)

    @invariant(on=Properties.land, source="reconcile step 3.5")
    def the_sweep_never_writes_about_work_in_progress(self, before: Self, who: Who) -> bool:
        """Without a commit fence it does: that is what an escalation as not-observed admits."""
        write = before.in_flight[who]
        swept = write is not None and write.author is Author.SWEEP and write.kind is not Kind.INTENT
        return self.LETTER is not Letter.WORK_IN_PROGRESS or not swept or self.commit is not Commit.IN_FLIGHT

    @invariant(on=Properties.close_issues, source="act section 10a")
    def an_expired_invocation_writes_nothing(self, before: Self) -> bool:
        """It passes its gate, is paused, and writes: a process cannot look at the lease and write at once."""
        return self.LETTER is not Letter.EXPIRED_WRITES_NOTHING or before.remaining(Who.INVOCATION) > 0

    @invariant(on=Properties.open_gates, source=("act section 10d", "open step 4.2b"))
    def an_expired_invocation_says_outcome(self, before: Self, answer: Answer) -> bool:
        """At Open's gate the other rule answers, and rightly: nothing is written, and all may be retried."""
        expired = before.remaining(Who.INVOCATION) == 0
        outcome = answer is Answer.RECORDING_FAILURE_OUTCOME
        return self.LETTER is not Letter.EXPIRED_SAYS_OUTCOME or not expired or outcome

    @invariant(source=("journal fence none 4", "resolve 9"))
    def a_duplicate_can_be_resolved(self) -> bool:
        """Resolve answers already-accounted as soon as one of the closings is an outcome or a refusal."""
        accounted = self.sees(Kind.OUTCOME) or self.sees(Kind.REFUSED)
        return self.LETTER is not Letter.DUPLICATES_RESOLVED or self.unsuperseded() <= 1 or not accounted

    def bare(self, place: int) -> bool:
        return self.journal[place].names is None and not self.is_superseded(place)

    @invariant(source=("Which closing stands 6", "Check 2.4"))
    def the_closings_key_tells_every_duplicate(self) -> bool:
        """The key asks for two closings that supersede nothing; a resolution supersedes something."""
        bare = sum(self.bare(place) for place, _ in enumerate(self.journal))
        return self.LETTER is not Letter.CLOSINGS_KEY or self.unsuperseded() <= 1 or bare > 1

    @invariant(on=Properties.another_opens, source=("open step 3.9", "repeatable 1"))
    def what_has_happened_is_not_begun_again(self, answer: Answer) -> bool:
        """The pre-check looks for an outcome, and an act that is escalated has none."""
        again = answer is Answer.OPENED and (self.happened() or self.commit is Commit.IN_FLIGHT)
        return self.LETTER is not Letter.BEGUN_ONCE or not again

    @invariant(on=Properties.another_opens, source=("open step 3.4", "open step 3.5", "resolve 18"))
    def one_act_of_a_key_is_in_flight_at_a_time(self, answer: Answer) -> bool:
        """An operator may escalate what is young, and an intent that is escalated does not stand open."""
        again = answer is Answer.OPENED and self.commit is Commit.IN_FLIGHT
        return self.LETTER is not Letter.ONE_IN_FLIGHT or not again

    @invariant(on=Properties.resolve_reads, source=("resolve 16", "resolve 17", "resolve 27"))
    def an_escalation_over_an_abandonment_has_an_answer(self, before: Self, answer: Answer) -> bool:
        """It is forbidden, and no cause is named for it; this model answers already-abandoned."""
        escalates = before.decided[Who.OPERATOR] is Kind.ESCALATED
        unnamed = escalates and answer is Answer.ALREADY_ABANDONED
        return self.LETTER is not Letter.REFUSED_DISPOSITIONS or not unnamed
