"""The store's promises, one by one, each against a real SQLite file."""

import ast
import functools
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

import falsework.runtime
from falsework.runtime.store import (
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreRefused,
    StoreUnknown,
    boundaries,
)
from falsework.runtime.store.schema import APPLICATION_ID, VERSION
from falsework.runtime.store.sqlite import SqliteStore, loses_committed_writes

INSERT = "INSERT INTO lease (lease_key, holder, expires_at) VALUES (?, ?, ?)"
HOLDERS = "SELECT holder FROM lease ORDER BY lease_key"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path, busy_timeout_ms=0) as opened:
        yield opened


@pytest.fixture
def other(store: SqliteStore) -> Iterator[SqliteStore]:
    """A second connection to the same file, as another process would have."""
    with SqliteStore(store.path, busy_timeout_ms=0) as opened:
        yield opened


def holders(store: SqliteStore) -> list[str]:
    with store.snapshot() as snapshot:
        return [str(holder) for (holder,) in snapshot.execute(HOLDERS)]


# Transactions.


def test_what_a_transaction_wrote_is_seen_by_others_and_outlives_the_store(
    store: SqliteStore, other: SqliteStore
) -> None:
    with store.transaction("t") as transaction:
        transaction.execute(INSERT, ("k", "a", 1))
        assert holders(other) == []
    assert holders(other) == ["a"]
    store.close()
    other.close()
    with SqliteStore(store.path) as again:
        assert holders(again) == ["a"]


def test_a_block_that_raises_leaves_nothing(store: SqliteStore) -> None:
    def write_and_fail() -> None:
        with store.transaction("t") as transaction:
            transaction.execute(INSERT, ("k", "a", 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert holders(store) == []


def test_two_writers_never_hold_the_store_together(store: SqliteStore, other: SqliteStore) -> None:
    with store.transaction("first"):
        with (
            pytest.raises(StoreBusy, match=r"^second: another writer kept .*store\.db"),
            other.transaction("second"),
        ):
            pytest.fail("both writers were inside")
        assert holders(other) == []  # a reader is not blocked
    with other.transaction("second") as transaction:
        transaction.execute(INSERT, ("k", "b", 1))
    assert holders(store) == ["b"]


def test_a_snapshot_is_one_view_and_writes_nothing(store: SqliteStore, other: SqliteStore) -> None:
    with store.snapshot() as snapshot:
        assert snapshot.execute(HOLDERS) == []
        with other.transaction("t") as transaction:
            transaction.execute(INSERT, ("k", "b", 1))
        assert snapshot.execute(HOLDERS) == []
    with pytest.raises(StoreFailed, match=r"^snapshot: .*readonly"), store.snapshot() as snapshot:
        snapshot.execute("DELETE FROM lease")
    assert holders(store) == ["b"]


def test_statements_after_the_end_are_refused(store: SqliteStore) -> None:
    with store.transaction("t") as transaction:
        pass
    with pytest.raises(StoreError, match=r"^t: the transaction has ended"):
        transaction.execute(INSERT, ("k", "a", 1))
    assert holders(store) == []


def test_a_transaction_inside_a_transaction_is_refused(store: SqliteStore) -> None:
    with store.transaction("outer") as transaction:
        transaction.execute(INSERT, ("k", "a", 1))
        with (
            pytest.raises(StoreError, match=r"^inner: this thread is in a transaction of this store already"),
            store.transaction("inner"),
        ):
            pytest.fail("entered")
    assert holders(store) == ["a"]


def test_a_closed_store_is_refused_and_closes_twice(store: SqliteStore) -> None:
    store.close()
    store.close()
    with (
        pytest.raises(StoreError, match=r"^t: this store is closed: open a store again$"),
        store.transaction("t"),
    ):
        pytest.fail("entered")


def test_a_failed_statement_undoes_its_whole_transaction(store: SqliteStore) -> None:
    def write_twice() -> None:
        with store.transaction("t") as transaction:
            transaction.execute(INSERT, ("k", "a", 1))
            transaction.execute(INSERT, ("k", "b", 1))

    with pytest.raises(StoreFailed, match=r"^t: .*nothing was written, by: INSERT"):
        write_twice()
    assert holders(store) == []


@pytest.mark.parametrize("values", [("k", "a", "soon"), ("k", None, 1), ("k", "a", 2**63)])
def test_a_value_of_the_wrong_kind_is_never_stored(store: SqliteStore, values: tuple[str, str, int]) -> None:
    with pytest.raises(StoreFailed), store.transaction("t") as transaction:
        transaction.execute(INSERT, values)
    assert holders(store) == []


@pytest.mark.parametrize("statement", ["UPDATE admitted SET judged_at = 0", "DELETE FROM admitted"])
def test_admitted_acts_are_append_only(store: SqliteStore, statement: str) -> None:
    with store.transaction("t") as transaction:
        transaction.execute("INSERT INTO admitted VALUES (1, 'k', 'a', 9, 8)")
    with pytest.raises(StoreFailed, match="an admitted act is never"), store.transaction("t") as transaction:
        transaction.execute(statement)
    with store.snapshot() as snapshot:
        assert snapshot.execute("SELECT * FROM admitted") == [(1, "k", "a", 9, 8)]


# Durable boundaries.


class Fault(Exception):
    """What an injected fault raises."""


def faulty_at(boundary: str) -> Callable[[str], None]:
    def failpoint(passed: str) -> None:
        if passed == boundary:
            raise Fault(passed)

    return failpoint


def test_boundaries_are_passed_in_their_order(path: Path) -> None:
    passed: list[str] = []
    with SqliteStore(path, failpoint=passed.append) as store:
        with store.transaction("t"):
            passed.append("body")
        with store.snapshot():
            pass
    assert passed == ["t.begun", "body", "t.written", "t.durable"]
    assert boundaries("t") == ("t.begun", "t.written", "t.durable")


@pytest.mark.parametrize("boundary, landed", [("t.begun", []), ("t.written", []), ("t.durable", ["a"])])
def test_a_fault_before_the_commit_undoes_and_one_after_it_does_not(
    path: Path, boundary: str, landed: list[str]
) -> None:
    with SqliteStore(path, failpoint=faulty_at(boundary)) as store:
        with pytest.raises(Fault), store.transaction("t") as transaction:
            transaction.execute(INSERT, ("k", "a", 1))
        assert holders(store) == landed
        with store.transaction("next") as transaction:  # the store goes on
            transaction.execute(INSERT, ("l", "b", 1))
    with SqliteStore(path) as store:
        assert holders(store) == [*landed, "b"]


def test_a_failed_commit_is_unknown_not_failed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_commits_of_rows(connection: apsw.Connection) -> None:
        connection.set_commit_hook(lambda: connection.total_changes() > 0)

    SqliteStore(path).close()
    monkeypatch.setattr(apsw, "connection_hooks", [refuse_commits_of_rows])
    with SqliteStore(path) as store:
        with (
            pytest.raises(StoreUnknown, match=r"^t: the commit failed .*read again before repeating it"),
            store.transaction("t") as transaction,
        ):
            transaction.execute(INSERT, ("k", "a", 1))
        assert holders(store) == []


# Starting, or refusing to.


def test_the_settings_that_durability_needs_are_in_force(store: SqliteStore) -> None:
    with store.snapshot() as snapshot:
        assert snapshot.execute("PRAGMA journal_mode") == [("wal",)]
        assert snapshot.execute("PRAGMA synchronous") == [(2,)]
        assert snapshot.execute("PRAGMA mmap_size") == [(0,)]
        assert snapshot.execute("PRAGMA application_id") == [(APPLICATION_ID,)]
        assert snapshot.execute("PRAGMA user_version") == [(VERSION,)]


@pytest.mark.parametrize(
    "version, loses",
    [  # the published range of the WAL-reset defect, its two backports, and their neighbours
        ((3, 6, 23), False),
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 0), True),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 54, 1), False),
    ],
)
def test_the_range_of_the_wal_reset_defect(version: tuple[int, int, int], loses: bool) -> None:
    assert loses_committed_writes(version) is loses


