"""Writers that do not look, and readers that do not follow names: with the journal fence and without.

Step counts: a closing takes a call and its landing, and whatever is not an outcome the ageing of the intent
before that. Where a model twin has one step less, it escalates what is young, which this runtime does not.
"""

from dataclasses import replace
from typing import Any

from falsework.conformance.subject import runtime_twin
from falsework.language import require
from falsework.models.recoverable_invocation.records_supersession import (
    Reading,
    Supersession,
    Surface,
    Writer,
)
from falsework.models.recoverable_invocation.records_supersession_driven import (
    FencedAsBuilt,
    UnfencedAsBuilt,
)
from falsework.runtime.invocation.answers import (
    AlreadyAccounted,
    Closed,
    Disposition,
    Escalate,
    InvalidRequest,
    LandedBy,
    ResolveRefusal,
    State,
)
from falsework.runtime.invocation.journal import Landed, Write
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Closing, Sort
from falsework.runtime.invocation.standing import unsuperseded
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.subjects.recoverable_invocation.supersession import (
    SupersessionSubject,
    UnfencedSubject,
)

HERE = "falsework.twins.runtime.recoverable_invocation.supersession"


class Read(FencedAsBuilt):
    """One surface looks, and nobody dies: the part of the graph in which most of these err."""

    def look(self, surface: Surface) -> Reading:
        require(surface is Surface.READ_INVOCATION)
        return super().look(surface)

    def lose(self, writer: Writer) -> None:
        require(self.length > self.CLOSINGS)
        super().lose(writer)


class ReadUnfenced(UnfencedAsBuilt):
    """The same without the journal fence."""

    def look(self, surface: Surface) -> Reading:
        require(surface is Surface.READ_INVOCATION)
        return super().look(surface)

    def lose(self, writer: Writer) -> None:
        require(self.length > self.CLOSINGS)
        super().lose(writer)


# A call, an operator's that evicts it, and both have landed: the dead one's with the other's coming. And
# where the operator came first, Close writes, and its outcome is there.
@runtime_twin(
    breaks={
        Supersession.under_the_fence_every_closing_is_one: 3,
        Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 2,
    },
    within=3,
)
class JournalThatAdmitsTheLate(SupersessionSubject):
    """The fence is declared and no write carries it, so a writer that overslept appends beside another."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.journal", "_fence", always(None)),)


@runtime_twin(
    breaks={
        Supersession.an_operator_names_whatever_stood: 5,
        Supersession.rivals_are_what_a_late_write_leaves: 5,
    },
    within=5,
)
class ResolutionWithoutAName(SupersessionSubject):
    """The resolution says by whom and not over which record, as if resolved by were a name."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "superseding", always({})),)


@runtime_twin(breaks={Supersession.an_outcome_or_a_refusal_by_itself_is_final: 3}, within=3)
class ResolutionOverAnOutcome(SupersessionSubject):
    """An operator knows better than any record, so nothing is ever accounted for."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "_accounted", always(None)),)


def _but_for(cause: ResolveRefusal) -> Any:
    """Resolve's rules without those that refuse for that cause."""

    def made(right: Right) -> Right:
        def refused(*call: Any) -> InvalidRequest | None:
            found: InvalidRequest | None = right(*call)
            return None if found is not None and found.cause is cause else found

        return refused

    return made


@runtime_twin(breaks={Supersession.an_abandonment_by_itself_gives_way_to_an_outcome_alone: 5}, within=5)
class AbandonmentOverAnAbandonment(SupersessionSubject):
    """A second operator abandons what was abandoned, and the first one's judgement is gone."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "_refused", _but_for(ResolveRefusal.ALREADY_ABANDONED)),)


@runtime_twin(breaks={Supersession.the_sweep_leaves_what_another_closed: 4}, within=4)
class SweepWithoutAReread(SupersessionSubject):
    """The run trusts what it enumerated before it waited for the section."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.closing:Sweep", "_closed_by_another", always(False)),)


def _blindly_again(right: Right) -> Right:
    def append(parties: Parties, write: Write) -> object:
        found = right(parties, write)
        return right(parties, write) if isinstance(found, Landed) else found

    return append


