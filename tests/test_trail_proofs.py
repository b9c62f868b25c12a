"""Proofs for who has a checkpoint and not the journal: they hold for what is there, and for nothing else."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from falsework.runtime.trail.checkpoint import Checkpoint
from falsework.runtime.trail.journal import TrailError
from falsework.runtime.trail.proofs import Consistency, Inclusion, prove_consistency, prove_inclusion
from stores import BOTH, placed
from trail_world import TrailWorld


@pytest.fixture(scope="module", params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[TrailWorld]:
    with placed(request.param) as place:
        yield TrailWorld(place)


@pytest.fixture(scope="module")
def checkpoints(world: TrailWorld) -> list[Checkpoint]:
    """One checkpoint after each of five records."""
    taken = []
    for number in range(5):
        world.record({"n": number})
        taken.append(world.notary.checkpoint())
    return taken


def test_each_record_is_in_the_checkpoints_after_it(world: TrailWorld, checkpoints: list[Checkpoint]) -> None:
    for record in world.records(0):
        for checkpoint in checkpoints:
            if record.sequence_number <= checkpoint.size:
                proof = prove_inclusion(world.store, record.event_id, checkpoint)
                held = [other.size for other in checkpoints if proof.holds(other)]
                assert held == [checkpoint.size]
            else:
                with pytest.raises(TrailError, match=r"is not under the checkpoint of \d+ records"):
                    prove_inclusion(world.store, record.event_id, checkpoint)


def test_a_proof_of_anything_else_does_not_hold(world: TrailWorld, checkpoints: list[Checkpoint]) -> None:
    last = checkpoints[-1]
    proof = prove_inclusion(world.store, "event 6", last)
    assert proof.holds(last)
    assert replace(proof, salt=None, payload=None).holds(last)  # all that is left after a purge
    entry = proof.entry
    wrong: list[Inclusion] = [
        replace(proof, entry=entry._replace(actor_ref="bob")),
        replace(proof, entry=entry._replace(recorded_at=entry.recorded_at + 1)),
        replace(proof, before=bytes(32)),
        replace(proof, index=proof.index + 1),
        replace(proof, path=proof.path[:-1]),
        replace(proof, payload=b'{"n":9}'),
        replace(proof, salt=bytes(16)),
        replace(proof, salt=None),
    ]
    assert [proof.holds(last) for proof in wrong] == [False] * len(wrong)


def test_each_checkpoint_extends_those_before_it(world: TrailWorld, checkpoints: list[Checkpoint]) -> None:
    for earlier in checkpoints:
        for later in checkpoints:
            if earlier.size > later.size:
                with pytest.raises(TrailError, match=r"does not come before one of \d+: exchange them$"):
                    prove_consistency(world.store, earlier, later)
                continue
            proof = prove_consistency(world.store, earlier, later)
            assert proof.holds(earlier, later)
            assert not proof.holds(replace(earlier, root=bytes(32)), later)
            assert not proof.holds(replace(earlier, trail_id="another"), later)
            assert not Consistency((*proof.path, bytes(32))).holds(earlier, later)


def test_an_event_nobody_recorded_has_no_proof(world: TrailWorld, checkpoints: list[Checkpoint]) -> None:
    with pytest.raises(TrailError, match=r"^no record has the event id 'event 99'$"):
        prove_inclusion(world.store, "event 99", checkpoints[0])
