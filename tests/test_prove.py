"""Obligations asked of z3: each word, the least counterexample, and what keeps a proof from being believed.

What is expected is argued by hand beside each case; brute force on random obligations stands elsewhere.
"""

import subprocess
import sys
from typing import Annotated, Any, ClassVar

import pytest
import z3

import models_to_prove as models
from falsework import Between, Model, obligation, proofs
from falsework.definition import definition_of
from falsework.errors import InputError, ModelFault
from falsework.models.classics.peterson import Peterson
from falsework.posed import answer, helper_values, with_figures
from falsework.proofs import Proof, prove
from falsework.prove import Questions, Unknown
from falsework.verdict import Verdict


def proof(cls: type[Model], name: str, seconds: float = 60) -> Proof:
    return next(p for p in prove(cls, seconds=seconds).proofs if p.obligation.name == name)


def at(found: Proof) -> dict[str, Any]:
    assert found.refutation is not None, found
    assert found.refutation.smallest
    return dict(found.refutation.values)


# --- each word ----------------------------------------------------------------------------------------------


def test_what_follows_is_proved() -> None:
    found = prove(models.Deadlines)
    assert [p.word for p in found.proofs] == ["PROVED", "PROVED"]
    assert found.verdict is Verdict.HOLDS
    # What it does not read it does not leave open either.
    assert [each.name for each in found.proofs[1].open] == ["FIRST", "SECOND"]


def test_the_least_counterexample_is_the_first_of_least_total() -> None:
    # With the first stage alone charged, FIRST=0 and DEADLINE=0 are admitted: one unit of SECOND, all of it
    # spent, is the least that is late. Neither of the two alone is late.
    assert at(proof(models.FirstStageOnly, "both_end_by_the_deadline")) == {
        "FIRST": 0, "SECOND": 1, "DEADLINE": 0, "first": 0, "second": 1,
    }  # fmt: skip
    # Three rounds against two: FIRST=1 does as well as SECOND=1, and has the larger first figure.
    assert at(proof(models.ThreeRounds, "a_round_more_is_a_whole_more")) == {"FIRST": 0, "SECOND": 1}


def test_all_may_be_zero() -> None:
    assert at(proof(models.Corners, "is_refuted_at_nothing")) == {"LIMIT": 0, "x": 0}


def test_choices_are_counted_by_their_place() -> None:
    # speed FAST and armed True are needed, and ARMED False: one each.
    found = at(proof(models.Corners, "is_refuted_by_choices"))
    assert found == {"ARMED": False, "speed": models.Speed.FAST, "armed": True}


def test_numbers_below_zero_count_without_their_sign() -> None:
    # x is at most -2, so LIMIT is at least 2; -2 // 2 is -1, which is not above DEPTH - 1 from DEPTH 0 on.
    assert at(proof(models.Corners, "is_refuted_below_zero")) == {"LIMIT": 2, "DEPTH": 0, "x": -2}


def test_an_enum_constant_keeps_its_value_and_a_bool_is_left_open() -> None:
    found = proof(models.Corners, "holds_of_choices")
    assert found.word == "PROVED"
    figures = {figure.name for figure in definition_of(models.Corners).figures}
    assert figures == {"LIMIT", "ARMED", "DEPTH"}


def test_assumptions_that_clash_are_vacuous_and_named() -> None:
    # x > LIMIT > 3 leaves no x below 3; of the three none can be left out.
    found = proof(models.Corners, "contradicts_itself")
    assert (found.word, found.verdict) == ("VACUOUS", Verdict.VACUOUS)
    assert [part.text for part in found.parts] == ["x > LIMIT", "LIMIT > 3", "x < 3"]


def test_an_idle_premise_is_vacuous() -> None:
    found = proof(models.Corners, "has_an_idle_premise")  # x is below 3, LIMIT + 5 is not
    assert found.word == "VACUOUS"
    assert "premise" in found.text


def test_a_fault_is_an_error_and_not_a_counterexample() -> None:
    found = proof(models.Corners, "reads_past_the_table")  # the table has two entries
    assert (found.word, found.verdict) == ("ERROR", Verdict.ERROR)
    assert "outside the tuple" in found.text


@pytest.mark.parametrize(
    "name, code",
    [("names_its_class", "P002"), ("answers_a_number", "P005"), ("divides_by_what_is_open", "P007")],
)
def test_what_is_outside_the_subset_is_an_error_with_its_place(name: str, code: str) -> None:
    found = proof(models.Unproved, name, 0.2)
    assert (found.word, found.verdict) == ("ERROR", Verdict.ERROR)
    assert found.text.startswith(code)
    assert found.place is not None
    assert found.place.line > 0


def test_a_figure_is_fixed_by_a_value() -> None:
    # FIRST=2 is 2 of 3 allowed: what is late then is one unit of SECOND more than is left.
    found = prove(models.FirstStageOnly, FIRST=2).proofs[0]
    assert at(found) == {"SECOND": 1, "DEADLINE": 2, "first": 2, "second": 1}


def test_without_an_obligation_nothing_was_asked() -> None:
    assert prove(Peterson).verdict is Verdict.VACUOUS


# --- numbers without end ------------------------------------------------------------------------------------

GREAT = 10**30
BEYOND = 1 << 4000


