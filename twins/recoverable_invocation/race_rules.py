"""Further mistakes of the race, one a class: each breaks a rule that the nine of the text leave alone."""

from falsework.language import require, twin
from falsework.models.recoverable_invocation.race import (
    OneCall,
    Race,
    ReportOnly,
    SecondCall,
    Unattended,
    Unrepeatable,
)
from falsework.models.recoverable_invocation.vocabulary import Answer, Arm, At, Kind, Place, Probe, Reply, Who

# --- the invocation -----------------------------------------------------------------------------------------


@twin(
    breaks={
        Race.nothing_happens_before_the_journal_shows_its_intent: 7,
        Race.an_intent_in_flight_has_its_section: 7,
    },
    within=Unattended,
)
class OpenInTheBackground(Race):
    """Open hands the intent to a queue and returns, and the act is done before the journal has it."""

    def open_returns(self) -> Answer:
        require(self.at[Who.INVOCATION] is At.ISSUED and self.decided[Who.INVOCATION] is None)
        if self.reply[Who.INVOCATION] is Reply.NOT_LANDED:
            self.ends()
            return Answer.RECORDING_FAILURE_INTENT
        self.reply[Who.INVOCATION] = None
        self.at[Who.INVOCATION] = At.OPEN
        return Answer.OPENED


@twin(
    breaks={Race.an_intent_in_flight_has_its_section: 5, Race.an_intent_that_failed_is_nowhere: 5},
    within=Unattended,
)
class OpenThatGivesUp(Race):
    """A call that has not returned is taken for one that failed, and the caller is told to try again."""

    def open_returns(self) -> Answer:
        require(self.at[Who.INVOCATION] is At.ISSUED and self.decided[Who.INVOCATION] is None)
        if self.reply[Who.INVOCATION] is not Reply.LANDED:
            self.ends()
            return Answer.RECORDING_FAILURE_INTENT
        self.reply[Who.INVOCATION] = None
        self.at[Who.INVOCATION] = At.OPEN
        return Answer.OPENED


@twin(breaks={Race.a_refused_act_never_happens: 12}, within=Unattended)
class SilenceTakenForARefusal(Race):
    """A lost reply is mapped to a refusal, which closes the intent over an act that happens."""

    def commit_replies(self, arm: Arm) -> Answer:
        require(self.at[Who.INVOCATION] is At.COMMITTING)
        require(arm is not Arm.COMMITTED or self.happened())
        require(arm is not Arm.PRE_COMMIT or self.refusal_is_known())
        self.decided[Who.INVOCATION] = Kind.OUTCOME if arm is Arm.COMMITTED else Kind.REFUSED
        self.at[Who.INVOCATION] = At.DECIDED
        return Answer.PROCEED


@twin(breaks={Race.an_adopted_closing_is_there: 21}, within=Unattended)
class CloseThatAdoptsAnything(Race):
    """Whatever closing is found is taken for the outcome, an escalation too."""

    def adopts(self) -> Answer:
        if self.decided[Who.INVOCATION] is Kind.REFUSED:
            return Answer.ALREADY_ACCOUNTED
        return Answer.LANDED_BY_SWEEP


@twin(
    breaks={Race.what_the_invocation_says_it_wrote_is_there: 13, Race.a_retry_lands: None}, within=Unattended
)
class CloseThatTrustsItsCall(Race):
    """Close answers that it wrote the outcome as soon as the journal has answered anything."""

    def close_returns(self, again: bool) -> Answer:
        require(self.at[Who.INVOCATION] is At.ISSUED and self.decided[Who.INVOCATION] is not None)
        require(self.reply[Who.INVOCATION] is not None and not again)
        closed = self.decided[Who.INVOCATION] is Kind.OUTCOME
        self.ends()
        return Answer.LANDED_BY_INVOCATION if closed else Answer.REFUSED


