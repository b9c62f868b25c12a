"""What becomes of each rule of a specification: the file `rules.toml` beside a system's models, read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falsework.errors import InputError, Place, display_path
from falsework.naming import nearest, shipped

FILE = "rules.toml"
STATES = ("carried", "runtime", "external")
"""Carried by a model's element or a test; to be carried by the runtime; beyond what a machine can see."""


@dataclass(frozen=True)
class Claim:
    """One rule in one group of the file: what is claimed of it, why, and the tests that break it."""

    rule: str
    state: str
    why: str
    tests: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class RuleBook:
    """A file as it stands: every rule by its id, in order, and every claim made of one."""

    system: str
    path: Path
    rules: tuple[str, ...]
    claims: tuple[Claim, ...]
    models: tuple[str, ...]  # whose elements carry the rules, as the command line takes them
    places: Mapping[str, Place]

    @property
    def file(self) -> str:
        """The file as it is printed."""
        return _shown(self.system, self.path)


def books(system: str | None) -> list[RuleBook]:
    """The book of that system, or of every installed one that has a book; raises InputError."""
    if system is not None:
        return [read(*_found(system))]
    found: dict[Path, str] = {}
    for name in shipped():
        for folder in _folders([name]):
            if (folder / FILE).is_file():
                found.setdefault(folder / FILE, name.rpartition(".")[0] or name)
    if not found:
        raise InputError(f"no installed system has a {FILE}; write one: docs/rules.md, and name its folder")
    return [read(name, path) for path, name in found.items()]


def _found(system: str) -> tuple[str, Path]:
    path = Path(system)
    if path.suffix == ".toml" or path.is_dir():
        file = path if path.suffix == ".toml" else path / FILE
        if not file.is_file():
            raise InputError(f"no file {file}; write one: docs/rules.md")
        return file.resolve().parent.name, file
    names = shipped()
    slices = [name for name in names if name == system or name.startswith(f"{system}.")]
    if not slices:
        systems = {name.partition(".")[0] for name in names}
        raise InputError(
            f"no system {system!r}{nearest(system, systems)}\nwrite a shipped name, or a folder with a {FILE}"
        )
    for folder in _folders(slices):
        if (folder / FILE).is_file():
            return system, folder / FILE
    raise InputError(f"{system} has no {FILE} beside its models; write one: docs/rules.md")


def _folders(slices: Iterable[str]) -> list[Path]:
    """The folders of the modules that hold these slices."""
    import importlib.util

    found: dict[Path, None] = {}
    for name in slices:
        module = shipped()[name]
        try:
            spec = importlib.util.find_spec(module)
        except ModuleNotFoundError as problem:
            raise InputError(f"no module {problem.name}, which is to hold {name}") from None
        if spec is not None and spec.origin is not None:
            found[Path(spec.origin).parent] = None
    return list(found)


def _shown(system: str, path: Path) -> str:
    package = shipped().get(next((n for n in shipped() if n.startswith(f"{system}.")), ""), "")
    if package and path.name == FILE:
        return f"{package.rpartition('.')[0].replace('.', '/')}/{FILE}"
    return display_path("", str(path.resolve()))


# --- the file -------------------------------------------------------------------------------------


