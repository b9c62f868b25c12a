"""Two-phase commit over (managers as a string of w p c a, decision, heard, votes)."""

from collections.abc import Iterator

from peers.search import Constants, Counted, walk

State = tuple[str, str, int, int]


def counts(constants: Constants) -> Counted:
    size = constants["MANAGERS"]
    everyone = (1 << size) - 1

    def steps(state: State) -> Iterator[tuple[str, State]]:
        managers, decision, heard, votes = state
        if decision == "?":
            yield "abort", (managers, "a", heard, votes)
            if heard == everyone:
                yield "commit", (managers, "c", heard, votes)
        for i, stage in enumerate(managers):
            before, after = managers[:i], managers[i + 1 :]
            if decision == "?" and votes >> i & 1:
                yield "hear", (managers, decision, heard | 1 << i, votes)
            if stage == "w":
                yield "prepare", (before + "p" + after, decision, heard, votes | 1 << i)
                yield "give_up", (before + "a" + after, decision, heard, votes)
            if decision != "?":
                order = "obey_commit" if decision == "c" else "obey_abort"
                yield order, (before + decision + after, decision, heard, votes)

    return walk([("w" * size, "?", 0, 0)], steps)


def by_hand(constants: Constants) -> tuple[int, int, int]:
    """States, steps and depth without a search: a manager is alone with its part, but for the one decision.

    Undecided, each manager works, waits unheard, waits heard, or has given up: 4. After an abort it may also
    have obeyed, heard or unheard: 6. After a commit each has been heard, and waits or has obeyed: 2.
    """
    n = constants["MANAGERS"]
    undecided, aborted, committed = 4**n, 6**n, 2**n
    decisions = undecided + 1  # the abort in every undecided state, the commit in the one of all heard
    heard = n * undecided // 2  # half of them have voted, and may be heard again
    own = 2 * n * (undecided // 4 + aborted // 6)  # who works may prepare or give up
    obeyed = n * (aborted + committed)
    return undecided + aborted + committed, decisions + heard + own + obeyed, 3 * n + 1