def refused(path: Path) -> str:
    """Why the store will not start on the path."""
    with pytest.raises(StoreRefused) as caught:
        SqliteStore(path).close()
    return str(caught.value).replace(str(path.parent), "DIR")


def test_a_library_that_loses_writes_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    assert refused(path) == (
        "DIR/store.db: SQLite 3.40.1 can lose committed writes in WAL mode (3.7.0 to 3.51.2, "
        "but for 3.50.7 and 3.44.6): install apsw 3.51.3 or newer"
    )
    assert not path.exists()


def deaf_to(pragma: str, before: str = "") -> Callable[[apsw.Connection], None]:
    """A connection on which asking for the pragma changes nothing, as in a build or a place that cannot."""

    def hook(connection: apsw.Connection) -> None:
        connection.execute(before)

        def authorizer(code: int, name: str | None, value: str | None, *_: str | None) -> int:
            asked = code == apsw.SQLITE_PRAGMA and name == pragma and value is not None
            return apsw.SQLITE_IGNORE if asked else apsw.SQLITE_OK

        connection.authorizer = authorizer

    return hook


@pytest.mark.parametrize("level", [0, 1])
def test_synchronous_below_full_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    hook = deaf_to("synchronous", f"PRAGMA synchronous = {level}")
    monkeypatch.setattr(apsw, "connection_hooks", [hook])
    assert refused(path) == (
        f"DIR/store.db: synchronous is {level} after FULL (2) was asked for, "
        "so a power cut could undo a commit: remove what holds it down"
    )


