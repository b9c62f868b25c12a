"""Two-phase commit, as Gray and Lamport describe it: a coordinator, and managers of whom none commits alone.

Messages are never taken out of the sets that hold them, so loss, delay and repetition need no action of their
own. Nor is any state a dead end: whoever has been told the outcome may be told it again.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import Below, Map, Model, Set, action, configuration, invariant, reachable, require

Manager = Annotated[int, Below("MANAGERS")]


class Stage(Enum):
    """How far a manager is with its part of the transaction."""

    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Order(Enum):
    """What the coordinator tells every manager."""

    COMMIT = 0
    ABORT = 1


class TwoPhaseCommit(Model):
    """The coordinator orders a commit only after it has heard from every manager that it is prepared."""

    MANAGERS: ClassVar[int] = 3

    stage: Map[Manager, Stage] = Map(Stage.WORKING)
    heard: Set[Manager] = Set()  # whose vote the coordinator has received
    votes: Set[Manager] = Set()  # messages: this manager is prepared
    orders: Set[Order] = Set()  # messages to all managers, and all that the coordinator has decided

    def is_open(self) -> bool:
        return Order.COMMIT not in self.orders and Order.ABORT not in self.orders

    def may_commit(self) -> bool:
        return all(manager in self.heard for manager in self.stage)

    def may_abort(self) -> bool:
        return self.is_open()

    def may_give_up(self, manager: Manager) -> bool:
        return self.stage[manager] is Stage.WORKING

    @action
    def hear(self, manager: Manager) -> None:
        require(self.is_open() and manager in self.votes)
        self.heard.add(manager)

    @action
    def commit(self) -> None:
        require(self.is_open() and self.may_commit())
        self.orders.add(Order.COMMIT)

    @action
    def abort(self) -> None:
        require(self.may_abort())
        self.orders.add(Order.ABORT)

    @action
    def prepare(self, manager: Manager) -> None:
        require(self.stage[manager] is Stage.WORKING)
        self.stage[manager] = Stage.PREPARED
        self.votes.add(manager)

    @action
    def give_up(self, manager: Manager) -> None:
        require(self.may_give_up(manager))
        self.stage[manager] = Stage.ABORTED

    @action
    def obey_commit(self, manager: Manager) -> None:
        require(Order.COMMIT in self.orders)
        self.stage[manager] = Stage.COMMITTED

    @action
    def obey_abort(self, manager: Manager) -> None:
        require(Order.ABORT in self.orders)
        self.stage[manager] = Stage.ABORTED

    @invariant
    def managers_never_disagree(self) -> bool:
        return not (
            any(stage is Stage.COMMITTED for stage in self.stage.values())
            and any(stage is Stage.ABORTED for stage in self.stage.values())
        )

    @reachable
    def everyone_commits(self) -> bool:
        return all(stage is Stage.COMMITTED for stage in self.stage.values())

    @reachable
    def everyone_aborts(self) -> bool:
        return all(stage is Stage.ABORTED for stage in self.stage.values())

    @reachable
    def the_coordinator_aborts_although_everyone_is_prepared(self) -> bool:
        return Order.ABORT in self.orders and all(stage is Stage.PREPARED for stage in self.stage.values())


@configuration(holds=True)
class FiveManagers(TwoPhaseCommit):
    """Five managers: 8,832 states."""

    MANAGERS = 5


@configuration(holds=True)
class SevenManagers(TwoPhaseCommit):
    """Seven managers: 296,448 states."""

    MANAGERS = 7
