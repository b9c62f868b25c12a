"""native = fast = explore = the oracle, whatever the threads; what a compiled program finds executes again.

Of a drawn model the oracle says what is expected, of a shipped one `fast` and the class itself.
"""

import functools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, ClassVar, Self

import pytest

from compiled import CHEAP, QUICK, SANITIZED, STRICT, compile_all, compiled_with
from falsework.accounting import Bounds, Tally
from falsework.definition import Definition, definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Model, Upto, action, initial, invariant, reachable, require
from falsework.models.classics.two_phase_commit import TwoPhaseCommit
from falsework.naming import configurations_of, find, setting, shipped, twins_of, with_constants
from falsework.native import native
from test_agreement import assert_traces_execute, case, counted, loaded

FIRST, ALL, TOGETHER = 20, 1000, 28
THREADS = (1, 2, 3)
EXPLORED = 1_000  # states of which explore takes a second or two; of more, the first levels are explored
COMPARED = 50_000  # states of which fast takes a second or two; of more, the first levels are compared
ONE_IN = 3  # of the hundreds that Recoverable Invocation has; the others are compared with --deep


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("native")


@pytest.fixture(autouse=True)
def cheaply(folder: Path) -> Iterator[None]:
    with compiled_with(CHEAP, folder / "cheap"):
        yield


def told(tally: Tally) -> dict[str, object]:
    """Everything that a search tells, the traces to its witnesses too."""
    reached = {name: str(tally.witness_trace(name)) for name in tally.witnesses}
    return {**counted(tally), "witness traces": reached, "why": str(tally.fault)}


# --- drawn models -------------------------------------------------------------------------------------------


def seeds_together() -> list[object]:
    rest = range(FIRST, ALL, TOGETHER)
    slow = [pytest.param(range(n, min(n + TOGETHER, ALL)), id=f"{n}-", marks=pytest.mark.slow) for n in rest]
    return [pytest.param(range(FIRST), id="0-"), *slow]


@pytest.mark.parametrize("seeds", seeds_together())
def test_a_drawn_model_is_counted_as_the_oracle_counts_it(seeds: range, folder: Path) -> None:
    with ExitStack() as kept:
        definitions = [kept.enter_context(loaded(f"native_model_{n}", case(n).source, folder)) for n in seeds]
        compile_all(definitions)
        for seed, definition in zip(seeds, definitions, strict=True):
            for bounds, expected in case(seed).expected:
                agree(f"seed {seed}", definition, Bounds(**bounds), expected)


def agree(name: str, definition: Definition, bounds: Bounds, expected: dict[str, object]) -> None:
    interpreted = fast(definition, bounds)
    for threads in THREADS:
        tally = native(definition, bounds, threads=threads)
        found = told(tally)
        differing = {key: found[key] for key, value in expected.items() if found[key] != value}
        assert not differing, f"{name}, {threads} threads, {bounds}: native and the oracle differ"
        assert found == told(interpreted), f"{name}, {threads} threads, {bounds}: native and fast differ"
        assert_traces_execute(definition, tally)


# --- shipped models -----------------------------------------------------------------------------------------


@functools.cache
def everything_shipped() -> list[type[Model]]:
    """Every model, configuration and twin that has a state, in the setting in which it is declared."""
    names = [name for name in shipped() if not name.startswith("recoverable_invocation.timing")]
    models = [named.cls for name in names for named in find(name)]
    return [setting(k)[0] for m in models for k in (m, *configurations_of(m), *twins_of(m))]


def tier(number: int, cls: type[Model], *, quick: bool) -> object:
    """Slow, but for a few that stand for all in the quick tier, and for those of which there are too many."""
    marks = [pytest.mark.slow]
    if "recoverable_invocation" in cls.__module__:
        marks = [pytest.mark.deep] if number % ONE_IN else marks
    elif quick and number % 25 == 0:
        marks = []
    return pytest.param(cls, id=cls.__name__, marks=marks)


def tiers(*, quick: bool) -> list[object]:
    return [tier(number, cls, quick=quick) for number, cls in enumerate(everything_shipped())]


@pytest.fixture
def quickly(cheaply: None, folder: Path) -> Iterator[None]:
    with compiled_with(QUICK, folder / "quick"):
        yield


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("cls", tiers(quick=True))
def test_what_is_shipped_is_counted_as_fast_counts_it(cls: type[Model]) -> None:
    definition = definition_of(cls)
    for every in (True, False):
        bounds = Bounds(every=every, max_states=COMPARED)
        tell = told if every else counted  # the way to a witness is the same in both
        interpreted = tell(fast(definition, bounds))
        for threads in THREADS:
            tally = native(definition, bounds, threads=threads)
            assert tell(tally) == interpreted
            assert_traces_execute(definition, tally)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("cls", tiers(quick=False))
