"""The protocol between real processes on one store: killed at every boundary, and stopped too long.

Whatever a process was doing when it was killed, its act was executed at most once, and after a sweep it has
exactly one account, which tells what the store tells.
"""

import os
import secrets
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import invocation_process as process
from falsework.runtime.subjects.lease import in_memory
from falsework.runtime.trail import Page, Record
from falsework.runtime.trail.journal import AuditTrail
from invocation_process import KIND, SECOND, Place, Task
from stores import BOTH

pytestmark = pytest.mark.slow

TIMES = 1  # each passage is killed so often; tests/test_reliability_kills.py kills more
START = 1_000_000_000 * SECOND


@pytest.fixture(params=BOTH)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest) -> Iterator[Place]:
    """Fenced, unless a test asks for both."""
    with tempfile.TemporaryDirectory(prefix="falsework-processes-", dir=in_memory()) as folder:
        made = Place(
            kind, Path(folder), f"test_{secrets.token_hex(8)}", journal_fence=getattr(request, "param", True)
        )
        made.clock.move_to(START)
        process.founded(made)
        yield made
        if kind == "postgres":
            with psycopg.connect(os.environ["FALSEWORK_POSTGRES"], autocommit=True) as raw:
                raw.execute(f"DROP SCHEMA IF EXISTS {made.schema} CASCADE".encode())


def passes(place: Place, seconds: int) -> None:
    place.clock.move_to(place.clock.now() + seconds * SECOND)


def done(place: Place, task: Task) -> list[str]:
    """The process ended well; the boundaries that it passed."""
    assert process.ended(place, task) == 0
    return place.passed.read_text(encoding="ascii").splitlines()


def swept(place: Place) -> list[str]:
    """Every lease has ended, every intent is aged, and the sweep has run once."""
    passes(place, 100)
    return done(place, Task("sweep", "", 0))


def journal(place: Place) -> dict[str, list[Record]]:
    """Every record of each act, in order."""
    store = place.store(lambda _: None)
    page = AuditTrail(store).read_range(0)
    store.close()
    assert isinstance(page, Page)
    assert page.complete
    found: dict[str, list[Record]] = {}
    for record in page.records:
        if record.action_ref.startswith(f"{KIND}.") and record.data is not None:
            found.setdefault(str(record.data["act_key"]), []).append(record)
    return found


def closings(records: list[Record]) -> list[Record]:
    """The closings that no other names."""
    found = [record for record in records if not record.action_ref.endswith("intended")]
    named = {record.data.get("supersedes") for record in found if record.data is not None}
    return [record for record in found if record.event_id not in named]


def accounted(place: Place, acts: dict[str, int]) -> None:
    """Each act was executed at most once, and has exactly one account, of what was executed."""
    applied, records = place.applied(), journal(place)
    for key, datum in acts.items():
        times = applied.count(str(datum))
        assert times <= 1, f"{key} was executed {times} times"
        if key not in records:
            assert times == 0, f"{key} was executed and has no intent"
            continue
        words = [record.action_ref.removeprefix("ledger.") for record in records[key]]
        assert words.count("intended") == 1, (key, words)
        (closing,) = closings(records[key])
        assert (closing.action_ref == "ledger.disclosed") == bool(times), (key, words)


def killed_at_each(place: Place, does: str, passages: int, prepared: str) -> dict[str, int]:
    """A process that does this is killed at each passage, each on an act of its own that is prepared so."""
    acts: dict[str, int] = {}
    for number in range(passages * TIMES):
        if not prepared and number % passages == 0:
            swept(place)
        key, datum = f"{does}-{number}", 1_000 * len(does) + number
        acts[key] = datum
        if prepared:
            assert process.ended(place, Task(prepared, key, datum)) == -signal.SIGKILL
            passes(place, 100)
        task = Task(does, key, datum, killed_at=1 + number % passages)
        assert process.ended(place, task) == -signal.SIGKILL
        if prepared:
            swept(place)
    swept(place)
    return acts


def test_a_caller_is_killed_at_every_boundary(place: Place) -> None:
    clean = done(place, Task("disclose", "clean", 1))
    assert {"commit.issued", "commit.applied", "lease.take.durable", "trail.record.written"} <= set(clean)
    acts = killed_at_each(place, "disclose", len(clean), prepared="")
    accounted(place, acts | {"clean": 1})
    assert 0 < sum(place.applied().count(str(datum)) for datum in acts.values()) < len(acts)


def test_a_sweep_is_killed_at_every_boundary(place: Place) -> None:
    """The act has committed and its caller is dead: the sweep's two writes are interrupted everywhere."""
    assert process.ended(place, Task("die", "clean", 1)) == -signal.SIGKILL
    clean = swept(place)
    assert clean.count("trail.record.durable") == 2
    assert "findings.surface.durable" in clean
    acts = killed_at_each(place, "sweep", len(clean), prepared="die")
    accounted(place, acts | {"clean": 1})
    assert len(place.applied()) == len(acts) + 1


def test_an_operator_is_killed_at_every_boundary(place: Place) -> None:
    """The act has not committed; what the operator does not write, the sweep does."""
    task = Task("disclose", "clean", 1, killed_at=dying(place))
    assert process.ended(place, task) == -signal.SIGKILL
    passes(place, 100)
    clean = done(place, Task("resolve", "clean", 1))
    assert clean.count("trail.record.durable") == 1
    killed = task.killed_at
    acts: dict[str, int] = {"clean": 1}
    for number in range(len(clean) * TIMES):
        key = f"resolve-{number}"
        acts[key] = 100 + number
        opened = Task("disclose", key, acts[key], killed_at=killed)
        assert process.ended(place, opened) == -signal.SIGKILL
        passes(place, 100)
        interrupted = Task("resolve", key, acts[key], killed_at=1 + number % len(clean))
        assert process.ended(place, interrupted) == -signal.SIGKILL
        swept(place)
    accounted(place, acts)
    assert place.applied() == ["9"]


def dying(place: Place) -> int:
    """The passage at which a caller has written its intent, and has not begun to commit."""
    return done(place, Task("disclose", "measured", 9)).index("commit.issued") + 1


def stopped(pid: int) -> bool:
    """Whether the process stands still."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("place", [True, False], ids=["fenced", "fenceless"], indirect=True)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the system to tell who is stopped")
def test_a_caller_is_stopped_past_its_lease_before_it_writes(place: Place) -> None:
    """SIGSTOP between gate and write, the sweep meanwhile: the fence refuses what the gate let through."""
    doubled = 0
    for number in range(20 if place.journal_fence else 5):
        key, before = f"act-{number}", "ledger.disclosed"
        caller = process.started(place, Task("disclose", key, number, stops_before=before))
        assert caller.pid is not None
        while not stopped(caller.pid):
            assert caller.is_alive()
        swept(place)
        os.kill(caller.pid, signal.SIGCONT)
        caller.join(60)
        doubled += len(closings(journal(place)[key])) > 1
    assert place.applied() == [str(number) for number in range(number + 1)]
    assert (doubled == 0) is place.journal_fence
