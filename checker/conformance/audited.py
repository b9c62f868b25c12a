"""The audited surface: histories read off a journal, one snapshot a record, under the model's invariants.

A snapshot shows the variables that a journal can show. Which action led from one to the next is not in it,
so of the invariants of steps only those of every step are judged; those of one action's steps are not
observable here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from falsework.conformance.invariants import Invariants
from falsework.conformance.projection import observed, projected
from falsework.conformance.subject import SubjectFault
from falsework.conformance.survey import Sighting, Survey
from falsework.definition import Definition
from falsework.errors import InputError
from falsework.language import values_stay_in_domain
from falsework.state import State
from falsework.trace import Faulted, starts

HISTORIES = "write histories() as an iterable of (name, snapshots), a snapshot being a mapping of variables"


def audited(subject: Any, definition: Definition, *, name: str = "") -> Survey:
    """Every snapshot of every history judged. What an adapter does wrong is the result's `problem`."""
    began = time.perf_counter()
    result = Survey(name or type(subject).__name__, subject.surface, definition, "snapshot")
    try:
        _Histories(result).judge(subject)
    except InputError as problem:
        result.problem = str(problem)
    result.seconds = time.perf_counter() - began
    return result


class _Histories:
    def __init__(self, result: Survey) -> None:
        self.result = result
        self.definition = result.definition
        self.invariants = Invariants(self.definition)
        self.shown: frozenset[str] | None = None
        self.blank = _some_state(self.definition)

    def judge(self, subject: Any) -> None:
        """Each history in turn, from its first snapshot on."""
        for entry in _told("histories()", lambda: iter(subject.histories())):
            match entry:
                case (str() as name, snapshots) if name not in self.result.sources:
                    self.follow(name, snapshots)
                case (str() as name, _):
                    raise SubjectFault(f"histories() has two histories named {name!r}; give each its own")
                case _:
                    raise SubjectFault(f"histories() yields {entry!r}; {HISTORIES}")
        self.result.observable, self.result.hidden = self.invariants.observable, self.invariants.hidden

    def follow(self, name: str, snapshots: Any) -> None:
        """One history: its states by themselves, and each pair of neighbours as a step."""
        before: State | None = None
        self.result.sources[name] = 0
        for snapshot in _told(f"the history {name!r}", lambda: iter(snapshots)):
            self.result.sources[name] += 1
            line = self.result.sources[name]
            now = self.read(name, line, snapshot)
            if now is None:
                before = None
                continue
            broken = (
                self.invariants.broken_in(now)
                if before is None
                else self.invariants.broken_between(before, now)
            )
            for prop in broken:
                self.result.breaks(prop, Sighting(name, line, _spelled(snapshot)))
            before = now
        if not self.result.sources[name]:
            raise SubjectFault(f"the history {name!r} has no snapshot, so there is nothing to judge in it")

    def read(self, name: str, line: int, snapshot: object) -> State | None:
        """The snapshot as a state in which what is not shown is blank, or nothing where it cannot be read."""
        where = f"snapshot {line} of the history {name!r}"
        if not isinstance(snapshot, Mapping):
            raise SubjectFault(f"{where} is {snapshot!r}; {HISTORIES}")
        self.sort(where, snapshot)
        seen = observed(self.definition, snapshot)
        if seen.odd:
            variable, text = next(iter(seen.odd.items()))
            domain = next(v.domain for v in self.definition.variables if v.name == variable)
            text = f"{variable} = {text}, which is no value of {domain}"
            self.result.breaks(values_stay_in_domain, Sighting(name, line, text))
            return None
        return projected(self.definition, self.blank, seen)

    def sort(self, where: str, snapshot: Mapping[str, object]) -> None:
        """All snapshots show the same variables, and they are the model's."""
        if self.shown is None:
            known = [variable.name for variable in self.definition.variables]
            if odd := [key for key in snapshot if key not in known]:
                raise SubjectFault(
                    f"{where} shows {odd[0]}, which is no variable of {self.definition.name}; "
                    f"one of: {', '.join(known)}"
                )
            self.shown = frozenset(snapshot)
            self.invariants.sort(self.shown, actions=False)
        if snapshot.keys() != self.shown:
            wanted = ", ".join(sorted(self.shown)) or "nothing"
            raise SubjectFault(
                f"{where} shows {', '.join(snapshot) or 'nothing'}, and those before it {wanted}"
            )


def _spelled(snapshot: Mapping[str, object]) -> str:
    """What the snapshot shows, in a line."""
    return ", ".join(f"{name} = {value!r}" for name, value in snapshot.items())


def _some_state(definition: Definition) -> State:
    """A state to stand for what is not shown; no invariant that is judged reads it."""
    try:
        return next(starts(definition)).state
    except StopIteration:
        raise InputError(f"{definition.name} has no initial state") from None
    except Faulted as fault:
        raise InputError(f"{definition.name} itself goes wrong at {fault.place}: {fault.message}") from None


def _told(what: str, entries: Any) -> Iterator[Any]:
    """The entries; whatever the adapter raises on the way is its mistake, and says so."""
    try:
        yield from entries()
    except (SubjectFault, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as problem:
        raise SubjectFault(f"{what} of the adapter raised {type(problem).__name__}: {problem}") from problem
