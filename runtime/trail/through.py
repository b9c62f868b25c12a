"""A trail through which another one is reached: what a subclass does not bend is the inner trail's own."""

from falsework.runtime.trail.contract import Data, Fence, RangeAnswer, ReadAnswer, RecordAnswer, Trail


class Through:
    """The inner trail, verb by verb."""

    def __init__(self, inner: Trail) -> None:
        self.inner = inner
        self.caps = inner.caps

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: Data,
        *,
        fence: Fence | None = None,
    ) -> RecordAnswer:
        """The inner trail's answer."""
        return self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)

    def read_record(self, event_id: str) -> ReadAnswer:
        """The inner trail's answer."""
        return self.inner.read_record(event_id)

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> RangeAnswer:
        """The inner trail's answer."""
        return self.inner.read_range(after, limit, behind_writers=behind_writers)

    def measure(self, action_ref: str, actor_ref: str, data: Data) -> int:
        """The inner trail's measure."""
        return self.inner.measure(action_ref, actor_ref, data)

    def now(self) -> int:
        """The inner trail's clock."""
        return self.inner.now()
