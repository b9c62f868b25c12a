"""Each mistake of a user's and each fault of a disk, at every command: told, and nothing written.

What is expected follows from docs/runtime.md and the commands' contract: a message that names the place, exit
code 13, no traceback, and a folder that holds to the byte what it held. The texts are golden.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from bad_input_site import (
    ALL,
    AT_THE_JOURNAL,
    COMMANDS,
    FOUND,
    Break,
    Site,
    copied,
    founded,
    rows,
    same_everywhere,
)
from command_line import falsework
from falsework.runtime.clock import SystemClock
from falsework.runtime.invocation.answers import Opened
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.host import credential_in, hosted
from falsework.runtime.invocation.log import JsonLines
from falsework.runtime.store.sqlite import SqliteStore

pytestmark = pytest.mark.slow

Golden = Callable[[str, str], None]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return founded(tmp_path_factory.mktemp("founded") / "site")


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Another deployment of the same kinds and names, with credentials of its own."""
    return founded(tmp_path_factory.mktemp("another") / "site")


@pytest.fixture
def site(first: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    made = copied(first, tmp_path / "site")
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("FALSEWORK_DISCLOSURES", str(made.folder / "disclosures.db"))
    return made


def statement(*statements: str) -> Break:
    """Somebody who has the file runs statements in it."""

    def run(site: Site) -> None:
        connection = apsw.Connection(str(site.journal))
        for one in statements:
            connection.execute(one)
        connection.close()

    return run


def put(name: str, content: bytes) -> Break:
    """A file holds something else."""
    return lambda site: (site.folder / name).write_bytes(content)


def directory(name: str) -> Break:
    """A folder stands where a file is expected."""

    def run(site: Site) -> None:
        (site.folder / name).unlink()
        (site.folder / name).mkdir()

    return run


def another_applications(site: Site) -> None:
    site.journal.unlink()
    statement("CREATE TABLE their_own (id INTEGER)", "INSERT INTO their_own VALUES (1)")(site)


def cut_short(site: Site) -> None:
    site.journal.write_bytes(site.journal.read_bytes()[:20_000])


def a_page_damaged(site: Site) -> None:
    content = bytearray(site.journal.read_bytes())
    content[8_192:12_288] = b"\x07" * 4_096
    site.journal.write_bytes(bytes(content))


def without_a_trail(site: Site) -> None:
    site.journal.unlink()
    SqliteStore(site.journal).close()


def without_credentials(site: Site) -> None:
    for name in ("admin.key", "olga.key", "ledger-reconciler.key"):
        (site.folder / name).write_text("correct horse battery staple\n", encoding="utf-8")


def another_actors_credentials(site: Site) -> None:
    for name in ("admin.key", "ledger-reconciler.key"):
        shutil.copy(site.folder / "dana.key", site.folder / name)


def edited(old: str, new: str) -> Break:
    """The deployment file says something else."""
    return lambda site: site.edited((old, new))


WITH_CREDENTIALS = ("found", "sweep", "resolve")
LOOKING = ("sweep", "invocations", "findings", "resolve")
STARTING = ("sweep", "resolve")

CASES: dict[str, tuple[Break, tuple[str, ...]]] = {
    "malformed_yaml": (put("ledger.yaml", b"store: [\n"), ALL),
    "not_utf8": (put("ledger.yaml", b"store: \xff\n"), ALL),
    "wrong_figure": (edited("run_bound: 135 s", "run_bound: 135 bananas"), ALL),
    "failing_condition": (edited("latency: 12 s", "latency: 5 s"), WITH_CREDENTIALS),
    "another_retention": (edited("retention_period: 7 d", "retention_period: 8 d"), WITH_CREDENTIALS),
    "no_credential": (without_credentials, WITH_CREDENTIALS),
    "another_actors_credential": (another_actors_credentials, WITH_CREDENTIALS),
    "unreadable_credential": (directory("ledger-reconciler.key"), WITH_CREDENTIALS),
    "unknown_kind": (edited("\n  ledger:\n", "\n  gift:\n"), STARTING),
    "no_such_probe": (edited("disclosure:probe", "disclosure:prob"), STARTING),
    "corrupt_database": (put("ledger.db", b"x" * 4_096), AT_THE_JOURNAL),
    "cut_database": (cut_short, AT_THE_JOURNAL),
    "damaged_page": (a_page_damaged, AT_THE_JOURNAL),
    "empty_database": (put("ledger.db", b""), AT_THE_JOURNAL),
    "foreign_database": (another_applications, AT_THE_JOURNAL),
    "newer_schema": (statement("PRAGMA user_version = 99"), AT_THE_JOURNAL),
    "directory_for_database": (directory("ledger.db"), AT_THE_JOURNAL),
    "missing_database": (lambda site: site.journal.unlink(), LOOKING),
    "no_trail": (without_a_trail, LOOKING),
    "no_witness": (put("ledger.witness", b"to be or not to be\n"), AT_THE_JOURNAL),
    "unreadable_witness": (directory("ledger.witness"), AT_THE_JOURNAL),
    "missing_server": (
        edited("sqlite:ledger.db", "postgresql://falsework:hidden@127.0.0.1:1/ledger"),
        AT_THE_JOURNAL,
    ),
    "no_server_name": (edited("sqlite:ledger.db", "postgresql://falsework:hidden@[::1"), AT_THE_JOURNAL),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_told_and_nothing_is_written(name: str, site: Site, golden: Golden) -> None:
    breaks, commands = CASES[name]
    breaks(site)
    told = site.refuses(commands)
    assert "hidden" not in told
    golden(f"bad_input/{name}", told)


def test_nothing_is_refused_where_nothing_is_broken(site: Site) -> None:
    """The control: the same commands on the same folder, whose codes are their own."""
    codes = {name: falsework(*arguments).code for name, arguments in COMMANDS.items()}
    assert codes == dict.fromkeys(COMMANDS, 0) | {"resolve": 10}  # nobody has opened such an act


def test_a_failing_condition_stops_no_look(site: Site) -> None:
    """What only reads goes on, and start-check answers with its own code."""
    site.edited(("latency: 12 s", "latency: 5 s"))
    codes = {name: falsework(*COMMANDS[name]).code for name in ("start-check", "invocations", "findings")}
    assert codes == {"start-check": 10, "invocations": 0, "findings": 0}


def test_a_finding_that_nobody_knows_is_told(site: Site, golden: Golden) -> None:
    statement("INSERT INTO finding VALUES ('a', 'eclipse', NULL, NULL, NULL, '', 'r', 1, NULL, NULL)")(site)
    golden("bad_input/unknown_finding", site.refuses(("findings",)))


def test_the_journal_of_another_deployment_is_told(site: Site, second: Site, golden: Golden) -> None:
    """By the witness; and where there is none, by the credentials that are nobody's there."""
    shutil.copy(second.journal, site.journal)
    told = site.refuses()
    (site.folder / "ledger.witness").unlink()
    golden("bad_input/another_journal", told + site.refuses(WITH_CREDENTIALS))


# Arguments, on an act that stands open.


def opened(site: Site) -> Opened:
    """An act whose process has died."""
    with hosted(read_deployment(site.folder / "ledger.yaml")) as host:
        instance = host.started(JsonLines(lambda _: None, SystemClock()))
        credential = credential_in(site.folder / "dana.key")
        answer = instance.open("ledger", "act-1", "dana", credential, {"disclosed_at": 7})
        assert isinstance(answer, Opened)
        instance.yield_act("ledger", "act-1", answer.invocation_id)
    return answer


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


DISPOSITIONS = {
    "oversize_outcome": ("--outcome", "ledger.disclosed", json.dumps({"text": "x" * 70_000})),
    "oversize_cause": ("--abandon", "x" * 70_000),
    "too_many_candidates": ("--escalate", *(f"candidate-{number}" for number in range(21))),
    "no_word_of_the_kind": ("--outcome", "ledger.eclipsed", "{}"),
    "no_exact_number": ("--outcome", "ledger.disclosed", '{"share": 0.5}'),
    "no_json": ("--outcome", "ledger.disclosed", "{"),
    "no_object": ("--outcome", "ledger.disclosed", "[]"),
    "no_end": ("--outcome", "ledger.disclosed", nested(100_000)),
}


def test_an_argument_that_is_none_is_told_and_nothing_is_written(site: Site, golden: Golden) -> None:
    act = opened(site)
    told = ""
    for disposition in DISPOSITIONS.values():
        before = rows(site.journal)
        text = site.says(
            *("resolve", "ledger.yaml", "ledger", "act-1", act.invocation_id, act.intent_event_id),
            *("--actor", "olga", "--credential-file", "olga.key", *disposition),
        )
        assert ("\nexit 13\n" in text, "Traceback" in text, len(text) < 1_000) == (True, False, True), text
        assert rows(site.journal) == before
        told += text
    golden("bad_input/resolutions", told)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("resolve_with_anothers", ("--actor", "olga", "--credential-file", "dana.key")),
        ("resolve_with_none", ("--actor", "olga", "--credential-file", "ledger.yaml")),
        ("resolve_as_nobody", ("--actor", "nobody", "--credential-file", "olga.key")),
        ("resolve_without_a_name", ("--actor", "", "--credential-file", "olga.key")),
    ],
)
def test_an_operator_without_the_right_credential_is_told(
    name: str, arguments: tuple[str, ...], site: Site, golden: Golden
) -> None:
    act = opened(site)
    before = rows(site.journal)
    text = site.says(
        *("resolve", "ledger.yaml", "ledger", "act-1", act.invocation_id, act.intent_event_id),
        *(*arguments, "--outcome", "ledger.disclosed", '{"id": "dsc-1"}'),
    )
    assert "\nexit 13\n" in text, text
    assert rows(site.journal) == before
    golden(f"bad_input/{name}", text)


