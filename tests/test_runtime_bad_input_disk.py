"""A disk that is full from any write on, at every command: what was answered stands, the rest is nowhere.

The failing writes are injected below SQLite, which needs its exclusive locking for that, so one connection
does everything here. Where there is room again, the act is accounted for once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from bad_input_site import COMMANDS, Site, copied, founded, rows, same_everywhere
from command_line import Said, falsework
from falsework.runtime.clock import Clock, SystemClock
from falsework.runtime.examples.disclosure import SelectiveDisclosure, Subset
from falsework.runtime.invocation import host as hosts
from falsework.runtime.invocation.answers import Opened
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.host import credential_in, hosted
from falsework.runtime.invocation.log import JsonLines
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail.checkpoint import FileWitness
from falsework.runtime.trail.verify import verify
from invocation_world import HandClock, Waiter
from power_cut import Disk, OneConnectionStore, RecordedFiles

pytestmark = [
    pytest.mark.slow,
    # A file system written in Python raises where it closes, too; SQLite's own says nothing there.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

Golden = Callable[[str, str], None]
MANY, STRIDE = 500, 4
"""No command writes so often; of the writes, each fourth is made the first that fails."""

SUBSET = Subset("subject-1", "auditor-1", "2026", "consent")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Opened]:
    """A deployment with an act that has committed, and whose process died before it could close it."""
    site = founded(tmp_path_factory.mktemp("founded") / "site")
    at = SystemClock().now()
    disclosures = SelectiveDisclosure(site.folder / "disclosures.db")
    disclosures.record(SUBSET, at)
    disclosures.close()
    fields = {name: str(getattr(SUBSET, name)) for name in ("subject_ref", "recipient", "scope", "authority")}
    with hosted(read_deployment(site.folder / "ledger.yaml")) as host:
        instance = host.started(JsonLines(lambda _: None, SystemClock()))
        credential = credential_in(site.folder / "dana.key")
        answer = instance.open("ledger", SUBSET.act_key, "dana", credential, {**fields, "disclosed_at": at})
        assert isinstance(answer, Opened)
        instance.yield_act("ledger", SUBSET.act_key, answer.invocation_id)
    return site, answer


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    """A minute has passed since the act, so that a sweep examines it and an operator may abandon it."""
    clock = HandClock(SystemClock().now() + 60_000_000)

    def system_clock() -> Clock:
        return clock

    def system_waiter(_: Clock) -> Waiter:
        return Waiter(clock)

    monkeypatch.setattr(hosts, "SystemClock", system_clock)
    monkeypatch.setattr(hosts, "SystemWaiter", system_waiter)
    return clock


@contextmanager
def failing_from(nth: int | None) -> Iterator[Disk]:
    """Every write from the nth on fails, of every database of the process."""
    disk = Disk(fails_from=nth)
    files = RecordedFiles(disk)

    def exclusive(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")

    apsw.connection_hooks.append(exclusive)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(hosts, "SqliteStore", OneConnectionStore)
            yield disk
    finally:
        apsw.connection_hooks.remove(exclusive)
        files.unregister()


def arguments(command: str, act: Opened) -> tuple[str, ...]:
    """The command's own, on the act that stands open."""
    given = COMMANDS[command]
    if command != "resolve":
        return given
    return (*given[:3], SUBSET.act_key, act.invocation_id, act.intent_event_id, *given[6:])


def lost(before: dict[str, list[tuple[object, ...]]], site: Site) -> list[tuple[object, ...]]:
    """The records that the journal held before and holds no more."""
    return [row for row in before["journal"] if row not in rows(site.journal)["journal"]]


def sound(site: Site) -> bool:
    """Whether the journal is what was recorded, as its verifier says."""
    with SqliteStore(site.journal) as store:
        return verify(store, FileWitness(site.folder / "ledger.witness").held()).is_clean


def swept(site: Site, act: Opened, clock: HandClock) -> list[str]:
    """What stands of the act after one more sweep, on a disk with room and past every lease."""
    clock.instant += 60_000_000
    said = falsework("sweep", "ledger.yaml")
    assert said.code == 0, said.all
    with hosted(read_deployment(site.folder / "ledger.yaml")) as host:
        found = dict(host.keyed().every())[act.invocation_id]
        return [record.action_ref for record in found.closings]


def told_at(nth: int, command: str, site: Site, act: Opened) -> tuple[Said, bool]:
    """What the command says where every write from the nth on fails, and whether it came so far."""
    with failing_from(nth) as disk:
        said = falsework(*arguments(command, act))
        return said, disk.writes >= nth


@pytest.mark.parametrize("command", ["sweep", "resolve"])
def test_a_disk_that_is_full_at_any_write_is_told(
    command: str,
    first: tuple[Site, Opened],
    clock: HandClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
) -> None:
    """Full from the first write on it is bad input; later, a run may have its own code for what it left."""
    pristine, act = first
    monkeypatch.setenv(
        "FALSEWORK_DISCLOSURES", str(copied(pristine, tmp_path / "theirs").folder / "disclosures.db")
    )
    said, nth = None, 0
    for nth in range(1, MANY, STRIDE):
        site = copied(pristine, tmp_path / f"full-{nth}")
        monkeypatch.chdir(site.folder)
        before = rows(site.journal)
        said, reached = told_at(nth, command, site, act)
        if nth == 1:
            golden(f"bad_input/full_disk_{command}", same_everywhere(said.all, site.folder))
            assert (said.code, rows(site.journal)) == (13, before)
        assert said.code in {0, 10, 13}, said.all
        assert (lost(before, site), sound(site)) == ([], True)
        assert len(swept(site, act, clock)) == 1
        if not reached:
            break
    assert said is not None
    assert (nth > 3, nth < MANY - STRIDE, said.code) == (True, True, 0)


@pytest.mark.parametrize("command", ["invocations", "findings"])
def test_what_only_reads_needs_no_room(
    command: str, first: tuple[Site, Opened], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = copied(first[0], tmp_path / "full")
    monkeypatch.chdir(site.folder)
    before = rows(site.journal)
    said, _ = told_at(1, command, site, first[1])
    assert (said.code, said.err, rows(site.journal)) == (0, "", before)


def test_what_is_founded_on_a_disk_that_is_full_at_any_write_can_be_founded_again(
    first: tuple[Site, Opened], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    pristine, act = first
    for nth in range(1, MANY, STRIDE):
        site = copied(pristine, tmp_path / f"full-{nth}")
        monkeypatch.chdir(site.folder)
        for name in ("ledger.db", "ledger.witness", "olga.key"):
            (site.folder / name).unlink()
        before = site.holds()
        said, reached = told_at(nth, "found", site, act)
        if nth == 1:
            golden("bad_input/full_disk_found", said.all)
            assert (said.code, site.holds()) == (13, before)
        assert said.code in {0, 13}, said.all
        if said.code == 0:  # nothing but the emptying of the log was left to write
            assert rows(site.journal)["trail"] != []
        if not reached:
            break
        again = falsework(*COMMANDS["found"])
        assert (again.code, sound(site)) == (0, True), again.all
    assert (nth > 20, nth < MANY - STRIDE) == (True, True)
