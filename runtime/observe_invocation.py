"""One act of Recoverable Invocation, logged under the names of the race's model.

Told are the takes of the section, the commit and its arm, what the store says to a probe, each write when it
is issued, and each record of the act that lands, whoever sent it; and what a caller, a run or an operator is
answered, if that tells in which of its steps the action ended. Time, deaths, gates and reads are for the
reader to put between.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    AlreadyAccounted,
    CloseAnswer,
    Closed,
    Committed,
    InvalidRequest,
    JournalUnavailable,
    LandedBy,
    NotCommitted,
    OpenAnswer,
    Opened,
    Position,
    ProbeAnswer,
    ReconcileAnswer,
    RecordingFailure,
    RefusalRecorded,
    RefuseAnswer,
    ResolveAnswer,
    Resolved,
    SectionUnavailable,
    StoreUnavailable,
    Tally,
    Undecidable,
)
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.parties import Parties, Probe
from falsework.runtime.invocation.records import Closing, Intent, noted
from falsework.runtime.invocation.section import ActSection, Standing, section_key
from falsework.runtime.observe import Happened, Plain, Recorder, Told
from falsework.runtime.trail.through import Through

RUNS = ("FIRST_RUN", "SECOND_RUN")
TAKES = {
    "INVOCATION": ("open_takes", "SECTION_UNAVAILABLE"),
    "FIRST_RUN": ("run_takes", "SKIPPED"),
    "SECOND_RUN": ("run_takes", "SKIPPED"),
    "OPERATOR": ("resolve_takes", "SECTION_UNAVAILABLE"),
}
ISSUES = {
    "INVOCATION": "close_issues",
    "FIRST_RUN": "run_issues",
    "SECOND_RUN": "run_issues",
    "OPERATOR": "resolve_issues",
}
PROBED: dict[type, str] = {
    Committed: "COMMITTED",
    NotCommitted: "NOT_COMMITTED",
    Undecidable: "UNDECIDABLE",
    StoreUnavailable: "UNAVAILABLE",
}
NOT_TOLD = Happened()


def _answered(action: str, answer: str, **arguments: Plain) -> Happened:
    return Happened(action, arguments, Told(answer))


def opening(answer: OpenAnswer) -> Happened:
    """In which step Open ended."""
    match answer:
        case Opened():
            return _answered("open_returns", "OPENED")
        case RecordingFailure(position=Position.INTENT | Position.OUTCOME as position):
            return _answered("open_returns", f"RECORDING_FAILURE_{position.name}")
        case JournalUnavailable():
            return _answered("open_reads", "JOURNAL_UNAVAILABLE", readable=False)
    return NOT_TOLD  # without the section: at its take, its read or its gate


def closing(answer: CloseAnswer | RefuseAnswer) -> Happened:
    """In which step Close or Refuse ended."""
    match answer:
        case Closed(landed_by=LandedBy.INVOCATION):
            return _answered("close_returns", "LANDED_BY_INVOCATION")
        case Closed(landed_by=who):
            return _answered("close_reads", f"LANDED_BY_{who.name}")
        case RefusalRecorded():
            return _answered("close_returns", "REFUSED")
        case AlreadyAccounted():
            return _answered("close_reads", "ALREADY_ACCOUNTED")
    return NOT_TOLD


def sweeping(run: str, answer: ReconcileAnswer) -> Happened:
    """What became of the act in that run, where it was closed by it."""
    match answer:
        case Tally(closed=1):
            return _answered("run_returns", "CLOSED", run=run)
        case Tally(abandoned=1):
            return _answered("run_returns", "ABANDONED", run=run)
        case Tally(escalated=1):
            return _answered("run_returns", "ESCALATED", run=run)
    return NOT_TOLD


def resolving(answer: ResolveAnswer) -> Happened:
    """In which step Resolve ended."""
    match answer:
        case Resolved():
            return _answered("resolve_returns", "RESOLVED")
        case SectionUnavailable():
            return _answered("resolve_takes", "SECTION_UNAVAILABLE")
        case AlreadyAccounted():
            return _answered("resolve_reads", "ALREADY_ACCOUNTED")
        case InvalidRequest(cause=cause) if cause is not None:
            return _answered("resolve_reads", cause.name)
    return NOT_TOLD


@dataclass
class ActLog:
    """The log of one act: whose answers are told, and what its journal shows."""

    recorder: Recorder
    kinds: dict[str, Kind]
    kind: str
    act_key: str
    authors: Mapping[str, str]  # by actor, how the model names who wrote a record
    after: int = 0  # the last number that the journal had given before the act
    taken_by: set[str] = field(default_factory=set)  # which processes have taken the act's section

    def opens(self, node: str, call: Callable[[], OpenAnswer]) -> OpenAnswer:
        """Open's answer, told."""
        return self.recorder.spanning(node, call, opening)

    def closes(self, node: str, call: Callable[[], CloseAnswer]) -> CloseAnswer:
        """Close's answer, told."""
        return self.recorder.spanning(node, call, closing)

    def refuses(self, node: str, call: Callable[[], RefuseAnswer]) -> RefuseAnswer:
        """Refuse's answer, told."""
        return self.recorder.spanning(node, call, closing)

    def sweeps(self, node: str, run: str, call: Callable[[], ReconcileAnswer]) -> ReconcileAnswer:
        """A run's answer, told where this act is all that it examined."""

        def told(answer: ReconcileAnswer) -> Happened:
            alone = isinstance(answer, Tally) and answer.examined == 1 and node in self.taken_by
            return sweeping(run, answer) if alone else NOT_TOLD

        return self.recorder.spanning(node, call, told)

    def resolves(self, node: str, call: Callable[[], ResolveAnswer]) -> ResolveAnswer:
        """Resolve's answer, told."""
        return self.recorder.spanning(node, call, resolving)

    def commits(self, node: str) -> None:
        """The act is on its way to the adopter's store, with the instant that was just minted."""
        self.recorder.happens(f"{node}: commit", "commits", {})

    def replied(self, node: str, arm: str) -> None:
        """What the store has replied to the commit, in the adopter's partition."""
        self.recorder.happens(f"{node}: commit", "commit_replies", {"arm": arm})

    def told(self, parties: Parties, who: str, node: str, *, lands: bool) -> Parties:
        """The same parties, in the hands of one process, which tell what it does with them.

        `lands` is for a journal that tells no landings itself.
        """
        section = ToldSection(parties.section, self, who, node)
        probes = {kind: self._probe(kind, probe, who, node) for kind, probe in parties.probes.items()}
        journal = ToldTrail(parties.trail, self, who, node, lands=lands)
        return replace(parties, section=section, trail=journal, probes=probes)

    def _probe(self, kind: str, probe: Probe | None, who: str, node: str) -> Probe | None:
        if probe is None or who not in RUNS or kind != self.kind:
            return probe
        asked = probe

        def told(act_key: str, payload: trail.Data) -> ProbeAnswer:
            answer = asked(act_key, payload)
            if act_key == self.act_key and type(answer) in PROBED:
                said: dict[str, Plain] = {"run": who, "probe": PROBED[type(answer)]}
                self.recorder.happens(f"{node}: probe", "run_probes", said)
            return answer

        return told

    def takes(self, who: str, node: str, call: Callable[[], bool]) -> bool:
        """A take of the act's section, told with its answer."""
        action, refused = TAKES[who]
        said: dict[str, Plain] = {"run": who} if who in RUNS else {}
        self.taken_by.add(node)
        return self.recorder.during(
            f"{node}: section", action, said, call, lambda taken: Told("PROCEED" if taken else refused)
        )

    def is_of_the_act(self, data: trail.Data) -> bool:
        """Whether a record's payload names the act."""
        return (data.get("kind"), data.get("act_key")) == (self.kind, self.act_key)

    def issues(self, who: str, node: str, action_ref: str) -> None:
        """A write of the act is on its way; a run's plan is no record that the model has."""
        last = action_ref.rpartition(".")[2]
        if last == "recovery_intended":
            return
        action = "open_issues" if last == "intended" else ISSUES[who]
        self.recorder.happens(f"{node}: journal", action, {"run": who} if who in RUNS else {})

    def lands(
        self, node: str, journal: trail.Trail, call: Callable[[], trail.RecordAnswer]
    ) -> trail.RecordAnswer:
        """A write, told as a landing if it lands."""
        return self.recorder.spanning(f"{node}: landing", call, lambda answer: self._landing(journal, answer))

    def landed(self, journal: trail.Trail, answer: trail.RecordAnswer) -> None:
        """A record that has landed in this moment is told."""
        happened = self._landing(journal, answer)
        if happened.action is not None:
            self.recorder.happens("journal", happened.action, {}, happened.told)

    def _landing(self, journal: trail.Trail, answer: trail.RecordAnswer) -> Happened:
        """A record with the act's closings up to it; one of another act, or the sweep's plan, is none."""
        if not isinstance(answer, trail.Recorded):
            return NOT_TOLD
        records = self._records(journal)
        found = [one for one in records if one.sequence_number <= answer.sequence_number]
        last = next((one for one in found if one.event_id == answer.event_id), None)
        if last is None:
            return NOT_TOLD
        closings: Plain = self._closings([one for one in found if isinstance(one, Closing)])
        seen: dict[str, Plain] = {"journal": closings} if isinstance(last, Closing) else {"intent_age": 0}
        return Happened("land", {}, Told(answered=False, observed=seen))

    def _records(self, journal: trail.Trail) -> list[Intent | Closing]:
        """The act's intents and closings."""
        found: list[Intent | Closing] = []
        after = self.after
        while True:
            page = journal.read_range(after)
            if not isinstance(page, trail.Page):
                return found
            for record in page.records:
                known = noted(record, self.kinds)
                named = isinstance(known, Intent | Closing) and (known.kind, known.act_key)
                if isinstance(known, Intent | Closing) and named == (self.kind, self.act_key):
                    found.append(known)
            after = page.cursor
            if page.complete:
                return found

    def _closings(self, found: list[Closing]) -> list[Plain]:
        places = {one.event_id: place for place, one in enumerate(found)}
        return [
            {
                "author": self.authors[one.actor_ref],
                "kind": one.sort.name,
                "names": places[one.supersedes[0]] if one.supersedes else None,
                "hidden": 0,
            }
            for one in found
        ]


