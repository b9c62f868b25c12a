"""The judge of histories is given histories that are wrong, each in one way: it must name every one.

Each history is made by hand from the text's rules; the wrong sentence is what the rule forbids.
"""

from dataclasses import replace
from typing import Any

import pytest

from reliability.account import CLOSED, RETRY, Deed, History, Line, Window, complaints

INTENT = Line(1, "e1", 100, "pay.intended", "dana", {"invocation_id": "i", "nonce": 7})
PLAN = Line(2, "e2", 200, "pay.recovery_intended", "sweeper", {"invocation_id": "i"})
OWN = Line(3, "e3", 110, "pay.paid", "dana", {"invocation_id": "i", "receipt": "r-7"})
BY_SWEEP: dict[str, Any] = {"invocation_id": "i", "recovery": True, "acting_actor_ref": "dana"}
SWEPT = Line(3, "e3", 201, "pay.paid", "sweeper", BY_SWEEP | {"receipt": "r-7"})
ESCALATED = Line(2, "e2", 200, "pay.escalated", "sweeper", BY_SWEEP)
ABANDONED = Line(3, "e3", 300, "pay.abandoned", "sweeper", BY_SWEEP)
BY_PERSON = BY_SWEEP | {"resolved_by": "olga", "supersedes": "e2"}
RESOLVED = Line(3, "e3", 300, "pay.paid", "olga", BY_PERSON | {"receipt": "r-7"})
REFUSED = Line(2, "e2", 110, "pay.refused", "dana", {"invocation_id": "i"})
DONE = [Deed(7, 105)]


def without(line: Line, name: str) -> Line:
    return replace(line, data={key: value for key, value in line.data.items() if key != name})


@pytest.mark.parametrize(
    "history",
    [
        History([], []),
        History([INTENT, OWN], DONE),
        History([INTENT, OWN], DONE, {7: CLOSED}),
        History([INTENT, PLAN, SWEPT], DONE),
        History([INTENT, ESCALATED], []),
        History([INTENT, ESCALATED], DONE),
        History([INTENT, ESCALATED, RESOLVED], DONE),
        History([INTENT, ABANDONED], []),
        History([INTENT, REFUSED], []),
        History([INTENT], DONE, at_rest=False),
        History([], [], {7: RETRY}),
        History([INTENT, PLAN, SWEPT], DONE, window=Window(101)),
        History([INTENT, PLAN, SWEPT], DONE, window=Window(1, calm_since=200)),
    ],
)
def test_a_lawful_history_is_not_complained_of(history: History) -> None:
    assert complaints(history) == []


@pytest.mark.parametrize(
    "history, told",
    [
        (History([INTENT, OWN], DONE * 2), "was executed 2 times"),
        (History([], DONE), "executed without an intent"),
        (History([INTENT], DONE), "nothing closes it"),
        (History([INTENT, replace(INTENT, number=2, event_id="e2"), OWN], DONE), "has 2 intents"),
        (History([OWN], DONE), "has 0 intents"),
        (History([replace(INTENT, number=9), OWN], DONE), "before its intent"),
        (History([INTENT, OWN, replace(OWN, number=4, event_id="e4")], DONE), "2 closings stand"),
        (History([INTENT, ESCALATED, without(RESOLVED, "supersedes")], DONE), "2 closings stand"),
        (
            History([INTENT, ESCALATED, replace(ABANDONED, data=BY_SWEEP | {"supersedes": "e2"})], []),
            "without an operator",
        ),
        (History([INTENT, OWN], []), "an outcome stands for what was never executed"),
        (History([INTENT, ABANDONED], DONE), "it was executed, and is abandoned"),
        (History([INTENT, REFUSED], DONE), "it was executed, and is refused"),
        (History([INTENT, SWEPT], DONE), "without its plan"),
        (History([INTENT, replace(PLAN, number=9), SWEPT], DONE), "without its plan"),
        (History([INTENT, PLAN, without(SWEPT, "acting_actor_ref")], DONE), "does not name who opened"),
        (History([INTENT, PLAN, replace(SWEPT, actor_ref="dana")], DONE), "attested by dana"),
        (History([INTENT, ESCALATED, replace(RESOLVED, actor_ref="erin")], DONE), "attested by erin"),
        (History([INTENT, replace(OWN, actor_ref="erin")], DONE), "who did not open the act"),
        (
            History([INTENT, replace(OWN, data={"invocation_id": "i", "receipt": "r-8"})], DONE),
            "the outcome says 'r-8'",
        ),
        (History([INTENT, OWN], DONE, {7: RETRY}), "told to run it again"),
        (History([INTENT, REFUSED], [], {7: RETRY}), "told that nothing was written"),
        (History([INTENT, ESCALATED], DONE, {7: CLOSED}), "that the outcome stands"),
        (History([], [], {7: CLOSED}), "told that it was"),
        (History([INTENT, PLAN, SWEPT], DONE, window=Window(100)), "after it was due to begin"),
    ],
)
def test_a_wrong_history_is_named(history: History, told: str) -> None:
    assert any(told in sentence for sentence in complaints(history)), complaints(history)
