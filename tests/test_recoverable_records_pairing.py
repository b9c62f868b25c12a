"""The pairing slice against the probe's rules read into plain Python, over every small store."""

from itertools import product

import pytest

from falsework.models.recoverable_invocation.records_pairing import Pairing, Probe, Store


def text_probe(records: list[tuple[str, str]], datum: str | None, payload: str, rederives: bool) -> Probe:
    """Probe 2, 3, 6 and 7: the records are (datum, payload) pairs; a kind without a datum has None.

    The outcome of a record that lacks what the outcome must say is undecidable; no record is not committed.
    """
    if datum is None:
        alike = [record for record in records if record[1] == payload]
        return Probe.UNDECIDABLE if alike else Probe.NOT_COMMITTED
    mine = [record for record in records if record[0] == datum]
    if len(mine) == 1 and rederives:
        return Probe.COMMITTED
    return Probe.UNDECIDABLE if mine else Probe.NOT_COMMITTED


def test_the_probe_answers_what_the_rules_say() -> None:
    seen = set()
    flags = (False, True)
    for paired, meeting, alike, rederives in product(flags, repeat=4):
        for first, second in product(range(3), repeat=2):
            model = Pairing()
            model.paired, model.meeting, model.alike, model.rederives = paired, meeting, alike, rederives
            model.store[0], model.store[1] = first, second
            datums = ("d", "d" if meeting else "e")
            payloads = ("p", "p" if alike else "q")
            records = [(datums[0], payloads[0])] * first + [(datums[1], payloads[1])] * second
            for invocation in (0, 1):
                datum = datums[invocation] if paired else None
                expected = text_probe(records, datum, payloads[invocation], rederives)
                assert model.probe(invocation, Store.ANSWERS) is expected
                seen.add(expected)
    assert seen == {Probe.COMMITTED, Probe.NOT_COMMITTED, Probe.UNDECIDABLE}


@pytest.mark.parametrize("store", [Store.REJECTS, Store.UNREACHABLE])
def test_a_store_that_does_not_answer_is_unavailable_whatever_it_holds(store: Store) -> None:
    # Probe 4 and 5: every constituent read rejection, and an outage.
    for committed in (0, 1):
        model = Pairing()
        model.store[0] = committed
        assert model.probe(0, store) is Probe.UNAVAILABLE
