"""Harder schedules, by their seeds: late landings, skew, pauses, crashes, outages, two sweeps, an operator.

What must hold is the text's, as tests/test_invocation_simulation.py reads it off the records; in the calm it
is Invariant 4.2: whatever stands open when the faults stop is closed within a compensation window.
A seed that fails is told by `python -m reliability.schedules --seed N`, from the folder of the tests.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import invocation_world as world_of
from falsework.runtime.invocation import journal
from falsework.runtime.invocation.answers import NotCommitted, Position, RecordingFailure, StoreUnavailable
from falsework.runtime.invocation.closing import Sweep
from falsework.runtime.invocation.figures import Fence
from falsework.runtime.invocation.instance import StartRefused
from falsework.runtime.subjects.lease import in_memory
from invocation_world import DATA, KEY, KIND, SECOND, World, deployment_with
from reliability.schedules import (
    WORLDS,
    CalmWorld,
    HardWorld,
    LateConstituent,
    problems,
    simulated,
    told,
)

FAULTS = {
    "crash between two steps",
    "pause",
    "act lands late",
    "late act happened",
    "late act fenced out",
    "commit fenced out",
    "lost reply of the commit",
    "request of a write lost",
    "reply of a write lost",
    "write lands late",
    "late write: Recorded",
    "late write: RecordingFailure",
    "write fenced out",
    "record not placed",
    "store failed",
    "commit of the store unknown",
    "refusal",
    "resolution",
    "node started again",
}
OUTAGES = {"journal away", "store away"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="falsework-schedule-", dir=in_memory()) as name:
        yield Path(name)


def run_through(seeds: range, folder: Path, mode: str) -> Counter[str]:
    """Every seed's claims hold; what befell them, all together."""
    fired: Counter[str] = Counter()
    for seed in seeds:
        run = simulated(seed, folder, WORLDS[mode])
        found = problems(run)
        run.store.close()
        again = f"python -m reliability.schedules --mode {mode} --seed {seed}"
        assert not found, f"{'; '.join(found)}\nin the folder of the tests: {again}"
        fired += run.scheduler.fired
    return fired


def expected(mode: str) -> set[str]:
    return FAULTS | OUTAGES if mode == "safety" else FAULTS


@pytest.mark.slow
@pytest.mark.parametrize("mode, schedules", [("safety", 1_500), ("liveness", 1_000)])
def test_every_act_is_accounted_for_in_harder_schedules(folder: Path, mode: str, schedules: int) -> None:
    fired = run_through(range(schedules), folder, mode)
    assert expected(mode) - set(fired) == set()


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, 15_000, 2_500))
def test_every_act_is_accounted_for_in_15_000_schedules(folder: Path, first: int) -> None:
    fired = run_through(range(first, first + 2_500), folder, "safety")
    assert expected("safety") - set(fired) == set()


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, 5_000, 2_500))
def test_every_act_is_closed_in_time_in_5_000_schedules(folder: Path, first: int) -> None:
    fired = run_through(range(first, first + 2_500), folder, "liveness")
    assert expected("liveness") - set(fired) == set()


@pytest.mark.parametrize("world", [HardWorld, CalmWorld])
def test_a_seed_is_one_story(folder: Path, world: type[HardWorld]) -> None:
    stories = []
    for _ in range(2):
        run = simulated(645, folder, world)
        stories.append(told(run))
        run.store.close()
    assert stories[0] == stories[1]
    assert "its caller was told" in stories[0]
    assert "journal    ledger.intended" in stories[0]


# What these schedules have found, each by its seed.


def test_a_lost_reply_is_awaited_from_the_answer_and_not_from_the_gate() -> None:
    """Primitive policy 34. Seed 645: a pause behind the gate had used up the bound before the issue."""
    world = World()
    try:
        world.pause.append(lambda: world.passes(4))  # the gate is passed, and nothing is issued yet
        world.trail.writes.append(world_of.lost_before)
        begun = world.clock.now()
        assert world.open().code == "recording-failure(intent)"
        assert world.clock.now() - begun == (4 + 3) * SECOND
    finally:
        world.end()


def test_a_headroom_of_one_allowance_lets_a_lagging_node_write_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Safe and not live, for every write was fenced out; such figures are refused at the start.

    A write's terminus is an allowance early, and the journal's clock may be another ahead: a bound of 3 s
    less 2 s and 2 s leaves nothing for a write of 1 s.
    """
    figures = {"clock_offset_allowance": 2 * SECOND, "journal_write_bound": 3 * SECOND}
    fenced = deployment_with(journal_fence=Fence("deadline"), record_action_bound=SECOND, **figures)
    with pytest.raises(StartRefused, match="headroom repaired"):
        World(fenced)
    monkeypatch.setattr("falsework.runtime.invocation.instance.failing", lambda _: ())
    world = World(fenced)
    try:
        lagging = world.node(offset=-2 * SECOND)
        answer = lagging.open(KIND, KEY, "dana", world.credentials["dana"], DATA)
        assert isinstance(answer, RecordingFailure)
        assert answer.position is Position.INTENT
        assert world.journal() == []
    finally:
        world.end()


# What they would find: each is one decision of the runtime, undone.


def counted_from_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost reply is looked for at once."""
    monkeypatch.setattr(journal, "_bound_has_passed", lambda *_: True)


def no_re_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep writes without looking whether another closed the act meanwhile."""
    monkeypatch.setattr(Sweep, "_closed_by_another", lambda _: False)


def a_fence_that_lets_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The constituent's store takes what comes past its deadline."""
    real = LateConstituent.lands
    monkeypatch.setattr(LateConstituent, "lands", lambda store, datum, _: real(store, datum, None))


def an_outage_is_an_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is away counts as one that holds nothing."""
    real = Sweep._probe

    def blind(sweep: Sweep) -> object:
        answer = real(sweep)
        return NotCommitted() if isinstance(answer, StoreUnavailable) else answer

    monkeypatch.setattr(Sweep, "_probe", blind)


def an_intent_after_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open answers that the act may begin, though nobody knows whether its intent stands."""
    real = journal._after_a_lost_reply

    def hopeful(parties: object, write: journal.Write, answer: object) -> journal.Append:
        found = real(parties, write, answer)  # type: ignore[arg-type]
        return found if isinstance(found, journal.Landed) else journal.Landed("in hope")

    monkeypatch.setattr(journal, "_after_a_lost_reply", hopeful)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mistake, found",
    [
        (counted_from_the_gate, "and its intent stands"),
        (no_re_read, "closings"),
        (a_fence_that_lets_pass, "abandoned what happened"),
        (an_outage_is_an_absence, "abandoned what happened"),
        (an_intent_after_its_lease, "without an intent"),
    ],
)
def test_a_wrong_decision_is_found(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    mistake: Callable[[pytest.MonkeyPatch], None],
    found: str,
) -> None:
    mistake(monkeypatch)
    for seed in range(1_500):
        run = simulated(seed, folder, HardWorld)
        sentences = problems(run)
        run.store.close()
        if any(found in sentence for sentence in sentences):
            return
    pytest.fail("no seed of 1,500 shows it")
