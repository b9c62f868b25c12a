"""Open, step by step: what it takes, reads and writes, and every code that it refuses with.

Expected values are the text's rules, named at each test; times are the walkthrough's: an invocation holds its
section for 30 s, a write takes 3 s at most, the clocks differ by 2 s at most.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import invocation_world as world_of
from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    ActInFlight,
    ActLanded,
    InvalidCredential,
    InvalidRequest,
    JournalUnavailable,
    Misuse,
    Opened,
    Position,
    RecordingFailure,
    SectionUnavailable,
)
from falsework.runtime.invocation.findings import Condition
from falsework.runtime.invocation.indexes import Maps
from falsework.runtime.invocation.instance import Instance
from invocation_world import DATA, JOURNAL_FENCE, KEY, KIND, SECOND, World, deployment_with


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.end()


@pytest.fixture
def worlds() -> Iterator[list[World]]:
    made: list[World] = []
    yield made
    for one in made:
        one.end()


# Steps 1, 2, 4 and 5 where nothing is in the way.


def test_an_open_act_has_its_intent_and_its_section(world: World) -> None:
    """open step 2.1, 4.3, 5.2, 5.3; Primitive policy 2, 4, 6, 9, 11."""
    act = world.opened()
    (intent,) = world.journal()
    assert (intent.action_ref, intent.actor_ref, intent.event_id) == (
        "ledger.intended",
        "dana",
        act.intent_event_id,
    )
    assert intent.data == {**DATA, "invocation_id": "inv-1", "kind": KIND, "act_key": KEY}
    assert world.held() == "inv-1"
    row = world.instance.parties.section.host.recorded("ledger:act-1")
    assert row is not None
    assert row.expires_at == world.clock.now() + 30 * SECOND


def test_two_kinds_with_one_key_are_two_acts() -> None:
    """open invocations, WHY: byte-equal keys of two kinds."""
    deployment = deployment_with()
    other = replace(deployment.kinds[KIND], name="grant", outcomes=("granted",))
    world = World(replace(deployment, kinds={KIND: deployment.kinds[KIND], "grant": other}))
    world.opened()
    answer = world.instance.open("grant", KEY, "dana", world.credentials["dana"], DATA)
    assert isinstance(answer, Opened)
    kinds = [record.action_ref for record in world.journal()]  # journal 1: both in one
    assert kinds == [f"{KIND}.intended", "grant.intended"]
    world.end()


@pytest.mark.parametrize(
    "actor, key, data, told",
    [
        ("dana", "", DATA, "act_key is ''"),
        ("dana", "a\nb", DATA, "act_key is 'a\\nb'"),
        ("dana", "k" * 257, DATA, "act_key has 257 characters"),
        ("dana", "k" * 250, DATA, "act_key has 250 characters: with the kind's name"),
        ("ledger-reconciler", KEY, DATA, "the identity that closes acts"),  # open step 1.2
        ("dana", KEY, {**DATA, "kind": "x"}, "intent_data carries kind"),
        ("dana", KEY, {**DATA, "recorded_at": 1}, "intent_data carries recorded_at"),  # Primitive policy 10
        ("dana", KEY, {}, "intent_data lacks disclosed_at"),  # pairing datum 1
        ("dana", KEY, {**DATA, "note": "x" * 65_536}, "the intent would take"),  # open step 1.4
        ("dana", KEY, {**DATA, "note": 0.5}, "intent_data cannot be recorded"),
    ],
)
def test_a_bad_request_writes_nothing(
    world: World, actor: str, key: str, data: dict[str, object], told: str
) -> None:
    """open step 1.1 to 1.5: not even the section is taken."""
    answer = world.open(actor, key, data)
    assert isinstance(answer, InvalidRequest)
    assert told in answer.detail
    assert (world.journal(), world.trail.recorded) == ([], [])
    assert world.instance.parties.section.host.recorded(f"ledger:{key}" if key.isprintable() else "x") is None


def test_an_empty_credential_is_a_bad_request(world: World) -> None:
    answer = world.instance.open(KIND, KEY, "dana", "", DATA)
    assert answer == InvalidRequest("credential is empty")


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"outcome_envelope": 65_000}, "the outcome, as large as outcome_envelope says"),
        ({"intent_candidates_cap": 300}, "the escalation with every candidate"),
    ],
)
def test_the_outcome_is_sized_before_the_intent(
    worlds: list[World], changes: dict[str, int], told: str
) -> None:
    """Invariant 6.2: what the largest closing could not hold is refused while nothing has happened."""
    world = World(deployment_with(**changes))
    worlds.append(world)
    answer = world.open()
    assert isinstance(answer, InvalidRequest)
    assert told in answer.detail
    assert world.journal() == []


def test_a_kind_that_nobody_declared_is_a_mistake_of_the_program(world: World) -> None:
    with pytest.raises(Misuse, match="binds no kind 'payment', but ledger"):
        world.instance.open("payment", KEY, "dana", world.credentials["dana"], DATA)


# Step 2: the section.


def test_a_section_that_is_not_given_back_is_waited_for_and_then_unavailable(world: World) -> None:
    """open step 2.2, 2.3: no longer than the holder's remaining lease, and another takes it at its end."""
    host = world.instance.parties.section.host
    host.take("ledger:act-1", "somebody", 10 * SECOND)
    begun = world.clock.now()

    def another_is_faster() -> None:
        world.passes(10)
        host.take("ledger:act-1", "another", 10 * SECOND)

    world.waiter.events.append(another_is_faster)
    assert world.open() == SectionUnavailable()
    assert world.clock.now() - begun == 10 * SECOND
    assert world.journal() == []


