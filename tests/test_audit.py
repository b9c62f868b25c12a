"""Checks 1 to 5: each violated by a journal made by hand to violate just it, and kept by its neighbour.

What each check wants is the text's own sentence; which check a journal breaks follows from it by hand.
"""

from collections.abc import Iterator

import pytest

from audit_world import (
    CALLER,
    FENCED,
    JOURNAL_FENCE,
    OPERATOR,
    SWEEP,
    UNATTENDED,
    WEEK,
    ByHand,
)
from falsework.runtime.audit.found import Verdict
from falsework.runtime.audit.timed import seconds
from falsework.runtime.invocation.answers import Committed
from falsework.runtime.trail import Json
from invocation_world import SECOND

HAPPENED = Committed("ledger.disclosed", {"disclosure_id": "dsc-411"})
DATA: dict[str, Json] = {"disclosure_id": "dsc-411"}


@pytest.fixture
def hand() -> Iterator[ByHand]:
    with ByHand() as made:
        yield made


@pytest.fixture
def fenced() -> Iterator[ByHand]:
    with ByHand(FENCED) as made:
        yield made


def recovered(hand: ByHand, invocation: str = "inv-1", key: str = "act") -> tuple[str, str]:
    """An act that the sweep closed with an outcome."""
    intent = hand.intent(invocation, key=key)
    hand.passes(90)
    hand.plans(intent, invocation, key)
    hand.says = HAPPENED
    return intent, hand.recovers("disclosed", intent, invocation, key, **DATA)


# A clean journal.


def test_a_clean_journal_is_cleared_by_every_check_that_has_something_to_look_at(hand: ByHand) -> None:
    first = hand.intent("inv-0", key="first")
    hand.closes("disclosed", first, invocation="inv-0", key="first", **DATA)
    recovered(hand)
    hand.witnessed()
    found = hand.audit(witness=True)
    assert found.verdict is Verdict.CLEARED
    looked = {check.number: check.looked_at for check in found.checks}
    # Two outcomes of two intents; two records of the service identity; one recovered outcome; 6 + 5 records.
    assert found.check("2.4").remarks == []
    assert [looked[number] for number in ("1.1", "2.1", "2.2", "2.3", "2.6", "3.1")] == [2] * 6
    assert [looked[number] for number in ("5.1", "5.2", "6.1", "6.4", "4.1", "7.2")] == [2, 2, 1, 0, 5, 2]
    assert [looked[f"8.1{letter}"] for letter in "abcdefgh"] == [11, 11, 11, 0, 11, 11, 6, 2]
    assert hand.asked == [
        ("act", {"invocation_id": "inv-1", "kind": "ledger", "act_key": "act", "disclosed_at": 7})
    ]


def test_a_check_that_looked_at_nothing_cleared_nothing(hand: ByHand) -> None:
    found = hand.audit()
    assert found.verdict is Verdict.VACUOUS
    assert found.check("2.1").verdict is Verdict.VACUOUS


# Check 1.


def test_an_outcome_without_an_intent(hand: ByHand) -> None:
    hand.closes("disclosed", "event-77")
    assert hand.violated() == ["1.1"]


def test_an_outcome_that_names_no_invocation(hand: ByHand) -> None:
    hand.record("disclosed", CALLER, {"kind": "ledger"})
    assert hand.violated() == ["1.1"]


def test_an_outcome_under_an_event_that_is_another_invocations(hand: ByHand) -> None:
    other = hand.intent("inv-2", key="other")
    hand.closes("disclosed", other, invocation="inv-2", key="other")
    hand.intent()
    hand.closes("disclosed", other)
    assert hand.violated() == ["1.1"]


def test_an_outcome_that_comes_before_its_intent(hand: ByHand) -> None:
    hand.closes("disclosed", "event-2")
    assert hand.intent() == "event-2"
    assert hand.violated() == ["1.1"]


def test_an_outcome_of_another_kind_than_its_intent(hand: ByHand) -> None:
    hand.steward.declare_retention("transfer.", WEEK)
    hand.closes("disclosed", hand.intent(kind="transfer"))
    assert hand.violated() == ["1.1"]


