"""Read Invocation: the act's invocations from the journal, each with its state and its records."""

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Entry,
    JournalUnavailable,
    NotKnown,
    ReadAnswer,
    Report,
)
from falsework.runtime.invocation.keyed import Invocation
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.standing import duplicated, standing, state
from falsework.runtime.invocation.terms import horizon_edge


def read_invocation(
    parties: Parties, kind_name: str, act_key: str, invocation_id: str | None = None
) -> ReadAnswer:
    """What the journal says of the act, or of one invocation of it; nothing is taken or written."""
    kind = parties.kind(kind_name)
    delta = parties.indexes.refresh()
    if not isinstance(delta, list):
        return JournalUnavailable(delta.detail)
    now = parties.seam.now()
    act = (kind.name, act_key)
    open_intents = parties.indexes.open_intents(act, now)
    known = parties.indexes.of_act(act)
    if isinstance(known, trail.Unavailable):
        return JournalUnavailable(known.detail)
    ids = [name for name in known if invocation_id in (None, name)]
    cap = parties.figures.read_cap
    entries: list[Entry] = []
    for name in reversed(ids):
        if len(entries) == cap:
            break
        invocation = known[name]
        if any(now >= horizon_edge(kind, parties.figures, old.recorded_at) for old in invocation.intents):
            continue  # its closings may be destroyed, so that what is left would tell the wrong state
        entry = _entry(parties, name, invocation)
        if isinstance(entry, trail.Unavailable):
            return JournalUnavailable(entry.detail)
        if entry is not None:
            entries.append(entry)
    if not entries:
        return NotKnown()
    duplicate = len(open_intents) > 1 and not kind.reports_only
    return Report(tuple(entries), duplicate, more=len(ids) > cap)


def _entry(parties: Parties, invocation_id: str, found: Invocation) -> Entry | trail.Unavailable | None:
    """The invocation with its records as the journal holds them now; None once its intent is destroyed."""
    cap = parties.figures.read_cap
    events = [intent.event_id for intent in found.intents]
    recoveries = sorted((record.sequence_number, record.event_id) for record in found.recoveries)
    closings = sorted((record.sequence_number, record.event_id) for record in found.closings)
    shown = {*recoveries[-cap:], *closings[-cap:]}
    stands = standing(found.closings)
    if stands is not None:
        shown.add((stands.sequence_number, stands.event_id))  # the state is read off it, beyond any cap
    events += [event_id for _, event_id in sorted(shown)]
    records: list[trail.Record] = []
    for event_id in events:
        match parties.trail.read_record(event_id):
            case trail.Retained(record=record):
                records.append(record)
            case trail.Unavailable() as outage:
                return outage
    if not any(record.action_ref.endswith(".intended") for record in records):
        return None
    more = len(found.recoveries) > cap or len(found.closings) > cap
    return Entry(invocation_id, state(found.closings), duplicated(found.closings), tuple(records), more)
