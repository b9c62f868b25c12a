"""A deployment founded, used, swept and audited by its commands, with its own file, store and witness."""

import sqlite3
from pathlib import Path

import pytest

from command_line import Said, falsework
from falsework.runtime.clock import Clock
from falsework.runtime.examples.disclosure import Subset
from falsework.runtime.invocation import host as hosts
from test_invocation_commands import STEWARD, Site

pytestmark = pytest.mark.slow
AT = ("--at", "2001-09-09T01:50:00Z")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """One act that was committed and one that was not, both of callers that died, and a sweep past them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FALSEWORK_DISCLOSURES", str(tmp_path / "disclosures.db"))
    made = Site(tmp_path)

    def system_clock() -> Clock:
        return made.clock

    monkeypatch.setattr(hosts, "SystemClock", system_clock)
    text = made.path.read_text("utf-8")
    made.path.write_text(text.replace(*STEWARD), "utf-8")
    made.found()
    made.disclosed(committed=True)
    made.disclosed(committed=False, subset=Subset("subject-2", "auditor-1", "2026", "consent"))
    made.passes(40)
    assert falsework("sweep", "ledger.yaml").code == 0
    return made


def verdicts(said: Said) -> dict[str, str]:
    rows = [
        line.split("  ") for line in said.out.splitlines() if line[:1].isdigit() or line.startswith("Inv")
    ]
    return {row[0].strip(): next(cell for cell in row[1:] if cell.strip()).strip() for row in rows}


def test_what_the_commands_leave_behind_is_cleared(site: Site) -> None:
    said = falsework("audit", "ledger.yaml", *AT)
    assert said.code == 0, said.all
    found = verdicts(said)
    # A recovered outcome and an escalation without candidates; the steward's checkpoint covers all of it.
    cleared = {number for number, verdict in found.items() if verdict == "CLEARED"}
    assert {
        "1.1",
        "2.1",
        "2.3",
        "2.6",
        "3.1",
        "4.1",
        "5.1",
        "6.1",
        "8.1a",
        "8.1h",
        "Invariant 2.2",
    } <= cleared
    assert set(found.values()) == {"CLEARED", "VACUOUS"}
    assert "unwitnessed records  0\n" in said.out
    assert "6.4" not in cleared


def test_a_record_that_the_store_has_lost_since_is_missed(site: Site) -> None:
    with sqlite3.connect(site.folder / "disclosures.db") as store:
        (table,) = store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchone()
        store.execute(f"DELETE FROM {table}")
    store.close()
    said = falsework("audit", "ledger.yaml", *AT)
    assert said.code == 10
    assert "\n6.1 VIOLATED: the store says not-committed, and the outcome ledger.disclosed" in said.out


def test_a_journal_that_was_rolled_back_is_missed(site: Site) -> None:
    """The witness has seen the sweep's records; the copy was made before."""
    copy = site.folder / "before.db"
    journal = sqlite3.connect(site.folder / "ledger.db")
    try:
        journal.execute(f"VACUUM INTO '{copy}'")
    finally:
        journal.close()
    site.disclosed(committed=True, subset=Subset("subject-3", "auditor-1", "2026", "consent"))
    site.passes(40)
    assert falsework("sweep", "ledger.yaml").code == 0
    said = falsework("audit", "ledger.yaml", *AT, "--journal", str(copy))
    assert said.code == 10
    assert "\n8.1h VIOLATED: " in said.out
    assert "and the journal has" in said.out
