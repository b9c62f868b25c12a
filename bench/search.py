"""One search by one engine: prints how many states there are, and the seconds and memory it took."""

import argparse
import importlib
import json
import resource
import time

from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.naming import with_constants
from measure import MEGABYTE


def main() -> None:
    """Prints one line of JSON; lowering, printing and compiling the program count as search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=("explore", "fast", "native"))
    parser.add_argument("path", help="module:Class")
    parser.add_argument("managers", type=int)
    parser.add_argument("threads", type=int, nargs="?", default=1)
    args = parser.parse_args()
    module, _, name = args.path.partition(":")
    definition = definition_of(
        with_constants(getattr(importlib.import_module(module), name), {"MANAGERS": args.managers})
    )
    began = time.monotonic()
    if args.engine == "native":
        from falsework.accounting import Bounds
        from falsework.native import native

        tally = native(definition, Bounds(max_states=1 << 40), threads=args.threads)
    else:
        tally = explore(definition) if args.engine == "explore" else fast(definition)
    assert tally.complete
    assert not tally.violations
    said = {"states": tally.states, "transitions": tally.transitions, "search": tally.seconds}
    said["wall"] = time.monotonic() - began
    if args.engine == "native":
        said["peak"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / MEGABYTE
    print(json.dumps(said))


if __name__ == "__main__":
    main()
