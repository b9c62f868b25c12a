"""The index slice: what it counts, what four numbers change, and how a read that goes on misses a record."""

import pytest

from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.models.recoverable_invocation.records_indexes import Indexes, JudgedAtTheEnd, Standing
from falsework.naming import with_constants


class Shorter(Indexes):
    """One invocation and two numbers, few enough for the class itself."""

    INVOCATIONS = 1
    NUMBERS = 2


def test_the_class_itself_and_the_fast_engine_count_alike() -> None:
    definition = definition_of(Shorter)
    assert explore(definition, Bounds(every=True)).counts() == fast(definition, Bounds(every=True)).counts()


def test_a_record_that_settles_behind_the_cursor_is_missed_for_ever() -> None:
    # By hand: the read has passed the number, which lands and settles before the read ends.
    late, in_time = JudgedAtTheEnd(), Indexes()
    for model in (late, in_time):
        model.issue(0, closing=False)
        model.begin(full=True)
        model.step()
        model.land(0)
        model.settle()
        model.finish()
        model.begin(full=False)
    late.finish()
    in_time.step()
    in_time.finish()
    assert (late.look(0), in_time.look(0)) == (Standing.UNKNOWN, Standing.OPEN)


@pytest.mark.slow
def test_a_fourth_number_changes_nothing() -> None:
    tally = fast(definition_of(with_constants(Indexes, {"NUMBERS": 4})), Bounds(every=True))
    assert not tally.violations
    assert all(steps is not None for steps in tally.witnesses.values())
