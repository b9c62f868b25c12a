"""How Paxos commit goes wrong: leaders who guess, leaders who do not ask, and acceptors who go back."""

from __future__ import annotations

from falsework.language import twin
from falsework.models.classics.paxos_commit import (
    Acceptor,
    Ballot,
    Manager,
    Outcome,
    PaxosCommit,
    Stage,
    ThreeAcceptors,
)


# Shortest: prepare and vote for one manager; begin, promise, propose and vote for the other, of whom
# nothing was heard; commit.
@twin(
    breaks={
        PaxosCommit.nobody_commits_what_was_not_prepared: 7,
        PaxosCommit.the_prepared_are_aborted: None,
    }
)
class LeaderHopesForTheBest(PaxosCommit):
    """A leader who finds no vote takes the manager for prepared."""

    def outcome_by_default(self) -> Outcome:
        return Outcome.PREPARED


# Shortest: prepare; begin, promise, propose, vote of one acceptor, abort; vote of another in ballot 0,
# commit.
@twin(breaks={PaxosCommit.one_order_is_given: 8}, within=ThreeAcceptors)
class SomeAcceptorsAreEnough(PaxosCommit):
    """A third of the acceptors counts as a majority of them."""

    def is_majority(self, acceptors: int) -> bool:
        return 3 * acceptors >= self.ACCEPTORS


# Shortest: prepare and vote for both, commit and abort.
@twin(breaks={PaxosCommit.one_order_is_given: 6})
class LeaderLosesPatience(PaxosCommit):
    """A leader orders the abort as soon as it is tired of waiting, and asks no acceptor."""

    def may_abort(self) -> bool:
        return True


# Shortest: prepare, vote, commit, while the other manager works; and where the other gives up: both
# votes, commit and abort.
@twin(breaks={PaxosCommit.nobody_commits_what_was_not_prepared: 3, PaxosCommit.one_order_is_given: 6})
class FirstManagerDecides(PaxosCommit):
    """A leader takes one manager's readiness for the readiness of all."""

    def may_commit(self) -> bool:
        return any(self.is_chosen(manager, Outcome.PREPARED) for manager in self.stage)


# Shortest: prepare and vote for both; propose and vote to abort one of them; commit and abort.
@twin(
    breaks={
        PaxosCommit.one_order_is_given: 8,
        PaxosCommit.a_later_ballot_finds_that_its_manager_has_prepared: None,
    }
)
class LeaderDoesNotListen(PaxosCommit):
    """A leader of a later ballot has the manager aborted, whatever the promises say."""

    def is_safe(self, manager: Manager, ballot: Ballot, outcome: Outcome) -> bool:
        return outcome is Outcome.ABORTED


# Shortest: prepare, begin, promise, vote in ballot 0.
@twin(breaks={PaxosCommit.an_acceptor_never_goes_back: 4})
class AcceptorVotesInAnyBallot(PaxosCommit):
    """An acceptor votes as it is asked to, although it has promised not to."""

    def may_vote(self, manager: Manager, acceptor: Acceptor, ballot: Ballot) -> bool:
        return True


# Shortest: prepare and vote for both, give_up of one, commit, obey_commit of the other; and where the
# acceptor votes once more: prepare of both, give_up of one, three votes, abort and commit.
@twin(breaks={PaxosCommit.managers_never_disagree: 7, PaxosCommit.one_order_is_given: 8})
class PreparedManagerGivesUp(PaxosCommit):
    """A manager that has prepared grows tired of waiting for the outcome and aborts on its own."""

    def may_give_up(self, manager: Manager) -> bool:
        return self.stage[manager] in (Stage.WORKING, Stage.PREPARED)
