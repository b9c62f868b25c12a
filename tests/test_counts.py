"""The classics have the states that others count in them, and their twins break exactly what they declare."""

import importlib
import importlib.util
import pkgutil
import tomllib
from collections.abc import Callable
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
from falsework.explore import explore
from falsework.language import Model, role_of
from falsework.naming import setting, with_constants
from peers import dining_philosophers as table
from peers.search import Counted

Engine = Callable[[Definition, Bounds], Tally]


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
ROWS = [Row(**row) for row in TABLE["count"]]


def engine(name: str) -> Engine:
    if name == "explore":
        return explore
    if importlib.util.find_spec("falsework.fast") is None:
        pytest.skip("there is no falsework.fast yet: nothing was counted with it")
    found: Engine = importlib.import_module("falsework.fast").fast
    return found


def marks(row: Row, name: str) -> list[pytest.MarkDecorator]:
    """What takes minutes is deep, what takes seconds is slow."""
    if name == "explore" and row.tier == "fast":
        return [pytest.mark.deep]
    return [pytest.mark.slow] if row.states > 100_000 else []


COUNTED = [
    pytest.param(row, name, id=f"{row}-{name}", marks=marks(row, name))
    for row in ROWS
    for name in ("explore", "fast")
]


@cache
def counted_by(row: Row, name: str) -> Tally:
    return engine(name)(row.definition(), Bounds(every=True))


@pytest.mark.parametrize("row, name", COUNTED)
def test_the_engine_counts_what_the_row_says(row: Row, name: str) -> None:
    tally = counted_by(row, name)
    assert tally.complete
    assert (tally.states, tally.transitions, tally.depth) == (row.states, row.transitions, row.depth)
    assert sum(tally.cuts.values()) == row.cut
    assert row.generated in (None, tally.levels[0] + tally.transitions + row.cut)
    assert tally.violations == {}
    assert [witness for witness, steps in tally.witnesses.items() if steps is None] == []
    assert [action for action, covered in tally.coverage.items() if not covered.fired] == row.never_fires


def second_opinion(row: Row) -> Counted:
    peer = importlib.import_module(f"peers.{row.model}")
    options = {"repeats": False} if row.never_fires else {}
    counted: Counted = peer.counts(row.constants, **options)
    return counted


PEERS = [pytest.param(r, id=str(r), marks=[pytest.mark.deep] if r.states > 100_000 else []) for r in ROWS]


@pytest.mark.parametrize("row", PEERS)
def test_the_tuple_program_counts_the_same(row: Row) -> None:
    counted = second_opinion(row)
    transitions, depth = counted.taken.total(), len(counted.levels) - 1
    assert (counted.states, transitions, depth) == (row.states, row.transitions, row.depth)
    assert counted.cut.total() == row.cut
    assert row.generated in (None, counted.generated)


@pytest.mark.parametrize("row", [row for row in ROWS if row.tier == "check"], ids=str)
def test_the_tuple_program_takes_the_same_steps_level_by_level(row: Row) -> None:
    tally, counted = counted_by(row, "explore"), second_opinion(row)
    assert counted.levels == tally.levels
    assert counted.taken == {n: covered.fired for n, covered in tally.coverage.items() if covered.fired}
    assert counted.cut == {n: covered.cut for n, covered in tally.coverage.items() if covered.cut}


@pytest.mark.deep
def test_ewd998_generates_what_tlc_was_seen_to_generate() -> None:
    # EWD998PCal.cfg in the manifest of the TLA+ examples.
    constants = {"NODES": 3, "COUNT": 2, "PENDING": 6, "ANY_START": False}
    counted = importlib.import_module("peers.ewd998").counts(constants, as_tlc=True)
    assert (counted.states, counted.generated, len(counted.levels)) == (321_370, 2_808_396, 47)


@pytest.mark.parametrize("size, pell", [(4, 29), (5, 70), (9, 2378)])
def test_the_tables_are_counted_without_a_search(size: int, pell: int) -> None:
    assert table.tables(size) == pell
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
    assert {row.tier for row in ROWS} == {"check", "fast"}


def found_by(tally: Tally) -> dict[str, int | None]:
    """What was broken, and the witnesses that were not reached, as a twin declares them."""
    broken: dict[str, int | None] = {name: violation.steps for name, violation in tally.violations.items()}
    return broken | {name: None for name, steps in tally.witnesses.items() if steps is None}


def rejection_marks(twin: type[Model], name: str) -> list[pytest.MarkDecorator]:
    nodes = definition_of(setting(twin)[0]).constants.get("NODES", 0)
    return [pytest.mark.deep] if name == "explore" and nodes > 2 else []


REJECTED = [
    pytest.param(twin, name, id=f"{twin.__name__}-{name}", marks=rejection_marks(twin, name))
    for twin in TWINS
    for name in ("explore", "fast")
]


@pytest.mark.parametrize("twin, name", REJECTED)
def test_a_twin_breaks_exactly_what_it_declares(twin: type[Model], name: str) -> None:
    tally = engine(name)(definition_of(setting(twin)[0]), Bounds(every=True))
    assert tally.complete
    assert found_by(tally) == dict(definition_of(twin).breaks)


def test_every_classic_has_twins_under_its_name() -> None:
    assert [m.__name__.rpartition(".")[2] for m in modules(falsework.models.classics)] == [
        m.__name__.rpartition(".")[2] for m in modules(falsework.twins.classics)
    ]


@pytest.mark.parametrize("model", [cls for cls in MODELS if role_of(cls) is None])
def test_every_invariant_is_broken_by_a_twin(model: type[Model]) -> None:
    declared = {name for twin in TWINS if issubclass(twin, model) for name in definition_of(twin).breaks}
    assert {prop.name for prop in definition_of(model).invariants} - declared == set()
