"""One check believes no engine: asked is compared with answered, and what was found with the class."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

import models_for_reports as models
import models_for_walks as small
from falsework import check
from falsework.accounting import Bounds, Progress, Tally, Violation
from falsework.check import Result, confirm
from falsework.definition import Definition, definition_of
from falsework.errors import InputError, ModelFault
from falsework.explore import explore
from falsework.language import Model, Upto, action, invariant, require
from falsework.trace import Label, Trace
from falsework.verdict import Verdict


class Inherited(small.Promise):
    """A model whose invariant asks a helper of another file."""

    @invariant
    def the_promise_is_kept(self) -> bool:
        return self.is_kept()


def with_engine(monkeypatch: pytest.MonkeyPatch, change: Callable[[Tally], Any], cls: type[Model]) -> Result:
    """The check of the class by an engine whose tally was changed."""

    def engine(definition: Definition, bounds: Bounds, progress: Progress | None) -> Tally:
        tally = explore(definition, bounds, progress)
        change(tally)
        return tally

    monkeypatch.setattr(sys.modules["falsework.engines"], "explore", engine)
    return check(cls, engine="explore")


def words(result: Result) -> list[str]:
    return [finding.word for finding in result.findings]


@pytest.mark.parametrize(
    "change",
    [
        lambda tally: tally.witnesses.clear(),
        lambda tally: tally.coverage.pop("expire"),
        lambda tally: tally.violations.update(something=Violation("something", Trace(None))),
    ],
)
def test_an_engine_that_answers_something_else_gives_no_pass(
    change: Callable[[Tally], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = with_engine(monkeypatch, change, models.Lease)
    assert result.verdict is Verdict.ERROR
    assert "not-answered" in words(result)


@pytest.mark.parametrize(
    "name, steps",
    [
        ("writes_never_go_back", (Label("acquire", (0,)), Label("expire"))),  # not broken there
        ("writes_never_go_back", (Label("expire"),)),  # not enabled
        ("holder_has_the_newest_token", ()),
        ("deadlock", (Label("acquire", (0,)),)),
        ("values_stay_in_domain", (Label("acquire", (0,)),)),
    ],
)
def test_a_violation_that_the_class_does_not_confirm_is_an_error(
    name: str, steps: tuple[Label, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Violation(name, Trace(None, steps))
    with pytest.raises((ModelFault, InputError)):
        confirm(definition_of(models.Lease), found)
    result = with_engine(monkeypatch, lambda tally: tally.violations.update({name: found}), models.Lease)
    assert result.verdict is Verdict.ERROR
    assert words(result) == ["not-confirmed"]
    assert result.counterexamples == {}


def test_a_terminal_state_is_no_deadlock_on_the_class_either() -> None:
    steps = [Label("acquire", (0,)), Label("expire")] * 3
    with pytest.raises(ModelFault, match="deadlock is not broken"):
        confirm(definition_of(models.Lease), Violation("deadlock", Trace(None, tuple(steps))))


def test_after_a_violation_what_was_not_met_is_not_decided() -> None:
    first, every = (check(models.TokenOfAnother, every=every) for every in (False, True))
    assert first.answers()["a_worker_wakes_late"] == "not decided"
    assert "witness-not-reached" not in words(first)
    assert set(every.answers()) == set(every.asked)


def test_a_stop_outweighs_what_was_not_met() -> None:
    # The model has two states, one step apart: with two steps the search is complete, with one it is not.
    assert check(models.WitnessNotReached, max_depth=2).verdict is Verdict.VACUOUS
    result = check(models.WitnessNotReached, max_depth=1)
    assert result.verdict is Verdict.INCOMPLETE
    assert set(result.answers().values()) == {"not decided"}


@pytest.mark.parametrize("engine", ["explore", "fast", "native"])
def test_constants_are_given_by_name(engine: str) -> None:
    # 33 and 235 states: counted by another program, which shares nothing with this one.
    assert check(models.Lease, engine=engine, GRANTS=2).tally.states == 33
    assert check(models.Lease, engine=engine, WORKERS=3).tally.states == 235


def test_a_premise_is_placed_in_the_file_of_the_helper_that_holds_it() -> None:
    (finding,) = [f for f in check(Inherited).findings if f.word == "premise-never-true"]
    assert finding.place is not None
    lines = Path(small.__file__).read_text(encoding="utf-8").splitlines()
    assert finding.place.file.endswith("models_for_walks.py")
    assert lines[finding.place.line - 1].strip() == "return implies(self.level > 2, self.level == 0)"


ABOVE = """
from typing import Annotated
from falsework.language import Model, Upto, action, implies
class Above(Model):
    level: Annotated[int, Upto(2)] = 0
    @action
    def move(self, level: Annotated[int, Upto(2)]) -> None:
        self.level = level
    def kept(self) -> bool:
        seen = implies(self.level < 2, self.level >= 0)
        return seen
