"""The command line as a test calls it: in the process, from the root of the repository, times blotted out."""

import io
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from falsework.cli import main

ROOT = Path(__file__).resolve().parent.parent
MODELS = "tests/models_for_reports.py"


@dataclass(frozen=True)
class Said:
    """What one call answered."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Exit code, stdout and stderr as a golden text holds them."""
        parts = [f"exit {self.code}\n"]
        parts += [f"--- stdout\n{self.out}"] if self.out else []
        parts += [f"--- stderr\n{self.err}"] if self.err else []
        return "".join(parts)


def falsework(*arguments: str) -> Said:
    """The command line with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    before = list(sys.path)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.path[:] = before
    return Said(code, timeless(out.getvalue()), timeless(err.getvalue()))


def timeless(text: str) -> str:
    """The text without the seconds that differ from run to run."""
    text = re.sub(r"\b\d+\.\d\d s\b", "0.00 s", text)
    text = re.sub(r'"seconds": [\d.]+', '"seconds": 0.0', text)
    return re.sub(r'\btime="[\d.]+"', 'time="0.000"', text)
