"""One check: every reachable state is looked at, and the first line says what was asked and answered.

Without a class, all models of the module or of the system are checked. The answer is HOLDS, HOLDS WITHIN (a
bound that the model declares did cut), VIOLATED (with a shortest counterexample), VACUOUS, INCOMPLETE or
ERROR.

example: falsework check my_model.py:Lease -D WORKERS=3 --verbose
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from falsework.accounting import DEFAULT_MAX_STATES
from falsework.check import Failure, Outcome, check
from falsework.cli_model import Target, add_model, definition_at, targets
from falsework.engines import ENGINES
from falsework.errors import DefinitionError, InputError, NoCompiler, Refused
from falsework.lower import lower
from falsework.machine_limits import SHARE
from falsework.progress import watch
from falsework.report_check import check_document
from falsework.report_output import add_output, emit, warn, width
from falsework.report_text import refusal_line
from falsework.trace import nothing_to_explore
from falsework.twin_contract import as_declared
from falsework.verdict import BAD_INPUT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the bounds, the engine and the output."""
    add_model(parser)
    add_bounds(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        help="go on after a violation and find all that is broken (a twin always does)",
    )
    parser.add_argument(
        "--save", metavar="FILE", help="write the counterexample there, for falsework replay FILE"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="also what was covered: actions, premises, bounds, witnesses"
    )
    add_output(parser)


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """The engine and what may stop it."""
    parser.add_argument(
        "--engine", choices=ENGINES, default="auto", help="auto takes fast, and native for larger models"
    )
    parser.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        default=DEFAULT_MAX_STATES,
        help=f"default {DEFAULT_MAX_STATES:,}",
    )
    parser.add_argument("--max-depth", type=positive, metavar="N", help="look no further than N steps")
    parser.add_argument(
        "--memory",
        type=positive,
        metavar="MB",
        help=f"stop when the search holds so much; native, by default, at {SHARE} %% of what is free",
    )
    add_threads(parser)


def add_threads(parser: argparse.ArgumentParser) -> None:
    """How many threads a compiled search takes; its result is the same."""
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="of native; default one for each processor"
    )


def positive(text: str) -> int:
    """A whole number above zero, with or without separators."""
    try:
        number = int(text.replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def run(args: argparse.Namespace) -> int:
    """Checks every target; the gravest verdict is the exit code."""
    try:
        found, without = targets(args.model, args.config, args.constants)
    except InputError as problem:
        if args.format == "text":
            raise
        # Whoever reads the answer by machine finds it where every other answer stands.
        found, without = [Failure(args.model, problem)], []
    outcomes = [each if isinstance(each, Failure) else _outcome(each, args) for each in _with_states(found)]
    for name in without:
        warn(f"falsework: {name} was not checked: it has no configuration or constant of that name")
    document = check_document(_asked(args), outcomes, width=width(), verbose=args.verbose)
    unsaved = args.save is not None and not _save(Path(args.save), outcomes)
    code = emit(document, args.format)
    if unsaved:
        warn(f"falsework: {args.save} was not written: there is no counterexample to save")
    return code or (BAD_INPUT if unsaved else 0)


def _with_states(found: Sequence[Target | Failure]) -> list[Target | Failure]:
    """Of several models those that have a state; one that is asked alone and has none is a Failure."""
    silent = [each for each in found if isinstance(each, Target) and _without_state(each)]
    if len(silent) == len(found):
        return [Failure(each.name, nothing_to_explore(definition_at(each), each.name)) for each in silent]
    for each in silent:
        warn(f"falsework: {each.name} was not checked: it has no state; write: falsework prove {each.name}")
    return [each for each in found if each not in silent]


def _without_state(target: Target) -> bool:
    try:
        return not definition_at(target).explorable
    except DefinitionError:
        return False  # the check says what is wrong


def _asked(args: argparse.Namespace) -> str:
    setting = [f"--config {args.config}"] if args.config else []
    return " ".join([args.model, *setting, *args.constants])


def _outcome(target: Target, args: argparse.Namespace) -> Outcome:
    try:
        if args.engine == "auto":
            _say_if_slow(target)
        with watch(target.cls.__name__, quiet=args.quiet) as progress:
            result = check(
                target.cls,
                engine=args.engine,
                max_states=args.max_states,
                max_depth=args.max_depth,
                memory_mb=args.memory,
                every=args.all or target.declares,
                threads=args.threads,
                progress=progress,
            )
    except (DefinitionError, Refused, NoCompiler) as problem:
        return Failure(target.name, problem)
    result.name, result.configuration, result.command = target.name, target.configuration, target.command
    # A twin in another configuration than its own has declared nothing of it.
    if target.declares and not args.constants and not (args.config and target.twin):
        result.declared = as_declared(result)
    return result


def _say_if_slow(target: Target) -> None:
    """One line before a search that the fast engines refuse."""
    definition = definition_at(target)
    try:
        lower(definition)
    except Refused as refusal:
        warn(refusal_line(definition.name, refusal))


def _save(path: Path, outcomes: list[Outcome]) -> bool:
    """Whether there was a counterexample to write there."""
    from falsework.tracefile import save

    broken = [o for o in outcomes if not isinstance(o, Failure) and o.counterexamples]
    if broken:
        save(path, broken[0])
    return bool(broken)
