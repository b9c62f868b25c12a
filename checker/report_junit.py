"""The JUnit format: a violation is a <failure>, what nobody knows an <error>, nothing is ever <skipped>."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from falsework.report_document import Document, Item

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(document: Document) -> str:
    """The document; the name of the whole, in the first line, says what was asked and what was answered."""
    counts = " ".join(
        f"{word}={_attribute(str(number))}"
        for word, number in (
            ("tests", len(document.items)),
            ("failures", sum(item.status == "fail" for item in document.items)),
            ("errors", sum(item.status == "error" for item in document.items)),
        )
    )
    suite = f"falsework {document.command} {document.asked}".rstrip()
    seconds = sum(item.seconds for item in document.items)
    lines = [
        f"<testsuites name={_attribute(f'{suite}: {document.first_line}')} {counts}>",
        f'  <testsuite name={_attribute(suite)} {counts} skipped="0" time="{seconds:.3f}">',
    ]
    for item in document.items:
        lines += _case(item, suite)
    for title, text in document.tables:
        lines.append(f"    <system-out>{_text(f'{title}{chr(10) * 2}{text}')}</system-out>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _case(item: Item, suite: str) -> list[str]:
    where = (
        f" file={_attribute(item.place.file)} line={_attribute(str(item.place.line))}" if item.place else ""
    )
    names = f"classname={_attribute(suite)} name={_attribute(item.name)}"
    head = f'    <testcase {names}{where} time="{item.seconds:.3f}"'
    if item.status == "pass":
        return [f"{head}>", f"      <system-out>{_text(item.headline)}</system-out>", "    </testcase>"]
    tag = "failure" if item.status == "fail" else "error"
    body = "\n\n".join(filter(None, (item.headline, item.details)))
    opened = f"<{tag} type={_attribute(item.word)} message={_attribute(item.headline)}>"
    return [
        f"{head}>",
        f"      {opened}{_text(body)}</{tag}>",
        "    </testcase>",
    ]


def _text(text: str) -> str:
    return escape(_NOT_IN_XML.sub("?", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_IN_XML.sub("?", text))
