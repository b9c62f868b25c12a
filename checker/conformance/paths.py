"""The graph of a model, and the walks along it: what is still to be driven, and the way there."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from falsework.definition import Action, Definition
from falsework.errors import CutByBound, InputError
from falsework.state import State
from falsework.trace import Faulted, Label, instances, starts, take

MAX_STATES = 30_000
"""A graph larger than this is not driven: name a smaller configuration."""


@dataclass(frozen=True)
class Edge:
    """One step of the model: where it is taken, its label and answer, and where it leads."""

    source: int
    label: Label
    answer: Any
    target: int


@dataclass
class Graph:
    """The states in breadth-first order, and of each the steps and what is disabled there."""

    definition: Definition
    states: list[State] = field(default_factory=list)
    edges: list[dict[Label, Edge]] = field(default_factory=list)
    disabled: list[list[Label]] = field(default_factory=list)
    begins: list[tuple[Label | None, int]] = field(default_factory=list)
    reached_by: dict[int, Edge | None] = field(default_factory=dict)
    depth: list[int] = field(default_factory=list)

    @property
    def transitions(self) -> int:
        """How many steps the model has, over all its states."""
        return sum(map(len, self.edges))

    def path_to(self, node: int) -> tuple[Label | None, list[Label]]:
        """The least shortest path to the state: the initial action's label, if any, and the steps."""
        labels: list[Label] = []
        while (edge := self.reached_by[node]) is not None:
            labels.append(edge.label)
            node = edge.source
        return next(label for label, start in self.begins if start == node), labels[::-1]

    def begin_of(self, node: int) -> int:
        """The initial state from which that path starts."""
        while (edge := self.reached_by[node]) is not None:
            node = edge.source
        return node

    def options(self, nodes: Sequence[int]) -> dict[str, list[Label]]:
        """By action, what can be driven from each of these states alike: steps, and attempts at others."""
        first, *others = nodes
        found: dict[str, list[Label]] = {}
        for label in (*self.edges[first], *self.disabled[first]):
            if all(label in self.edges[node] or label in self.disabled[node] for node in others):
                found.setdefault(label.action, []).append(label)
        return found

    def leads(self, node: int, path: Sequence[Label]) -> bool:
        """Whether each label can be driven where the ones before it lead."""
        for label in path:
            if (edge := self.edges[node].get(label)) is not None:
                node = edge.target
            elif label not in self.disabled[node]:
                return False
        return True

    def paths(self, node: int, length: int) -> Iterator[list[Label]]:
        """Every path of that length from the state, attempts included."""
        if not length:
            yield []
            return
        for label in self.disabled[node]:
            yield from ([label, *rest] for rest in self.paths(node, length - 1))
        for label, edge in self.edges[node].items():
            yield from ([label, *rest] for rest in self.paths(edge.target, length - 1))


def graph_of(definition: Definition, attempted: Collection[str]) -> Graph:
    """The whole graph; of the actions that are attempted where they are disabled, those labels too.

    Raises InputError for a graph that is too large, and where the model itself goes wrong.
    """
    graph = Graph(definition)
    index: dict[State, int] = {}
    labels = [(action, list(instances(definition, action))) for action in definition.actions]
    try:
        for taken in starts(definition):
            if taken.state not in index:
                _arrive(graph, index, taken.state, None, 0)
            graph.begins.append((taken.label if definition.initials else None, index[taken.state]))
        for node in _growing(graph):
            for action, known in labels:
                for label in known:
                    _try(graph, index, node, action, label, action.name in attempted)
    except Faulted as fault:
        raise InputError(f"{definition.name} itself goes wrong at {fault.place}: {fault.message}") from None
    return graph


def _growing(graph: Graph) -> Iterator[int]:
    """Each state in turn, those included that are found on the way."""
    node = 0
    while node < len(graph.states):
        yield node
        node += 1


def _arrive(graph: Graph, index: dict[State, int], state: State, by: Edge | None, depth: int) -> None:
    index[state] = len(graph.states)
    graph.reached_by[len(graph.states)] = by
    graph.states.append(state)
    graph.edges.append({})
    graph.disabled.append([])
    graph.depth.append(depth)
    if len(graph.states) > MAX_STATES:
        raise InputError(
            f"{graph.definition.name} has more than {MAX_STATES} states, too many to drive along: "
            "name a smaller configuration in the subject's model"
        )


def _try(
    graph: Graph, index: dict[State, int], node: int, action: Action, label: Label, attempted: bool
) -> None:
    """Adds the step, or the label to the disabled ones; a step that a bound cuts is neither."""
    try:
        taken = take(graph.definition, action, graph.states[node], label)
    except CutByBound:
        return
    if taken is None:
        if attempted:
            graph.disabled[node].append(label)
        return
    if taken.outside:
        raise InputError(f"{graph.definition.name} itself leaves a domain by {label}: {taken.outside}")
    edge = Edge(node, label, taken.answer, index.get(taken.state, len(graph.states)))
    graph.edges[node][label] = edge
    if taken.state not in index:
        _arrive(graph, index, taken.state, edge, graph.depth[node] + 1)


class Plan:
    """What is still to be driven, and the nearest of it: uncovered steps, and attempts at disabled ones."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.open = [self._order(node) for node in range(len(graph.states))]
        self.waiting = sum(map(len, self.open))
        self.avoided: set[tuple[int, Label]] = set()

    def _order(self, node: int) -> dict[Label, None]:
        """What is to be driven from the state: first what stays there, so that the walk leaves it once."""
        edges = self.graph.edges[node].values()
        stays = [edge.label for edge in edges if edge.target == node]
        return dict.fromkeys((*self.graph.disabled[node], *stays, *self.graph.edges[node]))

    def done(self, node: int, label: Label) -> None:
        """There is no need to drive it again."""
        if label in self.open[node]:
            del self.open[node][label]
            self.waiting -= 1

    def avoid(self, node: int, label: Label) -> None:
        """It is tried no more, and the walk goes no more along it."""
        self.avoided.add((node, label))
        self.done(node, label)

    def nearest(self, nodes: list[int]) -> tuple[int, list[Label]] | None:
        """The nearest node from which something is open, and the labels to it, the open one last."""
        came: dict[int, Edge | int] = {node: node for node in reversed(nodes)}
        queue = deque(nodes)
        while queue:
            node = queue.popleft()
            if self.open[node]:
                return self._back(came, node, next(iter(self.open[node])))
            for edge in self.graph.edges[node].values():
                if edge.target not in came and (node, edge.label) not in self.avoided:
                    came[edge.target] = edge
                    queue.append(edge.target)
        return None

    @staticmethod
    def _back(came: dict[int, Edge | int], node: int, last: Label) -> tuple[int, list[Label]]:
        labels = [last]
        while isinstance(step := came[node], Edge):
            labels.append(step.label)
            node = step.source
        return node, labels[::-1]