def test_a_second_caller_waits_for_the_first_and_then_opens(world: World) -> None:
    """The text's second invocation: it takes the section once the first has closed, and finds nothing."""
    first = world.opened()
    world.waiter.events.append(lambda: world.close(first))
    second = world.opened("erin")
    assert world.refs() == ["intended", "disclosed", "intended"]
    assert world.held() == second.invocation_id


# Step 3: what stands in the way.


def test_an_intent_in_flight_is_in_the_way(world: World) -> None:
    """open step 3.4, 3.5: its holder died, its lease ended, and for 2 s more it counts as at work."""
    act = world.opened()
    world.passes(31)
    assert world.open("erin") == ActInFlight(act.invocation_id)
    assert world.held() is None
    assert world.refs() == ["intended"]


def test_an_aged_intent_waits_for_the_sweep(world: World) -> None:
    """open step 3.6, 3.7."""
    act = world.opened()
    world.passes(500)
    answer = world.open("erin")
    assert answer == ActInFlight(act.invocation_id)
    assert answer.code == "act-in-flight(inv-1)"
    assert world.held() is None


def test_without_an_identity_an_aged_intent_is_passed_and_surfaced(worlds: list[World]) -> None:
    """open step 3.8: the old one stays open, and an operator hears of it; a younger one is in the way."""
    world = World(deployment_with(service_identity=None))
    worlds.append(world)
    old = world.opened()
    world.passes(31)
    assert world.open("erin") == ActInFlight(old.invocation_id)
    world.passes(1)
    second = world.opened("erin")
    (finding,) = world.instance.findings()
    assert (finding.finding, finding.invocation_id) == (Condition.CLOSURE_AT_RISK, old.invocation_id)
    assert second.invocation_id in finding.detail
    assert world.refs() == ["intended", "intended"]


def test_an_act_that_is_not_repeatable_lands_once(worlds: list[World]) -> None:
    """open step 3.9; the sweep's outcome counts as well as the invocation's own."""
    world = World(deployment_with(repeatable=False))
    worlds.append(world)
    world.opened()
    world.passes(40)
    world.commits()
    world.instance.reconcile()
    answer = world.open("erin")
    assert answer == ActLanded(world.journal()[-1].event_id)
    assert world.held() is None


def test_an_act_that_nobody_can_decide_is_not_begun_again(worlds: list[World]) -> None:
    """Where an act may happen once, an escalation keeps its key until an operator has resolved it."""
    for repeatable in (False, True):
        world = World(deployment_with(repeatable=repeatable))
        worlds.append(world)
        act = world.opened()
        world.passes(40)
        world.instance.reconcile()
        assert world.refs() == ["intended", "escalated"]
        if repeatable:
            assert isinstance(world.open("erin"), Opened)
            continue
        assert world.open("erin") == ActInFlight(act.invocation_id)
        world.resolve(act, Abandon("quiet"))
        assert isinstance(world.open("erin"), Opened)


def test_without_an_identity_an_act_that_may_happen_once_is_not_passed(worlds: list[World]) -> None:
    """An aged intent may have committed: open step 3.8 is for what may happen again."""
    world = World(deployment_with(service_identity=None, repeatable=False))
    worlds.append(world)
    act = world.opened()
    world.passes(40)
    assert world.open("erin") == ActInFlight(act.invocation_id)


def test_a_refused_attempt_does_not_land_the_act(worlds: list[World]) -> None:
    """open step 3.9b asks for an outcome, and a refusal is none."""
    world = World(deployment_with(repeatable=False))
    worlds.append(world)
    world.refuse(world.opened())
    assert isinstance(world.open("erin"), Opened)


