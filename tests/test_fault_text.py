"""What is said of a model at fault: Python's own words, what to write instead, and by which call it was met.

The expected texts are written by hand; the lines are looked up by the text that stands in them.
"""

from pathlib import Path
from typing import Annotated, Self

import pytest

from falsework.check import check
from falsework.language import Map, Model, Record, Upto, action, internal, invariant, require

Number = Annotated[int, Upto(2)]


class Job(Record):
    size: Number = 0


class Board(Model):
    """Holds at most one job."""

    job: Job | None = None
    sizes: Map[Number, Number | None] = Map(None)

    def size(self) -> int:
        return self.job.size  # type: ignore[union-attr]  # of a job that may not be there

    @internal
    def wait(self) -> None:
        require(self.job is None)


class Unguarded(Board):
    @action
    def finish(self) -> None:
        require(self.size() == 0)
        self.job = None


class Adding(Board):
    @action
    def grow(self) -> None:
        self.sizes[0] = self.sizes[1] + 1  # type: ignore[operator]  # of a size that may not be there


class Asserting(Board):
    @action
    def finish(self) -> None:
        if self.job is None:
            raise AssertionError("no job")  # as assert does
        self.job = None


class Raising(Board):
    @action
    def finish(self) -> None:
        if self.job is None:
            raise ValueError("no job")
        self.job = None


class Doubtful(Board):
    """Answers what the text alone does not show: its helper says nothing."""

    def found(self) -> None:
        return None

    @action
    def look(self) -> bool:
        return self.found()  # type: ignore[func-returns-value,return-value]  # nothing is what it returns

    @action
    def weigh(self) -> Number:
        return 3

    @invariant
    def nothing_comes(self, before: Self) -> bool:
        return self.job == before.job


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def fault_of(model: type[Model], engine: str) -> tuple[str, int]:
    found = check(model, engine=engine).tally.fault
    assert found is not None
    assert found.place is not None
    return found.message, found.place.line


NONE = "write given(…) where it is read, or ask `is not None` first"
KEPT = "an @invariant for what must hold"
FAULTS = [
    (Unguarded, f"AttributeError: 'NoneType' object has no attribute 'size'; {NONE}", "self.job.size  #"),
    (Adding, f"TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'; {NONE}", "+ 1  # type"),
    (Asserting, f"AssertionError: no job; write require(…) for a guard, {KEPT}", 'AssertionError("no job")'),
    (
        Raising,
        f"ValueError: no job; write require(…) or disabled() for a step that does not exist, {KEPT}",
        'ValueError("no job")',
    ),
]


@pytest.mark.parametrize("engine", ["auto", "explore"])
@pytest.mark.parametrize("model, message, line", FAULTS)
def test_a_fault_says_what_to_write_instead(model: type[Model], message: str, line: str, engine: str) -> None:
    found, at = fault_of(model, engine)
    words, called, caller = found.partition("; in size, called from finish at ")
    assert words == message
    assert at == line_of(line)
    assert bool(called) == (model is Unguarded)
    assert not called or caller.endswith(f"test_fault_text.py:{line_of('require(self.size() == 0)')}")


@pytest.mark.parametrize("engine", ["explore", "fast"])
def test_an_answer_outside_its_domain_names_the_action_and_the_domain(engine: str) -> None:
    found = check(Doubtful, engine=engine, every=True).tally.violations["values_stay_in_domain"]
    assert found.outside.startswith("answer = None, of look at ")
    line = line_of("def look(self)")
    assert found.outside.endswith(f":{line}, which declares bool; write return <value> on every path")
