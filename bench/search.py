"""One search by one engine, ENGINE MODEL: prints how many states there are and the CPU seconds."""

import importlib
import json
import sys

from falsework.definition import definition_of
from falsework.explore import explore


def main(engine: str, path: str) -> None:
    """Prints one line of JSON; lowering, printing and compiling the program count as search."""
    module, _, name = path.partition(":")
    definition = definition_of(getattr(importlib.import_module(module), name))
    if engine == "explore":
        tally = explore(definition)
    else:
        from falsework.fast import fast

        tally = fast(definition)
    assert tally.complete
    assert not tally.violations
    print(json.dumps({"states": tally.states, "transitions": tally.transitions, "search": tally.seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
