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
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, Self

from falsework.runtime.store.contract import (
    Failpoint,
    Row,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreUnknown,
    Value,
    boundaries,
)

MOST_TOGETHER = 64
"""How many transactions share a commit at most: a bound on how long the first one waits for the others."""


class Connection(Protocol):
    """One connection to a database, used by one thread at a time."""

    def begin(self, name: str, seconds: float) -> None:
        """A transaction is open: a writer's alone, after no longer than this; a reader's with one view."""
        ...

    def execute(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run; its rows."""
        ...

    def look(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run by itself, in no transaction that was begun for it; its rows."""
        ...

    def mark(self, depth: int) -> None:
        """What follows can be undone by itself."""
        ...

    def keep(self, depth: int) -> None:
        """What followed the mark can no longer be undone by itself."""
        ...

    def undo(self, depth: int) -> None:
        """What followed the mark is undone."""
        ...

    def commit(self, name: str) -> None:
        """The transaction is durable; `StoreUnknown` where that cannot be known."""
        ...

    def roll_back(self) -> None:
        """No transaction is open, whatever had to be given up for it."""
        ...

    def is_open(self) -> bool:
        """Whether the transaction is still open: a database may end one by itself at the worst faults."""
        ...

    def now(self) -> int:
        """The database's clock, inside the transaction or outside any."""
        ...

    def close(self) -> None:
        """The connection is closed."""
        ...


class OpenTransaction:
    """The statements of one transaction, refused once it has ended."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._depth = 1
        self.ended = False
        self.failed: StoreError | None = None

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The statement has run; its rows."""
        if self.ended:
            raise StoreError(f"{self._name}: the transaction has ended: execute inside its with block")
        try:
            return self._connection.execute(self._name, statement, values)
        except StoreError as error:
            self.failed = error
            raise

    def refuse_what_failed(self) -> None:
        """No statement has failed, or its failure is raised again: nothing is left out of a transaction."""
        if self.failed is not None:
            raise StoreFailed(str(self.failed)) from self.failed

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Where the block raises, it is undone and the rest of the transaction stands."""
        before = self.failed
        self._depth += 1
        self._connection.mark(self._depth)
        try:
            yield
        except BaseException:
            if self._connection.is_open():
                self._connection.undo(self._depth)
                self.failed = before
            raise
        else:
            self._connection.keep(self._depth)
        finally:
            self._depth -= 1


class Together:
    """The transactions that one commit makes durable."""

    def __init__(self) -> None:
        self.waiting: list[threading.Lock] = []
        self.size = 0
        self.outcome: StoreError | None = None


class SharedStore:
    """A store on one connection that writes, and as many that read as are used at once."""

    def __init__(
        self, writer: Connection, open_reader: Callable[[], Connection], failpoint: Failpoint, seconds: float
    ) -> None:
        self._writer = writer
        self._open_reader = open_reader
        self._failpoint = failpoint
        self._seconds = seconds
        self._mutex = threading.Lock()
        self._queue: deque[threading.Lock] = deque()  # those who wait for their turn
        self._taken = False
        self._together: Together | None = None  # the transaction that is open, if one is
        self._readers: list[Connection] = []
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

    @contextmanager
    def transaction(self, name: str) -> Iterator[OpenTransaction]:
        """Alone among the writers; durable at the block's end, rolled back if the block raises."""
        begun, written, durable = boundaries(name)
        with self._alone(name, self._writer):
            together = self._enter(name)
            inside = OpenTransaction(self._writer, name)
            try:
                self._failpoint(begun)
                yield inside
                self._failpoint(written)
                inside.refuse_what_failed()
            except BaseException:
                inside.ended = True
                self._undone(together, name)
                raise
            inside.ended = True
            self._done(together, name)
            self._failpoint(durable)

    def look(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The rows of one statement: in a turn to the database, where a snapshot takes three."""
        reader = self._borrow("look")
        try:
            with self._alone("look", reader):
                return reader.look("look", statement, values)
        finally:
            self._give_back(reader)

    @contextmanager
    def snapshot(self) -> Iterator[OpenTransaction]:
        """One consistent view, beside any writer; a statement that writes is refused."""
        reader = self._borrow("snapshot")
        try:
            with self._alone("snapshot", reader):
                reader.begin("snapshot", self._seconds)
                inside = OpenTransaction(reader, "snapshot")
                try:
                    yield inside
                finally:
                    inside.ended = True
                    reader.roll_back()
        finally:
            self._give_back(reader)

    def close(self) -> None:
        """No connection is open, once those in use have come back; closing twice is closing once."""
        with self._mutex:
            closed, self._closed = self._closed, True
            readers, self._readers = self._readers, []
            idle = not self._taken
        for reader in readers:
            reader.close()
        if idle and not closed:
            self._writer.close()

    # One transaction a thread.

    @contextmanager
    def _alone(self, name: str, connection: Connection) -> Iterator[None]:
        """The thread is in no other transaction of this store: it would wait for itself."""
        if getattr(self._inside, "connection", None) is not None:
            raise StoreError(
                f"{name}: this thread is in a transaction of this store already: end it first, "
                "or open a second store"
            )
        self._inside.connection = connection
        try:
            yield
        finally:
            self._inside.connection = None

    # The readers.

    def _borrow(self, name: str) -> Connection:
        """A reader that nobody else uses."""
        with self._mutex:
            if self._closed:
                raise StoreError(f"{name}: this store is closed: open a store again")
            if self._readers:
                return self._readers.pop()
        return self._open_reader()

    def _give_back(self, reader: Connection) -> None:
        """The reader is another's to use, or closed with the store."""
        with self._mutex:
            if not self._closed:
                self._readers.append(reader)
                return
        reader.close()

    # Turns, and commits that are shared.

    def _enter(self, name: str) -> Together:
        """It is this thread's turn, in a transaction that is open."""
        deadline = time.monotonic() + self._seconds
        self._await_turn(name)
        together = self._together
        if together is not None:
            self._or_lost(together, self._writer.mark)
            return together
        try:
            self._writer.begin(name, max(deadline - time.monotonic(), 0))  # all waiting is one wait
        except BaseException:
            self._pass_on()
            raise
        self._together = Together()
        return self._together

    def _await_turn(self, name: str) -> None:
        """It is this thread's turn, after all who came before it."""
        seat = threading.Lock()
        with self._mutex:
            if self._closed:
                raise StoreError(f"{name}: this store is closed: open a store again")
            if not self._taken:
                self._taken = True
                return
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
            self._writer.close()

    def _handed_over(self, together: Together) -> bool:
        """The open transaction is the next one's; False where nobody waits, or enough have joined."""
        with self._mutex:
            if not self._queue or together.size >= MOST_TOGETHER:
                return False
            self._queue.popleft().release()
            return True

    def _done(self, together: Together, name: str) -> None:
        """What this thread wrote is durable, by its own commit or by another's."""
        if together.size > 0:
            self._or_lost(together, self._writer.keep)
        together.size += 1
        seat = threading.Lock()
        seat.acquire()
        together.waiting.append(seat)
        if self._handed_over(together):
            seat.acquire()
        else:
            self._commit(together, name)
        if together.outcome is not None:
            raise type(together.outcome)(str(together.outcome)) from together.outcome

    def _undone(self, together: Together, name: str) -> None:
        """What this thread wrote is undone; what others wrote before it in the same transaction is not."""
        if together.size == 0:
            self._together = None
            try:
                self._writer.roll_back()
            finally:
                self._pass_on()
            return
        if not self._writer.is_open():
            self._lost(together, StoreFailed(f"{name}: the database ended the transaction"))
            return
        self._or_lost(together, self._writer.undo)
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
        self._writer.roll_back()
        self._end(together)

    def _commit(self, together: Together, name: str) -> None:
        """The transaction is durable, or all are told why not."""
        together.outcome = StoreUnknown(f"{name}: the commit was interrupted: read again before repeating it")
        try:
            self._writer.commit(name)
            together.outcome = None
        except StoreError as error:
            together.outcome = error
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
