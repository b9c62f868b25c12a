"""One connection that writes for many threads: their transactions share commits, and each fails alone.

The threads take turns in the order in which they came. Whoever has the turn runs its statements and hands the
open transaction on to the next one that waits; the last one commits for all, and until then nobody is
answered. Each but the first works behind a savepoint, so what one undoes is its own. With a single thread
every transaction is its own commit, and there is no savepoint.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from falsework.runtime.store.connection import Connection, OpenTransaction
from falsework.runtime.store.contract import (
    Failpoint,
    Question,
    Row,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreUnknown,
    Value,
    boundaries,
    pass_through,
)

MOST_TOGETHER = 64
"""How many transactions share a commit at most: a bound on how long the first one waits for the others."""


class Writing:
    """One thread's transaction, from its wait for the turn to its durable end."""

    __slots__ = ("_first", "_flush", "_inside", "_name", "_store", "_together")

    _inside: OpenTransaction
    _together: "Together"

    def __init__(self, store: "SharedStore", name: str, first: Question | None, flush: bool) -> None:
        self._store, self._name = store, name
        self._first, self._flush = first, flush

    def __enter__(self) -> OpenTransaction:
        store, name = self._store, self._name
        store.go_inside(name, store.writer)
        try:
            self._together, found = store.enter(name, self._first, flush=self._flush)
            self._inside = OpenTransaction(store.writer, name, found)
            if store.failpoint is not pass_through:
                self._or_undone(boundaries(name)[0])
        except BaseException:
            store.come_outside()
            raise
        return self._inside

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        store, name = self._store, self._name
        try:
            if kind is not None:
                self._inside.ended = True
                store.undone(self._together, name)
                return
            _, written, durable = boundaries(name)
            if self._inside.failed is not None or store.failpoint is not pass_through:
                self._or_undone(written)
            self._inside.ended = True
            store.done(self._together, name)
            store.failpoint(durable)
        finally:
            store.come_outside()

    def _or_undone(self, boundary: str) -> None:
        """The boundary is passed with nothing failed before it; or the thread's part is undone."""
        try:
            self._store.failpoint(boundary)
            self._inside.refuse_what_failed()
        except BaseException:
            self._inside.ended = True
            self._store.undone(self._together, self._name)
            raise


class Together:
    """The transactions that one commit makes durable."""

    __slots__ = ("flush", "outcome", "size", "waiting")

    def __init__(self, flush: bool) -> None:
        self.flush = flush
        self.waiting: list[threading.Lock] = []
        self.size = 0
        self.outcome: StoreError | None = None


