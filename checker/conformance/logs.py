"""The observed surface: the logs that an implementation wrote, each explained by the model or rejected."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from falsework.conformance.observed import Known, Validation, validate
from falsework.conformance.observed_log import header_of
from falsework.conformance.subject import SubjectFault
from falsework.conformance.survey import Sighting, Survey
from falsework.definition import Definition
from falsework.errors import InputError
from falsework.verdict import Verdict

LOGS = "write logs() as an iterable of (name, lines), the lines being those of a log file"


def observed(subject: Any, definition: Definition, *, name: str = "") -> Survey:
    """Every log judged. What an adapter does wrong, an unusable log too, is the result's `problem`."""
    began = time.perf_counter()
    result = Survey(name or type(subject).__name__, subject.surface, definition, "line")
    known: Known = {}
    try:
        for log, lines in _logs(subject, definition):
            if log in result.sources:
                raise SubjectFault(f"logs() has two logs named {log!r}; give each its own name")
            result.sources[log] = 0
            _count(result, validate(definition, log, lines, repair=False, known=known))
    except InputError as problem:
        result.problem = str(problem)
    _sort(result)
    result.seconds = time.perf_counter() - began
    return result


def _logs(subject: Any, definition: Definition) -> Iterator[tuple[str, list[str]]]:
    """The logs, each with its lines; whatever the adapter raises on the way is its mistake, and says so.

    One that records its logs now is told first of which model: `begin(header)`, where it has that method.
    """
    try:
        if hasattr(subject, "begin"):
            subject.begin(header_of(definition))
        for entry in subject.logs():
            yield _entry(entry)
    except (InputError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as problem:
        text = f"logs() of the adapter raised {type(problem).__name__}: {problem}; {LOGS}"
        raise SubjectFault(text) from problem


def _entry(entry: object) -> tuple[str, list[str]]:
    match entry:
        case (str() as name, lines) if isinstance(lines, Iterable) and not isinstance(lines, str):
            return name, [str(line) for line in lines]
    raise SubjectFault(f"logs() yields {entry!r}; {LOGS}")


def _count(result: Survey, found: Validation) -> None:
    if found.verdict is Verdict.ERROR:
        raise InputError(found.problem)
    assert found.log is not None
    result.sources[found.name] = len(found.log.events)
    rejected = found.rejection
    if found.verdict is Verdict.INCOMPLETE:
        result.undecided.append(f"{found.name}: {found.problem}")
    elif rejected is not None:
        why = rejected.candidates[0].why.text if rejected.candidates else "no step explains it"
        result.rejected.append(Sighting(found.name, rejected.event.line, why))
    for name in found.violated:
        last = found.log.events[-1].line
        result.breaks(name, Sighting(found.name, last, "broken by all that explains the log up to there"))
    for name, times in found.judged.items():
        result.observable[name] = result.observable.get(name, 0) + times


def _sort(result: Survey) -> None:
    """An invariant of a step that no log tells is not observable: what it lacks is the action."""
    for prop in result.definition.invariants:
        if prop.name not in result.observable:
            result.hidden[prop.name] = (prop.on or "any step",)
