"""Somebody with the whole database and no credential: single mutations of a journal, drawn from a seed.

A mutation is made inside a transaction that is rolled back once the journal has been judged, so thousands are
tried on one journal.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from falsework.runtime.store import Question, Row, Store, Transaction, Value
from falsework.runtime.trail.chain import FIRST, Entry, committed, linked, statement
from falsework.runtime.trail.identity import fresh_credential, signing_key
from stores import Run

JOURNAL = (
    *("seq", "event_id", "recorded_at", "action_ref", "actor_ref", "key_id", "attestation"),
    *("policy_ref", "retention_until", "commitment", "link", "salt", "payload"),
)
DERIVED = {
    "trail": ("trail_id",),
    "actor_key": ("actor_ref", "public_key", "administers", "valid_until", "registered_seq", "revoked_seq"),
    "policy": ("prefix", "period", "declared_seq"),
    "placed_late": ("policy_ref", "retention_until", "placed_seq"),
    "destroyed": ("seq", "purge_seq"),
    "checkpoint": ("size", "seq", "frontier", "note"),
}
EVE = signing_key(fresh_credential(b"\x09".__mul__))


@dataclass
class OneView:
    """A store that shows what one bare connection sees, its own uncommitted statements included."""

    run: Run
    found: list[Row] = field(default_factory=list)

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        return self.run(statement, values)

    def write(self, statement: str, values: Sequence[Value] = ()) -> None:
        self.run(statement, values)

    def look(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        return self.run(statement, values)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        yield

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        yield self

    @contextmanager
    def transaction(
        self, name: str, first: Question | None = None, *, flush: bool = True
    ) -> Iterator[Transaction]:
        yield OneView(self.run, [] if first is None else self.run(*first))

    def now(self) -> int:
        return 0

    def close(self) -> None:
        self.run = lambda *_: []


@contextmanager
def undone(run: Run) -> Iterator[Store]:
    """Whatever is done in the block is seen by the store of the block, and by nobody afterwards."""
    run("BEGIN", ())
    try:
        yield OneView(run)
    finally:
        run("ROLLBACK", ())


class Tamperer:
    """Mutations of one journal, each drawn from the random numbers it is given."""

    def __init__(self, run: Run, witnessed: int) -> None:
        self.run = run
        self.rows = [list(row) for row in run(f"SELECT {', '.join(JOURNAL)} FROM journal ORDER BY seq", ())]
        self.witnessed = witnessed  # how many records a witness outside has seen
        self.trail_id = str(run("SELECT trail_id FROM trail", ())[0][0])
        self.kinds = {
            "edit": self.edit,
            "delete": self.delete,
            "insert": self.insert,
            "reorder": self.reorder,
            "truncate": self.truncate,
            "forge a purge": self.forge_a_purge,
            "hash again": self.hash_again,
            "derived": self.edit_derived,
        }

    def mutate(self, kind: str, draw: random.Random) -> str:
        """The database has one mutation of the kind; what it is, for a failing test's message."""
        return self.kinds[kind](draw)

    # The journal's rows.

    def edit(self, draw: random.Random) -> str:
        """One column of one row is another value."""
        row, place = draw.choice(self.rows), draw.randrange(len(JOURNAL))
        while row[place] is None and JOURNAL[place] in {"salt", "payload"} and draw.random() < 0.9:
            row = draw.choice(self.rows)
        taken = {other[place] for other in self.rows} if place < 2 else set()
        value = another(row[place], JOURNAL[place], draw, taken)
        self.run(f"UPDATE journal SET {JOURNAL[place]} = ? WHERE seq = ?", (value, row[0]))
        return f"{JOURNAL[place]} of {row[0]!r} from {row[place]!r} to {value!r}"

    def delete(self, draw: random.Random) -> str:
        """One row is gone; not one of those at the end that nobody has witnessed."""
        row = draw.choice(self.rows[: self.witnessed])
        self.run("DELETE FROM journal WHERE seq = ?", (row[0],))
        return f"row {row[0]!r} deleted"

    def insert(self, draw: random.Random) -> str:
        """A row more: a copy of one, or one that is all of Eve's making."""
        last = int(str(self.rows[-1][0]))
        source = list(draw.choice(self.rows))
        if draw.random() < 0.5:
            source[0], source[1] = last + draw.randrange(1, 4), f"event {draw.randrange(10**6, 10**7)}"
            self._insert(source)
            return f"a copy of a row at {source[0]!r}"
        actor = str(draw.choice(self.rows)[4])
        self._insert(self._forged(last + 1, actor, "pay.intended", b'{"n":1}', self._link_of(last)))
        return f"a forged row at {last + 1} of {actor}"

    def reorder(self, draw: random.Random) -> str:
        """Two rows have changed places, or two payloads have."""
        one, two = draw.sample([row for row in self.rows if row[12] is not None], 2)
        columns = draw.choice(
            [("event_id",), ("salt", "payload"), ("link",), ("recorded_at", "retention_until"), JOURNAL[1:]]
        )
        places = [JOURNAL.index(column) for column in columns]
        if all(one[place] == two[place] for place in places):
            columns, places = ("event_id",), [1]
        self.run("UPDATE journal SET event_id = 'aside' WHERE seq = ?", (two[0],))
        for row, other in ((one, two), (two, one)):
            values = [other[place] for place in places]
            if "event_id" in columns or row is one:
                self._set(row[0], columns, values)
            else:
                self._set(row[0], (*columns, "event_id"), [*values, row[1]])
        return f"{columns} of {one[0]!r} and {two[0]!r} exchanged"

    def truncate(self, draw: random.Random) -> str:
        """The journal ends before the last witnessed record."""
        first = self.rows[draw.randrange(self.witnessed)][0]
        self.run("DELETE FROM journal WHERE seq >= ?", (first,))
        return f"truncated from {first!r} on"

    def forge_a_purge(self, draw: random.Random) -> str:
        """A payload is destroyed that no purge destroyed, however it is made to look."""
        row = draw.choice([row for row in self.rows if row[12] is not None])
        seq, last = int(str(row[0])), int(str(self.rows[-1][0]))
        self.run("UPDATE journal SET salt = NULL, payload = NULL WHERE seq = ?", (seq,))
        how = draw.choice(["bare", "derived", "recorded"])
        if how != "bare":
            self.run(
                "INSERT INTO destroyed (seq, purge_seq) VALUES (?, ?)", (seq, last + (how == "recorded"))
            )
        if how == "recorded":
            payload = f'{{"destroyed":[[{seq},"{row[1]!s}"]]}}'.encode()
            self._insert(self._forged(last + 1, "root", "trail.purged", payload, self._link_of(last)))
        return f"a forged purge of {seq}, {how}"

    def hash_again(self, draw: random.Random) -> str:
        """A witnessed row is edited, and every link from it on computed anew."""
        number = draw.randrange(self.witnessed)
        rows = [list(row) for row in self.rows]
        place = draw.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        taken = {other[place] for other in self.rows} if place < 2 else set()
        rows[number][place] = another(rows[number][place], JOURNAL[place], draw, taken)
        if draw.random() < 0.3 and rows[number][12] is not None:  # another payload, with its own commitment
            place, rows[number][12] = 9, b'{"n":"forged"}'
            rows[number][9] = committed(bytes(16), b'{"n":"forged"}')
            rows[number][11] = bytes(16)
        self.run("DELETE FROM journal", ())
        link = FIRST
        for row in sorted(rows, key=lambda row: int(str(row[0]))):
            link = linked(link, entry_of(row))
            row[10] = link
            self._insert(row)
        return f"{JOURNAL[place]} of {self.rows[number][0]!r} edited and all hashed again"

    def edit_derived(self, draw: random.Random) -> str:
        """One column of one derived row is another value."""
        table = draw.choice([*DERIVED])
        column = draw.choice(DERIVED[table])
        key = {"trail": "sole", "actor_key": "key_id", "policy": "prefix", "checkpoint": "size"}.get(
            table, "seq"
        )
        rows = self.run(f"SELECT {key}, {column} FROM {table}", ())
        row = draw.choice(rows)
        value = another(row[1], column, draw, {stored for _, stored in rows})
        self.run(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (value, row[0]))
        return f"{table}.{column} of {row[0]!r} from {row[1]!r} to {value!r}"

    # What they are made of.

    def _set(self, seq: Value, columns: Sequence[str], values: Sequence[Value]) -> None:
        assignments = ", ".join(f"{column} = ?" for column in columns)
        self.run(f"UPDATE journal SET {assignments} WHERE seq = ?", (*values, seq))

    def _insert(self, row: Sequence[Value]) -> None:
        marks = ", ".join("?" * len(JOURNAL))
        self.run(f"INSERT INTO journal ({', '.join(JOURNAL)}) VALUES ({marks})", row)

    def _link_of(self, seq: int) -> bytes:
        (link,) = [row[10] for row in self.rows if row[0] == seq]
        assert isinstance(link, bytes)
        return link

    def _forged(self, seq: int, actor: str, action: str, payload: bytes, before: bytes) -> list[Value]:
        """A row that is right in everything but its attestation, which is by Eve's own key."""
        assert EVE is not None
        salt, event = bytes(16), f"forged {seq}"
        commitment = committed(salt, payload)
        attestation = EVE.sign(statement(self.trail_id, event, action, actor, commitment))
        key_id = str(next(row[5] for row in self.rows if row[4] == actor))
        policy, until = ("trail.", None) if action.startswith("trail.") else ("pay.", 10_100)
        entry = Entry(seq, event, 10_000, action, actor, key_id, attestation, policy, until, commitment)
        return [
            *(seq, event, 10_000, action, actor, key_id, attestation, policy, until, commitment),
            *(linked(before, entry), salt, payload),
        ]


