"""Read Invocation, the derived maps beneath every action, and when an instance may start at all.

Expected values are the text's rules, named at each test.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    JournalUnavailable,
    NotKnown,
    Report,
    State,
    StoreUnavailable,
)
from falsework.runtime.invocation.figures import Fence
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.instance import StartRefused
from falsework.runtime.invocation.keyed import Invocation
from falsework.runtime.invocation.records import Intent
from invocation_world import DATA, KEY, KIND, OUTCOME, SECOND, World, deployment_with


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


def report(world: World, invocation_id: str | None = None) -> Report:
    answer = world.instance.read_invocation(KIND, KEY, invocation_id)
    assert isinstance(answer, Report), answer
    return answer


# Read Invocation.


def test_every_invocation_of_the_act_is_read_the_most_recent_first(world: World) -> None:
    """read invocation 2, 4, 10."""
    closed = world.opened()
    world.close(closed)
    refused = world.opened()
    world.refuse(refused)
    swept = world.opened()
    world.passes(40)
    world.commits()
    world.instance.reconcile()
    still_open = world.opened()
    entries = report(world).invocations
    assert [(entry.invocation_id, entry.state) for entry in entries] == [
        (still_open.invocation_id, State.OPEN),
        (swept.invocation_id, State.CLOSED),
        (refused.invocation_id, State.REFUSED),
        (closed.invocation_id, State.CLOSED),
    ]
    words = [record.action_ref.partition(".")[2] for record in entries[1].records]
    assert words == ["intended", "recovery_intended", "disclosed"]
    assert not report(world).more


def test_one_invocation_may_be_asked_for(world: World) -> None:
    """read invocation 3."""
    first = world.opened()
    world.close(first)
    world.opened()
    (entry,) = report(world, first.invocation_id).invocations
    assert entry.state is State.CLOSED
    assert world.instance.read_invocation(KIND, KEY, "inv-99") == NotKnown()


def test_superseded_records_are_read_too(world: World) -> None:
    """read invocation 6."""
    act = world.opened()
    world.passes(40)
    world.instance.reconcile()
    world.resolve(act, Abandon("quiet"))
    (entry,) = report(world).invocations
    assert [record.action_ref for record in entry.records] == [
        "ledger.intended",
        "ledger.escalated",
        "ledger.abandoned",
    ]
    assert entry.state is State.RESOLVED


def test_the_cap_keeps_the_most_recent_and_says_so(worlds: list[World]) -> None:
    """read invocation 2, 5."""
    world = World(deployment_with(read_cap=2))
    worlds.append(world)
    acts = []
    for _ in range(3):
        acts.append(world.opened())
        world.close(acts[-1])
    ids = [entry.invocation_id for entry in report(world).invocations]
    assert len(ids) == 2
    assert report(world).more
    act = acts[-1]
    names = {
        "invocation_id": act.invocation_id,
        "intent_event_id": act.intent_event_id,
        "kind": KIND,
        "act_key": KEY,
    }
    for number in range(3):
        world.audit.record_action(
            "ledger.recovery_intended", "erin", world.credentials["erin"], {**names, "plan": str(number)}
        )
    (entry,) = report(world, act.invocation_id).invocations
    assert [(record.data or {}).get("plan") for record in entry.records] == [None, None, "1", "2"]
    assert entry.more


def test_an_outage_is_not_an_absence(world: World) -> None:
    """read invocation 11, Action wiring 3."""
    world.opened()
    world.trail.down = True
    assert world.instance.read_invocation(KIND, KEY) == JournalUnavailable("down")
    world.trail.down = False
    world.trail.read_record = lambda _: trail.Unavailable("down")  # type: ignore[method-assign, assignment]
    assert world.instance.read_invocation(KIND, KEY) == JournalUnavailable("down")


def test_an_act_that_nobody_opened_is_not_known(world: World) -> None:
    assert world.instance.read_invocation(KIND, "act-9") == NotKnown()


def test_the_closing_that_stands_is_read_beyond_any_cap(worlds: list[World]) -> None:
    """read invocation 5 caps the most recent, and of rivals the first one stands (docs/holes.md)."""
    world = World(deployment_with(read_cap=1))
    worlds.append(world)
    act = world.opened()
    world.close(act)
    first = world.journal()[-1]
    for _ in range(3):
        world.audit.record_action(OUTCOME, "dana", world.credentials["dana"], first.data or {})
    (entry,) = report(world).invocations
    assert [record.event_id for record in entry.records[1:]] == [
        first.event_id,
        world.journal()[-1].event_id,
    ]
    assert (entry.more, entry.binding_duplicate) == (True, True)


def test_what_is_past_its_horizon_is_not_read(worlds: list[World]) -> None:
    """640 - 2 s: a closing may be destroyed before its intent, and the act would read as open."""
    world = World(deployment_with(retention_period=640 * SECOND))
    worlds.append(world)
    world.close(world.opened())
    world.passes(637.999999)
    assert report(world).invocations[0].state is State.CLOSED
    world.passes(0.000001)
    assert world.instance.read_invocation(KIND, KEY) == NotKnown()


def test_a_wholly_purged_act_is_not_known(worlds: list[World]) -> None:
    """read invocation 12, WHY: the destroyed payload carried the key; before the rebuild and after it."""
    world = World(deployment_with(retention_period=640 * SECOND))
    worlds.append(world)
    world.close(world.opened())
    world.passes(641)
    world.steward.purge()
    assert world.instance.read_invocation(KIND, KEY) == NotKnown()
    world.instance = world.node()
    assert world.instance.read_invocation(KIND, KEY) == NotKnown()


def test_reading_takes_and_writes_nothing(world: World) -> None:
    """read invocation 13, 14."""
    world.opened()
    world.trail.recorded.clear()
    held = world.held()
    report(world)
    assert (world.held(), world.trail.recorded) == (held, [])


# The maps.


class Gapped:
    """A journal of which one record becomes visible only later: numbers are allocated before they land."""

    def __init__(self, inner: trail.Trail, hidden: int) -> None:
        self.inner = inner
        self.hidden: int | None = hidden

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> trail.RangeAnswer:
        page = self.inner.read_range(after, limit, behind_writers=behind_writers)
        assert isinstance(page, trail.Page)
        records = tuple(record for record in page.records if record.sequence_number != self.hidden)
        return replace(page, records=records)


@pytest.mark.parametrize("seconds, seen", [(5, True), (5.000001, False)])
def test_the_mark_passes_a_number_only_once_the_settle_bound_has(
    world: World, seconds: float, seen: bool
) -> None:
    """sequence high water 2: 3 + 2 s after a number was recorded, nothing lands below it any more."""
    act = world.opened()
    other = world.opened(key="act-2")
    number = next(
        record.sequence_number for record in world.journal() if record.event_id == act.intent_event_id
    )
    gapped = Gapped(world.audit, number)
    figures = world.deployment.figures
    kinds = world.deployment.kinds
    indexes = Indexes(gapped, kinds, figures, world.clock, in_order=False)  # type: ignore[arg-type]
    world.passes(seconds - 0.000001)
    assert isinstance(indexes.refresh(), list)
    gapped.hidden = None
    assert isinstance(indexes.refresh(), list)
    assert [intent.invocation_id for intent in indexes.open_intents((KIND, KEY), world.clock.now())] == (
        [act.invocation_id] if seen else []
    )
    assert isinstance(indexes.rebuild(), list)  # sequence high water 4: a rebuild finds it, come what may
    assert len(indexes.every_open_intent()) == 2
    assert other.invocation_id == "inv-2"


def test_every_map_can_be_made_again_from_the_journal(world: World) -> None:
    """sequence high water 6; all that is kept is derived, whatever path it came by."""
    for number in range(4):
        act = world.opened(key=f"act-{number}")
        if number % 2:
            world.close(act, key=f"act-{number}")
    world.passes(40)
    world.instance.reconcile()
    world.instance.parties.indexes.refresh()
    maps = world.instance.parties.indexes.maps
    world.instance.parties.indexes.rebuild()
    again = world.instance.parties.indexes.maps
    assert again is not maps
    assert again.invocations == maps.invocations
    assert again.open_invocations == maps.open_invocations
    assert (again.counts, again.escalated) == (maps.counts, maps.escalated)
    started = world.node().parties.indexes.maps
    assert (started.invocations, started.open_invocations) == (again.invocations, again.open_invocations)
    assert (started.counts, started.escalated) == (again.counts, again.escalated)
    assert (again.mark, again.unsettled) == (maps.mark, maps.unsettled)


def test_a_rebuild_that_fails_leaves_the_maps_as_they_were(world: World) -> None:
    world.opened()
    world.trail.down = True
    indexes = world.instance.parties.indexes
    assert isinstance(indexes.rebuild(), trail.Unavailable)
    assert len(indexes.every_open_intent()) == 1


def test_a_journal_of_many_pages_is_read_to_its_end(worlds: list[World]) -> None:
    """Capability requirement 2: until the page says that it is complete."""
    world = World()
    worlds.append(world)
    world.audit.caps = trail.Caps(page=3)
    acts = [world.opened(key=f"act-{number}") for number in range(7)]
    indexes = world.instance.parties.indexes
    assert isinstance(indexes.rebuild(), list)
    assert [intent.invocation_id for intent in indexes.every_open_intent()] == [
        act.invocation_id for act in acts
    ]


@pytest.mark.parametrize(
    "ref, data",
    [
        ("ledger.disclosed", {"kind": "grant", "act_key": KEY, "invocation_id": "inv-1"}),
        ("ledger.disclosed", {"kind": KIND, "invocation_id": "inv-1"}),
        ("ledger.disclosed", {"kind": KIND, "act_key": KEY}),
        ("ledger.sold", {"kind": KIND, "act_key": KEY, "invocation_id": "inv-1"}),
        ("ledger", {"kind": "ledger", "act_key": KEY, "invocation_id": "inv-1"}),
    ],
)
def test_what_is_no_record_of_the_protocol_closes_nothing(
    world: World, ref: str, data: dict[str, str]
) -> None:
    """journal 4, Primitive policy 5: an outcome by membership, joined on the invocation's id alone."""
    world.opened()
    world.audit.record_action(ref, "erin", world.credentials["erin"], data)
    (entry,) = report(world).invocations
    assert entry.state is State.OPEN


