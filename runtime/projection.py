"""A journal as states of the models: per act, after each of its records, what the records show of a variable.

The one file of the runtime that sees models. It reads the rows by itself, and shares with the auditor no more
than how a journal is opened and a deployment file read, so that the two can be compared. Nothing is mended on
the way: a record that no state of a model corresponds to is shown as it is, and listed as odd.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from falsework.models.recoverable_invocation.race import Race
from falsework.models.recoverable_invocation.records_supersession import Supersession
from falsework.models.recoverable_invocation.vocabulary import Author, Commit, Kind
from falsework.runtime.audit.declared import Bound, Declared
from falsework.runtime.audit.opened import Row, Stored

Snapshot = Mapping[str, object]

SORTS = {"refused": Kind.REFUSED, "abandoned": Kind.ABANDONED, "escalated": Kind.ESCALATED}


@dataclass(frozen=True, slots=True)
class Odd:
    """A record to which nothing in the models corresponds, and the rule of the text that says so."""

    seq: int
    rule: str
    found: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A closing as the models have it; its author is a text of no author where the record has none."""

    seq: int
    event_id: str
    recorded_at: int
    author: str
    kind: str
    names: tuple[int, ...]


@dataclass(slots=True)
class Act:
    """One invocation, as its records show it."""

    invocation_id: str
    kind: str
    intent: Stored | None = None
    payload: dict[str, object] = field(default_factory=dict)
    plans: list[int] = field(default_factory=list)
    closings: list[Shown] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)


def acts_of(rows: Iterable[Stored | Row], declared: Declared) -> dict[str, Act]:
    """Every act of the deployment's kinds, by its invocation, in the order of the first records."""
    acts: dict[str, Act] = {}
    events: dict[str, str] = {}  # the invocation of each intent
    gone: set[object] = set()
    for row in rows:
        if not isinstance(row, Stored):
            continue
        if row.payload is None:
            gone.add(row.event_id)  # what is destroyed shows nothing
            continue
        name, _, word = row.action_ref.partition(".")
        kind = declared.kinds.get(name)
        said = _read(row.payload)
        if kind is None or not isinstance(said, dict) or not isinstance(said.get("invocation_id"), str):
            continue
        if said.get("intent_event_id") in gone:
            continue  # nor does what names it
        invocation_id: str = said["invocation_id"]
        act = acts.setdefault(invocation_id, Act(invocation_id, name))
        if word == "intended":
            events[row.event_id] = invocation_id
            _intends(act, row, said, kind)
        elif word == "recovery_intended":
            _plans(act, row, kind)
        elif word in SORTS or word in kind.outcomes:
            _closes(act, row, said, kind, events.get(str(said.get("intent_event_id"))))
    return acts


def _read(payload: bytes) -> object:
    """What the payload says; nothing, where it cannot be read."""
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return None


def _intends(act: Act, row: Stored, said: dict[str, object], kind: Bound) -> None:
    """The act's intent; a second one is odd, and so is one by who only closes."""
    if row.actor_ref == kind.service_identity:
        act.odd.append(Odd(row.seq, "Invariant 5.2", f"{row.actor_ref} opened an act"))
    if act.intent is not None:
        act.odd.append(Odd(row.seq, "Check 2.2", "a second intent of one invocation"))
        return
    act.intent, act.payload = row, said


def _plans(act: Act, row: Stored, kind: Bound) -> None:
    """The sweep's statement of what it is about to write; one of nobody's act is odd."""
    if act.intent is None or row.actor_ref != kind.service_identity:
        act.odd.append(Odd(row.seq, "Invariant 5.2", f"{row.actor_ref} plans for {act.invocation_id}"))
    act.plans.append(row.seq)


def _closes(act: Act, row: Stored, said: dict[str, object], kind: Bound, of: str | None) -> None:
    """One closing more, by whom its attestation and its fields say together."""
    sort = SORTS.get(row.action_ref.partition(".")[2], Kind.OUTCOME)
    author, odd = _author(act, row, said, kind)
    if odd is None and of != act.invocation_id and sort is Kind.OUTCOME:
        odd = Odd(row.seq, "Invariant 1.1", "an outcome of an invocation that has no intent under that event")
    if odd is not None:
        act.odd.append(odd)
    named = said.get("supersedes")
    events = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    places = tuple(place for place, shown in enumerate(act.closings) if shown.event_id in events)
    act.closings.append(Shown(row.seq, row.event_id, row.recorded_at, author, sort.name, places))


def _author(act: Act, row: Stored, said: dict[str, object], kind: Bound) -> tuple[str, Odd | None]:
    """The model's author of a closing; where it is nobody's, a text that says whose it seems to be."""
    if act.intent is None:
        outcome = row.action_ref.partition(".")[2] in kind.outcomes
        rule = "Invariant 1.1" if outcome else "Invariant 2.2"
        rule = "Invariant 5.2" if row.actor_ref == kind.service_identity else rule
        found = f"{row.actor_ref} of an act without an intent"
    elif row.action_ref.partition(".")[2] in kind.outcomes:
        rule, found = _author_of_an_outcome(act, act.intent.actor_ref, row, said, kind)
    else:
        rule, found = _author_of_another(act.intent.actor_ref, row, said, kind)
    return found, Odd(row.seq, rule, found) if rule else None


