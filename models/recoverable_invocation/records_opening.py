"""Open's checks before the intent: what it refuses, by which code, and how many intents an act may have open.

With a service identity an open intent holds its act's key; without one a sweep only reports, and an intent
that has aged holds nothing. Left out: kinds, the arms of the intent's write, and clocks: an intent is young
or aged.
"""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    action,
    configuration,
    count,
    fault,
    first,
    implies,
    initial,
    internal,
    invariant,
    reachable,
    require,
)

Invocation = Annotated[int, Below("INVOCATIONS")]
Stage = Enum("Stage", "NONE FLYING OPEN OUTCOME REFUSED ESCALATED ABANDONED")
Call = Enum(
    "Call",
    "FITTING EMPTY BY_SERVICE OUTCOME_TOO_LARGE ESCALATION_TOO_LARGE "
    "SECTION_TAKEN READ_FAILS READ_EXHAUSTS_LEASE TOO_LITTLE_LEFT",
)
Code = Enum(
    "Code",
    "ISSUED INVALID_REQUEST SECTION_UNAVAILABLE JOURNAL_UNAVAILABLE ACT_IN_FLIGHT ACT_LANDED",
)
Swept = Enum("Swept", "CLOSED REPORTED NOT_KEPT")
LARGE = (Call.OUTCOME_TOO_LARGE, Call.ESCALATION_TOO_LARGE)


class Opened(Record):
    """What Open answers, with the invocation that it names."""

    code: Code
    names: Invocation | None = None


