"""One model as it was gathered: variables with their domains, actions, invariants, witnesses, twins.

Without a class, every model of the module or the system is shown. A place stands at the end of each line.

example: falsework show my_model.py:Lease
"""

from __future__ import annotations

import argparse
from typing import Any

from falsework.check import Failure
from falsework.cli_list import sentence
from falsework.cli_model import Target, add_model, definition_at, targets
from falsework.definition import Action, Definition, Property, definition_of
from falsework.domains import spell
from falsework.language import Model, role_of
from falsework.naming import configurations_of, subject_of, twins_of
from falsework.obligations import ALL_ZERO, Obligation
from falsework.prove_contract import values_text
from falsework.report_output import say
from falsework.report_text import aligned, failure_details, failure_line, number_of, subject_text
from falsework.source import class_place
from falsework.values import Map, Seq, Set
from falsework.verdict import BAD_INPUT, PASSED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model."""
    add_model(parser)


def run(args: argparse.Namespace) -> int:
    """Prints every model that is named."""
    found, _ = targets(args.model, args.config, args.constants)
    code = PASSED
    for number, target in enumerate(found):
        if number:
            say("")
        if isinstance(target, Failure):
            code = BAD_INPUT
            say(f"{failure_line(target)}\n\n{failure_details(target)}")
        else:
            say(shown(target))
    return code


def shown(target: Target) -> str:
    """The model's page."""
    definition = definition_at(target)
    head = f"{subject_text(definition, target.configuration)}  {sentence(definition)}"
    counts = ", ".join(
        (
            number_of(len(definition.variables), "variable"),
            number_of(len(definition.actions), "action"),
            number_of(len(definition.invariants), "invariant"),
            number_of(len(definition.witnesses), "witness", "witnesses"),
            *([number_of(len(definition.obligations), "obligation")] if definition.obligations else []),
        )
    )
    lines = [head.rstrip(), f"{target.name}   {counts}   {definition.place}"]
    lines += _block("constants", _constants(definition))
    lines += _block("variables", _variables(definition))
    lines += _block("initial actions", [_action(a) for a in definition.initials])
    lines += _block("actions", [_action(a) for a in definition.actions])
    lines += _block("invariants", [_property(p) for p in definition.invariants])
    lines += _block("witnesses", [_property(p) for p in definition.witnesses])
    lines += _block("terminal", [_property(p) for p in definition.terminals])
    lines += _block("obligations", [_obligation(o) for o in definition.obligations])
    lines += _block("configurations", _roles(configurations_of(subject_of(target.cls))))
    lines += _block("twins", _roles(twins_of(subject_of(target.cls))))
    return "\n".join(lines)


def _block(title: str, rows: list[list[str]]) -> list[str]:
    return ["", title, *(f"  {line}" for line in aligned(rows, gap="   "))] if rows else []


def _constants(definition: Definition) -> list[list[str]]:
    """Each with its value, and the range in which an obligation leaves it open, if it does."""
    ranges = {figure.name: f"open in {figure.range}" for figure in definition.figures}
    rows = [[name, "=", spell(value)] for name, value in definition.constants.items()]
    return [[*row, ranges.get(row[0], "")] for row in rows] if ranges else rows


def _variables(definition: Definition) -> list[list[str]]:
    rows = []
    for variable in definition.variables:
        value = variable.initial
        rows.append([variable.name, str(variable.domain), f"= {_start(value)}", str(variable.place)])
    return rows


def _start(value: Any) -> str:
    """The value as the model's text says it, members by their names."""
    if isinstance(value, Map):
        keys = value.domain()
        cells = (
            spell(value.default)
            if keys is None
            else ", ".join(f"{spell(k)}: {spell(value[k])}" for k in keys)
        )
        return f"Map({cells})" if keys is None else f"Map({{{cells}}})"
    if isinstance(value, Set):
        return f"Set([{', '.join(map(spell, value.initial if value.domain() is None else value))}])"
    return f"Seq([{', '.join(map(spell, value))}])" if isinstance(value, Seq) else spell(value)


def _action(action: Action) -> list[str]:
    parameters = ", ".join(f"{name}: {domain}" for name, domain in action.parameters)
    answer = f" -> {action.answer}" if action.answer is not None else ""
    return [action.kind, f"{action.name}({parameters}){answer}", str(action.place), _sources(action.source)]


def _obligation(obligation: Obligation) -> list[str]:
    parameters = ", ".join(f"{each.name}: {each.range}" for each in obligation.parameters)
    named = f"{obligation.name}({parameters})"
    return [named, "to be proved", str(obligation.place), _sources(obligation.source)]


def _property(prop: Property) -> list[str]:
    what = {
        "state": "of every state",
        "step": "of every step",
        "witness": "to be reached",
        "terminal": "may stay",
    }[prop.kind]
    what = f"of {prop.on}" if prop.on else what
    return [prop.name, what, str(prop.place), _sources(prop.source)]


def _sources(source: tuple[str, ...]) -> str:
    return f"[{', '.join(source)}]" if source else ""


def _roles(classes: list[type[Model]]) -> list[list[str]]:
    return [row for cls in classes for row in _role(cls)]


def _role(cls: type[Model]) -> list[list[str]]:
    """A row for the class, with the first that it breaks; a row for each other."""
    role = role_of(cls)
    assert role is not None
    declared = definition_of(cls)
    broken = [
        *(f"{name} in {n}" if n is not None else f"{name} never" for name, n in declared.breaks.items()),
        *(f"{name} at {values_text(v) or ALL_ZERO}" for name, v in declared.refutes.items()),
    ]
    within = f"within {role.within.__name__}" if role.within is not None else ""
    first = f"breaks {broken[0]}" if broken else "holds"
    others = [["", f"       {each}", "", ""] for each in broken[1:]]
    return [[cls.__name__, first, within, str(class_place(cls))], *others]
