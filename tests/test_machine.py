"""The Hypothesis machine: it finds what a search finds, to the least step, and prints the same report."""

import importlib
from typing import Annotated, Any, ClassVar, Self

import pytest
from hypothesis import HealthCheck, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from falsework.accounting import Bounds, Tally, Violation
from falsework.check import check
from falsework.definition import definition_of
from falsework.errors import DefinitionError, InputError, ModelFault
from falsework.fast import fast
from falsework.language import (
    Model,
    Upto,
    action,
    bound,
    deadlock,
    initial,
    invariant,
    require,
    terminal,
    values_stay_in_domain,
)
from falsework.machine import Refuted, machine
from falsework.models.lease import Lease
from falsework.naming import setting
from falsework.report_text import details, headline
from falsework.trace import Label, instances, starts
from falsework.twins import lease as lease_twins
from falsework.twins.classics import dining_philosophers, two_phase_commit
from falsework.verdict import Verdict

CLASSICS = ("alternating_bit", "die_hard", "dining_philosophers", "ewd998", "peterson", "two_phase_commit")
UNAIDED = 8  # steps; what is deeper may need a prefix
QUICK = {
    "HostThatEndsATickEarly",
    "TerminusCountedIn",
    "WaitWithoutEnd",
    "StandingPastTheTerminus",
    "BareInstant",
    "RepeatCountsAsNew",
    "PourerWhoDoesNotStop",
    "AllReachLeftFirst",
    "NobodyGivesWay",
    "FirstVoteDecides",
    "MessagesSentAreNotCounted",
}


def drawn(model: type[Model], *, start: int = 0, examples: int = 2000, **options: Any) -> Refuted | None:
    """What the machine finds with that seed, or None."""
    made = machine(model, **options)
    chosen = settings(made.TestCase.settings, database=None, max_examples=examples, verbosity=Verbosity.quiet)
    try:
        run_state_machine_as_test(seed(start)(made), settings=chosen)
    except Refuted as found:
        return found
    return None


def least(tally: Tally) -> Violation:
    """The least of the shortest violations, by the order of a search."""
    definition = tally.definition
    labels = [label for action in definition.actions for label in instances(definition, action)]
    order = {label: place for place, label in enumerate(labels)}
    begin: dict[Label | None, int] = {start.label: place for place, start in enumerate(starts(definition))}

    def rank(found: Violation) -> tuple[int, int, list[int]]:
        return (found.steps, begin.get(found.trace.start, 0), [order[step] for step in found.trace.steps])

    return min(tally.violations.values(), key=rank)


def twins() -> list[Any]:
    """Every twin of the lease and the classics that breaks something; all but a few of them are deep."""
    names = ["lease", *(f"classics.{name}" for name in CLASSICS)]
    cases = []
    for name in names:
        module = importlib.import_module(f"falsework.twins.{name}")
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Model) and cls.__module__ == module.__name__:
                steps = [n for n in definition_of(cls).breaks.values() if n is not None]
                if steps and min(steps) <= UNAIDED:
                    marks = [] if cls.__name__ in QUICK else [pytest.mark.deep]
                    cases.append(pytest.param(cls, id=cls.__name__, marks=marks))
    return cases


# What it finds is compared with the search of another engine.


@pytest.mark.parametrize("twin", twins())
def test_a_twin_of_few_steps_is_found_and_told_in_the_least_steps(twin: type[Model]) -> None:
    wrong, _ = setting(twin)
    expected = least(fast(definition_of(wrong), Bounds(every=True))).trace
    found = drawn(wrong)
    assert found is not None
    assert found.trace.steps == expected.steps
    assert found.trace.start == expected.start


def test_a_clean_model_passes_and_half_of_it_is_seen() -> None:
    made = machine(Lease)
    run_state_machine_as_test(seed(0)(made), settings=settings(made.TestCase.settings, database=None))
    assert 202 < len(made.walks.known) <= 404  # as many as the second search of tests/peers counts


def test_the_text_is_that_of_the_command_line() -> None:
    found = drawn(lease_twins.WaitOfOneLook)
    result = check(lease_twins.WaitOfOneLook)
    assert str(found) == f"{headline(result)}\n\n{details(result)}"


