"""The gate's report: one line a question, the two matrices, and last the failures."""

from __future__ import annotations

from collections.abc import Iterator

from falsework.accounting import Violation
from falsework.check import Counterexample
from falsework.conformance.breaches import Breach, Breaches
from falsework.conformance.divergence import Divergence
from falsework.conformance.driver import Drive
from falsework.conformance.subject import subject_role_of
from falsework.conformance.twins import RuntimeContract
from falsework.definition import Definition
from falsework.errors import InputError
from falsework.gate_answers import KINDS, Answer, Asked, Gated, GateReport
from falsework.gate_words import NOT_CHECKED
from falsework.prove_contract import ProofContract
from falsework.report_document import Document, Item, Remark, Status
from falsework.report_matrix import surface_matrix, twin_matrix
from falsework.report_prove import details_of
from falsework.report_table import trace_table
from falsework.report_text import (
    aligned,
    constants_text,
    counterexample_text,
    number_of,
    reason_lines,
    twin_lines,
)
from falsework.trace import Trace, replay
from falsework.twin_contract import Contract
from falsework.verdict import Verdict

_PLURALS = {"witness": "witnesses"}
_STATUS: dict[Verdict, Status] = {
    Verdict.HOLDS: "pass",
    Verdict.HOLDS_WITHIN: "pass",
    Verdict.VIOLATED: "fail",
    Verdict.VACUOUS: "error",
    Verdict.INCOMPLETE: "error",
    Verdict.ERROR: "error",
}


# --- the document, for every format -----------------------------------------------------------------------


def gate_document(report: GateReport, *, width: int = 100) -> Document:
    """One item a question; the matrices are its tables."""
    tables = []
    for model in report.models:
        tables += [(twin_title(model), block) for block in twin_matrix(report, model)]
        tables += [(f"{model.name}: surface × invariant", block) for block in surface_matrix(report, model)]
    return Document(
        report.command,
        " ".join(report.names) or "everything installed",
        report_word(report).upper(),
        report.exit_code,
        tuple(_item(report, asked, width) for asked in report.asked),
        f"asked {counted(report)} · {_answered(report)}",
        tuple(tables),
    )


def twin_title(model: Gated) -> str:
    """The heading of the matrix of twins: by invariant, or by obligation where there is no state."""
    stateless = model.definition is not None and not model.definition.explorable
    return f"{model.name}: twin × {'obligation' if stateless else 'invariant'}"


def report_word(report: GateReport) -> str:
    """As declared, not as declared, or how the gravest question was answered."""
    if report.verdict.passes:
        return "as declared"
    return "not as declared" if report.verdict is Verdict.VIOLATED else report.verdict.value.lower()


def _in_words(report: GateReport) -> str:
    """The word, in a line that says besides that all was answered."""
    answers = report.answers.values()
    errors = sum(answer.verdict is Verdict.ERROR for answer in answers)
    return f"{errors} with an error" if report.verdict is Verdict.ERROR and answers else report_word(report)


def counted(report: GateReport) -> str:
    """`3 models, 9 configurations, 24 twins`, of what was asked."""
    return _numbers([asked.kind for asked in report.asked])


def _answered(report: GateReport) -> str:
    missing = len(report.unanswered)
    told = f"answered {len(report.answers)} of {len(report.asked)}" if missing else "answered all"
    return " · ".join([told, *_left_out(report)])


def _left_out(report: GateReport) -> Iterator[str]:
    """What cannot be asked here: `NOT CHECKED: 1 subject, 8 runtime twins (NAME is not set)`."""
    for why in dict.fromkeys(report.left_out.values()):
        kinds = [asked.kind for asked, reason in report.left_out.items() if reason == why]
        yield f"{NOT_CHECKED}: {_numbers(kinds)} ({why})"


def _numbers(kinds: list[str]) -> str:
    return ", ".join(
        number_of(kinds.count(kind), kind, _PLURALS.get(kind, "")) for kind in KINDS if kind in kinds
    )


