"""The reading slice against Python's own slices of a list, over every history of three closings."""

from itertools import product

import pytest

from falsework.models.recoverable_invocation.records_reading import LatestClosingsAlone, Reading, Report


def text_standing(corrects: tuple[bool, ...]) -> int | None:
    """The first closing that the one after it does not name; the first one itself names nothing."""
    unnamed = [place for place in range(len(corrects)) if not any(corrects[place + 1 : place + 2])]
    return min(unnamed, default=None)


@pytest.mark.parametrize("model", [Reading, LatestClosingsAlone])
def test_an_entry_lists_the_tail_of_the_list(model: type[Reading]) -> None:
    for length in range(4):
        for later in product((False, True), repeat=max(length - 1, 0)):
            corrects = (False, *later)[:length]
            reading = model()
            reading.open_act()
            for named in corrects:
                reading.close(0, named)
            entry, listed = reading.read_one(0), list(range(length))[-reading.CAP :]
            standing = text_standing(corrects)
            assert (entry.known, entry.listed, entry.more) == (True, len(listed), length > reading.CAP)
            returned = standing in listed or (model is Reading and standing is not None)
            assert entry.standing == returned, corrects


def test_a_report_lists_the_latest_invocations() -> None:
    reading, reports = Reading(), []
    for _ in range(4):
        reports.append(reading.read())
        if reading.opened < reading.INVOCATIONS:
            reading.open_act()
    assert reports == [
        None,
        Report(entries=1, oldest=0, more=False),
        Report(entries=2, oldest=0, more=False),
        Report(entries=2, oldest=1, more=True),
    ]
