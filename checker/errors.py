"""What can go wrong before or beside a verdict: mistakes in a model, refusals of an engine, faults while a model runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where something stands in source: a display path and a 1-based line (0: the whole file)."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class FalseworkError(Exception):
    """The root of every error that falsework raises for a user's input."""


class DefinitionError(FalseworkError):
    """A mistake in defining a model: numbered, placed, and saying what to write instead."""

    def __init__(self, code: str, place: Place | None, found: str, write: str) -> None:
        self.code = code
        self.place = place
        self.found = found
        self.write = write
        where = f"{place}: " if place else ""
        super().__init__(f"{where}{code} {found}\n  write: {write}")


class Refused(FalseworkError):
    """A construct outside the subset that lowering understands; the class itself still runs."""

    def __init__(self, code: str, place: Place | None, found: str, write: str) -> None:
        self.code = code
        self.place = place
        self.found = found
        self.write = write
        where = f"{place}: " if place else ""
        super().__init__(f"{where}{code} {found}\n  write: {write}")


class InputError(FalseworkError):
    """A name, a file or an option that cannot be used as given."""


class ModelFault(FalseworkError):
    """The model itself went wrong while it ran: an index, a key, an exception in a predicate, an impure answer."""


class Disabled(FalseworkError):
    """Raised by a guard that is false: the step does not exist."""


class CutByBound(FalseworkError):
    """Raised by `bound` when it is false: the step exists and is deliberately not taken."""

    def __init__(self, place: tuple[str, int]) -> None:
        self.where = place
        super().__init__(f"cut by bound at {place[0]}:{place[1]}")
