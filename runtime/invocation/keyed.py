"""The journal read by act, through columns and an index that the database itself makes of every payload.

Nothing keeps that index up to date, for no statement can write to it: it holds what the payloads say, and a
payload that is destroyed is out of it at once. So it can be neither behind the journal nor ahead of it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from falsework.runtime.invocation.answers import State
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.records import Closing, Intent, Noted, RecoveryIntended, noted
from falsework.runtime.invocation.section import section_key
from falsework.runtime.invocation.standing import state
from falsework.runtime.store import Row, Store, StoreError, Transaction, Value
from falsework.runtime.trail import Record
from falsework.runtime.trail.journal import COLUMNS, TABLES, record_of

Act = tuple[str, str]
"""A kind and an act key: two kinds with equal keys are two acts."""

STRETCH = 20_000
"""How many records one statement of a scan looks at: each ends well within a write's bound."""

PAGE = 500


def _is(word: str) -> str:
    """The condition that a record's action ref is its own kind's with this word, and no longer one."""
    size = len(word)
    kind = f"substr(act, 1, length(action_ref) - {size})"
    begins = f"substr(action_ref, 1, length(action_ref) - {size + 1}) || ':'"
    same = f"{kind} = {begins} AND substr(action_ref, length(action_ref) - {size}) = '.{word}'"
    return f"(CASE WHEN length(action_ref) > {size + 1} THEN {same} ELSE FALSE END)"


INTENT, PLAN = _is("intended"), _is("recovery_intended")
BY_WORD = f"({_is('abandoned')} OR {_is('escalated')})"
"""Closings whose word does not tell all: who abandoned, and until when an escalation has to be resolved."""

OF_ONE = f"""SELECT {COLUMNS} FROM {TABLES}
    WHERE j.act = ? AND j.invocation_id = ? ORDER BY j.seq"""  # noqa: S608  all ours
OF_ACT = f"SELECT {COLUMNS} FROM {TABLES} WHERE j.act = ? ORDER BY j.seq"  # noqa: S608  all ours
SHOWN = f"""SELECT j.act, j.invocation_id, {COLUMNS} FROM {TABLES}
    WHERE j.seq > ? ORDER BY j.seq LIMIT ?"""  # noqa: S608  all ours
NEXT = "SELECT act FROM journal WHERE act > ? ORDER BY act LIMIT 1 OFFSET ?"
LAST = "SELECT MAX(seq) FROM journal"
INTENTS = f"""SELECT seq, act, invocation_id FROM journal
    WHERE seq > ? AND act IS NOT NULL AND {INTENT} ORDER BY seq LIMIT ?"""  # noqa: S608  all ours


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

    def note(self, found: Noted) -> None:
        """The record is one of them."""
        match found:
            case Intent():
                self.intents.append(found)
            case Closing():
                self.closings.append(found)
            case RecoveryIntended():
                self.recoveries.append(found)

    @property
    def open(self) -> bool:
        """Whether no closing names it, so that its account is owed."""
        return bool(self.intents) and not self.closings


@dataclass(slots=True)
class Scan:
    """What stood in the journal at one moment, but for what one closing each had closed for good."""

    mark: int = 0
    unusual: list[tuple[Act, str, Invocation]] = field(default_factory=list)
    counts: Counter[tuple[str, State]] = field(default_factory=Counter)


