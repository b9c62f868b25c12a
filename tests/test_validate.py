"""Logs of a tank, judged by hand: what explains a line, what rejects it, what nobody can know."""

import json
from typing import Any

import pytest

from falsework.conformance import observed_search
from falsework.conformance.observed import Validation, validate
from falsework.conformance.observed_log import header_line
from falsework.conformance.observed_search import Limits
from falsework.conformance.observed_steps import Steps
from falsework.definition import Definition, definition_of
from falsework.verdict import Verdict
from models_to_observe import Tank, WatchedTank

TANK, WATCHED = definition_of(Tank), definition_of(WatchedTank)
DRAIN, TURN, MARK = {"action": "drain"}, {"action": "turn"}, {"action": "mark"}


def log(*events: dict[str, Any], model: Definition = TANK, **header: Any) -> list[str]:
    """The lines of a log; of an event without a node or a number, those of the one node."""
    numbers: dict[str, int] = {}
    lines = [header_line(model, **header)]
    for event in events:
        node = event.get("node", "a")
        numbers[node] = event.get("seq", numbers.get(node, 0) + 1)
        lines.append(json.dumps({"node": node, "seq": numbers[node], **event}))
    count = len({(json.loads(line)["node"], json.loads(line)["seq"]) for line in lines[1:]})
    return [*lines, json.dumps({"end": count})]


def judged(*events: dict[str, Any], limits: Limits | None = None, **header: Any) -> Validation:
    return validate(TANK, "tank.jsonl", log(*events, **header), limits)


def watched(*events: dict[str, Any]) -> Validation:
    return validate(WATCHED, "tank.jsonl", log(*events, model=WATCHED))


def drained(amount: int | None, answer: int, **more: Any) -> dict[str, Any]:
    return {**DRAIN, "arguments": {} if amount is None else {"amount": amount}, "answer": answer, **more}


def rejected_line(found: Validation) -> int:
    assert found.verdict is Verdict.VIOLATED, (found.verdict, found.problem)
    assert found.rejection is not None
    return found.rejection.event.line


def whys(found: Validation) -> list[str]:
    assert found.rejection is not None
    return [candidate.why.text for candidate in found.rejection.candidates]


def repairs(found: Validation) -> list[str]:
    assert found.rejection is not None
    return found.rejection.repairs.found


# --- what a line says ---------------------------------------------------------------------------------------


def test_unlogged_steps_stand_in_the_gaps() -> None:
    assert judged(drained(2, 3)).verdict is Verdict.HOLDS  # five drips first


def test_what_a_line_leaves_out_is_unconstrained() -> None:
    assert judged({"action": "drain"}, {"action": "turn"}).verdict is Verdict.HOLDS


def test_an_answer_that_no_step_gives_rejects_the_line() -> None:
    found = judged({**TURN, "answer": True}, {**TURN, "answer": True})
    assert rejected_line(found) == 3
    assert whys(found) == ["turn() answers no, and the line says yes"]
    # The valve is turned once more in between, or the second line is wrong, or is not there; or the first is:
    # that one is a line further off.
    assert repairs(found) == [
        "line 3: answer no instead of yes",
        "drop line 3",
        "insert before line 3: turn()",
    ]


def test_a_step_that_is_disabled_is_told_with_its_guard() -> None:
    found = judged(*[{**MARK, "arguments": {"colour": "RED"}}] * 3)
    assert rejected_line(found) == 4
    reason = found.rejection.candidates[0].why.reason if found.rejection is not None else None
    assert reason is not None
    assert (reason.text, reason.readings[0]) == ("len(marks) < 2", "len(marks): 2")


def test_an_observed_variable_is_that_right_after_the_step() -> None:
    assert judged(drained(1, 1, observed={"level": 1})).verdict is Verdict.HOLDS
    found = judged(drained(1, 1, observed={"level": 2}))
    assert whys(found)[-1] != ""
    assert rejected_line(found) == 2
    assert "line 2: level 1 instead of 2" in repairs(found)