def test_hypothesis_prints_the_steps_and_no_machinery(capsys: pytest.CaptureFixture[str]) -> None:
    made = machine(lease_twins.WaitOfOneLook)
    with pytest.raises(Refuted) as caught:
        run_state_machine_as_test(made, settings=settings(made.TestCase.settings, database=None))
    told = "\n".join(getattr(caught.value, "__notes__", [])) + capsys.readouterr().out
    lines = told[told.index("state = ") :].splitlines()[:5]
    assert lines == ["state = WaitOfOneLookMachine()", "ask(0)", "ask(1)", "poll(1)", "state.teardown()"]


@pytest.mark.parametrize("attempt", range(2))
def test_derandomized_it_walks_the_same_way(attempt: int) -> None:
    made = [machine(Lease), machine(Lease)]
    for each in made:
        chosen = settings(
            derandomize=True,
            database=None,
            max_examples=10,
            stateful_step_count=1,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(each, settings=chosen)
    assert list(made[0].walks.known) == list(made[1].walks.known)
    assert made[0].walks.known


# One small model for each thing that can be met.


class Counter(Model):
    """Counts up to its bound and stays there."""

    TOP: ClassVar[int] = 3
    STOP: ClassVar[int] = 3
    WRONG: ClassVar[int] = 4

    count: Annotated[int, Upto("TOP")] = 0

    @action
    def rise(self) -> None:
        bound(self.count < self.STOP)
        require(self.count < 5)
        self.count += 1

    @invariant
    def is_not_the_wrong_one(self) -> bool:
        return self.count != self.WRONG

    @terminal
    def has_come_to_the_top(self) -> bool:
        return self.count == self.TOP


class Stuck(Model):
    """Stops where nothing says that it may."""

    on: bool = False

    @action
    def switch(self) -> None:
        require(not self.on)
        self.on = True

    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on


class Dividing(Model):
    """Its invariant divides by what becomes nothing."""

    left: Annotated[int, Upto(2)] = 2

    @action
    def use(self) -> None:
        require(self.left > 0)
        self.left -= 1

    @invariant
    def the_share_is_whole(self) -> bool:
        return 2 // self.left > 0


class Choosing(Model):
    """Starts anywhere; a fall from three is the mistake."""

    count: Annotated[int, Upto(3)] = 0

    @initial
    def start(self, at: Annotated[int, Upto(3)]) -> None:
        require(at != 0)
        self.count = at

    @action
    def fall(self) -> None:
        require(self.count > 1)
        self.count -= 2

    @action
    def stay(self) -> None:
        self.count = self.count

    @invariant
    def never_falls_to_one(self, before: Self) -> bool:
        return self.count != 1 or before.count == 1


class Nowhere(Choosing):
    """No start is allowed."""

    def start(self, at: Annotated[int, Upto(3)]) -> None:
        require(at > 3)
        self.count = at


class BrokenFromTheStart(Stuck):
    """Its start is wrong already."""

    @invariant
    def is_on(self) -> bool:
        return self.on


class Silent(Model):
    """Nothing is asked of it."""

    on: bool = False

    @action
    def switch(self) -> None:
        self.on = not self.on


class Misspelt(Model):
    """A slip that the definition finds."""

    on: bool = False

    @action
    def switch(self, worker) -> None:  # type: ignore[no-untyped-def]
        self.on = not self.on


def test_a_cut_step_is_not_taken_and_is_counted() -> None:
    made = machine(Counter, STOP=2)
    run_state_machine_as_test(made, settings=settings(made.TestCase.settings, max_examples=5, database=None))
    assert {state[0] for state in made.walks.known} == {0, 1, 2}
    ((place, times),) = made.cuts.items()
    assert place.file.endswith("test_machine.py")
    assert times >= 5  # at least once a walk: from the third state there is no other way


def test_a_value_outside_its_domain_is_found() -> None:
    found = drawn(Counter, STOP=9, WRONG=9)
    assert found is not None
    assert (found.broken.name, len(found.trace)) == (values_stay_in_domain, 4)


def test_a_deadlock_is_found_and_a_terminal_state_is_none() -> None:
    found = drawn(Stuck)
    assert found is not None
    assert (found.broken.name, [str(step) for step in found.trace.steps]) == (deadlock, ["switch()"])
    assert drawn(Counter, examples=5) is None


def test_a_predicate_that_raises_is_a_fault_of_the_model() -> None:
    found = drawn(Dividing)
    assert found is not None
    assert found.result.verdict is Verdict.ERROR
    assert len(found.trace) == 2
    assert "ZeroDivisionError" in str(found)
    assert "2 // self.left > 0" in str(found)


def test_a_start_is_drawn_from_the_initial_states() -> None:
    found = drawn(Choosing)
    assert found is not None
    assert (str(found.trace.start), [str(step) for step in found.trace.steps]) == ("start(3)", ["fall()"])


def test_a_start_that_is_wrong_is_found() -> None:
    found = drawn(BrokenFromTheStart)
    assert found is not None
    assert (found.broken.name, len(found.trace)) == ("is_on", 0)


def test_without_an_initial_state_nothing_passes() -> None:
    with pytest.raises(InputError, match="Nowhere has no initial state"):
        drawn(Nowhere)


class FaultyStart(Choosing):
    """Its start divides by nothing."""

    def start(self, at: Annotated[int, Upto(3)]) -> None:
        self.count = at // (at - at)


def test_a_start_that_faults_is_named_with_its_line() -> None:
    with pytest.raises(
        ModelFault, match=r"test_machine\.py:\d+: the start of FaultyStart faults: ZeroDivision"
    ):
        drawn(FaultyStart)


def test_without_an_invariant_nothing_passes() -> None:
    with pytest.raises(InputError, match="Silent declares no invariant"):
        machine(Silent)


def test_a_mistake_in_the_definition_is_told_when_the_machine_is_made() -> None:
    with pytest.raises(DefinitionError, match="M010"):
        machine(Misspelt)


def test_a_walk_of_no_steps_is_refused() -> None:
    with pytest.raises(InputError, match=r"steps=0\): a walk has 1 step or more"):
        machine(Lease, steps=0)


def test_an_unknown_constant_is_told() -> None:
    with pytest.raises(InputError, match="Lease has no constant 'WORKRS'"):
        machine(Lease, WORKRS=3)


# From a stated prefix.


def test_from_a_prefix_the_trace_and_the_text_say_so() -> None:
    twin = two_phase_commit.PreparedManagerGivesUp
    expected = least(fast(definition_of(twin), Bounds(every=True))).trace
    assert len(expected) > UNAIDED
    line = " ".join(map(str, expected.steps[:5]))
    found = drawn(twin, prefix=line, examples=100)
    assert found is not None
    assert found.trace == expected
    assert str(found).endswith("drawn from the end of a stated prefix of 5 steps")


def test_a_prefix_that_cannot_be_taken_is_told_with_its_guard() -> None:
    with pytest.raises(InputError, match=r"step 1: admit\(\) is not enabled there"):
        machine(Lease, prefix="admit()")


def test_a_prefix_that_breaks_something_is_itself_the_finding() -> None:
    found = drawn(lease_twins.WaitOfOneLook, prefix="ask(0) ask(1) poll(1) pass_time()")
    assert found is not None
    assert [str(step) for step in found.trace.steps] == ["ask(0)", "ask(1)", "poll(1)"]


# Where a model is too wide to be searched, steps are left out of the walk.


def test_in_a_wide_model_the_walk_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = dining_philosophers.ForksAreSnatched
    monkeypatch.setattr("falsework.machine.SEARCHED", 0)
    found = drawn(twin)
    assert found is not None
    shortest = least(fast(definition_of(twin), Bounds(every=True)))
    assert shortest.steps <= len(found.trace) <= 6
    steps = found.trace.steps
    for left_out in range(len(steps)):
        rest = (*steps[:left_out], *steps[left_out + 1 :])
        assert not _breaks(twin, rest), left_out


def _breaks(model: type[Model], steps: tuple[Label, ...]) -> bool:
    """Whether the steps, those that are enabled, break something; told by the class itself, step by step."""
    from falsework.check import broken_at_the_end
    from falsework.trace import take

    definition = definition_of(model)
    actions = {each.name: each for each in definition.actions}
    taken = [next(starts(definition))]
    for label in steps:
        after = take(definition, actions[label.action], taken[-1].state, label)
        if after is not None:
            taken.append(after)
            if broken_at_the_end(definition, tuple(taken)):
                return True
    return False
