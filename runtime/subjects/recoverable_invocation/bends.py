"""A joint of the runtime that is a function, bent for the length of a call: what a wrong subject declares."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Right = Callable[..., Any]
"""The joint as it is."""

Step = Callable[..., object]
"""What a driven world does for one action of a model."""


@dataclass(frozen=True)
class Bend:
    """In that module, or class of it, what has the name is what `made` makes of the right one."""

    place: str  # "module" or "module:Class", below falsework.runtime
    name: str
    made: Callable[[Right], Right]

    @property
    def owner(self) -> Any:
        """Whose attribute it is."""
        module, _, cls = self.place.partition(":")
        found = importlib.import_module(f"falsework.runtime.{module}")
        return getattr(found, cls) if cls else found


def always(value: object) -> Callable[[Right], Right]:
    """Whatever the right function would say, this is what the bent one says."""
    return lambda _: lambda *_, **__: value


@contextmanager
def bent(bends: Sequence[Bend]) -> Iterator[None]:
    """The runtime is bent inside the block, and as it was afterwards."""
    straight = [(bend.owner, bend.name, vars(bend.owner)[bend.name]) for bend in bends]
    for bend, (owner, name, right) in zip(bends, straight, strict=True):
        setattr(owner, name, bend.made(right))
    try:
        yield
    finally:
        for owner, name, right in reversed(straight):
            setattr(owner, name, right)
