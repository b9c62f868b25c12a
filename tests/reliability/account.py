"""Whether every act is accounted for, judged from the journal's rows and the deeds alone.

Nothing here knows the runtime: a closing is told by the word after the dot, supersession by the names in the
payload. A judge that never complains proves nothing, so its own tests give it histories that are wrong.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

SWEEPER = "sweeper"
RETRY = "retry"
"""What a caller was told: nothing was committed, and the act may be run again."""
CLOSED = "closed"
"""What a caller was told: the outcome is in the journal."""


@dataclass(frozen=True, slots=True)
class Line:
    """One record of the journal."""

    number: int
    event_id: str
    recorded_at: int
    action_ref: str
    actor_ref: str
    data: Mapping[str, Any]

    @property
    def word(self) -> str:
        return self.action_ref.partition(".")[2]

    @property
    def invocation(self) -> str:
        return str(self.data["invocation_id"])

    @property
    def names(self) -> list[str]:
        """The closings that this one supersedes."""
        named = self.data.get("supersedes", [])
        return [named] if isinstance(named, str) else list(named)


@dataclass(frozen=True, slots=True)
class Deed:
    """One execution of an act, as whoever executed it wrote it down."""

    nonce: int
    at: int


@dataclass(frozen=True, slots=True)
class Window:
    """How soon every act has to be closed, and since when nothing more went wrong."""

    length: int
    calm_since: int = 0


@dataclass(slots=True)
class History:
    """What is judged: the journal, the deeds, what callers were told, and whether all is at rest."""

    lines: list[Line]
    deeds: list[Deed]
    told: dict[int, str] = field(default_factory=dict)  # by nonce
    at_rest: bool = True
    fenced: bool = True
    window: Window | None = None


def complaints(history: History) -> list[str]:
    """What is wrong, a sentence each; nothing where every act is accounted for."""
    by_id: dict[str, list[Line]] = defaultdict(list)
    for line in history.lines:
        by_id[line.invocation].append(line)
    deeds = Counter(deed.nonce for deed in history.deeds)
    found = [f"act {nonce} was executed {times} times" for nonce, times in deeds.items() if times > 1]
    intended: set[int] = set()
    for name, lines in by_id.items():
        intents = [line for line in lines if line.word == "intended"]
        if len(intents) != 1:
            found.append(f"{name} has {len(intents)} intents")
            continue
        intended.add(intents[0].data["nonce"])
        found += (f"{name}: {sentence}" for sentence in _invocation(history, intents[0], lines, deeds))
    found += (f"act {nonce} was executed without an intent" for nonce in deeds if nonce not in intended)
    for nonce, told in history.told.items():
        if told == RETRY and nonce in deeds:
            found.append(f"act {nonce} was executed, and its caller was told to run it again")
        if told == CLOSED and nonce not in deeds:
            found.append(f"act {nonce} was not executed, and its caller was told that it was")
    return found


def _invocation(history: History, intent: Line, lines: list[Line], deeds: Mapping[int, int]) -> Iterator[str]:
    """What is wrong with one invocation."""
    nonce = intent.data["nonce"]
    closings = [line for line in lines if line.word not in ("intended", "recovery_intended")]
    if any(line.number < intent.number for line in lines):
        yield "a record comes before its intent"
    standing = unsuperseded(closings)
    if len(standing) > 1:
        yield f"{len(standing)} closings stand: {', '.join(line.word for line in standing)}"
    if history.fenced and len([line for line in closings if not line.data.get("resolved_by")]) > 1:
        yield "more than one closing was written without an operator"
    if history.at_rest and not closings:
        yield "nothing closes it"
    told = history.told.get(nonce)
    if told == RETRY:
        yield "its caller was told that nothing was written"
    if told == CLOSED and not any(line.word == "paid" for line in standing):
        yield "its caller was told that the outcome stands, and none does"
    for line in closings:
        yield from _closing(history, intent, line, lines)
    if history.at_rest:
        for line in standing:
            yield from _against_the_deeds(line, nonce in deeds)


def unsuperseded(closings: Iterable[Line]) -> list[Line]:
    """The closings that no other closing names, through whatever chain."""
    kept = list(closings)
    named = {name for line in kept for name in line.names}
    return [line for line in kept if line.event_id not in named]


def _against_the_deeds(line: Line, executed: bool) -> Iterator[str]:
    """An outcome stands only for what happened, and an abandonment or a refusal for what did not."""
    if line.word == "paid" and not executed:
        yield "an outcome stands for what was never executed"
    if line.word in ("abandoned", "refused") and executed:
        yield f"it was executed, and is {line.word}"


def _closing(history: History, intent: Line, line: Line, lines: list[Line]) -> Iterator[str]:
    """What is wrong with one closing by itself."""
    writer, resolved_by = line.actor_ref, line.data.get("resolved_by")
    if line.data.get("recovery") is True:
        if line.data.get("acting_actor_ref") != intent.actor_ref:
            yield f"{line.word} does not name who opened the act"
        if writer != (resolved_by or SWEEPER):
            yield f"{line.word} is attested by {writer}"
        before = [other for other in lines if other.number < line.number]
        planned = any(other.word == "recovery_intended" for other in before)
        if line.word == "paid" and resolved_by is None and not planned:
            yield "the sweep wrote an outcome without its plan"
    elif writer != intent.actor_ref:
        yield f"{line.word} is attested by {writer}, who did not open the act"
    if line.word == "paid" and line.data.get("receipt") != f"r-{intent.data['nonce']}":
        yield f"the outcome says {line.data.get('receipt')!r}"
    if history.window is not None and not line.names:
        since = max(intent.recorded_at, history.window.calm_since)
        if line.recorded_at - since > history.window.length:
            yield f"{line.word} came {line.recorded_at - since} after it was due to begin"
