"""What a runtime writes of itself: lines by node, whole, in order; a sink that fails stops nothing."""

import itertools
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from falsework.conformance.observed import validate
from falsework.conformance.observed_log import header_of
from falsework.definition import definition_of
from falsework.models.lease import Lease
from falsework.runtime.lease import Judge, LeaseHost
from falsework.runtime.observe import DONE, FileSink, Header, Recorder, Told, header_from
from falsework.runtime.observe_lease import ObservedHost, ObservedJudge
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import HandClock, NoWaiter
from falsework.verdict import Verdict

HEADER = Header("model", "abc", {"N": 1})


def lines_of(recorded: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recorded]


def test_an_event_is_written_when_it_begins_and_when_it_has_ended() -> None:
    lines: list[str] = []
    recorder = Recorder(lines.append, HEADER)
    answer = recorder.during("a", "act", {"x": 1}, lambda: len(lines), lambda n: Told(n, observed={"y": n}))
    recorder.happens("a", "tell", {}, DONE)
    recorder.close()
    recorder.close()
    recorder.happens("a", "late", {})
    assert answer == 2  # the header and the beginning stood there when the call was made
    assert all(line.endswith("\n") for line in lines)
    assert lines_of(lines) == [
        {
            "format": "falsework.log/1",
            "model": "model",
            "digest": "abc",
            "constants": {"N": 1},
            "order": "file",
        },
        {"node": "a", "seq": 1, "begun": True, "action": "act", "arguments": {"x": 1}},
        {"node": "a", "seq": 1, "action": "act", "answer": 2, "observed": {"y": 2}},
        {"node": "a", "seq": 2, "action": "tell", "arguments": {}},
        {"end": 2},
    ]


class _Killed(BaseException):
    pass


def test_of_a_call_that_fails_nobody_knows_and_of_one_that_is_killed_there_is_no_end() -> None:
    lines: list[str] = []
    recorder = Recorder(lines.append, HEADER)

    def raising(problem: BaseException) -> None:
        raise problem

    with pytest.raises(OSError, match="lost"):
        recorder.during("a", "act", {}, lambda: raising(OSError("lost")), lambda _: DONE)
    with pytest.raises(_Killed):
        recorder.during("b", "act", {}, lambda: raising(_Killed()), lambda _: DONE)
    recorder.close()
    assert lines_of(lines)[2] == {"node": "a", "seq": 1, "action": "act", "unknown": True}
    assert lines_of(lines)[3:] == [
        {"node": "b", "seq": 1, "begun": True, "action": "act", "arguments": {}},
        {"end": 2},
    ]


def test_a_sink_that_fails_ends_the_log_and_nothing_else() -> None:
    lines: list[str] = []

    def full(line: str) -> None:
        if len(lines) == 2:
            raise OSError("no space left")
        lines.append(line)

    recorder = Recorder(full, HEADER)
    numbers = itertools.count()
    answers = [recorder.during("a", "act", {}, lambda: next(numbers), lambda _: DONE) for _ in range(3)]
    assert answers == [0, 1, 2]
    recorder.close()
    assert len(lines) == 2  # without an end, so the log is short and is no log
    assert str(recorder.trouble) == "no space left"


def test_threads_do_not_mix_their_lines() -> None:
    lines: list[str] = []
    recorder = Recorder(lines.append, HEADER)

    def work(node: str) -> None:
        for _ in range(200):
            recorder.during(node, "act", {}, lambda: None, lambda _: DONE)

    threads = [threading.Thread(target=work, args=(f"node {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    found = lines_of(lines)[1:-1]
    for node in {line["node"] for line in found}:
        numbers = [line["seq"] for line in found if line["node"] == node and "begun" not in line]
        assert numbers == list(range(1, 201))
    assert lines_of(lines)[-1] == {"end": 800}


def test_a_file_has_every_line_and_is_never_written_over(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "run.jsonl")
    Recorder(sink, HEADER).happens("a", "act", {})
    assert (tmp_path / "run.jsonl").read_text("utf-8").count("\n") == 2
    sink.close()
    with pytest.raises(FileExistsError):
        FileSink(tmp_path / "run.jsonl")


# --- the lease ----------------------------------------------------------------------------------------------


def test_a_log_of_the_lease_holds_what_was_answered_and_is_explained(tmp_path: Path) -> None:
    lines: list[str] = []
    clock, store = HandClock(100), SqliteStore(tmp_path / "lease.db")
    header = header_from(header_of(definition_of(Lease)))
    host = ObservedHost(
        LeaseHost(store, clock, NoWaiter()), Recorder(lines.append, header), "k", {"ann": 0, "bob": 1}.get
    )
    judge = ObservedJudge(Judge(store, clock), host)
    host.ask("another key", "ann", 3)
    host.ask("k", "somebody else", 1)
    clock.instant += 1
    waiting = [host.ask("k", "ann", 3), host.ask("k", "bob", 3)][1]
    instant = host.mint("k", "ann", 1)
    assert instant is not None
    judge.admit("k", "ann", instant)
    judge.admit("k", "ann", instant)  # a second delivery of an act that is judged already
    clock.instant += 3
    host.poll(waiting)  # type: ignore[arg-type]
    host.release("k", "ann")
    host.try_take("k", "bob", 3)
    host.remaining("k", "bob")
    host.recorder.close()
    store.close()
    ended = [line for line in lines_of(lines)[1:-1] if "begun" not in line]
    assert [(line["node"], line["action"], line["answer"], line.get("observed")) for line in ended] == [
        ("ann", "ask", "GRANTED", {"holder": 0, "left": 3}),
        ("bob", "ask", "WAITING", {"waiting": {"1": 3}}),
        ("ann", "mint", 2, None),
        ("judge", "admit", "ADMITTED", None),
        ("bob", "poll", "GRANTED", {"holder": 1, "left": 3}),
        ("ann", "release", "NOT_HELD", None),
        ("bob", "try_take", "REENTERED", {"holder": 1, "left": 3}),
        ("bob", "remaining", 3, None),
    ]
    assert validate(definition_of(Lease), "log", lines).verdict is Verdict.HOLDS
