"""A counterexample as data: written to a file or a line, read back, and executed again on the class.

In a file an argument is a number, true or false, a member's name, "-" for None, or the list of a record's
fields.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falsework.check import Result, broken_at_the_end
from falsework.definition import Action, Definition, definition_now
from falsework.domains import Bool, Domain, EnumOf, Int, OptionOf, RecordOf, TupleOf, spell
from falsework.errors import CutByBound, InputError
from falsework.language import Model
from falsework.naming import nearest
from falsework.report_reason import false_guard
from falsework.state import digest
from falsework.trace import Label, Taken, Trace, starts, take

FORMAT = "falsework.trace/1"


@dataclass(frozen=True)
class SavedStep:
    """One step of a file: the action, its arguments and answer as data, the digest of the state after it."""

    action: str
    arguments: Mapping[str, Any]
    answer: Any
    state: str


@dataclass(frozen=True)
class Saved:
    """A trace as it stands in a file; the start has no action where the defaults are the start."""

    model: str
    configuration: str
    constants: Mapping[str, Any]
    digest: str
    property: str
    verdict: str
    start: SavedStep
    steps: tuple[SavedStep, ...]


# --- values -------------------------------------------------------------------------------------------------


def encoded(value: Any) -> Any:
    """A value of a finite domain as json has it."""
    if value is None:
        return "-"
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, tuple):
        return [encoded(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return [encoded(getattr(value, name)) for name in value.__dataclass_fields__]
    return value.name


def decoded(domain: Domain, data: Any) -> Any:
    """The value of the domain that was encoded so; raises InputError for anything that is no value of it."""
    match domain:
        case Bool() if isinstance(data, bool):
            return data
        case Int() if isinstance(data, int) and not isinstance(data, bool) and domain.contains(data):
            return data
        case EnumOf(cls) if isinstance(data, str) and data in cls.__members__:
            return cls[data]
        case OptionOf(inner):
            return None if data == "-" else decoded(inner, data)
        case RecordOf(cls, fields) if isinstance(data, list) and len(data) == len(fields):
            return cls(*(decoded(inner, item) for (_, inner), item in zip(fields, data, strict=True)))
        case TupleOf(parts) if isinstance(data, list) and len(data) == len(parts):
            return tuple(decoded(part, item) for part, item in zip(parts, data, strict=True))
    raise InputError(f"{json.dumps(data)} is no value of {domain}")


# --- files --------------------------------------------------------------------------------------------------


def save(path: Path, result: Result, name: str = "") -> None:
    """Writes the counterexample of the property (the first broken one) into the file, whole or not at all."""
    found = min(result.counterexamples.values(), key=lambda each: each.violation.steps)
    chosen = result.counterexamples[name] if name else found
    definition = result.definition
    first, *rest = chosen.taken
    whole = {
        "format": FORMAT,
        "model": result.name if result.command else definition.path,
        "configuration": result.configuration,
        "constants": {key: encoded(value) for key, value in definition.constants.items()},
        "digest": definition.digest,
        "verdict": result.verdict.value,
        "property": chosen.violation.name,
        "start": _step_data(definition, first),
        "steps": [_step_data(definition, taken) for taken in rest],
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
    try:
        _write(path.resolve(), text)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}") from None


def _write(path: Path, text: str) -> None:
    """Written aside and moved into place; a device or a pipe is written to, and never replaced by a file."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _step_data(definition: Definition, taken: Taken) -> dict[str, Any]:
    actions = {action.name: action for action in (*definition.initials, *definition.actions)}
    action = actions.get(taken.label.action)
    names = [name for name, _ in action.parameters] if action is not None else []
    return {
        "action": taken.label.action if action is not None else "",
        "arguments": dict(zip(names, map(encoded, taken.label.arguments), strict=True)),
        "answer": _answer_data(taken),
        "state": digest(taken.state),
    }


def _answer_data(taken: Taken) -> Any:
    try:
        return encoded(taken.answer)
    except AttributeError:  # an answer of no domain is what the counterexample is about
        return spell(taken.answer)


