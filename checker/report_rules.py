"""An account of rules as text and as a document: counts, mistakes, and on request each rule with where."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from falsework.report_document import Document, Item, Remark, Status
from falsework.report_json import place_data
from falsework.report_text import aligned, number_of
from falsework.rules import STATES
from falsework.rules_account import MISSING, Account, Entry, Mistake
from falsework.verdict import Verdict

ALL_STATES = (*STATES, MISSING)
_WORDS = {Verdict.HOLDS: "ACCOUNTED FOR", Verdict.VIOLATED: "NOT ACCOUNTED FOR"}
_WIDEST = 100


def rules_text(account: Account, state: str | None = None) -> str:
    """The first line counts; then the families, or each rule of the state asked for; then the mistakes."""
    listed = [_counted(account)] if state is None else list(_listed(account, state))
    blocks = [first_line(account), *listed]
    if account.mistakes:
        blocks.append("\n".join(map(_line, account.mistakes)))
    return "\n\n".join(blocks)


def first_line(account: Account) -> str:
    """What was asked and what was answered."""
    counts = account.counts
    parts = [f"{counts[state]} {state}" for state in ALL_STATES]
    wrong = [number_of(len(account.mistakes), "mistake")] if account.mistakes else []
    text = " · ".join((number_of(len(account.entries), "rule"), *parts, *wrong))
    return f"{_word(account)}  {account.book.system}   {text}"


def _word(account: Account) -> str:
    return _WORDS.get(account.verdict, account.verdict.value)


def _line(mistake: Mistake) -> str:
    return f"{mistake.place}: {mistake.rule}: {mistake.word}: {mistake.text}"


# --- the counts, by family ------------------------------------------------------------------------


def _counted(account: Account) -> str:
    families: dict[str, list[Entry]] = {}
    for entry in account.entries:
        families.setdefault(_family(entry), []).append(entry)
    rows = [["family", "rules", *ALL_STATES]]
    for family, entries in families.items():
        states = [sum(entry.state == state for entry in entries) for state in ALL_STATES]
        rows.append([family, *map(str, (len(entries), *states))])
    return "\n".join(aligned(rows))


def _family(entry: Entry) -> str:
    return entry.rule.rpartition(" ")[0]


# --- each rule of one state -----------------------------------------------------------------------


def _listed(account: Account, state: str) -> Iterator[str]:
    entries = [entry for entry in account.entries if entry.state == state]
    if not entries:
        yield f"no rule is {state}"
    elif state == "carried":
        yield "\n".join(_carried(entries))
    elif state == MISSING:
        yield "\n".join(aligned([["rule", "at"], *([e.rule, str(e.place)] for e in entries)]))
    else:
        yield "\n".join(_reasons(entries))


def _carried(entries: Iterable[Entry]) -> list[str]:
    rows = [["rule", "carried by", "at", "broken by"]]
    for entry in entries:
        rule = entry.rule
        for element in entry.elements:
            rows.append([rule, str(element), str(element.place), _first(element.broken_by)])
            rule = ""
        for test in entry.tests:
            rows.append([rule, f"test {test.rpartition('::')[2]}", test.partition("::")[0], "itself"])
            rule = ""
        if rule:
            rows.append([rule, "-", str(entry.claims[0].place), "-"])
    return aligned(rows)


def _first(names: tuple[str, ...]) -> str:
    """The first name, and how many more."""
    if not names:
        return "-"
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _reasons(entries: Iterable[Entry]) -> Iterator[str]:
    """The rules under the reason that they share."""
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        reasons.setdefault(entry.why, []).append(entry.rule)
    for why, rules in reasons.items():
        yield from textwrap.wrap(why, _WIDEST)
        # A rule's id holds spaces at which no line is broken.
        listed = ", ".join(rule.replace(" ", "\N{NO-BREAK SPACE}") for rule in rules)
        for line in textwrap.wrap(listed, _WIDEST - 2):
            yield "  " + line.replace("\N{NO-BREAK SPACE}", " ")


# --- the document ---------------------------------------------------------------------------------


def rules_document(accounts: list[Account], asked: str, state: str | None = None) -> Document:
    """One item a rule, of the state asked for or of every one, and one for each unknown rule."""
    worst = max(accounts, key=lambda account: account.verdict.exit_code)
    items = [item for account in accounts for item in _items(account, state)]
    summary = " · ".join(first_line(account).partition("   ")[2] for account in accounts)
    return Document("rules", asked, _word(worst), worst.verdict.exit_code, tuple(items), summary)


def _items(account: Account, state: str | None) -> Iterator[Item]:
    mistakes: dict[str, list[Mistake]] = {}
    for mistake in account.mistakes:
        mistakes.setdefault(mistake.rule, []).append(mistake)
    for entry in account.entries:
        wrong = mistakes.pop(entry.rule, [])
        if state is None or entry.state == state or wrong:
            yield _item(account, entry, wrong)
    for rule, wrong in mistakes.items():
        word = wrong[0].word
        yield Item(
            f"{account.book.system} {rule}", "fail", word.upper(), f"{word.upper()}  {rule}",
            place=wrong[0].place, remarks=_remarks(wrong),
        )  # fmt: skip


def _item(account: Account, entry: Entry, wrong: list[Mistake]) -> Item:
    status: Status = "pass" if not wrong else "fail"
    if wrong and all(mistake.verdict is not Verdict.VIOLATED for mistake in wrong):
        status = "error"
    data = {
        "state": entry.state,
        "why": entry.why,
        "elements": [
            {"kind": e.kind, "name": e.name, "place": place_data(e.place), "broken_by": list(e.broken_by)}
            for e in entry.elements
        ],
        "tests": list(entry.tests),
    }
    return Item(
        f"{account.book.system} {entry.rule}", status, entry.state.upper(),
        f"{entry.state.upper()}  {entry.rule}", "\n".join(map(_line, wrong)),
        entry.claims[0].place if entry.claims else entry.place, _remarks(wrong), data=data,
    )  # fmt: skip


def _remarks(mistakes: list[Mistake]) -> tuple[Remark, ...]:
    return tuple(Remark(m.word.replace(" ", "-"), f"{m.rule}: {m.text}", m.place) for m in mistakes)
