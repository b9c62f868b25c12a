"""The larger rows of counts.toml by the compiled engine, and the tuple programs beside it."""

from functools import cache
from typing import Any

import pytest

from counts_table import ROWS, Row, found, steps_of
from falsework.accounting import Bounds, Tally
from falsework.native import native

LARGE = [row for row in ROWS if row.tier == "native"]
MINUTES = 5_000_000  # states of which the compiled engine takes many seconds
BOUNDS = Bounds(every=True, max_states=400_000_000, memory_mb=16 * 1024)


@cache
def counted(row: Row) -> Tally:
    return native(row.definition(), BOUNDS)


def marked(row: Row) -> Any:
    return pytest.param(
        row, id=str(row), marks=pytest.mark.deep if row.states > MINUTES else pytest.mark.slow
    )


@pytest.mark.parametrize("row", [marked(row) for row in LARGE])
def test_there_are_the_states_that_the_row_says(row: Row) -> None:
    assert found(counted(row)) == row.figures()
    assert row.generated in (None, steps_of(counted(row)).generated)


# Two-phase commit is counted without a search in tests/test_counts.py.
SEARCHED = [row for row in LARGE if row.model != "two_phase_commit"]


@pytest.mark.deep
@pytest.mark.parametrize("row", SEARCHED, ids=str)
def test_the_tuple_program_takes_the_same_steps(row: Row) -> None:
    assert steps_of(counted(row)) == row.second_opinion()


# The manifest of the TLA+ examples: distinct and generated states, and TLC's depth.
TLC = {
    "lamport_mutex": (724_274, 2_729_079, 61),
    "paxos_commit": (1_321_761, 16_959_159, 28),
}


@pytest.mark.deep
@pytest.mark.parametrize("row", [row for row in SEARCHED if row.model in TLC], ids=str)
def test_the_tuple_program_generates_what_tlc_was_seen_to_generate(row: Row) -> None:
    peer = row.second_opinion(as_tlc=True)
    assert (peer.states, peer.generated, len(peer.levels)) == TLC[row.model]
