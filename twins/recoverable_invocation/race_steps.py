"""Mistakes of bookkeeping in the race: what is kept too long, and what is done out of its order."""

from falsework.language import given, require, twin
from falsework.models.recoverable_invocation.race import OneCall, Race, Unattended
from falsework.models.recoverable_invocation.vocabulary import (
    Answer,
    At,
    Commit,
    Kind,
    Place,
    Reply,
    Who,
    Write,
)


@twin(
    breaks={
        Race.who_has_gone_home_remembers_nothing: 11,
        Race.who_has_issued_waits_for_a_reply_or_has_it: 16,
        Race.a_reading_is_kept_until_it_has_decided: 11,
    },
    within=Unattended,
)
class ProcessThatIsUsedAgain(Race):
    """A new run finds what the one before it had decided."""

    def forgets(self, who: Who) -> None:
        self.lapsed[who] = 0


@twin(breaks={Race.nothing_is_left_of_an_end: 15}, within=Unattended)
class RetriesCountedPerProcess(Race):
    """The count of retries outlives the invocation that it is of."""

    def rests(self) -> None:
        self.decided[Who.INVOCATION] = None
        self.reply[Who.INVOCATION] = None
        if self.commit is Commit.UNISSUED:
            self.commit = Commit.NEVER


@twin(breaks={Race.who_has_issued_waits_for_a_reply_or_has_it: 6}, within=Unattended)
class WriterThatWaitsForEver(Race):
    """Nobody tells a writer that its write was fenced out."""

    def fence_writes(self) -> None:
        for who in Who:
            write = self.in_flight[who]
            if write is not None and write.until == 0:
                self.in_flight[who] = None


@twin(breaks={Race.the_section_is_held_as_long_as_a_lease: 4}, within=Unattended)
class HolderPastItsLease(Race):
    """The host clears its row when it is next asked, and not when the lease ends."""

    def lapse(self) -> None:
        self.lapsed[Who.GHOST] = 0


@twin(
    breaks={
        Race.only_an_act_in_flight_has_a_fence: 8,
        Race.a_retry_lands: None,
        Race.the_sweep_records_an_outcome: None,
    },
    within=Unattended,
)
class FenceThatOutlivesItsAct(Race):
    """The deadline of an act that has been applied still runs."""

    def apply(self) -> None:
        require(self.commit is Commit.IN_FLIGHT)
        self.commit = Commit.APPLIED


@twin(
    breaks={Race.a_reading_is_kept_until_it_has_decided: 11, Race.an_operator_abandons: None}, within=OneCall
)
class ReadingThatOutlivesItsDecision(Race):
    """The operator's reading is kept for the next decision."""

    def resolve_reads(self, readable: bool) -> Answer:
        require(self.at[Who.OPERATOR] is At.TAKEN)
        answer = self.verdict() if readable else Answer.RECORDING_FAILURE_RESOLUTION
        if answer is not Answer.PROCEED:
            self.goes_home(Who.OPERATOR)
            return answer
        self.named = self.standing()
        self.at[Who.OPERATOR] = At.DECIDED
        return Answer.PROCEED


@twin(breaks={Race.nobody_asks_for_the_age_of_an_account: 12}, within=Unattended)
class AgeOfAnAccount(Race):
    """An act that is accounted for goes on growing old."""

    def forget(self, kind: Kind) -> None:
        self.intent_hidden = 0


@twin(
    breaks={
        Race.open_is_granted_a_whole_lease: 1,
        Race.an_operator_is_granted_a_whole_lease: 2,
        Race.an_operator_holds_the_section: None,
        Race.another_is_let_in_before_the_intent: None,
        Race.the_sweep_abandons: None,
        Race.an_act_happens_after_its_invocation_is_gone: None,
        Race.the_sweep_records_an_outcome: None,
        Race.an_operator_abandons: None,
        Race.an_operator_corrects_an_escalation: None,
    },
    within=OneCall,
)
class LeaseCutShort(Race):
    """The time that the call took is taken off the lease."""

    def enter(self, who: Who, lease: int) -> None:
        self.holder = who
        self.left = lease - 1


