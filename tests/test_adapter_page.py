"""The page on the adapter protocol: its tables are the code's, its example is run and recorded anew."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from falsework.conformance import messages, program
from falsework.conformance.messages import ANSWERED, ASKED, MESSAGES, OUTCOMES, PROTOCOL, Field

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "adapter-protocol.md").read_text("utf-8")
IN_PYTHON = (DOCS / "conformance.md").read_text("utf-8")
MODEL = re.search(r"`locker\.py`:\n\n```python\n(.*?)^```$", IN_PYTHON, re.MULTILINE | re.DOTALL)
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with that heading, without the heading."""
    tables = re.findall(rf"^\| {re.escape(heading)} .*\n\| --- .*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [
        [cell.strip() for cell in line.strip("|\n").split(" | ")] for t in tables for line in t.splitlines()
    ]


def told(fields: tuple[Field, ...]) -> str:
    """The fields as the page tells them."""
    texts = (f"`{f.name}` ({f.kind}{', optional' if f.optional else ''}): {f.means}" for f in fields)
    return "; ".join(texts) or "nothing"


def test_the_tables_of_fields_are_the_code_s() -> None:
    assert rows("field") == [[f"`{f.name}`", f.kind, f.means] for f in (*ASKED, *ANSWERED)]


def test_the_table_of_messages_is_the_code_s() -> None:
    expected = [[f"`{m.do}`", m.means, told(m.sends), told(m.answers)] for m in MESSAGES.values()]
    assert rows("`do`") == expected


def test_the_table_of_outcomes_is_the_code_s() -> None:
    assert rows("`is`") == [[f"`{word}`", means] for word, means in OUTCOMES.items()]
    only = [m.do for m in MESSAGES.values() if "refused" in m.outcomes or "unknown" in m.outcomes]
    assert only == ["perform"]
    assert "`refused` and `unknown` answer `perform` only" in PAGE


def test_the_tables_of_a_description_are_the_code_s() -> None:
    keys = [*program.KEYS.items(), *program.TWIN_KEYS.items()]
    assert rows("key") == [[f"`{key}`", means] for key, means in keys]
    assert f"A program has {program.SECONDS:g} seconds for each answer" in PAGE
    assert PROTOCOL == 1
    assert messages.LONGEST == 1_000_000


@pytest.mark.node
@pytest.mark.slow
def test_the_example_is_run_and_its_session_recorded_anew(tmp_path: Path) -> None:
    assert MODEL is not None
    files = {"locker.py": MODEL[1], "locker.mjs": BLOCKS["javascript"], "locker.toml": BLOCKS["toml"]}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    command, _, printed = BLOCKS["console"].removeprefix("$ falsework ").partition("\n")
    environment = {**os.environ, "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "falsework", *command.split()],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    timeless = re.sub(r"\d+\.\d+ s\b", "… s", done.stdout)
    assert timeless.startswith(re.sub(r"\d+\.\d+ s\b", "… s", printed).rstrip("\n"))
    session = (tmp_path / "session.txt").read_text("utf-8")
    assert session.startswith(BLOCKS["text"])
    by_hand = subprocess.run(
        ["node", "locker.mjs"], cwd=tmp_path, input='{"id": 1, "do": "hello", "protocol": 1}\n',
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert by_hand.stdout == BLOCKS["text"].splitlines()[1].removeprefix("< ") + "\n"


def test_every_message_and_outcome_is_in_the_recorded_session_or_the_example() -> None:
    for word in (*MESSAGES, *OUTCOMES):
        assert f'"{word}"' in PAGE or f"`{word}`" in PAGE
    assert {m for m in MESSAGES if f'"do": "{m}"' in BLOCKS["text"]} == {
        "hello",
        "begin",
        "perform",
        "observe",
    }
