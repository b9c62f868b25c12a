"""A call of the runtime that stops where the world wants it to, and goes on when the world says so."""

import threading
from collections.abc import Callable

_running = threading.local()


class Gone(BaseException):
    """The process is no more: its call ends here, and does nothing on its way out."""


class Flow:
    """One call on a thread of its own; while it runs, whoever started it waits."""

    def __init__(self, does: Callable[[], object]) -> None:
        self._does = does
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._told: object = None
        self._gone = False
        self._answer: object = None
        self._trouble: BaseException | None = None
        self.waits_for: object = None  # what the call stopped at, while it stands still
        self.done = False
        self._thread = threading.Thread(target=self._body, daemon=True)
        self._thread.start()

    def go(self, told: object = None) -> None:
        """The call has gone on, told this, to its next stop or its end; what it raises is raised here."""
        self._told, self.waits_for = told, None
        self._go.release()
        self._back.acquire()
        if self.done:
            self._thread.join()
        if self._trouble is not None:
            raise self._trouble

    @property
    def answer(self) -> object:
        """What the call answered."""
        assert self.done, f"the call stands at {self.waits_for}"
        return self._answer

    def kill(self) -> None:
        """The process is gone, wherever its call stood."""
        if not self.done:
            self._gone = True
            self.go()

    def stop(self, what: object) -> object:
        """Called inside: the call stands still here; what it is told when it goes on."""
        self.waits_for = what
        self._back.release()
        self._go.acquire()
        if self._gone:
            raise Gone
        return self._told

    def _body(self) -> None:
        _running.flow = self
        self._go.acquire()
        try:
            if not self._gone:
                self._answer = self._does()
        except Gone:
            pass
        except BaseException as trouble:  # noqa: BLE001  carried to whoever waits for the call
            self._trouble = trouble
        self.done = True
        self._back.release()


def current() -> Flow | None:
    """The call on whose thread this is asked."""
    found: Flow | None = getattr(_running, "flow", None)
    return found
