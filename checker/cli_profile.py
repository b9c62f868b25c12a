"""Which variable explodes, which guard never decides, how levels grow, which actions repeat what is known.

A variable's `saved` is how many states fewer there would be if it were dropped; a conjunct that never
decides is false only where an earlier one is false too, so the guard says the same without it.

example: falsework profile my_model.py:Lease
"""

from __future__ import annotations

import argparse

from falsework.cli_check import positive
from falsework.cli_model import add_model, definition_at, one_target
from falsework.errors import InputError
from falsework.graph import DEFAULT_LIMIT
from falsework.profile import Profile, profile
from falsework.report_output import say
from falsework.report_text import aligned, constants_text, number_of, subject_text
from falsework.trace import Faulted
from falsework.verdict import PASSED

_BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, and how many states are looked at."""
    add_model(parser)
    parser.add_argument(
        "--max-states", type=positive, metavar="N", default=DEFAULT_LIMIT, help=f"default {DEFAULT_LIMIT:,}"
    )


def run(args: argparse.Namespace) -> int:
    """Prints the profile."""
    target = one_target(args.model, args.config, args.constants)
    definition = definition_at(target)
    try:
        made = profile(definition, args.max_states)
    except InputError as problem:
        raise InputError(f"{problem}; raise --max-states, or make the model smaller: -D NAME=VALUE") from None
    except Faulted as fault:
        raise InputError(f"the model faults: {fault.message} at {fault.place}") from None
    if not made.states:
        raise InputError(f"{definition.name} has no initial state, so there is nothing to count")
    who = "  ".join(
        filter(None, (subject_text(definition, target.configuration), constants_text(definition)))
    )
    idle = number_of(len(made.idle_guards), "conjunct")
    say(f"PROFILED  {who}   {number_of(made.states, 'state')} · {idle} never decide")
    for block in (_variables(made), _actions(made), _guards(made), _levels(made)):
        say("\n" + block)
    return PASSED


def _variables(made: Profile) -> str:
    rows = [["variable", "values", "saved", "of all"]]
    for cost in sorted(made.variables, key=lambda each: each.without):
        saved = made.states - cost.without
        rows.append([cost.name, f"{cost.values:,}", f"{saved:,}", f"{saved / made.states:.0%}"])
    return "\n".join(aligned(rows))


def _actions(made: Profile) -> str:
    rows = [["action", "fired", "to known states"]]
    names = [action.name for action in made.definition.actions]
    rows += [[name, f"{made.fired[name]:,}", f"{made.duplicates[name]:,}"] for name in names]
    return "\n".join(aligned(rows))


def _guards(made: Profile) -> str:
    rows = [["conjunct of a guard", "decided", "at"]]
    rows += [
        [part.text, f"{part.decided:,}" if part.decided else "never", str(part.place)] for part in made.guards
    ]
    lines = aligned(rows) if made.guards else ["no guard"]
    if made.unexplained:
        lines.append(f"{number_of(made.unexplained, 'disabled instance')} by a guard that is not told apart")
    return "\n".join(lines)


def _levels(made: Profile) -> str:
    most = max(made.levels)
    rows = [["steps", "new states", "growth", ""]]
    for depth, size in enumerate(made.levels):
        growth = f"×{size / made.levels[depth - 1]:.2f}" if depth else ""
        rows.append([str(depth), f"{size:,}", growth, "█" * max(round(_BAR * size / most), 1)])
    return "\n".join(aligned(rows))
