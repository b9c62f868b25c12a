"""The contract of a twin, word by word.

The steps are hand arguments: three fills are one above the limit of two; a gauge that is drained whole shows
it at a level of two, so after two fills and one drain; a full gauge that is not drained is stuck.
"""

import pytest

from falsework.check import Result, check
from falsework.language import Model
from falsework.twin_contract import (
    Contract,
    as_declared,
    breakers,
    differences,
    judge_configuration,
    judge_twin,
)
from falsework.verdict import Verdict
from gauges import (
    BentPredicate,
    Gauge,
    Loose,
    LooseAndDenied,
    NeverFull,
    NotWrong,
    Overfilled,
    OverfilledByAConstant,
    StartsOver,
    StillFull,
    Stuck,
    WatchedTooHigh,
    WithinALooseOne,
    WrongForAnotherReason,
    WrongSooner,
)
from models_for_reports import FaultInPredicate


def whole(cls: type[Model]) -> Result:
    return check(cls, engine="explore", every=True)


def problems(contract: Contract) -> list[tuple[str, str]]:
    return [(problem.word, problem.text) for problem in contract.problems]


@pytest.mark.parametrize(
    "cls, name, departure",
    [
        (Overfilled, "it_is_never_over", "departs at step 3: fill() — disabled in the model"),
        (OverfilledByAConstant, "it_is_never_over", "departs at step 3: fill() — disabled in the model"),
        (Stuck, "deadlock", "departs at step 2: fill() — the model goes on from here: drain()"),
        (
            StartsOver,
            "it_is_never_over",
            "departs at step 0: start() — this start is no initial state of the model",
        ),
    ],
)
def test_a_twin_as_declared_departs_from_the_model(cls: type[Model], name: str, departure: str) -> None:
    contract = judge_twin(cls, whole)
    assert problems(contract) == []
    assert contract.verdict is Verdict.HOLDS
    assert str(contract.departures[name]) == departure


@pytest.mark.parametrize(
    "cls, said",
    [
        (Overfilled, "as declared: it_is_never_over in 3 steps"),
        (NeverFull, "as declared: it_is_full no longer reached"),
        (NotWrong, "not as declared: it breaks nothing; declared: it_is_never_over"),
        (WrongSooner, "not as declared: it_is_never_over is broken in 3 steps, declared: 4"),
        (Gauge, ""),
    ],
)
def test_a_check_of_one_class_says_whether_that_is_declared(cls: type[Model], said: str) -> None:
    assert as_declared(whole(cls)) == said


def test_a_check_that_was_stopped_does_not_say_what_is_declared() -> None:
    assert as_declared(check(Overfilled, engine="explore", every=True, max_states=1)) == ""


def test_a_twin_that_only_loses_a_witness_is_as_declared() -> None:
    contract = judge_twin(NeverFull, whole)
    assert problems(contract) == []
    assert contract.broken == {"it_is_full": "unreached"}


@pytest.mark.parametrize(
    "cls, expected",
    [
        (NotWrong, [("survived", "it breaks nothing; declared: it_is_never_over")]),
        (
            WrongForAnotherReason,
            [
                ("missing", "it_is_never_over is declared as broken, and is not broken"),
                ("surprise", "it_drains_by_one is broken in 3 steps, and is not declared"),
            ],
        ),
        (WrongSooner, [("other step count", "it_is_never_over is broken in 3 steps, declared: 4")]),
        (StillFull, [("missing", "it_is_full is declared as no longer reached, and is still reached")]),
        (
            BentPredicate,
            [
                (
                    "no departure",
                    (
                        "every step of the counterexample to it_is_never_over is a step of the model too: "
                        "the twin bends what is asked, not what is done"
                    ),
                )
            ],
        ),
        (
            WithinALooseOne,
            [
                ("surprise", "it_is_never_over is broken in 3 steps, and is not declared"),
                (
                    "the model does not hold",
                    "the model itself does not hold in that configuration: it_is_never_over",
                ),
            ],
        ),
    ],
)
def test_every_other_outcome_has_its_own_word(cls: type[Model], expected: list[tuple[str, str]]) -> None:
    contract = judge_twin(cls, whole)
    assert problems(contract) == expected
    assert contract.verdict is Verdict.VIOLATED


def test_a_witness_that_the_twin_loses_and_does_not_declare_is_a_surprise() -> None:
    cell = judge_twin(NeverFull, whole).cells["it_is_full"]
    undeclared = type(cell)(cell.name, cell.witness, None, cell.found)
    assert undeclared.word == "surprise"
    (problem,) = differences([undeclared], {})
    assert problem.text == (
        "it_is_full is no longer reached, and is not declared; where it is to be lost, write "
        "Model.it_is_full: None in breaks"
    )


def test_a_search_that_did_not_end_decides_nothing_that_it_did_not_find() -> None:
    def stopped(cls: type[Model]) -> Result:
        return check(cls, engine="explore", every=True, max_states=1)

    contract = judge_twin(Overfilled, stopped)
    assert contract.verdict is Verdict.INCOMPLETE
    assert contract.cells["it_is_never_over"].word == "not decided"


def test_a_configuration_breaks_what_it_declares() -> None:
    assert problems(judge_configuration(Loose, whole)) == []


def test_a_configuration_that_says_it_holds_and_does_not_is_a_surprise() -> None:
    expected = [("surprise", "it_is_never_over is broken in 3 steps, and is not declared")]
    assert problems(judge_configuration(LooseAndDenied, whole)) == expected


def test_a_configuration_that_loses_a_witness_is_vacuous() -> None:
    contract = judge_configuration(WatchedTooHigh, whole)
    assert contract.verdict is Verdict.VACUOUS
    assert problems(contract) == [("vacuous", "the witness it_is_full is not reached in this configuration")]


def test_an_invariant_is_broken_by_the_twins_that_declare_it_alone() -> None:
    contracts = [judge_twin(cls, whole) for cls in (Overfilled, Stuck, WrongForAnotherReason)]
    assert breakers("it_is_never_over", contracts) == ["Overfilled"]
    assert breakers("it_drains_by_one", contracts) == []  # the third breaks it, and declares something else


def test_a_class_that_faults_is_told_with_the_place() -> None:
    fault, *others = problems(judge_configuration(FaultInPredicate, whole))
    assert fault[0] == "fault"
    assert fault[1].startswith("ZeroDivisionError: ")
    assert fault[1].endswith(" at tests/models_for_reports.py:257")
    assert others == []
