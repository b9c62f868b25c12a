"""The lease, a per-key grant of exclusive standing whose terminus is an instant, and the judge of its acts.

Half-open, everywhere: at `now == expires_at` the lease has ended. Its holder's release and its terminus end a
lease, and nothing else does, no death either. The host reads one clock; where another clock must decide, the
host mints an instant with the allowance between the two subtracted, and the judge admits an act strictly
before it.

What needs a lease, and for how long, is the caller's affair. Getting the store's lock may take time, so
what is written is decided on a reading taken with the lock held, never on an earlier one.
"""

from dataclasses import dataclass, replace

from falsework.runtime.clock import Clock, Waiter
from falsework.runtime.store import Row, Store, StoreError, Transaction, boundaries

TAKE, POLL, RELEASE, ADMIT = "lease.take", "lease.poll", "lease.release", "judge.admit"

BOUNDARIES = (*boundaries(TAKE), *boundaries(POLL), *boundaries(RELEASE), *boundaries(ADMIT))
"""Every durable boundary this module passes."""

LEASED = "SELECT holder, expires_at FROM lease WHERE lease_key = ?"

GRANTED = """INSERT INTO lease (lease_key, holder, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (lease_key) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at"""
FREED = "DELETE FROM lease WHERE lease_key = ?"

LATEST = 2**63 - 1
"""The last instant a store can hold."""


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """A grant as it is stored; it may have ended."""

    key: str
    holder: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class Granted:
    """The key was free, or its lease had ended: the asker holds it until the instant."""

    expires_at: int


@dataclass(frozen=True, slots=True)
class Reentered:
    """The asker held the key already, and holds it until the same instant as before."""

    expires_at: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another holds the key: the asker may look again, last of all at the deadline."""

    key: str
    holder: str
    duration: int
    deadline: int


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Another holds the key, and the asker waits no longer."""


@dataclass(frozen=True, slots=True)
class Released:
    """The holder has given the key back before its terminus."""


@dataclass(frozen=True, slots=True)
class NotHeld:
    """There was nothing to release, and nothing changed; it may be ignored."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The act was judged in time, and is recorded under this number."""

    seq: int


@dataclass(frozen=True, slots=True)
class Late:
    """The act was judged at or past its instant; nothing was recorded."""

    judged_at: int


@dataclass(frozen=True, slots=True)
class Act:
    """An admitted act as it is recorded, for good."""

    seq: int
    key: str
    holder: str
    instant: int
    judged_at: int