class Opening(Model):
    """Open sizes, takes, reads and then decides by every intent of the act that the journal holds open."""

    INVOCATIONS: ClassVar[int] = 2
    DOUBT_BLOCKS: ClassVar[bool] = (
        True  # whether an act that cannot be repeated waits for one that is in doubt
    )

    EVERY_DEPLOYMENT: ClassVar[bool] = True  # whether the three bindings meet in every way, or two by two

    service: bool = False  # the kind declares a service identity
    repeatable: bool = False
    fenced: bool = False  # the journal fence: an intent whose section another has taken never lands
    stage: Map[Invocation, Stage] = Map(Stage.NONE)
    aged: Map[Invocation, bool] = Map(False)
    alive: Map[Invocation, bool] = Map(False)  # the invocation may still commit
    committed: Map[Invocation, bool] = Map(False)
    surfaced: Map[Invocation, bool] = Map(False)  # on the compliance surface, for an operator to close
    kept: bool = False  # a call that was refused still has the section
    flawed: bool = False  # some intent was issued for a call that should have been refused

    @initial
    def start(self, service: bool, repeatable: bool, fenced: bool) -> None:
        require(self.EVERY_DEPLOYMENT or fenced == (service != repeatable))
        self.service = service
        self.repeatable = repeatable
        self.fenced = fenced

    # The decisions, each by itself.

    def is_open(self, invocation: int) -> bool:
        return self.stage[invocation] is Stage.OPEN

    def is_invalid(self, call: Call) -> bool:
        return call in (Call.EMPTY, Call.BY_SERVICE) or self.is_too_large(call)

    def is_too_large(self, call: Call) -> bool:
        return call in LARGE

    def of_the_section(self, call: Call) -> Code | None:
        """What the take and the read answer where they do not go through."""
        if call is Call.READ_FAILS:
            return Code.JOURNAL_UNAVAILABLE
        if call in (Call.SECTION_TAKEN, Call.READ_EXHAUSTS_LEASE):
            return Code.SECTION_UNAVAILABLE
        return None

    def is_shut_out(self, call: Call) -> bool:
        """Whether the gate, which comes after all that the journal says, leaves no time for the write."""
        return call is Call.TOO_LITTLE_LEFT

    def holds(self, invocation: int) -> bool:
        """Whether this invocation keeps the next from opening."""
        if self.is_open(invocation) and not self.aged[invocation]:
            return True
        return self.holds_aged(invocation) or self.is_in_doubt(invocation)

    def holds_aged(self, invocation: int) -> bool:
        return self.is_open(invocation) and self.service

    def is_in_doubt(self, invocation: int) -> bool:
        """Whether an act that cannot be repeated may have happened, and nobody has said so."""
        doubt = self.is_open(invocation) or self.stage[invocation] is Stage.ESCALATED
        return doubt and not self.repeatable and self.DOUBT_BLOCKS

    def holder(self) -> Invocation | None:
        return first(invocation for invocation in range(self.INVOCATIONS) if self.holds(invocation))

    def landed(self) -> Invocation | None:
        """The invocation whose outcome keeps an act that cannot be repeated from being done again."""
        return first(
            invocation
            for invocation in range(self.INVOCATIONS)
            if self.stage[invocation] is Stage.OUTCOME and not self.repeatable
        )

    def answer(self, call: Call) -> Opened:
        if self.is_invalid(call):
            return Opened(code=Code.INVALID_REQUEST)
        code = self.of_the_section(call)
        if code is not None:
            return Opened(code=code)
        holder = self.holder()
        if holder is not None:
            return Opened(code=Code.ACT_IN_FLIGHT, names=holder)
        landed = self.landed()
        if landed is not None:
            return Opened(code=Code.ACT_LANDED, names=landed)
        return Opened(code=Code.SECTION_UNAVAILABLE if self.is_shut_out(call) else Code.ISSUED)

    def keeps(self, code: Code) -> bool:
        """Whether a call that took the section and was refused goes without releasing it."""
        return False

    def duplicate(self) -> bool:
        return self.service and count(self.is_open(invocation) for invocation in range(self.INVOCATIONS)) > 1

    def sweep_writes(self) -> bool:
        return self.service

    def enter(self, invocation: int) -> None:
        """The section is taken, so that whoever had it before commits nothing more under its lease."""
        for other in range(self.INVOCATIONS):
            if other != invocation and self.stage[other] is Stage.FLYING:
                self.alive[other] = False
                if self.fenced:
                    self.stage[other] = Stage.NONE

    def is_passing(self, call: Call, answer: Opened) -> bool:
        """Whether nothing that the journal holds is in the call's way."""
        return answer.code is Code.ISSUED or (
            answer.code is Code.SECTION_UNAVAILABLE and self.is_shut_out(call)
        )

    def pass_over(self) -> None:
        """What stands open and holds nothing is left to an operator."""
        for other in range(self.INVOCATIONS):
            if self.is_open(other):
                self.surfaced[other] = True

    # Open.

    @action(source=("open step 1.2", "open step 1.4", "open step 2.3", "open step 3.5", "open step 3.9c"))
    def open_act(self, invocation: Invocation, call: Call) -> Opened:
        """Only a kind with a service identity can be called under it."""
        require(self.stage[invocation] is Stage.NONE)
        require(self.service or call is not Call.BY_SERVICE)
        answer = self.answer(call)
        self.kept = self.keeps(answer.code)
        if answer.code not in (Code.INVALID_REQUEST, Code.SECTION_UNAVAILABLE):
            self.enter(invocation)
        if self.is_passing(call, answer):
            self.pass_over()
        if answer.code is Code.ISSUED:
            self.stage[invocation] = Stage.FLYING
            self.alive[invocation] = True
            self.flawed = self.flawed or call in (Call.EMPTY, Call.BY_SERVICE) or call in LARGE
        return answer

    @internal(source=("open step 5.1", "open invocations 4"))
    def land(self, invocation: Invocation) -> None:
        """The intent lands, in time or late."""
        require(self.stage[invocation] is Stage.FLYING)
        self.stage[invocation] = Stage.OPEN

    @fault(source="Primitive policy 23")
    def fail(self, invocation: Invocation) -> None:
        """The intent never lands, and the whole action may be tried again."""
        require(self.stage[invocation] is Stage.FLYING)
        self.stage[invocation] = Stage.NONE
        self.alive[invocation] = False

    # The act, and whoever closes it.

    @internal
    def commit(self, invocation: Invocation) -> None:
        require(self.alive[invocation] and not self.committed[invocation])
        require(self.is_open(invocation) or self.stage[invocation] is Stage.ESCALATED)
        self.committed[invocation] = True

    @internal
    def age(self, invocation: Invocation) -> None:
        require(self.is_open(invocation) and not self.aged[invocation])
        self.aged[invocation] = True

    @action(source=("close step 4.1", "refuse step 3.9", "open invocations 5", "Action wiring 5"))
    def close(self, invocation: Invocation) -> None:
        """The invocation closes its own intent, by its outcome or by a refusal."""
        require(self.is_open(invocation) and self.alive[invocation] and not self.aged[invocation])
        self.stage[invocation] = Stage.OUTCOME if self.committed[invocation] else Stage.REFUSED
        self.alive[invocation] = False

    @action(source=("reconcile 2", "reconcile 2d", "reconcile 2e", "service identity 1", "Invariant 4.6"))
    def sweep(self, invocation: Invocation) -> Swept:
        """A run: what it does not see it escalates; without an identity it reports and writes nothing."""
        require(self.stage[invocation] is not Stage.NONE)
        if not self.is_open(invocation) or not self.aged[invocation]:
            return Swept.NOT_KEPT
        if not self.sweep_writes():
            self.surfaced[invocation] = True
            return Swept.REPORTED
        self.stage[invocation] = Stage.OUTCOME if self.committed[invocation] else Stage.ESCALATED
        return Swept.CLOSED

    @action(source=("open step 3.8d", "resolve 14a", "resolve 15a", "resolve 20a"))
    def resolve(self, invocation: Invocation) -> None:
        """An operator closes what stands open or escalated, having waited until nothing more can happen."""
        require(self.aged[invocation])
        require(self.is_open(invocation) or self.stage[invocation] is Stage.ESCALATED)
        self.stage[invocation] = Stage.OUTCOME if self.committed[invocation] else Stage.ABANDONED
        self.alive[invocation] = False

    @action(source=("read invocation 8", "reconcile step 5.3", "Which closing stands 9", "Check 2.3"))
    def look(self) -> bool:
        """Whether a surface reports the intents key."""
        return self.duplicate()

    # What is true of every state.

    @invariant(source=(
        "Invariant 6.1", "Invariant 6.2", "open step 1.1", "open step 1.2", "Primitive policy 13",
        "open step 1.3", "Primitive policy 12",
    ))  # fmt: skip
    def no_intent_is_issued_for_a_call_that_should_be_refused(self) -> bool:
        return not self.flawed

    @invariant(source=("open invocations 1", "Check 2.3"))
    def under_the_fence_one_intent_is_open(self) -> bool:
        open_intents = count(self.is_open(invocation) for invocation in range(self.INVOCATIONS))
        return open_intents <= 1 or not (self.service and self.fenced)

    @invariant(source=("repeatable 1", "open step 3.9", "Invariant 2.2"))
    def an_act_that_cannot_be_repeated_happens_once(self) -> bool:
        """Under the fence: a late intent of a dead Open is nobody's act."""
        return self.repeatable or count(committed for committed in self.committed.values()) <= 1

    @invariant(source=(
        "open step 3.4", "open step 3.6", "open step 3.9b", "open step 3.11", "open step 3.13a",
        "open step 4.2a",
    ))  # fmt: skip
    def who_is_refused_lets_the_section_go(self) -> bool:
        return not self.kept

    # What is true of Open.

    @invariant(on=open_act, source=("open step 1.5", "open step 2.3", "open step 3.12", "open step 3.13b"))
    def a_refusal_writes_nothing(self, before: Self, invocation: Invocation, answer: Opened) -> bool:
        return (self.stage[invocation] is not Stage.NONE) == (answer.code is Code.ISSUED)

    @invariant(on=open_act, source=("open step 3.4", "open step 3.5", "open step 3.7"))
    def what_holds_the_key_is_named(self, before: Self, answer: Opened) -> bool:
        return implies(
            answer.code is Code.ACT_IN_FLIGHT,
            any(
                answer.names == other and before.stage[other] in (Stage.OPEN, Stage.ESCALATED)
                for other in range(self.INVOCATIONS)
            ),
        )

    @invariant(on=open_act, source=("open step 3.4", "Invariant 3.3"))
    def nobody_opens_beside_an_intent_in_flight(self, before: Self, answer: Opened) -> bool:
        young = any(before.is_open(other) and not before.aged[other] for other in range(self.INVOCATIONS))
        return implies(young, answer.code is not Code.ISSUED)

    @invariant(on=open_act, source=("open step 3.6", "open step 3.7"))
    def with_a_service_identity_an_aged_intent_holds_its_key(self, before: Self, answer: Opened) -> bool:
        stands = any(before.is_open(other) for other in range(self.INVOCATIONS))
        return implies(self.service and stands, answer.code is not Code.ISSUED)

    @invariant(on=open_act, source=("open step 3.8a", "open step 3.8b", "open invocations 2"))
    def without_one_an_aged_intent_holds_nothing(self, before: Self, call: Call, answer: Opened) -> bool:
        young = any(before.is_open(other) and not before.aged[other] for other in range(self.INVOCATIONS))
        return implies(
            not self.service and self.repeatable and call is Call.FITTING and not young,
            answer.code is Code.ISSUED,
        )

    @invariant(on=open_act, source=("open step 3.8c", "service identity 1b"))
    def an_intent_that_is_passed_over_is_surfaced(self, before: Self, answer: Opened) -> bool:
        return answer.code is not Code.ISSUED or all(
            not before.is_open(other) or self.surfaced[other] for other in range(self.INVOCATIONS)
        )

    @invariant(on=open_act, source=("open step 3.9a", "open step 3.9c", "repeatable 1", "act closings 2"))
    def landed_is_said_of_an_outcome_that_cannot_be_repeated(self, before: Self, answer: Opened) -> bool:
        return implies(
            answer.code is Code.ACT_LANDED,
            not self.repeatable
            and any(
                answer.names == other and before.stage[other] is Stage.OUTCOME
                for other in range(self.INVOCATIONS)
            ),
        )

    @invariant(on=open_act, source=("open step 3.13", "open step 3.11", "open step 4.2b", "act section 5"))
    def an_outage_and_a_want_of_time_have_their_own_codes(self, call: Call, answer: Opened) -> bool:
        """Too little is left for the write only where the journal has nothing else to say."""
        late = call in (Call.SECTION_TAKEN, Call.READ_EXHAUSTS_LEASE)
        short = answer.code is Code.SECTION_UNAVAILABLE
        return (
            (answer.code is Code.JOURNAL_UNAVAILABLE) == (call is Call.READ_FAILS)
            and short == (late or (short and call is Call.TOO_LITTLE_LEFT))
            and (answer.code is not Code.ISSUED or call is not Call.TOO_LITTLE_LEFT)
        )

    # What is true of the others.

    @invariant(
        on=look,
        source=("read invocation 9a", "Which closing stands 10", "journal fence none 6", "read invocation 9"),
    )
    def a_report_only_kind_has_no_duplicate_intents(self, answer: bool) -> bool:
        return implies(answer, self.service)

    @invariant(on=look, source=("Which closing stands 9", "journal fence none 5", "journal fence none 2"))
    def two_open_intents_under_an_identity_are_reported(self, answer: bool) -> bool:
        open_intents = count(self.is_open(invocation) for invocation in range(self.INVOCATIONS))
        return implies(self.service and open_intents > 1, answer)

    @invariant(
        on=sweep,
        source=("service identity 1a", "reconcile 2d", "reconcile 2f", "Invariant 4.7", "service identity 2"),
    )
    def without_an_identity_the_sweep_reports(
        self, before: Self, invocation: Invocation, answer: Swept
    ) -> bool:
        same = self.stage[invocation] is before.stage[invocation]
        return self.service or (same and self.surfaced[invocation]) or answer is Swept.NOT_KEPT

    @invariant(on=land, source=("open step 5.1", "open invocations 4"))
    def an_intent_in_flight_lands_once(self, before: Self, invocation: Invocation) -> bool:
        return before.stage[invocation] is Stage.FLYING and self.is_open(invocation)

    @invariant(on=fail, source=("Primitive policy 23", "open step 1.5"))
    def an_intent_that_failed_leaves_nothing(self, invocation: Invocation) -> bool:
        return self.stage[invocation] is Stage.NONE and not self.alive[invocation]

    @invariant(on=age)
    def only_what_stands_open_ages(self, before: Self, invocation: Invocation) -> bool:
        return before.is_open(invocation)

    @invariant(
        on=close, source=("close step 4.1", "refuse step 3.9", "open invocations 5", "act section 10a")
    )
    def an_invocation_closes_its_own_open_intent(self, before: Self, invocation: Invocation) -> bool:
        live = before.is_open(invocation) and before.alive[invocation] and not before.aged[invocation]
        happened = Stage.OUTCOME if self.committed[invocation] else Stage.REFUSED
        return live and self.stage[invocation] is happened and not self.alive[invocation]

    @invariant(
        on=resolve, source=("open step 3.8d", "resolve 14a", "resolve 15a", "resolve 18", "resolve 20a")
    )
    def an_operator_closes_what_nobody_else_will(self, before: Self, invocation: Invocation) -> bool:
        left = before.is_open(invocation) or before.stage[invocation] is Stage.ESCALATED
        happened = Stage.OUTCOME if self.committed[invocation] else Stage.ABANDONED
        quiet = before.aged[invocation] and not self.alive[invocation]
        return left and quiet and self.stage[invocation] is happened

    # What must be able to happen.

    @reachable
    def two_intents_are_open_in_a_report_only_kind(self) -> bool:
        return not self.service and self.is_open(0) and self.is_open(1)

    @reachable
    def a_late_intent_stands_beside_a_live_one(self) -> bool:
        return self.service and self.is_open(0) and self.is_open(1)

    @reachable
    def an_escalated_act_happens_after_all(self) -> bool:
        return self.stage[0] is Stage.ESCALATED and self.committed[0]

    @reachable
    def an_act_is_repeated(self) -> bool:
        return self.committed[0] and self.committed[1]


@configuration(breaks={Opening.an_act_that_cannot_be_repeated_happens_once: 7})
class DoubtAsWritten(Opening):
    """Neither an aged intent of a report-only kind nor an escalation keeps the act from being done again."""

    DOUBT_BLOCKS = False


@configuration(holds=True)
class FourDeployments(Opening):
    """Small enough to be driven: any two of the three bindings meet in every way."""

    EVERY_DEPLOYMENT = False
