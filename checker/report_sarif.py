"""The SARIF 2.1.0 format: each remark at the line of the invariant or the guard that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from falsework import __version__
from falsework.errors import Place
from falsework.report_document import Document, Remark
from falsework.report_json import with_first_line
from falsework.report_reason import source_file

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MEANING = {
    "deadlock": "A state that is not terminal has no enabled action.",
    "values_stay_in_domain": "A variable leaves its domain.",
    "fault": "The model itself went wrong: a predicate or an action raised.",
    "no-initial-state": "No initial action has an instance whose guards are true.",
    "no-invariant": "Nothing is asked of the model's states.",
    "never-fires": "An action is never taken in a complete search.",
    "premise-never-true": "A premise of an invariant is never true, so its conclusion is never asked for.",
    "witness-not-reached": "A situation that must be possible is not.",
    "bound-cut": "A declared bound cut the search, so the verdict holds within it.",
    "incomplete": "A bound of the search stopped it before every state had been looked at.",
    "bad-input": "A name, a file or an option cannot be used as given.",
}


def to_sarif(document: Document) -> str:
    """The document as one run; its first line says what was asked and what was answered."""
    remarks = [remark for item in document.items for remark in item.remarks]
    rules = list(dict.fromkeys(remark.rule for remark in remarks))
    head = {
        "version": "2.1.0",
        "properties": {
            "asked": f"{document.command} {document.asked}".rstrip(),
            "answered": document.first_line,
        },
    }
    run = {
        "tool": {
            "driver": {
                "name": "falsework",
                "version": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "invocations": [{"executionSuccessful": True, "exitCode": document.exit_code}],
        "results": [_result(remark, rules) for remark in remarks],
    }
    return with_first_line(head, {"$schema": SCHEMA, "runs": [run]})


def _rule(rule: str) -> dict[str, Any]:
    word = rule.partition("/")[0]
    meaning = _MEANING.get(word, f"The model does not keep {rule}.")
    if word in ("definition-error", "refused"):
        meaning = f"The model cannot be read as it is written: {rule.partition('/')[2]}."
    return {"id": rule, "shortDescription": {"text": meaning}}


def _result(remark: Remark, rules: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": remark.rule,
        "ruleIndex": rules.index(remark.rule),
        "level": remark.level,
        "message": {"text": remark.text},
    }
    if remark.place is not None:
        found["locations"] = [{"physicalLocation": _location(remark.place)}]
    return found


def _location(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {"artifactLocation": {"uri": _uri(place)}}
    if place.line:
        found["region"] = {"startLine": place.line}
    return found


def _uri(place: Place) -> str:
    """The file below the working folder, where code scanners look for it; else the printed path."""
    file = Path(source_file(place)).resolve()
    here = Path.cwd()
    return file.relative_to(here).as_posix() if file.is_relative_to(here) else place.file
