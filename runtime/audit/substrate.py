"""Check 8: eight traversals of the journal, each to its end, whatever the others have found."""

from collections.abc import Sequence

from falsework.runtime.audit.found import Check, Named, named
from falsework.runtime.audit.lawful import OWN, Law, Unlawful
from falsework.runtime.audit.opened import Journal, NotAudited, Row, Stored
from falsework.runtime.audit.sealed import (
    BEFORE_ALL,
    NoNote,
    Note,
    Roots,
    commitment_of,
    is_attested,
    link_of,
    read_note,
)

TRAVERSALS = (
    ("8.1a", "attribution: each record is signed by its actor, with a key that stood"),
    ("8.1b", "retention: each record has the place that the policies give it, late at worst"),
    ("8.1c", "sealing: each record's link follows from the one before it"),
    ("8.1d", "destruction: a payload is gone where a lawful purge destroyed it, and nowhere else"),
    ("8.1e", "immutability: each payload is the one that was committed to"),
    ("8.1f", "order: numbers rise, and no event is recorded twice"),
    ("8.1g", "acts of the trail's own: lawful, and the tables beside the journal say what they say"),
    ("8.1h", "checkpoints: the journal begins with what was witnessed"),
)


class Substrate:
    """One walk through the journal, with what each traversal finds on it."""

    def __init__(self, notes: Sequence[tuple[str, str]]) -> None:
        self.checks = {number[-1]: Check(number, says) for number, says in TRAVERSALS}
        self.law = Law()
        self.roots = Roots()
        self.gone: dict[int, Named] = {}
        self.last: Stored | None = None
        self.seen = 0  # the largest size that a note from outside covers
        self._before = BEFORE_ALL
        self._noted: list[tuple[str, Note]] = []
        self._sizes: set[int] = set()
        self._roots_at: dict[int, tuple[bytes, int, bytes, bytes]] = {}  # root, last record, link, frontier
        self._read_notes(notes)

    # The walk.

    def expects(self, journal: Journal) -> None:
        """The checkpoints that the journal keeps itself are compared too."""
        kept = [(f"checkpoint {row[0]!r} of the journal", str(row[3])) for row in journal.table("checkpoint")]
        self.seen = max((note.size for _, note in self._noted), default=0)
        self._read_notes(kept)

    def _read_notes(self, notes: Sequence[tuple[str, str]]) -> None:
        for place, text in notes:
            try:
                note = read_note(text)
                self._noted.append((place, note))
                self._sizes.add(note.size)
            except NoNote as problem:
                self.checks["h"].violated(f"{place} is no note: {problem}", "a note as it was signed", ())

    def malformed(self, row: Row) -> None:
        """A row has not even a record's form."""
        self.checks["c"].violated(f"a row is stored as {row[:5]}…", "a record with all its columns", ())

    def walk(self, stored: Stored) -> None:
        """One record more has been looked at."""
        name = named(stored)
        for letter in "abcf":
            self.checks[letter].looked_at += 1
        self._order(stored, name)
        if link_of(self._before, stored) != stored.link:
            after = f"record {self.last.seq}" if self.last else "nothing"
            self.checks["c"].violated(
                f"it does not follow {after} as both stand", "the link that both of them give", (name,)
            )
        self._before = stored.link
        self._payload(stored, name)
        self._lawfulness(stored, name)
        self.law.events.setdefault(stored.event_id, stored.seq)
        self.last = stored
        self.roots.add(stored.link)
        if self.roots.size in self._sizes:
            self._roots_at[self.roots.size] = (
                *(self.roots.root(), stored.seq),
                *(stored.link, self.roots.frontier()),
            )

    def _order(self, stored: Stored, name: Named) -> None:
        wants = "numbers from 1 that rise, and an event of its own"
        if stored.seq <= (self.last.seq if self.last else 0):
            self.checks["f"].violated(f"its number is {stored.seq}", wants, (name,))
        if stored.event_id in self.law.events:
            first = self.law.events[stored.event_id]
            self.checks["f"].violated(f"its event is record {first}'s too", wants, (name,))

    def _payload(self, stored: Stored, name: Named) -> None:
        if stored.payload is None and stored.salt is None:
            self.gone[stored.seq] = name
            return
        self.checks["e"].looked_at += 1
        whole = stored.payload is not None and stored.salt is not None
        if not whole or commitment_of(stored.salt or b"", stored.payload or b"") != stored.commitment:
            self.checks["e"].violated(
                "its payload is not the one committed to", "the payload that was recorded", (name,)
            )

    def _lawfulness(self, stored: Stored, name: Named) -> None:
        own = stored.action_ref.startswith(OWN)
        self.checks["g"].looked_at += own
        try:
            if self.last is None:
                self.law.found(stored)
        except Unlawful as problem:
            self.checks["g"].violated(str(problem), "a founding by the key that it names", (name,))
        why = self.law.refuses_signer(stored)
        if why is None and not is_attested(
            self.law.keys[stored.key_id].public_key, self.law.trail_id, stored
        ):
            why = f"{stored.actor_ref} did not sign it as it stands"
        if why is not None:
            self.checks["a"].violated(why, "its actor's signature, by a key that stood", (name,))
        why_not_there = self.law.refuses_place(stored)
        if why_not_there is not None:
            self.checks["b"].violated(why_not_there, "the place that the policies before it give", (name,))
        if own and self.last is not None and why is None:
            self._acts(stored, name)

    def _acts(self, stored: Stored, name: Named) -> None:
        try:
            self.law.acts(stored)
        except Unlawful as problem:
            self.checks["g"].violated(str(problem), "an act that a trail records", (name,))

    # The end of it.

    def ends(self, journal: Journal, reading: int, settles: int) -> None:
        """What can be said only once the whole journal is known."""
        if self.last is None:
            if not journal.table("trail"):
                raise NotAudited(f"{journal.place}: its journal has no record: no trail was founded in it")
            found = "the journal has no record, and a trail was founded in it"
            self.checks["c"].violated(found, "all of its records", ())
        self._destruction()
        self._placement(reading, settles)
        self._tables(journal)
        self._checkpoints(journal)

    def _destruction(self) -> None:
        check = self.checks["d"]
        for seq in sorted(self.gone.keys() | self.law.destroyed.keys()):
            check.looked_at += 1
            if seq in self.gone and seq not in self.law.destroyed:
                check.violated(
                    "its payload is gone, and no lawful purge destroyed it",
                    "a purge that names it, at or after the end of its retention",
                    (self.gone[seq],),
                )
            elif seq not in self.gone:
                by = self.law.destroyed[seq]
                wants = "no payload where a purge destroyed it"
                check.violated(f"record {seq} has a payload, and record {by} destroyed it", wants, ())

    def _placement(self, reading: int, settles: int) -> None:
        """A record that has had its time for it, and has no place, is kept by nothing that was declared."""
        for stored in self.law.unplaced.values():
            if stored.recorded_at + settles < reading:
                self.checks["b"].violated(
                    "it has no place in the retention window", "a place, late at worst", (named(stored),)
                )

    def _tables(self, journal: Journal) -> None:
        for table, said in self.law.tables().items():
            rows = set(journal.table(table))
            for row in sorted(rows ^ said, key=repr):
                what = "holds" if row in rows else "lacks"
                self.checks["g"].violated(
                    f"{table} {what} {_shown(row)}, which the records {'do not ' if row in rows else ''}say",
                    "tables that say what the records say",
                    (),
                )

    def _checkpoints(self, journal: Journal) -> None:
        check = self.checks["h"]
        for place, note in self._noted:
            check.looked_at += 1
            why = self._contradicts(note)
            if why is not None:
                check.violated(f"{place}: {why}", "the journal that was signed, from its first record on", ())
        for row in journal.table("checkpoint"):
            try:
                note = read_note(str(row[3]))
            except NoNote:
                continue  # that is told already
            frontier = self._roots_at.get(note.size, (b"", 0, b"", b""))[3]
            if row[:3] != (note.size, note.seq, frontier):
                found = f"checkpoint {row[0]!r} is kept beside the note of {note.size} records"
                check.violated(f"{found}, and is not its tree", "the tree of the note", ())

    def _contradicts(self, note: Note) -> str | None:
        key = self.law.keys.get(note.key_id)
        if note.trail_id != self.law.trail_id:
            return f"it is of trail {note.trail_id}, and this is {self.law.trail_id}"
        if key is None or not key.administers or not note.is_signed_by(key.public_key):
            return f"no administrator signed it (key {note.key_id})"
        if note.size > self.roots.size:
            return f"it covers {note.size} records, and the journal has {self.roots.size}"
        if (note.root, note.seq, note.link) != self._roots_at.get(note.size, (b"", 0, b"", b""))[:3]:
            return f"the first {note.size} records, up to record {note.seq}, are not those that were signed"
        return None

    @property
    def unwitnessed(self) -> int:
        """How many records no note from outside covers."""
        return max(self.roots.size - self.seen, 0)

    def is_purged(self, stored_seq: int) -> bool:
        """Whether the record's payload is gone, by a lawful purge."""
        return stored_seq in self.gone and stored_seq in self.law.destroyed


def _shown(row: Row) -> tuple[object, ...]:
    return tuple(value.hex() if isinstance(value, bytes) else value for value in row)