def test_a_line_without_an_action_tells_only_what_is_seen() -> None:
    events = ({"observed": {"level": 4}}, {"observed": {"level": 3}})
    assert rejected_line(judged(*events)) == 3  # nothing takes water out unseen
    assert repairs(judged(*events))[-1].startswith("swap lines") or "drain" in repairs(judged(*events))[-1]


def test_maps_records_and_sequences_are_plain_data() -> None:
    seen = {"drained": {"RED": 2}, "marks": [{"colour": "RED", "level": 2}]}
    event = {**MARK, "arguments": {"colour": "RED"}, "answer": None}
    assert judged({**event, "observed": seen}).verdict is Verdict.HOLDS
    assert judged({**event, "observed": {"drained": {"BLUE": 0}}}).verdict is Verdict.HOLDS
    assert rejected_line(judged({**event, "observed": {"drained": {"BLUE": 1}}})) == 2


def test_a_number_outside_the_domain_is_explained_by_nothing() -> None:
    found = judged({**DRAIN, "answer": 9})
    assert rejected_line(found) == 2
    assert whys(found)[0].endswith("and the line says 9, which is outside 0..6")


def test_a_refusal_fits_where_the_model_disables_the_step() -> None:
    refused = {**DRAIN, "arguments": {"amount": 3}, "refused": True}
    assert judged({"observed": {"level": 2}}, refused).verdict is Verdict.HOLDS
    found = judged({"observed": {"level": 4}}, refused)
    assert rejected_line(found) == 3
    assert whys(found)[0] == "drain(3) is enabled, and the line says that it was refused"


def test_of_an_unknown_event_both_ends_go_on() -> None:
    unknown = {**TURN, "unknown": True}
    for answer in (True, False):
        assert judged(unknown, {**TURN, "answer": answer}).verdict is Verdict.HOLDS


# --- order --------------------------------------------------------------------------------------------------

OFF = {**TURN, "answer": False}
ON = {**TURN, "answer": True}


def test_the_file_s_order_counts_and_a_causal_one_does_not() -> None:
    events = ({**OFF, "node": "a"}, {**ON, "node": "b"})
    assert rejected_line(judged(*events)) == 2
    assert judged(*events, order="causal").verdict is Verdict.HOLDS


def test_a_cause_comes_first_also_in_a_causal_log() -> None:
    events = ({**OFF, "node": "a"}, {**ON, "node": "b", "after": [["a", 1]]})
    assert rejected_line(judged(*events, order="causal")) == 2
    assert judged(events[0], {**ON, "node": "b"}, order="causal").verdict is Verdict.HOLDS


def test_an_event_took_place_between_its_beginning_and_its_end() -> None:
    begun = {"node": "b", "seq": 1, "begun": True, **TURN}
    ended = {**ON, "node": "b", "seq": 1}
    off = {**OFF, "node": "a"}
    assert judged(begun, off, ended).verdict is Verdict.HOLDS
    assert rejected_line(judged(off, begun, ended)) == 2


def test_an_event_that_never_ended_took_place_or_did_not() -> None:
    begun = {"node": "b", "seq": 1, "begun": True, **TURN}
    for lines in ((begun, OFF), (begun, ON), (begun, ON, ON), (begun, OFF, OFF)):
        answers = [line["answer"] for line in lines[1:]]
        # One turn that nobody told can stand anywhere among the others, once.
        assert (judged(*lines).verdict is Verdict.HOLDS) == (answers != [False, False])


# --- limits -------------------------------------------------------------------------------------------------


def test_the_limit_of_unlogged_steps_is_neither_a_pass_nor_a_rejection() -> None:
    found = judged(drained(2, 3), limits=Limits(hidden=4))
    assert found.verdict is Verdict.INCOMPLETE
    assert found.problem.startswith("--max-hidden 4 cut unlogged steps before line 2")
    found = judged({**TURN, "answer": True}, limits=Limits(hidden=4))  # explained, but not by all that might
    assert found.verdict is Verdict.INCOMPLETE