def _author_of_an_outcome(
    act: Act, caller: str, row: Stored, said: dict[str, object], kind: Bound
) -> tuple[str, str]:
    """The rule that is not kept, if any, and the author."""
    resolver = said.get("resolved_by")
    if said.get("recovery") is not True:
        own = row.actor_ref == caller and resolver is None
        return ("", Author.INVOCATION.name) if own else ("Invariant 1.1", f"{row.actor_ref} as {caller}")
    if said.get("acting_actor_ref") != caller:
        return "Invariant 1.1", f"{row.actor_ref} for {said.get('acting_actor_ref')}, and not {caller}"
    if resolver is not None:
        own = row.actor_ref == resolver
        return ("", Author.OPERATOR.name) if own else ("Invariant 5.4", f"{row.actor_ref} as {resolver}")
    if row.actor_ref != kind.service_identity:
        return "Invariant 5.2", f"{row.actor_ref} as {kind.service_identity}"
    return ("", Author.SWEEP.name) if act.plans else ("Invariant 5.1", f"{row.actor_ref} without a plan")


def _author_of_another(caller: str, row: Stored, said: dict[str, object], kind: Bound) -> tuple[str, str]:
    """Likewise of a closing that is no outcome: a refusal is the caller's, and nothing else is."""
    resolver = said.get("resolved_by")
    if row.action_ref.endswith(".refused"):
        own, author = row.actor_ref == caller and resolver is None, Author.INVOCATION
    elif resolver is not None:
        own, author = row.actor_ref == resolver, Author.OPERATOR
    else:
        own, author = row.actor_ref == kind.service_identity, Author.SWEEP
    return ("", author.name) if own else ("Invariant 2.2", f"{row.actor_ref} as {author.name}")


# Race.


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody who knows the store says of an act: when it happened, if ever, by the journal's clock."""

    happened_at: int | None


def race_snapshots(
    act: Act, declared: Declared, until: int, deed: Deed | None = None, model: type[Race] = Race
) -> Iterator[Snapshot]:
    """What is shown of Race before the act's first record, after each, and at last when the journal was read.

    The commit is shown where the deed is known, which a journal by itself does not tell.
    """
    age = _ages(declared.kinds[act.kind], declared, model)
    shown: list[dict[str, object]] = []

    def snapshot(at: int | None) -> Snapshot:
        known: dict[str, object] = {
            "journal": [dict(closing) for closing in shown],
            "intent_age": None if at is None or act.intent is None else age(at - act.intent.recorded_at),
            "intent_hidden": 0,
        }
        return known if deed is None else {**known, "commit": _commit(deed, at)}

    yield snapshot(None)
    if act.intent is not None:
        yield snapshot(act.intent.recorded_at)
    for closing in act.closings:
        names = _one(closing.names)
        shown.append({"author": closing.author, "kind": closing.kind, "names": names, "hidden": 0})
        yield snapshot(closing.recorded_at)
    yield snapshot(until)


def _ages(kind: Bound, declared: Declared, model: type[Race]) -> Callable[[int], int]:
    """The model's age of a real one: past each of its edges exactly where the other is past the real edge."""
    bound, allowance = kind.completion_bound, declared.instance.clock_offset_allowance
    oldest = model().oldest()

    def age(real: int) -> int:
        if real < bound:
            return max(real, 0) * model.COMPLETION_BOUND // bound
        beyond = (real - bound) * model.ALLOWANCE // allowance if allowance else oldest
        return min(model.COMPLETION_BOUND + beyond, oldest)

    return age


def _commit(deed: Deed, at: int | None) -> str:
    """How it stands with the act at that instant; before its first record nothing has been seen of it."""
    if deed.happened_at is None:
        return Commit.NEVER.name
    return (Commit.IN_FLIGHT if at is None or at < deed.happened_at else Commit.APPLIED).name


def _one(names: tuple[int, ...]) -> int | None:
    """The one closing that Race lets another name: of rivals, which a snapshot before has shown, the last."""
    return max(names, default=None)


# Supersession.


def supersession_snapshots(act: Act, model: type[Supersession] = Supersession) -> Iterator[Snapshot]:
    """What the journal shows of Supersession before the act's first closing and after each.

    A closing that lands beside one which it does not name had not seen it, or it had no business to land.
    """
    slots = range(max(model.CLOSINGS, len(act.closings)))
    for length in range(len(act.closings) + 1):
        present = act.closings[:length]
        named = {(later, earlier) for later, shown in enumerate(present) for earlier in shown.names}
        left = [slot for slot in range(length) if slot not in {earlier for _, earlier in named}]
        yield {
            "closings": {
                slot: {"kind": present[slot].kind, "by": present[slot].author} if slot < length else None
                for slot in slots
            },
            "length": length,
            "names": {(later, earlier): (later, earlier) in named for later in slots for earlier in slots},
            "rivals": len(left) > 1,
        }
