"""Mutants: the model lowered with one small change, searched, and what notices it.

The change is made to the syntax tree that is lowered, not to the class. A mutant that adds a step is killed
by an invariant, a domain, a fault or a state without a step; one that only takes steps away can be noticed
by a witness that is reached no longer, an action that falls silent, or a state without a step; one that does
neither is no other model. Of several configurations one that kills it is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from falsework.accounting import Bounds, Progress, Tally
from falsework.definition import Definition
from falsework.errors import DefinitionError, InputError, Refused
from falsework.fast import FAULT, Search
from falsework.language import deadlock, values_stay_in_domain
from falsework.lower import Lowered, lower, lower_edited
from falsework.mutate_compare import Difference, changed, difference
from falsework.mutate_operators import OPERATORS, Mutant, mutants
from falsework.mutate_walk import Walk
from falsework.program import build
from falsework.source import deep
from falsework.trace import Label

DEFAULT_BOUNDS = Bounds(max_states=200_000, every=True)
BROKEN = ("invariant", "deadlock", "domain", "fault")
CAUSES = (*BROKEN, "witness", "silence", "survived", "undecided", "unnoticed", "equivalent")
"""What a mutant can end as; the last four are no kill."""
KINDS = ("additive", "removing", "equivalent", "undecided")
"""Adds a step, only takes some away, does neither, or nobody knows."""
_NOTHING = "the same states and transitions: it decides nothing here"


@dataclass(frozen=True)
class Notice:
    """What tells the mutant from the model: the cause, of which property, in how many steps."""

    cause: str
    name: str
    steps: int | None


@dataclass(frozen=True)
class Outcome:
    """What a mutant ends as: everything that notices it, the soonest first, and a least trace to that one."""

    mutant: Mutant
    kind: str
    notices: tuple[Notice, ...] = ()
    trace: tuple[Label, ...] = ()
    text: str = ""  # of a fault, which; of a survivor, what else it does; of an undecided one, why
    configuration: str = ""  # in which that was found, where there are several
    new_states: int = 0  # that a survivor reaches and the model does not
    new_steps: int = 0

    @property
    def cause(self) -> str:
        """One of CAUSES."""
        if self.notices:
            return self.notices[0].cause
        return {"additive": "survived", "removing": "unnoticed"}.get(self.kind, self.kind)

    @property
    def killed(self) -> bool:
        """Whether something declared is false of the mutant, or is no longer reached."""
        return bool(self.notices)

    @property
    def grave(self) -> int:
        """What counts more of two configurations: something broken, then something lost, then a survivor."""
        return CAUSES.index(self.cause)


def outcomes(
    definition: Definition,
    bounds: Bounds = DEFAULT_BOUNDS,
    operators: tuple[str, ...] = OPERATORS,
    *,
    also: Mapping[str, Definition] | None = None,
    heard: Callable[[int, int, Mutant], Progress | None] | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Iterator[Outcome]:
    """Every mutant with what notices it, one after the other; `in_time` says whether there is time.

    `also` names other configurations: one after the other they are asked until one of them kills the mutant.
    """
    made = mutants(definition, operators)
    for number, mutant in enumerate(made):
        if not in_time():
            yield Outcome(mutant, "undecided", text="not looked at: the time was over")
            continue
        progress = heard(number + 1, len(made), mutant) if heard is not None else None
        found = [kill(definition, mutant, bounds, progress)]
        for name, other in (also or {}).items():
            if found[-1].cause in BROKEN:
                break
            found.append(replace(kill(other, mutant, bounds, progress), configuration=name))
        yield min(found, key=lambda outcome: outcome.grave)


# --- one mutant -----------------------------------------------------------------------------------


def kill(
    definition: Definition,
    mutant: Mutant,
    bounds: Bounds = DEFAULT_BOUNDS,
    progress: Progress | None = None,
) -> Outcome:
    """What notices the mutant; raises Refused or InputError where the model by itself cannot be searched.

    Without `every` the search ends where the mutant first breaks something, unless the model breaks something
    by itself.
    """
    model = unmutated(definition, bounds.max_states)
    try:
        lowered = lower_edited(definition, {mutant.function: mutant.tree}, mutant.actions)
    except (Refused, DefinitionError) as refusal:
        text = f"cannot be lowered: {refusal.code} {refusal.found}"
        return Outcome(mutant, "undecided", text=text)
    if not changed(model.lowered, lowered):
        return Outcome(mutant, "equivalent", text=_NOTHING)
    search = _swept(definition, lowered, replace(bounds, every=bounds.every or bool(model.broken)), progress)
    broken = sorted(_broken(definition, model, search), key=lambda notice: notice.steps or 0)
    if broken:
        walk = Walk(lowered, search)
        with deep():
            trace = walk.to(broken[0].name or FAULT, broken[0].steps or 0)
        kind = _kind_of_broken(model, search, lowered, broken)
        return Outcome(mutant, kind, tuple(broken), trace, walk.fault)
    if search.tally.stop is not None:
        stop = search.tally.stop
        return Outcome(mutant, "undecided", text=f"stopped by {stop.bound} {stop.limit:,}")
    return _unbroken(mutant, model, search, lowered)


def _kind_of_broken(model: Unmutated, search: Search, lowered: Lowered, broken: list[Notice]) -> str:
    """A state without a step may be one that has lost its steps; all else that is broken is new."""
    if any(notice.cause != "deadlock" for notice in broken):
        return "additive"
    return "additive" if _difference(model, search, lowered).adds else "removing"


def _difference(model: Unmutated, search: Search, lowered: Lowered) -> Difference:
    return difference(model.lowered, lowered, model.seen, model.seen & search.seen)


def _unbroken(mutant: Mutant, model: Unmutated, search: Search, lowered: Lowered) -> Outcome:
    """A mutant of which nothing is false: what it does otherwise, and which witness or action it loses."""
    found = _difference(model, search, lowered)
    states = len(search.seen - model.seen)
    steps = search.tally.transitions - model.tally.transitions
    lost = tuple(_lost(model, search))
    if found.adds:
        return Outcome(
            mutant, "additive", lost, text=_added(found, states, steps), new_states=states, new_steps=steps
        )
    if found.removes:
        text = f"{_few(found.removes)} taken away, {steps:+,} transitions, and every witness is reached"
        return Outcome(mutant, "removing", lost, text=text, new_steps=steps)
    return Outcome(mutant, "equivalent", text=_NOTHING)


def _lost(model: Unmutated, search: Search) -> Iterator[Notice]:
    for name, steps in model.tally.witnesses.items():
        if steps is not None and search.tally.witnesses[name] is None:
            yield Notice("witness", name, None)
    for name, covered in model.tally.coverage.items():
        if covered.fired and not search.tally.coverage[name].fired:
            yield Notice("silence", name, None)


def _added(found: Difference, states: int, steps: int) -> str:
    if not states:
        return (
            f"{_few(found.adds)} added, {steps:+,} transitions, all to known states, "
            "and no invariant of a step is false of them"
        )
    return (
        f"{_few(found.adds)} added, {states:+,} states, {steps:+,} transitions, and nothing declared is false"
    )


def _few(labels: tuple[Label, ...]) -> str:
    more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    return f"{labels[0]}{more}"


def _swept(
    definition: Definition, lowered: Lowered, bounds: Bounds, progress: Progress | None = None
) -> Search:
    search = Search(definition, bounds, build(lowered))
    search.sweep(progress)
    return search


# --- the model as it is ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Unmutated:
    """The model as it is: lowered, its tally, its states, and what it breaks by itself in how many steps."""

    lowered: Lowered
    tally: Tally
    seen: set[int]
    broken: dict[str, int]


def unmutated(definition: Definition, max_states: int) -> Unmutated:
    """The model as it is, searched once; raises InputError where nothing can be compared with it."""
    known: dict[int, Unmutated] = definition.__dict__.setdefault("_unmutated", {})
    if max_states not in known:
        lowered = lower(definition)
        search = _swept(definition, lowered, Bounds(max_states=max_states, every=True))
        stop, fault = search.tally.stop, search.tally.fault
        if FAULT in search.found or fault is not None:
            raise InputError(f"{definition.name} is at fault by itself: falsework check says where")
        if stop is not None:
            raise InputError(
                f"{definition.name} by itself is stopped by {stop.bound} {stop.limit:,}, so that nothing can "
                "be compared with it; raise --max-states, or make the model smaller: -D NAME=VALUE"
            )
        if not search.tally.states:
            raise InputError(f"{definition.name} has no initial state, so no change decides anything")
        known[max_states] = Unmutated(lowered, search.tally, search.seen, _broken_of(search))
    return known[max_states]


def _broken_of(search: Search) -> dict[str, int]:
    """What is broken in how many steps; a start outside its domain stands in the tally alone."""
    starts = {name: violation.steps for name, violation in search.tally.violations.items()}
    return {name: found.steps for name, found in search.found.items()} | starts


def _broken(definition: Definition, model: Unmutated, search: Search) -> Iterator[Notice]:
    """What the mutant breaks and the model does not, or not so soon; in the order of the definition."""
    causes = {prop.name: "invariant" for prop in definition.invariants}
    causes |= {deadlock: "deadlock", values_stay_in_domain: "domain", FAULT: "fault"}
    broken = _broken_of(search)
    for name, cause in causes.items():
        if name in broken and broken[name] < model.broken.get(name, broken[name] + 1):
            yield Notice(cause, "" if name == FAULT else name, broken[name])
