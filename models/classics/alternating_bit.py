"""The alternating-bit protocol: where channels lose and repeat, one bit tells new values from old ones.

Sender and receiver run for ever and keep no history, so the state space is finite without a horizon: what is
claimed of the values is claimed of each delivery.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Length,
    Model,
    Record,
    Seq,
    action,
    bound,
    configuration,
    fault,
    implies,
    initial,
    internal,
    invariant,
    reachable,
    require,
)

Bit = Annotated[int, Below(2)]
Value = Annotated[int, Below("VALUES")]
Slot = Annotated[int, Below("CAPACITY")]


class Packet(Record):
    """A value on its way, under the bit of its turn."""

    bit: Bit
    value: Value


class AlternatingBit(Model):
    """The sender repeats a value until its bit comes back; a new value comes under the other bit."""

    VALUES: ClassVar[int] = 2
    CAPACITY: ClassVar[int] = 2  # the channels have no size of their own: this is where looking stops

    packets: Annotated[Seq[Packet], Length("CAPACITY")] = Seq()
    answers: Annotated[Seq[Bit], Length("CAPACITY")] = Seq()
    sent_bit: Bit = 0
    answered_bit: Bit = 0  # the last answer that the sender has read
    received_bit: Bit = 0
    sent: Value = 0
    received: Value = 0

    @initial
    def start(self, bit: Bit, sent: Value, received: Value) -> None:
        self.sent_bit = bit
        self.answered_bit = bit
        self.received_bit = bit
        self.sent = sent
        self.received = received

    def may_send(self) -> bool:
        return self.answered_bit == self.sent_bit

    def bit_of_the_repeat(self) -> Bit:
        return self.sent_bit

    def bit_of_the_answer(self) -> Bit:
        return self.received_bit

    def what_an_answer_says(self, answer: Bit) -> Bit:
        """The bit of which the sender now believes that it has arrived."""
        return answer

    @action
    def send(self, value: Value) -> None:
        require(self.may_send())
        bound(len(self.packets) < self.CAPACITY)
        self.sent = value
        self.sent_bit = 1 - self.sent_bit
        self.packets.append(Packet(self.sent_bit, value))

    @internal
    def send_again(self) -> None:
        require(self.answered_bit != self.sent_bit)
        bound(len(self.packets) < self.CAPACITY)
        self.packets.append(Packet(self.bit_of_the_repeat(), self.sent))

    @action
    def receive(self) -> None:
        require(len(self.packets) > 0)
        self.received_bit = self.packets[0].bit
        self.received = self.packets[0].value
        self.packets.pop_first()

    @internal
    def answer(self) -> None:
        bound(len(self.answers) < self.CAPACITY)
        self.answers.append(self.bit_of_the_answer())

    @internal
    def read_answer(self) -> None:
        require(len(self.answers) > 0)
        self.answered_bit = self.what_an_answer_says(self.answers[0])
        self.answers.pop_first()

    @fault
    def lose_packet(self, at: Slot) -> None:
        require(at < len(self.packets))
        for step in range(at):  # those in front of it move up by one place, and the first place is taken out
            self.packets[at - step] = self.packets[at - step - 1]
        self.packets.pop_first()

    @fault
    def lose_answer(self, at: Slot) -> None:
        require(at < len(self.answers))
        for step in range(at):
            self.answers[at - step] = self.answers[at - step - 1]
        self.answers.pop_first()

    @fault
    def repeat_packet(self) -> None:
        require(len(self.packets) > 0)
        bound(len(self.packets) < self.CAPACITY)
        self.packets.append(self.packets[len(self.packets) - 1])

    @fault
    def repeat_answer(self) -> None:
        require(len(self.answers) > 0)
        bound(len(self.answers) < self.CAPACITY)
        self.answers.append(self.answers[len(self.answers) - 1])

    @invariant
    def what_is_delivered_is_what_is_being_sent(self, before: AlternatingBit) -> bool:
        return implies(self.received_bit != before.received_bit, self.received == before.sent)

    @invariant
    def nothing_is_delivered_twice(self, before: AlternatingBit) -> bool:
        return implies(self.received_bit != before.received_bit, self.received_bit == before.sent_bit)

    @invariant(on=send)
    def nothing_is_lost_for_good(self, before: AlternatingBit) -> bool:
        return before.received_bit == before.sent_bit

    @reachable
    def a_delivery_is_still_unknown_to_the_sender(self) -> bool:
        return self.received_bit == self.sent_bit and self.answered_bit != self.sent_bit

    @reachable
    def an_old_copy_is_ahead_of_a_new_value(self) -> bool:
        return len(self.packets) > 1 and self.packets[0].bit != self.packets[1].bit


@configuration(holds=True)
class LongerChannels(AlternatingBit):
    """Channels in which three packets and three answers may be under way."""

    CAPACITY = 3
