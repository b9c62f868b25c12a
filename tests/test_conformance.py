"""An implementation driven along its model: what is covered, what diverges, what stays unknown.

The counts of the lock are hand arguments, told in locks.py; the shortest paths are told at each test.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

import locks
from falsework.check import check
from falsework.conformance import Drive, UnknownOutcome, drive
from falsework.conformance.breaches import breaches
from falsework.conformance.paths import graph_of
from falsework.conformance.subject import SubjectFault
from falsework.definition import definition_of
from falsework.models.lease import Lease
from falsework.report_gate import breach_text, divergence_text
from falsework.runtime.lease import LeaseHost, LeaseRow
from falsework.runtime.subjects.lease import LeaseSubject
from falsework.verdict import Verdict
from locks import Lock, LockServer, NotHolder, RightLock, StealingLock, TimedOut

LOCK = definition_of(Lock)


def steps(done: Drive) -> str:
    assert done.divergence is not None
    return " ".join(map(str, done.divergence.path))


def differing(done: Drive) -> list[tuple[str, str, str]]:
    assert done.divergence is not None
    return [(row.what, row.expected, row.observed) for row in done.divergence.rows if row.differs]


# --- a right implementation ---------------------------------------------------------------------------------


def test_every_transition_is_driven_and_every_refusal_tried() -> None:
    done = drive(RightLock(), LOCK)
    assert (done.states, done.transitions, done.attempts) == (6, 20, 8)  # by hand, see locks.py
    assert (done.covered, done.attempted, done.undriven) == (20, 8, [])
    assert done.verdict is Verdict.HOLDS


def test_the_graph_is_that_of_the_search() -> None:
    tally = check(Lease).tally  # another program over the same class
    graph = graph_of(definition_of(Lease), ())
    assert (len(graph.states), graph.transitions, max(graph.depth)) == (
        tally.states,
        tally.transitions,
        tally.depth,
    )


def test_a_disabled_step_is_attempted_only_where_the_implementation_says_that_it_refuses() -> None:
    class Silent(RightLock):
        refuses = ()

    assert drive(Silent(), LOCK).attempts == 0


def test_an_invariant_that_reads_what_is_not_shown_is_not_observable() -> None:
    done = drive(RightLock(), LOCK)
    assert done.hidden == {"grants_alternate": ("odd",)}
    assert sorted(done.observable) == ["nobody_takes_what_is_held", "only_the_holder_frees"]
    # One judgement a step of the action: of 12 takes and 4 releases, those that differ in what was observed.
    assert all(times > 0 for times in done.observable.values())


# --- a wrong one --------------------------------------------------------------------------------------------


def test_an_answer_that_differs_ends_the_drive_at_the_shortest_path() -> None:
    done = drive(StealingLock(), LOCK)
    assert done.verdict is Verdict.VIOLATED
    # The first take is right in any lock; the least second step is the same take, answered BUSY.
    assert steps(done) == "take(0) take(0)"
    assert differing(done) == [("answer", "BUSY", "TAKEN")]


def test_a_step_that_should_be_refused_and_is_not_diverges() -> None:
    class Careless(LockServer):
        def free(self, name: str) -> None:
            self.owner = None

    class Subject(RightLock):
        server_class = Careless

    done = drive(Subject(), LOCK)
    assert steps(done) == "free(0)"  # nobody holds it
    assert differing(done) == [("answer", "refused", "done")]


def test_a_step_that_is_refused_and_should_not_be_diverges() -> None:
    class Strict(LockServer):
        def free(self, name: str) -> None:
            raise NotHolder(name)

    class Subject(RightLock):
        server_class = Strict

    done = drive(Subject(), LOCK)
    assert steps(done) == "take(0) free(0)"
    assert ("answer", "done", "refused (NotHolder)") in differing(done)


def test_a_variable_that_differs_diverges() -> None:
    class Sticky(LockServer):
        def session_ended(self, name: str) -> None:
            """The session's end is not noticed."""

    class Subject(RightLock):
        server_class = Sticky

    done = drive(Subject(), LOCK)
    assert steps(done) == "take(0) crash(0)"
    assert differing(done) == [("holder", "-", "0")]


def test_an_implementation_that_breaks_down_diverges() -> None:
    class Broken(LockServer):
        def take(self, name: str) -> bool:
            raise OSError("disk full")

    class Subject(RightLock):
        server_class = Broken

    assert differing(drive(Subject(), LOCK))[0] == ("answer", "TAKEN", "raised OSError: disk full")


