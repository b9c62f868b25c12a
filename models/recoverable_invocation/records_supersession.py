"""Which of an invocation's closings is the act's: who may write over another, and how surfaces read that.

A closing is superseded by name, and names form chains. Without the journal fence a writer that slept after
its re-read may append beside another's closing; with it, whoever takes the section next knows it dead.
Left out: leases and clocks (an intent is aged or it is not), the intent's own record, and the store.
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
    bound,
    configuration,
    count,
    fault,
    first,
    given,
    implies,
    internal,
    invariant,
    reachable,
    require,
)

Kind = Enum("Kind", "OUTCOME REFUSED ABANDONED ESCALATED")
Writer = Enum("Writer", "INVOCATION SWEEP OPERATOR")
Surface = Enum("Surface", "READ_INVOCATION RECONCILE AUDIT")
State = Enum("State", "OPEN CLOSED REFUSED ABANDONED RESOLVED ESCALATED")
Answer = Enum(
    "Answer",
    "WRITES LANDED_BY_SWEEP LANDED_BY_OPERATOR RECORDING_FAILURE ALREADY_ACCOUNTED CLOSED_ALREADY "
    "ALREADY_ABANDONED TOO_YOUNG NO_DECLARED_CODE",
)
Slot = Annotated[int, Below("CLOSINGS")]
Length = Annotated[int, Upto("CLOSINGS")]


class Closing(Record):
    """A closing record that names the invocation; its slot is its place in the journal's sequence."""

    kind: Kind
    by: Writer  # resolved by, recovery and the attesting actor in one


class Write(Record):
    """A closing on its way to the journal: its writer has re-read, and may not look again."""

    kind: Kind
    seen: Length  # how many closings the re-read returned


class Reading(Record):
    """What a surface says of the invocation."""

    state: State
    standing: Slot | None
    duplicate: bool


