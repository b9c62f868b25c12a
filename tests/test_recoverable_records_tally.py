"""The tally slice against a table copied by hand from the terms of the tally and the sweep's steps."""

from itertools import product

import pytest

from falsework.models.recoverable_invocation.records_tally import Answer, Count, Kind, Meets, Tally

# What a run counts of an act whose kind has a service identity: reconcile steps 2.3, 2.6, 2.7a, 3.2c, 3.4b,
# 3.5b, 3.6b, 3.8c, 3.13b, 3.17, journal fence 4, and 3.20; a refused credential leaves its act for later.
SERVED = {
    Meets.TAKE_FAILS: Count.SKIPPED,
    Meets.CLOSED_SINCE: Count.CLOSED_ALREADY,
    Meets.TOO_LITTLE_LEFT: Count.SKIPPED,
    Meets.COMMITTED: Count.CLOSED,
    Meets.NOT_COMMITTED_FINAL: Count.ABANDONED,
    Meets.NOT_COMMITTED_UNFENCED: Count.ESCALATED,
    Meets.NOT_COMMITTED_SHORT: Count.SKIPPED,
    Meets.UNDECIDABLE: Count.ESCALATED,
    Meets.STORE_UNAVAILABLE: Count.SKIPPED,
    Meets.LEASE_CUTS_WRITE: Count.SKIPPED,
    Meets.WRITE_FENCED_OUT: Count.SKIPPED,
    Meets.UNRECORDABLE: Count.ESCALATED,
    Meets.CREDENTIAL_REFUSED: Count.SKIPPED,
}


def begun() -> Tally:
    model = Tally()
    assert model.begin(journal=True) is Answer.COUNTS
    return model


@pytest.mark.parametrize("meets", Meets)
def test_an_act_of_a_served_kind_is_counted_as_the_terms_say(meets: Meets) -> None:
    assert begun().examine(Kind.SERVED, meets, at_risk=False) is SERVED[meets]


@pytest.mark.parametrize("meets", Meets)
def test_an_act_of_a_report_only_kind_is_reported_unless_another_closed_it(meets: Meets) -> None:
    expected = Count.CLOSED_ALREADY if meets is Meets.CLOSED_SINCE else Count.REPORTED
    assert begun().examine(Kind.REPORT_ONLY, meets, at_risk=False) is expected


def test_a_run_over_every_pair_of_acts_counts_both() -> None:
    for first, second in product(Meets, repeat=2):
        model = begun()
        counts = [model.examine(Kind.SERVED, meets, at_risk=False) for meets in (first, second)]
        stopped = first is Meets.CREDENTIAL_REFUSED
        assert counts == [SERVED[first], Count.UNREACHED if stopped else SERVED[second]]
        assert (model.examined, model.unreached) == ((1, 1) if stopped else (2, 0))
