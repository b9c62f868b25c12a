"""Lamport's distributed mutual exclusion: requests are served in the order of their times on logical clocks.

Clocks run for ever, so the system itself has no bound: how far it is searched is said in `hear_request`.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Between,
    Map,
    Model,
    Record,
    Set,
    Upto,
    action,
    bound,
    configuration,
    count,
    internal,
    invariant,
    reachable,
    require,
)

Process = Annotated[int, Below("PROCESSES")]
Clock = Annotated[int, Between(1, "LAST_TIME")]
Time = Annotated[int, Upto("LAST_TIME")]  # of a request; 0 where there is none
Place = Annotated[int, Below(4)]  # one more than a channel ever holds, so that a longer one would be seen


class Kind(Enum):
    """What a message says."""

    REQUEST = 0
    ANSWER = 1
    RELEASE = 2


class Message(Record):
    """What one process tells another; the time is that of a request, and else 0."""

    kind: Kind
    time: Time


class LamportMutex(Model):
    """A process enters when all have answered its request and none that it knows of has an earlier one."""

    PROCESSES: ClassVar[int] = 2
    LAST_TIME: ClassVar[int] = 4  # where looking stops

    clock: Map[Process, Clock] = Map(1)
    requested: Map[tuple[Process, Process], Time] = Map(0)  # what the first knows of the second's request
    answered: Set[tuple[Process, Process]] = Set()  # the first has the second's answer to its request
    inside: Set[Process] = Set()
    # From the first to the second, and the next to be heard in place 0: a channel keeps all, and their order.
    channel: Map[tuple[Process, Process, Place], Message | None] = Map(None)

    # The joints.

    def may_ask(self, process: Process) -> bool:
        return self.requested[process, process] == 0

    def clock_after(self, process: Process, time: Time) -> int:
        """The clock of a process that has heard of that time."""
        return max(self.clock[process], time) + 1

    def everyone_answered(self, process: Process) -> bool:
        return all((process, other) in self.answered for other in self.clock)

    def goes_before(self, process: Process, other: Process) -> bool:
        """Whether the process finds its own request earlier than the other's, of which it may not know."""
        mine = self.requested[process, process]
        theirs = self.requested[process, other]
        return theirs == 0 or mine < theirs or (mine == theirs and process < other)

    def forget_the_answers(self, process: Process) -> None:
        for other in self.clock:
            self.answered.discard((process, other))

    # The channels.

    def length(self, sender: Process, receiver: Process) -> int:
        return count(self.channel[sender, receiver, place] is not None for place in range(4))

    def send(self, sender: Process, receiver: Process, message: Message) -> None:
        self.channel[sender, receiver, self.length(sender, receiver)] = message

    def tell_everyone(self, sender: Process, message: Message) -> None:
        for receiver in self.clock:
            if receiver != sender:
                self.send(sender, receiver, message)

    def take_first(self, sender: Process, receiver: Process) -> None:
        for place in range(3):
            self.channel[sender, receiver, place] = self.channel[sender, receiver, place + 1]
        self.channel[sender, receiver, 3] = None

    def hears(self, process: Process, sender: Process, kind: Kind) -> bool:
        message = self.channel[sender, process, 0]
        return message is not None and message.kind is kind

    def time_heard(self, process: Process, sender: Process) -> Time:
        message = self.channel[sender, process, 0]
        return 0 if message is None else message.time

    @action
    def ask(self, process: Process) -> None:
        require(self.may_ask(process))
        self.requested[process, process] = self.clock[process]
        self.tell_everyone(process, Message(Kind.REQUEST, self.clock[process]))
        self.forget_the_answers(process)
        self.answered.add((process, process))

    @internal
    def hear_request(self, process: Process, sender: Process) -> None:
        require(self.hears(process, sender, Kind.REQUEST))
        bound(self.clock_after(process, self.time_heard(process, sender)) <= self.LAST_TIME)
        time = self.time_heard(process, sender)
        self.requested[process, sender] = time
        self.clock[process] = self.clock_after(process, time)
        self.take_first(sender, process)
        self.send(process, sender, Message(Kind.ANSWER, 0))

    @internal
    def hear_answer(self, process: Process, sender: Process) -> None:
        require(self.hears(process, sender, Kind.ANSWER))
        self.answered.add((process, sender))
        self.take_first(sender, process)

    @internal
    def hear_release(self, process: Process, sender: Process) -> None:
        require(self.hears(process, sender, Kind.RELEASE))
        self.requested[process, sender] = 0
        self.take_first(sender, process)

    @action
    def enter(self, process: Process) -> None:
        require(process not in self.inside and self.everyone_answered(process))
        require(all(other == process or self.goes_before(process, other) for other in self.clock))
        self.inside.add(process)

    @action
    def leave(self, process: Process) -> None:
        require(process in self.inside)
        self.inside.discard(process)
        self.requested[process, process] = 0
        self.forget_the_answers(process)
        self.tell_everyone(process, Message(Kind.RELEASE, 0))

    @invariant
    def one_process_is_inside(self) -> bool:
        return len(self.inside) <= 1

    @invariant
    def a_channel_holds_three_messages(self) -> bool:
        return all(
            self.channel[sender, receiver, 3] is None for sender in self.clock for receiver in self.clock
        )

    @invariant
    def whoever_is_inside_has_asked(self) -> bool:
        return all(self.requested[process, process] > 0 for process in self.inside)

    @invariant(on=hear_request)
    def a_clock_runs_on(self, before: LamportMutex, process: Process) -> bool:
        return self.clock[process] > before.clock[process]

    def is_answered(self, process: Process) -> bool:
        return self.requested[process, process] > 0 and all(
            (process, other) in self.answered for other in self.clock
        )

    @reachable
    def a_later_request_waits(self) -> bool:
        return any(self.is_answered(process) and process not in self.inside for process in self.clock) and (
            len(self.inside) == 1
        )

    @reachable
    def two_ask_at_the_same_time(self) -> bool:
        return any(
            0 < self.requested[process, process] == self.requested[other, other]
            for process in self.clock
            for other in self.clock
            if process != other
        )


@configuration(holds=True)
class ThreeProcesses(LamportMutex):
    """Three processes whose clocks stop early."""

    PROCESSES = 3
    LAST_TIME = 3
