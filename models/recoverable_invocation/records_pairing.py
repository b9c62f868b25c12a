"""How a sweep learns whether an act happened: which store record is whose, and what each answer allows.

Two invocations of one act follow each other; the store may hold both their records, and a paused invocation
may commit late. Left out: leases, cadence and codes; an intent is young, aged, or past its abandon edge.
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
    fault,
    first,
    given,
    implies,
    initial,
    internal,
    invariant,
    reachable,
    require,
    terminal,
)

Invocation = Annotated[int, Below(2)]
Actor = Enum("Actor", "FIRST_CALLER SECOND_CALLER SERVICE")
Age = Enum("Age", "YOUNG AGED FINAL")  # final: past the abandon edge
Kind = Enum("Kind", "OUTCOME ABANDONED ESCALATED")
Cause = Enum("Cause", "NOT_COMMITTED NOT_OBSERVED UNDECIDABLE OUTCOME_UNRECORDABLE")
Store = Enum("Store", "ANSWERS REJECTS UNREACHABLE")  # how the store takes one read of the probe
Probe = Enum("Probe", "COMMITTED NOT_COMMITTED UNDECIDABLE UNAVAILABLE")
Answer = Enum("Answer", "PLANNED CLOSED ABANDONED ESCALATED SKIPPED CLOSED_ALREADY")


class Closing(Record):
    """The record that closes an invocation."""

    kind: Kind
    by: Actor
    cause: Cause | None = None
    acting: Actor | None = None  # the original caller, in an outcome under recovery
    derived: Invocation | None = None  # whose store record the outcome's data is from
    candidates: Annotated[int, Upto("CAP + 1")] = 0
    ranged: bool = False  # the candidates' count and range stand for their list


class Run(Record):
    """A run between its recovery_intended and the outcome that it plans."""

    invocation: Invocation
    derived: Invocation | None


class Pairing(Model):
    """The probe pairs by the bound datum alone, and the sweep writes what it read and nothing else."""

    CAP: ClassVar[int] = 1  # how many candidates an escalation lists
    DATUMS_DIFFER: ClassVar[bool] = True  # whether no two invocations of the act carry one datum
    EVERY_BINDING: ClassVar[bool] = True  # whether the bindings meet in every way, or in four

    paired: bool = True  # the kind binds a pairing datum
    meeting: bool = False  # both invocations carry the same one
    alike: bool = False  # both intents have the same payload
    fenced: bool = True  # the kind declares a commit fence
    rederives: bool = True  # the store holds what the outcome must say
    opened: Map[Invocation, bool] = Map(False)
    alive: Map[Invocation, bool] = Map(False)
    age: Map[Invocation, Age] = Map(Age.YOUNG)
    store: Map[Invocation, Annotated[int, Upto(2)]] = Map(0)  # the store's records, by whose they are
    planned: Map[Invocation, bool] = Map(False)  # the journal holds a recovery_intended
    closing: Map[Invocation, Closing | None] = Map(None)
    run: Run | None = None

    @initial
    def start(self, paired: bool, meeting: bool, alike: bool, fenced: bool, rederives: bool) -> None:
        require(not meeting or (paired and not self.DATUMS_DIFFER))
        require(not alike or not paired)
        four = rederives == (paired and fenced) and alike == (not paired and not fenced)
        require(self.EVERY_BINDING or four)
        self.paired = paired
        self.meeting = meeting
        self.alike = alike
        self.fenced = fenced
        self.rederives = rederives

    # The decisions, each by itself.

    def actor(self, invocation: Invocation) -> Actor:
        return Actor.FIRST_CALLER if invocation == 0 else Actor.SECOND_CALLER

    def same_datum(self, invocation: Invocation, other: Invocation) -> bool:
        return invocation == other or self.meeting

    def same_payload(self, invocation: Invocation, other: Invocation) -> bool:
        return invocation == other or self.alike

    def matches(self, invocation: Invocation, other: Invocation) -> bool:
        """Whether the other's store records match this invocation's intent."""
        same = self.same_datum(invocation, other) if self.paired else self.same_payload(invocation, other)
        return self.store[other] > 0 and same

    def matching(self, invocation: Invocation) -> int:
        return sum(self.store[other] for other in self.store if self.matches(invocation, other))

    def of_a_read(self, store: Store) -> Probe | None:
        """What the probe answers to a read that the store did not answer."""
        return None if store is Store.ANSWERS else Probe.UNAVAILABLE

    def probe(self, invocation: Invocation, store: Store) -> Probe:
        unread = self.of_a_read(store)
        if unread is not None:
            return unread
        if self.matching(invocation) == 0:
            return Probe.NOT_COMMITTED
        certain = self.paired and self.matching(invocation) == 1 and self.rederives
        return Probe.COMMITTED if certain else Probe.UNDECIDABLE

    def derived(self, invocation: Invocation) -> Invocation | None:
        return first(other for other in self.store if self.matches(invocation, other))

    def may_abandon(self, invocation: Invocation) -> bool:
        return self.fenced and self.age[invocation] is Age.FINAL

    def waits(self, invocation: Invocation) -> bool:
        return self.fenced and self.age[invocation] is not Age.FINAL

    def may_open(self, invocation: Invocation) -> bool:
        return invocation == 0 or self.closing[0] is not None

    def may_commit(self, invocation: Invocation) -> bool:
        return self.alive[invocation]

    def in_time(self, invocation: Invocation) -> bool:
        return self.age[invocation] is Age.YOUNG

    def is_aged(self, invocation: Invocation) -> bool:
        return self.age[invocation] is not Age.YOUNG

    def is_closed(self, invocation: Invocation) -> bool:
        return self.closing[invocation] is not None

    def listed(self, matching: int) -> int:
        return min(matching, self.CAP)

    def chosen(self, invocation: Invocation) -> Invocation | None:
        """Which candidate an escalation takes for the act's: none."""
        return None

    # The invocations and the store.

    @action(source=("open step 3.6", "open step 3.7", "pairing datum 1", "Invariant 3.1"))
    def open(self, invocation: Invocation) -> None:
        """An intent is appended, under its caller's credential; the second waits for the first's closing."""
        require(not self.opened[invocation] and self.may_open(invocation))
        self.opened[invocation] = True
        self.alive[invocation] = True

    @internal(source="commit 11")
    def commit(self, invocation: Invocation) -> None:
        """The store applies the act; late too, but never past the fence."""
        require(self.may_commit(invocation) and self.store[invocation] == 0)
        require(not self.fenced or self.age[invocation] is not Age.FINAL)
        self.store[invocation] = 1

    @action(source=("close step 3.1", "commit 4"))
    def close(self, invocation: Invocation) -> None:
        require(self.alive[invocation] and self.closing[invocation] is None)
        require(self.store[invocation] > 0 and self.in_time(invocation))
        self.closing[invocation] = Closing(kind=Kind.OUTCOME, by=self.actor(invocation), derived=invocation)
        self.alive[invocation] = False

    @fault
    def die(self, invocation: Invocation) -> None:
        require(self.alive[invocation])
        self.alive[invocation] = False

    @internal
    def grow(self, invocation: Invocation) -> None:
        require(self.opened[invocation] and self.closing[invocation] is None)
        require(self.age[invocation] is not Age.FINAL)
        self.age[invocation] = Age.AGED if self.age[invocation] is Age.YOUNG else Age.FINAL

    # The sweep.

    @action(source=(
        "reconcile step 3.1", "reconcile step 3.2a", "reconcile step 3.4", "reconcile step 3.5",
        "probe 1",
    ))  # fmt: skip
    def examine(self, invocation: Invocation, store: Store) -> Answer:
        """The run probes under the section; a finding of an outcome it first writes down as its plan."""
        require(self.opened[invocation] and self.is_aged(invocation) and self.run is None)
        if self.is_closed(invocation):
            return Answer.CLOSED_ALREADY
        found = self.probe(invocation, store)
        answer = self.finding(invocation, found)
        if answer is Answer.PLANNED:
            self.plan(invocation)
            self.run = Run(invocation=invocation, derived=self.derived(invocation))
        elif answer is Answer.ABANDONED:
            self.closing[invocation] = self.written(invocation, Kind.ABANDONED, Cause.NOT_COMMITTED, 0)
        elif answer is Answer.ESCALATED and found is Probe.NOT_COMMITTED:
            self.closing[invocation] = self.written(invocation, Kind.ESCALATED, Cause.NOT_OBSERVED, 0)
        elif answer is Answer.ESCALATED:
            found_in_store = self.matching(invocation)
            self.closing[invocation] = self.written(
                invocation, Kind.ESCALATED, Cause.UNDECIDABLE, found_in_store
            )
        return answer

    def plan(self, invocation: Invocation) -> None:
        self.planned[invocation] = True

    def finding(self, invocation: Invocation, found: Probe) -> Answer:
        """What the run makes of the probe's answer."""
        if found is Probe.UNAVAILABLE or (found is Probe.NOT_COMMITTED and self.waits(invocation)):
            return Answer.SKIPPED
        if found is Probe.NOT_COMMITTED:
            return Answer.ABANDONED if self.may_abandon(invocation) else Answer.ESCALATED
        return Answer.PLANNED if found is Probe.COMMITTED else Answer.ESCALATED

    def written(self, invocation: Invocation, kind: Kind, cause: Cause, matching: int) -> Closing:
        return Closing(
            kind=kind,
            by=Actor.SERVICE,
            cause=cause,
            derived=self.chosen(invocation) if cause is Cause.UNDECIDABLE else None,
            candidates=self.listed(matching),
            ranged=matching > self.CAP,
        )

    @action(source=("reconcile step 3.2b", "reconcile step 3.20"))
    def finish(self, fits: bool) -> Answer:
        """The run appends the outcome that it planned, or what stands for one that does not fit."""
        run = given(self.run)
        self.run = None
        if fits:
            self.closing[run.invocation] = Closing(
                kind=Kind.OUTCOME,
                by=self.attests(run.invocation),
                acting=self.actor(run.invocation),
                derived=run.derived,
            )
            return Answer.CLOSED
        self.closing[run.invocation] = self.written(
            run.invocation, Kind.ESCALATED, Cause.OUTCOME_UNRECORDABLE, 0
        )
        return Answer.ESCALATED

    def attests(self, invocation: Invocation) -> Actor:
        return Actor.SERVICE

    @fault(source="reconcile step 3.3")
    def crash(self) -> None:
        """The run dies behind its plan; a later one probes anew, and may write a second plan."""
        require(self.run is not None)
        self.run = None

    @terminal
    def both_are_accounted_for(self) -> bool:
        return all(closing is not None for closing in self.closing.values())

    # What is true of every state.

    def recovered(self, invocation: Invocation) -> bool:
        closing = self.closing[invocation]
        return closing is not None and closing.kind is Kind.OUTCOME and closing.by is Actor.SERVICE

    def caused(self, invocation: Invocation, cause: Cause) -> bool:
        closing = self.closing[invocation]
        return closing is not None and closing.cause is cause

    @invariant(
        source=("Invariant 5.3", "Check 6.1", "probe 2", "pairing datum 4", "Invariant 3.4", "probe 6")
    )
    def an_outcome_is_recorded_of_its_own_act(self) -> bool:
        return all(
            closing is None or closing.derived in (None, invocation)
            for invocation, closing in self.closing.items()
        )

    @invariant(source=("Invariant 5.1", "reconcile step 3.2a"))
    def the_sweep_plans_an_outcome_before_it_writes_one(self) -> bool:
        return all(not self.recovered(invocation) or self.planned[invocation] for invocation in self.closing)

    @invariant(source=("Invariant 5.2", "Sweep never 2", "Check 1.1", "Check 2.5", "Check 5.1"))
    def every_outcome_has_one_of_the_declared_shapes(self) -> bool:
        """Its caller's own; or the service identity's, which names the caller as the acting actor."""
        return all(
            closing is None
            or closing.kind is not Kind.OUTCOME
            or (closing.by is self.actor(invocation) and closing.acting is None)
            or (closing.by is Actor.SERVICE and closing.acting is self.actor(invocation))
            for invocation, closing in self.closing.items()
        )

    @invariant(source=("Invariant 5.6", "Check 6.3", "probe 4"))
    def an_abandoned_act_never_happens(self) -> bool:
        return all(
            not self.caused(invocation, Cause.NOT_COMMITTED) or made == 0
            for invocation, made in self.store.items()
        )

    @invariant(source=(
        "Invariant 5.7", "commit 13a", "commit 14a", "Check 6.4", "Invariant 4.9",
        "reconcile step 3.4a",
    ))  # fmt: skip
    def only_a_fenced_act_past_its_edge_is_abandoned(self) -> bool:
        return all(
            not self.caused(invocation, Cause.NOT_COMMITTED) or (self.fenced and age is Age.FINAL)
            for invocation, age in self.age.items()
        )

    @invariant(source=("reconcile step 3.9", "reconcile step 3.10"))
    def an_escalation_lists_candidates_up_to_the_cap(self) -> bool:
        return all(closing is None or closing.candidates <= self.CAP for closing in self.closing.values())

    @invariant(source=("reconcile step 3.11", "Invariant 3.5a"))
    def the_sweep_never_chooses_among_candidates(self) -> bool:
        return all(
            closing is None or closing.cause is not Cause.UNDECIDABLE or closing.derived is None
            for closing in self.closing.values()
        )

    @invariant(source=("reconcile step 3.7", "Invariant 9.2", "Sweep never 1"))
    def no_act_is_made_twice(self) -> bool:
        return all(made <= 1 for made in self.store.values())

    @invariant(source=("open step 3.6", "Action wiring 4", "Invariant 1.1"))
    def everything_begins_with_an_intent(self) -> bool:
        return all(
            opened
            or (
                self.store[invocation] == 0
                and self.closing[invocation] is None
                and self.age[invocation] is Age.YOUNG
                and not (self.alive[invocation] or self.planned[invocation])
            )
            for invocation, opened in self.opened.items()
        )

    @invariant(source=("open step 3.6", "open step 3.7"))
    def the_second_intent_follows_the_first_closing(self) -> bool:
        return not self.opened[1] or self.closing[0] is not None

    @invariant(source=("Invariant 9.2", "Invariant 3.1", "journal fence none 1a"))
    def nothing_is_undone(self, before: Self) -> bool:
        """What the store and the journal hold stays, the dead stay dead, and no age is left out."""
        return all(
            self.store[invocation] >= before.store[invocation]
            and (self.opened[invocation] or not before.opened[invocation])
            and (self.planned[invocation] or not before.planned[invocation])
            and (closing is None or self.closing[invocation] == closing)
            and (before.alive[invocation] or not self.alive[invocation] or not before.opened[invocation])
            and (self.age[invocation] is not Age.FINAL or before.age[invocation] is not Age.YOUNG)
            for invocation, closing in before.closing.items()
        )

    # What is true of the invocations' steps.

    @invariant(on=commit, source="commit 13a")
    def a_live_invocation_commits_once(self, before: Self, invocation: Invocation) -> bool:
        return before.alive[invocation] and self.store[invocation] == before.store[invocation] + 1

    @invariant(on=close, source=("close step 3.1", "commit 4", "Check 2.5"))
    def an_invocations_outcome_is_of_its_act_in_time(self, before: Self, invocation: Invocation) -> bool:
        closing = self.closing[invocation]
        mine = closing is not None and closing.by is self.actor(invocation)
        done = before.alive[invocation] and not self.alive[invocation]
        return mine and done and self.store[invocation] > 0 and self.age[invocation] is Age.YOUNG

    @invariant(on=die, source="act section 2")
    def who_dies_was_alive(self, before: Self, invocation: Invocation) -> bool:
        return before.alive[invocation] and not self.alive[invocation]

    @invariant(on=grow, source="reconcile step 1.2")
    def an_open_intent_grows_older(self, before: Self, invocation: Invocation) -> bool:
        return self.age[invocation] is not before.age[invocation] and self.closing[invocation] is None

    # What is true of the sweep's steps.

    @invariant(on=examine, source=("Invariant 7.1", "reconcile step 1.2"))
    def only_an_aged_intent_is_examined(self, before: Self, invocation: Invocation) -> bool:
        return before.age[invocation] is not Age.YOUNG

    @invariant(on=finish, source=("reconcile step 3.2b", "reconcile step 3.2c", "reconcile step 3.20"))
    def a_run_ends_with_the_closing_it_planned(self, before: Self, fits: bool, answer: Answer) -> bool:
        run = before.run
        closing = None if run is None else self.closing[run.invocation]
        outcome = closing is not None and closing.kind is Kind.OUTCOME
        return self.run is None and closing is not None and outcome == fits == (answer is Answer.CLOSED)

    @invariant(on=crash, source="reconcile step 3.3")
    def a_dead_run_leaves_its_plan_alone(self, before: Self) -> bool:
        return before.run is not None and self.run is None

    @invariant(on=examine, source=("reconcile step 3.13", "reconcile step 3.14", "Invariant 5.10", "probe 5"))
    def an_outage_is_no_answer(self, before: Self, store: Store, answer: Answer) -> bool:
        return store is Store.ANSWERS or answer in (Answer.SKIPPED, Answer.CLOSED_ALREADY)

    @invariant(on=examine, source=("reconcile step 3.13a", "reconcile step 3.6", "reconcile step 3.6a"))
    def what_is_skipped_is_left_as_it_was(self, before: Self, invocation: Invocation, answer: Answer) -> bool:
        return implies(answer is Answer.SKIPPED, self.closing[invocation] is None and self.run is None)

    @invariant(
        on=examine,
        source=("reconcile step 3.5", "reconcile step 3.5a", "Invariant 4.8", "commit 14b", "Invariant 4.10"),
    )
    def without_a_fence_what_is_not_there_is_not_observed(
        self, before: Self, invocation: Invocation, store: Store, answer: Answer
    ) -> bool:
        return implies(
            not before.fenced
            and before.matching(invocation) == 0
            and store is Store.ANSWERS
            and answer is not Answer.CLOSED_ALREADY,
            self.caused(invocation, Cause.NOT_OBSERVED),
        )

    @invariant(on=examine, source=(
        "probe 2", "pairing datum 2", "pairing datum 6a", "probe 7a", "Invariant 3.3",
        "Invariant 3.5", "pairing datum 6", "probe 7",
    ))  # fmt: skip
    def an_outcome_is_planned_of_one_record_that_tells_it(
        self, before: Self, invocation: Invocation, store: Store, answer: Answer
    ) -> bool:
        """Paired by the datum, and never where there is none, or where the store lacks what to say."""
        one = before.paired and before.matching(invocation) == 1 and before.rederives
        stands_open = before.closing[invocation] is None and store is Store.ANSWERS
        return (answer is Answer.PLANNED) == (one and stands_open)

    @invariant(on=examine, source=("probe 3", "reconcile step 3.8a", "Check 6.5", "Invariant 5.9"))
    def an_undecidable_act_names_what_matches_it(
        self, before: Self, invocation: Invocation, answer: Answer
    ) -> bool:
        closing = self.closing[invocation]
        return (
            closing is None
            or before.closing[invocation] is not None
            or closing.cause is not Cause.UNDECIDABLE
            or (
                before.matching(invocation) > 0
                and (closing.candidates == before.matching(invocation)) != closing.ranged
            )
        )

    @invariant(on=examine, source=("pairing datum 3", "Invariant 3.2", "Primitive policy 5"))
    def closed_already_is_said_of_the_invocations_own_closing(
        self, before: Self, invocation: Invocation, answer: Answer
    ) -> bool:
        return (answer is Answer.CLOSED_ALREADY) == (before.closing[invocation] is not None)

    # What must be able to happen.

    @reachable
    def an_outcome_outgrows_what_the_journal_takes(self) -> bool:
        return self.caused(0, Cause.OUTCOME_UNRECORDABLE)

    @reachable
    def an_act_is_abandoned(self) -> bool:
        return self.caused(0, Cause.NOT_COMMITTED)

    @reachable
    def an_act_that_was_not_observed_happens_after_all(self) -> bool:
        return self.caused(0, Cause.NOT_OBSERVED) and self.store[0] == 1

    @reachable
    def an_identical_act_makes_an_orphan_undecidable(self) -> bool:
        return self.caused(1, Cause.UNDECIDABLE) and self.store[1] == 0

    @reachable
    def the_candidates_are_more_than_an_escalation_lists(self) -> bool:
        return any(closing is not None and closing.ranged for closing in self.closing.values())

    @reachable
    def a_second_run_finds_the_plan_of_a_dead_one(self) -> bool:
        return self.planned[0] and self.run is None and self.closing[0] is None


@configuration(breaks={Pairing.an_outcome_is_recorded_of_its_own_act: 7})
class DatumsThatMeet(Pairing):
    """Two invocations of the act carry one reading of a clock."""

    DATUMS_DIFFER = False


@configuration(holds=True)
class FourBindings(Pairing):
    """Small enough to be driven: each binding stands beside one value of each other, and none beside both."""

    EVERY_BINDING = False
