"""Lamport's bakery: processes draw tickets and are served in their order, although no access is atomic.

A number or a flag that is being written may be read as anything: the writer stores any values before it
stores the one that it means, each in a step of its own. Tickets have no size in the algorithm; here they end
at `LAST_TICKET`, and a process that has seen that one can draw none.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Map,
    Model,
    Set,
    Upto,
    action,
    internal,
    invariant,
    reachable,
    require,
)

Process = Annotated[int, Below("PROCESSES")]
Ticket = Annotated[int, Upto("LAST_TICKET")]  # 0 is no ticket


class At(Enum):
    """The step that a process takes next."""

    REST = 0
    DOOR = 1
    LOOK = 2
    DRAW = 3
    OPEN = 4
    QUEUE = 5
    ASK = 6
    INSIDE = 7
    EXIT = 8


WAITING = (At.QUEUE, At.ASK)
DRAWING = (At.LOOK, At.DRAW)
DRAWN = (At.OPEN, At.QUEUE, At.ASK, At.INSIDE)


class Bakery(Model):
    """A process draws a ticket above all that it sees, and waits for everyone who may have a lower one."""

    PROCESSES: ClassVar[int] = 2
    LAST_TICKET: ClassVar[int] = 2

    at: Map[Process, At] = Map(At.REST)
    flag: Map[Process, bool] = Map(False)  # up while a ticket is being drawn
    ticket: Map[Process, Ticket] = Map(0)
    highest: Map[Process, Ticket] = Map(0)  # the highest ticket that the process has seen so far
    asks: Map[Process, Process] = Map(0)  # whose turn it looks at
    owed: Set[tuple[Process, Process]] = Set()  # the first has still to look at the second

    # The joints.

    def may_draw(self, process: Process, ticket: Ticket) -> bool:
        return ticket > self.highest[process]

    def may_ask(self, process: Process, other: Process) -> bool:
        return not self.flag[other]

    def goes_before(self, ticket: Ticket, process: Process, other_ticket: Ticket, other: Process) -> bool:
        return ticket < other_ticket or (ticket == other_ticket and process < other)

    def may_pass(self, process: Process, other: Process) -> bool:
        return self.ticket[other] == 0 or self.goes_before(
            self.ticket[process], process, self.ticket[other], other
        )

    def may_enter(self, process: Process) -> bool:
        return self.owes_nobody(process)

    def owes_nobody(self, process: Process) -> bool:
        return not any((process, other) in self.owed for other in self.at)

    def owe_everyone(self, process: Process) -> None:
        for other in self.at:
            if other == process:
                self.owed.discard((process, other))
            else:
                self.owed.add((process, other))

    @action
    def want(self, process: Process) -> None:
        require(self.at[process] is At.REST)
        self.at[process] = At.DOOR

    @internal
    def flicker_flag(self, process: Process) -> None:
        require(self.at[process] is At.DOOR or self.at[process] is At.OPEN)
        self.flag[process] = not self.flag[process]

    @internal
    def raise_flag(self, process: Process) -> None:
        require(self.at[process] is At.DOOR)
        self.flag[process] = True
        self.highest[process] = 0
        self.owe_everyone(process)
        self.at[process] = At.LOOK

    @internal
    def look(self, process: Process, other: Process) -> None:
        require(self.at[process] is At.LOOK and (process, other) in self.owed)
        self.owed.discard((process, other))
        self.highest[process] = max(self.highest[process], self.ticket[other])

    @internal
    def look_away(self, process: Process) -> None:
        require(self.at[process] is At.LOOK and self.owes_nobody(process))
        self.at[process] = At.DRAW

    @internal
    def flicker_ticket(self, process: Process, ticket: Ticket) -> None:
        require(self.at[process] is At.DRAW or self.at[process] is At.EXIT)
        self.ticket[process] = ticket

    @internal
    def draw(self, process: Process, ticket: Ticket) -> None:
        require(self.at[process] is At.DRAW and self.may_draw(process, ticket))
        self.ticket[process] = ticket
        self.at[process] = At.OPEN

    @internal
    def lower_flag(self, process: Process) -> None:
        require(self.at[process] is At.OPEN)
        self.flag[process] = False
        self.owe_everyone(process)
        self.at[process] = At.QUEUE

    @internal
    def ask(self, process: Process, other: Process) -> None:
        require(self.at[process] is At.QUEUE and (process, other) in self.owed)
        require(self.may_ask(process, other))
        self.asks[process] = other
        self.at[process] = At.ASK

    @internal
    def go_past(self, process: Process) -> None:
        require(self.at[process] is At.ASK and self.may_pass(process, self.asks[process]))
        self.owed.discard((process, self.asks[process]))
        self.at[process] = At.QUEUE

    @action
    def enter(self, process: Process) -> None:
        require(self.at[process] is At.QUEUE and self.may_enter(process))
        self.at[process] = At.INSIDE

    @action
    def work(self, process: Process) -> None:
        require(self.at[process] is At.INSIDE)
        self.at[process] = At.EXIT

    @action
    def leave(self, process: Process) -> None:
        require(self.at[process] is At.EXIT)
        self.ticket[process] = 0
        self.at[process] = At.REST

    @invariant
    def one_is_inside(self) -> bool:
        return not any(
            self.at[process] is At.INSIDE and self.at[other] is At.INSIDE
            for process in self.at
            for other in self.at
            if process != other
        )

    # The parts of Lamport's invariant, which every step keeps.

    def is_before(self, process: Process, other: Process) -> bool:
        """Its ticket is lower than any that the other has, or can draw without looking at it again."""
        mine = self.ticket[process]
        theirs = self.ticket[other]
        at = self.at[other]
        drawn_above = mine < theirs or (mine == theirs and process < other)
        return mine > 0 and (
            at in (At.REST, At.DOOR, At.EXIT)
            or (at is At.LOOK and ((other, process) in self.owed or self.highest[other] >= mine))
            or (at is At.DRAW and self.highest[other] >= mine)
            or (at is At.OPEN and drawn_above)
            or (at in WAITING and drawn_above and (other, process) in self.owed)
        )

    def is_past(self, process: Process, other: Process) -> bool:
        """The process has found, on its way in, that it goes before the other."""
        return self.at[process] is At.INSIDE or (
            self.at[process] in WAITING and (process, other) not in self.owed
        )

    @invariant
    def whoever_went_past_goes_before(self) -> bool:
        return all(
            process == other or not self.is_past(process, other) or self.is_before(process, other)
            for process in self.at
            for other in self.at
        )

    @invariant
    def whoever_looked_in_time_draws_above(self) -> bool:
        """A flag was down when it was asked about: who has looked since has seen the asker's ticket."""
        return all(
            self.at[process] is not At.ASK
            or not self.has_looked_at(self.asks[process], process)
            or self.highest[self.asks[process]] >= self.ticket[process]
            for process in self.at
        )

    def has_looked_at(self, process: Process, other: Process) -> bool:
        return self.at[process] is At.DRAW or (
            self.at[process] is At.LOOK and (process, other) not in self.owed
        )

    @invariant
    def a_ticket_is_held_and_a_flag_is_up(self) -> bool:
        """From the drawing of the ticket to the way out, and while it is being drawn."""
        return all(
            (at not in DRAWN or self.ticket[process] > 0) and (at not in DRAWING or self.flag[process])
            for process, at in self.at.items()
        )

    @reachable
    def both_draw_the_same_ticket(self) -> bool:
        return any(
            self.at[process] in WAITING and self.at[other] in WAITING
            for process in self.at
            for other in self.at
            if process < other and self.ticket[process] == self.ticket[other]
        )

    @reachable
    def one_waits_while_another_is_inside(self) -> bool:
        return any(
            self.at[process] is At.INSIDE and self.at[other] is At.ASK
            for process in self.at
            for other in self.at
            if process != other and self.asks[other] == process
        )
