"""The models that are installed, each by the name under which every other command takes it.

Models of one's own need no installation: module:Class and path.py:Class are names too.

example: falsework list
"""

from __future__ import annotations

import argparse

from falsework.definition import Definition, definition_of
from falsework.errors import FalseworkError
from falsework.naming import configurations_of, find, shipped, twins_of
from falsework.report_output import say, warn
from falsework.report_text import aligned, number_of
from falsework.verdict import BAD_INPUT, PASSED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001  every command is given its arguments
    """Prints one line a model; a model that cannot be loaded is said, and makes the answer an error."""
    rows, broken = [], []
    for name in shipped():
        try:
            for named in find(name):
                definition = definition_of(named.cls)
                bent = f"{number_of(len(twins_of(named.cls)), 'twin')}"
                other = number_of(len(configurations_of(named.cls)), "configuration")
                open_ = number_of(len(definition.obligations), "obligation") if definition.obligations else ""
                rows.append([named.name, definition.name, bent, other, open_, sentence(definition)])
        except FalseworkError as problem:
            broken.append(f"falsework: {name}: {problem}")
    if not rows and not broken:
        warn("falsework: no model is installed; check one of your own: falsework check path.py:Class")
        return BAD_INPUT
    unique = list(dict.fromkeys(map(tuple, rows)))
    say(f"{number_of(len(unique), 'model')} installed\n")
    heads = ["name", "class", "twins", "configurations", "obligations", "what"]
    for line in aligned([heads, *map(list, unique)]):
        say(line)
    for text in broken:
        warn(text)
    return BAD_INPUT if broken else PASSED


def sentence(definition: Definition) -> str:
    """The first line of the model's docstring."""
    return (vars(definition.cls).get("__doc__") or "").strip().partition("\n")[0]
