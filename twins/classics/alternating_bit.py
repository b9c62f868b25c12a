"""How the alternating bit fails: bits that are not read, not kept, or overtaken."""

from __future__ import annotations

from falsework.language import require, twin
from falsework.models.classics.alternating_bit import AlternatingBit, Bit


# Shortest: send, send.
@twin(breaks={AlternatingBit.nothing_is_lost_for_good: 2})
class SenderWhoDoesNotWait(AlternatingBit):
    """The sender goes on to the next value without waiting for the answer to the last."""

    def may_send(self) -> bool:
        return True


# Shortest: answer (to the value before), send, read_answer, send.
@twin(breaks={AlternatingBit.nothing_is_lost_for_good: 4})
class AnyAnswerWillDo(AlternatingBit):
    """The sender takes a late answer to the value before for the answer to this one."""

    def what_an_answer_says(self, answer: Bit) -> Bit:
        return self.sent_bit


# Shortest: send, answer (before the packet has arrived), read_answer, send.
@twin(breaks={AlternatingBit.nothing_is_lost_for_good: 4})
class ReceiverAsksForTheNext(AlternatingBit):
    """The receiver answers with the bit that it expects next; the sender reads it as the bit that came."""

    def bit_of_the_answer(self) -> Bit:
        return 1 - self.received_bit


# Shortest: send, send_again, receive, receive; and with a wrong value: send, send_again, receive, answer,
# read_answer, send of another value, receive of the first value under the second one's bit.
@twin(
    breaks={
        AlternatingBit.nothing_is_delivered_twice: 4,
        AlternatingBit.what_is_delivered_is_what_is_being_sent: 7,
    }
)
class RepeatCountsAsNew(AlternatingBit):
    """The sender turns its bit for every packet, repeats included."""

    def bit_of_the_repeat(self) -> Bit:
        return 1 - self.sent_bit


# Shortest: send, send_again, receive, answer, read_answer, send of another value, the new packet overtakes
# the old copy, receive, receive.
@twin(
    breaks={
        AlternatingBit.nothing_is_delivered_twice: 9,
        AlternatingBit.what_is_delivered_is_what_is_being_sent: 9,
    }
)
class PacketsOvertakeEachOther(AlternatingBit):
    """The channel is a network of many ways, on which a later packet may come first."""

    def repeat_packet(self) -> None:
        require(len(self.packets) > 1)
        first = self.packets[0]
        self.packets[0] = self.packets[1]
        self.packets[1] = first
