"""The state graph of a model, executed on the class: nodes are states, edges are labelled steps.

It follows a search exactly: a violating state is a node and is not expanded, a step that breaks a step
invariant or leaves a domain is no edge. Parallel edges are kept. So it has as many nodes and, where nothing
is broken, as many edges as `explore` counts states and transitions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from falsework.definition import Action, Definition, definition_now
from falsework.domains import spell
from falsework.errors import CutByBound, InputError
from falsework.judge import broken_by, broken_in, judge
from falsework.language import Model, deadlock
from falsework.report_table import paths
from falsework.state import State, columns, digest
from falsework.trace import Label, Taken, instances, starts, take

if TYPE_CHECKING:
    import networkx as nx

DEFAULT_LIMIT = 1_000_000
FORMATS = ("dot", "mermaid", "networkx-json")


@dataclass
class Reached:
    """Every state, level by level in the order of the search, and every step that leads to a state."""

    definition: Definition
    levels: list[list[State]] = field(default_factory=list)
    broken: dict[State, tuple[str, ...]] = field(default_factory=dict)
    initial: list[State] = field(default_factory=list)
    edges: list[tuple[State, Taken]] = field(default_factory=list)
    broken_steps: list[tuple[State, Taken]] = field(default_factory=list)
    cuts: int = 0

    @property
    def states(self) -> list[State]:
        """All states, in the order in which a search meets them."""
        return list(itertools.chain.from_iterable(self.levels))


def reached(
    definition: Definition,
    limit: int = DEFAULT_LIMIT,
    *,
    edges: bool = True,
    look: Callable[[list[State]], None] | None = None,
) -> Reached:
    """The whole model, breadth first; raises InputError above the limit, Faulted where the model faults.

    `look` is called with each level before it is expanded, and may stop the search by raising.
    """
    found = Reached(definition)
    labels = [(action, list(instances(definition, action))) for action in definition.actions]
    known: set[State] = set()
    level: list[State] = []
    for start in starts(definition):
        if not start.outside and start.state not in known:
            known.add(start.state)
            level.append(start.state)
    found.initial = list(level)
    while level:
        if len(known) > limit:
            raise InputError(f"{definition.name} has more than {limit:,} states; {len(known):,} were reached")
        found.levels.append(level)
        if look is not None:
            look(level)
        fresh: list[State] = []
        for before in level:
            broken = tuple(broken_in(definition, before))
            if broken:
                found.broken[before] = broken
                continue
            for after in _expand(found, before, labels, keep=edges):
                if after not in known:
                    known.add(after)
                    fresh.append(after)
        level = fresh
    return found


def _expand(
    found: Reached, before: State, labels: list[tuple[Action, list[Label]]], *, keep: bool
) -> Iterator[State]:
    definition = found.definition
    stuck = True
    for action, many in labels:
        for label in many:
            try:
                taken = take(definition, action, before, label)
            except CutByBound:
                found.cuts += 1
                stuck = False
                continue
            if taken is None:
                continue
            stuck = False
            if taken.outside or any(broken_by(definition, action, label, taken.answer, before, taken.state)):
                found.broken_steps.append((before, taken))
                continue
            if keep:
                found.edges.append((before, taken))
            yield taken.state
    if stuck and not any(judge(definition, prop, before)[0] for prop in definition.terminals):
        found.broken[before] = (deadlock,)


def state_graph(model: type[Model] | Definition, limit: int = DEFAULT_LIMIT) -> nx.MultiDiGraph[State]:
    """The graph for networkx, of a model's class or of its definition.

    A node is a State, with `digest`, `initial`, `broken` (names) and `depth`; an edge carries `label` (a
    Label) and `answer`. The graph carries `cuts`, and `broken_steps` (state, Taken), which are no edges.
    """
    import networkx as nx

    definition = model if isinstance(model, Definition) else definition_now(model)
    found = reached(definition, limit)
    graph: nx.MultiDiGraph[State] = nx.MultiDiGraph(
        model=definition.path, digest=definition.digest, cuts=found.cuts, broken_steps=found.broken_steps
    )
    initial = set(found.initial)
    for depth, level in enumerate(found.levels):
        for state in level:
            broken = found.broken.get(state, ())
            graph.add_node(state, digest=digest(state), initial=state in initial, broken=broken, depth=depth)
    for before, taken in found.edges:
        graph.add_edge(before, taken.state, label=taken.label, answer=taken.answer)
    return graph


# --- drawn --------------------------------------------------------------------------------------------------


def drawn(graph: nx.MultiDiGraph[State], definition: Definition, form: str) -> str:
    """The graph as the text of that format, one of FORMATS."""
    if form == "dot":
        return _dot(graph, definition)
    return _mermaid(graph, definition) if form == "mermaid" else _node_link(graph, definition)


def state_text(definition: Definition, state: State) -> str:
    """The state in one line: `holder 0, held 1 0`."""
    cells = zip(definition.variables, state, strict=True)
    return ", ".join(f"{variable.name} {columns(variable.domain, cell)}" for variable, cell in cells)


def _edge_text(label: Label, answer: object) -> str:
    return f"{label}" if answer is None else f"{label} → {spell(answer)}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _numbers(graph: nx.MultiDiGraph[State]) -> dict[State, int]:
    return {state: number for number, state in enumerate(graph.nodes)}


def _dot(graph: nx.MultiDiGraph[State], definition: Definition) -> str:
    number = _numbers(graph)
    lines = [f"digraph {_quoted(definition.name)} {{", "  node [shape=box];"]
    for state, data in graph.nodes(data=True):
        words = state_text(definition, state) + "".join(f"\n{name} is broken" for name in data["broken"])
        label = _quoted(words).replace("\n", "\\n")
        style = ", peripheries=2" if data["initial"] else ""
        style += ", color=red" if data["broken"] else ""
        lines.append(f"  s{number[state]} [label={label}{style}];")
    for before, after, data in graph.edges(data=True):
        text = _quoted(_edge_text(data["label"], data["answer"]))
        lines.append(f"  s{number[before]} -> s{number[after]} [label={text}];")
    return "\n".join([*lines, "}"]) + "\n"


def _mermaid(graph: nx.MultiDiGraph[State], definition: Definition) -> str:
    number = _numbers(graph)
    lines = ["stateDiagram-v2"]
    for state, data in graph.nodes(data=True):
        words = state_text(definition, state) + "".join(f", {name} is broken" for name in data["broken"])
        lines.append(f"  s{number[state]} : {_plain(words)}")
        if data["initial"]:
            lines.append(f"  [*] --> s{number[state]}")
    for before, after, data in graph.edges(data=True):
        text = _plain(_edge_text(data["label"], data["answer"]))
        lines.append(f"  s{number[before]} --> s{number[after]} : {text}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """What a mermaid label may hold: a colon, a semicolon and a brace would end it."""
    return text.replace(":", "=").replace(";", ",").replace("{", "(").replace("}", ")")


def _node_link(graph: nx.MultiDiGraph[State], definition: Definition) -> str:
    import json

    number = _numbers(graph)
    nodes = [
        {
            "id": number[state],
            "digest": data["digest"],
            "initial": data["initial"],
            "broken": list(data["broken"]),
            "state": _scalars(definition, state),
        }
        for state, data in graph.nodes(data=True)
    ]
    links = [
        {
            "source": number[before],
            "target": number[after],
            "key": key,
            "action": data["label"].action,
            "arguments": [spell(value) for value in data["label"].arguments],
            "answer": None if data["answer"] is None else spell(data["answer"]),
        }
        for before, after, key, data in graph.edges(keys=True, data=True)
    ]
    whole = {
        "directed": True,
        "multigraph": True,
        "graph": {"model": definition.path, "digest": definition.digest, "cuts": graph.graph["cuts"]},
        "nodes": nodes,
        "links": links,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _scalars(definition: Definition, state: State) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, cell in zip(definition.variables, state, strict=True):
        found.update(paths(variable.name, variable.domain, cell))
    return found
