"""Every obligation of a model asked of z3, vacuity first, and what it answers executed again on the class."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from falsework.definition import Definition, definition_now
from falsework.domains import EnumOf
from falsework.errors import DefinitionError, ModelFault, Place, Refused
from falsework.language import Model
from falsework.naming import with_constants
from falsework.obligations import Obligation, Open, Span
from falsework.posed import answer
from falsework.prove import NoProver, Questions, Unknown
from falsework.prove_lower import Part, Statement, state_obligation
from falsework.verdict import Verdict, combine

DEFAULT_SECONDS = 60.0

PROVED = "PROVED"
REFUTED = "REFUTED"
NOT_CHECKED = "NOT CHECKED"


@dataclass(frozen=True)
class Refutation:
    """Values at which every assumption is true and the obligation is false, on the class itself.

    They are the least: no others have a smaller total (numbers without their signs, members by place), and of
    those with this total they come first, in the order of declaration; unless z3 could not prove it.
    """

    values: Mapping[str, Any]
    smallest: bool

    def nonzero(self, quantities: Sequence[Open]) -> dict[str, Any]:
        """What a declaration of it names: all that is not 0, False or the first member."""
        least = {each.name: each.least for each in quantities}
        return {name: value for name, value in self.values.items() if value != least[name]}


@dataclass(frozen=True)
class Proof:
    """What became of one obligation: its word, why, and what shows it."""

    obligation: Obligation
    word: str  # PROVED, REFUTED, VACUOUS, INCOMPLETE, ERROR, NOT CHECKED
    verdict: Verdict
    text: str = ""
    place: Place | None = None
    open: tuple[Open, ...] = ()
    refutation: Refutation | None = None
    parts: tuple[Part, ...] = ()  # of a vacuous one: the conditions that cannot be true together
    seconds: float = 0.0


@dataclass
class Proofs:
    """What was asked of one class and what was answered."""

    definition: Definition
    proofs: list[Proof] = field(default_factory=list)
    name: str = ""
    configuration: str = ""
    command: str = ""  # the arguments that name this class again on the command line

    @property
    def verdict(self) -> Verdict:
        """The gravest answer; where there is no obligation nothing was asked."""
        return combine(proof.verdict for proof in self.proofs) if self.proofs else Verdict.VACUOUS

    @property
    def refuted(self) -> dict[str, Refutation]:
        """The obligations that are false somewhere, and where."""
        return {p.obligation.name: p.refutation for p in self.proofs if p.refutation is not None}


Heard = Callable[[Obligation], None]
"""Told which obligation is asked next."""


def prove(
    model: type[Model],
    *,
    seconds: float = DEFAULT_SECONDS,
    heard: Heard | None = None,
    **constants: Any,
) -> Proofs:
    """Every obligation of the model, with other constants if given; each has so many seconds.

    Raises DefinitionError or InputError. Whatever else goes wrong is the answer of an obligation.
    """
    definition = definition_now(with_constants(model, constants) if constants else model)
    found = Proofs(definition, name=definition.name)
    for obligation in definition.obligations:
        if heard is not None:
            heard(obligation)
        found.proofs.append(prove_obligation(definition, obligation, seconds))
    return found


def prove_obligation(definition: Definition, obligation: Obligation, seconds: float) -> Proof:
    """One obligation: VACUOUS, PROVED, REFUTED with the least values, or why it is none of these."""
    began = time.monotonic()
    try:
        statement = state_obligation(definition, obligation)
        proof = _Asking(definition, statement, Questions(statement.pool, seconds)).proof()
    except (Refused, DefinitionError) as problem:
        text = f"{problem.code} {problem.found}; write: {problem.write}"
        proof = Proof(obligation, "ERROR", Verdict.ERROR, text, problem.place)
    except NoProver as problem:
        proof = Proof(obligation, NOT_CHECKED, Verdict.INCOMPLETE, str(problem), obligation.place)
    except Unknown as problem:
        text = f"z3 gave no answer within {seconds:g} s: {problem}"
        proof = Proof(obligation, "INCOMPLETE", Verdict.INCOMPLETE, text, obligation.place)
    took = time.monotonic() - began
    return Proof(**{**vars(proof), "seconds": took})


@dataclass(frozen=True)
class _Asking:
    """The questions about one obligation, in their order."""

    definition: Definition
    statement: Statement
    questions: Questions

    def proof(self) -> Proof:
        """The first question whose answer decides."""
        return (
            self._vacuous() or self._faulty() or self._refuted() or self._idle_premise() or self._confirmed()
        )

    def _answered(self, word: str, verdict: Verdict, text: str = "", **more: Any) -> Proof:
        told = {"place": self.statement.obligation.place, "open": self.statement.open, **more}
        return Proof(self.statement.obligation, word, verdict, text, **told)

    def _vacuous(self) -> Proof | None:
        """Whether the assumptions can be true at all; if so they are true from here on."""
        asked = (*self.statement.ranges, *self.statement.assumptions)
        example = self.questions.some(*(part.node for part in asked))
        if example is None:
            clash = self.questions.clashing(asked)
            text = "its assumptions are never true together, so it says nothing"
            return self._answered("VACUOUS", Verdict.VACUOUS, text, parts=tuple(clash))
        return None

    def _faulty(self) -> Proof | None:
        for part in self.statement.ranges:
            self.questions.add(part.node)
        for known, part in self.statement.faults:
            before = (each.node for each in self.statement.assumptions[:known])
            found = self.questions.some(*before, part.node)
            if found is not None:
                where = ", ".join(f"{name}={value}" for name, value in self._values(found).items() if value)
                text = f"{part.text}: {where or 'all 0'}"
                return self._answered("ERROR", Verdict.ERROR, text, place=part.place)
        return None

    def _refuted(self) -> Proof | None:
        statement = self.statement
        for part in statement.assumptions:
            self.questions.add(part.node)
        denied = statement.pool.not_(statement.conclusion)
        found = self.questions.some(denied)
        if found is None:
            return None
        shown = [number for number, each in enumerate(statement.pool.open) if each in statement.open]
        least, smallest = self.questions.least(denied, found, shown)
        values = self._values(least)
        if (problem := self._differs(values, wanted=False)) is not None:
            return problem
        return self._answered(REFUTED, Verdict.VIOLATED, refutation=Refutation(values, smallest))

    def _idle_premise(self) -> Proof | None:
        """What is proved because a premise in it is never true says less than it seems to."""
        for part in self.statement.premises:
            if self.questions.some(part.node) is None:
                text = "a premise of implies is never true under its assumptions"
                return self._answered("VACUOUS", Verdict.VACUOUS, text, place=part.place)
        return None

    def _confirmed(self) -> Proof:
        """Proved; and the class says so too where the assumptions are true, at one example."""
        example = self.questions.some()
        assert example is not None
        problem = self._differs(self._values(example), wanted=True)
        return problem or self._answered(PROVED, Verdict.HOLDS)

    def _differs(self, values: Mapping[str, Any], *, wanted: bool) -> Proof | None:
        """An error where the class does not answer as wanted."""
        where = ", ".join(f"{name}={value}" for name, value in values.items())
        try:
            said = answer(self.definition, self.statement.obligation, values)
        except ModelFault as problem:
            return self._answered(
                "ERROR", Verdict.ERROR, f"not confirmed on the class: {problem}, at {where}"
            )
        if said is wanted:
            return None
        word = "that an assumption is false" if said is None else str(said)
        return self._answered(
            "ERROR", Verdict.ERROR, f"not confirmed: the class answers {word}, z3 {wanted}, at {where}"
        )

    def _values(self, found: Sequence[int]) -> dict[str, Any]:
        """The values by name, as the class knows them."""
        pairs = zip(self.statement.pool.open, found, strict=True)
        return {each.name: _value(each, number) for each, number in pairs if each in self.statement.open}


def _value(quantity: Open, number: int) -> Any:
    if isinstance(quantity.range, Span):
        return number
    return list(quantity.range.cls)[number] if isinstance(quantity.range, EnumOf) else bool(number)