def _item(report: GateReport, asked: Asked, width: int) -> Item:
    answer = report.answers.get(asked)
    name = f"{asked.model} {asked.kind}" + (f" {asked.name}" if asked.name != asked.model else "")
    if answer is None:
        return Item(name, "error", NOT_CHECKED, f"{NOT_CHECKED}  {name}", "the gate was stopped before")
    word = answer.word.upper()
    headline = "  ".join(filter(None, (word, name, answer.figures)))
    data = {
        "gate": {
            "model": asked.model,
            "kind": asked.kind,
            "name": asked.name,
            "problems": [
                {"word": p.word, "text": p.text, "verdict": p.verdict.value} for p in answer.problems
            ],
            "cells": _cells(answer),
            "departures": _departures(answer),
        }
    }
    remarks = tuple(
        Remark(p.word.replace(" ", "-").lower(), f"{asked.name}: {p.text}", answer.place)
        for p in answer.problems
    )
    details = "" if answer.verdict.passes else failure_text(answer, width)
    status = _STATUS[answer.verdict]
    return Item(
        name, status, word, headline, details, answer.place, remarks, answer.result, data, answer.seconds
    )


def _cells(answer: Answer) -> list[dict[str, object]]:
    if answer.contract is None:
        return []
    return [
        {"property": cell.name, "declared": cell.declared, "found": cell.found, "word": cell.word}
        for cell in answer.contract.cells.values()
        if cell.declared is not None or cell.found is not None
    ]


def _departures(answer: Answer) -> dict[str, str]:
    if isinstance(answer.contract, Contract):
        return {name: str(found) for name, found in answer.contract.departures.items()}
    if isinstance(answer.contract, ProofContract):
        return answer.contract.departures
    if isinstance(answer.contract, RuntimeContract) and answer.contract.breaches is not None:
        return {name: found.departs for name, found in answer.contract.breaches.found.items()}
    if isinstance(answer.contract, RuntimeContract) and answer.contract.survey is not None:
        survey = answer.contract.survey
        return {n: f"{survey.unit} {s.line} of {s.source}: {s.text}" for n, s in survey.found.items()}
    return {}


# --- the text ---------------------------------------------------------------------------------------------


def gate_text(report: GateReport, *, width: int = 100) -> str:
    """The whole report as text; the first line says what was asked and answered, the failures stand last."""
    came = f"{_answered(report)} · {_in_words(report)} · {report.seconds:.2f} s"
    first = f"{report.command.upper()}  asked {counted(report)} · {came}"
    blocks = [first]
    blocks += ["\n".join(_model_lines(report, model)) for model in report.models]
    for model in report.models:
        blocks += [f"{twin_title(model)}\n\n{block}" for block in twin_matrix(report, model)]
        blocks += [f"{model.name}: surface × invariant\n\n{block}" for block in surface_matrix(report, model)]
    failed = [a for a in report.answers.values() if not a.verdict.passes]
    blocks += [f"{failure_heading(answer)}\n\n{failure_text(answer, width)}" for answer in failed]
    return "\n\n".join(blocks) + "\n"


def _model_lines(report: GateReport, model: Gated) -> list[str]:
    """A heading and one line a question; the invariants that some twin breaks share one."""
    name = model.cls.__name__
    constants = constants_text(model.definition) if model.definition is not None else ""
    heading = "   ".join(filter(None, (model.name, name, constants)))
    rows = []
    broken = 0
    for asked in report.of(model, *KINDS):
        answer = report.answers.get(asked)
        if asked.kind == "invariant" and answer is not None and answer.verdict.passes:
            broken += 1
        else:
            rows.append(_row(asked, answer))
    if broken:
        rows.append(
            ["invariants", f"{broken} of {len(report.of(model, 'invariant'))}", "broken by a twin", "each"]
        )
    left = [(a, why) for a, why in report.left_out.items() if a.model == model.name]
    rows += [[a.kind, a.name, NOT_CHECKED, why] for a, why in left if a.kind == "subject"]
    if twins := [why for a, why in left if a.kind == "runtime twin"]:
        rows.append(["runtime twins", str(len(twins)), NOT_CHECKED, twins[0]])
    return [heading, *(f"  {line}" for line in aligned(rows))]


def _row(asked: Asked, answer: Answer | None) -> list[str]:
    if answer is None:
        return [asked.kind, asked.name, NOT_CHECKED, ""]
    told = answer.figures
    departures = list(_departures(answer).values())
    if asked.kind in ("twin", "runtime twin") and departures and answer.verdict.passes:
        told = departures[0]
        told += _depth(answer)
    elif answer.problems:
        told = answer.problems[0].text.partition("\n")[0]
    return [asked.kind, asked.name, answer.word, told]


