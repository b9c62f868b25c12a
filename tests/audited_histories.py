"""Simulated histories, right and wrong, judged twice: by the auditor, and by the models with the truth.

The truth knows what the simulated store applied, what was destroyed when, and what notes were signed; of the
journal it reads the rows by itself. Verdicts are compared by the text's invariants, through its own map.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deployment_world import EXAMPLE
from falsework.conformance.invariants import Invariants
from falsework.conformance.projection import observed, projected
from falsework.definition import Definition, definition_of
from falsework.models.recoverable_invocation.race import FencelessStore, Main
from falsework.models.recoverable_invocation.records_supersession import Fenced
from falsework.runtime.audit.auditor import audited
from falsework.runtime.audit.declared import Declared, read_declared
from falsework.runtime.audit.found import Audit
from falsework.runtime.audit.opened import Stored, opened_file
from falsework.runtime.invocation.answers import Committed, Outcome, ProbeAnswer, StoreUnavailable
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.projection import Act, Deed, Snapshot, acts_of, race_snapshots, supersession_snapshots
from falsework.runtime.trail import Data, Fence, RecordAnswer, Recorded, ReplyLost
from falsework.runtime.trail.checkpoint import FileWitness, Notary
from falsework.runtime.trail.identity import signing_key
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import Steward
from falsework.trace import starts
from falsework.twins.runtime.audited import Bend, ImpatientSteward, sign_unread
from scheduler import SECOND, Odds, Scheduler
from simulated import CREDENTIALS, KIND, OUTCOME, Constituent, Journal, Plan, Simulation

MAPPED = {"1": {1}, "2": {2, 5}, "3": {4}, "4": {4}, "5": {5}, "6": {5}, "7": {7}, "8": {9}}
"""The text's map from its checks to the invariants that they decide; check 8 is of Invariant 9.1."""

JUDGED = {1, 2, 4, 5, 7, 9}
MOST = 6
"""Closings of one act that the models have room for; a history with more is told of, and not passed over."""

PERIOD = 7 * 24 * 3_600 * SECOND


