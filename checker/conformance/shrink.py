"""From a path that diverges to a shortest one, each candidate driven from the start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from falsework.conformance.divergence import Divergence
from falsework.conformance.paths import Graph
from falsework.trace import Label

SEARCHED = 50_000
"""At most that many steps are performed in the search for the shortest divergence."""


@dataclass
class Shrinking:
    """`rerun` drives a path from an initial state, and `performed` says how many steps that has taken."""

    graph: Graph
    rerun: Callable[[int, list[Label]], Divergence | None]
    performed: Callable[[], int]
    limit: int = 0

    def shortest(self, found: Divergence) -> Divergence:
        """The least shortest path that diverges; one that only its past explains is shortened otherwise."""
        self.limit = self.performed() + SEARCHED
        by_state = self.by_states(found)
        if by_state is not None or self.spent:
            return by_state or replace(found, shortest=False)
        return self.by_paths(self.leaving_out(found))

    @property
    def spent(self) -> bool:
        """Whether the search is to be given up."""
        return self.performed() > self.limit

    def by_states(self, found: Divergence) -> Divergence | None:
        """A step that diverges at the end of a shortest path to where it is taken, the nearest first."""
        for node in range(len(self.graph.states)):
            if self.spent or self.graph.depth[node] + 1 > found.steps:
                return None
            _, path = self.graph.path_to(node)
            for label in (*self.graph.disabled[node], *self.graph.edges[node]):
                parted = self.rerun(self.graph.begin_of(node), [*path, label])
                if parted is not None:
                    return parted
        return None

    def leaving_out(self, found: Divergence) -> Divergence:
        """The path without the steps that it can do without: first many at a time, then one by one."""
        begin = next(node for label, node in self.graph.begins if label == found.start)
        size = max(found.steps // 2, 1)
        while size:
            shorter = None
            for place in range(0, found.steps - 1, size):
                path = [*found.path[:place], *found.path[place + size :]]
                if path and not self.spent and self.graph.leads(begin, path):
                    shorter = self.rerun(begin, path)
                if shorter is not None:
                    break
            found, size = (shorter, min(size, shorter.steps)) if shorter is not None else (found, size // 2)
        return found

    def by_paths(self, found: Divergence) -> Divergence:
        """Every shorter path of the model, the shortest first; beyond the limit none is looked at."""
        for length in range(1, found.steps):
            for begin in dict.fromkeys(node for _, node in self.graph.begins):
                for path in self.graph.paths(begin, length):
                    if self.spent:
                        return replace(found, shortest=False)
                    parted = self.rerun(begin, path)
                    if parted is not None:
                        return parted
        return found
