"""A writer in a process of its own that stops itself, as a paused machine would, before it writes or while.

Run as a program: `KIND WHERE CLOCK`; reads lines of `KEY FENCED PAUSE` and prints what became of its record.
"""

import os
import signal
import sys
from pathlib import Path

from falsework.runtime.clock import FileClock
from falsework.runtime.lease import Granted, LeaseHost
from falsework.runtime.store import Failpoint, pass_through
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Fence
from falsework.runtime.trail.journal import LOOKED, AuditTrail
from lease_world import Script
from trail_world import ALICE

LEASE = 30


def opened(kind: str, where: str, clock: FileClock, wait_ms: int) -> SharedStore:
    """The store, on a clock that the test moves; it waits no longer than this for another writer."""
    if kind == "sqlite":
        return SqliteStore(Path(where), busy_timeout_ms=wait_ms, clock=clock)
    dsn, schema = where.split("|")
    return PostgresStore(dsn, schema=schema, write_bound_ms=2 * wait_ms, clock=clock)


def closing(trail: AuditTrail, key: str, fence: Fence | None, failpoint: Failpoint = pass_through) -> str:
    """What became of a record that closes the act."""
    closer = AuditTrail(trail.store, None, None, failpoint)
    answer = closer.record_action("pay.done", "alice", ALICE, {"key": key, "by": os.getpid()}, fence=fence)
    return type(answer).__name__


def stop_here() -> None:
    """The process is stopped until another lets it go on."""
    os.kill(os.getpid(), signal.SIGSTOP)


def stop_inside(passed: str) -> None:
    """The process is stopped inside its transaction, with the store's lock."""
    if passed == LOOKED:
        stop_here()


def main() -> None:
    kind, where, clock_file = sys.argv[1:]
    with opened(kind, where, FileClock(Path(clock_file)), 150) as store:
        trail, host = AuditTrail(store), LeaseHost(store, store, Script())
        for line in sys.stdin:
            key, fenced, pause = line.split()
            granted = host.try_take(key, "paused", LEASE)
            assert isinstance(granted, Granted)
            fence = Fence(key, "paused", granted.expires_at) if fenced == "fenced" else None
            if host.remaining(key, "paused") is None:  # the gate
                said = "gated"
            elif pause == "before":
                stop_here()
                said = closing(trail, key, fence)
            else:
                said = closing(trail, key, fence, stop_inside)
            sys.stdout.write(f"{said}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