def test_an_intent_past_its_retention_is_in_nobodys_way(worlds: list[World]) -> None:
    """sequence high water 5: the drop is on read, for a purge writes no record of its own."""
    world = World(deployment_with(retention_period=640 * SECOND))
    worlds.append(world)
    world.opened()
    world.passes(640)
    assert isinstance(world.open("erin"), ActInFlight)
    world.passes(0.000001)
    assert isinstance(world.open("erin"), Opened)


def test_another_nodes_intent_is_seen_without_a_rebuild(world: World) -> None:
    """open step 3.3: a local absence is no miss."""
    act = world.opened()
    world.passes(30)
    node = world.node()
    assert node.open(KIND, KEY, "erin", world.credentials["erin"], DATA) == ActInFlight(act.invocation_id)


def test_a_journal_that_cannot_be_read_is_not_an_empty_one(world: World) -> None:
    """open step 3.13."""
    world.trail.down = True
    assert world.open() == JournalUnavailable("down")
    assert world.held() is None
    assert world.trail.recorded == []


def test_a_read_that_uses_up_the_lease_writes_nothing(world: World) -> None:
    """open step 3.11, 3.12, 4.1, 4.2: 3 s must be left for a write."""

    class SlowTrail:
        def __getattr__(self, name: str) -> object:
            return getattr(world.trail, name)

        def read_range(self, after: int, **options: bool) -> trail.RangeAnswer:
            world.passes(self.seconds)
            return world.trail.read_range(after, **options)

        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

    for seconds, expected in ((27.000001, SectionUnavailable), (27, Opened)):
        world.instance.parties.indexes.trail = SlowTrail(seconds)  # type: ignore[assignment]
        assert isinstance(world.open(key=f"k{seconds}"), expected)
        assert (world.held(f"k{seconds}") is None) is (expected is SectionUnavailable)
    assert len(world.journal()) == 1


def test_a_read_that_outlasts_the_lease_names_nobody(world: World) -> None:
    """open step 3.12 has no exception: what was read without the section is nothing to answer by."""
    world.opened()
    world.passes(30)  # the first one's lease has ended, and its intent is in the way of another
    read = world.trail.read_range

    def slow(after: int, limit: int | None = None, *, behind_writers: bool = False) -> trail.RangeAnswer:
        page = read(after, limit, behind_writers=behind_writers)
        world.passes(30)  # as long as the second one's lease
        return page

    world.trail.read_range = slow  # type: ignore[method-assign]
    assert world.open() == SectionUnavailable()


@pytest.mark.parametrize("seconds, expected", [(0.3, Opened), (1.1, JournalUnavailable)])
def test_a_read_is_bounded_however_many_pages_it_has(
    world: World, seconds: float, expected: type[object]
) -> None:
    """open step 3.10: five pages of 0.3 s fit into 2 s; of 1.1 s the second one ends past them."""
    for number in range(3):
        world.close(world.opened(key=f"act-{number}"), key=f"act-{number}")
    world.audit.caps = trail.Caps(page=3)  # 6 records of the trail's own and 6 of these: 4 pages and the end
    world.instance.parties.indexes.maps = Maps()
    inner = world.trail.read_range

    def slow(after: int, limit: int | None = None, *, behind_writers: bool = False) -> trail.RangeAnswer:
        world.passes(seconds)
        return inner(after, limit, behind_writers=behind_writers)

    world.trail.read_range = slow  # type: ignore[method-assign]
    assert isinstance(world.open("erin", key="act-9"), expected)
    assert (world.held("act-9") is None) is (expected is JournalUnavailable)


def test_no_action_takes_the_time_or_an_invocation_that_it_makes() -> None:
    """Primitive policy 14, 17; close 3: what an action is told, and that its clock is none of it."""
    for name in ("open", "close", "refuse", "yield_act", "resolve", "reconcile", "read_invocation"):
        told = list(inspect.signature(getattr(Instance, name)).parameters)[1:]
        assert "now" not in told
        assert told[:1] == ([] if name == "reconcile" else ["kind"])  # act section 4
        assert ("intent_event_id" in told) is (name in {"close", "refuse", "resolve"})


def test_an_actor_beyond_the_cap_is_refused(world: World) -> None:
    """Primitive policy 7, 8."""
    answer = world.instance.open(KIND, KEY, "d" * 257, "x", DATA)
    assert answer == InvalidRequest("actor_ref has 257 characters: 256 are the cap")


# Step 4: the intent's position.


