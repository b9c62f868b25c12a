"""What a store promises the runtime above it: few verbs, named boundaries, errors that say what is known."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

Value = int | str | bytes | None
Row = tuple[Value, ...]


class StoreError(Exception):
    """Whatever goes wrong with a store."""


class StoreRefused(StoreError):
    """The store will not start: what it stands on cannot keep its promises."""


class StoreBusy(StoreError):
    """Another writer kept the store for the whole of the busy timeout; nothing was written."""


class StoreFailed(StoreError):
    """A statement failed; its transaction was rolled back, so nothing was written."""


class StoreUnknown(StoreError):
    """A commit failed: it may have landed or not, and only a later read can tell."""


class Transaction(Protocol):
    """The statements of one transaction, until it ends."""

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """The statement has run inside this transaction; its rows, all of them."""
        ...

    def attempt(self) -> AbstractContextManager[None]:
        """A part that may fail by itself: where its block raises, it alone is undone."""
        ...


class Store(Protocol):
    """One durable database, for any number of threads; a thread is in one transaction at a time."""

    def now(self) -> int:
        """The database's clock in microseconds; inside a transaction, read with its lock held."""
        ...

    def transaction(self, name: str) -> AbstractContextManager[Transaction]:
        """Alone among the database's writers: durable at the block's end, rolled back if the block raises."""
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


def boundaries(name: str) -> tuple[str, str, str]:
    """A transaction's three: its lock is held; all is written; all is durable, and not yet answered."""
    return (f"{name}.begun", f"{name}.written", f"{name}.durable")
