"""Where the lowering is easily wrong: explore, which runs the class itself, says what is right."""

import pytest

import lowering_corners
import lowering_paths
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Model
from falsework.native import native

MODELS = [
    model
    for model in (*vars(lowering_corners).values(), *vars(lowering_paths).values())
    if isinstance(model, type) and issubclass(model, Model) and model is not Model
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_fast_answers_as_the_class_does(model: type[Model]) -> None:
    definition = definition_of(model)
    assert fast(definition, Bounds(every=True)).counts() == explore(definition, Bounds(every=True)).counts()


COMPILED = [lowering_corners.ReadOutsideUnderACondition, lowering_corners.TerminalsInOrder]
ALL = [pytest.param(model, marks=pytest.mark.deep) for model in MODELS if model not in COMPILED]


@pytest.mark.parametrize("model", [*COMPILED, *ALL], ids=lambda model: model.__name__)
def test_native_answers_as_fast_does(model: type[Model]) -> None:
    definition = definition_of(model)
    found = native(definition, Bounds(every=True)).counts()
    assert found == fast(definition, Bounds(every=True)).counts()


def test_the_faults_of_the_corners_are_found() -> None:
    """The corners that end in a fault do: agreement on nothing found would be worth nothing."""
    faulty = {model.__name__ for model in MODELS if fast(definition_of(model)).fault is not None}
    witnesses = {"WitnessAtFaultElsewhere", "WitnessAtFaultFirst"}
    assert faulty == {"UndeclaredAnswer", "FaultsOfPredicates", *witnesses}
