"""Logs of the lease: workers that take, act, wait, die and lose replies by a seed, on a real SQLite file.

A worker does one thing at a time, and whoever runs it says when. It gives the key back only once the act that
it sent under it has been judged, one that waits looks when its deadline has come, and acts never meet: that
is what the lease's model asks of workers.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from falsework.runtime.clock import Clock, Waiter
from falsework.runtime.lease import Judge, LeaseHost, Waiting
from falsework.runtime.observe import Header, Plain, Recorder, Sink, header_from
from falsework.runtime.observe_lease import ObservedHost, ObservedJudge
from falsework.runtime.store import Store, StoreError, StoreUnknown
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.subjects.lease import ActInFlight, HandClock, NoWaiter, in_memory

KEY = "the key"
LOST = 0.06
"""How often nobody knows whether a transaction has been committed."""


@dataclass
class Worker:
    """One worker: its life, and whether it waits."""

    number: int
    life: int = 1
    waiting: Waiting | None = None

    @property
    def name(self) -> str:
        """Another after each death."""
        return f"worker {self.number} life {self.life}"

    def dies(self) -> None:
        """One that knows nothing takes its place."""
        self.life += 1
        self.waiting = None


class LeaseWalk:
    """Workers, an act in flight and a clock around one host and one judge, whose verbs are logged."""

    def __init__(
        self,
        rng: random.Random,
        sink: Sink,
        header: Header,
        store: Store,
        *,
        host_class: Callable[[Store, Clock, Waiter], LeaseHost] = LeaseHost,
        judge_class: Callable[[Store, Clock], Judge] = Judge,
    ) -> None:
        self.rng = rng
        self.clock = HandClock(1_000)
        self.recorder = Recorder(sink, header)
        self.lease, self.allowance = header.number("LEASE"), header.number("ALLOWANCE")
        self.workers = [Worker(number) for number in range(header.number("WORKERS"))]
        host = host_class(store, self.clock, NoWaiter())
        self.host = ObservedHost(host, self.recorder, KEY, self.who)
        self.judge = ObservedJudge(judge_class(store, self.clock), self.host)
        self.act: ActInFlight | None = None
        self.on_its_way = False  # whether an act is just being sent or judged

    def who(self, holder: str) -> int | None:
        """The worker of that name, in whatever life."""
        return int(holder.split()[1])

    # What may happen next, each by itself.

    def works(self, worker: Worker) -> None:
        """The worker does one thing; of what its store failed in it knows nothing."""
        try:
            self._works(worker)
        except StoreError:
            worker.waiting = None

    def _works(self, worker: Worker) -> None:
        if worker.waiting is not None:
            self._entered(worker, self.host.poll(worker.waiting))
            return
        choice = self.rng.choice(("ask", "ask", "try", "remaining", "mint", "mint", "release"))
        if choice == "ask":
            self._entered(worker, self.host.ask(KEY, worker.name, self.lease))
        elif choice == "try":
            self._entered(worker, self.host.try_take(KEY, worker.name, self.lease))
        elif choice == "remaining":
            self.host.remaining(KEY, worker.name)
        elif choice == "mint":
            self._sends(worker)
        elif not self._waits_for_the_judge(worker):
            self.host.release(KEY, worker.name)

    def _waits_for_the_judge(self, worker: Worker) -> bool:
        """Whether its act is on its way under a lease that has not ended."""
        act = self.act
        return act is not None and act.worker == worker.name and act.terminus > self.clock.now()

    def _entered(self, worker: Worker, answer: object) -> None:
        worker.waiting = answer if isinstance(answer, Waiting) else None

    def _sends(self, worker: Worker) -> None:
        """The act is on its way, unless another is just sent or judged; of one before it no more is heard."""
        if self.on_its_way:
            return
        with self._alone():
            instant = self.host.mint(KEY, worker.name, self.allowance)
            if instant is not None:
                self.act = ActInFlight(worker.name, instant, instant + self.allowance)

    def arrives(self) -> None:
        """The act comes to the judge, who may fail to say whether it was in time; nobody asks again."""
        act = self.act
        if act is None or self.on_its_way:
            return
        with self._alone(), suppress(StoreError):
            try:
                self.judge.admit(KEY, act.worker, act.instant)
            finally:
                self.act = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No two acts meet in here, whoever dies."""
        self.on_its_way = True
        try:
            yield
        finally:
            self.on_its_way = False

    def dies(self, worker: Worker) -> None:
        """The host is told of the loss, or is not; another worker begins with nothing."""
        with suppress(StoreError):
            self.host.connection_lost(worker.name)
        worker.dies()

    def time_passes(self) -> bool:
        """A tick of the clock, unless somebody's last look is due."""
        due = any(w.waiting is not None and w.waiting.deadline <= self.clock.now() for w in self.workers)
        self.clock.instant += 0 if due else 1
        return not due

    def happens(self) -> None:
        """One of all these things."""
        what = self.rng.random()
        worker = self.rng.choice(self.workers)
        if what < 0.60:
            self.works(worker)
        elif what < 0.82:
            self.time_passes()
        elif what < 0.95:
            self.arrives()
        else:
            self.dies(worker)


def losing(seed: int, lines: Sequence[str], odds: float = LOST) -> Callable[[str], None]:
    """A failpoint at which, now and then, nobody knows whether the transaction is durable.

    Decided by the seed, how long the log is, and the boundary: not by how many others were passed.
    """

    def failpoint(boundary: str) -> None:
        chance = random.Random(f"{seed} {len(lines)} {boundary}")  # noqa: S311  chance that can be had again
        if boundary.endswith((".written", ".durable")) and chance.random() < odds:
            raise StoreUnknown(f"the reply of {boundary} is lost, by the seed")

    return failpoint


class LeaseLogs:
    """What the host and the judge log of themselves, while replies are lost and workers die."""

    model: ClassVar[str] = "falsework.models.lease:Lease"
    surface: ClassVar[str] = "observed"
    host_class: ClassVar[type[LeaseHost]] = LeaseHost
    judge_class: ClassVar[type[Judge]] = Judge
    walks: ClassVar[int] = 12
    steps: ClassVar[int] = 120

    def begin(self, header: Mapping[str, Plain]) -> None:
        """The logs are to be of this model, in these constants."""
        self.header = header_from(header)

    def logs(self) -> Iterator[tuple[str, list[str]]]:
        """One log a seed, each of a store of its own."""
        for seed in range(self.walks):
            yield f"walk {seed}", self.walked(seed)

    def walked(self, seed: int) -> list[str]:
        """The lines of one walk."""
        rng = random.Random(seed)  # noqa: S311  chance that can be had again, and no secret
        lines: list[str] = []
        with TemporaryDirectory(dir=in_memory()) as folder:
            store = SqliteStore(Path(folder) / "lease.db", failpoint=losing(seed, lines))
            try:
                walk = LeaseWalk(
                    rng,
                    lines.append,
                    self.header,
                    store,
                    host_class=self.host_class,
                    judge_class=self.judge_class,
                )
                for _ in range(self.steps):
                    walk.happens()
                walk.recorder.close()
            finally:
                store.close()
        return lines
