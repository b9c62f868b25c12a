"""Walks drawn by Hypothesis: numbers that a driver turns into steps. This file alone knows Hypothesis.

All numbers of a walk are drawn before its first step, so that a subject which answers differently the next
time spoils no drawing; the same seed draws the same walks. Nothing is written where the command is run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, Phase, configuration, given, seed, settings
from hypothesis.strategies import integers, lists

LONGEST = 40
"""So many steps are drawn for each walk."""
NUMBERS = 65_535
"""The largest number that is drawn; a driver takes what it needs of it."""


def draw_walks(
    count: int, start: int, walk: Callable[[Sequence[int], int], bool], *, longest: int = LONGEST
) -> None:
    """The walk is called with its numbers so many times, or until it answers that it needs no more."""
    over = False

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @seed(start)
    @given(lists(integers(0, NUMBERS), min_size=longest, max_size=longest), integers(0, NUMBERS))
    def drawn(numbers: list[int], shunned: int) -> None:
        nonlocal over
        over = over or not walk(numbers, shunned)

    home = configuration.storage_directory(intent_to_write=False).home_directory
    with tempfile.TemporaryDirectory(prefix="falsework-walks-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            drawn()
        finally:
            configuration.set_hypothesis_home_dir(home)
