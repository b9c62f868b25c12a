"""The sweep: two runs on two nodes, each armed again when it has ended."""

from typing import ClassVar

from falsework.language import Map, action, require
from falsework.models.recoverable_invocation.race_invocation import Invocation
from falsework.models.recoverable_invocation.vocabulary import Answer, At, Kind, Probe, Who


class Sweep(Invocation):
    """A run takes the section of an intent that it calls aged, and closes what it reads in the store."""

    FIRST_RUN: ClassVar[bool] = True
    SECOND_RUN: ClassVar[bool] = False
    LOWER_EDGE: ClassVar[bool] = True
    RE_READ: ClassVar[bool] = True
    SERVICE_IDENTITY: ClassVar[bool] = True
    UNDECIDABLE: ClassVar[bool] = True  # whether the store may hold what it cannot tell from the act
    SWEEP_READS_LATE: ClassVar[bool] = False  # whether its clock is read when it has probed, not before

    late: Map[Who, bool] = Map(False)  # past the abandon edge, or for an operator aged, by its one reading

    def is_run(self, who: Who) -> bool:
        first = self.FIRST_RUN and who is Who.FIRST_RUN
        return first or (self.SECOND_RUN and who is Who.SECOND_RUN)

    def goes_home(self, who: Who) -> None:
        """The process has given the section back and has forgotten everything."""
        self.leave(who, At.IDLE)
        self.forgets(who)

    def forget(self, kind: Kind) -> None:
        """Nor does a run that will read the closing need its reading any more."""
        super().forget(kind)
        for who in (Who.FIRST_RUN, Who.SECOND_RUN):
            if self.RE_READ and self.VISIBLE_ON_RETURN and self.at[who] in (At.CALLED, At.TAKEN):
                self.late[who] = False

    def forgets(self, who: Who) -> None:
        self.decided[who] = None
        self.reply[who] = None
        self.unheard[who] = 0
        self.late[who] = False
        self.lapsed[who] = 0

    def counts_as(self, part: Answer) -> Answer:
        """Without an identity to write under, whatever a run examines is reported, and an operator's."""
        return part if self.SERVICE_IDENTITY else Answer.REPORTED

    def examines(self, who: Who) -> bool:
        return not self.LOWER_EDGE or self.is_past(self.examine_edge(), who)

    @action(source=("reconcile step 1.2", "reconcile step 1.3", "Primitive policy 18", "reconcile step 2.5"))
    def run_starts(self, run: Who) -> None:
        """The run reads its clock, once, and the journal."""
        require(self.is_run(run) and self.at[run] is At.IDLE)
        require(self.sees_the_intent() and not self.sees_a_closing() and self.examines(run))
        self.late[run] = self.is_past(self.abandon_edge(), run)
        self.at[run] = At.CALLED

    @action(source=("reconcile step 2.1", "reconcile step 2.2", "reconcile step 2.3", "act section 11"))
    def run_takes(self, run: Who) -> Answer:
        require(self.is_run(run) and self.at[run] is At.CALLED)
        if not self.free():
            self.goes_home(run)
            return self.counts_as(Answer.SKIPPED)
        self.enter(run, self.SWEEP_LEASE)
        self.at[run] = At.TAKEN
        return Answer.PROCEED

    @action(source=("reconcile step 2.4", "reconcile step 2.5", "reconcile step 2.6", "sweep closed ids 1"))
    def run_reads(self, run: Who) -> Answer:
        require(self.is_run(run) and self.at[run] is At.TAKEN)
        if self.RE_READ and self.sees_a_closing():
            self.goes_home(run)
            return self.counts_as(Answer.CLOSED_ALREADY)
        self.at[run] = At.READ
        return Answer.PROCEED

    def can_answer(self, probe: Probe) -> bool:
        """What the store may say; an outage, and where the act has a double, that it cannot tell."""
        if probe is Probe.COMMITTED:
            return self.happened()
        if probe is Probe.NOT_COMMITTED:
            return not self.happened()
        return probe is Probe.UNAVAILABLE or self.UNDECIDABLE

    def may_abandon(self) -> bool:
        return self.COMMIT_FENCE

    def finding(self, run: Who, probe: Probe) -> Kind | None:
        """The closing that the probe supports; None where the act is left for the next run."""
        if probe is Probe.COMMITTED:
            return Kind.OUTCOME
        if probe is Probe.NOT_COMMITTED and self.may_abandon():
            return Kind.ABANDONED if self.late[run] or self.SWEEP_READS_LATE else None
        return None if probe is Probe.UNAVAILABLE else Kind.ESCALATED

    @action(
        source=(
            "reconcile step 3.2",
            "reconcile step 3.4",
            "reconcile step 3.5",
            "reconcile step 3.6",
            "reconcile step 3.8",
            "reconcile step 3.13",
            "reconcile 2",
        )
    )
    def run_probes(self, run: Who, probe: Probe) -> Answer:
        require(self.is_run(run) and self.at[run] is At.READ and self.can_answer(probe))
        if not self.SERVICE_IDENTITY:
            self.goes_home(run)
            return Answer.REPORTED
        if self.ASKS_AGAIN and not self.may_write(run):
            self.goes_home(run)
            return Answer.SKIPPED
        found = self.finding(run, probe)
        if found is None:
            self.goes_home(run)
            return Answer.SKIPPED
        self.decided[run] = found
        self.late[run] = False
        self.at[run] = At.DECIDED
        return Answer.PROCEED

    def is_read_too_young(self, run: Who) -> bool:
        """A run that reads its clock late leaves an act that is short of the abandon edge only now."""
        abandons = self.decided[run] is Kind.ABANDONED
        return self.SWEEP_READS_LATE and abandons and not self.is_past(self.abandon_edge(), run)

    @action(source=("reconcile step 2.7", "journal write bound 1"))
    def run_gates(self, run: Who) -> Answer:
        require(self.is_run(run) and self.at[run] is At.DECIDED)
        if not self.may_write(run) or self.is_read_too_young(run):
            self.goes_home(run)
            return Answer.SKIPPED
        self.at[run] = At.GATED
        return Answer.PROCEED

    @action(source=("reconcile step 3.2", "reconcile step 3.4", "reconcile step 3.5", "act section 12"))
    def run_issues(self, run: Who) -> None:
        require(self.is_run(run) and self.at[run] is At.GATED)
        kind = self.decided[run]
        self.send(run, Kind.ESCALATED if kind is None else kind, None)

    @action(source=("reconcile step 3.15", "reconcile step 3.17", "reconcile step 4.4", "journal fence 4"))
    def run_returns(self, run: Who, again: bool) -> Answer:
        """A write that did not land is tried again under the section, or left for the next run."""
        require(self.is_run(run) and self.at[run] is At.ISSUED and self.knows(run))
        landed = self.has_landed(run)
        require(not (again and (landed or self.is_unread(run))))
        if again:
            self.reply[run] = None
            self.at[run] = At.DECIDED
            return Answer.PROCEED
        answer = self.tally(run) if landed else Answer.SKIPPED
        self.goes_home(run)
        return answer

    def tally(self, run: Who) -> Answer:
        if self.decided[run] is Kind.OUTCOME:
            return Answer.CLOSED
        return Answer.ABANDONED if self.decided[run] is Kind.ABANDONED else Answer.ESCALATED
