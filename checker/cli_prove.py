"""Each obligation of a model is proved for all values of its figures, or refuted by the least ones.

First its assumptions are looked at: where they are never true together the answer is VACUOUS. Then z3
decides: PROVED, or REFUTED with the least counterexample, executed again on the class; where z3 does not
know in time, the answer is INCOMPLETE. A figure is fixed by -D or by a configuration, else it is left open.

example: falsework prove my_model.py:Deadlines --timeout 20
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Self

from falsework.check import Failure
from falsework.cli_model import Target, add_model, definition_at, targets
from falsework.errors import DefinitionError, InputError
from falsework.language import Model
from falsework.naming import configurations_of, nearest, twins_of
from falsework.proofs import DEFAULT_SECONDS, Proofs, prove, prove_obligation
from falsework.prove_contract import ProofContract, judge_obligations
from falsework.report_output import add_quiet, emit, warn
from falsework.report_prove import Outcome, prove_document
from falsework.twin_contract import AS_DECLARED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, which obligations, how long, and the output."""
    add_model(parser)
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="this obligation and no other; may be repeated",
    )
    parser.add_argument(
        "--twins",
        action="store_true",
        help="also every configuration and twin, against what it declares",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="S",
        default=DEFAULT_SECONDS,
        help=f"seconds for each obligation; default {DEFAULT_SECONDS:g}",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how the answer is written"
    )
    add_quiet(parser)


def seconds(text: str) -> float:
    """A number of seconds above zero."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from None
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no time that a proof could take")
    return number


def run(args: argparse.Namespace) -> int:
    """Asks every obligation that is named; the gravest answer is the exit code."""
    found, without = targets(args.model, args.config, args.constants)
    for name in without:
        warn(f"falsework: {name} was not asked: it has no configuration or constant of that name")
    outcomes: list[Outcome] = []
    with _Line(quiet=args.quiet) as line:
        for target in _with_the_chosen(_with_obligations(found), args.only):
            outcomes.append(_outcome(target, args, line) if isinstance(target, Target) else target)
            if args.twins and isinstance(target, Target):
                outcomes += _bent(target, args, line)
    setting = [f"--config {args.config}"] if args.config else []
    asked = " ".join([args.model, *setting, *args.constants])
    return emit(prove_document(asked, outcomes, _declared(found, outcomes, args)), args.format)


def _with_obligations(found: Sequence[Target | Failure]) -> list[Target | Failure]:
    """Of several models those that have an obligation; the others are named, and were not asked."""
    taken: list[Target | Failure] = []
    left: list[Target | Failure] = []
    for each in found:
        try:
            silent = isinstance(each, Target) and not definition_at(each).obligations
        except DefinitionError as problem:
            taken.append(Failure(each.name, problem))
            continue
        (left if silent else taken).append(each)
    if not taken:
        return list(found)
    for each in left:
        warn(f"falsework: {each.name} was not asked: it has no obligation")
    return taken


def _outcome(target: Target, args: argparse.Namespace, line: _Line) -> Proofs:
    definition = definition_at(target)
    proofs = Proofs(definition, [], target.name, target.configuration, target.command)
    known = definition.obligations
    chosen = [obligation for obligation in known if not args.only or obligation.name in args.only]
    for number, obligation in enumerate(chosen, 1):
        line.says(f"{definition.name}.{obligation.name}, {number} of {len(chosen)}")
        proofs.proofs.append(prove_obligation(definition, obligation, args.timeout))
    return proofs


def _bent(target: Target, args: argparse.Namespace, line: _Line) -> Iterator[ProofContract]:
    """Each configuration and twin of the model; what is asked of one class is asked once."""
    if args.only or args.config or args.constants or target.declares:
        raise InputError("--twins asks a model itself, whole and with its own figures")
    known: dict[type[Model], Proofs] = {}

    def proved(cls: type[Model]) -> Proofs:
        if cls not in known:
            line.says(cls.__name__)
            known[cls] = prove(cls, seconds=args.timeout)
        return known[cls]

    for kind, found in (("configuration", configurations_of), ("twin", twins_of)):
        for cls in found(target.cls):
            yield judge_obligations(cls, kind, proved)


def _with_the_chosen(found: list[Target | Failure], only: Sequence[str]) -> list[Target | Failure]:
    """Those that have one of the obligations; raises InputError for a name that none of them has."""
    asked = {each.name: _names(each) for each in found if isinstance(each, Target)}
    known = [name for names in asked.values() for name in names]
    undefined = any(isinstance(each, Failure) for each in found)  # it may have had any name, and is told of
    for wanted in only:
        if wanted not in known and not undefined:
            raise InputError(f"{', '.join(asked)}: no obligation {wanted!r}{nearest(wanted, known)}")
    wanted_of = {name for name, names in asked.items() if not only or set(only) & set(names)}
    return [each for each in found if isinstance(each, Failure) or each.name in wanted_of]


def _names(target: Target) -> list[str]:
    return [obligation.name for obligation in definition_at(target).obligations]


def _declared(
    found: Sequence[Target | Failure], outcomes: Sequence[Outcome], args: argparse.Namespace
) -> str:
    """Whether a twin or a configuration refutes what it declares; empty where that was not asked."""
    if len(outcomes) != 1 or len(found) != 1 or args.config or args.constants or args.only:
        return ""
    target, proofs = found[0], outcomes[0]
    if not (isinstance(target, Target) and isinstance(proofs, Proofs) and proofs.definition.refutes):
        return ""
    contract = judge_obligations(target.cls, "configuration", lambda _: proofs)
    told = "; ".join(problem.text for problem in contract.problems)
    return f"not as declared: {told}" if told else AS_DECLARED


class _Line:
    """A live line on a terminal: which obligation is being asked."""

    def __init__(self, *, quiet: bool) -> None:
        self.live = not quiet and sys.stderr.isatty() and sys.stdout.isatty()
        self.status: Any = None

    def __enter__(self) -> Self:
        if self.live:
            from rich.console import Console

            self.status = Console(stderr=True).status("prove: …")
            self.status.start()
        return self

    def says(self, text: str) -> None:
        """The line says so from here on."""
        if self.status is not None:
            self.status.update(f"prove: {text}")

    def __exit__(self, *_: object) -> None:
        if self.status is not None:
            self.status.stop()
