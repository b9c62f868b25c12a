"""The bakery over processes as (label, flag, number, highest seen, who is asked, who is unchecked as bits).

The labels are those of the algorithm's text: n rests, 1 to 4 enter the doorway, v and w wait, c is inside, x
leaves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from peers.search import Constants, Counted, walk

Process = tuple[str, bool, int, int, int, int]
State = tuple[Process, ...]


def lower(a: Process, i: int, b: Process, j: int) -> bool:
    return (a[2], i) < (b[2], j)


def before(state: State, i: int, j: int) -> bool:
    """What Lamport's proof calls Before(i, j)."""
    one, (label, _, _, highest, _, unchecked) = state[i], state[j]
    if one[2] == 0:
        return False
    if label in "34vw":
        drawn = lower(one, i, state[j], j)
        return highest >= one[2] if label == "3" else drawn and (label == "4" or bool(unchecked >> i & 1))
    return label in "n1x" or (label == "2" and (bool(unchecked >> i & 1) or highest >= one[2]))


def holds(state: State, i: int) -> bool:
    """His inductive invariant, for one process."""
    label, flag, number, _, asked, unchecked = state[i]
    others = [j for j in range(len(state)) if j != i]
    if (label in "4vwc" and number == 0) or (label in "23" and not flag):
        return False
    if label == "c":
        return all(before(state, i, j) for j in others)
    if label not in "vw":
        return True
    if unchecked >> i & 1 or not all(before(state, i, j) for j in others if not unchecked >> j & 1):
        return False
    if label == "v":
        return True
    their_label, _, _, their_highest, _, theirs = state[asked]
    looked = their_label == "3" or (their_label == "2" and not theirs >> i & 1)
    return asked != i and (not looked or their_highest >= number)


@dataclass(frozen=True)
class Shop:
    """So many processes, and the last number that there is."""

    size: int
    last: int

    def doorway(self, state: State, i: int) -> Iterator[tuple[str, Process]]:
        label, flag, number, highest, asked, unchecked = state[i]
        others = (1 << self.size) - 1 - (1 << i)
        if label == "n":
            yield "want", ("1", flag, number, highest, asked, unchecked)
        elif label == "1":
            yield "flicker_flag", (label, not flag, number, highest, asked, unchecked)
            yield "raise_flag", ("2", True, number, 0, asked, others)
        elif label == "2":
            for j in range(self.size):
                if unchecked >> j & 1:
                    seen = max(highest, state[j][2])
                    yield "look", (label, flag, number, seen, asked, unchecked & ~(1 << j))
            if not unchecked:
                yield "look_away", ("3", flag, number, highest, asked, unchecked)
        elif label == "3":
            for k in range(self.last + 1):
                yield "flicker_ticket", (label, flag, k, highest, asked, unchecked)
                if k > highest:
                    yield "draw", ("4", flag, k, highest, asked, unchecked)
        elif label == "4":
            yield "flicker_flag", (label, not flag, number, highest, asked, unchecked)
            yield "lower_flag", ("v", False, number, highest, asked, others)

    def queue(self, state: State, i: int) -> Iterator[tuple[str, Process]]:
        label, flag, number, highest, asked, unchecked = state[i]
        if label == "v":
            for j in range(self.size):
                if unchecked >> j & 1 and not state[j][1]:
                    yield "ask", ("w", flag, number, highest, j, unchecked)
            if not unchecked:
                yield "enter", ("c", flag, number, highest, asked, unchecked)
        elif label == "w":
            if state[asked][2] == 0 or lower(state[i], i, state[asked], asked):
                yield "go_past", ("v", flag, number, highest, asked, unchecked & ~(1 << asked))
        elif label == "c":
            yield "work", ("x", flag, number, highest, asked, unchecked)
        elif label == "x":
            for k in range(self.last + 1):
                yield "flicker_ticket", (label, flag, k, highest, asked, unchecked)
            yield "leave", ("n", flag, 0, highest, asked, unchecked)

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        for i in range(self.size):
            for part in (self.doorway, self.queue):
                for name, after in part(state, i):
                    yield name, (*state[:i], after, *state[i + 1 :])


def counts(constants: Constants, *, any_start: bool = False) -> Counted:
    """With `any_start` from all states of which the invariant holds."""
    size, tickets = constants["PROCESSES"], range(constants["LAST_TICKET"] + 1)
    shop = Shop(size, constants["LAST_TICKET"])
    if not any_start:
        return walk([(("n", False, 0, 0, 0, 0),) * size], shop.steps)
    anyhow = list(product("n1234vwcx", (False, True), tickets, tickets, range(size), range(1 << size)))
    sound = (state for state in product(anyhow, repeat=size) if all(holds(state, i) for i in range(size)))
    return walk(sound, shop.steps)
