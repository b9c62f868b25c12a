"""Many processes in one: each an actor on a thread of its own, and one at a time runs, as a seed decides.

An actor runs until its next hook. There the seed decides whether it goes on, sleeps for a while or dies; then
another has its turn. Time passes only between turns. The same seed gives the same run.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

SECOND = 1_000_000


class Crash(BaseException):
    """The process is gone: nothing that it would have done any more happens."""


@dataclass
class Time:
    """The one true time, of which every clock is a little apart."""

    instant: int = 1_000_000_000 * SECOND

    def now(self) -> int:
        return self.instant


@dataclass
class Apart:
    """A clock that is ahead of the time by so much."""

    time: Time
    ahead: int

    def now(self) -> int:
        return self.time.instant + self.ahead


@dataclass
class Actor:
    """One process: what it does, and whether it sleeps, is dead, or is done."""

    name: str
    does: Callable[[], None]
    wakes_at: int = 0
    dead: bool = False
    done: bool = False
    trouble: BaseException | None = None
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@dataclass(frozen=True)
class Odds:
    """How often what goes wrong, at each hook."""

    crash: float = 0.01
    pause: float = 0.03
    longest_pause: int = 90 * SECOND


class Scheduler:
    """Gives the turns, and counts every fault that it brings about."""

    def __init__(self, seed: int, odds: Odds) -> None:
        self.rng = random.Random(seed)  # noqa: S311  chance that can be had again, and no secret
        self.odds = odds
        self.time = Time()
        self.actors: list[Actor] = []
        self.fired: Counter[str] = Counter()
        self.calm = False
        self._back = threading.Semaphore(0)
        self._turn = threading.local()

    # What an actor calls.

    def chance(self, probability: float, what: str) -> bool:
        """Whether this goes wrong now; counted if it does. Nothing does in calm, or outside an actor."""
        if self.calm or self.current is None or self.rng.random() >= probability:
            return False
        self.fired[what] += 1
        return True

    @property
    def current(self) -> Actor | None:
        found: Actor | None = getattr(self._turn, "actor", None)
        return found

    def hook(self) -> None:
        """Another may have its turn before the actor goes on, if it goes on at all."""
        actor = self.current
        if actor is None:
            return
        self.refuse_the_dead()
        if self.chance(self.odds.crash, "crash between two steps"):
            self.kill()
        if self.chance(self.odds.pause, "pause"):
            self.sleep(self.rng.randrange(self.odds.longest_pause))
        else:
            self._yield(actor)

    def refuse_the_dead(self) -> None:
        """What is dead does nothing more, whatever its program would do on its way out."""
        if self.current is not None and self.current.dead:
            raise Crash

    def kill(self) -> None:
        """The actor is gone here."""
        assert self.current is not None
        self.current.dead = True
        raise Crash

    def sleep(self, span: int) -> None:
        """So much time has passed for the actor."""
        actor = self.current
        if actor is None:
            self.time.instant += span
            return
        actor.wakes_at = self.time.instant + span
        self._yield(actor)

    def wait_until(self, instant: int) -> None:
        """A lease's waiter: it looks again at the instant, or a moment early."""
        self.sleep(max(instant - self.time.instant, 0))

    def _yield(self, actor: Actor) -> None:
        self._back.release()
        actor.go.acquire()
        self.refuse_the_dead()

    # What a test calls.

    def add(self, name: str, does: Callable[[], None]) -> None:
        """One more process."""
        self.actors.append(Actor(name, does))

    def run(self) -> None:
        """Every actor is done; whatever one failed with, other than its death, is raised."""
        threads = [threading.Thread(target=self._body, args=(actor,), daemon=True) for actor in self.actors]
        for thread in threads:
            thread.start()
        while any(not actor.done for actor in self.actors):
            waiting = [actor for actor in self.actors if not actor.done]
            ready = [actor for actor in waiting if actor.wakes_at <= self.time.instant]
            if not ready:
                self.time.instant = min(actor.wakes_at for actor in waiting)
                continue
            actor = self.rng.choice(ready)
            actor.go.release()
            self._back.acquire()
            self.between_turns()
        for thread in threads:
            thread.join()
        for actor in self.actors:
            if actor.trouble is not None:
                raise actor.trouble

    def between_turns(self) -> None:
        """A little time has passed, or none."""
        self.time.instant += self.rng.choice((0, 1_000, 50_000))

    def _body(self, actor: Actor) -> None:
        self._turn.actor = actor
        actor.go.acquire()
        try:
            actor.does()
        except Crash:
            pass
        except BaseException as trouble:  # noqa: BLE001  carried to the test's own thread
            actor.trouble = trouble
        actor.done = True
        self._back.release()