class LeaseHost:
    """Grants leases from one table that any number of hosts share; all it knows is stored."""

    def __init__(self, store: Store, clock: Clock, waiter: Waiter) -> None:
        self.store = store
        self.clock = clock
        self.waiter = waiter

    # The verbs.

    def take(
        self, key: str, holder: str, duration: int, *, flush: bool = True
    ) -> Granted | Reentered | Unavailable:
        """The key is the holder's, or another kept it until the lease found at the call was due to end.

        Without `flush` a power cut may undo the grant, and then it has undone all that the store was told
        under it: for a holder who does nothing under the lease but what this store is told of first.
        """
        answer: Granted | Reentered | Waiting | Unavailable = self.ask(key, holder, duration, flush=flush)
        while isinstance(answer, Waiting):
            self.waiter.wait_until(answer.deadline)
            answer = self.poll(answer, flush=flush)
        return answer

    def try_take(self, key: str, holder: str, duration: int) -> Granted | Reentered | Unavailable:
        """The key is the holder's, or is another's now."""
        answer = self.ask(key, holder, duration)
        return Unavailable() if isinstance(answer, Waiting) else answer

    def ask(
        self, key: str, holder: str, duration: int, *, flush: bool = True
    ) -> Granted | Reentered | Waiting:
        """The key is the holder's, or here is how long it may be waited for; the first step of a take."""
        _refuse_a_bad_name("key", key)
        _refuse_a_bad_name("holder", holder)
        _refuse_a_bad_span("duration", duration)
        with self.store.transaction(TAKE, (LEASED, (key,)), flush=flush) as transaction:
            row = _leased(key, transaction.found)
            now = self.clock.now()
            entered = self._enter(transaction, row, LeaseRow(key, holder, now + duration), now)
            if entered is not None:
                return entered
            assert row is not None  # an absent lease lets anyone in
            return Waiting(key, holder, duration, self.deadline(row))

    def poll(self, waiting: Waiting, *, flush: bool = True) -> Granted | Reentered | Waiting | Unavailable:
        """One more look, the last one if the deadline has come; every further step of a take.

        A look that comes late, past the deadline, still counts as the last one: waking is never exact, and a
        key that is free by then is granted.
        """
        with self.store.transaction(POLL, (LEASED, (waiting.key,)), flush=flush) as transaction:
            row = _leased(waiting.key, transaction.found)
            now = self.clock.now()
            wanted = LeaseRow(waiting.key, waiting.holder, now + waiting.duration)
            entered = self._enter(transaction, row, wanted, now)
            if entered is not None:
                return entered
            return Unavailable() if self.gives_up(waiting, now) else waiting

    def remaining(self, key: str, holder: str) -> int | None:
        """How long the holder's standing still lasts, always positive; None where it has none."""
        _refuse_a_bad_name("key", key)
        _refuse_a_bad_name("holder", holder)
        row, now = self._look(key)
        if row is None or not self.has_standing(row, holder, now):
            return None
        return row.expires_at - now

    def left(self, expires_at: int) -> int | None:
        """How long a grant that its holder has not given back still lasts; None where it has ended.

        Its terminus is the one that was granted, for nothing moves it: only the time is asked for.
        """
        left = expires_at - self.clock.now()
        return left if left > 0 else None

    def mint(self, key: str, holder: str, allowance: int) -> int | None:
        """The instant before which another clock may admit the holder's act; None where it has no standing.

        Minted from the stored terminus each time, never from an instant minted before, and never bare.
        """
        _refuse_a_bad_name("key", key)
        _refuse_a_bad_name("holder", holder)
        _refuse_a_bad_span("allowance", allowance)
        row, now = self._look(key)
        if row is None or not self.has_standing(row, holder, now):
            return None
        return self.minted(row, allowance)

    def release(self, key: str, holder: str) -> Released | NotHeld:
        """The key is free, if the holder had it; else nothing has changed.

        It flushes nothing: a release that a power cut undoes leaves a lease that ends by itself.
        """
        _refuse_a_bad_name("key", key)
        _refuse_a_bad_name("holder", holder)
        with self.store.transaction(RELEASE, (LEASED, (key,)), flush=False) as transaction:
            row = _leased(key, transaction.found)
            if row is None or not self.has_standing(row, holder, self.clock.now()):
                return NotHeld()
            transaction.write(FREED, (key,))
            return Released()

    def connection_lost(self, holder: str) -> None:
        """Nothing changes: a holder may be paused and not dead, so only the terminus frees what it holds."""
        _refuse_a_bad_name("holder", holder)

    def recorded(self, key: str) -> LeaseRow | None:
        """The stored grant of the key, ended or not."""
        return _leased(key, self.store.look(LEASED, (key,)))

    # The decisions, each by itself.

    def ended(self, row: LeaseRow, now: int) -> bool:
        """Whether the lease is over: from its terminus on."""
        return now >= row.expires_at

    def may_enter(self, row: LeaseRow, holder: str) -> bool:
        """Whether the asker may enter a lease that stands: its own holder alone."""
        return row.holder == holder

    def has_standing(self, row: LeaseRow, holder: str, now: int) -> bool:
        """Whether the lease is this holder's and still stands."""
        return row.holder == holder and not self.ended(row, now)

    def reentered(self, row: LeaseRow, wanted: LeaseRow) -> LeaseRow:
        """The grant after a re-entry: what was wanted, but until the terminus that stands."""
        return replace(wanted, expires_at=row.expires_at)

    def deadline(self, row: LeaseRow) -> int:
        """The last instant at which a take that finds this lease looks again: the lease's terminus."""
        return row.expires_at

    def gives_up(self, waiting: Waiting, now: int) -> bool:
        """Whether a look that found the key taken was the last one."""
        return now >= waiting.deadline

    def minted(self, row: LeaseRow, allowance: int) -> int:
        """The terminus as another clock must read it: earlier by the allowance."""
        return row.expires_at - allowance

    # What a take does once it holds the store's lock.

    def _enter(
        self, transaction: Transaction, row: LeaseRow | None, wanted: LeaseRow, now: int
    ) -> Granted | Reentered | None:
        """The wanted grant is stored, or the asker's own stands, or another's does (None)."""
        if row is None or self.ended(row, now):
            record(transaction, wanted)
            return Granted(wanted.expires_at)
        if self.may_enter(row, wanted.holder):
            kept = self.reentered(row, wanted)
            record(transaction, kept)  # what is answered is what is stored, whoever decides it
            return Reentered(kept.expires_at)
        return None

    def _look(self, key: str) -> tuple[LeaseRow | None, int]:
        """The stored grant and an instant read after it, so that what is left is never overstated."""
        row = _leased(key, self.store.look(LEASED, (key,)))
        return row, self.clock.now()


