"""Reconcile: what a run keeps, what it makes of each answer of the probe, and what it tells a person.

Expected values are the text's rules, named at each test; times are the walkthrough's: an intent is aged from
32 s on, and past the abandon edge from 34 s on; what is owed is at risk from 600 - 2×135 - 60 - 2 = 268 s on.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import replace

import pytest

import invocation_world as world_of
from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Committed,
    JournalUnavailable,
    Misuse,
    NotCommitted,
    ProbeAnswer,
    StoreUnavailable,
    Tally,
    Undecidable,
)
from falsework.runtime.invocation.figures import Fence, Kind
from falsework.runtime.invocation.findings import Condition
from invocation_world import DATA, JOURNAL_FENCE, KEY, KIND, OUTCOME, SECOND, World, deployment_with

FENCED = {"commit_fence": Fence("deadline parameter")}


@pytest.fixture
def worlds() -> Iterator[list[World]]:
    made: list[World] = []
    yield made
    for one in made:
        one.end()


@pytest.fixture
def world(worlds: list[World]) -> World:
    worlds.append(World())
    return worlds[0]


def made(worlds: list[World], **changes: object) -> World:
    worlds.append(World(deployment_with(**changes)))
    return worlds[-1]


def counted(answer: object) -> dict[str, int]:
    """The tally without its zeros."""
    assert isinstance(answer, Tally), answer
    assert answer.accounted == answer.examined  # the partition
    counts = dataclasses.asdict(answer)
    return {name: count for name, count in counts.items() if count and name != "run_id"}


def told(world: World) -> list[tuple[str, str | None]]:
    return [(found.finding.value, found.invocation_id) for found in world.instance.findings()]


# Step 1: between two edges.


@pytest.mark.parametrize("seconds, examined", [(31.999999, 0), (32, 1)])
def test_an_intent_is_examined_from_the_examine_edge_on(world: World, seconds: float, examined: int) -> None:
    """Invariant 7.1: 30 + 2."""
    world.opened()
    world.passes(seconds)
    assert counted(world.instance.reconcile()).get("examined", 0) == examined


@pytest.mark.parametrize("seconds, examined", [(637.999999, 1), (638, 0)])
def test_an_intent_is_examined_before_the_horizon_edge_alone(
    worlds: list[World], seconds: float, examined: int
) -> None:
    """Invariant 7.2: 640 - 2."""
    world = made(worlds, retention_period=640 * SECOND)
    world.opened()
    world.passes(seconds)
    assert counted(world.instance.reconcile()).get("examined", 0) == examined


def test_the_run_reads_its_own_clock_once(world: World) -> None:
    """Primitive policy 18: a node whose clock is 2 s behind sees the intent 2 s later."""
    world.opened()
    behind = world.node(offset=-2 * SECOND)
    world.passes(33)
    assert counted(behind.reconcile()) == {}
    world.passes(1)
    assert counted(behind.reconcile()) == {"examined": 1, "escalated": 1}


def test_a_journal_that_cannot_be_read_stops_the_run(world: World) -> None:
    """reconcile 1, Invariant 4.4, 4.5: the span is the outage's, and is closed by the first run past it."""
    world.opened()
    world.passes(40)
    begun = world.clock.now()
    world.trail.down = True
    assert world.instance.reconcile() == JournalUnavailable("down")
    world.passes(60)
    world.instance.reconcile()
    last = world.clock.now()
    world.trail.down = False
    world.passes(60)
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}
    (outage,) = world.instance.findings()
    assert (outage.finding, outage.kind) == (Condition.JOURNAL_UNAVAILABLE, None)
    assert (outage.first_seen, outage.last_seen, outage.closed_at) == (begun, last, world.clock.now())


def test_a_query_that_can_never_be_answered_is_told_of(world: World) -> None:
    """Capability requirement 4, 5: it is a mistake, and is not asked again in the run."""
    asked: list[int] = []

    def invalid(after: int, limit: int | None = None, *, behind_writers: bool = False) -> trail.RangeAnswer:
        asked.append(after)
        return trail.InvalidQuery("no such page")

    world.trail.read_range = invalid  # type: ignore[method-assign]
    assert world.instance.reconcile() == JournalUnavailable("no such page")
    mark = world.instance.parties.indexes.maps.mark
    assert (world.bell.rung, asked) == (["invalid-query"], [mark])


