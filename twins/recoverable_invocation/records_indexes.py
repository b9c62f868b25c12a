"""How an index comes to lie: marks that move too soon or outlive their maps, and reads that end too early.

Step counts: a number is given out, the read begins, takes a step a number and ends; records land between.
"""

from falsework.language import given, require, twin
from falsework.models.recoverable_invocation.records_indexes import (
    Indexes,
    Invocation,
    Number,
    Standing,
    Status,
)


@twin(
    breaks={Indexes.the_mark_is_never_above_what_had_settled: 4, Indexes.nothing_below_the_mark_is_missed: 5}
)
class MarkAtTheHighestNumber(Indexes):
    """The mark is the highest number that was read, and what lands below it is read by nobody."""

    def moved(self) -> int:
        return self.given_out


@twin(breaks={Indexes.a_fresh_read_knows_the_whole_journal: 6, Indexes.nothing_below_the_mark_is_missed: 8})
class ReadThatEndsAtAGap(Indexes):
    """The read goes on while numbers follow one another, and a refused append has left a gap."""

    def goes_on(self, number: int) -> bool:
        return number < self.given_out and self.status[number] is not Status.GAP


@twin(breaks={Indexes.a_fresh_read_knows_the_whole_journal: 9, Indexes.nothing_below_the_mark_is_missed: 13})
class FirstPageIsTheJournal(Indexes):
    """The read returned a page, and nobody looked whether that was all."""

    def goes_on(self, number: int) -> bool:
        return number < min(self.given_out, 2)


@twin(breaks={Indexes.a_read_begins_at_the_mark_or_from_nothing: 7})
class RebuildAboveTheMark(Indexes):
    """The rebuild empties the maps and reads what is new."""

    def starts_at(self, full: bool) -> int:
        return self.mark


@twin(breaks={Indexes.what_is_known_is_in_the_journal: 3})
class NumberTakenForARecord(Indexes):
    """A number was given out, so the record is there, and then the append is refused."""

    def step(self) -> None:
        cursor = given(self.cursor)
        require(self.goes_on(cursor))
        entry = self.entry[cursor]
        if entry is not None:
            self.known[entry.invocation, entry.closing] = True
        self.cursor = cursor + 1


@twin(breaks={Indexes.no_invocation_is_closed_twice: 7})
class SweepThatLooksForIntentsAlone(Indexes):
    """The run keeps every intent that it finds, and consults nothing before it closes."""

    def may_close(self, invocation: Invocation) -> bool:
        return self.standing(invocation) is not Standing.UNKNOWN


@twin(breaks={Indexes.a_node_without_maps_has_no_mark: 7, Indexes.nothing_below_the_mark_is_missed: 7})
class MarkThatOutlivesItsMaps(Indexes):
    """The mark is kept on disk and the maps in memory."""

    def kept(self) -> int:
        return self.mark


@twin(breaks={Indexes.what_a_check_answers_is_so: 5, Indexes.no_invocation_is_closed_twice: 8})
class DecisionFromTheMapsAtHand(Indexes):
    """The maps were read a while ago, which is taken to be good enough."""

    def decides(self) -> bool:
        return self.ready and self.cursor is None


@twin(
    breaks={
        Indexes.the_maps_hold_what_the_sweep_has_closed: 6,
        Indexes.a_fresh_read_knows_the_whole_journal: 6,
    }
)
class SweepThatForgetsItsOwnClosing(Indexes):
    """The next read will bring it, and until then the act is open."""

    def note(self, invocation: Invocation) -> None:
        pass


@twin(breaks={Indexes.what_a_read_kept_ends_with_it: 6})
class NumberKeptForTheNextRead(Indexes):
    """What had settled when the last read began is good enough for the next."""

    def finish(self) -> None:
        cursor = given(self.cursor)
        require(not self.goes_on(cursor))
        self.mark = max(self.mark, self.moved())
        self.cursor = None
        self.ready = True


@twin(breaks={Indexes.a_closing_follows_its_intent_and_none_is_written_twice: 2})
class ClosingBeforeItsIntent(Indexes):
    """A closing is issued although its intent is still in flight."""

    def has_landed(self, invocation: Invocation, closing: bool) -> bool:
        return self.is_written(invocation, closing)


@twin(breaks={Indexes.what_lands_was_in_flight: 3})
class GapIsFilled(Indexes):
    """A number that was given out and refused is used again."""

    def land(self, number: Number) -> None:
        require(self.status[number] in (Status.FLYING, Status.GAP))
        self.status[number] = Status.LANDED
        self.fresh = False


@twin(breaks={Indexes.a_gap_holds_nothing: 2, Indexes.the_mark_passes_a_gap: None})
class GapKeepsItsEntry(Indexes):
    """The refused record stays where its number is."""

    def fail(self, number: Number) -> None:
        require(self.status[number] is Status.FLYING)
        self.status[number] = Status.GAP


@twin(breaks={Indexes.a_read_begins_at_the_mark_or_from_nothing: 2})
class ReadBesideARead(Indexes):
    """A second read begins while the first is under way, and takes over its maps."""

    def begin(self, full: bool) -> None:
        require(full or not self.must_rebuild())
        self.cursor = self.starts_at(full)
        self.ripe = self.ripened()
        self.fresh = True
        if full:
            self.mark = 0
            for key in self.known:
                self.known[key] = False


@twin(breaks={Indexes.a_restarted_process_knows_nothing: 5})
class RestartKeepsItsMaps(Indexes):
    """The maps are saved when the process ends in order, and read again by whoever starts."""

    def restart(self) -> None:
        self.mark = self.kept()
        self.cursor = None
        self.ripe = 0
        self.ready = False
        self.fresh = False
