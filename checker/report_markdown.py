"""The markdown format, for the comment on a pull request: the answer first, the details folded."""

from __future__ import annotations

import re

from falsework.report_document import Document, Item

_SIGNS = {"pass": "✅", "fail": "❌", "error": "⚠️"}


def to_markdown(document: Document) -> str:
    """The document; its first line says what was asked and what was answered."""
    lines = [f"**{document.word}** · `falsework {document.command} {document.asked}`".rstrip()]
    if document.summary:
        lines[0] += f" · {document.summary}"
    elif len(document.items) == 1:
        lines[0] += f" · {_cell(document.items[0].headline.removeprefix(document.word))}"
    if len(document.items) > 1:
        lines += ["", "| | verdict | model | |", "| --- | --- | --- | --- |"]
        lines += [_row(item) for item in document.items]
    for item in document.items:
        if item.details:
            lines += ["", *_folded(item.headline, item.details, opened=item.status != "pass")]
    for title, text in document.tables:
        lines += ["", *_folded(title, text, opened=True)]
    return "\n".join(lines) + "\n"


def _row(item: Item) -> str:
    rest = item.headline.removeprefix(item.word).strip().removeprefix(item.name).strip()
    return f"| {_SIGNS[item.status]} | {item.word} | {_cell(item.name)} | {_cell(rest)} |"


def _cell(text: str) -> str:
    """The text so that markdown shows it as it is, inside a table too."""
    return re.sub(r"([\\`*_<>|\[\]#])", r"\\\1", " ".join(text.split()))


def _folded(title: str, text: str, *, opened: bool) -> list[str]:
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    summary = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    start = "<details open>" if opened else "<details>"
    return [start, f"<summary>{summary}</summary>", "", f"{fence}text", text, fence, "", "</details>"]
