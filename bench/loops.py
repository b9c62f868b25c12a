"""A closed loop: callers that do one thing again and again for some seconds, and what each took.

It imports nothing but the standard library, for it is measured in each contender's own environment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

WARM_UP = 0.5
"""Seconds before anything is counted."""


def measured(op: Callable[[int, int], object], callers: int, seconds: float) -> dict[str, object]:
    """What the callers did in the time, after some warming up; a failure of one is a failure of all."""
    spans: list[list[float]] = [[] for _ in range(callers)]
    troubles: list[BaseException] = []
    counting, over = threading.Event(), threading.Event()

    def calls(caller: int) -> None:
        number = 0
        try:
            while not over.is_set():
                begun = time.perf_counter()
                op(caller, number)
                number += 1
                if counting.is_set():
                    spans[caller].append(time.perf_counter() - begun)
        except BaseException as trouble:  # noqa: BLE001  raised again by the measuring thread
            troubles.append(trouble)
            over.set()

    threads = [threading.Thread(target=calls, args=(caller,)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    over.wait(WARM_UP)
    cpu, wall = time.process_time(), time.perf_counter()
    counting.set()
    over.wait(seconds)
    counting.clear()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    over.set()
    for thread in threads:
        thread.join()
    if troubles:
        raise troubles[0]
    every = sorted(span for mine in spans for span in mine)
    shares = sorted(len(mine) for mine in spans)
    return {
        "acts": len(every),
        "cpu": cpu,
        "wall": wall,
        "p50": every[len(every) // 2],
        "p99": every[len(every) * 99 // 100],
        "share": shares[0] / shares[-1],
    }
