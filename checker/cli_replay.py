"""A trace executed again on the class: a saved file, or a model and a line of steps.

A file must agree to the last state: the same model digest, the same states, the same answers. The answer is
VIOLATED (exit 10) where the property is broken again, REPLAYED (exit 0) where steps of one's own break
nothing; a file that no longer agrees, or a step that cannot be taken, is an error (exit 13) that names the
step.

examples: falsework replay counterexample.json
          falsework replay my_model.py:Lease "acquire(0) expire() acquire(1)"
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from falsework.accounting import Violation
from falsework.check import Counterexample
from falsework.cli_model import Target, add_setting, definition_at, one_target
from falsework.definition import Definition, definition_of
from falsework.errors import InputError
from falsework.report_output import say, width
from falsework.report_table import trace_table
from falsework.report_text import constants_text, number_of, reason_lines, subject_text, twin_lines
from falsework.trace import Faulted, Taken, Trace
from falsework.tracefile import Saved, disagreement, encoded, executed, first_broken, load, parsed, trace_of
from falsework.verdict import PASSED, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A file, or a model with steps."""
    parser.add_argument("what", metavar="FILE|MODEL", help="a trace file, or the model whose steps follow")
    parser.add_argument("steps", nargs="?", help="with MODEL: the steps, such as 'acquire(0) expire()'")
    add_setting(parser)


def run(args: argparse.Namespace) -> int:
    """Executes the trace; prints the table and what is broken."""
    if args.steps is not None:
        return _steps(args)
    if args.config or args.constants:
        raise InputError("--config and -D go with MODEL and steps; a trace file holds its own")
    path = Path(args.what)
    if not path.is_file():
        raise InputError(f"no file {path}; write a trace file, or a model and its steps in quotes")
    return _file(load(path))


def _steps(args: argparse.Namespace) -> int:
    target = one_target(args.what, args.config, args.constants)
    definition = definition_at(target)
    trace = parsed(definition, args.steps)
    if not trace.steps and trace.start is None:
        raise InputError(
            f"no step in {args.steps!r}; write them as the tables show them: 'acquire(0) expire()'"
        )
    taken = _executed(definition, trace)
    number, broken = first_broken(definition, taken)
    who = "  ".join(
        filter(None, (subject_text(definition, target.configuration), constants_text(definition)))
    )
    if not broken:
        say(f"REPLAYED  {who}   {number_of(len(trace), 'step')}, nothing is broken on the way: not a proof")
        say("\n" + trace_table(definition, taken, width()))
        return PASSED
    return _violated(definition, target.configuration, trace, taken[: number + 1], broken)


def _file(saved: Saved) -> int:
    target = _target(saved)
    definition = definition_at(target)
    if definition.digest != saved.digest:
        now = (
            f"the trace is of {saved.model} as it was ({saved.digest}); the model is now {definition.digest}"
        )
        raise InputError(
            f"{now}\n  {_still(definition, saved)}\n  check it again: falsework check {target.command}"
        )
    trace = trace_of(definition, saved)
    taken = _executed(definition, trace)
    differs = disagreement(saved, taken)
    if differs:
        raise InputError(f"the same model does not take the same steps: {differs}")
    number, broken = first_broken(definition, taken)
    if number != len(trace) or saved.property not in broken:
        found = (
            f"{', '.join(broken)} is broken after {number_of(number, 'step')}"
            if broken
            else "nothing is broken"
        )
        raise InputError(f"{saved.property} is not broken at the end of the steps: {found}")
    return _violated(definition, target.configuration, trace, taken, [saved.property])


def _target(saved: Saved) -> Target:
    plain = one_target(saved.model, None, ())
    config = None
    if plain.configuration != saved.configuration:
        config = saved.configuration or "default"
        plain = one_target(saved.model, config, ())
    own = definition_of(plain.cls).constants
    other = [
        f"{name}={_text(value)}"
        for name, value in saved.constants.items()
        if name in own and encoded(own[name]) != value
    ]
    return one_target(saved.model, config, other) if other else plain


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _still(definition: Definition, saved: Saved) -> str:
    try:
        taken = list(executed(definition, trace_of(definition, saved)))
    except (InputError, Faulted) as problem:
        return f"its steps can no longer be taken: {problem}"
    _, broken = first_broken(definition, taken)
    return f"the same steps {f'still break {broken[0]}' if broken else 'no longer break anything'}"


def _executed(definition: Definition, trace: Trace) -> list[Taken]:
    try:
        return list(executed(definition, trace))
    except Faulted as fault:
        raise InputError(f"the model faults: {fault.message} at {fault.place}") from None


def _violated(
    definition: Definition, configuration: str, trace: Trace, taken: Sequence[Taken], broken: Sequence[str]
) -> int:
    who = subject_text(definition, configuration)
    steps = number_of(len(taken) - 1, "step")
    line = "  ".join(filter(None, (f"{who}.{broken[0]}", f"in {steps}", constants_text(definition))))
    say(f"{Verdict.VIOLATED.value}  {line}   replayed on the class")
    say(f"\n{trace_table(definition, taken, width())}\n\n")
    done = Trace(trace.start, trace.steps[: len(taken) - 1])
    for name in broken:
        found = Counterexample(Violation(name, done, taken[-1].outside), tuple(taken))
        say("\n".join(reason_lines(definition, found)))
    for text in twin_lines(definition):
        say(text)
    return Verdict.VIOLATED.exit_code
