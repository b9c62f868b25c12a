"""The contract of a runtime twin: it is rejected for what it declares and for nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from falsework.conformance.breaches import Breaches, breaches
from falsework.conformance.driver import Drive, drive
from falsework.conformance.finding import NamedSubject, driven_definition
from falsework.conformance.subject import ANSWER, OBSERVATION, subject_role_of
from falsework.conformance.survey import Survey
from falsework.conformance.surveys import surveyed
from falsework.errors import InputError
from falsework.language import values_stay_in_domain
from falsework.twin_contract import SURVIVED, Cell, Problem, differences
from falsework.verdict import Verdict, combine

WORDS = (ANSWER, OBSERVATION)


@dataclass
class RuntimeContract:
    """A wrong subject searched to the end: its cells by invariant, and what is not as declared.

    `drive` is its first divergence from the model, looked for only where that is what it declares or where it
    breaks nothing; `survey` stands in the place of `breaches` where it is not driven, and lines or snapshots
    in that of steps.
    """

    subject: NamedSubject
    breaches: Breaches | None = None
    drive: Drive | None = None
    survey: Survey | None = None
    cells: dict[str, Cell] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """A pass where everything is as declared."""
        return combine(p.verdict for p in self.problems) if self.problems else Verdict.HOLDS

    @property
    def broken(self) -> dict[str, int]:
        """What it was found to break, by property."""
        found: dict[str, int] = {}
        if self.breaches is not None:
            found |= {name: breach.steps for name, breach in self.breaches.found.items()}
        if self.survey is not None:
            found |= {name: seen.line for name, seen in self.survey.found.items()}
        if self.drive is not None and self.drive.divergence is not None:
            found[self.drive.divergence.name] = self.drive.divergence.steps
        return found


def judge_runtime_twin(subject: NamedSubject) -> RuntimeContract:
    """The wrong subject against its declaration. Raises InputError."""
    definition = driven_definition(subject)
    role = subject_role_of(subject.cls)
    assert role is not None, "only what @runtime_twin decorates is judged as one"
    names = [prop.name for prop in definition.invariants]
    odd = [name for name in role.breaks if name not in (*names, values_stay_in_domain, *WORDS)]
    if odd:
        raise InputError(
            f"{subject.name} breaks {odd[0]}, which is no invariant of {definition.name}; "
            f"one of: {', '.join((*names, values_stay_in_domain, *WORDS))}"
        )
    contract = RuntimeContract(subject)
    if subject.kind == "driven":
        contract.breaches = subject.attended(
            lambda made: breaches(made, definition, name=subject.name, within=role.within)
        )
        if set(role.breaks) & set(WORDS) and not contract.breaches.problem:
            contract.drive = subject.attended(lambda made: drive(made, definition, name=subject.name))
    else:
        contract.survey = surveyed(subject, definition)
    looked = [found for found in (contract.breaches, contract.drive, contract.survey) if found is not None]
    contract.problems += [Problem("fault", f.problem, Verdict.ERROR) for f in looked if f.problem]
    if contract.problems:
        return contract
    incomplete = _incomplete(contract)
    for name in dict.fromkeys((*names, *role.breaks, *contract.broken)):
        declared, found = role.breaks.get(name), contract.broken.get(name)
        contract.cells[name] = Cell(name, False, declared, found, decided=not incomplete)
    contract.problems += [Problem("incomplete", text, Verdict.INCOMPLETE) for text in incomplete]
    contract.problems += _hidden(contract) or differences(contract.cells.values(), role.breaks)
    if any(p.word == SURVIVED for p in contract.problems) and contract.breaches and contract.drive is None:
        contract.drive = subject.attended(lambda made: drive(made, definition, name=subject.name))
        contract.problems = [_diverging(contract.drive, p) for p in contract.problems]
    return contract


def _diverging(found: Drive, problem: Problem) -> Problem:
    """The problem of a twin that has survived: with what it could declare, where it diverges all the same."""
    parted = found.divergence
    if problem.word != SURVIVED or parted is None:
        return problem
    told = problem.text.replace("it breaks nothing", "it breaks no invariant", 1)
    where = f"in {parted.steps} step{'s' * (parted.steps != 1)}"
    return replace(
        problem, text=f"{told}; but it diverges {where}: write {parted.name} = {parted.steps} in breaks"
    )


def _incomplete(contract: RuntimeContract) -> list[str]:
    """Why not everything is decided, if so."""
    if contract.survey is not None:
        return contract.survey.undecided
    assert contract.breaches is not None
    if contract.breaches.complete:
        return []
    return [f"its search was given up after {contract.breaches.performed} steps"]


def _hidden(contract: RuntimeContract) -> list[Problem]:
    """A twin cannot be rejected for what its surface does not show."""
    looked = contract.breaches or contract.survey
    assert looked is not None
    hidden = looked.hidden
    return [
        Problem(
            "not observable",
            f"{name} reads {', '.join(hidden[name])}, which {contract.subject.surface} does not show",
            about=name,
        )
        for name, cell in contract.cells.items()
        if cell.declared is not None and name in hidden
    ]
