"""The block in which a service runs one act: what each arm becomes, and what cannot be written at all.

Expected values are the text's partition: pre-commit is refused, committed is closed, all else is yielded.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

import invocation_world as world_of
from falsework.runtime.invocation.answers import Closed, LandedBy, Misuse, Outcome, State
from falsework.runtime.invocation.figures import Fence, Partition
from falsework.runtime.invocation.standing import state
from falsework.runtime.invocation.use import (
    ActRefused,
    ConstituentRefused,
    Invocation,
    NotOpened,
    Unrecorded,
)
from invocation_world import DATA, KEY, KIND, OUTCOME, SECOND, World, deployment_with

DONE = Outcome(OUTCOME, {"disclosure_id": "dsc-1"})


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


def invocation(world: World, actor: str = "dana") -> Invocation:
    return world.instance.invocation(KIND, KEY, actor, world.credentials[actor], DATA)


def raises(error: BaseException) -> Callable[[], Outcome]:
    def commit() -> Outcome:
        raise error

    return commit


def test_a_commit_that_returns_is_closed(world: World) -> None:
    ran: list[str | None] = []

    def commit() -> Outcome:
        ran.append(world.held())
        return DONE

    with invocation(world) as act:
        assert world.refs() == ["intended"]  # Action wiring 4: the intent is there before the commit
        assert act.invocation_id == "inv-1"
        answer = act.commit(commit)
    assert answer == Closed(world.journal()[-1].event_id, LandedBy.INVOCATION)
    assert ran == ["inv-1"]
    assert (world.refs(), world.held()) == (["intended", "disclosed"], None)


def test_a_declared_pre_commit_arm_is_refused_under_its_own_code(world: World) -> None:
    """commit 2, commit 3."""
    with pytest.raises(ActRefused) as caught, invocation(world) as act:
        act.commit(raises(ConstituentRefused("storage-failure", "the disk is full")))
    assert (caught.value.code, caught.value.constituent_code) == ("storage-failure", "storage-failure")
    assert not caught.value.may_retry
    assert world.refs() == ["intended", "refused"]
    assert (world.last()["constituent_code"], world.last()["reason"]) == (
        "storage-failure",
        "the disk is full",
    )


def test_a_refusal_that_does_not_land_says_so_with_both_slots(world: World) -> None:
    world.trail.writes.extend([world_of.recorded, world_of.failed])
    with pytest.raises(ActRefused) as caught, invocation(world) as act:
        act.commit(raises(ConstituentRefused("storage-failure")))
    assert caught.value.code == "recording-failure(refusal, storage-failure)"
    assert not caught.value.may_retry
    assert world.refs() == ["intended"]


def test_a_committed_arm_with_its_outcome_is_closed(worlds: list[World]) -> None:
    """commit 4: the constituent says that the act stands, and which one."""
    partition = Partition(frozenset({"invalid-request"}), frozenset({"already-recorded"}))
    world = World(deployment_with(partition=partition))
    worlds.append(world)
    with invocation(world) as act:
        answer = act.commit(raises(ConstituentRefused("already-recorded", outcome=DONE)))
    assert isinstance(answer, Closed)
    with pytest.raises(Unrecorded), invocation(world) as second:
        second.commit(raises(ConstituentRefused("already-recorded")))
    assert world.refs() == ["intended", "disclosed", "intended"]


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("no reply"),
        ConnectionResetError("lost"),
        ConstituentRefused("overloaded"),  # commit 7: not declared
        ValueError("a mistake of the adopter's, after the call perhaps"),
    ],
)
def test_whatever_is_not_declared_may_have_committed(world: World, error: Exception) -> None:
    """commit 6 to 8: yielded, never closed or refused, and never run again."""
    with pytest.raises(Unrecorded) as caught, invocation(world) as act:
        act.commit(raises(error))
    assert caught.value.code == "recording-failure(outcome)"
    assert not caught.value.may_retry
    assert "never run the act again" in str(caught.value)
    assert caught.value.__cause__ is error
    assert (world.refs(), world.held()) == (["intended"], None)


@pytest.mark.parametrize("returned", [None, "dsc-1", Outcome(OUTCOME, None)])  # type: ignore[arg-type]
def test_a_commit_that_returns_something_else_is_yielded(world: World, returned: object) -> None:
    with pytest.raises(Unrecorded, match="and no Outcome"), invocation(world) as act:
        act.commit(lambda: returned)  # type: ignore[arg-type, return-value]
    assert world.refs() == ["intended"]


def test_an_interruption_yields_and_goes_on(world: World) -> None:
    with pytest.raises(KeyboardInterrupt), invocation(world) as act:
        act.commit(raises(KeyboardInterrupt()))
    assert (world.refs(), world.held()) == (["intended"], None)


def test_a_reply_that_comes_after_the_lease_is_discarded(world: World) -> None:
    """act section 10c, 10d; the walkthrough's stall: applied at 8 s, back at 40 s."""

    def commit() -> Outcome:
        world.passes(40)
        return DONE

    with pytest.raises(Unrecorded), invocation(world) as act:
        act.commit(commit)
    assert world.refs() == ["intended"]


def test_the_sweeps_outcome_is_told_as_the_sweeps(world: World) -> None:
    world.commits()

    def meanwhile() -> None:
        world.passes(40)
        world.node(word="run").reconcile()

    def commit() -> Outcome:
        world.sleeps_after_the_gate(meanwhile)
        return DONE

    with invocation(world) as act:
        answer = act.commit(commit)
    assert answer.landed_by is LandedBy.SWEEP


