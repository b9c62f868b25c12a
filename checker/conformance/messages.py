"""The adapter protocol as data: each message, what it carries, what answers it; answers are checked by it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from falsework.conformance.subject import ATTRIBUTES, SubjectFault
from falsework.naming import nearest

PROTOCOL = 1
LONGEST = 1_000_000
"""An answer of more bytes than that is none."""
SHOWN = 120
"""So much of a line is repeated in an error."""


@dataclass(frozen=True)
class Field:
    """One field of a message or of an answer: its name, the JSON that it holds, what it says."""

    name: str
    kind: str  # a key of KINDS
    means: str
    optional: bool = False


@dataclass(frozen=True)
class Message:
    """What is sent under one word, and what the program answers, with which words for the outcome."""

    do: str
    means: str
    sends: tuple[Field, ...]
    answers: tuple[Field, ...]
    outcomes: tuple[str, ...] = ("ok", "error")


KINDS: dict[str, tuple[type, ...]] = {
    "a number": (int,),
    "a text": (str,),
    "a list of texts": (list,),
    "an object": (dict,),
    "any value": (object,),
}

OUTCOMES = {
    "ok": "it was done, and the fields of its message come with it",
    "refused": "the implementation refuses the action, as it should where the model disables it",
    "unknown": "the action may have happened or not, nobody can tell: the model goes on with both",
    "error": "something broke down; after `perform` that is compared, else it is a fault of the adapter",
}

MESSAGES = {
    message.do: message
    for message in (
        Message(
            "hello",
            "the first message: who are you",
            (Field("protocol", "a number", f"the protocol that falsework speaks: {PROTOCOL}"),),
            (
                Field("protocol", "a number", f"the protocol that the program speaks: {PROTOCOL}"),
                Field("model", "a text", ATTRIBUTES["model"].replace('"', "`")),
                Field("surface", "a text", "what is driven, for people: the head of its column"),
                Field(
                    "refuses", "a list of texts", "the actions whose guard the implementation itself enforces"
                ),
                Field("internal", "a list of texts", "the steps that it takes of itself, without an answer"),
            ),
        ),
        Message(
            "begin",
            "the implementation is as new, whatever came before; sent before each path",
            (Field("constants", "an object", "the constants of the model, by name"),),
            (),
        ),
        Message(
            "perform",
            "the action happens, whoever takes it in the model: a client's call, a timer, a crash",
            (
                Field("action", "a text", "its name"),
                Field("arguments", "an object", "its arguments, by name; empty where it has none"),
            ),
            (
                Field(
                    "answer",
                    "any value",
                    "the implementation's answer, if the action has one",
                    True,
                ),
            ),
            ("ok", "refused", "unknown", "error"),
        ),
        Message(
            "observe",
            "what can be seen of the implementation now",
            (),
            (Field("variables", "an object", "the model's variables that it can show, always the same"),),
        ),
        Message("close", "the last message: nothing is left open, and the program ends", (), ()),
    )
}
ASKED = (
    Field("id", "a number", "of this message: 1, 2, 3, …"),
    Field("do", "a text", "which message it is"),
)
ANSWERED = (
    Field("id", "a number", "of the message that is answered"),
    Field("is", "a text", "the outcome"),
)
WHY = Field("why", "a text", "for people, with `refused`, `unknown` and `error`", True)


def written(number: int, do: str, fields: Mapping[str, object]) -> str:
    """The message as its line, without the end of it."""
    return _ENCODER.encode({"id": number, "do": do, **fields})


def printable(text: str) -> str:
    """The text without what a terminal would obey or not show: each such character as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(line: bytes | str) -> str:
    """The line as an error repeats it."""
    text = line if isinstance(line, str) else line.decode("utf-8", "replace")
    return printable(text) if len(text) <= SHOWN else f"{printable(text[:SHOWN])}…"


def as_json(value: object) -> str:
    """What a program has sent, as it has: an error says true and not True."""
    return shortened(json.dumps(value, ensure_ascii=False))


def read_answer(line: bytes, place: str, number: int, do: str) -> dict[str, Any]:
    """The answer to that message. Raises SubjectFault: what is wrong with the line, and what to write."""
    data = _object(line, place)
    if (found := data.get("id")) != number or isinstance(found, bool):
        raise SubjectFault(f"{place} {_other_id(found, number)}: {shortened(line)}")
    outcomes = MESSAGES[do].outcomes
    outcome = data.get("is")
    if outcome not in outcomes:
        told = "has no outcome" if "is" not in data else f"has the outcome {as_json(outcome)}"
        listed = " or ".join(f'"is": "{word}"' for word in outcomes)
        raise SubjectFault(f"{place} {told}, and answers {do}: {shortened(line)}\nwrite {listed}")
    fields = (*ANSWERED, *MESSAGES[do].answers) if outcome == "ok" else (*ANSWERED, WHY)
    _fit(data, fields, place, f"{do} with {outcome}")
    return data


def _other_id(found: object, number: int) -> str:
    if isinstance(found, int) and not isinstance(found, bool) and 0 < found < number:
        return f"answers message {found} once more, where message {number} waits for its answer"
    told = "has no id" if found is None else f"has the id {as_json(found)}"
    return f'{told}, where message {number} waits for its answer; write "id": {number}'


def _object(line: bytes, place: str) -> dict[str, Any]:
    """The line's object; raises SubjectFault for anything else, a field that comes twice included."""
    try:
        data: object = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise SubjectFault(f"{place} is not UTF-8: {line[:SHOWN]!r}") from None
    except (ValueError, RecursionError) as problem:
        what = "is empty" if not line.strip() else f"is no JSON ({_why(problem)}): {shortened(line)}"
        raise SubjectFault(
            f"{place} {what}\nwrite one JSON object a line on stdout, and what is for people on stderr"
        ) from None
    if not isinstance(data, dict):
        raise SubjectFault(f'{place} is no object: {shortened(line)}\nwrite {{"id": …, "is": …}}')
    return data


def _why(problem: ValueError | RecursionError) -> str:
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg.removesuffix(' at')} at column {problem.colno}"
    return (
        "lists or objects in one another, too deep" if isinstance(problem, RecursionError) else str(problem)
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"a number of {len(text):,} digits") from None


def _fraction(text: str) -> float:
    """What has a fraction or an exponent: no value of a model, and kept to be shown beside one."""
    if math.isinf(number := float(text)):
        raise ValueError(f"{text[:SHOWN]} is too large a number; write whole ones digit by digit")
    return number


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_no_number, parse_int=_whole, parse_float=_fraction
)


def _fit(data: Mapping[str, Any], fields: Collection[Field], place: str, answer: str) -> None:
    """Raises SubjectFault for a field that is missing, unknown, or holds something else."""
    known = [field.name for field in fields]
    for name in data:
        if name not in known:
            raise SubjectFault(
                f"{place} has a field {name!r}, which the answer to {answer} has not{nearest(name, known)}"
            )
    for field in fields:
        if field.name not in data:
            if field.optional:
                continue
            raise SubjectFault(f"{place} has no {field.name!r}; write with it {field.kind}: {field.means}")
        if not _is(field.kind, data[field.name]):
            found = f"{place} has {field.name!r}: {as_json(data[field.name])}"
            raise SubjectFault(f"{found}; write {field.kind}: {field.means}")


def _is(kind: str, value: Any) -> bool:
    if kind == "a list of texts":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, KINDS[kind]) and not (kind == "a number" and isinstance(value, bool))
