"""The suite's own machinery: a golden text, a tier, a missing server or program never passes silently."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

GOLDEN_TEST = """
def test_text(golden):
    golden("text", {text!r})
"""
TIERS = """
import pytest

@pytest.mark.deep
def test_deep(): pass

@pytest.mark.postgres
def test_server(): pass

def test_quick(): pass
"""
SPIN = """
import pytest

@pytest.mark.spin
def test_counts(): pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty suite under our conftest, at home and without a server."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("FALSEWORK_POSTGRES", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\nmarkers =\n  deep: d\n  postgres: p\n  spin: s\n  clang: c\n")
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    return pytester


def test_a_golden_text_is_compared_and_rewritten_only_by_the_flag(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_it=GOLDEN_TEST.format(text="one\ntwo\n"))
    suite.runpytest("-q").stdout.fnmatch_lines(["there is no tests/golden/text.txt; *make golden*"])
    suite.runpytest("-q", "--update-golden").stdout.fnmatch_lines(
        ["*read the difference*", "golden/text.txt"]
    )
    assert suite.runpytest("-q").ret == 0
    suite.makepyfile(test_it=GOLDEN_TEST.format(text="one\n2"))
    result = suite.runpytest("-q")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["the text differs from tests/golden/text.txt*", "-two", "+2"])
    assert (suite.path / "golden" / "text.txt").read_text(encoding="utf-8") == "one\ntwo\n"


def test_ci_never_rewrites_a_golden_text(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile(test_it=GOLDEN_TEST.format(text="one\n"))
    assert suite.runpytest("--update-golden").ret == pytest.ExitCode.USAGE_ERROR
    assert not (suite.path / "golden").exists()


def test_deep_tests_run_only_when_asked(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_it=TIERS)
    suite.runpytest().assert_outcomes(passed=1, skipped=1, deselected=1)
    suite.runpytest("--deep").assert_outcomes(passed=2, skipped=1)


def test_a_missing_server_is_named_at_home(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_it=TIERS)
    suite.runpytest("-q").stdout.fnmatch_lines(
        ["*PostgreSQL was NOT tested*", "1 tests skipped. FALSEWORK_POSTGRES*"]
    )


def test_a_missing_server_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile(test_it=TIERS)
    result = suite.runpytest("-q")
    result.assert_outcomes(passed=1, errors=1, deselected=1)
    assert result.ret == 1


def test_with_a_server_its_tests_run(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FALSEWORK_POSTGRES", "host=127.0.0.1")
    suite.makepyfile(test_it=TIERS)
    suite.runpytest().assert_outcomes(passed=2, deselected=1)


def test_a_missing_spin_is_named_at_home(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(suite.path))
    suite.makepyfile(test_it=SPIN)
    result = suite.runpytest_inprocess("-q")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*SPIN was NOT tested*", "1 tests skipped. spin or gcc is not on the PATH*"])


def test_a_missing_spin_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PATH", str(suite.path))
    suite.makepyfile(test_it=SPIN)
    result = suite.runpytest_inprocess("-q")
    result.assert_outcomes(errors=1)
    assert result.ret == 1
