"""A log that an implementation wrote is explained by steps of the model, or the line is named that is not.

LOG is a file of JSON lines: a header, an event a line, an end (docs/validate.md). The answer is HOLDS where
steps of the model explain every line and what explains them breaks nothing; VIOLATED (exit 10) with the line
at which no candidate is left, what stops each of them and the nearest change of one event that would mend
the log; INCOMPLETE (exit 12) where a limit was hit; ERROR (exit 13) for a log that cannot be used.

examples: falsework validate my_model.py:Lease run.jsonl
          falsework validate my_model.py:Lease --corpus logs --require-coverage
          falsework validate my_model.py:Lease --header
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from falsework.cli_check import positive
from falsework.cli_model import add_model, definition_at, one_target
from falsework.conformance.observed import Known, Validation, validate
from falsework.conformance.observed_corpus import coverage
from falsework.conformance.observed_log import header_line
from falsework.conformance.observed_search import MAX_CANDIDATES, MAX_HIDDEN, Limits
from falsework.definition import Definition
from falsework.errors import InputError
from falsework.report_output import add_output, emit, say, width
from falsework.report_text import subject_text
from falsework.report_validate import validate_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the logs and the limits."""
    add_model(parser)
    parser.add_argument("logs", metavar="LOG", nargs="*", help="a file of JSON lines")
    parser.add_argument(
        "--corpus", metavar="DIR", help="every *.jsonl there, and what of the model no log ever exercised"
    )
    parser.add_argument(
        "--require-coverage",
        action="store_true",
        help="with --corpus: VACUOUS (exit 11) where an action or an answer is in no log",
    )
    parser.add_argument(
        "--max-hidden",
        type=positive,
        metavar="N",
        default=MAX_HIDDEN,
        help=f"at most N unlogged steps between two lines; default {MAX_HIDDEN}",
    )
    parser.add_argument(
        "--max-candidates",
        type=positive,
        metavar="N",
        default=MAX_CANDIDATES,
        help=f"at most N states at a line; default {MAX_CANDIDATES:,}",
    )
    parser.add_argument(
        "--unfinished", action="store_true", help="take a log without its last line, as far as it goes"
    )
    parser.add_argument(
        "--header", action="store_true", help="print the first line of a log of this model, and nothing else"
    )
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Validates every log; the gravest verdict is the exit code."""
    target = one_target(args.model, args.config, args.constants)
    definition = definition_at(target)
    if args.header:
        say(header_line(definition))
        return 0
    if args.require_coverage and args.corpus is None:
        raise InputError("--require-coverage goes with --corpus DIR")
    paths = [Path(log) for log in args.logs] + (_corpus(Path(args.corpus)) if args.corpus is not None else [])
    if not paths:
        raise InputError("no log: write LOG, a file of JSON lines, or --corpus DIR")
    limits = Limits(args.max_hidden, args.max_candidates)
    known: Known = {}
    found = [_validated(definition, path, limits, known, unfinished=args.unfinished) for path in paths]
    covered = coverage(definition, found) if args.corpus is not None else None
    document = validate_document(
        definition, subject_text(definition, target.configuration), found, covered,
        required=args.require_coverage, width=width(),
    )  # fmt: skip
    return emit(document, args.format)


def _corpus(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"no folder {folder}; write the folder that holds the logs")
    found = sorted(folder.glob("*.jsonl"))
    if not found:
        raise InputError(f"{folder} holds no *.jsonl")
    return found


def _validated(
    definition: Definition, path: Path, limits: Limits, known: Known, *, unfinished: bool
) -> Validation:
    if not path.is_file():
        raise InputError(f"no file {path}")
    return validate(definition, str(path), _lines(path), limits, unfinished=unfinished, known=known)


def _lines(path: Path) -> Iterator[str]:
    """The lines, one at a time; what is no UTF-8 becomes a sign that JSON refuses outside its texts."""
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from file
