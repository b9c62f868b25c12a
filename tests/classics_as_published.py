"""Classics without what our models add, so that the published figures are theirs to the last step."""

from falsework.language import disabled
from falsework.models.classics.alternating_bit import AlternatingBit


class ChannelsThatOnlyLose(AlternatingBit):
    """The published channels lose and never repeat; repetition is the sender's and the receiver's alone."""

    def repeat_packet(self) -> None:
        disabled()

    def repeat_answer(self) -> None:
        disabled()
