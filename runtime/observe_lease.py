"""The lease host and the judge of one key, their verbs logged under the names of the lease's model.

Time is not logged, and no death is: whoever reads the log puts them between its lines. What is left of a
lease is told where the clock stood still during the call, for only then is it known at which instant the
answer was true.
"""

from collections.abc import Callable

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
from falsework.runtime.observe import Plain, Recorder, Told

NAMES: dict[type, str] = {
    Granted: "GRANTED",
    Reentered: "REENTERED",
    Waiting: "WAITING",
    Unavailable: "UNAVAILABLE",
    Released: "RELEASED",
    NotHeld: "NOT_HELD",
    Admitted: "ADMITTED",
    Late: "LATE",
}

Who = Callable[[str], int | None]
"""Which of the model's workers a holder is; None for one that the log leaves out."""


class ObservedHost(LeaseHost):
    """The host, each of whose verbs for the key is logged; a holder is a node of its own."""

    def __init__(self, host: LeaseHost, recorder: Recorder, key: str, who: Who, *, unit: int = 1) -> None:
        super().__init__(host.store, host.clock, host.waiter)
        self.host = host
        self.recorder = recorder
        self.key = key
        self.who = who
        self.unit = unit  # how much of the clock is one tick of the model
        self.minted_last: int | None = None

    def ask(self, key: str, holder: str, duration: int, **how: bool) -> Granted | Reentered | Waiting:
        worker = self._worker(key, holder)
        if worker is None:
            return self.host.ask(key, holder, duration, **how)
        before = self.clock.now()
        return self.recorder.during(
            holder, "ask", {"worker": worker},
            lambda: self.host.ask(key, holder, duration, **how),
            lambda answer: self._entered(worker, answer, before),
        )  # fmt: skip

    def poll(self, waiting: Waiting, **how: bool) -> Granted | Reentered | Waiting | Unavailable:
        worker = self._worker(waiting.key, waiting.holder)
        if worker is None:
            return self.host.poll(waiting, **how)
        before = self.clock.now()
        return self.recorder.during(
            waiting.holder, "poll", {"worker": worker},
            lambda: self.host.poll(waiting, **how),
            lambda answer: self._entered(worker, answer, before),
        )  # fmt: skip

    def try_take(self, key: str, holder: str, duration: int) -> Granted | Reentered | Unavailable:
        worker = self._worker(key, holder)
        if worker is None:
            return self.host.try_take(key, holder, duration)
        before = self.clock.now()
        return self.recorder.during(
            holder, "try_take", {"worker": worker},
            lambda: self.host.try_take(key, holder, duration),
            lambda answer: self._entered(worker, answer, before),
        )  # fmt: skip

    def remaining(self, key: str, holder: str) -> int | None:
        worker = self._worker(key, holder)
        if worker is None:
            return self.host.remaining(key, holder)
        return self.recorder.during(
            holder, "remaining", {"worker": worker},
            lambda: self.host.remaining(key, holder),
            lambda answer: Told(None if answer is None else self._ticks(answer)),
        )  # fmt: skip

    def release(self, key: str, holder: str) -> Released | NotHeld:
        worker = self._worker(key, holder)
        if worker is None:
            return self.host.release(key, holder)
        return self.recorder.during(
            holder, "release", {"worker": worker},
            lambda: self.host.release(key, holder),
            lambda answer: Told(NAMES[type(answer)]),
        )  # fmt: skip

    def mint(self, key: str, holder: str, allowance: int) -> int | None:
        """Told is how far the instant is from now, where the clock stood still."""
        worker = self._worker(key, holder)
        if worker is None:
            return self.host.mint(key, holder, allowance)
        before = self.clock.now()

        def told(instant: int | None) -> Told:
            self.minted_last = self.minted_last if instant is None else instant
            if instant is None:
                return Told(None)
            return Told(self._ticks(instant - before), answered=self.clock.now() == before)

        return self.recorder.during(
            holder, "mint", {"worker": worker}, lambda: self.host.mint(key, holder, allowance), told
        )

    def connection_lost(self, holder: str) -> None:
        self.host.connection_lost(holder)

    def _worker(self, key: str, holder: str) -> int | None:
        return self.who(holder) if key == self.key else None

    def _ticks(self, span: int) -> int:
        """The span in whole ticks, a part of one counted as one: what is not over is not 0."""
        return -(-span // self.unit)

    def _entered(self, worker: int, answer: Granted | Reentered | Waiting | Unavailable, before: int) -> Told:
        """The answer by its name, and what it says of time."""
        seen: dict[str, Plain] = {}
        if self.clock.now() == before:
            if isinstance(answer, Granted | Reentered):
                seen = {"holder": worker, "left": self._ticks(answer.expires_at - before)}
            elif isinstance(answer, Waiting):
                seen = {"waiting": {str(worker): max(self._ticks(answer.deadline - before), 0)}}
        return Told(NAMES[type(answer)], observed=seen)


class ObservedJudge(Judge):
    """The judge; logged is the act that was minted last, for the model has one act in flight."""

    def __init__(self, judge: Judge, host: ObservedHost, name: str = "judge") -> None:
        super().__init__(judge.store, judge.clock)
        self.judge = judge
        self.host = host
        self.name = name

    def admit(self, key: str, holder: str, instant: int) -> Admitted | Late:
        if key != self.host.key or instant != self.host.minted_last:
            return self.judge.admit(key, holder, instant)
        self.host.minted_last = None  # judged once
        return self.host.recorder.during(
            self.name, "admit", {},
            lambda: self.judge.admit(key, holder, instant),
            lambda answer: Told(NAMES[type(answer)]),
        )  # fmt: skip
