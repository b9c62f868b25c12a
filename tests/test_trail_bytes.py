"""The bytes that docs/runtime.md names, put together anew here: what another language's verifier would do."""

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from falsework.runtime.trail.identity import public_key_of
from stores import BOTH, placed
from trail_world import ALICE, ROOT, TrailWorld

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "runtime.md").read_text(encoding="utf-8")


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[TrailWorld]:
    with placed(request.param) as place:
        yield TrailWorld(place)


def octets(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def text(value: str) -> bytes:
    return octets(value.encode("utf-8"))


def number(value: int) -> bytes:
    return struct.pack(">q", value)


def digest(name: str, *parts: bytes) -> bytes:
    assert f'`"{name}\\0"`' in PAGE
    return hashlib.sha256(name.encode() + b"\0" + b"".join(parts)).digest()


def test_every_byte_is_as_the_page_says(world: TrailWorld) -> None:
    world.record({"é": ["ü", 1, None]})
    world.trail.record_action("unplaced.ж", "alice", ALICE, {})
    keys = {public_key_of(credential) for credential in (ROOT, ALICE)}
    by_id = {hashlib.sha256(key).hexdigest()[:32]: key for key in keys}
    with world.store.snapshot() as snapshot:
        rows = snapshot.execute(
            "SELECT seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref, "
            "retention_until, commitment, link, salt, payload FROM journal ORDER BY seq"
        )
    before = bytes(32)
    for row in rows:
        match row:
            case (
                int() as seq,
                str() as event,
                int() as at,
                str() as action,
                str() as actor,
                str() as key_id,
                bytes() as attestation,
                str() | None as policy,
                int() | None as until,
                bytes() as commitment,
                bytes() as link,
                bytes() as salt,
                bytes() as payload,
            ):
                assert commitment == digest("falsework trail payload 1", salt, payload)
                signed = b"".join((text(world.trail_id), text(event), text(action), text(actor), commitment))
                said = b"falsework trail attestation 1\0" + signed
                Ed25519PublicKey.from_public_bytes(by_id[key_id]).verify(attestation, said)
                assert link == digest(
                    "falsework trail link 1",
                    before,
                    number(seq) + text(event) + number(at) + text(action) + text(actor) + text(key_id),
                    octets(attestation),
                    b"\0" if policy is None else b"\1" + text(policy),
                    b"\0" if until is None else b"\1" + number(until),
                    commitment,
                )
                before = link
            case _:
                pytest.fail(f"a row is {row}")
    assert len(rows) == 6
    read = world.records(0)
    attestations = [row[6] for row in rows]
    assert [record.attestation_id for record in read] == [
        hashlib.sha256(attestation).hexdigest()[:32]
        for attestation in attestations
        if isinstance(attestation, bytes)
    ]


def test_the_bytes_are_those_of_every_release(world: TrailWorld) -> None:
    # A pin and no oracle: the test above says that the bytes are right, this one that they never change.
    world.record()
    with world.store.snapshot() as snapshot:
        ((link,),) = snapshot.execute("SELECT link FROM journal WHERE seq = 5")
    assert isinstance(link, bytes)
    assert link.hex() == "797ad089182507e15e5881890e836ed3ab5134818370e91fe7b3d431909ec398"
