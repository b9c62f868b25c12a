"""One write to the journal under the section: the gate before it, and what each of its answers means.

The gate is passed before every write, so that no holder begins what it cannot end. A record that the journal
appended without placing it is found again and stands. A reply that was lost is never written again blind: the
write's bound passes first, as the lease reports it, and then the record is looked for by its own event.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from falsework.runtime import trail
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Noted, noted
from falsework.runtime.invocation.section import Standing

PAUSES_IN_A_WRITE = 4
"""How many pauses between two tries fit into a write's bound."""


class Why(Enum):
    """Why a record has not landed."""

    GATE = "less of the lease is left than a write may take"
    CREDENTIAL = "the credential was refused"
    REQUEST = "the journal cannot take the record"
    FAILED = "the journal failed before appending"
    ABSENT = "the reply was lost, and the record is not there"
    UNREAD = "the reply was lost or late, and nobody could look for the record"


@dataclass(frozen=True, slots=True)
class Write:
    """What is to be recorded, for which invocation, under whose section."""

    action_ref: str
    actor_ref: str
    credential: str
    data: trail.Data
    invocation_id: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class Landed:
    """The record stands in the journal; a late one was found by reading back, which a person must hear of."""

    event_id: str
    late: str | None = None


@dataclass(frozen=True, slots=True)
class NotLanded:
    """The record does not stand, or nobody knows."""

    why: Why
    detail: str


Append: TypeAlias = Landed | NotLanded


def may_write(parties: Parties, standing: Standing) -> int | None:
    """What is left of the lease, if a write fits into it."""
    remaining = parties.section.remaining(standing)
    if remaining is None or parties.figures.journal_write_bound > remaining:
        return None
    return remaining


def append(parties: Parties, write: Write) -> Append:
    """The record has landed, once, or here is why not; the maps know of it."""
    if may_write(parties, write.standing) is None:
        return NotLanded(Why.GATE, Why.GATE.value)
    known = _known(parties, write)
    if isinstance(known, trail.Unavailable):
        return NotLanded(Why.FAILED, known.detail)
    answer = parties.trail.record_action(
        write.action_ref, write.actor_ref, write.credential, write.data, fence=_fence(parties, write.standing)
    )
    match answer:
        case trail.Recorded():
            parties.indexes.populate(_as_noted(parties, write, answer))
            return Landed(answer.event_id)
        case trail.InvalidCredential():
            return NotLanded(Why.CREDENTIAL, answer.detail)
        case trail.InvalidRequest():
            return _after_an_invalid_request(parties, write, known, answer)
        case trail.RecordingFailure(step=trail.Step.PLACE):
            return _found_again(parties, write, known, NotLanded(Why.UNREAD, answer.detail))
        case trail.RecordingFailure():
            return NotLanded(Why.FAILED, f"step {answer.step.value}: {answer.because.value}: {answer.detail}")
        case trail.ReplyLost():
            return _after_a_lost_reply(parties, write, answer)


def _known(parties: Parties, write: Write) -> set[str] | trail.Unavailable:
    """The events of the invocation's records so far; an intent is the first of them."""
    if write.action_ref.endswith(".intended"):
        return set()
    records = _records(parties, write)
    return records if isinstance(records, trail.Unavailable) else {found.event_id for found in records}


def _records(parties: Parties, write: Write) -> list[Noted] | trail.Unavailable:
    """The invocation's records as the journal was last read."""
    kind, _, act_key = write.standing.key.partition(":")
    found = parties.indexes.of((kind, act_key), write.invocation_id)
    return found if isinstance(found, trail.Unavailable) else list(found.records())


def _fence(parties: Parties, standing: Standing) -> trail.Fence | None:
    """The lease and this write's own terminus, minted at its issue with the allowance taken off."""
    figures = parties.figures
    if figures.journal_fence is None:
        return None
    terminus = parties.seam.now() + figures.journal_write_bound - figures.clock_offset_allowance
    return trail.Fence(standing.key, standing.holder, terminus)


def _as_noted(parties: Parties, write: Write, answer: trail.Recorded) -> Noted:
    """The record as the maps hold it, from what was written and what the journal stamped."""
    record = trail.Record(
        answer.sequence_number,
        answer.event_id,
        answer.recorded_at,
        write.action_ref,
        write.actor_ref,
        attestation_id="",
        policy_ref=None,
        retention_until=None,
        data=write.data,
    )
    found = noted(record, parties.deployment.kinds)
    assert found is not None  # what the protocol writes it recognises
    return found


def _after_an_invalid_request(
    parties: Parties, write: Write, known: set[str], answer: trail.InvalidRequest
) -> Append:
    """Only one source leaves the record appended, but each is looked for before it is reported."""
    absent = NotLanded(Why.REQUEST, f"{answer.source.value}: {answer.detail}")
    found = _found_again(parties, write, known, absent)
    if isinstance(found, NotLanded) and answer.source is not trail.Source.RETENTION:
        return absent
    return found


def _found_again(parties: Parties, write: Write, known: set[str], absent: NotLanded) -> Append:
    """The record that was appended without its retention, found by its invocation and its writer."""
    if not _read_again(parties, write.standing):
        return NotLanded(Why.UNREAD, absent.detail)
    records = _records(parties, write)
    if isinstance(records, trail.Unavailable):
        return NotLanded(Why.UNREAD, absent.detail)
    for found in records:
        same = (found.action_ref, found.actor_ref) == (write.action_ref, write.actor_ref)
        if same and found.event_id not in known:
            return Landed(found.event_id, late=absent.detail)
    return absent


def _after_a_lost_reply(parties: Parties, write: Write, answer: trail.ReplyLost) -> Append:
    """The record is looked for by its event once it can no longer land unseen, and not before."""
    if not _bound_has_passed(parties, write.standing):
        return NotLanded(Why.UNREAD, answer.detail)
    if not _read_again(parties, write.standing, behind_writers=True):
        return NotLanded(Why.UNREAD, answer.detail)
    records = _records(parties, write)
    if isinstance(records, trail.Unavailable):
        return NotLanded(Why.UNREAD, answer.detail)
    if any(found.event_id == answer.event_id for found in records):
        return Landed(answer.event_id)
    return NotLanded(Why.ABSENT, answer.detail)


def _read_again(parties: Parties, standing: Standing, *, behind_writers: bool = False) -> bool:
    """The journal has been read, tried again while the lease stands; a yielded writer reads no more."""
    while not isinstance(parties.indexes.refresh(behind_writers=behind_writers), list):
        parties.section.wait(pause(parties))
        if parties.section.remaining(standing) is None:
            return False
    return True


def pause(parties: Parties) -> int:
    """How long a writer waits between two tries."""
    return max(parties.figures.journal_write_bound // PAUSES_IN_A_WRITE, 1)


def _bound_has_passed(parties: Parties, standing: Standing) -> bool:
    """Whether a write's bound has passed since the call, as the lease reports while it stands.

    The reply was given up before the call, and the write issued before that. Counted from the gate, the bound
    could be over before a writer that paused behind its gate had issued anything.
    """
    bound, begun = parties.figures.journal_write_bound, parties.section.remaining(standing)
    while begun is not None and (remaining := parties.section.remaining(standing)) is not None:
        if begun - remaining >= bound:
            return True
        parties.section.wait(bound - (begun - remaining))
    return False
