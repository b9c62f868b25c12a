"""Any program that speaks JSON lines as a subject, named by its command or by a small description of it."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

from falsework.conformance.messages import PROTOCOL, as_json, printable, read_answer, shortened, written
from falsework.conformance.subject import (
    RefusedBySubject,
    SubjectFault,
    UnknownOutcome,
    runtime_twin,
)
from falsework.conformance.talk import Talk
from falsework.errors import InputError
from falsework.naming import nearest

BY_COMMAND = "program:"
SECONDS = 10.0
"""How long a program may take to answer, unless its description says otherwise."""
LONGEST_WAIT = 86_400
"""A day: who waits longer waits for ever."""
LONGEST_SURFACE = 60
UNDRIVEN = ("model", "observed", "audited")
"""The columns beside those of what is driven."""


class AnsweredError(Exception):
    """The program has answered that something broke down: an answer that no model gives."""


class ProgramSubject:
    """The program as a driver meets it; a class of its own for each command, with what its hello says."""

    command: ClassVar[tuple[str, ...]] = ()
    folder: ClassVar[Path | None] = None
    seconds: ClassVar[float] = SECONDS
    record: ClassVar[Path | None] = None
    model: ClassVar[str] = ""
    surface: ClassVar[str] = ""
    refuses: ClassVar[tuple[str, ...]] = ()
    internal: ClassVar[tuple[str, ...]] = ()
    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    unknowns: ClassVar[tuple[type[Exception], ...]] = ()

    def __init__(self) -> None:
        self.talk = Talk(self.command, self.seconds, self.folder, self.record)
        self.sent = 0
        self.said = self.asked("hello", protocol=PROTOCOL)
        if self.said["protocol"] != PROTOCOL:
            raise self.talk.fault(
                f"{self.talk.place} says protocol {self.said['protocol']}; falsework speaks {PROTOCOL}"
            )
        for name in ("model", "surface"):
            if wanted := _unfit(name, self.said[name]):
                found = as_json(self.said[name])
                raise self.talk.fault(f'{self.talk.place} has "{name}": {found}; write {wanted}')

    def begin(self, constants: Mapping[str, object]) -> None:
        """The implementation is as new."""
        self.asked("begin", constants=constants)

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        """The action has happened; the answer is the program's."""
        return self.asked("perform", action=action, arguments=arguments).get("answer")

    def observe(self) -> Mapping[str, object]:
        """What the program shows."""
        shown: Mapping[str, object] = self.asked("observe")["variables"]
        return shown

    def close(self) -> None:
        """The program has ended by itself; one that has failed was ended before."""
        if not self.talk.over:
            self.asked("close")
            self.talk.leave()

    def asked(self, do: str, **fields: object) -> dict[str, Any]:
        """The answer to the message. Raises what its outcome means, or SubjectFault."""
        if self.talk.over:
            raise SubjectFault(f"the program runs no more, so {do} was not asked")
        if (line := self.talk.surplus()) is not None:
            raise self.talk.fault(
                f"{self.talk.place} was not asked for: {shortened(line)}\n"
                "write one line for each message, once the message has come"
            )
        self.sent += 1
        what = " ".join(str(part) for part in (do, fields.get("action")) if part is not None)
        line = self.talk.say(written(self.sent, do, fields), f"message {self.sent} ({what})")
        try:
            answer = read_answer(line, self.talk.place, self.sent, do)
        except SubjectFault as problem:
            raise self.talk.fault(str(problem)) from None
        why = printable(answer.get("why", ""))
        match answer["is"]:
            case "refused":
                raise RefusedBySubject(why)
            case "unknown":
                raise UnknownOutcome(why)
            case "error" if do == "perform":
                raise AnsweredError(why)
            case "error":
                raise self.talk.fault(f"the program answers {do} with an error: {why}")
        return answer


def _unfit(name: str, text: str) -> str:
    """What to write instead, where that cannot be the name of a model or the head of a column."""
    if not text.strip() or not text.isprintable():
        return "a text that can be printed in a line"
    if name == "surface" and len(text) > LONGEST_SURFACE:
        return f'at most {LONGEST_SURFACE} characters, such as "driven C"'
    if name == "surface" and text in UNDRIVEN:
        return 'what is driven, such as "driven C": that word is the head of another column'
    return ""


