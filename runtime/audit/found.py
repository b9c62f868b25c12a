"""What an audit finds: each check's verdict, how much it looked at, every violation by its records."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from falsework.runtime.audit.opened import Stored


class Verdict(Enum):
    """What becomes of one check; the first is the gravest."""

    VIOLATED = "VIOLATED"
    NOT_CHECKED = "NOT CHECKED"
    VACUOUS = "VACUOUS"
    CLEARED = "CLEARED"


@dataclass(frozen=True, slots=True)
class Named:
    """A record as a report names it."""

    seq: int
    event_id: str
    action_ref: str
    actor_ref: str
    recorded_at: int


def named(record: Stored) -> Named:
    """The record's names."""
    return Named(record.seq, record.event_id, record.action_ref, record.actor_ref, record.recorded_at)


@dataclass(frozen=True, slots=True)
class Violation:
    """What was found and what the rule wants, with the records that show it."""

    found: str
    wants: str
    records: tuple[Named, ...]


@dataclass(slots=True)
class Check:
    """One check under way."""

    number: str
    says: str
    looked_at: int = 0
    purged: int = 0
    exempt: int = 0
    not_applicable: int = 0
    violations: list[Violation] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    examined: list[Named] = field(default_factory=list)

    def looks_at(self, *records: Named) -> None:
        """One thing more is looked at: these records show it."""
        self.looked_at += 1
        self.examined += records

    def violated(self, found: str, wants: str, records: Iterable[Named]) -> None:
        """The rule does not hold of these records."""
        self.violations.append(Violation(found, wants, tuple(records)))

    @property
    def verdict(self) -> Verdict:
        """What becomes of the check; one that looked at nothing cleared nothing."""
        if self.violations:
            return Verdict.VIOLATED
        if self.not_checked:
            return Verdict.NOT_CHECKED
        if not self.looked_at:
            return Verdict.VACUOUS
        return Verdict.CLEARED


@dataclass(frozen=True, slots=True)
class Subject:
    """What was audited, and as of when."""

    deployment: str
    journal: str
    witness: str | None
    as_of: int
    read_from: str
    """Where the auditor's reading of the time comes from."""
    records: int
    intents: int
    purged: int
    unwitnessed: int


@dataclass(frozen=True, slots=True)
class Audit:
    """All that an audit found."""

    subject: Subject
    checks: tuple[Check, ...]
    external: tuple[tuple[str, str], ...]

    @property
    def verdict(self) -> Verdict:
        """The gravest; VACUOUS where there was not one intent to audit."""
        verdicts = {check.verdict for check in self.checks}
        for grave in (Verdict.VIOLATED, Verdict.NOT_CHECKED):
            if grave in verdicts:
                return grave
        return Verdict.CLEARED if self.subject.intents + self.subject.purged else Verdict.VACUOUS

    def check(self, number: str) -> Check:
        """The check of that number."""
        return next(check for check in self.checks if check.number == number)
