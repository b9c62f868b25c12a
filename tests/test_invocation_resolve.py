"""Resolve and which closing stands: what an operator may write over what, and how every surface reads it.

Expected values are the text's rules, named at each test; times are the walkthrough's: an intent is aged from
32 s on.
"""

import itertools
from collections.abc import Iterator

import pytest

import invocation_world as world_of
from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    AlreadyAccounted,
    Disposition,
    Escalate,
    InvalidRequest,
    NotCommitted,
    NotKnown,
    Opened,
    Outcome,
    Resolved,
    ResolveRefusal,
    SectionUnavailable,
    State,
)
from falsework.runtime.invocation.records import Closing, Sort
from falsework.runtime.invocation.standing import duplicated, standing, state
from invocation_world import KEY, KIND, OUTCOME, SECOND, World, deployment_with


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


def aged(world: World) -> Opened:
    """An act whose invocation has died, old enough for anybody."""
    act = world.opened()
    world.passes(40)
    return act


def escalated(world: World) -> Opened:
    """An act that the sweep could not decide."""
    act = aged(world)
    world.says = NotCommitted()
    world.node(word="run").reconcile()
    assert world.refs()[-1] == "escalated"
    return act


def read_state(world: World) -> State:
    (entry,) = world.instance.read_invocation(KIND, KEY).invocations  # type: ignore[union-attr]
    assert not entry.binding_duplicate
    state: State = entry.state
    return state


# What may be written over what.


@pytest.mark.parametrize(
    "disposition, ref, state",
    [
        (Outcome(OUTCOME, {"disclosure_id": "dsc-9"}), "disclosed", State.CLOSED),
        (Abandon("the store has been quiet"), "abandoned", State.RESOLVED),
        (Escalate(("dsc-1", "dsc-2")), "escalated", State.ESCALATED),
    ],
)
@pytest.mark.parametrize("stands", [False, True])
def test_an_operator_closes_what_is_open_or_escalated(
    world: World, disposition: Disposition, ref: str, state: State, stands: bool
) -> None:
    """resolve 13 to 15, 20, 21: under the operator's credential, naming the caller and what it supersedes."""
    act = escalated(world) if stands else aged(world)
    before = world.journal()[-1]
    answer = world.resolve(act, disposition)
    closing = world.journal()[-1]
    assert answer == Resolved(closing.event_id)
    assert (closing.action_ref, closing.actor_ref) == (f"ledger.{ref}", "olga")
    data = world.last()
    assert (data["recovery"], data["resolved_by"], data["acting_actor_ref"]) == (True, "olga", "dana")
    assert data.get("supersedes") == (before.event_id if stands else None)
    assert "recovery_intended" not in world.refs()
    assert read_state(world) is state
    assert world.held() is None


@pytest.mark.parametrize(
    "disposition, refusal",
    [
        (Outcome(OUTCOME, {}), None),  # resolve 16
        (Abandon("again"), ResolveRefusal.ALREADY_ABANDONED),  # resolve 17
        (Escalate(()), ResolveRefusal.ALREADY_ABANDONED),  # resolve 16: an outcome alone
    ],
)
def test_only_an_outcome_supersedes_an_abandonment(
    world: World, disposition: Disposition, refusal: ResolveRefusal | None
) -> None:
    act = escalated(world)
    world.resolve(act, Abandon("quiet"))
    abandonment = world.journal()[-1].event_id
    answer = world.resolve(act, disposition)
    if refusal is None:
        assert isinstance(answer, Resolved)
        assert world.last()["supersedes"] == abandonment
        assert read_state(world) is State.CLOSED  # the chain of three counts as one closing
    else:
        assert isinstance(answer, InvalidRequest)
        assert answer.code == "invalid-request(already-abandoned)"
        assert world.journal()[-1].event_id == abandonment


