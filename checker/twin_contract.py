"""The contract of a twin or a configuration: what it declares, compared with what it breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from falsework.check import ERROR_WORDS, VACUOUS_WORDS, Finding, Result
from falsework.definition import Definition, definition_of
from falsework.domains import spell
from falsework.errors import CutByBound, InputError
from falsework.language import Model, deadlock, role_of
from falsework.naming import setting
from falsework.state import columns
from falsework.trace import Faulted, Label, Taken, instances, starts, take
from falsework.verdict import Verdict, combine

Check = Callable[[type[Model]], Result]
"""Answers one class with `every=True`; who calls may remember what was answered."""

SURVIVED = "survived"
MISSING = "missing"
SURPRISE = "surprise"
OTHER_STEPS = "other step count"
AS_DECLARED = "as declared"
NOT_BROKEN = "not broken"
NOT_DECIDED = "not decided"


@dataclass(frozen=True)
class Cell:
    """One property of one twin: what was declared of it and what was found.

    `declared` and `found` are None where the property is not broken; a witness is broken by being reached
    no longer, and has no steps.
    """

    name: str
    witness: bool
    declared: int | str | None
    found: int | str | None
    decided: bool = True

    @property
    def word(self) -> str:
        """As declared, not broken, missing, surprise, other step count, or not decided."""
        if self.declared == self.found:
            agreed = NOT_BROKEN if self.found is None else AS_DECLARED
            return agreed if self.decided or self.found is not None else NOT_DECIDED
        if self.found is None:
            return MISSING if self.decided else NOT_DECIDED
        return SURPRISE if self.declared is None else OTHER_STEPS


UNREACHED = "unreached"
"""What stands in a witness's cell instead of a number of steps."""


@dataclass(frozen=True)
class Departure:
    """Where a counterexample leaves the model: the step (0: the start), and what the model does there."""

    name: str
    step: int
    label: str
    why: str

    def __str__(self) -> str:
        return f"departs at step {self.step}: {self.label} — {self.why}"


@dataclass(frozen=True)
class Problem:
    """One way in which a contract is not kept."""

    word: str
    text: str
    verdict: Verdict = Verdict.VIOLATED
    about: str = ""


def gravest(problems: Collection[Problem]) -> str:
    """The gravest problem's word, the first of these; as declared where there is none."""
    worst = combine(problem.verdict for problem in problems) if problems else None
    return next((p.word for p in problems if p.verdict is worst), AS_DECLARED)


@dataclass
class Contract:
    """A twin or a configuration in its setting: cells, departures from the model, and what is wrong."""

    cls: type[Model]
    kind: str
    result: Result
    clean: Result | None = None
    cells: dict[str, Cell] = field(default_factory=dict)
    departures: dict[str, Departure] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """A pass where everything is as declared."""
        return combine(p.verdict for p in self.problems) if self.problems else Verdict.HOLDS

    @property
    def broken(self) -> dict[str, int | str]:
        """What it was found to break, by property."""
        return {cell.name: cell.found for cell in self.cells.values() if cell.found is not None}


def judge_twin(twin: type[Model], check: Check) -> Contract:
    """The twin against its declaration, and its counterexamples against the model in that configuration."""
    wrong, clean = setting(twin)
    contract = Contract(twin, "twin", check(wrong), check(clean))
    _compare(contract)
    clean_result = contract.clean
    assert clean_result is not None
    if clean_result.tally.violations or not clean_result.tally.complete:
        found = ", ".join(clean_result.tally.violations) or "its search did not end"
        verdict = Verdict.VIOLATED if clean_result.tally.violations else Verdict.INCOMPLETE
        if clean_result.verdict is Verdict.ERROR:
            verdict = Verdict.ERROR
            found = "; ".join(map(_told, _errors(clean_result))) or "it cannot be run"
        text = f"the model itself does not hold in that configuration: {found}"
        contract.problems.append(Problem("the model does not hold", text, verdict))
        return contract
    for name, example in contract.result.counterexamples.items():
        departure = departs(contract.result.definition, clean_result.definition, name, example.taken)
        if departure is None:
            text = (
                f"every step of the counterexample to {name} is a step of the model too: "
                "the twin bends what is asked, not what is done"
            )
            contract.problems.append(Problem("no departure", text, about=name))
        else:
            contract.departures[name] = departure
    return contract


