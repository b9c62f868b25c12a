"""How far a search has come: a live line on a terminal, and a last word when it is interrupted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from falsework.accounting import Tally


class Watch:
    """Called after each level; as a context it owns the live line and tells an interrupt what was done."""

    def __init__(self, name: str, *, live: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self.live = live
        self.clock = clock
        self.began = clock()
        self.done = ""
        self._status: Any = None

    def __call__(self, tally: Tally, waiting: int) -> None:
        """Takes note of the level that has just been reached."""
        states = tally.states
        seconds = max(self.clock() - self.began, 1e-9)
        self.done = f"{self.name}: {states:,} states, depth {tally.depth}"
        if self._status is not None:
            rate = f"{states / seconds:,.0f}/s" if seconds > 0.1 else "…"
            self._status.update(f"{self.done}, {rate}, {waiting:,} waiting")

    def __enter__(self) -> Self:
        if self.live:
            from rich.console import Console

            self._status = Console(stderr=True).status(f"{self.name}: …")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trail: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
        if isinstance(problem, KeyboardInterrupt):
            raise KeyboardInterrupt(f"{self.done or self.name} so far; no verdict") from None


def watch(name: str, *, quiet: bool) -> Watch:
    """A watch whose line is live on a terminal unless it is to be quiet."""
    return Watch(name, live=not quiet and sys.stderr.isatty() and sys.stdout.isatty())
