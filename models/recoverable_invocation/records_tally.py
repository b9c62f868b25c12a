"""What a run of the sweep reports of itself: each act that it kept is counted once, and closed ones as such.

The surroundings of each act are chosen as the run comes to it; a mixed instance has kinds with a service
identity, kinds without, and a kind that it serves no more. Left out: what is written, and for how long.
"""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Model,
    Upto,
    action,
    configuration,
    implies,
    invariant,
    reachable,
    require,
)

Number = Annotated[int, Upto("ACTS")]
Kind = Enum("Kind", "SERVED REPORT_ONLY UNBOUND")
Meets = Enum(
    "Meets",
    "CLOSED_SINCE TAKE_FAILS TOO_LITTLE_LEFT COMMITTED NOT_COMMITTED_FINAL NOT_COMMITTED_SHORT "
    "NOT_COMMITTED_UNFENCED UNDECIDABLE STORE_UNAVAILABLE LEASE_CUTS_WRITE WRITE_FENCED_OUT "
    "CREDENTIAL_REFUSED UNRECORDABLE",
)
Count = Enum("Count", "CLOSED ABANDONED ESCALATED REPORTED SKIPPED CLOSED_ALREADY SURFACED UNREACHED")
Answer = Enum("Answer", "COUNTS JOURNAL_UNAVAILABLE")
ESCALATES = (Meets.NOT_COMMITTED_UNFENCED, Meets.UNDECIDABLE, Meets.UNRECORDABLE)
CUT = (Meets.LEASE_CUTS_WRITE, Meets.WRITE_FENCED_OUT, Meets.CREDENTIAL_REFUSED)
WRITES = (Count.CLOSED, Count.ABANDONED, Count.ESCALATED)


