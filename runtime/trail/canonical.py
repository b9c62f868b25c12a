"""The one form of bytes that a payload has: canonical JSON (RFC 8785) of values that all programs agree on.

Floats are not among them, nor whole numbers beyond 2^53, nor texts that UTF-8 cannot carry; keys stay below
the surrogates, where the order of code points and that of UTF-16 are one.
"""

import json
from collections.abc import Mapping
from functools import lru_cache

from falsework.runtime.trail.contract import ATTESTATION_ID_WIDTH, Data, Json

LARGEST = 2**53 - 1
DEEPEST = 32

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode
_FRAME = len('{"action_ref":,"actor_ref":,"attestation_id":"","data":}') + ATTESTATION_ID_WIDTH


def canonical(data: Data) -> bytes:
    """The data's canonical form; `ValueError` says where it has none."""
    if not isinstance(data, Mapping):
        raise ValueError(  # noqa: TRY004  every way in which data has no canonical form is one error
            f"data is {type(data).__name__}: write a mapping of names to values"
        )
    return _encode(data if _is_flat(data) else _plain(data, "data", 0)).encode()


def measured(action_ref: str, actor_ref: str, payload: bytes) -> int:
    """How many bytes the envelope of a record takes, framing and attestation id included."""
    return _FRAME + _written(action_ref) + _written(actor_ref) + len(payload)


@lru_cache(maxsize=1_024)
def _written(text: str) -> int:
    """How many bytes a reference takes."""
    return len(_encode(text).encode())


def _is_flat(data: Data) -> bool:
    """Whether the data has a canonical form as it is, as most has: plain names of plain values."""
    if type(data) is not dict:
        return False
    for key, value in data.items():
        if type(key) is not str or not key.isascii():
            return False
        kind = type(value)
        if kind is str:
            if not value.isascii():
                return False
        elif kind is int:
            if not -LARGEST <= value <= LARGEST:
                return False
        elif value is not None and kind is not bool:
            return False
    return True


def parsed(payload: bytes) -> Data:
    """The data of a canonical form; `ValueError` where the bytes are no such form."""
    data: Json = json.loads(payload)
    if not isinstance(data, dict):
        raise ValueError("a payload is a mapping of names to values")  # noqa: TRY004  as for what is no JSON
    return data


def _plain(value: Json, where: str, depth: int) -> Json:
    """The value in the types that the encoder knows, once it is shown to be one of ours."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, int):
        if not -LARGEST <= value <= LARGEST:
            raise ValueError(f"{where} is {value}: write a whole number within ±{LARGEST}, or a text")
        return int(value)
    if depth >= DEEPEST:
        raise ValueError(f"{where} is nested more than {DEEPEST} deep: write a flatter value")
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(inner, f"{where}.{key}", depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, f"{where}[{place}]", depth + 1) for place, inner in enumerate(value)]
    raise ValueError(
        f"{where} is {value!r}: write a text, a whole number, true, false, null, a list or a mapping"
    )


def _text(value: str, where: str) -> str:
    """The text, which UTF-8 can carry."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where} is {value!r}: write a text without lone surrogates") from None
    return value


def _key(key: object, where: str) -> str:
    """The key, whose place among the others every program agrees on."""
    if not isinstance(key, str) or not (key.isascii() or all(character < "\ud800" for character in key)):
        raise ValueError(f"{where} has the key {key!r}: write a text of characters below U+D800")
    return key