def _depth(answer: Answer) -> str:
    """How deep a wrong implementation was searched, where that was not to the end."""
    role = (
        subject_role_of(answer.contract.subject.cls) if isinstance(answer.contract, RuntimeContract) else None
    )
    return f" (searched {number_of(role.within, 'step')} deep)" if role is not None and role.within else ""


# --- failures ---------------------------------------------------------------------------------------------


def failure_heading(answer: Answer) -> str:
    """The word and the name, as the first line of a failure."""
    return f"{answer.word.upper()}  {answer.asked.kind} {answer.asked.name}"


def failure_text(answer: Answer, width: int = 100) -> str:
    """Each problem in a line, and under them the counterexamples that show it."""
    blocks = ["\n".join(f"{p.word}: {p.text}" for p in answer.problems)]
    if answer.problems and answer.breaches is not None and not answer.breaches.found:
        blocks.append(_without_breach(answer.breaches, answer.drive))
    if answer.drive is not None and answer.drive.divergence is not None:
        blocks.append(divergence_text(answer.drive, answer.drive.divergence, width))
    if answer.breaches is not None and answer.problems:
        about = {p.about for p in answer.problems}
        blocks += [
            breach_text(answer.breaches.definition, found, width)
            for name, found in answer.breaches.found.items()
            if name in about
        ]
    elif answer.result is not None:
        blocks += _counterexamples(answer, width)
    if answer.proofs is not None and not answer.verdict.passes:
        about = {p.about for p in answer.problems}
        shown = [proof for proof in answer.proofs.proofs if proof.obligation.name in about]
        blocks += [details_of(answer.proofs, proof) for proof in shown]
    return "\n\n".join(filter(None, blocks))


def _without_breach(found: Breaches, drive: Drive | None) -> str:
    """Whether a subject that breaks nothing differs from the model at all."""
    if found.problem or (drive is not None and drive.divergence is not None and not found.departure):
        return ""  # where it diverges in what the model does not take, the path to that says all
    return f"it departs from the model: {found.departure or 'nowhere'}"


def _counterexamples(answer: Answer, width: int) -> Iterator[str]:
    result = answer.result
    assert result is not None
    about = {p.about for p in answer.problems}
    shown = [name for name in result.counterexamples if name in about]
    for name in shown:
        found = result.counterexamples[name]
        steps = number_of(found.violation.steps, "step")
        yield f"{name}  in {steps}\n\n{counterexample_text(result, found, width)}"
    if not shown and answer.asked.kind == "twin":
        yield "\n".join(twin_lines(result.definition))


def divergence_text(drive: Drive, found: Divergence, width: int = 100) -> str:
    """The steps that agree, then the one that does not: what was expected beside what was observed."""
    agreed = _agreed(drive.definition, found, width)
    last = str(found.path[-1]) if found.path else str(found.start or "the start")
    rows = [["", "before", "expected", "observed"]]
    rows += [
        [row.what, row.before, row.expected, row.observed + ("   <" if row.differs else "")]
        for row in found.rows
    ]
    table = "\n".join(f"   {line}" for line in aligned(rows))
    note = "" if found.shortest else "\n\n(the search for a shorter path was given up)"
    return f"{agreed}\n\n{found.steps}  {last}\n{table}{note}"


def _agreed(definition: Definition, found: Divergence, width: int) -> str:
    try:
        taken = replay(definition, Trace(found.start, found.path[:-1]))
        return trace_table(definition, taken, width)
    except InputError:  # after an unknown outcome the steps need not be a path of the model
        return "\n".join(f"{number}  {label}" for number, label in enumerate(found.path[:-1], 1))


def breach_text(definition: Definition, found: Breach, width: int = 100) -> str:
    """The observed steps up to the broken invariant, why it is broken, and where they leave the model."""
    last = found.taken[-1]
    trace = Trace(found.start, tuple(step.label for step in found.taken[1:]))
    violation = Violation(found.name, trace, last.outside)
    lines = [f"{found.name}  in {number_of(found.steps, 'step')}, as observed", ""]
    lines.append(trace_table(definition, found.taken, width))
    lines += ["", *reason_lines(definition, Counterexample(violation, found.taken))]
    if found.departs:
        lines.append(f"the model      {found.departs}")
    return "\n".join(lines)
