"""What the journal says of every act: maps that are derived from it, and can be rebuilt from nothing else.

Every read takes what lies above the mark. The mark moves past a number only when nothing can land below it
any more: when the settle bound had passed since it was recorded as the read was issued, or at once where the
journal numbers its records in the order in which they become visible. What is read twice is noted once.
"""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.figures import Figures, Kind
from falsework.runtime.invocation.records import (
    Closing,
    Intent,
    Noted,
    RecoveryIntended,
    Sort,
    noted,
)
from falsework.runtime.invocation.terms import retention_end
from falsework.runtime.trail import InvalidQuery, Page, Record, Trail, Unavailable

FOR_EVER = 2**63 - 1
"""The last instant that a store can hold: past every stamp."""

Act = tuple[str, str]
"""A kind and an act key: two kinds with equal keys are two acts."""


@dataclass(slots=True)
class Invocation:
    """Every record that names one invocation."""

    intents: list[Intent] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    recoveries: list[RecoveryIntended] = field(default_factory=list)

    def records(self) -> Iterator[Noted]:
        """All of them, sort by sort."""
        yield from self.intents
        yield from self.recoveries
        yield from self.closings

    @property
    def open(self) -> bool:
        """Whether no closing names it, so that its account is owed."""
        return bool(self.intents) and not self.closings


@dataclass(slots=True)
class Maps:
    """The four maps, as far as the mark and a little beyond."""

    invocations: dict[str, Invocation] = field(default_factory=dict)
    acts: dict[Act, dict[str, None]] = field(default_factory=dict)  # each act's invocations, in order
    open_invocations: dict[Act, dict[str, Intent]] = field(default_factory=dict)
    sweep_closed_ids: set[str] = field(default_factory=set)
    mark: int = 0
    unsettled: set[int] = field(default_factory=set)

    def note(self, number: int, found: Noted | None) -> bool:
        """What has this number is in the maps; answers whether it was new to them."""
        if number <= self.mark or number in self.unsettled:
            return False
        self.unsettled.add(number)
        if found is None:
            return False
        invocation = self.invocations.setdefault(found.invocation_id, Invocation())
        match found:
            case Intent():
                self._intent(found, invocation)
            case Closing():
                self._closing(found, invocation)
            case RecoveryIntended():
                invocation.recoveries.append(found)
        return True

    def _intent(self, intent: Intent, invocation: Invocation) -> None:
        act = (intent.kind, intent.act_key)
        self.acts.setdefault(act, {})[intent.invocation_id] = None
        if invocation.closings:
            invocation.intents.append(replace(intent, payload=None))
        else:
            invocation.intents.append(intent)
            self.open_invocations.setdefault(act, {})[intent.event_id] = intent

    def _closing(self, closing: Closing, invocation: Invocation) -> None:
        invocation.closings.append(closing)
        swept = closing.recovery and closing.resolved_by is None
        if swept or closing.sort in (Sort.ABANDONED, Sort.ESCALATED):
            self.sweep_closed_ids.add(closing.invocation_id)
        for number, intent in enumerate(invocation.intents):
            act = (intent.kind, intent.act_key)
            standing = self.open_invocations.get(act, {})
            standing.pop(intent.event_id, None)
            if not standing:
                self.open_invocations.pop(act, None)
            invocation.intents[number] = replace(intent, payload=None)

    def settle(self, records: Iterable[Record], until: int) -> None:
        """The mark is past every number, in order, that was recorded by the instant."""
        for record in records:
            if record.recorded_at > until:
                return
            self.mark = max(self.mark, record.sequence_number)
            self.unsettled.discard(record.sequence_number)


