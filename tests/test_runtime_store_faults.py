"""SQLite where things fail: power cut anywhere, a disk full at any write, older tables, other processes."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import fair_process
from falsework.runtime.store import StoreBusy, StoreError, StoreRefused, StoreUnknown, schema, sqlite
from falsework.runtime.store.schema import LEASES, TRAIL, VERSION
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Page, Recorded, RecordingFailure, ReplyLost
from falsework.runtime.trail.journal import AuditTrail, Seams
from falsework.runtime.trail.steward import found
from falsework.runtime.trail.verify import verify
from power_cut import Event, image, recorded
from stores import placed
from trail_world import ROOT, counted_seams

ACTS = 40


@pytest.fixture
def folder() -> Iterator[Path]:
    with placed("sqlite") as place:
        yield place.folder


def drawn(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  a test's choices keep no secret


class Cut:
    """A trail that recorded acts on a recorded disk, and what a cut of the power leaves of it."""

    def __init__(self, folder: Path, synchronous: str) -> None:
        self.path = folder / "store.db"
        seams = counted_seams()
        with SqliteStore(self.path) as store:
            found(store, "root", ROOT, seams)
        self.before = {"store.db": self.path.read_bytes()}
        with recorded(self.path, synchronous) as (disk, store):
            trail = AuditTrail(store, None, seams)
            self.answered: list[tuple[int, str]] = []  # after how many events which event id was answered
            for number in range(ACTS):
                answer = trail.record_action("pay.x", "root", ROOT, {"n": number, "text": "x" * 300})
                assert not isinstance(answer, RecordingFailure | ReplyLost)
                page = trail.read_range(number + 1)
                assert isinstance(page, Page)
                self.answered.append((len(disk.events), page.records[-1].event_id))
            self.events: list[Event] = list(disk.events)

    def lost_and_faulty(self, folder: Path, draw: random.Random) -> tuple[bool, bool]:
        """Whether a cut somewhere loses an answered record, and whether what is left is at fault."""
        after = draw.randrange(len(self.events) + 1)
        acknowledged = {event_id for events, event_id in self.answered if events <= after}
        for name, content in image(self.before, self.events[:after], draw).items():
            (folder / name).write_bytes(content)
        try:
            with SqliteStore(folder / "store.db") as store:
                page = AuditTrail(store).read_range(0)
                assert isinstance(page, Page)
                there = {record.event_id for record in page.records}
                return not acknowledged <= there, not verify(store).is_clean
        except StoreError:
            return True, True
        finally:
            for path in folder.iterdir():
                path.unlink()


def losses(folder: Path, synchronous: str, images: int) -> tuple[int, int]:
    """How many of so many cuts lose an answered record, and how many leave a journal at fault."""
    (folder / "image").mkdir()
    cut = Cut(folder, synchronous)
    results = [cut.lost_and_faulty(folder / "image", drawn(seed)) for seed in range(images)]
    return sum(lost for lost, _ in results), sum(faulty for _, faulty in results)


def test_a_power_cut_loses_nothing_that_was_answered(folder: Path) -> None:
    assert losses(folder, "FULL", 30) == (0, 0)


@pytest.mark.slow
def test_a_thousand_power_cuts_lose_nothing_that_was_answered(folder: Path) -> None:
    assert losses(folder, "FULL", 1_000) == (0, 0)


def test_the_harness_sees_the_losses_of_a_store_that_does_not_flush(folder: Path) -> None:
    # The control: without the flush at each commit, the same cuts lose answered records.
    assert losses(folder, "NORMAL", 30)[0] > 5


# A disk that is full, or fails, from the nth write on.


@pytest.mark.parametrize("failure", [apsw.FullError, apsw.IOError])
def test_a_disk_that_fails_at_any_write_is_never_said_to_have_written(
    folder: Path, failure: type[Exception]
) -> None:
    seams, path = counted_seams(), folder / "store.db"
    with SqliteStore(path) as store:
        found(store, "root", ROOT, seams)
    recorded_ids: set[str] = set()
    answers: set[type] = set()
    for nth in range(1, 40):
        with recorded(path) as (disk, store):
            trail = AuditTrail(store, None, seams)
            disk.writes, disk.fails_from, disk.failure = 0, nth, failure
            answer = trail.record_action("trails.x", "root", ROOT, {"nth": nth, "text": "x" * 9_000})
            answers.add(type(answer))
            disk.fails_from = None  # there is room again, and the same store goes on
            again = trail.record_action("trails.x", "root", ROOT, {"nth": nth, "again": True})
            assert not isinstance(again, RecordingFailure | ReplyLost), again
            if isinstance(answer, Recorded):
                recorded_ids.add(answer.event_id)
        if disk.writes < nth:
            break
    else:
        pytest.fail("no record is made in fewer than 40 writes")
    assert nth > 4
    assert answers & {RecordingFailure, ReplyLost}
    with SqliteStore(path) as store:
        assert verify(store).is_clean
        page = AuditTrail(store).read_range(0)
        assert isinstance(page, Page)
        assert recorded_ids <= {record.event_id for record in page.records}


# Tables of another version.


@pytest.fixture
def older(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store as the first version made it, with a lease in it."""
    path = folder / "store.db"
    with monkeypatch.context() as patch:
        patch.setattr(schema, "STEPS", (LEASES,))
        patch.setattr(sqlite, "VERSION", 1)
        with SqliteStore(path) as store, store.transaction("t") as transaction:
            transaction.execute("INSERT INTO lease VALUES ('k', 'h', 7)")
    return path