def test_a_journal_that_is_not_wal_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "connection_hooks", [deaf_to("journal_mode")])
    assert refused(path) == (
        "DIR/store.db: its journal mode is delete after WAL was asked for: "
        "put it on a local file system that can share memory"
    )


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    text = b"a letter, and not a database at all\n" * 40
    path.write_bytes(text)
    assert refused(path) == "DIR/store.db: is not an SQLite database: give another file, or a new one"
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "script, application",
    [
        ("CREATE TABLE theirs (a)", 0),
        ("PRAGMA application_id = 77", 77),
        (f"PRAGMA user_version = {VERSION}", 0),
        ("", 0),  # an empty file is somebody's too
    ],
)
def test_another_applications_database_is_refused_and_left_alone(
    path: Path, script: str, application: int
) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(script)
    connection.close()
    path.touch()
    before = path.read_bytes()
    assert refused(path) == (
        f"DIR/store.db: is another application's database (application_id {application}, "
        f"ours is {APPLICATION_ID}): give another file, or a new one"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, -1, VERSION + 1])
def test_an_unknown_schema_version_is_refused(path: Path, version: int) -> None:
    SqliteStore(path).close()
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    assert refused(path) == (
        f"DIR/store.db: has schema version {version}, this release knows {VERSION}: "
        "use the release that wrote it"
    )


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "absent" / "store.db") == (
        "DIR/store.db: its directory does not exist: create DIR first"
    )


def test_a_directory_in_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir()
    assert refused(path).startswith("DIR/store.db: cannot be opened (")


OPEN_AS_NOBODY = """
import os, sys
from pathlib import Path
from falsework.runtime.store.sqlite import SqliteStore, StoreRefused
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    SqliteStore(Path(sys.argv[1]))
except StoreRefused as error:
    print(error)
"""


@pytest.mark.parametrize(
    "made, reason",
    [(False, "cannot be opened (unable to open database file)"), (True, "is read-only")],
)
def test_an_unwritable_directory_is_refused(made: bool, reason: str) -> None:
    # A process that is root may write anywhere, so another one gives that up first; pytest's own directory
    # would hide the file from it.
    directory = Path(tempfile.mkdtemp())
    try:
        path = directory / "store.db"
        if made:
            SqliteStore(path).close()
            path.chmod(0o444)
        directory.chmod(0o555)
        answer = subprocess.run(
            [sys.executable, "-c", OPEN_AS_NOBODY, str(path)], capture_output=True, text=True, check=True
        )
        assert answer.stdout.startswith(f"{path}: {reason}")
        there = {"store.db", "store.db-next", "store.db-turn"} if made else set()
        assert {found.name for found in directory.iterdir()} == there
    finally:
        directory.chmod(0o755)
        shutil.rmtree(directory)


def test_many_may_create_one_store_at_once(tmp_path: Path) -> None:
    starters = 4
    for round_ in range(5):
        path = tmp_path / f"{round_}.db"
        start = threading.Barrier(starters)

        def create(number: int, path: Path = path, start: threading.Barrier = start) -> None:
            start.wait()
            with SqliteStore(path) as store, store.transaction("t") as transaction:
                transaction.execute(INSERT, (f"k{number}", f"h{number}", 1))

        with ThreadPoolExecutor(starters) as pool:
            list(pool.map(create, range(starters)))
        with SqliteStore(path) as store:
            assert holders(store) == [f"h{number}" for number in range(starters)]
    assert [found.name for found in sorted(tmp_path.iterdir())] == [
        f"{n}.db{rest}" for n in range(5) for rest in ("", "-next", "-turn")
    ]


def test_a_creator_that_comes_second_keeps_the_first_ones_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks: list[Callable[[apsw.Connection], None]] = []

    def another_is_first(connection: apsw.Connection) -> None:
        hooks.clear()
        with SqliteStore(path) as first, first.transaction("t") as transaction:
            transaction.execute(INSERT, ("k", "a", 1))

    hooks.append(another_is_first)
    monkeypatch.setattr(apsw, "connection_hooks", hooks)
    with SqliteStore(path) as second:
        assert hooks == []
        assert holders(second) == ["a"]


# One door for each driver.


@functools.cache
def libraries_imported() -> set[tuple[str, str]]:
    """Each file of the runtime with each library that it imports."""
    root, found = Path(next(iter(falsework.runtime.__path__))), set()
    for source in root.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {(source.relative_to(root).as_posix(), name.split(".")[0]) for name in names}
    return found


@pytest.mark.parametrize(
    "library, doors",
    [
        ("apsw", {"store/sqlite.py"}),
        ("psycopg", {"store/pipeline.py", "store/postgres.py"}),
        ("cryptography", {"trail/identity.py"}),
    ],
)
def test_a_library_is_imported_at_its_door_alone(library: str, doors: set[str]) -> None:
    # Examples have databases of their own, as their users would; subjects make and drop a schema; and an
    # auditor shares no line with what writes.
    importers = {source for source, imported in libraries_imported() if imported == library}
    apart = ("examples/", "subjects/", "audit/")
    assert {importer for importer in importers if not importer.startswith(apart)} == doors


def test_the_runtime_imports_without_the_driver() -> None:
    script = (
        "import sys; sys.modules['apsw'] = None\n"
        "import falsework.runtime.clock, falsework.runtime.lease, falsework.runtime.store\n"
        "try:\n import falsework.runtime.store.sqlite\nexcept ImportError:\n print('refused')\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout == "refused\n"
