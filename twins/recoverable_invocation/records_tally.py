"""How a run's counts flatter it: acts counted twice or not at all, and closings that never landed.

Step counts: a run begins, and each act is a step.
"""

from falsework.language import require, twin
from falsework.models.recoverable_invocation.records_tally import Answer, Count, Kind, Meets, Tally


@twin(breaks={Tally.the_six_counts_are_the_acts_examined: 2})
class CountedAgainWhenItFailed(Tally):
    """Step 3 has counted the act, and the write that is left for the next run counts it once more."""

    def listed(self, kind: Kind, meets: Meets) -> int:
        return 2 if kind is Kind.SERVED and meets is Meets.LEASE_CUTS_WRITE else 1


@twin(
    breaks={
        Tally.the_six_counts_are_the_acts_examined: 2,
        Tally.every_act_kept_is_examined_surfaced_or_unreached: 2,
    }
)
class SurfacedIsExamined(Tally):
    """Whatever the run came to it has examined, the kinds that it does not serve included."""

    def is_examined(self, count: Count) -> bool:
        return count is not Count.UNREACHED


@twin(breaks={Tally.what_is_counted_as_closed_has_landed: 2})
class CountedBeforeItLands(Tally):
    """The probe says committed, so the act is counted as closed, and the lease ends before the write."""

    def count_of_a_served(self, meets: Meets) -> Count:
        return Count.CLOSED if meets is Meets.LEASE_CUTS_WRITE else super().count_of_a_served(meets)


@twin(
    breaks={
        Tally.only_a_refused_credential_leaves_acts_unreached: 3,
        Tally.only_a_refusal_of_its_credential_bars_a_run: 3,
    }
)
class OutageEndsTheRun(Tally):
    """One store is out of reach, and the run spares the others the trouble."""

    def stops(self) -> bool:
        return self.barred or self.store_met


@twin(
    breaks={
        Tally.nothing_is_closed_under_a_refused_credential: 3,
        Tally.a_run_stops_short_and_still_reports: None,
    }
)
class NextActNextTry(Tally):
    """The refusal was about that act, surely."""

    def stops(self) -> bool:
        return False


@twin(breaks={Tally.a_report_only_act_is_reported: 2})
class ReportOnlyActLeftForTheNextRun(Tally):
    """The section was taken, so the act is skipped, and no run will ever close it."""

    def count_of_a_reported(self, meets: Meets) -> Count:
        return Count.SKIPPED if meets is Meets.TAKE_FAILS else super().count_of_a_reported(meets)


@twin(breaks={Tally.an_act_of_an_unbound_kind_is_surfaced: 2, Tally.a_run_has_something_of_everything: None})
class UnboundKindIsSkipped(Tally):
    """Nothing can be done for the act now, so it waits for a run that can."""

    def counted(self, kind: Kind, meets: Meets) -> Count:
        return Count.SKIPPED if kind is Kind.UNBOUND else super().counted(kind, meets)


@twin(breaks={Tally.the_section_is_released_with_the_act: 2})
class SectionKeptThroughAnOutage(Tally):
    """The run means to come back to the act, and keeps its section until then."""

    def releases(self, meets: Meets) -> bool:
        return meets is not Meets.STORE_UNAVAILABLE


@twin(breaks={Tally.an_act_at_risk_that_stays_open_is_reported: 2})
class RiskOfTheSkippedAlone(Tally):
    """Only what a later run will close can be at risk of closing late."""

    def is_at_risk(self, count: Count, at_risk: bool) -> bool:
        return at_risk and count is Count.SKIPPED


@twin(breaks={Tally.an_outage_of_a_store_opens_its_finding: 2})
class OutageOfAReportOnlyKind(Tally):
    """Nothing would have been written, so nobody is told that nothing could be read."""

    def opens_finding(self, kind: Kind, meets: Meets) -> bool:
        return kind is Kind.SERVED


@twin(breaks={Tally.a_run_without_the_journal_returns_no_counts: 1})
class RunOfNothing(Tally):
    """The enumeration failed and kept nothing, and a run over nothing has counts too."""

    def answer(self, journal: bool) -> Answer:
        return Answer.COUNTS


@twin(breaks={Tally.no_run_begins_beside_another: 2})
class CadenceThatDoesNotWait(Tally):
    """The timer starts a run, whether the last one has ended or not."""

    def may_begin(self) -> bool:
        return True


@twin(breaks={Tally.a_run_begins_with_nothing_counted_and_nothing_refused: 6})
class BarredForGood(Tally):
    """A credential that was refused once is taken for refused by every later run."""

    def begin(self, journal: bool) -> Answer:
        barred = self.barred
        answer = super().begin(journal)
        self.barred = barred
        return answer


@twin(breaks={Tally.only_a_run_in_flight_examines: 1})
class ExaminesAfterItsEnd(Tally):
    """A run that has returned its counts goes on with an act that turned up late."""

    def may_examine(self) -> bool:
        return self.kept < self.ACTS


@twin(breaks={Tally.only_a_refusal_of_its_credential_bars_a_run: 2})
class BarredByAnOutage(Tally):
    """Whatever keeps a closing from landing is the credential's fault."""

    def examine(self, kind: Kind, meets: Meets, at_risk: bool) -> Count:
        count = super().examine(kind, meets, at_risk)
        self.barred = self.barred or meets is Meets.STORE_UNAVAILABLE
        return count


@twin(breaks={Tally.a_run_ends_once_it_is_done_with_every_act: 2})
class EndsAtTheFirstTrouble(Tally):
    """A run gives up with acts that it kept, and returns counts all the same."""

    def end(self) -> None:
        require(self.running)
        self.running = False
