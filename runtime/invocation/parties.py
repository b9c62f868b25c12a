"""Everything that an action of the protocol works with, and nothing that it remembers between two calls."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from falsework.runtime.clock import Clock
from falsework.runtime.invocation.answers import Alert, Misuse, ProbeAnswer
from falsework.runtime.invocation.figures import Deployment, Figures, Kind
from falsework.runtime.invocation.findings import Register
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.section import ActSection
from falsework.runtime.invocation.sizing import Sizing
from falsework.runtime.trail import Data, Trail

Probe: TypeAlias = Callable[[str, Data], ProbeAnswer]
"""The adopter's read of its own store, by act key and the intent's payload."""


class Alerts(Protocol):
    """Where a hard alert goes; it never stops the protocol."""

    def alert(self, alert: Alert) -> None:
        """A person will hear of it."""
        ...


@dataclass(slots=True)
class Parties:
    """One instance's parts: the journal, the section, the maps, the register, and the seams."""

    deployment: Deployment
    trail: Trail
    section: ActSection
    indexes: Indexes
    sizing: Sizing
    register: Register
    seam: Clock
    ids: Callable[[], str]
    alerts: Alerts
    probes: dict[str, Probe | None]
    credentials: dict[str, str]
    refused_identities: set[str] = field(default_factory=set)

    @property
    def figures(self) -> Figures:
        """The instance's figures."""
        return self.deployment.figures

    def kind(self, name: str) -> Kind:
        """The kind's bindings; an adopter that names another has not declared it."""
        kind = self.deployment.kinds.get(name)
        if kind is None:
            bound = ", ".join(self.deployment.kinds)
            raise Misuse(f"{self.deployment.path} binds no kind {name!r}, but {bound}: bind it there first")
        return kind

    def alert(self, what: str, kind: Kind, act_key: str, invocation_id: str, detail: str) -> None:
        """The alert is raised."""
        self.alerts.alert(Alert(what, kind.name, act_key, invocation_id, detail))
