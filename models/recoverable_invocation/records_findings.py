"""The register of findings: a record for each time that a condition stands, which exempts what fell into it.

Time is the number of the run. A run may fail to reach the register, and then nobody learns what it saw. Left
out: the closings of a run, the clock, and how long the register keeps what it holds.
"""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    Upto,
    action,
    configuration,
    count,
    implies,
    invariant,
    reachable,
    replace,
    require,
    terminal,
)

Run = Annotated[int, Below("RUNS")]
Place = Annotated[int, Below(2)]
Condition = Enum("Condition", "JOURNAL STORE_A STORE_B")
Kind = Enum("Kind", "A B")
Answer = Enum("Answer", "COUNTS JOURNAL_UNAVAILABLE REJECTED")


class Span(Record):
    """An instance finding: one standing of one condition."""

    first: Run
    last: Run
    closed: bool = False


class Register(Model):
    """A record is advanced by the run after the one that last saw it, and closed by one that does not."""

    RUNS: ClassVar[int] = 3
    NEEDS_THE_RUN_BEFORE: ClassVar[bool] = True  # whether a record goes on only from the run before

    ended: Annotated[int, Upto("RUNS")] = 0  # how many runs have ended
    spans: Map[tuple[Condition, Place], Span | None] = Map(None)
    at_risk: Annotated[int, Upto(2)] = 0  # act findings of one invocation whose closure is at risk
    saw: Map[tuple[Condition, Run], bool] = Map(False)  # what each run met: the register does not know this
    surfaced: Map[Run, bool] = Map(False)  # whether the run reached the register

    # The decisions, each by itself.

    def sees(self, condition: Condition, journal: bool, a: bool, b: bool) -> bool:
        """Whether a run takes the condition for standing; without the journal it examines nothing."""
        if condition is Condition.JOURNAL:
            return journal
        return not journal and (a if condition is Condition.STORE_A else b)

    def is_open(self, condition: Condition, place: int) -> bool:
        return any(
            key == (condition, place) and span is not None and not span.closed
            for key, span in self.spans.items()
        )

    def goes_on(self, span: Span) -> bool:
        return span.last == self.ended - 1 or not self.NEEDS_THE_RUN_BEFORE

    def first_seen(self, span: Span) -> int:
        """What an advance leaves as the first sighting."""
        return span.first

    def last_seen(self, span: Span) -> int:
        """What closing leaves as the last sighting."""
        return span.last if self.NEEDS_THE_RUN_BEFORE else self.ended - 1

    def next_place(self, condition: Condition) -> int:
        return 0 if self.spans[condition, 0] is None else 1

    def answer(self, journal: bool, surfaces: bool) -> Answer:
        return Answer.JOURNAL_UNAVAILABLE if journal else Answer.COUNTS

    def is_new(self) -> bool:
        return self.at_risk == 0

    def enumerates(self, journal: bool) -> bool:
        return not journal

    def overlaps(self, condition: Condition, first: int, last: int) -> bool:
        return any(
            key[0] is condition and span is not None and span.first <= last and first <= span.last
            for key, span in self.spans.items()
        )

    def exempts(self, kind: Kind, first: int, last: int) -> bool:
        store = Condition.STORE_A if kind is Kind.A else Condition.STORE_B
        return self.overlaps(Condition.JOURNAL, first, last) or self.overlaps(store, first, last)

    def shuts(self, span: Span, sees: bool) -> bool:
        """Whether the run ends a record that stands open: it does not see the condition, or sees it anew."""
        return not sees or not self.goes_on(span)

    def surface(self, condition: Condition, sees: bool) -> None:
        """The run writes of one condition into the register."""
        goes_on = False
        for place in range(2):
            span = self.spans[condition, place]
            if span is not None and not span.closed:
                goes_on = goes_on or (sees and self.goes_on(span))
                if self.shuts(span, sees):
                    self.spans[condition, place] = replace(span, last=self.last_seen(span), closed=True)
                elif sees:
                    self.spans[condition, place] = replace(span, first=self.first_seen(span), last=self.ended)
        if sees and not goes_on:
            self.spans[condition, self.next_place(condition)] = Span(first=self.ended, last=self.ended)

    # The runs, and the auditor.

    @action(source=("reconcile 1", "reconcile 1b", "reconcile step 3.13c", "findings 3", "findings 9"))
    def run(self, journal: bool, a: bool, b: bool, at_risk: bool, surfaces: bool) -> Answer:
        """One run: the journal out of reach or not, either kind's store, an act at risk, and the register."""
        require(self.ended < self.RUNS)
        answer = self.answer(journal, surfaces)
        for condition in Condition:
            sees = self.sees(condition, journal, a, b)
            self.saw[condition, self.ended] = (
                journal
                if condition is Condition.JOURNAL
                else not journal and (a if condition is Condition.STORE_A else b)
            )
            if surfaces:
                self.surface(condition, sees)
        if surfaces and at_risk and self.enumerates(journal) and self.is_new():
            self.at_risk += 1
        self.surfaced[self.ended] = surfaces
        self.ended += 1
        return answer

    @action(source=("Check 3.3", "Check 3.4"))
    def audit(self, kind: Kind, first: Run, last: Run) -> bool:
        """Whether an intent of the kind, whose window holds these runs, is exempt from the closure check."""
        require(first <= last < self.ended)
        return self.exempts(kind, first, last)

    # What is true of every state.

    @invariant(source=("findings 10", "findings 10a", "Check 3.4", "findings 5"))
    def no_record_covers_a_run_that_did_not_see(self) -> bool:
        return all(
            span is None
            or all(self.saw[key[0], run] for run in range(self.RUNS) if span.first <= run <= span.last)
            for key, span in self.spans.items()
        )

    @invariant(source=("findings 7", "findings 9", "reconcile 1b", "Invariant 4.4"))
    def every_sighting_that_was_surfaced_is_recorded(self) -> bool:
        return all(
            not (saw and self.surfaced[run])
            or any(
                key[0] is condition and span is not None and span.first <= run <= span.last
                for key, span in self.spans.items()
            )
            for (condition, run), saw in self.saw.items()
        )

    @invariant(source="findings 12")
    def a_condition_has_one_open_record(self) -> bool:
        return all(
            count(self.is_open(condition, place) for place in range(2)) <= 1 for condition in Condition
        )

    @invariant(source=("findings 10", "findings 10a"))
    def an_open_record_was_seen_by_the_last_run_that_surfaced(self) -> bool:
        return all(
            span is None
            or span.closed
            or all(not self.surfaced[run] for run in range(self.RUNS) if run > span.last)
            for span in self.spans.values()
        )

    # What is true of every step.

    @invariant(source=("findings 7", "findings 8"))
    def the_first_sighting_never_moves(self, before: Self) -> bool:
        return all(
            span is None or self.begins(condition, place) == span.first
            for (condition, place), span in before.spans.items()
        )

    def begins(self, condition: Condition, place: int) -> int:
        return sum(
            span.first for key, span in self.spans.items() if key == (condition, place) and span is not None
        )

    @invariant(source=("findings 11", "Invariant 4.5"))
    def what_was_closed_stays_as_it_was(self, before: Self) -> bool:
        return all(
            span is None or not span.closed or self.spans[key] == span for key, span in before.spans.items()
        )

    @invariant(on=run, source=("reconcile 1a", "reconcile 1c", "Capability requirement 6"))
    def without_the_journal_a_run_says_so(self, journal: bool, answer: Answer) -> bool:
        return (answer is Answer.JOURNAL_UNAVAILABLE) == journal

    @invariant(on=run, source="findings 3")
    def a_register_out_of_reach_rejects_no_run(self, before: Self, surfaces: bool, answer: Answer) -> bool:
        return answer is not Answer.REJECTED and self.surfaced[before.ended] == surfaces

    @invariant(on=run, source=("findings 4", "findings 12", "Invariant 4.4", "reconcile 1a", "Check 3.5"))
    def an_act_at_risk_is_found_once(
        self, before: Self, journal: bool, at_risk: bool, surfaces: bool
    ) -> bool:
        found = at_risk and surfaces and not journal
        return self.at_risk == (1 if found else before.at_risk)

    @invariant(on=audit, source=("Check 3.4", "findings 5"))
    def an_exemption_needs_a_run_that_saw_an_outage(
        self, kind: Kind, first: Run, last: Run, answer: bool
    ) -> bool:
        store = Condition.STORE_A if kind is Kind.A else Condition.STORE_B
        return implies(
            answer,
            any(
                first <= run <= last and (self.saw[Condition.JOURNAL, run] or self.saw[store, run])
                for run in range(self.RUNS)
            ),
        )

    @invariant(on=audit, source=("Check 3.3", "findings 5"))
    def an_outage_that_was_surfaced_exempts(self, kind: Kind, first: Run, last: Run, answer: bool) -> bool:
        store = Condition.STORE_A if kind is Kind.A else Condition.STORE_B
        return answer or not any(
            first <= run <= last
            and self.surfaced[run]
            and (self.saw[Condition.JOURNAL, run] or self.saw[store, run])
            for run in range(self.RUNS)
        )

    # What must be able to happen.

    @terminal
    def the_runs_are_over(self) -> bool:
        return self.ended == self.RUNS

    @reachable
    def a_condition_recurs(self) -> bool:
        return self.spans[Condition.STORE_A, 1] is not None

    @reachable
    def an_outage_lasts_for_all_runs(self) -> bool:
        span = self.spans[Condition.JOURNAL, 0]
        return span is not None and span.last - span.first == self.RUNS - 1

    @reachable
    def two_stores_are_out_of_reach_at_once(self) -> bool:
        return self.is_open(Condition.STORE_A, 0) and self.is_open(Condition.STORE_B, 0)

    @reachable
    def a_sighting_is_lost_on_its_way_to_the_register(self) -> bool:
        return self.saw[Condition.JOURNAL, 0] and not self.surfaced[0] and self.ended > 0


@configuration(breaks={Register.no_record_covers_a_run_that_did_not_see: 3})
class AdvancedByAnyRun(Register):
    """Whoever sees the condition advances the open record, and who closes it dates that to the run before."""

    NEEDS_THE_RUN_BEFORE = False