class SharedStore:
    """A store on one connection that writes, and as many that read as are used at once."""

    def __init__(
        self, writer: Connection, open_reader: Callable[[], Connection], failpoint: Failpoint, seconds: float
    ) -> None:
        self.writer = writer
        self._open_reader = open_reader
        self.failpoint = failpoint
        self._seconds = seconds
        self._mutex = threading.Lock()
        self._queue: deque[threading.Lock] = deque()  # those who wait for their turn
        self._taken = False
        self._together: Together | None = None  # the transaction that is open, if one is
        self._readers: deque[Connection] = deque()
        self._inside = threading.local()
        self._closed = False

    def now(self) -> int:
        """The database's clock."""
        inside: Connection | None = getattr(self._inside, "connection", None)
        if inside is not None:
            return inside.now()
        reader = self._borrow("now")
        try:
            return reader.now()
        finally:
            self._give_back(reader)

    def transaction(self, name: str, first: Question | None = None, *, flush: bool = True) -> Writing:
        """Alone among the writers; durable at the block's end, rolled back if the block raises."""
        return Writing(self, name, first, flush)

    def look(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The rows of one statement: in a turn to the database, where a snapshot takes three."""
        reader = self._borrow("look")
        try:
            self.go_inside("look", reader)
            try:
                return reader.look("look", statement, values)
            finally:
                self.come_outside()
        finally:
            self._give_back(reader)

    @contextmanager
    def snapshot(self) -> Iterator[OpenTransaction]:
        """One consistent view, beside any writer; a statement that writes is refused."""
        reader = self._borrow("snapshot")
        try:
            self.go_inside("snapshot", reader)
            try:
                reader.begin("snapshot", self._seconds, None, flush=True)
                inside = OpenTransaction(reader, "snapshot", [])
                try:
                    yield inside
                finally:
                    inside.ended = True
                    reader.roll_back()
            finally:
                self.come_outside()
        finally:
            self._give_back(reader)

    def close(self) -> None:
        """No connection is open, once those in use have come back; closing twice is closing once."""
        with self._mutex:
            closed, self._closed = self._closed, True
            idle = not self._taken
        self._close_readers()
        if idle and not closed:
            self.writer.close()

    # One transaction a thread.

    def go_inside(self, name: str, connection: Connection) -> None:
        """The thread is in no other transaction of this store: it would wait for itself."""
        if getattr(self._inside, "connection", None) is not None:
            raise StoreError(
                f"{name}: this thread is in a transaction of this store already: end it first, "
                "or open a second store"
            )
        self._inside.connection = connection

    def come_outside(self) -> None:
        """The thread is in no transaction of this store."""
        self._inside.connection = None

    # The readers.

    def _borrow(self, name: str) -> Connection:
        """A reader that nobody else uses."""
        self.refuse_the_closed(name)
        try:
            return self._readers.pop()  # a deque's ends need no lock
        except IndexError:
            return self._open_reader()

    def _give_back(self, reader: Connection) -> None:
        """The reader is another's to use, or closed with the store."""
        self._readers.append(reader)
        if self._closed:
            self._close_readers()

    def _close_readers(self) -> None:
        """No reader is open that nobody uses."""
        with suppress(IndexError):
            while True:
                self._readers.pop().close()

    def refuse_the_closed(self, name: str) -> None:
        """The store is open."""
        if self._closed:
            raise StoreError(f"{name}: this store is closed: open a store again")

    # Turns, and commits that are shared.

    def enter(self, name: str, first: Question | None, *, flush: bool) -> tuple[Together, list[Row]]:
        """It is this thread's turn, in a transaction that is open; the answer of its first question."""
        deadline = time.monotonic() + self._seconds
        self._await_turn(name)
        together = self._together
        if together is not None:
            return together, self._joined(together, name, first)
        try:
            left = max(deadline - time.monotonic(), 0)  # all waiting is one wait
            found = self.writer.begin(name, left, first, flush)
        except BaseException:
            self._pass_on()
            raise
        self._together = together = Together(flush)
        return together, found

    def _joined(self, together: Together, name: str, first: Question | None) -> list[Row]:
        """The thread works behind a savepoint in another's transaction."""
        try:
            found = self.writer.mark(1, name, first)
        except BaseException as error:
            self._lost(together, error)
            raise
        if isinstance(found, StoreError):
            self.undone(together, name)
            raise found
        return found

    def _await_turn(self, name: str) -> None:
        """It is this thread's turn, after all who came before it."""
        with self._mutex:
            self.refuse_the_closed(name)
            if not self._taken:
                self._taken = True
                return
            seat = threading.Lock()
            seat.acquire()
            self._queue.append(seat)
        try:
            if seat.acquire(timeout=self._seconds):
                return
        except BaseException:
            if not self._left_the_queue(seat):
                self._pass_on()
            raise
        if self._left_the_queue(seat):
            raise StoreBusy(
                f"{name}: other threads kept the store for {self._seconds} s; nothing was written"
            )

    def _left_the_queue(self, seat: threading.Lock) -> bool:
        """The seat waits no longer; False where its turn came at that moment."""
        with self._mutex:
            if seat in self._queue:
                self._queue.remove(seat)
                return True
            return False

    def _pass_on(self) -> None:
        """It is the next one's turn; a store that was closed meanwhile closes with the last one."""
        with self._mutex:
            if self._queue:
                self._queue.popleft().release()
                return
            self._taken = False
            closed = self._closed
        if closed:
            self.writer.close()

    def _handed_over(self, together: Together) -> bool:
        """The open transaction is the next one's; False where nobody waits, or enough have joined.

        One that does not flush is never handed on: its end takes less than the next one's begin, and whoever
        comes may want to flush.
        """
        with self._mutex:
            if not self._queue or not together.flush or together.size >= MOST_TOGETHER:
                return False
            self._queue.popleft().release()
            return True

    def done(self, together: Together, name: str) -> None:
        """What this thread wrote is durable, by its own commit or by another's."""
        waited_for = bool(self._queue) and together.flush
        if together.size > 0 or waited_for:
            self._settled(together, name)
        if together.size > 0:
            self._or_lost(together, self.writer.keep)
        together.size += 1
        if waited_for:
            seat = threading.Lock()
            seat.acquire()
            together.waiting.append(seat)
            if self._handed_over(together):
                seat.acquire()
            else:
                self._commit(together, name)
        else:
            self._commit(together, name)
        if together.outcome is not None:
            raise type(together.outcome)(str(together.outcome)) from together.outcome

    def _settled(self, together: Together, name: str) -> None:
        """What this thread wrote has run, so that a failure is its own and undoes its part alone."""
        try:
            self.writer.settle(name)
        except BaseException:
            self.undone(together, name)
            raise

    def undone(self, together: Together, name: str) -> None:
        """What this thread wrote is undone; what others wrote before it in the same transaction is not."""
        if together.size == 0:
            self._together = None
            try:
                self.writer.roll_back()
            finally:
                self._pass_on()
            return
        if not self.writer.is_open():
            self._lost(together, StoreFailed(f"{name}: the database ended the transaction"))
            return
        self._or_lost(together, self.writer.undo)
        if not self._handed_over(together):
            self._commit(together, name)

    def _or_lost(self, together: Together, step: Callable[[int], None]) -> None:
        """The step of the savepoint that a thread works behind is made, or the whole transaction is lost."""
        try:
            step(1)
        except BaseException as error:
            self._lost(together, error)
            raise

    def _lost(self, together: Together, error: BaseException) -> None:
        """The transaction is gone with all that was written in it, and all are told."""
        together.outcome = StoreFailed(f"{error}; nothing of what shared it was written")
        self.writer.roll_back()
        self._end(together)

    def _commit(self, together: Together, name: str) -> None:
        """The transaction is durable, or all are told why not."""
        try:
            self.writer.commit(name)
        except StoreError as error:
            together.outcome = error
        except BaseException:
            said = f"{name}: the commit was interrupted: read again before repeating it"
            together.outcome = StoreUnknown(said)
            raise
        finally:
            self._end(together)

    def _end(self, together: Together) -> None:
        """All who wait for the transaction are awake, and it is the next one's turn."""
        self._together = None
        self._pass_on()
        for seat in together.waiting:
            seat.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
