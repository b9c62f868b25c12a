"""What was reported of systems like this one, made to happen here: docs/field-reports.md says which is which.

Each expected value is the lesson of the report, held against the protocol's own rules: an act has one
account, whoever dies, and nothing that was lost is taken for something that equals it.
"""

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from falsework.runtime import trail
from falsework.runtime.invocation import journal
from falsework.runtime.invocation.answers import (
    Closed,
    Committed,
    Opened,
    Outcome,
    Position,
    ProbeAnswer,
    RecordingFailure,
    Tally,
)
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.journal import Append, Landed, NotLanded, Why, Write
from falsework.runtime.invocation.metrics import metrics
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.trail.verify import verify
from invocation_world import KIND, OUTCOME, SECOND, HandClock, World, deployment_with, lost_before
from stores import BOTH, Place, placed

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "field-reports.md"
REPORTS = 31


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as made:
        yield made


@pytest.fixture
def world(place: Place) -> World:
    clock = HandClock()
    return World(store=place.open(clock=clock), clock=clock)


def tally(instance: Instance) -> Tally:
    answer = instance.reconcile()
    assert isinstance(answer, Tally), answer
    return answer


# Lost, doubled or stuck.


def test_nodes_that_replace_each_other_strand_no_act(world: World) -> None:
    """Each node opens an act and dies; the next one sweeps again and again, and not at its start alone."""
    acts: list[Opened] = []
    world.commits()
    for round_ in range(20):
        node = world.node()  # of the same name as the one before, its ids apart
        world.instance = node
        tally(node)  # at its start, when the last node's act is too young to be told
        acts.append(world.opened(key=f"act-{round_}"))
        world.passes(33)
        if round_ % 2:
            tally(node)
    world.passes(33)
    tally(world.node())
    found = world.node().parties.indexes
    assert {act.invocation_id for act in acts} & set(found.maps.invocations) == set()
    assert sum(found.counts().values()) == 20
    assert [record.action_ref for record in world.journal()].count(OUTCOME) == 20


def test_a_lost_intent_is_not_found_in_a_rivals_that_equals_it(world: World) -> None:
    """The first invocation's intent has the same bytes but for whose it is, and it has landed."""
    world.close(world.opened())
    world.trail.writes.append(lost_before)
    answer = world.open()
    assert isinstance(answer, RecordingFailure)
    assert (answer.position, world.refs().count("intended")) == (Position.INTENT, 1)


def test_a_lost_outcome_is_not_found_in_a_rivals_that_equals_it(world: World) -> None:
    """Two invocations of one act with equal outcomes: each closes with a record of its own."""
    first = world.opened()
    world.close(first)
    second = world.opened()
    world.trail.writes.append(lost_before)
    answer = world.close(second)
    assert isinstance(answer, Closed)
    outcomes = [record for record in world.journal() if record.action_ref == OUTCOME]
    named = [record.data["invocation_id"] for record in outcomes if record.data is not None]
    assert (named, answer.outcome_event_id) == (
        [first.invocation_id, second.invocation_id],
        outcomes[1].event_id,
    )