def test_an_unbound_kind_is_told_of_and_not_closed(worlds: list[World]) -> None:
    """Binding 4, 5: another instance's kind, in the same journal, once until it is closed."""
    deployment = deployment_with()
    other: Kind = replace(deployment.kinds[KIND], name="grant", outcomes=("granted",))
    world = World(replace(deployment, kinds={KIND: deployment.kinds[KIND], "grant": other}))
    worlds.append(world)
    world.instance.open("grant", KEY, "dana", world.credentials["dana"], DATA)
    world.store_forgets_bindings()
    narrow = world.node(deployment=deployment)
    world.passes(40)
    assert counted(narrow.reconcile()) == {"surfaced": 1}
    assert counted(narrow.reconcile()) == {"surfaced": 1}
    assert told(world) == [("unbound-kind", "inv-1")]
    assert world.refs() == ["intended"]


# Step 2: the section.


def test_a_run_waits_out_a_holder_and_skips_what_it_cannot_have(world: World) -> None:
    """reconcile step 2.2, 2.3."""
    world.opened()
    world.passes(40)
    host = world.instance.parties.section.host
    host.take(f"{KIND}:{KEY}", "somebody", 10 * SECOND)

    def another_is_faster() -> None:
        world.passes(10)
        host.take(f"{KIND}:{KEY}", "another", 10 * SECOND)

    world.waiter.events.append(another_is_faster)
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert world.refs() == ["intended"]
    world.passes(10)
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}


def test_an_act_that_another_closed_since_is_closed_already(world: World) -> None:
    """reconcile step 2.5, 2.6, Invariant 2.3: two runs, one closing."""
    world.opened()
    world.passes(40)
    other = world.node(word="other")
    section = world.instance.parties.section
    take = section.take

    def after_the_other(standing: object, duration: int) -> bool:
        section.take = take  # type: ignore[method-assign]
        other.reconcile()
        return take(standing, duration)  # type: ignore[arg-type]

    section.take = after_the_other  # type: ignore[method-assign]
    assert counted(world.instance.reconcile()) == {"examined": 1, "closed_already": 1}
    assert world.refs() == ["intended", "escalated"]


def test_a_journal_lost_after_the_enumeration_leaves_the_act(world: World) -> None:
    world.opened()
    world.passes(40)
    world.trail.reads.extend(["up", "down"])
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert told(world) == [("journal-unavailable", None)]


def test_a_slow_re_read_leaves_the_act(world: World) -> None:
    """reconcile step 2.7: of 15 s, 3 must be left."""
    world.opened()
    world.passes(40)
    reads = world.trail.read_range
    seconds = iter((0, 13))

    def slow(after: int, limit: int | None = None, *, behind_writers: bool = False) -> object:
        world.passes(next(seconds))
        return reads(after, limit, behind_writers=behind_writers)

    world.trail.read_range = slow  # type: ignore[method-assign, assignment]
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert world.probed == []


# Step 3: the probe.


def test_what_the_store_holds_becomes_the_outcome(world: World) -> None:
    """reconcile step 3.2, Invariant 5.1 to 5.3: the plan first, then what the probe derived, and no more."""
    act = world.opened()
    world.passes(40)
    world.commits(411)
    assert counted(world.instance.reconcile()) == {"examined": 1, "closed": 1}
    plan, outcome = world.journal()[1:]
    names = {
        "invocation_id": act.invocation_id,
        "intent_event_id": act.intent_event_id,
        "kind": KIND,
        "act_key": KEY,
    }
    assert (plan.action_ref, plan.actor_ref) == ("ledger.recovery_intended", "ledger-reconciler")
    assert plan.data == {**names, "plan": "outcome"}
    assert (outcome.action_ref, outcome.actor_ref) == (OUTCOME, "ledger-reconciler")
    assert outcome.data == {
        **names,
        "disclosure_id": "dsc-411",
        "recovery": True,
        "acting_actor_ref": "dana",
    }
    assert world.held() is None


@pytest.mark.parametrize(
    "fenced, seconds, ref, cause",
    [
        (False, 40, "escalated", "not-observed"),  # reconcile step 3.5: a paused caller may still commit
        (True, 33.999999, None, None),  # reconcile step 3.6
        (True, 34, "abandoned", "not-committed"),  # reconcile step 3.4, Allowance 12: 30 + 2×2
    ],
)
def test_what_the_store_does_not_hold(
    worlds: list[World], fenced: bool, seconds: float, ref: str | None, cause: str | None
) -> None:
    world = made(worlds, **(FENCED if fenced else {}))
    world.opened()
    world.passes(seconds)
    part = "skipped" if ref is None else ref
    assert counted(world.instance.reconcile()) == {"examined": 1, part: 1}
    assert world.refs()[1:] == ([] if ref is None else [ref])
    if cause is not None:
        assert world.last()["cause"] == cause


