"""The alternating-bit protocol with channels of strings: a packet is bit and value, an answer is a bit."""

from collections.abc import Iterator
from itertools import product

from peers.search import Constants, Counted, walk

Channel = tuple[str, ...]
State = tuple[Channel, Channel, str, str, str, str, str]
FLIPPED = {"0": "1", "1": "0"}


def counts(constants: Constants, *, repeats: bool = True) -> Counted:
    """Without `repeats` the channels only lose."""
    values = [str(value) for value in range(constants["VALUES"])]
    size = constants["CAPACITY"]

    def steps(state: State) -> Iterator[tuple[str, State | None]]:
        packets, answers, bit, answered, seen, sent, received = state
        if answered == bit:
            new = FLIPPED[bit]
            for value in values:
                yield "send", fits((*packets, new + value), answers, new, answered, seen, value, received)
        else:
            yield "send_again", fits((*packets, bit + sent), *state[1:])
        yield "answer", fits(packets, (*answers, seen), *state[2:])
        if packets:
            yield "receive", (packets[1:], answers, bit, answered, packets[0][0], sent, packets[0][1])
        if answers:
            yield "read_answer", (packets, answers[1:], bit, answers[0], seen, sent, received)
        for at in range(len(packets)):
            yield "lose_packet", (packets[:at] + packets[at + 1 :], *state[1:])
        for at in range(len(answers)):
            yield "lose_answer", (packets, answers[:at] + answers[at + 1 :], *state[2:])
        if repeats and packets:
            yield "repeat_packet", fits((*packets, packets[-1]), *state[1:])
        if repeats and answers:
            yield "repeat_answer", fits(packets, (*answers, answers[-1]), *state[2:])

    def fits(
        packets: Channel, answers: Channel, bit: str, answered: str, seen: str, sent: str, received: str
    ) -> State | None:
        inside = max(len(packets), len(answers)) <= size
        return (packets, answers, bit, answered, seen, sent, received) if inside else None

    starts: list[State] = [
        ((), (), bit, bit, bit, sent, was) for bit, sent, was in product("01", values, values)
    ]
    return walk(starts, steps)
