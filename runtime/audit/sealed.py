"""The journal's seals, computed anew: commitments, statements, links, the tree over the links, signed notes.

Written from docs/runtime.md, "To the byte", and from nothing that writes them.
"""

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from falsework.runtime.audit.opened import Stored

PAYLOAD, STATEMENT, LINK = (
    f"falsework trail {what} 1\0".encode() for what in ("payload", "attestation", "link")
)
BEFORE_ALL = b"\0" * 32
NOTE_ORIGIN, NOTE_SIGNER = "falsework-trail/", "— falsework/"


class NoNote(ValueError):
    """A text is no signed note; the message says what is wrong with it."""


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack(">I", len(raw)) + raw


def _number(value: int) -> bytes:
    return struct.pack(">q", value)


def _digest(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def commitment_of(salt: bytes, payload: bytes) -> bytes:
    """What a record must commit to."""
    return _digest(PAYLOAD, salt, payload)


def key_id_of(public_key: bytes) -> str:
    """The name of a public key."""
    return _digest(public_key).hex()[:32]


def is_attested(public_key: bytes, trail_id: str, stored: Stored) -> bool:
    """Whether the holder of the key signed the record as it stands."""
    names = (trail_id, stored.event_id, stored.action_ref, stored.actor_ref)
    said = STATEMENT + b"".join(map(_text, names)) + stored.commitment
    return _is_signed(public_key, stored.attestation, said)


def _is_signed(public_key: bytes, signature: bytes, said: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, said)
    except (InvalidSignature, ValueError):
        return False
    return True


def link_of(before: bytes, stored: Stored) -> bytes | None:
    """What the record's link must be after that one; None where a number of it fits into no link."""
    attestation = struct.pack(">I", len(stored.attestation)) + stored.attestation
    policy = b"\0" if stored.policy_ref is None else b"\1" + _text(stored.policy_ref)
    try:
        until = b"\0" if stored.retention_until is None else b"\1" + _number(stored.retention_until)
        return _digest(
            *(LINK, before, _number(stored.seq), _text(stored.event_id), _number(stored.recorded_at)),
            *(_text(stored.action_ref), _text(stored.actor_ref), _text(stored.key_id), attestation),
            *(policy, until, stored.commitment),
        )
    except struct.error:
        return None


class Roots:
    """The Merkle roots of a growing list of leaves, as RFC 6962 has them: one root a subtree is kept."""

    def __init__(self) -> None:
        self.size = 0
        self.subtrees: list[tuple[int, bytes]] = []  # how many leaves, and their root; the largest first

    def add(self, leaf: bytes) -> None:
        """The list has one leaf more."""
        self.subtrees.append((1, _digest(b"\0", leaf)))
        self.size += 1
        while len(self.subtrees) > 1 and self.subtrees[-1][0] == self.subtrees[-2][0]:
            (width, right), (_, left) = self.subtrees.pop(), self.subtrees.pop()
            self.subtrees.append((2 * width, _digest(b"\1", left, right)))

    def root(self) -> bytes:
        """The root of the list as it is."""
        if not self.subtrees:
            return _digest()
        *others, (_, root) = self.subtrees
        for _, left in reversed(others):
            root = _digest(b"\1", left, root)
        return root

    def frontier(self) -> bytes:
        """The roots of the full subtrees, the largest first, one after the other."""
        return b"".join(root for _, root in self.subtrees)


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint as somebody signed it."""

    trail_id: str
    size: int
    root: bytes
    seq: int
    link: bytes
    taken_at: int
    key_id: str
    signature: bytes
    said: bytes

    def is_signed_by(self, public_key: bytes) -> bool:
        """Whether the holder of the key signed it."""
        return _is_signed(public_key, self.signature, self.said)


def read_note(text: str) -> Note:
    """The note that a text is."""
    said, _, rest = text.partition("\n\n")
    lines, signer = said.split("\n"), rest.removesuffix("\n")
    if len(lines) != 6 or not rest.endswith("\n") or "\n" in signer:
        raise NoNote("it has not the lines of a note")
    origin, size, root, seq, link, taken_at = lines
    for begin, line in (
        (NOTE_ORIGIN, origin),
        ("seq ", seq),
        ("link ", link),
        ("at ", taken_at),
        (NOTE_SIGNER, signer),
    ):
        if not line.startswith(begin):
            raise NoNote(f"a line is {line[:40]!r} where {begin!r} begins one")
    key_id, _, signature = signer.removeprefix(NOTE_SIGNER).partition(" ")
    try:
        return Note(
            origin.removeprefix(NOTE_ORIGIN),
            int(size),
            base64.b64decode(root, validate=True),
            int(seq.removeprefix("seq ")),
            bytes.fromhex(link.removeprefix("link ")),
            int(taken_at.removeprefix("at ")),
            key_id,
            base64.b64decode(signature, validate=True)[4:],
            f"{said}\n".encode(),
        )
    except (ValueError, binascii.Error) as problem:
        raise NoNote(str(problem)) from None
