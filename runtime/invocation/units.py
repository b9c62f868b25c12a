"""Durations and sizes as people write them, and as whole microseconds and bytes."""

import re
from fractions import Fraction

MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
BYTES = {"B": 1, "KiB": 1_024, "MiB": 1_048_576}
AMOUNT = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?) *([A-Za-z]+)")
MOST = 2**53 - 1
"""Of the smallest unit: every reader of JSON holds it exactly, and a store adds it to any instant."""


class UnitError(ValueError):
    """A text is no amount; the message says what to write instead."""


def duration(text: str) -> int:
    """The microseconds of a text such as `10 min`, `1.5 s` or `250 ms`."""
    return _amount(text, MICROSECONDS, "a number with a unit: us, ms, s, min, h or d, such as 60 s")


def size(text: str) -> int:
    """The bytes of a text such as `4 KiB`."""
    return _amount(text, BYTES, "a number with a unit: B, KiB or MiB, such as 4 KiB")


def _amount(text: str, units: dict[str, int], write: str) -> int:
    """The whole number of the smallest unit that the text says."""
    found = AMOUNT.fullmatch(text)
    if found is None or found[2] not in units:
        raise UnitError(write)
    amount = Fraction(found[1]) * units[found[2]]
    smallest = next(iter(units))
    if amount.denominator != 1:
        raise UnitError(f"{write}; what it says is no whole number of {smallest}")
    if amount > MOST:
        raise UnitError(f"{write}; at most {MOST} {smallest}")
    return amount.numerator


def spoken(microseconds: int) -> str:
    """The duration as it reads shortest, exactly; in seconds rather than minutes, for sums are in seconds."""
    unit = "s" if abs(microseconds) >= MICROSECONDS["s"] or microseconds == 0 else "ms"
    if microseconds and microseconds % MICROSECONDS["d"] == 0:
        unit = "d"
    whole, rest = divmod(abs(microseconds), MICROSECONDS[unit])
    digits = len(str(MICROSECONDS[unit])) - 1
    fraction = f".{rest:0{digits}}".rstrip("0") if rest else ""
    return f"{'-' if microseconds < 0 else ''}{whole}{fraction} {unit}"