def test_what_is_shipped_is_counted_as_the_class_itself_counts_it(cls: type[Model]) -> None:
    definition = definition_of(cls)
    few = native(definition, Bounds(every=True, max_states=COMPARED)).states <= EXPLORED
    bounds = Bounds(every=True, max_states=EXPLORED, max_depth=None if few else 3)
    assert told(native(definition, bounds)) == told(explore(definition, bounds))


# --- deep models --------------------------------------------------------------------------------------------


class Ladder(Model):
    """Hundreds of steps up, with falls to half the height on the way."""

    TOP: ClassVar[int] = 300

    height: Annotated[int, Upto("TOP")] = 0
    side: Annotated[int, Upto(2)] = 0

    @initial
    def start(self, side: Annotated[int, Upto(1)]) -> None:
        self.side = side

    @action
    def climb(self, turn: Annotated[int, Upto(1)]) -> None:
        require(self.height < self.TOP)
        self.height += 1
        self.side = (self.side + turn) % 3

    @action
    def fall(self) -> None:
        self.height = self.height // 2

    @invariant
    def nobody_stands_high_at_the_right(self) -> bool:
        return self.height < 250 or self.side != 2

    @invariant
    def nobody_reaches_the_top(self) -> bool:
        return self.height < self.TOP

    @invariant
    def nobody_falls_far(self, before: Self) -> bool:
        return before.height - self.height < 140

    @reachable
    def somebody_is_high(self) -> bool:
        return self.height > 200 and self.side == 1


def test_a_deep_counterexample_is_the_least_and_found_in_time() -> None:
    definition = definition_of(Ladder)
    for bounds in (Bounds(every=True), Bounds(every=False)):
        interpreted = fast(definition, bounds)
        for threads in THREADS:
            tally = native(definition, bounds, threads=threads)
            assert told(tally) == told(interpreted)
            assert_traces_execute(definition, tally)
    # A step up at a time; half of 279 is 139, and falling further is forbidden.
    assert native(definition, Bounds(every=True)).violations["nobody_falls_far"].steps == 280
    assert native(definition).violations["nobody_stands_high_at_the_right"].steps == 250


@pytest.mark.slow
def test_a_search_of_twenty_thousand_levels_is_told_in_seconds() -> None:
    """On the way back the table is not read once for each level."""
    definition = definition_of(with_constants(Ladder, {"TOP": 20_000}))
    tally = native(definition, Bounds(every=True), threads=1)
    assert tally.violations["nobody_reaches_the_top"].steps == tally.depth == 20_000


# --- under sanitizers ---------------------------------------------------------------------------------------


@pytest.fixture
def sanitized(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A read outside an array or an overflow ends the program, so there is no result: EngineFailed."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # what a program holds at its end is the system's
    with compiled_with(SANITIZED, folder / "sanitized"):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 100, 20))
def test_a_drawn_model_is_searched_without_undefined_behaviour(
    first: int, folder: Path, sanitized: None
) -> None:
    seeds = range(first, first + 20)
    with ExitStack() as kept:
        definitions = [kept.enter_context(loaded(f"sane_model_{n}", case(n).source, folder)) for n in seeds]
        compile_all(definitions)
        for definition in definitions:
            for threads in (1, 2):
                tally = native(definition, Bounds(every=True), threads=threads)
                assert told(tally) == told(fast(definition, Bounds(every=True)))


@pytest.mark.slow
@pytest.mark.parametrize("threads", THREADS)
def test_a_growing_table_is_searched_without_undefined_behaviour(threads: int, sanitized: None) -> None:
    # Two-phase commit with 6 managers, as counts.toml has it.
    tally = native(definition_of(with_constants(TwoPhaseCommit, {"MANAGERS": 6})), threads=threads)
    assert (tally.states, tally.transitions) == (50_816, 402_305)


@pytest.mark.slow
def test_threads_do_not_race(folder: Path) -> None:
    """Under the thread sanitizer a race ends the program with another exit code, which is EngineFailed."""
    with compiled_with((*STRICT, "-O1", "-g", "-fsanitize=thread"), folder / "racing"):
        wide = definition_of(with_constants(TwoPhaseCommit, {"MANAGERS": 6}))
        assert native(wide, threads=3).counts() == fast(wide).counts()
        for cls in everything_shipped()[:3]:
            definition = definition_of(cls)
            assert told(native(definition, threads=2)) == told(fast(definition))


@pytest.mark.slow
@pytest.mark.clang
def test_clang_compiles_what_is_printed_without_a_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "clang")
    for cls in everything_shipped()[:6]:
        definition = definition_of(cls)
        assert native(definition).counts() == fast(definition).counts()
