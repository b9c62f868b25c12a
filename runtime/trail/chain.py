"""What is hashed and what is signed, to the byte: commitments, attestations' statements, and links.

A payload is committed to with a salt, so that once both are destroyed nothing tells what it was, and the
commitment still stands in its link. A link covers all else that a record stores, and the link before it.
"""

import hashlib
from dataclasses import dataclass

FIRST = bytes(32)
"""What the first link follows."""

HASH = 32
SALT = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A record but for its payload: what is chained."""

    sequence_number: int
    event_id: str
    recorded_at: int
    action_ref: str
    actor_ref: str
    key_id: str
    attestation: bytes
    policy_ref: str | None
    retention_until: int | None
    commitment: bytes


def committed(salt: bytes, payload: bytes) -> bytes:
    """The commitment to a payload."""
    return hashlib.sha256(b"falsework trail payload 1\0" + salt + payload).digest()


def statement(trail_id: str, event_id: str, action_ref: str, actor_ref: str, commitment: bytes) -> bytes:
    """What an actor attests: this action, in this trail, once."""
    return b"".join(
        (
            b"falsework trail attestation 1\0",
            _text(trail_id),
            _text(event_id),
            _text(action_ref),
            _text(actor_ref),
            commitment,
        )
    )


def linked(before: bytes, entry: Entry) -> bytes:
    """The link of an entry that follows this one."""
    return hashlib.sha256(
        b"".join(
            (
                b"falsework trail link 1\0",
                before,
                _number(entry.sequence_number),
                _text(entry.event_id),
                _number(entry.recorded_at),
                _text(entry.action_ref),
                _text(entry.actor_ref),
                _text(entry.key_id),
                _octets(entry.attestation),
                b"\0" if entry.policy_ref is None else b"\1" + _text(entry.policy_ref),
                b"\0" if entry.retention_until is None else b"\1" + _number(entry.retention_until),
                entry.commitment,
            )
        )
    ).digest()


def _number(value: int) -> bytes:
    """The whole number in eight bytes."""
    return value.to_bytes(8, "big", signed=True)


def _text(value: str) -> bytes:
    """The text and, before it, how long it is."""
    return _octets(value.encode())


def _octets(value: bytes) -> bytes:
    """The bytes and, before them, how many they are."""
    return len(value).to_bytes(4, "big") + value
