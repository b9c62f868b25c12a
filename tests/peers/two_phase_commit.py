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