def test_an_invocation_is_held_only_while_it_is_open(world: World) -> None:
    """The maps of a long journal stay small: what is closed is read from the journal by its act."""
    act = world.opened()
    indexes = world.instance.parties.indexes
    held = indexes.of((KIND, KEY), act.invocation_id)
    world.close(act)
    assert (indexes.maps.invocations, indexes.maps.open_invocations) == ({}, {})
    found = indexes.of((KIND, KEY), act.invocation_id)
    assert isinstance(held, Invocation)
    assert isinstance(found, Invocation)
    assert (found.intents, len(found.closings)) == (held.intents, 1)
    assert isinstance(found.intents[0], Intent)
    assert indexes.of((KIND, "act-9"), act.invocation_id) == Invocation()


# The start.


def test_an_instance_does_not_start_on_a_failing_condition(world: World) -> None:
    """Instance start 3: the walkthrough's earlier draft."""
    refused = deployment_with(closure_latency=5 * SECOND)
    with pytest.raises(
        StartRefused, match=r"condition 5 of ledger fails: write closure_latency: more than 9 s"
    ):
        world.node(deployment=refused)


def test_an_instance_does_not_start_on_a_repaired_condition_either(world: World) -> None:
    refused = deployment_with(compensation_window=560 * SECOND, commit_fence=Fence("deadline parameter"))
    with pytest.raises(StartRefused, match="condition 1 repaired of ledger fails"):
        world.node(deployment=refused)