def test_an_accounted_act_is_not_resolved(world: World) -> None:
    """resolve 9: an outcome, or a refusal."""
    act = world.opened()
    world.close(act)
    outcome = world.journal()[-1].event_id
    assert world.resolve(act, Abandon("x")) == AlreadyAccounted(outcome)
    second = world.opened()
    world.refuse(second)
    assert world.resolve(second, Abandon("x")) == AlreadyAccounted(world.journal()[-1].event_id)


def test_a_young_intent_is_not_abandoned(world: World) -> None:
    """resolve 18: 30 s of the act and 2 s of allowance, by the operator's own clock (19).

    Nor is it escalated: that would let another begin beside it (docs/holes.md).
    """
    act = world.opened()
    world.instance.yield_act(KIND, KEY, act.invocation_id)
    world.passes(31.999999)
    answer = world.resolve(act, Abandon("x"))
    assert answer.code == "invalid-request(too-young)"
    assert world.resolve(act, Escalate(())).code == "invalid-request(too-young)"
    assert isinstance(world.resolve(act, Outcome(OUTCOME, {})), Resolved)


def test_an_operators_clock_decides_by_its_own_reading(worlds: list[World]) -> None:
    world = World()
    worlds.append(world)
    act = world.opened()
    world.instance.yield_act(KIND, KEY, act.invocation_id)
    world.passes(33)
    world.instance = world.node(offset=-2 * SECOND)
    assert world.resolve(act, Abandon("x")).code == "invalid-request(too-young)"
    world.passes(1)
    assert isinstance(world.resolve(act, Abandon("x")), Resolved)


@pytest.mark.parametrize(
    "disposition, code",
    [
        (Outcome("ledger.sold", {}), "malformed"),
        (Outcome(OUTCOME, {"kind": "x"}), "malformed"),
        (Abandon(""), "malformed"),
        (Escalate(("",)), "malformed"),
        (Escalate(("x" * 257,)), "malformed"),
        (Escalate(tuple(map(str, range(21)))), "candidates-over-cap"),  # resolve 28
    ],
)
def test_a_malformed_resolution_takes_nothing(world: World, disposition: Disposition, code: str) -> None:
    act = aged(world)
    world.trail.recorded.clear()
    assert world.resolve(act, disposition).code == f"invalid-request({code})"
    assert (world.trail.recorded, world.refs()) == ([], ["intended"])


def test_a_section_that_is_held_is_unavailable(world: World) -> None:
    """resolve 4 to 6."""
    act = world.opened()
    host = world.instance.parties.section.host

    def another_is_faster() -> None:
        world.passes(30)
        host.take(f"{KIND}:{KEY}", "another", 5 * SECOND)

    world.waiter.events.append(another_is_faster)
    assert world.resolve(act, Escalate(())) == SectionUnavailable()


def rivals(world: World, *sorts: str) -> Opened:
    """An aged act with closings that name nobody, as writers leave them where no fence is."""
    act = aged(world)
    data: trail.Data = {
        "invocation_id": act.invocation_id,
        "intent_event_id": act.intent_event_id,
        "kind": KIND,
        "act_key": KEY,
        "recovery": True,
    }
    for sort in sorts:
        world.audit.record_action(f"ledger.{sort}", "erin", world.credentials["erin"], data)
    return act


@pytest.mark.parametrize(
    "sorts, disposition, code",
    [
        (("escalated", "escalated"), Outcome(OUTCOME, {}), None),
        (("escalated", "refused"), Abandon("x"), None),
        (("escalated", "disclosed"), Outcome(OUTCOME, {}), None),
        (("disclosed", "disclosed"), Outcome(OUTCOME, {}), None),
        (("disclosed", "escalated"), Abandon("x"), "already-accounted"),
        (("abandoned", "escalated"), Escalate(()), None),
        (("refused", "abandoned"), Abandon("x"), None),
    ],
)
def test_rivals_are_resolved_by_naming_them_all(
    world: World, sorts: tuple[str, ...], disposition: Disposition, code: str | None
) -> None:
    """journal fence none 4: a duplicate is resolved, by an outcome alone where one is among the rivals."""
    act = rivals(world, *sorts)
    (before,) = world.instance.read_invocation(KIND, KEY).invocations  # type: ignore[union-attr]
    assert before.binding_duplicate
    answer = world.resolve(act, disposition)
    if code is None:
        assert isinstance(answer, Resolved)
        assert world.last()["supersedes"] == [record.event_id for record in world.journal()[1:-1]]
        read_state(world)
    else:
        assert answer.code.partition(f"({world.journal()[1].event_id}")[0] == code


