"""The command line: finds the command, runs it, and turns what happens into an exit code and a message.

A command is a module with `add_arguments(parser)` and `run(args) -> int`; its docstring is its help, whose
last paragraph is an example. Built-in commands are listed here, others are found in the entry-point group
`falsework.commands`. Only the module of the command that is asked for is imported.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from falsework import __version__
from falsework.errors import EngineFailed, FalseworkError, InputError
from falsework.verdict import BAD_INPUT, INTERNAL, INTERRUPTED, READER_GONE, USAGE, Verdict

if TYPE_CHECKING:
    import importlib.metadata

COMMANDS = "falsework.commands"
BUILT_IN = {
    "list": ("falsework.cli_list", "the models that are installed"),
    "show": ("falsework.cli_show", "one model: variables, actions, invariants, configurations, twins"),
    "gate": ("falsework.cli_gate", "everything that is declared, compared with what is found"),
    "conform": ("falsework.cli_conform", "an implementation driven along every step of its model"),
    "validate": ("falsework.cli_validate", "a log of an implementation, explained by steps of its model"),
    "check": ("falsework.cli_check", "one check of a model, or of every slice of a system"),
    "replay": ("falsework.cli_replay", "a saved trace, or steps, executed again on the class"),
    "simulate": ("falsework.cli_simulate", "random walks; never a proof"),
    "graph": ("falsework.cli_graph", "the state graph as dot, mermaid or networkx json"),
    "export": ("falsework.cli_export", "the model in another tool's language: Promela, for SPIN"),
    "profile": ("falsework.cli_profile", "which variable explodes, which guard never decides"),
    "mutate": ("falsework.cli_mutate", "one small change at a time: would anything notice?"),
    "prove": ("falsework.cli_prove", "its obligations for all values of its figures, by z3"),
    "rules": ("falsework.cli_rules", "each rule of a specification: where it is carried, or why not"),
}
EXIT_CODES = (
    "exit codes: 0 all that was asked holds · 10 violated, or not as declared · 11 vacuous · 12 incomplete · "
    "13 bad model or bad input · 2 usage · 1 falsework itself failed · 130 interrupted"
)


class Command(Protocol):
    """What a command's module offers."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the command's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Does it; the answer is the exit code."""


def commands() -> dict[str, tuple[str, str]]:
    """Every command with its module and one line on what it does; a built-in name cannot be taken over."""
    found = dict(BUILT_IN)
    for name, point in sorted(_offered().items()):
        found.setdefault(name, (point.value, _what_it_does(point.value)))
    return found


def _what_it_does(module: str) -> str:
    """The first line of the module's docstring, read and not imported: what it stands on may be missing."""
    import ast
    import importlib.util

    try:
        spec = importlib.util.find_spec(module)
        text = Path(spec.origin).read_text("utf-8") if spec is not None and spec.origin else ""
        said = ast.get_docstring(ast.parse(text)) or ""
    except (ImportError, OSError, SyntaxError, ValueError):
        said = ""
    line = said.partition("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:] or f"from {module}"


def _offered() -> dict[str, importlib.metadata.EntryPoint]:
    import importlib.metadata

    return {point.name: point for point in importlib.metadata.entry_points(group=COMMANDS)}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and answers its exit code; no traceback reaches a user for a user's mistake."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_what_is_closed()
    code = READER_GONE
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except EngineFailed as problem:
        sys.stderr.write(f"falsework: {problem}\n{_reported()}")
        return INTERNAL
    except FalseworkError as problem:
        sys.stderr.write(f"falsework: {problem}\n")
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has gone. What Python would still flush at its end goes nowhere, silently.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        sys.stderr.write(f"falsework: {where}{problem.strerror or problem}\n")
        return BAD_INPUT
    except KeyboardInterrupt as stop:
        done = f": {stop.args[0]}" if stop.args else ""
        sys.stderr.write(f"\nfalsework: interrupted{done}\n")
        return INTERRUPTED
    except MemoryError:
        sys.stderr.write(
            "falsework: memory ran out, and there is no verdict; --memory MB stops a check before\n"
        )
        return Verdict.INCOMPLETE.exit_code
    except (Exception, SystemExit):  # noqa: BLE001  whatever is left is falsework's own mistake, shown whole
        traceback.print_exc()
        sys.stderr.write(_reported())
        return INTERNAL
    return code


def _reported() -> str:
    return (
        "\nfalsework itself failed, and gives no verdict. Please report it with the lines above "
        f"(falsework {__version__}, Python {sys.version.split()[0]}).\n"
    )


def _open_what_is_closed() -> None:
    """A standard stream that was closed leads nowhere, and no file that is opened later takes its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  to the end


def _run(arguments: Sequence[str]) -> int:
    # A built-in command needs no look at what other packages offer, which costs more than a small check.
    known = BUILT_IN if arguments and arguments[0] in BUILT_IN else commands()
    if arguments and arguments[0] in known:
        name = arguments[0]
        command = _load(name, known[name][0])
        parser = _parser(name, command)
        try:
            args = _parsed(parser, arguments[1:])
        except SystemExit as stop:
            return int(stop.code or 0)
        return command.run(args)
    return _without_command(arguments, known)


def _load(name: str, module: str) -> Command:
    if name in BUILT_IN:
        return cast(Command, importlib.import_module(module))
    try:
        return cast(Command, importlib.import_module(module))
    except ImportError as problem:
        raise InputError(
            f"the command {name} cannot be loaded: {problem}{_extra_with(name, problem.name)}"
        ) from problem


def _extra_with(name: str, missing: str | None) -> str:
    """What to install for the command's missing library: the extra of its package that requires it."""
    package = _offered()[name].dist
    if missing is None or package is None:
        return ""
    library = missing.partition(".")[0].lower()
    for requirement in package.requires or ():
        required, _, condition = requirement.partition(";")
        extra = re.search(r"""extra\s*==\s*["']([\w.-]+)["']""", condition)
        if extra and library in required.lower():
            return f"\n  install: {package.name}[{extra[1]}]"
    return f"\n  install: {library}"


def _parser(name: str, command: Command) -> argparse.ArgumentParser:
    about, _, example = (command.__doc__ or "").strip().rpartition("\n\n")
    parser = argparse.ArgumentParser(
        prog=f"falsework {name}",
        description=about,
        epilog=f"{example}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return parser


def _parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments, options standing anywhere among them; SystemExit where they are a slip of usage."""
    # parse_args gives an argument that may be left out its chance at the first word alone, so that
    # `replay MODEL --config NAME STEPS` would not see STEPS. It cannot hand a rest on to a parser below, and
    # then says so before it looks at a word; a command of another package may have such a parser.
    try:
        return parser.parse_intermixed_args(arguments)
    except TypeError:
        return parser.parse_args(arguments)


def _without_command(arguments: Sequence[str], known: dict[str, tuple[str, str]]) -> int:
    wanted = arguments[0] if arguments else ""
    if wanted == "--version":
        sys.stdout.write(f"falsework {__version__}\n")
        return 0
    widest = max(map(len, known))
    listed = "\n".join(f"  {name.ljust(widest)}  {about}" for name, (_, about) in known.items())
    text = (
        "usage: falsework COMMAND …\n\n"
        "Formal models first, each with its wrong twins, and the runtime under the same invariants.\n\n"
        f"commands:\n{listed}\n\n"
        "falsework COMMAND --help says more of each. For example: falsework check my_model.py:Lease\n\n"
        f"{EXIT_CODES}\n"
    )
    if wanted in ("-h", "--help", "help"):
        sys.stdout.write(text)
        return 0
    if wanted:
        from falsework.naming import nearest

        sys.stderr.write(f"falsework: no command {wanted!r}{nearest(wanted, known)}\n")
    else:
        sys.stderr.write(text)
    return USAGE
