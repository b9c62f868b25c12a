"""Runtime twins: each is rejected for what it declares, and every other outcome has its own word."""

import re
from typing import Any

import pytest

import locks
from falsework.conformance.breaches import breaches
from falsework.conformance.finding import NamedSubject
from falsework.conformance.subject import runtime_twin
from falsework.conformance.twins import judge_runtime_twin
from falsework.definition import definition_of
from falsework.gate import conform
from falsework.gate_subjects import Walking
from falsework.report_gate import gate_text
from locks import Lock, LockServer, RightLock, StealingLock

LOCK = definition_of(Lock)


def contract_of(cls: type[Any]) -> list[tuple[str, str]]:
    judged = judge_runtime_twin(NamedSubject("lock:Wrong", cls))
    return [(problem.word, problem.text) for problem in judged.problems]


def test_a_runtime_twin_is_rejected_for_what_it_declares() -> None:
    assert contract_of(StealingLock) == []


class _Right(RightLock):
    """A subject of its own, so that these twins are none of RightLock's."""


class _Stealing(_Right):
    server_class = StealingLock.server_class


@runtime_twin(breaks={Lock.nobody_takes_what_is_held: 2})
class _NotWrong(_Right):
    """It says that it is wrong, and is right."""


@runtime_twin(breaks={Lock.only_the_holder_frees: 1})
class _WrongForAnotherReason(_Stealing):
    """It steals, and declares something else."""


@runtime_twin(breaks={Lock.nobody_takes_what_is_held: 3})
class _WrongSooner(_Stealing):
    """It steals at the second step."""


@runtime_twin(breaks={Lock.grants_alternate: 1})
class _NotObservable(_Stealing):
    """What it declares cannot be seen."""


class _Silent(LockServer):
    def session_ended(self, name: str) -> None:
        """The session's end is not noticed."""


@runtime_twin(breaks={"observation": 2})
class _DivergesOnly(_Right):
    """It breaks no invariant, and is not the model's lock either: a crash frees nothing."""

    server_class = _Silent


FREED = (
    "it breaks no invariant; declared: only_the_holder_frees; but it diverges in 1 step: "
    "write answer = 1 in breaks"
)


class _Careless(LockServer):
    def free(self, name: str) -> None:
        self.owner = None


@runtime_twin(breaks={Lock.only_the_holder_frees: 1})
class _FreedByAnybody(_Right):
    """It takes a release that the model disables, so no step of the model shows it."""

    server_class = _Careless


@pytest.mark.parametrize(
    "cls, words",
    [
        (_NotWrong, [("survived", "it breaks nothing; declared: nobody_takes_what_is_held")]),
        (
            _WrongForAnotherReason,
            [
                ("surprise", "nobody_takes_what_is_held is broken in 2 steps, and is not declared"),
                ("missing", "only_the_holder_frees is declared as broken, and is not broken"),
            ],
        ),
        (
            _WrongSooner,
            [("other step count", "nobody_takes_what_is_held is broken in 2 steps, declared: 3")],
        ),
        (
            _NotObservable,
            [("not observable", "grants_alternate reads odd, which a lock in memory does not show")],
        ),
        (_DivergesOnly, []),
        (
            _FreedByAnybody,
            [("survived", FREED)],
        ),
    ],
)
def test_every_other_outcome_of_a_runtime_twin_has_its_own_word(
    cls: type[Any], words: list[tuple[str, str]]
) -> None:
    assert contract_of(cls) == words


def test_a_twin_that_only_diverges_is_shown_where_and_is_not_said_to_depart_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Freed(RightLock):
        """A subject of its own, that frees for anybody."""

        server_class = _Careless

    monkeypatch.setattr(locks, "Freed", Freed, raising=False)
    text = gate_text(conform("tests/locks.py:Freed", walking=Walking(0)))
    assert "diverges: in 1 step: answer: expected refused, observed done" in text
    assert "nowhere" not in text


def test_a_runtime_twin_says_what_it_is_rejected_for() -> None:
    with pytest.raises(TypeError, match="what it is rejected for"):
        runtime_twin(breaks={})
    with pytest.raises(TypeError, match="write the number of steps"):
        runtime_twin(breaks={Lock.only_the_holder_frees: "1"})
    with pytest.raises(TypeError, match="within=1: write 2 or more"):
        runtime_twin(breaks={Lock.only_the_holder_frees: 2}, within=1)


def test_the_search_for_a_breach_goes_no_deeper_than_it_is_told() -> None:
    # Taken by one and stolen by the other is two steps; one step deep there are two takes and nothing else.
    shallow = breaches(StealingLock(), LOCK, within=1)
    assert (shallow.found, shallow.complete, shallow.problem) == ({}, True, "")
    deep = breaches(StealingLock(), LOCK, within=2)
    assert {name: found.steps for name, found in deep.found.items()} == {"nobody_takes_what_is_held": 2}
    assert shallow.performed < deep.performed < breaches(StealingLock(), LOCK).performed


def test_a_search_that_is_not_to_the_end_says_how_deep_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stolen(RightLock):
        """A subject of its own."""

    @runtime_twin(breaks={Lock.nobody_takes_what_is_held: 2}, within=2)
    class StolenToo(Stolen):
        server_class = StealingLock.server_class

    monkeypatch.setattr(locks, "Stolen", Stolen, raising=False)
    text = gate_text(conform("tests/locks.py:Stolen", twins=True, walking=Walking(0)))
    assert re.search(r"runtime twin .*:StolenToo .*TAKEN here \(searched 2 steps deep\)$", text, re.MULTILINE)
    assert len(re.findall("steps deep", text)) == 1  # the lock's other twin is searched to the end
