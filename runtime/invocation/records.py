"""The records that the protocol writes, what each carries, and how one is recognised when it is read."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from falsework.runtime.invocation.answers import Cause
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.trail import Data, Json, Record

OWN_FIELDS = frozenset(
    {
        "invocation_id",
        "intent_event_id",
        "kind",
        "act_key",
        "recovery",
        "acting_actor_ref",
        "resolved_by",
        "supersedes",
        "cause",
        "store_candidates",
        "candidates_count",
        "candidates_range",
        "plan",
        "reason",
        "constituent_code",
    }
)
"""What the protocol writes by itself: an adopter's data carries none of it."""

STAMPED_FIELDS = frozenset(
    {"event_id", "sequence_number", "recorded_at", "attestation_id", "policy_ref", "retention_until"}
)
"""What the journal stamps: an intent that carried one of these would tell of itself what nobody attests."""

NOT_OF_AN_INTENT = OWN_FIELDS | STAMPED_FIELDS
"""What no adopter's intent carries."""


class Sort(Enum):
    """The four sorts of closing record."""

    OUTCOME = "outcome"
    REFUSED = "refused"
    ABANDONED = "abandoned"
    ESCALATED = "escalated"


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent as the journal holds it."""

    event_id: str
    sequence_number: int
    recorded_at: int
    actor_ref: str
    action_ref: str
    invocation_id: str
    kind: str
    act_key: str
    payload: Data


@dataclass(frozen=True, slots=True)
class Closing:
    """A closing record: what it says, who wrote it, and which records it supersedes by name."""

    event_id: str
    sequence_number: int
    recorded_at: int
    actor_ref: str
    action_ref: str
    invocation_id: str
    kind: str
    act_key: str
    sort: Sort
    recovery: bool
    resolved_by: str | None
    supersedes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecoveryIntended:
    """The sweep's statement of an act and its plan, which is no closing."""

    event_id: str
    sequence_number: int
    recorded_at: int
    actor_ref: str
    action_ref: str
    invocation_id: str
    kind: str
    act_key: str


Noted: TypeAlias = Intent | Closing | RecoveryIntended
"""A record of the protocol's, as an index holds it."""


@dataclass(frozen=True, slots=True)
class Names:
    """What every record after the intent carries: which act, which invocation, which intent."""

    act_key: str
    invocation_id: str
    intent_event_id: str


# What is written.


def identified(data: Data, kind: Kind, act_key: str, invocation_id: str) -> dict[str, Json]:
    """The adopter's data with the act's and the invocation's identity added: the intent's payload."""
    return {**data, "invocation_id": invocation_id, "kind": kind.name, "act_key": act_key}


def closing_payload(data: Data, kind: Kind, names: Names) -> dict[str, Json]:
    """The payload of any record after the intent."""
    payload = identified(data, kind, names.act_key, names.invocation_id)
    return {**payload, "intent_event_id": names.intent_event_id}


def recovered_payload(data: Data, kind: Kind, intent: Intent) -> dict[str, Json]:
    """The payload of a closing that another writes: it names the caller who opened the act."""
    names = Names(intent.act_key, intent.invocation_id, intent.event_id)
    return {**closing_payload(data, kind, names), "recovery": True, "acting_actor_ref": intent.actor_ref}


def escalation(cause: Cause, candidates: tuple[str, ...], cap: int) -> dict[str, Json]:
    """The candidates up to the cap; past it, how many there are, and the first and the last of them."""
    data: dict[str, Json] = {"cause": cause.value}
    if candidates:
        data["store_candidates"] = list(candidates[:cap])
    if len(candidates) > cap:
        data["candidates_count"] = len(candidates)
        data["candidates_range"] = [candidates[0], candidates[-1]]
    return data


def superseding(event_ids: tuple[str, ...]) -> dict[str, Json]:
    """The names of what is superseded: one as it is, several in a list, none not at all."""
    if not event_ids:
        return {}
    return {"supersedes": event_ids[0] if len(event_ids) == 1 else list(event_ids)}


def foreign_fields(data: Data, reserved: frozenset[str]) -> str | None:
    """The first field of an adopter's data that is not the adopter's to write."""
    if reserved.isdisjoint(data):
        return None
    return next((field for field in sorted(data) if field in reserved), None)


# What is read.


def noted(record: Record, kinds: dict[str, Kind]) -> Noted | None:
    """The record as the protocol's own; None where it is not, or its payload is destroyed."""
    name, _, word = record.action_ref.partition(".")
    data = record.data
    if data is None or not word or data.get("kind") != name:
        return None
    invocation_id, act_key = data.get("invocation_id"), data.get("act_key")
    if not isinstance(invocation_id, str) or not isinstance(act_key, str):
        return None
    if word == "intended":
        return Intent(*_stamps(record), invocation_id, name, act_key, data)
    if word == "recovery_intended":
        return RecoveryIntended(*_stamps(record), invocation_id, name, act_key)
    sort = _sort(word, kinds.get(name))
    return None if sort is None else _closing(record, data, (invocation_id, name, act_key), sort)


def _stamps(record: Record) -> tuple[str, int, int, str, str]:
    """What the journal itself says of the record, and who wrote it."""
    return (
        record.event_id,
        record.sequence_number,
        record.recorded_at,
        record.actor_ref,
        record.action_ref,
    )


def _sort(word: str, kind: Kind | None) -> Sort | None:
    """The sort of closing; an outcome by membership, and of a kind that is not bound by elimination."""
    if word in ("refused", "abandoned", "escalated"):
        return Sort(word)
    return Sort.OUTCOME if kind is None or word in kind.outcomes else None


def _closing(record: Record, data: Data, names: tuple[str, str, str], sort: Sort) -> Closing:
    resolved_by = data.get("resolved_by")
    match data.get("supersedes"):
        case str() as one:
            supersedes: tuple[str, ...] = (one,)
        case list() | tuple() as several:
            supersedes = tuple(name for name in several if isinstance(name, str))
        case _:
            supersedes = ()
    return Closing(
        *_stamps(record),
        *names,
        sort,
        data.get("recovery") is True,
        resolved_by if isinstance(resolved_by, str) else None,
        supersedes,
    )