"""
BELOW = """
from falsework.language import implies, invariant
from premise_above import Above
class Below(Above):
    # This premise stands in the line
    # and column of that in the other file.

    @invariant
    def stays(self) -> bool:
        seen = implies(self.level > 5, self.level > 2)
        return seen and self.kept()
"""


@pytest.mark.parametrize("engine", ["explore", "fast", "native"])
def test_premises_at_one_line_of_two_files_are_two(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"above": ABOVE, "below": BELOW}
    at = {name: [t.partition("implies(self")[0].count("\n") for t in (text,)] for name, text in texts.items()}
    assert at["above"] == at["below"]
    for name, text in texts.items():
        (tmp_path / f"premise_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    below = importlib.import_module("premise_below").Below
    result = check(below, engine=engine)
    assert [f.word for f in result.findings] == ["premise-never-true"]
    assert sorted(result.tally.premises.values()) == [0, 2]  # the other is true at levels 0 and 1
    for name in texts:
        del sys.modules[f"premise_{name}"]


class Leaving(Model):
    """The first step leaves the domain, the second breaks the invariant."""

    level: Annotated[int, Upto(2)] = 2

    @action
    def move(self, by: Annotated[int, Upto(1)]) -> None:
        self.level += 1 if by == 0 else -by

    @invariant
    def is_high(self) -> bool:
        return self.level == 2


@pytest.mark.parametrize("engine", ["explore", "fast", "native"])
def test_what_lies_outside_is_told_of_its_own_violation_alone(engine: str) -> None:
    found = check(Leaving, engine=engine).tally.violations
    assert {name: (str(v.trace.steps[0]), v.outside) for name, v in found.items()} == {
        "values_stay_in_domain": ("move(0)", "level = 3"),
        "is_high": ("move(1)", ""),
    }


HEIGHT = 2


class Climbing(Model):
    """Climbs as far as three guards let it, each of which a test may take away."""

    LIMIT: ClassVar[int] = 2
    level: Annotated[int, Upto(9)] = 0

    def may_climb(self, to: int) -> bool:
        return to <= self.LIMIT and to <= HEIGHT

    @action
    def climb(self, to: Annotated[int, Upto(9)]) -> None:
        require(self.may_climb(to))
        self.level = to

    @invariant
    def is_low(self) -> bool:
        return self.level <= 2


def may_climb(self: Climbing, to: int) -> bool:
    return True


@action
def climb(self: Climbing, to: Annotated[int, Upto(9)]) -> None:
    self.level = to


@pytest.mark.parametrize("engine", ["explore", "fast", "native"])
@pytest.mark.parametrize(
    "changes",
    [
        {"may_climb": may_climb},
        {"climb": climb},
        {"level": 3},
        {"LIMIT": 3, "HEIGHT": 3},
    ],
    ids=["helper", "action", "initial", "constants"],
)
def test_what_is_changed_between_two_checks_is_seen(
    engine: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert check(Climbing, engine=engine).verdict is Verdict.HOLDS
        with monkeypatch.context() as patch:
            for name, value in changes.items():
                patch.setattr(sys.modules[__name__] if name == "HEIGHT" else Climbing, name, value)
            assert set(check(Climbing, engine=engine).broken) == {"is_low"}


def test_a_result_reads_as_the_command_line_says_it() -> None:
    from falsework.report_check import check_document
    from falsework.report_document import render

    for cls in (models.Lease, models.StoreWithoutFencing):
        result = check(cls)
        assert repr(result) + "\n" == render(check_document(cls.__name__, [result]))


def test_an_engine_that_is_not_known() -> None:
    with pytest.raises(InputError, match="no engine 'quick'; write one of: auto, explore, fast, native"):
        check(models.Lease, engine="quick")
