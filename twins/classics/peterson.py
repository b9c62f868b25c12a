"""How two processes fail to exclude each other, or wait for ever."""

from __future__ import annotations

from falsework.language import deadlock, require, twin
from falsework.models.classics.peterson import At, Peterson, Process


# Shortest: nobody is inside in fewer than four steps (want, raise_flag, give_way, enter), and both must be.
@twin(breaks={Peterson.one_is_in_the_critical_section: 8})
class NobodyGivesWay(Peterson):
    """Each process claims the turn for itself instead of offering it to the other."""

    def give_way(self, process: Process) -> None:
        require(self.at[process] is At.TURN)
        self.turn = process
        self.at[process] = At.GATE


# Shortest: want, raise_flag and give_way of both; each then waits for the other's flag.
@twin(breaks={deadlock: 6})
class TurnIsNotAsked(Peterson):
    """A process waits for the other's flag alone, so that two who come together wait for each other."""

    def gate_is_open(self, process: Process) -> bool:
        return not self.flag[self.other(process)]


# A process passes the gate only by the other's give_way, and the other rests again only when it has passed
# too.
@twin(breaks={Peterson.one_enters_while_the_other_rests: None})
class FlagIsNotAsked(Peterson):
    """A process waits for the turn alone, so that nobody comes in twice before the other has come in once."""

    def gate_is_open(self, process: Process) -> bool:
        return self.turn == process


# Shortest: the six steps of one process, the last of which leaves its flag up.
@twin(breaks={Peterson.a_flag_is_up_from_the_gate_to_the_exit: 6})
class FlagIsForgotten(Peterson):
    """A process leaves without lowering its flag."""

    def leave(self, process: Process) -> None:
        require(self.at[process] is At.EXIT)
        self.at[process] = At.REST
