"""A journal shown as states of models: each variable from the records by hand; the surface in the gate."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from audit_world import CALLER, FENCED, OPERATOR, SWEEP, ByHand
from falsework.conformance.audited import audited
from falsework.conformance.finding import find_subject
from falsework.conformance.subject import twins_of_subject
from falsework.conformance.twins import judge_runtime_twin
from falsework.definition import definition_of
from falsework.models.recoverable_invocation.race import Main
from falsework.models.recoverable_invocation.records_supersession import Fenced
from falsework.runtime.audit.declared import read_declared
from falsework.runtime.audit.opened import opened_file
from falsework.runtime.projection import Act, Deed, acts_of, race_snapshots, supersession_snapshots
from falsework.runtime.subjects.audited import AuditedRace, AuditedSupersession
from falsework.verdict import Verdict
from invocation_world import SECOND

RACE = "recoverable_invocation.race.audited"
SUPERSESSION = "recoverable_invocation.records_supersession.audited"


@pytest.fixture
def hand() -> Iterator[ByHand]:
    with ByHand(FENCED) as made:
        yield made


def acts(hand: ByHand) -> dict[str, Act]:
    with opened_file(hand.path, hand.clock.instant) as journal:
        return acts_of(journal.rows(), read_declared(hand.deployment))


def act(hand: ByHand) -> Act:
    return acts(hand)["inv-1"]


def corrected(hand: ByHand) -> None:
    """An escalation, an operator's abandonment over it, and an outcome over that."""
    intent = hand.intent()
    hand.passes(40)
    escalated = hand.recovers("escalated", intent, cause="undecidable")
    abandoned = hand.resolves("abandoned", intent, escalated, cause="quiet")
    hand.resolves("disclosed", intent, [abandoned])


def test_a_snapshot_stands_after_each_record(hand: ByHand) -> None:
    corrected(hand)
    declared = read_declared(hand.deployment)
    shown = list(race_snapshots(act(hand), declared, hand.clock.instant))
    chain = [("SWEEP", "ESCALATED", None), ("OPERATOR", "ABANDONED", 0), ("OPERATOR", "OUTCOME", 1)]
    closings = [{"author": by, "kind": kind, "names": names, "hidden": 0} for by, kind, names in chain]
    assert [one["journal"] for one in shown] == [[], [], *(closings[:n] for n in (1, 2, 3, 3))]
    # 40 s are past both edges of a bound of 30 s and an allowance of 2 s: as old as the model tells.
    assert [one["intent_age"] for one in shown] == [None, 0, 4, 4, 4, 4]


@pytest.mark.parametrize(
    "seconds, ticks",
    [(0, 0), (9.999_999, 0), (10, 1), (29.999_999, 2), (30, 3), (31.999_999, 3), (32, 4), (999, 4)],
)
def test_an_age_is_past_each_edge_of_the_model_where_it_is_past_the_real_one(
    hand: ByHand, seconds: float, ticks: int
) -> None:
    """Three ticks are the bound of 30 s, one more the allowance of 2 s, and four as old as it gets."""
    hand.intent()
    until = hand.clock.instant + round(seconds * SECOND)
    *_, last = race_snapshots(act(hand), read_declared(hand.deployment), until)
    assert last["intent_age"] == ticks


def test_the_commit_is_shown_to_who_knows_the_store(hand: ByHand) -> None:
    began = hand.clock.instant
    intent = hand.intent()
    hand.passes(40)
    hand.recovers("escalated", intent, cause="not-observed")
    declared, until = read_declared(hand.deployment), began + 90 * SECOND
    for deed, commits in (
        (Deed(began + 20 * SECOND), ["IN_FLIGHT", "IN_FLIGHT", "APPLIED", "APPLIED"]),
        (Deed(began + 50 * SECOND), ["IN_FLIGHT", "IN_FLIGHT", "IN_FLIGHT", "APPLIED"]),
        (Deed(None), ["NEVER"] * 4),
    ):
        assert [one["commit"] for one in race_snapshots(act(hand), declared, until, deed)] == commits
    assert all("commit" not in one for one in race_snapshots(act(hand), declared, until))


def test_supersession_is_shown_with_every_name(hand: ByHand) -> None:
    intent = hand.intent()
    late = hand.closes("disclosed", intent)
    swept = hand.recovers("escalated", intent)
    hand.resolves("disclosed", intent, [late, swept])
    shown = list(supersession_snapshots(act(hand)))
    assert [one["length"] for one in shown] == [0, 1, 2, 3]
    assert [one["rivals"] for one in shown] == [False, False, True, False]
    names = shown[-1]["names"]
    assert isinstance(names, dict)
    assert [pair for pair, named in names.items() if named] == [(2, 0), (2, 1)]


