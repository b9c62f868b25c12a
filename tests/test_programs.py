"""Programs behind JSON lines: driven as any subject is, and every way in which one may fail to answer.

The lock's counts are told in locks.py; the program is tests/subjects/lock_program.py, in plain Python, which
goes wrong at its first take where it is told to.
"""

import os
import re
import sys
from pathlib import Path

import pytest

from command_line import falsework
from falsework.conformance import drive
from falsework.conformance.finding import NamedSubject, find_subject
from falsework.conformance.program import ProgramSubject
from falsework.conformance.subject import SubjectFault
from falsework.conformance.talk import Talk
from falsework.definition import definition_of
from falsework.errors import InputError
from falsework.gate import conform, gate
from falsework.gate_subjects import Walking
from falsework.verdict import Verdict
from locks import Lock

LOCK = definition_of(Lock)
PROGRAM = Path(__file__).parent / "subjects" / "lock_program.py"


def lock(wrong: str = "") -> NamedSubject:
    """The program as it is found, but for what is wrong with it, which only shows once it is driven."""
    right = find_subject(f"program:{sys.executable} {PROGRAM}").cls
    command = (sys.executable, str(PROGRAM), wrong)
    return NamedSubject("lock", type("Lock", (right,), {"command": command}))


# --- one that answers ---------------------------------------------------------------------------------------


def test_a_program_is_driven_as_any_subject() -> None:
    done = drive(lock().made(), LOCK)
    assert (done.covered, done.attempted, done.undriven) == (20, 8, [])
    assert done.verdict is Verdict.HOLDS
    assert done.hidden == {"grants_alternate": ("odd",)}


def test_a_wrong_program_diverges_as_the_same_lock_in_python_does() -> None:
    done = drive(lock("steals").made(), LOCK)
    assert done.divergence is not None
    assert " ".join(map(str, done.divergence.path)) == "take(0) take(0)"


def test_what_breaks_down_is_an_answer_that_the_model_does_not_give() -> None:
    done = drive(lock("an error").made(), LOCK)
    assert done.divergence is not None
    assert done.divergence.rows[0].observed == "raised AnsweredError: disk full"


def test_an_unknown_outcome_leaves_the_model_in_both_states() -> None:
    done = drive(lock("unknown").made(), LOCK)
    assert done.verdict is Verdict.INCOMPLETE
    assert done.undriven[0] == "take(0) where holder = -, odd = no: its outcome was unknown each time"


# --- one that does not --------------------------------------------------------------------------------------

LINE = r"line \d+ of the program's output"


@pytest.mark.parametrize(
    "wrong, problem",
    [
        ("dies", r"the program has ended with exit code 3 before it answered message \d+ \(perform take\)"),
        ("dies", r".*\nits stderr:\n  lock: out of luck$"),
        ("is killed", r"the program was ended by SIGKILL before it answered message \d+ \(perform take\)"),
        ("garbage", LINE + r" is no JSON \(.*\): starting up …\nwrite one JSON object a line on stdout, and"),
        ("empty", LINE + " is empty\n"),
        ("a list", LINE + r" is no object: \[1\]\nwrite"),
        ("another id", LINE + r' has the id 77, where message \d+ waits for its answer; write "id": \d+'),
        ("no id", LINE + r' has no id, where message \d+ waits for its answer; write "id": \d+'),
        ("an old id", LINE + r" answers message 1 once more, where message \d+ waits"),
        ("no outcome", LINE + r' has no outcome, and answers perform: .*\nwrite "is": "ok" or "is": '),
        ("another outcome", LINE + ' has the outcome "okay", and answers perform'),
        ("another field", LINE + " has a field 'anwser', which .* has not; did you mean answer?"),
        ("a field twice", LINE + r" is no JSON \('is' stands twice in one object\)"),
        ("twice", LINE + " (was not asked for|answers message .* once more)"),
        ("no number", LINE + r" is no JSON \(NaN is no JSON number\)"),
        ("a huge number", LINE + r" is no JSON \(a number of 5,000 digits\): "),
        ("a huge exponent", LINE + r" is no JSON \(1e400 is too large a number; write whole ones digit"),
        ("nested", LINE + r" is no JSON \(lists or objects in one another, too deep\): "),
        ("a mark in front", LINE + r' is no JSON \(Expecting value at column 1\): \\ufeff{"id"'),
        ("colours", LINE + r' is no JSON \(Expecting value at column 1\): \\x1b\[31m{"id"'),
        ("a true id", LINE + r" has the id true, where message \d+ waits"),
        ("without end", LINE + " is longer than 1,000,000 bytes: xxx"),
        ("bytes", LINE + r" is not UTF-8: b'\\xff\\xfe'"),
        ("talks after close", LINE + " comes after the answer to close: bye"),
        ("ends badly", "the program has ended with exit code 4 after it had answered close"),
        ("cannot begin", "the program answers begin with an error: no room"),
    ],
)  # fmt: skip
def test_whatever_a_program_does_but_answer_is_an_error_that_says_what(wrong: str, problem: str) -> None:
    done = drive(lock(wrong).made(), LOCK)
    assert done.verdict is Verdict.ERROR
    assert re.match(problem, done.problem), done.problem


