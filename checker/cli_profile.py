"""Which variable explodes, which guard never decides, how levels grow, which actions repeat what is known.

A variable's `saved` is how many states fewer there would be if it were dropped. A conjunct has `decided`
where it is the first of its action's that is false, counted over all states and instances; one that never
decides is false only where an earlier one is false too, so the guard says the same without it. A step leads
`to known states` where its state had been reached in fewer steps, by an action higher up, or by an instance
of the same action.

example: falsework profile my_model.py:Lease
"""

from __future__ import annotations

import argparse

from falsework.cli_check import positive
from falsework.cli_model import add_model, definition_at, one_target
from falsework.errors import InputError, Refused
from falsework.lower import lower
from falsework.profile import MOST_ON_THE_CLASS, MOST_WORDS, Profile, profile
from falsework.progress import watch
from falsework.report_output import add_quiet, say, warn
from falsework.report_text import (
    aligned,
    constants_text,
    number_of,
    refusal_line,
    stop_advice,
    stop_text,
    subject_text,
)
from falsework.trace import Faulted
from falsework.verdict import PASSED, Verdict

_BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, and how far is looked."""
    add_model(parser)
    parser.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        help=f"default {MOST_WORDS:,}, or {MOST_ON_THE_CLASS:,} where fast refuses the model",
    )
    parser.add_argument("--memory", type=positive, metavar="MB", help="stop when the search holds so much")
    add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the profile; INCOMPLETE where not every state was reached."""
    target = one_target(args.model, args.config, args.constants)
    definition = definition_at(target)
    try:
        lower(definition)
    except Refused as refusal:
        warn(refusal_line(definition.name, refusal))
    try:
        with watch(target.cls.__name__, quiet=args.quiet) as progress:
            made = profile(definition, args.max_states, args.memory, progress)
    except Faulted as fault:
        raise InputError(f"the model faults: {fault.message} at {fault.place}") from None
    if not made.states:
        raise InputError(f"{definition.name} has no initial state, so there is nothing to count")
    who = "  ".join(
        filter(None, (subject_text(definition, target.configuration), constants_text(definition)))
    )
    if made.stop is not None:
        say(f"{Verdict.INCOMPLETE.value}  {who}   {stop_text(made.stop)}\n\n{stop_advice(made.stop)}")
        return Verdict.INCOMPLETE.exit_code
    say(f"PROFILED  {who}   {number_of(made.states, 'state')} · {_idle(made)}")
    for block in (_variables(made), _actions(made), _guards(made), _levels(made)):
        say("\n" + block)
    return PASSED


def _idle(made: Profile) -> str:
    number = len(made.idle_guards)
    return f"{number_of(number, 'conjunct')} {'never decides' if number == 1 else 'never decide'}"


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
