"""What the trail's own records say: who may sign, how long records are kept, what became of them.

Said again from the payloads of `trail.…` records, in their order; the tables beside the journal are believed
in nothing and compared with this.
"""

import json
from dataclasses import dataclass, field
from typing import cast

from falsework.runtime.audit.opened import Row, Stored
from falsework.runtime.audit.sealed import key_id_of

OWN = "trail."


class Unlawful(Exception):
    """An act of the trail's own that no trail records."""


@dataclass(slots=True)
class Key:
    """A registered key."""

    actor_ref: str
    public_key: bytes
    administers: bool
    valid_until: int | None
    registered: int
    revoked: int | None = None


@dataclass(slots=True)
class Law:
    """The state of a trail after some of its records."""

    trail_id: str = ""
    keys: dict[str, Key] = field(default_factory=dict)
    policies: dict[str, tuple[int | None, int]] = field(default_factory=dict)  # period, and declared by
    late: dict[int, tuple[str, int | None, int]] = field(default_factory=dict)  # policy, until, and placed by
    destroyed: dict[int, int] = field(default_factory=dict)  # by which record
    unplaced: dict[int, Stored] = field(default_factory=dict)
    kept_until: dict[int, int | None] = field(default_factory=dict)  # of records that have a place
    events: dict[str, int] = field(default_factory=dict)

    def refuses_signer(self, stored: Stored) -> str | None:
        """Why the record's key may not sign it; None where it may."""
        key = self.keys.get(stored.key_id)
        if key is None:
            return f"its key {stored.key_id} was not registered before it"
        if key.actor_ref != stored.actor_ref:
            return f"its key is {key.actor_ref}'s, and its actor is {stored.actor_ref}"
        if key.revoked is not None:
            return f"its key was revoked by record {key.revoked}"
        if key.valid_until is not None and key.valid_until <= stored.recorded_at:
            return f"its key had ended at {key.valid_until}"
        if stored.action_ref.startswith(OWN) and not key.administers:
            return f"{stored.actor_ref} does not administer the trail"
        return None

    def place_of(self, action_ref: str, recorded_at: int) -> tuple[str, int | None] | None:
        """Under which policy, and until when, such a record is kept; None without a policy."""
        prefixes = {OWN: None} | {prefix: period for prefix, (period, _) in self.policies.items()}
        fitting = [prefix for prefix in prefixes if action_ref.startswith(prefix)]
        if not fitting:
            return None
        prefix = max(fitting, key=len)
        period = prefixes[prefix]
        return prefix, None if period is None else recorded_at + period

    def refuses_place(self, stored: Stored) -> str | None:
        """Why the record's place is not what the policies give; it is noted, or that there is none."""
        if stored.policy_ref is None and stored.retention_until is None:
            self.unplaced[stored.seq] = stored
            return None
        self.kept_until[stored.seq] = stored.retention_until
        wanted = self.place_of(stored.action_ref, stored.recorded_at)
        if wanted != (stored.policy_ref, stored.retention_until):
            place = stored.policy_ref, stored.retention_until
            return f"it is placed under {place}, and the policies give {wanted}"
        return None

    def found(self, stored: Stored) -> None:
        """The trail begins with this record."""
        if stored.action_ref != f"{OWN}founded":
            raise Unlawful(f"the first record is {stored.action_ref}, and no founding")
        said = _said(stored)
        self.trail_id = _text(said, "trail_id")
        public_key = _octets(said, "public_key")
        self.keys[stored.key_id] = Key(
            _text(said, "actor_ref"), public_key, administers=True, valid_until=None, registered=stored.seq
        )
        if said.get("format") != 1 or key_id_of(public_key) != stored.key_id:
            raise Unlawful("the founding names another key, or another form of journal")

    def acts(self, stored: Stored) -> None:
        """The act that the record tells of has happened."""
        said = _said(stored)
        match stored.action_ref.removeprefix(OWN):
            case "key_registered":
                self._registers(stored, said)
            case "key_revoked":
                key = self.keys.get(_text(said, "key_id"))
                if key is None or key.revoked is not None:
                    raise Unlawful("it revokes a key that did not stand")
                key.revoked = stored.seq
            case "retention_declared":
                prefix = _text(said, "prefix")
                if prefix in self.policies or prefix.startswith(OWN):
                    raise Unlawful(f"it declares a period for {prefix} again")
                self.policies[prefix] = (_amount(said, "period"), stored.seq)
            case "placed":
                for row in _rows(said, "placed"):
                    self._places(stored, row)
            case "purged":
                for row in _rows(said, "destroyed"):
                    self._destroys(stored, row)
            case other:
                raise Unlawful(f"no trail does {other}")

    def _registers(self, stored: Stored, said: dict[str, object]) -> None:
        public_key = _octets(said, "public_key")
        key_id = key_id_of(public_key)
        if key_id != said.get("key_id") or key_id in self.keys:
            raise Unlawful("it registers a key under another name, or again")
        administers = said.get("administers") is True
        until = _amount(said, "valid_until")
        self.keys[key_id] = Key(_text(said, "actor_ref"), public_key, administers, until, stored.seq)

    def _places(self, by: Stored, row: list[object]) -> None:
        match row:
            case [int() as seq, str() as policy, str() | None as until] if seq in self.unplaced:
                placed = self.unplaced.pop(seq)
                place = (policy, None if until is None else _whole(until))
                if place != self.place_of(placed.action_ref, placed.recorded_at):
                    raise Unlawful(f"it places record {seq} under {place}, which the policies do not give")
                self.late[seq] = (*place, by.seq)
                self.kept_until[seq] = place[1]
            case _:
                raise Unlawful(f"it places {row}, which had its place or is not there")

    def _destroys(self, by: Stored, row: list[object]) -> None:
        match row:
            case [int() as seq, str() as event_id] if self.events.get(event_id) == seq:
                until = self.kept_until.get(seq)
                if until is None or by.recorded_at < until:
                    kept = "for good" if seq in self.kept_until and until is None else f"until {until}"
                    raise Unlawful(f"it destroys record {seq} at {by.recorded_at}, which is kept {kept}")
                if seq in self.destroyed:
                    raise Unlawful(f"it destroys record {seq}, as record {self.destroyed[seq]} did")
                self.destroyed[seq] = by.seq
            case _:
                raise Unlawful(f"it destroys {row}, which is no record before it")

    def tables(self) -> dict[str, set[Row]]:
        """What the tables beside the journal must hold."""
        return {
            "trail": {(1, self.trail_id)},
            "actor_key": {
                (
                    *(key_id, key.actor_ref, key.public_key, int(key.administers)),
                    *(key.valid_until, key.registered, key.revoked),
                )
                for key_id, key in self.keys.items()
            },
            "policy": {(prefix, period, by) for prefix, (period, by) in self.policies.items()},
            "placed_late": {(seq, *place) for seq, place in self.late.items()},
            "destroyed": set(self.destroyed.items()),
        }


def _said(stored: Stored) -> dict[str, object]:
    said = read_payload(stored.payload)
    if said is None:
        raise Unlawful("its payload cannot be read")
    return said


def read_payload(payload: bytes | None) -> dict[str, object] | None:
    """The mapping that a payload is; None where it is none."""
    if payload is None:
        return None
    try:
        said: object = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, object], said) if isinstance(said, dict) else None


def _text(said: dict[str, object], name: str) -> str:
    value = said.get(name)
    if not isinstance(value, str):
        raise Unlawful(f"its {name} is {value!r}, and no text")
    return value


def _octets(said: dict[str, object], name: str) -> bytes:
    text = _text(said, name)
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise Unlawful(f"its {name} is {text!r}, and no bytes") from None


def _whole(text: str) -> int:
    if not text.removeprefix("-").isdecimal():
        raise Unlawful(f"{text!r} is no whole number")
    return int(text)


def _amount(said: dict[str, object], name: str) -> int | None:
    return None if said.get(name) is None else _whole(_text(said, name))


def _rows(said: dict[str, object], name: str) -> list[list[object]]:
    value = said.get(name)
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise Unlawful(f"its {name} is {value!r}, and no list of rows")
    return value