class Keyed:
    """The journal of a store, by act; whatever the database fails at is raised as its own error."""

    def __init__(self, store: Store, kinds: dict[str, Kind]) -> None:
        self.store = store
        self.kinds = kinds

    def of(self, act: Act, invocation_id: str) -> Invocation:
        """The invocation's records; none of any, where nothing names it."""
        rows = self.store.look(OF_ONE, (section_key(*act), invocation_id))
        return self._by_invocation(rows).get(invocation_id, Invocation())

    def act(self, act: Act) -> dict[str, Invocation]:
        """The act's invocations, in the order of their first records."""
        return self._by_invocation(self.store.look(OF_ACT, (section_key(*act),)))

    def every(self) -> Iterator[tuple[str, Invocation]]:
        """Every invocation whose intent can be read, in the order of the intents."""
        after, seen_twice = 0, set[str]()
        while rows := self.store.look(INTENTS, (after, PAGE)):
            for row in rows:
                after, act, invocation_id = _named(row)
                found = self.of(act, invocation_id)
                if len(found.intents) > 1:
                    if invocation_id in seen_twice:
                        continue
                    seen_twice.add(invocation_id)
                yield invocation_id, found

    def _by_invocation(self, rows: Iterable[Row]) -> dict[str, Invocation]:
        """The protocol's own records among the rows, by invocation."""
        found: dict[str, Invocation] = {}
        for row in rows:
            record = noted(record_of(row), self.kinds)
            if record is not None:
                found.setdefault(record.invocation_id, Invocation()).note(record)
        return found

    # All at once.

    def scan(self) -> Scan:
        """What is not closed by just one outcome or refusal is found whole; the rest is counted.

        No payload is looked at for what is only counted: the index holds all that this needs.
        """
        found, after = Scan(), ""
        closes, values = self._closes()
        chosen = f"SUM({_one(INTENT)}) > 0"
        once = f"SUM({_one(INTENT)}) = 1 AND SUM({_one(closes)}) = 1 AND SUM({_one(BY_WORD)}) = 0"
        unusual = f"""SELECT {COLUMNS} FROM (
                SELECT act, invocation_id FROM journal WHERE act > ? AND act <= ?
                GROUP BY act, invocation_id HAVING {chosen} AND NOT ({once})
            ) AS u JOIN journal AS j ON j.act = u.act AND j.invocation_id = u.invocation_id
            LEFT JOIN placed_late AS late ON late.seq = j.seq ORDER BY j.seq"""  # noqa: S608  all ours
        usual = f"""SELECT ref, COUNT(*) FROM (
                SELECT MAX(CASE WHEN {closes} THEN action_ref END) AS ref FROM journal
                WHERE act > ? AND act <= ? GROUP BY act, invocation_id HAVING {once}
            ) AS closed_once GROUP BY ref"""  # noqa: S608  all ours
        with self.store.snapshot() as snapshot:
            (found.mark,) = _numbers(snapshot.execute(LAST))
            while (last := _end_of_stretch(snapshot, after)) is not None:
                self._add(found, snapshot.execute(unusual, (after, last, *values)))
                for ref, number in snapshot.execute(usual, (*values, after, last, *values)):
                    self._count(found, str(ref), number)
                after = last
        return found

    def _add(self, scan: Scan, rows: Iterable[Row]) -> None:
        """Each invocation of the rows is found whole; two acts that share one's id are two."""
        by_act: dict[tuple[Act, str], Invocation] = {}
        for row in rows:
            record = noted(record_of(row), self.kinds)
            if record is not None:
                act = (record.kind, record.act_key)
                by_act.setdefault((act, record.invocation_id), Invocation()).note(record)
        for (act, invocation_id), invocation in by_act.items():
            if invocation.intents:
                scan.unusual.append((act, invocation_id, invocation))
                if invocation.closings:
                    scan.counts[act[0], state(invocation.closings)] += 1

    def _count(self, scan: Scan, ref: str, number: Value) -> None:
        """So many are closed by such a record, and by no other."""
        assert isinstance(number, int), "a count is a number"
        kind, _, word = ref.partition(".")
        scan.counts[kind, State.REFUSED if word == "refused" else State.CLOSED] += number

    def _closes(self) -> tuple[str, tuple[Value, ...]]:
        """The condition that a record closes: by membership, or of an unbound kind by elimination."""
        refs = sorted(ref for kind in self.kinds.values() for ref in kind.closing_refs)
        begins = [f"{name}." for name in sorted(self.kinds)]
        listed = f"action_ref IN ({', '.join('?' for _ in refs)})"
        bound = " OR ".join(f"substr(action_ref, 1, {len(begin)}) = ?" for begin in begins)
        other = f"NOT {INTENT} AND NOT {PLAN} AND substr(action_ref, length(action_ref)) <> '.'"
        return f"({listed} OR (NOT ({bound}) AND {other}))", (*refs, *begins)


def misplaced(store: Store) -> str | None:
    """The first record that the index has under another act than its payload says; None where none is."""
    after = 0
    with store.snapshot() as snapshot:
        while rows := snapshot.execute(SHOWN, (after, PAGE)):
            for act, invocation_id, *columns in rows:
                record = record_of(tuple(columns))
                after = record.sequence_number
                said = _said(record)
                if (act, invocation_id) != said:
                    return f"record {after} is found as {(act, invocation_id)}, and its payload says {said}"
    return None


def _said(record: Record) -> tuple[str, str] | tuple[None, None]:
    """The act and the invocation that the record's own payload names."""
    data = record.data or {}
    kind, act_key, invocation_id = data.get("kind"), data.get("act_key"), data.get("invocation_id")
    if kind != record.action_ref.partition(".")[0]:
        return None, None
    if not isinstance(act_key, str) or not isinstance(invocation_id, str):
        return None, None
    return section_key(str(kind), act_key), invocation_id


def _one(condition: str) -> str:
    """One for a row of which the condition holds, else nothing."""
    return f"(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def _end_of_stretch(snapshot: Transaction, after: str) -> str | None:
    """The act with which the next stretch ends; None where no act comes after."""
    for offset in (STRETCH, 0):
        rows = snapshot.execute(NEXT, (after, offset))
        if rows and offset:
            return str(rows[0][0])
        if rows:
            return str(snapshot.execute("SELECT MAX(act) FROM journal")[0][0])
    return None


def _numbers(rows: Sequence[Row]) -> tuple[int, ...]:
    """The numbers of the only row."""
    match rows:
        case [(int() as number,)]:
            return (number,)
    raise StoreError(f"the journal's last number is stored as {rows}: verify the journal")


def _act_of(row: Row) -> tuple[Act, str]:
    """The act and the invocation of a row."""
    act, invocation_id = str(row[0]), str(row[1])
    kind, _, key = act.partition(":")
    return (kind, key), invocation_id


def _named(row: Row) -> tuple[int, Act, str]:
    """The number, the act and the invocation of a row."""
    number = row[0]
    assert isinstance(number, int), "the number of a record is its key"
    return number, *_act_of(row[1:])