def test_the_limit_of_candidates_stops_the_search() -> None:
    found = judged(drained(2, 3), limits=Limits(candidates=3))
    assert found.verdict is Verdict.INCOMPLETE
    assert found.problem.startswith("stopped by --max-candidates 3 at line 2; ")


def test_the_states_met_in_all_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_search, "STATES", 1)
    found = judged(TURN, TURN, limits=Limits(candidates=8))  # seven levels, and seven with the valve open
    assert found.verdict is Verdict.INCOMPLETE
    assert "at line 3, for 14 states were met in all" in found.problem


def test_a_bound_of_the_model_is_no_rejection() -> None:
    found = judged({"observed": {"level": 4}}, {"action": "overflow"})
    assert found.verdict is Verdict.INCOMPLETE
    assert found.problem.startswith("a bound of the model cut")


def test_what_goes_unlogged_is_the_header_s_to_say() -> None:
    assert rejected_line(judged(drained(1, 0), hidden=[])) == 2
    assert judged(drained(1, 0), hidden=["drip", "turn"]).verdict is Verdict.HOLDS


# --- invariants ---------------------------------------------------------------------------------------------


def test_an_invariant_that_every_explanation_breaks_is_violated() -> None:
    found = watched(drained(2, 4))  # two are taken of six, so it was full
    assert (found.verdict, found.violated, found.possible) == (
        Verdict.VIOLATED,
        ["the_tank_is_never_full"],
        [],
    )


def test_one_that_some_explanation_breaks_is_possible_and_no_pass() -> None:
    found = watched(drained(None, 3))  # three of six, or fewer of less
    assert (found.verdict, found.violated, found.possible) == (
        Verdict.INCOMPLETE,
        [],
        ["the_tank_is_never_full"],
    )


def test_a_candidate_that_does_not_survive_breaks_nothing() -> None:
    # After the turn the tank may be full; the line behind it says that it was not.
    assert watched(TURN, {"observed": {"level": 0}}).verdict is Verdict.HOLDS


def test_a_step_s_invariant_is_judged_on_the_steps_of_its_action() -> None:
    found = watched({"observed": {"level": 5}}, TURN, {"observed": {"level": 5}})
    assert found.violated == ["nobody_turns_at_five"]
    assert watched(drained(1, 0)).judged == {"nothing_is_marked_thrice": 1, "the_tank_is_never_full": 1}


@pytest.mark.parametrize("model", [Tank, WatchedTank])
def test_packed_states_and_the_class_answer_alike(model: type[Tank]) -> None:
    definition = definition_of(model)
    marks = {"drained": {"RED": 2}, "marks": [{"colour": "RED", "level": 2}]}
    for events in (
        [drained(2, 3), TURN, {**MARK, "arguments": {"colour": "RED"}, "answer": "RED"}],
        [drained(2, 4), {"observed": {"level": 4}}],
        [drained(None, 3)],
        [{**MARK, "observed": marks}, {**TURN, "answer": False}],
        [{"observed": {"level": 4}}, {"action": "overflow"}],
    ):
        found = []
        for packed_after in (0, 10**9):
            hidden = tuple(action for action in definition.actions if action.name == "drip")
            steps = Steps(definition, hidden, packed_after=packed_after)
            lines = log(*events, model=definition)
            done = validate(definition, "log", lines, known={("drip",): steps})
            assert (steps.packed is None) == (packed_after > 0)
            line = None if done.rejection is None else (done.rejection.event.line, done.rejection.repairs)
            found.append((done.verdict, done.problem, done.most, done.survivors, done.violated, line))
        assert found[0] == found[1]


@pytest.mark.parametrize("events", [300, 1000])
def test_a_long_log_is_explained(events: int) -> None:
    lines = [drained(1, answer) for answer in (2, 1, 0)] * (events // 3)
    assert judged(*lines).verdict is Verdict.HOLDS
