"""What every format renders: a document of items, each with its word, headline, details and remarks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from falsework.check import Result
from falsework.errors import Place

FORMATS = ("text", "json", "junit", "markdown", "sarif")
Status = Literal["pass", "fail", "error"]
"""pass: as asked; fail: violated, or not as declared; error: nobody knows (incomplete, vacuous, error)."""


@dataclass(frozen=True)
class Remark:
    """One thing to be seen at its place in the code: a violation, a finding, a definition error."""

    rule: str
    text: str
    place: Place | None = None
    level: Literal["error", "warning", "note"] = "error"


@dataclass(frozen=True)
class Item:
    """One answer of a document: one check, one twin, one line of a gate."""

    name: str
    status: Status
    word: str  # the verdict word, or the gate's: AS DECLARED, SURVIVED, …
    headline: str  # one line: what was asked and what was answered
    details: str = ""  # the text under the headline, without a final newline
    place: Place | None = None
    remarks: tuple[Remark, ...] = ()
    result: Result | None = None
    data: Mapping[str, Any] = field(default_factory=dict)  # more fields of the item in the json format
    seconds: float = 0.0


@dataclass(frozen=True)
class Document:
    """What one command asked and answered. A table is a titled block of text, such as a matrix."""

    command: str  # check, gate, …
    asked: str
    word: str
    exit_code: int
    items: tuple[Item, ...]
    summary: str = ""  # after the word in the first line, where there is not just one item
    tables: tuple[tuple[str, str], ...] = ()

    @property
    def first_line(self) -> str:
        """What was asked and what was answered."""
        if len(self.items) == 1 and not self.tables and not self.summary:
            return self.items[0].headline
        return "  ".join(filter(None, (self.word, self.asked, self.summary)))


def render(document: Document, form: str = "text") -> str:
    """The document in that format (one of FORMATS), with a final newline."""
    if form == "json":
        from falsework.report_json import to_json

        return to_json(document)
    if form == "junit":
        from falsework.report_junit import to_junit

        return to_junit(document)
    if form == "markdown":
        from falsework.report_markdown import to_markdown

        return to_markdown(document)
    if form == "sarif":
        from falsework.report_sarif import to_sarif

        return to_sarif(document)
    return _to_text(document)


def _to_text(document: Document) -> str:
    blocks = [] if document.first_line == _only_headline(document) else [document.first_line]
    blocks += [item.headline + (f"\n\n{item.details}" if item.details else "") for item in document.items]
    blocks += [f"{title}\n\n{block}" for title, block in document.tables]
    joined = blocks[0]
    for before, block in itertools.pairwise(blocks):
        single = "\n" not in before and "\n" not in block
        joined += ("\n" if single else "\n\n") + block
    return joined.rstrip("\n") + "\n"


def _only_headline(document: Document) -> str:
    return document.items[0].headline if len(document.items) == 1 else ""