class Endless(Model):
    """Figures and parameters without a bound, and numbers of any size beside them."""

    ANY: ClassVar[int] = 7
    SMALL: ClassVar[Annotated[int, Between(1, 3)]] = 2

    @obligation
    def has_no_greatest(self, x: int) -> bool:
        return x < GREAT

    @obligation
    def grows(self, x: int, y: int) -> bool:
        return x + y + 1 > max(x, y) and 3 * x >= x - y and x - 2 * self.ANY < x + 1

    @obligation
    def stays_in_its_range(self, x: Annotated[int, Between("-ANY", "2 * SMALL + min(ANY, 4)")]) -> bool:
        return 1 <= self.SMALL <= 3 and -self.ANY <= x <= 10

    @obligation
    def is_beyond_all(self, x: int) -> bool:
        return x < BEYOND


def test_a_range_without_a_bound_has_none() -> None:
    assert at(proof(Endless, "has_no_greatest")) == {"x": GREAT}  # the least that is not below it
    assert proof(Endless, "grows").word == "PROVED"
    assert proof(Endless, "stays_in_its_range").word == "PROVED"  # 2 * 3 + 4 is 10


def test_a_number_that_intervals_cannot_tell_from_no_bound_is_refused() -> None:
    found = proof(Endless, "is_beyond_all")
    assert found.word == "ERROR"
    assert found.text.startswith("P012")


# --- what keeps a proof from being believed -----------------------------------------------------------------


def test_out_of_time_is_incomplete() -> None:
    found = proof(models.Deadlines, "both_end_by_the_deadline", 1e-9)
    assert (found.word, found.verdict) == ("INCOMPLETE", Verdict.INCOMPLETE)
    assert "within 1e-09 s" in found.text


def test_a_product_of_two_open_numbers_may_be_undecided() -> None:
    # Fermat's theorem for cubes is true, and no solver of this kind is known to prove it.
    assert proof(models.Unproved, "sums_cubes", 0.3).word == "INCOMPLETE"


@pytest.mark.parametrize(
    "reason, says",
    [("canceled", None), ("interrupted from keyboard", None), ("(incomplete quantifiers)", "incomplete")],
)
def test_an_interrupt_that_z3_took_for_itself_is_one(
    reason: str, says: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its time is over z3 gives up because of a signal, or because it cannot."""
    monkeypatch.setattr(z3.Solver, "check", lambda *_: z3.unknown)
    monkeypatch.setattr(z3.Solver, "reason_unknown", lambda _: reason)
    if says is None:
        with pytest.raises(KeyboardInterrupt):
            prove(models.Deadlines)
    else:
        assert says in prove(models.Deadlines).proofs[0].text


def test_z3_that_fails_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise z3.Z3Exception(b"out of memory")

    monkeypatch.setattr(z3.Solver, "check", fails)
    found = prove(models.Deadlines)
    assert found.verdict is Verdict.INCOMPLETE
    assert "out of memory" in found.proofs[0].text


def test_a_counterexample_that_may_not_be_the_least_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: object) -> Any:
        raise Unknown("as asked")

    monkeypatch.setattr(Questions, "_lowest", gives_up)
    found = proof(models.FirstStageOnly, "both_end_by_the_deadline")
    assert found.word == "REFUTED"
    assert found.refutation is not None
    assert not found.refutation.smallest


def test_without_z3_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    found = prove(models.Deadlines)
    assert {p.word for p in found.proofs} == {"NOT CHECKED"}
    assert found.verdict is Verdict.INCOMPLETE
    assert "pip install 'falsework[prove]'" in found.proofs[0].text


@pytest.mark.parametrize(
    "cls, name, said",
    [
        (models.FirstStageOnly, "both_end_by_the_deadline", True),
        (models.FirstStageOnly, "both_end_by_the_deadline", None),
        (models.Deadlines, "both_end_by_the_deadline", False),
    ],
)
def test_what_the_class_does_not_confirm_is_an_error(
    cls: type[Model], name: str, said: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "answer", lambda *_: said)
    found = proof(cls, name)
    assert (found.word, found.verdict) == ("ERROR", Verdict.ERROR)
    assert found.text.startswith("not confirmed")


def test_z3_is_imported_when_something_is_to_be_proved() -> None:
    check = "import sys, falsework, falsework.cli_check, falsework.gate; sys.exit('z3' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


# --- on the class itself ------------------------------------------------------------------------------------


def test_figures_are_set_for_one_instance() -> None:
    assert with_figures(models.Deadlines, FIRST=5).whole() == 9
    assert models.Deadlines().whole() == 7
    with pytest.raises(InputError, match="has no constant 'FRIST'; did you mean FIRST"):
        with_figures(models.Deadlines, FRIST=5)


def test_an_obligation_is_executed_on_the_class() -> None:
    definition = definition_of(models.Deadlines)
    both = definition.obligations[0]
    values = {"FIRST": 1, "SECOND": 1, "DEADLINE": 2, "first": 1, "second": 1}
    assert answer(definition, both, values) is True
    assert answer(definition, both, {**values, "DEADLINE": 1}) is None  # it assumes that the whole fits
    assert answer(definition, both, {**values, "second": 2}) is False
    assert helper_values(definition, both, values) == [("whole()", 2)]


def test_a_method_that_fails_is_a_fault_of_the_model() -> None:
    definition = definition_of(models.Corners)
    past = next(o for o in definition.obligations if o.name == "reads_past_the_table")
    with pytest.raises(ModelFault, match="IndexError"):
        answer(definition, past, {"x": 7})
    numbers = definition_of(models.Unproved).obligations[1]
    with pytest.raises(ModelFault, match="neither True nor False"):
        answer(definition_of(models.Unproved), numbers, {"x": 7})
