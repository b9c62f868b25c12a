"""Checks 3 and 4, and what stamps show besides: windows, outages, edges, the conditions of instance start."""

from collections.abc import Iterator
from dataclasses import dataclass

from falsework.runtime.audit.accounts import ABANDONED, Accounts, Closing, Intent
from falsework.runtime.audit.declared import Bound, Declared
from falsework.runtime.audit.found import Check
from falsework.runtime.audit.opened import NotAudited, Row

SAYS = {
    "3.1": "each aged intent is closed within the compensation window",
    "3.2": "an intent of a kind that nobody binds any more is exempt",
    "3.3": "an intent whose window meets an outage on the register is exempt",
    "3.4": "what lies between two outages exempts nothing",
    "3.5": "without a service identity the register has each aged intent at risk within the window",
    "4.1": "the five conditions of instance start hold for each kind",
    "Invariant 5.7": "the sweep abandons nothing before the abandon edge",
    "Invariant 5.8": "an operator abandons only what is aged",
}
JOURNAL, STORE, AT_RISK = "journal-unavailable", "store-unavailable", "closure-at-risk"


@dataclass(frozen=True, slots=True)
class Outage:
    """A stretch of runs that could not read the journal, or a kind's store."""

    kind: str | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Register:
    """What the findings register says that a check reads."""

    outages: tuple[Outage, ...]
    at_risk: dict[str, int]
    """When each invocation was first surfaced as at risk."""


def read_register(place: str, rows: list[Row], reading: int) -> Register:
    """The register of the table's rows; an outage without an end lasts until the reading."""
    outages: list[Outage] = []
    at_risk: dict[str, int] = {}
    for row in rows:
        match row:
            case ("journal-unavailable" | "store-unavailable", str() | None as kind, None, None, _, *span):
                match span:
                    case [int() as first, int() as last, int() | None as closed]:
                        outages.append(Outage(kind, first, reading if closed is None else last))
                        continue
            case ("closure-at-risk", str(), str(), str() as invocation_id, _, int() as first, *_):
                at_risk[invocation_id] = min(first, at_risk.get(invocation_id, first))
                continue
            case ("binding duplicate" | "unbound-kind", *_):
                continue
        raise NotAudited(f"{place}: a finding is stored as {row}: use the release that wrote it")
    return Register(tuple(outages), at_risk)


