"""A log of an implementation judged by a model: whether its steps explain every line, and what they break."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from falsework.conformance.observed_log import Event, Log, LogProblem, read_log
from falsework.conformance.observed_order import Order
from falsework.conformance.observed_rejection import Rejection, rejection
from falsework.conformance.observed_repair import Repairing
from falsework.conformance.observed_search import Limits, Search, Searched
from falsework.conformance.observed_steps import Steps
from falsework.definition import Definition
from falsework.judge import applies
from falsework.trace import Faulted, nothing_to_explore
from falsework.verdict import Verdict

Known = dict[tuple[str, ...], Steps]
"""The steps of a model that logs have asked for, by what may go unlogged."""


@dataclass
class Validation:
    """What was asked of one log and what was answered."""

    name: str
    definition: Definition
    verdict: Verdict
    log: Log | None = None
    problem: str = ""  # why nothing can be said, or not all
    rejection: Rejection | None = None
    violated: list[str] = field(default_factory=list)  # broken whatever explains the log
    possible: list[str] = field(default_factory=list)  # broken by some of what explains it
    judged: Counter[str] = field(default_factory=Counter)  # of how many states or steps, by invariant
    survivors: int = 0
    most: int = 0
    seconds: float = 0.0


def validate(
    definition: Definition,
    name: str,
    lines: Iterable[str],
    limits: Limits | None = None,
    *,
    unfinished: bool = False,
    repair: bool = True,
    known: Known | None = None,
) -> Validation:
    """The log is explained by steps of the model, or here is the line that is not, or why nobody knows.

    Without `repair` a rejection names the line and what stops the nearest candidate, and looks no further.

    Of several logs of one model, what is `known` from those before is not executed again.
    """
    began = time.perf_counter()
    found = Validation(name, definition, Verdict.ERROR)
    try:
        if not definition.explorable:
            raise nothing_to_explore(definition)
        found.log = read_log(definition, name, lines, unfinished=unfinished)
        key = tuple(action.name for action in found.log.hidden)
        steps = {} if known is None else known
        if key not in steps:
            steps[key] = Steps(definition, found.log.hidden)
        _explain(found, found.log, steps[key], limits or Limits(), repair=repair)
    except LogProblem as problem:
        found.problem = str(problem)
    except Faulted as fault:
        found.problem = f"{definition.name} itself goes wrong at {fault.place}: {fault.message}"
    found.seconds = time.perf_counter() - began
    return found


def _explain(found: Validation, log: Log, steps: Steps, limits: Limits, *, repair: bool) -> None:
    search = Search(steps, Order(log, log.events, log.nodes), limits)
    begin = search.begin()
    if not begin:
        found.problem = f"{found.definition.name} has no initial state"
        return
    done = search.run(begin)
    found.most = done.most
    if done.stop:
        found.verdict = Verdict.INCOMPLETE
        line = done.front.event.line
        many = "" if done.stop == "candidates" else f", for {steps.met:,} states were met in all"
        found.problem = (
            f"stopped by --max-candidates {limits.candidates} at line {line}{many}; raise it, or log more: "
            "the answers, the variables, the steps that go unlogged"
        )
    elif not done.explained:
        _not_explained(found, log, steps, done, limits, repair=repair)
    else:
        _judge(found, log, steps, done, limits)


def _not_explained(
    found: Validation, log: Log, steps: Steps, done: Searched, limits: Limits, *, repair: bool
) -> None:
    found.rejection = rejection(steps, done) if repair else rejection(steps, done, 1)
    if done.hidden_cut is not None:
        found.verdict, found.problem = Verdict.INCOMPLETE, _cut_text(done, limits)
    elif done.bounded:
        found.verdict = Verdict.INCOMPLETE
        found.problem = "a bound of the model cut some step on the way: what lies behind it was not looked at"
    else:
        found.verdict = Verdict.VIOLATED
        if repair:
            found.rejection.repairs = Repairing(steps, log, done, limits).nearest(found.rejection.event)


def _cut_text(done: Searched, limits: Limits) -> str:
    assert done.hidden_cut is not None
    return (
        f"--max-hidden {limits.hidden} cut unlogged steps before line {done.hidden_cut.event.line}: more of "
        "them may explain it"
    )


def _judge(found: Validation, log: Log, steps: Steps, done: Searched, limits: Limits) -> None:
    """What every explanation breaks is broken; what only some break may be."""
    kept = broken = 0
    for states in done.last.values():
        for keeps, breaks in states.values():
            kept |= keeps
            broken |= breaks
    found.survivors = sum(map(len, done.last.values()))
    found.violated = steps.names(steps.every_invariant & ~kept)
    found.possible = steps.names(broken & kept)
    found.judged = _judged(found.definition, log.events)
    found.verdict = Verdict.HOLDS
    if found.possible:
        found.verdict = Verdict.INCOMPLETE
        found.problem = (
            f"{', '.join(found.possible)} is possibly broken: some of what explains the log breaks it"
        )
    if done.hidden_cut is not None:
        found.verdict, found.problem = Verdict.INCOMPLETE, _cut_text(done, limits)
    elif found.violated:
        found.verdict, found.problem = Verdict.VIOLATED, ""


def _judged(definition: Definition, events: Sequence[Event]) -> Counter[str]:
    """Each invariant of states once a line, each of steps once for a step of which it speaks."""
    taken = Counter(e.action.name for e in events if e.action and not (e.refused or e.unknown))
    lines = sum(1 for _ in events)
    found = Counter({prop.name: lines for prop in definition.invariants if prop.kind == "state"})
    for action in definition.actions:
        for prop in definition.invariants:
            if taken[action.name] and applies(prop, action):
                found[prop.name] += taken[action.name]
    return found