def test_an_older_store_is_brought_forward_and_keeps_what_it_holds(older: Path) -> None:
    with SqliteStore(older) as store, store.snapshot() as snapshot:
        assert snapshot.execute("SELECT * FROM lease") == [("k", "h", 7)]
        assert snapshot.execute("SELECT * FROM journal") == []
        assert snapshot.execute("PRAGMA user_version") == [(VERSION,)]


def test_two_that_open_an_older_store_bring_it_forward_once(older: Path) -> None:
    first, second = SqliteStore(older), SqliteStore(older)
    found(first, "root", ROOT, Seams())
    assert AuditTrail(second).trail_id == AuditTrail(first).trail_id
    first.close()
    second.close()


def test_a_step_that_fails_leaves_the_older_store_as_it_was(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "STEPS", (LEASES, (*TRAIL, "CREATE TABLE trail (a)")))
        with pytest.raises(StoreRefused, match=r"store\.db: cannot be used \(table trail already exists\)"):
            SqliteStore(older)
    connection = apsw.Connection(str(older))
    assert connection.execute("PRAGMA user_version").fetchall() == [(1,)]
    assert connection.execute("SELECT name FROM sqlite_schema WHERE name = 'journal'").fetchall() == []
    connection.close()
    SqliteStore(older).close()


# A file that is damaged.


def said_of(path: Path) -> str:
    """Why the store will not start on the file."""
    with pytest.raises(StoreRefused) as caught:
        SqliteStore(path).close()
    return str(caught.value)


def test_a_file_with_any_page_damaged_is_refused(folder: Path) -> None:
    path = folder / "store.db"
    with SqliteStore(path) as store:
        found(store, "root", ROOT, Seams())
    whole, page, pages = path.read_bytes(), 4096, 0
    for first in range(page, len(whole), page):
        path.write_bytes(whole[:first] + bytes([0xA5]) * page + whole[first + page :])
        said = said_of(path)
        assert said.startswith(f"{path}: ")
        assert "malformed" in said or "is damaged (" in said
        pages += 1
    assert pages > 10


# Other processes.


@pytest.mark.slow
def test_no_process_starves_another(folder: Path) -> None:
    # With SQLite's own waiting alone, one of four processes was measured to commit once in three seconds.
    # For some seconds: within a third of one, whom the system lets run decides more than the turns do.
    path, enough, names = folder / "store.db", 20_000, "abcd"
    with SqliteStore(path) as store, store.transaction("t") as transaction:
        for name in (*names, "all"):
            transaction.execute("INSERT INTO lease VALUES (?, 'h', 0)", (name,))
    command = [sys.executable, fair_process.__file__, str(path)]
    processes = [
        subprocess.Popen(
            [*command, name, str(enough)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = [int(process.communicate()[0]) for process in processes]
    assert sum(counts) >= enough
    assert min(counts) >= 0.15 * enough, counts


def test_who_keeps_the_turn_is_named(folder: Path) -> None:
    path = folder / "store.db"
    with SqliteStore(path) as one, SqliteStore(path, busy_timeout_ms=0) as two:
        with one.transaction("one"), pytest.raises(StoreBusy) as caught, two.transaction("two"):
            pytest.fail("entered")
        assert str(caught.value) == (
            f"two: another writer kept {path} for the whole busy timeout (process {os.getpid()})"
        )
        foreign = apsw.Connection(str(path))
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"\(one that takes no turns\)$"), two.transaction("two"):
            pytest.fail("entered")
        foreign.close()
        with two.transaction("two"):
            pass


def test_a_commit_that_fails_gives_the_turn_back(folder: Path) -> None:
    path = folder / "store.db"
    with SqliteStore(path) as one, SqliteStore(path, busy_timeout_ms=0) as two:
        one._writer_connection.raw.set_commit_hook(lambda: True)
        with pytest.raises(StoreUnknown), one.transaction("one") as transaction:
            transaction.execute("INSERT INTO lease VALUES ('k', 'h', 0)")
        with two.transaction("two") as transaction:
            assert transaction.execute("SELECT * FROM lease") == []
