"""The gate: everything that is declared, asked first and compared with what was found.

First the list of what will be asked is made; then each is answered; what has no answer is NOT CHECKED, and
no pass.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from falsework.accounting import DEFAULT_MAX_STATES
from falsework.check import Result, check
from falsework.conformance.finding import driven_definition, find_subject, recorded
from falsework.conformance.twins import RuntimeContract
from falsework.definition import definition_of
from falsework.errors import DefinitionError, FalseworkError, InputError
from falsework.gate_answers import Answer, Asked, Gated, GateReport, failed
from falsework.gate_subjects import Question, Walking, add_subject, gather_subjects, subject_questions
from falsework.gate_words import broken_text, steps_text
from falsework.language import Model, classes_with_roles, role_of
from falsework.naming import Named, OnlyBent, configurations_of, find, shipped, subject_of, twins_of
from falsework.proofs import Proofs, prove
from falsework.prove_contract import (
    judge_obligations,
    judge_proof,
    with_obligations,
)
from falsework.source import class_place
from falsework.twin_contract import Contract, Problem, breakers, gravest, judge_configuration, judge_twin
from falsework.verdict import Verdict

Heard = Callable[[Answer], None]
"""Told of each answer as it comes."""


def gate(
    names: Sequence[str] = (),
    *,
    subjects: Sequence[str] = (),
    engine: str = "auto",
    max_states: int = DEFAULT_MAX_STATES,
    threads: int | None = None,
    walking: Walking | None = None,
    heard: Heard | None = None,
) -> GateReport:
    """Asks everything of the named models, or of all that are installed; with subjects of one's own besides.

    Raises InputError for an unknown name. Whatever else goes wrong is an answer.
    """
    began = time.perf_counter()
    run = _Gate(GateReport(tuple(names)), engine, max_states, threads, walking or Walking())
    run.find(names or tuple(shipped()), subjects)
    run.ask()
    with contextlib.suppress(
        KeyboardInterrupt
    ):  # what has been answered is reported, the rest is NOT CHECKED
        run.answer(heard)
    run.report.seconds = time.perf_counter() - began
    return run.report


def conform(
    name: str, *, twins: bool = False, walking: Walking | None = None, record: Path | None = None
) -> GateReport:
    """One subject driven, and its wrong subclasses if wanted; with a record of what a program is told.

    Raises InputError for an unknown name.
    """
    began = time.perf_counter()
    subject = find_subject(name)
    definition = driven_definition(subject)
    model = Gated(definition.name, definition.cls, definition)
    kind = definition.role.kind if definition.role is not None else "model"
    if (
        kind == "configuration"
    ):  # it is asked for what it declares, and need not reach all that the model does
        model.configurations = [definition.cls]
    add_subject(model, subject, named=True)
    if not twins:
        model.wrong = []
    if record is not None:
        model.subjects = [recorded(subject, record)]
    report = GateReport((name,), "conform", [model])
    run = _Gate(report, "auto", DEFAULT_MAX_STATES, None, walking or Walking())
    wanted = ("configuration" if kind == "configuration" else "model", "subject", "runtime twin")
    run.questions = [q for q in run._questions(model) if q[0].kind in wanted]
    run.report.asked = [asked for asked, _ in run.questions]
    run.answer(None)
    run.report.seconds = time.perf_counter() - began
    return run.report


class _Gate:
    def __init__(
        self, report: GateReport, engine: str, max_states: int, threads: int | None, walking: Walking
    ) -> None:
        self.report = report
        self.engine = engine
        self.max_states = max_states
        self.threads = threads
        self.walking = walking
        self.known: dict[type[Model], Result | FalseworkError] = {}
        self.proved: dict[type[Model], Proofs] = {}
        self.questions: list[Question] = []

    # --- what there is

    def find(self, names: Sequence[str], subjects: Sequence[str]) -> None:
        """The models of these names, each once, with everything that is declared of them.

        Everything is imported before anything is gathered, so that the order of the names does not matter.
        A file of twins alone may be named beside the file of their model.
        """
        found: dict[str, list[Named]] = {}
        bent: list[OnlyBent] = []
        for name in names:
            try:
                found[name] = find(name)
            except OnlyBent as only:
                bent.append(only)
        if bent and not found:
            raise bent[0]
        taken: set[str] = set()  # the subjects that have found their model
        for named in (each for several in found.values() for each in several):
            if named.cls not in [model.cls for model in self.report.models]:
                self.report.models.append(_gathered(named, taken))
        self._all_of_the_modules(
            {n.cls.__module__ for k, several in found.items() for n in several if ":" not in k}
            | {only.module for only in bent}
        )
        for name in subjects:
            subject = find_subject(name)
            driven = subject_of(driven_definition(subject).cls)
            owner = next((m for m in self.report.models if m.cls is driven), None)
            if owner is None:
                known = ", ".join(model.name for model in self.report.models)
                raise InputError(
                    f"the subject {name} is driven along {subject.cls.model}, which is none of: {known}"
                )
            add_subject(owner, subject, named=True)

    def _all_of_the_modules(self, modules: Collection[str]) -> None:
        """Raises InputError for a twin in a module that is asked whole, if its model is not asked."""
        models = [model.cls for model in self.report.models]
        for cls in classes_with_roles():
            if cls.__module__ in modules and (subject := subject_of(cls)) not in models:
                role = role_of(cls)
                kind = role.kind if role is not None else ""
                raise InputError(
                    f"{class_place(cls)}: the {kind} {cls.__name__} would not be asked, for its model is "
                    f"not; name the model besides: {subject.__module__}:{subject.__qualname__}"
                )

    def _twice(self, asked: Asked) -> str:
        """That two things have one name, with their places where they are classes of models."""
        model = next(model for model in self.report.models if model.name == asked.model)
        named = [cls for cls in (*model.configurations, *model.twins) if cls.__name__ == asked.name]
        places = " and ".join(str(class_place(cls)) for cls in named)
        return f"two {asked.kind}s of {asked.model} are named {asked.name}: {places or 'rename one'}"

    def ask(self) -> None:
        """The list of all that will be asked, before anything is answered."""
        for model in self.report.models:
            self.questions += self._questions(model)
        self.report.asked = [asked for asked, _ in self.questions]
        for asked, times in Counter(self.report.asked).items():
            if times > 1:
                raise InputError(self._twice(asked))

    def _questions(self, model: Gated) -> Iterator[Question]:
        with contextlib.suppress(DefinitionError):
            model.definition = definition_of(model.cls)
        if model.definition is None or model.definition.explorable:
            yield Asked(model.name, "model", model.name), partial(self.model, model)
        for other in model.configurations:
            yield Asked(model.name, "configuration", other.__name__), partial(self.bent, model, other)
        if model.definition is None:
            return  # the model's own answer says why; there is no witness and no invariant to ask for
        for witness in model.definition.witnesses:
            yield Asked(model.name, "witness", witness.name), partial(self.witness, model, witness.name)
        for other in model.twins:
            yield Asked(model.name, "twin", other.__name__), partial(self.bent, model, other)
        for prop in model.definition.invariants:
            yield Asked(model.name, "invariant", prop.name), partial(self.invariant, model, prop.name)
        for obligation in model.definition.obligations:
            asked = Asked(model.name, "obligation", obligation.name)
            yield asked, partial(self.obligation, model, obligation.name)
        yield from subject_questions(model, self.report, self.walking)

    # --- the answers

    def answer(self, heard: Heard | None) -> None:
        """Each question answered in turn."""
        for asked, question in self.questions:
            began = time.perf_counter()
            try:
                answer = question()
            except FalseworkError as problem:
                answer = failed(asked, problem)
            answer.seconds = time.perf_counter() - began
            self.report.answers[asked] = answer
            if heard is not None:
                heard(answer)

    def check(self, cls: type[Model]) -> Result:
        """The whole broken set of the class, searched once however often it is asked for."""
        if cls not in self.known:
            try:
                self.known[cls] = check(
                    cls, engine=self.engine, max_states=self.max_states, every=True, threads=self.threads
                )
            except FalseworkError as problem:
                self.known[cls] = problem
        found = self.known[cls]
        if isinstance(found, FalseworkError):
            raise found
        return found

    def model(self, model: Gated) -> Answer:
        """The model at its own constants: it holds."""
        asked = Asked(model.name, "model", model.name)
        result = self.check(model.cls)
        result.command = model.name
        problems = [
            Problem(finding.word, finding.text, result.verdict, finding.subject)
            for finding in result.findings
            if finding.word != "bound-cut"
        ]
        problems += [
            Problem("violated", f"{name} is broken in {steps_text(steps)}", Verdict.VIOLATED, name)
            for name, steps in result.broken.items()
        ]
        if result.tally.stop is not None:
            problems.append(Problem("incomplete", str(result.tally.stop), Verdict.INCOMPLETE))
        verdict = result.verdict
        return Answer(
            asked, verdict.value, verdict, _size(result), result.definition.place, problems, result=result
        )

    def prove(self, cls: type[Model]) -> Proofs:
        """Every obligation of the class, asked once however often it is asked for."""
        if cls not in self.proved:
            self.proved[cls] = prove(cls)
        return self.proved[cls]

    def bent(self, model: Gated, cls: type[Model]) -> Answer:
        """A twin or a configuration: it breaks what it declares, and nothing else."""
        role = role_of(cls)
        assert role is not None
        asked = Asked(model.name, role.kind, cls.__name__)
        definition = definition_of(cls)
        proved = judge_obligations(cls, role.kind, self.prove) if definition.obligations else None
        if proved is not None:
            proved.proofs.command = _named_again(model, cls)
        if proved is not None and not definition.explorable:
            figures = ", ".join(f"{name} at {values}" for name, values in proved.broken.items())
            word = gravest(proved.problems)
            return Answer(
                asked, word, proved.verdict, figures, definition.place, proved.problems,
                contract=proved, proofs=proved.proofs,
            )  # fmt: skip
        contract = (
            judge_twin(cls, self.check) if role.kind == "twin" else judge_configuration(cls, self.check)
        )
        contract.result.command = _named_again(model, cls)
        figures = broken_text(contract.broken) or _size(contract.result)
        if proved is not None:
            with_obligations(contract, proved)
        return Answer(
            asked, gravest(contract.problems), contract.verdict, figures, definition.place, contract.problems,
            contract.result, contract, proved.proofs if proved is not None else None,
        )  # fmt: skip

    def obligation(self, model: Gated, name: str) -> Answer:
        """It is proved of the model, and some twin or configuration refutes it: else it says too little."""
        asked = Asked(model.name, "obligation", name)
        proofs = self.prove(model.cls)
        proof = next(proof for proof in proofs.proofs if proof.obligation.name == name)
        answered = [self.report.answers.get(a) for a in self.report.of(model, "twin", "configuration")]
        bent = [a.contract for a in answered if a is not None and a.contract is not None]
        found, problem = judge_proof(proof, [c for c in bent if not isinstance(c, RuntimeContract)])
        if problem is None:
            figures = f"refuted by {', '.join(found)}"
            return Answer(asked, "proved", Verdict.HOLDS, figures, proof.obligation.place)
        return Answer(
            asked, problem.word, problem.verdict, "", proof.obligation.place, [problem],
            proofs=Proofs(proofs.definition, [proof], proofs.name),
        )  # fmt: skip

    def witness(self, model: Gated, name: str) -> Answer:
        """Some state where the witness is true is reached at the model's own constants."""
        asked = Asked(model.name, "witness", name)
        result = self.check(model.cls)
        steps = result.tally.witnesses.get(name)
        place = next(w.place for w in result.definition.witnesses if w.name == name)
        if steps is not None:
            return Answer(asked, "reached", Verdict.HOLDS, f"in {steps_text(steps)}", place)
        if result.tally.complete:
            text = f"{name} is true in none of {result.tally.states:,} states"
            problem = Problem("not reached", text, Verdict.VACUOUS, name)
        else:
            problem = Problem(
                "not decided", f"the search ended before {name} was reached", Verdict.INCOMPLETE, name
            )
        return Answer(asked, problem.word, problem.verdict, "", place, [problem])

    def invariant(self, model: Gated, name: str) -> Answer:
        """Some twin or configuration breaks the invariant: else it is implied by the others, or untested."""
        asked = Asked(model.name, "invariant", name)
        answered = [self.report.answers.get(a) for a in self.report.of(model, "twin", "configuration")]
        contracts = [a.contract for a in answered if a is not None and isinstance(a.contract, Contract)]
        found = breakers(name, contracts)
        assert model.definition is not None
        place = next(p.place for p in model.definition.invariants if p.name == name)
        if found:
            listed = ", ".join(found)
            return Answer(asked, "broken by a twin", Verdict.HOLDS, f"by {listed}", place)
        if len(contracts) < len(answered) or not all(c.result.tally.complete for c in contracts):
            text = f"not every twin was searched to the end, and none of the others breaks {name}"
            problem = Problem("not decided", text, Verdict.INCOMPLETE, name)
            return Answer(asked, problem.word, problem.verdict, "", place, [problem])
        text = (
            f"no twin breaks {name}: it is untested, or follows from the others; write a twin that breaks it"
        )
        return Answer(asked, "no twin", Verdict.VIOLATED, "", place, [Problem("no twin", text, about=name)])


def _gathered(named: Named, taken: set[str]) -> Gated:
    cls = named.cls
    role = role_of(cls)
    if role is not None:
        raise InputError(
            f"{named.name} is a {role.kind} of {subject_of(cls).__name__}; "
            "write the model, and all its twins and configurations are asked with it"
        )
    model = Gated(named.name, cls, None, configurations_of(cls), twins_of(cls))
    gather_subjects(model, taken)
    return model


def _named_again(model: Gated, cls: type[Model]) -> str:
    """The name by which the command line finds that twin or configuration of the model."""
    where = model.name.partition(":")[0]
    beside = where in shipped() or cls.__module__ == model.cls.__module__
    return f"{where}:{cls.__name__}" if beside else f"{cls.__module__}:{cls.__qualname__}"


# --- figures and words ------------------------------------------------------------------------------------


def _size(result: Result) -> str:
    tally = result.tally
    cut = f", {sum(tally.cuts.values()):,} steps cut by a bound" if tally.cuts else ""
    return f"{tally.states:,} states, {tally.transitions:,} transitions, depth {tally.depth}{cut}"
