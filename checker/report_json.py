"""The json format, falsework.report/1: docs/report.schema.json is its contract."""

from __future__ import annotations

import json
from typing import Any

from falsework import __version__
from falsework.check import Counterexample, Result, premise_place
from falsework.domains import spell
from falsework.errors import Place
from falsework.language import deadlock, values_stay_in_domain
from falsework.report_document import Document, Item
from falsework.report_reason import Reason
from falsework.report_text import again, reason_of
from falsework.state import digest
from falsework.trace import Taken
from falsework.tracefile import encoded

FORMAT = "falsework.report/1"


def to_json(document: Document) -> str:
    """The document; its first line says what was asked and what was answered."""
    head = {
        "format": FORMAT,
        "asked": f"{document.command} {document.asked}",
        "answered": document.first_line,
    }
    rest = {
        "verdict": document.word,
        "exit_code": document.exit_code,
        "falsework": __version__,
        "items": [_item(item) for item in document.items],
        "tables": [{"title": title, "text": text} for title, text in document.tables],
    }
    return with_first_line(head, rest)


def with_first_line(head: dict[str, Any], rest: dict[str, Any]) -> str:
    """One json object whose first fields stand on the first line."""
    first = json.dumps(head, ensure_ascii=False)
    return (
        first.removesuffix("}")
        + ","
        + json.dumps(rest, indent=1, ensure_ascii=False).removeprefix("{")
        + "\n"
    )


def _item(item: Item) -> dict[str, Any]:
    return {
        "name": item.name,
        "status": item.status,
        "verdict": item.word,
        "headline": item.headline,
        "place": place_data(item.place),
        "remarks": [
            {"rule": r.rule, "level": r.level, "text": r.text, "place": place_data(r.place)}
            for r in item.remarks
        ],
        "result": None if item.result is None else result_data(item.result),
        **dict(item.data),
    }


def place_data(place: Place | None) -> dict[str, Any] | None:
    """A place as file and line."""
    return None if place is None else {"file": place.file, "line": place.line}


def result_data(result: Result) -> dict[str, Any]:
    """All that one check asked and answered, as plain data."""
    tally, definition = result.tally, result.definition
    return {
        "model": definition.path,
        "name": definition.name,
        "configuration": result.configuration or None,
        "digest": definition.digest,
        "constants": {name: encoded(value) for name, value in definition.constants.items()},
        "engine": result.engine,
        "why_engine": result.why,
        "seconds": round(tally.seconds, 3),
        "bounds": {
            "max_states": tally.bounds.max_states,
            "max_depth": tally.bounds.max_depth,
            "memory_mb": tally.bounds.memory_mb,
            "every": tally.bounds.every,
        },
        "verdict": result.verdict.value,
        "asked": list(result.asked),
        "answers": result.answers(),
        "states": tally.states,
        "transitions": tally.transitions,
        "depth": tally.depth,
        "levels": list(tally.levels),
        "complete": tally.complete,
        **_kept_from_a_pass(result),
        **_covered(result),
        "counterexamples": [_counterexample(result, found) for found in result.counterexamples.values()],
    }


def _kept_from_a_pass(result: Result) -> dict[str, Any]:
    stop, fault = result.tally.stop, result.tally.fault
    return {
        "stop": None
        if stop is None
        else {"bound": stop.bound, "limit": stop.limit, "unexpanded": stop.unexpanded},
        "fault": None
        if fault is None
        else {
            "message": fault.message,
            "place": place_data(fault.place),
            "at": fault.at or None,
            "steps": [str(label) for label in fault.trace.steps],
        },
        "findings": [
            {"word": f.word, "text": f.text, "place": place_data(f.place), "subject": f.subject or None}
            for f in result.findings
        ],
    }


def _covered(result: Result) -> dict[str, Any]:
    tally = result.tally
    return {
        "coverage": {
            name: {"enabled": c.enabled, "fired": c.fired, "self_loops": c.self_loops, "cut": c.cut}
            for name, c in tally.coverage.items()
        },
        "premises": [
            {
                "invariant": key[0],
                "place": place_data(premise_place(key)),
                "column": key[1][2],
                "true": times,
            }
            for key, times in tally.premises.items()
        ],
        "cuts": [{"place": place_data(place), "transitions": times} for place, times in tally.cuts.items()],
        "witnesses": dict(tally.witnesses),
    }


def _counterexample(result: Result, found: Counterexample) -> dict[str, Any]:
    definition, name = result.definition, found.violation.name
    reason: Reason | None = None
    if name not in (deadlock, values_stay_in_domain):
        prop = next(p for p in definition.invariants if p.name == name)
        reason = reason_of(definition, prop, found)
    return {
        "property": name,
        "steps": found.violation.steps,
        "outside": found.violation.outside or None,
        "trace": [_step(result, taken) for taken in found.taken],
        "reason": None
        if reason is None
        else {
            "text": reason.text,
            "place": place_data(reason.place),
            "readings": list(reason.readings),
            "through": list(reason.through),
        },
        "replay": again(result, found.violation.trace),
    }


def _step(result: Result, taken: Taken) -> dict[str, Any]:
    actions = {a.name: a for a in (*result.definition.initials, *result.definition.actions)}
    action = actions.get(taken.label.action)
    names = [name for name, _ in action.parameters] if action is not None else []
    return {
        "action": taken.label.action if action is not None else None,
        "arguments": dict(zip(names, map(encoded, taken.label.arguments), strict=True)),
        "answer": None if taken.answer is None else spell(taken.answer),
        "state": digest(taken.state),
    }
