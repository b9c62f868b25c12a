"""How two-phase commit goes wrong: votes that are not waited for, and decisions that are not kept."""

from __future__ import annotations

from falsework.language import require, twin
from falsework.models.classics.two_phase_commit import Manager, Order, Stage, TwoPhaseCommit


# Shortest: commit, obey_commit of one manager, give_up of another: each must move, and one after the order.
@twin(breaks={TwoPhaseCommit.managers_never_disagree: 3})
class CoordinatorWhoDoesNotWait(TwoPhaseCommit):
    """The coordinator orders the commit without waiting for the votes."""

    def may_commit(self) -> bool:
        return True


# Shortest: prepare, hear, commit, obey_commit of one manager, give_up of another.
@twin(breaks={TwoPhaseCommit.managers_never_disagree: 5})
class FirstVoteDecides(TwoPhaseCommit):
    """The coordinator takes one manager's vote for the vote of all."""

    def may_commit(self) -> bool:
        return any(manager in self.heard for manager in self.stage)


# Shortest: prepare and hear of all three, commit, obey_commit of one manager, give_up of another.
@twin(breaks={TwoPhaseCommit.managers_never_disagree: 9})
class PreparedManagerGivesUp(TwoPhaseCommit):
    """A manager that has voted grows tired of waiting for the outcome and aborts on its own."""

    def may_give_up(self, manager: Manager) -> bool:
        return self.stage[manager] is not Stage.COMMITTED


# Shortest: prepare and hear of all three, commit, obey_commit of one, abort, obey_abort of any.
@twin(breaks={TwoPhaseCommit.managers_never_disagree: 10})
class CoordinatorTimesOutAfterItsDecision(TwoPhaseCommit):
    """The coordinator's timer runs on after the decision, and aborts a transaction that it has committed."""

    def may_abort(self) -> bool:
        return Order.ABORT not in self.orders


# Shortest: give_up and vote of one manager, prepare of the other two, hear of all three, commit, obey_commit.
@twin(breaks={TwoPhaseCommit.managers_never_disagree: 9})
class AbortedManagerVotes(TwoPhaseCommit):
    """A manager that has already aborted answers the call for votes all the same."""

    def prepare(self, manager: Manager) -> None:
        require(self.stage[manager] is Stage.WORKING or self.stage[manager] is Stage.ABORTED)
        if self.stage[manager] is Stage.WORKING:
            self.stage[manager] = Stage.PREPARED
        self.votes.add(manager)
