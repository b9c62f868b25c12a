"""The items of a document that are checks, and the document that `check` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from falsework.check import Failure, Outcome, Result
from falsework.errors import DefinitionError, Refused
from falsework.language import deadlock, values_stay_in_domain
from falsework.report_document import Document, Item, Remark, Status
from falsework.report_text import (
    details,
    failure_details,
    failure_line,
    failure_word,
    headline,
    number_of,
    reason_of,
    subject,
)
from falsework.verdict import Verdict, combine

_STATUS: dict[Verdict, Status] = {
    Verdict.HOLDS: "pass",
    Verdict.HOLDS_WITHIN: "pass",
    Verdict.VIOLATED: "fail",
    Verdict.VACUOUS: "error",
    Verdict.INCOMPLETE: "error",
    Verdict.ERROR: "error",
}


def item_of(outcome: Outcome, *, width: int = 100, verbose: bool = False) -> Item:
    """One check as an item of a document."""
    if isinstance(outcome, Failure):
        return _failed(outcome)
    verdict = outcome.verdict
    return Item(
        name=subject(outcome),
        status=_STATUS[verdict],
        word=verdict.value,
        headline=headline(outcome),
        details=details(outcome, width=width, verbose=verbose),
        place=outcome.definition.place,
        remarks=tuple(_remarks(outcome)),
        result=outcome,
        seconds=outcome.tally.seconds,
    )


def _failed(failure: Failure) -> Item:
    error = failure.error
    placed = isinstance(error, (DefinitionError, Refused))
    place = error.place if isinstance(error, (DefinitionError, Refused)) else None
    rule = failure_word(failure).replace(" ", "/")
    text = f"{error.found}; write: {error.write}" if placed else str(error)  # type: ignore[attr-defined]
    return Item(
        name=failure.name,
        status="error",
        word=failure.verdict.value,
        headline=failure_line(failure),
        details=failure_details(failure),
        place=place,
        remarks=(Remark(rule, text, place),),
        data={"error": {"word": failure_word(failure), "text": text, "place": str(place) if place else None}},
    )


def _remarks(result: Result) -> Iterator[Remark]:
    definition = result.definition
    for name, found in result.counterexamples.items():
        steps = number_of(found.violation.steps, "step")
        if name in (deadlock, values_stay_in_domain):
            variable = next(
                (v for v in definition.variables if found.violation.outside.startswith(v.name)), None
            )
            place = variable.place if variable is not None else definition.place
            yield Remark(name, f"{subject(result)}: {found.violation.outside or name} in {steps}", place)
            continue
        prop = next(p for p in definition.invariants if p.name == name)
        reason = reason_of(definition, prop, found)
        read = f" ({'; '.join(reason.readings)})" if reason.readings else ""
        yield Remark(
            name, f"{subject(result)}: {name} is violated in {steps}: {reason.text}{read}", reason.place
        )
    for finding in result.findings:
        level: Literal["error", "note"] = "note" if finding.word == "bound-cut" else "error"
        place = finding.place or definition.place
        yield Remark(finding.word, f"{subject(result)}: {finding.text}", place, level)
    if result.tally.stop is not None:
        stop = result.tally.stop
        text = f"{subject(result)}: {stop.ended} stopped the search with {stop.unexpanded} left"
        yield Remark("incomplete", text, definition.place)


def check_document(
    asked: str, outcomes: Sequence[Outcome], *, width: int = 100, verbose: bool = False
) -> Document:
    """What `check` prints: one item a model; the gravest verdict is the document's."""
    verdict = combine(outcome.verdict for outcome in outcomes)
    items = tuple(item_of(outcome, width=width, verbose=verbose) for outcome in outcomes)
    words = [outcome.verdict.value for outcome in outcomes]
    told = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    summary = f"{number_of(len(outcomes), 'model')}: {told}" if len(outcomes) > 1 else ""
    return Document("check", asked, verdict.value, verdict.exit_code, items, summary)