def judge_configuration(configuration: type[Model], check: Check) -> Contract:
    """The configuration against holds=True or breaks={…}."""
    contract = Contract(configuration, "configuration", check(configuration))
    _compare(contract)
    role = role_of(configuration)
    result = contract.result
    if role is not None and not role.breaks and result.verdict is Verdict.VACUOUS:
        for finding in result.findings:
            if finding.word in VACUOUS_WORDS - {"witness-not-reached"}:  # its cell has said it
                contract.problems.append(Problem("vacuous", finding.text, result.verdict, finding.subject))
    return contract


# --- declared and found -----------------------------------------------------------------------------------


def _compare(contract: Contract) -> None:
    """Fills the cells, and names every difference."""
    result = contract.result
    definition, tally = result.definition, result.tally
    if result.verdict is Verdict.ERROR:
        contract.problems += [
            Problem(finding.word, _told(finding), Verdict.ERROR) for finding in _errors(result)
        ]
    declared = definition_of(
        contract.cls
    ).breaks  # a twin composed with its configuration has no role of its own
    names = [p.name for p in definition.invariants]
    names += [
        name for name in (*declared, *tally.violations) if name not in names and name not in tally.witnesses
    ]
    for name in names:
        found = tally.violations[name].steps if name in tally.violations else None
        contract.cells[name] = Cell(name, False, declared.get(name), found, tally.complete)
    for name, steps in tally.witnesses.items():
        lost = UNREACHED if steps is None and tally.complete and _reached_by(contract.clean, name) else None
        decided = tally.complete or steps is not None
        contract.cells[name] = Cell(name, True, UNREACHED if name in declared else None, lost, decided)
    contract.problems += _stopped(result)
    cells = [c for c in contract.cells.values() if not (c.witness and _hidden(contract, c))]
    contract.problems += differences(cells, declared, contract.kind)


def as_declared(result: Result) -> str:
    """A line that says whether the class breaks what it declares; empty where that is not known.

    A witness that is lost and not declared is left to the gate, which asks the model for it too.
    """
    declared = result.definition.breaks
    if not declared or not result.tally.complete:
        return ""
    contract = Contract(result.definition.cls, "twin", result)
    _compare(contract)
    lost = [cell.name for cell in contract.cells.values() if cell.witness and cell.name not in declared]
    wrong = [problem.text for problem in contract.problems if problem.about not in lost]
    if wrong:
        return f"not as declared: {'; '.join(wrong)}"
    broken = [f"{name} in {_steps(n)}" for name, n in contract.broken.items() if isinstance(n, int)]
    missed = [f"{name} no longer reached" for name in declared if contract.broken.get(name) == UNREACHED]
    return f"as declared: {', '.join(broken + missed)}"


def _errors(result: Result) -> list[Finding]:
    """Why the class could not be run."""
    return [finding for finding in result.findings if finding.word in ERROR_WORDS]


def _told(finding: Finding) -> str:
    """The text with its place."""
    return f"{finding.text} at {finding.place}" if finding.place is not None else finding.text


def _reached_by(clean: Result | None, name: str) -> bool:
    """Whether losing the witness is the twin's doing: the model in the same configuration reaches it."""
    return clean is None or clean.tally.witnesses.get(name) is not None


def _hidden(contract: Contract, cell: Cell) -> bool:
    """A configuration's violating states lead nowhere: a witness that is lost with them is no news."""
    return contract.kind == "configuration" and bool(contract.result.tally.violations) and not cell.declared


def _stopped(result: Result) -> Iterator[Problem]:
    if not result.tally.complete and result.tally.fault is None:
        why = str(result.tally.stop or "it did not end")
        yield Problem("incomplete", f"the search did not end: {why}", Verdict.INCOMPLETE)


def differences(cells: Collection[Cell], declared: Collection[str], kind: str = "twin") -> Iterator[Problem]:
    """What is not as declared, each in its own word; a twin that breaks nothing at all has survived."""
    decided = all(cell.decided for cell in cells)
    if declared and decided and all(cell.found is None for cell in cells):
        yield Problem(SURVIVED, f"it breaks nothing; declared: {', '.join(declared)}")
        return
    for cell in cells:
        match cell.word:
            case "missing":
                lost = ("no longer reached", "still reached")
                said, is_so = lost if cell.witness else ("broken", "not broken")
                yield Problem(MISSING, f"{cell.name} is declared as {said}, and is {is_so}", about=cell.name)
            case "surprise" if cell.witness and kind == "configuration":
                text = f"the witness {cell.name} is not reached in this configuration"
                yield Problem("vacuous", text, Verdict.VACUOUS, cell.name)
            case "surprise":
                how = "is no longer reached" if cell.witness else f"is broken in {_steps(cell.found)}"
                # Why a witness is lost cannot be shown, and that it can be declared is not seen elsewhere.
                write = f"; where it is to be lost, write Model.{cell.name}: None in breaks"
                text = f"{cell.name} {how}, and is not declared{write if cell.witness else ''}"
                yield Problem(SURPRISE, text, about=cell.name)
            case "other step count":
                text = f"{cell.name} is broken in {_steps(cell.found)}, declared: {cell.declared}"
                yield Problem(OTHER_STEPS, text, about=cell.name)


