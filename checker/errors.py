"""What can go wrong beside a verdict, and where: mistakes in a model, refusals, faults of a running model."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where something stands in source: a display path and a 1-based line (0: the whole file)."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


def display_path(module_name: str, file: str) -> str:
    """The path that is printed: inside a package the dotted path, else relative to the working folder."""
    module = sys.modules.get(module_name)
    spec = getattr(module, "__spec__", None)
    if spec is not None and "." in module_name:
        name = module_name.replace(".", "/")
        return f"{name}/__init__.py" if file.endswith("__init__.py") else f"{name}.py"
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def display_file(file: str) -> str:
    """The printed path of a file, through the module that was loaded from it."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == file and name != "__main__":
            return display_path(name, file)
    return display_path("", file)


def place_of_caller(own_file: str) -> Place:
    """The line that is being executed in the innermost frame of another file than that one."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in (own_file, __file__):
        frame = frame.f_back
    return Place(display_file(frame.f_code.co_filename), frame.f_lineno)


class FalseworkError(Exception):
    """The root of every error that falsework raises for a user's input."""


class _Numbered(FalseworkError):
    """An error with a code, a place, what was found there, and what to write instead."""

    def __init__(self, code: str, place: Place | None, found: str, write: str) -> None:
        self.code = code
        self.place = place
        self.found = found
        self.write = write
        where = f"{place}: " if place else ""
        super().__init__(f"{where}{code} {found}\n  write: {write}")


class DefinitionError(_Numbered):
    """A mistake in defining a model: numbered, placed, and saying what to write instead."""


class Refused(_Numbered):
    """A construct outside the subset that lowering understands; the class itself still runs."""

    @property
    def line(self) -> str:
        """All of it in one line."""
        return f"{self.code} at {self.place}: {self.found}; write: {self.write}"


class InputError(FalseworkError):
    """A name, a file or an option that cannot be used as given."""


class NoCompiler(FalseworkError):
    """No compiled program can be had here: no compiler, one that fails, or no place to keep what it makes."""


class EngineFailed(FalseworkError):
    """A compiled search ended without a result and of itself: falsework's own mistake."""


class ModelFault(FalseworkError):
    """The model itself went wrong while it ran: an index, a key, an impure answer."""


class Disabled(FalseworkError):
    """Raised by a guard that is false: the step does not exist."""


class CutByBound(FalseworkError):
    """Raised by `bound` when it is false: the step exists and is deliberately not taken."""

    def __init__(self, module: str, file: str, line: int) -> None:
        self.where = (module, file, line)
        super().__init__(*self.where)

    @property
    def place(self) -> Place:
        """The line of the call."""
        module, file, line = self.where
        return Place(display_path(module, file), line)

    def __str__(self) -> str:
        return f"cut by bound at {self.place}"
