"""`falsework validate`: what it prints, in which format, with which exit code; and what a corpus covers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import ROOT, falsework
from falsework.conformance.logs import observed
from falsework.conformance.observed_log import header_line
from falsework.definition import definition_of
from falsework.models.lease import Lease
from falsework.runtime.subjects.lease_log import LeaseLogs
from falsework.verdict import Verdict
from models_to_observe import SmallTank, Tank, WatchedTank
from test_validate import DRAIN, MARK, TURN, log

MODEL = "tests/models_to_observe.py:Tank"
RED = {**MARK, "arguments": {"colour": "RED"}}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def written(folder: Path, name: str, lines: list[str]) -> str:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def said(folder: Path, *arguments: str) -> tuple[int, str]:
    answer = falsework("validate", *arguments)
    return answer.code, answer.all.replace(str(folder), "logs")


def test_a_rejection_shows_the_guard_and_what_it_read(
    tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    events = ({"observed": {"level": 2}}, RED, TURN, RED, {**TURN, "answer": False}, RED)
    code, text = said(tmp_path, MODEL, written(tmp_path, "run.jsonl", log(*events)))
    assert code == 10
    golden("validate/rejected", text)


def test_where_no_change_of_one_event_helps_the_furthest_is_told(
    tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    wrong = {"observed": {"level": 0}}, {"observed": {"level": 6}}
    events = (*wrong, {"observed": {"level": 1}}, TURN, TURN, RED, RED, RED)
    code, text = said(tmp_path, MODEL, written(tmp_path, "run.jsonl", log(*events)))
    assert code == 10
    golden("validate/not_mended", text)


def test_an_invariant_is_told_in_the_first_line(tmp_path: Path) -> None:
    lines = log({**DRAIN, "arguments": {"amount": 2}, "answer": 4}, model=definition_of(WatchedTank))
    path = written(tmp_path, "run.jsonl", lines)
    code, text = said(tmp_path, "tests/models_to_observe.py:WatchedTank", path)
    assert code == 10
    assert "the_tank_is_never_full is broken, whatever explains the log" in text.splitlines()[2]


@pytest.mark.parametrize(
    "events, options, code",
    [
        ([TURN], [], 0),
        ([{**TURN, "answer": False}], [], 10),
        ([{**DRAIN, "answer": 3}], ["--max-hidden", "1"], 12),
        ([{**DRAIN, "answer": 3}], ["--max-candidates", "1"], 12),
        ([{**TURN, "seq": 2}], [], 13),
    ],
)
def test_every_exit_code(tmp_path: Path, events: list[dict[str, Any]], options: list[str], code: int) -> None:
    assert said(tmp_path, MODEL, written(tmp_path, "run.jsonl", log(*events)), *options)[0] == code


def test_of_several_logs_the_gravest_decides(tmp_path: Path) -> None:
    good = written(tmp_path, "good.jsonl", log(TURN))
    bad = written(tmp_path, "bad.jsonl", log({**TURN, "answer": False}))
    code, text = said(tmp_path, MODEL, good, bad)
    assert code == 10
    first, *rest = text.splitlines()[2:]
    assert first == "VIOLATED  Tank  CAP=6   1 of 2 logs explained"
    assert rest[0].startswith("HOLDS  logs/good.jsonl   1 event of 1 node explained, at most 7 candidates")
    assert "VIOLATED  logs/bad.jsonl   no step of Tank explains line 2" in rest


def test_a_corpus_tells_what_no_log_exercises(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    model, small = "tests/models_to_observe.py:SmallTank", definition_of(SmallTank)
    refused = {**DRAIN, "arguments": {"amount": 3}, "refused": True}
    written(tmp_path, "a.jsonl", log({**TURN, "answer": True}, {**RED, "answer": "RED"}, model=small))
    written(tmp_path, "b.jsonl", log({**DRAIN, "answer": 1}, refused, model=small))
    code, text = said(tmp_path, model, "--corpus", str(tmp_path))
    assert code == 0
    golden("validate/corpus", text)
    code, text = said(tmp_path, model, "--corpus", str(tmp_path), "--require-coverage")
    assert code == 11
    assert text.splitlines()[2] == "VACUOUS  SmallTank  CAP=2   2 of 2 logs explained"
    # What is left: the other colour, a mark with the valve closed, the valve turned back, an overflow.
    back = ({**TURN, "answer": False}, {**MARK, "answer": None}, {"action": "overflow"})
    events = ({**TURN, "answer": True}, {**MARK, "answer": "BLUE"}, *back)
    written(tmp_path, "c.jsonl", log(*events, model=small))
    assert said(tmp_path, model, "--corpus", str(tmp_path), "--require-coverage")[0] == 0


def test_the_header_is_printed_and_is_the_log_s_first_line() -> None:
    answer = falsework("validate", MODEL, "--header")
    assert (answer.code, answer.out) == (0, header_line(definition_of(Tank)) + "\n")


def test_what_was_asked_wrongly_is_told(tmp_path: Path) -> None:
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    for arguments, told in (
        ([MODEL], "no log: write LOG"),
        ([MODEL, "nowhere.jsonl"], "no file nowhere.jsonl"),
        ([MODEL, "--corpus", "nowhere"], "no folder nowhere"),
        ([MODEL, "--corpus", str(tmp_path / "..")], "holds no *.jsonl"),
        ([MODEL, "x.jsonl", "--require-coverage"], "--require-coverage goes with --corpus"),
        ([MODEL, str(tmp_path / "bytes.jsonl")], "is no JSON"),
        (["recoverable_invocation", "x.jsonl"], "models; write one of"),
    ):
        answer = falsework("validate", *arguments)
        assert answer.code == 13, arguments
        assert told in answer.all, arguments


@pytest.mark.parametrize("form", ["json", "junit", "markdown", "sarif"])
def test_every_format_tells_the_line(tmp_path: Path, form: str) -> None:
    path = written(tmp_path, "run.jsonl", log({**TURN, "answer": False}))
    answer = falsework("validate", MODEL, path, "--format", form)
    assert answer.code == 10
    assert "explains line 2" in answer.out
    if form == "json":
        whole = json.loads(answer.out)
        jsonschema.validate(whole, json.loads((ROOT / "docs/report.schema.json").read_text("utf-8")))
        found = whole["items"][0]["validation"]
        assert (found["line"], found["reasons"]) == (2, ["turn() answers yes, and the line says no"])
        assert found["repairs"][0] == "line 2: answer yes instead of no"


# --- in the gate --------------------------------------------------------------------------------------------


class _Logs:
    surface = "observed"

    def __init__(self, *entries: object) -> None:
        self.entries = entries

    def logs(self) -> Any:
        yield from self.entries


def test_the_observed_surface_counts_rejects_and_leaves_open() -> None:
    tank = definition_of(WatchedTank)
    good = log({"observed": {"level": 0}}, TURN, {"observed": {"level": 0}}, model=tank)
    wrong = log({**TURN, "answer": False}, model=tank)
    full = log({**DRAIN, "arguments": {"amount": 2}, "answer": 4}, model=tank)
    done = observed(_Logs(("good", good)), tank)
    assert (done.verdict, done.sources, done.hidden) == (Verdict.HOLDS, {"good": 3}, {})
    assert done.observable["nobody_turns_at_five"] == 1
    done = observed(_Logs(("good", good), ("wrong", wrong)), tank)
    assert (done.verdict, [(s.source, s.line) for s in done.rejected]) == (Verdict.VIOLATED, [("wrong", 2)])
    done = observed(_Logs(("full", full)), tank)
    assert (done.verdict, list(done.broken)) == (Verdict.VIOLATED, ["the_tank_is_never_full"])
    assert done.hidden == {"nobody_turns_at_five": ("turn",)}
    done = observed(_Logs(("open", log(DRAIN, model=tank))), tank)
    assert done.verdict is Verdict.INCOMPLETE


def test_a_wrong_adapter_and_a_log_that_cannot_be_used_are_errors() -> None:
    tank = definition_of(Tank)
    for entries, told in (
        ((("a", log(TURN)), ("a", log(TURN))), "two logs named 'a'"),
        ((("a", []),), "the log is empty"),
        (("a",), "logs() yields 'a'"),
        ((("a", "text"),), "logs() yields ('a', 'text')"),
        ((), None),
    ):
        done = observed(_Logs(*entries), tank)
        assert done.verdict is (Verdict.ERROR if told else Verdict.VACUOUS)
        assert (told or "") in done.problem


def test_the_lease_s_own_logs_are_explained() -> None:
    class Few(LeaseLogs):
        walks = 3

    done = observed(Few(), definition_of(Lease))
    assert (done.verdict, done.problem, len(done.sources)) == (Verdict.HOLDS, "", 3)
