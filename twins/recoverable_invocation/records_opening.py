"""How Open lets in what it should keep out, and keeps out what it should let in.

Step counts: the initial action is none; an intent is issued, lands and ages, and a second call meets it.
"""

from falsework.language import count, require, twin
from falsework.models.recoverable_invocation.records_opening import (
    Call,
    Code,
    Invocation,
    Opened,
    Opening,
    Stage,
)


@twin(breaks={Opening.no_intent_is_issued_for_a_call_that_should_be_refused: 1})
class OutcomeSizedAlone(Opening):
    """The outcome fits, and the escalation that may have to stand for it was not measured."""

    def is_too_large(self, call: Call) -> bool:
        return call is Call.OUTCOME_TOO_LARGE


@twin(breaks={Opening.no_intent_is_issued_for_a_call_that_should_be_refused: 1})
class ServiceThatOpens(Opening):
    """The service identity is an actor like any other."""

    def is_invalid(self, call: Call) -> bool:
        return call is Call.EMPTY or self.is_too_large(call)


@twin(breaks={Opening.under_the_fence_one_intent_is_open: 4})
class IntentBesideTheFence(Opening):
    """The fence is on the closings and not on the intents, so that a dead Open's intent lands late."""

    def enter(self, invocation: Invocation) -> None:
        for other in range(self.INVOCATIONS):
            if other != invocation and self.stage[other] is Stage.FLYING:
                self.alive[other] = False


@twin(breaks={Opening.an_act_that_cannot_be_repeated_happens_once: 8})
class EscalationFreesTheKey(Opening):
    """An escalated act is closed, so it may be done, and it had been done."""

    def is_in_doubt(self, invocation: int) -> bool:
        return self.is_open(invocation) and not self.repeatable


@twin(breaks={Opening.an_act_that_cannot_be_repeated_happens_once: 7})
class OutcomeBelowTheMark(Opening):
    """The outcome is looked for in the delta, which begins above it."""

    def landed(self) -> Invocation | None:
        return None


@twin(breaks={Opening.a_refusal_writes_nothing: 1})
class IntentBeforeTheSection(Opening):
    """The intent is written first, and the section could not be taken."""

    def open_act(self, invocation: Invocation, call: Call) -> Opened:
        answer = super().open_act(invocation, call)
        if answer.code is Code.SECTION_UNAVAILABLE:
            self.stage[invocation] = Stage.FLYING
        return answer


@twin(breaks={Opening.what_holds_the_key_is_named: 3})
class NewestIntentIsNamed(Opening):
    """The code names the last invocation of the act, whichever holds its key."""

    def holder(self) -> Invocation | None:
        return self.INVOCATIONS - 1 if super().holder() is not None else None


@twin(
    breaks={
        Opening.nobody_opens_beside_an_intent_in_flight: 3,
        Opening.with_a_service_identity_an_aged_intent_holds_its_key: 3,
    }
)
class KeyHeldByTheAged(Opening):
    """An intent counts once a sweep would examine it, and two live invocations share a key."""

    def holds(self, invocation: int) -> bool:
        aged = self.aged[invocation] or self.stage[invocation] is Stage.ESCALATED
        return aged and super().holds(invocation)


@twin(breaks={Opening.with_a_service_identity_an_aged_intent_holds_its_key: 4})
class AgedIntentsHoldNothing(Opening):
    """Past its bound an invocation is dead, and who will account for it is another matter."""

    def holds_aged(self, invocation: int) -> bool:
        return False


@twin(breaks={Opening.without_one_an_aged_intent_holds_nothing: 4})
class OrphanThatBlocksItsKey(Opening):
    """A report-only kind waits for a sweep that will never close anything."""

    def holds_aged(self, invocation: int) -> bool:
        return self.is_open(invocation)


@twin(breaks={Opening.an_intent_that_is_passed_over_is_surfaced: 4})
class OrphanPassedOverInSilence(Opening):
    """Open goes past the old intent, and tells nobody."""

    def pass_over(self) -> None:
        pass


