"""One check: an engine chosen and run, what it found executed again on the class, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from falsework.accounting import DEFAULT_MAX_STATES, Bounds, Tally, Violation
from falsework.definition import Definition, definition_of
from falsework.errors import InputError, ModelFault, Place, Refused
from falsework.explore import Progress, explore
from falsework.judge import broken_by, broken_in
from falsework.language import Model, deadlock, values_stay_in_domain
from falsework.naming import with_constants
from falsework.trace import Taken, replay
from falsework.verdict import Verdict

ENGINES = ("auto", "explore", "fast")


@dataclass(frozen=True)
class Finding:
    """Something other than a violation that keeps a check from a pass: its word, what it is about, and where."""

    word: str  # no-initial-state, fault, no-invariant, never-fires, premise-never-true, witness-not-reached, bound-cut
    text: str
    place: Place | None = None
    subject: str = ""


@dataclass(frozen=True)
class Counterexample:
    """A violation that was executed again on the class: the steps with their states, the start first."""

    violation: Violation
    taken: tuple[Taken, ...]


@dataclass
class Result:
    """What was asked, what was answered, and why."""

    definition: Definition
    tally: Tally
    engine: str
    why: str
    findings: list[Finding] = field(default_factory=list)
    counterexamples: dict[str, Counterexample] = field(default_factory=dict)
    name: str = ""

    @property
    def verdict(self) -> Verdict:
        """The gravest answer, by the precedence of the verdicts."""
        words = {finding.word for finding in self.findings}
        if words & {"no-initial-state", "fault"}:
            return Verdict.ERROR
        if self.tally.violations:
            return Verdict.VIOLATED
        if self.tally.stop is not None:
            return Verdict.INCOMPLETE
        if words - {"bound-cut"}:
            return Verdict.VACUOUS
        return Verdict.HOLDS_WITHIN if self.tally.cuts else Verdict.HOLDS

    def answers(self) -> dict[str, str]:
        """Each property that was asked, with holds, violated, reached, not reached, or not decided."""
        tally = self.tally
        decided = tally.complete and (tally.bounds.every or not tally.violations)
        answers = {}
        for name in (deadlock, values_stay_in_domain, *(p.name for p in self.definition.invariants)):
            answers[name] = "violated" if name in tally.violations else "holds" if decided else "not decided"
        for name, steps in tally.witnesses.items():
            answers[name] = "reached" if steps is not None else "not reached" if decided else "not decided"
        return answers

    @property
    def broken(self) -> dict[str, int]:
        """The broken properties and the steps in which each is first broken."""
        return {name: violation.steps for name, violation in self.tally.violations.items()}


def check(
    model: type[Model], *, engine: str = "auto", max_states: int = DEFAULT_MAX_STATES, max_depth: int | None = None,
    memory_mb: int | None = None, every: bool = False, progress: Progress | None = None, **constants: Any,
) -> Result:  # fmt: skip
    """Checks the model, with other constants if given; raises DefinitionError, Refused or InputError for a model that cannot be run.

    `every` goes on after a violation and finds the whole broken set.
    """
    definition = definition_of(with_constants(model, constants) if constants else model)
    bounds = Bounds(max_states, max_depth, memory_mb, every)
    search, used, why = _engine(definition, engine)
    result = Result(definition, search(definition, bounds, progress), used, why, name=definition.name)
    result.findings += _findings(result)
    for name, violation in result.tally.violations.items():
        result.counterexamples[name] = confirm(definition, violation)
    return result


def _engine(definition: Definition, wanted: str) -> tuple[Callable[..., Tally], str, str]:
    if wanted not in ENGINES:
        raise InputError(f"no engine {wanted!r}; write one of: {', '.join(ENGINES)}")
    if wanted == "explore":
        return explore, "explore", "asked for"
    from falsework.fast import fast
    from falsework.lower import lower

    try:
        lower(definition)
    except Refused as refusal:
        if wanted == "fast":
            raise
        return explore, "explore", f"fast refuses the model: {refusal.code} at {refusal.place}"
    return fast, "fast", "asked for" if wanted == "fast" else "the default"


def confirm(definition: Definition, violation: Violation) -> Counterexample:
    """The violation executed again on the class; raises ModelFault where the class does not agree."""
    taken = tuple(replay(definition, violation.trace))
    name, last = violation.name, taken[-1]
    if name == values_stay_in_domain:
        confirmed = bool(last.outside)
    elif name == deadlock:
        confirmed = not any(_enabled(definition, last))
    else:
        confirmed = name in broken_in(definition, last.state)
        if not confirmed and violation.trace.steps:
            action = next(a for a in definition.actions if a.name == last.label.action)
            confirmed = name in broken_by(definition, action, last.label, last.answer, taken[-2].state, last.state)
    if not confirmed:
        raise ModelFault(f"the engine says that {name} is broken by this trace; the class does not agree: {violation.trace}")
    return Counterexample(violation, taken)


def _enabled(definition: Definition, at: Taken) -> list[bool]:
    from falsework.errors import CutByBound
    from falsework.trace import instances, take

    found = []
    for action in definition.actions:
        for label in instances(definition, action):
            try:
                found.append(take(definition, action, at.state, label) is not None)
            except CutByBound:
                found.append(True)
    return found


def _findings(result: Result) -> list[Finding]:
    definition, tally = result.definition, result.tally
    if tally.fault is not None:
        return [Finding("fault", tally.fault.message, tally.fault.place, tally.fault.at)]
    if not tally.states and not tally.violations:
        return [Finding("no-initial-state", "no initial action has an instance whose guards are true", definition.place)]
    found = []
    if not definition.invariants:
        found.append(Finding("no-invariant", f"{definition.name} declares no invariant, so nothing was asked of its states",
                             definition.place, definition.name))
    if tally.complete and (tally.bounds.every or not tally.violations):
        scope = " within the declared bounds" if tally.cuts else " in the whole state space"
        for action in definition.actions:
            covered = tally.coverage[action.name]
            if not covered.fired:
                why = "is only ever cut by a bound" if covered.cut else "never fires"
                found.append(Finding("never-fires", f"{action.name} {why}{scope}", action.place, action.name))
        for (name, line, _), times in tally.premises.items():
            if not times:
                prop = next(p for p in definition.invariants if p.name == name)
                found.append(Finding("premise-never-true", f"a premise of {name} is never true{scope}",
                                     Place(prop.place.file, line), name))
        for witness in definition.witnesses:
            if tally.witnesses[witness.name] is None:
                found.append(Finding("witness-not-reached", f"{witness.name} is not reached{scope}", witness.place, witness.name))
    found += [Finding("bound-cut", f"the bound cut {times} steps", place) for place, times in tally.cuts.items()]
    return found
