"""An audit as people and machines read it: one table of text, a page of markdown, a document of JSON."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from falsework.runtime.audit.found import Audit, Check, Named, Verdict, Violation

FORMAT = "falsework.audit/1"
NAMED_AT_MOST = 20
"""How many violations of one check the text tells; the other forms tell all."""


def instant(microseconds: int) -> str:
    """The instant as people write it; as a bare number where no calendar reaches."""
    try:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    except OverflowError:
        return str(microseconds)
    return found.isoformat().replace("+00:00", "Z")


def heading(audit: Audit) -> str:
    """The first line: what was found, over how much."""
    subject = audit.subject
    counts = {verdict: sum(check.verdict is verdict for check in audit.checks) for verdict in Verdict}
    parts = [f"{counts[verdict]} {verdict.value}" for verdict in reversed(Verdict) if counts[verdict]]
    return (
        f"{audit.verdict.value}  {subject.deployment}   {subject.records} records, {subject.intents} intents "
        f"and {subject.purged} purged · {' · '.join(parts)}"
    )


def _about(audit: Audit) -> Iterator[str]:
    subject = audit.subject
    yield f"journal    {subject.journal}"
    yield f"as of      {instant(subject.as_of)} ({subject.read_from})"
    witness = subject.witness or "none: nobody can tell whether records were taken off the end"
    yield f"witness    {witness}"
    yield f"unwitnessed records  {subject.unwitnessed}"


def _cells(check: Check) -> tuple[str, ...]:
    numbers = (check.looked_at, check.not_applicable, check.purged, check.exempt)
    return (
        check.number,
        check.verdict.value,
        *(str(number) if number else "." for number in numbers),
        check.says,
    )


HEADS = ("check", "verdict", "looked at", "n/a", "purged", "exempt", "says")


def as_text(audit: Audit) -> str:
    """One table, and below it each violation with its records."""
    rows = [HEADS, *map(_cells, audit.checks)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADS) - 1)]
    lines = [heading(audit), "", *_about(audit), ""]
    for row in rows:
        cells = [
            cell.rjust(width) if 2 <= place <= 5 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join((*cells, row[-1])).rstrip())
    for check in audit.checks:
        lines += _told(check)
    lines += ["", "to be cleared from external evidence, and not by this audit:"]
    lines += [f"  external {number}  NOT AUDITED  {says}" for number, says in audit.external]
    return "\n".join(lines) + "\n"


def _told(check: Check) -> Iterator[str]:
    for why in check.not_checked:
        yield from ("", f"{check.number} NOT CHECKED: {why}")
    for violation in check.violations[:NAMED_AT_MOST]:
        yield from ("", f"{check.number} VIOLATED: {violation.found}")
        yield f"  wanted: {violation.wants}"
        yield from (f"  {_named(record)}" for record in violation.records)
    left = len(check.violations) - NAMED_AT_MOST
    if left > 0:
        yield from ("", f"{check.number} VIOLATED: {left} more, which --format json and markdown tell")


def _named(record: Named) -> str:
    at = instant(record.recorded_at)
    return f"record {record.seq}  {record.action_ref}  by {record.actor_ref}  {at}  {record.event_id}"


def as_markdown(audit: Audit) -> str:
    """A page for a regulator: the same table, every violation, and every record that was looked at."""
    lines = [f"# Audit of {audit.subject.deployment}: {audit.verdict.value}", ""]
    lines += [f"- {' '.join(line.split())}" for line in _about(audit)]
    subject = audit.subject
    lines += [
        f"- {subject.records} records, {subject.intents} intents that can be read, {subject.purged} purged"
    ]
    lines += ["", f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
    lines += [f"| {' | '.join(map(_cell, _cells(check)))} |" for check in audit.checks]
    lines += ["", "To be cleared from external evidence, and not by this audit:", ""]
    lines += [f"- External check {number}: {says}" for number, says in audit.external]
    for check in audit.checks:
        lines += _section(check)
    return "\n".join(lines) + "\n"


def _section(check: Check) -> Iterator[str]:
    if not (check.violations or check.not_checked or check.remarks or check.examined):
        return
    yield from (
        "",
        f"## {check.number}: {check.verdict.value}",
        "",
        f"{check.says[:1].upper()}{check.says[1:]}.",
    )
    for why in check.not_checked:
        yield from ("", f"Not checked: {why}")
    for violation in check.violations:
        yield from ("", f"**Violated**: {_cell(violation.found)}. Wanted: {_cell(violation.wants)}.", "")
        yield from (f"- {_cell(_named(record))}" for record in violation.records)
    if check.remarks:
        yield ""
        yield from (f"- {_cell(remark)}" for remark in check.remarks)
    if check.examined:
        records = ", ".join(f"{record.seq} `{record.event_id}`" for record in check.examined)
        yield from ("", f"Looked at: {records}")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def as_json(audit: Audit) -> str:
    """A versioned document; every instant is in microseconds since 1970."""
    subject = audit.subject
    document = {
        "format": FORMAT,
        "verdict": audit.verdict.value,
        "deployment": subject.deployment,
        "journal": subject.journal,
        "witness": subject.witness,
        "as_of": {"instant": subject.as_of, "from": subject.read_from},
        "records": subject.records,
        "intents": subject.intents,
        "purged": subject.purged,
        "unwitnessed": subject.unwitnessed,
        "checks": [_check_of(check) for check in audit.checks],
        "external": [
            {"check": number, "says": says, "verdict": "NOT AUDITED"} for number, says in audit.external
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _check_of(check: Check) -> dict[str, object]:
    return {
        "check": check.number,
        "says": check.says,
        "verdict": check.verdict.value,
        "looked_at": check.looked_at,
        "not_applicable": check.not_applicable,
        "purged": check.purged,
        "exempt": check.exempt,
        "not_checked": check.not_checked,
        "violations": [_violation_of(violation) for violation in check.violations],
        "remarks": check.remarks,
        "records": [_record_of(record) for record in check.examined],
    }


def _violation_of(violation: Violation) -> dict[str, object]:
    return {
        "found": violation.found,
        "wants": violation.wants,
        "records": [_record_of(record) for record in violation.records],
    }


def _record_of(record: Named) -> dict[str, object]:
    return {
        "sequence_number": record.seq,
        "event_id": record.event_id,
        "action_ref": record.action_ref,
        "actor_ref": record.actor_ref,
        "recorded_at": record.recorded_at,
    }


FORMATS = {"text": as_text, "markdown": as_markdown, "json": as_json}
