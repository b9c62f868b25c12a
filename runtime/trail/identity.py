"""Who acts: credentials, the keys behind them, and the attestations that anyone may check without a secret.

A credential is the text of an Ed25519 key's seed. It is never stored: the trail keeps the public key, and
knows it by its fingerprint.
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from falsework.runtime.trail.contract import ATTESTATION_ID_WIDTH

SCHEME = "ed25519:"
SEED, PUBLIC = 32, 32


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The key that a credential stands for."""

    key_id: str
    public_key: bytes
    private: Ed25519PrivateKey

    def sign(self, statement: bytes) -> bytes:
        """The attestation of the statement."""
        return self.private.sign(statement)


def fresh_credential(entropy: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """A credential nobody has."""
    return SCHEME + base64.urlsafe_b64encode(entropy(SEED)).decode().rstrip("=")


@lru_cache(maxsize=256)
def signing_key(credential: str) -> SigningKey | None:
    """The credential's key; None where the text is no credential."""
    if not credential.startswith(SCHEME):
        return None
    try:
        seed = base64.b64decode(credential.removeprefix(SCHEME) + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(seed) != SEED:
        return None
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key().public_bytes_raw()
    return SigningKey(fingerprint(public), public, private)


def public_key_of(credential: str) -> bytes:
    """The public key to register for a credential; `ValueError` where the text is none."""
    key = signing_key(credential)
    if key is None:
        raise ValueError("this is no credential: write ed25519: and the 43 characters of its seed")
    return key.public_key


def fingerprint(public_key: bytes) -> str:
    """The name by which a public key is known."""
    return hashlib.sha256(public_key).hexdigest()[:32]


def attestation_id(attestation: bytes) -> str:
    """The name by which an attestation is known."""
    return hashlib.sha256(attestation).hexdigest()[:ATTESTATION_ID_WIDTH]


@lru_cache(maxsize=16_384)
def attested(public_key: bytes, attestation: bytes, statement: bytes) -> bool:
    """Whether the holder of the key attested the statement."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(attestation, statement)
    except (InvalidSignature, ValueError):
        return False
    return True