@twin(
    breaks={
        Race.open_passes_its_gate_in_time: 5,
        Race.close_passes_its_gate_in_time: 11,
        Race.a_run_passes_its_gate_in_time: 15,
        Race.an_operator_passes_its_gate_in_time: 14,
    },
    within=OneCall,
)
class GateThatForgetsTheBound(Race):
    """The gate asks whether the lease is over, and not whether a write still fits in."""

    def may_write(self, who: Who) -> bool:
        return self.remaining(who) > 0


@twin(breaks={Race.who_has_ended_holds_nothing: 2}, within=OneCall)
class SectionLeftToTheClock(Race):
    """Nobody gives the section back: it will run out by itself."""

    def leave(self, who: Who, after: At) -> None:
        self.at[who] = after


# --- the sweep ----------------------------------------------------------------------------------------------


@twin(breaks={Race.the_sweep_examines_no_intent_in_flight: 10}, within=Unattended)
class SweepWithoutALowerEdge(Race):
    """A run at restart examines whatever is open, the living invocation's intent too."""

    def examines(self, who: Who) -> bool:
        return True


@twin(breaks={Race.the_sweep_abandons_only_past_the_abandon_edge: 15}, within=Unattended)
class AbandonEdgeOneAllowanceShort(Race):
    """What is old enough to be examined is taken to be old enough to be abandoned."""

    def abandon_edge(self) -> int:
        return self.examine_edge()


@twin(breaks={Race.an_outage_closes_nothing: 13}, within=Unattended)
class OutageTakenForAbsence(Race):
    """A store that cannot be read is taken for one that does not hold the act."""

    def finding(self, run: Who, probe: Probe) -> Kind | None:
        if probe is Probe.COMMITTED:
            return Kind.OUTCOME
        if probe is Probe.UNDECIDABLE or not self.may_abandon():
            return Kind.ESCALATED
        return Kind.ABANDONED if self.late[run] else None


@twin(breaks={Race.what_the_store_cannot_tell_is_escalated: 12}, within=Unattended)
class SweepThatChooses(Race):
    """Of several records that may be the act's the sweep takes the nearest."""

    def finding(self, run: Who, probe: Probe) -> Kind | None:
        if probe in (Probe.COMMITTED, Probe.UNDECIDABLE):
            return Kind.OUTCOME
        if probe is Probe.NOT_COMMITTED and self.may_abandon():
            return Kind.ABANDONED if self.late[run] else None
        return None if probe is Probe.UNAVAILABLE else Kind.ESCALATED


@twin(breaks={Race.an_outcome_is_what_the_store_holds: 15, Race.the_sweep_abandons: None}, within=Unattended)
class SweepThatRemembers(Race):
    """The sweep writes the outcome that the intent announces, whatever the store says."""

    def finding(self, run: Who, probe: Probe) -> Kind | None:
        if probe in (Probe.COMMITTED, Probe.NOT_COMMITTED):
            return Kind.OUTCOME
        return None if probe is Probe.UNAVAILABLE else Kind.ESCALATED


@twin(breaks={Race.what_a_run_counts_is_there: 16}, within=Unattended)
class RunThatCountsWhatItSent(Race):
    """A run counts the closings that it has issued, and not those that have landed."""

    def run_returns(self, run: Who, again: bool) -> Answer:
        require(self.is_run(run) and self.at[run] is At.ISSUED and self.reply[run] is not None and not again)
        answer = self.tally(run)
        self.goes_home(run)
        return answer


@twin(breaks={Race.without_a_service_identity_the_sweep_writes_nothing: 15}, within=ReportOnly)
class SweepUnderABorrowedIdentity(Race):
    """A sweep without an identity of its own writes under that of the caller."""

    def run_probes(self, run: Who, probe: Probe) -> Answer:
        require(self.is_run(run) and self.at[run] is At.READ and self.can_answer(probe))
        found = self.finding(run, probe)
        if found is None:
            self.goes_home(run)
            return Answer.SKIPPED
        self.decided[run] = found
        self.late[run] = False
        self.at[run] = At.DECIDED
        return Answer.PROCEED