@pytest.mark.parametrize(
    "candidates, listed, count, span",
    [
        ((), None, None, None),
        (("a", "b"), ["a", "b"], None, None),
        (tuple(map(str, range(20))), list(map(str, range(20))), None, None),
        (tuple(map(str, range(23))), list(map(str, range(20))), 23, ["0", "22"]),  # reconcile step 3.10
    ],
)
def test_what_the_store_cannot_decide_is_escalated_with_candidates(
    world: World,
    candidates: tuple[str, ...],
    listed: list[str] | None,
    count: int | None,
    span: list[str] | None,
) -> None:
    """reconcile step 3.8 to 3.11: all of them up to the cap, and none is chosen."""
    world.opened()
    world.passes(40)
    world.says = Undecidable(candidates)
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}
    data = world.last()
    assert data["cause"] == "undecidable"
    assert data.get("store_candidates") == listed
    assert data.get("candidates_count") == count
    assert data.get("candidates_range") == span
    assert world.bell.rung == ["undecidable"]


@pytest.mark.parametrize("says", [StoreUnavailable("down"), RuntimeError("no route"), "yes"])
def test_a_store_that_cannot_be_read_says_nothing(world: World, says: object) -> None:
    """reconcile step 3.13, 3.14, probe 4, Invariant 5.10: no abandonment, and the outage has its span."""
    world.opened()
    world.passes(40)
    begun = world.clock.now()
    world.says = says
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert world.refs() == ["intended"]
    world.passes(60)
    world.instance.reconcile()
    last = world.clock.now()
    world.passes(60)
    world.commits()
    assert counted(world.instance.reconcile()) == {"examined": 1, "closed": 1}
    (outage,) = world.instance.findings()
    assert (outage.finding, outage.kind) == (Condition.STORE_UNAVAILABLE, KIND)
    assert (outage.first_seen, outage.last_seen, outage.closed_at) == (begun, last, world.clock.now())


@pytest.mark.parametrize(
    "says",
    [
        None,
        Committed(7, {}),  # type: ignore[arg-type]
        Committed(OUTCOME, None),  # type: ignore[arg-type]
        Undecidable((1, 2)),  # type: ignore[arg-type]
        Undecidable(("",)),
    ],
)
def test_what_is_no_answer_is_told_of_and_closes_nothing(world: World, says: object) -> None:
    world.opened()
    world.passes(40)
    world.says = says
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert (world.bell.rung, world.refs()) == (["probe misunderstood"], ["intended"])


def test_without_a_datum_nothing_is_proved_committed(worlds: list[World]) -> None:
    """pairing datum 6: one record is a candidate."""
    world = made(worlds, pairing=None)
    world.opened()
    world.passes(40)
    world.commits()
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}
    assert world.last()["cause"] == "undecidable"


def test_a_kind_that_no_read_can_tell_is_escalated(worlds: list[World]) -> None:
    """Deviation 4c."""
    world = made(worlds, probe=None, minted_key="by the day")
    world.opened()
    world.passes(40)
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}
    assert world.probed == []


@pytest.mark.parametrize(
    "says",
    [
        Committed("ledger.sold", {}),
        Committed(OUTCOME, {"kind": "x"}),
        Committed(OUTCOME, {"a": "x" * 70_000}),
    ],
)
def test_an_outcome_that_cannot_be_recorded_is_escalated(world: World, says: ProbeAnswer) -> None:
    """reconcile step 3.20: it cannot shrink, and the escalation fits."""
    world.opened()
    world.passes(40)
    world.says = says
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}
    assert world.last()["cause"] == "outcome-unrecordable"
    assert "outcome unrecordable" in world.bell.rung


# Without an identity.


