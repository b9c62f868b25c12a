"""One journal write at each position: what the substrate answers, and what its writer does and says next.

An invalid request has four sources that its code does not tell apart, and one of them leaves the record
appended; so does the fourth step of a recording failure, and a lost reply may. Left out: what the record
says, who else writes, and how long a lease is: it has ended or it has not.
"""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Model,
    Record,
    Upto,
    action,
    configuration,
    fault,
    implies,
    internal,
    invariant,
    reachable,
    require,
)

Position = Enum(
    "Position", "INTENT OUTCOME REFUSAL RESOLUTION SWEEP"
)  # the last: a closing that a run writes
Stage = Enum("Stage", "IDLE READY REPLIED")
Fate = Enum(
    "Fate",
    "LANDED CREDENTIAL INPUT IDENTITY PAYLOAD RETENTION STEP_2 STEP_3 STEP_4 FENCED "
    "LOST_LANDED LOST_LATER LOST_NEVER",
)
Arm = Enum("Arm", "LANDED INVALID_CREDENTIAL INVALID_REQUEST NOT_APPENDED STEP_4 LOST")
Found = Enum("Found", "RECORD NOTHING OUTAGE")
Code = Enum(
    "Code",
    "DONE INVALID_CREDENTIAL INVALID_REQUEST RECORDING_FAILURE_INTENT RECORDING_FAILURE_OUTCOME "
    "RECORDING_FAILURE_REFUSAL RECORDING_FAILURE_RESOLUTION NEXT_RUN BARRED OUTCOME_UNRECORDABLE",
)
OF_OPEN = (
    Code.DONE, Code.INVALID_CREDENTIAL, Code.INVALID_REQUEST,
    Code.RECORDING_FAILURE_INTENT, Code.RECORDING_FAILURE_OUTCOME,
)  # fmt: skip
OF_CLOSE = (Code.DONE, Code.RECORDING_FAILURE_OUTCOME)
OF_REFUSE = (Code.DONE, Code.RECORDING_FAILURE_REFUSAL)
OF_RESOLVE = (Code.DONE, Code.INVALID_CREDENTIAL, Code.INVALID_REQUEST, Code.RECORDING_FAILURE_RESOLUTION)
NOTHING_WRITTEN = (
    Code.INVALID_CREDENTIAL, Code.INVALID_REQUEST, Code.OUTCOME_UNRECORDABLE,
    Code.RECORDING_FAILURE_INTENT, Code.RECORDING_FAILURE_RESOLUTION,
)  # fmt: skip


class Told(Record):
    """What the writer answers its caller, and whether it raises the hard alert."""

    code: Code
    alert: bool


