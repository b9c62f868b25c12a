"""Leaves out one conjunct of a guard at a time, and says which invariant notices, if any.

A survivor is a guard whose absence nothing declared is false of. What to do about it:
  new states      see first to these: what must not be true there is an invariant, and leaving the guard out
                  is the twin that breaks it
  new steps only  no state is new, so only an invariant of a step can notice (one with `before`, or of an
                  action); else the guard saves steps and forbids nothing
  no change       an earlier guard says it already, or it is always true: leave it out
Exit code 10 says that one survived, 12 that one could not be decided, 11 that there is no guard.

example: falsework mutate my_model.py:Lease
"""

from __future__ import annotations

import argparse

from falsework.accounting import Bounds
from falsework.cli_check import positive
from falsework.cli_model import add_model, definition_at, one_target
from falsework.mutate import DEFAULT_BOUNDS, Outcome, outcomes
from falsework.report_mutate import mutants_text
from falsework.report_output import say
from falsework.verdict import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, and how many states of each mutant are looked at."""
    add_model(parser)
    most = DEFAULT_BOUNDS.max_states
    parser.add_argument(
        "--max-states", type=positive, metavar="N", default=most, help=f"of each mutant; default {most:,}"
    )


def run(args: argparse.Namespace) -> int:
    """Prints the table; 0 only where every mutant was killed."""
    target = one_target(args.model, args.config, args.constants)
    definition = definition_at(target)
    found = outcomes(definition, Bounds(max_states=args.max_states, every=True))
    say(mutants_text(definition, target.configuration, found))
    return _verdict(found).exit_code


def _verdict(found: list[Outcome]) -> Verdict:
    causes = {outcome.cause for outcome in found}
    if not found:
        return Verdict.VACUOUS
    if "survived" in causes:
        return Verdict.VIOLATED
    return Verdict.INCOMPLETE if "undecided" in causes else Verdict.HOLDS
