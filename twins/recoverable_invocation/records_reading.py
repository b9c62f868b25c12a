"""How a read misleads by what it leaves out.

Step counts: what goes beyond a cap of two takes three of it.
"""

from falsework.language import twin
from falsework.models.recoverable_invocation.records_reading import Invocation, Reading, Report


@twin(breaks={Reading.an_act_without_an_intent_is_not_known: 1})
class EmptyReport(Reading):
    """An act that nobody began has a report without entries."""

    def read(self) -> Report | None:
        return Report(entries=self.most(self.opened), oldest=self.oldest(), more=self.beyond(self.opened))


@twin(breaks={Reading.the_entries_are_the_latest_up_to_the_cap: 4})
class OldestFirst(Reading):
    """The read stops at its cap and begins at the beginning."""

    def oldest(self) -> int:
        return 0


@twin(
    breaks={
        Reading.more_is_said_of_the_invocations_left_out: 4,
        Reading.more_is_said_of_the_closings_left_out: 5,
    }
)
class NothingMore(Reading):
    """The report is cut, and does not say so."""

    def beyond(self, there: int) -> bool:
        return False


@twin(
    breaks={
        Reading.an_invocation_is_returned_once_it_is_opened: 3,
        Reading.the_latest_closings_are_listed_superseded_or_not: 3,
        Reading.more_is_said_of_the_closings_left_out: 3,
        Reading.the_closing_that_stands_is_returned: 3,
    }
)
class OpenInvocationsAlone(Reading):
    """The read goes by the map of what is open, and a closed invocation is in no such map."""

    def finds(self, invocation: int) -> bool:
        return invocation < self.opened and self.closings[invocation] == 0


@twin(
    breaks={
        Reading.the_latest_closings_are_listed_superseded_or_not: 4,
        Reading.more_is_said_of_the_closings_left_out: 4,
    }
)
class SupersededClosingsAreDropped(Reading):
    """What was corrected is no longer so, and the reader does not see that it ever was."""

    def lists(self, invocation: int, place: int) -> bool:
        return self.unnamed(invocation, place) and super().lists(invocation, place)


@twin(breaks={Reading.the_closing_that_stands_is_returned: 4})
class StandingByTheLatest(Reading):
    """Only the latest closing is looked at for what stands."""

    def returns_the_standing(self, invocation: int) -> bool:
        return self.closings[invocation] > 0 and self.standing(invocation) == self.closings[invocation] - 1


@twin(
    breaks={
        Reading.an_intent_is_one_invocation_more: 1,
        Reading.a_rival_keeps_an_old_closing_standing: None,
        Reading.a_chain_is_longer_than_the_cap: None,
        Reading.an_act_has_more_invocations_than_the_cap: None,
    }
)
class IntentBesideTheAct(Reading):
    """The intent lands, and the read's index is not told."""

    def open_act(self) -> None:
        pass


@twin(
    breaks={
        Reading.a_closing_is_added_and_none_is_taken_away: 3,
        Reading.a_chain_is_longer_than_the_cap: None,
    }
)
class CorrectionInPlace(Reading):
    """A correction takes the place of what it corrects."""

    def close(self, invocation: Invocation, corrects: bool) -> None:
        super().close(invocation, corrects)
        if corrects:
            self.closings[invocation] -= 1