FOUNDING = {
    "administrator_without_a_name": ("--administrator", "", "--credential-file", "admin.key"),
    "actor_without_a_name": (*FOUND[2:6], "--actor", "a\tb=fresh.key"),
    "one_credential_for_two": (*FOUND[2:6], "--actor", "erin=admin.key"),
    "no_place_for_a_credential": (*FOUND[2:6], "--actor", "erin=fresh.key", "--actor", "finn=no/such.key"),
    "no_credential_for_an_actor": (*FOUND[2:6], "--actor", "erin=ledger.yaml"),
}


@pytest.mark.parametrize("there", [True, False], ids=["founded", "not_founded"])
def test_what_cannot_be_founded_leaves_nothing(there: bool, site: Site, golden: Golden) -> None:
    told = ""
    for arguments in FOUNDING.values():
        if not there:
            (site.folder / "ledger.db").unlink(missing_ok=True)
        before = {name: content for name, content in site.holds().items() if name != "ledger.db"}
        journal = rows(site.journal) if there else None
        text = site.says("found", "ledger.yaml", *arguments)
        assert "\nexit 13\n--- stderr\n" in text, text
        assert {name: content for name, content in site.holds().items() if name != "ledger.db"} == before
        if there:
            assert rows(site.journal) == journal
        elif site.journal.exists():
            assert rows(site.journal)["journal"] == []
        told += text
    golden(f"bad_input/founding_{'again' if there else 'first'}", told)


