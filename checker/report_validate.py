"""Logs under a model as a document: explained or not, the line that is not, what mends it, coverage."""

from __future__ import annotations

from collections.abc import Sequence

from falsework.conformance.observed import Validation
from falsework.conformance.observed_corpus import Coverage
from falsework.conformance.observed_rejection import Candidate, Rejection
from falsework.definition import Definition
from falsework.errors import Place
from falsework.report_document import Document, Item, Remark, Status
from falsework.report_reason import statement_text
from falsework.report_text import aligned, constants_text, number_of
from falsework.state import State, columns
from falsework.verdict import Verdict, combine

MISSING_SHOWN = 40


def validate_document(
    definition: Definition,
    who: str,
    validations: Sequence[Validation],
    covered: Coverage | None,
    *,
    required: bool,
    width: int,
) -> Document:
    """One item a log, and what the corpus covers where that was asked."""
    asked = "  ".join(filter(None, (who, constants_text(definition))))
    alone = f"{asked}   " if len(validations) == 1 and covered is None else ""
    items = [_item(validation, alone, width) for validation in validations]
    verdicts = [validation.verdict for validation in validations]
    if covered is not None:
        verdict = Verdict.VACUOUS if required and covered.missing else Verdict.HOLDS
        verdicts += [verdict] if required else []
        items.append(_coverage_item(covered, verdict, required=required))
    verdict = combine(verdicts)
    explained = sum(v.verdict is Verdict.HOLDS for v in validations)
    summary = f" {explained} of {number_of(len(validations), 'log')} explained" if len(items) > 1 else ""
    return Document("validate", asked, verdict.value, verdict.exit_code, tuple(items), summary)


def _item(found: Validation, who: str, width: int) -> Item:
    status: Status = "error"
    if found.verdict in (Verdict.HOLDS, Verdict.VIOLATED):
        status = "pass" if found.verdict is Verdict.HOLDS else "fail"
    place, text = None, found.problem
    rejected = found.rejection
    if found.verdict is Verdict.VIOLATED and rejected is not None:
        place = Place(found.name, rejected.event.line)
        text = f"no step of {found.definition.name} explains line {rejected.event.line}"
    elif found.violated:
        text = f"{', '.join(found.violated)} is broken, whatever explains the log"
    headline = f"{found.verdict.value}  {who}{found.name}   {text.partition(chr(10))[0] or _explained(found)}"
    remarks = () if found.verdict is Verdict.HOLDS else (Remark(_rule(found), text, place),)
    details = rejection_text(found.definition, rejected, width) if rejected is not None else ""
    return Item(
        found.name, status, found.verdict.value, headline, details, place, remarks,
        data={"validation": _data(found)}, seconds=found.seconds,
    )  # fmt: skip


def _rule(found: Validation) -> str:
    if found.violated:
        return found.violated[0]
    return {Verdict.VIOLATED: "not-explained", Verdict.INCOMPLETE: "incomplete"}.get(found.verdict, "bad-log")


def _explained(found: Validation) -> str:
    assert found.log is not None
    log = found.log
    events = number_of(len(log.events) + len(log.pending), "event")
    nodes = number_of(len(log.nodes), "node")
    judged = f"{len(found.judged)} of {number_of(len(found.definition.invariants), 'invariant')} judged"
    most = number_of(found.most, "candidate")
    return f"{events} of {nodes} explained, at most {most} at a line · {judged} · {found.seconds:.2f} s"


def _data(found: Validation) -> dict[str, object]:
    rejected = found.rejection
    return {
        "model": found.definition.path,
        "digest": found.definition.digest,
        "events": None if found.log is None else len(found.log.events),
        "problem": found.problem,
        "line": None if rejected is None else rejected.event.line,
        "reasons": [] if rejected is None else [why_text(each) for each in rejected.candidates],
        "repairs": [] if rejected is None else list(rejected.repairs.found),
        "violated": list(found.violated),
        "possible": list(found.possible),
        "judged": sorted(found.judged),
        "most_candidates": found.most,
    }


# --- a rejection --------------------------------------------------------------------------------------------


def rejection_text(definition: Definition, found: Rejection, width: int) -> str:
    """The line, the candidates before it, what stops each, and the nearest change that would mend the log."""
    told = found.event.text or "(no text)"
    lines = [f"line {found.event.line}   {told}"]
    behind = f", {found.closed:,} with the steps that go unlogged" if found.closed > found.before else ""
    lines += ["", f"{number_of(found.before, 'candidate')} before it{behind}:", ""]
    lines += _table(definition, found.candidates, width)
    lines += ["", "what stops them:", ""]
    for number, candidate in enumerate(found.candidates, 1):
        lines.append(f"  {number}  {why_text(candidate)}{_alike(candidate)}")
        reason = candidate.why.reason
        if reason is not None:
            read = f"   ({', '.join(reason.readings)})" if reason.readings else ""
            lines.append(f"     {reason.place}   {reason.text}{read}")
            source = statement_text(reason.place)
            if source and reason.text not in source:
                lines.append(f"     {source}")
    return "\n".join([*lines, *_repair_lines(found)])