# --- naming one ---------------------------------------------------------------------------------------------

KEYS = {
    "program": "the command, as a text or as a list of its words",
    "seconds": f"how long it may take to answer; {SECONDS:g} unless told",
    "twins": "programs that are wrong on purpose, each a table with `program` and `breaks`",
}
"""What a description may say; its commands are run in its own folder."""
TWIN_KEYS = {
    "program": "the command of the wrong one",
    "breaks": "what it is rejected for: the invariants, each with the number of steps",
}

_known: dict[tuple[str, str], type[ProgramSubject]] = {}


def program_named(name: str) -> type[ProgramSubject] | None:
    """The subject of `program:COMMAND` or of a description, `path.toml`; None for other names."""
    if name.startswith(BY_COMMAND):
        return _remembered(name, "", lambda: _made(name, _words(name.removeprefix(BY_COMMAND), name)))
    if not name.endswith(".toml"):
        return None
    path = Path(name)
    if not path.is_file():
        raise InputError(f"no file {path}")
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: is no TOML in UTF-8: {problem}") from None
    return _remembered(str(path.resolve()), text, lambda: _described(path, data))


def _remembered(name: str, text: str, make: Callable[[], type[ProgramSubject]]) -> type[ProgramSubject]:
    """One class for one description, however often it is named."""
    if (name, text) not in _known:
        _known[name, text] = make()
    return _known[name, text]


def _described(path: Path, data: Mapping[str, Any]) -> type[ProgramSubject]:
    _fit(path, "the description", data, KEYS, ("program",))
    seconds = data.get("seconds", SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_WAIT:
        raise InputError(f"{path}: seconds = {seconds!r}; write a number above 0, at most {LONGEST_WAIT}")
    command = _words(data["program"], f"{path}: program")
    subject = _made(str(path), command, folder=path.resolve().parent, seconds=float(seconds))
    twins = data.get("twins", {})
    if not isinstance(twins, dict):
        raise InputError(f"{path}: twins = {twins!r}; write a table for each: [twins.Name]")
    for name, twin in twins.items():
        where = f"{path}: twins.{name}"
        if not isinstance(twin, dict):
            raise InputError(f"{where} = {twin!r}; write a table with program and breaks")
        if not re.fullmatch(r"[\w-]+", name):
            raise InputError(f"{path}: the twin {name!r}; write a name of letters, digits, _ and -")
        _fit(path, f"twins.{name}", twin, TWIN_KEYS, tuple(TWIN_KEYS))
        wrong = type(name, (subject,), {"command": _words(twin["program"], f"{where}.program")})
        if not isinstance(twin["breaks"], dict):
            raise InputError(f"{where}.breaks = {twin['breaks']!r}; write {{invariant = steps}}")
        try:
            runtime_twin(breaks=twin["breaks"])(wrong)
        except TypeError as problem:
            raise InputError(f"{where}: {problem}") from None
    return subject


def _made(name: str, command: tuple[str, ...], **more: object) -> type[ProgramSubject]:
    """The class of that command, with what the program says of itself: it is started for that, and ended."""
    bare = cast("type[ProgramSubject]", type("Program", (ProgramSubject,), {"command": command, **more}))
    try:
        program = bare()
        program.close()
    except SubjectFault as problem:
        raise InputError(f"the subject {name}: {problem}") from None
    said = program.said
    for word in ("refuses", "internal"):
        setattr(bare, word, tuple(said[word]))
    bare.model, bare.surface = said["model"], said["surface"]
    return bare


def _words(command: object, where: str) -> tuple[str, ...]:
    """The words of a command, written as for a shell, or one by one. No shell is run."""
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError as problem:
        raise InputError(f"{where}: {command!r} is no command: {problem}") from None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise InputError(
            f'{where}: {command!r} is no command; write it as a text, such as "node subject.mjs"'
        )
    return tuple(words)


def _fit(
    path: Path, where: str, data: Mapping[str, Any], known: Mapping[str, str], wanted: tuple[str, ...]
) -> None:
    for name in data:
        if name not in known:
            raise InputError(f"{path}: {where} has no {name!r}{nearest(name, known)}")
    for name in wanted:
        if name not in data:
            raise InputError(f"{path}: {where} lacks {name}: {known[name]}")