@pytest.mark.parametrize(
    "word, actor, said, rule",
    [
        ("disclosed", "erin", {}, "Invariant 1.1"),
        ("disclosed", SWEEP, {"recovery": True, "acting_actor_ref": "erin"}, "Invariant 1.1"),
        ("disclosed", SWEEP, {"recovery": True, "acting_actor_ref": CALLER}, "Invariant 5.1"),
        ("disclosed", OPERATOR, {"recovery": True, "acting_actor_ref": CALLER}, "Invariant 5.2"),
        (
            "disclosed",
            "erin",
            {"recovery": True, "acting_actor_ref": CALLER, "resolved_by": OPERATOR},
            "Invariant 5.4",
        ),
        ("abandoned", CALLER, {}, "Invariant 2.2"),
        ("refused", SWEEP, {}, "Invariant 2.2"),
        ("recovery_intended", CALLER, {}, "Invariant 5.2"),
    ],
)
def test_a_record_of_no_writer_is_odd_by_its_rule(
    hand: ByHand, word: str, actor: str, said: dict[str, str | bool], rule: str
) -> None:
    hand.closes(word, hand.intent(), actor, **said)
    assert [odd.rule for odd in act(hand).odd] == [rule]


def test_what_names_an_intent_that_is_not_there_is_odd(hand: ByHand) -> None:
    hand.closes("disclosed", "event-9")
    hand.closes("refused", "event-9", invocation="inv-2")
    hand.recovers("escalated", "event-9", "inv-3")
    rules = [odd.rule for one in acts(hand).values() for odd in one.odd]
    assert rules == ["Invariant 1.1", "Invariant 2.2", "Invariant 5.2"]


def test_what_is_destroyed_shows_nothing(hand: ByHand) -> None:
    hand.closes("disclosed", hand.intent())
    hand.run("UPDATE journal SET salt = NULL, payload = NULL WHERE event_id = 'event-1'")
    assert acts(hand) == {}


def test_a_kind_that_nobody_binds_shows_nothing(hand: ByHand) -> None:
    hand.intent()
    declared = replace(read_declared(hand.deployment), kinds={})
    with opened_file(hand.path, hand.clock.instant) as journal:
        assert acts_of(journal.rows(), declared) == {}


# The surface.


@pytest.mark.slow
def test_the_race_holds_on_what_a_journal_shows_of_it() -> None:
    done = audited(AuditedRace(), definition_of(Main))
    assert (done.verdict, done.problem, done.broken) == (Verdict.HOLDS, "", {})
    assert len(done.sources) == 120  # forty acts of each of three seeds
    # By hand: these read the closings, the age of the intent, and the commit, and nothing else.
    assert set(done.observable) == {
        "nothing_happens_before_the_journal_shows_its_intent",
        "an_outcome_is_what_the_store_holds",
        "nothing_abandoned_ever_happens",
        "a_refused_act_never_happens",
        "no_two_closings_stand",
        "two_runs_never_close_one_act",
        "no_closing_is_superseded_twice",
        "an_outcome_is_never_superseded_nor_an_abandonment_but_by_one",
        "the_sweep_abandons_only_past_the_abandon_edge",
        "an_operator_abandons_only_what_is_aged",
        "the_sweep_abandons_no_act_without_a_fence",
        "without_a_service_identity_the_sweep_writes_nothing",
        "two_closings_never_name_one_act",
        "a_duplicate_can_be_resolved",
        "the_closings_key_tells_every_duplicate",
    }
    assert done.hidden["an_outage_closes_nothing"] == ("decided",)


@pytest.mark.slow
def test_its_journals_have_one_of_everything() -> None:
    last = [list(snapshots)[-1]["journal"] for _, snapshots in AuditedRace().histories()]
    seen = {(one["author"], one["kind"]) for journal in last for one in journal}  # type: ignore[attr-defined]
    assert seen == {
        ("INVOCATION", "OUTCOME"),
        ("INVOCATION", "REFUSED"),
        ("SWEEP", "OUTCOME"),
        ("SWEEP", "ABANDONED"),
        ("SWEEP", "ESCALATED"),
        ("OPERATOR", "ABANDONED"),
        ("OPERATOR", "OUTCOME"),
    }


@pytest.mark.slow
def test_supersession_holds_on_what_a_journal_shows_of_it() -> None:
    done = audited(AuditedSupersession(), definition_of(Fenced))
    assert (done.verdict, done.problem, done.broken) == (Verdict.HOLDS, "", {})
    assert len(done.observable) == 7


@pytest.mark.slow
@pytest.mark.parametrize("name, count", [(RACE, 5), (SUPERSESSION, 1)])
def test_every_runtime_twin_is_rejected_for_what_it_declares(name: str, count: int) -> None:
    subject = find_subject(name)
    twins = twins_of_subject(subject.cls)
    assert len(twins) == count
    for twin in twins:
        contract = judge_runtime_twin(replace(subject, cls=twin))
        assert contract.problems == [], twin.__name__
