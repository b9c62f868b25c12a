"""A founded deployment to be broken in one way, and all that its commands say and leave behind then."""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

from command_line import falsework
from deployment_world import written

STEWARD = (
    "witness: ledger.witness",
    "witness: ledger.witness\nsteward:\n  actor: admin\n  credential_file: admin.key",
)
FOUND = (
    *("found", "ledger.yaml", "--administrator", "admin", "--credential-file", "admin.key"),
    *("--actor", "dana=dana.key", "--actor", "olga=olga.key"),
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "start-check": ("start-check", "ledger.yaml"),
    "found": FOUND,
    "sweep": ("sweep", "ledger.yaml"),
    "invocations": ("invocations", "ledger.yaml"),
    "findings": ("findings", "ledger.yaml"),
    "resolve": (
        *("resolve", "ledger.yaml", "ledger", "act-1", "INVOCATION", "INTENT"),
        *("--actor", "olga", "--credential-file", "olga.key", "--abandon", "quiet for a day"),
    ),
}
ALL = tuple(COMMANDS)
AT_THE_JOURNAL = ALL[1:]
"""The commands that open the journal; start-check reads the file alone."""

COMES_AND_GOES = ("-wal", "-shm", "-turn", "-next")
"""What an SQLite store keeps beside its file: locks, and a log that goes when the last one closes it."""


@dataclass(frozen=True)
class Site:
    """A folder with a deployment in it."""

    folder: Path

    @property
    def journal(self) -> Path:
        return self.folder / "ledger.db"

    def edited(self, *edits: tuple[str, str]) -> None:
        """The deployment file with each text replaced by another."""
        written(self.folder, STEWARD, *edits)

    def holds(self) -> dict[str, bytes | None]:
        """Everything in the folder, byte by byte."""
        return {
            str(path.relative_to(self.folder)): None if path.is_dir() else path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if not path.name.endswith(COMES_AND_GOES)
        }

    def says(self, *arguments: str) -> str:
        """What one command says, as a golden text holds it."""
        said = falsework(*arguments)
        shown = " ".join(one if one and " " not in one and len(one) < 60 else "…" for one in arguments)
        return same_everywhere(f"$ falsework {shown}\n{said.all}\n", self.folder)

    def refuses(self, commands: tuple[str, ...] = AT_THE_JOURNAL) -> str:
        """What each command says; all refuse their input, and none of them leaves anything behind."""
        before = self.holds()
        told = ""
        for command in commands:
            text = self.says(*COMMANDS[command])
            assert "\nexit 13\n--- stderr\nfalsework: " in text, text
            assert "Traceback" not in text
            assert self.holds() == before, command
            told += text
        return told


def same_everywhere(text: str, folder: Path) -> str:
    """The text without what differs from run to run: ids, ports and the folder."""
    text = text.replace(f"{folder}/", "")
    text = re.sub(r"\b[0-9a-f]{32}\b", "ID", text)
    text = re.sub(r"\.\d+\.new\b", ".PID.new", text)
    text = re.sub(r"\bport \d+", "port PORT", text)
    return re.sub(r"127\.0\.0\.1:\d+/", "127.0.0.1:PORT/", text)


def founded(folder: Path) -> Site:
    """A deployment, founded and swept once, so that its witness holds a note and every table is there."""
    folder.mkdir(parents=True, exist_ok=True)
    site = Site(folder)
    site.edited()
    before = Path.cwd()
    os.chdir(folder)
    try:
        for command in ("found", "sweep"):
            said = falsework(*COMMANDS[command])
            assert said.code == 0, said.all
    finally:
        os.chdir(before)
    return site


def copied(site: Site, folder: Path) -> Site:
    """The same deployment in another folder."""
    shutil.copytree(site.folder, folder)
    return Site(folder)


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every table of a database with all its rows, but for leases, which end by themselves."""
    connection = apsw.Connection(str(path))
    try:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        return {
            name: list(connection.execute(f'SELECT * FROM "{name}" ORDER BY 1'))
            for name in names
            if name != "lease"
        }
    finally:
        connection.close()


Break = Callable[[Site], object]
