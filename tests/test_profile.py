"""What a profile counts, on models small enough to be counted by hand."""

import pytest

import models_for_reports as models
import models_for_walks as small
from falsework.definition import definition_of
from falsework.errors import InputError
from falsework.explore import explore
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


def test_more_states_than_the_limit_are_refused() -> None:
    with pytest.raises(InputError, match="more than 80 states"):
        profile(definition_of(models.Lease), limit=80)
