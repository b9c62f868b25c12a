"""Processes of one machine, each on a thread of its own that stands still at its seams until told to go.

At most one of them runs, and only while whoever drives them waits for it: what they do is as deterministic
as their driver. A process that dies stands where it stood, and nothing of its program runs any more. Every
wait has an end, at which it tells where everybody stands.
"""

import sys
import threading
from collections.abc import Callable, Collection
from types import FrameType
from typing import Generic, TypeVar

PATIENCE = 30.0
"""Seconds that anybody waits for another: far longer than any step takes, and never for ever."""

T = TypeVar("T")
V = TypeVar("V")


class Gone(BaseException):
    """The process is dead: it is raised at every seam that its program would still pass on the way out."""


class Stuck(RuntimeError):
    """A process did not come to its next seam; the message tells where each one stands."""


class Crew:
    """All processes of one walk."""

    def __init__(self) -> None:
        self.actors: list[Actor[object]] = []

    def positions(self) -> str:
        """Where each of them stands."""
        return "; ".join(f"{actor.name} {actor.place}" for actor in self.actors) or "nobody is there"

    def dismiss(self) -> None:
        """None of them is there any more."""
        for actor in self.actors:
            actor.die()
        self.actors.clear()


class Actor(Generic[T]):
    """One process: its program, the seam at which it stands, what it has passed, and its result at last."""

    def __init__(self, crew: Crew, name: str, program: Callable[[], T]) -> None:
        self.crew, self.name, self.program = crew, name, program
        self.seam = "its start"
        self.passed: set[str] = set()
        self.ended = self.dead = False
        self.result: T | None = None
        self.trouble: BaseException | None = None
        self._passing: Collection[str] = ()
        self._frame: FrameType | None = None
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._thread = threading.Thread(target=self._body, name=name, daemon=True)
        crew.actors.append(self)  # type: ignore[arg-type]
        self._thread.start()

    @property
    def place(self) -> str:
        """Where it is, in a word."""
        if self.dead:
            return "is dead"
        return "has ended" if self.ended else f"stands at {self.seam}"

    # What the driver calls.

    def go(self, passing: Collection[str] = ()) -> bool:
        """It stands at the first seam that is not to be passed, or has ended; answers whether it stands."""
        self._passing = passing
        self._frame = None
        self._go.release()
        if not self._back.acquire(timeout=PATIENCE):
            raise Stuck(f"{self.name} runs on behind {self.seam} without an end; {self.crew.positions()}")
        if self.trouble is not None:
            trouble, self.trouble = self.trouble, None
            raise trouble
        return not self.ended

    def die(self) -> None:
        """Nothing of its program runs any more: it is raised out of the seam, and out of every other."""
        if self.ended or self.dead:
            return
        self.dead = True
        self._frame = None
        self._go.release()
        self._thread.join(timeout=PATIENCE)
        if self._thread.is_alive():
            raise Stuck(f"{self.name} does not end behind {self.seam}; {self.crew.positions()}")

    def remembers(self, local: str, kind: type[V]) -> V | None:
        """What stands in that local of the innermost function that has one of that type, where it stands."""
        frame = self._frame
        while frame is not None:
            if local in frame.f_code.co_varnames:
                value = frame.f_locals.get(local)
                if isinstance(value, kind):
                    return value
            frame = frame.f_back
        return None

    # What its program calls.

    def meets(self, seam: str) -> None:
        """The process stands at the seam until it may go on, if it may not just pass."""
        if self.dead:
            raise Gone
        if seam not in self._passing:
            self.seam = seam
            self._frame = sys._getframe(1)
            self._back.release()
            if not self._go.acquire(timeout=20 * PATIENCE):
                self.dead = True
            if self.dead:
                raise Gone
        self.passed.add(seam)

    def _body(self) -> None:
        if not self._go.acquire(timeout=20 * PATIENCE):
            return
        try:
            if not self.dead:
                self.result = self.program()
        except Gone:
            pass
        except BaseException as trouble:  # noqa: BLE001  carried to whoever drives
            self.trouble = trouble
        self.ended = True
        if not self.dead:
            self._back.release()
