"""What stands around the runtime in a driven world: its journal and its section host, in a driver's hand.

Between two calls time stands still: what it does to a lease is done to its row. Inside a call it may pass,
and stands afterwards where it stood.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from falsework.runtime import trail
from falsework.runtime.lease import Granted, LeaseHost, Reentered, Unavailable
from falsework.runtime.store import Store, StoreFailed
from falsework.runtime.subjects.lease import HandClock
from falsework.runtime.trail.journal import AuditTrail

SET_ENDS = "UPDATE lease SET expires_at = ? WHERE lease_key = ?"
ANOTHER = "another"
"""Who holds a section that is taken, where nobody of the model does."""


@dataclass(frozen=True)
class Write:
    """A record on its way to the journal."""

    action_ref: str
    data: trail.Data
    deliver: Callable[[], trail.RecordAnswer]


Journalled = Callable[[Write], trail.RecordAnswer]
"""What becomes of a write: it is delivered or not, and answered as the fault would have it."""


def delivered(write: Write) -> trail.RecordAnswer:
    """No fault."""
    return write.deliver()


@dataclass
class HandedTrail:
    """The real trail, whose outages, delays and lost replies are in the world's hand."""

    inner: AuditTrail
    caps: trail.Caps
    down: bool = False
    writes: Journalled = delivered
    next_writes: deque[Journalled] = field(default_factory=deque)
    before_reads: Callable[[], bool] | None = None  # whether the journal can be read this time
    during_reads: deque[Callable[[], object]] = field(default_factory=deque)  # one thing a range read

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        """The write is what the world makes of it."""
        inner = self.inner

        def deliver() -> trail.RecordAnswer:
            return inner.record_action(action_ref, actor_ref, credential, data, fence=fence)

        answer = self.next_writes.popleft() if self.next_writes else self.writes
        return answer(Write(action_ref, data, deliver))

    def read_record(self, event_id: str) -> trail.ReadAnswer:
        """The record, unless the journal is out of reach."""
        return trail.Unavailable("away") if self.down else self.inner.read_record(event_id)

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> trail.RangeAnswer:
        """The page, unless the journal is out of reach."""
        if self.down or (self.before_reads is not None and not self.before_reads()):
            return trail.Unavailable("away")
        answer = self.inner.read_range(after, limit, behind_writers=behind_writers)
        if self.during_reads:
            self.during_reads.popleft()()
        return answer

    def measure(self, action_ref: str, actor_ref: str, data: trail.Data) -> int:
        """The real trail's."""
        return self.inner.measure(action_ref, actor_ref, data)

    def now(self) -> int:
        """The real trail's."""
        return self.inner.now()


class Sections:
    """The section host's rows as the world deals with them."""

    def __init__(self, store: Store, clock: HandClock) -> None:
        self.store = store
        self.clock = clock

    def ends(self, key: str) -> None:
        """Whoever has the section, its lease has ended."""
        self.leaves(key, 0)

    def leaves(self, key: str, span: int) -> None:
        """So much is left of the lease."""
        with self.store.transaction("world.lease", flush=False) as transaction:
            transaction.write(SET_ENDS, (self.clock.now() + span, key))

    def holder(self, key: str) -> str | None:
        """Whose row it is, ended or not."""
        row = self.row(key)
        return None if row is None else row[0]

    def held_by(self, key: str) -> str | None:
        """Who has the section."""
        row = self.row(key)
        return None if row is None or row[1] <= self.clock.now() else row[0]

    def row(self, key: str) -> tuple[str, int] | None:
        """The lease as it is stored."""
        match self.store.look("SELECT holder, expires_at FROM lease WHERE lease_key = ?", (key,)):
            case [(str() as holder, int() as ends)]:
                return holder, ends
        return None

    def put(self, key: str, row: tuple[str, int] | None) -> None:
        """The lease is this, or there is none."""
        with self.store.transaction("world.lease", flush=False) as transaction:
            transaction.write("DELETE FROM lease WHERE lease_key = ?", (key,))
            if row is not None:
                transaction.write("INSERT INTO lease VALUES (?, ?, ?)", (key, *row))


class Patience:
    """Whoever waits for a section gets it, its lease having ended, or finds that another was first."""

    def __init__(self, sections: Sections, clock: HandClock) -> None:
        self.sections = sections
        self.clock = clock
        self.waited_for = ""
        self.another_is_first = False

    def wait_until(self, instant: int) -> None:
        """The wait is over."""
        if not self.waited_for:
            return  # a writer between two tries: time stands still
        if self.another_is_first:
            self.clock.instant = max(self.clock.instant, instant)
            self.sections.put(self.waited_for, (ANOTHER, self.clock.instant + 1))
        else:
            self.sections.ends(self.waited_for)


class HandedLeases(LeaseHost):
    """The real host; a take of it may fail."""

    def __init__(self, store: Store, clock: HandClock) -> None:
        self.sections = Sections(store, clock)
        self.patience = Patience(self.sections, clock)
        self.failing: deque[bool] = deque()  # one a take
        self.before_takes: deque[Callable[[], object]] = deque()  # one thing a take
        super().__init__(store, clock, self.patience)

    def take(self, key: str, holder: str, duration: int, **how: bool) -> Granted | Reentered | Unavailable:
        """The real take, unless the host is out of reach."""
        if self.before_takes:
            self.before_takes.popleft()()
        if self.failing and self.failing.popleft():
            raise StoreFailed("away")
        self.patience.waited_for = key
        try:
            return super().take(key, holder, duration, **how)
        finally:
            self.patience.waited_for = ""
