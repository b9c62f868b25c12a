"""A YAML file read strictly: every key known, every value of its kind, every mistake with its line."""

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml

from falsework.runtime.invocation.units import UnitError, duration, size

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mistake:
    """Where a file is wrong, what was found there, and what to write instead."""

    file: str
    line: int
    found: str
    write: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.found}\n  write: {self.write}"


class DeploymentError(Exception):
    """The file cannot be a deployment: every mistake that was found in it, in the order of its lines."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: mistake.line))
        super().__init__("\n".join(map(str, self.mistakes)))


@dataclass
class Reading:
    """One file under way, and the mistakes found so far."""

    file: str
    mistakes: list[Mistake] = field(default_factory=list)

    def wrong(self, line: int, found: str, write: str) -> None:
        """One more mistake is noted."""
        self.mistakes.append(Mistake(self.file, line, found, write))

    def finish(self) -> None:
        """There was no mistake, or all of them are raised."""
        if self.mistakes:
            raise DeploymentError(self.mistakes)


def line_of(node: yaml.Node) -> int:
    """The line at which the value begins, counted from one."""
    return int(node.start_mark.line) + 1


def opened(path: Path) -> tuple[Reading, "Section"]:
    """The file's outermost section; what is no YAML mapping at all is raised at once."""
    reading = Reading(str(path))
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is a folder, a pipe or a device")  # noqa: TRY301  a pipe would be waited for
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reading.wrong(1, f"the file cannot be read ({error})", "the path of a deployment file, in UTF-8")
        raise DeploymentError(reading.mistakes) from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        reading.wrong(line, f"is no YAML: {error.problem or error.context}", "`key: value` lines")
        raise DeploymentError(reading.mistakes) from None
    except yaml.YAMLError as error:
        reading.wrong(1, f"is no YAML: {error}", "`key: value` lines")
        raise DeploymentError(reading.mistakes) from None
    except RecursionError:
        reading.wrong(1, "is nested too deep", "sections, and figures in them")
        raise DeploymentError(reading.mistakes) from None
    if not isinstance(node, yaml.MappingNode):
        line = 1 if node is None else line_of(node)
        reading.wrong(
            line, f"holds {_named(node)} where sections are expected", "store:, instance: and kinds:"
        )
        raise DeploymentError(reading.mistakes)
    return reading, Section(reading, node, "the file")


