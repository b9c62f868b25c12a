"""A ledger that discloses parts of itself: the text's walkthrough, bound to a small store of disclosures.

The store is the adopter's own. It knows nothing of the protocol, and takes no nonce: what pairs a disclosure
with its intent is the instant at which it was made, which no two invocations of one act share.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.answers import (
    Closed,
    Committed,
    NotCommitted,
    Outcome,
    ProbeAnswer,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.use import ConstituentRefused
from falsework.runtime.trail import Data

KIND = "ledger"
DISCLOSED = "ledger.disclosed"
AUTHORITIES = ("consent", "court-order")
STORE_VARIABLE = "FALSEWORK_DISCLOSURES"
"""The environment's variable that names the file of the disclosures."""

NODES = 16
"""How many nodes share one authority of time; the low bits of an instant tell them apart."""


@dataclass(frozen=True, slots=True)
class Subset:
    """What is disclosed, to whom, and by what right: the same again is the same act."""

    subject_ref: str
    recipient: str
    scope: str
    authority: str

    @property
    def act_key(self) -> str:
        """The act's identity, as text."""
        return json.dumps([self.subject_ref, self.recipient, self.scope, self.authority])


class NodeInstants:
    """Instants that only grow, and that no other node ever reads: the node stands in the low bits."""

    def __init__(self, clock: Clock, node: int) -> None:
        if not 0 <= node < NODES:
            raise ValueError(f"node is {node}: write a number from 0 to {NODES - 1}")
        self._clock = clock
        self._node = node
        self._latest = 0

    def now(self) -> int:
        """The next instant of this node."""
        tick = max(self._clock.now() // NODES, self._latest + 1)
        self._latest = tick
        return tick * NODES + self._node


class SelectiveDisclosure:
    """The constituent: a file of disclosures that are recorded once and never changed."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.set_busy_timeout(5_000)
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS disclosure (id INTEGER PRIMARY KEY, subject_ref TEXT, "
            "recipient TEXT, scope TEXT, authority TEXT, disclosed_at INTEGER)"
        )

    def record(self, subset: Subset, disclosed_at: int) -> str:
        """The disclosure is made, and this is its id; ConstituentRefused before anything is."""
        if not subset.subject_ref or not subset.recipient or not subset.scope:
            raise ConstituentRefused("invalid-request", "subject, recipient and scope are needed")
        if subset.authority not in AUTHORITIES:
            raise ConstituentRefused("unknown-authority-type", f"no authority is named {subset.authority!r}")
        values = (subset.subject_ref, subset.recipient, subset.scope, subset.authority, disclosed_at)
        try:
            self._connection.execute(
                "INSERT INTO disclosure (subject_ref, recipient, scope, authority, disclosed_at) "
                "VALUES (?, ?, ?, ?, ?)",
                values,
            )
        except (apsw.BusyError, apsw.ReadOnlyError) as error:
            raise ConstituentRefused("storage-failure", str(error)) from error
        return f"dsc-{self._connection.last_insert_rowid()}"

    def query(self, subject_ref: str, recipient: str) -> list[tuple[str, Subset, int]]:
        """Every disclosure about the subject to the recipient."""
        rows = self._connection.execute(
            "SELECT id, scope, authority, disclosed_at FROM disclosure "
            "WHERE subject_ref = ? AND recipient = ? ORDER BY id",
            (subject_ref, recipient),
        ).fetchall()
        return [
            (f"dsc-{number}", Subset(subject_ref, recipient, str(scope), str(authority)), int(str(at)))
            for number, scope, authority, at in rows
        ]

    def close(self) -> None:
        """The file is no longer open."""
        self._connection.close()


class Ledger:
    """The adopter: validate, open, commit, return."""

    def __init__(self, instance: Instance, store: SelectiveDisclosure, instants: NodeInstants) -> None:
        self.instance = instance
        self.store = store
        self.instants = instants

    def disclose_subset(self, subset: Subset, discloser: str, credential: str) -> Closed:
        """The subset is disclosed and accounted for; what else may come of it is raised with its code."""
        disclosed_at = self.instants.now()
        data: Data = {
            "subject_ref": subset.subject_ref,
            "recipient": subset.recipient,
            "scope": subset.scope,
            "authority": subset.authority,
            "disclosed_at": disclosed_at,
        }
        with self.instance.invocation(KIND, subset.act_key, discloser, credential, data) as act:
            return act.commit(lambda: self._record(subset, disclosed_at))

    def _record(self, subset: Subset, disclosed_at: int) -> Outcome:
        disclosure_id = self.store.record(subset, disclosed_at)
        return outcome(disclosure_id, disclosed_at)


def outcome(disclosure_id: str, disclosed_at: int) -> Outcome:
    """The outcome as both writers give it: nothing that the store could not tell again."""
    return Outcome(DISCLOSED, {"disclosure_id": disclosure_id, "disclosed_at": disclosed_at})


def probed(store: SelectiveDisclosure, payload: Mapping[str, object]) -> ProbeAnswer:
    """What the store says of the intent, matched by equality of scope, authority and instant."""
    subject_ref, recipient = str(payload["subject_ref"]), str(payload["recipient"])
    wanted = (str(payload["scope"]), str(payload["authority"]), payload["disclosed_at"])
    try:
        found = store.query(subject_ref, recipient)
    except apsw.Error as error:
        return StoreUnavailable(str(error))
    matching = [
        (disclosure_id, at)
        for disclosure_id, subset, at in found
        if (subset.scope, subset.authority, at) == wanted
    ]
    match matching:
        case []:
            return NotCommitted()
        case [(disclosure_id, at)]:
            recovered = outcome(disclosure_id, at)
            return Committed(recovered.action_ref, recovered.data)
    return Undecidable(tuple(disclosure_id for disclosure_id, _ in matching))


def probe(act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
    """The probe that the deployment file names, over the file that the environment names."""
    path = Path(os.environ.get(STORE_VARIABLE, "disclosures.db"))
    if not path.exists():
        return StoreUnavailable(f"{path} is not there to be asked about {act_key}")
    store = SelectiveDisclosure(path)
    try:
        return probed(store, payload)
    finally:
        store.close()
