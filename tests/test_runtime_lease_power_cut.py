"""Power cuts under leases that are not flushed by themselves: what is lost is lost together, in order.

What must hold is argued by hand in the decision on flushing a lease: a cut leaves the state after some
transaction, no earlier than the last one whose flush was answered; so whoever has a record has its lease too.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from falsework.runtime.clock import SystemWaiter
from falsework.runtime.lease import Granted, LeaseHost, Released, Unavailable
from falsework.runtime.store import Row
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Fence, Page, RecordingFailure, ReplyLost
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import found
from falsework.runtime.trail.verify import verify
from power_cut import Event, image, recorded
from stores import placed
from trail_world import ROOT, counted_seams

ACTS = 20
LONG = 3_600 * 1_000_000
State = tuple[tuple[Row, ...], int]


@pytest.fixture
def folder() -> Iterator[Path]:
    with placed("sqlite") as place:
        yield place.folder


def host_of(store: SqliteStore) -> LeaseHost:
    return LeaseHost(store, store, SystemWaiter(store))


def state_of(store: SqliteStore) -> State:
    """Who holds what, and how many records there are."""
    page = AuditTrail(store).read_range(0)
    assert isinstance(page, Page)
    leases = store.look("SELECT lease_key, holder, expires_at FROM lease ORDER BY lease_key")
    return tuple(leases), len(page.records)


@dataclass(frozen=True)
class Answered:
    """What had been answered once so many events had happened, and the state that this made."""

    events: int
    flushed: bool
    state: State


class Acts:
    """Acts on a recorded disk: each takes its key, and then records twice and gives it back, or not."""

    def __init__(self, folder: Path, *, flush: bool, records: bool) -> None:
        path, seams = folder / "store.db", counted_seams()
        with SqliteStore(path) as store:
            found(store, "root", ROOT, seams)
        self.before = {"store.db": path.read_bytes()}
        with recorded(path) as (disk, store):
            host, trail = host_of(store), AuditTrail(store, None, seams)
            self.releases: list[tuple[int, str]] = []
            self.answers = [Answered(0, True, state_of(store))]

            def answered(*, flushed: bool) -> None:
                self.answers.append(Answered(len(disk.events), flushed, state_of(store)))

            for number in range(ACTS):
                key, holder = f"key {number % 3 if records else number}", f"holder {number}"
                grant = host.take(key, holder, LONG, flush=flush)
                assert isinstance(grant, Granted)
                answered(flushed=flush)
                for _ in range(2 if records else 0):
                    fence = Fence(key, holder, grant.expires_at)
                    data = {"holder": holder, "key": key}
                    answer = trail.record_action("pay.x", "root", ROOT, data, fence=fence)
                    assert not isinstance(answer, RecordingFailure | ReplyLost)
                    answered(flushed=True)
                if records:  # without, each state would be there twice
                    self.releases.append((len(disk.events), holder))
                    assert host.release(key, holder) == Released()
                    answered(flushed=False)
            self.events: list[Event] = list(disk.events)

    def giving_back(self, after: int) -> set[str]:
        """Whose release was under way, or answered, when so many events had happened."""
        return {holder for events, holder in self.releases if events <= after}

    def cut(self, folder: Path, draw: random.Random) -> "Left":
        """What a cut somewhere leaves of it."""
        after = draw.randrange(len(self.events) + 1)
        known = [number for number, answer in enumerate(self.answers) if answer.events <= after]
        flushed = max(number for number in known if self.answers[number].flushed)
        for name, content in image(self.before, self.events[:after], draw).items():
            (folder / name).write_bytes(content)
        try:
            with SqliteStore(folder / "store.db") as store:
                state = state_of(store)
                states = [answer.state for answer in self.answers]
                return Left(
                    in_order=state in states[flushed : known[-1] + 2],  # what was under way may have landed
                    forgotten=state not in states[known[-1] : known[-1] + 2],
                    two_holders=two_holders(store, self.answers[known[-1]].state, self.giving_back(after)),
                    clean=verify(store).is_clean,
                )
        finally:
            for path in folder.iterdir():
                path.unlink()


@dataclass(frozen=True)
class Left:
    """What is true of a store after a cut."""

    in_order: bool
    forgotten: bool
    two_holders: bool
    clean: bool


def two_holders(store: SqliteStore, known: State, giving_back: set[str]) -> bool:
    """Whether a rival is let in beside a holder that has a record, and has not begun to give its key back."""
    page = AuditTrail(store).read_range(0)
    assert isinstance(page, Page)
    wrote = {record.data["holder"] for record in page.records if record.data and "holder" in record.data}
    return any(
        not isinstance(host_of(store).try_take(str(key), "rival", 1), Unavailable)
        for key, holder, _ in known[0]
        if holder in wrote and holder not in giving_back
    )


def lefts(folder: Path, images: int, *, flush: bool, records: bool) -> list[Left]:
    """What so many cuts leave."""
    (folder / "image").mkdir()
    acts = Acts(folder, flush=flush, records=records)
    return [acts.cut(folder / "image", random.Random(seed)) for seed in range(images)]  # noqa: S311


def test_a_cut_leaves_what_was_flushed_and_all_before_it(folder: Path) -> None:
    for left in lefts(folder, 40, flush=False, records=True):
        assert left.in_order
        assert not left.two_holders
        assert left.clean


@pytest.mark.slow
def test_a_thousand_cuts_leave_nobody_beside_a_holder_that_has_a_record(folder: Path) -> None:
    found_after = lefts(folder, 1_000, flush=False, records=True)
    assert all(left.in_order and left.clean and not left.two_holders for left in found_after)


def test_a_take_that_nothing_flushes_may_be_lost(folder: Path) -> None:
    # The control: a holder who does anything but record under its lease must flush the take, and then has it.
    assert sum(left.forgotten for left in lefts(folder, 40, flush=False, records=False)) > 5


def test_a_take_that_flushes_is_kept(folder: Path) -> None:
    for left in lefts(folder, 40, flush=True, records=False):
        assert left.in_order