def why_text(candidate: Candidate) -> str:
    """What stops it, in a line."""
    return candidate.why.text


def _alike(candidate: Candidate) -> str:
    return f"   (and {candidate.alike - 1:,} more alike)" if candidate.alike > 1 else ""


def _repair_lines(found: Rejection) -> list[str]:
    repairs = found.repairs
    if repairs.found:
        return ["", "any of these changes would explain the whole log:", *(f"  {t}" for t in repairs.found)]
    lines = [repairs.looked] if repairs.looked else []
    lines += [f"the change that leads furthest: {repairs.furthest}"] if repairs.furthest else []
    return ["", *lines] if lines else []


def _table(definition: Definition, candidates: Sequence[Candidate], width: int) -> list[str]:
    """A row a candidate; of a model with many variables those that differ, or are not as at the start."""
    names = [variable.name for variable in definition.variables]
    places = list(range(len(names)))
    rows = _rows(definition, candidates, places)
    if max(map(len, rows)) <= width:
        return rows
    states = [candidate.state for candidate in candidates]
    changed = [place for place in places if len({repr(state[place]) for state in states}) > 1]
    rows = _rows(definition, candidates, changed)
    if changed and max(map(len, rows)) <= width:
        return [
            *rows,
            *_rest(definition, states[0], [place for place in places if place not in changed], width),
        ]
    found = []
    for number, candidate in enumerate(candidates, 1):
        found.append(f"{number}  {_way(candidate)}")
        found += _rest(definition, candidate.state, places, width)
    return found


def _rows(definition: Definition, candidates: Sequence[Candidate], places: Sequence[int]) -> list[str]:
    variables = definition.variables
    rows = [["", "unlogged", *(variables[place].name for place in places)]]
    rows += [
        [str(number), _way(each), *(columns(variables[p].domain, each.state[p]) for p in places)]
        for number, each in enumerate(candidates, 1)
    ]
    return ["  " + line for line in aligned(rows)]


def _rest(definition: Definition, state: State, places: Sequence[int], width: int) -> list[str]:
    cells = [
        f"{definition.variables[place].name}: {columns(definition.variables[place].domain, state[place])}"
        for place in places
    ]
    lines = ["     "]
    for cell in cells:
        joined = f"{lines[-1]}{cell}   "
        if len(joined) > width and lines[-1].strip():
            lines.append(f"     {cell}   ")
        else:
            lines[-1] = joined
    return [line.rstrip() for line in lines]


def _way(candidate: Candidate) -> str:
    """The unlogged steps that lead to it, a run of equal ones once."""
    found: list[tuple[str, int]] = []
    for label in candidate.unlogged:
        if found and found[-1][0] == str(label):
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((str(label), 1))
    return " ".join(text if times == 1 else f"{times}×{text}" for text, times in found) or "-"


# --- a corpus -----------------------------------------------------------------------------------------------


def _coverage_item(found: Coverage, verdict: Verdict, *, required: bool) -> Item:
    asked, missing = len(found.asked), found.missing
    what = "answers" if found.possible is not None else "actions"
    told = f"{asked - len(missing)} of {asked} {what} told by {number_of(found.logs, 'log')}"
    word = verdict.value if required else "COVERED" if not missing else "UNCOVERED"
    text = f"{len(missing)} of {asked} {what} of {found.definition.name} are in no log"
    remarks = (Remark("not-exercised", text, None, "error" if required else "note"),) if missing else ()
    rows = [["action", "answer", "told"]]
    rows += [[a, w or "any", f"{_times(found, a, w):,}"] for a, w in found.asked]
    rows += [[a, w, f"{n:,}"] for (a, w), n in sorted(found.told.items()) if (a, w) not in found.asked]
    lines = aligned(rows)
    unlogged = [f"{name}" for name in sorted(found.hidden)]
    lines += ["", f"may go unlogged in every log: {', '.join(unlogged)}"] if unlogged else []
    lines += [f"{found.definition.name} has {found.why}"] if found.why else []
    if missing:
        named = [f"{action} → {word}" if word else action for action, word in missing]
        more = f" and {len(named) - MISSING_SHOWN} more" if len(named) > MISSING_SHOWN else ""
        lines += ["", f"in no log: {', '.join(named[:MISSING_SHOWN])}{more}"]
    return Item(
        "corpus", "error" if required and missing else "pass", word, f"{word}  corpus   {told}, "
        f"{number_of(found.events, 'event')}", "\n".join(lines), None, remarks,
        data={"coverage": {"told": [[a, w, n] for (a, w), n in sorted(found.told.items())],
                           "missing": [list(pair) for pair in missing]}},
    )  # fmt: skip


def _times(found: Coverage, action: str, word: str) -> int:
    if word:
        return found.told[action, word]
    return sum(n for (name, told), n in found.told.items() if name == action and told != "refused")
