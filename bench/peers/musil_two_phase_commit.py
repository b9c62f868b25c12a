"""Two-phase commit for musil, a guard and an effect an action; prints the states and the CPU seconds."""

import json
import sys
import time
from typing import Any

from musil import Action, Model, check  # type: ignore[import-not-found]

State = tuple[Any, ...]
WORKING, PREPARED, COMMITTED, ABORTED = range(4)


def moved(state: State, manager: int, stage: int, votes: int = 0) -> State:
    stages, heard, before, commit, abort = state
    return ((*stages[:manager], stage, *stages[manager + 1 :]), heard, before | votes, commit, abort)


def is_open(state: State) -> bool:
    return not (state[3] or state[4])


def of_a_manager(manager: int) -> list[Any]:
    """Its five actions. Sets of managers are the bits of an int."""
    bit = 1 << manager
    return [
        Action(
            f"hear {manager}",
            lambda s: is_open(s) and bool(s[2] & bit),
            lambda s: (s[0], s[1] | bit, *s[2:]),
        ),
        Action(
            f"prepare {manager}",
            lambda s: s[0][manager] == WORKING,
            lambda s: moved(s, manager, PREPARED, bit),
        ),
        Action(
            f"give_up {manager}", lambda s: s[0][manager] == WORKING, lambda s: moved(s, manager, ABORTED)
        ),
        Action(f"obey_commit {manager}", lambda s: s[3], lambda s: moved(s, manager, COMMITTED)),
        Action(f"obey_abort {manager}", lambda s: s[4], lambda s: moved(s, manager, ABORTED)),
    ]


def main(managers: int) -> None:
    """Searches all of it."""
    everybody = (1 << managers) - 1
    actions = [
        Action("commit", lambda s: is_open(s) and s[1] == everybody, lambda s: (*s[:3], True, s[4])),
        Action("abort", is_open, lambda s: (*s[:4], True)),
    ]
    for manager in range(managers):
        actions += of_a_manager(manager)
    model = Model(
        init=[((WORKING,) * managers, 0, 0, False, False)],
        actions=actions,
        invariants={"agreed": lambda s: not (COMMITTED in s[0] and ABORTED in s[0])},
        terminal=lambda _: True,
    )
    began = time.process_time()
    found = check(model, max_states=10**9)
    took = time.process_time() - began
    assert found.ok
    print(json.dumps({"states": found.states_explored, "search": took}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
