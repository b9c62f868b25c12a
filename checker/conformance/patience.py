"""Work on a subject in Python that hangs nobody: done on a thread of its own, and looked after from here.

Each call of the subject notes when it began. One that stays away for too long is left where it stands, on a
thread that ends with the process, and nothing more is asked of that subject. All calls are made on the one
thread, the making of the subject included, for some libraries bind a connection to a thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from falsework.conformance.subject import Subject, SubjectFault

T = TypeVar("T")

LOOKS = 5
"""How often it is looked in the time that a call may take."""


@dataclass
class Watch:
    """Which call is being made, and since when."""

    what: str = ""
    since: float | None = None

    def begins(self, what: str) -> None:
        """The call is being made from now on."""
        self.what, self.since = what, time.monotonic()

    def ends(self) -> None:
        """No call is being made."""
        self.since = None


def in_time(seconds: float, work: Callable[[Watch], T]) -> T:
    """What the work returns or raises. Raises SubjectFault once a call in it has lasted for too long."""
    watch = Watch()
    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(watch), None))
        except BaseException as problem:  # noqa: BLE001  whatever it is, it is raised where it is waited for
            done.put((None, problem))

    threading.Thread(target=run, daemon=True).start()
    while True:
        try:
            answer, problem = done.get(timeout=seconds / LOOKS)
        except Empty:
            since = watch.since
            if since is not None and time.monotonic() - since > seconds:
                raise SubjectFault(
                    f"{watch.what} has not returned within {seconds:g} s, and is left where it stands; "
                    "what has to take longer says so: write seconds = … in the class"
                ) from None
            continue
        if problem is not None:
            raise problem
        return cast(T, answer)


class Watched:
    """The subject, each of whose calls is noted; it is spoken to as any other."""

    def __init__(self, subject: Any, watch: Watch) -> None:
        self.model: str = subject.model
        self.surface: str = subject.surface
        self.refuses: Collection[str] = subject.refuses
        self.internal: Collection[str] = subject.internal
        self.refusals: tuple[type[Exception], ...] = subject.refusals
        self.unknowns: tuple[type[Exception], ...] = subject.unknowns
        self._subject: Subject = subject
        self._watch = watch

    def begin(self, constants: Mapping[str, object]) -> None:
        """The subject's own."""
        self._watch.begins("begin()")
        try:
            self._subject.begin(constants)
        finally:
            self._watch.ends()

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        """The subject's own."""
        self._watch.begins(f"perform({action!r})")
        try:
            return self._subject.perform(action, arguments)
        finally:
            self._watch.ends()

    def observe(self) -> Mapping[str, object]:
        """The subject's own."""
        self._watch.begins("observe()")
        try:
            return self._subject.observe()
        finally:
            self._watch.ends()

    def close(self) -> None:
        """The subject's own."""
        self._watch.begins("close()")
        try:
            self._subject.close()
        finally:
            self._watch.ends()
