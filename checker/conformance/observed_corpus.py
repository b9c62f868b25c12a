"""What a corpus of logs exercises of a model: its actions, and of each what it may answer."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from falsework.conformance.observed import Validation
from falsework.conformance.observed_log import UNSAID, Event, hidden_by_kind
from falsework.conformance.paths import MAX_STATES, graph_of
from falsework.definition import Action, Definition
from falsework.domains import spell
from falsework.errors import InputError
from falsework.verdict import Verdict

DONE, REFUSED = "done", "refused"


@dataclass
class Coverage:
    """How often the logs tell each answer of each action, beside the answers that the model can give."""

    definition: Definition
    hidden: frozenset[str]  # the actions that may go unlogged in every log
    logs: int = 0
    events: int = 0
    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    possible: dict[str, list[str]] | None = None  # None: there are too many states to know
    why: str = ""

    @property
    def asked(self) -> list[tuple[str, str]]:
        """What some log is to tell: of each action that is logged every answer, or where unknown, any."""
        return [
            (action.name, word)
            for action in self.definition.actions
            if action.name not in self.hidden
            for word in (self.possible[action.name] if self.possible is not None else [""])
        ]

    @property
    def missing(self) -> list[tuple[str, str]]:
        """What no log tells."""
        any_answer = {action for action, word in self.told if word != REFUSED}
        return [
            (action, word)
            for action, word in self.asked
            if (action not in any_answer if not word else (action, word) not in self.told)
        ]


def word_of(answer: object) -> str:
    """An answer as it is counted: a member, yes, no or none by itself, a number like any other."""
    if answer is None or isinstance(answer, (bool, enum.Enum)):
        return spell(answer)
    return "a number" if isinstance(answer, int) else "a record"


def coverage(definition: Definition, validations: Iterable[Validation]) -> Coverage:
    """What the logs that the model explains tell of it."""
    explained = [v for v in validations if v.verdict is Verdict.HOLDS and v.log is not None]
    logs = [v.log for v in explained if v.log is not None]
    unlogged = [{action.name for action in log.hidden} for log in logs]
    hidden = set.intersection(*unlogged) if unlogged else {a.name for a in hidden_by_kind(definition)}
    found = Coverage(definition, frozenset(hidden), len(logs))
    for log in logs:
        found.events += len(log.events)
        for event in log.events:
            _tell(found.told, event)
    try:
        found.possible = possible(definition)
    except InputError:
        found.why = f"more than {MAX_STATES:,} states, so what each action can answer is not known"
    return found


def _tell(told: Counter[tuple[str, str]], event: Event) -> None:
    if event.action is None or event.unknown:
        return
    if event.refused:
        told[event.action.name, REFUSED] += 1
    elif event.action.answer is None:
        told[event.action.name, DONE] += 1
    elif event.answer is not UNSAID:
        told[event.action.name, word_of(event.answer)] += 1


def possible(definition: Definition) -> dict[str, list[str]]:
    """Of each action what it answers somewhere in the graph; raises InputError for too large a one."""
    graph = graph_of(definition, ())
    found: dict[str, dict[Any, None]] = {action.name: {} for action in definition.actions}
    for edges in graph.edges:
        for edge in edges.values():
            found[edge.label.action][edge.answer] = None
    return {action.name: _words(action, found[action.name]) for action in definition.actions}


def _words(action: Action, answers: Iterable[Any]) -> list[str]:
    if action.answer is None:
        return [DONE] if list(answers) else []
    order = {value: place for place, value in enumerate(action.answer.values())}
    return list(dict.fromkeys(word_of(value) for value in sorted(answers, key=order.__getitem__)))
