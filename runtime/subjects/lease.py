"""The lease on a real SQLite file, as a driver meets it, with two clocks in hand.

The host and the judge are the runtime's own. What stands here is the rest of the world: the workers'
memory, the act in flight, and time, which moves only when the driver says so. Each walk takes a key of its
own, for admitted acts are never deleted.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from falsework.runtime.lease import (
    Admitted,
    Granted,
    Judge,
    Late,
    LeaseHost,
    NotHeld,
    Reentered,
    Released,
    Unavailable,
    Waiting,
)
from falsework.runtime.observe_lease import NAMES
from falsework.runtime.store import Store, StoreUnknown
from falsework.runtime.store.sqlite import SqliteStore

Answer = Granted | Reentered | Waiting | Unavailable | Released | NotHeld | Admitted | Late


@dataclass
class HandClock:
    """A clock that reads what stands in it."""

    instant: int

    def now(self) -> int:
        """The instant it was set to."""
        return self.instant


class NoWaiter:
    """Nobody waits by himself: the driver performs each look of a take."""

    def wait_until(self, instant: int) -> None:
        """Never called, for the driver asks and polls, and takes nothing in one call."""
        raise AssertionError(f"a step of a take waited until {instant} by itself")


@dataclass(frozen=True)
class ActInFlight:
    """A message to the judge: by whom, its instant, and the terminus of its lease."""

    worker: str
    instant: int
    terminus: int


def in_memory() -> Path | None:
    """A folder in memory, if there is one: every flush is asked for as ever, and costs no turn of a disk."""
    memory = Path("/dev/shm")  # noqa: S108  the folder made in it has a name of its own
    return memory if os.access(memory, os.W_OK) else None


class LeaseSubject:
    """The host and the judge on one store, driven along the lease's model."""

    model: ClassVar[str] = "falsework.models.lease:Lease"
    surface: ClassVar[str] = "driven SQLite"
    refuses: ClassVar[tuple[str, ...]] = ()  # every guard of the model is a client's or the environment's own
    internal: ClassVar[tuple[str, ...]] = ()
    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    unknowns: ClassVar[tuple[type[Exception], ...]] = (StoreUnknown,)
    host_class: ClassVar[type[LeaseHost]] = LeaseHost
    judge_class: ClassVar[type[Judge]] = Judge

    def __init__(self) -> None:
        self.store = self.opened()
        self.host_clock, self.judge_clock = HandClock(1_000), HandClock(1_000)
        self.host = self.host_class(self.store, self.host_clock, NoWaiter())
        self.judge = self.judge_class(self.store, self.judge_clock)
        self.walks = 0
        self.by_worker: dict[str, Callable[[int], object]] = {
            "ask": self.ask,
            "poll": self.poll,
            "try_take": self.try_take,
            "remaining": self.remaining,
            "release": self.release,
            "mint": self.mint,
            "die": self.die,
        }
        self.by_nobody: dict[str, Callable[[], object]] = {"admit": self.admit, "pass_time": self.pass_time}

    def opened(self) -> Store:
        """A new store, of this subject's own."""
        self.folder = tempfile.TemporaryDirectory(prefix="falsework-lease-", dir=in_memory())
        return SqliteStore(Path(self.folder.name) / "lease.db")

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """A key that nobody has ever held, and workers that nobody has ever heard of."""
        figures = {name: value for name, value in constants.items() if isinstance(value, int)}
        self.walks += 1
        self.key = f"key {self.walks}"
        self.duration, self.allowance = figures["LEASE"], figures["ALLOWANCE"]
        self.judge_clock.instant = self.host_clock.instant - figures["LAG"]
        self.lives = [0] * figures["WORKERS"]
        self.termini: list[int | None] = [None] * figures["WORKERS"]
        self.waits: list[Waiting | None] = [None] * figures["WORKERS"]
        self.act: ActInFlight | None = None

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        """The action has happened; its answer by name, or as a duration."""
        if action in self.by_nobody:
            return self.by_nobody[action]()
        worker = arguments["worker"]
        assert isinstance(worker, int), "the model's workers are numbers"
        return self.by_worker[action](worker)

    def observe(self) -> Mapping[str, object]:
        """What the store holds, and what the workers and the act in flight hold."""
        row = self.host.recorded(self.key)
        alive = {self.named(worker): worker for worker in range(len(self.lives))}
        return {
            "holder": None if row is None else alive.get(row.holder),
            "left": 0 if row is None else self.until(row.expires_at),
            "standing": [0 if terminus is None else self.until(terminus) for terminus in self.termini],
            "waiting": [None if wait is None else self.until(wait.deadline) for wait in self.waits],
            "act": {
                "sent": self.act is not None,
                "instant": 0 if self.act is None else max(self.act.instant - self.judge_clock.now(), 0),
                "lease": 0 if self.act is None else self.until(self.act.terminus),
            },
        }

    def close(self) -> None:
        """The store is closed and its file is gone."""
        self.store.close()
        self.folder.cleanup()

    # The workers.

    def named(self, worker: int) -> str:
        """The worker's name in this life: another after each death."""
        return f"worker {worker} life {self.lives[worker]}"

    def until(self, instant: int) -> int:
        """What is left until the instant by the host's clock."""
        return max(instant - self.host_clock.now(), 0)

    def entered(self, worker: int, answer: Answer) -> str:
        """The worker keeps what it was told: its terminus, or its place as a waiter."""
        self.waits[worker] = answer if isinstance(answer, Waiting) else None
        if isinstance(answer, Granted | Reentered):
            self.termini[worker] = answer.expires_at
        return NAMES[type(answer)]

    def ask(self, worker: int) -> str:
        """The first step of a take."""
        return self.entered(worker, self.host.ask(self.key, self.named(worker), self.duration))

    def poll(self, worker: int) -> str:
        """A further step of a take."""
        waiting = self.waits[worker]
        assert waiting is not None, "a worker polls only while it waits"
        return self.entered(worker, self.host.poll(waiting))

    def try_take(self, worker: int) -> str:
        """A take that does not wait."""
        return self.entered(worker, self.host.try_take(self.key, self.named(worker), self.duration))

    def remaining(self, worker: int) -> int | None:
        """What is left of the worker's standing, as the host says."""
        return self.host.remaining(self.key, self.named(worker))

    def release(self, worker: int) -> str:
        """The worker gives the key back."""
        answer = self.host.release(self.key, self.named(worker))
        if isinstance(answer, Released):
            self.termini[worker] = None
        return NAMES[type(answer)]

    def mint(self, worker: int) -> int | None:
        """The worker sends an act; the answer is how far its instant is from now by the host's clock."""
        instant = self.host.mint(self.key, self.named(worker), self.allowance)
        if instant is None:
            return None
        terminus = self.termini[worker]
        self.act = ActInFlight(
            self.named(worker), instant, self.host_clock.now() if terminus is None else terminus
        )
        return instant - self.host_clock.now()

    # The rest of the world.

    def admit(self) -> str:
        """The act arrives at the judge."""
        act, self.act = self.act, None
        assert act is not None, "an act arrives only when one is in flight"
        return NAMES[type(self.judge.admit(self.key, act.worker, act.instant))]

    def die(self, worker: int) -> None:
        """The process is gone; one with a new name takes its place, and the host is told of the loss."""
        self.host.connection_lost(self.named(worker))
        self.lives[worker] += 1
        self.termini[worker] = None
        self.waits[worker] = None

    def pass_time(self) -> None:
        """One unit of time by both clocks."""
        self.host_clock.instant += 1
        self.judge_clock.instant += 1
