"""The rules of Recoverable Invocation: their list is the text's, and every one of them is accounted for."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from command_line import ROOT
from falsework.rules import RuleBook, books, read
from falsework.rules_account import Account, account

PATH = ROOT / "models" / "recoverable_invocation" / "rules.toml"
COUNT = 550
DIGEST = "4283aa793f04362b"
"""Of the text's own ids, each on a line, in the order of the alphabet."""


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return read("recoverable_invocation", PATH)


@pytest.fixture(scope="module")
def found(book: RuleBook) -> Account:
    return account(book)


def test_the_ids_are_those_of_the_text(book: RuleBook) -> None:
    assert len(book.rules) == COUNT
    listed = "".join(f"{rule}\n" for rule in sorted(book.rules))
    assert hashlib.sha256(listed.encode()).hexdigest()[:16] == DIGEST


def test_every_rule_is_accounted_for(found: Account) -> None:
    assert [f"{m.rule}: {m.word}: {m.text}" for m in found.mistakes] == []
    assert sum(found.counts.values()) == COUNT
    assert set(found.counts) == {"carried", "runtime", "external"}


def test_no_reason_is_given_twice(book: RuleBook) -> None:
    reasons = {(claim.state, claim.why) for claim in book.claims if claim.state != "carried"}
    assert max(Counter(why for _, why in reasons).values()) == 1


def test_the_book_is_found_by_the_name_of_the_system() -> None:
    assert [each.path.name for each in books("recoverable_invocation")] == ["rules.toml"]


def test_every_kind_of_element_carries_something(found: Account) -> None:
    kinds = {e.kind for entry in found.entries for e in entry.elements if entry.state == "carried"}
    assert kinds == {"action", "invariant", "witness", "obligation", "configuration", "twin"}


def test_the_window_slice_carries_its_rules(found: Account) -> None:
    # By hand from the text: the rules about the edge, the take, the run bound and the window itself.
    entries = {entry.rule: entry for entry in found.entries}
    for rule in ("Invariant 4.2", "Invariant 7.1", "run bound 1", "reconcile step 2.3", "Instance start 7"):
        names = [e.name for e in entries[rule].elements if e.broken_by]
        assert any(name.startswith("ClosureWindow.") for name in names), rule
