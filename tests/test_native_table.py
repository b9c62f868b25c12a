"""The compiled engine's table of states, driven alone: growth in place, clusters, and how well it hashes."""

import functools
import resource
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiled import SANITIZED
from falsework.accounting import Bounds
from falsework.definition import Definition, definition_of
from falsework.emit_c import Words
from falsework.fast import Search
from falsework.lower import lower
from falsework.models.classics.two_phase_commit import TwoPhaseCommit
from falsework.models.lease import ThreeWorkers
from falsework.naming import with_constants
from falsework.native_build import CORE
from falsework.program import build

pytestmark = pytest.mark.slow  # many compilations and searches: `make test`, not `make check`

Driven = Callable[..., list[int]]
DRIVER = Path(__file__).with_name("table_driver.c")


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Driven:
    """Runs the driver for states of so many words under sanitizers."""
    folder = tmp_path_factory.mktemp("table")

    @functools.cache
    def driver(words: int) -> Path:
        made = folder / f"driver-{words}"
        flags = [*SANITIZED, f"-DWORDS={words}", f"-I{CORE}"]
        subprocess.run(["cc", *flags, "-o", str(made), str(DRIVER), str(CORE / "table.c")], check=True)
        return made

    def run(*arguments: object, words: int = 1, given: bytes = b"") -> list[int]:
        command = [str(driver(words)), *map(str, arguments)]
        done = subprocess.run(command, input=given, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{done.returncode}: {done.stderr.decode()}")
        return [int(number) for number in done.stdout.split()]

    return run


@pytest.mark.parametrize("words, count", [(1, 1_000_000), (2, 200_000), (5, 50_000)])
def test_each_of_many_states_is_entered_once_and_found_again(driven: Driven, words: int, count: int) -> None:
    found = driven("random", count, words=words)
    assert found[0] == count
    assert found[0] / found[1] <= 13 / 16


def test_a_table_of_wide_states_grows_on_a_small_stack(driven: Driven) -> None:
    """Half a megabyte; a state has 3,200 bytes, and some wait there while the table grows."""
    before = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (512 << 10, before[1]))
    try:
        assert driven("random", 7_000, words=400)[0] == 7_000
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)


@pytest.mark.parametrize("place", [0, 1, 1 << 20, 1 << 31, (1 << 32) - (1 << 20), (1 << 32) - 1])
@pytest.mark.parametrize("count", [50, 1_500, 3_500])
@pytest.mark.parametrize("words", [1, 3])
def test_a_cluster_grows_in_place_wherever_it_stands(
    driven: Driven, place: int, count: int, words: int
) -> None:
    """Unlike states that were made to hash to one place: none is lost, none stands twice."""
    found = driven("cluster", count, place, words=words)
    assert found[0] == 2 * count
    assert found[2] >= count


@pytest.mark.parametrize("place", [1 << 31, (1 << 32) - 1])
def test_a_hash_that_is_beaten_ends_the_search_without_a_verdict(driven: Driven, place: int) -> None:
    """Forty thousand states at one place: no growth in place can order them, and it is noticed."""
    with pytest.raises(RuntimeError, match=r"^3: fatal: the table of states "):
        driven("cluster", 40_000, place)


# --- states as models have them -----------------------------------------------------------------------------


def words_of(definition: Definition) -> tuple[int, bytes]:
    """How many words a state has, and the words of every reachable state."""
    lowered = lower(definition)
    words, program = Words(lowered), build(lowered)
    search = Search(definition, Bounds(every=True), program)
    search.sweep()
    packed = [words.pack(program.packing.codes(state)) for state in sorted(search.seen)]
    return words.count, b"".join(struct.pack(f"={words.count}Q", *each) for each in packed)


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param(definition_of(with_constants(TwoPhaseCommit, {"MANAGERS": 6})), id="two_phase_commit"),
        pytest.param(definition_of(ThreeWorkers), id="lease"),
    ],
)
def test_states_of_models_scatter_like_drawn_ones(driven: Driven, definition: Definition) -> None:
    """Neighbours differ in a bit or two; the longest cluster is about that of as many drawn states."""
    count, content = words_of(definition)
    states, room, longest = driven("given", words=count, given=content)
    assert states == len(content) // (8 * count)
    drawn_states, drawn_room, drawn_longest = driven("random", states, words=count)
    assert (drawn_states, drawn_room) == (states, room)
    assert longest <= 3 * drawn_longest
