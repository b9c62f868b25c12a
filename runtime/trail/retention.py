"""For how long records are kept: policies by prefix of the action ref, each declared once and for good."""

from dataclasses import dataclass
from typing import NamedTuple

from falsework.runtime.store import StoreError, Transaction
from falsework.runtime.trail.contract import OWN_PREFIX

LATEST = 2**63 - 1


class PlacementFailed(Exception):
    """A record cannot be given its place in the retention window."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Records whose action ref begins so are kept for this long; without a period, for good."""

    prefix: str
    period: int | None

    def until(self, recorded_at: int) -> int | None:
        """When a record may be destroyed."""
        if self.period is None:
            return None
        if self.period < 1 or recorded_at + self.period > LATEST:
            raise PlacementFailed(f"policy {self.prefix!r} has the period {self.period}, which gives no end")
        return recorded_at + self.period


class Placement(NamedTuple):
    """By which policy a record is kept, and until when."""

    policy_ref: str
    retention_until: int | None


OWN = Policy(OWN_PREFIX, None)
"""What the trail says of itself is never destroyed: the rest is verified by it."""


class Policies:
    """The declared policies, as they were when the latest of them was declared."""

    def __init__(self, declared: tuple[Policy, ...] = (), latest: int = 0) -> None:
        self.latest = latest
        self._by_length = sorted((*declared, OWN), key=lambda policy: len(policy.prefix), reverse=True)

    def place(self, action_ref: str, recorded_at: int) -> Placement | None:
        """The place of a record: the longest prefix decides; None where no policy is declared."""
        for policy in self._by_length:
            if action_ref.startswith(policy.prefix):
                return Placement(policy.prefix, policy.until(recorded_at))
        return None


def declared_policies(transaction: Transaction) -> Policies:
    """The policies as this transaction sees them."""
    found, latest = [], 0
    for row in transaction.execute("SELECT prefix, period, declared_seq FROM policy"):
        match row:
            case (str() as prefix, int() | None as period, int() as declared_seq):
                found.append(Policy(prefix, period))
                latest = max(latest, declared_seq)
            case _:
                raise StoreError(
                    f"a policy is stored as {row}: a prefix, a period and a number were expected"
                )
    return Policies(tuple(found), latest)
