"""Random walks: repeatable, true to the class, and never taken for a proof."""

import pytest

import models_for_reports as models
import models_for_walks as small
from falsework import check
from falsework.definition import definition_of
from falsework.errors import InputError
from falsework.graph import reached
from falsework.language import Model
from falsework.simulate import simulate
from falsework.trace import Faulted, replay


def test_the_same_seed_walks_the_same_way() -> None:
    definition = definition_of(small.Uneven)
    first, again = (simulate(definition, seed=5, walks=10, steps=20) for _ in range(2))
    other = simulate(definition, seed=6, walks=10, steps=20)
    assert first == again
    assert first.taken != other.taken


def test_it_stays_among_the_states_that_there_are() -> None:
    definition = definition_of(models.Lease)
    done = simulate(definition, walks=50, steps=30)
    assert done.states < set(reached(definition).states)
    assert done.walks == 50
    assert sum(done.taken.values()) == done.steps == 50 * 30
    assert done.ends == {"limit": 50}


@pytest.mark.parametrize(
    "cls", [models.StoreWithoutFencing, models.Overflow, models.Stuck, models.Journal, models.ReasonsOfSteps]
)
def test_what_it_finds_is_broken_and_no_shorter_than_the_shortest(cls: type[Model]) -> None:
    definition = definition_of(cls)
    found = simulate(definition, seed=1, walks=500).found
    assert found is not None
    assert tuple(replay(definition, found.violation.trace)) == found.taken
    assert found.violation.steps >= check(cls, every=True).broken[found.violation.name]


def test_a_walk_ends_where_the_system_may_stay_and_where_a_bound_cuts() -> None:
    assert simulate(definition_of(small.Ending), walks=3).ends == {"terminal": 3}
    assert simulate(definition_of(small.Cutting), walks=3).ends == {"cut": 3}


def test_actions_are_drawn_alike_however_many_instances_they_have() -> None:
    # `one` has one instance, `many` a hundred; drawn by instance, `one` would come ten times in a thousand.
    done = simulate(definition_of(small.Uneven), walks=1, steps=1000)
    assert 400 < done.taken["one"] < 600


def test_a_model_without_a_start_and_a_model_that_faults() -> None:
    with pytest.raises(InputError, match="no initial state"):
        simulate(definition_of(models.NoInitialState))
    with pytest.raises(Faulted, match="ZeroDivisionError"):
        simulate(definition_of(models.FaultInPredicate))