def test_a_value_outside_its_domain_is_shown_as_it_is() -> None:
    class Subject(RightLock):
        def observe(self) -> Mapping[str, object]:
            return {"holder": 7}

    assert differing(drive(Subject(), LOCK)) == [("holder", "-", "7")]


class _Tired(LockServer):
    """The third grant since the beginning does not happen, and is answered all the same."""

    def __init__(self) -> None:
        super().__init__()
        self.grants = 0

    def take(self, name: str) -> bool:
        self.grants += self.owner is None
        return True if self.grants == 3 and self.owner is None else super().take(name)


def test_a_mistake_that_needs_a_longer_path_than_the_shortest_one_to_its_state_is_shown_with_it() -> None:
    class Subject(RightLock):
        server_class = _Tired

    done = drive(Subject(), LOCK)
    assert done.divergence is not None
    assert done.divergence.path[-1].action == "take"
    assert differing(done)[0][0] == "holder"
    # Three grants and two releases or crashes between them are needed, whatever the walk did besides.
    takes = [label for label in done.divergence.path if label.action == "take"]
    assert len(done.divergence.path) >= 5
    assert len(takes) >= 3


# --- unknown outcomes ---------------------------------------------------------------------------------------


class _Lossy(LockServer):
    """Every other grant's answer is lost; of these, every other grant did happen."""

    calls = 0

    def take(self, name: str) -> bool:
        if self.owner is not None:
            return False
        _Lossy.calls += 1
        if _Lossy.calls % 2:
            return super().take(name)
        if _Lossy.calls % 4:
            super().take(name)
        raise TimedOut


def test_an_unknown_outcome_leaves_both_states_open_until_one_is_observed() -> None:
    class Subject(RightLock):
        server_class = _Lossy

    _Lossy.calls = 0
    done = drive(Subject(), LOCK)
    assert (done.divergence, done.covered, done.undriven) == (None, 20, [])


def test_where_nothing_is_shown_both_states_stay_open_until_an_answer_tells_them_apart() -> None:
    class Subject(RightLock):
        server_class = _Lossy

        def observe(self) -> Mapping[str, object]:
            return {}

    _Lossy.calls = 0
    done = drive(Subject(), LOCK)
    assert done.divergence is None
    assert done.covered > 0  # and what stayed ambiguous is not called driven
    assert done.covered + len(done.undriven) - (done.attempts - done.attempted) == done.transitions


def test_a_state_that_is_neither_before_nor_after_an_unknown_outcome_diverges() -> None:
    class Wrong(LockServer):
        def take(self, name: str) -> bool:
            self.owner = "worker 1"
            raise TimedOut

    class Subject(RightLock):
        server_class = Wrong

    done = drive(Subject(), LOCK)
    assert steps(done) == "take(0)"  # of worker 0: neither nobody nor 0 holds it afterwards
    assert ("holder", "0", "1") in differing(done)


def test_a_step_whose_outcome_is_always_unknown_is_not_checked() -> None:
    class Mute(LockServer):
        def take(self, name: str) -> bool:
            raise TimedOut

    class Subject(RightLock):
        server_class = Mute

    done = drive(Subject(), LOCK)
    assert done.verdict is Verdict.INCOMPLETE
    assert done.undriven[0] == "take(0) where holder = -, odd = no: its outcome was unknown each time"


def test_an_answer_that_never_comes_is_never_compared_whatever_is_observed() -> None:
    class Moves(LockServer):
        def take(self, name: str) -> bool:
            super().take(name)
            raise TimedOut

    class Subject(RightLock):
        server_class = Moves

    done = drive(Subject(), LOCK)
    assert done.verdict is Verdict.INCOMPLETE
    # All 12 takes: where nobody holds the lock it is seen to be taken, and yet nothing was answered.
    assert sum(text.startswith("take(") for text in done.undriven) == 12


def test_an_adapter_that_knows_falsework_may_raise_its_own_words() -> None:
    class Wordy(LockServer):
        def take(self, name: str) -> bool:
            raise UnknownOutcome

    class Subject(RightLock):
        server_class = Wordy
        unknowns: ClassVar[tuple[type[Exception], ...]] = ()

    assert drive(Subject(), LOCK).verdict is Verdict.INCOMPLETE


# --- mistakes in an adapter ---------------------------------------------------------------------------------


class _ShowsMore(RightLock):
    def observe(self) -> Mapping[str, object]:
        return {"owner": None}


class _ShowsLess(RightLock):
    def observe(self) -> Mapping[str, object]:
        return super().observe() if self.server.owner is None else {}


class _AnswersWhatHasNoAnswer(RightLock):
    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        return super().perform(action, arguments) or "ok"


