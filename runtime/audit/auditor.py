"""One audit, whole: the file, the journal in one snapshot, every check, and the external ones by name."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from falsework.runtime.audit.accounts import Accounts
from falsework.runtime.audit.corroborated import Corroboration, NoProbe, Probe, probes_of
from falsework.runtime.audit.declared import Declared, read_declared
from falsework.runtime.audit.found import Audit, Check, Subject
from falsework.runtime.audit.judged import Records
from falsework.runtime.audit.opened import (
    Journal,
    NotAudited,
    Stored,
    opened_file,
    opened_server,
    read_witness,
)
from falsework.runtime.audit.sealed import NoNote, read_note
from falsework.runtime.audit.substrate import Substrate
from falsework.runtime.audit.timed import Times, read_register

Probes = Mapping[str, Probe | NoProbe | None]

EXTERNAL = (
    ("1", "a declared outage was surfaced with its begin and end, and what it held up was closed after it"),
    ("2", "the act's section is shared by every node, and is a lease of the declared length"),
    ("3", "closure latency, completion bound, read bound and run bound come from observed worst cases"),
    ("4", "the probe reads the store in which the act is made"),
    ("5", "without a service identity: what was surfaced was acted on through Resolve"),
    ("6", "the store honours its commit fence"),
    ("7", "each outcome envelope is the true maximum of what its kind writes"),
    ("8", "nobody but the protocol's actions uses the kinds' vocabulary"),
)
ORDER = (
    *("1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6"),
    *("3.1", "3.2", "3.3", "3.4", "3.5", "4.1", "5.1", "5.2", "5.3", "6.1", "6.2", "6.3", "6.4", "6.5"),
    *("7.1", "7.2"),
)
BESIDE = (
    "Invariant 2.2",
    "Invariant 2.3",
    "Invariant 5.6",
    "Invariant 5.7",
    "Invariant 5.8",
    "Invariant 9.3",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be audited: a deployment or a copy of its journal, as of when, and whether it is probed."""

    deployment: Path
    journal: Path | None = None
    witness: Path | None = None
    at: int | None = None
    probes: bool = True


def audit(asked: Asked, probes: Probes | None = None) -> Audit:
    """The audit; the probes are those that the deployment binds unless others are given."""
    declared = read_declared(asked.deployment)
    if not asked.probes:
        why = "the store was not asked (--no-probe)"
        probes = {name: NoProbe(f"{why}: probe of {name}") for name in declared.kinds}
    elif probes is None:
        probes = probes_of(declared)
    witness = asked.witness or declared.witness
    notes, missing = _notes(witness)
    with _opened(declared, asked) as journal:
        return audited(declared, journal, probes, notes, missing, witness, asked.at)


def _notes(witness: Path | None) -> tuple[list[tuple[str, str]], str | None]:
    """The notes that the witness holds, and why there are none."""
    if witness is None:
        return [], None
    if not witness.exists():
        return (
            [],
            f"{witness}: the witness's file is not there, so that nobody can tell what was taken off the end",
        )
    return [(f"{witness}:{line}", text) for line, text in read_witness(witness)], None


def _opened(declared: Declared, asked: Asked) -> AbstractContextManager[Journal]:
    if asked.journal is not None:
        return opened_file(asked.journal, None)
    if declared.store.startswith("sqlite:"):
        return opened_file(Path(declared.store.removeprefix("sqlite:")), time.time_ns() // 1_000)
    return opened_server(declared.store, f"{declared.path}: its postgresql store")


def audited(
    declared: Declared,
    journal: Journal,
    probes: Probes,
    notes: list[tuple[str, str]],
    missing: str | None = None,
    witness: Path | None = None,
    at: int | None = None,
) -> Audit:
    """The audit of an open journal."""
    substrate, accounts = Substrate(notes), Accounts(declared)
    substrate.expects(journal)
    for row in journal.rows():
        if isinstance(row, Stored):
            substrate.walk(row)
            accounts.note(row)
        else:
            substrate.malformed(row)
    reading, read_from = _reading(journal, accounts, notes, at)
    figures = declared.instance
    substrate.ends(journal, reading, figures.compensation_window + figures.clock_offset_allowance)
    if missing is not None:
        substrate.checks["h"].not_checked.append(missing)
    register = read_register(journal.place, journal.table("finding"), reading)
    checks = {
        **Records(accounts, substrate, reading).judge(),
        **Times(accounts, register, reading).judge(),
        **Corroboration(accounts, probes).judge(),
    }
    purged = sum(
        substrate.is_purged(seq) for seq, name in accounts.gone.values() if _is_intent(name.action_ref)
    )
    subject = Subject(
        str(declared.path),
        journal.place,
        None if witness is None else str(witness),
        reading,
        read_from,
        substrate.roots.size,
        len(accounts.by_event),
        purged,
        substrate.unwitnessed,
    )
    ordered: list[Check] = [checks[number] for number in ORDER]
    ordered += [*substrate.checks.values(), *(checks[number] for number in BESIDE)]
    return Audit(subject, tuple(ordered), EXTERNAL)


def _is_intent(action_ref: str) -> bool:
    return action_ref.endswith(".intended")


def _reading(
    journal: Journal, accounts: Accounts, notes: list[tuple[str, str]], at: int | None
) -> tuple[int, str]:
    """As of when the audit is: a copy shows nothing of what came after it, and says when that was."""
    if at is not None:
        return at, "given"
    if journal.now is not None:
        return max(journal.now, accounts.newest), "the clock of the journal's database"
    shown = [accounts.newest]
    shown += [value for row in journal.table("finding") for value in row[5:] if isinstance(value, int)]
    for _, text in [*notes, *(("", str(row[3])) for row in journal.table("checkpoint"))]:
        try:
            shown.append(read_note(text).taken_at)
        except NoNote:
            continue  # its own check tells of it
    return max(shown), "the newest instant that the copy shows"


__all__ = ["Asked", "NotAudited", "audit", "audited"]
