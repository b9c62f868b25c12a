"""The gate's questions about implementations: whose they are, what is missing here, and each answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from falsework.conformance.breaches import breaches
from falsework.conformance.driver import drive
from falsework.conformance.finding import (
    NamedSubject,
    driven_definition,
    find_subject,
    subjects_of,
    wrong_subjects,
)
from falsework.conformance.surveys import surveyed
from falsework.conformance.twins import judge_runtime_twin
from falsework.errors import InputError
from falsework.gate_answers import Answer, Asked, Gated, GateReport, failed
from falsework.gate_words import (
    NOT_CHECKED,
    broken_text,
    drive_figures,
    drive_problems,
    steps_text,
    survey_figures,
    survey_problems,
    verdict_word,
)
from falsework.naming import subject_of
from falsework.twin_contract import Problem, gravest
from falsework.verdict import Verdict


@dataclass(frozen=True)
class Walking:
    """How many random walks follow a drive, and from which seed they are drawn."""

    count: int = 25
    seed: int = 0


Question = tuple[Asked, Callable[[], Answer]]


def gather_subjects(model: Gated, taken: set[str]) -> None:
    """The shipped subjects of the model and their twins; one that cannot be loaded is a question too."""
    for name in subjects_of(model.name.partition(":")[0]):
        if name in taken:
            continue
        try:
            subject = find_subject(name)
            mine = subject_of(driven_definition(subject).cls) is model.cls
        except InputError as problem:
            model.unusable[name] = problem
            taken.add(name)
            continue
        if mine:
            add_subject(model, subject)
            taken.add(name)


def add_subject(model: Gated, subject: NamedSubject, *, named: bool = False) -> None:
    """The subject and its twins are asked with the model; what is asked for by name is never left out."""
    wrong = wrong_subjects(subject)
    if subject.cls not in [known.cls for known in model.subjects]:
        model.subjects.append(subject)
        model.wrong += wrong
    if named:
        model.named |= {known.name for known in (*model.subjects, *model.wrong) if known.cls is subject.cls}
        model.named |= {known.name for known in model.wrong if known.cls in [twin.cls for twin in wrong]}


def subject_questions(model: Gated, report: GateReport, walking: Walking) -> Iterator[Question]:
    """Every subject and every runtime twin, as far as what they need is here; the others are left out."""
    for name, problem in model.unusable.items():
        asked = Asked(model.name, "subject", name)
        yield asked, partial(failed, asked, problem)
    for kind, subjects, answer in (
        ("subject", model.subjects, partial(subject_answer, walking)),
        ("runtime twin", model.wrong, wrong_answer),
    ):
        for subject in subjects:
            asked = Asked(model.name, kind, subject.name)
            lacks = [name for name in subject.needs if not os.environ.get(name)]
            why = f"{', '.join(lacks)} {'is' if len(lacks) == 1 else 'are'} not set"
            if not lacks:
                yield asked, partial(answer, asked, subject)
            elif in_ci() or subject.name in model.named:
                yield asked, partial(_lacking, asked, why)
            else:
                report.left_out[asked] = why


def in_ci() -> bool:
    """Whether nothing may be left out."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def _lacking(asked: Asked, why: str) -> Answer:
    why += ", and where CI is set nothing is left out" if in_ci() else ""
    return Answer(
        asked, NOT_CHECKED, Verdict.INCOMPLETE, problems=[Problem(NOT_CHECKED, why, Verdict.INCOMPLETE)]
    )


def subject_answer(walking: Walking, asked: Asked, subject: NamedSubject) -> Answer:
    """The implementation driven along the whole graph and on walks, or its records looked through."""
    return _driven(walking, asked, subject) if subject.kind == "driven" else _surveyed(asked, subject)


def _driven(walking: Walking, asked: Asked, subject: NamedSubject) -> Answer:
    """Where it parts from the model, also what that breaks."""
    definition = driven_definition(subject)
    done = subject.attended(
        lambda made: drive(made, definition, name=subject.name, walks=walking.count, seed=walking.seed)
    )
    answer = Answer(asked, verdict_word(done.verdict), done.verdict, drive_figures(done), definition.place)
    answer.drive = done
    answer.problems = list(drive_problems(done))
    if done.divergence is not None:
        found = subject.attended(lambda made: breaches(made, definition, name=subject.name))
        answer.breaches = found
        answer.problems += [
            Problem("violated", f"{name} is broken in {steps_text(breach.steps)}", about=name)
            for name, breach in found.found.items()
        ]
    return answer


def _surveyed(asked: Asked, subject: NamedSubject) -> Answer:
    definition = driven_definition(subject)
    done = surveyed(subject, definition)
    answer = Answer(asked, verdict_word(done.verdict), done.verdict, survey_figures(done), definition.place)
    answer.survey = done
    answer.problems = list(survey_problems(done))
    return answer


def wrong_answer(asked: Asked, subject: NamedSubject) -> Answer:
    """A wrong implementation: it is rejected for what it declares."""
    contract = judge_runtime_twin(subject)
    word = gravest(contract.problems)
    answer = Answer(asked, word, contract.verdict, broken_text(contract.broken), contract=contract)
    answer.problems = contract.problems
    answer.breaches, answer.drive, answer.survey = contract.breaches, contract.drive, contract.survey
    return answer
