"""What administrators do to a trail, each act a record of the trail's own: keys, policies, purges.

The tables of keys, policies and purges are written in the transaction that records the act, and hold nothing
that the records do not say.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from falsework.runtime.store import (
    Store,
    StoreBusy,
    StoreError,
    StoreUnknown,
    Transaction,
    boundaries,
)
from falsework.runtime.trail import append
from falsework.runtime.trail.canonical import canonical
from falsework.runtime.trail.chain import FIRST, SALT
from falsework.runtime.trail.contract import (
    OWN_PREFIX,
    Because,
    Caps,
    Data,
    InvalidCredential,
    InvalidRequest,
    RecordAnswer,
    Recorded,
    RecordingFailure,
    ReplyLost,
    Source,
    Step,
)
from falsework.runtime.trail.identity import PUBLIC, SigningKey, fingerprint, signing_key
from falsework.runtime.trail.journal import AuditTrail, Seams, TrailError, unattested, wrong_name
from falsework.runtime.trail.retention import LATEST, OWN, Placement, PlacementFailed, declared_policies

FOUNDED = f"{OWN_PREFIX}founded"
REGISTERED = f"{OWN_PREFIX}key_registered"
REVOKED = f"{OWN_PREFIX}key_revoked"
DECLARED = f"{OWN_PREFIX}retention_declared"
PLACED_LATE = f"{OWN_PREFIX}placed"
PURGED = f"{OWN_PREFIX}purged"

FOUND, REGISTER, REVOKE = "trail.found", "trail.register", "trail.revoke"
DECLARE, PLACE, PURGE = "trail.declare", "trail.place", "trail.purge"

BOUNDARIES = tuple(
    boundary for name in (FOUND, REGISTER, REVOKE, DECLARE, PLACE, PURGE) for boundary in boundaries(name)
)
"""Every durable boundary this module passes."""

MOST_AT_ONCE = 500
"""How many payloads one purge destroys at most: its record stays small, and its transaction short."""

INSERT_KEY = """INSERT INTO actor_key
    (key_id, actor_ref, public_key, administers, valid_until, registered_seq)
    VALUES (?, ?, ?, ?, ?, ?)"""

UNPLACED = """SELECT j.seq, j.action_ref, j.recorded_at FROM journal AS j
    LEFT JOIN placed_late AS late ON late.seq = j.seq
    WHERE j.policy_ref IS NULL AND late.seq IS NULL ORDER BY j.seq"""

DUE = """SELECT seq, event_id FROM (
        SELECT seq, event_id FROM journal WHERE payload IS NOT NULL AND retention_until <= ?
        UNION ALL
        SELECT j.seq, j.event_id FROM placed_late AS late JOIN journal AS j ON j.seq = late.seq
        WHERE j.payload IS NOT NULL AND late.retention_until <= ?
    ) AS due WHERE seq > ? ORDER BY seq LIMIT ?"""


@dataclass(frozen=True, slots=True)
class Act:
    """An administrator's act, once it is known to make sense: what is recorded, and what is changed."""

    data: Data
    change: Callable[[Transaction, int], None]


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """No record is due: nothing was written."""


Plan = Callable[[Transaction, int], "Act | InvalidRequest | NothingToDo"]


def found(store: Store, administrator: str, credential: str, seams: Seams | None = None) -> str:
    """The store holds a trail whose first record names its first administrator; the trail's id."""
    seams = seams or Seams()
    wrong = wrong_name("administrator", administrator, Caps().reference)
    if wrong is not None:
        raise TrailError(wrong)
    key = signing_key(credential)
    if key is None:
        raise TrailError(
            "the administrator's credential is none: write ed25519: and the 43 characters of a seed"
        )
    trail_id = seams.entropy(SALT).hex()
    data: Data = {
        "actor_ref": administrator,
        "format": 1,
        "key_id": key.key_id,
        "public_key": key.public_key.hex(),
        "trail_id": trail_id,
    }
    with store.transaction(FOUND) as transaction:
        if transaction.execute("SELECT 1 FROM trail"):
            raise TrailError("this store holds an audit trail already: open it, or give another store")
        prepared = append.prepare(
            trail_id, seams.event_id(), FOUNDED, administrator, key, seams.entropy(SALT), canonical(data)
        )
        placement = Placement(OWN.prefix, None)
        appended = append.insert(transaction, prepared, (0, FIRST), store.now(), placement)
        transaction.execute("INSERT INTO trail (sole, trail_id) VALUES (1, ?)", (trail_id,))
        row = (key.key_id, administrator, key.public_key, 1, None, appended.sequence_number)
        transaction.execute(INSERT_KEY, row)
    return trail_id


