"""Paxos for one decision, as Lamport specifies it: acceptors vote in ballots, and a majority chooses.

Whoever leads a ballot is no part of it, and learners neither: a value is chosen when the votes are there.
Messages are never taken out of the sets that hold them, so loss, delay and repetition need no action of their
own, and a ballot that has begun may be begun again.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    Set,
    Upto,
    action,
    count,
    invariant,
    reachable,
    require,
)

Acceptor = Annotated[int, Below("ACCEPTORS")]
Ballot = Annotated[int, Upto("LAST_BALLOT")]
Value = Annotated[int, Below("VALUES")]


class Vote(Record):
    """A value, and the ballot in which it was voted for."""

    ballot: Ballot
    value: Value


class Promise(Record):
    """The answer to the beginning of a ballot: the acceptor's last vote before it, if any."""

    vote: Vote | None


class Paxos(Model):
    """A value is proposed only if a majority's promises show that no earlier ballot can choose another."""

    ACCEPTORS: ClassVar[int] = 3
    VALUES: ClassVar[int] = 2
    LAST_BALLOT: ClassVar[int] = 1

    joined: Map[Acceptor, Ballot | None] = Map(None)  # the latest ballot in which it has taken part
    voted: Map[Acceptor, Vote | None] = Map(None)  # its last vote
    begun: Set[Ballot] = Set()  # messages: who promises to vote in no ballot before this one?
    promises: Map[tuple[Acceptor, Ballot], Promise | None] = Map(None)  # messages: the answers
    proposals: Set[tuple[Ballot, Value]] = Set()  # messages: vote for this value
    votes: Set[tuple[Acceptor, Ballot, Value]] = Set()  # messages: the votes

    def is_majority(self, acceptors: int) -> bool:
        return 2 * acceptors > self.ACCEPTORS

    def vote_to_tell(self, acceptor: Acceptor) -> Vote | None:
        return self.voted[acceptor]

    def may_join(self, acceptor: Acceptor, ballot: Ballot) -> bool:
        joined = self.joined[acceptor]
        return joined is None or joined < ballot

    def has_joined_none_after(self, acceptor: Acceptor, ballot: Ballot) -> bool:
        joined = self.joined[acceptor]
        return joined is None or joined <= ballot

    def may_vote(self, acceptor: Acceptor, ballot: Ballot) -> bool:
        return self.has_joined_none_after(acceptor, ballot)

    def is_without_proposal(self, ballot: Ballot) -> bool:
        return not any((ballot, value) in self.proposals for value in range(self.VALUES))

    def promised_without_a_vote(self, acceptor: Acceptor, ballot: Ballot) -> bool:
        promise = self.promises[acceptor, ballot]
        return promise is not None and promise.vote is None

    def promised_without_a_vote_after(self, acceptor: Acceptor, ballot: Ballot, vote: Vote) -> bool:
        promise = self.promises[acceptor, ballot]
        return promise is not None and (promise.vote is None or promise.vote.ballot <= vote.ballot)

    def is_latest_of_a_majority(self, ballot: Ballot, vote: Vote) -> bool:
        return self.is_majority(
            count(self.promised_without_a_vote_after(acceptor, ballot, vote) for acceptor in self.voted)
        )

    def a_promise_hands_down(self, acceptor: Acceptor, ballot: Ballot, value: Value) -> bool:
        promise = self.promises[acceptor, ballot]
        return (
            promise is not None
            and promise.vote is not None
            and promise.vote.value == value
            and self.is_latest_of_a_majority(ballot, promise.vote)
        )

    def any_value_is_safe(self, ballot: Ballot) -> bool:
        return self.is_majority(
            count(self.promised_without_a_vote(acceptor, ballot) for acceptor in self.voted)
        )

    def is_safe(self, ballot: Ballot, value: Value) -> bool:
        return self.any_value_is_safe(ballot) or any(
            self.a_promise_hands_down(acceptor, ballot, value) for acceptor in self.voted
        )

    @action
    def begin(self, ballot: Ballot) -> None:
        self.begun.add(ballot)

    @action
    def promise(self, acceptor: Acceptor, ballot: Ballot) -> None:
        require(ballot in self.begun and self.may_join(acceptor, ballot))
        self.joined[acceptor] = ballot
        self.promises[acceptor, ballot] = Promise(self.vote_to_tell(acceptor))

    @action
    def propose(self, ballot: Ballot, value: Value) -> None:
        require(self.is_without_proposal(ballot) and self.is_safe(ballot, value))
        self.proposals.add((ballot, value))

    @action
    def vote(self, acceptor: Acceptor, ballot: Ballot, value: Value) -> None:
        require((ballot, value) in self.proposals and self.may_vote(acceptor, ballot))
        self.joined[acceptor] = ballot
        self.voted[acceptor] = Vote(ballot, value)
        self.votes.add((acceptor, ballot, value))

    def is_chosen_in(self, ballot: Ballot, value: Value) -> bool:
        return 2 * count((acceptor, ballot, value) in self.votes for acceptor in self.voted) > self.ACCEPTORS

    def is_chosen(self, value: Value) -> bool:
        return any(self.is_chosen_in(ballot, value) for ballot in range(self.LAST_BALLOT + 1))

    @invariant
    def one_value_is_chosen(self) -> bool:
        return count(self.is_chosen(value) for value in range(self.VALUES)) <= 1

    @invariant
    def a_ballot_has_one_value(self) -> bool:
        return all(
            count((ballot, value) in self.proposals for value in range(self.VALUES)) <= 1
            for ballot in range(self.LAST_BALLOT + 1)
        )

    @invariant
    def a_promise_is_not_broken(self, before: Paxos) -> bool:
        """A vote that was not there before is for no ballot earlier than the acceptor's latest."""
        return all(
            (acceptor, ballot, value) in before.votes or before.has_joined_none_after(acceptor, ballot)
            for acceptor, ballot, value in self.votes
        )

    @invariant
    def the_last_vote_is_remembered(self) -> bool:
        return all(self.remembers_a_vote_in(acceptor, ballot) for acceptor, ballot, value in self.votes)

    def remembers_a_vote_in(self, acceptor: Acceptor, ballot: Ballot) -> bool:
        voted = self.voted[acceptor]
        return voted is not None and voted.ballot >= ballot

    @reachable
    def everyone_votes_for_the_same(self) -> bool:
        return any(
            all((acceptor, ballot, value) in self.votes for acceptor in self.voted)
            for ballot in range(self.LAST_BALLOT + 1)
            for value in range(self.VALUES)
        )

    @reachable
    def a_later_ballot_confirms_the_choice(self) -> bool:
        return any(
            self.is_chosen_in(0, value) and self.is_chosen_in(self.LAST_BALLOT, value)
            for value in range(self.VALUES)
        )

    @reachable
    def a_later_ballot_chooses_what_was_not_proposed_before(self) -> bool:
        return any(
            (0, value) not in self.proposals and (0, other) in self.proposals and self.is_chosen(value)
            for value in range(self.VALUES)
            for other in range(self.VALUES)
        )
