"""How a register loses the gap between two outages, or the outage itself.

Step counts: every run is a step; a gap takes three of them, and an audit comes after its runs.
"""

from falsework.language import twin
from falsework.models.recoverable_invocation.records_findings import (
    Answer,
    Condition,
    Kind,
    Register,
    Span,
)


@twin(breaks={Register.no_record_covers_a_run_that_did_not_see: 3})
class OneRecordForTwoOutages(Register):
    """The condition is back, so its record goes on, and whatever fell into the healthy time is exempt."""

    def goes_on(self, span: Span) -> bool:
        return True


@twin(
    breaks={
        Register.an_open_record_was_seen_by_the_last_run_that_surfaced: 2,
        Register.a_condition_has_one_open_record: 3,
        Register.no_record_covers_a_run_that_did_not_see: 3,
    }
)
class RecordThatIsNeverClosed(Register):
    """Nobody closes what no run sees any more."""

    def shuts(self, span: Span, sees: bool) -> bool:
        return False


@twin(
    breaks={
        Register.the_first_sighting_never_moves: 2,
        Register.every_sighting_that_was_surfaced_is_recorded: 2,
        Register.an_outage_lasts_for_all_runs: None,
    }
)
class LatestSightingAlone(Register):
    """The record holds when the condition was seen, and not since when."""

    def first_seen(self, span: Span) -> int:
        return self.ended


@twin(
    breaks={
        Register.the_first_sighting_never_moves: 3,
        Register.what_was_closed_stays_as_it_was: 3,
        Register.every_sighting_that_was_surfaced_is_recorded: 3,
        Register.a_condition_recurs: None,
    }
)
class RecurrenceInThePlaceOfTheFirst(Register):
    """A condition has one row, and its recurrence is written over it."""

    def next_place(self, condition: Condition) -> int:
        return 0


@twin(
    breaks={
        Register.every_sighting_that_was_surfaced_is_recorded: 1,
        Register.two_stores_are_out_of_reach_at_once: None,
    }
)
class StoreOutageOfTheInstance(Register):
    """Two stores out of reach are one outage, that of the first."""

    def sees(self, condition: Condition, journal: bool, a: bool, b: bool) -> bool:
        return super().sees(condition, journal, a, b) and not (condition is Condition.STORE_B and a)


@twin(
    breaks={
        Register.without_the_journal_a_run_says_so: 1,
        Register.an_outage_lasts_for_all_runs: None,
        Register.a_sighting_is_lost_on_its_way_to_the_register: None,
    }
)
class OutageOfZeroCounts(Register):
    """The enumeration failed, so there was nothing to examine, and the scheduler is told of a clean run."""

    def answer(self, journal: bool, surfaces: bool) -> Answer:
        return Answer.COUNTS


@twin(
    breaks={
        Register.a_register_out_of_reach_rejects_no_run: 1,
        Register.without_the_journal_a_run_says_so: 1,
        Register.a_sighting_is_lost_on_its_way_to_the_register: None,
    }
)
class RunRejectedForItsRegister(Register):
    """The closings have landed, and the run is reported as failed because its findings have not."""

    def answer(self, journal: bool, surfaces: bool) -> Answer:
        return super().answer(journal, surfaces) if surfaces else Answer.REJECTED


@twin(breaks={Register.an_act_at_risk_is_found_once: 2})
class FindingOfEveryRun(Register):
    """Each run that finds the act at risk opens a finding of its own."""

    def is_new(self) -> bool:
        return True


@twin(breaks={Register.an_act_at_risk_is_found_once: 1})
class FindingsFromMemory(Register):
    """The journal cannot be read, so the acts of the last run are reported once more."""

    def enumerates(self, journal: bool) -> bool:
        return True


@twin(breaks={Register.an_exemption_needs_a_run_that_saw_an_outage: 2})
class AnyOutageExempts(Register):
    """One store was out of reach, and the acts of the other are excused."""

    def exempts(self, kind: Kind, first: int, last: int) -> bool:
        return any(self.overlaps(condition, first, last) for condition in Condition)


@twin(breaks={Register.an_outage_that_was_surfaced_exempts: 2})
class FindingsOfTheKindAlone(Register):
    """A finding that names no kind exempts none."""

    def exempts(self, kind: Kind, first: int, last: int) -> bool:
        return self.overlaps(Condition.STORE_A if kind is Kind.A else Condition.STORE_B, first, last)


@twin(breaks={Register.no_record_covers_a_run_that_did_not_see: 2})
class ClosedWhenItWasMissed(Register):
    """A record ends with the run that no longer sees the condition, which is one run too many."""

    def last_seen(self, span: Span) -> int:
        return self.ended


@twin(breaks={Register.an_act_at_risk_is_found_once: 1})
class RiskTakenForKnown(Register):
    """Whatever is at risk is taken for what an earlier run has surfaced."""

    def is_new(self) -> bool:
        return False
