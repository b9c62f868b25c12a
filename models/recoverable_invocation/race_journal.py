"""The journal: writes in flight, what was landed, and what a reader sees of it.

Its clock is JOURNAL_LAG behind the host's; the intent's age counts from its landing, and each reader adds
that lag and the skew of its own clock.
"""

from typing import Annotated, ClassVar

from falsework.language import (
    Elapsed,
    Length,
    Map,
    Seq,
    bound,
    count,
    first,
    given,
    internal,
    replace,
    require,
)
from falsework.models.recoverable_invocation.race_section import Section
from falsework.models.recoverable_invocation.vocabulary import (
    At,
    Author,
    Closing,
    Due,
    Kind,
    Place,
    Reply,
    Who,
    Write,
)

SLOWEST = "min(INVOCATION_SKEW, SWEEP_SKEW, OPERATOR_SKEW)"
OLD = f"COMPLETION_BOUND + max(2 * ALLOWANCE - JOURNAL_LAG - {SLOWEST}, ALLOWANCE)"
Age = Annotated[int, Elapsed(OLD)]  # the oldest that anybody asks for, or the invariants


class Journal(Section):
    """A fenced write lands before the earlier of two instants, or never."""

    WRITE_BOUND: ClassVar[int] = 2
    RECORDS: ClassVar[int] = 4
    JOURNAL_FENCE: ClassVar[bool] = True
    WRITE_FENCE: ClassVar[bool] = True  # whether the fence knows the write's own terminus
    WRITE_MARGIN: ClassVar[bool] = True
    TARDY: ClassVar[bool] = True  # whether a write that no fence stops may outlast its bound
    VISIBLE_ON_RETURN: ClassVar[bool] = True
    REPLIES: ClassVar[bool] = True  # whether a writer is told; else it reads back when the bound has passed
    GATE: ClassVar[bool] = True
    INVOCATION_SKEW: ClassVar[int] = 0  # how far ahead of the host's each writer's clock is
    SWEEP_SKEW: ClassVar[int] = 0
    OPERATOR_SKEW: ClassVar[int] = 0

    in_flight: Map[Who, Write | None] = Map(None)  # also a dead writer's, under GHOST
    reply: Map[Who, Reply | None] = Map(None)
    unheard: Map[Who, Due] = Map(0)  # how long a writer whose reply is lost must not read back yet
    decided: Map[Who, Kind | None] = Map(None)  # what a process that holds the section is to write
    journal: Annotated[Seq[Closing], Length("RECORDS")] = Seq()
    intent_age: Age | None = None  # since the intent landed
    intent_hidden: Due = 0

    # The clocks of those who write.

    def skew(self, who: Who) -> int:
        if who in (Who.FIRST_RUN, Who.SECOND_RUN):
            return self.SWEEP_SKEW
        return self.OPERATOR_SKEW if who is Who.OPERATOR else self.INVOCATION_SKEW

    def author(self, who: Who) -> Author:
        if who in (Who.FIRST_RUN, Who.SECOND_RUN):
            return Author.SWEEP
        return Author.OPERATOR if who is Who.OPERATOR else Author.INVOCATION

    def is_past(self, edge: int, who: Who) -> bool:
        """Whether the intent is that old by its clock, which compares with the journal's stamp."""
        age = self.intent_age
        return age is not None and age >= edge - self.skew(who) - self.JOURNAL_LAG

    def examine_edge(self) -> int:
        return self.COMPLETION_BOUND + self.ALLOWANCE

    def abandon_edge(self) -> int:
        return self.examine_edge() + self.ALLOWANCE

    # A write, from its gate to its end.

    def may_write(self, who: Who) -> bool:
        """The gate: what remains of the lease is at least the bound of a write."""
        return not self.GATE or self.remaining(who) >= self.WRITE_BOUND

    def lease_terminus(self, who: Who) -> int:
        return self.terminus(who) + self.journal_slack(self.LEASE_MARGIN)

    def write_terminus(self, who: Who) -> int:
        return self.WRITE_BOUND + self.skew(who) + self.journal_slack(self.WRITE_MARGIN)

    def latest(self, who: Who) -> int:
        """How long the journal will admit a write that is issued now."""
        longest = max(self.COMPLETION_BOUND, self.SWEEP_LEASE)
        if not self.JOURNAL_FENCE:
            return longest if self.TARDY else self.WRITE_BOUND
        fence = min(self.lease_terminus(who), longest)
        return max(min(fence, self.write_terminus(who)) if self.WRITE_FENCE else fence, 0)

    def send(self, who: Who, kind: Kind, names: Place | None) -> None:
        """The write is on its way; one whose fence has passed already is dead on arrival."""
        until = self.latest(who)
        self.at[who] = At.ISSUED
        self.unheard[who] = 0 if self.REPLIES else self.WRITE_BOUND
        if until > 0:
            self.in_flight[who] = Write(self.author(who), kind, names, until, self.WRITE_BOUND)
            self.reply[who] = None
        else:
            self.reply[who] = Reply.NOT_LANDED

    def knows(self, who: Who) -> bool:
        """The writer knows all that it ever will of its write: a lost reply is read back under the lease."""
        return self.reply[who] is not None and (self.unheard[who] == 0 or self.is_unread(who))

    def is_unread(self, who: Who) -> bool:
        """The reply was lost, and the lease has ended: nobody looks for the record but the next holder."""
        return not self.REPLIES and self.remaining(who) == 0

    def has_landed(self, who: Who) -> bool:
        """Whether the writer finds that its write has landed."""
        return self.reply[who] is Reply.LANDED and not self.is_unread(who)

    def hidden(self, write: Write) -> int:
        return 0 if self.VISIBLE_ON_RETURN else write.due

    @internal(source=("journal fence 3", "Allowance 8"))
    def land(self, who: Who) -> None:
        write = given(self.in_flight[who])
        bound(write.kind is Kind.INTENT or self.has_room(write.names))
        self.in_flight[who] = None
        if self.at[who] is At.ISSUED:
            self.reply[who] = Reply.LANDED
        if write.kind is Kind.INTENT:
            self.intent_age = 0
            self.intent_hidden = self.hidden(write)
        else:
            self.append(write)
            self.forget(write.kind)

    def is_a_chain(self) -> bool:
        """Each closing but the first names the one before it."""
        return all(place == 0 or closing.names == place - 1 for place, closing in enumerate(self.journal))

    def has_room(self, names: Place | None) -> bool:
        return len(self.journal) < self.RECORDS or (self.is_a_chain() and names == self.RECORDS - 1)

    def append(self, write: Write) -> None:
        """A chain that fills the journal forgets its second record: only its ends are asked for."""
        if len(self.journal) < self.RECORDS:
            self.journal.append(Closing(write.author, write.kind, write.names, self.hidden(write)))
            return
        for place in range(1, self.RECORDS - 1):
            self.journal[place] = replace(self.journal[place + 1], names=place - 1)
        last = Closing(write.author, write.kind, self.RECORDS - 2, self.hidden(write))
        self.journal[self.RECORDS - 1] = last

    def oldest(self) -> int:
        """The age from which on all clocks call the intent old."""
        slowest = min(self.INVOCATION_SKEW, self.SWEEP_SKEW, self.OPERATOR_SKEW)
        return self.COMPLETION_BOUND + max(2 * self.ALLOWANCE - self.JOURNAL_LAG - slowest, self.ALLOWANCE)

    def forget(self, kind: Kind) -> None:
        """Nobody asks how old an intent is once an outcome or a refusal can be read."""
        if kind in (Kind.OUTCOME, Kind.REFUSED) and self.VISIBLE_ON_RETURN:
            self.intent_age = self.oldest()

    @internal(
        source=("Primitive policy 23", "Primitive policy 29", "Primitive policy 34", "Primitive policy 37")
    )
    def miss(self, who: Who) -> None:
        """The substrate says that it did not land, or says nothing, and a read-back finds nothing."""
        write = given(self.in_flight[who])
        require(self.at[who] is At.ISSUED)
        bound(write.due > 0 or self.in_flight[Who.GHOST] is None)
        self.reply[who] = Reply.NOT_LANDED
        if write.due == 0:
            self.orphan(who)
        else:
            self.in_flight[who] = None

    def orphan(self, who: Who) -> None:
        """The write goes on, and nobody waits for it."""
        self.in_flight[Who.GHOST] = self.in_flight[who]
        self.in_flight[who] = None

    def fence_writes(self) -> None:
        """After time has passed, a write past its fence is dead and not in flight."""
        for who in Who:
            write = self.in_flight[who]
            if write is not None and write.until == 0:
                self.in_flight[who] = None
                if self.at[who] is At.ISSUED:
                    self.reply[who] = Reply.NOT_LANDED

    # What a reader sees.

    def sees_the_intent(self) -> bool:
        return self.intent_age is not None and self.intent_hidden == 0

    def sees(self, kind: Kind) -> bool:
        return any(closing.kind is kind and closing.hidden == 0 for closing in self.journal)

    def sees_a_closing(self) -> bool:
        return any(closing.hidden == 0 for closing in self.journal)

    def is_superseded(self, place: int) -> bool:
        return any(closing.names == place for closing in self.journal)

    def standing(self) -> Place | None:
        """Of the visible closings that no other names, the first."""
        return first(
            place
            for place, closing in enumerate(self.journal)
            if closing.hidden == 0 and not self.is_superseded(place)
        )

    def unsuperseded(self) -> int:
        return count(not self.is_superseded(place) for place, _ in enumerate(self.journal))
