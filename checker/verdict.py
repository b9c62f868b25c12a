"""The verdicts, in order of precedence, and the exit code of each."""

from __future__ import annotations

import enum
from collections.abc import Iterable

PASSED = 0
INTERNAL = 1
USAGE = 2
NOT_AS_DECLARED = 10
BAD_INPUT = 13
INTERRUPTED = 130
READER_GONE = 141


class Verdict(enum.Enum):
    """What one check answered. Only the first two are passes."""

    HOLDS = "HOLDS"
    HOLDS_WITHIN = "HOLDS WITHIN"
    VACUOUS = "VACUOUS"
    INCOMPLETE = "INCOMPLETE"
    VIOLATED = "VIOLATED"
    ERROR = "ERROR"

    @property
    def passes(self) -> bool:
        """Whether all that was asked holds."""
        return self in (Verdict.HOLDS, Verdict.HOLDS_WITHIN)

    @property
    def exit_code(self) -> int:
        """0 a pass, 10 violated, 11 vacuous, 12 incomplete, 13 a bad model."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Verdict.HOLDS: PASSED,
    Verdict.HOLDS_WITHIN: PASSED,
    Verdict.VACUOUS: 11,
    Verdict.INCOMPLETE: 12,
    Verdict.VIOLATED: 10,
    Verdict.ERROR: BAD_INPUT,
}
_ORDER = list(Verdict)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of them; of none at all ERROR, for nothing was answered."""
    return max(verdicts, key=_ORDER.index, default=Verdict.ERROR)
