"""The race slice: fences against a simulation of the clocks, pinned counts, and another model's verdicts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from falsework.accounting import Bounds
from falsework.check import check
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Model
from falsework.models.recoverable_invocation import race as settings
from falsework.models.recoverable_invocation.race import OneCall, Race, Unattended
from falsework.models.recoverable_invocation.vocabulary import Commit, Kind, Reply, Who
from falsework.naming import configurations_of, twins_of, with_constants
from falsework.native import native
from falsework.twins.recoverable_invocation import race as twins
from models_race_answers import Answers, AnswersOfAReport, AnswersOfOneAct

TABLE = tomllib.loads(Path(__file__).with_name("counts.toml").read_text("utf-8"))["race"]
COMPILED = 200_000  # states from which on a row is counted by the compiled engine


def race_with(constants: dict[str, Any]) -> type[Race]:
    return cast("type[Race]", with_constants(Race, constants))


def configured(row: dict[str, Any]) -> type[Model]:
    return with_constants(getattr(settings, row["config"]), row["constants"])


def rows(*, compiled: bool) -> list[Any]:
    marks = [pytest.mark.deep] if compiled else [pytest.mark.slow]
    chosen = [row for row in TABLE if (row["states"] > COMPILED) == compiled]
    return [pytest.param(row, id=f"{row['config']}-{row['states']}", marks=marks) for row in chosen]


# --- what an instant means on another clock -----------------------------------------------------------------


def by_the_clock(*, term: int, allowance: int, lag: int, closed: bool) -> int:
    """For how many ticks a judge so far behind admits what ends in so many, minted with the margin."""
    deadline = term - allowance
    admits = [now - lag <= deadline if closed else now - lag < deadline for now in range(20)]
    return sum(admits)


CLOCKS = [(lag, closed) for lag in (-1, 0, 1, 2) for closed in (False, True)]


@pytest.mark.parametrize("lag, closed", CLOCKS)
def test_what_is_fenced_arrives_as_long_as_a_simulated_clock_admits_it(lag: int, *, closed: bool) -> None:
    lags = {"JOURNAL_LAG": lag, "STORE_LAG": lag}
    edges = {"CLOSED_JOURNAL_EDGE": closed, "CLOSED_COMMIT_EDGE": closed}
    model = race_with(lags | edges)
    for left in (1, 2, 3):
        race = model()
        race.enter(Who.INVOCATION, left)
        lease = by_the_clock(term=left, allowance=1, lag=lag, closed=closed)
        write = by_the_clock(term=race.WRITE_BOUND, allowance=1, lag=lag, closed=closed)
        assert race.latest(Who.INVOCATION) == min(lease, write, race.COMPLETION_BOUND)
        race.issue_commit(Who.INVOCATION)
        assert race.commit_left == lease
        assert (race.commit is Commit.IN_FLIGHT) == (lease > 0)


@pytest.mark.parametrize("lag", [1, 2])
def test_a_lease_that_has_ended_admits_as_long_as_a_simulated_clock_does(lag: int) -> None:
    # Three ticks of a lease, and so many more, before the write is issued.
    model = race_with({"JOURNAL_LAG": lag, "LEASE_MARGIN": False, "WRITE_BOUND": 6})
    for since in (0, 1, 2, 3):
        race = model()
        race.enter(Who.INVOCATION, 3)
        for _ in range(3 + since):
            race.pass_time()
        admitted = by_the_clock(term=0, allowance=0, lag=lag - since, closed=False)
        assert race.latest(Who.INVOCATION) == admitted
        race.send(Who.INVOCATION, Kind.INTENT, None)
        assert (race.reply[Who.INVOCATION] is Reply.NOT_LANDED) == (admitted == 0)


# --- what another model of the text found -------------------------------------------------------------------

DUPLICATE = Race.no_two_closings_stand.__name__
FALSE_ABANDONMENT = Race.nothing_abandoned_ever_happens.__name__
NAMELESS = Race.a_resolution_names_what_it_found.__name__
UNSEEN = Race.nothing_happens_before_the_journal_shows_its_intent.__name__

# What each breaks, and in how many steps there: the states of its trace less one. A decision tells why.
PUBLISHED = {
    "BuggyDeath": ({DUPLICATE}, 24),
    "BuggyReread": ({DUPLICATE}, 24),
    "BuggyFence": ({FALSE_ABANDONMENT}, 19),
    "BuggyJournal": ({DUPLICATE}, 23),
    "BuggyVisible": ({DUPLICATE, UNSEEN}, 24),
    "BuggySkew": ({DUPLICATE}, 23),
    "BuggyPerwrite": ({DUPLICATE}, 26),
    "BuggySupersede": ({DUPLICATE, NAMELESS}, 22),
    "BuggyOpclock": ({FALSE_ABANDONMENT}, 17),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_nine_twins_of_the_text_break_what_they_were_seen_to_break(name: str) -> None:
    breaks = definition_of(getattr(twins, name)).breaks
    published, steps = PUBLISHED[name]
    asked = {DUPLICATE, FALSE_ABANDONMENT, NAMELESS, UNSEEN}
    assert {broken for broken in breaks if broken in asked} == published
    found = breaks[DUPLICATE if DUPLICATE in published else FALSE_ABANDONMENT]
    assert found is not None
    assert abs(found - steps) <= 2


def test_every_class_says_in_a_docstring_what_it_is() -> None:
    for cls in (*configurations_of(Race), *twins_of(Race)):
        assert cls.__doc__
        assert cls.__doc__ != Race.__doc__


# --- counts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows(compiled=False))
def test_there_are_the_states_that_the_row_says(row: dict[str, Any]) -> None:
    tally = fast(definition_of(configured(row)), Bounds(every=True))
    assert (tally.states, tally.transitions, tally.depth) == (row["states"], row["transitions"], row["depth"])
    assert tally.complete
    assert not tally.violations
    assert not sum(tally.cuts.values())


@pytest.mark.parametrize("row", rows(compiled=True))
def test_the_compiled_engine_counts_what_the_row_says(row: dict[str, Any]) -> None:
    """No bound cuts, nothing is broken, and every witness is reached."""
    tally = native(definition_of(configured(row)), Bounds(every=True))
    assert (tally.states, tally.transitions, tally.depth) == (row["states"], row["transitions"], row["depth"])
    assert tally.complete
    assert not tally.violations
    assert not sum(tally.cuts.values())
    assert None not in tally.witnesses.values()


@pytest.mark.slow
def test_the_class_itself_is_searched_as_the_fast_engine_searches_it() -> None:
    small = definition_of(with_constants(Unattended, {"DEATHS": 0, "RETRIES": 0, "UNDECIDABLE": False}))
    assert explore(small, Bounds(every=True)).counts() == fast(small, Bounds(every=True)).counts()


@pytest.mark.deep
@pytest.mark.parametrize("twin", [twin for twin in twins_of(Race) if twin.__module__ == twins.__name__])
def test_the_class_itself_goes_wrong_as_in_the_fast_engine(twin: type[Model]) -> None:
    smallest = {"DEATHS": 0, "RETRIES": 0, "OPERATOR_CALLS": 0, "UNDECIDABLE": False}
    small = definition_of(with_constants(twin, smallest))
    assert explore(small, Bounds(every=True)).counts() == fast(small, Bounds(every=True)).counts()


# --- what must be able to happen ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("model", [Answers, AnswersOfOneAct, AnswersOfAReport])
def test_every_answer_is_given(model: type[Model]) -> None:
    never = [f for f in check(model).findings if f.word == "premise-never-true" and "of_" in f.subject]
    assert not never


# --- clocks within the allowance ----------------------------------------------------------------------------

# Host, journal, store, sweep and operator, no two of them further apart than the allowance.
CORNERS = [
    (journal, store, sweep, operator)
    for journal in (0, 1)
    for store in (0, 1)
    for sweep in (-1, 0, 1)
    for operator in (-1, 0, 1)
    if max(0, -journal, -store, sweep, operator) <= 1 + min(0, -journal, -store, sweep, operator)
]


@pytest.mark.deep
@pytest.mark.parametrize("journal, store, sweep, operator", CORNERS)
def test_no_clocks_within_the_allowance_lose_the_race(
    journal: int, store: int, sweep: int, operator: int
) -> None:
    skews = {"JOURNAL_LAG": journal, "STORE_LAG": store, "SWEEP_SKEW": sweep, "OPERATOR_SKEW": operator}
    tally = native(definition_of(with_constants(OneCall, skews)), Bounds(every=True))
    assert tally.complete
    assert not tally.violations
