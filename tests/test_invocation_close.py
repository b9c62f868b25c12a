"""Close, Refuse and Yield, step by step: who writes, who adopts, who gives way, and what the caller is told.

Expected values are the text's rules, named at each test; times are the walkthrough's.
"""

from collections.abc import Iterator

import pytest

import invocation_world as world_of
from falsework.runtime.invocation.answers import (
    Abandon,
    AlreadyAccounted,
    Closed,
    LandedBy,
    Misuse,
    NotCommitted,
    Outcome,
    Position,
    RecordingFailure,
    RefusalRecorded,
    Yielded,
)
from invocation_world import JOURNAL_FENCE, KEY, KIND, OUTCOME, SECOND, World, deployment_with


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


def gone(answer: object) -> bool:
    """The caller may never run the act again."""
    return isinstance(answer, RecordingFailure) and answer.position is Position.OUTCOME


def swept(world: World) -> None:
    """The sweep closes what is aged."""
    world.node(word="run").reconcile()


# Close.


def test_the_invocation_closes_its_act_and_gives_the_section_back(world: World) -> None:
    """close step 3.1, 4.2, 4.3; the clean run of the walkthrough."""
    act = world.opened()
    answer = world.close(act)
    intent, outcome = world.journal()
    assert answer == Closed(outcome.event_id, LandedBy.INVOCATION)
    assert outcome.actor_ref == intent.actor_ref == "dana"
    assert outcome.data == {
        "invocation_id": act.invocation_id,
        "intent_event_id": act.intent_event_id,
        "kind": KIND,
        "act_key": KEY,
        "disclosure_id": "dsc-1",
    }
    assert world.held() is None


def test_what_cannot_be_written_within_the_lease_is_not_begun(worlds: list[World]) -> None:
    """close step 1.2: 3 s must be left of 30, under every retry terminus (1.3)."""
    for changes in ({}, {"retry_attempts": 3}):
        for seconds, lands in ((27, True), (27.000001, False), (30, False), (40, False)):
            world = World(deployment_with(**changes))
            worlds.append(world)
            act = world.opened()
            world.passes(seconds)
            answer = world.close(act)
            assert isinstance(answer, Closed) if lands else gone(answer)
            assert world.refs() == (["intended", "disclosed"] if lands else ["intended"])


def test_a_pair_that_no_open_returned_has_no_standing(world: World) -> None:
    """Not Open 4: nothing is decided from a map; the lease decides."""
    act = world.opened()
    stranger = type(act)("inv-99", "0" * 32)
    assert gone(world.close(stranger))
    assert world.refs() == ["intended"]
    assert world.held() == act.invocation_id


def test_a_sweeps_outcome_is_adopted(world: World) -> None:
    """close step 2.2, 2.2e: the invocation slept through its lease before the re-read."""
    act = world.opened()
    world.commits()

    def the_sweep_passes() -> None:
        world.passes(40)
        swept(world)

    world.sleeps_after_the_gate(the_sweep_passes)
    answer = world.close(act)
    assert answer == Closed(world.journal()[-1].event_id, LandedBy.SWEEP)
    assert world.refs() == ["intended", "recovery_intended", "disclosed"]


@pytest.mark.parametrize("fenced", [False, True])
def test_an_invocation_that_sleeps_after_its_re_read_is_stopped_by_the_fence_alone(
    worlds: list[World], fenced: bool
) -> None:
    """The text's Close, WHY: the re-read is a mitigation; without the fence two closings stand."""
    changes = JOURNAL_FENCE if fenced else {}
    world = World(deployment_with(**changes))
    worlds.append(world)
    act = world.opened()
    world.commits()

    def the_sweep_passes() -> None:
        world.passes(40)
        swept(world)

    world.pause.append(the_sweep_passes)
    answer = world.close(act)
    outcomes = [ref for ref in world.refs() if ref == "disclosed"]
    report = world.instance.read_invocation(KIND, KEY)
    (entry,) = report.invocations  # type: ignore[union-attr]
    if fenced:
        assert gone(answer)
        assert (len(outcomes), entry.binding_duplicate) == (1, False)
    else:
        assert isinstance(answer, Closed)
        assert (len(outcomes), entry.binding_duplicate) == (2, True)


