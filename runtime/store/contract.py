"""What a store promises the runtime above it: few verbs, named boundaries, errors that say what is known."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Protocol

Value = int | str | bytes | None
Row = tuple[Value, ...]
Question = tuple[str, Sequence[Value]]
"""A statement and its values."""


class StoreError(Exception):
    """Whatever goes wrong with a store."""


class StoreRefused(StoreError):
    """The store will not start: what it stands on cannot keep its promises."""


class StoreUnreachable(StoreRefused):
    """The server that holds the store does not answer: an outage, or a wrong name."""


class StoreBusy(StoreError):
    """Another writer kept the store for the whole of the busy timeout; nothing was written."""


class StoreFailed(StoreError):
    """A statement failed; its transaction was rolled back, so nothing was written."""


class StoreUnknown(StoreError):
    """A commit failed: it may have landed or not, and only a later read can tell."""


class Transaction(Protocol):
    """The statements of one transaction, until it ends."""

    @property
    def found(self) -> list[Row]:
        """The rows of the question that the transaction began with."""
        ...

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The statement has run inside this transaction; its rows, all of them."""
        ...

    def write(self, statement: str, values: Sequence[Value] = ()) -> None:
        """The statement, which answers nothing, runs before the next one, or with the end: one turn less."""
        ...

    def attempt(self) -> AbstractContextManager[None]:
        """A part that may fail by itself: where its block raises, it alone is undone."""
        ...


class Store(Protocol):
    """One durable database, for any number of threads; a thread is in one transaction at a time."""

    def now(self) -> int:
        """The database's clock in microseconds; inside a transaction, read with its lock held."""
        ...

    def transaction(
        self, name: str, first: Question | None = None, *, flush: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Alone among the database's writers: durable at the block's end, rolled back if the block raises.

        `first` is asked in the turn to the database that begins it. Without `flush` the end outlives this
        process, and a power cut only if a later one that flushes has ended: it is never kept without what
        ended before it, nor lost where something that ended after it is kept.
        """
        ...

    def look(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The rows of one statement that reads, in a view of its own that blocks nobody."""
        ...

    def snapshot(self) -> AbstractContextManager[Transaction]:
        """A consistent view that blocks nobody, and writes nothing."""
        ...

    def close(self) -> None:
        """The store is no longer open; closing twice is closing once."""
        ...


Failpoint = Callable[[str], None]
"""Called with each durable boundary's name as it is passed; what it raises is a fault at that boundary."""


def pass_through(boundary: str) -> None:
    """Nothing happens at the boundary."""


@lru_cache(maxsize=256)
def boundaries(name: str) -> tuple[str, str, str]:
    """A transaction's three: its lock is held; all is written; all is durable, and not yet answered."""
    return (f"{name}.begun", f"{name}.written", f"{name}.durable")
