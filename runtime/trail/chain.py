"""What is hashed and what is signed, to the byte: commitments, attestations' statements, and links.

A payload is committed to with a salt, so that once both are destroyed nothing tells what it was, and the
commitment still stands in its link. A link covers all else that a record stores, and the link before it.
"""

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

FIRST = bytes(32)
"""What the first link follows."""

HASH = 32
SALT = 16


class Entry(NamedTuple):
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
    return sha256(b"falsework trail payload 1\0" + salt + payload).digest()


def statement(trail_id: str, event_id: str, action_ref: str, actor_ref: str, commitment: bytes) -> bytes:
    """What an actor attests: this action, in this trail, once."""
    return (
        b"falsework trail attestation 1\0"
        + _known(trail_id)
        + _text(event_id)
        + _known(action_ref)
        + _known(actor_ref)
        + commitment
    )


def linked(before: bytes, entry: Entry) -> bytes:
    """The link of an entry that follows this one."""
    seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy, until, commitment = entry
    return sha256(
        b"".join(
            (
                b"falsework trail link 1\0",
                before,
                _number(seq),
                _text(event_id),
                _number(recorded_at),
                _known(action_ref),
                _known(actor_ref),
                _known(key_id),
                _octets(attestation),
                b"\0" if policy is None else b"\1" + _known(policy),
                b"\0" if until is None else b"\1" + _number(until),
                commitment,
            )
        )
    ).digest()


def _number(value: int) -> bytes:
    """The whole number in eight bytes."""
    return value.to_bytes(8, "big", signed=True)


def _octets(value: bytes) -> bytes:
    """The bytes and, before them, how many they are."""
    return len(value).to_bytes(4, "big") + value


def _text(value: str) -> bytes:
    """The text and, before it, how long it is."""
    return _octets(value.encode())


_known = lru_cache(maxsize=1_024)(_text)
"""The same of a text that comes again and again: a reference, a key, a policy."""