class ToldSection(ActSection):
    """The section in the hands of one process; its takes are told."""

    def __init__(self, section: ActSection, log: ActLog, who: str, node: str) -> None:
        super().__init__(section.host, fenced=section.fenced)
        self.section, self.log, self.who, self.node = section, log, who, node

    def take(self, standing: Standing, duration: int) -> bool:
        if standing.key != section_key(self.log.kind, self.log.act_key):
            return self.section.take(standing, duration)
        return self.log.takes(self.who, self.node, lambda: self.section.take(standing, duration))

    def remaining(self, standing: Standing) -> int | None:
        return self.section.remaining(standing)

    def deadline(self, standing: Standing, allowance: int) -> int | None:
        return self.section.deadline(standing, allowance)

    def release(self, standing: Standing) -> None:
        self.section.release(standing)

    def wait(self, span: int) -> None:
        self.section.wait(span)


class ToldTrail(Through):
    """The journal in the hands of one process; what it issues is told."""

    def __init__(self, inner: trail.Trail, log: ActLog, who: str, node: str, *, lands: bool) -> None:
        super().__init__(inner)
        self.log, self.who, self.node, self.lands = log, who, node, lands

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        """The write is told, and then issued; and told again if it lands."""

        def write() -> trail.RecordAnswer:
            return self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)

        if not self.log.is_of_the_act(data):
            return write()
        self.log.issues(self.who, self.node, action_ref)
        return self.log.lands(self.node, self.inner, write) if self.lands else write()
