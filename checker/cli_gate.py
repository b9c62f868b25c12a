"""Everything that is declared is compared with what is found.

Without MODEL everything that is installed is asked: each model and configuration, each twin, each witness,
whether each invariant is broken by some twin, each implementation driven along its model, and each wrong
implementation.

example: falsework gate lease
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Self

from falsework.accounting import DEFAULT_MAX_STATES
from falsework.cli_check import add_threads, positive
from falsework.cli_model import working_folder_is_importable
from falsework.engines import ENGINES
from falsework.gate import gate
from falsework.gate_answers import Answer, GateReport
from falsework.gate_subjects import Walking
from falsework.report_gate import gate_document, gate_text
from falsework.report_output import add_output, emit, say, width


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The models, subjects of one's own, the engine and the output."""
    parser.add_argument(
        "models",
        metavar="MODEL",
        nargs="*",
        help="a shipped name, module:Class or path.py[:Class]; none is all",
    )
    parser.add_argument(
        "--subject",
        dest="subjects",
        metavar="SUBJECT",
        action="append",
        default=[],
        help="also drive this implementation: module:Class or path.py:Class; may be repeated",
    )
    parser.add_argument(
        "--engine", choices=ENGINES, default="auto", help="auto takes fast, and native for larger models"
    )
    parser.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        default=DEFAULT_MAX_STATES,
        help=f"of each search; default {DEFAULT_MAX_STATES:,}",
    )
    add_threads(parser)
    add_walks(parser)
    add_output(parser)


def add_walks(parser: argparse.ArgumentParser) -> None:
    """How an implementation is walked at random once all steps were driven."""
    usual = Walking()
    parser.add_argument(
        "--walks",
        type=not_negative,
        metavar="N",
        default=usual.count,
        help=f"random walks of each implementation after every step was driven; default {usual.count}",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        default=usual.seed,
        help=f"other walks; default {usual.seed}, the same each time",
    )


def not_negative(text: str) -> int:
    """A number of things of which there may be none."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Asks everything, prints the report, and answers the gravest exit code."""
    working_folder_is_importable()
    with _Line(quiet=args.quiet) as line:
        report = gate(
            args.models,
            subjects=args.subjects,
            engine=args.engine,
            max_states=args.max_states,
            threads=args.threads,
            walking=Walking(args.walks, args.seed),
            heard=line,
        )
    return show(report, args.format)


def show(report: GateReport, form: str) -> int:
    """Writes the report in that format; the answer is its exit code."""
    if form == "text":
        say(gate_text(report, width=width()))
        return report.exit_code
    return emit(gate_document(report, width=width()), form)


class _Line:
    """A live line on a terminal: what has just been answered."""

    def __init__(self, *, quiet: bool) -> None:
        self.live = not quiet and sys.stderr.isatty() and sys.stdout.isatty()
        self.status: Any = None
        self.done = 0

    def __enter__(self) -> Self:
        if self.live:
            from rich.console import Console

            self.status = Console(stderr=True).status("gate: …")
            self.status.start()
        return self

    def __call__(self, answer: Answer) -> None:
        """Takes note of one answer."""
        self.done += 1
        if self.status is not None:
            asked = answer.asked
            self.status.update(
                f"gate: {self.done} answered, the last: {asked.model} {asked.kind} {asked.name}"
            )

    def __exit__(self, *_: object) -> None:
        if self.status is not None:
            self.status.stop()
