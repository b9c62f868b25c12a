"""What Read Invocation returns: the latest invocations of an act, their latest closings, and what it omits.

The journal grows by intents and closings, each of which names the closing before it or is its rival; a read
returns as many as its cap. Left out: the plans of runs, further names, and what is destroyed.
"""

from typing import Annotated, ClassVar, Self

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    Upto,
    action,
    bound,
    configuration,
    count,
    first,
    internal,
    invariant,
    reachable,
    require,
)

Invocation = Annotated[int, Below("INVOCATIONS")]
Number = Annotated[int, Upto("INVOCATIONS")]
Place = Annotated[int, Below("CLOSINGS")]
Closings = Annotated[int, Upto("CLOSINGS")]


class Report(Record):
    """The entries of an act: how many, the oldest of them, and whether there are older ones."""

    entries: Number
    oldest: Invocation
    more: bool


class Entry(Record):
    """One invocation: its intent, how many of its latest closings are listed, and whether it has more."""

    known: bool
    intent: bool = False
    listed: Closings = 0
    standing: bool = False  # the closing that its state is read from is among those returned
    more: bool = False


class Reading(Model):
    """A read returns the latest of everything, and of an invocation's closings the one that stands."""

    INVOCATIONS: ClassVar[int] = 3
    CLOSINGS: ClassVar[int] = 3
    CAP: ClassVar[int] = 2
    ADDS_THE_STANDING: ClassVar[bool] = True  # whether the closing that stands is returned beyond the cap

    opened: Number = 0  # invocations, in the order of their intents
    closings: Map[Invocation, Closings] = Map(0)
    names: Map[tuple[Invocation, Place], bool] = Map(False)  # the closing names the one before it

    # The decisions, each by itself.

    def most(self, there: int) -> int:
        return min(there, self.CAP)

    def oldest(self) -> int:
        return max(self.opened - self.CAP, 0)

    def beyond(self, there: int) -> bool:
        return there > self.CAP

    def unnamed(self, invocation: int, place: int) -> bool:
        last = place == self.closings[invocation] - 1
        return place < self.closings[invocation] and (last or not self.names[invocation, place + 1])

    def standing(self, invocation: int) -> Place | None:
        """Of the closings that nothing names, the one with the lowest sequence number."""
        return first(place for place in range(self.CLOSINGS) if self.unnamed(invocation, place))

    def lists(self, invocation: int, place: int) -> bool:
        there = self.closings[invocation]
        return there - self.most(there) <= place < there

    def returns_the_standing(self, invocation: int) -> bool:
        return any(
            self.standing(invocation) == place and (self.ADDS_THE_STANDING or self.lists(invocation, place))
            for place in range(self.CLOSINGS)
        )

    def finds(self, invocation: int) -> bool:
        return invocation < self.opened

    # The journal.

    @internal(source="read invocation 2")
    def open_act(self) -> None:
        require(self.opened < self.INVOCATIONS)
        self.opened += 1

    @internal(source=("read invocation 5", "read invocation 6"))
    def close(self, invocation: Invocation, corrects: bool) -> None:
        """A closing is appended, which names the one before it, or lands beside it."""
        require(invocation < self.opened)
        require(not corrects or self.closings[invocation] > 0)
        bound(self.closings[invocation] < self.CLOSINGS)
        self.names[invocation, self.closings[invocation]] = corrects
        self.closings[invocation] += 1

    # The reader.

    @action(source=("read invocation 2", "read invocation 12", "read invocation 13", "read invocation 14"))
    def read(self) -> Report | None:
        """The act's latest invocations; None where it has no intent."""
        if self.opened == 0:
            return None
        return Report(entries=self.most(self.opened), oldest=self.oldest(), more=self.beyond(self.opened))

    @action(source=("read invocation 3", "read invocation 4", "read invocation 5", "read invocation 10"))
    def read_one(self, invocation: Invocation) -> Entry:
        """One invocation, by its id."""
        if not self.finds(invocation):
            return Entry(known=False)
        return Entry(
            known=True,
            intent=True,
            listed=count(self.lists(invocation, place) for place in range(self.CLOSINGS)),
            standing=self.returns_the_standing(invocation),
            more=self.beyond(self.closings[invocation]),
        )

    # What is true.

    @invariant(on=read, source="read invocation 12")
    def an_act_without_an_intent_is_not_known(self, answer: Report | None) -> bool:
        return (answer is None) == (self.opened == 0)

    @invariant(on=read, source="read invocation 2")
    def the_entries_are_the_latest_up_to_the_cap(self, answer: Report | None) -> bool:
        return answer is None or (
            answer.oldest + answer.entries == self.opened
            and (answer.entries == self.CAP or answer.oldest == 0)
            and answer.entries <= self.CAP
        )

    @invariant(on=read, source="read invocation 2")
    def more_is_said_of_the_invocations_left_out(self, answer: Report | None) -> bool:
        return answer is None or answer.more == (answer.entries < self.opened)

    @invariant(on=read_one, source=("read invocation 3a", "read invocation 4"))
    def an_invocation_is_returned_once_it_is_opened(self, invocation: Invocation, answer: Entry) -> bool:
        return answer.known == (invocation < self.opened) and answer.intent == answer.known

    @invariant(on=read_one, source=("read invocation 5", "read invocation 6", "read invocation 4"))
    def the_latest_closings_are_listed_superseded_or_not(self, invocation: Invocation, answer: Entry) -> bool:
        there = self.closings[invocation]
        return answer.listed == min(there, self.CAP)

    @invariant(on=read_one, source="read invocation 5")
    def more_is_said_of_the_closings_left_out(self, invocation: Invocation, answer: Entry) -> bool:
        return answer.more == (answer.listed < self.closings[invocation])

    @invariant(on=read_one, source=("read invocation 10", "Which closing stands 7"))
    def the_closing_that_stands_is_returned(self, invocation: Invocation, answer: Entry) -> bool:
        return answer.standing == (self.closings[invocation] > 0)

    @invariant(on=open_act, source="read invocation 2")
    def an_intent_is_one_invocation_more(self, before: Self) -> bool:
        return self.opened == before.opened + 1

    @invariant(on=close, source="read invocation 6")
    def a_closing_is_added_and_none_is_taken_away(
        self, before: Self, invocation: Invocation, corrects: bool
    ) -> bool:
        return (
            self.closings[invocation] == before.closings[invocation] + 1
            and (not corrects or before.closings[invocation] > 0)
            and invocation < before.opened
        )

    # What must be able to happen.

    @reachable
    def a_rival_keeps_an_old_closing_standing(self) -> bool:
        return self.closings[0] == 3 and self.standing(0) == 0

    @reachable
    def a_chain_is_longer_than_the_cap(self) -> bool:
        return self.closings[0] == 3 and self.standing(0) == 2

    @reachable
    def an_act_has_more_invocations_than_the_cap(self) -> bool:
        return self.opened > self.CAP


@configuration(breaks={Reading.the_closing_that_stands_is_returned: 5})
class LatestClosingsAlone(Reading):
    """The first of several rivals stands, and the cap leaves it out."""

    ADDS_THE_STANDING = False
