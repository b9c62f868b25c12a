"""Check 8 finds every mutation of a trail that the runtime's own verifier is held to.

The mutations are those of tests/tampering.py: single edits of a database by somebody without a credential.
"""

from collections.abc import Iterator

import pytest

from falsework.runtime.audit.opened import TABLES, Journal, Stored
from falsework.runtime.audit.substrate import Substrate
from falsework.runtime.trail.checkpoint import read_note
from stores import Run, placed
from tampering import Tamperer, undone
from test_trail_tamper import KINDS, drawn, lived_in
from trail_world import TrailWorld


@pytest.fixture(scope="module")
def world() -> Iterator[TrailWorld]:
    with placed("sqlite") as place:
        lived = TrailWorld(place)
        lived_in(lived)
        place.unguarded()
        yield lived


def violated(run: Run, notes: list[str]) -> list[str]:
    """The traversals that find something, as the connection sees the journal."""
    journal = Journal(
        "the journal", lambda statement, values=(): run(statement, values), set(TABLES).__contains__, None
    )
    substrate = Substrate([(f"note {number}", text) for number, text in enumerate(notes, 1)])
    substrate.expects(journal)
    for row in journal.rows():
        if isinstance(row, Stored):
            substrate.walk(row)
        else:
            substrate.malformed(row)
    substrate.ends(journal, reading=0, settles=0)  # nothing has had its time to be placed
    return [letter for letter, check in substrate.checks.items() if check.violations]


def test_a_trail_that_nobody_touched_is_cleared(world: TrailWorld) -> None:
    with world.place.bare() as run:
        assert violated(run, world.witness.held()) == []


def missed(world: TrailWorld, kind: str, seeds: range) -> list[str]:
    """What was done to the journal and not found."""
    notes = world.witness.held()
    witnessed = read_note(notes[-1]).checkpoint.size
    unseen = []
    with world.place.bare() as run:
        tamperer = Tamperer(run, witnessed)
        for seed in seeds:
            with undone(run):
                done = tamperer.mutate(kind, drawn(seed))
                if not violated(run, notes):
                    unseen.append(f"{kind} {seed}: {done}")
    return unseen


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_mutation_is_found(world: TrailWorld, kind: str) -> None:
    assert missed(world, kind, range(60)) == []


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
def test_every_one_of_five_thousand_mutations_is_found(world: TrailWorld, kind: str) -> None:
    assert missed(world, kind, range(60, 685)) == []
