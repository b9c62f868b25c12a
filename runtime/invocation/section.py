"""The act's critical section: a lease keyed by kind and act key, as every action of the protocol takes it."""

from dataclasses import dataclass

from falsework.runtime.lease import LeaseHost, Unavailable
from falsework.runtime.store import StoreError


@dataclass(frozen=True, slots=True)
class Standing:
    """Whose section is meant: the act's key at the host, and the holder that asks."""

    key: str
    holder: str


def section_key(kind: str, act_key: str) -> str:
    """The act's key at the host; a kind's name holds no colon, so that no two acts share one."""
    return f"{kind}:{act_key}"


class ActSection:
    """The host as the protocol uses it: an outage is a section that cannot be had, or is held no longer.

    Where every write is fenced by the lease, a take is flushed with the first record under it: a power cut
    that undoes the take has undone the record. What is left of a grant is told by its terminus and the clock.
    """

    def __init__(self, host: LeaseHost, *, fenced: bool) -> None:
        self.host = host
        self.fenced = fenced
        self._granted: dict[Standing, int] = {}  # until when, as this process was told

    def take(self, standing: Standing, duration: int) -> bool:
        """The section is the holder's, having waited no longer than the lease found at the call."""
        try:
            answer = self.host.take(standing.key, standing.holder, duration, flush=not self.fenced)
        except StoreError:
            # The grant may have landed all the same; then it ends by itself, and nobody writes under it.
            return False
        if isinstance(answer, Unavailable):
            return False
        if self.fenced:
            self._granted[standing] = answer.expires_at
        return True

    def remaining(self, standing: Standing) -> int | None:
        """How long the holder may still write; None where it may not, or nobody can tell."""
        granted = self._granted.get(standing)
        try:
            if granted is None:
                return self.host.remaining(standing.key, standing.holder)
            return self.host.left(granted)
        except StoreError:
            return None

    def deadline(self, standing: Standing, allowance: int) -> int | None:
        """The instant before which the constituent's store may apply the holder's write."""
        try:
            return self.host.mint(standing.key, standing.holder, allowance)
        except StoreError:
            return None

    def release(self, standing: Standing) -> None:
        """The section is free, or ends by itself; that it was not held changes nothing."""
        self._granted.pop(standing, None)
        try:
            self.host.release(standing.key, standing.holder)
        except StoreError:
            return

    def wait(self, span: int) -> None:
        """Some of the span has passed by the host's own waiter; none, where its clock cannot be read."""
        try:
            self.host.waiter.wait_until(self.host.clock.now() + span)
        except StoreError:
            return
