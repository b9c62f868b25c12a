"""What a run of the sweep tells a person: what is at risk, what is doubled, and how long an outage lasted.

Expected values are the text's rules, named at each test; times are the walkthrough's: what is owed is at risk
from 600 - 2×135 - 60 - 2 = 268 s on.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    JournalUnavailable,
    NotCommitted,
    StoreUnavailable,
    Tally,
)
from falsework.runtime.invocation.findings import Condition, InstanceFinding, Register
from falsework.runtime.invocation.held import Held
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.store import StoreFailed
from invocation_world import DATA, KEY, KIND, OUTCOME, World, deployment_with


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


def test_two_outages_are_two_spans(world: World) -> None:
    """findings 10, 11: no finding spans the healthy gap."""
    instants: list[int] = []
    for number, says in enumerate((StoreUnavailable("a"), NotCommitted(), StoreUnavailable("b"))):
        world.opened(key=f"act-{number}")
        world.passes(40)
        world.says = says
        world.instance.reconcile()
        instants.append(world.clock.now())
    first, second = world.instance.findings()
    assert (first.first_seen, first.last_seen, first.closed_at) == (instants[0], instants[0], instants[1])
    assert (second.first_seen, second.last_seen, second.closed_at) == (instants[2], instants[2], None)


@pytest.mark.parametrize("seconds, at_risk", [(267.999999, False), (268, True)])
def test_what_is_still_owed_is_at_risk_from_the_threshold_on(
    world: World, seconds: float, at_risk: bool
) -> None:
    act = world.opened()
    world.passes(seconds)
    world.says = StoreUnavailable("down")
    world.instance.reconcile()
    expected = [("store-unavailable", None)]
    assert sorted(told(world)) == sorted(
        [*expected, ("closure-at-risk", act.invocation_id)] if at_risk else expected
    )


def test_two_closings_are_told_of_whatever_the_fence(world: World) -> None:
    """reconcile step 5.2, 5.4, Which closing stands 11: the second lands in a later delta than the first."""
    act = world.opened()
    world.passes(40)
    world.commits()
    world.instance.reconcile()
    world.instance.reconcile()
    assert told(world) == []
    data: trail.Data = {
        "invocation_id": act.invocation_id,
        "intent_event_id": act.intent_event_id,
        "kind": KIND,
        "act_key": KEY,
    }
    world.audit.record_action(OUTCOME, "dana", world.credentials["dana"], data)
    world.instance.reconcile()
    assert told(world) == [("binding duplicate", act.invocation_id)]


def test_two_open_intents_are_told_of_where_a_sweep_would_close_the_first(worlds: list[World]) -> None:
    """reconcile step 5.3, Which closing stands 10: a late intent beside another."""
    for changes, expected in (({}, ["binding duplicate"]), ({"service_identity": None}, [])):
        world = made(worlds, **changes)
        first = world.opened()
        data = {**DATA, "invocation_id": "inv-77", "kind": KIND, "act_key": KEY}
        world.audit.record_action("ledger.intended", "erin", world.credentials["erin"], data)
        world.instance.reconcile()
        assert [found for found, _ in told(world)] == expected
        report = world.instance.read_invocation(KIND, KEY)
        assert report.binding_duplicate is bool(expected)  # type: ignore[union-attr]
        assert first.invocation_id == "inv-1"


class Away:
    """A database that nothing can be written to."""

    def transaction(self, name: str) -> object:
        raise StoreFailed("down")


def test_a_register_that_cannot_be_written_stops_no_run(world: World) -> None:
    """findings 3: what was seen is held, and written with the next run that can."""
    world.opened()
    world.passes(40)
    seen = world.clock.now()
    world.says = StoreUnavailable("down")
    register = world.instance.parties.register
    whole = register.store
    register.store = Away()  # type: ignore[assignment]
    assert counted(world.instance.reconcile()) == {"examined": 1, "skipped": 1}
    assert world.bell.rung == ["findings held"]
    register.store = whole
    assert world.instance.findings() == ()
    world.passes(60)
    world.instance.reconcile()
    (outage,) = world.instance.findings()
    assert (outage.first_seen, outage.last_seen) == (seen, world.clock.now())


def node(world: World, held: Path) -> Instance:
    """A process of the node whose findings wait in the file."""
    instance = world.node()
    instance.parties.register.held = Held(held)
    return instance


def test_an_outage_is_told_whole_whoever_lived_through_it(world: World, tmp_path: Path) -> None:
    """External check 1: the process that saw it begin died in it, and so did the next one."""
    held = tmp_path / "ledger.yaml.held"
    before = node(world, held)
    before.reconcile()
    world.passes(60)
    world.trail.down = True
    instants: list[int] = []
    world.instance = before
    for _ in range(3):
        world.instance.parties.register.store = Away()  # type: ignore[assignment]
        assert world.instance.reconcile() == JournalUnavailable("down")
        instants.append(world.clock.now())
        world.passes(60)
        world.trail.down = False
        world.instance = node(world, held)  # the one before it is dead
        world.trail.down = True
    assert world.bell.rung == ["findings held"] * 3
    assert str(held) in world.bell.alerts[0].detail
    world.trail.down = False
    world.instance.reconcile()
    (outage,) = world.instance.findings()
    assert (outage.first_seen, outage.last_seen) == (instants[0], instants[-1])
    assert outage.closed_at == world.clock.now()
    assert outage.detail.endswith("a run last had the register at 2001-09-09T01:46:40Z")
    assert held.read_bytes() == b""


def test_what_no_file_takes_is_held_in_the_process(world: World, tmp_path: Path) -> None:
    instance = node(world, tmp_path / "no folder" / "held")
    whole = instance.parties.register.store
    instance.parties.register.store = Away()  # type: ignore[assignment]
    world.trail.down = True
    instance.reconcile()
    assert "in this process alone" in world.bell.alerts[0].detail
    world.trail.down = False
    instance.parties.register.store = whole
    instance.reconcile()
    assert [found.finding.value for found in instance.findings()] == ["journal-unavailable"]
    assert instance.findings()[0].detail == "down; no run had the register before"


def test_a_line_that_was_half_written_was_never_held(tmp_path: Path) -> None:
    held = Held(tmp_path / "held")
    assert held.lines() == []
    assert held.add("one") == str(tmp_path / "held")
    with (tmp_path / "held").open("ab") as file:
        file.write(b"half")
    with pytest.raises(ZeroDivisionError), held.taken() as lines:
        assert lines == ["one"] + 1 // 0 * [""]
    assert held.lines() == ["one"]
    with held.taken() as lines, Held(tmp_path / "held").taken() as others:
        assert (lines, others) == (["one"], [])  # two processes: each line is one's
    assert held.lines() == []


def seen(register: Register, run: str, now: int, *kinds: str | None, whole: bool = True) -> None:
    """A run of some process that saw an outage of each kind's store, or of the journal."""
    sightings = [
        InstanceFinding(
            Condition.JOURNAL_UNAVAILABLE if kind is None else Condition.STORE_UNAVAILABLE, kind, "x"
        )
        for kind in kinds
    ]
    assert register.surface(run, now, sightings, whole=whole) is None


