"""Subjects by name, shipped, `module:Class` or `path.py:Class`; their twins; the model of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from falsework.conformance.patience import Watch, Watched, in_time
from falsework.conformance.program import LONGEST_WAIT, ProgramSubject, program_named
from falsework.conformance.subject import (
    SubjectFault,
    kind_of,
    parts_of,
    protocol_text,
    subject_role_of,
    twins_of_subject,
)
from falsework.definition import Definition, definition_of
from falsework.errors import InputError
from falsework.naming import find, from_path, import_module, nearest, shipped

SUBJECTS = "falsework.subjects"
RUNTIME_TWINS = "falsework.runtime_twins"
SECONDS = {"driven": 30.0, "observed": 600.0, "audited": 600.0}
"""How long a call of a subject in Python may take, unless its class says otherwise."""

T = TypeVar("T")


@dataclass(frozen=True)
class NamedSubject:
    """A subject's class under the name by which it was found."""

    name: str
    cls: type[Any]

    @property
    def kind(self) -> str:
        """driven, observed or audited."""
        return kind_of(self.cls)

    @property
    def surface(self) -> str:
        """What the matrix calls it."""
        return str(self.cls.surface)

    @property
    def needs(self) -> tuple[str, ...]:
        """The environment variables without which it cannot be asked."""
        return tuple(getattr(self.cls, "needs", ()))

    @property
    def seconds(self) -> float:
        """How long one call of it may take; where records are judged, how long all of that may."""
        return float(getattr(self.cls, "seconds", SECONDS[self.kind]))

    def made(self) -> Any:
        """A new one, ready to be asked; raises InputError where the adapter cannot be made."""
        try:
            return self.cls()
        except (Exception, SystemExit) as problem:
            told = "" if isinstance(problem, SubjectFault) else f"{type(problem).__name__}: "
            raise InputError(f"the subject {self.name} cannot be made: {told}{problem}") from problem

    def attended(self, work: Callable[[Any], T]) -> T:
        """What the work on a new one returns. Raises SubjectFault for a call that does not end in time."""
        if issubclass(self.cls, ProgramSubject):  # it is waited for with a time limit anyway
            program: ProgramSubject = self.made()
            try:
                return work(program)
            finally:
                program.talk.end()
        return in_time(self.seconds, lambda watch: work(self._watched(watch)))

    def _watched(self, watch: Watch) -> Any:
        watch.begins(f"{self.cls.__name__}()")
        made = self.made()
        if self.kind != "driven":
            watch.begins(f"reading the records of {self.cls.__name__}")
            return made
        watch.ends()
        return Watched(made, watch)


def shipped_subjects() -> dict[str, str]:
    """The names that entry points give to subjects, those of every installed package, in order."""
    return shipped(SUBJECTS)


def subjects_of(model: str) -> list[str]:
    """The shipped subjects of the model of that name: its own, and those with a word after a dot."""
    return [name for name in shipped_subjects() if name == model or name.startswith(f"{model}.")]


def find_subject(name: str) -> NamedSubject:
    """The subject of that name, its twins loaded too. Raises InputError."""
    names = shipped_subjects()
    if name in names:
        for known, module in shipped(RUNTIME_TWINS).items():
            if f"{name}.".startswith(f"{known}."):
                import_module(module)
        return _checked(name, names[name])
    if (program := program_named(name)) is not None:
        return NamedSubject(name, program)
    if ":" not in name:
        raise InputError(f"no subject {name!r}{nearest(name, names)}")
    return _checked(name, name)


def recorded(subject: NamedSubject, file: Path) -> NamedSubject:
    """The program with every line written to the file, which is begun anew. Raises InputError."""
    if not issubclass(subject.cls, ProgramSubject):
        raise InputError(f"{subject.name} is no program, and only what a program is told can be recorded")
    try:
        file.write_text("", "utf-8")
    except OSError as problem:
        raise InputError(f"{file} cannot be written: {problem}") from None
    cls = type(subject.cls.__name__, (subject.cls,), {"record": file.resolve()})
    return NamedSubject(subject.name, cls)


def _checked(name: str, path: str) -> NamedSubject:
    where, _, cls_name = path.partition(":")
    module = from_path(Path(where)) if where.endswith(".py") else import_module(where)
    cls = getattr(module, cls_name, None)
    if not isinstance(cls, type):
        raise InputError(f"{where} has no class {cls_name!r}{nearest(cls_name, _classes(module))}")
    missing = [word for word in parts_of(kind_of(cls)) if not hasattr(cls, word)]
    if missing:
        *others, last = missing
        listed = f"{', '.join(others)} and {last}" if others else last
        raise InputError(f"{path} is no subject: it has no {listed}\n{protocol_text(missing)}")
    model = getattr(cls, "model", None)
    if not isinstance(model, str):
        raise InputError(f'{path} has model = {model!r}; write model = "module:Class"')
    needs = getattr(cls, "needs", ())
    if not isinstance(needs, (tuple, list)) or not all(isinstance(word, str) for word in needs):
        raise InputError(f'{path} has needs = {needs!r}; write a tuple of names, such as ("SERVER",)')
    seconds = getattr(cls, "seconds", SECONDS["driven"])
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_WAIT:
        raise InputError(f"{path} has seconds = {seconds!r}; write a number above 0, at most {LONGEST_WAIT}")
    return NamedSubject(name, cls)


def _classes(module: Any) -> Iterable[str]:
    return [key for key, value in vars(module).items() if isinstance(value, type)]


def driven_definition(subject: NamedSubject) -> Definition:
    """The model or configuration that the subject is driven along. Raises InputError."""
    found = find(subject.cls.model)
    if len(found) != 1:
        raise InputError(
            f"the subject {subject.name} names {subject.cls.model}, which are {len(found)} models; "
            'write model = "module:Class"'
        )
    return definition_of(found[0].cls)


def wrong_subjects(subject: NamedSubject) -> list[NamedSubject]:
    """The subject's twins, in order of definition."""
    return [
        NamedSubject(f"{subject.name}:{cls.__name__}", cls)
        for cls in twins_of_subject(subject.cls)
        if cls is not subject.cls and subject_role_of(cls) is not None
    ]