def test_a_kind_that_is_not_bound_is_told(site: Site, golden: Golden) -> None:
    before = site.holds()
    told = site.says("invocations", "ledger.yaml", "gift")
    told += site.says("resolve", "ledger.yaml", "gift", *COMMANDS["resolve"][3:])
    assert told.count("\nexit 13\n--- stderr\n") == 2
    assert site.holds() == before
    golden("bad_input/unbound_kind", told)


def test_figures_that_cannot_be_published_are_told(site: Site, golden: Golden) -> None:
    text = site.says("sweep", "ledger.yaml", "--metrics", "no/where.prom")
    (site.folder / "taken").mkdir()
    text += site.says("sweep", "ledger.yaml", "--metrics", "taken")
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith('{"at"')]
    assert not list(site.folder.glob("*.new"))
    golden("bad_input/metrics", "".join(lines))


@pytest.mark.parametrize("runs", ["0", "-1", "two"])
def test_a_number_of_runs_is_one_or_more(runs: str, site: Site) -> None:
    said = falsework("sweep", "ledger.yaml", "--every-cadence", f"--runs={runs}")
    assert (said.code, said.out) == (2, "")
    assert f"'{runs}' is no number of runs: write 1 or more" in said.err


# Disks.

AS_NOBODY = """
import os, sys
from pathlib import Path
sys.path[:0] = sys.argv[2].split(os.pathsep)
from bad_input_site import AT_THE_JOURNAL, COMMANDS
import falsework.runtime.examples.disclosure
from command_line import falsework
os.chdir(sys.argv[1])
falsework("start-check", "ledger.yaml")  # all that is imported is imported while it may be read
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for command in AT_THE_JOURNAL:
    said = falsework(*COMMANDS[command])
    print(f"$ falsework {command}\\n{said.all}")
"""


@pytest.mark.parametrize("only_the_folder", [False, True], ids=["all_of_it", "the_folder"])
def test_a_disk_that_is_read_only_is_told(only_the_folder: bool, first: Site, golden: Golden) -> None:
    # A process that is root may write anywhere, so another one gives that up first; pytest's own directory
    # would hide the files from it.
    folder = Path(tempfile.mkdtemp(prefix="falsework-read-only-"))
    folder.chmod(0o755)
    site = copied(first, folder / "site")
    try:
        for path in site.folder.iterdir():
            path.chmod(0o666 if only_the_folder else 0o444)
        site.folder.chmod(0o555)
        before = site.holds()
        paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        answer = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(site.folder), paths],
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.count("\nexit 13\n") == len(AT_THE_JOURNAL), answer.stdout
        assert "Traceback" not in answer.stdout
        assert site.holds() == before
        name = "read_only_folder" if only_the_folder else "read_only_disk"
        golden(f"bad_input/{name}", same_everywhere(answer.stdout, site.folder))
    finally:
        site.folder.chmod(0o755)
        shutil.rmtree(folder)
