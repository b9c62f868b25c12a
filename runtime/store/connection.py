"""One connection to a database as a store uses it, and the statements of one transaction on it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from falsework.runtime.store.contract import Question, Row, StoreError, StoreFailed, Value


class Connection(Protocol):
    """One connection to a database, used by one thread at a time."""

    def begin(self, name: str, seconds: float, first: Question | None, flush: bool) -> list[Row]:
        """A transaction is open: a writer's alone, after no longer than this; a reader's with one view.

        The answer is that of the first question. One that does not flush commits after whatever had been
        committed before it, and is as durable as the next one that flushes.
        """
        ...

    def execute(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run; its rows."""
        ...

    def write(self, name: str, statement: str, values: Sequence[Value]) -> None:
        """The statement runs before whatever follows it here; it has no rows."""
        ...

    def settle(self, name: str) -> None:
        """What was written has run, or has failed."""
        ...

    def look(self, name: str, statement: str, values: Sequence[Value]) -> list[Row]:
        """The statement has run by itself, in no transaction that was begun for it; its rows."""
        ...

    def mark(
        self, depth: int, name: str = "savepoint", first: Question | None = None
    ) -> list[Row] | StoreError:
        """What follows can be undone by itself; the first question's rows, or why it alone failed."""
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

    __slots__ = ("_connection", "_depth", "_name", "ended", "failed", "found")

    def __init__(self, connection: Connection, name: str, found: list[Row]) -> None:
        self._connection = connection
        self._name = name
        self._depth = 1
        self.found = found
        self.ended = False
        self.failed: StoreError | None = None

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The statement has run; its rows."""
        self._refuse_the_ended()
        try:
            return self._connection.execute(self._name, statement, values)
        except StoreError as error:
            self.failed = error
            raise

    def write(self, statement: str, values: Sequence[Value] = ()) -> None:
        """The statement runs before the next one, or with the end."""
        self._refuse_the_ended()
        try:
            self._connection.write(self._name, statement, values)
        except StoreError as error:
            self.failed = error
            raise

    def _refuse_the_ended(self) -> None:
        """The transaction has not ended."""
        if self.ended:
            raise StoreError(f"{self._name}: the transaction has ended: execute inside its with block")

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
            self._connection.settle(self._name)
        except BaseException:
            if self._connection.is_open():
                self._connection.undo(self._depth)
                self.failed = before
            raise
        else:
            self._connection.keep(self._depth)
        finally:
            self._depth -= 1
