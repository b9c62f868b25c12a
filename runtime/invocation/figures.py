"""What a deployment declares: the instance's figures, and every binding of each kind of act.

Every duration is in whole microseconds, every size in bytes.
"""

from dataclasses import dataclass
from pathlib import Path

DERIVED = ("intended", "refused", "recovery_intended", "abandoned", "escalated")
"""What every kind's vocabulary holds beside its outcomes."""

RESERVED_KINDS = ("audit", "trail")
"""The kinds that no adopter may declare: the trail's own records begin so."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A write past an instant is never applied: how the instant reaches the store that judges it."""

    conveyance: str


@dataclass(frozen=True, slots=True)
class Partition:
    """The constituent's arms as its contract states them; whatever it does not name is unknown."""

    pre_commit: frozenset[str]
    committed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The field that the intent and the constituent's own record carry, and where it comes from."""

    field: str
    source: str
    obligation: str | None


@dataclass(frozen=True, slots=True)
class ServiceIdentity:
    """A registered actor under whom something is done unattended, and the file of its credential."""

    actor: str
    credential_file: Path


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of act with every binding that the protocol reads."""

    name: str
    act_key: str
    partition: Partition
    commit_fence: Fence | None
    pairing: Pairing | None
    repeatable: bool
    probe: str | None
    completion_bound: int
    commit_round_trip: int
    probe_round_trip: int
    outcomes: tuple[str, ...]
    outcome_envelope: int
    retention_period: int
    service_identity: ServiceIdentity | None
    retry_attempts: int | None
    minted_key: str | None

    @property
    def fenced(self) -> bool:
        """Whether the constituent's store refuses a write past the fence's instant."""
        return self.commit_fence is not None

    @property
    def reports_only(self) -> bool:
        """Whether the sweep may not write for this kind, having no identity to write under."""
        return self.service_identity is None

    @property
    def outcome_refs(self) -> frozenset[str]:
        """The action refs whose records are outcomes, by membership and nothing else."""
        return frozenset(self.ref(outcome) for outcome in self.outcomes)

    @property
    def closing_refs(self) -> frozenset[str]:
        """The action refs whose records close an act."""
        return self.outcome_refs | {self.ref(word) for word in ("refused", "abandoned", "escalated")}

    def ref(self, word: str) -> str:
        """The kind's action ref for one word of its vocabulary."""
        return f"{self.name}.{word}"


@dataclass(frozen=True, slots=True)
class Figures:
    """The instance's own figures."""

    reconciliation_cadence: int
    clock_offset_allowance: int
    closure_latency: int
    run_bound: int
    journal_write_bound: int
    read_bound: int
    compensation_window: int
    intent_candidates_cap: int
    read_cap: int
    journal_fence: Fence | None
    record_action_bound: int | None

    @property
    def sweep_lease(self) -> int:
        """How long a sweep run or an operator holds an act's section."""
        return self.closure_latency + self.journal_write_bound

    @property
    def settle_bound(self) -> int:
        """How long a sequence number stays below the mark, so that no later landing hides behind it."""
        return self.journal_write_bound + self.clock_offset_allowance


@dataclass(frozen=True, slots=True)
class Journal:
    """Where the trail is kept, and what it may carry."""

    store: str
    witness: Path | None
    steward: ServiceIdentity | None
    payload_cap: int
    reference_length_cap: int
    page_size: int


@dataclass(frozen=True, slots=True)
class Deployment:
    """One instance, read from one file: under its name it is the same on every node."""

    path: Path
    name: str
    journal: Journal
    figures: Figures
    kinds: dict[str, Kind]
    lines: dict[str, int]

    def place(self, scope: str, key: str) -> str:
        """The file and line at which a figure stands."""
        return f"{self.path}:{self.lines[f'{scope}.{key}']}"

    @property
    def longest_retention(self) -> int:
        """The longest retention period of any kind."""
        return max(kind.retention_period for kind in self.kinds.values())
