"""Two-phase commit for minicheck, as a callable that yields steps; prints the states and the CPU seconds."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from minicheck import Protocol, check_safety  # type: ignore[import-not-found]

State = tuple[Any, ...]
WORKING, PREPARED, COMMITTED, ABORTED = range(4)


def steps_of(managers: int) -> Callable[[State], Iterator[tuple[str, State]]]:
    """The callable. Sets of managers are the bits of an int, for that is what is quickest to copy."""
    bits = [1 << manager for manager in range(managers)]
    everybody = sum(bits)

    def steps(state: State) -> Iterator[tuple[str, State]]:
        stages, heard, votes, commit, abort = state
        is_open = not (commit or abort)
        if is_open and heard == everybody:
            yield "commit", (stages, heard, votes, True, abort)
        if is_open:
            yield "abort", (stages, heard, votes, commit, True)
        for manager, bit in enumerate(bits):
            before, after = stages[:manager], stages[manager + 1 :]
            if is_open and votes & bit:
                yield "hear", (stages, heard | bit, votes, commit, abort)
            if stages[manager] == WORKING:
                yield "prepare", ((*before, PREPARED, *after), heard, votes | bit, commit, abort)
                yield "give_up", ((*before, ABORTED, *after), heard, votes, commit, abort)
            if commit:
                yield "obey_commit", ((*before, COMMITTED, *after), heard, votes, commit, abort)
            if abort:
                yield "obey_abort", ((*before, ABORTED, *after), heard, votes, commit, abort)

    return steps


def main(managers: int) -> None:
    """Searches all of it."""
    protocol = Protocol(
        name="two-phase commit",
        candidate=False,
        fields=("stages", "heard", "votes", "commit", "abort"),
        initial=((WORKING,) * managers, 0, 0, False, False),
        transitions=steps_of(managers),
        invariants={"agreed": lambda d: not (COMMITTED in d["stages"] and ABORTED in d["stages"])},
    )
    began = time.process_time()
    found = check_safety(protocol, max_states=10**9)
    took = time.process_time() - began
    assert found["exhaustive"]
    assert found["properties"]["agreed"]["holds"] is True
    print(json.dumps({"states": found["reachable_states"], "search": took}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
