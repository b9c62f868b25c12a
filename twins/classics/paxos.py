"""How Paxos chooses twice, or keeps no promise: leaders who do not listen, acceptors who forget."""

from __future__ import annotations

from falsework.language import twin
from falsework.models.classics.paxos import Acceptor, Ballot, Paxos, Value, Vote


# Shortest: two ballots propose two values, and two of three acceptors vote in each, first in the earlier.
@twin(breaks={Paxos.one_value_is_chosen: 6})
class LeaderDoesNotListen(Paxos):
    """A leader proposes a value of its own, whatever the promises say."""

    def is_safe(self, ballot: Ballot, value: Value) -> bool:
        return True


# Shortest: begin twice, two promises for ballot 0, a proposal and a vote; that voter and one more promise
# for ballot 1, where another value is proposed and gets two votes; the third acceptor, who promised
# nothing, votes in ballot 0.
@twin(breaks={Paxos.one_value_is_chosen: 12})
class AcceptorForgetsItsVote(Paxos):
    """An acceptor promises as if it had never voted: its vote was not on the disk."""

    def vote_to_tell(self, acceptor: Acceptor) -> Vote | None:
        return None


# Shortest: as above with one promise less for each ballot, both of one acceptor.
@twin(breaks={Paxos.one_value_is_chosen: 10})
class OnePromiseIsEnough(Paxos):
    """A leader asks for some acceptors where it needs most of them."""

    def is_majority(self, acceptors: int) -> bool:
        return 3 * acceptors >= self.ACCEPTORS


# Shortest: begin, two promises, two proposals.
@twin(breaks={Paxos.a_ballot_has_one_value: 5})
class TwoLeadersOfOneBallot(Paxos):
    """Two processes take the same ballot for theirs, and each proposes a value."""

    def is_without_proposal(self, ballot: Ballot) -> bool:
        return True


# Shortest: begin twice, two promises and a proposal for ballot 0, a promise for ballot 1 by whoever then
# votes in ballot 0. The last vote of the other two counterexamples is such a vote as well: a broken step
# is judged like any other, and not gone on from.
@twin(
    breaks={
        Paxos.a_promise_is_not_broken: 7,
        Paxos.the_last_vote_is_remembered: 10,
        Paxos.one_value_is_chosen: 12,
    }
)
class AcceptorVotesInAnyBallot(Paxos):
    """An acceptor votes as it is asked to, although it has promised not to."""

    def may_vote(self, acceptor: Acceptor, ballot: Ballot) -> bool:
        return True
