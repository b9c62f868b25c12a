"""Peterson's algorithm: two processes exclude each other with two flags and one turn."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from falsework.language import Below, Map, Model, action, internal, invariant, reachable, require

Process = Annotated[int, Below(2)]


class At(Enum):
    """The step that a process takes next."""

    REST = 0
    FLAG = 1
    TURN = 2
    GATE = 3
    INSIDE = 4
    EXIT = 5


class Peterson(Model):
    """A process raises its flag, gives way, and waits until the other's flag is down or the turn is back."""

    at: Map[Process, At] = Map(At.REST)
    flag: Map[Process, bool] = Map(False)
    turn: Process = 0

    def other(self, process: Process) -> Process:
        return 1 - process

    def gate_is_open(self, process: Process) -> bool:
        return not self.flag[self.other(process)] or self.turn == process

    @action
    def want(self, process: Process) -> None:
        require(self.at[process] is At.REST)
        self.at[process] = At.FLAG

    @internal
    def raise_flag(self, process: Process) -> None:
        require(self.at[process] is At.FLAG)
        self.flag[process] = True
        self.at[process] = At.TURN

    @internal
    def give_way(self, process: Process) -> None:
        require(self.at[process] is At.TURN)
        self.turn = self.other(process)
        self.at[process] = At.GATE

    @action
    def enter(self, process: Process) -> None:
        require(self.at[process] is At.GATE and self.gate_is_open(process))
        self.at[process] = At.INSIDE

    @action
    def work(self, process: Process) -> None:
        require(self.at[process] is At.INSIDE)
        self.at[process] = At.EXIT

    @action
    def leave(self, process: Process) -> None:
        require(self.at[process] is At.EXIT)
        self.flag[process] = False
        self.at[process] = At.REST

    def is_inside(self, process: Process) -> bool:
        return self.at[process] in (At.INSIDE, At.EXIT)

    @invariant
    def one_is_in_the_critical_section(self) -> bool:
        return not (self.is_inside(0) and self.is_inside(1))

    @invariant
    def a_flag_is_up_from_the_gate_to_the_exit(self) -> bool:
        return all(up == (self.at[process] not in (At.REST, At.FLAG)) for process, up in self.flag.items())

    @reachable
    def one_enters_while_the_other_rests(self) -> bool:
        return self.is_inside(0) and self.at[1] is At.REST

    @reachable
    def one_waits_for_the_other(self) -> bool:
        return self.is_inside(0) and self.at[1] is At.GATE and not self.gate_is_open(1)