def _steps(number: object) -> str:
    return f"{number} step" if number == 1 else f"{number} steps"


# --- where a counterexample leaves the model --------------------------------------------------------------


def departs(twin: Definition, model: Definition, name: str, taken: tuple[Taken, ...]) -> Departure | None:
    """The first step of the trace that is no step of the model, or None where every one is."""
    start = taken[0]
    try:
        begins = [found.state for found in starts(model)]
    except (Faulted, InputError, ValueError):
        begins = []
    if _shape(twin) != _shape(model):
        return Departure(name, 0, str(start.label), "the state has other keys than in the model")
    if start.state not in begins:
        return Departure(name, 0, str(start.label), "this start is no initial state of the model")
    for number in range(1, len(taken)):
        why = _not_a_step(model, taken[number - 1], taken[number])
        if why:
            return Departure(name, number, str(taken[number].label), why)
    if name == deadlock and (way := _way_on(model, taken[-1])):
        return Departure(name, len(taken) - 1, str(taken[-1].label), f"the model goes on from here: {way}")
    return None


def _shape(definition: Definition) -> list[tuple[str, str]]:
    """The variables and the keys of their maps: two models of one shape can hold each other's states."""
    from falsework.domains import MapOf

    return [(v.name, str(v.domain.key) if isinstance(v.domain, MapOf) else "") for v in definition.variables]


def _not_a_step(model: Definition, before: Taken, after: Taken) -> str:
    """Why the model does not take this step, or nothing."""
    action = next((a for a in model.actions if a.name == after.label.action), None)
    if action is None:
        return "no action of the model"
    if any(
        not domain.contains(value)
        for (_, domain), value in zip(action.parameters, after.label.arguments, strict=True)
    ):
        return "its arguments lie outside the model's domains"
    try:
        clean = take(model, action, before.state, after.label)
    except CutByBound as cut:
        return f"{cut} in the model"
    except Faulted as fault:
        return f"a fault in the model: {fault.message}"
    if clean is None:
        return "disabled in the model"
    if clean.state != after.state:
        return f"leads elsewhere in the model: {_changed(model, clean.state, after.state)}"
    if clean.answer != after.answer:
        return f"answers {spell(clean.answer)} in the model, {spell(after.answer)} here"
    return "leaves its domain here, not in the model" if clean.outside != after.outside else ""


def _changed(model: Definition, there: tuple[object, ...], here: tuple[object, ...]) -> str:
    cells = [
        f"{variable.name} = {columns(variable.domain, a)} there, {columns(variable.domain, b)} here"
        for variable, a, b in zip(model.variables, there, here, strict=True)
        if a != b
    ]
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    return cells[0] + more


def _way_on(model: Definition, at: Taken) -> str:
    """The first step that the model can take there, if any; a terminal state counts as one."""
    from falsework.judge import judge

    for prop in model.terminals:
        if judge(model, prop, at.state)[0]:
            return f"{prop.name} is true"
    for action in model.actions:
        for label in instances(model, action):
            if _enabled(model, action.name, at, label):
                return str(label)
    return ""


def _enabled(model: Definition, name: str, at: Taken, label: Label) -> bool:
    action = next(a for a in model.actions if a.name == name)
    try:
        return take(model, action, at.state, label) is not None
    except CutByBound:
        return True
    except Faulted:
        return False


# --- the converse -----------------------------------------------------------------------------------------


def breakers(name: str, contracts: Iterable[Contract]) -> list[str]:
    """The twins and configurations that break the invariant, and declare it."""
    return [
        contract.cls.__name__
        for contract in contracts
        if (cell := contract.cells.get(name)) is not None
        and cell.declared is not None
        and cell.found is not None
    ]