# Whether there is an intent at all.


def test_an_id_without_an_intent_is_not_known(world: World) -> None:
    """resolve 10: and an event that is another invocation's intent is none of this one's."""
    act, other = aged(world), world.opened(key="act-2")
    assert world.resolve(Opened("inv-99", "0" * 32), Abandon("x")) == NotKnown()
    assert world.resolve(Opened(act.invocation_id, other.intent_event_id), Abandon("x")) == NotKnown()
    assert world.resolve(Opened("inv-99", act.intent_event_id), Abandon("x")) == NotKnown()


def test_a_destroyed_intent_is_purged_and_not_absent(worlds: list[World]) -> None:
    """resolve 11, 12."""
    world = World(deployment_with(retention_period=640 * SECOND))
    worlds.append(world)
    act = world.opened()
    world.passes(641)
    assert isinstance(world.steward.purge(), trail.Recorded)
    world.instance = world.node()
    assert world.resolve(act, Abandon("x")).code == "invalid-request(purged)"


def test_an_intent_past_its_horizon_is_not_resolved(worlds: list[World]) -> None:
    """640 - 2 s: its closings may be destroyed, and a second one would be its first (docs/holes.md)."""
    world = World(deployment_with(retention_period=640 * SECOND))
    worlds.append(world)
    act = world.opened()
    world.passes(637.999999)
    assert isinstance(world.resolve(act, Escalate(())), Resolved)
    world.passes(0.000001)
    assert world.resolve(act, Outcome(OUTCOME, {})).code == "invalid-request(purged)"


def test_an_outage_is_neither_absent_nor_purged(world: World) -> None:
    """Capability requirement 9, 10."""
    act = aged(world)
    world.trail.down = True
    answer = world.resolve(act, Abandon("x"))
    assert answer.code == "recording-failure(resolution)"
    assert answer.may_retry
    world.trail.down = False

    def only_the_record_is_out_of_reach(event_id: str) -> trail.ReadAnswer:
        return trail.Unavailable("down")

    world.trail.read_record = only_the_record_is_out_of_reach  # type: ignore[method-assign]
    assert world.resolve(act, Abandon("x")).code == "recording-failure(resolution)"


@pytest.mark.parametrize(
    "fault, code",
    [
        (world_of.refused, "invalid-credential"),  # resolve 3
        (world_of.unpayable, "invalid-request(malformed)"),
        (world_of.unattested, "recording-failure(resolution)"),  # resolve 26
        (world_of.failed, "recording-failure(resolution)"),
        (world_of.lost_before, "recording-failure(resolution)"),
        (world_of.lost, None),
        (world_of.unplaced, None),  # resolve 24
        (world_of.undeclared, None),
    ],
)
def test_the_resolutions_arms(world: World, fault: world_of.Answer, code: str | None) -> None:
    """Nothing is written twice (resolve 25), and the section is given back."""
    act = aged(world)
    world.trail.recorded.clear()
    world.trail.writes.append(fault)
    answer = world.resolve(act, Abandon("quiet"))
    if code is None:
        assert answer == Resolved(world.journal()[-1].event_id)
        assert world.refs() == ["intended", "abandoned"]
    else:
        assert answer.code == code
        assert world.refs() == ["intended"]
    late = fault in (world_of.unplaced, world_of.undeclared)
    assert world.bell.rung == (["resolution appended late"] if late else [])
    assert len(world.trail.recorded) == 1
    assert world.held() is None


