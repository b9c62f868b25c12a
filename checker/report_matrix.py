"""The two matrices of the gate: which twin breaks which invariant, and which surface observes which."""

from __future__ import annotations

from collections.abc import Iterator

from falsework.conformance.twins import RuntimeContract
from falsework.gate_answers import Answer, Gated, GateReport
from falsework.gate_words import NOT_CHECKED
from falsework.prove_contract import OTHER_VALUES, ProofCell, ProofContract
from falsework.report_text import aligned
from falsework.twin_contract import MISSING, OTHER_STEPS, SURPRISE, UNREACHED, Cell, Contract

LEGEND = (
    "a number: first broken in that many steps, as declared   · not broken   - a witness no longer reached\n"
    "! a surprise   ? declared and missing, or not decided   6≠5 found 6, declared 5"
)

REFUTED_LEGEND = "x: refuted at the values declared   ≠ refuted at others"
Bent = Contract | RuntimeContract | ProofContract


def twin_matrix(report: GateReport, model: Gated) -> Iterator[str]:
    """The matrix of the model's twins and breaking configurations, if it has any: one block of text."""
    answers = [
        report.answers.get(asked) for asked in report.of(model, "configuration", "twin", "runtime twin")
    ]
    rows = [
        (a, a.contract) for a in answers if a is not None and a.contract is not None and _breaks(a.contract)
    ]
    if not rows:
        return
    columns = _columns(model, [contract for _, contract in rows])
    heads = [str(number) for number in range(1, len(columns) + 1)]
    lines = [["", *heads]]
    lines += [[_named(answer), *(_sign(contract.cells.get(c)) for c in columns)] for answer, contract in rows]
    lines.append(["broken by", *(str(_breakers(c, [k for _, k in rows])) for c in columns)])
    numbered = [f"{head.rjust(len(heads[-1]))}  {name}" for head, name in zip(heads, columns, strict=True)]
    signs = [c for _, contract in rows for c in contract.cells.values()]
    legends = [LEGEND] if not all(isinstance(c, ProofCell) for c in signs) else []
    legends += [REFUTED_LEGEND] if any(isinstance(c, ProofCell) for c in signs) else []
    yield "\n".join([*_grid(lines), "", *numbered, "", *legends])


def _breaks(contract: Bent) -> bool:
    return any(cell.declared is not None or cell.found is not None for cell in contract.cells.values())


def _columns(model: Gated, contracts: list[Bent]) -> list[str]:
    """The invariants in order of definition, then whatever else is declared or found broken."""
    definition = model.definition
    names: list[str] = []
    if definition is not None:
        names += [prop.name for prop in definition.invariants]
        names += [obligation.name for obligation in definition.obligations]
    for contract in contracts:
        for name, cell in contract.cells.items():
            if name not in names and (cell.declared is not None or cell.found is not None):
                names.append(name)
    return names


def _named(answer: Answer) -> str:
    return answer.asked.name + ("  (configuration)" if answer.asked.kind == "configuration" else "")


def _sign(cell: Cell | None) -> str:
    if cell is None:
        return "·"
    if isinstance(cell, ProofCell) and cell.found is not None:
        return {OTHER_VALUES: "≠", SURPRISE: "!x"}.get(cell.word, "x")
    found = "-" if cell.found == UNREACHED else str(cell.found)
    match cell.word:
        case word if word == SURPRISE:
            return f"!{found}"
        case word if word == MISSING:
            return "?"
        case word if word == OTHER_STEPS:
            return f"{found}≠{cell.declared}"
    if cell.found is None:
        return "·" if cell.decided else "?"
    return found


def _breakers(name: str, contracts: list[Bent]) -> int:
    return sum(c.cells[name].found is not None for c in contracts if name in c.cells)


def _grid(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        " ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


def surface_matrix(report: GateReport, model: Gated) -> Iterator[str]:
    """The matrix of the model's invariants by surface, if it has an implementation: one block of text."""
    columns = [*report.of(model, "subject"), *(a for a in report.left_out if a.model == model.name)]
    subjects = sorted((a for a in columns if a.kind == "subject"), key=lambda a: _order(model, a.name))
    if not subjects or model.definition is None:
        return
    lines = [["", "model", *_heads(model, [asked.name for asked in subjects])]]
    own = next(iter(report.of(model, "model", "configuration")), None)  # it is asked before all others
    for prop in model.definition.invariants:
        cells = [_on_the_model(report.answers.get(own) if own is not None else None, prop.name)]
        cells += [_on_a_surface(report.answers.get(asked), prop.name) for asked in subjects]
        lines.append([prop.name, *cells])
    yield "\n".join(aligned(lines))


def _order(model: Gated, name: str) -> int:
    """What is driven comes first, on files before servers, then what was observed, then what is audited."""
    subject = next((subject for subject in model.subjects if subject.name == name), None)
    if subject is None:
        return 4
    return {"observed": 2, "audited": 3}.get(subject.kind, bool(subject.needs))


def _heads(model: Gated, names: list[str]) -> list[str]:
    """The surfaces; where several subjects have one, each with what its name has beyond the model's."""
    surfaces = {subject.name: subject.surface for subject in model.subjects}
    found = [surfaces.get(name, name) for name in names]
    beyond = [name.removeprefix(model.name).lstrip(".") for name in names]
    return [
        f"{head} ({more})" if found.count(head) > 1 and more else head
        for head, more in zip(found, beyond, strict=True)
    ]


def _on_the_model(answer: Answer | None, name: str) -> str:
    if answer is None or answer.result is None:
        return NOT_CHECKED
    return answer.result.answers().get(name, NOT_CHECKED)


def _on_a_surface(answer: Answer | None, name: str) -> str:
    """Holds, violated, not observable with what it would have to read, or NOT CHECKED."""
    done = None if answer is None else answer.drive or answer.survey
    if answer is None or done is None:
        return NOT_CHECKED
    if name in done.hidden:
        return f"not observable: {', '.join(done.hidden[name])}"
    if (answer.breaches is not None and name in answer.breaches.found) or (
        answer.survey is not None and name in answer.survey.broken
    ):
        return "violated"
    complete = done.verdict.passes and done.observable.get(name, 0) > 0
    return "holds" if complete else NOT_CHECKED