class Section:
    """One mapping of the file: each key is asked for once, and what is never asked for is a mistake."""

    def __init__(self, reading: Reading, node: yaml.MappingNode, name: str) -> None:
        self.reading = reading
        self.line = line_of(node)
        self.name = name
        self.nodes: dict[str, yaml.Node] = {}
        self.lines: dict[str, int] = {}
        self.known: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                reading.wrong(line_of(key), f"a key of {name} is {_named(key)}", "a plain word as a key")
            elif key.value in self.nodes:
                first = self.lines[key.value]
                reading.wrong(
                    line_of(key), f"{key.value} stands twice in {name}, first in line {first}", "one of them"
                )
            else:
                self.nodes[key.value], self.lines[key.value] = value, line_of(key)

    def line_at(self, key: str) -> int:
        """Where the key stands, or the section begins."""
        return self.lines.get(key, self.line)

    def has(self, key: str) -> bool:
        """Whether the file gives the key, which is known from now on."""
        self.known.add(key)
        return key in self.nodes

    def word(self, key: str, write: str) -> str | None:
        """The scalar as it is written; None, with a mistake noted, where there is none."""
        node = self._node(key, write)
        if node is None:
            return None
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.reading.wrong(line_of(node), f"{key} of {self.name} is {_named(node)}", write)
            return None
        return str(node.value).strip()

    def read(self, key: str, write: str, reader: Callable[[str], T], placeholder: T) -> T:
        """What the reader makes of the word; the placeholder where it can make nothing, a mistake noted."""
        word = self.word(key, write)
        if word is None:
            return placeholder
        try:
            return reader(word)
        except UnitError as error:
            self.reading.wrong(self.line_at(key), f"{key} of {self.name} is {word!r}", str(error))
            return placeholder

    def text(self, key: str, write: str) -> str:
        """One line of text."""
        return self.word(key, write) or ""

    def duration(self, key: str, *, zero: bool = False) -> int:
        """The microseconds; more than none, unless zero may stand."""
        return self._amount(key, duration, "a duration with its unit, such as 60 s", zero=zero)

    def size(self, key: str) -> int:
        """The bytes, at least one."""
        return self._amount(key, size, "a size with its unit, such as 4 KiB", zero=False)

    def _amount(self, key: str, reader: Callable[[str], int], write: str, *, zero: bool) -> int:
        amount = self.read(key, write, reader, 1)
        if amount == 0 and not zero:
            self.reading.wrong(self.line_at(key), f"{key} of {self.name} is nothing at all", write)
        return amount

    def count(self, key: str, write: str) -> int:
        """A whole number of at least one."""

        def whole(word: str) -> int:
            if not re.fullmatch(r"[1-9][0-9]{0,8}", word):
                raise UnitError(write)
            return int(word)

        return self.read(key, write, whole, 1)

    def choice(self, key: str, options: Iterable[str]) -> str:
        """One of the words that may stand here."""
        allowed = tuple(options)
        write = f"one of: {', '.join(allowed)}"

        def known(word: str) -> str:
            if word not in allowed:
                raise UnitError(write)
            return word

        return self.read(key, write, known, allowed[0])

    def words(self, key: str, write: str, *, empty: bool = False) -> tuple[str, ...]:
        """A list of different words; at least one, unless it may be empty."""
        node = self._node(key, write)
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            self.reading.wrong(line_of(node), f"{key} of {self.name} is {_named(node)}", write)
            return ()
        found: list[str] = []
        for item in node.value:
            if not isinstance(item, yaml.ScalarNode) or not item.value.strip():
                self.reading.wrong(line_of(item), f"{key} of {self.name} holds {_named(item)}", write)
            elif item.value in found:
                self.reading.wrong(line_of(item), f"{key} of {self.name} holds {item.value} twice", write)
            else:
                found.append(item.value)
        if not node.value and not empty:
            self.reading.wrong(line_of(node), f"{key} of {self.name} is an empty list", write)
        return tuple(found)

    def is_section(self, key: str) -> bool:
        """Whether the key holds a mapping, and not a word."""
        return self.has(key) and isinstance(self.nodes[key], yaml.MappingNode)

    def section(self, key: str, write: str) -> "Section | None":
        """The mapping under the key."""
        node = self._node(key, write)
        if node is None:
            return None
        if not isinstance(node, yaml.MappingNode):
            self.reading.wrong(line_of(node), f"{key} of {self.name} is {_named(node)}", write)
            return None
        name = key if self.name == "the file" else f"{key} of {self.name}"
        return Section(self.reading, node, name)

    def sections(self, noun: str, write: str) -> "dict[str, Section]":
        """Every key with its mapping: the keys are names that the file itself gives."""
        found: dict[str, Section] = {}
        for key, node in self.nodes.items():
            self.known.add(key)
            if isinstance(node, yaml.MappingNode):
                found[key] = Section(self.reading, node, f"{noun} {key}")
            else:
                self.reading.wrong(line_of(node), f"{noun} {key} is {_named(node)}", write)
        return found

    def close(self) -> None:
        """Every key that nobody asked for is a mistake, with the nearest one that would be known."""
        for key in self.nodes:
            if key not in self.known:
                near = difflib.get_close_matches(key, self.known, 1)
                write = near[0] if near else f"only these here: {', '.join(sorted(self.known))}"
                self.reading.wrong(self.lines[key], f"{self.name} has no {key!r}", write)

    def _node(self, key: str, write: str) -> yaml.Node | None:
        if not self.has(key):
            self.reading.wrong(self.line, f"{self.name} lacks {key}", f"{key}: {write}")
            return None
        return self.nodes[key]


def _named(node: yaml.Node | None) -> str:
    """The value in words, for a message."""
    match node:
        case yaml.MappingNode():
            return "a mapping"
        case yaml.SequenceNode():
            return "a list"
        case yaml.ScalarNode() if str(node.value).strip():
            return repr(node.value)
    return "empty"
