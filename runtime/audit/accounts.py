"""The protocol's records as a journal holds them: each invocation with its intents, plans and closings.

A record is the protocol's by its action ref and by what its own payload says; which closing stands is read by
name, transitively, and only then by position.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from falsework.runtime.audit.declared import Declared
from falsework.runtime.audit.found import Named, named
from falsework.runtime.audit.lawful import OWN, read_payload
from falsework.runtime.audit.opened import Stored

INTENDED, PLAN = "intended", "recovery_intended"
REFUSED, ABANDONED, ESCALATED = "refused", "abandoned", "escalated"
OUTCOME = "outcome"

ADDED = frozenset(
    (
        *("invocation_id", "intent_event_id", "kind", "act_key", "recovery", "acting_actor_ref"),
        *("resolved_by", "supersedes"),
    )
)
"""What an outcome carries besides what its act yielded."""


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent whose payload can be read; kept as it is stored, and parsed again for a probe."""

    name: Named
    kind: str
    invocation_id: str
    act_key: str
    payload: bytes

    @property
    def data(self) -> dict[str, object]:
        """What it says."""
        return read_payload(self.payload) or {}


@dataclass(frozen=True, slots=True)
class Closing:
    """A closing, a plan, or whatever else names an intent."""

    name: Named
    kind: str
    sort: str
    invocation_id: str
    intent_event_id: str | None
    recovery: object
    acting_actor_ref: object
    resolved_by: str | None
    supersedes: frozenset[str]
    data: dict[str, object]


@dataclass(slots=True)
class Invocation:
    """All that the journal holds of one invocation id."""

    intents: list[Intent] = field(default_factory=list)
    plans: list[Closing] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)


@dataclass(slots=True)
class Accounts:
    """Every record of the deployment's kinds, and every record of its service identities."""

    declared: Declared
    invocations: dict[str, Invocation] = field(default_factory=lambda: defaultdict(Invocation))
    by_event: dict[str, Intent] = field(default_factory=dict)
    in_order: list[Intent | Closing] = field(default_factory=list)
    by_identity: list[tuple[Named, str | None, str | None]] = field(default_factory=list)
    """Each record under a service identity with the invocation and the intent that it names."""
    strangers: list[Named] = field(default_factory=list)
    """Records that a kind's vocabulary has and that name no invocation; outcomes are nameless."""
    nameless: list[Named] = field(default_factory=list)
    gone: dict[str, tuple[int, Named]] = field(default_factory=dict)
    """Records without a payload, by their events."""
    newest: int = 0

    def note(self, stored: Stored) -> None:
        """One record more has been looked at."""
        self.newest = max(self.newest, stored.recorded_at)
        if stored.action_ref.startswith(OWN):
            return
        kind, _, word = stored.action_ref.partition(".")
        name = named(stored)
        if stored.payload is None:
            self.gone[stored.event_id] = (stored.seq, name)
            return
        said = read_payload(stored.payload) or {}
        invocation_id, act_key = said.get("invocation_id"), said.get("act_key")
        intent_event = said.get("intent_event_id")
        ours = said.get("kind") == kind and isinstance(invocation_id, str) and isinstance(act_key, str)
        if stored.actor_ref in self.declared.identities:
            own = stored.event_id if word == INTENDED else intent_event
            names = (
                invocation_id if isinstance(invocation_id, str) else None,
                own if isinstance(own, str) else None,
            )
            self.by_identity.append((name, *names))
        sort = self._sort(kind, word)
        if sort is None:
            return
        if not ours:
            if kind in self.declared.kinds:
                (self.nameless if sort == OUTCOME else self.strangers).append(name)
            return
        if sort == INTENDED:
            intent = Intent(name, kind, str(invocation_id), str(act_key), stored.payload)
            self.invocations[intent.invocation_id].intents.append(intent)
            self.by_event[stored.event_id] = intent
            self.in_order.append(intent)
            return
        self._closes(name, kind, sort, said)

    def _sort(self, kind: str, word: str) -> str | None:
        """Its sort; an outcome by membership, and of a kind that nobody binds by elimination."""
        if word in (INTENDED, PLAN, REFUSED, ABANDONED, ESCALATED):
            return word
        bound = self.declared.kinds.get(kind)
        return OUTCOME if word and (bound is None or word in bound.outcomes) else None

    def _closes(self, name: Named, kind: str, sort: str, said: dict[str, object]) -> None:
        supersedes, resolved_by = said.get("supersedes"), said.get("resolved_by")
        intent_event = said.get("intent_event_id")
        listed = [supersedes] if isinstance(supersedes, str) else supersedes
        closing = Closing(
            *(name, kind, sort, str(said["invocation_id"])),
            intent_event if isinstance(intent_event, str) else None,
            said.get("recovery"),
            said.get("acting_actor_ref"),
            resolved_by if isinstance(resolved_by, str) else None,
            frozenset(each for each in listed if isinstance(each, str))
            if isinstance(listed, list)
            else frozenset(),
            said,
        )
        invocation = self.invocations[closing.invocation_id]
        (invocation.plans if sort == PLAN else invocation.closings).append(closing)
        self.in_order.append(closing)

    @property
    def closings(self) -> Iterable[Closing]:
        """Every closing, in the journal's order."""
        return (each for each in self.in_order if isinstance(each, Closing) and each.sort != PLAN)


def unsuperseded(closings: Iterable[Closing]) -> list[Closing]:
    """Those that no later closing of the invocation names: one of them, where one closing stands.

    Whatever is reachable through names is itself named, so that this reads supersession transitively.
    """
    left: list[Closing] = []
    for closing in closings:
        left = [each for each in left if each.name.event_id not in closing.supersedes]
        left.append(closing)
    return left