@twin(breaks={Race.a_write_is_dead_only_past_its_fence: 6}, within=Unattended)
class WriteGivenUpEarly(Race):
    """A write that has one tick left to land is not sent."""

    def send(self, who: Who, kind: Kind, names: Place | None) -> None:
        until = self.latest(who)
        self.at[who] = At.ISSUED
        if until > 1:
            self.in_flight[who] = Write(self.author(who), kind, names, until, self.WRITE_BOUND)
            self.reply[who] = None
        else:
            self.reply[who] = Reply.NOT_LANDED


@twin(breaks={Race.only_who_waits_is_told: 6}, within=Unattended)
class WriteOfTheDeadTakenBack(Race):
    """A write is dropped because its writer is no longer there to hear of it."""

    def miss(self, who: Who) -> None:
        write = given(self.in_flight[who])
        self.reply[who] = Reply.NOT_LANDED if self.at[who] is At.ISSUED else None
        if write.due == 0 and who is not Who.GHOST:
            self.orphan(who)
        else:
            self.in_flight[who] = None


@twin(breaks={Race.close_tries_again_as_often_as_declared: 13}, within=Unattended)
class CloseThatNeverGivesUp(Race):
    """What did not land is tried again for as long as the lease lasts, a refusal too."""

    def may_retry(self) -> bool:
        return True


@twin(
    breaks={Race.nobody_asks_for_the_age_of_an_account: 13, Race.a_run_examines_what_stands_open: 13},
    within=Unattended,
)
class RunFromAStaleList(Race):
    """A run goes through the intents that were open when the process started."""

    def run_starts(self, run: Who) -> None:
        require(self.is_run(run) and self.at[run] is At.IDLE)
        require(self.sees_the_intent() and self.examines(run))
        self.late[run] = self.is_past(self.abandon_edge(), run)
        self.at[run] = At.CALLED


@twin(breaks={Race.only_a_run_reads_as_a_run: 2}, within=Unattended)
class SweepOfAnybody(Race):
    """Whoever has taken the section may go on as a run."""

    def run_reads(self, run: Who) -> Answer:
        require(self.at[run] is At.TAKEN)
        if self.sees_a_closing():
            self.goes_home(run)
            return Answer.CLOSED_ALREADY
        self.at[run] = At.READ
        return Answer.PROCEED


@twin(
    breaks={
        Race.a_run_is_granted_a_whole_lease: 10,
        Race.the_sweep_abandons: None,
        Race.the_sweep_records_an_outcome: None,
        Race.a_run_waits_for_a_dead_holder: None,
    },
    within=Unattended,
)
class RunThatLeasesForTheClosureAlone(Race):
    """A run takes the section for as long as a closure lasts, and leaves no time for its write."""

    def run_takes(self, run: Who) -> Answer:
        require(self.is_run(run) and self.at[run] is At.CALLED)
        if not self.free():
            self.goes_home(run)
            return Answer.SKIPPED
        self.enter(run, self.SWEEP_LEASE - self.WRITE_BOUND)
        self.at[run] = At.TAKEN
        return Answer.PROCEED


@twin(breaks={Race.an_operator_reads_under_the_section: 2}, within=OneCall)
class ResolveThatReadsFirst(Race):
    """The records are read while the operator waits for the section."""

    def resolve_reads(self, readable: bool) -> Answer:
        require(self.at[Who.OPERATOR] in (At.CALLED, At.TAKEN))
        answer = self.verdict() if readable else Answer.RECORDING_FAILURE_RESOLUTION
        if answer is not Answer.PROCEED:
            self.goes_home(Who.OPERATOR)
            return answer
        self.named = self.standing()
        self.late[Who.OPERATOR] = False
        self.at[Who.OPERATOR] = At.DECIDED
        return Answer.PROCEED


@twin(breaks={Race.an_operator_writes_behind_its_gate: 12}, within=OneCall)
class ResolveWithoutAGate(Race):
    """An operator who has decided writes, however little is left of the lease."""

    def resolve_issues(self) -> None:
        require(self.at[Who.OPERATOR] in (At.DECIDED, At.GATED))
        kind = self.decided[Who.OPERATOR]
        self.send(Who.OPERATOR, Kind.ESCALATED if kind is None else kind, self.names())


@twin(breaks={Race.only_the_living_die: 1}, within=Unattended)
class DeathOfTheIdle(Race):
    """A process that does nothing is counted among the dead."""

    def can_die(self, who: Who) -> bool:
        return who in (Who.FIRST_RUN, Who.INVOCATION)
