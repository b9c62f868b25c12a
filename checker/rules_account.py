"""Every rule of a book with what was claimed of it and what was found, and what is wrong with that."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from falsework.errors import InputError, Place
from falsework.rules import STATES, Claim, RuleBook
from falsework.rules_elements import Element, elements_of
from falsework.verdict import Verdict, combine

MISSING = "missing"
"""The state of a rule of which nothing is claimed."""


@dataclass(frozen=True)
class Mistake:
    """One way in which a rule is not accounted for. INCOMPLETE is what cannot be looked at here."""

    rule: str
    word: str  # unknown, missing, twice, not carried, not broken, listed otherwise, no such test, not here
    text: str
    place: Place
    verdict: Verdict = Verdict.VIOLATED


@dataclass(frozen=True)
class Entry:
    """One rule: what is claimed of it, and the elements that carry it."""

    rule: str
    place: Place
    claims: tuple[Claim, ...]
    elements: tuple[Element, ...]

    @property
    def state(self) -> str:
        """The state claimed first, or missing."""
        return self.claims[0].state if self.claims else MISSING

    @property
    def why(self) -> str:
        """The reason that was given."""
        return self.claims[0].why if self.claims else ""

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that are named for it."""
        return tuple(dict.fromkeys(test for claim in self.claims for test in claim.tests))


@dataclass(frozen=True)
class Account:
    """Every rule in order, and every mistake."""

    book: RuleBook
    entries: tuple[Entry, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def verdict(self) -> Verdict:
        """A pass where every rule is accounted for."""
        return combine(m.verdict for m in self.mistakes) if self.mistakes else Verdict.HOLDS

    @property
    def counts(self) -> Counter[str]:
        """How many rules are in each state."""
        return Counter(entry.state for entry in self.entries)


def account(book: RuleBook) -> Account:
    """The account of the book: models loaded, tests looked up; raises InputError for a model not known."""
    try:
        elements = elements_of(book.models, book.path.parent)
    except InputError as problem:
        raise InputError(f"{book.file}: models: {problem}") from None
    known = set(book.rules)
    entries = tuple(
        Entry(
            rule,
            book.places[rule],
            tuple(claim for claim in book.claims if claim.rule == rule),
            tuple(element for element in elements if rule in element.sources),
        )
        for rule in book.rules
    )
    mistakes = [*_unknown(book, elements, known), *(m for entry in entries for m in _mistakes(book, entry))]
    return Account(book, entries, tuple(mistakes))


def _unknown(book: RuleBook, elements: list[Element], known: set[str]) -> Iterator[Mistake]:
    for claim in book.claims:
        if claim.rule not in known:
            yield Mistake(claim.rule, "unknown", "listed, and no rule of the table [rules]", claim.place)
    for element in elements:
        for rule in element.sources:
            if rule not in known:
                yield Mistake(rule, "unknown", f"the source of {element}, and no rule", element.place)


def _mistakes(book: RuleBook, entry: Entry) -> Iterator[Mistake]:
    rule = entry.rule
    if not entry.claims:
        lists = ", ".join(f"[[{state}]]" for state in STATES)
        yield Mistake(rule, "missing", f"in none of {lists}", entry.place)
        return
    for claim in entry.claims[1:]:
        text = f"listed as {entry.state} at {entry.claims[0].place} already"
        yield Mistake(rule, "twice", text, claim.place)
    claim = entry.claims[0]
    if claim.state != "carried":
        for element in [element for element in entry.elements if element.broken_by][:1]:
            text = f"listed as {claim.state}, and carried by {element} at {element.place}"
            yield Mistake(rule, "listed otherwise", text, claim.place)
        return
    absent = [mistake for test in entry.tests if (mistake := _absent(book, claim, test))]
    yield from (mistake for mistake in absent if mistake.verdict is Verdict.VIOLATED)
    if any(element.broken_by for element in entry.elements) or len(entry.tests) > len(absent):
        return
    if absent:
        yield from (mistake for mistake in absent if mistake.verdict is not Verdict.VIOLATED)
    elif entry.elements:
        named = ", ".join(map(str, entry.elements))
        yield Mistake(
            rule, "not broken", f"carried by {named}, which no twin and no test breaks", claim.place
        )
    else:
        yield Mistake(
            rule, "not carried", "no element has it as its source, and no test is named", claim.place
        )


def _absent(book: RuleBook, claim: Claim, test: str) -> Mistake | None:
    """What is wrong with a test that is named; None where its function stands in its file."""
    where, _, name = test.partition("::")
    above = book.path.resolve().parents
    file = next((folder / where for folder in above if (folder / where).is_file()), None)
    if file is not None:
        text = f"no test {name} in {where}"
        return None if name in _functions(file) else Mistake(claim.rule, "no such test", text, claim.place)
    if any((folder / "pyproject.toml").is_file() for folder in above):
        return Mistake(claim.rule, "no such test", f"no file {where}", claim.place)
    text = f"only {test} breaks what carries it, and tests are not installed here"
    return Mistake(claim.rule, "not here", text, claim.place, Verdict.INCOMPLETE)


def _functions(file: Path) -> set[str]:
    try:
        tree = ast.parse(file.read_text("utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