def test_an_instance_does_not_start_without_its_journal(world: World) -> None:
    world.trail.down = True
    with pytest.raises(StartRefused, match="the journal cannot be read: down"):
        world.node()


def test_instances_of_other_names_bind_their_own_kinds(worlds: list[World]) -> None:
    """Two instances over one journal: what the one serves, the other leaves out without unbinding it."""
    deployment = deployment_with()
    grants = replace(deployment.kinds[KIND], name="grant", outcomes=("granted",))
    other = replace(deployment, name="grants", kinds={"grant": grants})
    world = World(replace(deployment, kinds={KIND: deployment.kinds[KIND], "grant": grants}))
    worlds.append(world)
    world.store_forgets_bindings()
    world.node(deployment=other).open("grant", KEY, "dana", world.credentials["dana"], DATA)
    world.node(deployment=deployment)
    with pytest.raises(StartRefused, match="leaves out grant with intents open"):
        world.node(deployment=replace(deployment, name="grants"))


def test_a_kind_is_not_unbound_over_an_open_intent(worlds: list[World]) -> None:
    """Binding 2, 3: refused with the reason on the register; with the intent closed, it goes."""
    deployment = deployment_with()
    other = replace(deployment.kinds[KIND], name="grant", outcomes=("granted",))
    both = replace(deployment, kinds={KIND: deployment.kinds[KIND], "grant": other})
    world = World(both)
    worlds.append(world)
    world.instance.open("grant", KEY, "dana", world.credentials["dana"], DATA)
    with pytest.raises(StartRefused, match="leaves out grant with intents open"):
        world.node(deployment=deployment)
    (finding,) = world.instance.findings()
    assert (finding.finding.value, finding.kind, finding.invocation_id) == ("unbound-kind", "grant", "inv-1")
    world.passes(40)
    world.says = StoreUnavailable("down")
    world.instance.reconcile()
    with pytest.raises(StartRefused):
        world.node(deployment=deployment)
    world.commits()
    world.instance.reconcile()
    assert world.refs()[-1] != "disclosed"  # the probe's outcome is none of grant's: it is escalated
    world.node(deployment=deployment)
    world.node(deployment=both)
    assert OUTCOME not in both.kinds["grant"].outcome_refs
