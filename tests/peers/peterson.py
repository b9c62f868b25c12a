"""Peterson's algorithm as two program counters and a turn: a flag is up while its counter is 2 to 5."""

from collections.abc import Iterator

from peers.search import Constants, Counted, walk

State = tuple[int, int, int]
NAMES = ("want", "raise_flag", "give_way", "enter", "work", "leave")


def counts(_: Constants) -> Counted:
    def steps(state: State) -> Iterator[tuple[str, State]]:
        for me in (0, 1):
            mine, theirs, turn = state[me], state[1 - me], state[2]
            if mine == 3 and theirs >= 2 and turn != me:
                continue
            turn = 1 - me if mine == 2 else turn
            next_one = (mine + 1) % 6
            yield NAMES[mine], (next_one, theirs, turn) if me == 0 else (theirs, next_one, turn)

    return walk([(0, 0, 0)], steps)
