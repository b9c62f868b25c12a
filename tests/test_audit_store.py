"""Checks 6 and 7, and what stamps and names show besides: each violated by a journal made for it by hand."""

from collections.abc import Iterator

import pytest

from audit_world import CALLER, FENCED, OPERATOR, SWEEP, ByHand
from falsework.runtime.audit.found import Verdict
from falsework.runtime.invocation.answers import Committed, NotCommitted, StoreUnavailable, Undecidable
from falsework.runtime.trail import Json

HAPPENED = Committed("ledger.disclosed", {"disclosure_id": "dsc-411"})
DATA: dict[str, Json] = {"disclosure_id": "dsc-411"}


SAYS_NOTHING = [
    *(StoreUnavailable("away"), OSError("away"), "what?", None),
    *(Committed(5, {}), Committed("ledger.disclosed", 5), Undecidable(5)),  # type: ignore[arg-type]
]
"""An outage, a failure, and what is no probe's answer."""


@pytest.fixture
def hand() -> Iterator[ByHand]:
    with ByHand() as made:
        yield made


@pytest.fixture
def fenced() -> Iterator[ByHand]:
    with ByHand(FENCED) as made:
        yield made


def recovered(hand: ByHand) -> None:
    """An act that the sweep closed with an outcome."""
    intent = hand.intent()
    hand.passes(90)
    hand.plans(intent)
    hand.says = HAPPENED
    hand.recovers("disclosed", intent, **DATA)


# Check 6.


@pytest.mark.parametrize(
    "says",
    [
        NotCommitted(),
        Undecidable(("a", "b")),
        Committed("ledger.disclosed", {"disclosure_id": "dsc-412"}),
        Committed("ledger.shown", DATA),
    ],
)
def test_a_recovered_outcome_that_the_store_does_not_corroborate(hand: ByHand, says: object) -> None:
    recovered(hand)
    hand.says = says
    assert hand.violated() == ["6.1"]


@pytest.mark.parametrize("says", SAYS_NOTHING)
def test_an_unavailable_store_makes_a_check_not_applicable(hand: ByHand, says: object) -> None:
    recovered(hand)
    hand.says = says
    found = hand.audit()
    assert found.verdict is Verdict.CLEARED
    assert (found.check("6.1").not_applicable, found.check("6.2").not_applicable) == (1, 1)


