"""The commands that keep and verify a journal, and what becomes of an outage that no process lives through.

What is found is what was done to the database here; the exit codes are those of docs/cli.md.
"""

import json
from pathlib import Path

import apsw
import pytest

from command_line import falsework
from deployment_world import written
from falsework.runtime.commands import sweep
from falsework.runtime.invocation import host as hosts
from falsework.runtime.store import Store, StoreUnreachable
from test_invocation_commands import Site, counts, lines

pytestmark = pytest.mark.slow

ADMINISTRATOR = ("--administrator", "admin", "--credential-file", "admin.key")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.chdir(tmp_path)
    made = Site(tmp_path)
    for module in (hosts, sweep):
        monkeypatch.setattr(module, "SystemClock", lambda: made.clock)
    made.found()
    monkeypatch.setenv("FALSEWORK_DISCLOSURES", str(tmp_path / "disclosures.db"))
    return made


def tampered(site: Site, statement: str) -> None:
    """Somebody has the file, and takes its guards away."""
    connection = apsw.Connection(str(site.folder / "ledger.db"))
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement)
    connection.close()


def test_a_journal_is_verified_against_its_witness(site: Site) -> None:
    """Without a checkpoint nobody can tell whether records are gone from the end: no success."""
    blind = falsework("verify", "ledger.yaml")
    assert blind.code == 12
    assert blind.out.startswith("AS RECORDED, and NOT CHECKED for records that are gone\nchecked: 5 records")
    assert "ledger.witness holds no checkpoint" in blind.out
    kept = falsework("keep", "ledger.yaml", *ADMINISTRATOR)
    assert kept.all == "exit 0\n--- stdout\nplaced late: 0 times\npurged: 0 times\nwitnessed: 5 records\n"
    site.disclosed(committed=False)
    seen = falsework("verify", "ledger.yaml")
    assert (seen.code, seen.out.splitlines()[0]) == (0, "AS RECORDED")
    assert seen.out.endswith("not witnessed yet: the last 1 records, if they are all\n")
    document = json.loads(falsework("verify", "ledger.yaml", "--format", "json").out)
    assert (document["records"], document["tampered"], document["unwitnessed"]) == (6, False, 1)


@pytest.mark.parametrize(
    "statement, told",
    [
        ("UPDATE journal SET actor_ref = 'olga' WHERE seq = 6", "record 6: the record does not follow"),
        ("UPDATE journal SET payload = CAST('{}' AS BLOB) WHERE seq = 6", "record 6: the payload is not"),
        ("DELETE FROM journal WHERE seq >= 5", "the journal: the journal ends before a checkpoint"),
        ("UPDATE policy SET period = 5", "the journal: a derived table does not say"),
    ],
)
def test_what_was_tampered_with_is_named(site: Site, statement: str, told: str) -> None:
    assert falsework("keep", "ledger.yaml", *ADMINISTRATOR).code == 0
    site.disclosed(committed=False)
    tampered(site, statement)
    said = falsework("verify", "ledger.yaml")
    assert (said.code, said.out.splitlines()[0]) == (10, "TAMPERED")
    assert told in said.out


def test_another_witness_may_be_given(site: Site) -> None:
    assert falsework("keep", "ledger.yaml", *ADMINISTRATOR).code == 0
    (site.folder / "ledger.witness").rename(site.folder / "elsewhere")
    assert falsework("verify", "ledger.yaml", "--witness", "elsewhere").code == 0
    none = falsework("verify", "ledger.yaml", "--witness", "nowhere")
    assert (none.code, none.err) == (
        13,
        "falsework: --witness nowhere: is no file: give the one that a witness wrote\n",
    )


def test_an_administrator_keeps_a_journal_whose_nodes_have_no_steward(site: Site) -> None:
    """Past 7 days both records of the act are destroyed, and the log of the database is empty of them."""
    site.disclosed(committed=True)
    site.passes(40)
    assert counts(lines(falsework("sweep", "ledger.yaml"))[0])["closed"] == 1
    site.passes(7 * 24 * 3_600)
    assert falsework("keep", "ledger.yaml").code == 13
    assert "names no steward: give --administrator" in falsework("keep", "ledger.yaml").err
    assert falsework("keep", "ledger.yaml", "--administrator", "admin").code == 13
    kept = falsework("keep", "ledger.yaml", *ADMINISTRATOR)
    assert kept.out.splitlines()[1] == "purged: 1 times"
    assert b"subject-1" not in (site.folder / "ledger.db").read_bytes()
    assert not (site.folder / "ledger.db-wal").exists()
    assert falsework("verify", "ledger.yaml").code == 0
    other = (site.folder / "dana.key").read_text(encoding="utf-8")
    (site.folder / "admin.key").write_text(other, encoding="utf-8")
    assert falsework("keep", "ledger.yaml", *ADMINISTRATOR).code == 13


def test_an_outage_that_keeps_every_sweep_from_beginning_is_told_whole(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs, a process each, could not reach the server; the third one could, and tells of both."""
    assert falsework("sweep", "ledger.yaml").code == 0
    (held,) = site.folder.glob("ledger.yaml.*.held")

    def unreachable(*_: object, **__: object) -> Store:
        raise StoreUnreachable("cannot be reached")

    instants = []
    for _ in range(2):
        site.passes(60)
        with monkeypatch.context() as patch:
            patch.setattr(hosts, "opened_store", unreachable)
            said = falsework("sweep", "ledger.yaml")
        assert said.code == 13
        (line,) = lines(said)
        assert (line["event"], line["where"]) == ("findings held", held.name)
        instants.append(site.clock.now())
    site.passes(60)
    assert falsework("sweep", "ledger.yaml").code == 0
    (outage,) = json.loads(falsework("findings", "ledger.yaml", "--format", "json").out)["findings"]
    assert outage["finding"] == "journal-unavailable"
    assert (outage["first_seen"], outage["last_seen"]) == tuple(instants)
    assert outage["closed_at"] == site.clock.now()
    assert outage["detail"] == "cannot be reached; a run last had the register at 2001-09-09T01:46:40Z"


def test_a_server_that_nobody_here_has_reached_is_a_mistake_and_no_outage(site: Site) -> None:
    assert falsework("sweep", "ledger.yaml").code == 0
    written(site.folder, ("store: sqlite:ledger.db", "store: postgresql://nobody:secret@127.0.0.1:1/nothing"))
    said = falsework("sweep", "ledger.yaml")
    assert (said.code, said.out, "secret" in said.err) == (13, "", False)
    assert "127.0.0.1:1/nothing" in said.err


def test_a_held_line_that_is_none_is_not_lost(site: Site) -> None:
    assert falsework("sweep", "ledger.yaml").code == 0
    (held,) = site.folder.glob("ledger.yaml.*.held")
    held.write_text('["run", 1, false, [["no such", null, "x"]]]\n')
    said = falsework("sweep", "ledger.yaml")
    assert (said.code, said.out) == (13, "")
    assert said.err.startswith(f"falsework: {held.name}:1: is no finding that waits for its register")
