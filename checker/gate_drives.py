"""What came of driving an implementation, in the gate's words."""

from __future__ import annotations

from collections.abc import Iterator

from falsework.conformance.driver import Drive
from falsework.twin_contract import Problem
from falsework.verdict import Verdict

NOT_CHECKED = "NOT CHECKED"


def steps_text(number: object) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} step" if number == 1 else f"{number} steps"


def conformance_word(done: Drive) -> str:
    """What came of a drive, in a word."""
    if done.verdict is Verdict.HOLDS:
        return "conforms"
    return {"ERROR": "ERROR", "VIOLATED": "diverges", "VACUOUS": "nothing compared"}.get(
        done.verdict.value, NOT_CHECKED
    )


def conformance_figures(done: Drive) -> str:
    """How much was driven."""
    refused = f", {done.attempted} of {done.attempts} refusals" if done.attempts else ""
    return (
        f"{done.covered:,} of {done.transitions:,} transitions of {done.states:,} states{refused} "
        f"in {done.performed:,} steps on {done.surface}"
    )


def conformance_problems(done: Drive) -> Iterator[Problem]:
    """Why a drive is no pass."""
    if done.problem:
        yield Problem("error", done.problem, Verdict.ERROR)
    if done.divergence is not None:
        parted = [row for row in done.divergence.rows if row.differs]
        told = "; ".join(f"{row.what}: expected {row.expected}, observed {row.observed}" for row in parted)
        yield Problem("diverges", f"in {steps_text(done.divergence.steps)}: {told}")
    elif done.verdict is Verdict.INCOMPLETE:
        left = f"{done.transitions - done.covered} transitions and {done.attempts - done.attempted} refusals"
        first = f", the first: {done.undriven[0]}" if done.undriven else ""
        yield Problem(NOT_CHECKED, f"{left} were not driven{first}", Verdict.INCOMPLETE)
    elif done.verdict is Verdict.VACUOUS:
        text = "the adapter shows no variable and the model's actions have no answer: nothing was compared"
        yield Problem("nothing compared", text, Verdict.VACUOUS)