@pytest.mark.parametrize(
    "wrong, problem",
    [
        (
            "hangs",
            r"the program has not answered message \d+ \(perform take\) within 0.2 s\nflush stdout",
        ),
        ("hangs in the line", r".*\nit has written so far, without the end of a line: {\"id\": \n"),
        ("stays", r"the program has not ended, its input being closed, within 0.2 s"),
        (
            "leaves a child",
            r"the program has ended with exit code 0 and has not answered .*, but what it has started still ",
        ),
    ],
)
def test_a_program_that_hangs_is_ended_in_time(wrong: str, problem: str) -> None:
    subject = lock(wrong).made()
    subject.talk.seconds = 0.2  # once it has said hello
    done = drive(subject, LOCK)
    assert re.match(problem, done.problem), done.problem
    with pytest.raises(ProcessLookupError):  # it runs no more
        os.kill(subject.talk._process.pid, 0)


def test_a_program_that_cannot_be_asked_who_it_is_is_no_subject() -> None:
    for command, problem in (
        (
            f"{sys.executable} {PROGRAM} dies at once",
            "the program has ended with exit code 1 before it answered",
        ),
        (f"{sys.executable} {PROGRAM} another protocol", "line 1 of .* says protocol 2; falsework speaks 1"),
        (f"{sys.executable} {PROGRAM} no surface", 'has "surface": " "; write a text that can be printed'),
        (f"{sys.executable} {PROGRAM} a red surface", r'has "surface": "\\u001b\[31mred"; write a text that'),
        (f"{sys.executable} {PROGRAM} a long surface", 'x…?"?; write at most 60 characters'),
        (
            f"{sys.executable} {PROGRAM} the surface of logs",
            "write what is driven, such as .* another column",
        ),
        (f"{sys.executable} {PROGRAM} no model", 'has "model": ""; write a text that can be printed'),
        ("no-such-program", "the program no-such-program cannot be started: .*No such file"),
        ("", "'' is no command; write it as a text, such as"),
        ("'", "no command: No closing quotation"),
    ):
        with pytest.raises(InputError, match=problem):
            find_subject(f"program:{command}")


def test_what_a_program_has_started_is_ended_with_it(tmp_path: Path) -> None:
    script = tmp_path / "mother.py"
    script.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "print(child.pid, flush=True)\n"
        "import signal; signal.pause()\n",
        "utf-8",
    )
    talk = Talk((sys.executable, str(script)), 10.0)
    child = int(talk.say("hello", "hello"))
    talk.end()
    # Gone, or a zombie until whoever adopts orphans here has taken note of its end.
    stat = Path(f"/proc/{child}/stat")
    for _ in range(1_000_000):
        if not stat.exists() or stat.read_text("utf-8").split()[2] in "ZX":
            return
        os.sched_yield()
    pytest.fail("the child runs on")


