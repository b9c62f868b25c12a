"""Runtimes of the race that are wrong on purpose, whose mistake shows where several writers meet.

Their graphs are too large to be driven whole: each names a path on which it breaks what it declares, and the
numbers count that path's steps.
"""

from typing import ClassVar

from falsework.conformance.subject import runtime_twin
from falsework.models.recoverable_invocation.race import Race
from falsework.runtime import trail
from falsework.runtime.invocation.answers import Closed, LandedBy
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Closing, Noted
from falsework.runtime.invocation.section import Standing
from falsework.runtime.subjects.race import TogetherSubject
from falsework.runtime.subjects.race_parts import Mailbox, Section
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always

DRIVEN = "falsework.models.recoverable_invocation.race_driven:"

OPENED = (
    """open_takes() open_reads(yes) open_gates() open_issues() land(INVOCATION) open_returns() commits()"""
)
AGED = "pass_time() pass_time() pass_time() pass_time()"


def run(name: str, probe: str) -> str:
    """A run's way from its start to its closing's landing."""
    steps = f"run_takes(X) run_reads(X) run_probes(X, {probe}) run_gates(X) run_issues(X) land(X)"
    return steps.replace("X", name)


def resolved(disposition: str) -> str:
    """The operator's way from the call to the closing's landing."""
    steps = "resolve_takes() resolve_reads(yes) resolve_gates() resolve_issues() land(OPERATOR)"
    return f"resolve_calls({disposition}) {steps}"


@runtime_twin(breaks={Race.no_two_closings_stand: 28, Race.two_runs_never_close_one_act: 28})
class RunWithoutReRead(TogetherSubject):
    """A run that has waited for the section does not look whether another has closed the act."""

    model = f"{DRIVEN}DrivenTwoRuns"
    bends = (Bend("invocation.closing:Sweep", "_closed_by_another", always(False)),)
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(UNKNOWN) {AGED} run_starts(FIRST_RUN) run_starts(SECOND_RUN)",
            f"{run('SECOND_RUN', 'COMMITTED')} run_returns(SECOND_RUN, no) {run('FIRST_RUN', 'COMMITTED')}",
        )
    )


@runtime_twin(breaks={Race.no_two_closings_stand: 27})
class ResolveThatNamesNothing(TogetherSubject):
    """A resolution says who resolved, and not what it resolves."""

    bends = (Bend("invocation.resolve", "superseding", always({})),)
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(UNKNOWN) {AGED} run_starts(FIRST_RUN)",
            f"{run('FIRST_RUN', 'UNDECIDABLE')} run_returns(FIRST_RUN, no) {resolved('OUTCOME')}",
        )
    )


def _first(_: Right) -> Right:
    def unsuperseded(closings: list[Closing]) -> list[Closing]:
        return closings[:1]

    return unsuperseded


@runtime_twin(breaks={Race.no_two_closings_stand: 34, Race.no_closing_is_superseded_twice: 34})
class ResolveThatNamesTheFirst(TogetherSubject):
    """A resolution names the first closing of the act, and not the one that stands."""

    model = f"{DRIVEN}DrivenTwoCalls"
    bends = (Bend("invocation.resolve", "unsuperseded", _first),)
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(UNKNOWN) {AGED} run_starts(FIRST_RUN)",
            f"{run('FIRST_RUN', 'UNDECIDABLE')} run_returns(FIRST_RUN, no) {resolved('ESCALATED')}",
            f"resolve_returns() {resolved('OUTCOME')}",
        )
    )


class _ReadsOnce(Indexes):
    def refresh(
        self, *, behind_writers: bool = False, bounded: bool = False
    ) -> list[Noted] | trail.Unavailable | trail.InvalidQuery:
        if isinstance(self.trail, Mailbox) and self.trail.process.who == "OPERATOR" and self.maps.mark:
            return []
        return super().refresh(behind_writers=behind_writers, bounded=bounded)


@runtime_twin(breaks={Race.no_two_closings_stand: 20})
class ResolveThatReadsFirst(TogetherSubject):
    """The records are read while the operator waits for the section."""

    indexes_class = _ReadsOnce
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(COMMITTED) resolve_calls(OUTCOME) close_gates()",
            "close_reads(yes) close_issues() land(INVOCATION) close_returns(no)",
            resolved("OUTCOME").partition(" ")[2],
        )
    )

    def resolving(self) -> object:
        self.parties["OPERATOR"].indexes.refresh()
        return super().resolving()

    def resolve_calls(self, disposition: str) -> None:
        self.calls += 1
        process = self.starts("OPERATOR", self.resolving)
        process.disposition, process.accounted = disposition, self.view.is_accounted()
        self.goes("OPERATOR", "clock", "read")


def _anything(_: Right) -> Right:
    def adopted(closing: Closing) -> Closed:
        return Closed(closing.event_id, LandedBy.SWEEP)

    return adopted


@runtime_twin(breaks={Race.an_adopted_closing_is_there: 22})
class CloseThatAdoptsAnything(TogetherSubject):
    """Whatever closing is found is taken for the outcome, an escalation too."""

    bends = (Bend("invocation.close", "_adopted", _anything),)
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(COMMITTED) close_gates() {AGED} run_starts(FIRST_RUN)",
            f"{run('FIRST_RUN', 'UNDECIDABLE')} close_reads(yes)",
        )
    )


class _AsWhoeverHoldsIt(Section):
    """A run that finds the section held goes on in the holder's name."""

    def take(self, standing: Standing, duration: int) -> bool:
        return super().take(standing, duration) or self.process.who.endswith("_RUN")

    def remaining(self, standing: Standing) -> int | None:
        left = super().remaining(standing)
        row = self.host.recorded(standing.key)
        return self.host.left(row.expires_at) if left is None and row is not None else left


def _in_the_holders_name(right: Right) -> Right:
    def fence(parties: Parties, standing: Standing) -> trail.Fence | None:
        row = parties.section.host.recorded(standing.key)
        minted: trail.Fence | None = right(parties, standing)
        return minted if minted is None or row is None else trail.Fence(row.key, row.holder, minted.terminus)

    return fence


@runtime_twin(
    breaks={
        Race.a_run_is_granted_a_whole_lease: 17,
        Race.a_run_passes_its_gate_in_time: 20,
        Race.a_closing_lands_under_its_writers_lease: 22,
    }
)
class ClosingUnderAnothersLease(TogetherSubject):
    """A run that finds the section held closes the act under the lease of whoever holds it."""

    section_class = _AsWhoeverHoldsIt
    bends = (Bend("invocation.journal", "_fence", _in_the_holders_name),)
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(UNKNOWN) {AGED} run_starts(FIRST_RUN) resolve_calls(OUTCOME)",
            f"resolve_takes() {run('FIRST_RUN', 'COMMITTED')}",
        )
    )


def _as_it_was(_: Right) -> Right:
    def kept(run: object) -> list[object]:
        found: list[object] = [
            intent
            for known in run.parties.indexes.every_invocation()  # type: ignore[attr-defined]
            for intent in known[1].intents
        ]
        return found

    return kept


@runtime_twin(breaks={"answer": 22})
class RunFromAStaleList(TogetherSubject):
    """A run goes through the intents that were ever open, whatever has closed them since."""

    bends = (Bend("invocation.reconcile:_Run", "_kept", _as_it_was),)
    path: ClassVar[str] = " ".join(
        (
            f"{OPENED} apply() commit_replies(UNKNOWN) {AGED} run_starts(FIRST_RUN)",
            f"{run('FIRST_RUN', 'COMMITTED')} run_returns(FIRST_RUN, no) run_starts(FIRST_RUN)",
        )
    )
