"""One check: an engine chosen and run, what it found executed again on the class, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from falsework.accounting import DEFAULT_MAX_STATES, Bounds, PremiseKey, Progress, Tally, Violation
from falsework.definition import Definition, definition_now
from falsework.engines import search
from falsework.errors import CutByBound, FalseworkError, InputError, ModelFault, Place, display_file
from falsework.judge import broken_by, broken_in, judge
from falsework.language import Model, deadlock, values_stay_in_domain
from falsework.naming import with_constants
from falsework.trace import Faulted, Taken, instances, nothing_to_explore, replay, take
from falsework.verdict import Verdict

ERROR_WORDS = frozenset({"no-initial-state", "fault", "not-confirmed", "not-answered"})
VACUOUS_WORDS = frozenset({"no-invariant", "never-fires", "premise-never-true", "witness-not-reached"})


@dataclass(frozen=True)
class Finding:
    """Something other than a violation that keeps a check from a pass: its word, its text, and where.

    The words are ERROR_WORDS, VACUOUS_WORDS, and bound-cut, which makes a pass a HOLDS WITHIN.
    """

    word: str
    text: str
    place: Place | None = None
    subject: str = ""


@dataclass(frozen=True)
class Counterexample:
    """A violation that was executed again on the class: the steps with their states, the start first."""

    violation: Violation
    taken: tuple[Taken, ...]


@dataclass(repr=False)
class Result:
    """What was asked, what was answered, and why."""

    definition: Definition
    tally: Tally
    engine: str
    why: str
    findings: list[Finding] = field(default_factory=list)
    counterexamples: dict[str, Counterexample] = field(default_factory=dict)
    name: str = ""
    configuration: str = ""
    asked: tuple[str, ...] = ()
    command: str = ""  # the arguments that name this model again on the command line
    declared: str = ""  # of a class that declares what it breaks: whether this is that

    def __repr__(self) -> str:
        from falsework.report_text import details, headline

        return "\n\n".join(filter(None, (headline(self), details(self))))

    @property
    def verdict(self) -> Verdict:
        """The gravest answer, by the precedence of the verdicts."""
        words = {finding.word for finding in self.findings}
        if words & ERROR_WORDS:
            return Verdict.ERROR
        if self.tally.violations:
            return Verdict.VIOLATED
        if self.tally.stop is not None:
            return Verdict.INCOMPLETE
        if words & VACUOUS_WORDS:
            return Verdict.VACUOUS
        return Verdict.HOLDS_WITHIN if self.tally.cuts else Verdict.HOLDS

    @property
    def decided(self) -> bool:
        """Whether the absence of a violation or of a witness means something."""
        return self.tally.complete and (self.tally.bounds.every or not self.tally.violations)

    def answers(self) -> dict[str, str]:
        """Each property that was asked, with holds, violated, reached, not reached, or not decided."""
        tally = self.tally
        answers = {}
        for name in (deadlock, values_stay_in_domain, *(p.name for p in self.definition.invariants)):
            held = "holds" if self.decided else "not decided"
            answers[name] = "violated" if name in tally.violations else held
        for name, steps in tally.witnesses.items():
            missed = "not reached" if self.decided else "not decided"
            answers[name] = missed if steps is None else "reached"
        return answers

    @property
    def broken(self) -> dict[str, int]:
        """The broken properties and the steps in which each is first broken."""
        return {name: violation.steps for name, violation in self.tally.violations.items()}


def asked_of(definition: Definition) -> tuple[str, ...]:
    """Every property that a check of the model asks for."""
    named = (*definition.invariants, *definition.witnesses)
    return (deadlock, values_stay_in_domain, *(prop.name for prop in named))


def check(
    model: type[Model],
    *,
    engine: str = "auto",
    max_states: int = DEFAULT_MAX_STATES,
    max_depth: int | None = None,
    memory_mb: int | None = None,
    every: bool = False,
    progress: Progress | None = None,
    threads: int | None = None,
    **constants: Any,
) -> Result:
    """Checks the model, with other constants if given.

    Raises DefinitionError, Refused or InputError for a model that cannot be run, NoCompiler and EngineFailed
    where a compiled search cannot be made or fails. `every` goes on after a violation and finds the whole
    broken set; `threads` are those of a compiled search.
    """
    definition = definition_now(with_constants(model, constants) if constants else model)
    if not definition.explorable:
        raise nothing_to_explore(definition)
    bounds = Bounds(max_states, max_depth, memory_mb, every)
    tally, used, why = search(definition, engine, bounds, progress, threads=threads)
    asked = asked_of(definition)
    found = sorted(tally.violations.items(), key=lambda item: (item[1].steps, _rank(asked, item[0])))
    tally.violations = dict(found)  # the soonest first, whatever the order in which an engine met them
    result = Result(definition, tally, used, why, name=definition.name, asked=asked)
    result.findings += _findings(result)
    for name, violation in tally.violations.items():
        try:
            result.counterexamples[name] = confirm(definition, violation)
        except (ModelFault, InputError, Faulted) as problem:
            result.findings.append(Finding("not-confirmed", str(problem), definition.place, name))
    return result


def _rank(asked: tuple[str, ...], name: str) -> int:
    """The place of the property among those asked for; the last for a name that nobody asked for."""
    return asked.index(name) if name in asked else len(asked)


# --- what was found, executed again -------------------------------------------------------------------------


def confirm(definition: Definition, violation: Violation) -> Counterexample:
    """The violation executed again on the class; raises ModelFault where the class does not agree."""
    taken = tuple(replay(definition, violation.trace))
    if violation.name not in broken_at_the_end(definition, taken):
        spelled = " ".join(map(str, violation.trace.steps)) or "the start"
        raise ModelFault(f"{violation.name} is not broken on the class at the end of: {spelled}")
    return Counterexample(violation, taken)


def broken_at_the_end(definition: Definition, taken: tuple[Taken, ...]) -> list[str]:
    """Every property that is false at the end of the executed steps, by the class itself."""
    last = taken[-1]
    if last.outside:
        return [values_stay_in_domain]
    found: list[str] = []
    if len(taken) > 1:
        action = next(a for a in definition.actions if a.name == last.label.action)
        found += broken_by(definition, action, last.label, last.answer, taken[-2].state, last.state)
    found += broken_in(definition, last.state)
    terminal = any(judge(definition, prop, last.state)[0] for prop in definition.terminals)
    if not found and not terminal and not any(_steps(definition, last)):
        found.append(deadlock)
    return found


def _steps(definition: Definition, at: Taken) -> Iterator[bool]:
    for action in definition.actions:
        for label in instances(definition, action):
            try:
                yield take(definition, action, at.state, label) is not None
            except (CutByBound, Faulted):
                yield True


# --- what keeps a check from a pass -------------------------------------------------------------------------


def _findings(result: Result) -> list[Finding]:
    definition, tally = result.definition, result.tally
    if tally.fault is not None:
        return [Finding("fault", tally.fault.message, tally.fault.place, tally.fault.at)]
    if not tally.states and not tally.violations and tally.stop is None:
        text = "no initial action has an instance whose guards are true"
        return [Finding("no-initial-state", text, definition.initials[0].place, definition.initials[0].name)]
    found = list(_unanswered(result))
    if found:
        return found
    if not definition.invariants:
        text = f"{definition.name} declares no invariant, so nothing was asked of its states"
        found.append(Finding("no-invariant", text, definition.place, definition.name))
    if result.decided and not tally.violations:  # a violating state leads nowhere: what it hides is not told
        found += _vacuities(result)
    return found + [
        Finding("bound-cut", f"the bound cut {_times(times)}", place) for place, times in tally.cuts.items()
    ]


def _times(number: int) -> str:
    return f"{number:,} transition{'' if number == 1 else 's'}"


def _unanswered(result: Result) -> Iterator[Finding]:
    """What was asked and what was answered are compared: an engine that forgot something gives no pass."""
    definition, tally = result.definition, result.tally
    for prop in definition.witnesses:
        if prop.name not in tally.witnesses:
            yield Finding(
                "not-answered", f"{result.engine} says nothing of {prop.name}", prop.place, prop.name
            )
    for action in definition.actions:
        if action.name not in tally.coverage:
            text = f"{result.engine} says nothing of {action.name}"
            yield Finding("not-answered", text, action.place, action.name)
    for name in tally.violations:
        if name not in result.asked:
            yield Finding("not-answered", f"{result.engine} answers {name}, which was not asked", None, name)


def _vacuities(result: Result) -> Iterator[Finding]:
    definition, tally = result.definition, result.tally
    scope = " within the declared bounds" if tally.cuts else " in the whole state space"
    for action in definition.actions:
        covered = tally.coverage[action.name]
        if not covered.fired:
            why = "is only ever cut by a bound" if covered.cut else "never fires"
            yield Finding("never-fires", f"{action.name} {why}{scope}", action.place, action.name)
    for premise, times in tally.premises.items():
        if not times:
            text = f"a premise of {premise[0]} is never true{scope}"
            yield Finding("premise-never-true", text, premise_place(premise), premise[0])
    for witness in definition.witnesses:
        if tally.witnesses[witness.name] is None:
            text = f"{witness.name} is not reached{scope}"
            yield Finding("witness-not-reached", text, witness.place, witness.name)


def premise_place(premise: PremiseKey) -> Place:
    """Where that `implies` stands: in the invariant's own file, or in that of a helper that it calls."""
    file, line, _ = premise[1]
    return Place(display_file(file), line)


@dataclass(frozen=True)
class Failure:
    """A model that could not be run at all: under which name it was asked for, and the error."""

    name: str
    error: FalseworkError

    @property
    def verdict(self) -> Verdict:
        """Always ERROR."""
        return Verdict.ERROR


Outcome = Result | Failure
