"""Logs that cannot be used: each is an ERROR that names the line, what is there and what to write."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from falsework.conformance.observed import validate
from falsework.conformance.observed_log import header_line
from falsework.definition import definition_of
from falsework.verdict import Verdict
from models_to_observe import Tank, WatchedTank

TANK = definition_of(Tank)
HEAD = header_line(TANK)
TURN: dict[str, Any] = {"node": "a", "seq": 1, "action": "turn"}
END = '{"end": 1}'


def headed(**changes: Any) -> str:
    return json.dumps({**json.loads(HEAD), **changes})


def with_event(**changes: Any) -> list[str]:
    event = {key: value for key, value in {**TURN, **changes}.items() if value != "left out"}
    return [HEAD, json.dumps(event), END]


def second(**changes: Any) -> list[str]:
    return [HEAD, json.dumps(TURN), json.dumps({**TURN, "seq": 2, **changes}), '{"end": 2}']


BAD: dict[str, list[str]] = {
    "nothing at all": [],
    "a header alone": [HEAD],
    "a header and an end": [HEAD, '{"end": 0}'],
    "no end": [HEAD, json.dumps(TURN)],
    "an end that counts otherwise": [HEAD, json.dumps(TURN), '{"end": 2}'],
    "a line after the end": [HEAD, json.dumps(TURN), END, json.dumps({**TURN, "seq": 2})],
    "a last line cut off": [HEAD, json.dumps(TURN), '{"node": "a", "se'],
    "no JSON": [HEAD, "turn the valve\n"],
    "no object": [HEAD, "[1, 2]"],
    "an empty line": [HEAD, ""],
    "no header": [json.dumps(TURN)],
    "another format": [headed(format="falsework.log/9")],
    "another model": [header_line(definition_of(WatchedTank)), json.dumps(TURN), END],
    "another constant": [headed(constants={"CAP": 9}), json.dumps(TURN), END],
    "an unknown constant": [headed(constants={"CUP": 9}), json.dumps(TURN), END],
    "constants that are none": [headed(constants=[1]), json.dumps(TURN), END],
    "another order": [headed(order="time"), json.dumps(TURN), END],
    "hidden that is no list": [headed(hidden="drip"), json.dumps(TURN), END],
    "hidden that is no action": [headed(hidden=["drop"]), json.dumps(TURN), END],
    "an unknown field of the header": [headed(digit="1"), json.dumps(TURN), END],
    "an unknown field": with_event(anser=True),
    "no node": with_event(node=""),
    "no number": with_event(seq="left out"),
    "a number that is none": with_event(seq=True),
    "a number that is missing": second(seq=3),
    "a number twice": second(seq=1),
    "an unknown action": with_event(action="trun"),
    "an unknown argument": with_event(action="drain", arguments={"amuont": 1}),
    "an argument outside its domain": with_event(action="drain", arguments={"amount": 4}),
    "arguments that are none": with_event(arguments=[1]),
    "an argument of nothing": with_event(action="left out", arguments={"amount": 1}),
    "an answer of nothing": with_event(action="left out", answer=True),
    "an answer where there is none": with_event(action="overflow", answer=True),
    "an answer of another kind": with_event(answer="open"),
    "a member that is none": with_event(action="mark", answer="GREEN"),
    "two outcomes": with_event(answer=True, unknown=True),
    "a word that is not true": with_event(unknown="yes"),
    "an unknown variable": with_event(observed={"levle": 1}),
    "an unknown key": with_event(observed={"drained": {"GREEN": 1}}),
    "a record without a field": with_event(observed={"marks": [{"colour": "RED"}]}),
    "observed that is none": with_event(observed=3),
    "after in a file's order": with_event(after=[["a", 1]]),
    "after that is no pair": [headed(order="causal"), json.dumps({**TURN, "after": ["a"]}), END],
    "after what is in no line": [headed(order="causal"), json.dumps({**TURN, "after": [["b", 1]]}), END],
    "causes that go round": [
        headed(order="causal"),
        json.dumps({**TURN, "after": [["b", 1]]}),
        json.dumps({**TURN, "node": "b", "after": [["a", 1]]}),
        '{"end": 2}',
    ],
    "an end of another action": [
        HEAD, json.dumps({**TURN, "begun": True}), json.dumps({**TURN, "action": "mark"}), END,
    ],
    "an end of another argument": [
        HEAD, json.dumps({**TURN, "action": "drain", "begun": True, "arguments": {"amount": 1}}),
        json.dumps({**TURN, "action": "drain", "arguments": {"amount": 2}}), END,
    ],
    "a beginning with an answer": with_event(begun=True, answer=True),
    "a node that goes on without an end": [
        HEAD, json.dumps({**TURN, "begun": True}), json.dumps({**TURN, "seq": 2}), END,
    ],
    "nothing said": [HEAD, '{"node": "a", "seq": 1}', END],
}  # fmt: skip


def test_every_message_is_as_it_is_kept(golden: Callable[[str, str], None]) -> None:
    told = []
    for name, lines in BAD.items():
        found = validate(TANK, "run.jsonl", lines)
        assert found.verdict is Verdict.ERROR, name
        assert found.problem.startswith("run.jsonl"), name
        told.append(f"{name}\n  {found.problem}\n")
    golden("validate/bad_logs", "\n".join(told))


def test_a_short_log_is_taken_where_that_is_asked_for() -> None:
    lines = [HEAD, json.dumps(TURN)]
    assert validate(TANK, "log", lines, unfinished=True).verdict is Verdict.HOLDS
    assert validate(TANK, "log", [*lines, '{"node'], unfinished=True).verdict is Verdict.ERROR


@pytest.mark.parametrize(
    "field", ["node", "seq", "action", "answer", "observed", "after", "arguments", "begun"]
)
def test_no_value_of_any_kind_escapes_as_an_exception(field: str) -> None:
    values: list[Any] = [
        None,
        True,
        -1,
        10**30,
        1.5,
        "",
        "é",
        [],
        {},
        [[]],
        [None],
        {"": None},
        {"level": []},
    ]
    for value in values:
        for order in ("file", "causal"):
            lines = [headed(order=order), json.dumps({**TURN, field: value}), END]
            assert isinstance(validate(TANK, "log", lines).verdict, Verdict)
