"""The pytest plugin: one test a question, each with its own words, and nothing of it passes silently."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

MODEL = '''
from typing import Annotated, ClassVar
from falsework.language import (
    Below, Model, Upto, action, configuration, invariant, reachable, require, terminal, twin
)

class Jug(Model):
    """Water is poured into a jug until it is full."""
    SIZE: ClassVar[int] = 2
    water: Annotated[int, Upto("SIZE + 1")] = 0

    def room(self) -> int:
        return self.SIZE - self.water

    @action
    def pour(self) -> None:
        require(self.room() > 0)
        self.water += 1

    @invariant
    def never_runs_over(self) -> bool:
        return self.water <= self.SIZE

    @reachable
    def is_full(self) -> bool:
        return self.water == self.SIZE

    @terminal
    def has_no_room(self) -> bool:
        return self.room() <= 0

@configuration(holds=True)
class Bigger(Jug):
    """A jug of four."""
    SIZE = 4
'''
GOOD = '''
@twin(breaks={Jug.never_runs_over: 3})
class RoomForOneMore(Jug):
    """Whoever pours sees room where there is none."""
    def room(self) -> int:
        return self.SIZE + 1 - self.water
'''
TESTS = """
from falsework.pytest_plugin import model_tests
from jugs import Jug
test_jug = model_tests(Jug)
"""
NAMES = [
    "test_it.py::test_jug[check]",
    "test_it.py::test_jug[configuration Bigger]",
    "test_it.py::test_jug[twin RoomForOneMore]",
    "test_it.py::test_jug[machine]",
]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty suite with a model of its own."""
    for name in ("CI", "BUILD_NUMBER"):  # where they are set, pytest does not shorten its summary
        monkeypatch.delenv(name, raising=False)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\n")
    return pytester


def run(suite: pytest.Pytester, models: str, *options: str, tests: str = TESTS) -> pytest.RunResult:
    suite.makepyfile(jugs=models, test_it=tests)
    return suite.runpytest_inprocess(*options)


def failures(result: pytest.RunResult) -> str:
    """What is told of the failures, without pytest's own first lines and its time."""
    text = result.stdout.str()
    begin = text.find("= FAILURES =")
    begin = text.find("= ERRORS =") if begin < 0 else begin
    return "\n".join(line.rstrip() for line in text[begin:].splitlines()[1:-1]) + "\n"


def test_each_question_is_a_test_of_its_own(suite: pytest.Pytester) -> None:
    result = run(suite, MODEL + GOOD, "--collect-only", "-q")
    assert [line for line in result.outlines if "::" in line] == NAMES
    result = run(suite, MODEL + GOOD, "-q")
    result.assert_outcomes(passed=4)
    assert result.ret == pytest.ExitCode.OK


def test_a_question_is_chosen_by_its_name(suite: pytest.Pytester) -> None:
    run(suite, MODEL + GOOD, "-k", "twin").assert_outcomes(passed=1, deselected=3)
    run(suite, MODEL + GOOD, NAMES[1]).assert_outcomes(passed=1)


def test_a_failure_is_the_report_alone(suite: pytest.Pytester, golden: Callable[[str, str], None]) -> None:
    wrong = MODEL.replace("self.water += 1", "self.water = self.SIZE + 1")
    result = run(suite, wrong + GOOD, "-q")
    result.assert_outcomes(failed=4)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    golden("pytest_plugin/violated", failures(result))


def test_a_twin_that_is_not_as_declared_is_told_so(
    suite: pytest.Pytester, golden: Callable[[str, str], None]
) -> None:
    survivor = GOOD.replace("self.SIZE + 1 - self.water", "self.SIZE - self.water + 0")
    surprise = GOOD.replace("RoomForOneMore", "OtherCount").replace(": 3}", ": 2}")
    result = run(suite, MODEL + survivor + surprise, "-q", "-k", "twin")
    result.assert_outcomes(failed=2, deselected=3)
    golden("pytest_plugin/not_as_declared", failures(result))


def test_incomplete_fails_in_its_own_word(suite: pytest.Pytester) -> None:
    result = run(suite, MODEL + GOOD, "-q", "--falsework-max-states", "1", "-k", "check or twin")
    result.assert_outcomes(failed=2, deselected=2)
    result.stdout.fnmatch_lines(
        ["INCOMPLETE  Jug  *stopped by --falsework-max-states 1 *", "INCOMPLETE  twin RoomForOneMore"]
    )


