"""fast over words against a search over tuples of codes: the same expressions, another printer, another loop.

`--models N` draws from N seeds, every fifth one; with `--deep`, all of them.
"""

import random
from pathlib import Path
from typing import Any

import pytest

import corners
import lowering_corners
import lowering_paths
from falsework import ir
from falsework.accounting import Bounds
from falsework.definition import Definition, definition_of
from falsework.emit_python import Printer
from falsework.fast import fast
from falsework.ir import Node, evaluate
from falsework.language import Model
from falsework.lower import Lowered, lower
from falsework.models.classics.alternating_bit import AlternatingBit
from falsework.models.classics.die_hard import DieHard
from falsework.models.classics.dining_philosophers import DiningPhilosophers
from falsework.models.classics.ewd998 import TwoNodes
from falsework.models.classics.peterson import Peterson
from falsework.models.classics.two_phase_commit import TwoPhaseCommit
from falsework.models.lease import Lease
from falsework.packing import Packing
from model_text import written
from random_properties import drawn
from test_agreement import loaded
from tuple_engine import Functions, TuplePrinter, TupleSearch

pytestmark = pytest.mark.slow  # many compilations and searches: `make test`, not `make check`

EVERY = Bounds(every=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        step = 1 if metafunc.config.getoption("--deep") else 5
        metafunc.parametrize("seed", range(0, metafunc.config.getoption("--models"), step))


def models_of(module: Any) -> list[type[Model]]:
    found = [m for m in vars(module).values() if isinstance(m, type) and issubclass(m, Model)]
    return [model for model in found if model is not Model]


def assert_agree(definition: Definition, bounds: Bounds) -> None:
    words = fast(definition, bounds)
    tuples = TupleSearch(lower(definition), bounds, words.premises)
    assert words.counts() == tuples.run()


# --- every expression of a model, three ways ----------------------------------------------------------------


def expressions(lowered: Lowered) -> list[tuple[Node, bool]]:
    """Every node that the engines ask for, and whether it is asked as a condition."""
    found: list[tuple[Node, bool]] = []
    predicates = [*lowered.invariants, *lowered.witnesses, *lowered.terminals]
    for instance in lowered.instances:
        found += [(guard.node, True) for guard in instance.guards] + [(instance.outside, True)]
        found += [(code, False) for code in instance.effects.values()]
        predicates += instance.steps
    for predicate in predicates:
        found += [(guard.node, True) for guard in predicate.faults] + [(predicate.node, True)]
        found += [(node, True) for _, node in predicate.premises]
    return list(dict.fromkeys(found))


def assert_expressions_agree(lowered: Lowered, seed: int, vectors: int) -> None:
    packing = Packing(lowered.definition, lowered.slots)
    printed = [Functions(printer(lowered.pool, packing)) for printer in (Printer, TuplePrinter)]
    asked = expressions(lowered)
    functions = [[f.test(node) if test else f.value(node) for node, test in asked] for f in printed]
    for made in printed:
        made.compiled()
    draw = random.Random(seed)  # noqa: S311  reproducible, not secret
    for _ in range(vectors):
        codes = tuple(draw.randrange(slot.size) for slot in lowered.slots)
        word: Any = sum(code << field.shift for code, field in zip(codes, packing.fields, strict=True))
        for (node, test), by_word, by_tuple in zip(asked, *functions, strict=True):
            value = evaluate(node, codes)
            assert by_word(word) == by_tuple(codes) == (bool(value) if test else value)
            assert node.low <= value <= node.high


def test_a_drawn_model_is_the_same_in_tuples(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is, and lowered anew with every slot held to be too large for a table."""
    page = written(drawn(seed))
    with loaded(f"second_model_{seed}", "\n".join(page.written) + "\n", tmp_path) as definition:
        assert_agree(definition, EVERY)
        assert_expressions_agree(lower(definition), seed, 5)
        whole = fast(definition, EVERY).counts()
    monkeypatch.setattr(ir, "TABLE_LIMIT", 1)
    with loaded(f"second_model_{seed}", "\n".join(page.written) + "\n", tmp_path) as again:
        assert fast(again, EVERY).counts() == whole
        assert_agree(again, Bounds())
        assert_expressions_agree(lower(again), seed, 3)


CLASSICS = [AlternatingBit, DieHard, DiningPhilosophers, Peterson, TwoPhaseCommit, TwoNodes]
MODELS = [*models_of(corners), *models_of(lowering_corners), *models_of(lowering_paths), Lease, *CLASSICS]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_model_is_the_same_in_tuples(model: type[Model]) -> None:
    definition = definition_of(model)
    assert_agree(definition, EVERY)
    assert_expressions_agree(lower(definition), 0, 10)