def test_an_operator_needs_the_operators_own_credential(world: World) -> None:
    act = aged(world)
    answer = world.instance.resolve(
        KIND,
        KEY,
        act.invocation_id,
        act.intent_event_id,
        "olga",
        world.credentials["dana"],
        Abandon("x"),
    )
    assert answer.code == "invalid-credential"  # type: ignore[union-attr]
    assert world.refs() == ["intended"]


# Which closing stands.


def closing(name: str, number: int, sort: Sort, *names: str, by: str | None = None) -> Closing:
    return Closing(
        *(name, number, number, "x", "k.x", "inv", "k", "act"),
        sort,
        recovery=True,
        resolved_by=by,
        supersedes=names,
    )


E, A, R = Sort.ESCALATED, Sort.ABANDONED, Sort.REFUSED
OK = Sort.OUTCOME


@pytest.mark.parametrize(
    "closings, stands, rivals",
    [
        ([], None, False),
        ([closing("e", 1, E)], "e", False),
        ([closing("e", 1, E), closing("a", 2, A, "e")], "a", False),
        ([closing("e", 1, E), closing("a", 2, A, "e"), closing("o", 3, OK, "a")], "o", False),  # transitive
        ([closing("o", 1, OK), closing("p", 2, OK)], "o", True),  # 7: the lowest number
        ([closing("p", 2, OK), closing("o", 1, OK)], "o", True),  # 7: whatever the order of reading
        ([closing("a", 1, A, "e"), closing("e", 2, E)], "a", False),  # 8: position decides against no name
        ([closing("e", 1, E), closing("a", 2, A, "e"), closing("o", 3, OK)], "a", True),  # a late outcome
        ([closing("e", 1, E), closing("f", 2, E), closing("o", 3, OK, "e", "f")], "o", False),
        ([closing("e", 1, E, "elsewhere")], "e", False),
    ],
)
def test_what_no_other_names_stands(closings: list[Closing], stands: str | None, rivals: bool) -> None:
    """Which closing stands 2, 4, 5, 7, 8."""
    found = standing(closings)
    assert (None if found is None else found.event_id) == stands
    assert duplicated(closings) is rivals


def reachable(closings: list[Closing], first: Closing) -> set[str]:
    """The closing and whatever it supersedes, and that supersedes, and so on."""
    by_name = {found.event_id: found for found in closings}
    reached: set[str] = set()
    left = [first.event_id]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += by_name[name].supersedes
    return reached


def test_names_are_read_transitively_whatever_they_are() -> None:
    """Which closing stands 5: the standing closing and all that it reaches are one; all else rivals it.

    All 64 ways in which four closings may name earlier ones, against the reachable set.
    """
    pairs = list(itertools.combinations("abcd", 2))
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        names = {pair for pair, is_named in zip(pairs, chosen, strict=True) if is_named}
        closings = [
            closing(later, number, E, *(earlier for earlier in "abcd" if (earlier, later) in names))
            for number, later in enumerate("abcd", 1)
        ]
        stands = standing(closings)
        assert stands is not None
        assert not any(earlier == stands.event_id for earlier, _ in names)
        assert duplicated(closings) is (reachable(closings, stands) != set("abcd"))


@pytest.mark.parametrize(
    "last, expected",
    [
        (closing("x", 2, OK), State.CLOSED),
        (closing("x", 2, OK, by="olga"), State.CLOSED),
        (closing("x", 2, R), State.REFUSED),
        (closing("x", 2, A), State.ABANDONED),
        (closing("x", 2, A, by="olga"), State.RESOLVED),
        (closing("x", 2, E, by="olga"), State.ESCALATED),
    ],
)
def test_the_standing_closing_projects_the_state(last: Closing, expected: State) -> None:
    assert state([]) is State.OPEN
    assert state([last]) is expected
