"""Whether an instance may start on a deployment file's figures: each condition, for each kind of act.

The five conditions of the text are checked, and those that repair them: a file that passes the first and
fails the second is told apart. Exit code 0 means that all of them hold.

example: falsework start-check ledger.yaml
"""

import argparse
import json
import sys

from falsework.runtime.commands.outcome import NOT_MET, OK, add_deployment, with_deployment
from falsework.runtime.invocation.conditions import Condition, Source, conditions
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.units import spoken

STARTS = "starts"
REPAIRED_FAIL = "the text's conditions hold, the repaired ones do not"
TEXT_FAILS = "the text's conditions do not hold"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file and the form of the report."""
    add_deployment(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how the report is written"
    )


def run(args: argparse.Namespace) -> int:
    """Prints each condition with its figures; 0 if the instance may start."""

    def checked(deployment: Deployment) -> int:
        found = conditions(deployment)
        write = as_json if args.format == "json" else as_text
        sys.stdout.write(write(deployment, found))
        return OK if verdict(found) == STARTS else NOT_MET

    return with_deployment(args.deployment, checked)


def verdict(found: tuple[Condition, ...]) -> str:
    """Whether the instance may start, and whose condition forbids it."""
    sources = {condition.source for condition in found if not condition.holds}
    if Source.TEXT in sources:
        return TEXT_FAILS
    return REPAIRED_FAIL if sources else STARTS


def as_text(deployment: Deployment, found: tuple[Condition, ...]) -> str:
    """A line for each condition, and under a failing one what to write where."""
    lines = [f"{deployment.path}"]
    width = max(len(condition.name) for condition in found)
    for kind in dict.fromkeys(condition.kind for condition in found):
        lines += ["", f"kind {kind}" if kind in deployment.kinds else kind]
        for condition in found:
            if condition.kind == kind:
                lines += _told(deployment, condition, width)
    failing = [condition for condition in found if not condition.holds]
    count = f"{len(failing)} of {len(found)} conditions fail"
    answer = verdict(found)
    lines += ["", f"{answer}" if answer == STARTS else f"start refused: {answer} ({count})"]
    return "\n".join(lines) + "\n"


def _told(deployment: Deployment, condition: Condition, width: int) -> list[str]:
    """The condition with its sum, and the remedy where it fails."""
    relation = ">" if condition.strict else "≥"
    apart = condition.value - condition.bound
    state = f"holds by {spoken(apart)}" if condition.holds else f"FAILS by {spoken(-apart)}"
    if apart == 0:
        state = "holds exactly" if condition.holds else "FAILS, being equal"
    comparison = f"{condition.figure} {spoken(condition.value)} {relation} {spoken(condition.bound)}"
    lines = [f"  {condition.name:<{width}}  {comparison} = {condition.sum}   {state}"]
    if not condition.holds:
        place = deployment.place(condition.scope, condition.figure)
        lines.append(f"  {'':<{width}}  {place}: write {condition.figure}: {condition.remedy}")
    return lines


def as_json(deployment: Deployment, found: tuple[Condition, ...]) -> str:
    """The same for machines: every figure in microseconds."""
    document = {
        "version": 1,
        "deployment": str(deployment.path),
        "verdict": verdict(found),
        "conditions": [
            {
                "kind": condition.kind,
                "condition": condition.name,
                "source": condition.source.value,
                "figure": condition.figure,
                "place": deployment.place(condition.scope, condition.figure),
                "value_us": condition.value,
                "bound_us": condition.bound,
                "strictly_above": condition.strict,
                "terms": [
                    {"name": term.name, "value_us": term.value, "times": term.times}
                    for term in condition.terms
                ],
                "holds": condition.holds,
                "margin_us": condition.margin,
                "least_us": condition.least,
            }
            for condition in found
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
