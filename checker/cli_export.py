"""One model in the language of another tool, so that its search can be compared with ours.

Promela is for SPIN, and stands on stdout. With --assert SPIN also looks for a state or a step that breaks an
invariant, and for deadlocks. docs/export.md says how the counts are compared, and what that confirms.

example: falsework export my_model.py:Lease --to promela > lease.pml
"""

from __future__ import annotations

import argparse

from falsework.cli_model import add_model, definition_at, one_target
from falsework.promela import promela
from falsework.report_output import say
from falsework.verdict import PASSED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the language, and whether it is judged there."""
    add_model(parser)
    parser.add_argument("--to", choices=("promela",), default="promela", help="promela is the default")
    parser.add_argument(
        "--assert", dest="asserts", action="store_true", help="the invariants too, each as an assertion"
    )


def run(args: argparse.Namespace) -> int:
    """Prints the program."""
    definition = definition_at(one_target(args.model, args.config, args.constants))
    say(promela(definition, asserts=args.asserts))
    return PASSED
