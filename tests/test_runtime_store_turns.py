"""Questions that begin a transaction, writes that end it, and ends that do not flush: on both stores."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import psycopg
import pytest

from falsework.runtime.store import Question, StoreFailed, StoreRefused, Transaction
from falsework.runtime.store.shared import SharedStore
from stores import BOTH, Place, placed

INSERT = "INSERT INTO lease (lease_key, holder, expires_at) VALUES (?, ?, ?)"
HOLDER: Question = ("SELECT holder FROM lease WHERE lease_key = ?", ("a",))


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with placed(request.param) as opened:
        yield opened


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as opened:
        yield opened


def kept(store: SharedStore) -> list[object]:
    return [key for (key,) in store.look("SELECT lease_key FROM lease ORDER BY lease_key")]


def queued(
    store: SharedStore, pool: ThreadPoolExecutor, *bodies: Callable[[Transaction], object]
) -> list[Future[None]]:
    """Each body in a transaction of its own, all of them waiting behind the one that this thread is in."""

    def run(body: Callable[[Transaction], object], number: int) -> None:
        with store.transaction(f"t{number}", HOLDER) as transaction:
            body(transaction)

    futures = []
    for number, body in enumerate(bodies):
        before = len(store._queue)
        futures.append(pool.submit(run, body, number))
        while len(store._queue) == before:
            pass
    return futures


def writing(key: str) -> Callable[[Transaction], object]:
    return lambda transaction: transaction.write(INSERT, (key, "h", 1))


def test_the_first_question_sees_what_was_committed_before(place: Place) -> None:
    store = place.open()
    with store.transaction("one", HOLDER) as transaction:
        assert transaction.found == []
        transaction.write(INSERT, ("a", "h", 1))
        assert transaction.execute(*HOLDER) == [("h",)]  # what was written runs before what is asked next
    with store.transaction("two", HOLDER) as transaction:
        assert transaction.found == [("h",)]
    with store.transaction("three") as transaction:
        assert transaction.found == []


def test_a_first_question_that_fails_leaves_the_store_free(place: Place) -> None:
    store = place.open()
    with (
        pytest.raises(StoreFailed, match=r"^t: .*; nothing was written"),
        store.transaction("t", ("SELECT no", ())),
    ):
        pytest.fail("entered")
    with store.transaction("t") as transaction:
        transaction.write(INSERT, ("a", "h", 1))
    assert kept(store) == ["a"]


@pytest.mark.parametrize("values", [("a", "h", 1), ("b", "h", None), ("b", "h", 2**63), ("b", "\ud800", 1)])
def test_a_write_that_fails_at_the_end_fails_its_transaction(
    place: Place, values: tuple[str, str, int]
) -> None:
    store = place.open()
    with store.transaction("t") as transaction:
        transaction.write(INSERT, ("a", "h", 1))

    def fails() -> None:
        with store.transaction("t") as transaction:
            transaction.write(INSERT, ("c", "h", 1))
            transaction.write(INSERT, values)

    with pytest.raises(StoreFailed, match=r"^t: .*nothing was written"):
        fails()
    assert kept(store) == ["a"]
    with store.transaction("t") as transaction:  # and the store is of use again
        transaction.write(INSERT, ("d", "h", 1))
    assert kept(store) == ["a", "d"]


def test_a_write_that_fails_in_a_shared_commit_fails_alone(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    with store.transaction("first") as transaction:
        futures = queued(store, pool, writing("b"), writing("a"), writing("c"))
        transaction.write(INSERT, ("a", "h", 1))
    futures[0].result()
    with pytest.raises(StoreFailed, match=r"^t1: .*nothing was written, by: INSERT"):
        futures[1].result()
    futures[2].result()
    assert kept(store) == ["a", "b", "c"]


def test_the_first_one_s_failing_write_is_its_own_too(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()
    with store.transaction("before") as transaction:
        transaction.write(INSERT, ("a", "h", 1))
    futures: list[Future[None]] = []

    def fails() -> None:
        with store.transaction("first") as transaction:
            futures.extend(queued(store, pool, writing("b")))
            transaction.write(INSERT, ("a", "h", 1))

    with pytest.raises(StoreFailed, match=r"^first: .*by: INSERT"):
        fails()
    futures[0].result()
    assert kept(store) == ["a", "b"]


def test_who_joins_asks_behind_what_was_written(place: Place, pool: ThreadPoolExecutor) -> None:
    store, found = place.open(), list[object]()
    with store.transaction("first") as transaction:
        futures = queued(store, pool, lambda joined: found.append(joined.found))
        transaction.write(INSERT, ("a", "h", 1))
    futures[0].result()
    assert found == [[("h",)]]


def test_a_question_of_one_that_joins_fails_alone(place: Place, pool: ThreadPoolExecutor) -> None:
    store = place.open()

    def asks() -> None:
        with store.transaction("asks", ("SELECT no", ())):
            pytest.fail("entered")

    with store.transaction("first") as transaction:
        asking = pool.submit(asks)
        while not store._queue:
            pass
        transaction.write(INSERT, ("a", "h", 1))
    with pytest.raises(StoreFailed, match=r"^asks: .*nothing was written, by: SELECT no"):
        asking.result()
    assert kept(store) == ["a"]


def test_one_that_does_not_flush_is_seen_and_shares_with_nobody(
    place: Place, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, commits = place.open(), list[str]()
    commit = store.writer.commit

    def counted(name: str) -> None:
        commits.append(name)
        commit(name)

    monkeypatch.setattr(store.writer, "commit", counted)
    with store.transaction("lazy", flush=False) as transaction:
        futures = queued(store, pool, writing("b"), writing("c"))
        transaction.write(INSERT, ("a", "h", 1))
    for future in futures:
        future.result()
    assert kept(store) == ["a", "b", "c"]
    assert commits[0] == "lazy"  # before the others, of which the last may commit for both
    assert commits[-1] == "t1"


def test_how_a_commit_flushes_is_as_it_was_asked_for(place: Place) -> None:
    # SQLite says 2 for FULL and 1 for NORMAL.
    asked, answers = (
        ("PRAGMA synchronous", [[(2,)], [(1,)]])
        if place.kind == "sqlite"
        else ("SELECT current_setting('synchronous_commit')", [[("on",)], [("off",)]])
    )
    store = place.open()
    for flush in (True, False, False, True, True):
        with store.transaction("t", flush=flush) as transaction:
            assert transaction.execute(asked) == answers[0 if flush else 1]


@pytest.mark.postgres
def test_a_library_without_pipelines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psycopg.Pipeline, "is_supported", lambda: False)
    with (
        placed("postgres") as place,
        pytest.raises(StoreRefused, match=r"this libpq, which knows no pipelines: "),
    ):
        place.open()
