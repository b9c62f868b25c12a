"""The two jugs, poured a gallon at a time until one is empty or the other is full."""

from collections.abc import Iterator

from peers.search import Constants, Counted, walk

State = tuple[int, int]


def poured(one: int, other: int, size: int) -> State:
    while one > 0 and other < size:
        one, other = one - 1, other + 1
    return one, other


def counts(constants: Constants) -> Counted:
    small_size, big_size = constants["SMALL"], constants["BIG"]

    def steps(state: State) -> Iterator[tuple[str, State]]:
        small, big = state
        yield "fill_small", (small_size, big)
        yield "fill_big", (small, big_size)
        yield "empty_small", (0, big)
        yield "empty_big", (small, 0)
        yield "pour_small_into_big", poured(small, big, big_size)
        rest, filled = poured(big, small, small_size)
        yield "pour_big_into_small", (filled, rest)

    return walk([(0, 0)], steps)
