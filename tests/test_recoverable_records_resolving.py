"""The resolving slice against a ladder of conditions, over everything that an operator's call can meet."""

from itertools import product

import pytest

from falsework.models.recoverable_invocation.records_resolving import (
    Actor,
    Answer,
    Closing,
    Form,
    Intent,
    Kind,
    Resolving,
    Shape,
    Trouble,
)

STANDING = [None, *Kind]
DISPOSITIONS = [kind for kind in Kind if kind is not Kind.REFUSED]


def text_answer(
    intent: Intent,
    aged: bool,
    stands: Kind | None,
    taken: bool,
    disposition: Kind,
    form: Form,
    trouble: Trouble,
) -> Answer:
    """The first rung that holds; the rules name the rungs, and leave some of their order to the model."""
    escalates, abandons = disposition is Kind.ESCALATED, disposition is Kind.ABANDONED
    rungs = {
        Answer.MALFORMED: form is Form.MALFORMED,  # resolve 27
        Answer.CANDIDATES_OVER_CAP: escalates and form is Form.CANDIDATES_OVER_CAP,  # resolve 28
        Answer.SECTION_UNAVAILABLE: taken,  # resolve 6
        Answer.RECORDING_FAILURE: trouble is Trouble.JOURNAL_UNREACHABLE,  # Capability requirement 9
        Answer.NOT_KNOWN: intent is Intent.NONE,  # resolve 10
        Answer.PURGED: intent is Intent.PURGED,  # resolve 12
        Answer.ALREADY_ACCOUNTED: stands in (Kind.OUTCOME, Kind.REFUSED),  # resolve 9
        Answer.ALREADY_ABANDONED: stands is Kind.ABANDONED and disposition is not Kind.OUTCOME,  # resolve 17
        Answer.TOO_YOUNG: (abandons or escalates) and not aged,  # resolve 18, and the choice in docs/holes.md
    }
    for answer, holds in rungs.items():
        if holds:
            return answer
    return {
        Trouble.TOO_LITTLE_LEFT: Answer.RECORDING_FAILURE,  # resolve 7
        Trouble.CREDENTIAL_REFUSED: Answer.INVALID_CREDENTIAL,  # resolve 3
    }.get(trouble, Answer.CLOSED)


def met(intent: Intent, aged: bool, stands: Kind | None, taken: bool) -> Resolving:
    model = Resolving()
    model.intent, model.aged, model.taken = intent, aged, taken
    model.closing = None if stands is None else Closing(kind=stands, by=Actor.CALLER)
    return model


def test_every_call_is_answered_by_the_first_rung_that_holds() -> None:
    seen = set()
    for intent, aged, stands, taken in product(Intent, (False, True), STANDING, (False, True)):
        for disposition, form, trouble in product(DISPOSITIONS, Form, Trouble):
            expected = text_answer(intent, aged, stands, taken, disposition, form, trouble)
            model = met(intent, aged, stands, taken)
            assert model.resolve(disposition, form, trouble) is expected
            assert (model.closing == met(intent, aged, stands, taken).closing) == (
                expected is not Answer.CLOSED
            )
            seen.add(expected)
    assert seen == set(Answer)


# Check 2.5 and the term of the outcome shapes: who attests, recovery, resolved by, and a plan before it.
SHAPES = [
    (Closing(kind=Kind.OUTCOME, by=Actor.CALLER), False, Shape.OF_THE_INVOCATION),
    (
        Closing(kind=Kind.OUTCOME, by=Actor.OPERATOR, recovery=True, resolved_by=Actor.OPERATOR),
        False,
        Shape.OF_THE_OPERATOR,
    ),
    (Closing(kind=Kind.OUTCOME, by=Actor.SERVICE, recovery=True), True, Shape.OF_THE_SWEEP),
    (Closing(kind=Kind.OUTCOME, by=Actor.SERVICE, recovery=True), False, Shape.NONE_OF_THESE),
    (Closing(kind=Kind.OUTCOME, by=Actor.SERVICE), True, Shape.NONE_OF_THESE),
    (Closing(kind=Kind.OUTCOME, by=Actor.CALLER, recovery=True), True, Shape.NONE_OF_THESE),
    (Closing(kind=Kind.OUTCOME, by=Actor.OPERATOR, recovery=True), False, Shape.NONE_OF_THESE),
]


@pytest.mark.parametrize("closing, planned, shape", SHAPES)
def test_the_auditor_reads_an_outcome_as_one_shape(closing: Closing, planned: bool, shape: Shape) -> None:
    model = Resolving()
    model.closing, model.planned = closing, planned
    assert model.audit() is shape