def test_an_outcome_that_names_another_caller(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    hand.plans(intent)
    hand.says = HAPPENED
    hand.recovers("disclosed", intent, acting_actor_ref="erin", **DATA)
    assert hand.violated() == ["1.1"]


def purged(hand: ByHand) -> str:
    """An act whose intent alone is purged, its outcome not yet."""
    intent = hand.intent()
    hand.passes(10)
    outcome = hand.closes("disclosed", intent)
    hand.clock.instant += WEEK - 5 * SECOND
    hand.steward.purge()
    return outcome


def test_a_purged_intent_is_purged_and_not_absent(hand: ByHand) -> None:
    purged(hand)
    found = hand.audit()
    assert found.verdict is Verdict.CLEARED
    assert (found.check("1.1").purged, found.check("1.1").looked_at, found.check("1.4").looked_at) == (
        1,
        0,
        1,
    )
    assert (found.subject.intents, found.subject.purged, found.check("7.1").purged) == (0, 1, 1)


def test_the_horizon_is_decided_by_the_read_and_not_by_stamps(hand: ByHand) -> None:
    """Retention has long ended, nothing was purged: the intent is inside the horizon all the same."""
    intent = hand.intent()
    hand.closes("disclosed", intent, "erin")  # and of no shape either
    hand.clock.instant += 2 * WEEK
    assert hand.violated() == ["1.1", "2.6"]


# Check 2.


def test_two_closings_beside_each_other(hand: ByHand) -> None:
    intent, _ = recovered(hand)
    hand.closes("disclosed", intent, **DATA)
    found = hand.audit()
    assert hand.violated() == ["2.1"]
    (violation,) = found.check("2.1").violations
    assert [record.event_id for record in violation.records] == ["event-1", "event-3", "event-4"]


def test_two_closings_of_different_sorts_count_together(fenced: ByHand) -> None:
    intent = fenced.intent()
    fenced.closes("refused", intent, reason="no", constituent_code="invalid-request")
    fenced.passes(90)
    fenced.recovers("abandoned", intent, cause="not-committed")
    assert fenced.violated() == ["2.1"]


def test_a_closing_that_names_the_other_is_none_beside_it(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    escalated = hand.recovers("escalated", intent, cause="not-observed")
    abandoned = hand.resolves("abandoned", intent, escalated, cause="quiet")
    hand.says = HAPPENED
    hand.resolves("disclosed", intent, [abandoned], **DATA)
    found = hand.audit()
    assert found.verdict is Verdict.CLEARED
    assert found.check("2.4").remarks == ["inv-1: 3 closings, 1 of them stand"]


def test_a_name_binds_only_what_came_before_it(hand: ByHand) -> None:
    """The first closing names the second in advance: nobody had read it."""
    intent = hand.intent()
    hand.passes(90)
    hand.recovers("escalated", intent, cause="not-observed", supersedes="event-3")
    hand.says = HAPPENED
    hand.resolves("disclosed", intent, **DATA)
    assert hand.violated() == ["2.1"]


def test_a_duplicate_that_was_resolved_is_told_of_only_where_a_fence_should_have_kept_it_out() -> None:
    for edits, violated in (((), []), ((JOURNAL_FENCE, ("_allowance: 2 s", "_allowance: 1 s")), ["2.1"])):
        with ByHand(*edits) as hand:
            intent = hand.intent()
            hand.passes(90)
            late = hand.closes("refused", intent, reason="no", constituent_code="invalid-request")
            swept = hand.recovers("escalated", intent, cause="not-observed")
            hand.resolves("abandoned", intent, [late, swept], cause="refused")
            assert hand.violated() == violated


def test_two_intents_of_one_invocation(hand: ByHand) -> None:
    hand.intent()
    intent = hand.intent()
    hand.closes("disclosed", intent)
    hand.passes(40)
    assert hand.violated() == ["2.2"]


def test_two_intents_of_one_act_open_together(hand: ByHand) -> None:
    first, second = hand.intent("inv-1"), hand.intent("inv-2")
    hand.closes("disclosed", first, invocation="inv-1")
    hand.closes("disclosed", second, invocation="inv-2")
    assert hand.violated() == ["2.3"]


def test_without_a_service_identity_an_aged_intent_is_passed_by() -> None:
    with ByHand(UNATTENDED) as hand:
        first, second = hand.intent("inv-1"), hand.intent("inv-2")
        hand.closes("disclosed", first, invocation="inv-1")
        hand.closes("disclosed", second, invocation="inv-2")
        assert hand.violated() == []
        assert hand.audit().check("2.3").exempt == 2


@pytest.mark.parametrize(
    "actor, said",
    [
        ("erin", {"recovery": True, "resolved_by": OPERATOR, "acting_actor_ref": CALLER}),
        (CALLER, {"resolved_by": CALLER}),
        (OPERATOR, {"recovery": True, "acting_actor_ref": CALLER}),
        (CALLER, {"recovery": False}),
    ],
)
def test_an_outcome_of_no_shape(hand: ByHand, actor: str, said: dict[str, Json]) -> None:
    intent = hand.intent()
    hand.plans(intent)
    hand.closes("disclosed", intent, actor, **said, **DATA)
    hand.says = HAPPENED
    assert hand.violated() == ["2.6"]


def test_a_recovered_outcome_that_was_not_intended_first(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    hand.says = HAPPENED
    hand.recovers("disclosed", intent, **DATA)
    hand.plans(intent)  # too late
    assert hand.violated() == ["2.6"]


# Check 3: the window is 10 min, the allowance 2 s.


@pytest.mark.parametrize("seconds, looked_at", [(31.999_999, 0), (32, 1)])
def test_an_intent_in_flight_is_not_looked_at(hand: ByHand, seconds: float, looked_at: int) -> None:
    """The bound is 30 s, and the allowance 2 s."""
    hand.intent()
    hand.passes(seconds)
    found = hand.audit()
    assert [found.check(number).looked_at for number in ("2.1", "2.2", "3.1")] == [looked_at] * 3


def test_an_intent_that_was_closed_at_the_end_of_its_window(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(600)
    hand.recovers("escalated", intent, cause="not-observed")
    hand.passes(9)
    assert hand.violated() == []


def test_an_intent_that_nobody_closed_in_its_window(hand: ByHand) -> None:
    hand.intent()
    hand.passes(602)
    assert hand.violated() == []
    hand.passes(0.000_001)
    assert hand.violated() == ["3.1"]


def test_an_intent_that_was_closed_after_its_window(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(600.000_001)
    hand.recovers("escalated", intent, cause="not-observed")
    assert hand.violated() == ["3.1"]


def test_an_intent_of_a_kind_that_is_bound_no_more_is_exempt(hand: ByHand) -> None:
    hand.steward.declare_retention("transfer.", WEEK)
    hand.intent(kind="transfer")
    hand.passes(900)
    found = hand.audit()
    assert found.check("3.2").exempt == 1
    assert found.check("3.1").looked_at == 0
    assert hand.violated() == []


@pytest.mark.parametrize("finding", ["journal-unavailable", "store-unavailable"])
@pytest.mark.parametrize(
    "first, last, closed, violated",
    [
        (100, 200, 260, []),  # inside the window
        (-50, -3, 10, ["3.1"]),  # over before it, by more than the allowance
        (603, 700, 760, ["3.1"]),  # after it, by more than the allowance
        (500, 550, None, []),  # it has not ended yet
        (-90, -80, None, []),  # likewise, and so it meets all that came since
    ],
)
def test_an_outage_exempts_what_it_meets(
    hand: ByHand, finding: str, first: int, last: int, closed: int | None, violated: list[str]
) -> None:
    began = hand.clock.instant
    hand.intent()
    hand.passes(900)
    hand.finds(finding, began + first * SECOND, began + last * SECOND, closed and began + closed * SECOND)
    assert hand.violated() == violated


def test_the_gap_between_two_outages_exempts_nothing(hand: ByHand) -> None:
    """The window lies between an outage that ended before it and one that began after it."""
    began = hand.clock.instant
    hand.intent()
    hand.passes(900)
    hand.finds("journal-unavailable", began - 99 * SECOND, began - 50 * SECOND, began - 9 * SECOND)
    hand.finds("journal-unavailable", began + 700 * SECOND, began + 800 * SECOND, began + 850 * SECOND)
    assert hand.violated() == ["3.1"]
    assert hand.audit().check("3.4").looked_at == 1


def test_another_kinds_outage_exempts_nothing(hand: ByHand) -> None:
    began = hand.clock.instant
    hand.intent()
    hand.passes(900)
    hand.finds("store-unavailable", began + 100 * SECOND, began + 200 * SECOND, began + 260 * SECOND)
    hand.run("UPDATE finding SET kind = 'transfer'")
    assert hand.violated() == ["3.1"]


@pytest.mark.parametrize("seen, violated", [(None, ["3.5"]), (603, ["3.5"]), (602, []), (300, [])])
def test_without_an_identity_the_register_has_what_is_at_risk(seen: int | None, violated: list[str]) -> None:
    with ByHand(UNATTENDED) as hand:
        began = hand.clock.instant
        hand.intent()
        hand.passes(900)
        if seen is not None:
            hand.finds("closure-at-risk", began + seen * SECOND, invocation="inv-1")
        assert hand.violated() == violated


@pytest.mark.parametrize("closed, violated", [(600, []), (600.000_001, ["3.5"])])
def test_without_an_identity_who_is_closed_in_time_needs_no_finding(
    closed: float, violated: list[str]
) -> None:
    with ByHand(UNATTENDED) as hand:
        intent = hand.intent()
        hand.passes(closed)
        hand.closes("refused", intent, reason="no", constituent_code="invalid-request")
        hand.passes(9)
        assert hand.violated() == violated


def test_without_an_identity_a_window_that_has_not_ended_owes_no_finding() -> None:
    with ByHand(UNATTENDED) as hand:
        hand.intent()
        hand.passes(602)
        assert hand.audit().check("3.5").not_applicable == 1
        hand.passes(0.000_001)
        assert hand.violated() == ["3.5"]


def test_a_span_is_told_in_seconds_exactly() -> None:
    spans = [seconds(span) for span in (0, 1, 1_500_000, -1, -60_000_000)]
    assert spans == ["0 s", "0.000001 s", "1.5 s", "-0.000001 s", "-60 s"]


# Check 4: each figure one step beyond its condition, and at it.


@pytest.mark.parametrize(
    "edits, number, holds",
    [
        ([("compensation_window: 10 min", "compensation_window: 559 s")], 1, False),
        ([("compensation_window: 10 min", "compensation_window: 560 s")], 1, True),
        ([("retention_period: 7 d", "retention_period: 632 s")], 2, False),
        ([("retention_period: 7 d", "retention_period: 633 s")], 2, True),
        ([("completion_bound: 30 s", "completion_bound: 11 s")], 3, False),
        ([("completion_bound: 30 s", "completion_bound: 12 s")], 3, True),
        ([("completion_bound: 30 s", "completion_bound: 13 s"), FENCED], 3, False),  # and the allowance
        ([("completion_bound: 30 s", "completion_bound: 14 s"), FENCED], 3, True),
        ([("completion_bound: 30 s", "completion_bound: 13 s"), JOURNAL_FENCE], 3, False),
        ([("run_bound: 135 s", "run_bound: 41 s")], 4, False),
        ([("run_bound: 135 s", "run_bound: 42 s")], 4, True),
        (
            [("run_bound: 135 s", "run_bound: 26 s"), ("completion_bound: 30 s", "completion_bound: 14 s")],
            4,
            False,
        ),
        (
            [("run_bound: 135 s", "run_bound: 27 s"), ("completion_bound: 30 s", "completion_bound: 14 s")],
            4,
            True,
        ),
        ([("closure_latency: 12 s", "closure_latency: 9 s")], 5, False),
        ([("closure_latency: 12 s", "closure_latency: 9.5 s")], 5, True),
    ],
)
def test_a_condition_of_instance_start(edits: list[tuple[str, str]], number: int, holds: bool) -> None:
    """The sums are the walkthrough's: 559 s, 632 s, 11 s, 42 s and 9 s."""
    with ByHand(*edits) as hand:
        found = [violation.found for violation in hand.audit().check("4.1").violations]
    assert [text.startswith(f"condition {number} of ledger") for text in found] == [True] * (not holds)


# Check 5.


def test_a_service_identity_that_opens_an_act(hand: ByHand) -> None:
    intent = hand.intent(actor=SWEEP)
    hand.closes("refused", intent, SWEEP, reason="x", constituent_code="x")
    assert hand.violated() == ["5.1"]
    assert len(hand.audit().check("5.1").violations) == 2


def test_a_service_identitys_record_of_another_invocation(fenced: ByHand) -> None:
    intent = fenced.intent()
    fenced.passes(90)
    fenced.recovers("abandoned", intent, cause="not-committed")
    fenced.closes("recovery_intended", intent, SWEEP, "inv-9")
    assert fenced.violated() == ["5.1"]


def test_a_service_identitys_record_of_nothing(hand: ByHand) -> None:
    hand.closes("escalated", "event-99", SWEEP)
    assert hand.violated() == ["5.2"]


def test_a_service_identitys_record_that_is_none_of_the_protocols(hand: ByHand) -> None:
    hand.steward.declare_retention("other.", None)
    hand.record("thing", SWEEP, {"n": 1}, "other")
    assert hand.violated() == ["5.2"]


def test_a_service_identitys_record_of_a_purged_intent_is_purged(hand: ByHand) -> None:
    intent = hand.intent()
    hand.passes(90)
    hand.recovers("escalated", intent, cause="not-observed")
    hand.clock.instant += WEEK - 30 * SECOND
    hand.steward.purge()
    found = hand.audit()
    assert hand.violated() == []
    assert (found.check("5.3").purged, found.check("5.2").looked_at) == (1, 0)
