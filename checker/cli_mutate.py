"""Makes one small change at a time to what the actions do, and says what notices it, if anything.

The operators: guard leaves out a conjunct of a guard, relation moves a comparison or a number by one or
turns the comparison round, skip leaves out an assignment. A mutant that adds a step is to be killed by an
invariant, and that is the score; one that only takes steps away is to be noticed by a witness; one that does
neither is equivalent. What to do about a survivor:
  new states      see first to these: what must not be true there is an invariant, and the change is the twin
                  that breaks it
  new steps only  no state is new, so only an invariant of a step can notice (one with `before`, or of an
                  action); else what was changed decides nothing that matters
  unnoticed       steps are gone and nobody misses them: a witness would
Exit code 10 says that one survived, 12 that one was not decided or not looked at, 11 that there is none.

example: falsework mutate my_model.py:Lease --operator guard
"""

from __future__ import annotations

import argparse
import time
from functools import partial

from falsework.accounting import Bounds, Progress
from falsework.cli_check import positive
from falsework.cli_model import Target, add_model, definition_at, one_target
from falsework.definition import Definition, definition_of
from falsework.errors import InputError
from falsework.language import role_of
from falsework.mutate import DEFAULT_BOUNDS, outcomes, unmutated
from falsework.mutate_operators import OPERATORS, Mutant
from falsework.naming import configurations_of, subject_of, within
from falsework.progress import watch
from falsework.report_mutate import mutants_text, word_of
from falsework.report_output import add_quiet, say, warn
from falsework.verdict import Verdict

_VERDICTS = {
    "NO MUTANT": Verdict.VACUOUS,
    "SURVIVED": Verdict.VIOLATED,
    "UNDECIDED": Verdict.INCOMPLETE,
    "KILLED": Verdict.HOLDS,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the operators, the bounds, and how much is told."""
    add_model(parser)
    parser.add_argument(
        "--operator",
        dest="operators",
        choices=OPERATORS,
        action="append",
        default=[],
        help="only mutants of this operator; may be repeated; all three unless told",
    )
    most = DEFAULT_BOUNDS.max_states
    parser.add_argument(
        "--max-states", type=positive, metavar="N", default=most, help=f"of each mutant; default {most:,}"
    )
    parser.add_argument(
        "--seconds", type=positive, metavar="N", help="begin no mutant after so long; no bound unless told"
    )
    parser.add_argument(
        "--all", action="store_true", help="find everything that a mutant breaks, and not the first alone"
    )
    parser.add_argument(
        "--everywhere",
        action="store_true",
        help="also in each configuration that breaks no invariant, until one kills it",
    )
    parser.add_argument("--verbose", action="store_true", help="list the mutants that are killed too")
    add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the table; 0 only where no mutant that adds a step goes unnoticed."""
    target = one_target(args.model, args.config, args.constants)
    definition = definition_at(target)
    operators = tuple(name for name in OPERATORS if name in args.operators) or OPERATORS
    ends = None if args.seconds is None else time.monotonic() + args.seconds
    bounds = Bounds(max_states=args.max_states, every=args.all)
    also = other_configurations(target, args.max_states) if args.everywhere else {}
    with watch(definition.name, quiet=args.quiet) as progress:

        def heard(number: int, total: int, mutant: Mutant) -> Progress:
            progress.name = f"{definition.name}, mutant {number} of {total} in {mutant.method}"
            return progress

        in_time = partial(_in_time, ends)
        found = list(outcomes(definition, bounds, operators, also=also, heard=heard, in_time=in_time))
    say(mutants_text(definition, target.configuration, found, verbose=args.verbose))
    return _VERDICTS[word_of(found)].exit_code


def _in_time(ends: float | None) -> bool:
    return ends is None or time.monotonic() < ends


def other_configurations(target: Target, max_states: int) -> dict[str, Definition]:
    """The other configurations that break no invariant, by name; one that is too large is said."""
    found = {}
    model = target.cls if target.twin else subject_of(target.cls)
    for configuration in configurations_of(subject_of(target.cls)):
        role, name = role_of(configuration), configuration.__name__
        if name == target.configuration or role is None or any(s is not None for s in role.breaks.values()):
            continue
        definition = definition_of(within(model, configuration))
        try:
            unmutated(definition, max_states)
        except InputError as problem:
            warn(f"falsework: left out: {problem}")
        else:
            found[name] = definition
    return found