# Of the two that it leaves, the second was sent by who had seen neither.
@runtime_twin(
    breaks={
        Supersession.two_sweep_runs_never_close_one_act: 4,
        Supersession.under_the_fence_every_closing_is_one: 4,
    },
    within=4,
)
class SweepThatRetriesBlind(SupersessionSubject):
    """The reply to the closing write is lost, and the run sends it again without reading back."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.closing", "append", _blindly_again),)


def _pairwise(_: Right) -> Right:
    def duplicated(closings: list[Closing]) -> bool:
        pairs = [(one, two) for place, one in enumerate(closings) for two in closings[place + 1 :]]
        return any(
            one.event_id not in two.supersedes and two.event_id not in one.supersedes for one, two in pairs
        )

    return duplicated


# An intent's ageing, an escalation, an abandonment and an outcome, each in two steps, and the look.
@runtime_twin(breaks={Supersession.a_duplicate_is_reported_of_rivals_and_of_no_chain: 8}, within=8)
class PairwiseScan(SupersessionSubject):
    """The sweep's scan takes two closings for a duplicate unless one names the other itself."""

    bends = (Bend("invocation.reconcile", "duplicated", _pairwise),)


def _the_lowest(_: Right) -> Right:
    return lambda closings: min(closings, key=lambda one: one.sequence_number, default=None)


@runtime_twin(
    breaks={
        Supersession.of_a_chain_the_last_closing_stands: 6,
        Supersession.of_rivals_the_first_that_nothing_names_stands: 6,
        Supersession.whatever_an_outcome_was_written_over_it_reads_closed: 6,  # the state is that one's
    },
    within=6,
)
class PositionBeforeNames(SupersessionSubject):
    """The lowest sequence number stands, whatever names it."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.standing", "standing", _the_lowest),)


def _the_last(_: Right) -> Right:
    return lambda closings: max(closings, key=lambda one: one.sequence_number, default=None)


@runtime_twin(breaks={Supersession.of_rivals_the_first_that_nothing_names_stands: 5}, within=5)
class LastWriterWins(UnfencedSubject):
    """Of two rivals the later one stands, so that a late write can change what the act is."""

    model = f"{HERE}:ReadUnfenced"
    bends = (Bend("invocation.standing", "standing", _the_last),)


def _read_as(found: State, instead: State, *, by_operator: bool = False) -> Any:
    """A state that a read takes for another."""

    def made(right: Right) -> Right:
        def state(closings: list[Closing]) -> State:
            read: State = right(closings)
            operators = any(closing.resolved_by is not None for closing in unsuperseded(closings))
            return instead if read is found and (operators or not by_operator) else read

        return state

    return made


@runtime_twin(breaks={Supersession.an_act_without_a_closing_reads_open: 4}, within=4)
class EscalationThatLeavesOpen(SupersessionSubject):
    """An escalated act waits for somebody, so it reads as open."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.read", "state", _read_as(State.ESCALATED, State.OPEN)),)


@runtime_twin(breaks={Supersession.whatever_an_outcome_was_written_over_it_reads_closed: 3}, within=3)
class OperatorsOutcomeReadsResolved(SupersessionSubject):
    """Whatever an operator closed reads resolved, and nobody sees that the act happened."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.read", "state", _read_as(State.CLOSED, State.RESOLVED, by_operator=True)),)


@runtime_twin(
    breaks={Supersession.resolved_is_an_operators_abandonment_and_abandoned_the_sweeps: 4}, within=4
)
class AbandonedWhoeverSaidSo(SupersessionSubject):
    """The state forgets who abandoned, so the auditor tests a person's judgement against the store."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.read", "state", _read_as(State.RESOLVED, State.ABANDONED)),)


def _the_sweeps(right: Right) -> Right:
    def adopted(closing: Closing) -> object:
        found = right(closing)
        return replace(found, landed_by=LandedBy.SWEEP) if isinstance(found, Closed) else found

    return adopted


@runtime_twin(breaks={Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 3}, within=3)
class OutcomeAlwaysTheSweeps(SupersessionSubject):
    """Whoever closed while the invocation slept is taken for the sweep."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.close", "_adopted", _the_sweeps),)


def _whatever_it_is(_: Right) -> Right:
    return lambda closing: Closed(closing.event_id, LandedBy.SWEEP)


@runtime_twin(
    breaks={
        Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 3,
        Supersession.close_never_adopts_an_abandonment_or_an_escalation: 4,
    },
    within=4,
)
class AnyClosingIsAdopted(SupersessionSubject):
    """Close finds its invocation closed and reports success, although the record says it was given up."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.close", "_adopted", _whatever_it_is),)