def spans(register: Register) -> list[tuple[int, int | None, int | None]]:
    return [(found.first_seen, found.last_seen, found.closed_at) for found in register.findings()]


def test_runs_of_several_processes_move_no_record_back(world: World) -> None:
    """findings 7 to 12, whichever run comes first to the register: the span is the runs' own."""
    register = Register(world.store, "n")
    seen(register, "a", 10, KIND)
    seen(register, "c", 30, KIND)
    seen(register, "b", 20, KIND)  # began before c, and is later here
    assert spans(register) == [(10, 30, None)]
    seen(register, "b2", 25)  # did not see it, and began before c, which did
    assert spans(register) == [(10, 30, None)]
    seen(register, "d", 40)
    assert spans(register) == [(10, 30, 40)]
    seen(register, "e", 35, KIND)  # still within the span that d has ended
    assert spans(register) == [(10, 35, 40)]


def test_what_was_held_had_ended_by_the_run_that_saw_it_no_more(world: World) -> None:
    """findings 11: a node was cut off from 20 to 40, and comes back at 90; others were there at 60."""
    register = Register(world.store, "n")
    seen(register, "a", 10)
    seen(register, "b", 60)
    for run, now in (("cut-1", 20), ("cut-2", 40)):
        seen(register, run, now, None, whole=False)
    assert spans(register) == [(20, 40, 60)]
    seen(register, "c", 90)
    assert spans(register) == [(20, 40, 60)]


def test_an_instance_ends_no_outage_of_a_kind_that_it_does_not_serve(world: World) -> None:
    one, other = Register(world.store, "one", kinds=[KIND]), Register(world.store, "two", kinds=["grant"])
    seen(one, "a", 10, KIND)
    seen(other, "b", 20)
    assert spans(one) == [(10, 10, None)]
    seen(one, "c", 30)
    assert spans(one) == [(10, 10, 30)]
