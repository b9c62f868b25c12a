"""The corners, counted by hand: each argument stands beside its numbers, and every engine must give them."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

import corners
import corners_at_fault
from falsework.accounting import Bounds, Tally
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.language import Model

ENGINES: dict[str, Callable[..., Tally]] = {"explore": explore}
if importlib.util.find_spec("falsework.fast") is not None:
    ENGINES["fast"] = importlib.import_module("falsework.fast").fast


@dataclass(frozen=True)
class Count:
    """States by level; by action enabled, fired, self-loops, cut; what is broken, in how many steps."""

    levels: tuple[int, ...]
    actions: dict[str, tuple[int, int, int, int]]
    broken: dict[str, int] = field(default_factory=dict)
    why: str = ""


COUNTS: dict[type[Model], Count] = {
    corners.GuardsAfterALoop: Count(
        (1, 3, 3, 1, 1),
        {"mark": (12, 12, 0, 0), "finish": (1, 1, 0, 0)},
        why="8 sets of marks, 3 * 4 ways to add one; only the full set is finished",
    ),
    corners.LoopOverWhatItChanges: Count(
        (1, 1, 1),
        {"carry": (3, 3, 1, 0)},
        why="000, 111, 222 and again: were a cell read early, 100 would be a state",
    ),
    corners.LoopThatEmptiesItsSet: Count(
        (1, 1), {"empty": (1, 1, 0, 0)}, why="the set is empty when the row is rewritten: 0 1 becomes 1 2"
    ),
    corners.PartialReads: Count(
        (1, 3, 4, 4, 4, 4, 3, 1),
        {
            "choose": (16, 16, 0, 0),
            "hit": (8, 8, 0, 0),
            "leave": (16, 16, 0, 0),
            "ask": (12, 12, 0, 0),
            "reply": (12, 12, 0, 0),
        },
        why="choice and hits alone: 1 2 2 2 2 2 1, 12 in all; the queue doubles each one step later",
    ),
    corners.NarrowedOption: Count(
        (1, 2, 2, 2),
        {"open": (2, 2, 0, 0), "again": (4, 4, 0, 0), "close": (2, 2, 0, 0)},
        why="None, and two owners with three attempts each",
    ),
    corners.RestingClocks: Count(
        (1, 2, 3, 3, 2),
        {"second": (11, 11, 2, 0), "arm": (4, 4, 0, 0)},
        why="times 0..3 unarmed, armed at each, run out at 1..3; at 3 a tick moves only what still waits",
    ),
    corners.EarlyReturns: Count(
        (1, 1, 1, 1, 1, 1),
        {"press": (5, 5, 0, 0)},
        {"deadlock": 5},
        why="red 0, green 0, red 1, green 1, red 2, green 2 and stuck",
    ),
    corners.TwoEffectsOnOneCell: Count(
        (1, 3, 3),
        {"both": (28, 28, 8, 0)},
        why="00; 20 02 11; 22 21 12. Alike keys give 2 there; loops: 20 02 one each, 22 21 12 two each",
    ),
    corners.SwapThroughALocal: Count(
        (1, 2, 2, 3, 1),
        {"swap": (9, 9, 3, 0), "turn": (9, 9, 0, 0)},
        why="01; 11 10; 21 20; 12 00 02; 22. A swap of equals is a loop",
    ),
    corners.NegativeDivision: Count((1, 1, 1, 1), {"halve": (3, 3, 0, 0)}, why="-7, -4, -2, -1"),
    corners.WriteThenRead: Count(
        (1, 2, 2),
        {"write": (10, 10, 3, 0)},
        why="cells, at, last: 00 0 0; 10 0 1 and 10 1 0; 11 0 1 and 11 1 1; the 2nd, 4th and 5th loop",
    ),
    corners.FullQueue: Count((1, 1, 2), {"push": (8, 8, 2, 0)}, why="00; 01; 10 11; 00 and 11 loop"),
    corners.ThereAndBack: Count(
        (1, 1, 1), {"step": (3, 3, 0, 0)}, {"values_stay_in_domain": 3}, why="0, 1, 2, and 3 is outside"
    ),
    corners.CopiedCollection: Count(
        (1, 2, 3, 2),
        {"set": (6, 6, 0, 0), "take_but": (16, 16, 8, 0)},
        why="copies of {}: {}; of {0}: {} {0}; of {1}: {} {1}; of {0 1}: {} {0} {1}; two loops of each",
    ),
    corners.CopiedSequence: Count((1, 1, 1), {"grow": (2, 2, 0, 0)}, why="lengths 0, 1, 2"),
    corners.BoundInABranch: Count(
        (1, 1, 1, 1, 1, 1),
        {"count": (10, 7, 0, 3)},
        why="0..5; quick is taken from 0 and 1, cut at 2, 3 and 4",
    ),
    corners.OnlySelfLoopsBreakIt: Count(
        (1, 1),
        {"flip": (2, 2, 0, 0), "stay": (2, 2, 2, 0)},
        {"something_moves": 1},
        why="dark and lit; staying dark moves nothing",
    ),
    corners.StartsInSeveralStates: Count(
        (3, 1),
        {"meet": (2, 2, 0, 0)},
        why="0 gives 01 twice, 2 gives 10 and 11, 1 is off; 01 meets at 11, 10 at 00",
    ),
    corners_at_fault.WitnessOnceReached: Count(
        (1, 1, 1), {"step": (2, 2, 0, 0)}, why="0, 1, 2; the witness at 1 and the terminal at 0 would fault"
    ),
    corners.Lower: Count((1, 2, 1), {"take": (4, 4, 0, 0)}, why="four sets of taken items"),
    corners.Upper: Count((1, 1, 1), {"take": (2, 2, 0, 0)}, why="the first, then the second"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", COUNTS, ids=lambda model: model.__name__)
def test_a_corner_has_the_counts_that_a_hand_gives_it(model: type[Model], engine: str) -> None:
    expected = COUNTS[model]
    tally = ENGINES[engine](definition_of(model), Bounds(every=True))
    counts = tally.counts()
    assert tuple(tally.levels) == expected.levels
    assert counts["coverage"] == expected.actions
    assert {name: found.steps for name, found in tally.violations.items()} == expected.broken
    assert tally.states == sum(expected.levels)
    assert tally.transitions == sum(fired for _, fired, _, _ in expected.actions.values())
    assert tally.fault is None
    assert None not in tally.witnesses.values()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_read_past_the_end_is_a_fault_at_its_line(engine: str) -> None:
    tally = ENGINES[engine](definition_of(corners_at_fault.ReadPastTheEnd), Bounds(every=True))
    assert tally.fault is not None
    assert "index 0 is outside a sequence of length 0" in tally.fault.message
    assert [str(label) for label in tally.fault.trace.steps] == ["take()", "take()"]
    assert tally.fault.place is not None
    function = corners_at_fault.ReadPastTheEnd.take
    assert tally.fault.place.line == function.__code__.co_firstlineno + 2


def line_of(function: Callable[..., object], below: int) -> int:
    return function.__code__.co_firstlineno + below


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_hides_no_violation_of_its_level(engine: str) -> None:
    tally = ENGINES[engine](definition_of(corners_at_fault.FaultBesideAViolation), Bounds(every=True))
    assert tally.fault is not None
    assert tally.fault.place is not None
    assert tally.fault.place.line == line_of(corners_at_fault.FaultBesideAViolation.what_is_there_is_true, 2)
    assert [str(label) for label in tally.fault.trace.steps] == ["put(-1)"]
    found = tally.violations["what_is_there_is_true"]
    assert [str(label) for label in found.trace.steps] == ["put(1)"]
    assert tally.levels == [1, 2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_is_told_where_a_predicate_is_judged_and_nowhere_else(engine: str) -> None:
    tally = ENGINES[engine](definition_of(corners_at_fault.FaultOfAnotherWitness), Bounds(every=True))
    assert tally.fault is not None
    assert tally.fault.place is not None
    witness = corners_at_fault.FaultOfAnotherWitness.the_number_before_is_not_in_the_row
    assert tally.fault.place.line == line_of(witness, 2)
    assert [str(label) for label in tally.fault.trace.steps] == ["step()", "step()"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_at_the_start_leaves_the_other_starts(engine: str) -> None:
    tally = ENGINES[engine](definition_of(corners_at_fault.FaultAtTheStart), Bounds(every=True))
    assert tally.fault is not None
    assert tally.fault.place is not None
    assert tally.fault.place.line == line_of(corners_at_fault.FaultAtTheStart.start, 2)
    assert (tally.levels, tally.transitions) == ([2], 0)


FAULTY = {
    corners_at_fault.ReadPastTheEnd,
    corners_at_fault.FaultBesideAViolation,
    corners_at_fault.FaultOfAnotherWitness,
    corners_at_fault.FaultAtTheStart,
}


def test_every_corner_is_counted() -> None:
    values = [value for module in (corners, corners_at_fault) for value in vars(module).values()]
    models = {value for value in values if isinstance(value, type) and issubclass(value, Model)}
    assert models - {Model} == COUNTS.keys() | FAULTY
