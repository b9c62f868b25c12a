"""How Lamport's mutual exclusion fails: clocks that are not set, and answers not waited for."""

from __future__ import annotations

from falsework.language import twin
from falsework.models.classics.lamport_mutex import LamportMutex, Process, Time


# Shortest: ask of both at time 1, and both hear request and answer; enter twice.
@twin(breaks={LamportMutex.one_process_is_inside: 8})
class TiesGoToBoth(LamportMutex):
    """Of two requests of the same time each finds its own the earlier one."""

    def goes_before(self, process: Process, other: Process) -> bool:
        mine = self.requested[process, process]
        theirs = self.requested[process, other]
        return theirs == 0 or mine <= theirs


# Shortest: ask of both, enter of both before they hear of each other. And a channel on which nobody
# listens fills up: ask of both, one hears, answers, enters, leaves and asks again.
@twin(breaks={LamportMutex.one_process_is_inside: 4, LamportMutex.a_channel_holds_three_messages: 6})
class NobodyWaitsForAnswers(LamportMutex):
    """A process enters as soon as it knows of no earlier request, whether the others have heard or not."""

    def everyone_answered(self, process: Process) -> bool:
        return (process, process) in self.answered


# Shortest: both ask, at times 1 and 2, and hear all that is to be heard; the first enters, leaves and
# asks again, at time 2, while the second enters; it is answered, finds that of two times 2 its own goes
# first, and enters. Twice ask, four times heard, enter, leave, ask, release heard, enter, request heard,
# answer heard, enter.
@twin(breaks={LamportMutex.one_process_is_inside: 14})
class ClockCountsItsOwnStepsAlone(LamportMutex):
    """A process does not set its clock by the times that it hears of: a later request looks earlier."""

    def clock_after(self, process: Process, time: Time) -> int:
        return self.clock[process] + 1


# Shortest: ask of one, heard and answered, enter, leave, and ask again at the same time, for nothing was
# heard that moved its clock; the release heard, the request heard.
@twin(breaks={LamportMutex.a_clock_runs_on: 8})
class ClockIsSetBack(LamportMutex):
    """A process sets its clock by the time that it hears of, even where its own is ahead."""

    def clock_after(self, process: Process, time: Time) -> int:
        return time + 1


# Shortest: ask four times. And both ask, at time 1; one asks again, at 2, and takes the answer to its first
# request for one to its second; the other is served, asks at 2 and goes first, while the one is inside.
@twin(breaks={LamportMutex.a_channel_holds_three_messages: 4, LamportMutex.one_process_is_inside: 16})
class ImpatientProcessAsksAgain(LamportMutex):
    """A process repeats its request before it has been served."""

    def may_ask(self, process: Process) -> bool:
        return process not in self.inside


# Shortest: ask, heard and answered, enter, leave, enter. And with its old answers a process may ask, enter
# and leave, unheard, until the channel is full; or enter when the other, who has asked too, is inside.
@twin(
    breaks={
        LamportMutex.whoever_is_inside_has_asked: 6,
        LamportMutex.a_channel_holds_three_messages: 9,
        LamportMutex.one_process_is_inside: 11,
    }
)
class OldAnswersCount(LamportMutex):
    """A process takes the answers to its last request for answers to the next."""

    def forget_the_answers(self, process: Process) -> None:
        """Nothing is forgotten."""
