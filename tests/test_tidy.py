"""The rules of this repository that can be executed: sizes, leftovers, places of one machine only."""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = {".py", ".c", ".h", ".sql", ".yaml", ".yml", ".toml", ".sh", ".mk", "Makefile", "run"}
LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60
COLUMNS = 110

# The words are written in pieces, so that this file obeys itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|NotImplemented" r"Error)\b")
ONE_MACHINE_ONLY = re.compile(
    r"(?:^|[^\w.-])/(?:wo" r"rk|fa" r"rm|ro" r"ot|ho" r"me|t" r"mp|o" r"pt|Us" r"ers)/"
    r"|\.\./sha" r"red|py" r"pi\.org|python" r"hosted\.org|npm" r"js\.org|\bthe bri" r"ef\b"
    r"|\bsub-?ag" r"ents?\b|\bLL" r"Ms?\b",
    re.IGNORECASE,
)  # fmt: skip
VAGUE_NAME = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|base|common)(?:_|$)|(?:Helper|Manager|Utils?)$")


def listed() -> list[Path]:
    """Every file that is tracked, or would be: neither ignored nor deleted."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(path for name in set(names.split("\0")) if name and (path := ROOT / name).is_file())


FILES = listed()
CODE_FILES = [path for path in FILES if path.suffix in CODE or path.name in CODE]
PYTHON_FILES = [path for path in FILES if path.suffix == ".py"]


def nothing(found: Iterable[str]) -> None:
    """Fails with each place on a line of its own."""
    if places := "\n".join(found):
        pytest.fail(places, pytrace=False)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def matches(pattern: re.Pattern[str], paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if found := pattern.search(line):
                yield f"{place(path, number)} {found.group().strip()}"


def python_functions(path: Path) -> Iterator[tuple[int, str, int]]:
    """Line, name and number of lines of each function."""
    for node in ast.walk(ast.parse(text_of(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1


def c_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Likewise for C as the formatter leaves it: the body's last brace stands in the first column."""
    start, name = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r"(?:[A-Za-z_][\w\s*]*?[\s*])?(\w+)\(", line)
        if heading and not line.rstrip().endswith(";"):
            start, name = number, heading.group(1)
        elif start and line.startswith("}"):
            yield start, name, number - start + 1
            start = 0


def test_the_list_of_files_is_that_of_this_repository() -> None:
    assert Path(__file__).resolve() in FILES
    assert ROOT / "pyproject.toml" in CODE_FILES


def test_no_file_is_longer_than_one_reads() -> None:
    sizes = {path: text_of(path).count("\n") for path in FILES if path.suffix in {".py", ".c", ".h"}}
    nothing(f"{place(path, 1)} {size}" for path, size in sizes.items() if size > LINES_OF_A_FILE)


def test_no_function_is_longer_than_a_screen() -> None:
    functions = {path: list(python_functions(path)) for path in PYTHON_FILES}
    functions |= {path: list(c_functions(text_of(path))) for path in FILES if path.suffix in {".c", ".h"}}
    nothing(
        f"{place(path, line)} {name} {size}"
        for path, found in functions.items()
        for line, name, size in found
        if size > LINES_OF_A_FUNCTION
    )


def test_a_c_function_is_measured_from_its_heading_to_its_last_brace() -> None:
    split = "static int\ntwice(int x)\n{\n    return 2 * x;\n}\n"
    source = f"{split}\nint f(void);\nstatic int *g(void) {{\n    return 0;\n}}\n"
    assert list(c_functions(source)) == [(2, "twice", 4), (8, "g", 3)]


def test_no_line_is_wider_than_the_page() -> None:
    """Python keeps to what the formatter keeps to; C, data and scripts may be a little wider."""
    for columns, files in (
        (COLUMNS, [path for path in CODE_FILES if path.suffix == ".py"]),
        (COLUMNS + 10, [path for path in CODE_FILES if path.suffix != ".py"]),
    ):
        nothing(matches(re.compile(rf"^.{{{columns + 1},}}$"), files))


def test_nothing_is_left_unfinished() -> None:
    nothing(matches(UNFINISHED, CODE_FILES))


def test_nothing_names_a_place_that_exists_on_one_machine_only() -> None:
    nothing(matches(ONE_MACHINE_ONLY, FILES))


@pytest.mark.parametrize("line", ["see /wo+rk/x", "open('/t+mp/x')", "read ../sha+red/x", "PyPI+.org"])
def test_a_place_of_one_machine_is_recognised(line: str) -> None:
    assert ONE_MACHINE_ONLY.search(line.replace("+", ""))


@pytest.mark.parametrize("line", ["the network/x", "docs/work+/x", "shared/x", "a framework/home"])
def test_an_ordinary_place_is_not_taken_for_one_of_a_machine(line: str) -> None:
    assert not ONE_MACHINE_ONLY.search(line.replace("+", ""))


def test_every_module_says_what_it_owns() -> None:
    nothing(place(path, 1) for path in PYTHON_FILES if not ast.get_docstring(ast.parse(text_of(path))))


def test_no_module_or_class_has_a_name_that_says_nothing() -> None:
    modules = [place(path, 1) for path in PYTHON_FILES if VAGUE_NAME.search(path.stem)]
    classes = [
        f"{place(path, node.lineno)} {node.name}"
        for path in PYTHON_FILES
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.ClassDef) and VAGUE_NAME.search(node.name)
    ]
    nothing(modules + classes)


def test_the_decisions_are_numbered_without_a_gap() -> None:
    pages = sorted(path.name for path in FILES if path.parent == ROOT / "docs" / "decisions")
    numbers = [name.split("-")[0] for name in pages if name != "README.md"]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
