"""Safra's algorithm over (nodes as (active, black, counter, pending), token's place, colour and count)."""

from collections.abc import Iterator
from itertools import product

from peers.search import Constants, Counted, walk

Node = tuple[bool, bool, int, int]
State = tuple[tuple[Node, ...], int, bool, int]


def put(ring: tuple[Node, ...], i: int, node: Node) -> tuple[Node, ...]:
    return (*ring[:i], node, *ring[i + 1 :])


def counts(constants: Constants, *, as_tlc: bool = False) -> Counted:
    """With `as_tlc` a passive node finishes once more, and a probe starts once for each of its reasons."""
    size, most, most_pending = constants["NODES"], constants["COUNT"], constants["PENDING"]

    def messages(state: State, i: int) -> Iterator[tuple[str, State | None]]:
        ring, at, dark, carried = state
        active, black, counter, pending = ring[i]
        if pending > 0:
            yield "receive", (put(ring, i, (True, True, counter - 1, pending - 1)), at, dark, carried)
        if active or as_tlc:
            yield "finish", (put(ring, i, (False, black, counter, pending)), at, dark, carried)
        if active:
            sent = put(ring, i, (active, black, counter + 1, pending))
            for j in set(range(size)) - {i}:
                awake, colour, other, waiting = ring[j]
                inside = counter < most and waiting < most_pending
                told = put(sent, j, (awake, colour, other, waiting + 1))
                yield "send", (told, at, dark, carried) if inside else None

    def steps(state: State) -> Iterator[tuple[str, State | None]]:
        ring, at, dark, carried = state
        for i in range(size):
            yield from messages(state, i)
        active, black, counter, pending = ring[at]
        whitened = put(ring, at, (active, False, counter, pending))
        if at == 0:
            reasons = dark + black + (counter + carried != 0)
            for _ in range(reasons if as_tlc else min(reasons, 1)):
                yield "start_probe", (whitened, size - 1, False, 0)
        elif not active:
            yield "pass_token", (whitened, at - 1, dark or black, carried + counter)

    colours, places = ((False, True), range(size)) if constants["ANY_START"] else ((True,), range(1))
    rings = product(*[list(product((False, True), colours, (0,), (0,)))] * size)
    return walk([(ring, at, True, 0) for ring in rings for at in places], steps)
