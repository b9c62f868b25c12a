"""A lock as a model with its twins, and small implementations of it in memory: the gate's test ground.

By hand: the holder is nobody, 0 or 1, and `odd` says whether the number of grants is odd: 6 states. Two
takes in each make 12 transitions; in the 4 states with a holder, one release and one crash: 20 in all. A
release is disabled for both workers in the 2 states without a holder, for one in the 4 others: 8 refusals.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.conformance import runtime_twin
from falsework.language import (
    Below,
    Model,
    action,
    configuration,
    fault,
    implies,
    invariant,
    reachable,
    require,
    twin,
)

Answer = Enum("Answer", "TAKEN BUSY")
Worker = Annotated[int, Below("WORKERS")]


class Lock(Model):
    """One worker at a time holds the lock, and only it or its end frees it."""

    WORKERS: ClassVar[int] = 2

    holder: Worker | None = None
    odd: bool = False  # whether the number of grants is odd; no implementation shows it

    def may_free(self, worker: Worker) -> bool:
        return self.holder == worker

    @action
    def take(self, worker: Worker) -> Answer:
        if self.holder is not None:
            return Answer.BUSY
        self.holder = worker
        self.odd = not self.odd
        return Answer.TAKEN

    @action
    def free(self, worker: Worker) -> None:
        require(self.may_free(worker))
        self.holder = None

    @fault
    def crash(self, worker: Worker) -> None:
        require(self.holder == worker)
        self.holder = None

    @invariant(on=take)
    def nobody_takes_what_is_held(self, before: Self, answer: Answer) -> bool:
        return implies(answer is Answer.TAKEN, before.holder is None)

    @invariant(on=free)
    def only_the_holder_frees(self, before: Self, worker: Worker) -> bool:
        return before.holder == worker

    @invariant
    def grants_alternate(self, before: Self) -> bool:
        return implies(before.holder is None and self.holder is not None, self.odd != before.odd)

    @reachable
    def the_second_worker_holds(self) -> bool:
        return self.holder == 1


@configuration(holds=True)
class ThreeWorkers(Lock):
    """One more."""

    WORKERS = 3


@twin(breaks={Lock.only_the_holder_frees: 1})
class FreeByAnybody(Lock):
    """Whoever asks frees the lock, even where nobody holds it."""

    def may_free(self, worker: Worker) -> bool:
        return True


@twin(breaks={Lock.nobody_takes_what_is_held: 2})
class TakeThatSteals(Lock):
    """The lock is written without being read."""

    def take(self, worker: Worker) -> Answer:
        self.odd = self.odd != (self.holder is None)
        self.holder = worker
        return Answer.TAKEN


@twin(breaks={Lock.grants_alternate: 1, Lock.the_second_worker_holds: None})  # every grant is wrong
class GrantsUncounted(Lock):
    """The counter is forgotten."""

    def take(self, worker: Worker) -> Answer:
        if self.holder is not None:
            return Answer.BUSY
        self.holder = worker
        return Answer.TAKEN


# --- the implementation, which knows nothing of the model ---------------------------------------------------


class NotHolder(Exception):
    """The lock is another's, or nobody's."""


class TimedOut(Exception):
    """There was no answer in time."""


class LockServer:
    """A lock in memory."""

    def __init__(self) -> None:
        self.owner: str | None = None

    def take(self, name: str) -> bool:
        if self.owner is not None:
            return False
        self.owner = name
        return True

    def free(self, name: str) -> None:
        if self.owner != name:
            raise NotHolder(name)
        self.owner = None

    def session_ended(self, name: str) -> None:
        if self.owner == name:
            self.owner = None


class RightLock:
    """The lock server as its model's driver meets it."""

    model: ClassVar[str] = f"{__name__}:Lock"
    surface: ClassVar[str] = "a lock in memory"
    refuses: ClassVar[tuple[str, ...]] = ("free",)
    internal: ClassVar[tuple[str, ...]] = ()
    refusals: ClassVar[tuple[type[Exception], ...]] = (NotHolder,)
    unknowns: ClassVar[tuple[type[Exception], ...]] = (TimedOut,)
    server_class: ClassVar[type[LockServer]] = LockServer

    def begin(self, constants: Mapping[str, object]) -> None:
        self.server = self.server_class()

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        name = f"worker {arguments['worker']}"
        if action == "take":
            return "TAKEN" if self.server.take(name) else "BUSY"
        if action == "free":
            self.server.free(name)
        else:
            self.server.session_ended(name)
        return None

    def observe(self) -> Mapping[str, object]:
        owner = self.server.owner
        return {"holder": None if owner is None else int(owner.removeprefix("worker "))}

    def close(self) -> None:
        """Nothing was opened."""


class _StealingServer(LockServer):
    def take(self, name: str) -> bool:
        self.owner = name
        return True


# Two takes; a free of nobody's lock comes at the first step, but is refused as it should be.
@runtime_twin(breaks={Lock.nobody_takes_what_is_held: 2})
class StealingLock(RightLock):
    """The lock is written without being read."""

    server_class = _StealingServer
