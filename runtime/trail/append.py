"""How a record gets into the journal: prepared outside the transaction, looked up and inserted inside it."""

from dataclasses import dataclass

from falsework.runtime.store import StoreError, Transaction
from falsework.runtime.trail.chain import Entry, committed, linked, statement
from falsework.runtime.trail.contract import Fence
from falsework.runtime.trail.identity import SigningKey
from falsework.runtime.trail.retention import Placement


@dataclass(frozen=True, slots=True)
class Prepared:
    """All of a record that does not depend on when it is appended."""

    event_id: str
    action_ref: str
    actor_ref: str
    key_id: str
    attestation: bytes
    commitment: bytes
    salt: bytes
    payload: bytes


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A registered key."""

    actor_ref: str
    public_key: bytes
    administers: bool
    valid_until: int | None
    revoked: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What an append must know, in one look: the head, the actor's key, the lease, the latest policy."""

    sequence_number: int
    link: bytes
    key: KeyRow | None
    holder: str | None
    expires_at: int | None
    latest_policy: int


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a record stands, once its transaction is durable."""

    sequence_number: int
    recorded_at: int


LOOK = """SELECT head.seq, head.link,
    k.actor_ref, k.public_key, k.administers, k.valid_until, k.revoked_seq,
    l.holder, l.expires_at,
    (SELECT MAX(declared_seq) FROM policy)
    FROM (SELECT seq, link FROM journal ORDER BY seq DESC LIMIT 1) AS head
    LEFT JOIN actor_key AS k ON k.key_id = ?
    LEFT JOIN lease AS l ON l.lease_key = ?"""

INSERT = """INSERT INTO journal (seq, event_id, recorded_at, action_ref, actor_ref, key_id, attestation,
    policy_ref, retention_until, commitment, link, salt, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def prepare(
    trail_id: str,
    event_id: str,
    action_ref: str,
    actor_ref: str,
    key: SigningKey,
    salt: bytes,
    payload: bytes,
) -> Prepared:
    """The record, attested."""
    commitment = committed(salt, payload)
    attestation = key.sign(statement(trail_id, event_id, action_ref, actor_ref, commitment))
    return Prepared(event_id, action_ref, actor_ref, key.key_id, attestation, commitment, salt, payload)


def look(transaction: Transaction, key_id: str, lease_key: str | None) -> Standing:
    """What stands now, with the store's lock held."""
    match transaction.execute(LOOK, (key_id, lease_key)):
        case [(int() as seq, bytes() as link, *key, holder, expires_at, latest)]:
            if isinstance(holder, str | None) and isinstance(expires_at, int | None):
                policy = latest if isinstance(latest, int) else 0
                return Standing(seq, link, _key_row(key_id, key), holder, expires_at, policy)
        case []:
            raise StoreError("the journal has no record at all: it was founded with one")
    raise StoreError("the journal's head is not a number and a link: verify the journal")


def fenced_out(fence: Fence, standing: Standing, now: int) -> str | None:
    """Why the write is out of its fence; None where it stands inside it."""
    if standing.holder is None or standing.expires_at is None:
        return f"nobody holds {fence.key!r}"
    if standing.holder != fence.holder:
        return f"{fence.key!r} is held by {standing.holder!r} and not by {fence.holder!r}"
    if now >= standing.expires_at:
        return f"the lease of {fence.key!r} ended at {standing.expires_at}, and it is {now}"
    if now >= fence.terminus:
        return f"the write's own terminus was {fence.terminus}, and it is {now}"
    return None


def insert(
    transaction: Transaction,
    prepared: Prepared,
    head: tuple[int, bytes],
    now: int,
    placement: Placement | None,
) -> Appended:
    """The record follows the head."""
    entry = Entry(
        head[0] + 1,
        prepared.event_id,
        now,
        prepared.action_ref,
        prepared.actor_ref,
        prepared.key_id,
        prepared.attestation,
        None if placement is None else placement.policy_ref,
        None if placement is None else placement.retention_until,
        prepared.commitment,
    )
    transaction.execute(
        INSERT,
        (
            entry.sequence_number,
            entry.event_id,
            entry.recorded_at,
            entry.action_ref,
            entry.actor_ref,
            entry.key_id,
            entry.attestation,
            entry.policy_ref,
            entry.retention_until,
            entry.commitment,
            linked(head[1], entry),
            prepared.salt,
            prepared.payload,
        ),
    )
    return Appended(entry.sequence_number, now)


def _key_row(key_id: str, columns: list[str | int | bytes | None]) -> KeyRow | None:
    """The registered key of a row's columns; None where there is none."""
    match columns:
        case (None, *_):
            return None
        case (
            str() as actor_ref,
            bytes() as public_key,
            int() as administers,
            int() | None as valid_until,
            int() | None as revoked,
        ):
            return KeyRow(actor_ref, public_key, administers != 0, valid_until, revoked is not None)
    raise StoreError(f"the key {key_id} is stored as {columns}: verify the journal")