class Tally(Model):
    """The six counts add up to the acts that were examined, and three of them to the closings that landed."""

    ACTS: ClassVar[int] = 3
    AS_LISTED: ClassVar[bool] = False  # whether an act is counted by the lists of the terms, all that name it

    running: bool = False
    kept: Number = 0  # what the run's first step has found, unbound kinds included
    examined: Number = 0
    closed: Number = 0
    abandoned: Number = 0
    escalated: Number = 0
    reported: Number = 0
    skipped: Annotated[int, Upto("2 * ACTS")] = 0
    closed_already: Number = 0
    surfaced: Number = 0
    unreached: Number = 0
    written: Number = 0  # closings that have landed
    barred: bool = False  # the service identity's credential was refused in this run
    held: bool = False  # the run has the section of an act that it is done with
    at_risk: bool = False  # some act of the run that it left open is at risk
    reported_at_risk: bool = False  # and the compliance surface has it
    store_met: bool = False  # the probe of a served kind was answered unavailable
    store_found: bool = False  # and the instance finding was opened

    # The decisions, each by itself.

    def count_of_a_served(self, meets: Meets) -> Count:
        if meets is Meets.CLOSED_SINCE:
            return Count.CLOSED_ALREADY
        if meets is Meets.COMMITTED:
            return Count.CLOSED
        if meets is Meets.NOT_COMMITTED_FINAL:
            return Count.ABANDONED
        return Count.ESCALATED if meets in ESCALATES else Count.SKIPPED

    def count_of_a_reported(self, meets: Meets) -> Count:
        return Count.CLOSED_ALREADY if meets is Meets.CLOSED_SINCE else Count.REPORTED

    def counted(self, kind: Kind, meets: Meets) -> Count:
        if kind is Kind.UNBOUND:
            return Count.SURFACED
        if kind is Kind.REPORT_ONLY:
            return self.count_of_a_reported(meets)
        return Count.UNREACHED if self.stops() else self.count_of_a_served(meets)

    def stops(self) -> bool:
        """Whether the run writes no more under the credential."""
        return self.barred

    def is_examined(self, count: Count) -> bool:
        return count not in (Count.SURFACED, Count.UNREACHED)

    def listed(self, kind: Kind, meets: Meets) -> int:
        """In how many of the six counts the act is."""
        twice = kind is Kind.REPORT_ONLY and meets in (Meets.TAKE_FAILS, Meets.STORE_UNAVAILABLE)
        return 2 if self.AS_LISTED and twice else 1

    def lands(self, count: Count, meets: Meets) -> bool:
        return count in WRITES and meets not in CUT

    def releases(self, meets: Meets) -> bool:
        return True

    def is_at_risk(self, count: Count, at_risk: bool) -> bool:
        """Whether the run reports the act."""
        return at_risk and count in (Count.SKIPPED, Count.REPORTED)

    def opens_finding(self, kind: Kind, meets: Meets) -> bool:
        return meets is Meets.STORE_UNAVAILABLE and kind is not Kind.UNBOUND

    def may_examine(self) -> bool:
        return self.running and self.kept < self.ACTS

    def may_begin(self) -> bool:
        return not self.running

    def answer(self, journal: bool) -> Answer:
        return Answer.COUNTS if journal else Answer.JOURNAL_UNAVAILABLE

    def add(self, count: Count, times: int) -> None:
        if count is Count.CLOSED:
            self.closed += times
        elif count is Count.ABANDONED:
            self.abandoned += times
        elif count is Count.ESCALATED:
            self.escalated += times
        elif count is Count.REPORTED:
            self.reported += min(times, 1)
            self.skipped += max(times - 1, 0)
        elif count is Count.SKIPPED:
            self.skipped += times
        elif count is Count.CLOSED_ALREADY:
            self.closed_already += times
        elif count is Count.SURFACED:
            self.surfaced += 1
        else:
            self.unreached += 1

    # The run.

    @action(source=("reconcile 1", "reconcile 1a", "reconcile 1c", "run bound 1", "reconcile step 1.1"))
    def begin(self, journal: bool) -> Answer:
        require(self.may_begin())
        answer = self.answer(journal)
        self.running = answer is Answer.COUNTS
        self.kept = 0
        self.examined = 0
        self.closed = 0
        self.abandoned = 0
        self.escalated = 0
        self.reported = 0
        self.skipped = 0
        self.closed_already = 0
        self.surfaced = 0
        self.unreached = 0
        self.written = 0
        self.barred = False
        self.at_risk = False
        self.reported_at_risk = False
        self.store_met = False
        self.store_found = False
        return answer

    @action(source=("reconcile 2f", "reconcile step 2.3", "reconcile step 2.6", "reconcile step 2.7a"))
    def examine(self, kind: Kind, meets: Meets, at_risk: bool) -> Count:
        """The run comes to its next act, which is of that kind, and is done with it."""
        require(self.may_examine())
        require(kind is not Kind.UNBOUND or (meets is Meets.CLOSED_SINCE and not at_risk))
        count = self.counted(kind, meets)
        times = self.listed(kind, meets)
        self.kept += 1
        self.examined += 1 if self.is_examined(count) else 0
        self.add(count, times)
        self.written += 1 if self.lands(count, meets) and kind is Kind.SERVED else 0
        self.held = self.is_examined(count) and meets is not Meets.TAKE_FAILS and not self.releases(meets)
        open_at_risk = at_risk and count in (Count.SKIPPED, Count.REPORTED)
        self.at_risk = self.at_risk or open_at_risk
        self.reported_at_risk = self.reported_at_risk or self.is_at_risk(count, at_risk)
        met = meets is Meets.STORE_UNAVAILABLE and self.is_examined(count)
        self.store_met = self.store_met or met
        self.store_found = self.store_found or (met and self.opens_finding(kind, meets))
        self.barred = self.barred or (
            kind is Kind.SERVED and meets is Meets.CREDENTIAL_REFUSED and count is Count.SKIPPED
        )
        return count

    @action(source=("reconcile step 5.8", "reconcile 5"))
    def end(self) -> None:
        require(self.running and self.kept == self.ACTS)
        self.running = False

    # What the counts say.

    @invariant(source=("reconcile 5", "reconcile step 5.8", "reconcile step 3.2c", "reconcile step 3.4b"))
    def the_six_counts_are_the_acts_examined(self) -> bool:
        six = (
            self.closed + self.abandoned + self.escalated + self.reported + self.skipped + self.closed_already
        )
        return six == self.examined

    @invariant(source=("reconcile step 1.6", "Binding 4", "reconcile 3", "reconcile 4"))
    def every_act_kept_is_examined_surfaced_or_unreached(self) -> bool:
        return self.examined + self.surfaced + self.unreached == self.kept

    @invariant(
        source=("reconcile step 3.2c", "reconcile step 3.4b", "reconcile step 3.5b", "reconcile step 3.8c")
    )
    def what_is_counted_as_closed_has_landed(self) -> bool:
        return self.closed + self.abandoned + self.escalated == self.written

    @invariant(source=("reconcile step 3.19", "reconcile step 3.18"))
    def only_a_refused_credential_leaves_acts_unreached(self) -> bool:
        return self.unreached == 0 or self.barred

    @invariant(on=examine, source="reconcile step 3.19")
    def nothing_is_closed_under_a_refused_credential(self, before: Self, kind: Kind, answer: Count) -> bool:
        return implies(before.barred and kind is Kind.SERVED, answer is Count.UNREACHED)

    @invariant(on=examine, source=("reconcile 2d", "reconcile 2f", "service identity 1a", "reconcile 4"))
    def a_report_only_act_is_reported(self, before: Self, kind: Kind, meets: Meets, answer: Count) -> bool:
        return implies(
            kind is Kind.REPORT_ONLY and meets is not Meets.CLOSED_SINCE,
            answer is Count.REPORTED and self.written == before.written,
        )

    @invariant(on=examine, source=("Binding 5", "reconcile step 1.6", "reconcile 3"))
    def an_act_of_an_unbound_kind_is_surfaced(self, kind: Kind, answer: Count) -> bool:
        return (answer is Count.SURFACED) == (kind is Kind.UNBOUND)

    @invariant(source=("reconcile step 4.4", "reconcile step 2.5", "reconcile step 3.13b", "reconcile 2c"))
    def the_section_is_released_with_the_act(self) -> bool:
        return not self.held

    @invariant(source=("reconcile step 5.1", "Invariant 4.6", "reconcile step 2.3"))
    def an_act_at_risk_that_stays_open_is_reported(self) -> bool:
        return self.reported_at_risk == self.at_risk

    @invariant(source=("reconcile step 3.13c", "reconcile step 3.13", "reconcile 2e"))
    def an_outage_of_a_store_opens_its_finding(self) -> bool:
        return self.store_found == self.store_met

    @invariant(on=begin, source=("reconcile 1c", "Capability requirement 6"))
    def a_run_without_the_journal_returns_no_counts(self, journal: bool, answer: Answer) -> bool:
        return (answer is Answer.COUNTS) == journal and self.running == journal

    @invariant(on=begin, source=("reconcile step 3.19", "reconcile 5"))
    def a_run_begins_with_nothing_counted_and_nothing_refused(self) -> bool:
        return self.kept == 0 and self.examined == 0 and self.written == 0 and not self.barred

    @invariant(on=examine, source=("reconcile step 1.2", "reconcile step 5.8"))
    def only_a_run_in_flight_examines(self, before: Self) -> bool:
        return before.running and before.kept < self.ACTS

    @invariant(on=examine, source=("reconcile step 3.18", "reconcile step 3.19"))
    def only_a_refusal_of_its_credential_bars_a_run(self, before: Self, kind: Kind, meets: Meets) -> bool:
        refused = kind is Kind.SERVED and meets is Meets.CREDENTIAL_REFUSED
        return self.barred == (before.barred or refused)

    @invariant(on=end, source="reconcile step 5.8")
    def a_run_ends_once_it_is_done_with_every_act(self, before: Self) -> bool:
        return before.running and before.kept == self.ACTS

    @invariant(on=begin, source="run bound 1")
    def no_run_begins_beside_another(self, before: Self) -> bool:
        return not before.running

    # What must be able to happen.

    @reachable
    def a_run_has_something_of_everything(self) -> bool:
        return self.closed == 1 and self.reported == 1 and self.surfaced == 1

    @reachable
    def a_run_stops_short_and_still_reports(self) -> bool:
        return self.unreached == 1 and self.reported == 1

    @reachable
    def a_run_closes_everything(self) -> bool:
        return self.closed == self.ACTS and not self.running


@configuration(breaks={Tally.the_six_counts_are_the_acts_examined: 2})
class CountedAsListed(Tally):
    """A report-only act is reported, and skipped as well where its section or its store is out of reach."""

    AS_LISTED = True
