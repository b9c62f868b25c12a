"""How a record gets into the journal: prepared outside the transaction, looked up and inserted inside it."""

from typing import NamedTuple

from falsework.runtime.store import Question, Row, StoreError, Transaction
from falsework.runtime.trail.chain import Entry, committed, linked, statement
from falsework.runtime.trail.contract import Fence
from falsework.runtime.trail.identity import SigningKey
from falsework.runtime.trail.retention import Placement


class Prepared(NamedTuple):
    """All of a record that does not depend on when it is appended."""

    event_id: str
    action_ref: str
    actor_ref: str
    key_id: str
    attestation: bytes
    commitment: bytes
    salt: bytes
    payload: bytes


class KeyRow(NamedTuple):
    """A registered key."""

    actor_ref: str
    public_key: bytes
    administers: bool
    valid_until: int | None
    revoked: bool


class Standing(NamedTuple):
    """What an append must know, in one look: the head, the actor's key, the lease, the latest policy."""

    sequence_number: int
    link: bytes
    key: KeyRow | None
    holder: str | None
    expires_at: int | None
    latest_policy: int


class Appended(NamedTuple):
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
    return stood(transaction.execute(LOOK, (key_id, lease_key)), key_id)


def question(key_id: str, lease_key: str | None) -> Question:
    """What an append must know, asked in the turn that gets the store's lock."""
    return LOOK, (key_id, lease_key)


def stood(rows: list[Row], key_id: str) -> Standing:
    """What the answer says."""
    match rows:
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
    event_id, action_ref, actor_ref, key_id, attestation, commitment, salt, payload = prepared
    seq, link = head[0] + 1, head[1]
    policy, until = (None, None) if placement is None else placement
    entry = Entry(seq, event_id, now, action_ref, actor_ref, key_id, attestation, policy, until, commitment)
    transaction.write(INSERT, (*entry, linked(link, entry), salt, payload))
    return Appended(seq, now)


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
