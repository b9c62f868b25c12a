"""The log that a runtime writes of what it does, when it is asked to: a header, an event a line, an end.

An event is written when it begins and again when it has ended, so that the log tells which events overlapped
and which was cut off by a death. Nothing here knows a model: the names are given by whoever has the log
written, and so is the digest of the model that they are taken from. A log that cannot be written breaks off,
and stops nothing else.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

FORMAT = "falsework.log/1"

Plain: TypeAlias = "bool | int | str | Sequence[Plain] | Mapping[str, Plain] | None"
"""What may stand in a line."""

Sink: TypeAlias = Callable[[str], object]
"""Takes one line, with its end."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of an event that has ended; an answer only where one is stated."""

    answer: Plain = None
    answered: bool = True
    observed: Mapping[str, Plain] = field(default_factory=dict)


DONE = Told(answered=False)
"""It happened, and has no answer."""


@dataclass(frozen=True, slots=True)
class Happened:
    """Which action a call turned out to be, once it is known; None where what it answered fits several."""

    action: str | None = None
    arguments: Mapping[str, Plain] = field(default_factory=dict)
    told: Told = DONE


@dataclass(frozen=True, slots=True)
class Header:
    """The model that the names are taken from, and which of its actions may happen without a line."""

    model: str
    digest: str
    constants: Mapping[str, Plain] = field(default_factory=dict)
    hidden: tuple[str, ...] | None = None
    order: str = "file"

    def number(self, name: str) -> int:
        """A constant of the model that is a number."""
        value = self.constants.get(name)
        if not isinstance(value, int):
            raise TypeError(f"the model's constant {name} is {value!r}: a number is needed here")
        return value


def header_from(told: Mapping[str, Plain], hidden: tuple[str, ...] | None = None) -> Header:
    """The header of a log of the model that is told of, as a header's first line tells it."""
    model, digest, constants = told.get("model"), told.get("digest"), told.get("constants")
    if not (isinstance(model, str) and isinstance(digest, str) and isinstance(constants, Mapping)):
        raise TypeError(
            f"no model in {dict(told)}: falsework validate MODEL --header prints what it should be"
        )
    return Header(model, digest, constants, hidden)


class Recorder:
    """One log: each node's events numbered, and every line written whole, whoever writes beside."""

    def __init__(self, sink: Sink, header: Header) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()
        self._events = 0
        self._closed = False
        self.trouble: Exception | None = None
        first: dict[str, Plain] = {
            "format": FORMAT,
            "model": header.model,
            "digest": header.digest,
            "constants": header.constants,
            "order": header.order,
        }
        self._write(first if header.hidden is None else {**first, "hidden": list(header.hidden)})

    def during(
        self,
        node: str,
        action: str,
        arguments: Mapping[str, Plain],
        call: Callable[[], T],
        told: Callable[[T], Told],
    ) -> T:
        """The call's answer, told between two lines; where it raises, whether it happened is not known.

        Of a process that dies in the call nothing more is told, and that is what its log then says.
        """
        seq = self.begins(node, action, arguments)
        try:
            answer = call()
        except Exception:
            self.ends(node, seq, action, {"unknown": True})
            raise
        said = told(answer)
        more: dict[str, Plain] = {"answer": said.answer} if said.answered else {}
        self.ends(node, seq, action, {**more, **({"observed": said.observed} if said.observed else {})})
        return answer

    def spanning(self, node: str, call: Callable[[], T], told: Callable[[T], Happened]) -> T:
        """The call's answer, told between two lines, of which the second one says which action it was."""
        seq = self.begins(node, None, {})
        answer = call()
        happened = told(answer)
        more: dict[str, Plain] = {"arguments": happened.arguments} if happened.action else {}
        if happened.action and happened.told.answered:
            more["answer"] = happened.told.answer
        if happened.action and happened.told.observed:
            more["observed"] = happened.told.observed
        self.ends(node, seq, happened.action, more)
        return answer

    def begins(self, node: str, action: str | None, arguments: Mapping[str, Plain]) -> int:
        """The node is about to take the action, if it is known; the answer is the event's number."""
        named: dict[str, Plain] = {} if action is None else {"action": action, "arguments": arguments}
        with self._lock:
            seq = self._next(node)
            self._line({"node": node, "seq": seq, "begun": True, **named})
            return seq

    def ends(self, node: str, seq: int, action: str | None, more: Mapping[str, Plain]) -> None:
        """The event has ended, so."""
        named: dict[str, Plain] = {} if action is None else {"action": action}
        with self._lock:
            self._line({"node": node, "seq": seq, **named, **more})

    def happens(self, node: str, action: str, arguments: Mapping[str, Plain], told: Told = DONE) -> None:
        """The node has taken the action in this moment."""
        with self._lock:
            line: dict[str, Plain] = {
                "node": node, "seq": self._next(node), "action": action, "arguments": arguments,
            }  # fmt: skip
            if told.answered:
                line["answer"] = told.answer
            if told.observed:
                line["observed"] = told.observed
            self._line(line)

    def close(self) -> None:
        """The log is whole, and takes no more."""
        with self._lock:
            if not self._closed:
                self._line({"end": self._events})
            self._closed = True

    def _next(self, node: str) -> int:
        self._numbers[node] += 1
        self._events += 1
        return self._numbers[node]

    def _line(self, line: Mapping[str, Plain]) -> None:
        if not self._closed:
            self._write(line)

    def _write(self, line: Mapping[str, Plain]) -> None:
        """The line is written, unless an earlier one could not be: a log with a hole says what is not so."""
        if self.trouble is not None:
            return
        try:
            self._sink(json.dumps(line, ensure_ascii=False) + "\n")
        except (OSError, ValueError) as problem:
            self.trouble = problem


class FileSink:
    """A file that every line has reached when it is written, as far as the system keeps it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("x", encoding="utf-8", buffering=1)

    def __call__(self, line: str) -> None:
        """The line is in the file."""
        self._file.write(line)

    def close(self) -> None:
        """The file is closed."""
        self._file.close()
