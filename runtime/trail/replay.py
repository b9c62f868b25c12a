"""What a trail's own records say, replayed from the first: keys, policies, late places, destroyed payloads.

The replay believes no table: it is what the tables are compared with.
"""

from dataclasses import dataclass, field

from falsework.runtime.trail.canonical import parsed
from falsework.runtime.trail.chain import Entry
from falsework.runtime.trail.contract import OWN_PREFIX, Data, Json
from falsework.runtime.trail.identity import fingerprint
from falsework.runtime.trail.retention import Placement, PlacementFailed, Policies, Policy
from falsework.runtime.trail.steward import DECLARED, FOUNDED, PLACED_LATE, PURGED, REGISTERED, REVOKED


class Unlawful(Exception):
    """A record that no trail would have written."""


@dataclass
class Key:
    """A key as the records tell of it."""

    actor_ref: str
    public_key: bytes
    administers: bool
    valid_until: int | None
    registered_seq: int
    revoked_seq: int | None = None


@dataclass
class Replay:
    """The state of a trail after some of its records."""

    trail_id: str = ""
    keys: dict[str, Key] = field(default_factory=dict)
    policies: dict[str, tuple[Policy, int]] = field(default_factory=dict)
    late: dict[int, tuple[Placement, int]] = field(default_factory=dict)
    destroyed: dict[int, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    until: dict[int, int] = field(default_factory=dict)  # when a placed record may be destroyed
    unplaced: dict[int, tuple[str, int]] = field(default_factory=dict)
    _placing: Policies = field(default_factory=Policies)

    def attesting_key(self, entry: Entry) -> Key:
        """The key that attests the entry, and may."""
        key = self.keys.get(entry.key_id)
        if key is None:
            raise Unlawful(f"its key {entry.key_id} was not registered before it")
        if key.actor_ref != entry.actor_ref:
            raise Unlawful(f"its key is {key.actor_ref!r}'s, and its actor is {entry.actor_ref!r}")
        if key.revoked_seq is not None:
            raise Unlawful(f"its key was revoked before it, by record {key.revoked_seq}")
        if key.valid_until is not None and entry.recorded_at >= key.valid_until:
            raise Unlawful(f"its key had ended at {key.valid_until}, and it is of {entry.recorded_at}")
        if entry.action_ref.startswith(OWN_PREFIX) and not key.administers:
            raise Unlawful(f"{entry.actor_ref!r} did not administer the trail")
        return key

    def place(self, entry: Entry) -> None:
        """The entry has the place that the policies before it give, or none yet."""
        if entry.event_id in self.events:
            raise Unlawful(f"its event is that of record {self.events[entry.event_id]} too")
        self.events[entry.event_id] = entry.sequence_number
        if entry.policy_ref is None and entry.retention_until is None:
            self.unplaced[entry.sequence_number] = (entry.action_ref, entry.recorded_at)
            return
        stored = Placement(entry.policy_ref or "", entry.retention_until)
        self._refuse_another_place(stored, entry.action_ref, entry.recorded_at)
        if entry.retention_until is not None:
            self.until[entry.sequence_number] = entry.retention_until

    def found(self, entry: Entry, payload: bytes) -> None:
        """The trail begins with this record."""
        data = parsed(payload)
        if entry.action_ref != FOUNDED or data.get("format") != 1:
            raise Unlawful(f"the first record is {entry.action_ref!r}, where a founding was expected")
        self.trail_id = _text(data, "trail_id")
        public_key = bytes.fromhex(_text(data, "public_key"))
        self.keys[entry.key_id] = Key(
            entry.actor_ref, public_key, administers=True, valid_until=None, registered_seq=1
        )
        if fingerprint(public_key) != entry.key_id or _text(data, "actor_ref") != entry.actor_ref:
            raise Unlawful("the first record is not attested by the key that it names")

    def apply(self, entry: Entry, payload: bytes) -> None:
        """The trail's own record has had its effect."""
        data, seq = parsed(payload), entry.sequence_number
        match entry.action_ref:
            case _ if entry.action_ref == REGISTERED:
                self._register(data, seq)
            case _ if entry.action_ref == REVOKED:
                key = self.keys.get(_text(data, "key_id"))
                if key is None or key.revoked_seq is not None:
                    raise Unlawful("it revokes a key that did not stand")
                key.revoked_seq = seq
            case _ if entry.action_ref == DECLARED:
                self._declare(data, seq)
            case _ if entry.action_ref == PLACED_LATE:
                for placed in _rows(data, "placed", 3):
                    self._place_late(placed, seq)
            case _ if entry.action_ref == PURGED:
                for destroyed in _rows(data, "destroyed", 2):
                    self._destroy(destroyed, entry)
            case _:
                raise Unlawful(f"{entry.action_ref!r} is no act of a trail's")

    def _register(self, data: Data, seq: int) -> None:
        """A key is registered."""
        public_key = bytes.fromhex(_text(data, "public_key"))
        key_id = fingerprint(public_key)
        if key_id != data.get("key_id") or key_id in self.keys:
            raise Unlawful(f"it registers key {key_id} under another name, or for the second time")
        administers = data.get("administers") is True
        self.keys[key_id] = Key(
            _text(data, "actor_ref"), public_key, administers, _end(data, "valid_until"), seq
        )

    def _declare(self, data: Data, seq: int) -> None:
        """A policy is declared."""
        policy = Policy(_text(data, "prefix"), _end(data, "period"))
        if policy.prefix in self.policies or policy.prefix.startswith(OWN_PREFIX):
            raise Unlawful(f"it declares a policy of {policy.prefix!r} for the second time")
        self.policies[policy.prefix] = (policy, seq)
        self._placing = Policies(tuple(policy for policy, _ in self.policies.values()), seq)

    def _place_late(self, placed: list[Json], by: int) -> None:
        """A record that had no place has one."""
        match placed:
            case [int() as seq, str() as policy_ref, str() | None as until] if seq in self.unplaced:
                place = Placement(policy_ref, None if until is None else int(until))
                self._refuse_another_place(place, *self.unplaced.pop(seq))
                self.late[seq] = (place, by)
                if place.retention_until is not None:
                    self.until[seq] = place.retention_until
            case _:
                raise Unlawful(f"it places {placed}, which was not without a place")

    def _destroy(self, destroyed: list[Json], entry: Entry) -> None:
        """A payload is destroyed, at its time."""
        match destroyed:
            case [int() as seq, str() as event_id] if self.events.get(event_id) == seq:
                until = self.until.get(seq)
                if until is None or until > entry.recorded_at:
                    raise Unlawful(
                        f"it destroys record {seq} at {entry.recorded_at}, which is kept until {until}"
                    )
                if seq in self.destroyed:
                    raise Unlawful(f"it destroys record {seq}, as record {self.destroyed[seq]} did before it")
                self.destroyed[seq] = entry.sequence_number
            case _:
                raise Unlawful(f"it destroys {destroyed}, which is no record before it")

    def _refuse_another_place(self, place: Placement, action_ref: str, recorded_at: int) -> None:
        """The place is the one that the policies give."""
        try:
            lawful = self._placing.place(action_ref, recorded_at)
        except PlacementFailed:
            lawful = None
        if place != lawful:
            raise Unlawful(f"it is placed under {place}, where the policies before it give {lawful}")


def _text(data: Data, name: str) -> str:
    """The text of that name."""
    value = data.get(name)
    if not isinstance(value, str):
        raise Unlawful(f"its {name} is {value!r}, where a text was expected")
    return value


def _end(data: Data, name: str) -> int | None:
    """The whole number of that name, which is written as a text for its size; None where there is none."""
    return None if data.get(name) is None else int(_text(data, name))


def _rows(data: Data, name: str, width: int) -> list[list[Json]]:
    """The rows of that name."""
    value = data.get(name)
    if isinstance(value, list) and all(isinstance(row, list) and len(row) == width for row in value):
        return [list(row) for row in value]
    raise Unlawful(f"its {name} is {value!r}, where rows of {width} were expected")
