"""The classics have the states that others count in them, and their twins break exactly what they declare."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import falsework.models.classics
import falsework.twins.classics
from counts_table import ROWS, Row, found, steps_of
from falsework.accounting import Bounds, Tally
from falsework.definition import definition_of
from falsework.errors import DefinitionError
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Model, role_of
from falsework.models.classics.ewd998 import TerminationDetection
from falsework.naming import setting, with_constants
from peers import bakery, dining_philosophers, ewd998, two_phase_commit

COMPILED = 500_000  # states from which on a row is that of tests/test_counts_native.py
EXPLORED = 5_000  # states of which explore takes seconds; from 30,000 onwards the tuple programs stand alone


@cache
def counted(row: Row) -> Tally:
    return fast(row.definition(), Bounds(every=True))


def rows(*, slow: int, deep: int, end: int = COMPILED) -> list[Any]:
    """The rows below the end as parameters, marked from so many states onwards."""
    marks = {
        row: pytest.mark.deep if row.states > deep else pytest.mark.slow for row in ROWS if row.states > slow
    }
    return [
        pytest.param(row, id=str(row), marks=[marks[row]] if row in marks else [])
        for row in ROWS
        if row.states < end
    ]


def has_program(row: Row) -> bool:
    """Whether a tuple program of its name counts the row beside SPIN."""
    return row.confirmed != "peer: SPIN"


@pytest.mark.parametrize("row", rows(slow=20_000, deep=COMPILED))
def test_there_are_the_states_that_the_row_says(row: Row) -> None:
    assert found(counted(row)) == row.figures()
    assert row.generated in (None, steps_of(counted(row)).generated)


@pytest.mark.parametrize("row", rows(slow=300, deep=2_500, end=30_000))
def test_explore_counts_the_same(row: Row) -> None:
    assert explore(row.definition(), Bounds(every=True)).counts() == counted(row).counts()


@pytest.mark.parametrize("row", [row for row in rows(slow=5_000, deep=100_000) if has_program(*row.values)])
def test_the_tuple_program_takes_the_same_steps(row: Row) -> None:
    options = {"repeats": False} if row.never_fires else {}
    assert steps_of(counted(row)) == row.second_opinion(**options)


@pytest.mark.deep
def test_ewd998_generates_what_tlc_was_seen_to_generate() -> None:
    # EWD998PCal.cfg in the manifest of the TLA+ examples.
    constants = {"NODES": 3, "COUNT": 2, "PENDING": 6, "ANY_START": False}
    peer = ewd998.counts(constants, as_tlc=True)
    assert (peer.states, peer.generated, len(peer.levels)) == (321_370, 2_808_396, 47)


# The manifest of the TLA+ examples: distinct and generated states, and TLC's depth.
TLC = {
    ("paxos", 25): (82, 9),
    ("paxos", 3_921): (23_563, 17),
}


@pytest.mark.parametrize("model, states", TLC)
def test_paxos_generates_what_tlc_was_seen_to_generate(model: str, states: int) -> None:
    row = next(row for row in ROWS if (row.model, row.states) == (model, states))
    peer = row.second_opinion(as_tlc=True)
    assert (peer.states, peer.generated, len(peer.levels)) == (states, *TLC[model, states])


@pytest.mark.deep
def test_the_bakery_from_any_start_is_what_tlc_was_seen_to_count() -> None:
    # MCBakery.cfg in the manifest: the invariant is inductive, so no step leads to a state that is no start.
    peer = bakery.counts({"PROCESSES": 2, "LAST_TICKET": 2}, any_start=True)
    assert (peer.states, peer.generated, len(peer.levels)) == (655_200, 3_403_584, 1)


@pytest.mark.parametrize("row", [row for row in ROWS if row.model == "two_phase_commit"], ids=str)
def test_two_phase_commit_is_counted_without_a_search(row: Row) -> None:
    by_hand = two_phase_commit.by_hand(row.constants)
    assert by_hand == (row.states, row.transitions, row.depth)


@pytest.mark.parametrize("size, pell", [(4, 29), (5, 70), (9, 2378)])
def test_the_tables_are_counted_without_a_search(size: int, pell: int) -> None:
    assert dining_philosophers.tables(size) == pell
    assert [row.states for row in ROWS if row.constants == {"PHILOSOPHERS": size}] == [pell]


# --- what is there is counted, and what is declared is found ------------------------------------------------


def modules(package: ModuleType) -> list[ModuleType]:
    names = [found.name for found in pkgutil.iter_modules(package.__path__)]
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def classes(package: ModuleType) -> list[type[Model]]:
    return [
        value
        for module in modules(package)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Model) and value.__module__ == module.__name__
    ]


MODELS = classes(falsework.models.classics)
TWINS = classes(falsework.twins.classics)


def test_every_classic_and_every_configuration_has_a_row() -> None:
    counted = {(row.path, tuple(row.constants.items())) for row in ROWS}
    declared = {(definition_of(cls).path, tuple(definition_of(cls).constants.items())) for cls in MODELS}
    assert declared - counted == set()


def test_every_row_says_who_confirms_it() -> None:
    assert {row.confirmed.partition(":")[0].partition(",")[0] for row in ROWS} == {
        "published", "peer", "independent oracle"
    }  # fmt: skip
    assert [row.tier for row in ROWS] == [
        "native" if row.states > COMPILED else "fast" if row.states > EXPLORED else "check" for row in ROWS
    ]


def found_by(tally: Tally) -> dict[str, int | None]:
    """What was broken, and the witnesses that were not reached, as a twin declares them."""
    broken: dict[str, int | None] = {name: violation.steps for name, violation in tally.violations.items()}
    return broken | {name: None for name, steps in tally.witnesses.items() if steps is None}


def named(twin: type[Model]) -> str:
    return f"{twin.__module__.rpartition('.')[2]}-{twin.__name__}"


def quick(twin: type[Model]) -> Any:
    """The twin as a parameter; to lower the servers that run Paxos takes a second of its own."""
    slow = twin.__module__.endswith(".paxos_register")
    return pytest.param(twin, id=named(twin), marks=[pytest.mark.slow] if slow else [])


def searched(twin: type[Model]) -> Tally:
    return fast(definition_of(setting(twin)[0]), Bounds(every=True))


@pytest.mark.parametrize("twin", [quick(twin) for twin in TWINS])
def test_a_twin_breaks_exactly_what_it_declares(twin: type[Model]) -> None:
    tally = searched(twin)
    assert tally.complete
    assert found_by(tally) == dict(definition_of(twin).breaks)


def explored(twin: type[Model]) -> Any:
    """The twin as a parameter; where it has thousands of states explore takes many seconds."""
    nodes = definition_of(setting(twin)[0]).constants.get("NODES", 0)
    large = nodes > 2 or named(twin).startswith(("bakery", "lamport_mutex", "paxos"))
    return pytest.param(twin, id=named(twin), marks=[pytest.mark.deep] if large else [])


@pytest.mark.slow
@pytest.mark.parametrize("twin", [explored(twin) for twin in TWINS])
def test_explore_rejects_a_twin_by_the_same_traces(twin: type[Model]) -> None:
    # Explore takes minutes for the servers that run Paxos: ten steps show two of their twins.
    bounds = Bounds(every=True, max_depth=10 if named(twin).startswith("paxos_register") else None)
    definition = definition_of(setting(twin)[0])
    assert explore(definition, bounds).counts() == fast(definition, bounds).counts()


def test_every_classic_has_twins_under_its_name() -> None:
    assert [m.__name__.rpartition(".")[2] for m in modules(falsework.models.classics)] == [
        m.__name__.rpartition(".")[2] for m in modules(falsework.twins.classics)
    ]


@pytest.mark.parametrize("model", [cls for cls in MODELS if role_of(cls) is None])
def test_every_invariant_is_broken_by_a_twin(model: type[Model]) -> None:
    declared = {name for twin in TWINS if issubclass(twin, model) for name in definition_of(twin).breaks}
    assert {prop.name for prop in definition_of(model).invariants} - declared == set()


def test_a_ring_of_more_nodes_than_its_sets_can_number_is_no_model() -> None:
    assert definition_of(with_constants(TerminationDetection, {"NODES": 8})).constants["NODES"] == 8
    with pytest.raises(DefinitionError, match="empty"):
        definition_of(with_constants(TerminationDetection, {"NODES": 9}))