@pytest.mark.parametrize(
    "disposition, landed_by", [(Outcome(OUTCOME, {}), LandedBy.OPERATOR), (Abandon("x"), None)]
)
def test_what_an_operator_closed_is_adopted_only_if_it_is_an_outcome(
    worlds: list[World], disposition: Outcome | Abandon, landed_by: LandedBy | None
) -> None:
    """close step 2.2d, 2.3: an abandonment says that the act was not accounted for."""
    world = World(deployment_with(completion_bound=30 * SECOND, journal_write_bound=3 * SECOND))
    worlds.append(world)
    act = world.opened()

    def meanwhile() -> None:
        world.passes(40)
        world.resolve(act, disposition)

    world.sleeps_after_the_gate(meanwhile)
    answer = world.close(act)
    if landed_by is None:
        assert gone(answer)
    else:
        assert answer == Closed(world.journal()[-1].event_id, landed_by)
    assert len(world.journal()) == 2


def test_a_journal_that_cannot_be_read_again_leaves_the_outcome_to_the_sweep(world: World) -> None:
    """close step 2.4: the act has committed, and its arm is the position's own."""
    act = world.opened()
    world.trail.down = True
    assert gone(world.close(act))
    world.trail.down = False
    assert world.refs() == ["intended"]


@pytest.mark.parametrize(
    "fault, lands, alerts, writes",
    [
        (world_of.refused, False, [], 1),  # close step 3.8, Primitive policy 31
        (world_of.unpayable, False, ["outcome unrecordable"], 1),  # close step 3.3, Primitive policy 40
        (world_of.undeclared_and_gone, False, ["outcome unrecordable"], 1),
        (world_of.unplaced, True, ["outcome appended late"], 1),  # Primitive policy 27, 28
        (world_of.undeclared, True, ["outcome appended late"], 1),
        (world_of.unattested, True, [], 2),  # Primitive policy 29
        (world_of.failed, True, [], 2),
        (world_of.lost, True, [], 1),  # Primitive policy 36
        (world_of.lost_before, True, [], 2),  # Primitive policy 37
    ],
)
def test_the_outcomes_arms(
    world: World, fault: world_of.Answer, lands: bool, alerts: list[str], writes: int
) -> None:
    act = world.opened()
    world.trail.recorded.clear()
    world.trail.writes.append(fault)
    answer = world.close(act)
    assert isinstance(answer, Closed) if lands else gone(answer)
    assert world.refs() == (["intended", "disclosed"] if lands else ["intended"])
    assert world.bell.rung == alerts
    assert len(world.trail.recorded) == writes
    assert world.held() is None


def test_retries_end_with_the_lease(world: World) -> None:
    """Primitive policy 29, 30; close step 3.5, 3.7: a pause of 0.75 s between two, while 3 s are left."""
    act = world.opened()
    world.trail.recorded.clear()
    world.trail.writes.extend([world_of.failed] * 99)
    assert gone(world.close(act))
    # The k-th write is issued after 0.75 k seconds, and 30 - 0.75 k >= 3 holds for k = 0 to 36.
    assert len(world.trail.recorded) == 37
    assert world.refs() == ["intended"]


def test_a_counted_terminus_ends_the_retries_sooner(worlds: list[World]) -> None:
    """Deviation 3a: at most n retries, after the first write."""
    world = World(deployment_with(retry_attempts=2))
    worlds.append(world)
    act = world.opened()
    world.trail.recorded.clear()
    world.trail.writes.extend([world_of.failed] * 99)
    assert gone(world.close(act))
    assert len(world.trail.recorded) == 3


def test_a_retry_reads_again_before_it_writes(world: World) -> None:
    """close step 3.4: between the failure and the retry another has closed the act."""
    act = world.opened()
    world.trail.writes.append(world_of.failed)

    def the_operator_was_here() -> None:
        host = world.instance.parties.section.host
        host.release(f"{KIND}:{KEY}", act.invocation_id)
        world.resolve(act, Outcome(OUTCOME, {}))
        host.take(f"{KIND}:{KEY}", act.invocation_id, 20 * SECOND)

    world.waiter.events.append(the_operator_was_here)
    answer = world.close(act)
    assert answer == Closed(world.journal()[-1].event_id, LandedBy.OPERATOR)
    assert world.refs() == ["intended", "disclosed"]


@pytest.mark.parametrize("ref", ["ledger.sold", "ledger.refused", "other.disclosed"])
def test_an_outcome_outside_the_vocabulary_is_never_recorded(world: World, ref: str) -> None:
    """journal 4: membership makes an outcome; the act has committed, so the sweep accounts for it."""
    act = world.opened()
    assert gone(world.close(act, ref=ref))
    assert world.refs() == ["intended"]
    assert world.bell.rung == ["outcome unrecordable"]


