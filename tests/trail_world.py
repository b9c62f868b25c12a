"""One audit trail as tests use it: its clock, ids and salts in hand, an administrator and two actors."""

import itertools
from pathlib import Path

from falsework.runtime.lease import Granted, LeaseHost
from falsework.runtime.store import Failpoint, Value, pass_through
from falsework.runtime.trail import Caps, Data, Page, Record, RecordAnswer, Recorded
from falsework.runtime.trail.checkpoint import FileWitness, Notary
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail, Seams
from falsework.runtime.trail.steward import Steward, found
from falsework.runtime.trail.verify import Verdict, verify
from lease_world import HandClock, Script
from stores import Place

ROOT, ALICE, BOB = (fresh_credential(bytes([byte]).__mul__) for byte in (1, 2, 3))


def counted_seams(first: int = 1) -> Seams:
    """Event ids and salts that are the same in every run."""
    ids, salts = itertools.count(first), itertools.count(first)
    return Seams(lambda: f"event {next(ids)}", lambda size: next(salts).to_bytes(size, "big"))


class TrailWorld:
    """A trail that root founded, with alice and bob in it, and `pay.` kept for a hundred units of time."""

    def __init__(self, place: Place, failpoint: Failpoint = pass_through, caps: Caps | None = None) -> None:
        self.place = place
        self.clock = HandClock(1_000)
        self.store = place.open(self.clock, failpoint)
        self.seams = counted_seams()
        self.trail_id = found(self.store, "root", ROOT, self.seams)
        self.trail = AuditTrail(self.store, caps, self.seams, failpoint)
        self.steward = Steward(self.trail, "root", ROOT)
        self.host = LeaseHost(self.store, self.store, Script())
        for actor, credential in (("alice", ALICE), ("bob", BOB)):
            landed(self.steward.register(actor, public_key_of(credential)))
        landed(self.steward.declare_retention("pay.", 100))
        self.witness = FileWitness(Path(place.folder) / "witness")
        self.notary = Notary(self.trail, ROOT, self.witness)

    def record(self, data: Data | None = None, action: str = "pay.intended") -> Recorded:
        """What alice did is recorded."""
        return landed(self.trail.record_action(action, "alice", ALICE, {"n": 1} if data is None else data))

    def take(self, key: str = "k", holder: str = "a", duration: int = 30) -> int:
        """The key is the holder's, until this instant."""
        answer = self.host.take(key, holder, duration)
        assert isinstance(answer, Granted)
        return answer.expires_at

    def records(self, after: int = 4) -> list[Record]:
        """All records, but for those with which the world began."""
        page = self.trail.read_range(after)
        assert isinstance(page, Page)
        assert page.complete
        return list(page.records)

    def verify(self) -> Verdict:
        """The verdict on the journal, with the witness's notes."""
        return verify(self.store, self.witness.held())

    def tamper(self, statement: str, *values: Value) -> None:
        """Somebody who has the database has run the statement, whatever the tables say to it."""
        self.place.unguarded()
        with self.place.bare() as run:
            run(statement, values)


def landed(answer: RecordAnswer) -> Recorded:
    """The answer, which is that the record landed."""
    assert isinstance(answer, Recorded), answer
    return answer
