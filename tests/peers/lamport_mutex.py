"""Lamport's mutual exclusion over (clocks, requests, answers as bits, channels as strings, who is inside).

A request is the digit of its time on the channel, an answer is an a and a release an r.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from peers.search import Constants, Counted, walk

State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[str, ...], int]


def put(items: tuple[int, ...], i: int, value: int) -> tuple[int, ...]:
    return (*items[:i], value, *items[i + 1 :])


@dataclass(frozen=True)
class Mutex:
    """So many processes, the last time on their clocks, and whether who is inside enters once more."""

    size: int
    last: int
    as_tlc: bool

    def tell(self, channels: tuple[str, ...], p: int, message: str) -> tuple[str, ...]:
        return tuple(
            held + message if sender == p != receiver else held
            for (sender, receiver), held in zip(
                ((sender, receiver) for sender in range(self.size) for receiver in range(self.size)),
                channels,
                strict=True,
            )
        )

    def first(self, requests: tuple[int, ...], p: int) -> bool:
        mine = (requests[p * self.size + p], p)
        return all(
            not requests[p * self.size + q] or mine < (requests[p * self.size + q], q)
            for q in range(self.size)
            if q != p
        )

    def own(self, state: State, p: int) -> Iterator[tuple[str, State]]:
        clocks, requests, answers, channels, inside = state
        place = p * self.size + p
        if not requests[place]:
            asked = self.tell(channels, p, str(clocks[p]))
            yield "ask", (clocks, put(requests, place, clocks[p]), put(answers, p, 1 << p), asked, inside)
        if (
            answers[p] == (1 << self.size) - 1
            and self.first(requests, p)
            and (self.as_tlc or not inside >> p & 1)
        ):
            yield "enter", (clocks, requests, answers, channels, inside | 1 << p)
        if inside >> p & 1:
            left = self.tell(channels, p, "r")
            yield "leave", (clocks, put(requests, place, 0), put(answers, p, 0), left, inside & ~(1 << p))

    def heard(self, state: State, p: int, q: int) -> Iterator[tuple[str, State | None]]:
        clocks, requests, answers, channels, inside = state
        if not channels[q * self.size + p]:
            return
        message, rest = channels[q * self.size + p][0], list(channels)
        rest[q * self.size + p] = rest[q * self.size + p][1:]
        if message == "a":
            yield "hear_answer", (clocks, requests, put(answers, p, answers[p] | 1 << q), tuple(rest), inside)
        elif message == "r":
            yield "hear_release", (clocks, put(requests, p * self.size + q, 0), answers, tuple(rest), inside)
        else:
            rest[p * self.size + q] += "a"
            clock = max(clocks[p], int(message)) + 1
            known = put(requests, p * self.size + q, int(message))
            after = (put(clocks, p, clock), known, answers, tuple(rest), inside)
            yield "hear_request", after if clock <= self.last else None

    def steps(self, state: State) -> Iterator[tuple[str, State | None]]:
        for p in range(self.size):
            yield from self.own(state, p)
            for q in range(self.size):
                if q != p:
                    yield from self.heard(state, p, q)


def counts(constants: Constants, *, as_tlc: bool = False) -> Counted:
    """With `as_tlc` a process that is inside enters once more."""
    size = constants["PROCESSES"]
    mutex = Mutex(size, constants["LAST_TIME"], as_tlc)
    return walk([((1,) * size, (0,) * size**2, (0,) * size, ("",) * size**2, 0)], mutex.steps)
