"""Reported defects of counting, identity and completeness; each test says what went wrong elsewhere."""

import importlib
import importlib.util
from collections.abc import Callable

import pytest

from falsework import Model, check
from falsework.accounting import Bounds, Tally
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.graph import state_graph
from falsework.trace import replay
from regress_public import interleavings, situations

ENGINES: dict[str, Callable[..., Tally]] = {"explore": explore}
if importlib.util.find_spec("falsework.fast") is not None:
    ENGINES["fast"] = importlib.import_module("falsework.fast").fast
each_engine = pytest.mark.parametrize("engine", ENGINES)


def search(engine: str, model: type[Model], *, every: bool = True) -> Tally:
    return ENGINES[engine](definition_of(model), Bounds(every=every))


@each_engine
def test_every_exporter_gives_the_same_states(engine: str) -> None:
    """T01: mutable states were shared, so a dump repeated some and lost others: 4 distinct, 9 generated."""
    tally = search(engine, situations.GrowingSet)
    assert (tally.states, 1 + tally.transitions, tally.depth) == (4, 9, 2)
    graph = state_graph(definition_of(situations.GrowingSet))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (4, 8)


@each_engine
def test_what_is_absent_is_no_part_of_the_state(engine: str) -> None:
    """T03: bytes left over in undefined fields were counted as state: 3 if normalised, 5 if not."""
    assert search(engine, situations.AbsentPayload).states == 3
    assert search(engine, situations.PayloadLeftBehind).states == 5


@each_engine
def test_whose_turn_it_is_belongs_to_the_state(engine: str) -> None:
    """T07: the hash of a state left out the active thread, so the schedule with the bug was never tried."""
    tally = search(engine, situations.WhoseTurn)
    assert tally.states == 3
    steps = [str(label) for label in tally.violations["nobody_fires"].trace.steps]
    assert steps == ["hand_over()", "fire()"]


@each_engine
def test_states_of_one_hash_stay_apart(engine: str) -> None:
    """T07, the other half: a search that compares hashes alone would have stopped at the first state."""
    tally = search(engine, situations.EveryHashCollides)
    assert tally.levels == [1] * 7
    assert tally.violations["six_is_never_reached"].steps == 6


@each_engine
def test_rebuilding_the_trace_counts_nothing(engine: str) -> None:
    """T09: counters went on while the trace was rebuilt. States 0 to 3, three steps, before and after."""
    tally = search(engine, situations.CountsToThree, every=False)
    before = tally.counts()
    assert (tally.states, tally.transitions, tally.levels) == (4, 3, [1, 1, 1, 1])
    replay(tally.definition, tally.violations["three_is_never_reached"].trace)
    assert tally.counts() == before
    assert check(situations.CountsToThree, engine=engine).tally.counts() == before


@each_engine
def test_a_process_and_a_number_are_not_mixed_up(engine: str) -> None:
    """T17: a reduction exchanged the counter's values with the processes' names. There are 8 states."""
    tally = search(engine, interleavings.LockedCounter)
    assert (tally.states, tally.violations) == (8, {})


@each_engine
def test_steps_that_depend_on_each_other_are_both_orders_tried(engine: str) -> None:
    """T18: dependent steps were taken for independent and a violation hidden: 10 states, -1 after 4 steps."""
    tally = search(engine, interleavings.Escrow)
    assert tally.states == 10
    found = tally.violations["the_escrow_covers_what_is_paid"]
    assert [str(label) for label in found.trace.steps] == ["withdraw()", "withdraw()", "sign()", "pay()"]


@each_engine
def test_every_printed_step_can_be_taken(engine: str) -> None:
    """T20: a step was printed that the model does not have. 32 states; the shortest way flips each once."""
    tally = search(engine, interleavings.FiveBits)
    assert tally.levels == [1, 5, 10, 10, 5, 1]
    found = tally.violations["some_bit_is_off"]
    assert [str(label) for label in found.trace.steps] == [f"flip({bit})" for bit in range(5)]
    taken = replay(tally.definition, found.trace)
    assert [sum(step.state[0]) for step in taken] == [0, 1, 2, 3, 4, 5]


@each_engine
@pytest.mark.parametrize("reads", [True, False])
def test_a_redundant_read_removes_no_outcome(engine: str, reads: bool) -> None:
    """T21: a read to no effect took interleavings away: 00, 01, 10, 11 are reached with it and without."""
    result = check(interleavings.RedundantRead, engine=engine, READS=reads)
    assert set(result.tally.witnesses) == {
        "neither_is_seen",
        "only_k_is_seen",
        "only_v_is_seen",
        "both_are_seen",
    }
    assert None not in result.tally.witnesses.values()
    assert result.verdict.passes


@each_engine
def test_two_who_only_offer_are_stuck(engine: str) -> None:
    """T23: one search mode missed a stuck rendezvous that another found. Stuck at once, in every engine."""
    assert {n: found.steps for n, found in search(engine, interleavings.BothOffer).violations.items()} == {
        "deadlock": 0
    }


@each_engine
def test_a_step_that_changes_nothing_is_a_step(engine: str) -> None:
    """T23, the pair: where only self-loops are enabled nothing is stuck, and the coverage shows it."""
    tally = search(engine, interleavings.Spins)
    assert tally.violations == {}
    offers = tally.coverage["offer"]
    assert (offers.fired, offers.self_loops, tally.states) == (2, 2, 1)
