"""What an adapter's author writes: a subject, what it may raise, and its twins, wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from falsework.errors import InputError

S = TypeVar("S", bound=type)


class SubjectFault(InputError):
    """The adapter does not keep the protocol."""


class RefusedBySubject(Exception):
    """The implementation refuses the action; it is expected where the model disables it."""


class UnknownOutcome(Exception):
    """The action may have happened or not, and the adapter cannot tell: the model goes on with both."""


class Subject(Protocol):
    """An implementation under a driver that performs every step of the model's graph on it.

    The implementation need not import falsework: it says in `refusals` and `unknowns` which of its own
    exceptions mean a refusal and an unknown outcome. Names and values cross this border as plain data: an
    Enum member as its name, a record as a mapping of its fields, a map as a mapping, a set or a sequence as
    a list.
    """

    # Attributes of the class; written as properties here because all that is asked is that they can be read.

    @property
    def model(self) -> str:
        """`module:Class` of the model or the configuration whose graph is driven."""
        ...

    @property
    def surface(self) -> str:
        """What is driven, such as "driven SQLite"."""
        ...

    @property
    def refuses(self) -> Collection[str]:
        """The actions whose guard the implementation itself enforces."""
        ...

    @property
    def internal(self) -> Collection[str]:
        """The steps that it takes of itself: performed without an answer to compare."""
        ...

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """Its own exceptions that mean a refusal."""
        ...

    @property
    def unknowns(self) -> tuple[type[Exception], ...]:
        """Its own exceptions that mean that the action may have happened or not."""
        ...

    def begin(self, constants: Mapping[str, object]) -> None:
        """The implementation is as new, set up for these constants of the model."""
        ...

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        """The action happens, whoever takes it in the model; the answer is the implementation's."""
        ...

    def observe(self) -> Mapping[str, object]:
        """The variables of the model that can be read off the implementation: always the same ones."""
        ...

    def close(self) -> None:
        """Nothing is left open."""
        ...


ATTRIBUTES = {
    "model": '"module:Class" of the model or configuration whose graph is driven',
    "surface": 'what is driven, for people, such as "driven SQLite"',
    "refuses": "the actions whose guard the implementation itself enforces, () for none",
    "internal": "the steps that it takes of itself: their answer is not compared",
    "refusals": "its own exceptions that mean a refusal",
    "unknowns": "its own exceptions that mean that the action may have happened or not",
}
METHODS = {
    "begin": "(constants): it is as new, set up for these constants of the model",
    "perform": "(action, arguments): the action happens; returns the implementation's answer",
    "observe": "(): the variables that can be read off it, a mapping, always the same ones",
    "close": "(): nothing is left open",
}
RECORDS = {
    "observed": ("logs", "(): each recorded log, as (name, lines)"),
    "audited": ("histories", "(): each history, as (name, snapshots), one after each record of the journal"),
}
"""A class with one of these methods is not driven: its surface has that name, and its records are judged."""
OPTIONAL = {
    "needs": "names of environment variables without which it cannot be asked",
    "seconds": "how long one call may take, 30 unless told; of records, how long all may take, 600",
}


def kind_of(cls: type) -> str:
    """By which kind of subject the class is judged: observed, audited or driven."""
    surface = getattr(cls, "surface", None)
    found = (kind for kind, (method, _) in RECORDS.items() if kind == surface or hasattr(cls, method))
    return next(found, "driven")


def parts_of(kind: str) -> tuple[str, ...]:
    """What a subject of that kind must have."""
    return ("model", "surface", RECORDS[kind][0]) if kind in RECORDS else (*ATTRIBUTES, *METHODS)


def protocol_text(names: Collection[str] = (*ATTRIBUTES, *METHODS)) -> str:
    """What these parts of a subject mean, one a line."""
    told = ATTRIBUTES | METHODS | dict(RECORDS.values()) | OPTIONAL
    return "\n".join(f"  {name:<10} {told[name]}" for name in told if name in names)


# --- twins of a subject -----------------------------------------------------------------------------------


ANSWER = "answer"
OBSERVATION = "observation"
"""For `breaks`: what diverges where no invariant of the model is broken on what can be observed."""


@dataclass(frozen=True)
class SubjectRole:
    """What `@runtime_twin` says: what is broken, each first in how many steps, and how far to look."""

    breaks: Mapping[str, int]
    within: int | None = None


def runtime_twin(*, breaks: Mapping[Any, object], within: int | None = None) -> Callable[[S], S]:
    """A subject that is wrong on purpose, a subclass of the right one.

    It is rejected for exactly these invariants of the model, each broken on the projection first in that
    many steps; "answer" and "observation" stand for a divergence that breaks no invariant which the surface
    can observe. Where a step is a call of a real store, `within` ends the search after that many of them:
    nothing else is broken by a path as short.
    """
    declared: dict[str, int] = {}
    for key, steps in breaks.items():
        name = str(getattr(key, "__name__", key))
        if not isinstance(steps, int) or steps < 0:
            raise TypeError(f"breaks {name}: {steps!r}; write the number of steps")
        declared[name] = steps
    if not declared:
        raise TypeError("a runtime twin says what it is rejected for: breaks={Model.invariant: steps}")
    longest = max(declared.values())
    if within is not None and within < longest:
        raise TypeError(f"within={within}: write {longest} or more, for that is what breaks declares")
    role = SubjectRole(declared, within)

    def decorate(cls: S) -> S:
        cls.__falsework_subject_role__ = role  # type: ignore[attr-defined]
        _twins.append(cls)
        return cls

    return decorate


_twins: list[type] = []


def subject_role_of(cls: type) -> SubjectRole | None:
    """The role that decorates this very class, if any."""
    return cast("SubjectRole | None", vars(cls).get("__falsework_subject_role__"))


def twins_of_subject(cls: type) -> list[type]:
    """The twins whose nearest undecorated class is the subject; of a class defined again, the last.

    A subject below another of the same model, and no twin, is the same one on another surface: the twins of
    those above it are its own too, each made of the twin and the subject.
    """
    model = getattr(cls, "model", None)
    above = [k for k in cls.__mro__[1:] if subject_role_of(k) is None and getattr(k, "model", None) == model]
    inherited = [_composed(twin, cls) for k in above for twin in _own_twins(k)]
    return [*_own_twins(cls), *(inherited if subject_role_of(cls) is None else ())]


def _own_twins(cls: type) -> list[type]:
    found = {
        (twin.__module__, twin.__qualname__): twin
        for twin in _twins
        if next((k for k in twin.__mro__ if subject_role_of(k) is None), None) is cls
    }
    return list(found.values())


def _composed(twin: type, cls: type) -> type:
    """The twin on the surface of the subject; one class, however often it is asked for."""
    if (twin, cls) not in _made:
        names = {"__module__": twin.__module__, "__doc__": twin.__doc__}
        composed = type(twin.__name__, (twin, cls), names)
        composed.__falsework_subject_role__ = subject_role_of(twin)  # type: ignore[attr-defined]
        _made[twin, cls] = composed
    return _made[twin, cls]


_made: dict[tuple[type, type], type] = {}