def test_who_looked_for_its_like_would_take_a_rivals(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the two above: adopted by what it says, the rival's intent is the second's."""

    def by_value(parties: Parties, write: Write, answer: trail.ReplyLost) -> Append:
        parties.indexes.refresh()
        alike = [record for record in world.journal() if record.action_ref == write.action_ref]
        return Landed(alike[0].event_id) if alike else NotLanded(Why.ABSENT, answer.detail)

    monkeypatch.setattr(journal, "_after_a_lost_reply", by_value)
    first = world.opened()
    world.close(first)
    world.trail.writes.append(lost_before)
    second = world.open()
    assert isinstance(second, Opened)
    assert second.intent_event_id == first.intent_event_id


def test_what_is_owed_is_known_from_the_journal_alone(place: Place, world: World) -> None:
    """Every table beside the trail's is emptied: another node finds the same, and closes it."""
    for number in range(3):
        world.opened(key=f"act-{number}")
    world.close(world.opened(key="act-3"), key="act-3")
    before = world.instance.parties.indexes
    assert isinstance(before.refresh(), list)
    place.unguarded()
    with place.bare() as run:
        for table in ("lease", "admitted", "binding", "finding", "heartbeat"):
            run(f"DELETE FROM {table}", ())
    node = world.node()
    after = node.parties.indexes
    assert after.maps.open_invocations == before.maps.open_invocations
    assert after.counts() == before.counts()
    assert isinstance(after.rebuild(), list)
    assert after.maps.open_invocations == before.maps.open_invocations
    world.commits()
    world.passes(33)
    assert (tally(node).closed, after.every_open_intent()) == (3, [])


@pytest.mark.slow
def test_what_cannot_be_examined_holds_up_nothing_behind_it(world: World) -> None:
    """A thousand intents that no run may close, in pages of ten, stand before the one that is owed."""
    bound = world.deployment.kinds[KIND]
    stray = replace(bound, name="stray", outcomes=("strayed",))
    world.steward.declare_retention("stray.", bound.retention_period)
    for number in range(1_000):
        fields: trail.Data = {"kind": "stray", "act_key": f"s-{number}", "invocation_id": f"stray-{number}"}
        answer = world.audit.record_action(stray.ref("intended"), "dana", world.credentials["dana"], fields)
        assert isinstance(answer, trail.Recorded)
    act = world.opened()
    world.audit.caps = trail.Caps(page=10)
    world.commits()
    world.passes(33)
    assert tally(world.instance).closed == 1
    assert act.invocation_id not in world.instance.parties.indexes.maps.invocations


def test_the_age_of_what_is_owed_is_published(world: World) -> None:
    """In seconds since the intent, at every look, until a closing names it."""
    act = world.opened()
    for expected in (60.0, 120.0):
        world.passes(60)
        instance = world.instance
        text = metrics(world.deployment, instance.parties.indexes, (), world.clock.now())
        assert f'falsework_oldest_open_intent_age_seconds{{kind="ledger"}} {expected}\n' in text
    world.resolve(act, Outcome(OUTCOME, {"disclosure_id": "dsc-1"}))
    text = metrics(world.deployment, world.instance.parties.indexes, (), world.clock.now())
    assert 'falsework_oldest_open_intent_age_seconds{kind="ledger"} 0' in text


def test_a_probe_that_fails_on_one_act_holds_up_no_other(world: World) -> None:
    """Asked of once a run, and never tried in a loop."""
    asked: list[str] = []

    def poisoned(act_key: str, _: Mapping[str, object]) -> ProbeAnswer:
        asked.append(act_key)
        if act_key == "act-0":
            raise RuntimeError("poison")
        return Committed(OUTCOME, {"disclosure_id": act_key})

    for number in range(3):
        world.opened(key=f"act-{number}")
    world.instance.parties.probes[KIND] = poisoned
    world.passes(33)
    assert (tally(world.instance).closed, asked) == (2, ["act-0", "act-1", "act-2"])


# Retention, restore.


@pytest.mark.parametrize("after", [637.999999, 638.0, 640.0, 640.000001])
@pytest.mark.parametrize("purged_first", [True, False])
def test_no_closing_follows_the_purge_of_its_intent(place: Place, after: float, purged_first: bool) -> None:
    """At the edges of the retention, 640 s less an allowance of 2 s, in either order."""
    clock = HandClock()
    world = World(deployment_with(retention_period=640 * SECOND), place.open(clock=clock), clock)
    act = world.opened()
    world.commits()
    world.passes(after)
    actions: list[Callable[[], object]] = [lambda: tally(world.instance), world.steward.purge]
    for action in reversed(actions) if purged_first else actions:
        action()
    world.resolve(act, Outcome(OUTCOME, {"disclosure_id": "dsc-1"}))
    page = world.audit.read_range(0)
    assert isinstance(page, trail.Page)
    words = [record.action_ref for record in page.records]
    closed = [number for number, word in enumerate(words) if word == OUTCOME]
    purged = [number for number, word in enumerate(words) if word == "trail.purged"]
    assert len(closed) == (after < 638), words
    assert len(purged) == (after >= 640), words
    assert verify(world.store, []).is_clean


# The page.


def rows() -> list[list[str]]:
    """The cells of the page's table, a report a row."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.strip("|").split("|") for line in lines if re.match(r"\| \d+ \|", line)]


@functools.cache
def defined(path: Path) -> set[str]:
    """The names of the tests that a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_report_has_its_row_and_every_row_a_test_that_is_there() -> None:
    found = rows()
    assert [int(cells[0]) for cells in found] == list(range(1, REPORTS + 1))
    for cells in found:
        assert [bool(cell.strip()) for cell in cells] == [True] * 5, cells[0]
        named = re.findall(r"`(test_\w+)::(test_\w+)`", cells[4])
        assert named or cells[4].strip().startswith("cannot happen here:"), cells[0]
        for module, test in named:
            assert test in defined(ROOT / "tests" / f"{module}.py"), (cells[0], module, test)


def test_every_test_of_a_field_report_is_named_on_the_page() -> None:
    of_the_page = {name for name in defined(Path(__file__)) if name.startswith("test_every_")}
    named = set(re.findall(r"`test_field_reports::(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named == {name for name in defined(Path(__file__)) if name.startswith("test_")} - of_the_page
