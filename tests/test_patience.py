"""A subject in Python that hangs: the gate goes on without it, and says where it stands.

What hangs waits for an event that the test sets at its end, so that its thread ends too.
"""

import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

import locks
import surfaces
from falsework.conformance import drive
from falsework.conformance.finding import NamedSubject
from falsework.conformance.patience import Watch, in_time
from falsework.conformance.subject import SubjectFault, runtime_twin
from falsework.conformance.surveys import surveyed
from falsework.definition import definition_of
from falsework.gate import gate
from falsework.gate_answers import Asked
from falsework.verdict import Verdict
from locks import Lock, RightLock

let_go = threading.Event()


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    let_go.clear()
    yield
    let_go.set()


class _Patient(RightLock):
    seconds: ClassVar[float] = 0.2


class _HangsInPerform(_Patient):
    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        return let_go.wait() and super().perform(action, arguments)


class _HangsInObserve(_Patient):
    def observe(self) -> Mapping[str, object]:
        let_go.wait()
        return {}


class _HangsInBegin(_Patient):
    def begin(self, constants: Mapping[str, object]) -> None:
        let_go.wait()


class _HangsInClose(_Patient):
    def close(self) -> None:
        let_go.wait()


class _HangsWhenMade(_Patient):
    def __init__(self) -> None:
        let_go.wait()


@pytest.mark.parametrize(
    "cls, what",
    [
        (_HangsInPerform, r"perform\('take'\)|perform\('free'\)"),
        (_HangsInObserve, r"observe\(\)"),
        (_HangsInBegin, r"begin\(\)"),
        (_HangsInClose, r"close\(\)"),
        (_HangsWhenMade, r"_HangsWhenMade\(\)"),
    ],
)
def test_a_call_that_does_not_return_is_given_up_and_named(cls: type[Any], what: str) -> None:
    subject = NamedSubject("lock", cls)

    with pytest.raises(SubjectFault, match=rf"^({what}) has not returned within 0.2 s, and is left where"):
        subject.attended(lambda made: drive(made, definition_of(Lock)))


def test_the_rest_of_the_gate_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hangs(_HangsInPerform):
        """A subject of its own."""

    @runtime_twin(breaks={Lock.nobody_takes_what_is_held: 2})
    class HangsToo(Hangs):
        """And a twin that hangs as it does."""

    monkeypatch.setattr(locks, "Hangs", Hangs, raising=False)
    report = gate(["tests/locks.py"], subjects=["tests/locks.py:Hangs"])
    assert report.exit_code == 13
    assert report.unanswered == []
    asked = Asked("tests/locks.py:Lock", "subject", "tests/locks.py:Hangs")
    red = [answer.asked.kind for answer in report.answers.values() if not answer.verdict.passes]
    # The subject, its own twin, and the twin of the class above it, for that is rejected in a hanging call.
    assert (report.answers[asked].verdict, red[:2]) == (Verdict.ERROR, ["subject", "runtime twin"])


def test_records_that_never_end_are_given_up() -> None:
    class Endless(surfaces.AuditedLatch):
        seconds: ClassVar[float] = 0.2

        def histories(self) -> Iterator[tuple[str, surfaces.Snapshots]]:
            let_go.wait()
            yield from super().histories()

    with pytest.raises(SubjectFault, match=r"^reading the records of Endless has not returned within 0.2 s"):
        surveyed(NamedSubject("latch", Endless), definition_of(surfaces.Latch))


def test_what_is_raised_is_raised_where_it_is_waited_for() -> None:
    def fails(watch: Watch) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        in_time(10, fails)


def test_work_as_a_whole_may_take_longer_than_a_call() -> None:
    def works(watch: Watch) -> str:
        for _ in range(4):  # each a call of its own, together longer than one may take
            watch.begins("a call")
            let_go.wait(0.15)
            watch.ends()
        return "done"

    assert in_time(0.5, works) == "done"
