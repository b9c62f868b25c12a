"""The kinds slice against a table, written by hand, of what every surface says of an intent at each age."""

import pytest

from falsework.models.recoverable_invocation.records_kinds import (
    Audited,
    Closing,
    Examined,
    Kind,
    Kinds,
    Phase,
    Read,
    Resolved,
)

ONE, OTHER = Kind.DISCLOSURE, Kind.TRANSFER

# The intent, its closing; then Reconcile, Read Invocation, Resolve and the auditor. Invariant 7 and check 7
# for the run and the auditor, read invocation 12 and resolve 10-12 for the other two.
TABLE = [
    (Phase.YOUNG, Closing.NONE, Examined.NOT_KEPT, Read.OPEN, Resolved.CLOSED, Audited.OWED),
    (Phase.AGED, Closing.NONE, Examined.CLOSED, Read.OPEN, Resolved.CLOSED, Audited.OWED),
    (Phase.AGED, Closing.STANDS, Examined.CLOSED_ALREADY, Read.CLOSED, Resolved.ALREADY_ACCOUNTED,
     Audited.ACCOUNTED),
    (Phase.BEYOND, Closing.NONE, Examined.NOT_KEPT, Read.NOT_KNOWN, Resolved.PURGED, Audited.EXEMPT),
    (Phase.BEYOND, Closing.DESTROYED, Examined.NOT_KEPT, Read.NOT_KNOWN, Resolved.PURGED, Audited.EXEMPT),
    (Phase.PURGED, Closing.NONE, Examined.NOT_KEPT, Read.NOT_KNOWN, Resolved.PURGED, Audited.PURGED),
    (Phase.PURGED, Closing.DESTROYED, Examined.NOT_KEPT, Read.NOT_KNOWN, Resolved.PURGED, Audited.PURGED),
]  # fmt: skip


def at(phase: Phase, closing: Closing) -> Kinds:
    """The model with one kind's intent there, and nothing of the other kind."""
    model = Kinds()
    model.phase[ONE], model.closing[ONE] = phase, closing
    return model


@pytest.mark.parametrize("phase, closing, examined, read, resolved, audited", TABLE)
def test_every_surface_says_what_the_table_says(
    phase: Phase, closing: Closing, examined: Examined, read: Read, resolved: Resolved, audited: Audited
) -> None:
    assert at(phase, closing).examine(ONE, journal=True) is examined
    assert at(phase, closing).read(ONE, journal=True) is read
    assert at(phase, closing).resolve(ONE, journal=True) is resolved
    assert at(phase, closing).audit(ONE) is audited


@pytest.mark.parametrize("phase, closing", [row[:2] for row in TABLE])
def test_the_other_kind_with_the_same_key_knows_nothing_of_it(phase: Phase, closing: Closing) -> None:
    assert at(phase, closing).read(OTHER, journal=True) is Read.NOT_KNOWN
    assert at(phase, closing).resolve(OTHER, journal=True) is Resolved.NOT_KNOWN
    assert at(phase, closing).audit(OTHER) is Audited.ABSENT


@pytest.mark.parametrize("phase, closing", [row[:2] for row in TABLE])
def test_an_outage_is_answered_as_one_whatever_the_journal_holds(phase: Phase, closing: Closing) -> None:
    assert at(phase, closing).examine(ONE, journal=False) is Examined.JOURNAL_UNAVAILABLE
    assert at(phase, closing).read(ONE, journal=False) is Read.JOURNAL_UNAVAILABLE
    assert at(phase, closing).resolve(ONE, journal=False) is Resolved.RECORDING_FAILURE
