"""What a subject breaks: its own steps, seen through the projection, searched as a model's are.

After a divergence the model no longer says where the implementation is; the projection does. So the state
is what was observed (a variable that is not shown goes on as the model says), the steps tried in it are
those that the model enables there, and an invariant is judged on what was observed before and after. A step
that breaks an invariant is not followed: as for a twin of the model, the broken set is every invariant
false at the end of a path that broke none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from falsework.conformance.paths import MAX_STATES
from falsework.conformance.projection import Observed, Unreadable
from falsework.conformance.session import Outcome, Session
from falsework.conformance.subject import Subject, SubjectFault
from falsework.definition import Action, Definition
from falsework.errors import CutByBound
from falsework.language import values_stay_in_domain
from falsework.state import State, columns
from falsework.trace import Faulted, Label, Taken, instances, starts, take

PERFORMED = 200_000
"""After that many steps the search is given up, and says so."""


@dataclass(frozen=True)
class Breach:
    """An invariant broken on the projection, by a shortest path, and where that leaves the model."""

    name: str
    start: Label | None
    taken: tuple[Taken, ...]  # the start and each step as observed
    departs: str = ""
    odd: str = ""  # what was observed that lies in no domain

    @property
    def steps(self) -> int:
        """How many steps were performed."""
        return len(self.taken) - 1


@dataclass
class Breaches:
    """Everything that one subject was found to break, and how much of it was looked at."""

    subject: str
    surface: str
    definition: Definition
    found: dict[str, Breach] = field(default_factory=dict)
    states: int = 0
    transitions: int = 0
    performed: int = 0
    departure: str = ""  # the first step that is none of the model's, where nothing is broken
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    complete: bool = True
    problem: str = ""
    seconds: float = 0.0


def breaches(
    subject: Subject, definition: Definition, *, name: str = "", within: int | None = None
) -> Breaches:
    """The subject's steps searched to the end, or as deep as that; an adapter's mistake is the `problem`."""
    began = time.perf_counter()
    session = Session(subject, definition)
    result = Breaches(name or type(subject).__name__, subject.surface, definition)
    try:
        try:
            _Search(session, result, within).run()
        finally:
            session.close()
    except SubjectFault as problem:
        result.problem = str(problem)
    result.performed, result.hidden = session.performed, session.invariants.hidden
    result.seconds = time.perf_counter() - began
    return result


@dataclass(frozen=True)
class _Step:
    """One step as observed: what it breaks, or where it led."""

    taken: Taken
    broken: tuple[str, ...]
    departs: str


class _Search:
    def __init__(self, session: Session, result: Breaches, within: int | None) -> None:
        self.session = session
        self.result = result
        self.within = within
        self.definition = session.definition
        self.labels = [(a, label) for a in self.definition.actions for label in instances(self.definition, a)]
        self.index: dict[State, int] = {}
        self.states: list[State] = []
        self.steps: dict[State, dict[Label, tuple[Action, Taken]]] = {}
        self.paths: list[tuple[Taken, tuple[Label, ...]]] = []  # a shortest one to each state, the least
        self.walked: list[Label] = []  # since the implementation was begun
        self.taken: list[Taken] = []  # the start and the walked steps, as observed
        self.departs = ""  # the first walked step that is none of the model's

    # --- the search: breadth first, each step performed at the end of a shortest path to its state

    def run(self) -> None:
        """Every step of every observed state is performed once."""
        for start in list(starts(self.definition)):
            if self.begin(start):
                self.arrive(self.taken[-1].state, start, ())
        node = 0
        while node < len(self.states) and self.within != len(self.paths[node][1]):
            if node >= MAX_STATES or self.session.performed > PERFORMED:
                self.result.complete = False
                break
            self.expand(node)
            node += 1
        self.result.states = len(self.states)

    def arrive(self, state: State, start: Taken, path: tuple[Label, ...]) -> None:
        """The state is to be expanded, if it is new."""
        if state not in self.index:
            self.index[state] = len(self.states)
            self.states.append(state)
            self.paths.append((start, path))

    def expand(self, node: int) -> None:
        """Every step that the model takes there is performed, each from that state."""
        state, (start, path) = self.states[node], self.paths[node]
        there = False
        for label, (action, expected) in self.enabled(state).items():
            if not there:
                self.go(start, path, state)
            step = self.walk(expected)
            self.result.transitions += 1
            if step.departs and not self.result.departure:
                self.result.departure = self.departs
            for name in step.broken:
                if name not in self.result.found:
                    self.found(name, start, (*path, label))
            if not step.broken:
                self.arrive(step.taken.state, start, (*path, label))
            there = step.taken.state == state and not (step.broken or step.departs or action.kind == "tick")

    def found(self, name: str, start: Taken, path: tuple[Label, ...]) -> None:
        """The breach by the path alone; where that does not break it, by all that has been walked."""
        walked, odd = self.breach(name), self.taken[-1].outside
        assert not odd or name == values_stay_in_domain
        if len(path) == walked.steps or not self.repeats(name, start, path):
            self.result.found[name] = walked
        else:
            self.result.found[name] = self.breach(name)

    def breach(self, name: str) -> Breach:
        """The steps that have been walked, as a path to the breach."""
        start = self.taken[0].label if self.definition.initials else None
        return Breach(name, start, tuple(self.taken), self.departs, self.taken[-1].outside)

    def repeats(self, name: str, start: Taken, path: tuple[Label, ...]) -> bool:
        """Whether the path alone breaks it, performed from scratch."""
        broken: tuple[str, ...] = () if self.begin(start) else (name,)
        for label in path:
            known = self.enabled(self.taken[-1].state)
            if broken or label not in known:
                return False
            broken = self.walk(known[label][1]).broken
        return name in broken

    # --- steps

    def begin(self, start: Taken) -> bool:
        """Whether the implementation, as new, breaks nothing yet."""
        label = start.label if self.definition.initials else None
        outcome, seen = self.session.begin(label)
        state = self.session.seen_as(start.state, seen)
        self.walked, self.departs = [], ""
        self.taken = [Taken(start.label, state, start.answer, _odd(seen))]
        if outcome.word != "answered" or state != start.state or seen.odd:
            self.departs = f"departs at the start: {_odd(seen) or outcome.text}"
        broken = (values_stay_in_domain,) if seen.odd else self.session.broken_in(state)
        for name in broken:
            self.result.found.setdefault(name, self.breach(name))
        return not broken and outcome.word == "answered"

    def go(self, start: Taken, path: tuple[Label, ...], state: State) -> None:
        """The implementation is led to the state from the start; or SubjectFault is raised."""
        alive = self.begin(start)
        for label in path:
            known = self.enabled(self.taken[-1].state)
            alive = alive and label in known and not self.walk(known[label][1]).broken
        if not alive or self.taken[-1].state != state:
            raise SubjectFault(
                f"{' '.join(map(str, path))} does not lead where it led before: "
                "the subject remembers what came before begin(), or is not deterministic"
            )

    def walk(self, expected: Taken) -> _Step:
        """One step from where the implementation was observed to be."""
        step = self.perform(self.taken[-1].state, expected)
        self.walked.append(expected.label)
        self.taken.append(step.taken)
        if step.departs and not self.departs:
            self.departs = f"departs at step {len(self.walked)}: {expected.label} — {step.departs}"
        return step

    def enabled(self, state: State) -> dict[Label, tuple[Action, Taken]]:
        """The steps that the model takes in that state, be it one of its own or not."""
        if state not in self.steps:
            self.steps[state] = dict(self._enabled(state))
        return self.steps[state]

    def _enabled(self, state: State) -> Iterator[tuple[Label, tuple[Action, Taken]]]:
        for action, label in self.labels:
            try:
                taken = take(self.definition, action, state, label)
            except (CutByBound, Faulted):
                continue
            if taken is not None and not taken.outside:
                yield label, (action, taken)

    def perform(self, was: State, expected: Taken) -> _Step:
        """One step from a state in which the implementation was observed to be."""
        label = expected.label
        action = self.session.actions[label.action]
        outcome = self.session.ask(label)
        seen = self.session.observe()
        model = expected.state if outcome.word == "answered" else was
        if outcome.word == "unknown" and self.session.seen_as(was, seen) != was:
            model = expected.state
        now = self.session.seen_as(model, seen)
        if outcome.word != "answered":
            return _Step(Taken(label, now), (), self._departs(action, outcome, seen, expected))
        try:
            answer = self.session.answer_of(action, outcome, expected.answer)
        except Unreadable:
            departs = self._departs(action, outcome, seen, expected)
            return _Step(
                Taken(label, now, None, f"the answer {outcome.text}"), (values_stay_in_domain,), departs
            )
        same = answer == expected.answer and now == expected.state and not seen.odd
        departs = "" if same else self._departs(action, outcome, seen, expected)
        taken = Taken(label, now, answer, _odd(seen))
        if seen.odd:
            return _Step(taken, (values_stay_in_domain,), departs)
        return _Step(taken, self.session.broken_by(label, answer, was, now), departs)

    def _departs(self, action: Action, outcome: Outcome, seen: Observed, expected: Taken) -> str:
        """How the step differs from the model's, or nothing."""
        if outcome.word == "unknown":
            return ""
        if outcome.word != "answered":
            wanted = self.session.expected_text(action, expected.answer)
            return f"answers {wanted} in the model, {outcome.text} here"
        wanted = self.session.expected_text(action, expected.answer)
        parts = [f"answers {wanted} in the model, {outcome.text} here"] if outcome.text != wanted else []
        for place, variable in enumerate(self.definition.variables):
            if variable.name in seen.values or variable.name in seen.odd:
                cell, shown = columns(variable.domain, expected.state[place]), seen.spelled(variable)
                parts += [f"{variable.name} = {cell} in the model, {shown} here"] if cell != shown else []
        more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
        return parts[0] + more if parts else ""


def _odd(seen: Observed) -> str:
    return ", ".join(f"{name} = {text}" for name, text in seen.odd.items())
