"""The arguments that name a model on the command line, and what they stand for."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from falsework.check import Failure
from falsework.definition import Definition, definition_of
from falsework.errors import DefinitionError, FalseworkError, InputError
from falsework.language import Model, role_of
from falsework.naming import configured, find, setting, with_constants


@dataclass(frozen=True)
class Target:
    """One class to work on: its name, its configuration's, and the arguments that name it again."""

    name: str
    cls: type[Model]
    configuration: str
    command: str

    @property
    def twin(self) -> bool:
        """Whether a twin stands in the class's inheritance."""
        return any((role := role_of(k)) is not None and role.kind == "twin" for k in self.cls.__mro__)

    @property
    def declares(self) -> bool:
        """Whether the class declares what it breaks: a twin, or a configuration that does not hold."""
        return self.twin or any((role := role_of(k)) is not None and role.breaks for k in self.cls.__mro__)


def add_model(parser: argparse.ArgumentParser) -> None:
    """MODEL, --config and -D."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a shipped name (falsework list), module:Class or path.py:Class; without a class, all models",
    )
    add_setting(parser)


def add_setting(parser: argparse.ArgumentParser) -> None:
    """--config and -D."""
    parser.add_argument(
        "--config", metavar="NAME", help="one of the model's configurations (falsework show MODEL)"
    )
    parser.add_argument(
        "-D",
        dest="constants",
        metavar="NAME=VALUE",
        type=constant,
        action="append",
        default=[],
        help="another value of a constant; may be repeated",
    )


def targets(
    model: str, config: str | None, constants: Sequence[str]
) -> tuple[list[Target | Failure], list[str]]:
    """The classes that the arguments name, and the models that have no such configuration.

    A model that is defined wrongly is a Failure among the others; a name that is not known raises InputError.
    """
    working_folder_is_importable()
    try:
        named = find(model)
    except DefinitionError as problem:
        return [Failure(model, problem)], []
    found: list[Target | Failure] = []
    without: list[str] = []
    problems: list[InputError] = []
    for each in named:
        try:
            found.append(_target(each.name, each.cls, config, constants))
        except InputError as problem:
            without.append(each.name)
            problems.append(problem)
        except DefinitionError as problem:
            found.append(Failure(each.name, problem))
    if not found:
        raise InputError("\n".join(dict.fromkeys(map(str, problems))))
    return found, without


def one_target(model: str, config: str | None, constants: Sequence[str]) -> Target:
    """The one class that the arguments name; raises InputError where they name several."""
    found, _ = targets(model, config, constants)
    if len(found) != 1:
        names = ", ".join(target.name for target in found)
        raise InputError(f"{model} names {len(found)} models; write one of: {names}")
    if isinstance(found[0], Failure):
        raise found[0].error
    return found[0]


def definition_at(target: Target) -> Definition:
    """The target's definition; raises DefinitionError."""
    return definition_of(target.cls)


def _target(name: str, cls: type[Model], config: str | None, constants: Sequence[str]) -> Target:
    chosen = setting(cls)[0] if config is None else configured(cls, config)
    configurations = [
        k for k in chosen.__mro__ if (role := role_of(k)) is not None and role.kind == "configuration"
    ]
    values: dict[str, str] = {}
    for name_of, _, value in (text.partition("=") for text in constants):
        if name_of in values:
            raise FalseworkError(f"-D {name_of} is given twice: {values[name_of]} and {value}")
        values[name_of] = value
    if values:
        chosen = with_constants(chosen, values)
    words = [
        name,
        *(["--config", config] if config else []),
        *(w for text in constants for w in ("-D", text)),
    ]
    configuration = configurations[0].__name__ if configurations else ""
    return Target(name, chosen, configuration, shlex.join(words))


def constant(text: str) -> str:
    """The text, if it is NAME=VALUE."""
    name, _, value = text.partition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is no constant with a value; write -D NAME=VALUE")
    return text


def working_folder_is_importable() -> None:
    """The modules of the working folder can be named, last of all."""
    if "" not in sys.path:
        sys.path.append("")
