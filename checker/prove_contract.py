"""What a twin or a configuration declares of obligations, compared with the least counterexamples found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from falsework.definition import Definition, definition_of
from falsework.domains import spell
from falsework.language import Model
from falsework.naming import setting
from falsework.obligations import ALL_ZERO, Obligation
from falsework.posed import helper_values
from falsework.proofs import PROVED, REFUTED, Proof, Proofs, Refutation
from falsework.twin_contract import MISSING, OTHER_STEPS, SURPRISE, SURVIVED, Cell, Contract, Problem
from falsework.verdict import Verdict, combine

OTHER_VALUES = "other values"
Prove = Callable[[type[Model]], Proofs]
"""Answers one class; who calls may remember what was answered."""


class ProofCell(Cell):
    """One obligation of one twin: the counterexample declared, and the one found, as texts."""

    @property
    def word(self) -> str:
        """As of any property; other values where another counterexample is the least."""
        return OTHER_VALUES if super().word == OTHER_STEPS else super().word


@dataclass
class ProofContract:
    """The obligations of a twin or a configuration: cells, where the model differs, and what is wrong."""

    cls: type[Model]
    kind: str
    proofs: Proofs
    cells: dict[str, Cell] = field(default_factory=dict)
    departures: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """A pass where everything is as declared."""
        return combine(p.verdict for p in self.problems) if self.problems else Verdict.HOLDS

    @property
    def broken(self) -> dict[str, int | str]:
        """What it was found to refute, with the values."""
        return {cell.name: cell.found for cell in self.cells.values() if cell.found is not None}


def judge_obligations(cls: type[Model], kind: str, prove: Prove) -> ProofContract:
    """The class against its declaration; of a twin the model itself is proved in the same configuration."""
    wrong, clean = setting(cls) if kind == "twin" else (cls, cls)
    contract = ProofContract(cls, kind, prove(wrong))
    declared = definition_of(cls).refutes
    for proof in contract.proofs.proofs:
        name = proof.obligation.name
        quantities = (*contract.proofs.definition.figures, *proof.obligation.parameters)
        least = {each.name: each.least for each in quantities}
        wanted = declared.get(name)
        named = None if wanted is None else {n: v for n, v in wanted.items() if v != least.get(n)}
        found = proof.refutation
        contract.cells[name] = ProofCell(
            name,
            False,
            None if named is None else _in_order(named, least),
            None if found is None else _in_order(found.nonzero(quantities), least),
            proof.word in (PROVED, REFUTED),
        )
        contract.problems += _undecided(proof)
    contract.problems += _differences(contract)
    if kind == "twin":
        _compare_with(contract, prove(clean))
    return contract


def _in_order(values: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    ordered = [name for name in known if name in values] + [name for name in values if name not in known]
    return values_text({name: values[name] for name in ordered}) or ALL_ZERO


def values_text(values: Mapping[str, Any]) -> str:
    """`RUN_BOUND=2 WINDOW=4`."""
    return " ".join(f"{name}={_spelled(value)}" for name, value in values.items())


def _spelled(value: Any) -> str:
    return str(value) if isinstance(value, bool) else spell(value)


def _undecided(proof: Proof) -> Iterator[Problem]:
    if proof.word not in (PROVED, REFUTED):
        yield Problem(
            proof.word, f"{proof.obligation.name}: {proof.text}", proof.verdict, proof.obligation.name
        )
    elif proof.refutation is not None and not proof.refutation.smallest:
        text = f"{proof.obligation.name}: z3 did not prove that there is no smaller counterexample"
        yield Problem("not the least", text, Verdict.INCOMPLETE, proof.obligation.name)


def _differences(contract: ProofContract) -> Iterator[Problem]:
    """What is not as declared, each in its own word; a class that refutes nothing at all has survived."""
    cells = list(contract.cells.values())
    declared = [cell.name for cell in cells if cell.declared is not None]
    if declared and all(cell.decided and cell.found is None for cell in cells):
        yield Problem(SURVIVED, f"it refutes nothing; declared: {', '.join(declared)}")
        return
    for cell in cells:
        text = ""
        match cell.word:
            case word if word == MISSING:
                text = f"{cell.name} is declared as refuted, and is proved"
            case word if word == SURPRISE:
                text = f"{cell.name} is refuted at {cell.found}, and is not declared"
            case word if word == OTHER_VALUES:
                text = f"{cell.name} is refuted at {cell.found}, declared at {cell.declared}"
        if text:
            yield Problem(cell.word, text, about=cell.name)


def _compare_with(contract: ProofContract, clean: Proofs) -> None:
    for proof in clean.proofs:
        if proof.word != PROVED and proof.obligation.name in contract.cells:
            verdict = Verdict.VIOLATED if proof.word == REFUTED else proof.verdict
            text = (
                f"the model itself does not prove {proof.obligation.name} in that configuration: {proof.word}"
            )
            contract.problems.append(Problem("the model does not hold", text, verdict, proof.obligation.name))
    for name, found in contract.proofs.refuted.items():
        obligation = next(p.obligation for p in contract.proofs.proofs if p.obligation.name == name)
        told = departure(contract.proofs.definition, clean.definition, obligation, found)
        if told:
            contract.departures[name] = told


def departure(wrong: Definition, clean: Definition, obligation: Obligation, found: Refutation) -> str:
    """The first helper that answers otherwise in the model at the same values."""
    known = dict(helper_values(clean, obligation, found.values))
    for call, value in helper_values(wrong, obligation, found.values):
        if call in known and known[call] != value:
            return f"{call} is {_spelled(value)}, in the model {_spelled(known[call])}"
    return ""


# --- the model's own obligations ----------------------------------------------------------------------------


def with_obligations(contract: Contract, proved: ProofContract) -> None:
    """The contract of a class with states says of its obligations as well."""
    contract.cells |= proved.cells
    declared = definition_of(contract.cls)
    lonely = declared.refutes and not declared.breaks  # it is no survivor where an obligation notices it
    if lonely and proved.broken:
        contract.problems = [problem for problem in contract.problems if problem.word != SURVIVED]
    contract.problems += proved.problems


def judge_proof(proof: Proof, bent: Iterable[Contract | ProofContract]) -> tuple[list[str], Problem | None]:
    """Who refutes the obligation, and why it is no pass if it is none."""
    name = proof.obligation.name
    contracts = [contract for contract in bent if name in contract.cells]
    found = [c.cls.__name__ for c in contracts if c.cells[name].found is not None]
    if proof.word == REFUTED and proof.refutation is not None:
        at = values_text(proof.refutation.nonzero(proof.open)) or ALL_ZERO
        return found, Problem(REFUTED.lower(), f"{name} is refuted at {at}", proof.verdict, name)
    if proof.word != PROVED:
        return found, Problem(proof.word, f"{name}: {proof.text}", proof.verdict, name)
    if found:
        return found, None
    if not all(contract.cells[name].decided for contract in contracts):
        text = f"not every twin was decided, and none of the others refutes {name}"
        return found, Problem("not decided", text, Verdict.INCOMPLETE, name)
    text = f"no twin refutes {name}: it is untested, or says nothing; write a twin that refutes it"
    return found, Problem("no twin", text, about=name)
