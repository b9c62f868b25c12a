"""Where acts are executed: a file outside the journal that takes each execution down, and refuses none twice.

It is the adopter's constituent, as hostile as one may be: it knows no idempotency, so that a second execution
stands in it as a second line. It judges an act by its own clock where the act comes with a deadline.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.answers import (
    Committed,
    NotCommitted,
    Outcome,
    ProbeAnswer,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.use import ConstituentRefused
from falsework.runtime.store import Failpoint, pass_through
from reliability.account import Deed

SENT, APPLIED, REPLIED = "act.sent", "act.applied", "act.replied"
BOUNDARIES = (SENT, APPLIED, REPLIED)
"""What an act passes: not sent yet; applied, and not answered; answered."""

LATE = "late"
"""The constituent's code for an act that came at or past its deadline: nothing was executed."""


def outcome(kind: str, nonce: int) -> Outcome:
    """The outcome as both writers give it."""
    return Outcome(f"{kind}.paid", {"receipt": f"r-{nonce}"})


class Deeds:
    """The file, for any number of processes."""

    def __init__(self, path: Path, clock: Clock, failpoint: Failpoint = pass_through) -> None:
        self.path, self.clock, self.failpoint = path, clock, failpoint

    def execute(self, nonce: int, deadline: int | None, *, judged: bool = True) -> None:
        """The act is executed, durably; ConstituentRefused where its deadline has come."""
        self.failpoint(SENT)
        with self._locked() as file:
            now = self.clock.now()
            if judged and deadline is not None and now >= deadline:
                raise ConstituentRefused(LATE, f"it is {now}, and the deadline was {deadline}")
            os.write(file, f"{json.dumps([nonce, now])}\n".encode())
            os.fsync(file)
        self.failpoint(APPLIED)
        self.failpoint(REPLIED)

    def executed(self) -> list[Deed]:
        """Every execution, in order."""
        with self._locked():
            return [Deed(*json.loads(line)) for line in self.path.read_text("ascii").splitlines()]

    def probe(self, act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
        """What the file says of an intent, matched by its nonce and nothing else."""
        if self.path.with_suffix(".away").exists():
            return StoreUnavailable(f"the deeds are away, and {act_key} cannot be told")
        matching = [deed for deed in self.executed() if deed.nonce == payload["nonce"]]
        match matching:
            case []:
                return NotCommitted()
            case [deed]:
                recovered = outcome(str(payload["kind"]), deed.nonce)
                return Committed(recovered.action_ref, recovered.data)
        return Undecidable(tuple(f"r-{deed.nonce}/{deed.at}" for deed in matching))

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, while nobody else has it; the system drops the lock of a process that dies."""
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)