@runtime_twin(breaks={Supersession.a_closed_invocation_is_not_refused_again: 3}, within=3)
class RefuseWithoutAReread(SupersessionSubject):
    """Refuse knows that nothing was committed, and does not look whether somebody else said so."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.refuse", "standing_closing", always(None)),)


def _any_of(*sorts: Sort) -> Any:
    """Resolve taking any closing of these sorts for the act's account."""

    def made(_: Right) -> Right:
        def accounted(closings: list[Closing], _: Disposition) -> AlreadyAccounted | None:
            found = [closing for closing in closings if closing.sort in sorts]
            return AlreadyAccounted(found[0].event_id) if found else None

        return accounted

    return made


@runtime_twin(breaks={Supersession.already_accounted_leaves_no_duplicate_behind: 5}, within=5)
class ResolveThatStopsAtAnyOutcome(UnfencedSubject):
    """An outcome among rivals ends the matter, so that no writer is left who could resolve the duplicate."""

    model = f"{HERE}:ReadUnfenced"
    bends = (Bend("invocation.resolve", "_accounted", _any_of(Sort.OUTCOME, Sort.REFUSED)),)


@runtime_twin(breaks={Supersession.an_open_or_escalated_act_takes_any_disposition: 4}, within=4)
class EscalationIsFinal(SupersessionSubject):
    """Whatever closed an act accounts for it, and the investigation that was asked for has nowhere to go."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "_accounted", _any_of(*Sort)),)


def _escalated_too(right: Right) -> Right:
    def refused(
        parties: Parties, kind: Any, intent: Any, closings: list[Closing], said: Disposition, now: int
    ) -> object:
        taken = [
            replace(closing, sort=Sort.ABANDONED) if closing.sort is Sort.ESCALATED else closing
            for closing in closings
        ]
        return right(parties, kind, intent, taken, said, now)

    return refused


@runtime_twin(
    breaks={
        Supersession.already_abandoned_means_that_an_abandonment_stands: 4,
        Supersession.an_open_or_escalated_act_takes_any_disposition: 4,
    },
    within=4,
)
class AlreadyAbandonedForAnyAbandonment(SupersessionSubject):
    """An escalation is a kind of abandonment, so a person may not abandon what the sweep could not decide."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "_refused", _escalated_too),)


@runtime_twin(breaks={Supersession.no_operator_abandons_an_act_in_flight: 1}, within=1)
class OperatorWithoutAClock(SupersessionSubject):
    """Nobody asks how old the intent is, and an act is abandoned whose commit is on its way."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "in_flight", always(False)),)


@runtime_twin(breaks={Supersession.too_young_is_said_of_an_act_in_flight: 2}, within=2)
class NeverOldEnough(SupersessionSubject):
    """The guard waits for a clock that nothing moves, so a person can never abandon."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "in_flight", always(True)),)


def _not_told_why(right: Right) -> Right:
    def refused(
        parties: Parties, kind: Any, intent: Any, closings: Any, said: Disposition, now: int
    ) -> object:
        found = right(parties, kind, intent, closings, said, now)
        doubted = isinstance(said, Escalate) and found is not None
        return InvalidRequest(found.detail) if doubted and found.cause.name == "ALREADY_ABANDONED" else found

    return refused


@runtime_twin(breaks={Supersession.every_call_is_answered_by_a_declared_code: 4}, within=4)
class EscalationWithoutACause(SupersessionSubject):
    """The operator who doubts an abandonment is refused without being told why."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "_refused", _not_told_why),)


@runtime_twin(
    breaks={
        Supersession.close_adopts_the_outcome_that_stands_and_says_whose: 3,
        Supersession.close_writes_once_and_where_nothing_stands: 3,
        Supersession.close_never_adopts_an_abandonment_or_an_escalation: 4,
    },
    within=4,
)
class CloseWithoutAReread(SupersessionSubject):
    """The act is committed and the lease was good, so the outcome is written."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.close", "standing_closing", always(None)),)


@runtime_twin(breaks={Supersession.an_operator_issues_what_it_answers_to_write: 1}, within=1)
class ResolutionOnPaper(SupersessionSubject):
    """The operator is told that it was written, and it never left the console."""

    model = f"{HERE}:Read"
    bends = (Bend("invocation.resolve", "append", always(Landed("0" * 32))),)
