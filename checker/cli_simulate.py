"""Random walks over a model: how often each action is taken, and a counterexample if one is met.

It is a look, never a proof: the word is SAMPLED (exit 0), or VIOLATED (exit 10) with a counterexample that
need not be a shortest one. The same seed walks the same way.

example: falsework simulate my_model.py:Lease --seed 7 --walks 200 --steps 50
"""

from __future__ import annotations

import argparse

from falsework.cli_check import positive
from falsework.cli_model import add_model, definition_at, one_target
from falsework.errors import InputError
from falsework.report_output import say, width
from falsework.report_table import trace_table
from falsework.report_text import (
    aligned,
    constants_text,
    number_of,
    reason_lines,
    subject_text,
    trace_command,
    twin_lines,
)
from falsework.simulate import Walks, simulate
from falsework.trace import Faulted
from falsework.verdict import PASSED, Verdict

_BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, and how to walk."""
    add_model(parser)
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="default 0")
    parser.add_argument(
        "--walks", type=positive, metavar="N", default=100, help="how many walks; default 100"
    )
    parser.add_argument(
        "--steps", type=positive, metavar="N", default=100, help="at most so many steps each; default 100"
    )


def run(args: argparse.Namespace) -> int:
    """Walks; prints the histogram and what was met."""
    target = one_target(args.model, args.config, args.constants)
    definition = definition_at(target)
    try:
        done = simulate(definition, seed=args.seed, steps=args.steps, walks=args.walks)
    except Faulted as fault:
        raise InputError(f"the model faults: {fault.message} at {fault.place}") from None
    who = subject_text(definition, target.configuration)
    constants = constants_text(definition)
    spent = f"{number_of(done.steps, 'step')} in {number_of(done.walks, 'walk')}, seed {done.seed}"
    if done.found is not None:
        name = done.found.violation.name
        within = f"in {number_of(done.found.violation.steps, 'step')}"
        word = Verdict.VIOLATED.value
        say(
            "  ".join(filter(None, (word, f"{who}.{name}", within, constants)))
            + f"   {spent}; not necessarily a shortest one"
        )
        say(f"\n{trace_table(definition, done.found.taken, width())}\n\n")
        for line in (*reason_lines(definition, done.found), *twin_lines(definition)):
            say(line)
        say(f"again          {trace_command(target.command, done.found.violation.trace)}")
        say("\n" + histogram(done))
        return Verdict.VIOLATED.exit_code
    nothing = "" if definition.invariants else f"{definition.name} declares no invariant"
    nothing = nothing or ("" if done.steps else "no step was taken")
    if nothing:
        say("  ".join(filter(None, (Verdict.VACUOUS.value, who, constants))) + f"   {spent}: {nothing}")
        say("\n" + histogram(done))
        return Verdict.VACUOUS.exit_code
    asked = number_of(len(definition.invariants), "invariant")
    say(
        "  ".join(filter(None, ("SAMPLED", who, constants)))
        + f"   {spent}: {asked} not refuted, which is not a proof"
    )
    say("\n" + histogram(done))
    return PASSED


def histogram(done: Walks) -> str:
    """How often each action was taken, and what else the walks met."""
    most = max(done.taken.values(), default=0)
    rows = [["action", "taken", ""]]
    for action in done.definition.actions:
        times = done.taken[action.name]
        bar = "█" * max(round(_BAR * times / most), 1) if times else "never taken"
        rows.append([action.name, f"{times:,}", bar])
    lines = aligned(rows)
    lines += ["", f"{number_of(len(done.states), 'distinct state')} met"]
    lines += [
        f"witness {name}: " + (f"met in {number_of(times, 'state')}" if times else "not met")
        for name, times in done.witnesses.items()
    ]
    ends = ", ".join(f"{times} at {_END[why]}" for why, times in done.ends.items())
    return "\n".join([*lines, f"walks ended: {ends}"] if ends else lines)


_END = {"limit": "the limit of steps", "terminal": "a terminal state", "cut": "a bound"}
