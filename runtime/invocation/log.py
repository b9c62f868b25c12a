"""What an instance tells of itself, as lines of JSON: one event a line, each with its instant."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.answers import Alert

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(microseconds: int) -> str:
    """The instant as people and machines write it; as a bare number where no calendar reaches."""
    try:
        return (EPOCH + timedelta(microseconds=microseconds)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return str(microseconds)


class JsonLines:
    """A log that is written line by line; alerts go there like everything else, at their own level."""

    def __init__(self, write: Callable[[str], object], clock: Clock) -> None:
        self._write = write
        self._clock = clock

    def event(self, event: str, level: str = "info", **fields: object) -> None:
        """One line is written."""
        line = {"at": instant(self._clock.now()), "level": level, "event": event, **fields}
        self._write(json.dumps(line, ensure_ascii=False, default=str) + "\n")

    def alert(self, alert: Alert) -> None:
        """A person will hear of it."""
        self.event("alert", "alert", **asdict(alert))
