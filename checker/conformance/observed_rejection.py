"""Why a log is rejected: the line at which the candidates empty, they themselves, and what stops each."""

from __future__ import annotations

from dataclasses import dataclass, field

from falsework.conformance.observed_log import Event
from falsework.conformance.observed_order import Placed
from falsework.conformance.observed_repair import Repairs
from falsework.conformance.observed_search import Level, Searched
from falsework.conformance.observed_steps import Blocked, Step, Steps
from falsework.domains import spell
from falsework.report_reason import Reason, false_guard
from falsework.state import State
from falsework.trace import Label

LOOKED_AT = 60
"""Of how many candidates, the nearest first, it is told what stops them."""
SHOWN = 4
_RANK = ("shows", "answers", "disabled", "enabled", "outside", "cut")


@dataclass(frozen=True)
class Why:
    """What stops a candidate: the step that would come nearest to the line, and how it is not the line's."""

    kind: str
    text: str
    reason: Reason | None = None


@dataclass(frozen=True)
class Candidate:
    """A state before the line, the unlogged steps that lead to it, and what stops it, like so many others."""

    state: State
    unlogged: tuple[Label, ...]
    why: Why
    alike: int


@dataclass
class Rejection:
    """The line that nothing explains, what stops the candidates before it, and what would mend the log."""

    event: Event
    before: int  # how many candidates the lines before leave
    closed: int  # and with the unlogged steps behind them
    candidates: list[Candidate] = field(default_factory=list)
    repairs: Repairs = field(default_factory=Repairs)


def rejection(steps: Steps, searched: Searched, looked_at: int = LOOKED_AT) -> Rejection:
    """The rejection at the first line that no candidate has behind it; why, of so many candidates."""
    placed = searched.front
    found = Rejection(
        placed.event, sum(map(len, searched.before.values())), sum(map(len, searched.there.values()))
    )
    found.candidates = _candidates(steps, searched, placed, looked_at)
    return found


def _candidates(steps: Steps, searched: Searched, placed: Placed, looked_at: int) -> list[Candidate]:
    """One for each thing that stops them: the nearest to the lines before, then the nearest misses."""
    first: dict[Why, int] = {}
    alike: dict[Why, int] = {}
    waiting = [state for states in searched.there.values() for state in states]
    for state in waiting[:looked_at]:
        why = _why(steps, state, placed.event)
        first.setdefault(why, state)
        alike[why] = alike.get(why, 0) + 1
    nearest = next(iter(first), None)
    ordered = sorted(first, key=lambda why: (why is not nearest, _RANK.index(why.kind)))
    ways = _ways(steps, searched.before)
    return [Candidate(steps.state(first[why]), ways(first[why]), why, alike[why]) for why in ordered[:SHOWN]]


class _ways:  # noqa: N801  a function that remembers
    """The unlogged steps that lead to a state from one of the level's, as few as can be."""

    def __init__(self, steps: Steps, level: Level) -> None:
        self.steps = steps
        self.came: dict[int, tuple[int, Label] | None] = dict.fromkeys(
            state for states in level.values() for state in states
        )
        self.frontier = list(self.came)

    def __call__(self, wanted: int) -> tuple[Label, ...]:
        while wanted not in self.came and self.frontier:
            self._one_level_more()
        labels: list[Label] = []
        at: int | None = wanted
        while at is not None and (by := self.came.get(at)) is not None:
            at, label = by
            labels.append(label)
        return tuple(reversed(labels))

    def _one_level_more(self) -> None:
        fresh = []
        for state in self.frontier:
            for step in self.steps.hidden_steps(state):
                if step.target not in self.came:
                    self.came[step.target] = state, step.label
                    fresh.append(step.target)
        self.frontier = fresh


def _why(steps: Steps, state: int, event: Event) -> Why:
    """What stops the candidate; of several steps that the line may be, the one that comes nearest to it."""
    if event.action is None:
        return _shows(steps, state, event, "") or Why("enabled", "the line is explained here")
    found = [_of_step(steps, state, event, steps.taken(state, *named)) for named in steps.labels(event)]
    return min(found, key=lambda why: _RANK.index(why.kind))


def _of_step(steps: Steps, state: int, event: Event, step: Step | Blocked) -> Why:
    assert event.action is not None
    if isinstance(step, Blocked):
        if step.how != "disabled":
            return Why(step.how, f"{step.label}: {step.text}")
        reason = false_guard(steps.definition, event.action, steps.state(state), step.label)
        return Why("disabled", f"{step.label} is disabled", reason)
    if event.refused:
        return Why("enabled", f"{step.label} is enabled, and the line says that it was refused")
    if not any(step == one for one in steps.answered(state, event)):
        said = f"the line says {spell(event.answer)}"
        return Why("answers", f"{step.label} answers {spell(step.answer)}, and {said}")
    shows = _shows(steps, step.target, event, f" after {step.label}")
    return shows or Why("enabled", f"{step.label} is as the line says")


def _shows(steps: Steps, state: int, event: Event, when: str) -> Why | None:
    odd = [one for one in event.shown if not one.fits(steps.state(state))]
    if not odd:
        return None
    one = odd[0]
    variable = steps.definition.variables[one.place]
    found, said = one.told(variable, one.found(steps.state(state))), one.told(variable, one.value)
    return Why("shows", f"{one.name} is {found}{when}, and the line says {said}")
