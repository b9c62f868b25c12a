"""The opening slice against Open's steps in plain Python, over every pair of intents that an act can have."""

from itertools import product

import pytest

from falsework.models.recoverable_invocation.records_opening import (
    Call,
    Code,
    DoubtAsWritten,
    Opened,
    Opening,
    Stage,
)

INVALID = {Call.EMPTY, Call.BY_SERVICE, Call.OUTCOME_TOO_LARGE, Call.ESCALATION_TOO_LARGE}
Intents = list[tuple[Stage, bool]]  # of each invocation: what became of it, and whether it has aged


def text_open(call: Call, service: bool, repeatable: bool, intents: Intents) -> Opened:
    """Open's steps 1 to 4 in their order, as the rules have them."""
    if call in INVALID:
        return Opened(code=Code.INVALID_REQUEST)  # steps 1.1, 1.2, 1.4
    if call is Call.SECTION_TAKEN:
        return Opened(code=Code.SECTION_UNAVAILABLE)  # step 2.3
    if call is Call.READ_FAILS:
        return Opened(code=Code.JOURNAL_UNAVAILABLE)  # step 3.13b
    if call is Call.READ_EXHAUSTS_LEASE:
        return Opened(code=Code.SECTION_UNAVAILABLE)  # step 3.12
    for number, (stage, aged) in enumerate(intents):
        if stage is Stage.OPEN and (not aged or service):
            return Opened(code=Code.ACT_IN_FLIGHT, names=number)  # steps 3.5 and 3.7
    for number, (stage, _) in enumerate(intents):
        if not repeatable and stage is Stage.OUTCOME:
            return Opened(code=Code.ACT_LANDED, names=number)  # step 3.9c
    if call is Call.TOO_LITTLE_LEFT:
        return Opened(code=Code.SECTION_UNAVAILABLE)  # step 4.2b, behind all that the journal says
    return Opened(code=Code.ISSUED)


class Third(DoubtAsWritten):
    """A third invocation opens after two that stand anywhere."""

    INVOCATIONS = 3


def test_open_as_written_answers_what_its_steps_say() -> None:
    seen = set()
    flags = (False, True)
    stages = [stage for stage in Stage if stage is not Stage.FLYING]
    for first, second in product(product(stages, flags), repeat=2):
        for service, repeatable, call in product(flags, flags, Call):
            if call is Call.BY_SERVICE and not service:
                continue  # the caller is a service where it names the kind's identity, and there is none
            model = Third()
            model.start(service, repeatable, fenced=False)
            for number, (stage, aged) in enumerate((first, second)):
                model.stage[number], model.aged[number] = stage, aged
            expected = text_open(call, service, repeatable, [first, second])
            assert model.open_act(2, call) == expected, (first, second, service, repeatable, call)
            seen.add(expected.code)
    assert seen == set(Code)


@pytest.mark.parametrize("stage", [Stage.OPEN, Stage.ESCALATED])
def test_what_the_model_adds_is_that_doubt_holds_the_key(stage: Stage) -> None:
    # Of an act that cannot be repeated and has no service identity; the text would issue the intent.
    model = Opening()
    model.stage[0], model.aged[0] = stage, True
    assert model.answer(Call.FITTING) == Opened(code=Code.ACT_IN_FLIGHT, names=0)
    assert text_open(Call.FITTING, service=False, repeatable=False, intents=[(stage, True)]) == Opened(
        code=Code.ISSUED
    )