@pytest.mark.parametrize(
    "fault, code, may_retry",
    [
        (world_of.failed, "recording-failure(intent)", True),
        (world_of.refused, "invalid-credential", False),
        (world_of.unpayable, "invalid-request", False),
    ],
)
def test_an_act_that_is_not_opened_runs_nothing(
    world: World, fault: world_of.Answer, code: str, may_retry: bool
) -> None:
    """Invariant 8.3: the position tells whether the whole action may be run again."""
    world.trail.writes.append(fault)
    with pytest.raises(NotOpened) as caught, invocation(world) as act:
        act.commit(raises(AssertionError("nothing may run")))
    assert (caught.value.code, caught.value.may_retry) == (code, may_retry)


def test_a_second_caller_is_told_of_the_first(world: World) -> None:
    with pytest.raises(Unrecorded), invocation(world) as act:
        act.commit(raises(TimeoutError()))
    with pytest.raises(NotOpened) as caught:
        invocation(world, "erin").__enter__()
    assert caught.value.code == "act-in-flight(inv-1)"


@pytest.mark.parametrize("seconds, begins", [(29, True), (29.000001, False), (31, False)])
def test_a_commit_that_the_lease_does_not_hold_is_not_begun(
    world: World, seconds: float, begins: bool
) -> None:
    """1 s of commit_round_trip must be left: what nobody holds is not begun (docs/holes.md)."""
    ran: list[str] = []

    def commit() -> Outcome:
        ran.append("ran")
        return DONE

    act = invocation(world).__enter__()
    world.passes(seconds)
    with pytest.raises(Unrecorded):
        act.commit(commit)
    assert bool(ran) is begins


# What cannot be written.


def test_nothing_is_committed_before_the_intent(world: World) -> None:
    act = invocation(world)
    for misuse in (lambda: act.commit(lambda: DONE), lambda: act.invocation_id, lambda: act.deadline):
        with pytest.raises(Misuse, match="an invocation that is not entered yet"):
            misuse()
    assert world.journal() == []


def test_an_act_is_committed_once(world: World) -> None:
    """Invariant 8.4: there is no retry after the outcome's position, nor after anything else."""
    with invocation(world) as act:
        act.commit(lambda: DONE)
        with pytest.raises(Misuse, match="commit once inside"):
            act.commit(raises(AssertionError("nothing may run")))
    with pytest.raises(Misuse):
        act.commit(lambda: DONE)
    with pytest.raises(Misuse, match="make another one"):
        act.__enter__()
    assert world.refs() == ["intended", "disclosed"]


def test_a_commit_that_failed_is_not_run_again_in_its_block(world: World) -> None:
    with invocation(world) as act:
        with pytest.raises(Unrecorded):
            act.commit(raises(TimeoutError()))
        with pytest.raises(Misuse):
            act.commit(lambda: DONE)
    assert world.refs() == ["intended"]


def test_a_block_without_a_commit_is_a_mistake(world: World) -> None:
    with pytest.raises(Misuse, match="ended without a commit"), invocation(world):
        pass
    assert (world.refs(), world.held()) == (["intended"], None)


def test_a_block_that_fails_before_its_commit_yields(world: World) -> None:
    with pytest.raises(ZeroDivisionError), invocation(world):
        raise ZeroDivisionError
    assert (world.refs(), world.held()) == (["intended"], None)


# The commit's own fence.


def test_the_deadline_is_the_leases_with_the_allowance_taken_off(worlds: list[World]) -> None:
    """Allowance 7: expires_at - 2 s, minted by the section's host."""
    world = World(deployment_with(commit_fence=Fence("deadline parameter")))
    worlds.append(world)
    with invocation(world) as act:
        assert act.deadline == world.clock.now() + 28 * SECOND
        world.passes(5)
        assert act.deadline == world.clock.now() + 23 * SECOND
        act.commit(lambda: DONE)


def test_the_commit_itself_may_ask_for_its_deadline_and_its_id(worlds: list[World]) -> None:
    world = World(deployment_with(commit_fence=Fence("deadline parameter")))
    worlds.append(world)
    told: list[object] = []
    with invocation(world) as act:

        def commit() -> Outcome:
            told.extend((act.deadline, act.invocation_id))
            return DONE

        act.commit(commit)
        with pytest.raises(Misuse, match="an invocation that is over"):
            assert act.deadline
    assert told == [world.clock.now() + 28 * SECOND, "inv-1"]


@pytest.mark.slow
def test_many_threads_share_an_instance(world: World) -> None:
    """Eight callers at once, and the sweep beside them: each invocation is closed once, by its caller."""
    ids = iter(range(10_000))
    world.instance.parties.ids = lambda: f"inv-{next(ids)}"  # one bytecode, so that no two callers share one
    failures: list[BaseException] = []

    def caller(number: int) -> None:
        try:
            for _ in range(15):
                act = world.instance.invocation(
                    KIND, f"act-{number}", "dana", world.credentials["dana"], DATA
                )
                with act:
                    act.commit(lambda: DONE)
        except BaseException as problem:  # noqa: BLE001  carried to the test's own thread
            failures.append(problem)

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    world.instance.reconcile()
    for thread in threads:
        thread.join()
    assert failures == []
    words = Counter(world.refs())
    assert (words["intended"], words["disclosed"]) == (120, 120)
    states = [state(found.closings) for _, found in world.instance.parties.indexes.every_invocation()]
    assert set(states) == {State.CLOSED}


def test_a_kind_without_a_fence_has_no_deadline(world: World) -> None:
    with invocation(world) as act:
        assert act.deadline is None
        act.commit(lambda: DONE)


def test_a_lease_that_has_ended_gives_no_deadline(worlds: list[World]) -> None:
    world = World(deployment_with(commit_fence=Fence("deadline parameter")))
    worlds.append(world)
    act = invocation(world).__enter__()
    world.passes(30)
    with pytest.raises(Misuse, match="held no longer"):
        assert act.deadline