@pytest.mark.parametrize(
    "fault, code, landed",
    [
        (world_of.refused, "invalid-credential", 0),  # Primitive policy 19
        (world_of.unpayable, "invalid-request", 0),  # Primitive policy 22
        (world_of.unknown_actor, "invalid-request", 0),
        (world_of.undeclared_and_gone, "invalid-request", 0),  # Primitive policy 22: read back, nothing
        (world_of.unattested, "recording-failure(intent)", 0),  # Primitive policy 23
        (world_of.failed, "recording-failure(intent)", 0),
        (world_of.lost_before, "recording-failure(intent)", 0),  # Primitive policy 37
    ],
)
def test_an_intent_that_does_not_land_gives_the_section_back(
    world: World, fault: world_of.Answer, code: str, landed: int
) -> None:
    world.trail.writes.append(fault)
    answer = world.open()
    assert answer.code == code
    assert len(world.journal()) == landed
    assert world.held() is None
    assert len(world.trail.recorded) == 1  # Primitive policy 26, 33: nothing is written again


@pytest.mark.parametrize("fault", [world_of.unplaced, world_of.undeclared])
def test_an_intent_without_its_place_stands_with_an_alert(world: World, fault: world_of.Answer) -> None:
    """Primitive policy 21, 24, 25, 26."""
    world.trail.writes.append(fault)
    act = world.opened()
    assert act.intent_event_id == world.journal()[0].event_id
    assert world.bell.rung == ["intent appended late"]
    assert world.held() == act.invocation_id
    assert len(world.trail.recorded) == 1


def test_a_lost_reply_is_read_back_after_the_writes_bound_and_adopted(world: World) -> None:
    """Primitive policy 32 to 36: 3 s as the lease reports them."""
    world.trail.writes.append(world_of.lost)
    begun = world.clock.now()
    act = world.opened()
    assert act.intent_event_id == world.journal()[0].event_id
    assert world.clock.now() - begun == 3 * SECOND
    assert world.bell.rung == []


def test_an_intent_that_nobody_could_look_for_is_the_sweeps(world: World) -> None:
    """The intent may stand: no code may say that nothing was written."""
    world.trail.writes.append(world_of.lost)
    world.trail.reads.extend(["up", *["down"] * 99])
    answer = world.open()
    assert isinstance(answer, RecordingFailure)
    assert (answer.position, answer.may_retry) == (Position.OUTCOME, False)
    assert world.refs() == ["intended"]
    assert world.held() is None


def test_a_journal_that_comes_back_in_time_is_read_after_all(world: World) -> None:
    world.trail.writes.append(world_of.lost)
    world.trail.reads.extend(["up", "down", "down"])
    assert isinstance(world.open(), Opened)


def test_an_intent_that_lands_as_its_lease_ends_is_the_sweeps(world: World) -> None:
    """The section is the adopter's leave to commit: without it there is none."""

    def slowly(write: Callable[[], trail.RecordAnswer]) -> trail.RecordAnswer:
        answer = write()
        world.passes(30)
        return answer

    world.trail.writes.append(slowly)
    answer = world.open()
    assert answer.code == "recording-failure(outcome)"
    assert world.refs() == ["intended"]


def test_a_wrong_credential_is_refused_by_the_journal_itself(world: World) -> None:
    """Invariant 1: authentication precedes commitment."""
    answer = world.instance.open(KIND, KEY, "dana", world.credentials["erin"], DATA)
    assert isinstance(answer, InvalidCredential)
    assert (world.journal(), world.held()) == ([], None)


# The journal fence.


def test_each_write_carries_its_own_terminus(worlds: list[World]) -> None:
    """Allowance 7, 10: issue + 3 s - 1 s by the writer's own seam, whatever that reads."""
    world = World(deployment_with(**JOURNAL_FENCE))
    worlds.append(world)
    ahead = world.node(offset=SECOND)
    answer = ahead.open(KIND, KEY, "dana", world.credentials["dana"], DATA)
    assert isinstance(answer, Opened)
    (fence,) = world.trail.fences
    assert fence == trail.Fence("ledger:act-1", answer.invocation_id, world.clock.now() + 3 * SECOND)


def test_a_fenced_out_intent_did_not_land(worlds: list[World]) -> None:
    """journal fence 3: it lands on the position's own arm."""
    world = World(deployment_with(**JOURNAL_FENCE))
    worlds.append(world)
    world.pause.append(lambda: world.passes(2))  # past the write's terminus, well inside the lease
    answer = world.open()
    assert answer.code == "recording-failure(intent)"
    assert world.journal() == []