def another(value: Value, column: str, draw: random.Random, taken: Collection[Value]) -> Value:
    """A value of the same kind, and none of those that a table would refuse for being taken."""
    while (changed := _changed(value, column, draw)) in taken:
        pass
    return changed


def _changed(value: Value, column: str, draw: random.Random) -> Value:
    """A value of the same kind, and not the same."""
    if isinstance(value, int):
        return value + draw.choice([-1, 1, draw.randrange(2, 1000), -draw.randrange(2, 1000)])
    if isinstance(value, str):
        place = draw.randrange(len(value))
        letter = draw.choice([letter for letter in "abcdefghij1234567890." if letter != value[place]])
        return draw.choice([value + letter, value[:place] + letter + value[place + 1 :]])
    if isinstance(value, bytes):
        place = draw.randrange(len(value))
        return value[:place] + bytes([value[place] ^ (1 << draw.randrange(8))]) + value[place + 1 :]
    octets = column in {"salt", "payload"}
    return b"{}" if octets else draw.choice([1_050, 0]) if column != "policy_ref" else "pay."


def entry_of(row: Sequence[Value]) -> Entry:
    """The entry that a row's columns make, whatever they are."""
    seq, event, at, action, actor, key, attestation, policy, until, commitment = row[:10]
    assert isinstance(seq, int)
    assert isinstance(at, int)
    assert isinstance(attestation, bytes)
    assert isinstance(commitment, bytes)
    assert isinstance(policy, str | None)
    assert isinstance(until, int | None)
    return Entry(
        seq, str(event), at, str(action), str(actor), str(key), attestation, policy, until, commitment
    )
