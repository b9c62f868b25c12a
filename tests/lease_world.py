"""One lease host on a real store, with a clock and a waiter in a test's hand."""

from collections.abc import Callable
from dataclasses import dataclass, field

from falsework.runtime.lease import LeaseHost
from falsework.runtime.store import Row, Store


@dataclass
class HandClock:
    """A clock that stands where it was put."""

    instant: int = 100

    def now(self) -> int:
        return self.instant


@dataclass
class Script:
    """A waiter that does, at each wait, the next thing of a list, and remembers what it was asked."""

    events: list[Callable[[], object]] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)

    def wait_until(self, instant: int) -> None:
        self.asked.append(instant)
        self.events.pop(0)()


class World:
    """One host, its clock and its waiter on one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = HandClock()
        self.script = Script()
        self.host = LeaseHost(store, self.clock, self.script)

    def at(self, instant: int) -> None:
        self.clock.instant = instant

    def table(self) -> list[Row]:
        with self.store.snapshot() as snapshot:
            return snapshot.execute("SELECT * FROM lease ORDER BY lease_key")
