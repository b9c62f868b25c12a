"""The kinds of subjects in the gate: records judged, surfaces side by side, and what cannot be asked here."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import locks
import release
import surfaces
from command_line import falsework
from falsework import naming
from falsework.conformance import finding
from falsework.conformance.audited import audited
from falsework.conformance.finding import NamedSubject
from falsework.conformance.subject import subject_role_of
from falsework.conformance.twins import judge_runtime_twin
from falsework.definition import definition_of
from falsework.errors import InputError
from falsework.gate import conform, gate
from falsework.gate_answers import Asked
from falsework.language import configuration
from falsework.report_document import render
from falsework.report_gate import gate_document, gate_text
from falsework.runtime.subjects.lease import LeaseSubject
from falsework.runtime.subjects.lease_postgres import LeaseOnPostgres
from falsework.verdict import Verdict
from locks import Lock, RightLock
from surfaces import AuditedLatch, BackToTheFirst, ElsewhereLatch, Latch, told

LATCH = definition_of(Latch)
SURFACES = "tests/surfaces.py"


# --- histories ----------------------------------------------------------------------------------------------


def test_every_snapshot_is_judged_by_what_it_shows() -> None:
    done = audited(AuditedLatch(), LATCH)
    assert done.verdict is Verdict.HOLDS
    assert done.sources == {"the first": 4, "the second": 2}
    # Six snapshots in two histories: 6 states, and 4 pairs of neighbours, for the invariants that are shown.
    assert done.observable == {"nothing_is_open_before_the_first": 6, "numbers_never_go_back": 4}
    assert done.hidden == {
        "shutting_takes_no_number": ("the action",),
        "the_hidden_stays_hidden": ("hidden",),
    }


@pytest.mark.parametrize(
    "recorded, problem",
    [
        ({"only": [{"last": 0, "shut": True}]}, "snapshot 1 of the history 'only' shows shut, which is no"),
        (
            {"only": [*told((0, False)), {"last": 0}]},
            "snapshot 2 of the history 'only' shows last, and",
        ),
        ({"only": [3]}, "snapshot 1 of the history 'only' is 3; write histories() as an iterable of"),
        ({"only": []}, "the history 'only' has no snapshot"),
    ],
)
def test_a_mistake_in_a_history_is_an_error_and_says_where(recorded: dict[str, Any], problem: str) -> None:
    subject = type("Mistaken", (AuditedLatch,), {"recorded": recorded})()
    done = audited(subject, LATCH)
    assert done.verdict is Verdict.ERROR
    assert done.problem.startswith(problem), done.problem


def _breaks_off(_: object) -> Iterator[object]:
    yield "the first", told((0, False))
    raise OSError("no journal")


@pytest.mark.parametrize(
    "histories, problem",
    [
        (_breaks_off, "histories() of the adapter raised OSError: no journal"),
        (
            lambda _: [("a", told((0, False)))] * 2,
            "histories() has two histories named 'a'; give",
        ),
        (lambda _: [told((0, False))], "histories() yields [{'last': 0, 'open': False}]; write histories()"),
    ],
)
def test_histories_that_are_none_are_an_error(histories: Any, problem: str) -> None:
    done = audited(type("Odd", (AuditedLatch,), {"histories": histories})(), LATCH)
    assert done.verdict is Verdict.ERROR
    assert done.problem.startswith(problem), done.problem


@pytest.mark.parametrize("recorded", [{}, {"blank": [{}, {}]}])
def test_records_on_which_nothing_can_be_judged_are_no_pass(recorded: dict[str, Any]) -> None:
    done = audited(type("Blank", (AuditedLatch,), {"recorded": recorded})(), LATCH)
    assert done.verdict is Verdict.VACUOUS


def test_a_twin_of_an_audited_subject_is_rejected_at_the_record_that_it_declares() -> None:
    contract = judge_runtime_twin(NamedSubject("latch:BackToTheFirst", BackToTheFirst))
    assert (contract.problems, contract.broken) == ([], {"numbers_never_go_back": 3})


# --- in the gate --------------------------------------------------------------------------------------------


def test_surfaces_stand_side_by_side(golden: Callable[[str, str], None]) -> None:
    said = falsework("gate", SURFACES, "--subject", f"{SURFACES}:AuditedLatch")
    golden("gate/audited", said.all)
    assert said.code == 0


def test_a_wrong_record_is_red_and_is_shown() -> None:
    class Wrong(AuditedLatch):
        recorded = BackToTheFirst.recorded

    surfaces.Wrong = Wrong  # type: ignore[attr-defined]
    report = conform(f"{SURFACES}:Wrong")
    text = gate_text(report)
    assert report.exit_code == 10
    assert "numbers_never_go_back is broken at snapshot 3 of only: last = 0, open = False" in text
    assert re.search(r"^numbers_never_go_back +holds +violated$", text, re.MULTILINE)


# --- what cannot be asked here ------------------------------------------------------------------------------


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The latch is installed, with a subject that needs what is not here."""
    monkeypatch.delenv("LATCH_SERVER", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(naming, "shipped", lambda *_: {"latch": "surfaces"})
    monkeypatch.setattr(finding, "shipped_subjects", lambda: {"latch.elsewhere": "surfaces:ElsewhereLatch"})


@pytest.mark.usefixtures("shipped")
def test_what_needs_a_server_is_not_checked_where_there_is_none() -> None:
    report = gate(["latch"])
    text = gate_text(report)
    assert report.exit_code == 0
    # The subject, and the two twins that it has from the class above it.
    assert "answered all · NOT CHECKED: 1 subject, 2 runtime twins (LATCH_SERVER is not set)" in text
    assert re.search(r"^numbers_never_go_back +holds +NOT CHECKED$", text, re.MULTILINE)
    assert "NOT CHECKED: 1 subject" in gate_document(report).first_line
    as_data = json.loads(render(gate_document(report), "json"))
    assert next(release.ungated(0, as_data)).startswith("the gate has left something out: ")


@pytest.mark.usefixtures("shipped")
def test_in_ci_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    report = gate(["latch"])
    assert report.exit_code == 12
    assert (len(report.left_out), [a.kind for a in report.asked].count("runtime twin")) == (0, 2)
    assert "LATCH_SERVER is not set, and where CI is set nothing is left out" in gate_text(report)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("twins, asked", [(False, 2), (True, 4)])
def test_what_is_asked_for_by_name_is_never_left_out(twins: bool, asked: int) -> None:
    report = conform(f"{SURFACES}:ElsewhereLatch", twins=twins)
    assert (report.exit_code, len(report.asked), report.left_out) == (12, asked, {})
    by_option = gate([SURFACES], subjects=[f"{SURFACES}:ElsewhereLatch"])
    assert (by_option.exit_code, by_option.left_out) == (12, {})


def test_with_its_server_it_is_asked_with_the_twins_of_the_class_above(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LATCH_SERVER", "here")
    report = conform(f"{SURFACES}:ElsewhereLatch", twins=True)
    named = [asked.name.rpartition(":")[2] for asked in report.asked if asked.kind == "runtime twin"]
    assert named == ["BackToTheFirst", "OpenFromTheStart"]
    assert report.exit_code == 0
    twin = finding.wrong_subjects(NamedSubject("latch", ElsewhereLatch))[0]
    assert twin.surface == "audited elsewhere"


def test_a_subject_that_cannot_be_loaded_leaves_the_rest_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    known = finding.shipped_subjects()
    monkeypatch.setattr(
        finding, "shipped_subjects", lambda: known | {"classics.die_hard": "no_such_module:Subject"}
    )
    report = gate(["classics.die_hard"])
    assert report.exit_code == 13
    asked = Asked("classics.die_hard", "subject", "classics.die_hard")
    assert report.answers[asked].problems[0].text == "no module no_such_module"
    assert [a.asked for a in report.answers.values() if not a.verdict.passes] == [asked]
    assert "die_hard" in gate_text(report).splitlines()[2]


@pytest.mark.parametrize(
    "attributes, problem",
    [
        ({"surface": "observed"}, "it has no logs\n  logs       (): each recorded log, as (name, lines)"),
        ({"surface": "audited"}, "it has no histories\n  histories  (): each history, as (name, snapshots)"),
        ({"histories": None}, "it has no surface"),
        ({"surface": "audited", "histories": None, "needs": "SERVER"}, "write a tuple of names, such as"),
        (
            {"surface": "audited", "histories": None, "needs": None},
            "has needs = None; write a tuple of names",
        ),
        (
            {"surface": "audited", "histories": None, "seconds": "9"},
            "has seconds = '9'; write a number above",
        ),
        ({"surface": "audited", "histories": None, "seconds": float("nan")}, "has seconds = nan; write a"),
        ({"surface": "audited", "histories": None, "seconds": 0}, "has seconds = 0; write a number above 0"),
    ],
)
def test_what_a_subject_of_records_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, attributes: dict[str, Any], problem: str
) -> None:
    odd = type("Odd", (), {"model": "tests/surfaces.py:Latch", **attributes})
    monkeypatch.setattr(surfaces, "Odd", odd, raising=False)
    with pytest.raises(InputError) as told:
        finding.find_subject(f"{SURFACES}:Odd")
    assert problem in str(told.value)


def test_a_configuration_is_asked_for_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    class OneWorker(RightLock):
        model = "tests/locks.py:LockOfOne"

    @configuration(breaks={Lock.the_second_worker_holds: None})
    class LockOfOne(Lock):
        """There is nobody to be the second, as it declares."""

        WORKERS = 1

    monkeypatch.setattr(locks, "OneWorker", OneWorker, raising=False)
    monkeypatch.setattr(locks, "LockOfOne", LockOfOne, raising=False)
    report = conform("tests/locks.py:OneWorker")
    assert [asked.kind for asked in report.asked] == ["configuration", "subject"]
    assert report.exit_code == 0
    text = gate_text(report)
    # By hand: nobody or 0 holds it, an odd number of times or not; a take in each, and a release and a crash.
    assert "8 of 8 transitions of 4 states of LockOfOne" in text
    assert re.search(r"^nobody_takes_what_is_held +holds +holds$", text, re.MULTILINE)


# --- both stores --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_driven_on_one_store_is_driven_on_the_other_with_the_same_twins() -> None:
    """No skip list by store: what a server is needed for is a subject below one that needs none."""
    subjects = {name: finding.find_subject(name) for name in finding.shipped_subjects()}
    here = {s.cls: s for s in subjects.values() if s.kind == "driven" and not s.needs}
    served = [s for s in subjects.values() if s.kind == "driven" and s.needs]
    on_a_server = {k: s for s in served for k in s.cls.__mro__[1:] if k in here}
    assert len(on_a_server) == len(served)
    assert here.keys() == on_a_server.keys()
    for cls, subject in here.items():
        other = on_a_server[cls]
        assert (subject.surface, other.surface) == ("driven SQLite", "driven PostgreSQL")
        assert other.needs == ("FALSEWORK_POSTGRES",)
        twins, others = finding.wrong_subjects(subject), finding.wrong_subjects(other)
        assert twins
        assert [t.cls.__name__ for t in twins] == [t.cls.__name__ for t in others]
        assert [subject_role_of(t.cls) for t in twins] == [subject_role_of(t.cls) for t in others]


@pytest.mark.postgres
def test_the_lease_on_a_server_answers_as_on_a_file_and_leaves_nothing_behind() -> None:
    asked = [("ask", {"worker": 0}), ("mint", {"worker": 0}), ("ask", {"worker": 1}), ("die", {"worker": 0})]
    asked += [("pass_time", {})] * 3 + [("admit", {}), ("poll", {"worker": 1})]
    seen = []
    on_a_server = LeaseOnPostgres()
    for subject in (LeaseSubject(), on_a_server):
        subject.begin({"WORKERS": 2, "LEASE": 3, "ALLOWANCE": 1, "LAG": 0})
        seen.append([(subject.perform(*step), subject.observe()) for step in asked])
        subject.close()
    assert seen[0] == seen[1]
    assert [answer for answer, _ in seen[0]][-2:] == ["LATE", "GRANTED"]
    with psycopg.connect(os.environ["FALSEWORK_POSTGRES"]) as raw:
        assert raw.execute("SELECT to_regnamespace(%s)", (on_a_server.schema,)).fetchone() == (None,)


# --- without what they need ---------------------------------------------------------------------------------

SAID_WITHOUT = """
import sys
sys.modules["{library}"] = None
from falsework.cli import main
from falsework.conformance.finding import find_subject, shipped_subjects
"""


def said_without(library: str, program: str) -> tuple[int, str]:
    """The program where that library is not installed, and neither a server nor CI is named."""
    script = SAID_WITHOUT.format(library=library) + program
    environment = {key: value for key, value in os.environ.items() if key not in {"CI", "FALSEWORK_POSTGRES"}}
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_without_its_store_the_lease_is_an_error_and_the_rest_is_answered() -> None:
    code, said = said_without("apsw", "sys.exit(main(['gate', 'lease']))")
    assert code == 13
    first = said.splitlines()[0]
    assert "24 twins" in first  # as many as stand in twins/lease.py
    assert "answered all · " in first
    subjects = re.findall(r"^ERROR  subject (.*)$", said, re.MULTILINE)
    assert "lease" in subjects
    assert said.count("write: pip install 'falsework[runtime]'") == len(subjects)
    assert re.search(r"^  invariants +20 of 20 +broken by a twin +each$", said, re.MULTILINE)
    assert re.search(r"^a_death_frees_nothing +holds( +NOT CHECKED)+$", said, re.MULTILINE)


@pytest.mark.slow
def test_without_its_store_a_subject_that_is_asked_for_says_what_to_install() -> None:
    code, said = said_without("apsw", "sys.exit(main(['conform', 'lease']))")
    assert (code, "write: pip install 'falsework[runtime]'" in said) == (13, True)


@pytest.mark.slow
def test_a_subject_that_needs_a_server_can_be_left_out_where_its_library_is_missing() -> None:
    program = "print(*[n for n in shipped_subjects() if 'FALSEWORK_POSTGRES' in find_subject(n).needs])"
    code, said = said_without("psycopg", program)
    assert (code, "lease.postgres" in said.split()) == (0, True), said
