"""The shared output of the commands: the options that choose a format, and the one place that writes it."""

from __future__ import annotations

import argparse
import shutil
import sys

from falsework.report_document import FORMATS, Document, render

PIPED_WIDTH = 100


def add_output(parser: argparse.ArgumentParser) -> None:
    """--format and --quiet."""
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how the answer is written; text is the default"
    )
    add_quiet(parser)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """--quiet."""
    parser.add_argument("--quiet", action="store_true", help="no progress on the terminal")


def width() -> int:
    """The columns that a text may take: the terminal's, or 100 where it is piped."""
    if not sys.stdout.isatty():
        return PIPED_WIDTH
    return max(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, 40)


def emit(document: Document, form: str = "text") -> int:
    """Writes the document to stdout; the answer is its exit code."""
    say(render(document, form))
    return document.exit_code


def say(text: str) -> None:
    """Writes the text to stdout with a newline at its end, whatever signs the terminal's encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    safe = text.removesuffix("\n").encode(encoding, errors="replace").decode(encoding)
    sys.stdout.write(safe + "\n")


def warn(text: str) -> None:
    """Writes one line to stderr."""
    sys.stderr.write(text.rstrip("\n") + "\n")
