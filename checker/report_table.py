"""The table of a trace: its steps, and of the variables only the cells that change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from falsework.definition import Definition, Variable
from falsework.domains import MapOf, OptionOf, RecordOf, SeqOf, SetOf, VariableDomain, spell
from falsework.state import State, columns
from falsework.trace import Taken

UNCHANGED = "."
_SHORT = 12
_FAULT = "the fault"


@dataclass(frozen=True)
class _Column:
    heading: str
    read: Callable[[State], Any]
    show: Callable[[Any], str]


def step_text(taken: Taken, parameters: Sequence[str] = ()) -> str:
    """The step with its answer, such as `try_take(1) → yes`."""
    assert not parameters
    answer = "" if taken.answer is None else f" → {spell(taken.answer)}"
    return f"{taken.label}{answer}"


def trace_table(definition: Definition, taken: Sequence[Taken], width: int = 100, fault: str = "") -> str:
    """The steps as rows: all cells, the changing cells alone, or the differences, the first that fits.

    `fault` is one more step, which has no state.
    """
    steps = [_start_text(definition, taken[0]), *(step_text(step) for step in taken[1:])]
    states = [step.state for step in taken]
    every = [column for i, v in enumerate(definition.variables) for column in _columns(i, v, states)]
    changing = [column for column in every if len({_hashable(column.read(s)) for s in states}) > 1]
    for chosen in (every, changing):
        table = _grid(steps, states, chosen, fault)
        if chosen and max(map(len, table)) <= width:
            left_out = len(every) - len(chosen)
            note = [f"   ({left_out} columns that never change are left out)"] if left_out else []
            return "\n".join(table + note)
    return "\n".join(_differences(definition, steps, states, width, fault))


def _start_text(definition: Definition, start: Taken) -> str:
    return str(start.label) if definition.initials else "start"


def _hashable(value: object) -> str:
    return repr(value)


def _columns(index: int, variable: Variable, states: Sequence[State]) -> Iterator[_Column]:
    """One column, or of a map whose cells do not read well side by side one column a key."""
    domain, name = variable.domain, variable.name
    if isinstance(domain, MapOf):
        keys = list(domain.key.values())
        plain = not isinstance(domain.value, (RecordOf, OptionOf)) or not _holds_record(domain.value)
        widest = max(len(columns(domain, state[index])) for state in states)
        if len(keys) > 1 and not (plain and widest <= _SHORT):
            for position, key in enumerate(keys):
                yield _Column(f"{name}[{_key(key)}]", _cell(index, position), spell)
            return
    yield _Column(name, lambda state: state[index], lambda cell: columns(domain, cell))


def _cell(index: int, position: int) -> Callable[[State], Any]:
    return lambda state: state[index][position]


def _holds_record(domain: VariableDomain) -> bool:
    return isinstance(domain, RecordOf) or (isinstance(domain, OptionOf) and _holds_record(domain.inner))


def _key(key: object) -> str:
    return ",".join(map(spell, key)) if isinstance(key, tuple) else spell(key)


def _grid(steps: Sequence[str], states: Sequence[State], chosen: Sequence[_Column], fault: str) -> list[str]:
    rows = [["", "step", *(column.heading for column in chosen)]]
    for number, (step, state) in enumerate(zip(steps, states, strict=True)):
        row = [str(number), step]
        for column in chosen:
            value = column.read(state)
            same = number > 0 and _hashable(column.read(states[number - 1])) == _hashable(value)
            row.append(UNCHANGED if same else column.show(value))
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    if fault:
        last = [str(len(steps)), fault]
        widths[:2] = map(max, widths, map(len, last))
        rows.append([*last, _FAULT])
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip() for row in rows]


# --- differences --------------------------------------------------------------------------------------------


def paths(name: str, domain: VariableDomain, cell: Any) -> Iterator[tuple[str, str]]:
    """The scalars of a frozen variable by their paths, such as `journal[2].kind`; a set is one scalar."""
    match domain:
        case MapOf(key, inner):
            for k, value in zip(key.values(), cell, strict=True):
                yield from paths(f"{name}[{_key(k)}]", inner, value)
        case SeqOf(inner, _):
            yield f"len({name})", str(len(cell))
            for index, value in enumerate(cell):
                yield from paths(f"{name}[{index}]", inner, value)
        case RecordOf(cls, fields) if isinstance(cell, cls):
            for field, inner in fields:
                yield from paths(f"{name}.{field}", inner, getattr(cell, field))
        case OptionOf(inner) if cell is not None:
            yield from paths(name, inner, cell)
        case SetOf():
            yield name, columns(domain, cell)
        case _:
            yield name, spell(cell)


def differences(definition: Definition, before: State, after: State) -> list[str]:
    """What one step changes, as `path: old → new`; a path on one side only is `-` on the other."""
    found = []
    for i, variable in enumerate(definition.variables):
        old = dict(paths(variable.name, variable.domain, before[i]))
        new = dict(paths(variable.name, variable.domain, after[i]))
        both = {path: (old.get(path, "-"), new.get(path, "-")) for path in (*old, *new)}
        found += [f"{path}: {was} → {now}" for path, (was, now) in both.items() if was != now]
    return found


def _differences(
    definition: Definition, steps: Sequence[str], states: Sequence[State], width: int, fault: str
) -> list[str]:
    if fault:
        steps = [*steps, fault]
    margin = max(map(len, steps)) + len(str(len(steps))) + 4
    start = [
        f"{variable.name}: {columns(variable.domain, cell)}"
        for variable, cell in zip(definition.variables, states[0], strict=True)
    ]
    rows = [_wrapped(start, width - margin)]
    rows += [
        differences(definition, before, after) or [UNCHANGED] for before, after in itertools.pairwise(states)
    ]
    rows += [[_FAULT]] if fault else []
    lines = []
    for number, (step, found) in enumerate(zip(steps, rows, strict=True)):
        head = f"{number:>{len(str(len(steps)))}}  {step}".ljust(margin)
        lines += [(head if i == 0 else " " * margin) + text for i, text in enumerate(found)]
    return [line.rstrip() for line in lines]


def _wrapped(parts: Sequence[str], width: int) -> list[str]:
    lines = [""]
    for part in parts:
        joined = f"{lines[-1]}   {part}" if lines[-1] else part
        if len(joined) > width and lines[-1]:
            lines.append(part)
        else:
            lines[-1] = joined
    return lines
