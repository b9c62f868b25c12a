"""How the bakery serves two at once, or nobody: tickets drawn too low, and neighbours not looked at."""

from __future__ import annotations

from falsework.language import deadlock, require, twin
from falsework.models.classics.bakery import At, Bakery, Process, Ticket


# Shortest: the first six steps (want, raise_flag, look, look_away, draw, lower_flag) of both, who draw 1; ask
# and go_past of the second, whose turn it is not.
@twin(breaks={Bakery.whoever_went_past_goes_before: 14})
class TiesGoToBoth(Bakery):
    """Of two processes with the same ticket each goes before the other."""

    def goes_before(self, ticket: Ticket, process: Process, other_ticket: Ticket, other: Process) -> bool:
        return ticket <= other_ticket


# Shortest: the first six steps of both, who draw 1; ask of both.
@twin(breaks={deadlock: 14})
class TiesGoToNobody(Bakery):
    """Of two processes with the same ticket each waits for the other."""

    def goes_before(self, ticket: Ticket, process: Process, other_ticket: Ticket, other: Process) -> bool:
        return ticket < other_ticket


# Shortest: want, raise_flag and look of both; look_away, draw, lower_flag and ask of one, while the other,
# who looked too early to see its ticket, has yet to draw.
@twin(breaks={Bakery.whoever_looked_in_time_draws_above: 10})
class NobodyWaitsForTheDoor(Bakery):
    """A process looks at the ticket of another who is still drawing it."""

    def may_ask(self, process: Process, other: Process) -> bool:
        return True


# Shortest: want of both, the next five steps of one and its ask; raise_flag, look and look_away of the
# other, go_past of the one, and the other draws the same ticket, with which it goes first.
@twin(breaks={Bakery.whoever_went_past_goes_before: 13})
class TicketIsTheHighestSeen(Bakery):
    """A process draws the highest ticket that it has seen where it needs one above."""

    def may_draw(self, process: Process, ticket: Ticket) -> bool:
        return ticket > 0 and ticket >= self.highest[process]


# Shortest: want, raise_flag.
@twin(breaks={Bakery.a_ticket_is_held_and_a_flag_is_up: 2})
class FlagStaysDown(Bakery):
    """A process draws its ticket without saying so first."""

    def raise_flag(self, process: Process) -> None:
        require(self.at[process] is At.DOOR)
        self.highest[process] = 0
        self.owe_everyone(process)
        self.at[process] = At.LOOK


# Shortest: want, raise_flag and look of both; look_away, draw, lower_flag and enter of one, whose ticket
# the other has not seen. And for two inside: the first six steps of both, who draw 1, and enter of both.
@twin(breaks={Bakery.whoever_went_past_goes_before: 10, Bakery.one_is_inside: 14})
class ImpatientCustomer(Bakery):
    """A process goes in before it has looked at everyone's ticket."""

    def may_enter(self, process: Process) -> bool:
        return True
