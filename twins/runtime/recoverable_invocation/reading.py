"""Reads that mislead by what they leave out.

Step counts are the model twins' own but where a comment tells another: what goes beyond a cap of two takes
three of it.
"""

from dataclasses import replace
from typing import Any

from falsework.conformance.subject import runtime_twin
from falsework.models.recoverable_invocation.records_reading import Reading
from falsework.runtime.invocation.answers import Entry, NotKnown, Report
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right
from falsework.runtime.subjects.recoverable_invocation.reading import ReadingSubject


def _reported_anyway(right: Right) -> Right:
    def read(parties: Parties, kind: str, act_key: str, invocation_id: str | None = None) -> object:
        answer = right(parties, kind, act_key, invocation_id)
        nothing = isinstance(answer, NotKnown) and invocation_id is None
        return Report((), binding_duplicate=False, more=False) if nothing else answer

    return read


@runtime_twin(breaks={Reading.an_act_without_an_intent_is_not_known: 1}, within=4)
class EmptyReport(ReadingSubject):
    """An act that nobody began has a report without entries."""

    bends = (Bend("invocation.instance", "read_invocation", _reported_anyway),)


def _backwards(right: Right) -> Right:
    def of_act(self: Indexes, act: tuple[str, str]) -> object:
        found: dict[str, Any] = right(self, act)
        return dict(reversed(found.items()))

    return of_act


@runtime_twin(breaks={Reading.the_entries_are_the_latest_up_to_the_cap: 4}, within=5)
class OldestFirst(ReadingSubject):
    """The read stops at its cap and begins at the beginning."""

    bends = (Bend("invocation.indexes:Indexes", "of_act", _backwards),)


def _no_more(right: Right) -> Right:
    def read(*call: Any) -> object:
        answer = right(*call)
        if not isinstance(answer, Report):
            return answer
        entries = tuple(replace(entry, more=False) for entry in answer.invocations)
        return replace(answer, invocations=entries, more=False)

    return read


@runtime_twin(
    breaks={
        Reading.more_is_said_of_the_invocations_left_out: 4,
        Reading.more_is_said_of_the_closings_left_out: 5,
    },
    within=5,
)
class NothingMore(ReadingSubject):
    """The report is cut, and does not say so."""

    bends = (Bend("invocation.instance", "read_invocation", _no_more),)


def _open_alone(right: Right) -> Right:
    def read(parties: Parties, kind: str, act_key: str, invocation_id: str | None = None) -> object:
        answer = right(parties, kind, act_key, invocation_id)
        intents = parties.indexes.open_intents((kind, act_key), parties.seam.now())
        is_open = any(intent.invocation_id == invocation_id for intent in intents)
        return answer if invocation_id is None or is_open else NotKnown()

    return read


@runtime_twin(
    breaks={
        Reading.an_invocation_is_returned_once_it_is_opened: 3,
        Reading.the_latest_closings_are_listed_superseded_or_not: 3,
        Reading.more_is_said_of_the_closings_left_out: 3,
        Reading.the_closing_that_stands_is_returned: 3,
    },
    within=4,
)
class OpenInvocationsAlone(ReadingSubject):
    """The read goes by the map of what is open, and a closed invocation is in no such map."""

    bends = (Bend("invocation.instance", "read_invocation", _open_alone),)


def _without_the_superseded(right: Right) -> Right:
    def entry(*call: Any) -> object:
        found = right(*call)
        if not isinstance(found, Entry):
            return found
        gone = {(record.data or {}).get("supersedes") for record in found.records}
        return replace(found, records=tuple(r for r in found.records if r.event_id not in gone))

    return entry


@runtime_twin(
    breaks={
        Reading.the_latest_closings_are_listed_superseded_or_not: 4,
        Reading.more_is_said_of_the_closings_left_out: 4,
    },
    within=5,
)
class SupersededClosingsAreDropped(ReadingSubject):
    """What was corrected is no longer so, and the reader does not see that it ever was."""

    bends = (Bend("invocation.read", "_entry", _without_the_superseded),)


def _the_latest(_: Right) -> Right:
    return lambda closings: max(closings, key=lambda found: found.sequence_number, default=None)


# An intent and three rivals, of which the cap leaves out the one that stands.
@runtime_twin(breaks={Reading.the_closing_that_stands_is_returned: 5}, within=5)
class StandingByTheLatest(ReadingSubject):
    """Only the latest closing is looked at for what stands."""

    bends = (Bend("invocation.read", "standing", _the_latest),)


def _but_the_newest(right: Right) -> Right:
    def of_act(self: Indexes, act: tuple[str, str]) -> object:
        found: dict[str, Any] = right(self, act)
        return dict(list(found.items())[:-1])

    return of_act


# An intent is read as none; of two the older alone; and of the newest, once it has a closing, nothing at all.
@runtime_twin(
    breaks={
        Reading.an_act_without_an_intent_is_not_known: 2,
        Reading.an_invocation_is_returned_once_it_is_opened: 2,
        Reading.the_entries_are_the_latest_up_to_the_cap: 3,
        Reading.more_is_said_of_the_invocations_left_out: 3,
        Reading.the_latest_closings_are_listed_superseded_or_not: 3,
        Reading.more_is_said_of_the_closings_left_out: 3,
        Reading.the_closing_that_stands_is_returned: 3,
    },
    within=4,
)
class IntentBesideTheAct(ReadingSubject):
    """The intent lands, and the read's index is not told: a stale one is trusted."""

    bends = (Bend("invocation.indexes:Indexes", "of_act", _but_the_newest),)