def test_every_write_is_gated_by_what_is_left(world: World) -> None:
    """journal write bound 1: the re-read took what the write would have needed."""
    act = world.opened()
    world.passes(26)
    inner = world.trail.read_range

    def slow(after: int, limit: int | None = None, *, behind_writers: bool = False) -> object:
        world.passes(2)
        return inner(after, limit, behind_writers=behind_writers)

    world.trail.read_range = slow  # type: ignore[method-assign, assignment]
    assert gone(world.close(act))
    assert world.refs() == ["intended"]


# Refuse.


def test_a_refusal_keeps_the_attempt_with_its_reason(world: World) -> None:
    """refuse step 3.1, 3.9, 3.10; nothing is left for the sweep."""
    act = world.opened()
    answer = world.refuse(act)
    refusal = world.journal()[-1]
    assert answer == RefusalRecorded(refusal.event_id)
    assert (refusal.action_ref, refusal.actor_ref) == ("ledger.refused", "dana")
    assert world.last() == {
        "invocation_id": act.invocation_id,
        "intent_event_id": act.intent_event_id,
        "kind": KIND,
        "act_key": KEY,
        "reason": "no scope",
        "constituent_code": "invalid-request",
    }
    assert world.held() is None
    world.passes(100)
    assert world.node(word="run").reconcile().examined == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("code", ["timeout", "already-closed", ""])
def test_an_arm_that_is_not_declared_pre_commit_is_never_refused(world: World, code: str) -> None:
    """commit 7, commit 9: whatever may have committed is unknown."""
    act = world.opened()
    with pytest.raises(Misuse, match="so yield"):
        world.refuse(act, code)
    assert world.refs() == ["intended"]


def test_an_expired_caller_reads_nothing_at_refuse(world: World) -> None:
    """refuse step 1.1 to 1.4: it may not observe a closing that it has no standing to observe."""
    act = world.opened()
    world.commits()
    world.passes(40)
    swept(world)
    world.trail.reads.append("down")
    answer = world.refuse(act)
    assert answer.code == "recording-failure(refusal, invalid-request)"
    assert list(world.trail.reads) == ["down"]


def test_a_closed_invocation_is_already_accounted_for(world: World) -> None:
    """refuse step 2.2, 2.3."""
    act = world.opened()

    def meanwhile() -> None:
        world.passes(40)
        world.says = NotCommitted()
        swept(world)

    world.sleeps_after_the_gate(meanwhile)
    answer = world.refuse(act)
    assert answer == AlreadyAccounted(world.journal()[-1].event_id)
    assert world.refs() == ["intended", "escalated"]


@pytest.mark.parametrize(
    "fault, lands, alerts",
    [
        (world_of.refused, False, []),  # refuse step 3.7
        (world_of.unpayable, False, []),  # refuse step 3.8
        (world_of.unattested, False, []),  # refuse step 3.5
        (world_of.failed, False, []),
        (world_of.lost_before, False, []),  # refuse step 3.6
        (world_of.lost, True, []),
        (world_of.unplaced, True, ["refusal appended late"]),  # refuse step 3.3
        (world_of.undeclared, True, ["refusal appended late"]),
    ],
)
def test_the_refusals_arms(world: World, fault: world_of.Answer, lands: bool, alerts: list[str]) -> None:
    """Whatever fails leaves the intent open, is not written again, and carries the constituent's code."""
    act = world.opened()
    world.trail.recorded.clear()
    world.trail.writes.append(fault)
    answer = world.refuse(act)
    assert answer.code == "recording-failure(refusal, invalid-request)" if not lands else True
    assert isinstance(answer, RefusalRecorded) is lands
    assert world.refs() == (["intended", "refused"] if lands else ["intended"])
    assert len(world.trail.recorded) == 1  # refuse step 3.4
    assert world.bell.rung == alerts
    assert world.held() is None


def test_a_journal_out_of_reach_fails_the_refusal(world: World) -> None:
    act = world.opened()
    world.trail.down = True
    assert world.refuse(act).code == "recording-failure(refusal, invalid-request)"


# Yield.


def test_a_yield_frees_the_section_and_leaves_the_intent(world: World) -> None:
    """yield 1, yield 4."""
    act = world.opened()
    assert world.instance.yield_act(KIND, KEY, act.invocation_id) == Yielded()
    assert (world.held(), world.refs()) == (None, ["intended"])
    world.instance.yield_act(KIND, KEY, act.invocation_id)  # not-held is discarded: act section 6