class Supersession(Model):
    """An operator's closing names every unnamed one that it saw, and what is named counts no more."""

    CLOSINGS: ClassVar[int] = 3
    FENCE: ClassVar[bool] = False  # whether the journal refuses a write whose writer's lease has ended
    RESOLVES_RIVALS: ClassVar[bool] = True  # whether Resolve may close two unrelated closings into one
    JUDGES_THE_STANDING: ClassVar[bool] = True  # whether Close judges what stands, or any record it finds
    UNCAUSED: ClassVar[Answer] = Answer.ALREADY_ABANDONED  # to an escalation over an abandonment
    COUNTS_A_NAMING_ONE: ClassVar[bool] = True  # whether a closing that names another can be a rival
    ESCALATES_THE_YOUNG: ClassVar[bool] = True  # whether too-young is said of abandonments alone
    SMALL: ClassVar[bool] = False  # whether one surface looks, and no other

    closings: Map[Slot, Closing | None] = Map(None)
    length: Length = 0
    names: Map[tuple[Slot, Slot], bool] = Map(False)  # the first supersedes the second
    pending: Map[Writer, Write | None] = Map(None)
    over: bool = False  # the invocation has called Close or Refuse
    evicted: bool = False  # with the fence: the invocation's lease has ended, and nothing it writes lands
    aged: bool = False
    rivals: bool = False  # some closing landed beside one that its writer had not seen, and was not resolved

    # The decisions, each by itself.

    def is_named(self, slot: int) -> bool:
        return any(self.names[later, slot] for later in range(self.CLOSINGS))

    def unnamed(self, slot: int) -> bool:
        return slot < self.length and not self.is_named(slot)

    def standing(self) -> Slot | None:
        return first(slot for slot in range(self.CLOSINGS) if self.unnamed(slot))

    def names_something(self, slot: int) -> bool:
        return any(self.names[slot, earlier] for earlier in range(self.CLOSINGS))

    def is_rival(self, slot: int) -> bool:
        return self.unnamed(slot) and (self.COUNTS_A_NAMING_ONE or not self.names_something(slot))

    def duplicate(self, surface: Surface) -> bool:
        return count(self.is_rival(slot) for slot in range(self.CLOSINGS)) > 1

    def unrelated(self) -> bool:
        return count(self.unnamed(slot) for slot in range(self.CLOSINGS)) > 1

    def standing_closing(self) -> Closing | None:
        return first(closing for slot, closing in self.closings.items() if self.unnamed(slot))

    def stands_as(self, kind: Kind) -> bool:
        closing = self.standing_closing()
        return closing is not None and closing.kind is kind

    def stands_by(self, writer: Writer) -> bool:
        closing = self.standing_closing()
        return closing is not None and closing.by is writer

    def has(self, kind: Kind) -> bool:
        return any(closing is not None and closing.kind is kind for closing in self.closings.values())

    def projected(self) -> State:
        if self.stands_as(Kind.OUTCOME):
            return State.CLOSED
        if self.stands_as(Kind.REFUSED):
            return State.REFUSED
        if self.stands_as(Kind.ABANDONED):
            return State.RESOLVED if self.stands_by(Writer.OPERATOR) else State.ABANDONED
        return State.ESCALATED if self.stands_as(Kind.ESCALATED) else State.OPEN

    def forbids_adoption(self) -> bool:
        if self.JUDGES_THE_STANDING:
            return self.length > 0 and not self.stands_as(Kind.OUTCOME)
        return self.has(Kind.ABANDONED) or self.has(Kind.ESCALATED)

    def landed_by(self) -> Answer:
        return Answer.LANDED_BY_OPERATOR if self.stands_by(Writer.OPERATOR) else Answer.LANDED_BY_SWEEP

    def is_accounted_for(self) -> bool:
        if self.RESOLVES_RIVALS:
            return not self.unrelated() and (self.stands_as(Kind.OUTCOME) or self.stands_as(Kind.REFUSED))
        return self.has(Kind.OUTCOME) or self.has(Kind.REFUSED)

    def over_an_abandonment(self, disposition: Kind) -> Answer:
        if self.RESOLVES_RIVALS and self.unrelated():
            return Answer.ALREADY_ACCOUNTED if self.has(Kind.OUTCOME) else Answer.WRITES
        if not self.stands_as(Kind.ABANDONED):
            return Answer.WRITES
        return Answer.ALREADY_ABANDONED if disposition is Kind.ABANDONED else self.UNCAUSED

    def too_young(self) -> bool:
        return not self.aged

    def disposed(self, disposition: Kind) -> Answer:
        """What Resolve answers to a well-formed disposition, under the section and after its re-read."""
        if self.is_accounted_for():
            return Answer.ALREADY_ACCOUNTED
        if disposition is Kind.OUTCOME:
            return Answer.WRITES
        if self.over_an_abandonment(disposition) is not Answer.WRITES:
            return self.over_an_abandonment(disposition)
        waits = disposition is Kind.ABANDONED or not self.ESCALATES_THE_YOUNG
        return Answer.TOO_YOUNG if waits and self.too_young() else Answer.WRITES

    def supersedes(self, writer: Writer, write: Write, slot: int, standing: Slot | None) -> bool:
        """Whether the write names this closing: an operator's names each unnamed one that it has seen."""
        seen = writer is Writer.OPERATOR and slot < write.seen and not self.is_named(slot)
        return seen and (self.RESOLVES_RIVALS or standing == slot)

    def enter(self, writer: Writer) -> None:
        """The writer takes the section, so that every other's lease has ended."""
        self.evicted = self.FENCE
        for other in Writer:
            if other is not writer and self.FENCE:
                self.pending[other] = None

    # The three writers' calls.

    @action(source=("close step 2.1", "close step 2.5"))
    def close(self) -> Answer:
        require(not self.over)
        self.over = True
        if self.length == 0:
            self.pending[Writer.INVOCATION] = None if self.evicted else Write(kind=Kind.OUTCOME, seen=0)
            return Answer.WRITES
        return Answer.RECORDING_FAILURE if self.forbids_adoption() else self.landed_by()

    @action(source=("refuse step 2.1", "refuse step 2.2", "refuse step 2.3"))
    def refuse(self) -> Answer:
        require(not self.over)
        self.over = True
        if self.length > 0:
            return Answer.ALREADY_ACCOUNTED
        self.pending[Writer.INVOCATION] = None if self.evicted else Write(kind=Kind.REFUSED, seen=0)
        return Answer.WRITES

    @action(source=("reconcile step 2.4", "reconcile step 2.5", "reconcile step 2.6"))
    def sweep(self, finding: Kind) -> Answer:
        require(finding is not Kind.REFUSED and self.aged and self.pending[Writer.SWEEP] is None)
        self.enter(Writer.SWEEP)
        if self.swept():
            return Answer.CLOSED_ALREADY
        self.pending[Writer.SWEEP] = Write(kind=finding, seen=self.length)
        return Answer.WRITES

    def swept(self) -> bool:
        return self.length > 0

    @action(source=("resolve 1", "resolve 8", "resolve 9", "resolve 15a", "resolve 16a"))
    def resolve(self, disposition: Kind) -> Answer:
        require(disposition is not Kind.REFUSED and self.pending[Writer.OPERATOR] is None)
        answer = self.disposed(disposition)
        self.enter(Writer.OPERATOR)
        if answer is Answer.WRITES:
            self.pending[Writer.OPERATOR] = Write(kind=disposition, seen=self.length)
        return answer

    @action(source=("resolve 13", "resolve 21"))
    def land(self, writer: Writer) -> None:
        """The writer's closing is appended, whatever came before it in the meantime."""
        write = given(self.pending[writer])
        bound(self.length < self.CLOSINGS)
        self.rivals = self.leaves_rivals(writer, write)
        standing = self.standing()
        for slot in range(self.CLOSINGS):
            if self.supersedes(writer, write, slot, standing):
                self.names[self.length, slot] = True
        self.closings[self.length] = Closing(kind=write.kind, by=writer)
        self.length += 1
        self.pending[writer] = None

    def leaves_rivals(self, writer: Writer, write: Write) -> bool:
        if write.seen < self.length:
            return True
        return self.rivals and not (writer is Writer.OPERATOR and self.RESOLVES_RIVALS)

    @fault
    def lose(self, writer: Writer) -> None:
        require(self.pending[writer] is not None)
        self.pending[writer] = None

    @internal
    def age(self) -> None:
        require(not self.aged)
        self.aged = True

    @action(source=("read invocation 7", "reconcile step 5.2", "Check 2.4", "Which closing stands 11"))
    def look(self, surface: Surface) -> Reading:
        require(surface is Surface.READ_INVOCATION or not self.SMALL)
        return Reading(state=self.projected(), standing=self.standing(), duplicate=self.duplicate(surface))

    # What is true of every state.

    @invariant(source=("Invariant 2.1", "Invariant 2.2", "Invariant 2.5", "Which closing stands 2"))
    def under_the_fence_every_closing_is_one(self) -> bool:
        return not self.FENCE or not self.rivals

    @invariant(source=("Which closing stands 6", "journal fence none 1", "journal fence none 2"))
    def rivals_are_what_a_late_write_leaves(self) -> bool:
        return self.rivals == (count(self.unnamed(slot) for slot in range(self.CLOSINGS)) > 1)

    @invariant(source=("Which closing stands 2", "Which closing stands 3", "Invariant 2.4"))
    def only_an_operators_closing_names_another(self) -> bool:
        return all(
            not self.names_something(later) or self.is_by(later, Writer.OPERATOR)
            for later in range(self.CLOSINGS)
        )

    @invariant(source=("Invariant 5.6", "resolve 16a"))
    def an_outcome_gives_way_to_an_outcome_alone(self) -> bool:
        return all(
            not self.names[later, earlier]
            or not self.is_of(earlier, Kind.OUTCOME)
            or self.is_of(later, Kind.OUTCOME)
            for later in range(self.CLOSINGS)
            for earlier in range(self.CLOSINGS)
        )

    @invariant(source=("resolve 16a", "resolve 17"))
    def an_abandonment_by_itself_gives_way_to_an_outcome_alone(self) -> bool:
        return all(
            not self.names[later, earlier]
            or not self.is_of(earlier, Kind.ABANDONED)
            or self.is_of(later, Kind.OUTCOME)
            or count(self.names[later, other] for other in range(self.CLOSINGS)) > 1
            for later in range(self.CLOSINGS)
            for earlier in range(self.CLOSINGS)
        )

    @invariant(source=("Invariant 2.3", "reconcile 7", "sweep closed ids 1"))
    def two_sweep_runs_never_close_one_act(self) -> bool:
        return count(self.is_by(slot, Writer.SWEEP) for slot in range(self.CLOSINGS)) <= 1

    def is_of(self, slot: Slot, kind: Kind) -> bool:
        closing = self.closings[slot]
        return closing is not None and closing.kind is kind

    def is_by(self, slot: Slot, writer: Writer) -> bool:
        closing = self.closings[slot]
        return closing is not None and closing.by is writer

    # What is true of every step.

    @invariant(source=("read invocation 6", "journal fence none 1a"))
    def a_closing_is_never_taken_back(self, before: Self) -> bool:
        return all(
            closing is None or self.closings[slot] == closing for slot, closing in before.closings.items()
        )

    @invariant(on=land, source=("resolve 13", "resolve 15a"))
    def an_operator_names_whatever_stood(self, before: Self, writer: Writer) -> bool:
        write = before.pending[writer]
        saw = write is not None and writer is Writer.OPERATOR and write.seen > 0
        return not saw or self.names_something(before.length)

    # What the surfaces say.

    @invariant(on=look, source=(
        "Which closing stands 1", "Which closing stands 4", "Which closing stands 5", "journal fence none 1b",
        "journal fence none 3", "reconcile step 5.4", "reconcile step 5.7",
    ))  # fmt: skip
    def a_duplicate_is_reported_of_rivals_and_of_no_chain(self, answer: Reading) -> bool:
        return answer.duplicate == self.rivals

    @invariant(on=look, source=("Which closing stands 8", "resolve 13"))
    def of_a_chain_the_last_closing_stands(self, answer: Reading) -> bool:
        return implies(self.length > 0 and not self.rivals, answer.standing == self.length - 1)

    @invariant(on=look, source=("Which closing stands 7", "Which closing stands 8"))
    def of_rivals_the_first_that_nothing_names_stands(self, answer: Reading) -> bool:
        return all(
            answer.standing != slot
            or not (self.is_named(slot) or any(self.unnamed(earlier) for earlier in range(slot)))
            for slot in range(self.CLOSINGS)
        )

    @invariant(on=look, source="read invocation 10")
    def an_act_without_a_closing_reads_open(self, answer: Reading) -> bool:
        return (answer.state is State.OPEN) == (self.length == 0)

    @invariant(on=look, source=("read invocation 10", "Invariant 2.6"))
    def whatever_an_outcome_was_written_over_it_reads_closed(self, answer: Reading) -> bool:
        return implies(self.has(Kind.OUTCOME) and not self.rivals, answer.state is State.CLOSED)

    @invariant(on=look, source=("read invocation 10", "Check 6.4"))
    def resolved_is_an_operators_abandonment_and_abandoned_the_sweeps(self, answer: Reading) -> bool:
        return all(
            closing is None
            or answer.standing != slot
            or closing.kind is not Kind.ABANDONED
            or answer.state is (State.RESOLVED if closing.by is Writer.OPERATOR else State.ABANDONED)
            for slot, closing in self.closings.items()
        )

    # What the writers are answered.

    @invariant(on=close, source=("close step 2.2", "close step 2.2d", "close step 2.2e", "resolve 21"))
    def close_adopts_the_outcome_that_stands_and_says_whose(self, answer: Answer) -> bool:
        outcome = self.stands_as(Kind.OUTCOME)
        operator = self.stands_by(Writer.OPERATOR)
        by_sweep = (answer is Answer.LANDED_BY_SWEEP) == (outcome and not operator)
        return by_sweep and (answer is Answer.LANDED_BY_OPERATOR) == (outcome and operator)

    @invariant(on=close, source=("close step 2.3", "close step 2.3a", "close step 2.3b"))
    def close_never_adopts_an_abandonment_or_an_escalation(self, answer: Answer) -> bool:
        denied = self.stands_as(Kind.ABANDONED) or self.stands_as(Kind.ESCALATED)
        return (answer is Answer.RECORDING_FAILURE) == denied

    @invariant(on=close, source=("close step 2.1", "close step 2.5", "close step 3.1"))
    def close_writes_once_and_where_nothing_stands(self, before: Self, answer: Answer) -> bool:
        return self.is_issued(before.over, answer) and (answer is Answer.WRITES) == (before.length == 0)

    @invariant(on=refuse, source=("refuse step 2.2", "refuse step 2.3", "refuse step 3.1"))
    def a_closed_invocation_is_not_refused_again(self, before: Self, answer: Answer) -> bool:
        closed = (answer is Answer.ALREADY_ACCOUNTED) == (before.length > 0)
        return closed and self.is_issued(before.over, answer)

    def is_issued(self, over: bool, answer: Answer) -> bool:
        issued = self.pending[Writer.INVOCATION] is not None
        return not over and issued == (answer is Answer.WRITES and not self.evicted)

    @invariant(on=sweep, source=("reconcile step 2.5", "reconcile step 2.6"))
    def the_sweep_leaves_what_another_closed(self, before: Self, answer: Answer) -> bool:
        """And what it writes it writes of an aged intent, one record at a time."""
        one = before.pending[Writer.SWEEP] is None and before.aged
        issued = self.pending[Writer.SWEEP] is not None
        return one and (answer is Answer.CLOSED_ALREADY) == (before.length > 0) == (not issued)

    @invariant(on=resolve, source=("resolve 9", "journal fence none 4"))
    def already_accounted_leaves_no_duplicate_behind(
        self, before: Self, disposition: Kind, answer: Answer
    ) -> bool:
        return implies(
            answer is Answer.ALREADY_ACCOUNTED, not before.rivals or disposition is not Kind.OUTCOME
        )

    @invariant(on=resolve, source=("resolve 4", "resolve 22"))
    def an_operator_issues_what_it_answers_to_write(self, before: Self, answer: Answer) -> bool:
        issued = self.pending[Writer.OPERATOR] is not None
        return before.pending[Writer.OPERATOR] is None and (answer is Answer.WRITES) == issued

    @invariant(on=lose, source="journal fence 3")
    def what_is_lost_was_on_its_way(self, before: Self, writer: Writer) -> bool:
        return before.pending[writer] is not None and self.pending[writer] is None

    @invariant(on=resolve, source="resolve 9")
    def an_outcome_or_a_refusal_by_itself_is_final(
        self, before: Self, disposition: Kind, answer: Answer
    ) -> bool:
        return implies(
            not before.rivals and (before.stands_as(Kind.OUTCOME) or before.stands_as(Kind.REFUSED)),
            answer is not Answer.WRITES,
        )

    @invariant(on=resolve, source="resolve 17")
    def already_abandoned_means_that_an_abandonment_stands(self, before: Self, answer: Answer) -> bool:
        return implies(answer is Answer.ALREADY_ABANDONED, before.stands_as(Kind.ABANDONED))

    @invariant(on=resolve, source=("resolve 14", "resolve 14a", "resolve 15", "resolve 15a"))
    def an_open_or_escalated_act_takes_any_disposition(
        self, before: Self, disposition: Kind, answer: Answer
    ) -> bool:
        return implies(
            before.length == 0 or (before.stands_as(Kind.ESCALATED) and not before.rivals),
            answer in (Answer.WRITES, Answer.TOO_YOUNG),
        )

    @invariant(on=resolve, source=("resolve 18", "Invariant 5.8"))
    def no_operator_abandons_an_act_in_flight(self, before: Self, disposition: Kind, answer: Answer) -> bool:
        return implies(disposition is Kind.ABANDONED and not before.aged, answer is not Answer.WRITES)

    @invariant(on=resolve, source="resolve 18")
    def too_young_is_said_of_an_act_in_flight(self, before: Self, disposition: Kind, answer: Answer) -> bool:
        return implies(answer is Answer.TOO_YOUNG, disposition is not Kind.OUTCOME and not before.aged)

    @invariant(on=resolve, source="resolve 27")
    def every_call_is_answered_by_a_declared_code(self, answer: Answer) -> bool:
        return answer is not Answer.NO_DECLARED_CODE

    # What must be able to happen.

    @reachable
    def a_chain_of_three_is_one_closing(self) -> bool:
        """The sweep escalates, an operator abandons naming that, and a second one writes the outcome."""
        if self.CLOSINGS < 3 or self.rivals:
            return False
        abandoned = self.is_of(0, Kind.ESCALATED) and self.is_of(1, Kind.ABANDONED)
        return abandoned and self.is_of(2, Kind.OUTCOME)

    @reachable
    def an_act_reads_resolved(self) -> bool:
        return self.projected() is State.RESOLVED

    @reachable
    def close_may_find_an_operators_outcome(self) -> bool:
        return not self.over and self.stands_as(Kind.OUTCOME) and self.stands_by(Writer.OPERATOR)


@configuration(holds=True)
class Fenced(Supersession):
    """With the journal fence a write whose lease has ended never lands, and no two closings are rivals."""

    FENCE = True


@configuration(breaks={Supersession.already_accounted_leaves_no_duplicate_behind: 5})
class ResolveAsWritten(Supersession):
    """Resolve answers already-accounted wherever an outcome or a refusal is, and names one record alone."""

    RESOLVES_RIVALS = False


@configuration(
    breaks={
        Supersession.close_never_adopts_an_abandonment_or_an_escalation: 5,
        Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 5,
    }
)
class CloseAsWritten(Supersession):
    """Any abandonment or escalation that names the invocation keeps Close from adopting what corrected it."""

    JUDGES_THE_STANDING = False


@configuration(breaks={Supersession.every_call_is_answered_by_a_declared_code: 4})
class CausesAsWritten(Supersession):
    """None of the five causes is that of an escalation over an abandonment."""

    UNCAUSED = Answer.NO_DECLARED_CODE


@configuration(breaks={Supersession.a_duplicate_is_reported_of_rivals_and_of_no_chain: 7})
class KeyAsWritten(Supersession):
    """Only closings that name nothing are a duplicate, so a correction hides the rival it missed."""

    COUNTS_A_NAMING_ONE = False
