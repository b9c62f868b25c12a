"""What a node may believe of the journal: maps that grow by the delta above a mark, and when that may move.

Numbers are given out in order and land out of it, or never; a read walks up the journal record by record
while more lands behind it. Left out: clocks, for a number is settled once nothing at or below it can still
land; who holds the section, for whatever lands meanwhile makes a read stale; what a closing says.
"""

from enum import Enum
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
    fault,
    given,
    internal,
    invariant,
    reachable,
    require,
)

Invocation = Annotated[int, Below("INVOCATIONS")]
Number = Annotated[int, Below("NUMBERS")]
Mark = Annotated[int, Upto("NUMBERS")]
Status = Enum("Status", "FREE FLYING LANDED GAP")
Standing = Enum("Standing", "UNKNOWN OPEN CLOSED")


class Entry(Record):
    """A record of the journal: an invocation's intent, or its closing."""

    invocation: Invocation
    closing: bool


class Indexes(Model):
    """A read's end moves the mark to what had settled when the read began, and a rebuild trusts no mark."""

    INVOCATIONS: ClassVar[int] = 2
    NUMBERS: ClassVar[int] = 3
    JUDGED_AT_THE_START: ClassVar[bool] = True  # whether a number must have settled before the read began
    AHEAD: ClassVar[bool] = False  # whether the node's clock is further ahead than the allowance covers

    status: Map[Number, Status] = Map(Status.FREE)
    entry: Map[Number, Entry | None] = Map(None)
    given_out: Mark = 0  # the next sequence number
    settled: Mark = 0  # below this, nothing can land any more
    known: Map[tuple[Invocation, bool], bool] = Map(False)  # the maps: intents, and closings
    mark: Mark = 0  # what the next read leaves out
    cursor: Mark | None = None  # how far the read in progress has come
    ripe: Mark = 0  # where the read in progress may move the mark
    ready: bool = False  # a full read has ended since the process started
    fresh: bool = False  # nothing has landed since the last read began

    # The decisions, each by itself.

    def starts_at(self, full: bool) -> int:
        return 0 if full else self.mark

    def forgets(self) -> bool:
        """Whether a full read starts from empty maps."""
        return True

    def ripened(self) -> int:
        return self.given_out if self.AHEAD else self.settled

    def moved(self) -> int:
        return self.ripe if self.JUDGED_AT_THE_START else self.ripened()

    def goes_on(self, number: int) -> bool:
        """Whether the read has not come to the journal's end."""
        return number < self.given_out

    def kept(self) -> int:
        """The mark that a restarted process begins with."""
        return 0

    def must_rebuild(self) -> bool:
        return not self.ready

    def decides(self) -> bool:
        """Whether the maps are good enough to decide on."""
        return self.ready and self.fresh and self.cursor is None

    def standing(self, invocation: Invocation) -> Standing:
        if not self.known[invocation, False]:
            return Standing.UNKNOWN
        return Standing.CLOSED if self.known[invocation, True] else Standing.OPEN

    def may_close(self, invocation: Invocation) -> bool:
        return self.standing(invocation) is Standing.OPEN

    def note(self, invocation: Invocation) -> None:
        """The maps hold the sweep's own closing."""
        self.known[invocation, True] = True

    def is_written(self, invocation: Invocation, closing: bool) -> bool:
        """Whether such a record has landed, or may still land."""
        return any(
            entry is not None
            and entry.invocation == invocation
            and entry.closing == closing
            and self.status[number] in (Status.FLYING, Status.LANDED)
            for number, entry in self.entry.items()
        )

    def has_landed(self, invocation: Invocation, closing: bool) -> bool:
        return any(
            entry is not None
            and entry.invocation == invocation
            and entry.closing == closing
            and self.status[number] is Status.LANDED
            for number, entry in self.entry.items()
        )

    # The journal.

    @internal(source=("Capability requirement 7", "Capability requirement 8"))
    def issue(self, invocation: Invocation, closing: bool) -> None:
        """Some writer on any node is given a number; an invocation is closed after its intent has landed."""
        require(not self.is_written(invocation, closing))
        require(not closing or self.has_landed(invocation, False))
        bound(self.given_out < self.NUMBERS)
        self.status[self.given_out] = Status.FLYING
        self.entry[self.given_out] = Entry(invocation=invocation, closing=closing)
        self.given_out += 1

    @internal
    def land(self, number: Number) -> None:
        require(self.status[number] is Status.FLYING)
        self.status[number] = Status.LANDED
        self.fresh = False

    @fault
    def fail(self, number: Number) -> None:
        """The append is refused after its number was given out: a gap, which nothing fills."""
        require(self.status[number] is Status.FLYING)
        self.status[number] = Status.GAP
        self.entry[number] = None

    @internal(source="sequence high water 2")
    def settle(self) -> None:
        """The settle bound has elapsed since the lowest unsettled number was given out."""
        require(self.settled < self.given_out)
        require(
            all(
                self.status[number] is not Status.FLYING
                for number in range(self.NUMBERS)
                if number <= self.settled
            )
        )
        self.settled += 1

    # The node.

    @action(source=("sequence high water 1", "sequence high water 4", "open step 3.1", "reconcile step 1.1"))
    def begin(self, full: bool) -> None:
        """A read begins above the mark, or at the log's beginning with empty maps."""
        require(self.cursor is None and (full or not self.must_rebuild()))
        self.cursor = self.starts_at(full)
        self.ripe = self.ripened()
        self.fresh = True
        if full:
            self.mark = 0
            if self.forgets():
                for key in self.known:
                    self.known[key] = False

    @internal(source=("Capability requirement 2", "open invocations 3"))
    def step(self) -> None:
        """The read comes to the next number, and puts what has landed there into the maps."""
        cursor = given(self.cursor)
        require(self.goes_on(cursor))
        entry = self.entry[cursor]
        if entry is not None and self.status[cursor] is Status.LANDED:
            self.known[entry.invocation, entry.closing] = True
        self.cursor = cursor + 1

    @internal(source=("sequence high water 2", "Capability requirement 2"))
    def finish(self) -> None:
        """The read has come to the end of the journal, and moves the mark."""
        cursor = given(self.cursor)
        require(not self.goes_on(cursor))
        self.mark = max(self.mark, self.moved())
        self.cursor = None
        self.ripe = 0
        self.ready = True

    @fault(source=("sequence high water 3", "sequence high water 6"))
    def restart(self) -> None:
        """The process dies with its maps and its mark."""
        for key in self.known:
            self.known[key] = False
        self.mark = self.kept()
        self.cursor = None
        self.ripe = 0
        self.ready = False
        self.fresh = False

    @action(source=("act closings 2", "open invocations 6", "open step 3.2", "open step 3.9a"))
    def look(self, invocation: Invocation) -> Standing:
        """What Open's and Close's checks before their writes take from the maps, just read."""
        require(self.decides())
        return self.standing(invocation)

    @action(source=("reconcile step 2.4", "sweep closed ids 1", "reconcile step 4.1", "reconcile step 4.3"))
    def close(self, invocation: Invocation) -> None:
        """The sweep closes what its maps, read under the section, have open; no write is in flight."""
        require(self.decides() and self.may_close(invocation))
        require(all(status is not Status.FLYING for status in self.status.values()))
        bound(self.given_out < self.NUMBERS)
        self.status[self.given_out] = Status.LANDED
        self.entry[self.given_out] = Entry(invocation=invocation, closing=True)
        self.given_out += 1
        self.note(invocation)

    # What is true of every state.

    def landed(self, invocation: Invocation, closing: bool) -> int:
        return count(
            entry is not None
            and entry.invocation == invocation
            and entry.closing == closing
            and self.status[number] is Status.LANDED
            for number, entry in self.entry.items()
        )

    @invariant(source=("sequence high water 1", "sequence high water 2", "Capability requirement 1"))
    def nothing_below_the_mark_is_missed(self) -> bool:
        return all(
            number >= self.mark
            or entry is None
            or self.status[number] is not Status.LANDED
            or self.cursor is not None
            or self.known[entry.invocation, entry.closing]
            for number, entry in self.entry.items()
        )

    @invariant(source=("sequence high water 1", "open invocations 3", "sequence high water 4"))
    def a_fresh_read_knows_the_whole_journal(self) -> bool:
        just_read = self.ready and self.fresh and self.cursor is None
        return not just_read or all(
            known == (self.landed(invocation, closing) > 0)
            for (invocation, closing), known in self.known.items()
        )

    @invariant(source="open invocations 3")
    def what_is_known_is_in_the_journal(self) -> bool:
        return all(
            not known or self.landed(invocation, closing) > 0
            for (invocation, closing), known in self.known.items()
        )

    @invariant(source=("Invariant 2.3", "sweep closed ids 1", "reconcile 7"))
    def no_invocation_is_closed_twice(self) -> bool:
        return all(self.landed(invocation, True) <= 1 for invocation in range(self.INVOCATIONS))

    @invariant(source=("sequence high water 3", "sequence high water 6"))
    def a_node_without_maps_has_no_mark(self) -> bool:
        return self.ready or self.mark == 0

    @invariant
    def what_a_read_kept_ends_with_it(self) -> bool:
        return self.cursor is not None or self.ripe == 0

    @invariant(on=issue, source=("Capability requirement 7", "Which closing stands 2"))
    def a_closing_follows_its_intent_and_none_is_written_twice(
        self, before: Self, invocation: Invocation, closing: bool
    ) -> bool:
        follows = not closing or before.landed(invocation, False) > 0
        return follows and not before.is_written(invocation, closing)

    @invariant(on=land, source="Capability requirement 8")
    def what_lands_was_in_flight(self, before: Self, number: Number) -> bool:
        return before.status[number] is Status.FLYING

    @invariant(on=fail, source="sequence high water 2")
    def a_gap_holds_nothing(self, before: Self, number: Number) -> bool:
        flew = before.status[number] is Status.FLYING
        return flew and self.status[number] is Status.GAP and self.entry[number] is None

    @invariant(on=begin, source=("sequence high water 1", "sequence high water 4"))
    def a_read_begins_at_the_mark_or_from_nothing(self, before: Self, full: bool) -> bool:
        if before.cursor is not None:
            return False
        if not full:
            return before.ready and self.cursor == before.mark
        return self.cursor == 0 and self.mark == 0 and not any(self.known.values())

    @invariant(on=restart, source=("sequence high water 3", "sequence high water 6"))
    def a_restarted_process_knows_nothing(self) -> bool:
        idle = self.cursor is None and not self.ready and not self.fresh
        return idle and not any(self.known.values())

    @invariant(on=look, source=("act closings 2", "open step 3.3", "open step 3.9c", "Not Open 3"))
    def what_a_check_answers_is_so(self, invocation: Invocation, answer: Standing) -> bool:
        closed = self.landed(invocation, True) > 0
        opened = self.landed(invocation, False) > 0
        return (answer is Standing.CLOSED) == closed and (answer is Standing.UNKNOWN) == (not opened)

    @invariant(
        on=close, source=("reconcile step 4.1", "reconcile step 4.2", "reconcile step 4.3", "act closings 1")
    )
    def the_maps_hold_what_the_sweep_has_closed(self, invocation: Invocation) -> bool:
        return self.known[invocation, True]

    @invariant(on=finish, source=("sequence high water 4", "open step 3.3"))
    def the_mark_is_never_above_what_had_settled(self) -> bool:
        return self.mark <= self.settled

    # What must be able to happen.

    @reachable
    def a_record_lands_below_one_that_was_read(self) -> bool:
        return self.mark == 0 and self.known[1, False] and self.entry_of_first(Status.FLYING)

    @reachable
    def the_mark_passes_a_gap(self) -> bool:
        return self.mark > 0 and self.entry_of_first(Status.GAP)

    @reachable
    def a_check_needs_what_is_below_the_mark(self) -> bool:
        return self.decides() and self.mark == self.NUMBERS and self.standing(0) is Standing.CLOSED

    def entry_of_first(self, status: Status) -> bool:
        return self.status[0] is status


@configuration(breaks={Indexes.nothing_below_the_mark_is_missed: 6})
class JudgedAtTheEnd(Indexes):
    """A number may have settled while the read went on, after the read had passed it."""

    JUDGED_AT_THE_START = False


@configuration(
    breaks={Indexes.the_mark_is_never_above_what_had_settled: 4, Indexes.nothing_below_the_mark_is_missed: 5}
)
class ClockBeyondTheAllowance(Indexes):
    """The node's clock is further ahead than the allowance, and only a rebuild finds what was missed."""

    AHEAD = True