class TwoRecords(Constituent):
    """A store that now and then keeps two records of one act, so that nobody can tell which is the act's."""

    def probe(self, act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
        answer = super().probe(act_key, payload)
        flickers = self.world.scheduler.chance(0.15, "a read of the store fails")
        return StoreUnavailable("by the seed") if flickers else answer

    def apply(self, datum: int, deadline: int | None) -> Outcome:
        try:
            return super().apply(datum, deadline)
        finally:
            applied = self.applied.get(datum)
            if applied and len(applied) == 1 and self.world.scheduler.chance(0.15, "a second record"):
                applied.append(applied[0])


class Lossy(Journal):
    """A journal that loses one request in seven."""

    def record_action(
        self, action_ref: str, actor_ref: str, credential: str, data: Data, *, fence: Fence | None = None
    ) -> RecordAnswer:
        if self.world.scheduler.chance(0.04, "request of a write lost"):
            return ReplyLost("0" * 32, "by the seed")
        answer = super().record_action(action_ref, actor_ref, credential, data, fence=fence)
        lost = isinstance(answer, Recorded) and self.world.scheduler.chance(0.04, "reply of a write lost")
        return ReplyLost(answer.event_id, "by the seed") if lost else answer  # type: ignore[union-attr]


@dataclass(frozen=True)
class Ending:
    """What an administrator does to the journal at last, and what of it was wrong."""

    destroyed: bool = False
    destroyed_intent: bool = False
    unread: bool = False


class History(Simulation):
    """One seed's run with, perhaps, one mistake in every instance."""

    parts = (Scheduler, TwoRecords, Lossy)

    def __init__(self, seed: int, path: Path, founded: Path, plan: Plan | None, bend: Bend | None) -> None:
        super().__init__(seed, path, founded, plan)
        self.scheduler.odds = Odds(crash=0.01, pause=0.02)
        self.bend = bend
        self.witness = FileWitness(path.with_suffix(".witness"))
        self.witness.path.unlink(missing_ok=True)
        self.ending = Ending()

    def node(self, name: str) -> Instance:
        instance = super().node(name)
        if self.bend is not None:
            self.bend(instance.parties)
        return instance

    # What administrators do at last.

    def ends(self, how: str | None, seed: int) -> None:
        """The journal is kept: rightly, or not."""
        trail = AuditTrail(self.store, None, self.seams)
        steward = ImpatientSteward(trail, "admin", CREDENTIALS["admin"])
        notary = Notary(trail, CREDENTIALS["admin"], self.witness)
        if how != "a notary that signs what it did not read":
            notary.checkpoint()
        if how == "a purge that forges absence":
            records = self.records()
            if records:
                chosen = records[seed % len(records)]
                steward.purge_at_once(chosen.sequence_number, chosen.event_id)
                intent = chosen.action_ref.endswith(".intended")
                self.ending = Ending(destroyed=True, destroyed_intent=intent)
        elif how == "a notary that signs what it did not read":
            key = signing_key(CREDENTIALS["admin"])
            assert key is not None
            sign_unread(trail.trail_id, trail_size(self), key, self.witness, self.store.now())
            self.ending = Ending(unread=True)
        elif seed % 5 == 0 and (records := self.records()):
            # Some are due, and others not: what a purge destroys is left out, and is no absence.
            self.scheduler.time.instant = records[len(records) // 2].recorded_at + PERIOD
            Steward(trail, "admin", CREDENTIALS["admin"]).purge()
            notary.checkpoint()

    def declared(self) -> Declared:
        """The deployment as its file would declare it."""
        base, figures, kind = declared_example(), self.deployment.figures, self.deployment.kinds[KIND]
        allowance = figures.clock_offset_allowance
        fenced = figures.journal_fence is not None
        instance = replace(base.instance, clock_offset_allowance=allowance, journal_fence=fenced)
        bound = replace(base.kinds[KIND], commit_fence=kind.fenced)
        return replace(base, instance=instance, kinds={KIND: bound})


def trail_size(run: History) -> int:
    with run.store.snapshot() as snapshot:
        ((size,),) = snapshot.execute("SELECT COUNT(*) FROM journal")
    assert isinstance(size, int)
    return size


def declared_example() -> Declared:
    return read_declared(EXAMPLE)


def picked(_: str, payload: Data) -> Committed:
    """What a sweep records that picks a candidate."""
    return Committed(OUTCOME, {"datum": payload["disclosed_at"]})


# The two verdicts.


@dataclass(frozen=True)
class Verdicts:
    """What the auditor and the models found, each with the invariants of the text that it is about."""

    auditor: Mapping[str, frozenset[int]]
    models: Mapping[str, frozenset[int]]
    audit: Audit

    @property
    def disagreements(self) -> list[str]:
        """What one of them found, and the other nothing that would be about the same invariant."""
        found = []
        for mine, others, who in (
            (self.auditor, self.models, "the auditor alone"),
            (self.models, self.auditor, "the models alone"),
        ):
            about = frozenset[int]().union(*others.values())
            found += [f"{who}: {name}" for name, numbers in mine.items() if not numbers & about]
        return found


def verdicts(run: History, path: Path) -> Verdicts:
    """Both, of one history that has ended."""
    declared, now = run.declared(), run.store.now()
    notes = [(f"note {number}", text) for number, text in enumerate(run.witness.held(), 1)]
    with opened_file(path, now) as journal:
        audit = audited(declared, journal, {KIND: run.constituent.probe}, notes)
        rows = list(journal.rows())
    auditor = {
        check.number: frozenset(numbers_of_check(check.number)) for check in audit.checks if check.violations
    }
    stored = [row for row in rows if isinstance(row, Stored)]
    assert len(stored) == len(rows)
    models: dict[str, frozenset[int]] = dict(truth(run, stored, declared, now))
    for act in acts_of(rows, declared).values():
        models |= dict(judged(act, run, declared, now))
    return Verdicts(auditor, models, audit)


def numbers_of_check(number: str) -> set[int]:
    if number.startswith("Invariant "):
        return {int(number.removeprefix("Invariant ").partition(".")[0])}
    return MAPPED[number.partition(".")[0]]


def numbers_of_sources(sources: tuple[str, ...]) -> frozenset[int]:
    named = [source.removeprefix("Invariant ") for source in sources if source.startswith("Invariant ")]
    return frozenset(int(number.partition(".")[0]) for number in named) & JUDGED


# The models.


class Judge:
    """One model's invariants over snapshots, each judged once for all that show the same."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.invariants = Invariants(definition)
        self.blank = next(starts(definition)).state
        self.numbers = {prop.name: numbers_of_sources(prop.source) for prop in definition.invariants}
        self.sorted = False

    def broken(self, snapshot: Snapshot) -> Iterator[tuple[str, frozenset[int]]]:
        """The invariants that are false, and what they are about."""
        if not self.sorted:
            self.invariants.sort(snapshot.keys(), actions=False)
            self.sorted = True
        seen = observed(self.definition, snapshot)
        if seen.odd:
            return  # an odd record has a rule of its own
        for name in self.invariants.broken_in(projected(self.definition, self.blank, seen)):
            if self.numbers[name]:
                yield name, self.numbers[name]


class Wide(Main):
    """Room for as many closings as any history has."""

    RECORDS = MOST


class WideFenceless(FencelessStore):
    """Likewise, of a store without a fence."""

    RECORDS = MOST


class WideFenced(Fenced):
    """Likewise."""

    CLOSINGS = MOST


RACE = {fence: Judge(definition_of(cls)) for fence, cls in ((True, Wide), (False, WideFenceless))}
SUPERSESSION = Judge(definition_of(WideFenced))


def judged(act: Act, run: History, declared: Declared, now: int) -> Iterator[tuple[str, frozenset[int]]]:
    """What the models say of one act; without a journal fence, only how its closings stand at last."""
    assert len(act.closings) <= MOST
    for odd in act.odd:
        yield f"{act.invocation_id}: {odd.rule}", numbers_of_odd(odd.rule)
    datum = act.payload.get("disclosed_at")
    applied = run.constituent.applied.get(datum, []) if isinstance(datum, int) else []
    ahead = run.store.now() - run.scheduler.time.now()
    deed = Deed(applied[0] + ahead if applied else None)
    fenced = declared.instance.journal_fence
    race = RACE[declared.kinds[KIND].commit_fence]
    for snapshot in race_snapshots(act, declared, now, deed):
        for name, numbers in race.broken(snapshot):
            if fenced or not numbers <= {2}:
                yield f"{act.invocation_id}: {name}", numbers
    snapshots = list(supersession_snapshots(act, WideFenced))
    for snapshot in snapshots if fenced else snapshots[-1:]:
        for name, numbers in SUPERSESSION.broken(snapshot):
            yield f"{act.invocation_id}: {name}", numbers


def numbers_of_odd(rule: str) -> frozenset[int]:
    return frozenset(MAPPED["2"]) if rule == "Check 2.2" else numbers_of_sources((rule,))


# The truth of the world.


def truth(
    run: History, rows: list[Stored], declared: Declared, now: int
) -> Iterator[tuple[str, frozenset[int]]]:
    """What no state of a model shows here: acts beside each other, windows, candidates, destruction."""
    lines = [Line(row) for row in rows if row.payload is not None and row.action_ref.startswith(f"{KIND}.")]
    gone = {row.event_id for row in rows if row.payload is None}
    lines = [line for line in lines if line.said.get("intent_event_id") not in gone]
    yield from at_once(lines)
    yield from late(run, lines, declared, now)
    for line in lines:
        recovered = line.said.get("recovery") is True and "resolved_by" not in line.said
        if line.word == "disclosed" and recovered:
            datum = line.said.get("datum")
            if len(run.constituent.applied.get(datum, [])) != 1:  # type: ignore[call-overload]
                yield f"{line.row.seq}: picked or invented", frozenset({5})
    if run.ending.destroyed:
        yield "a payload was destroyed before its time", frozenset({9})
    if run.ending.destroyed_intent:
        yield "an intent was destroyed before its time", frozenset({7})
    if run.ending.unread:
        yield "a note was signed unread", frozenset({9})


class Line:
    """A record with what it says."""

    def __init__(self, row: Stored) -> None:
        self.row = row
        self.word = row.action_ref.partition(".")[2]
        assert row.payload is not None
        self.said: dict[str, object] = json.loads(row.payload)

    @property
    def invocation(self) -> str:
        return str(self.said["invocation_id"])

    @property
    def closes(self) -> bool:
        return self.word in ("disclosed", "refused", "abandoned", "escalated")


def at_once(lines: list[Line]) -> Iterator[tuple[str, frozenset[int]]]:
    """Two intents of one act that stood open together."""
    standing: dict[object, set[str]] = {}
    for line in lines:
        act = standing.setdefault(line.said["act_key"], set())
        if line.closes:
            act.discard(line.invocation)
        elif line.word == "intended":
            if act - {line.invocation}:
                yield f"{line.invocation} was opened beside another", frozenset({2})
            act.add(line.invocation)


def late(
    run: History, lines: list[Line], declared: Declared, now: int
) -> Iterator[tuple[str, frozenset[int]]]:
    """Acts that were not closed in their window, as far as that has passed, and met no known outage."""
    window = declared.instance.compensation_window
    with run.store.snapshot() as snapshot:
        spans = snapshot.execute(
            "SELECT first_seen, CASE WHEN closed_at IS NULL THEN ? ELSE last_seen END FROM finding "
            "WHERE last_seen IS NOT NULL",
            (now,),
        )
    for line in lines:
        if line.word != "intended":
            continue
        closed = [one.row.recorded_at for one in lines if one.closes and one.invocation == line.invocation]
        deadline = line.row.recorded_at + window
        begun, allowance = line.row.recorded_at, declared.instance.clock_offset_allowance
        met = [
            span
            for span in spans
            if int(str(span[0])) <= deadline + allowance and begun <= int(str(span[1])) + allowance
        ]
        if not met and min(closed, default=now - allowance) > deadline:
            yield f"{line.invocation} was not closed in its window", frozenset({4})
