"""An implementation is driven along every step of its model's graph, and compared after each.

SUBJECT is a shipped name, module:Class or path.py:Class; or any program that speaks JSON lines, as
"program:COMMAND" or by its description, path.toml (docs/adapter-protocol.md). Where it diverges, the shortest
path is shown with what was expected beside what was observed, and with the model's invariants that the
implementation breaks. Random walks follow once every step was driven.

In Python a subject is a class around the implementation. docs/conformance.md has an example; it has these
attributes and methods:
  model      "module:Class" of the model or configuration whose graph is driven
  surface    what is driven, for people, such as "driven SQLite"
  refuses    the actions whose guard the implementation itself enforces, () for none
  internal   the steps that it takes of itself: their answer is not compared
  refusals   its own exceptions that mean a refusal
  unknowns   its own exceptions that mean that the action may have happened or not
  begin      (constants): it is as new, set up for these constants of the model
  perform    (action, arguments): the action happens; returns the implementation's answer
  observe    (): the variables that can be read off it, a mapping, always the same ones
  close      (): nothing is left open

example: falsework conform lease
"""

from __future__ import annotations

import argparse
from pathlib import Path

from falsework.cli_gate import add_walks, show
from falsework.cli_model import working_folder_is_importable
from falsework.conformance.finding import shipped_subjects
from falsework.gate import conform
from falsework.gate_subjects import Walking
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
    add_walks(parser)
    parser.add_argument(
        "--record", metavar="FILE", type=Path, help="of a program: every line, sent (>) and answered (<)"
    )
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Drives it, prints the report, and answers the exit code."""
    working_folder_is_importable()
    walking = Walking(args.walks, args.seed)
    report = conform(args.subject, twins=args.twins, walking=walking, record=args.record)
    return show(report, args.format)