def test_an_operators_word_for_what_the_store_cannot_tell(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    escalated = hand.recovers("escalated", intent, cause="undecidable", store_candidates=["a", "b"])
    hand.resolves("disclosed", intent, escalated, disclosure_id="a")
    hand.says = Undecidable(("a", "b"))
    found = hand.audit()
    assert hand.violated() == []
    assert found.check("6.1").not_applicable == 1


@pytest.mark.parametrize("by_operator", [True, False])
@pytest.mark.parametrize("says", [HAPPENED, Undecidable(("a", "b"))])
def test_an_abandonment_of_what_the_store_holds(fenced: ByHand, says: object, by_operator: bool) -> None:
    intent = fenced.intent()
    fenced.passes(90)
    (fenced.resolves if by_operator else fenced.recovers)("abandoned", intent, cause="not-committed")
    fenced.says = says
    assert fenced.violated() == ["6.3"]


def test_an_abandonment_that_an_outcome_corrects_is_asked_of_nobody(fenced: ByHand) -> None:
    intent = fenced.intent()
    fenced.passes(90)
    abandoned = fenced.recovers("abandoned", intent, cause="not-committed")
    fenced.says = HAPPENED
    fenced.resolves("disclosed", intent, abandoned, **DATA)
    assert fenced.audit().check("6.3").looked_at == 0
    # That the sweep's was false, whatever the store says now, is in the journal itself.
    assert fenced.violated() == ["Invariant 5.6"]


def test_an_operators_own_mistake_that_an_outcome_corrects_is_the_lawful_way(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    abandoned = hand.resolves("abandoned", intent, cause="quiet")
    hand.says = HAPPENED
    hand.resolves("disclosed", intent, abandoned, **DATA)
    assert hand.violated() == []


@pytest.mark.parametrize("says, violated", [(HAPPENED, ["Invariant 9.3"]), (NotCommitted(), [])])
def test_a_refusal_of_what_the_store_holds(hand: ByHand, says: object, violated: list[str]) -> None:
    intent = hand.intent()
    hand.closes("refused", intent, reason="no", constituent_code="invalid-request")
    hand.says = says
    assert hand.violated() == violated


OF_THE_SEAM = """    pairing_datum:
      field: disclosed_at
      source: seam instant
      obligation: a source that only grows on each node, with the node in its low bits
"""
DATUM = (OF_THE_SEAM, "    pairing_datum: none\n")


def test_without_a_datum_a_later_act_explains_what_the_store_holds() -> None:
    with ByHand(FENCED, DATUM) as hand:
        intent = hand.intent()
        hand.passes(90)
        hand.recovers("abandoned", intent, cause="not-committed")
        hand.says = HAPPENED  # one record is a candidate, and no proof
        assert hand.violated() == ["6.3"]
        again = hand.intent("inv-2")
        hand.closes("disclosed", again, invocation="inv-2", **DATA)
        assert hand.violated() == []


def test_the_sweep_abandons_without_a_fence(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    hand.recovers("abandoned", intent, cause="not-committed")
    assert hand.violated() == ["6.4"]


@pytest.mark.parametrize(
    "says, violated",
    [
        (Undecidable(("a", "b", "c")), []),
        (Committed("ledger.disclosed", {"disclosure_id": "b"}), ["6.5"]),
        (Undecidable(("a",)), ["6.5"]),
        (NotCommitted(), ["6.5"]),
        (StoreUnavailable("away"), []),
    ],
)
def test_candidates_that_the_store_does_not_have(hand: ByHand, says: object, violated: list[str]) -> None:
    intent = hand.intent()
    hand.passes(90)
    hand.recovers("escalated", intent, cause="undecidable", store_candidates=["a", "b"])
    hand.says = says
    assert hand.violated() == violated


# Check 7, and what the stamps show besides.


def test_an_intent_that_was_destroyed_without_a_purge_cannot_be_left_out(hand: ByHand) -> None:
    hand.intent()
    hand.run("UPDATE journal SET salt = NULL, payload = NULL WHERE event_id = 'event-1'")
    assert hand.violated() == ["7.1", "8.1d"]


def test_an_outcome_whose_intent_was_destroyed_without_a_purge_is_not_cleared(hand: ByHand) -> None:
    intent = hand.intent()
    hand.closes("disclosed", intent)
    hand.run("UPDATE journal SET salt = NULL, payload = NULL WHERE event_id = 'event-1'")
    assert hand.violated() == ["7.1", "8.1d"]
    assert hand.audit().check("1.1").verdict is Verdict.NOT_CHECKED


def test_two_runs_that_close_one_act(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    first = hand.recovers("escalated", intent, cause="not-observed")
    hand.recovers("escalated", intent, cause="not-observed", supersedes=first)
    assert hand.violated() == ["Invariant 2.3"]


def test_the_sweep_abandons_before_the_edge(fenced: ByHand) -> None:
    intent = fenced.intent()
    fenced.passes(31.999_999)  # the bound of 30 s, and one allowance of 2 s for a clock that is ahead
    fenced.recovers("abandoned", intent, cause="not-committed")
    fenced.passes(9)
    assert fenced.violated() == ["Invariant 5.7"]


def test_an_operator_abandons_what_is_young(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(29.999_999)
    hand.resolves("abandoned", intent, cause="quiet")
    hand.passes(9)
    assert hand.violated() == ["Invariant 5.8"]


@pytest.mark.parametrize(
    "word, actor, said",
    [
        ("refused", "erin", {}),
        ("refused", OPERATOR, {"resolved_by": OPERATOR}),
        ("abandoned", CALLER, {}),
        ("escalated", OPERATOR, {}),
        ("abandoned", "erin", {"recovery": True, "resolved_by": OPERATOR}),
    ],
)
def test_a_closing_that_is_nobodys_to_write(
    fenced: ByHand, word: str, actor: str, said: dict[str, Json]
) -> None:
    intent = fenced.intent()
    fenced.passes(90)
    fenced.closes(word, intent, actor, **said)
    assert fenced.violated() == ["Invariant 2.2"]


def test_a_refusal_without_an_intent(hand: ByHand) -> None:
    hand.closes("refused", "event-9")
    other = hand.intent("inv-2", key="other")
    hand.closes("refused", other, invocation="inv-2", key="other")
    hand.closes("refused", other, invocation="inv-3")
    assert hand.violated() == ["Invariant 2.2"]
    assert len(hand.audit().check("Invariant 2.2").violations) == 2


def test_a_services_closing_of_nothing_is_told_once(hand: ByHand) -> None:
    hand.recovers("escalated", "event-9")
    assert hand.violated() == ["5.2"]
    assert SWEEP in hand.audit().check("5.2").violations[0].records[0].actor_ref