class Indexes:
    """The maps of one process, for any number of threads."""

    def __init__(
        self, trail: Trail, kinds: dict[str, Kind], figures: Figures, clock: Clock, *, in_order: bool
    ) -> None:
        self.trail = trail
        self.kinds = kinds
        self.figures = figures
        self.clock = clock
        self.in_order = in_order
        self.maps = Maps()
        self._scanned = 0
        self._lock = threading.RLock()

    # Reading the journal.

    def refresh(
        self, *, behind_writers: bool = False, bounded: bool = False
    ) -> list[Noted] | Unavailable | InvalidQuery:
        """The maps hold all that the journal shows; the answer is what was new, or why it is unknown."""
        with self._lock:
            return self._read(self.maps, behind_writers=behind_writers, bounded=bounded)

    def rebuild(self) -> list[Noted] | Unavailable | InvalidQuery:
        """The maps are made anew from the journal's beginning; where that fails, the old ones stand.

        The answer is the delta: what lies above the mark that the rebuild before this one left.
        """
        fresh = Maps()
        answer = self._read(fresh, behind_writers=False, bounded=False)
        if not isinstance(answer, list):
            return answer
        with self._lock:
            self.maps = fresh
            scanned, self._scanned = self._scanned, fresh.mark
        return [found for found in answer if found.sequence_number > scanned]

    def _read(
        self, maps: Maps, *, behind_writers: bool, bounded: bool
    ) -> list[Noted] | Unavailable | InvalidQuery:
        started = self.clock.now()
        after = maps.mark
        new: list[Noted] = []
        delta: list[Record] = []
        while True:
            answer = self.trail.read_range(after, behind_writers=behind_writers)
            if not isinstance(answer, Page):
                return answer
            for record in answer.records:
                found = noted(record, self.kinds)
                if maps.note(record.sequence_number, found) and found is not None:
                    new.append(found)
            delta += answer.records
            after, behind_writers = answer.cursor, False  # what was awaited once has landed for good
            if answer.complete:
                maps.settle(delta, FOR_EVER if self.in_order else started - self.figures.settle_bound)
                return new
            if bounded and self.clock.now() - started > self.figures.read_bound:
                return Unavailable(f"the read took longer than its bound, {self.figures.read_bound}")

    def populate(self, found: Noted) -> None:
        """What this process has just recorded is in the maps without being read back."""
        with self._lock:
            self.maps.note(found.sequence_number, found)

    # Asking the maps.

    def of(self, invocation_id: str) -> Invocation:
        """The invocation's records as they stand; none of any, where nothing names it."""
        with self._lock:
            found = self.maps.invocations.get(invocation_id, Invocation())
            return Invocation(list(found.intents), list(found.closings), list(found.recoveries))

    def open_intents(self, act: Act, now: int) -> list[Intent]:
        """The act's open intents inside their retention, the oldest first."""
        with self._lock:
            found = list(self.maps.open_invocations.get(act, {}).values())
        return sorted(
            (intent for intent in found if not self.gone(intent, now)),
            key=lambda intent: intent.sequence_number,
        )

    def every_open_intent(self) -> list[Intent]:
        """Every open intent of any kind, bound or not, the oldest first."""
        with self._lock:
            found = [intent for act in self.maps.open_invocations.values() for intent in act.values()]
        return sorted(found, key=lambda intent: intent.sequence_number)

    def gone(self, intent: Intent, now: int) -> bool:
        """Whether the intent's retention has ended, so that no read may show it as open."""
        kind = self.kinds.get(intent.kind)
        period = max((bound.retention_period for bound in self.kinds.values()), default=0)
        end = intent.recorded_at + period if kind is None else retention_end(kind, intent.recorded_at)
        return end < now

    def act_closings(self, act: Act) -> list[Closing]:
        """Every closing of the act, whoever wrote it, in the journal's order."""
        with self._lock:
            ids = self.maps.acts.get(act, {})
            found = [closing for name in ids for closing in self.maps.invocations[name].closings]
        return sorted(found, key=lambda closing: closing.sequence_number)

    def invocations_of(self, act: Act) -> list[str]:
        """The act's invocations, in the order of their intents."""
        with self._lock:
            return list(self.maps.acts.get(act, ()))

    def closed_by_sweep(self, invocation_id: str) -> bool:
        """Whether a sweep run, or an operator, has closed the invocation."""
        with self._lock:
            return invocation_id in self.maps.sweep_closed_ids

    def every_invocation(self) -> list[tuple[str, Invocation]]:
        """All that is known, for the scan and for the figures that are published."""
        with self._lock:
            return list(self.maps.invocations.items())
