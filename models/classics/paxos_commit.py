"""Paxos commit, as Gray and Lamport describe it: each manager's vote is a decision of Paxos of its own.

Two-phase commit waits for ever for a coordinator that is gone. Here whoever loses patience may lead a later
ballot for a manager and have it aborted, or find out that it has prepared. Messages are never taken out of
the sets that hold them, so loss, delay and repetition need no action of their own, and what was once sent may
be sent again.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    Set,
    Upto,
    action,
    configuration,
    count,
    invariant,
    reachable,
    require,
)

Manager = Annotated[int, Below("MANAGERS")]
Acceptor = Annotated[int, Below("ACCEPTORS")]
Ballot = Annotated[int, Upto("LAST_BALLOT")]


class Stage(Enum):
    """How far a manager is with its part of the transaction."""

    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Outcome(Enum):
    """What the acceptors choose for one manager."""

    PREPARED = 0
    ABORTED = 1


class Order(Enum):
    """What a leader tells every manager."""

    COMMIT = 0
    ABORT = 1


class Vote(Record):
    """An outcome, and the ballot in which it was voted for."""

    ballot: Ballot
    outcome: Outcome


class Promise(Record):
    """The answer to the beginning of a ballot: the acceptor's last vote before it, if any."""

    vote: Vote | None


