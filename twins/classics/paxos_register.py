"""How servers that run Paxos write twice, or answer with what was never decided."""

from __future__ import annotations

from falsework.language import deadlock, twin
from falsework.models.classics.paxos_register import Ballot, Client, PaxosRegister, Server


# Shortest: two writes heard; the third server gives each leader in turn a promise, and hears its accept;
# both hear that it agreed. Of the two who decide, each has its own client's value.
@twin(
    breaks={
        PaxosRegister.one_value_is_decided: 10,
        PaxosRegister.a_leader_gives_way_to_a_value_accepted_before: None,
    }
)
class LeaderForgetsWhatItWasTold(PaxosRegister):
    """A leader proposes its own client's value, whatever the promises say."""

    def value_to_propose(self, leader: Server, own: Client) -> Client:
        return own


# Shortest: two writes heard; prepares and promises of the third server for both leaders, then both
# accepts, then both agreements. And with nobody to decide: the later leader is itself taken back to the
# earlier ballot by an accept, the earlier one has gone on to the later, and neither hears what was meant
# for it.
@twin(breaks={deadlock: 8, PaxosRegister.one_value_is_decided: 10})
class ServerAcceptsFromThePast(PaxosRegister):
    """A server accepts what it is asked to, although it has promised a later leader not to."""

    def may_accept(self, server: Server, ballot: Ballot) -> bool:
        return True


# Shortest: as the model decides twice, in ten steps, both times for the same value; and two confirmations
# heard. And the second leader hears a promise of the first, gives way to its value, decides, and its
# client reads a value that is not its own.
@twin(breaks={PaxosRegister.one_write_is_confirmed: 12, PaxosRegister.who_reads_has_written: 12})
class LeaderConfirmsItsOwnClient(PaxosRegister):
    """A leader tells the client whose write it began with that it is done, whatever was decided."""

    def writer_to_confirm(self, leader: Server, value: Client) -> Client:
        return leader


# Shortest: the second server hears a write, and the first makes it a promise; the first hears a write, in a
# later round, has the third's promise and agreement, and decides; the second, who has heard the first one's
# promise and accepted its own client's value, answers the first client's read with that.
@twin(breaks={PaxosRegister.who_reads_has_written: 11})
class ServerAnswersBeforeTheDecision(PaxosRegister):
    """A server answers a read with what it has accepted, whether that is decided or not."""

    def may_answer(self, server: Server) -> bool:
        return self.accepted[server] is not None
