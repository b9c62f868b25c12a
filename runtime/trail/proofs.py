"""Short proofs for who holds a checkpoint and not the journal: a record is in it, or it begins another one.

A proof is checked with its own fields, a checkpoint and nothing else; no key is needed but the checkpoint's.
"""

from dataclasses import dataclass

from falsework.runtime.store import Store, StoreError, Transaction
from falsework.runtime.trail.chain import FIRST, Entry, committed, linked
from falsework.runtime.trail.checkpoint import Checkpoint
from falsework.runtime.trail.journal import TrailError
from falsework.runtime.trail.merkle import consistency_proof, extends, includes, inclusion_proof
from falsework.runtime.trail.verify import entry_of

LINKS = "SELECT link FROM journal ORDER BY seq LIMIT ?"
ROW = """SELECT seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation, policy_ref,
    retention_until, commitment, link, salt, payload FROM journal WHERE event_id = ?"""


@dataclass(frozen=True, slots=True)
class Inclusion:
    """That a record is one of those under a checkpoint; with its payload, unless that is destroyed."""

    entry: Entry
    before: bytes
    index: int
    path: tuple[bytes, ...]
    salt: bytes | None
    payload: bytes | None

    def holds(self, checkpoint: Checkpoint) -> bool:
        """Whether the checkpoint is of a journal that has this record, with this payload if there is one."""
        if self.payload is not None or self.salt is not None:
            if self.payload is None or self.salt is None:
                return False
            if committed(self.salt, self.payload) != self.entry.commitment:
                return False
        leaf = linked(self.before, self.entry)
        return includes(checkpoint.root, checkpoint.size, leaf, self.index, self.path)


@dataclass(frozen=True, slots=True)
class Consistency:
    """That the journal of the later checkpoint begins with that of the earlier one."""

    path: tuple[bytes, ...]

    def holds(self, earlier: Checkpoint, later: Checkpoint) -> bool:
        """Whether nothing under the earlier checkpoint is changed or missing under the later one."""
        return earlier.trail_id == later.trail_id and extends(
            earlier.root, earlier.size, later.root, later.size, self.path
        )


def prove_inclusion(store: Store, event_id: str, checkpoint: Checkpoint) -> Inclusion:
    """The proof that the event's record is under the checkpoint."""
    with store.snapshot() as snapshot:
        rows = snapshot.execute(ROW, (event_id,))
        links = _links(snapshot, checkpoint)
    if not rows:
        raise TrailError(f"no record has the event id {event_id!r}")
    entry, link, salt, payload = entry_of(rows[0])
    if link not in links:
        raise TrailError(
            f"event {event_id!r} is not under the checkpoint of {checkpoint.size} records: take a later one"
        )
    index = links.index(link)
    before = links[index - 1] if index else FIRST
    return Inclusion(entry, before, index, tuple(inclusion_proof(links, index)), salt, payload)


def prove_consistency(store: Store, earlier: Checkpoint, later: Checkpoint) -> Consistency:
    """The proof that the later checkpoint's journal begins with the earlier one's."""
    if earlier.size > later.size:
        raise TrailError(
            f"a checkpoint of {earlier.size} records does not come before one of {later.size}: exchange them"
        )
    with store.snapshot() as snapshot:
        links = _links(snapshot, later)
    return Consistency(tuple(consistency_proof(links, earlier.size)))


def _links(snapshot: Transaction, checkpoint: Checkpoint) -> list[bytes]:
    """The links of all records under the checkpoint."""
    links = [link for (link,) in snapshot.execute(LINKS, (checkpoint.size,)) if isinstance(link, bytes)]
    if len(links) != checkpoint.size:
        raise StoreError(
            f"the checkpoint is of {checkpoint.size} records, and the journal has {len(links)}: verify it"
        )
    return links
