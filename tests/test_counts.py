"""The classics have the states that others count in them, and their twins break exactly what they declare."""

import importlib
import pkgutil
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import falsework.models.classics
import falsework.twins.classics
from falsework.accounting import Bounds, Tally
from falsework.definition import Definition, definition_of
from falsework.errors import DefinitionError
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Model, role_of
from falsework.models.classics.ewd998 import TerminationDetection
from falsework.naming import setting, with_constants
from peers import dining_philosophers, ewd998
from peers.search import Counted


@dataclass(frozen=True, eq=False)
class Row:
    """A row of counts.toml."""

    model: str
    path: str
    constants: dict[str, Any]
    states: int
    transitions: int
    depth: int
    tier: str
    confirmed: str
    cut: int = 0
    generated: int | None = None
    never_fires: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        sizes = ",".join(f"{name}={int(value)}" for name, value in self.constants.items())
        return f"{self.path.partition(':')[2]}[{sizes}]"

    def definition(self) -> Definition:
        module, _, name = self.path.partition(":")
        return definition_of(with_constants(getattr(importlib.import_module(module), name), self.constants))


TABLE = tomllib.loads(Path(__file__).with_name("counts.toml").read_text("utf-8"))
EXPLORED = 5_000  # states of which explore takes seconds; from 30,000 onwards the tuple programs stand alone
ROWS = [Row(**row) for row in TABLE["count"]]


@cache
def counted(row: Row) -> Tally:
    return fast(row.definition(), Bounds(every=True))


def rows(*, slow: int, deep: int, end: int = 1_000_000) -> list[Any]:
    """The rows below the end as parameters, marked from so many states onwards."""
    marks = {
        row: pytest.mark.deep if row.states > deep else pytest.mark.slow for row in ROWS if row.states > slow
    }
    return [
        pytest.param(row, id=str(row), marks=[marks[row]] if row in marks else [])
        for row in ROWS
        if row.states < end
    ]


@pytest.mark.parametrize("row", rows(slow=100_000, deep=1_000_000))
def test_there_are_the_states_that_the_row_says(row: Row) -> None:
    tally = counted(row)
    assert tally.complete
    assert (tally.states, tally.transitions, tally.depth) == (row.states, row.transitions, row.depth)
    assert sum(tally.cuts.values()) == row.cut
    assert row.generated in (None, tally.levels[0] + tally.transitions + row.cut)
    assert tally.violations == {}
    assert [witness for witness, steps in tally.witnesses.items() if steps is None] == []
    assert [action for action, covered in tally.coverage.items() if not covered.fired] == row.never_fires


@pytest.mark.parametrize("row", rows(slow=1_000, deep=EXPLORED, end=30_000))
def test_explore_counts_the_same(row: Row) -> None:
    assert explore(row.definition(), Bounds(every=True)).counts() == counted(row).counts()


def second_opinion(row: Row) -> Counted:
    peer = importlib.import_module(f"peers.{row.model}")
    options = {"repeats": False} if row.never_fires else {}
    found: Counted = peer.counts(row.constants, **options)
    return found


@pytest.mark.parametrize("row", rows(slow=10_000, deep=100_000))
def test_the_tuple_program_takes_the_same_steps(row: Row) -> None:
    tally, peer = counted(row), second_opinion(row)
    assert peer.levels == tally.levels
    assert peer.taken == {n: covered.fired for n, covered in tally.coverage.items() if covered.fired}
    assert peer.cut == {n: covered.cut for n, covered in tally.coverage.items() if covered.cut}
    assert (peer.states, peer.taken.total(), peer.cut.total()) == (row.states, row.transitions, row.cut)
    assert row.generated in (None, peer.generated)


@pytest.mark.deep
def test_ewd998_generates_what_tlc_was_seen_to_generate() -> None:
    # EWD998PCal.cfg in the manifest of the TLA+ examples.
    constants = {"NODES": 3, "COUNT": 2, "PENDING": 6, "ANY_START": False}
    peer = ewd998.counts(constants, as_tlc=True)
    assert (peer.states, peer.generated, len(peer.levels)) == (321_370, 2_808_396, 47)


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
    assert [row.tier for row in ROWS] == ["fast" if row.states > EXPLORED else "check" for row in ROWS]


def found_by(tally: Tally) -> dict[str, int | None]:
    """What was broken, and the witnesses that were not reached, as a twin declares them."""
    broken: dict[str, int | None] = {name: violation.steps for name, violation in tally.violations.items()}
    return broken | {name: None for name, steps in tally.witnesses.items() if steps is None}


def searched(twin: type[Model]) -> Tally:
    return fast(definition_of(setting(twin)[0]), Bounds(every=True))


@pytest.mark.parametrize("twin", TWINS)
def test_a_twin_breaks_exactly_what_it_declares(twin: type[Model]) -> None:
    tally = searched(twin)
    assert tally.complete
    assert found_by(tally) == dict(definition_of(twin).breaks)


def explored(twin: type[Model]) -> Any:
    """The twin as a parameter; on a ring of three nodes explore takes many seconds."""
    nodes = definition_of(setting(twin)[0]).constants.get("NODES", 0)
    return pytest.param(twin, id=twin.__name__, marks=[pytest.mark.deep] if nodes > 2 else [])


@pytest.mark.slow
@pytest.mark.parametrize("twin", [explored(twin) for twin in TWINS])
def test_explore_rejects_a_twin_by_the_same_traces(twin: type[Model]) -> None:
    tally = explore(definition_of(setting(twin)[0]), Bounds(every=True))
    assert tally.counts() == searched(twin).counts()


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