# --- the operator -------------------------------------------------------------------------------------------


@twin(breaks={Race.an_outcome_is_what_the_store_holds: 14, Race.an_operator_abandons: None}, within=OneCall)
class OperatorOfGoodFaith(Race):
    """The operator records what the caller says happened, without a look into the store."""

    def supports(self, disposition: Kind) -> bool:
        return disposition in (Kind.OUTCOME, Kind.ESCALATED)


@twin(
    breaks={Race.nothing_abandoned_ever_happens: 15, Race.an_operator_abandons_only_what_is_aged: 14},
    within=OneCall,
)
class ResolveWithoutAGuard(Race):
    """An abandonment is the operator's word, so nobody asks how young the intent is."""

    def judged_aged(self) -> bool:
        return True


@twin(breaks={Race.a_resolution_is_refused_for_what_the_records_say: 11}, within=OneCall)
class ResolveThatReadsAnOutageAsAbsence(Race):
    """A journal that cannot be read answers not-known, as if there were no intent."""

    def resolve_reads(self, readable: bool) -> Answer:
        require(self.at[Who.OPERATOR] is At.TAKEN)
        answer = self.verdict() if readable else Answer.NOT_KNOWN
        if answer is not Answer.PROCEED:
            self.goes_home(Who.OPERATOR)
            return answer
        self.named = self.standing()
        self.late[Who.OPERATOR] = False
        self.at[Who.OPERATOR] = At.DECIDED
        return Answer.PROCEED


@twin(
    breaks={
        Race.an_outcome_is_never_superseded_nor_an_abandonment_but_by_one: 19,
        Race.nothing_abandoned_ever_happens: 15,
        Race.an_operator_abandons_only_what_is_aged: 14,
    },
    within=OneCall,
)
class ResolveOverAnything(Race):
    """Whatever stands can be named, so an operator may overrule an outcome."""

    def verdict(self) -> Answer:
        return Answer.PROCEED if self.sees_the_intent() else Answer.NOT_KNOWN


@twin(
    breaks={
        Race.no_two_closings_stand: 29,
        Race.no_closing_is_superseded_twice: 29,
        Race.a_supersession_is_superseded: None,
    },
    within=SecondCall,
)
class ResolveThatNamesTheFirst(Race):
    """A resolution names the first closing of the act, and not the one that stands."""

    def standing(self) -> Place | None:
        return 0 if self.sees_a_closing() else None


# --- a second Open ------------------------------------------------------------------------------------------


@twin(breaks={Race.two_intents_never_stand_open: 6}, within=Unattended)
class SecondOpenWithoutTheSection(Race):
    """The pre-check is a read, so it is made before the section is taken."""

    def another_opens(self) -> Answer:
        require(self.at[Who.ANOTHER] is At.IDLE and self.at[Who.INVOCATION] is not At.IDLE)
        answer = self.reopens()
        if answer is Answer.OPENED and self.intent_age is None:
            self.at[Who.ANOTHER] = At.OPEN
        return answer


@twin(breaks={Race.another_is_let_in_past_no_open_intent: 9}, within=Unattended)
class SecondOpenThatAsksItsMap(Race):
    """A node asks its own map of open intents, and another node wrote the one that is open."""

    def an_intent_stands_open(self) -> bool:
        return False


@twin(breaks={Race.what_has_landed_is_not_begun_again: 15}, within=Unrepeatable)
class SecondOpenOfALandedAct(Race):
    """The pre-check looks for open intents alone, and an act that may happen once is begun twice."""

    def reopens(self) -> Answer:
        open_intent = self.an_intent_stands_open() and not self.passes_by()
        return Answer.ACT_IN_FLIGHT if open_intent else Answer.OPENED
