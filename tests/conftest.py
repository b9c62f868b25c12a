"""What every test may ask for: golden texts, the tiers of the suite, and the programs that tests need."""

import difflib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
UPDATED = pytest.StashKey[list[str]]()
SKIPPED = pytest.StashKey[dict[str, list[str]]]()
NO_POSTGRES = (
    "FALSEWORK_POSTGRES is not set: name a server that may be written to, "
    "such as 'host=127.0.0.1 port=5432 user=postgres dbname=postgres'"
)
NO_SPIN = "spin or gcc is not on the PATH: on Debian, apt-get install spin gcc"
NO_CLANG = "clang is not on the PATH: on Debian, apt-get install clang"
NO_NODE = "node is not on the PATH: on Debian, apt-get install nodejs"
NAMES = {"postgres": "PostgreSQL", "spin": "SPIN", "clang": "Clang", "node": "Node.js"}


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("falsework")
    group.addoption("--update-golden", action="store_true", help="rewrite the texts of tests/golden")
    group.addoption("--deep", action="store_true", help="also run the tests marked deep, which take minutes")
    group.addoption("--models", type=int, default=500, help="how many random models the engines agree on")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[UPDATED] = []
    config.stash[SKIPPED] = {}
    if config.getoption("--update-golden") and in_ci():
        raise pytest.UsageError("--update-golden rewrites what CI compares with: run it at home and commit")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without --deep, the deep tests are deselected, and pytest's last line says how many."""
    if config.getoption("--deep"):
        return
    deep = [item for item in items if item.get_closest_marker("deep")]
    if deep:
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if not item.get_closest_marker("deep")]


def missing(item: pytest.Item) -> Iterator[tuple[str, str]]:
    """What the test needs and is not there, each with what to do."""
    if item.get_closest_marker("postgres") and not os.environ.get("FALSEWORK_POSTGRES"):
        yield "postgres", NO_POSTGRES
    if item.get_closest_marker("spin") and not (shutil.which("spin") and shutil.which("gcc")):
        yield "spin", NO_SPIN
    if item.get_closest_marker("clang") and not shutil.which("clang"):
        yield "clang", NO_CLANG
    if item.get_closest_marker("node") and not shutil.which("node"):
        yield "node", NO_NODE


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test of what is not there is skipped and named at the end, or fails where CI=true."""
    for marker, remedy in missing(item):
        if in_ci():
            pytest.fail(f"CI must run the tests of {NAMES[marker]}, but {remedy}", pytrace=False)
        item.config.stash[SKIPPED].setdefault(marker, []).append(item.nodeid)
        pytest.skip(remedy)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    updated = config.stash[UPDATED]
    remedies = {"postgres": NO_POSTGRES, "spin": NO_SPIN, "clang": NO_CLANG, "node": NO_NODE}
    for marker, remedy in remedies.items():
        if skipped := config.stash[SKIPPED].get(marker):
            terminalreporter.section(f"{NAMES[marker]} was NOT tested", red=True)
            terminalreporter.line(f"{len(skipped)} tests skipped. {remedy}")
    if updated:
        terminalreporter.section("golden texts rewritten: read the difference", yellow=True)
        for name in updated:
            terminalreporter.line(name)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` fails unless the text is that of tests/golden/<name>.txt, to the letter."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        expected = path.read_text(encoding="utf-8") if path.exists() else None
        if text == expected:
            return
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            request.config.stash[UPDATED].append(f"{GOLDEN.name}/{name}.txt")
            return
        again = "if the new text is right: make golden, and read the difference before committing it"
        if expected is None:
            pytest.fail(f"there is no tests/golden/{name}.txt; {again}\n\n{text}", pytrace=False)
        lines = difflib.unified_diff(
            expected.splitlines(keepends=True),
            text.splitlines(keepends=True),
            f"tests/golden/{name}.txt",
            "what the test produced",
        )
        shown = "".join(line if line.endswith("\n") else f"{line}\n\\ no end of line\n" for line in lines)
        pytest.fail(f"the text differs from tests/golden/{name}.txt; {again}\n\n{shown}", pytrace=False)

    return compare
