"""What the gate asked and what it was answered, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

from falsework.check import Result
from falsework.conformance.breaches import Breaches
from falsework.conformance.driver import Drive
from falsework.conformance.finding import NamedSubject
from falsework.conformance.survey import Survey
from falsework.conformance.twins import RuntimeContract
from falsework.definition import Definition
from falsework.errors import FalseworkError, InputError, Place
from falsework.language import Model
from falsework.proofs import Proofs
from falsework.prove_contract import ProofContract
from falsework.twin_contract import Contract, Problem
from falsework.verdict import Verdict, combine

KINDS = ("model", "configuration", "witness", "twin", "invariant", "obligation", "subject", "runtime twin")


@dataclass(frozen=True)
class Asked:
    """One thing that the gate asks: of which model, of which kind, and by what name."""

    model: str
    kind: str
    name: str


@dataclass
class Answer:
    """What came of one question. The word says it, the figures say how, the problems why it is no pass."""

    asked: Asked
    word: str
    verdict: Verdict
    figures: str = ""
    place: Place | None = None
    problems: list[Problem] = field(default_factory=list)
    result: Result | None = None
    contract: Contract | RuntimeContract | ProofContract | None = None
    proofs: Proofs | None = None
    drive: Drive | None = None
    survey: Survey | None = None
    breaches: Breaches | None = None
    seconds: float = 0.0


@dataclass
class Gated:
    """One model under the gate, with all that is declared of it."""

    name: str
    cls: type[Model]
    definition: Definition | None = None
    configurations: list[type[Model]] = field(default_factory=list)
    twins: list[type[Model]] = field(default_factory=list)
    subjects: list[NamedSubject] = field(default_factory=list)
    wrong: list[NamedSubject] = field(default_factory=list)
    named: set[str] = field(default_factory=set)  # the subjects asked for by name, and so never left out
    unusable: dict[str, InputError] = field(default_factory=dict)  # subjects that cannot be loaded, and why


@dataclass
class GateReport:
    """What was asked and what was answered, side by side."""

    names: tuple[str, ...]
    command: str = "gate"
    models: list[Gated] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    answers: dict[Asked, Answer] = field(default_factory=dict)
    left_out: dict[Asked, str] = field(default_factory=dict)  # not asked here, and for want of what
    seconds: float = 0.0

    @property
    def unanswered(self) -> list[Asked]:
        """What was asked and has no answer."""
        return [asked for asked in self.asked if asked not in self.answers]

    @property
    def verdict(self) -> Verdict:
        """The gravest answer; what was not answered is INCOMPLETE; of nothing asked ERROR."""
        missing = [Verdict.INCOMPLETE] * len(self.unanswered)
        return combine([answer.verdict for answer in self.answers.values()] + missing)

    @property
    def exit_code(self) -> int:
        """0 all as declared, 10 not, 11 vacuous, 12 not everything checked, 13 a bad model or a bad name."""
        return self.verdict.exit_code

    def of(self, model: Gated, *kinds: str) -> list[Asked]:
        """What is asked of that model, of these kinds."""
        return [asked for asked in self.asked if asked.model == model.name and asked.kind in kinds]


def failed(asked: Asked, problem: FalseworkError) -> Answer:
    """The answer where there is none but an error."""
    place = getattr(problem, "place", None)
    return Answer(asked, "ERROR", Verdict.ERROR, "", place, [Problem("error", str(problem), Verdict.ERROR)])
