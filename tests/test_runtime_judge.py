"""Minted instants, the judge on another clock, and what both keep across a fault.

Expected values are hand arguments from the seed's rules, named at each test.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from falsework.runtime.clock import Clock
from falsework.runtime.lease import (
    BOUNDARIES,
    LATEST,
    Admitted,
    Granted,
    Judge,
    Late,
    LeaseHost,
    LeaseRow,
    NotHeld,
    Reentered,
    Waiting,
)
from falsework.runtime.store import Question, Row, StoreBusy, StoreError, Transaction, Value
from falsework.runtime.store.sqlite import SqliteStore
from lease_world import HandClock, Script, World
from stores import BOTH, placed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lease.db"


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with placed(request.param) as place:
        yield World(place.open(wait_ms=0))


# Minted instants (Allowance 7, 9, 10).


def test_a_minted_instant_carries_the_allowance(world: World) -> None:
    world.host.take("k", "a", 30)
    assert world.host.mint("k", "a", 2) == 128  # Allowance 7: expires_at - clock_offset_allowance


def test_each_instant_is_minted_by_itself(world: World) -> None:
    world.host.take("k", "a", 30)
    minted = [world.host.mint("k", "a", allowance) for allowance in (2, 5, 2)]
    assert minted == [128, 125, 128]  # Allowance 10: none starts from one before it
    world.at(120)
    assert world.host.mint("k", "a", 2) == 128  # nor from the time of the minting


@pytest.mark.parametrize("allowance", [0, -1, True, 1.5, None, LATEST])
def test_no_instant_is_minted_bare(world: World, allowance: int) -> None:
    world.host.take("k", "a", 30)
    with pytest.raises(ValueError, match=rf"^allowance is {allowance!r}: write a whole number from 1 to "):
        world.host.mint("k", "a", allowance)  # Allowance 9


# The judge (Allowance 8: a minted instant may decide a write).


@pytest.mark.parametrize("now, admitted", [(127, True), (128, False), (129, False)])
def test_the_judge_admits_strictly_before_the_instant(world: World, now: int, admitted: bool) -> None:
    judge = Judge(world.store, HandClock(now))
    assert judge.admit("k", "a", 128) == (Admitted(1) if admitted else Late(now))
    assert [(act.seq, act.key, act.holder, act.instant, act.judged_at) for act in judge.acts()] == (
        [(1, "k", "a", 128, now)] if admitted else []
    )


def test_admitted_acts_are_numbered_in_their_order(world: World) -> None:
    judge = Judge(world.store, HandClock(5))
    assert [judge.admit("k", holder, 9) for holder in "abc"] == [Admitted(1), Admitted(2), Admitted(3)]
    assert [act.holder for act in judge.acts()] == ["a", "b", "c"]


class BareHost(LeaseHost):
    """Mints the terminus as it stands."""

    def minted(self, row: LeaseRow, allowance: int) -> int:
        return row.expires_at


def acts_past_the_terminus(host_class: type[LeaseHost], world: World, lag: int, allowance: int) -> int:
    """How many acts a judge whose clock lags admits at or after the lease's end by the host's clock."""
    clock = HandClock(1_000)
    host = host_class(world.store, clock, world.script)
    key = f"lag {lag}"
    assert host.take(key, "a", 10) == Granted(1_010)
    instant = host.mint(key, "a", allowance)
    assert instant is not None
    judge = Judge(world.store, HandClock())
    past = 0
    for now in range(1_000, 1_020):
        judge.clock = HandClock(now - lag)
        past += isinstance(judge.admit(key, "a", instant), Admitted) and now >= 1_010
    return past


@pytest.mark.parametrize("lag, past", [(-2, 0), (0, 0), (1, 0), (2, 0), (3, 1), (4, 2)])
def test_the_allowance_covers_every_offset_up_to_itself(world: World, lag: int, past: int) -> None:
    # Admitted while now - lag < 1010 - 2: the last one comes at now = 1007 + lag, past the end from lag 3 on.
    assert acts_past_the_terminus(LeaseHost, world, lag, allowance=2) == past


@pytest.mark.parametrize("lag, past", [(-2, 0), (0, 0), (1, 1), (2, 2)])
def test_a_bare_instant_covers_no_offset(world: World, lag: int, past: int) -> None:
    # The seed's rejected twin: with clocks in step the bare instant holds, so the offset decides.
    assert acts_past_the_terminus(BareHost, world, lag, allowance=2) == past


# Decisions are made with the store's lock held.


@pytest.mark.parametrize("verb", ["take", "poll", "release"])
def test_the_host_decides_on_a_reading_taken_with_the_lock(path: Path, verb: str) -> None:
    # A writer that waits for the lock, or is paused before it has it, must not decide on an older reading.
    clock = HandClock()

    def a_pause(passed: str) -> None:
        if passed == f"lease.{verb}.begun" and armed:
            clock.instant = 130

    armed = False
    with SqliteStore(path, failpoint=a_pause) as store:
        host = LeaseHost(store, clock, Script())
        host.take("k", "a", 30)
        armed = True
        match verb:
            case "take":
                assert host.take("k", "b", 30) == Granted(160)
            case "poll":
                assert host.poll(Waiting("k", "b", 30, deadline=130)) == Granted(160)
            case "release":
                assert host.release("k", "a") == NotHeld()
        assert clock.instant == 130


def test_the_judge_checks_and_appends_in_one_transaction(path: Path) -> None:
    seen: list[str] = []

    def intrude(passed: str) -> None:
        if passed in {"judge.admit.begun", "judge.admit.written"}:
            with pytest.raises(StoreBusy), intruder.transaction("intruder"):
                pytest.fail("a writer came between the check and the append")
            seen.append(passed)

    with (
        SqliteStore(path, failpoint=intrude) as store,
        SqliteStore(path, busy_timeout_ms=0) as intruder,
    ):
        assert Judge(store, HandClock(5)).admit("k", "a", 9) == Admitted(1)
    assert seen == ["judge.admit.begun", "judge.admit.written"]


def test_the_judge_reads_its_clock_after_it_has_the_lock(path: Path) -> None:
    clock = HandClock(5)

    def a_pause(passed: str) -> None:
        clock.instant = 9

    with SqliteStore(path, failpoint=a_pause) as store:
        judge = Judge(store, clock)
        assert judge.admit("k", "a", 9) == Late(9)
        assert judge.acts() == ()


def test_standing_is_never_overstated(path: Path) -> None:
    # The clock moves between the look at the table and the reading: what is left counts from the reading.
    clock = HandClock(100)

    class SlowStore:
        """A store in which every look takes ten units of time."""

        def now(self) -> int:
            return clock.now()

        def look(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
            clock.instant += 10
            return store.look(statement, values)

        def snapshot(self) -> AbstractContextManager[Transaction]:
            return store.snapshot()

        def transaction(
            self, name: str, first: Question | None = None, *, flush: bool = True
        ) -> AbstractContextManager[Transaction]:
            return store.transaction(name, first, flush=flush)

        def close(self) -> None:
            store.close()

    with SqliteStore(path) as store:
        host = LeaseHost(SlowStore(), clock, Script())
        host.take("k", "a", 15)
        assert host.remaining("k", "a") == 5
        assert host.remaining("k", "a") is None


# Durable boundaries: a lost reply, and what asking again answers.


class Fault(Exception):
    """A fault injected at a boundary."""


def run_every_verb(host: LeaseHost, judge: Judge) -> None:
    host.take("k", "a", 30)
    host.poll(Waiting("k", "b", 5, deadline=130))
    judge.admit("k", "a", 128)
    host.release("k", "a")


def test_every_boundary_is_passed(path: Path) -> None:
    passed: list[str] = []
    with SqliteStore(path, failpoint=passed.append) as store:
        clock = HandClock()
        run_every_verb(LeaseHost(store, clock, Script()), Judge(store, clock))
    assert sorted(passed) == sorted(BOUNDARIES)
    assert len(BOUNDARIES) == 12


def test_a_lost_reply_to_a_take_is_recovered_by_taking_again(path: Path) -> None:
    lose = ["lease.take.durable"]

    def failpoint(passed: str) -> None:
        if passed in lose:
            lose.remove(passed)
            raise Fault

    with SqliteStore(path, failpoint=failpoint) as store:
        world = World(store)
        with pytest.raises(Fault):
            world.host.take("k", "a", 30)
        world.at(110)
        assert world.host.take("k", "a", 30) == Reentered(130)


# An answer that cannot be.


class StrangeStore:
    """A store whose every answer is the same, and wrong."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    @property
    def found(self) -> list[Row]:
        return self.rows

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        return self.rows

    def write(self, statement: str, values: Sequence[Value] = ()) -> None:
        self.execute(statement, values)

    def attempt(self) -> AbstractContextManager[None]:
        return nullcontext()

    def now(self) -> int:
        return 0

    def transaction(
        self, name: str, first: Question | None = None, *, flush: bool = True
    ) -> AbstractContextManager["StrangeStore"]:
        return nullcontext(self)

    def look(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        return self.rows

    def snapshot(self) -> AbstractContextManager["StrangeStore"]:
        return nullcontext(self)

    def close(self) -> None:
        self.rows = []


def test_a_store_that_answers_nonsense_is_not_believed() -> None:
    clock: Clock = HandClock()
    rows: list[Row] = [("a", "soon")]
    with pytest.raises(StoreError, match=r"^lease 'k' is stored as \[\('a', 'soon'\)\]"):
        LeaseHost(StrangeStore(rows), clock, Script()).remaining("k", "a")
    with pytest.raises(StoreError, match=r"^judge\.admit: the store answered"):
        Judge(StrangeStore(rows), clock).admit("k", "a", 128)
    with pytest.raises(StoreError, match=r"^an admitted act is stored as \('a', 'soon'\)"):
        Judge(StrangeStore(rows), clock).acts()