def test_without_an_identity_the_run_reports_and_writes_nothing(worlds: list[World]) -> None:
    """reconcile 2, service identity 1, Invariant 4.6: by the first run that sees it, and what it read."""
    world = made(worlds, service_identity=None)
    act = world.opened()
    world.passes(40)
    world.commits(5)
    assert counted(world.instance.reconcile()) == {"examined": 1, "reported": 1}
    assert world.refs() == ["intended"]
    (finding,) = world.instance.findings()
    assert (finding.finding, finding.invocation_id) == (Condition.CLOSURE_AT_RISK, act.invocation_id)
    assert "dsc-5" in finding.detail
    assert world.held() is None
    holders: list[str | None] = []

    def asked(act_key: str, payload: object) -> ProbeAnswer:
        holders.append(world.held())
        return NotCommitted()

    world.instance.parties.probes[KIND] = asked
    tally = world.instance.reconcile()
    assert isinstance(tally, Tally)
    assert holders == [tally.run_id]  # reconcile 2a to 2c: the store is asked under the section
    assert len(world.instance.findings()) == 1  # findings 12


# The closing write's arms.


@pytest.mark.parametrize(
    "fault, part, alerts",
    [
        (world_of.unplaced, "escalated", ["closing appended late"]),  # reconcile step 3.16
        (world_of.undeclared, "escalated", ["closing appended late"]),
        (world_of.unattested, "escalated", []),  # tried again under the section
        (world_of.failed, "escalated", []),
        (world_of.lost, "escalated", []),
        (world_of.lost_before, "escalated", []),
        (world_of.unpayable, "skipped", ["closing unrecordable"]),
    ],
)
def test_a_closings_arms(world: World, fault: world_of.Answer, part: str, alerts: list[str]) -> None:
    world.opened()
    world.passes(40)
    world.trail.writes.append(fault)
    assert counted(world.instance.reconcile()) == {"examined": 1, part: 1}
    assert world.refs()[1:] == (["escalated"] if part == "escalated" else [])
    assert world.bell.rung == alerts


def test_what_the_lease_cuts_short_is_the_next_runs(world: World) -> None:
    """reconcile step 3.17."""
    world.opened()
    world.passes(40)
    world.commits()
    world.trail.writes.extend([world_of.recorded, *[world_of.failed] * 99])
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert world.refs() == ["intended", "recovery_intended"]
    world.trail.writes.clear()
    world.passes(20)
    assert counted(world.instance.reconcile()) == {"examined": 1, "closed": 1}
    assert world.refs()[2:] == ["recovery_intended", "disclosed"]  # reconcile step 3.3


def test_a_refused_identity_writes_no_more(world: World) -> None:
    """reconcile step 3.18, 3.19: the rest is unreached, in this run and the next; a person hears at once."""
    for number in range(3):
        world.opened(key=f"act-{number}")
    world.passes(40)
    world.trail.writes.append(world_of.refused)
    world.trail.recorded.clear()
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1, "unreached": 2}
    assert counted(world.instance.reconcile()) == {"unreached": 3}
    assert len(world.trail.recorded) == 1
    assert world.bell.rung == ["service credential refused"]
    assert counted(world.node().reconcile()) == {"examined": 3, "escalated": 3}  # reconfigured


def test_a_fenced_out_closing_is_skipped_and_stays_open(worlds: list[World]) -> None:
    """journal fence 4."""
    world = made(worlds, **JOURNAL_FENCE)
    world.opened()
    world.passes(40)
    world.pause.extend([lambda: world.passes(2)] * 99)  # each write is late for its own terminus
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert world.refs() == ["intended"]


# One run at a time, and its own writes.


def test_no_run_begins_beside_another(world: World) -> None:
    """run bound 1."""
    world.opened()
    world.passes(40)

    def beside(act_key: str, payload: object) -> ProbeAnswer:
        with pytest.raises(Misuse, match="a run of the sweep is in flight"):
            world.instance.reconcile()
        return NotCommitted()

    world.instance.parties.probes[KIND] = beside
    assert counted(world.instance.reconcile()) == {"examined": 1, "escalated": 1}


def test_the_sweep_writes_only_what_is_its_own(world: World) -> None:
    """Sweep never 2, act section 11, 12: each act's section is held by the run while it writes."""
    world.opened()
    world.passes(40)
    world.commits()
    holders: list[str | None] = []
    world.pause.extend([lambda: holders.append(world.held())] * 2)
    tally = world.instance.reconcile()
    assert isinstance(tally, Tally)
    assert holders == [tally.run_id, tally.run_id]
    assert {record.actor_ref for record in world.journal()[1:]} == {"ledger-reconciler"}
