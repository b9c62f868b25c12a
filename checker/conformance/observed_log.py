"""A log of an implementation, read strictly: a header, an event a line, an end; each mistake by its line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from falsework.conformance.observed_values import Shown, shown_in, told_in, value_in
from falsework.conformance.projection import Unreadable, plain
from falsework.definition import Action, Definition
from falsework.domains import Bool, Domain, EnumOf, OptionOf
from falsework.errors import InputError
from falsework.naming import nearest

FORMAT = "falsework.log/1"
ORDERS = ("file", "causal")
HEADER = ("format", "model", "digest", "constants", "order", "hidden")
EVENT = (
    "node", "seq", "begun", "action", "arguments", "answer", "refused", "unknown", "observed", "after",
)  # fmt: skip
OF_AN_ACTION = ("answer", "refused", "unknown")
OF_AN_END = ("answer", "refused", "unknown", "observed")
HIDDEN_KINDS = ("internal", "fault", "tick")
UNSAID = object()
"""Stands for an answer that the line does not state."""


class LogProblem(InputError):
    """A log that cannot be used, and the line because of which."""

    def __init__(self, log: str, line: int, text: str) -> None:
        self.line = line
        super().__init__(f"{log}:{line}: {text}" if line else f"{log}: {text}")


@dataclass(frozen=True)
class Event:
    """One thing that a node did or saw: what the line says of it, and what must have come before.

    `began` is how many events had ended before it began. One that never ended may have happened or not, and
    so may one whose outcome its node does not know. `anything` stands for one more step of any action.
    """

    line: int
    node: str
    seq: int
    action: Action | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = UNSAID
    refused: bool = False
    unknown: bool = False
    ended: bool = True
    shown: tuple[Shown, ...] = ()
    began: int = 0
    after: tuple[tuple[str, int], ...] = ()
    anything: bool = False
    text: str = ""

    @cached_property
    def pattern(self) -> tuple[Any, ...]:
        """What it says, whoever says it and wherever it stands: two that are equal explain the same steps."""
        name = "" if self.action is None else self.action.name
        said = tuple(sorted(self.arguments.items()))
        answer = ("unsaid",) if self.answer is UNSAID else ("said", self.answer)
        return name, said, answer, self.refused, self.unknown, self.shown, self.anything


@dataclass(frozen=True)
class Log:
    """The events in the order in which they ended, those that never did, and what may go unlogged."""

    name: str
    causal: bool
    hidden: tuple[Action, ...]
    events: tuple[Event, ...]
    pending: tuple[Event, ...] = ()

    @property
    def nodes(self) -> list[str]:
        """Who wrote lines, in the order of the first ones."""
        return list(dict.fromkeys(event.node for event in (*self.events, *self.pending)))


def header_of(definition: Definition) -> dict[str, Any]:
    """What the first line of a log of that model says, but for what its writer has to say."""
    constants = {name: plain(value) for name, value in definition.constants.items()}
    return {"format": FORMAT, "model": definition.path, "digest": definition.digest, "constants": constants}


def header_line(definition: Definition, **more: object) -> str:
    """The first line of a log of that model."""
    return json.dumps(header_of(definition) | more, ensure_ascii=False)


def hidden_by_kind(definition: Definition) -> tuple[Action, ...]:
    """What nobody outside sees: the internal steps, the faults and the ticks."""
    return tuple(action for action in definition.actions if action.kind in HIDDEN_KINDS)


def read_log(definition: Definition, name: str, lines: Iterable[str], *, unfinished: bool = False) -> Log:
    """The log of that model; raises LogProblem at the first line that cannot be used."""
    return _Reader(definition, name, unfinished=unfinished).read(lines)


class _Reader:
    def __init__(self, definition: Definition, name: str, *, unfinished: bool) -> None:
        self.definition = definition
        self.name = name
        self.unfinished = unfinished
        self.actions = {action.name: action for action in definition.actions}
        self.variables = {v.name: place for place, v in enumerate(definition.variables)}
        self.causal = False
        self.hidden = hidden_by_kind(definition)
        self.events: list[Event] = []
        self.begun: dict[str, Event] = {}  # of each node the event that it has begun and not ended
        self.latest: dict[str, int] = {}  # of each node the number of its last event
        self.end: int | None = None
        self.line = 0

    def problem(self, text: str) -> LogProblem:
        return LogProblem(self.name, self.line, text)

    def read(self, lines: Iterable[str]) -> Log:
        headed = False
        for data, text in self._objects(lines):
            if not headed:
                self._header(data)
                headed = True
            elif self.end is not None:
                raise self.problem('a line after the end; write {"end": …} once, as the last line')
            elif "end" in data:
                self._ends(data)
            else:
                self._event(data, text)
        if not headed:
            self.line = 0
            raise self.problem(f'the log is empty; write its header first: {{"format": "{FORMAT}", …}}')
        self._complete()
        pending = tuple(event for event in self.begun.values() if event.action is not None)
        return Log(self.name, self.causal, self.hidden, tuple(self.events), pending)

    def _objects(self, lines: Iterable[str]) -> Iterator[tuple[dict[str, Any], str]]:
        for text in lines:
            self.line += 1
            try:
                data = json.loads(text)
            except (ValueError, RecursionError):
                cut = "" if text.endswith("\n") or not text.strip() else "; the line may have been cut off"
                raise self.problem(
                    f"{text.strip()[:60]!r} is no JSON{cut}; write one object a line"
                ) from None
            if not isinstance(data, dict):
                raise self.problem(f"{text.strip()[:60]} is no object; write {{…}}, one a line")
            yield data, text.strip()

    # --- the first line and the last

    def _header(self, data: dict[str, Any]) -> None:
        if data.get("format") != FORMAT:
            raise self.problem(
                f"the format is {data.get('format')!r}; this version wants {FORMAT!r} in the first line"
            )
        self._known(data, HEADER, "the header")
        own = self.definition
        constants = {name: plain(value) for name, value in own.constants.items()}
        given = data.get("constants", {})
        if not isinstance(given, dict):
            raise self.problem(f"constants are {given!r}; write an object of names and values")
        for name, value in given.items():
            if name not in constants:
                raise self.problem(f"{own.name} has no constant {name!r}{nearest(name, constants)}")
            if value != (list(constants[name]) if isinstance(constants[name], tuple) else constants[name]):
                raise self.problem(
                    f"the log is of {name}={value!r}, and {own.name} has {constants[name]!r}; "
                    "write --config NAME or -D NAME=VALUE"
                )
        if data.get("digest") != own.digest:
            raise self.problem(
                f"the log is of another model, {data.get('model')} {data.get('digest')}; {own.path} is "
                f"{own.digest}: record it anew, or name the model as it was then"
            )
        if data.get("order", "file") not in ORDERS:
            raise self.problem(f'order is {data["order"]!r}; write "file" or "causal"')
        self.causal = data.get("order") == "causal"
        if "hidden" in data:
            self.hidden = self._hidden(data["hidden"])

    def _hidden(self, names: object) -> tuple[Action, ...]:
        if not isinstance(names, list):
            raise self.problem(f"hidden is {names!r}; write a list of actions, such as {_some(self.actions)}")
        for name in names:
            if not isinstance(name, str) or name not in self.actions:
                raise self.problem(
                    f"hidden names {name!r}, which is no action of {self.definition.name}"
                    f"{nearest(str(name), self.actions)}"
                )
        return tuple(action for action in self.definition.actions if action.name in names)

    def _ends(self, data: dict[str, Any]) -> None:
        self._known(data, ("end",), "the last line")
        above = len(self.events) + len(self.begun)
        if data["end"] != above:
            raise self.problem(f"the log ends after {data['end']!r} events, and {above} stand above")
        self.end = len(self.events)

    def _complete(self) -> None:
        if not self.events and not self.begun:
            raise self.problem("the log has no event, so it says nothing")
        if self.end is None and not self.unfinished:
            raise self.problem(
                'the log is short: its last line is no {"end": …}, so its writer was cut off or still '
                "writes; --unfinished takes what is there"
            )
        if not any(event.action is not None or event.shown for event in (*self.events, *self.begun.values())):
            raise self.problem("no line names an action or shows a variable, so the log says nothing")
        known = {(event.node, event.seq) for event in (*self.events, *self.begun.values())}
        for event in (*self.events, *self.begun.values()):
            for node, seq in event.after:
                if (node, seq) not in known:
                    self.line = event.line
                    raise self.problem(f"after names the event {seq} of {node}, which is in no line")

    # --- an event

    def _event(self, data: dict[str, Any], text: str) -> None:
        self._known(data, EVENT, "an event")
        node, seq = data.get("node"), data.get("seq")
        if not isinstance(node, str) or not node:
            raise self.problem(f"node is {node!r}; write who did it, a text")
        if not isinstance(seq, int) or isinstance(seq, bool):
            raise self.problem(f"seq is {seq!r}; write the number of the event at its node: 1, 2, …")
        for word in ("begun", "refused", "unknown"):
            if not isinstance(data.get(word, False), bool):
                raise self.problem(f"{word} is {data[word]!r}; write true, or leave it out")
        begun = self.begun.get(node)
        wanted = begun.seq if begun is not None else self.latest.get(node, 0) + 1
        if seq != wanted or (begun is not None and data.get("begun")):
            raise self._out_of_order(node, seq, wanted, begun)
        event = self._read_event(data, node, seq, begun, text)
        self.latest[node] = seq
        if data.get("begun"):
            self.begun[node] = event
            return
        self.begun.pop(node, None)
        self.events.append(event)

    def _out_of_order(self, node: str, seq: int, wanted: int, begun: Event | None) -> LogProblem:
        last = self.latest.get(node, 0)
        if begun is not None:
            return self.problem(
                f"{node} had begun its event {begun.seq} in line {begun.line}, and here is its event {seq}; "
                f"write how event {begun.seq} ended before, or give a process that was started again "
                "a name of its own"
            )
        if seq <= last:
            return self.problem(f"the event {seq} of {node} a second time; its next one is {wanted}")
        missing = (
            f"event {wanted} of {node} is"
            if seq == wanted + 1
            else f"events {wanted} to {seq - 1} of {node} are"
        )
        return self.problem(f"the {missing} missing before its event {seq}; write what was left out")

    def _read_event(self, data: dict[str, Any], node: str, seq: int, begun: Event | None, text: str) -> Event:
        action = self._action(data)
        if begun is not None and begun.action not in (None, action):
            raise self.problem(f"event {seq} of {node} began as {begun.action.name} in line {begun.line}")
        for word in OF_AN_ACTION if action is None else ():
            if word in data:
                raise self.problem(f"{word} without an action; write which action it is of")
        for word in OF_AN_END if data.get("begun") else ():
            if word in data:
                raise self.problem(f"{word} of what has only begun; write it where the event has ended")
        if ("answer" in data) + bool(data.get("refused")) + bool(data.get("unknown")) > 1:
            raise self.problem("an event has an answer, or is refused, or is unknown; write one of them")
        began = len(self.events) if begun is None else begun.began
        return Event(
            self.line, node, seq, action,
            self._arguments(action, data.get("arguments", {}), begun),
            self._answer(action, data),
            bool(data.get("refused")), bool(data.get("unknown")), not data.get("begun"),
            self._shown(data.get("observed", {})), began, self._after(data, begun), text=text,
        )  # fmt: skip

    def _action(self, data: dict[str, Any]) -> Action | None:
        name = data.get("action")
        if name is None:
            return None
        if not isinstance(name, str) or name not in self.actions:
            raise self.problem(
                f"{self.definition.name} has no action {name!r}{nearest(str(name), self.actions)}"
            )
        return self.actions[name]

    def _arguments(self, action: Action | None, given: object, begun: Event | None) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise self.problem(f"arguments are {given!r}; write an object of names and values")
        if action is None and given:
            raise self.problem("arguments without an action; write which action they are of")
        known = dict(action.parameters) if action is not None else {}
        found = dict(begun.arguments) if begun is not None else {}
        for name, data in given.items():
            if action is not None and name not in known:
                raise self.problem(f"{action.name} has no parameter {name!r}{nearest(name, known)}")
            value = self._value(f"the argument {name}", known[name], data)
            if found.setdefault(name, value) != value:
                raise self.problem(f"the argument {name} is {data!r} here, and was another where it began")
        return found

    def _answer(self, action: Action | None, data: dict[str, Any]) -> Any:
        if "answer" not in data:
            return UNSAID
        assert action is not None
        if action.answer is None:
            raise self.problem(f"{action.name} has no answer in {self.definition.name}; leave it out")
        return self._value(f"the answer of {action.name}", action.answer, data["answer"], told_in)

    def _value(
        self, what: str, domain: Domain, data: object, reading: Callable[[Domain, Any], Any] = value_in
    ) -> Any:
        try:
            return reading(domain, data)
        except Unreadable as problem:
            raise self.problem(f"{what}: {problem}{_values(domain)}") from None

    def _shown(self, given: object) -> tuple[Shown, ...]:
        if not isinstance(given, dict):
            raise self.problem(f"observed is {given!r}; write an object of variables and values")
        found = []
        for name, data in given.items():
            if name not in self.variables:
                raise self.problem(
                    f"{self.definition.name} has no variable {name!r}{nearest(name, self.variables)}"
                )
            place = self.variables[name]
            try:
                found += shown_in(self.definition.variables[place], place, data)
            except Unreadable as problem:
                raise self.problem(f"observed {name}: {problem}") from None
        return tuple(found)

    def _after(self, data: dict[str, Any], begun: Event | None) -> tuple[tuple[str, int], ...]:
        given = data.get("after", [])
        if given and not self.causal:
            raise self.problem(
                'after, in a log in the order of its lines; write "order": "causal" in the header'
            )
        pairs: list[Any] = given if isinstance(given, list) else [given]
        found = begun.after if begun is not None else ()
        for pair in pairs:
            match pair:
                case [str() as node, int() as seq]:
                    found = (*found, (node, seq))
                case _:
                    raise self.problem(f'after is {given!r}; write a list of pairs, such as [["node", 3]]')
        return found

    def _known(self, data: dict[str, Any], words: Iterable[str], where: str) -> None:
        odd = [word for word in data if word not in words]
        if odd:
            raise self.problem(f"{where} has no field {odd[0]!r}{nearest(odd[0], words)}")


def _values(domain: Domain) -> str:
    """What to write instead, of a domain whose name does not say it."""
    inner = domain.inner if isinstance(domain, OptionOf) else domain
    names = ["true", "false"] if isinstance(inner, Bool) else []
    names += list(inner.cls.__members__) if isinstance(inner, EnumOf) else []
    names += ["null"] if isinstance(domain, OptionOf) else []
    return f"; write one of: {', '.join(names)}" if names else ""


def _some(names: Iterable[str]) -> str:
    return json.dumps(list(names)[:2])