class Times:
    """The accounts, held against the clock."""

    def __init__(self, accounts: Accounts, register: Register, reading: int) -> None:
        self.accounts = accounts
        self.declared = accounts.declared
        self.register = register
        self.reading = reading
        self.checks = {number: Check(number, says) for number, says in SAYS.items()}

    def judge(self) -> dict[str, Check]:
        """Every check, done."""
        for invocation_id, invocation in self.accounts.invocations.items():
            for intent in invocation.intents[:1]:
                closed = min((closing.name.recorded_at for closing in invocation.closings), default=None)
                self._closure(invocation_id, intent, closed, invocation.closings)
                for closing in invocation.closings:
                    if closing.sort == ABANDONED:
                        self._abandonment(intent, closing)
        for kind in self.declared.kinds.values():
            self._conditions(kind)
        return self.checks

    # Check 3.

    def _closure(
        self, invocation_id: str, intent: Intent, closed: int | None, closings: list[Closing]
    ) -> None:
        kind = self.declared.kinds.get(intent.kind)
        if kind is None:
            self.checks["3.2"].looks_at(intent.name)
            self.checks["3.2"].exempt += 1
            return
        figures, began = self.declared.instance, intent.name.recorded_at
        if began + kind.completion_bound + figures.clock_offset_allowance > self.reading:
            return  # in flight
        last = began + figures.compensation_window
        if kind.service_identity is None:
            self._at_risk(invocation_id, intent, closed, last)
            return
        met = [outage for outage in self.register.outages if self._meets(outage, intent.kind, began, last)]
        self.checks["3.1"].looks_at(intent.name)
        if closed is not None and closed <= last:
            return
        if closed is None and self.reading <= last + figures.clock_offset_allowance:
            self.checks["3.1"].not_applicable += 1  # its window has not ended
            return
        if met:
            self.checks["3.3"].looks_at(intent.name)
            self.checks["3.3"].exempt += 1
            self.checks["3.1"].exempt += 1
            return
        if self.register.outages:
            self.checks["3.4"].looks_at(intent.name)
        late = "nobody closed it" if closed is None else f"it was closed after {seconds(closed - began)}"
        found = f"{late}, and its window is {seconds(figures.compensation_window)}"
        records = [intent.name, *(closing.name for closing in closings[:1])]
        self.checks["3.1"].violated(found, SAYS["3.1"], records)

    def _meets(self, outage: Outage, kind: str, began: int, last: int) -> bool:
        """Whether the outage, by a run's clock, meets the window, by the journal's."""
        allowance = self.declared.instance.clock_offset_allowance
        concerns = outage.kind is None or outage.kind == kind
        return concerns and outage.first - allowance <= last and began <= outage.last + allowance

    def _at_risk(self, invocation_id: str, intent: Intent, closed: int | None, last: int) -> None:
        check, allowance = self.checks["3.5"], self.declared.instance.clock_offset_allowance
        check.looks_at(intent.name)
        if closed is not None and closed <= last:
            return
        seen = self.register.at_risk.get(invocation_id)
        if seen is not None and seen <= last + allowance:
            return
        if seen is None and self.reading <= last + allowance:
            check.not_applicable += 1
            return
        when = "is not on the register" if seen is None else "came on the register late"
        found = f"it stood open beyond its window, and {when} as {AT_RISK}"
        check.violated(found, SAYS["3.5"], (intent.name,))

    # What stamps show besides.

    def _abandonment(self, intent: Intent, closing: Closing) -> None:
        """By the journal's stamps: a clock that is ahead by the allowance reaches an edge so early."""
        kind = self.declared.kinds.get(intent.kind)
        if kind is None:
            return
        swept = closing.resolved_by is None
        check = self.checks["Invariant 5.7" if swept else "Invariant 5.8"]
        check.looks_at(closing.name)
        age = closing.name.recorded_at - intent.name.recorded_at
        least = kind.completion_bound + (self.declared.instance.clock_offset_allowance if swept else 0)
        if age < least:
            found = f"it was abandoned {seconds(age)} after its intent"
            check.violated(
                found, f"at least {seconds(least)} by the journal's clock", (intent.name, closing.name)
            )

    # Check 4.

    def _conditions(self, kind: Bound) -> None:
        check = self.checks["4.1"]
        for number, (says, value, bound, strict) in enumerate(conditions(self.declared, kind), start=1):
            check.looked_at += 1
            if value < bound or (strict and value == bound):
                relation = "above" if strict else "at least"
                found = f"condition {number} of {kind.name}: {says} is {seconds(value)}"
                check.violated(found, f"{relation} {seconds(bound)}", ())


def conditions(declared: Declared, kind: Bound) -> Iterator[tuple[str, int, int, bool]]:
    """The text's five conditions: a figure, its value, what it is compared with, and whether strictly."""
    of = declared.instance
    allowance, leased = of.clock_offset_allowance, kind.commit_fence or of.journal_fence
    yield (
        "compensation_window",
        of.compensation_window,
        kind.completion_bound + 2 * allowance + 2 * of.reconciliation_cadence + 3 * of.run_bound,
        True,
    )
    yield (
        "retention_period",
        kind.retention_period,
        kind.completion_bound + allowance + of.compensation_window,
        True,
    )
    yield (
        "completion_bound",
        kind.completion_bound,
        2 * (of.read_bound + of.journal_write_bound) + kind.commit_round_trip + (allowance if leased else 0),
        True,
    )
    holder = max(kind.completion_bound, of.closure_latency + of.journal_write_bound)
    yield "run_bound", of.run_bound, holder + of.closure_latency, False
    yield (
        "closure_latency",
        of.closure_latency,
        of.read_bound + 2 * of.journal_write_bound + kind.probe_round_trip,
        True,
    )


def seconds(microseconds: int) -> str:
    """The span in seconds, exactly."""
    whole, rest = divmod(abs(microseconds), 1_000_000)
    fraction = f".{rest:06}".rstrip("0") if rest else ""
    return f"{'-' if microseconds < 0 else ''}{whole}{fraction} s"