class _ShowsNoMapping(RightLock):
    def observe(self) -> Any:
        return None


class _LeavesTheProgram(RightLock):
    def observe(self) -> Mapping[str, object]:
        raise SystemExit(0)


class _CannotBegin(RightLock):
    def begin(self, constants: Mapping[str, object]) -> None:
        raise OSError("no room")


@pytest.mark.parametrize(
    "subject, problem",
    [
        (_ShowsMore, "observe() shows owner, which is no variable of Lock; one of: holder, odd"),
        (_ShowsLess, "observe() shows nothing and showed holder before"),
        (
            _AnswersWhatHasNoAnswer,
            (
                "perform('free') answers 'ok', but free has no answer in Lock; "
                "return None, or give the model's action an answer"
            ),
        ),
        (_ShowsNoMapping, "observe() answers None; write a mapping of variables to their values"),
        (_LeavesTheProgram, "observe() of the adapter raised SystemExit: 0"),
        (_CannotBegin, "begin() of the adapter raised OSError: no room"),
    ],
)
def test_a_mistake_in_an_adapter_is_an_error_and_says_what(subject: type[Any], problem: str) -> None:
    done = drive(subject(), LOCK)
    assert done.verdict is Verdict.ERROR
    assert done.problem == problem


@pytest.mark.parametrize("what", ["refuses", "internal"])
def test_an_action_that_the_model_does_not_have_is_named(what: str) -> None:
    subject = type("Misspelled", (RightLock,), {what: ("fre",)})()
    with pytest.raises(
        SubjectFault, match=f"{what} names fre, which is no action of Lock; one of: take, free, crash"
    ):
        drive(subject, LOCK)


@pytest.mark.parametrize(
    "what, value",
    [("refuses", None), ("internal", "free"), ("refusals", ValueError), ("unknowns", ("TimedOut",))],
)
def test_an_attribute_of_another_shape_is_named(what: str, value: object) -> None:
    subject = type("Misshapen", (RightLock,), {what: value})()
    with pytest.raises(SubjectFault, match=f"^{what} = .*; write a tuple of "):
        drive(subject, LOCK)


def test_an_implementation_that_ends_the_program_diverges() -> None:
    class Subject(RightLock):
        def perform(self, action: str, arguments: Mapping[str, object]) -> object:
            raise SystemExit(0)

    assert ("answer", "refused", "raised SystemExit: 0") in differing(drive(Subject(), LOCK))


def test_an_implementation_that_shows_and_answers_nothing_is_compared_with_nothing() -> None:
    class Subject(RightLock):
        internal = ("take",)
        refuses = ()

        def observe(self) -> Mapping[str, object]:
            return {}

    assert drive(Subject(), LOCK).verdict is Verdict.VACUOUS


# --- the lease ----------------------------------------------------------------------------------------------


def test_the_lease_conforms_along_every_transition() -> None:
    done = drive(LeaseSubject(), definition_of(Lease), name="lease")
    assert done.verdict is Verdict.HOLDS
    assert (done.covered, done.states) == (done.transitions, check(Lease).tally.states)
    assert done.hidden == {}
    assert set(done.observable) == {prop.name for prop in definition_of(Lease).invariants}
    assert all(times > 0 for times in done.observable.values())


class _ForgetsTheTerminus(LeaseHost):
    """One guard is gone: nobody looks whether the lease has ended."""

    def has_standing(self, row: LeaseRow, holder: str, now: int) -> bool:
        return row.holder == holder


def test_a_lease_without_one_guard_is_shown_as_a_person_can_read_it(
    golden: Callable[[str, str], None],
) -> None:
    class Subject(LeaseSubject):
        host_class = _ForgetsTheTerminus

    done = drive(Subject(), definition_of(Lease))
    assert done.verdict is Verdict.VIOLATED
    assert done.divergence is not None
    # Three ticks after a take the lease has ended, and its holder asks what is left: nothing, not 0.
    assert steps(done) == "ask(0) pass_time() pass_time() pass_time() remaining(0)"
    found = breaches(Subject(), definition_of(Lease)).found
    assert {name: breach.steps for name, breach in found.items()} == {
        "remaining_answers_the_truth": 5,
        "nobody_but_the_holder_releases": 5,
    }
    text = divergence_text(done, done.divergence)
    for breach in found.values():
        text += "\n\n" + breach_text(definition_of(Lease), breach)
    golden("gate/lease_without_one_guard", re.sub(r"lease\.py:\d+", "lease.py:…", text) + "\n")


def test_the_modules_of_the_tests_are_one_copy() -> None:
    assert locks.Lock is Lock
