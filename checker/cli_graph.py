"""The state graph: states, and steps as edges labelled with action, arguments and answer.

Parallel edges are kept. Violating states are marked and not expanded. More states than --limit are not
drawn without --force, for nobody can read them.

example: falsework graph my_model.py:Lease --to dot > lease.dot
"""

from __future__ import annotations

import argparse

from falsework.cli_check import positive
from falsework.cli_model import add_model, definition_at, one_target
from falsework.errors import InputError
from falsework.graph import DEFAULT_LIMIT, FORMATS, drawn, state_graph
from falsework.report_output import say
from falsework.trace import Faulted, nothing_to_explore
from falsework.verdict import PASSED

DRAWN = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model and the format."""
    add_model(parser)
    parser.add_argument("--to", choices=FORMATS, default="dot", help="dot is the default")
    parser.add_argument(
        "--limit", type=positive, metavar="N", default=DRAWN, help=f"the most states; default {DRAWN}"
    )
    parser.add_argument("--force", action="store_true", help="draw however many states there are")


def run(args: argparse.Namespace) -> int:
    """Prints the graph."""
    definition = definition_at(one_target(args.model, args.config, args.constants))
    if not definition.explorable:
        raise nothing_to_explore(definition)
    try:
        graph = state_graph(definition, DEFAULT_LIMIT if args.force else args.limit)
    except InputError as problem:
        raise InputError(f"{problem}; raise --limit, or draw them all with --force") from None
    except Faulted as fault:
        raise InputError(f"the model faults: {fault.message} at {fault.place}") from None
    if not graph.number_of_nodes():
        raise InputError(f"{definition.name} has no initial state, so there is nothing to draw")
    say(drawn(graph, definition, args.to))
    return PASSED
