"""Reported defects of numbers and verdicts; each test says what went wrong elsewhere."""

import pytest

from falsework import DefinitionError, InputError, Verdict, check
from falsework.language import Model
from falsework.naming import find
from falsework.trace import replay
from regress_public import interleavings, situations

each_engine = pytest.mark.parametrize("engine", ["explore", "fast"])


def broken(model: type[Model], engine: str) -> dict[str, int]:
    return check(model, engine=engine, every=True).broken


@each_engine
def test_numbers_are_as_wide_as_they_need_to_be(engine: str) -> None:
    """T13: products wrapped at 64 bits and the verdict was wrong with exit code 0."""
    result = check(situations.WideNumbers, engine=engine)
    assert (result.verdict, result.tally.states) == (Verdict.HOLDS, 2)
    assert result.tally.witnesses == {"the_square_is_wide": 1}


@each_engine
def test_division_of_a_negative_number_floors(engine: str) -> None:
    """T15: two engines divided differently. -7 // 2 is -4 and -7 % 2 is 1."""
    result = check(situations.FlooredDivision, engine=engine)
    assert (result.verdict, result.tally.states) == (Verdict.HOLDS, 2)


@each_engine
def test_no_initial_state_is_an_error(engine: str) -> None:
    """T06: a contradictory start was reported as proved, its coverage as complete."""
    result = check(situations.NoStart, engine=engine)
    assert result.verdict is Verdict.ERROR
    assert [finding.word for finding in result.findings] == ["no-initial-state"]
    coverage = result.tally.coverage["stay"]
    assert (result.tally.states, coverage.enabled, coverage.fired) == (0, 0, 0)


@each_engine
def test_a_first_state_that_violates_is_seen(engine: str) -> None:
    """An invariant that the first state breaks was called ok."""
    assert broken(situations.NegativeFromTheStart, engine) == {"it_is_negative": 0}


def test_a_misspelled_name_is_an_error() -> None:
    """A typing slip in the name of what to check gave a pass."""
    with pytest.raises(InputError, match="NUMBRES"):
        check(interleavings.FiveBits, NUMBRES=3)
    with pytest.raises(InputError, match="FiveBitz"):
        find("regress_public.interleavings:FiveBitz")
    with pytest.raises(InputError, match="engine"):
        check(interleavings.FiveBits, engine="fats")


def test_a_choice_inside_an_action_is_an_error() -> None:
    """A random choice inside a step gave bogus results: the step is taken twice, and the two must agree."""
    result = check(situations.RollsDice)
    assert result.verdict is Verdict.ERROR
    assert [(found.word, found.text) for found in result.findings] == [
        ("fault", "impure: a second evaluation of roll() differs from the first")
    ]


@each_engine
def test_a_choice_inside_the_start_is_an_error(engine: str) -> None:
    """The same of an initial action, which every engine executes on the class."""
    result = check(situations.StartsByDice, engine=engine)
    assert result.verdict is Verdict.ERROR
    assert [(found.word, found.text) for found in result.findings] == [
        ("fault", "impure: a second evaluation of start() differs from the first")
    ]


def test_a_predicate_that_changes_its_mind_is_an_error() -> None:
    """The same of a predicate."""
    result = check(situations.ChangesItsMind)
    assert result.verdict is Verdict.ERROR
    assert "a second evaluation of every_other_time differs" in result.findings[0].text


@each_engine
def test_one_counterexample_a_property(engine: str) -> None:
    """Asked for ten counterexamples, a checker gave ten copies of one: here each is of its own property."""
    result = check(situations.ManyWaysWrong, engine=engine, every=True)
    found = {
        name: [str(label) for label in c.violation.trace.steps] for name, c in result.counterexamples.items()
    }
    assert found == {
        "no_way_is_gone": ["go(1)"],
        "the_way_back_is_not_gone": ["go(0)", "back()"],
    }


@each_engine
def test_the_last_state_violates_and_no_other(engine: str) -> None:
    """An arbitrary trace was shown as the counterexample."""
    result = check(situations.CountsToThree, engine=engine)
    taken = replay(result.definition, result.counterexamples["three_is_never_reached"].violation.trace)
    assert [step.state for step in taken] == [(0,), (1,), (2,), (3,)]


@each_engine
def test_a_number_leaves_its_domain_and_never_wraps(engine: str) -> None:
    """A counterexample existed only as numbers wrapped; here the eighth step leaves the domain instead."""
    assert broken(situations.OneMoreIsMore, engine) == {"values_stay_in_domain": 8}


@each_engine
def test_what_was_not_searched_is_not_verified(engine: str) -> None:
    """`n != 123456789` was called verified: a search that stops short says so and is no pass."""
    result = check(situations.FarAway, engine=engine, max_states=300)
    assert result.verdict is Verdict.INCOMPLETE
    assert result.tally.stop is not None
    assert (result.tally.stop.bound, result.tally.states) == ("max-states", 301)
    assert result.answers()["a_far_number_is_never_reached"] == "not decided"


def test_a_billion_arguments_are_refused_at_once() -> None:
    """The same with the number as an argument: nothing can try them all, and the refusal says so."""
    with pytest.raises(DefinitionError, match="put has 1000000001 combinations"):
        check(situations.FarArgument)
