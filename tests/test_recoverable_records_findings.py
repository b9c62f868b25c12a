"""The findings slice against the spans that a plain loop draws over every history of three runs."""

from itertools import groupby, product

import pytest

from falsework.models.recoverable_invocation.records_findings import Condition, Kind, Register

RUNS = 3
History = tuple[tuple[bool, ...], ...]  # of each run: it met the condition, it reached the register


def spans_of(history: History) -> list[tuple[int, int]]:
    """The stretches of runs that met the condition and said so; a run that said nothing ends a stretch."""
    stretches = groupby(enumerate(history), key=lambda item: all(item[1]))
    runs = [[number for number, _ in stretch] for told, stretch in stretches if told]
    return [(numbers[0], numbers[-1]) for numbers in runs]


def register_after(history: History, condition: Condition) -> Register:
    register = Register()
    for met, surfaces in history:
        down = {other: met and other is condition for other in Condition}
        register.run(
            journal=down[Condition.JOURNAL],
            a=down[Condition.STORE_A],
            b=down[Condition.STORE_B],
            at_risk=False,
            surfaces=surfaces,
        )
    return register


@pytest.mark.parametrize("condition", Condition)
def test_the_register_holds_the_stretches_of_every_history(condition: Condition) -> None:
    for history in product(product((False, True), repeat=2), repeat=RUNS):
        register = register_after(history, condition)
        held = {
            other: [
                (span.first, span.last)
                for key, span in register.spans.items()
                if key[0] is other and span is not None
            ]
            for other in Condition
        }
        assert held == {other: spans_of(history) if other is condition else [] for other in Condition}


def test_an_outage_of_one_store_exempts_its_own_kind() -> None:
    # Check 3.3 and 3.4, by hand: out of reach in the first run and in the third.
    seen = ((True, True), (False, True), (True, True))
    register = register_after(seen, Condition.STORE_A)
    windows = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    assert [register.audit(Kind.A, *window) for window in windows] == [True, True, False, True, True]
    assert not any(register.audit(Kind.B, *window) for window in windows)