class Steward:
    """An administrator at work on a trail."""

    def __init__(self, trail: AuditTrail, actor_ref: str, credential: str) -> None:
        self.trail = trail
        self.actor_ref = actor_ref
        key = signing_key(credential)
        if key is None:
            raise TrailError(
                "the steward's credential is none: write ed25519: and the 43 characters of a seed"
            )
        self.key: SigningKey = key

    def register(
        self,
        actor_ref: str,
        public_key: bytes,
        *,
        administers: bool = False,
        valid_until: int | None = None,
    ) -> RecordAnswer:
        """The holder of the key is this actor from now on, until the instant if there is one."""
        wrong = self.trail.wrong_name("actor ref", actor_ref)
        if wrong is None and len(public_key) != PUBLIC:
            wrong = f"public key is {public_key!r}: write its {PUBLIC} bytes"
        if wrong is None and valid_until is not None and not _is_from_1_to(LATEST, valid_until):
            wrong = f"valid until is {valid_until!r}: write an instant of the database's clock, or None"
        if wrong is not None:
            return InvalidRequest(Source.INPUT, wrong)
        key_id = fingerprint(public_key)

        def plan(transaction: Transaction, _: int) -> Act | InvalidRequest:
            if transaction.execute("SELECT 1 FROM actor_key WHERE key_id = ?", (key_id,)):
                return InvalidRequest(
                    Source.IDENTITY, f"key {key_id} is registered already: make a fresh one"
                )
            data: Data = {
                "actor_ref": actor_ref,
                "administers": administers,
                "key_id": key_id,
                "public_key": public_key.hex(),
                "valid_until": None if valid_until is None else str(valid_until),
            }
            columns = (key_id, actor_ref, public_key, int(administers), valid_until)
            return Act(data, lambda within, seq: _run(within, INSERT_KEY, (*columns, seq)))

        return _expected(self._act(REGISTER, REGISTERED, plan))

    def revoke(self, key_id: str) -> RecordAnswer:
        """The key attests nothing from now on; what it attested before stands."""

        def plan(transaction: Transaction, _: int) -> Act | InvalidRequest:
            match transaction.execute("SELECT revoked_seq FROM actor_key WHERE key_id = ?", (key_id,)):
                case [(None,)]:
                    statement = "UPDATE actor_key SET revoked_seq = ? WHERE key_id = ?"
                    return Act({"key_id": key_id}, lambda within, seq: _run(within, statement, (seq, key_id)))
                case []:
                    return InvalidRequest(Source.IDENTITY, f"key {key_id!r} is not registered")
            return InvalidRequest(Source.IDENTITY, f"key {key_id!r} has been revoked already")

        return _expected(self._act(REVOKE, REVOKED, plan))

    def declare_retention(self, prefix: str, period: int | None) -> RecordAnswer:
        """Records whose action ref begins so are kept for the period, for good where there is none."""
        wrong = self.trail.wrong_name("prefix", prefix)
        if wrong is None and (prefix.startswith(OWN_PREFIX) or OWN_PREFIX.startswith(prefix)):
            wrong = f"prefix is {prefix!r}: the trail's own records are kept for good"
        if wrong is None and period is not None and not _is_from_1_to(LATEST // 2, period):
            wrong = f"period is {period!r}: write a whole number from 1 to {LATEST // 2}, or None for good"
        if wrong is not None:
            return InvalidRequest(Source.INPUT, wrong)

        def plan(transaction: Transaction, _: int) -> Act | InvalidRequest:
            if transaction.execute("SELECT 1 FROM policy WHERE prefix = ?", (prefix,)):
                return InvalidRequest(
                    Source.RETENTION, f"a policy of {prefix!r} is declared already, and for good"
                )
            data: Data = {"period": None if period is None else str(period), "prefix": prefix}
            statement = "INSERT INTO policy (prefix, period, declared_seq) VALUES (?, ?, ?)"
            return Act(data, lambda within, seq: _run(within, statement, (prefix, period, seq)))

        return _expected(self._act(DECLARE, DECLARED, plan))

    def place_late(self, limit: int = MOST_AT_ONCE) -> RecordAnswer | NothingToDo:
        """Records that were appended without a place have one, where a policy is declared by now."""

        def plan(transaction: Transaction, _: int) -> Act | NothingToDo:
            policies = declared_policies(transaction)
            found: list[tuple[int, Placement]] = []
            for seq, action_ref, recorded_at in transaction.execute(UNPLACED):
                with suppress(PlacementFailed):
                    place = policies.place(str(action_ref), _int(recorded_at))
                    if place is not None and len(found) < min(limit, MOST_AT_ONCE):
                        found.append((_int(seq), place))
            if not found:
                return NothingToDo()
            return Act(_placed_data(found), lambda within, by: _place(within, found, by))

        return self._act(PLACE, PLACED_LATE, plan)

    def purge(
        self, limit: int = MOST_AT_ONCE, spares: Callable[[str], bool] = lambda _: False
    ) -> RecordAnswer | NothingToDo:
        """Payloads whose retention has ended are destroyed, but for the events that are spared."""

        def plan(transaction: Transaction, now: int) -> Act | NothingToDo:
            due = _due(transaction, now, min(limit, MOST_AT_ONCE), spares)
            if not due:
                return NothingToDo()
            data: Data = {"destroyed": [[seq, event_id] for seq, event_id in due]}
            return Act(data, lambda within, by: _destroy(within, [seq for seq, _ in due], by))

        return self._act(PURGE, PURGED, plan)

    def _act(self, name: str, action_ref: str, plan: Plan) -> RecordAnswer | NothingToDo:
        """The act that the plan makes is recorded and done in one transaction, or neither."""
        trail, event_id = self.trail, ""
        try:
            with trail.store.transaction(name) as transaction:
                standing = append.look(transaction, self.key.key_id, None)
                now = trail.store.now()
                refused = unattested(transaction, self.actor_ref, standing, now)
                if refused is None and (standing.key is None or not standing.key.administers):
                    refused = InvalidCredential(f"{self.actor_ref!r} does not administer this trail")
                planned = refused or plan(transaction, now)
                if not isinstance(planned, Act):
                    return planned
                payload = canonical(planned.data)
                prepared = trail.prepared(action_ref, self.actor_ref, self.key, payload)
                event_id = prepared.event_id
                head = standing.sequence_number, standing.link
                placement = Placement(OWN.prefix, None)
                appended = append.insert(transaction, prepared, head, now, placement)
                planned.change(transaction, appended.sequence_number)
        except StoreBusy as error:
            return RecordingFailure(Step.APPEND, Because.BUSY, str(error))
        except StoreUnknown as error:
            return ReplyLost(event_id, str(error))
        except StoreError as error:
            return RecordingFailure(Step.APPEND, Because.FAILED, str(error))
        return Recorded(event_id, appended.sequence_number, appended.recorded_at)


def _is_from_1_to(most: int, value: int) -> bool:
    """Whether the value is a whole number, truth values apart, from 1 to the most."""
    return type(value) is int and 1 <= value <= most


def _run(transaction: Transaction, statement: str, values: Sequence[int | str | bytes | None]) -> None:
    """The statement has run."""
    transaction.execute(statement, values)


def _placed_data(found: list[tuple[int, Placement]]) -> Data:
    """What is recorded of a late placement."""
    return {
        "placed": [
            [seq, place.policy_ref, None if place.retention_until is None else str(place.retention_until)]
            for seq, place in found
        ]
    }


def _place(transaction: Transaction, found: list[tuple[int, Placement]], by: int) -> None:
    """The records have their places."""
    for seq, place in found:
        transaction.execute(
            "INSERT INTO placed_late (seq, policy_ref, retention_until, placed_seq) VALUES (?, ?, ?, ?)",
            (seq, place.policy_ref, place.retention_until, by),
        )


def _due(
    transaction: Transaction, now: int, limit: int, spares: Callable[[str], bool]
) -> list[tuple[int, str]]:
    """The first records whose payloads are to be destroyed; those that are spared hold up no others."""
    due: list[tuple[int, str]] = []
    page = transaction.execute(DUE, (now, now, 0, MOST_AT_ONCE))
    while page and len(due) < limit:
        for seq, event_id in page:
            if len(due) < limit and not spares(str(event_id)):
                due.append((_int(seq), str(event_id)))
        page = transaction.execute(DUE, (now, now, page[-1][0], MOST_AT_ONCE))
    return due


def _destroy(transaction: Transaction, due: list[int], by: int) -> None:
    """The payloads are destroyed, and it is known by which purge."""
    for seq in due:
        transaction.execute("UPDATE journal SET salt = NULL, payload = NULL WHERE seq = ?", (seq,))
        transaction.execute("INSERT INTO destroyed (seq, purge_seq) VALUES (?, ?)", (seq, by))


def _expected(answer: RecordAnswer | NothingToDo) -> RecordAnswer:
    """The answer of an act that always has something to do."""
    assert not isinstance(answer, NothingToDo), "only a purge or a placement may find nothing due"
    return answer


def _int(value: int | str | bytes | None) -> int:
    """The whole number of a column that holds nothing else."""
    if not isinstance(value, int):
        raise StoreError(f"a number of the journal is stored as {value!r}: verify the journal")
    return value
