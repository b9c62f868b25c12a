"""The adopter slice against the table of the action wiring: what each way through the commit exports."""

import pytest

from falsework.models.recoverable_invocation.records_adopter import (
    SWEPT,
    Adopter,
    Closing,
    Code,
    Part,
    Reply,
)

LATE = [None, *SWEPT]  # what a sweep has written by the time of the re-read


def replied(reply: Reply, applied: bool) -> Adopter:
    model = Adopter()
    model.open_act()
    model.reply(reply, applied)
    return model


@pytest.mark.parametrize("reply", Reply)
def test_the_partition_is_the_constituents(reply: Reply) -> None:
    # commit 5 to 7: what the constituent declares pre-commit, a reply that says committed, and all the rest.
    declared = {
        Reply.ACCEPTED: Part.COMMITTED,
        Reply.REFUSED: Part.PRE_COMMIT,
        Reply.GUARDED: Part.PRE_COMMIT,
    }
    model = replied(reply, applied=reply is Reply.ACCEPTED)
    assert model.part is declared.get(reply, Part.UNKNOWN)


# close step 4.3, 2.2c, and 2.3b twice.
COMMITTED = {
    None: Code.LANDED_BY_INVOCATION,
    Closing.OUTCOME: Code.LANDED_BY_SWEEP,
    Closing.ABANDONED: Code.RECORDING_FAILURE_OUTCOME,
    Closing.ESCALATED: Code.RECORDING_FAILURE_OUTCOME,
}


@pytest.mark.parametrize("late", LATE)
def test_a_committed_act_exports_what_the_table_says(late: Closing | None) -> None:
    for journal in (True, False):
        model = replied(Reply.ACCEPTED, applied=True)
        assert model.confirm() is Code.GOES_ON
        model.swept = Closing.NONE if late is None else late
        expected = COMMITTED[late] if journal else Code.RECORDING_FAILURE_OUTCOME  # close step 2.4b
        assert model.finish(journal) is expected


@pytest.mark.parametrize("reply", [Reply.ACCEPTED, Reply.REFUSED])
def test_a_lease_that_has_ended_lands_on_the_positions_own_arm(reply: Reply) -> None:
    model = replied(reply, applied=reply is Reply.ACCEPTED)
    model.expire()
    failures = {Reply.ACCEPTED: Code.RECORDING_FAILURE_OUTCOME, Reply.REFUSED: Code.RECORDING_FAILURE_REFUSAL}
    assert model.confirm() is failures[reply]  # close step 1.2c and refuse step 1.2b
    assert not model.looked


@pytest.mark.parametrize("late", LATE)
def test_a_refused_act_exports_what_the_table_says(late: Closing | None) -> None:
    model = replied(Reply.REFUSED, applied=False)
    assert model.confirm() is Code.GOES_ON
    model.swept = Closing.NONE if late is None else late
    assert model.finish(journal=True) is (Code.CONSTITUENTS_OWN if late is None else Code.ALREADY_ACCOUNTED)
