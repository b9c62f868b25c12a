"""An implementation is driven along every step of its model's graph, and compared after each.

SUBJECT is a shipped name, module:Class or path.py:Class. Where it diverges, the shortest path is shown with
what was expected beside what was observed, and with the model's invariants that the implementation breaks.

example: falsework conform lease
"""

from __future__ import annotations

import argparse

from falsework.cli_gate import show
from falsework.cli_model import working_folder_is_importable
from falsework.conformance.finding import shipped_subjects
from falsework.gate import conform
from falsework.report_output import add_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subject and the output."""
    parser.add_argument(
        "subject",
        metavar="SUBJECT",
        help=f"one of: {', '.join(shipped_subjects()) or 'none installed'}; or your own",
    )
    parser.add_argument(
        "--twins", action="store_true", help="also its wrong subclasses, each for what it declares"
    )
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Drives it, prints the report, and answers the exit code."""
    working_folder_is_importable()
    return show(conform(args.subject, twins=args.twins), args.format)
