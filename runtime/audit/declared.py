"""What a deployment file declares, as far as an audit asks: read by the auditor itself, with yaml alone.

Keys that no check reads are passed over: `falsework start-check` judges the file as a whole.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import cast

import yaml

from falsework.runtime.audit.opened import NotAudited

UNITS = {"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3_600 * 10**6, "d": 86_400 * 10**6}
DURATION = re.compile(r"(\d{1,30}(?:\.\d{1,30})?) *(us|ms|s|min|h|d)")
SIZES = {"B": 1, "KiB": 1_024, "MiB": 1_048_576}
COUNT = re.compile(r"(\d{1,9}) *(B|KiB|MiB)")
FIGURES = (
    "reconciliation_cadence",
    "clock_offset_allowance",
    "closure_latency",
    "run_bound",
    "journal_write_bound",
    "read_bound",
    "compensation_window",
)


@dataclass(frozen=True, slots=True)
class Instance:
    """The instance's figures that the checks read, in microseconds."""

    reconciliation_cadence: int
    clock_offset_allowance: int
    closure_latency: int
    run_bound: int
    journal_write_bound: int
    read_bound: int
    compensation_window: int
    journal_fence: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """One kind's bindings that the checks read."""

    name: str
    completion_bound: int
    commit_round_trip: int
    probe_round_trip: int
    retention_period: int
    commit_fence: bool
    pairing_datum: bool
    probe: str | None
    """`module:function`; None where the deployment declares that no read can tell."""
    outcomes: tuple[str, ...]
    service_identity: str | None


@dataclass(frozen=True, slots=True)
class Declared:
    """One deployment."""

    path: Path
    store: str
    witness: Path | None
    reference_length_cap: int
    instance: Instance
    kinds: dict[str, Bound]

    @property
    def identities(self) -> frozenset[str]:
        """The actors under whom the sweep writes."""
        return frozenset(kind.service_identity for kind in self.kinds.values() if kind.service_identity)


def read_declared(path: Path) -> Declared:
    """The deployment that the file declares."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as problem:
        raise NotAudited(f"{path}: the file cannot be read ({problem}): give a deployment file") from problem
    except (yaml.YAMLError, RecursionError) as problem:
        first = str(problem).splitlines()[0] if str(problem) else "it is nested too deep"
        raise NotAudited(f"{path}: is no YAML ({first}): give a deployment file") from problem
    file = _Mapping(path, node, "the file")
    instance = file.mapping("instance")
    kinds = file.mapping("kinds")
    store, witness = file.text("store"), file.text("witness") if "witness" in file.nodes else None
    if store.startswith("sqlite:"):
        store = f"sqlite:{path.parent / store.removeprefix('sqlite:')}"
    elif not store.startswith("postgresql:"):
        raise file.wrong("store", "a store is named", "sqlite:ledger.db, or postgresql://user@host/database")
    figures = {name: instance.duration(name) for name in FIGURES}
    bound = {name: _bound(name, kinds.mapping(name)) for name in kinds.nodes}
    if not bound:
        raise file.wrong("kinds", "no kind is bound", "at least one kind of act")
    fence = instance.text("journal_fence") != "none"
    return Declared(
        path,
        store,
        None if witness is None else path.parent / witness,
        file.count("reference_length_cap", 256),
        Instance(**figures, journal_fence=fence),
        bound,
    )


def _bound(name: str, kind: "_Mapping") -> Bound:
    probe = kind.text("probe")
    return Bound(
        name,
        kind.duration("completion_bound"),
        kind.duration("commit_round_trip"),
        kind.duration("probe_round_trip"),
        kind.duration("retention_period"),
        kind.text("commit_fence") != "none",
        kind.is_section("pairing_datum"),
        None if probe == "undecidable" else probe,
        kind.words("outcomes"),
        kind.mapping("service_identity").text("actor") if kind.is_section("service_identity") else None,
    )


@dataclass(slots=True)
class _Mapping:
    """A mapping of the file, asked for what a check reads; what is wrong is told with its line."""

    path: Path
    node: yaml.Node | None
    name: str
    nodes: dict[str, yaml.Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.node, yaml.MappingNode):
            line = 1 if self.node is None else self.node.start_mark.line + 1
            raise NotAudited(f"{self.path}:{line}: {self.name} is no mapping\n  write: `key: value` lines")
        for key, value in self.node.value:
            name = str(key.value)
            if name in self.nodes:
                raise self.wrong(name, f"{name} stands twice in {self.name}", "one of them")
            self.nodes[name] = value

    def wrong(self, key: str, found: str, write: str) -> NotAudited:
        """The mistake at that key."""
        node = self.nodes.get(key, cast(yaml.Node, self.node))
        return NotAudited(f"{self.path}:{node.start_mark.line + 1}: {found}\n  write: {write}")

    def value(self, key: str, write: str) -> yaml.Node:
        """The node under the key."""
        if key not in self.nodes:
            raise self.wrong(key, f"{self.name} lacks {key}", f"{key}: {write}")
        return self.nodes[key]

    def mapping(self, key: str) -> "_Mapping":
        """The mapping under the key."""
        return _Mapping(self.path, self.value(key, "a mapping"), f"{key} of {self.name}")

    def is_section(self, key: str) -> bool:
        """Whether the key holds a mapping, and not the word none."""
        if isinstance(self.value(key, "none, or a mapping"), yaml.MappingNode):
            return True
        if self.text(key) != "none":
            raise self.wrong(key, f"{key} of {self.name} is {self.text(key)!r}", "none, or a mapping")
        return False

    def text(self, key: str) -> str:
        """The word under the key."""
        node = self.value(key, "a word")
        if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            raise self.wrong(key, f"{key} of {self.name} is no word", "one word, or one line of text")
        return str(node.value).strip()

    def duration(self, key: str) -> int:
        """The microseconds under the key."""
        word, write = self.text(key), "a duration with its unit, such as 60 s"
        found = DURATION.fullmatch(word)
        amount = Fraction(found[1]) * UNITS[found[2]] if found else Fraction(1, 2)
        if amount.denominator != 1:
            raise self.wrong(key, f"{key} of {self.name} is {word!r}", write)
        return int(amount)

    def count(self, key: str, otherwise: int) -> int:
        """The bytes or the number under the key, if it stands."""
        if key not in self.nodes:
            return otherwise
        found = COUNT.fullmatch(self.text(key))
        if found is None:
            raise self.wrong(key, f"{key} of {self.name} is {self.text(key)!r}", "a size such as 256 B")
        return int(found[1]) * SIZES[found[2]]

    def words(self, key: str) -> tuple[str, ...]:
        """The words in the list under the key."""
        node = self.value(key, "a list of words")
        items = node.value if isinstance(node, yaml.SequenceNode) else ()
        if not items or not all(isinstance(item, yaml.ScalarNode) for item in items):
            raise self.wrong(key, f"{key} of {self.name} is no list of words", "a list such as [disclosed]")
        return tuple(str(item.value).strip() for item in items)
