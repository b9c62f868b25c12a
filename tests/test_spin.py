"""SPIN, given the exported program, counts what was counted by others, and finds the twins.

What is expected stands in counts.toml, is a pin of the lease that its second search confirms, is the oracle's
count of a drawn model, a count by hand, or what a twin declares. `--deep` adds the other twins, and the
corners of the language, which are compared with the fast engine.
"""

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corners
import lowering_corners
import lowering_paths
import oracle
import spin
from counts_table import ROWS, Row
from evaluate import Description
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.fast import fast
from falsework.language import Below, Model, Record, Upto, action, require
from falsework.models import lease as leases
from falsework.models.classics.alternating_bit import AlternatingBit
from falsework.models.lease import Lease
from falsework.naming import configurations_of, setting, twins_of
from falsework.promela import promela, starts_of
from falsework.promela_expressions import Expressions
from falsework.tracefile import executed, first_broken, parsed
from model_text import written
from random_properties import drawn
from test_agreement import loaded
from test_counts import TWINS, rows
from test_ir import bools, built, ints, naive, slots_of
from test_second_representation import models_of

pytestmark = pytest.mark.spin
DRAWN = 30
LARGEST = 2_000_000  # states that fit into pan's 2 GB whole


def expected(states: int, transitions: int, starts: int, errors: int = 0) -> spin.Verified:
    """What pan says of so many states and steps: docs/export.md. Each error is a transition of its own."""
    several = starts if starts > 1 else 0
    return spin.Verified(states + (several > 0), transitions + several + 1 + errors, errors)


# --- published and confirmed counts -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(slow=-1, deep=LARGEST, end=LARGEST))
def test_spin_counts_what_the_table_says_and_finds_nothing_broken(row: Row, tmp_path: Path) -> None:
    definition = row.definition()
    found = spin.verified(promela(definition, asserts=True), tmp_path, "-O1")
    assert found == expected(row.states, row.transitions, len(starts_of(definition)))


def test_the_table_names_spin_where_spin_has_counted() -> None:
    named = {row for row in ROWS if "SPIN" in row.confirmed}
    assert named == {row for row in ROWS if row.states < LARGEST}


LEASES = {  # tests/test_lease.py confirms these by a second search
    Lease: (404, 4_906),
    leases.ClocksInStep: (404, 4_906),
    leases.SkewedWithinAllowance: (404, 4_906),
    leases.JudgeAhead: (404, 4_906),
    leases.SkewedBeyondAllowance: (450, 5_486),
    leases.ThreeWorkers: (1_082, 18_636),
}


def test_every_configuration_of_the_lease_is_counted() -> None:
    assert set(LEASES) == {Lease, *configurations_of(Lease)}


@pytest.mark.slow
@pytest.mark.parametrize("model", LEASES)
def test_spin_counts_the_lease(model: type[Lease], tmp_path: Path) -> None:
    states, transitions = LEASES[model]
    holds = model is not leases.SkewedBeyondAllowance
    found = spin.verified(promela(definition_of(model), asserts=holds), tmp_path)
    assert found == expected(states, transitions, starts=1)


# --- by hand ------------------------------------------------------------------------------------------------


class Pair(Record):
    """A field whose name, flattened, is that of a variable."""

    b: bool = False


class Names(Model):
    """Every variable is called as Promela, C or another variable is; none is ever read."""

    short: Annotated[int, Below(3)] = 0
    a: Pair = Pair()
    a_b: bool = False
    do: bool = False
    printf: bool = False

    @action
    def active(self, atomic: bool, t0: bool) -> None:
        self.do, self.printf = atomic, t0

    @action
    def od(self, a: bool, x: bool) -> None:
        self.a, self.a_b = Pair(a), x


class Counter(Model):
    """More values than a short has."""

    x: Annotated[int, Upto(40_000)] = 0

    @action
    def up(self) -> None:
        require(self.x < 40_000)
        self.x += 1


@pytest.mark.slow
def test_names_that_others_have_and_that_nothing_reads(tmp_path: Path) -> None:
    # Two pairs of bools set at will: 16 states, and 4 + 4 steps from each.
    found = spin.verified(promela(definition_of(Names), asserts=True), tmp_path)
    assert found == expected(16, 16 * 8, starts=1)


@pytest.mark.slow
def test_a_slot_wider_than_a_short(tmp_path: Path) -> None:
    # 0 to 40,000 and a step from each but the last, which is stuck: one deadlock.
    program = promela(definition_of(Counter), asserts=True)
    assert "\nint s_x;" in program
    assert spin.verified(program, tmp_path) == expected(40_001, 40_000, starts=1, errors=1)


@pytest.mark.slow
def test_without_the_option_that_reads_each_slot_spin_sees_fewer_states(tmp_path: Path) -> None:
    # No step reads what was received last, so SPIN hides it, and states that differ in it alone are one.
    program = promela(definition_of(AlternatingBit))
    shorter = "\n".join(line for line in program.splitlines() if "/* never:" not in line)
    assert shorter != program
    assert spin.verified(shorter, tmp_path / "shorter").states < 264 + 1
    assert spin.verified(program, tmp_path / "whole").states == 264 + 1


