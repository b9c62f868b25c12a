"""What a profile counts, on models small enough to be counted by hand."""

import pytest

import lowering_corners as corners
import models_for_reports as models
import models_for_walks as small
from falsework.definition import definition_of
from falsework.errors import Refused
from falsework.explore import explore
from falsework.language import Model
from falsework.profile import profile


def test_guards_that_never_decide_are_named_at_their_line() -> None:
    # Three states, 0, 1 and 2. `rise` is disabled at 2 alone, by below(2); copy < 2 is false only there, and
    # after it; level < 3 is never false. `fall` is disabled at 0 alone.
    made = profile(definition_of(small.Idle))
    assert made.states == 3
    assert [(part.text, part.decided) for part in made.guards] == [
        ("self.below(2)", 1),
        ("self.copy < 2", 0),
        ("self.level < 3", 0),
        ("self.level > 0", 1),
    ]
    assert [part.text for part in made.idle_guards] == ["self.copy < 2", "self.level < 3"]
    assert made.unexplained == 0


def test_a_variable_is_worth_the_states_that_it_tells_apart() -> None:
    # Each of the two variables repeats the other: dropping either loses nothing.
    made = profile(definition_of(small.Idle))
    assert [(cost.name, cost.values, cost.without) for cost in made.variables] == [
        ("level", 3, 3),
        ("copy", 3, 3),
    ]


def test_steps_to_known_states_are_counted_by_action() -> None:
    # rise leads to 1 and to 2, both new; fall from 1 and from 2 leads to 0, which is known.
    made = profile(definition_of(small.Idle))
    assert dict(made.fired) == {"rise": 2, "fall": 2}
    assert dict(made.duplicates) == {"fall": 2}


def test_it_agrees_with_the_reference_search() -> None:
    definition = definition_of(models.Lease)
    made, tally = profile(definition), explore(definition)
    assert (made.states, made.levels) == (tally.states, tally.levels)
    assert dict(made.fired) == {name: covered.fired for name, covered in tally.coverage.items()}
    # Each state but the first is new once; every other step repeats what is known.
    assert sum(made.duplicates.values()) == tally.transitions - (tally.states - 1)


def test_every_disabled_instance_is_laid_to_a_guard() -> None:
    definition = definition_of(models.Lease)
    made, tally = profile(definition), explore(definition)
    instances = 2 + 1 + 2  # acquire by two workers, expire, write by two
    decided = sum(part.decided for part in made.guards) + made.unexplained
    assert decided == tally.states * instances - tally.transitions


ALIKE = [
    small.Idle, models.Lease, models.StoreWithoutFencing, models.Stuck, models.NeverFires, models.Bounded,
    models.Journal, models.Overflow, models.WitnessNotReached, corners.PopInAPlace, corners.ScalarsOfAllKinds,
    corners.BoundBeforeRequire, corners.RecordsInARow, corners.SymbolicRanges, corners.CollectionsMadeAnew,
]  # fmt: skip


@pytest.mark.parametrize("cls", ALIKE)
def test_packed_states_and_the_class_are_counted_alike(
    cls: type[Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = definition_of(cls)
    words = profile(definition)
    assert words.refusal is None
    refusal = Refused("P000", None, "asked for by the test", "nothing")

    def refuse(*_: object) -> None:
        raise refusal

    monkeypatch.setattr("falsework.profile_words.profile_words", refuse)
    by_class = profile(definition)
    assert by_class.refusal is refusal
    for name in ("states", "levels", "variables", "guards", "fired", "duplicates", "unexplained"):
        assert getattr(words, name) == getattr(by_class, name), name


def test_a_search_that_is_stopped_counts_nothing_else() -> None:
    made = profile(definition_of(models.Lease), max_states=80)
    assert made.stop is not None
    assert (made.stop.bound, made.stop.limit) == ("max-states", 80)
    assert (made.variables, made.guards) == ([], [])