def test_a_witness_that_is_not_reached_is_vacuous(suite: pytest.Pytester) -> None:
    dry = MODEL.replace("return self.water == self.SIZE", "return self.water > self.SIZE") + GOOD
    result = run(suite, dry, "-q", "-k", "check or configuration")
    result.assert_outcomes(failed=2, deselected=2)
    result.stdout.fnmatch_lines(["VACUOUS  Jug *", "VACUOUS  configuration Bigger"])


def test_a_limit_that_is_none_is_refused(suite: pytest.Pytester) -> None:
    result = run(suite, MODEL, "--falsework-max-states", "0")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--falsework-max-states 0: write a number of states, 1 or more"])


def test_a_mistake_in_the_model_fails_with_its_place(suite: pytest.Pytester) -> None:
    slip = MODEL.replace('water: Annotated[int, Upto("SIZE + 1")]', "water: int")
    result = run(suite, slip + GOOD, "-q", "-k", "check or machine")
    result.assert_outcomes(failed=2, deselected=2)
    result.stdout.fnmatch_lines(
        ["ERROR  Jug   definition-error M003: *", "the place   jugs.py:9   *", "write *"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    "models, tests, told",
    [
        (
            MODEL.replace("@configuration(holds=True)", "@configuration()"),
            TESTS,
            "jugs.py:*: M026 a configuration with neither holds nor breaks",
        ),
        (MODEL, TESTS.replace("(Jug)", "(int)"), "model_tests(int): that is no model; *"),
        (MODEL, TESTS.replace("Jug", "Bigger"), "model_tests(Bigger): a configuration is tested with its *"),
        (MODEL, TESTS.replace("(Jug)", "(Jug, 1)"), "model_tests(Jug, 1): what follows is a module of twins"),
    ],
)
def test_a_mistake_met_while_importing_is_told_without_a_traceback(
    suite: pytest.Pytester, models: str, tests: str, told: str
) -> None:
    result = run(suite, models, tests=tests)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_model_without_twins_is_not_silent(suite: pytest.Pytester) -> None:
    result = run(suite, MODEL, "-rs")
    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(["*Jug has no twin: nothing shows that its invariants can be broken"])


def test_twins_of_another_file_are_tested_where_it_is_named(suite: pytest.Pytester) -> None:
    suite.makepyfile(bent="from falsework.language import twin\nfrom jugs import Jug\n" + GOOD)
    tests = TESTS.replace("(Jug)", "(Jug, bent)").replace("from jugs", "import bent\nfrom jugs")
    run(suite, MODEL, tests=tests).assert_outcomes(passed=4)


def test_without_the_plugin_it_is_told_that_nothing_was_tested(suite: pytest.Pytester) -> None:
    result = run(suite, MODEL + GOOD, "-p", "no:falsework")
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*cannot collect 'test_jug' because it is not a function*"])


def test_a_test_case_of_the_machine_runs_in_a_plain_file(suite: pytest.Pytester) -> None:
    tests = "from falsework.machine import machine\nfrom jugs import Jug, RoomForOneMore\n"
    tests += "TestJug = machine(Jug).TestCase\nTestTwin = machine(RoomForOneMore).TestCase\n"
    result = run(suite, MODEL + GOOD, tests=tests)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["E *Refuted: VIOLATED  RoomForOneMore.never_runs_over  in 3 steps *", "E   pour()"]
    )


def test_the_plugin_imports_nothing_heavy() -> None:
    heavy = "{'hypothesis', 'networkx', 'rich', 'z3'}"
    code = f"import sys, falsework.pytest_plugin; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_documentation_shows_what_is_printed(suite: pytest.Pytester) -> None:
    text = (Path(__file__).parent.parent / "docs" / "testing.md").read_text(encoding="utf-8")
    lease, tests, passed, failed = re.findall(
        r"^```(?:python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    )[:4]
    suite.makepyfile(lease=lease, test_models=tests)
    assert passed in suite.runpytest_inprocess("-v").stdout.str()
    (suite.path / "lease.py").write_text(lease.replace("back: 5", "back:  4"), encoding="utf-8")
    assert failed in suite.runpytest_inprocess("-k", "twin").stdout.str()