class PaxosCommit(Model):
    """Ballot 0 of its decision is a manager's own; a later one proposes what a majority's promises allow."""

    MANAGERS: ClassVar[int] = 2
    ACCEPTORS: ClassVar[int] = 1
    LAST_BALLOT: ClassVar[int] = 1

    stage: Map[Manager, Stage] = Map(Stage.WORKING)
    joined: Map[tuple[Manager, Acceptor], Ballot] = Map(0)  # the latest ballot in which it has taken part
    voted: Map[tuple[Manager, Acceptor], Vote | None] = Map(None)  # its last vote
    begun: Set[tuple[Manager, Ballot]] = Set()  # messages: who promises to vote in no ballot before this one?
    promises: Map[tuple[Manager, Acceptor, Ballot], Promise | None] = Map(None)  # messages: the answers
    proposals: Set[tuple[Manager, Ballot, Outcome]] = Set()  # messages: vote for this outcome
    votes: Set[tuple[Manager, Acceptor, Ballot, Outcome]] = Set()  # messages: the votes
    orders: Set[Order] = Set()  # messages to all managers

    # The joints.

    def is_majority(self, acceptors: int) -> bool:
        return 2 * acceptors > self.ACCEPTORS

    def outcome_by_default(self) -> Outcome:
        """What a leader proposes who finds no vote."""
        return Outcome.ABORTED

    def may_give_up(self, manager: Manager) -> bool:
        return self.stage[manager] is Stage.WORKING

    def may_join(self, manager: Manager, acceptor: Acceptor, ballot: Ballot) -> bool:
        return self.joined[manager, acceptor] < ballot

    def may_vote(self, manager: Manager, acceptor: Acceptor, ballot: Ballot) -> bool:
        return self.joined[manager, acceptor] <= ballot

    def may_commit(self) -> bool:
        return all(self.is_chosen(manager, Outcome.PREPARED) for manager in self.stage)

    def may_abort(self) -> bool:
        return any(self.is_chosen(manager, Outcome.ABORTED) for manager in self.stage)

    # What a leader reads off the messages.

    def is_without_proposal(self, manager: Manager, ballot: Ballot) -> bool:
        return not any((manager, ballot, outcome) in self.proposals for outcome in Outcome)

    def promised_without_a_vote(self, manager: Manager, acceptor: Acceptor, ballot: Ballot) -> bool:
        promise = self.promises[manager, acceptor, ballot]
        return promise is not None and promise.vote is None

    def promised_without_a_vote_after(
        self, manager: Manager, acceptor: Acceptor, ballot: Ballot, vote: Vote
    ) -> bool:
        promise = self.promises[manager, acceptor, ballot]
        return promise is not None and (promise.vote is None or promise.vote.ballot <= vote.ballot)

    def a_promise_hands_down(
        self, manager: Manager, acceptor: Acceptor, ballot: Ballot, outcome: Outcome
    ) -> bool:
        promise = self.promises[manager, acceptor, ballot]
        return (
            promise is not None
            and promise.vote is not None
            and promise.vote.outcome is outcome
            and self.is_latest_of_a_majority(manager, ballot, promise.vote)
        )

    def is_latest_of_a_majority(self, manager: Manager, ballot: Ballot, vote: Vote) -> bool:
        return self.is_majority(
            count(
                self.promised_without_a_vote_after(manager, acceptor, ballot, vote)
                for acceptor in range(self.ACCEPTORS)
            )
        )

    def nothing_is_handed_down(self, manager: Manager, ballot: Ballot) -> bool:
        return self.is_majority(
            count(
                self.promised_without_a_vote(manager, acceptor, ballot) for acceptor in range(self.ACCEPTORS)
            )
        )

    def is_safe(self, manager: Manager, ballot: Ballot, outcome: Outcome) -> bool:
        return (outcome is self.outcome_by_default() and self.nothing_is_handed_down(manager, ballot)) or any(
            self.a_promise_hands_down(manager, acceptor, ballot, outcome)
            for acceptor in range(self.ACCEPTORS)
        )

    def is_chosen_in(self, manager: Manager, ballot: Ballot, outcome: Outcome) -> bool:
        return self.is_majority(
            count((manager, acceptor, ballot, outcome) in self.votes for acceptor in range(self.ACCEPTORS))
        )

    def is_chosen(self, manager: Manager, outcome: Outcome) -> bool:
        return any(self.is_chosen_in(manager, ballot, outcome) for ballot in range(self.LAST_BALLOT + 1))

    # What managers do.

    @action
    def prepare(self, manager: Manager) -> None:
        require(self.stage[manager] is Stage.WORKING)
        self.stage[manager] = Stage.PREPARED
        self.proposals.add((manager, 0, Outcome.PREPARED))

    @action
    def give_up(self, manager: Manager) -> None:
        require(self.may_give_up(manager))
        self.stage[manager] = Stage.ABORTED
        self.proposals.add((manager, 0, Outcome.ABORTED))

    @action
    def obey_commit(self, manager: Manager) -> None:
        require(Order.COMMIT in self.orders)
        self.stage[manager] = Stage.COMMITTED

    @action
    def obey_abort(self, manager: Manager) -> None:
        require(Order.ABORT in self.orders)
        self.stage[manager] = Stage.ABORTED

    # What leaders do.

    @action
    def begin(self, manager: Manager, ballot: Ballot) -> None:
        require(ballot > 0)
        self.begun.add((manager, ballot))

    @action
    def propose(self, manager: Manager, ballot: Ballot, outcome: Outcome) -> None:
        require(ballot > 0 and self.is_without_proposal(manager, ballot))
        require(self.is_safe(manager, ballot, outcome))
        self.proposals.add((manager, ballot, outcome))

    @action
    def commit(self) -> None:
        require(self.may_commit())
        self.orders.add(Order.COMMIT)

    @action
    def abort(self) -> None:
        require(self.may_abort())
        self.orders.add(Order.ABORT)

    # What acceptors do.

    @action
    def promise(self, manager: Manager, acceptor: Acceptor, ballot: Ballot) -> None:
        require((manager, ballot) in self.begun and self.may_join(manager, acceptor, ballot))
        self.joined[manager, acceptor] = ballot
        self.promises[manager, acceptor, ballot] = Promise(self.voted[manager, acceptor])

    @action
    def vote(self, manager: Manager, acceptor: Acceptor, ballot: Ballot, outcome: Outcome) -> None:
        require((manager, ballot, outcome) in self.proposals and self.may_vote(manager, acceptor, ballot))
        self.joined[manager, acceptor] = ballot
        self.voted[manager, acceptor] = Vote(ballot, outcome)
        self.votes.add((manager, acceptor, ballot, outcome))

    @invariant
    def managers_never_disagree(self) -> bool:
        return not (
            any(stage is Stage.COMMITTED for stage in self.stage.values())
            and any(stage is Stage.ABORTED for stage in self.stage.values())
        )

    @invariant
    def one_order_is_given(self) -> bool:
        return not (Order.COMMIT in self.orders and Order.ABORT in self.orders)

    @invariant
    def nobody_commits_what_was_not_prepared(self) -> bool:
        return Order.COMMIT not in self.orders or all(
            (manager, 0, Outcome.PREPARED) in self.proposals for manager in self.stage
        )

    @invariant
    def an_acceptor_never_goes_back(self, before: PaxosCommit) -> bool:
        return all(ballot >= before.joined[place] for place, ballot in self.joined.items())

    @reachable
    def everyone_commits(self) -> bool:
        return all(stage is Stage.COMMITTED for stage in self.stage.values())

    @reachable
    def the_prepared_are_aborted(self) -> bool:
        return Order.ABORT in self.orders and all(
            (manager, 0, Outcome.PREPARED) in self.proposals for manager in self.stage
        )

    @reachable
    def a_later_ballot_finds_that_its_manager_has_prepared(self) -> bool:
        return any((manager, self.LAST_BALLOT, Outcome.PREPARED) in self.proposals for manager in self.stage)


@configuration(holds=True)
class ThreeAcceptors(PaxosCommit):
    """One manager, whose outcome three acceptors choose."""

    MANAGERS = 1
    ACCEPTORS = 3
