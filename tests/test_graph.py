"""The state graph is the search: as many states and steps, the same order, nothing merged."""

import itertools
import json

import networkx as nx
import pytest

import models_for_reports as models
import models_for_walks as small
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.errors import InputError
from falsework.explore import explore
from falsework.graph import drawn, reached, state_graph
from falsework.language import Model
from falsework.naming import find
from falsework.trace import replay

CASES = [
    models.Lease,
    models.ThreeWorkers,
    models.StoreWithoutFencing,
    models.Stuck,
    models.Bounded,
    models.Overflow,
    models.Reasons,
    models.ReasonsOfSteps,
    models.NoInitialState,
]


@pytest.mark.parametrize("cls", CASES)
def test_it_counts_as_the_reference_search_does(cls: type[Model]) -> None:
    definition = definition_of(cls)
    tally = explore(definition, Bounds(every=True))
    graph, found = state_graph(definition), reached(definition)
    assert graph.number_of_nodes() == tally.states
    assert graph.number_of_edges() + len(found.broken_steps) == tally.transitions
    assert [len(level) for level in found.levels] == tally.levels
    assert found.cuts == sum(tally.cuts.values())


def test_it_counts_two_phase_commit_as_published() -> None:
    # 288 states with three managers: the figure that TLC and others give for this protocol.
    assert state_graph(definition_of(find("classics.two_phase_commit")[0].cls)).number_of_nodes() == 288


def test_every_edge_is_a_step_of_the_class() -> None:
    definition = definition_of(models.Lease)
    graph = state_graph(definition)
    tally = explore(definition)
    (witness,) = tally.witness_traces.values()
    taken = replay(definition, witness)
    for before, after in itertools.pairwise(taken):
        labels = [data["label"] for data in graph.get_edge_data(before.state, after.state).values()]
        assert after.label in labels


def test_parallel_edges_are_kept() -> None:
    graph = state_graph(small.Parallel)
    assert graph.number_of_nodes() == 2
    # From each of the two states both actions lead to the other: hand-counted.
    assert sorted(str(data["label"]) for _, _, data in graph.edges(data=True)) == [
        "press()", "press()", "push()", "push()",
    ]  # fmt: skip


def test_depth_is_the_shortest_distance_from_the_start() -> None:
    graph = state_graph(definition_of(models.Lease))
    (start,) = [state for state, data in graph.nodes(data=True) if data["initial"]]
    distances = nx.single_source_shortest_path_length(graph, start)
    assert distances == {state: data["depth"] for state, data in graph.nodes(data=True)}


def test_a_graph_larger_than_its_limit_is_refused() -> None:
    with pytest.raises(InputError, match="more than 80 states"):
        state_graph(definition_of(models.Lease), limit=80)


def test_networkx_reads_its_own_form() -> None:
    definition = definition_of(models.Lease)
    graph = state_graph(definition)
    data = json.loads(drawn(graph, definition, "networkx-json"))
    again = nx.node_link_graph(data, edges="links")
    assert again.is_multigraph()
    assert again.is_directed()
    assert nx.is_isomorphic(nx.DiGraph(again), nx.DiGraph(graph))
    assert (again.number_of_nodes(), again.number_of_edges()) == (81, 182)  # the counts of the search


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_every_state_and_every_step_is_drawn_once(form: str) -> None:
    definition = definition_of(models.Lease)
    lines = drawn(state_graph(definition), definition, form).splitlines()
    steps = [line for line in lines if (" -> " if form == "dot" else " --> ") in line and "[*]" not in line]
    assert len(steps) == 182
    states = [line for line in lines if line.startswith("  s") and line not in steps]
    assert len(states) == len(set(states)) == 81


def test_signs_that_would_end_a_label_are_written_otherwise() -> None:
    definition = definition_of(small.Members)
    graph = state_graph(definition)
    assert "members {}" in drawn(graph, definition, "dot")
    assert "members ()" in drawn(graph, definition, "mermaid")