@pytest.mark.slow
@given(trees=st.lists(st.one_of(ints((0, 1, 2), 3), bools((0, 1, 2), 3)), min_size=20, max_size=60))
@settings(max_examples=15, deadline=None)
def test_spin_evaluates_an_expression_as_plain_python_does(
    tmp_path_factory: pytest.TempPathFactory, trees: list[Any]
) -> None:
    pool, expressions = slots_of((2, 3, 4)), Expressions(("s_a", "s_b", "s_c"))
    texts = [expressions.value(built(pool, tree)) for tree in trees]
    lines = ["bit s_a; byte s_b; byte s_c;", "active proctype model() {"]
    for codes in [(a, b, c) for a in range(2) for b in range(3) for c in range(4)]:
        lines.append("; ".join(f"{n} = {v}" for n, v in zip(("s_a", "s_b", "s_c"), codes, strict=True)) + ";")
        values = [naive(tree, codes) for tree in trees]
        lines += [f"assert({text} == {value});" for text, value in zip(texts, values, strict=True)]
    folder = tmp_path_factory.mktemp("expressions")
    (folder / "model.pml").write_text("\n".join([*lines, "}"]), encoding="utf-8")
    assert "assertion violated" not in spin.run(folder, "spin", "-T", "model.pml")


# --- drawn models and corners -------------------------------------------------------------------------------


def bare(about: Description) -> oracle.Found:
    """What the oracle counts where no property is asked for."""
    return oracle.search(about | {"invariants": [], "witnesses": []})


def cases() -> Iterator[tuple[int, oracle.Found]]:
    """The first seeds whose models start in one state and have no fault, and their counts."""
    for seed in itertools.count():
        if not drawn(seed)["initials"] and (found := bare(drawn(seed))).fault is None:
            yield seed, found


@pytest.mark.slow
def test_spin_counts_drawn_models_as_the_oracle_does(tmp_path: Path) -> None:
    for seed, expected in itertools.islice(cases(), DRAWN):
        source = "\n".join(written(drawn(seed)).written) + "\n"
        with loaded(f"exported_{seed}", source, tmp_path) as definition:
            found = spin.verified(promela(definition), tmp_path / str(seed))
        # A step that leaves a domain is a transition for both; SPIN calls it an error besides.
        assert (seed, found.states, found.transitions) == (seed, expected.states, expected.transitions + 1)
        assert (found.errors > 0) == ("values_stay_in_domain" in expected.violations), seed


@pytest.mark.slow
def test_spin_finds_drawn_models_wrong_that_are(tmp_path: Path) -> None:
    for seed, _ in itertools.islice(cases(), DRAWN // 2):
        expected = oracle.search(drawn(seed) | {"witnesses": []})
        source = "\n".join(written(drawn(seed)).written) + "\n"
        with loaded(f"judged_{seed}", source, tmp_path) as definition:
            found = spin.verified(promela(definition, asserts=True), tmp_path / str(seed))
        assert (found.errors > 0) == bool(expected.violations or expected.fault), seed


CORNERS = [model for module in (corners, lowering_corners, lowering_paths) for model in models_of(module)]


@pytest.mark.deep
@pytest.mark.parametrize("model", CORNERS)
def test_spin_counts_the_corners_of_the_language(model: type[Model], tmp_path: Path) -> None:
    definition = dataclasses.replace(definition_of(model), invariants=(), witnesses=())
    tally = fast(definition, Bounds(every=True))
    if tally.fault is not None:
        assert spin.verified(promela(definition), tmp_path).errors > 0
        return
    found = spin.verified(promela(definition), tmp_path)
    counted = expected(tally.states, tally.transitions, len(starts_of(definition)))
    assert (found.states, found.transitions) == (counted.states, counted.transitions)


# --- twins --------------------------------------------------------------------------------------------------

QUICK = {
    "ActJudgedAgain",  # an invariant of one action's steps, on a model with time
    "AllReachLeftFirst",  # a deadlock
    "ImpatientProcessAsksAgain",  # past the state that is broken first, a fault
    "MessagesReceivedAreNotCounted",  # several initial states
    "OneForkStaysInHand",  # an invariant of states
    "PourerWhoDoesNotStop",  # a value outside its domain
    "RepeatCountsAsNew",  # an invariant of steps
    "WaitThatFollowsTheHolder",
}


def twins() -> Iterator[Any]:
    """Every twin; those named above in the suite, the others with --deep."""
    for twin in dict.fromkeys([*TWINS, *twins_of(Lease)]):
        mark = pytest.mark.slow if twin.__name__ in QUICK else pytest.mark.deep
        yield pytest.param(twin, id=f"{twin.__module__.rpartition('.')[2]}-{twin.__name__}", marks=mark)


@pytest.mark.parametrize("twin", list(twins()))
def test_spin_finds_a_twin_and_the_class_confirms_its_steps(twin: type[Model], tmp_path: Path) -> None:
    definition = definition_of(setting(twin)[0])
    broken = {name: steps for name, steps in definition_of(twin).breaks.items() if steps is not None}
    *steps, last = spin.shortest(promela(definition, asserts=True), tmp_path) or [""]
    if not broken:
        assert (steps, last) == ([], "")  # only a witness misses, and SPIN is told of none
        return
    name = last.removeprefix("wrong: ")
    trace = parsed(definition, " ".join(steps))
    assert len(trace.steps) == broken[name]
    number, names = first_broken(definition, list(executed(definition, trace)))
    assert (number, name in names) == (broken[name], True)
