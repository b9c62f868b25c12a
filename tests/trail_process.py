"""A trail in processes of their own: writers beside each other, and one that is killed at a boundary.

Run as a program: `write KIND WHERE NUMBER` records and prints each event id; `kill KIND WHERE WITNESS` reads
lines of `BOUNDARY TIMES`, makes a child for each that lives until it has passed the boundary so often and is
killed there, and prints what the child had been answered; `crowd TIMES` is a child of eight threads that is
killed once so many records have been answered.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from falsework.runtime.store import Failpoint, pass_through
from falsework.runtime.store.postgres import PostgresStore
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Recorded
from falsework.runtime.trail.checkpoint import FileWitness, Notary
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward
from trail_world import ALICE, ROOT

RECORDS = 60


class Hurried:
    """A clock that begins at the present and goes on by half a retention at every reading."""

    def __init__(self) -> None:
        self.instant = time.time_ns() // 1_000

    def now(self) -> int:
        self.instant += 50
        return self.instant


def opened(kind: str, where: str, failpoint: Failpoint = pass_through) -> SharedStore:
    """The store, on a clock by which what was recorded is soon due to be destroyed."""
    clock = Hurried()
    if kind == "sqlite":
        return SqliteStore(Path(where), failpoint=failpoint, clock=clock)
    dsn, schema = where.split("|")
    return PostgresStore(dsn, schema=schema, failpoint=failpoint, clock=clock)


def write(kind: str, where: str, number: str) -> None:
    """So many records are made, each answered before it is printed."""
    with opened(kind, where) as store:
        trail = AuditTrail(store)
        for n in range(RECORDS):
            answer = trail.record_action("pay.x", "alice", ALICE, {"process": number, "n": n})
            assert isinstance(answer, Recorded), answer
            say(answer.event_id)


def live(kind: str, where: str, witness: str, failpoint: Failpoint, answered: int) -> None:
    """One of everything that a trail does, for as long as it lasts."""
    store = opened(kind, where, failpoint)
    trail = AuditTrail(store, failpoint=failpoint)
    steward = Steward(trail, "root", ROOT)
    notary = Notary(trail, ROOT, FileWitness(Path(witness)), failpoint)
    while True:
        for _ in range(2):
            answer = trail.record_action("pay.x", "alice", ALICE, {"pid": os.getpid()})
            assert isinstance(answer, Recorded), answer
            os.write(answered, f"{answer.event_id}\n".encode())
        fresh = public_key_of(fresh_credential())
        steward.register("carol", fresh)
        steward.revoke(fingerprint(fresh))
        prefix = f"kind{os.urandom(6).hex()}."
        trail.record_action(f"{prefix}x", "alice", ALICE, {})
        steward.declare_retention(prefix, 1_000_000)
        steward.place_late()
        steward.purge()
        trail.read_range(0, behind_writers=True)
        notary.checkpoint()


def killing(boundary: str, times: int) -> Failpoint:
    """The process is killed when it passes the boundary for so many times."""
    left = [times]

    def failpoint(passed: str) -> None:
        if passed == boundary:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return failpoint


def kill(kind: str, where: str, witness: str) -> None:
    """A child for each line, killed where the line says."""
    for line in sys.stdin:
        boundary, times = line.split()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            if boundary == "crowd":
                crowd(kind, where, int(times), writing)
            live(kind, where, witness, killing(boundary, int(times)), writing)
            os._exit(1)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            answered = pipe.read().split()
        _, status = os.waitpid(child, 0)
        say(f"{os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0} {' '.join(answered)}")


def crowd(kind: str, where: str, enough: int, answered: int) -> None:
    """Eight threads record without pause, until so many have been answered and the process is killed."""
    store = opened(kind, where)
    trail = AuditTrail(store)
    left = iter(range(enough, 0, -1))

    def record() -> None:
        while True:
            answer = trail.record_action("pay.x", "alice", ALICE, {"pid": os.getpid()})
            assert isinstance(answer, Recorded), answer
            os.write(answered, f"{answer.event_id}\n".encode())
            if next(left) == 1:
                os.kill(os.getpid(), signal.SIGKILL)

    threads = [threading.Thread(target=record) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    {"write": write, "kill": kill}[what](*arguments)