class _Reader:
    """One file: every mistake is an InputError that names its line."""

    def __init__(self, system: str, path: Path) -> None:
        self.system = system
        self.path = path
        self.name = _shown(system, path)
        try:
            self.text = path.read_text("utf-8")
            self.data: dict[str, Any] = tomllib.loads(self.text)
        except UnicodeDecodeError as problem:
            raise InputError(f"{self.name}: not UTF-8 at byte {problem.start}; save it as UTF-8") from None
        except tomllib.TOMLDecodeError as problem:
            at = re.search(r"line (\d+)", str(problem))
            raise InputError(f"{self.name}{f':{at[1]}' if at else ''}: not TOML: {problem}") from None
        except RecursionError:
            raise InputError(f"{self.name}: nested too deep; write lists of texts") from None
        self.lines = self.text.splitlines()

    def wrong(self, line: int, found: str, write: str) -> InputError:
        return InputError(f"{self.name}{f':{line}' if line else ''}: {found}\n  write: {write}")

    def line_of(self, pattern: str, after: int = 0) -> int:
        """The first line after that one where the pattern stands; 0 if none does."""
        return next((n for n, text in enumerate(self.lines, 1) if n > after and re.search(pattern, text)), 0)

    def book(self) -> RuleBook:
        known = ("models", "rules", *STATES)
        for key in self.data:
            if key not in known:
                line = self.line_of(rf"^\s*\[*\s*\"?{re.escape(key)}\b")
                raise self.wrong(line, f"{key!r} is no part of the file", f"one of: {', '.join(known)}")
        rules = tuple(self.rules())
        claims = tuple(claim for state in STATES for claim in self.claims(state))
        places = {rule: Place(self.name, self.line_of_rule(rule)) for rule in rules}
        return RuleBook(self.system, self.path, rules, claims, self.models(), places)

    def models(self) -> tuple[str, ...]:
        line = self.line_of(r"^\s*models\b")
        return self.texts(self.data.get("models", [self.system]), line, "models", '["system", "slice.py"]')

    def texts(self, value: object, line: int, key: str, example: str) -> tuple[str, ...]:
        """The list of texts, which has at least one."""
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
            raise self.wrong(line, f"{key} = {value!r}, which is no list of texts", f"{key} = {example}")
        return tuple(value)

    def rules(self) -> Iterator[str]:
        """Every id: a family and each of its numbers."""
        line = self.line_of(r"^\s*\[\s*rules\s*\]")
        families = self.data.get("rules")
        if not isinstance(families, dict) or not families:
            raise self.wrong(line, "no rules", 'the table [rules] with a line "family" = ["1", "2"] or more')
        seen: set[str] = set()
        for family, numbers in families.items():
            at = self.line_of(rf'^\s*"?{re.escape(family)}"?\s*=', line)
            for number in self.texts(numbers, at, f'"{family}"', '["1", "2", "2a"]'):
                rule = f"{family} {number}"
                if rule in seen:
                    raise self.wrong(at, f"the rule {rule!r} stands twice", "each number once")
                seen.add(rule)
                yield rule

    def line_of_rule(self, rule: str) -> int:
        family = rule.rpartition(" ")[0]
        return self.line_of(rf'^\s*"?{re.escape(family)}"?\s*=')

    def claims(self, state: str) -> Iterator[Claim]:
        """The claims of the groups [[state]], in order."""
        groups = self.data.get(state, [])
        if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
            line = self.line_of(rf"^\s*\[?\s*{state}\b")
            raise self.wrong(line, f"{state} is no list of groups", f'[[{state}]], below it ids = ["rule 1"]')
        line = 0
        for group in groups:
            line = self.line_of(rf"^\s*\[\[\s*{state}\s*\]\]", line) or line
            yield from self.group(state, group, line)

    def group(self, state: str, group: dict[str, Any], line: int) -> Iterator[Claim]:
        """The claims of one group; what is not carried needs a reason."""
        known = ("ids", "why", "tests") if state == "carried" else ("ids", "why")
        for key in group:
            if key not in known:
                at = self.line_of(rf"^\s*{re.escape(key)}\s*=", line)
                raise self.wrong(at, f"{key!r} in [[{state}]]", f"one of: {', '.join(known)}")
        why = group.get("why", "")
        if not isinstance(why, str) or (state != "carried" and not why.strip()):
            raise self.wrong(line, f"[[{state}]] without a reason", 'why = "…", a sentence')
        tests: tuple[str, ...] = ()
        if "tests" in group:
            tests = self.texts(group["tests"], line, "tests", '["tests/test_x.py::test_y"]')
            for test in tests:
                if not re.fullmatch(r"[^:]+\.py::\w+", test):
                    at = self.line_of(re.escape(test), line)
                    raise self.wrong(at, f"{test!r} names no test", '"tests/test_x.py::test_y"')
        at = line
        for rule in self.texts(group.get("ids"), line, "ids", '["rule 1", "rule 2"]'):
            at = self.line_of(f'"{re.escape(rule)}"', line) or line
            yield Claim(rule, state, why.strip(), tests, Place(self.name, at))


def read(system: str, path: Path) -> RuleBook:
    """The file as a book; raises InputError with the place of the first mistake."""
    return _Reader(system, path).book()
