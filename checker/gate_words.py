"""What came of an implementation, in the gate's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from falsework.conformance.driver import Drive
from falsework.conformance.survey import Survey
from falsework.twin_contract import Problem
from falsework.verdict import Verdict

NOT_CHECKED = "NOT CHECKED"


def steps_text(number: object) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} step" if number == 1 else f"{number} steps"


def broken_text(found: Mapping[str, int | str] | Mapping[str, int]) -> str:
    """What is broken, each in how many steps; a witness has none."""
    texts = [
        f"{name} in {steps_text(steps)}" if isinstance(steps, int) else f"{name} no longer reached"
        for name, steps in found.items()
    ]
    return ", ".join(texts)


def verdict_word(verdict: Verdict) -> str:
    """What came of a drive or a survey, in a word."""
    if verdict is Verdict.HOLDS:
        return "conforms"
    return {"ERROR": "ERROR", "VIOLATED": "diverges", "VACUOUS": "nothing compared"}.get(
        verdict.value, NOT_CHECKED
    )


# --- an implementation that was driven ----------------------------------------------------------------------


def drive_figures(done: Drive) -> str:
    """How much was driven."""
    refused = f", {done.attempted} of {done.attempts} refusals" if done.attempts else ""
    which = f" of {done.definition.name}" if done.definition.role is not None else ""
    walks = f", {done.walks} random walks of {done.walked:,} steps" if done.walks else ""
    return (
        f"{done.covered:,} of {done.transitions:,} transitions of {done.states:,} states{which}{refused} "
        f"in {done.performed:,} steps{walks} on {done.surface}"
    )


def drive_problems(done: Drive) -> Iterator[Problem]:
    """Why a drive is no pass."""
    if done.problem:
        yield Problem("error", done.problem, Verdict.ERROR)
    if done.divergence is not None:
        parted = [row for row in done.divergence.rows if row.differs]
        told = "; ".join(f"{row.what}: expected {row.expected}, observed {row.observed}" for row in parted)
        yield Problem("diverges", f"in {steps_text(done.divergence.steps)}: {told}")
    elif done.unwalked:
        yield Problem(NOT_CHECKED, done.unwalked, Verdict.INCOMPLETE)
    elif done.verdict is Verdict.INCOMPLETE:
        left = f"{done.transitions - done.covered} transitions and {done.attempts - done.attempted} refusals"
        first = f", the first: {done.undriven[0]}" if done.undriven else ""
        yield Problem(NOT_CHECKED, f"{left} were not driven{first}", Verdict.INCOMPLETE)
    elif done.verdict is Verdict.VACUOUS:
        text = "the adapter shows no variable and the model's actions have no answer: nothing was compared"
        yield Problem("nothing compared", text, Verdict.VACUOUS)


# --- records that were looked through -----------------------------------------------------------------------


def survey_figures(done: Survey) -> str:
    """How much was looked at."""
    kind = {"line": "log", "snapshot": "history"}[done.unit]
    plural = {"log": "logs", "history": "histories"}[kind]
    sources, units = len(done.sources), sum(done.sources.values())
    return (
        f"{sources:,} {kind if sources == 1 else plural}, {units:,} {done.unit}{'' if units == 1 else 's'}, "
        f"{len(done.observable)} of {len(done.observable) + len(done.hidden)} invariants on {done.surface}"
    )


def survey_problems(done: Survey) -> Iterator[Problem]:
    """Why a survey is no pass."""
    if done.problem:
        yield Problem("error", done.problem, Verdict.ERROR)
    for seen in done.rejected:
        yield Problem("rejected", f"{seen.source}, {done.unit} {seen.line}: {seen.text}")
    for name, seen in done.broken.items():
        text = f"{name} is broken at {done.unit} {seen.line} of {seen.source}: {seen.text}"
        yield Problem("violated", text, about=name)
    if done.problem or done.rejected or done.broken:
        return
    for text in done.undecided:
        yield Problem(NOT_CHECKED, text, Verdict.INCOMPLETE)
    if done.verdict is Verdict.VACUOUS:
        what = "no records" if not done.sources else "no invariant of the model can be judged on them"
        yield Problem("nothing compared", f"nothing was judged: {what}", Verdict.VACUOUS)
