"""The measurement beside dbos: its arithmetic on made-up turns, and its loop on an act that takes no time."""

import pytest

import loops
from beside_dbos import OURS, THEIRS, Turn, Turns, answers, ratios, table


def turn(acts: int, cpu: float, wall: float, share: float = 1.0) -> Turn:
    return Turn(acts, cpu, wall, 0.001, 0.01, share)


def turns(theirs: list[Turn], share: float = 0.9) -> Turns:
    found: Turns = {}
    for callers in (1, 8):
        found[OURS, "SQLite", callers] = [turn(100, 0.1, 1.0, share), turn(100, 0.2, 1.0)]
        found[THEIRS, "SQLite", callers] = theirs
    return found


def test_a_ratio_is_of_the_cpu_of_an_act_round_by_round() -> None:
    # Ours takes 1 and 2 ms an act. Theirs takes 6 and 8: 6 and 4 times ours, whose median is 5. By the clock
    # ours does 100 and 100 a second, theirs 50 and 25: twice and four times as many, whose median is 3.
    theirs = [turn(50, 0.3, 1.0), turn(50, 0.4, 2.0)]
    both = ratios(turns(theirs), "SQLite", 1)
    assert both is not None
    assert both == pytest.approx((5.0, 3.0))
    assert [met for _, met in answers(turns(theirs), "SQLite")] == [True, True, True]
    assert "5.00× in CPU, 3.00× by the clock: met" in table(turns(theirs), "SQLite")


def test_a_target_that_is_missed_says_so() -> None:
    # 4.9 ms an act beside 1 and 2: 4.9 and 2.45 times; and a share of 0.79 is below 0.8.
    slower = turns([turn(100, 0.49, 1.0)] * 2, share=0.79)
    assert [met for _, met in answers(slower, "SQLite")] == [False, True, False]
    assert table(slower, "SQLite").count("MISSED") == 2


def test_without_dbos_nothing_is_said_of_it() -> None:
    alone = {key: found for key, found in turns([]).items() if key[0] == OURS}
    assert "not measured, for dbos is not here" in table(alone, "SQLite")


def test_the_loop_counts_what_each_caller_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "WARM_UP", 0.0)
    found = loops.measured(lambda *_: None, callers=2, seconds=0.02)
    assert Turn(**found).acts > 0  # type: ignore[arg-type]
    assert 0 <= Turn(**found).share <= 1  # type: ignore[arg-type]


def test_a_caller_that_fails_fails_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "WARM_UP", 0.0)

    def fails(caller: int, number: int) -> None:
        raise ValueError("the act")

    with pytest.raises(ValueError, match="the act"):
        loops.measured(fails, callers=2, seconds=5)