def load(path: Path) -> Saved:
    """What the file holds; raises InputError where it is no trace of this version."""
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        found = whole["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{path} is no trace file: falsework check MODEL --save {path} writes one") from None
    if found != FORMAT:
        raise InputError(f"{path} has the format {found!r}; this version reads {FORMAT}")
    try:
        return Saved(
            model=str(whole["model"]),
            configuration=str(whole["configuration"]),
            constants=dict(whole["constants"]),
            digest=str(whole["digest"]),
            property=str(whole["property"]),
            verdict=str(whole["verdict"]),
            start=_saved_step(whole["start"]),
            steps=tuple(map(_saved_step, whole["steps"])),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(f"{path} is a damaged trace file: {type(problem).__name__} {problem}") from None


def _saved_step(data: Mapping[str, Any]) -> SavedStep:
    return SavedStep(str(data["action"]), dict(data["arguments"]), data["answer"], str(data["state"]))


def trace_of(definition: Definition, saved: Saved) -> Trace:
    """The labels of the file for that model; raises InputError for a step that the model does not have."""
    initial = {action.name: action for action in definition.initials}
    actions = {action.name: action for action in definition.actions}
    start = _label(initial, saved.start, "the start", definition) if saved.start.action else None
    steps = [
        _label(actions, step, f"step {number}", definition) for number, step in enumerate(saved.steps, 1)
    ]
    return Trace(start, tuple(steps))


def _label(known: Mapping[str, Action], step: SavedStep, where: str, definition: Definition) -> Label:
    if step.action not in known:
        text = f"{where}: {definition.name} has no action {step.action!r}"
        raise InputError(text + nearest(step.action, known))
    action = known[step.action]
    names = [name for name, _ in action.parameters]
    if list(step.arguments) != names:
        wanted, found = ", ".join(names), ", ".join(step.arguments)
        raise InputError(f"{where}: {step.action} takes ({wanted}), and the file has ({found})")
    values = []
    for name, domain in action.parameters:
        try:
            values.append(decoded(domain, step.arguments[name]))
        except InputError as problem:
            raise InputError(f"{where}: {step.action}, argument {name}: {problem}") from None
    return Label(step.action, tuple(values))


# --- lines of text ------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*([(),]|[^\s(),]+)")


def parsed(definition: Definition, text: str) -> Trace:
    """The labels in a line such as `acquire(0) expire()`, an initial action first where there are any."""
    tokens = _TOKEN.findall(text)
    initial = {action.name: action for action in definition.initials}
    known = {action.name: action for action in definition.actions}
    labels: list[Label] = []
    start: Label | None = None
    while tokens:
        name = tokens.pop(0)
        where = f"step {len(labels) + 1}"
        starting = not labels and start is None and name in initial
        if name not in known and not starting:
            raise InputError(f"{where}: {definition.name} has no action {name!r}{nearest(name, known)}")
        label = Label(name, _arguments(initial[name] if starting else known[name], tokens, where))
        if starting:
            start = label
        else:
            labels.append(label)
    return Trace(start, tuple(labels))


def _arguments(action: Action, tokens: list[str], where: str) -> tuple[Any, ...]:
    signature = f"{action.name}({', '.join(name for name, _ in action.parameters)})"
    if not action.parameters and tokens[:1] != ["("]:
        return ()
    _expect(tokens, "(", where, signature)
    values = []
    for number, (name, domain) in enumerate(action.parameters):
        if number:
            _expect(tokens, ",", where, signature)
        values.append(_value(domain, tokens, f"{where}: {signature}, argument {name}"))
    _expect(tokens, ")", where, signature)
    return tuple(values)


def _expect(tokens: list[str], sign: str, where: str, signature: str) -> None:
    found = tokens.pop(0) if tokens else ""
    if found != sign:
        said = f"{found!r} instead of {sign!r}" if found else f"the line ends where {sign!r} belongs"
        raise InputError(f"{where}: {said}; write {signature}")


def _value(domain: Domain, tokens: list[str], where: str) -> Any:
    match domain:
        case OptionOf(inner):
            if tokens[:1] == ["-"]:
                tokens.pop(0)
                return None
            return _value(inner, tokens, where)
        case RecordOf(cls, fields):
            _expect(tokens, "(", where, str(domain))
            made = cls(*(_value(inner, tokens, where) for _, inner in fields))
            _expect(tokens, ")", where, str(domain))
            return made
        case TupleOf(parts):
            _expect(tokens, "(", where, str(domain))
            items = []
            for number, part in enumerate(parts):
                if number:
                    _expect(tokens, ",", where, str(domain))
                items.append(_value(part, tokens, where))
            _expect(tokens, ")", where, str(domain))
            return tuple(items)
    text = tokens.pop(0) if tokens else ""
    known = {spell(value): value for value in domain.values()}
    if text not in known:
        some = ", ".join(list(known)[:8]) + (", …" if len(known) > 8 else "")
        said = f"{text!r} is no value of {domain}" if text else "the line ends where a value belongs"
        raise InputError(f"{where}: {said}; write one of: {some}")
    return known[text]


# --- executed again -----------------------------------------------------------------------------------------


def executed(definition: Definition, trace: Trace) -> Iterator[Taken]:
    """The start and every step as it is taken; raises InputError, with the guard, where one is not."""
    actions = {action.name: action for action in definition.actions}
    start = next((s for s in starts(definition) if trace.start is None or s.label == trace.start), None)
    if start is None:
        raise InputError(f"{definition.name} has no initial state {trace.start or ''}".rstrip())
    yield start
    state = start.state
    for number, label in enumerate(trace.steps, 1):
        action = actions[label.action]
        try:
            after = take(definition, action, state, label)
        except CutByBound as cut:
            raise InputError(f"step {number}: {label} is {cut}") from None
        if after is None:
            reason = false_guard(definition, action, state, label)
            why = f"\n  {reason.place}   {reason.text}" if reason is not None else ""
            read = f"   ({', '.join(reason.readings)})" if reason is not None and reason.readings else ""
            raise InputError(f"step {number}: {label} is not enabled there{why}{read}")
        yield after
        state = after.state


def replay(model: type[Model], steps: str) -> list[Taken]:
    """The start and the steps of a line such as `acquire(0) expire()`, executed on the class.

    Raises InputError at the first step that cannot be taken, and says which guard is false there.
    """
    definition = definition_now(model)
    return list(executed(definition, parsed(definition, steps)))


def disagreement(saved: Saved, taken: Sequence[Taken]) -> str:
    """Where the executed steps differ from the saved ones; empty where they agree to the last digest."""
    for number, (step, now) in enumerate(zip((saved.start, *saved.steps), taken, strict=True)):
        if digest(now.state) != step.state:
            return f"step {number}: the state is {digest(now.state)} and was {step.state}"
        if number and _answer_data(now) != step.answer:
            return f"step {number}: the answer is {_answer_data(now)} and was {step.answer}"
    return ""


def first_broken(definition: Definition, taken: Sequence[Taken]) -> tuple[int, list[str]]:
    """After how many steps something is broken for the first time, and what; (-1, []) where nothing is."""
    for number in range(len(taken)):
        broken = broken_at_the_end(definition, tuple(taken[: number + 1]))
        if broken:
            return number, broken
    return -1, []