class Positions(Model):
    """A writer reads back before it speaks of what it cannot know, and writes nothing that may be there."""

    RETRIES: ClassVar[int] = 1
    COUNTED: ClassVar[bool] = (
        False  # the declared deviation: at most RETRIES retries, where otherwise the lease ends
    )
    OPEN_NEEDS_THE_SECTION: ClassVar[bool] = True  # whether Open answers by what it still holds
    RESOLVE_WAITS_TO_READ: ClassVar[bool] = True  # whether Resolve answers only what a read-back told
    REFUSAL_IS_AN_INTENT: ClassVar[bool] = (
        False  # whether Refuse passes a credential's rejection on, as Open does
    )

    position: Position = Position.INTENT
    stage: Stage = Stage.IDLE
    arm: Arm | None = None  # what the writer was told of its last write
    found: Found | None = None  # what its read-back told
    appended: Annotated[int, Upto(2)] = 0  # how many records the journal holds
    flying: bool = False  # a write without a reply that lands within the write bound
    settled: bool = True  # the write bound has elapsed since the last issue
    unplaced: bool = False  # the record stands, and its retention was not placed
    standing: bool = False  # the lease has what a write needs
    fresh: bool = False  # the journal was re-read since the last failure
    retries: Annotated[int, Upto("RETRIES + 1")] = 0
    barred: bool = False  # the service identity's credential was refused, and nobody has reconfigured it

    # What the writer makes of an arm.

    def arm_of(self, fate: Fate) -> Arm:
        if fate in (Fate.INPUT, Fate.IDENTITY, Fate.PAYLOAD, Fate.RETENTION):
            return Arm.INVALID_REQUEST
        if fate in (Fate.LOST_LANDED, Fate.LOST_LATER, Fate.LOST_NEVER):
            return Arm.LOST
        if fate in (Fate.STEP_2, Fate.STEP_3, Fate.FENCED):
            return Arm.NOT_APPENDED
        if fate is Fate.CREDENTIAL:
            return Arm.INVALID_CREDENTIAL
        return Arm.STEP_4 if fate is Fate.STEP_4 else Arm.LANDED

    def appends(self, fate: Fate) -> bool:
        return fate in (Fate.LANDED, Fate.RETENTION, Fate.STEP_4, Fate.LOST_LANDED)

    def must_read_back(self) -> bool:
        return self.arm in (Arm.INVALID_REQUEST, Arm.STEP_4, Arm.LOST)

    def may_read_back(self) -> bool:
        return self.arm is not Arm.LOST or self.settled

    def present(self) -> bool:
        return self.arm is Arm.LANDED or self.found is Found.RECORD

    def denied(self) -> bool:
        return self.arm is Arm.INVALID_REQUEST and self.found is Found.NOTHING

    def absent(self) -> bool:
        lost = self.arm is Arm.LOST and self.found is Found.NOTHING
        return lost or self.arm is Arm.NOT_APPENDED

    def may_retry(self) -> bool:
        if self.position is Position.INTENT:
            return self.arm is Arm.LOST and self.found is Found.NOTHING
        return self.position in (Position.OUTCOME, Position.SWEEP) and self.absent()

    def counts(self) -> bool:
        return self.COUNTED and self.position is Position.OUTCOME

    def has_retries(self) -> bool:
        return not self.counts() or self.retries < self.RETRIES

    def may_write(self) -> bool:
        return self.standing

    def rereads(self) -> bool:
        return self.position is Position.OUTCOME

    def may_give_up(self) -> bool:
        return not self.standing

    def bars(self, code: Code) -> bool:
        return code is Code.BARRED

    def is_barred(self) -> bool:
        return self.barred

    def decided(self) -> bool:
        if self.must_read_back() and self.found is None:
            return False
        unread = self.position is Position.RESOLUTION and self.found is Found.OUTAGE
        return not unread or not self.RESOLVE_WAITS_TO_READ

    def failure(self) -> Code:
        """The position's own arm."""
        if self.position is Position.INTENT:
            return Code.RECORDING_FAILURE_INTENT
        if self.position is Position.OUTCOME:
            return Code.RECORDING_FAILURE_OUTCOME
        if self.position is Position.REFUSAL:
            return Code.RECORDING_FAILURE_REFUSAL
        return Code.RECORDING_FAILURE_RESOLUTION if self.position is Position.RESOLUTION else Code.NEXT_RUN

    def at_the_intent(self) -> Code:
        if self.present():
            held = self.standing or not self.OPEN_NEEDS_THE_SECTION
            return Code.DONE if held else Code.RECORDING_FAILURE_OUTCOME
        if self.arm is Arm.INVALID_CREDENTIAL:
            return Code.INVALID_CREDENTIAL
        if self.denied():
            return Code.INVALID_REQUEST
        return self.failure() if self.absent() else Code.RECORDING_FAILURE_OUTCOME

    def at_the_outcome(self) -> Code:
        return Code.DONE if self.present() else self.failure()

    def at_the_refusal(self) -> Code:
        if self.REFUSAL_IS_AN_INTENT and self.arm is Arm.INVALID_CREDENTIAL:
            return Code.INVALID_CREDENTIAL
        return Code.DONE if self.present() else self.failure()

    def at_the_resolution(self) -> Code:
        if self.present():
            return Code.DONE
        if self.arm is Arm.INVALID_CREDENTIAL:
            return Code.INVALID_CREDENTIAL
        return Code.INVALID_REQUEST if self.denied() else self.failure()

    def of_the_sweep(self) -> Code:
        if self.present():
            return Code.DONE
        if self.arm is Arm.INVALID_CREDENTIAL:
            return Code.BARRED
        return Code.OUTCOME_UNRECORDABLE if self.denied() else self.failure()

    def code(self) -> Code:
        if self.position is Position.INTENT:
            return self.at_the_intent()
        if self.position is Position.OUTCOME:
            return self.at_the_outcome()
        if self.position is Position.REFUSAL:
            return self.at_the_refusal()
        return self.at_the_resolution() if self.position is Position.RESOLUTION else self.of_the_sweep()

    def alerts(self) -> bool:
        unplaced = self.arm in (Arm.STEP_4, Arm.INVALID_REQUEST) and self.found is Found.RECORD
        return unplaced or (self.position is Position.OUTCOME and self.denied())

    # The writer and the journal.

    @action(
        source=("open step 4.3", "close step 3.1", "refuse step 3.1", "resolve 21", "reconcile step 3.15")
    )
    def begin(self, position: Position) -> None:
        """A writer has the section, has re-read, and is about to write one record."""
        require(self.stage is Stage.IDLE)
        require(position is not Position.SWEEP or not self.is_barred())
        self.position = position
        self.stage = Stage.READY
        self.standing = True
        self.fresh = True

    @fault(source=("Primitive policy 19", "Primitive policy 32", "journal fence 3"))
    def write(self, fate: Fate) -> None:
        """The write is issued; the substrate, the fence and the network decide what becomes of it."""
        require(self.stage is Stage.READY and self.may_write())
        require(self.fresh or not self.rereads())
        self.arm = self.arm_of(fate)
        self.appended += 1 if self.appends(fate) else 0
        self.unplaced = fate in (Fate.RETENTION, Fate.STEP_4)
        self.flying = fate is Fate.LOST_LATER
        self.settled = fate not in (Fate.LOST_LATER, Fate.LOST_NEVER, Fate.LOST_LANDED)
        self.fresh = False
        self.stage = Stage.REPLIED

    @internal(source="Capability requirement 8")
    def settle(self) -> None:
        require(not self.settled)
        self.appended += 1 if self.flying else 0
        self.flying = False
        self.settled = True

    @fault(source=("act section 10", "journal write bound 1"))
    def expire(self) -> None:
        require(self.standing and self.stage is not Stage.IDLE)
        self.standing = False

    @action(source=("Primitive policy 20", "Primitive policy 27", "Primitive policy 35", "resolve 24"))
    def read_back(self, reachable: bool) -> Found:
        """The filtered range read, by invocation id; it may be repeated while the journal is out of reach."""
        require(self.stage is Stage.REPLIED and self.must_read_back() and self.may_read_back())
        require(self.found is None or self.found is Found.OUTAGE)
        there = Found.RECORD if self.appended > 0 else Found.NOTHING
        self.found = there if reachable else Found.OUTAGE
        return there if reachable else Found.OUTAGE

    @action(source=("Primitive policy 29", "Primitive policy 37a", "close step 3.6a", "Deviation 3a"))
    def retry(self) -> None:
        require(self.stage is Stage.REPLIED and self.decided() and self.may_retry() and self.may_write())
        require(self.has_retries())
        self.retries += 1 if self.counts() else 0
        self.arm = None
        self.found = None
        self.stage = Stage.READY

    @action(source=("close step 3.4", "close step 2.1"))
    def reread(self) -> None:
        require(self.stage is Stage.READY and self.rereads() and not self.fresh)
        self.fresh = True

    @action(source="Action wiring 1")
    def respond(self) -> Told:
        """The writer is done with the record, and says what it knows."""
        require(self.stage is Stage.REPLIED and self.decided())
        told = Told(code=self.code(), alert=self.alerts())
        self.barred = self.barred or self.bars(told.code)
        self.rest()
        return told

    @action(source=("Primitive policy 30", "close step 3.5", "close step 3.7"))
    def give_up(self) -> Told:
        """The lease ended between the failure and the next attempt; what is known of the last one stands."""
        require(self.stage is Stage.READY and self.may_give_up())
        told = Told(code=self.failure(), alert=False)
        self.rest()
        return told

    def rest(self) -> None:
        self.stage = Stage.IDLE
        self.arm = None
        self.found = None
        self.appended = 0
        self.flying = False
        self.settled = True
        self.unplaced = False
        self.standing = False
        self.fresh = False
        self.retries = 0

    @action(source="reconcile step 3.19")
    def reconfigure(self) -> None:
        require(self.barred)
        self.barred = False

    # What the codes promise.

    @invariant(
        on=respond, source=("Invariant 1.2", "Invariant 8.3", "Primitive policy 22a", "Primitive policy 23")
    )
    def a_code_that_says_nothing_was_written_is_true(self, before: Self, answer: Told) -> bool:
        return implies(
            answer.code in NOTHING_WRITTEN,
            before.appended == 0 and not before.flying,
        )

    @invariant(on=respond, source=("Primitive policy 36a", "Primitive policy 28", "reconcile step 3.16"))
    def done_means_that_the_record_is_there(self, before: Self, answer: Told) -> bool:
        return implies(answer.code is Code.DONE, before.appended == 1)

    @invariant(source=("Primitive policy 26", "Primitive policy 33", "refuse step 3.4", "resolve 25"))
    def no_record_is_appended_twice(self) -> bool:
        return self.appended + (1 if self.flying else 0) <= 1

    @invariant(on=respond, source=("Primitive policy 19", "open step 4.4", "Primitive policy 22"))
    def open_answers_its_own_codes(self, before: Self, answer: Told) -> bool:
        return before.position is not Position.INTENT or answer.code in OF_OPEN

    @invariant(on=respond, source=(
        "Invariant 8.1", "Invariant 8.4", "Primitive policy 31", "Primitive policy 40",
        "close step 3.8", "close step 3.2",
    ))  # fmt: skip
    def after_the_commit_no_code_invites_a_retry(self, before: Self, answer: Told) -> bool:
        return before.position is not Position.OUTCOME or answer.code in OF_CLOSE

    @invariant(on=respond, source=(
        "refuse step 3.2", "refuse step 3.5", "refuse step 3.6", "refuse step 3.7", "refuse step 3.8",
    ))  # fmt: skip
    def refuse_answers_its_own_codes(self, before: Self, answer: Told) -> bool:
        return before.position is not Position.REFUSAL or answer.code in OF_REFUSE

    @invariant(on=respond, source=("resolve 3", "resolve 26", "resolve 23", "resolve 2"))
    def resolve_answers_its_own_codes(self, before: Self, answer: Told) -> bool:
        return before.position is not Position.RESOLUTION or answer.code in OF_RESOLVE

    @invariant(on=respond, source=("reconcile step 3.17", "journal fence 4"))
    def the_sweep_leaves_what_did_not_land_for_the_next_run(self, before: Self, answer: Told) -> bool:
        lost = before.arm is Arm.LOST and before.found is not Found.RECORD
        unlanded = before.arm is Arm.NOT_APPENDED or lost
        left = before.position is Position.SWEEP and (unlanded or before.found is Found.OUTAGE)
        return (answer.code is Code.NEXT_RUN) == left

    @invariant(on=respond, source=("reconcile step 3.20", "close step 3.3"))
    def what_cannot_be_recorded_is_escalated(self, before: Self, answer: Told) -> bool:
        denied = before.position is Position.SWEEP and before.denied()
        return (answer.code is Code.OUTCOME_UNRECORDABLE) == denied

    @invariant(on=respond, source=(
        "Primitive policy 21", "Primitive policy 21a", "Primitive policy 25", "resolve 24",
    ))  # fmt: skip
    def a_record_without_its_retention_raises_the_alert(self, before: Self, answer: Told) -> bool:
        return implies(before.unplaced and answer.code is Code.DONE, answer.alert)

    @invariant(on=respond, source=("Primitive policy 40", "close step 3.3"))
    def an_outcome_that_is_no_request_raises_the_alert(self, before: Self, answer: Told) -> bool:
        return implies(before.position is Position.OUTCOME and before.denied(), answer.alert)

    # What the writer does.

    @invariant(on=read_back, source=(
        "Primitive policy 34", "Primitive policy 20", "Primitive policy 27", "Primitive policy 24",
        "refuse step 3.3",
    ))  # fmt: skip
    def what_was_not_told_is_read_back_when_it_can_be_known(self, before: Self) -> bool:
        lost = before.arm is Arm.LOST and before.settled
        return lost or before.arm in (Arm.INVALID_REQUEST, Arm.STEP_4)

    @invariant(
        on=write,
        source=("journal write bound 1", "open step 4.1", "resolve 7", "retry terminus 2", "Deviation 3c"),
    )
    def nobody_writes_without_standing(self, before: Self) -> bool:
        return before.standing

    @invariant(on=write, source="close step 3.4")
    def an_outcome_is_retried_after_a_reread(self, before: Self) -> bool:
        return before.position is not Position.OUTCOME or before.fresh

    @invariant(source=("close step 3.6a", "Deviation 3a", "Deviation 3"))
    def counted_retries_are_counted(self) -> bool:
        return self.retries <= self.RETRIES

    @invariant(on=retry, source=(
        "refuse step 3.6", "resolve 26", "Primitive policy 29", "Primitive policy 37",
        "Primitive policy 37a",
    ))  # fmt: skip
    def who_tries_again_knows_that_nothing_landed(self, before: Self) -> bool:
        once = before.position in (Position.REFUSAL, Position.RESOLUTION)
        known = before.position is not Position.INTENT or before.found is Found.NOTHING
        return before.standing and not once and known

    @invariant(on=retry, source=("Primitive policy 40", "reconcile step 3.20", "close step 3.3"))
    def an_invalid_request_is_not_tried_again(self, before: Self) -> bool:
        return before.arm is not Arm.INVALID_REQUEST

    @invariant(on=retry, source=("Deviation 3", "Deviation 3a", "close step 3.6a"))
    def a_retry_of_a_counted_outcome_is_counted(self, before: Self) -> bool:
        counted = self.COUNTED and before.position is Position.OUTCOME
        return self.retries == before.retries + (1 if counted else 0)

    @invariant(on=give_up, source=("Primitive policy 30", "close step 3.7"))
    def who_gives_up_has_lost_its_standing(self, before: Self, answer: Told) -> bool:
        return before.stage is Stage.READY and not before.standing and answer.code is before.failure()

    @invariant(on=respond, source=("reconcile step 3.18", "reconcile step 3.19"))
    def a_refused_credential_bars_the_sweep(self, before: Self, answer: Told) -> bool:
        return self.barred == (before.barred or answer.code is Code.BARRED)

    @invariant(on=respond, source=("open step 5.3", "act section 8"))
    def open_returns_with_the_section_held(self, before: Self, answer: Told) -> bool:
        return implies(before.position is Position.INTENT and answer.code is Code.DONE, before.standing)

    @invariant(on=begin, source=("reconcile step 3.18", "reconcile step 3.19"))
    def nothing_is_written_under_a_refused_credential(self, before: Self, position: Position) -> bool:
        return not (before.barred and position is Position.SWEEP)

    # What is true of the record's life.

    @invariant(on=write, source=("Primitive policy 26", "Primitive policy 32", "Capability requirement 7"))
    def a_write_leaves_what_its_fate_says(self, before: Self, fate: Fate) -> bool:
        there = fate in (Fate.LANDED, Fate.RETENTION, Fate.STEP_4, Fate.LOST_LANDED)
        return (
            self.appended == before.appended + (1 if there else 0)
            and self.flying == (fate is Fate.LOST_LATER)
            and self.unplaced == (fate in (Fate.RETENTION, Fate.STEP_4))
        )

    @invariant(on=settle, source="Capability requirement 8")
    def within_the_write_bound_a_lost_write_lands(self, before: Self) -> bool:
        return self.appended == before.appended + (1 if before.flying else 0)

    @invariant(source=("close 2", "Primitive policy 33"))
    def nothing_is_left_over_from_one_write_to_the_next(self) -> bool:
        told = self.arm is not None or self.found is not None
        rests = self.settled and not (self.flying or self.unplaced or self.standing) and self.retries == 0
        return (
            (not told or self.stage is Stage.REPLIED)
            and (not self.fresh or self.stage is Stage.READY)
            and (self.stage is not Stage.IDLE or (rests and self.appended == 0))
        )

    @invariant(source="Primitive policy 35")
    def every_step_changes_something(self, before: Self) -> bool:
        return (
            self.stage is not before.stage
            or self.settled != before.settled
            or self.standing != before.standing
            or self.fresh != before.fresh
            or self.barred != before.barred
            or self.found is not before.found
            or self.found is Found.OUTAGE
        )

    # What must be able to happen.

    @reachable
    def a_retention_failure_hides_behind_an_invalid_request(self) -> bool:
        return self.arm is Arm.INVALID_REQUEST and self.found is Found.RECORD

    @reachable
    def a_lost_reply_landed_after_all(self) -> bool:
        return self.arm is Arm.LOST and self.found is Found.RECORD

    @reachable
    def an_intent_lands_when_its_section_is_gone(self) -> bool:
        return self.position is Position.INTENT and self.present() and not self.standing


@configuration(holds=True)
class CountedRetries(Positions):
    """The declared deviation: the retries of the outcome are counted, and the lease ends them as ever."""

    COUNTED = True


@configuration(breaks={Positions.open_returns_with_the_section_held: 4})
class OpenAsWritten(Positions):
    """A record that is found is adopted, whoever holds the section by then."""

    OPEN_NEEDS_THE_SECTION = False


@configuration(breaks={Positions.a_code_that_says_nothing_was_written_is_true: 4})
class ResolveAsWritten(Positions):
    """A read-back that fails lands on the position's own arm, which says that nothing was appended."""

    RESOLVE_WAITS_TO_READ = False


@configuration(breaks={Positions.refuse_answers_its_own_codes: 3})
class RefusalAsAnIntent(Positions):
    """The refusal's arms follow the intent's, so that Refuse passes on a code that it does not declare."""

    REFUSAL_IS_AN_INTENT = True
