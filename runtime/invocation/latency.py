"""How long acts took from their intent to the closing that ended them, as a histogram."""

from dataclasses import dataclass, field

SECONDS = (1, 5, 15, 45, 60, 120, 300, 600)
"""The upper bounds of the histogram's buckets."""


@dataclass(slots=True)
class Latencies:
    """Microseconds, counted up to each bound and all together."""

    within: list[int] = field(default_factory=lambda: [0] * len(SECONDS))
    total: int = 0
    count: int = 0

    def add(self, latency: int) -> None:
        """One more act."""
        for place, bound in enumerate(SECONDS):
            self.within[place] += latency <= bound * 1_000_000
        self.total += latency
        self.count += 1
