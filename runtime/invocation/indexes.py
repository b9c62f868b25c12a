"""What stands open, and what has become of the rest: derived from the journal, and made again from it alone.

Where the journal can be read by act, and numbers its records in the order in which they become visible, what
is closed is not held: whoever asks for it reads the journal. What is open is held in maps, which a start
makes from the journal's own index. Elsewhere the maps hold all, are made from the journal's beginning, and
are made again for every run.

Every read takes what lies above the mark. The mark moves past a number only when nothing can land below it
any more: when the settle bound had passed since it was recorded as the read was issued, or at once where the
order allows it. What is read twice is noted once.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.answers import State
from falsework.runtime.invocation.figures import Figures, Kind
from falsework.runtime.invocation.keyed import Act, Invocation, Keyed, Scan
from falsework.runtime.invocation.latency import Latencies
from falsework.runtime.invocation.records import Closing, Intent, Noted, RecoveryIntended, noted
from falsework.runtime.invocation.standing import state
from falsework.runtime.invocation.terms import retention_end
from falsework.runtime.store import StoreError
from falsework.runtime.trail import InvalidQuery, Page, Record, Trail, Unavailable

FOR_EVER = 2**63 - 1
"""The last instant that a store can hold: past every stamp."""

Named = tuple[Act, str]
"""An act and one invocation of it."""


@dataclass(slots=True)
class Maps:
    """What is open as far as the mark and a little beyond, and what a run has yet to look at."""

    invocations: dict[str, Invocation] = field(default_factory=dict)
    open_invocations: dict[Act, dict[str, Intent]] = field(default_factory=dict)
    escalated: dict[Named, Intent] = field(default_factory=dict)  # those that nobody has resolved
    counts: Counter[tuple[str, State]] = field(default_factory=Counter)  # of what is not open
    warned: set[Named] = field(default_factory=set)  # escalations that a person has heard of
    lapsed: Counter[str] = field(default_factory=Counter)  # escalations past their horizon
    latencies: dict[str, Latencies] = field(default_factory=dict)
    rival_intents: dict[Act, int] = field(default_factory=dict)  # by the latest number
    late_closings: dict[Named, int] = field(default_factory=dict)  # by the first number; 0 once it is counted
    mark: int = 0
    unsettled: set[int] = field(default_factory=set)
    closed: dict[str, Invocation] | None = None  # where the journal cannot be read by act
    acts: dict[Act, dict[str, None]] = field(default_factory=dict)  # likewise: each act's, in order

    def begin(self, scan: Scan) -> None:
        """The maps are those of the moment of the scan."""
        self.mark, self.counts = scan.mark, scan.counts
        for act, invocation_id, found in scan.unusual:
            if found.closings:
                self._escalated(act, invocation_id, found)
                if len(found.closings) > 1:
                    self.late_closings[act, invocation_id] = 0
            else:
                self.invocations[invocation_id] = found
                for intent in found.intents:
                    self._opened(act, intent)

    def note(self, number: int, found: Noted | None) -> bool:
        """What has this number is in the maps; answers whether it was new to them."""
        if number <= self.mark or number in self.unsettled:
            return False
        self.unsettled.add(number)
        match found:
            case None:
                return False
            case Intent():
                self._intent(found)
            case Closing():
                self._closing(found)
            case RecoveryIntended() if found.invocation_id in self.invocations:
                self.invocations[found.invocation_id].note(found)
            case RecoveryIntended():
                self._keep(found.invocation_id, found)
        return True

    def known(self, invocation_id: str) -> Invocation:
        """The invocation as far as the maps hold it."""
        found = self.invocations.get(invocation_id) or (self.closed or {}).get(invocation_id, Invocation())
        return Invocation(list(found.intents), list(found.closings), list(found.recoveries))

    def _keep(self, invocation_id: str, found: Noted) -> None:
        """What names an invocation that is not open is held where nobody could look it up."""
        if self.closed is not None:
            self.closed.setdefault(invocation_id, Invocation()).note(found)

    def _intent(self, intent: Intent) -> None:
        act = (intent.kind, intent.act_key)
        if self.closed is not None:
            self.acts.setdefault(act, {})[intent.invocation_id] = None
        if (act, intent.invocation_id) in self.late_closings:  # its closing has come before it
            self._keep(intent.invocation_id, intent)
        else:
            self.invocations.setdefault(intent.invocation_id, Invocation()).note(intent)
            self._opened(act, intent)

    def _opened(self, act: Act, intent: Intent) -> None:
        standing = self.open_invocations.setdefault(act, {})
        standing[intent.event_id] = intent
        if len(standing) > 1:
            self.rival_intents[act] = max(each.sequence_number for each in standing.values())

    def _closing(self, closing: Closing) -> None:
        act = (closing.kind, closing.act_key)
        invocation = self.invocations.pop(closing.invocation_id, None)
        if invocation is None:
            named = (act, closing.invocation_id)
            self.late_closings[named] = self.late_closings.get(named) or closing.sequence_number
            self._keep(closing.invocation_id, closing)
            return
        self._forget(invocation)
        invocation.note(closing)
        if self.closed is not None:
            self.closed[closing.invocation_id] = invocation
        self.counts[act[0], state(invocation.closings)] += 1
        self._escalated(act, closing.invocation_id, invocation)
        took = closing.recorded_at - invocation.intents[0].recorded_at
        self.latencies.setdefault(act[0], Latencies()).add(took)

    def _forget(self, invocation: Invocation) -> None:
        """None of its intents stands open any more."""
        for intent in invocation.intents:
            act = (intent.kind, intent.act_key)
            standing = self.open_invocations.get(act, {})
            standing.pop(intent.event_id, None)
            if not standing:
                self.open_invocations.pop(act, None)

    def _escalated(self, act: Act, invocation_id: str, found: Invocation) -> None:
        """The escalation waits for an operator, or no longer does."""
        if found.intents and state(found.closings) is State.ESCALATED:
            self.escalated[act, invocation_id] = found.intents[0]
        else:
            self.escalated.pop((act, invocation_id), None)
            self.warned.discard((act, invocation_id))

    def counted_again(self, named: Named, found: Invocation, since: int) -> None:
        """The invocation counts as what it is since the closing of this number; 0 says that it does so."""
        act, invocation_id = named
        if since and found.intents:
            before = [closing for closing in found.closings if closing.sequence_number < since]
            if before:
                self.counts[act[0], state(before)] -= 1
            self.counts[act[0], state(found.closings)] += 1
        self._escalated(act, invocation_id, found)

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
        self,
        trail: Trail,
        kinds: dict[str, Kind],
        figures: Figures,
        clock: Clock,
        *,
        in_order: bool,
        keyed: Keyed | None = None,
    ) -> None:
        self.trail = trail
        self.keyed = keyed if in_order else None
        self.kinds = kinds
        self.figures = figures
        self.clock = clock
        self.in_order = in_order
        self.maps = self._empty()
        self._scanned = 0
        self._lock = threading.RLock()

    def _empty(self) -> Maps:
        return Maps(closed={} if self.keyed is None else None)

    # Reading the journal.

    def start(self) -> Unavailable | InvalidQuery | None:
        """The maps hold what stands open, however long the journal is; or here is why they do not.

        What nobody may have looked at before is looked at by the first run.
        """
        if self.keyed is not None:
            fresh = Maps()
            try:
                fresh.begin(self.keyed.scan())
            except StoreError as error:
                return Unavailable(str(error))
            with self._lock:
                self.maps = fresh
        answer = self.refresh()
        return None if isinstance(answer, list) else answer

    def refresh(
        self, *, behind_writers: bool = False, bounded: bool = False
    ) -> list[Noted] | Unavailable | InvalidQuery:
        """The maps hold all that the journal shows; the answer is what was new, or why it is unknown."""
        with self._lock:
            return self._read(self.maps, behind_writers=behind_writers, bounded=bounded)

    def for_a_run(self) -> Unavailable | InvalidQuery | None:
        """The maps are fit for a run: what is new is read, and all where something may have landed below."""
        answer = self.rebuild() if self.keyed is None else self.refresh()
        return None if isinstance(answer, list) else answer

    def rebuild(self) -> list[Noted] | Unavailable | InvalidQuery:
        """The maps are made anew from the journal's beginning; where that fails, the old ones stand.

        What a run has yet to look at is what it had, and what lies above the mark of the rebuild before.
        """
        fresh = self._empty()
        answer = self._read(fresh, behind_writers=False, bounded=False)
        if not isinstance(answer, list):
            return answer
        with self._lock:
            old, scanned = self.maps, self._scanned
            for named, number in fresh.late_closings.items():
                found = fresh.known(named[1]) if self.keyed is None else self.in_the_journal(*named)
                if not isinstance(found, Invocation):
                    return found
                fresh.counted_again(named, found, number)
            fresh.warned, fresh.lapsed = old.warned & set(fresh.escalated), old.lapsed
            fresh.rival_intents = {
                act: number
                for act, number in fresh.rival_intents.items()
                if number > scanned or act in old.rival_intents
            }
            fresh.late_closings = {
                named: 0
                for named, number in fresh.late_closings.items()
                if number > scanned or named in old.late_closings
            }
            self.maps, self._scanned = fresh, fresh.mark
        return answer

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
        """What this process has just recorded is in the maps without being read back.

        In a journal that numbers in the order of sight, what follows the mark has nothing to wait for.
        """
        number = found.sequence_number
        with self._lock:
            self.maps.note(number, found)
            if self.in_order and number == self.maps.mark + 1:
                self.maps.mark = number
                self.maps.unsettled.discard(number)

    # Asking the maps, and the journal for what they do not hold.

    def of(self, act: Act, invocation_id: str) -> Invocation | Unavailable:
        """The invocation's records as they stand; none of any, where nothing names it."""
        with self._lock:
            if invocation_id in self.maps.invocations:
                return self.maps.known(invocation_id)
        return self.in_the_journal(act, invocation_id)

    def in_the_journal(self, act: Act, invocation_id: str) -> Invocation | Unavailable:
        """The invocation's records, whatever the maps hold of it where it can be looked up."""
        if self.keyed is None:
            with self._lock:
                return self.maps.known(invocation_id)
        try:
            return self.keyed.of(act, invocation_id)
        except StoreError as error:
            return Unavailable(str(error))

    def of_act(self, act: Act) -> dict[str, Invocation] | Unavailable:
        """The act's invocations, in the order of their intents."""
        if self.keyed is None:
            with self._lock:
                return {name: self.maps.known(name) for name in self.maps.acts.get(act, ())}
        try:
            return self.keyed.act(act)
        except StoreError as error:
            return Unavailable(str(error))

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

    def every_escalated(self) -> list[Intent]:
        """The intents whose standing closing is an escalation that nobody has resolved."""
        with self._lock:
            return sorted(self.maps.escalated.values(), key=lambda intent: intent.sequence_number)

    def gone(self, intent: Intent, now: int) -> bool:
        """Whether the intent's retention has ended, so that no read may show it as open."""
        kind = self.kinds.get(intent.kind)
        period = max((bound.retention_period for bound in self.kinds.values()), default=0)
        end = intent.recorded_at + period if kind is None else retention_end(kind, intent.recorded_at)
        return end < now

    def every_invocation(self) -> Iterator[tuple[str, Invocation]]:
        """All whose intents the journal can show, one after the other; a database that fails is raised."""
        if self.keyed is not None:
            return self.keyed.every()
        with self._lock:
            ids = [name for act in self.maps.acts.values() for name in act]
            return iter([(name, self.maps.known(name)) for name in ids])

    def counts(self) -> Counter[tuple[str, State]]:
        """How many invocations are in which state, by kind."""
        with self._lock:
            found = Counter(self.maps.counts)
            for invocation in self.maps.invocations.values():
                if invocation.intents:
                    found[invocation.intents[0].kind, State.OPEN] += 1
        return found

    def latencies(self, kind: str) -> Latencies:
        """How long those acts took whose closings this process has read since it started."""
        with self._lock:
            return self.maps.latencies.get(kind, Latencies())

    # What a run looks at once.

    def take_rival_intents(self) -> list[Act]:
        """The acts on which an intent came while another stood open, since they were last taken."""
        with self._lock:
            found, self.maps.rival_intents = list(self.maps.rival_intents), {}
        return found

    def take_late_closings(self) -> list[Invocation] | Unavailable:
        """The invocations that were closed already when a closing came, since they were last taken.

        What cannot be read is kept for the next run.
        """
        with self._lock:
            pending, self.maps.late_closings = self.maps.late_closings, {}
        taken: list[Invocation] = []
        for named, since in pending.items():
            found = self.in_the_journal(*named)
            if isinstance(found, Unavailable):
                with self._lock:
                    for kept in list(pending)[len(taken) :]:
                        self.maps.late_closings.setdefault(kept, pending[kept])
                return found
            taken.append(found)
            with self._lock:
                self.maps.counted_again(named, found, since)
        return taken

    def warn_once(self, intent: Intent) -> bool:
        """Whether nobody has heard of the intent's escalation yet; somebody has from now on."""
        named = ((intent.kind, intent.act_key), intent.invocation_id)
        with self._lock:
            heard = named in self.maps.warned
            self.maps.warned.add(named)
        return not heard

    def drop_escalated(self, intent: Intent) -> None:
        """The escalation of the intent is not held any more, for nobody can resolve it."""
        named = ((intent.kind, intent.act_key), intent.invocation_id)
        with self._lock:
            self.maps.escalated.pop(named, None)
            self.maps.warned.discard(named)
            self.maps.lapsed[intent.kind] += 1

    def lapsed(self) -> Counter[str]:
        """How many escalations this process has seen to pass their horizon unresolved, by kind."""
        with self._lock:
            return Counter(self.maps.lapsed)