@twin(
    breaks={
        Opening.without_one_an_aged_intent_holds_nothing: 5,
        Opening.landed_is_said_of_an_outcome_that_cannot_be_repeated: 5,
    }
)
class LandedWhateverTheKind(Opening):
    """An outcome is there, so the act is done, and a transfer can be made once."""

    def landed(self) -> Invocation | None:
        for invocation in range(self.INVOCATIONS):
            if self.stage[invocation] is Stage.OUTCOME:
                return invocation
        return None


@twin(breaks={Opening.an_outage_and_a_want_of_time_have_their_own_codes: 1})
class FailedReadReadsEmpty(Opening):
    """The range read failed and returned no intent, so there is none."""

    def of_the_section(self, call: Call) -> Code | None:
        return None if call is Call.READ_FAILS else super().of_the_section(call)


@twin(breaks={Opening.a_report_only_kind_has_no_duplicate_intents: 5})
class KeyWithoutItsBranch(Opening):
    """Two open intents are a duplicate, those that the rules tell a report-only kind to leave included."""

    def duplicate(self) -> bool:
        return count(self.is_open(invocation) for invocation in range(self.INVOCATIONS)) > 1


@twin(breaks={Opening.two_open_intents_under_an_identity_are_reported: 6})
class DuplicateOfTheYoungAlone(Opening):
    """A late intent has aged by the time it is read, and is counted as somebody's orphan."""

    def duplicate(self) -> bool:
        young = count(
            self.is_open(invocation) and not self.aged[invocation] for invocation in range(self.INVOCATIONS)
        )
        return self.service and young > 1


@twin(breaks={Opening.without_an_identity_the_sweep_reports: 4})
class SweepWithoutAnIdentity(Opening):
    """The run closes under whatever credential the process has."""

    def sweep_writes(self) -> bool:
        return True


@twin(breaks={Opening.under_the_fence_one_intent_is_open: 6, Opening.an_intent_in_flight_lands_once: 3})
class IntentLandsAgain(Opening):
    """A blind retry of an intent that has landed appends it again, and what was closed is open."""

    def land(self, invocation: Invocation) -> None:
        require(self.stage[invocation] is not Stage.NONE)
        self.stage[invocation] = Stage.OPEN


@twin(breaks={Opening.an_intent_that_failed_leaves_nothing: 2})
class FailedOpenGoesOn(Opening):
    """The intent did not land, and the invocation goes on as if it had."""

    def fail(self, invocation: Invocation) -> None:
        require(self.stage[invocation] is Stage.FLYING)
        self.stage[invocation] = Stage.NONE


@twin(breaks={Opening.only_what_stands_open_ages: 2})
class FlyingIntentAges(Opening):
    """Its age is counted from the issue and not from the substrate's stamp."""

    def age(self, invocation: Invocation) -> None:
        require(self.stage[invocation] is not Stage.NONE and not self.aged[invocation])
        self.aged[invocation] = True


@twin(breaks={Opening.an_invocation_closes_its_own_open_intent: 4})
class ClosesPastItsBound(Opening):
    """An invocation that outlived its completion bound closes beside the sweep."""

    def close(self, invocation: Invocation) -> None:
        require(self.is_open(invocation) and self.alive[invocation])
        self.stage[invocation] = Stage.OUTCOME if self.committed[invocation] else Stage.REFUSED
        self.alive[invocation] = False


@twin(breaks={Opening.an_operator_closes_what_nobody_else_will: 5})
class OperatorDoesNotProbe(Opening):
    """What stands open for long enough did not happen."""

    def resolve(self, invocation: Invocation) -> None:
        require(self.aged[invocation])
        require(self.is_open(invocation) or self.stage[invocation] is Stage.ESCALATED)
        self.stage[invocation] = Stage.ABANDONED
        self.alive[invocation] = False


@twin(breaks={Opening.who_is_refused_lets_the_section_go: 1})
class SectionKeptThroughAnOutage(Opening):
    """The read fails, the call returns, and the key is held until its lease ends."""

    def keeps(self, code: Code) -> bool:
        return code is Code.JOURNAL_UNAVAILABLE