def test_a_program_that_names_an_action_which_the_model_has_not_is_an_error_and_is_ended() -> None:
    subject = lock()
    subject.cls.refuses = ("fre",)
    kept: list[int] = []

    def driven(program: ProgramSubject) -> None:
        kept.append(program.talk._process.pid)
        drive(program, LOCK)

    with pytest.raises(SubjectFault, match="refuses names fre, which is no action of Lock"):
        subject.attended(driven)
    with pytest.raises(ProcessLookupError):
        os.kill(kept[0], 0)


# --- named by a description ---------------------------------------------------------------------------------

DESCRIBED = """
program = "{python} lock_program.py"
seconds = 20

[twins.Steals]
program = ["{python}", "lock_program.py", "steals"]
breaks = {{ nobody_takes_what_is_held = 2 }}
"""


@pytest.fixture
def described(tmp_path: Path) -> Path:
    (tmp_path / "lock_program.py").write_text(PROGRAM.read_text("utf-8"), "utf-8")
    path = tmp_path / "lock.toml"
    path.write_text(DESCRIBED.format(python=sys.executable), "utf-8")
    return path


def test_a_description_names_a_program_and_its_twins(described: Path) -> None:
    report = conform(str(described), twins=True, walking=Walking(0))
    assert report.exit_code == 0
    assert [(asked.kind, asked.name) for asked in report.asked if asked.kind != "model"] == [
        ("subject", str(described)),
        ("runtime twin", f"{described}:Steals"),
    ]


def test_the_gate_takes_a_program_beside_the_model(described: Path) -> None:
    report = gate(["tests/locks.py"], subjects=[str(described)], walking=Walking(0))
    assert report.exit_code == 0
    assert {asked.name for asked in report.asked if asked.kind == "runtime twin"} == {f"{described}:Steals"}


@pytest.mark.parametrize(
    "text, problem",
    [
        ("program =", "is no TOML in UTF-8"),
        ("seconds = 3", "the description lacks program: the command, as a text"),
        ('programm = "x"', "the description has no 'programm'; did you mean program?"),
        ("program = 3", "program: 3 is no command"),
        ('program = "x"\nseconds = 0', "seconds = 0; write a number above 0"),
        ('program = "x"\nseconds = true', "seconds = True; write a number above 0"),
        ('program = "x"\nseconds = inf', "seconds = inf; write a number above 0, at most 86400"),
        ('program = "{right}"\n[twins."A B"]\nprogram = "x"\nbreaks = {{}}', "the twin 'A B'; write a name"),
        ('program = "{right}"\n[twins."\\u0000"]\nprogram = "x"', "the twin '\\x00'; write a name"),
        ('program = "{right}"\ntwins = 1', "twins = 1; write a table for each"),
        ('program = "{right}"\n[twins]\nA = 1', "twins.A = 1; write a table with program and breaks"),
        ('program = "{right}"\n[twins.A]\nprogram = "x"', "twins.A lacks breaks: what it is rejected for"),
        ('program = "{right}"\n[twins.A]\nprogram = "x"\nbreaks = 1', "twins.A.breaks = 1; write {{inv"),
        ('program = "{right}"\n[twins.A]\nprogram = "x"\nbreaks = {{a = "b"}}', "write the number of steps"),
    ],
)
def test_a_mistake_in_a_description_is_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(text.format(right=f"{sys.executable} {PROGRAM}"), "utf-8")
    with pytest.raises(InputError) as told:
        find_subject(str(path))
    assert problem.replace("{{", "{") in str(told.value)
    assert str(told.value).startswith(str(path))


def test_a_description_that_is_not_there_is_named() -> None:
    said = falsework("conform", "no_such.toml")
    assert (said.code, "no file no_such.toml" in said.all) == (13, True)