class Judge:
    """Admits an act by its minted instant on its own clock, and records it in the same transaction."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock

    def admit(self, key: str, holder: str, instant: int) -> Admitted | Late:
        """The act is recorded if the judge's own clock is still before the instant; else nothing is.

        The reading is taken with the store's write lock held, so whoever writes here afterwards sees the act.
        """
        _refuse_a_bad_name("key", key)
        _refuse_a_bad_name("holder", holder)
        _refuse_a_bad_instant(instant)
        with self.store.transaction(ADMIT) as transaction:
            now = self.clock.now()
            if not self.in_time(instant, now):
                return Late(now)
            rows = transaction.execute(
                "INSERT INTO admitted (lease_key, holder, instant, judged_at) VALUES (?, ?, ?, ?) "
                "RETURNING seq",
                (key, holder, instant, now),
            )
            match rows:
                case [(int() as seq,)]:
                    return Admitted(seq)
            raise StoreError(f"{ADMIT}: the store answered {rows} where it numbers an act")

    def in_time(self, instant: int, now: int) -> bool:
        """Whether an act may still land: strictly before its instant."""
        return now < instant

    def acts(self) -> tuple[Act, ...]:
        """Every admitted act, in the order of admission."""
        with self.store.snapshot() as snapshot:
            rows = snapshot.execute(
                "SELECT seq, lease_key, holder, instant, judged_at FROM admitted ORDER BY seq"
            )
        return tuple(_act(row) for row in rows)


def record(transaction: Transaction, row: LeaseRow) -> None:
    """The key's grant is this one, in place of any other."""
    transaction.write(GRANTED, (row.key, row.holder, row.expires_at))


def _leased(key: str, rows: list[Row]) -> LeaseRow | None:
    """The grant of a key's rows."""
    match rows:
        case []:
            return None
        case [(str() as holder, int() as expires_at)]:
            return LeaseRow(key, holder, expires_at)
    raise StoreError(f"lease {key!r} is stored as {rows}: one holder and one instant were expected")


def _act(row: Row) -> Act:
    """The recorded act of a row."""
    match row:
        case (int() as seq, str() as key, str() as holder, int() as instant, int() as judged_at):
            return Act(seq, key, holder, instant, judged_at)
    raise StoreError(
        f"an admitted act is stored as {row}: number, key, holder and two instants were expected"
    )


def _refuse_a_bad_name(what: str, name: object) -> None:
    """The key or holder can be stored, compared and printed by any store."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ValueError(
            f"{what} is {name!r}: write a text that is not empty and has only printable characters"
        )


def _refuse_a_bad_span(what: str, span: object) -> None:
    """The span is a whole number of the clock's units, and positive: no allowance is a bare instant."""
    if not isinstance(span, int) or isinstance(span, bool) or not 0 < span <= LATEST // 2:
        raise ValueError(
            f"{what} is {span!r}: write a whole number from 1 to {LATEST // 2}, in the clock's unit"
        )


def _refuse_a_bad_instant(instant: object) -> None:
    """The instant is one a store can hold."""
    if not isinstance(instant, int) or isinstance(instant, bool) or not -LATEST <= instant <= LATEST:
        raise ValueError(f"instant is {instant!r}: write the whole number that was minted")
