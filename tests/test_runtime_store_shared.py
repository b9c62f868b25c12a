"""Many threads on one store: whose transactions share a commit, and what one's failure does to the others.

Threads are held inside their transactions and let go by hand; nothing here waits for time to pass.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from falsework.runtime.store import (
    Question,
    Row,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreUnknown,
    Transaction,
)
from falsework.runtime.store.connection import Connection
from falsework.runtime.store.shared import MOST_TOGETHER, SharedStore
from stores import BOTH, Place, placed

INSERT = "INSERT INTO lease (lease_key, holder, expires_at) VALUES (?, ?, ?)"


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


def keys(place: Place) -> list[object]:
    with place.open().snapshot() as snapshot:
        return [key for (key,) in snapshot.execute("SELECT lease_key FROM lease ORDER BY lease_key")]


class Fault(Exception):
    """What a body raises."""


class Crowd:
    """Threads that come to one store in a known order while the first is held inside its transaction."""

    def __init__(self, store: SharedStore, pool: ThreadPoolExecutor) -> None:
        self.store, self.pool = store, pool
        self.inside, self.let_go = threading.Event(), threading.Event()

    def first(self, body: Callable[[Transaction], object]) -> Future[None]:
        """The first one is inside, and stays there."""

        def held(transaction: Transaction) -> None:
            body(transaction)
            self.inside.set()
            self.let_go.wait()

        future = self.pool.submit(self._run, "first", held)
        self.inside.wait()
        return future

    def next(self, name: str, body: Callable[[Transaction], object]) -> Future[None]:
        """One more stands in the queue."""
        before = len(self.store._queue)
        future = self.pool.submit(self._run, name, body)
        while len(self.store._queue) == before and not future.done():
            pass
        return future

    def _run(self, name: str, body: Callable[[Transaction], object]) -> None:
        with self.store.transaction(name) as transaction:
            body(transaction)


def writing(key: str) -> Callable[[Transaction], object]:
    return lambda transaction: transaction.execute(INSERT, (key, "h", 1))


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as opened:
        yield opened


def test_those_who_wait_share_one_commit(place: Place, pool: ThreadPoolExecutor) -> None:
    passed: list[str] = []
    crowd = Crowd(place.open(failpoint=passed.append), pool)
    futures = [crowd.first(writing("a")), *(crowd.next(name, writing(name)) for name in "bcd")]
    assert passed == ["first.begun"]
    crowd.let_go.set()
    for future in futures:
        future.result()
    # Nobody is answered before the last one has written: one commit is between the written and the durable.
    order = [name.split(".")[1] for name in passed]
    assert order == ["begun", "written"] * 4 + ["durable"] * 4
    assert [name.split(".")[0] for name in passed[:8:2]] == ["first", "b", "c", "d"]
    assert keys(place) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("failing", ["first", "b", "d"])
def test_one_that_fails_undoes_its_own_part_alone(
    place: Place, pool: ThreadPoolExecutor, failing: str
) -> None:
    def body(name: str) -> Callable[[Transaction], object]:
        def write(transaction: Transaction) -> None:
            transaction.execute(INSERT, (name, "h", 1))
            if name == failing:
                raise Fault

        return write

    def fail_when_let_go(transaction: Transaction) -> None:
        transaction.execute(INSERT, ("first", "h", 1))

    store = place.open(failpoint=faulty_at("first.written") if failing == "first" else lambda _: None)
    crowd = Crowd(store, pool)
    futures = {"first": crowd.first(fail_when_let_go)}
    futures |= {name: crowd.next(name, body(name)) for name in "bcd"}
    crowd.let_go.set()
    for name, future in futures.items():
        if name == failing:
            with pytest.raises(Fault):
                future.result()
        else:
            future.result()
    assert keys(place) == sorted({"first", "b", "c", "d"} - {failing})


def faulty_at(boundary: str) -> Callable[[str], None]:
    def failpoint(passed: str) -> None:
        if passed == boundary:
            raise Fault

    return failpoint


def test_a_statement_that_fails_fails_its_own_transaction_alone(
    place: Place, pool: ThreadPoolExecutor
) -> None:
    crowd = Crowd(place.open(), pool)
    one = crowd.first(writing("a"))
    two, three = crowd.next("b", writing("a")), crowd.next("c", writing("c"))
    crowd.let_go.set()
    one.result()
    three.result()
    with pytest.raises(StoreFailed, match=r"^b: .*nothing was written, by: INSERT"):
        two.result()
    assert keys(place) == ["a", "c"]


def test_a_failed_statement_that_is_swallowed_still_fails_the_transaction(place: Place) -> None:
    # Else a transaction could commit without one of its statements, and one database would where another not.
    store = place.open()

    def swallow() -> None:
        with store.transaction("t") as transaction:
            transaction.execute(INSERT, ("a", "h", 1))
            with pytest.raises(StoreFailed):
                transaction.execute(INSERT, ("a", "h", 1))

    with pytest.raises(StoreFailed, match=r"^t: .*nothing was written"):
        swallow()
    assert keys(place) == []


def test_an_attempt_that_fails_is_undone_alone(place: Place) -> None:
    store = place.open()
    with store.transaction("t") as transaction:
        transaction.execute(INSERT, ("a", "h", 1))
        with pytest.raises(StoreFailed), transaction.attempt():  # noqa: PT012  the block is what is undone
            transaction.execute(INSERT, ("b", "h", 1))
            transaction.execute(INSERT, ("a", "h", 1))
        with transaction.attempt():
            transaction.execute(INSERT, ("c", "h", 1))
            with pytest.raises(Fault), transaction.attempt():  # noqa: PT012  likewise
                transaction.execute(INSERT, ("d", "h", 1))
                raise Fault
    assert keys(place) == ["a", "c"]


def end_the_transaction(place: Place, transaction: Transaction) -> None:
    """The database itself ends the transaction, with all that is in it."""
    if place.kind == "sqlite":
        transaction.execute(INSERT.replace("INSERT", "INSERT OR ROLLBACK"), ("a", "again", 1))
        return
    ((backend,),) = transaction.execute("SELECT pg_backend_pid()")
    with place.bare() as run:
        run("SELECT pg_terminate_backend(?)", (backend,))
    transaction.execute(INSERT, ("z", "h", 1))


def test_nothing_is_written_after_the_database_has_ended_a_transaction(place: Place) -> None:
    # SQLite would take each further statement for a transaction of its own.
    store = place.open()

    def go_on_regardless() -> None:
        with store.transaction("t") as transaction:
            transaction.execute(INSERT, ("a", "h", 1))
            with pytest.raises(StoreFailed):
                end_the_transaction(place, transaction)
            for key in "bc":
                with pytest.raises(StoreFailed):
                    transaction.execute(INSERT, (key, "h", 1))

    with pytest.raises(StoreFailed):
        go_on_regardless()
    assert keys(place) == []
    with store.transaction("u") as transaction:
        transaction.execute(INSERT, ("d", "h", 1))
    assert keys(place) == ["d"]


def test_all_are_told_when_the_database_ends_what_they_share(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    crowd = Crowd(store, pool)
    futures = [
        crowd.first(writing("a")),
        crowd.next("b", writing("b")),
        crowd.next("c", lambda transaction: end_the_transaction(place, transaction)),
        crowd.next("d", writing("d")),
    ]
    crowd.let_go.set()
    for future in futures[:3]:
        with pytest.raises(StoreFailed):
            future.result()
    futures[3].result()  # who comes afterwards has a transaction of its own
    assert keys(place) == ["d"]


def test_all_are_told_when_the_commit_fails(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    writer = store.writer

    class NoCommit:
        """A connection whose every commit is unknown."""

        def __getattr__(self, name: str) -> object:
            return getattr(writer, name)

        def commit(self, name: str) -> None:
            writer.roll_back()
            raise StoreUnknown(f"{name}: the commit failed")

    store.writer = NoCommit()  # type: ignore[assignment]
    crowd = Crowd(store, pool)
    futures = [crowd.first(writing("a")), crowd.next("b", writing("b")), crowd.next("c", writing("c"))]
    crowd.let_go.set()
    errors = [future.exception() for future in futures]
    assert [type(error) for error in errors] == [StoreUnknown] * 3
    assert len({id(error) for error in errors}) == 3  # each its own, for a traceback grows
    store.writer = writer
    assert keys(place) == []


def test_a_crowd_is_split_into_commits_of_a_bounded_size(place: Place) -> None:
    store, commits = place.open(), list[str]()
    commit = store.writer.commit

    def counted(name: str) -> None:
        commits.append(name)
        commit(name)

    store.writer.commit = counted  # type: ignore[method-assign]
    with ThreadPoolExecutor(MOST_TOGETHER + 5) as pool:
        crowd = Crowd(store, pool)
        futures = [crowd.first(writing("first"))]
        futures += [crowd.next(f"n{n}", writing(f"n{n:03}")) for n in range(MOST_TOGETHER + 3)]
        crowd.let_go.set()
        for future in futures:
            future.result()
    # Sixty-eight in all: the sixty-fourth commits for those before it, the last one for the other three.
    assert commits == [f"n{MOST_TOGETHER - 2}", f"n{MOST_TOGETHER + 2}"]
    assert len(keys(place)) == MOST_TOGETHER + 4


def test_who_waits_too_long_has_written_nothing(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open(wait_ms=1)
    crowd = Crowd(store, pool)
    first = crowd.first(writing("a"))
    with pytest.raises(StoreBusy, match=r"^b: other threads kept the store for .* s; nothing was written$"):
        crowd.next("b", writing("b")).result()
    crowd.let_go.set()
    first.result()
    with store.transaction("c") as transaction:
        transaction.execute(INSERT, ("c", "h", 1))
    assert keys(place) == ["a", "c"]


def test_a_store_closed_under_a_transaction_closes_after_it(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    crowd = Crowd(store, pool)
    first, second = crowd.first(writing("a")), crowd.next("b", writing("b"))
    store.close()
    with pytest.raises(StoreError, match=r"^c: this store is closed"), store.transaction("c"):
        pytest.fail("entered")
    crowd.let_go.set()
    first.result()
    second.result()
    assert keys(place) == ["a", "b"]


def test_threads_that_count_lose_no_count(place: Place) -> None:
    store, threads, times = place.open(), 8, 25
    with store.transaction("t") as transaction:
        transaction.execute(INSERT, ("n", "h", 0))

    def count(_: int) -> None:
        for _ in range(times):
            with store.transaction("t") as transaction:
                ((number,),) = transaction.execute("SELECT expires_at FROM lease")
                assert isinstance(number, int)
                transaction.execute("UPDATE lease SET expires_at = ?", (number + 1,))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(count, range(threads)))
    with store.snapshot() as snapshot:
        assert snapshot.execute("SELECT expires_at FROM lease") == [(threads * times,)]


def test_a_look_sees_what_is_committed_and_writes_nothing(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    count = "SELECT COUNT(*) FROM lease WHERE lease_key = ?"
    crowd = Crowd(store, pool)
    first = crowd.first(writing("a"))
    assert store.look(count, ("a",)) == [(0,)]  # and it is not kept waiting
    crowd.let_go.set()
    first.result()
    assert store.look(count, ("a",)) == [(1,)]
    with pytest.raises(StoreFailed, match=r"^look: .*read-?only"):
        store.look("DELETE FROM lease RETURNING lease_key")
    assert store.look(count, ("a",)) == [(1,)]
    with (
        store.transaction("t"),
        pytest.raises(StoreError, match=r"^look: this thread is in a transaction of this store already"),
    ):
        store.look(count, ("a",))


def test_a_reader_beside_a_writer_sees_what_is_committed(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    crowd = Crowd(store, pool)
    first = crowd.first(writing("a"))
    with store.snapshot() as snapshot:
        assert snapshot.execute("SELECT * FROM lease") == []
    crowd.let_go.set()
    first.result()
    with store.snapshot() as snapshot:
        assert len(snapshot.execute("SELECT * FROM lease")) == 1
        with pytest.raises(StoreError, match=r"^t: this thread is in a transaction of this store already"):
            store.transaction("t").__enter__()


def test_a_snapshot_is_one_view_and_writes_nothing(place: Place) -> None:
    store, other = place.open(), place.open()
    with store.snapshot() as snapshot:
        assert snapshot.execute("SELECT COUNT(*) FROM lease") == [(0,)]
        with other.transaction("t") as transaction:
            transaction.execute(INSERT, ("a", "h", 1))
        assert snapshot.execute("SELECT COUNT(*) FROM lease") == [(0,)]
    with pytest.raises(StoreFailed, match=r"^snapshot: .*read-?only"), store.snapshot() as snapshot:
        snapshot.execute("DELETE FROM lease")
    assert keys(place) == ["a"]


def test_a_look_is_refused_inside_a_transaction_and_after_the_end(place: Place) -> None:
    store = place.open()
    with store.transaction("t"), pytest.raises(StoreError, match=r"^look: this thread is in a transaction"):
        store.look("SELECT lease_key FROM lease")
    store.close()
    with pytest.raises(StoreError, match=r"^look: this store is closed"):
        store.look("SELECT lease_key FROM lease")


def test_the_clock_is_the_databases_and_never_goes_back(place: Place) -> None:
    store = place.open()
    before = store.now()
    with store.transaction("t") as transaction:
        inside = [store.now(), store.now()]
        transaction.execute(INSERT, ("a", "h", store.now()))
    after = store.now()
    assert before <= inside[0] <= inside[1] <= after
    # An independent reading: the machine's clock, and the server's, are within an hour of each other.
    assert abs(after - time.time() * 1_000_000) < 3_600_000_000


class Broken:
    """A connection of which one verb fails, as it would where the database is lost at that moment."""

    def __init__(self, connection: Connection, verb: str) -> None:
        self.connection, self.verb = connection, verb

    def __getattr__(self, name: str) -> object:
        if name == self.verb:
            return self._fails
        return getattr(self.connection, name)

    def _fails(self, *_: object) -> None:
        raise StoreFailed(f"{self.verb}: the database is lost")


@pytest.mark.parametrize("verb", ["mark", "keep", "undo"])
def test_a_savepoint_that_fails_loses_what_is_shared_and_says_so(
    place: Place, pool: ThreadPoolExecutor, verb: str
) -> None:
    store = place.open()
    writer = store.writer
    store.writer = Broken(writer, verb)  # type: ignore[assignment]
    crowd = Crowd(store, pool)

    def write_and_perhaps_fail(transaction: Transaction) -> None:
        transaction.execute(INSERT, ("b", "h", 1))
        if verb == "undo":
            raise Fault

    first, second = crowd.first(writing("a")), crowd.next("b", write_and_perhaps_fail)
    third = crowd.next("c", writing("c"))
    crowd.let_go.set()
    with pytest.raises(StoreFailed, match=r"the database is lost; nothing of what shared it was written$"):
        first.result()
    with pytest.raises(StoreFailed, match=rf"^{verb}: the database is lost$"):
        second.result()
    third.result()  # has a transaction of its own, and no savepoint in it
    store.writer = writer
    assert keys(place) == ["c"]


def test_who_is_interrupted_while_it_waits_gives_its_place_up(
    place: Place, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        """A seat whose holder is interrupted as it sits down to wait, perhaps just as its turn comes."""

        def __init__(self) -> None:
            self.seated = False

        def acquire(self, timeout: float = -1) -> bool:
            if self.seated:
                raise KeyboardInterrupt
            self.seated = True
            return True

        def release(self) -> None:
            self.seated = False

    store = place.open()
    crowd = Crowd(store, pool)
    first = crowd.first(writing("a"))
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Lock", Interrupted)
        with pytest.raises(KeyboardInterrupt), store.transaction("b"):
            pytest.fail("entered")
    assert len(store._queue) == 0
    crowd.let_go.set()
    first.result()
    with store.transaction("c") as transaction:
        transaction.execute(INSERT, ("c", "h", 1))
    assert keys(place) == ["a", "c"]


def test_all_waiting_is_one_wait(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    # What has been waited for other threads is not waited again for other processes: the bound is one.
    store, instants = place.open(), iter([10.0, 10.75])
    asked: list[float] = []
    begin = store.writer.begin

    def asked_for(name: str, seconds: float, first: Question | None, flush: bool) -> list[Row]:
        asked.append(seconds)
        return begin(name, 5.0, first, flush)

    monkeypatch.setattr(store, "_seconds", 1.0)
    monkeypatch.setattr(store.writer, "begin", asked_for)
    with monkeypatch.context() as patch:
        ours = SimpleNamespace(monotonic=lambda: next(instants))
        patch.setattr("falsework.runtime.store.shared.time", ours)
        opened = store.transaction("t")
        opened.__enter__()
    opened.__exit__(None, None, None)
    assert asked == [0.25]
