"""The supersession slice against the text read into plain Python, over every small graph of closings."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.fast import fast
from falsework.models.recoverable_invocation.records_supersession import (
    Closing,
    Kind,
    State,
    Supersession,
    Surface,
    Writer,
)
from falsework.naming import with_constants

CLOSINGS = 4
Names = frozenset[tuple[int, int]]

FourClosings = with_constants(Supersession, {"CLOSINGS": CLOSINGS})


def graphs() -> Iterator[tuple[int, Names]]:
    """Every length up to four, with every set of namings of an earlier closing by a later one."""
    for length in range(CLOSINGS + 1):
        pairs = list(combinations(range(length), 2))
        for chosen in product((False, True), repeat=len(pairs)):
            yield length, frozenset((b, a) for (a, b), named in zip(pairs, chosen, strict=True) if named)


def text_standing(length: int, names: Names) -> int | None:
    """The closing that no other names; of several, the one with the lowest sequence number."""
    return min(set(range(length)) - {earlier for _, earlier in names}, default=None)


def text_counted(length: int, names: Names) -> int:
    """How many closings there are where the standing one counts as one with all that it reaches by names."""
    reached = set() if (standing := text_standing(length, names)) is None else {standing}
    while further := {earlier for later, earlier in names if later in reached} - reached:
        reached |= further
    return length - len(reached) + min(length, 1)


def model_of(length: int, names: Names, closing: Closing) -> Supersession:
    model = FourClosings()
    assert isinstance(model, Supersession)
    for slot in range(length):
        model.closings[slot] = closing
    for pair in names:
        model.names[pair] = True
    model.length = length
    return model


def test_there_are_as_many_graphs_as_a_hand_counts() -> None:
    assert len(list(graphs())) == 1 + 1 + 2 + 2**3 + 2**6


def test_every_graph_is_read_as_the_text_reads_it() -> None:
    for length, names in graphs():
        model = model_of(length, names, Closing(kind=Kind.OUTCOME, by=Writer.OPERATOR))
        assert model.standing() == text_standing(length, names), (length, names)
        for surface in Surface:
            assert model.duplicate(surface) == (text_counted(length, names) > 1), (length, names, surface)


# The table of the section on which closing stands; a kind that a writer never writes is left out.
PROJECTED = {
    (Kind.OUTCOME, Writer.INVOCATION): State.CLOSED,
    (Kind.OUTCOME, Writer.SWEEP): State.CLOSED,
    (Kind.OUTCOME, Writer.OPERATOR): State.CLOSED,
    (Kind.REFUSED, Writer.INVOCATION): State.REFUSED,
    (Kind.ABANDONED, Writer.SWEEP): State.ABANDONED,
    (Kind.ABANDONED, Writer.OPERATOR): State.RESOLVED,
    (Kind.ESCALATED, Writer.SWEEP): State.ESCALATED,
    (Kind.ESCALATED, Writer.OPERATOR): State.ESCALATED,
}


@pytest.mark.parametrize("kind, writer", PROJECTED, ids=lambda member: member.name)
def test_the_standing_closing_projects_the_state_of_the_table(kind: Kind, writer: Writer) -> None:
    reading = model_of(1, frozenset(), Closing(kind=kind, by=writer)).look(Surface.READ_INVOCATION)
    assert (reading.state, reading.standing, reading.duplicate) == (PROJECTED[kind, writer], 0, False)


def test_an_act_that_nothing_closed_is_open() -> None:
    assert FourClosings().look(Surface.AUDIT).state is State.OPEN  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_rival_beside_a_chain_of_three_changes_nothing() -> None:
    tally = fast(definition_of(FourClosings), Bounds(every=True))
    assert not tally.violations
    assert all(steps is not None for steps in tally.witnesses.values())
