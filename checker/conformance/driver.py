"""Driving a subject along every step of its model's graph, and comparing answers and variables after each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from falsework.conformance.divergence import Divergence, Row
from falsework.conformance.paths import Edge, Graph, Plan, graph_of
from falsework.conformance.projection import Observed, Unreadable
from falsework.conformance.session import Outcome, Session
from falsework.conformance.shrink import Shrinking
from falsework.conformance.subject import Subject, SubjectFault
from falsework.definition import Definition
from falsework.domains import spell
from falsework.state import columns
from falsework.trace import Label
from falsework.verdict import Verdict

TRIES = 3
"""After that many unknown outcomes of one step in one state, the step counts as not driven."""
ANSWERED, UNKNOWN, REFUSED = "answered", "unknown", "refused"


@dataclass
class Drive:
    """One subject driven along one graph, counted."""

    subject: str
    surface: str
    definition: Definition
    states: int = 0
    transitions: int = 0
    covered: int = 0
    attempts: int = 0  # disabled steps that the implementation is expected to refuse
    attempted: int = 0
    performed: int = 0
    begun: int = 0
    compared: int = 0
    walks: int = 0  # after all that was covered, and of so many steps
    walked: int = 0
    unwalked: str = ""  # why not as many walks were taken as were asked for
    observable: dict[str, int] = field(default_factory=dict)
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    divergence: Divergence | None = None
    undriven: list[str] = field(default_factory=list)
    problem: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The gravest: an adapter that fails, a divergence, steps not driven, nothing compared."""
        if self.problem:
            return Verdict.ERROR
        if self.divergence:
            return Verdict.VIOLATED
        if (
            self.unwalked
            or self.undriven
            or self.covered < self.transitions
            or self.attempted < self.attempts
        ):
            return Verdict.INCOMPLETE
        return Verdict.HOLDS if self.compared else Verdict.VACUOUS


def drive(
    subject: Subject, definition: Definition, *, name: str = "", walks: int = 0, seed: int = 0
) -> Drive:
    """The subject driven along the whole graph and then on random walks, or up to a shortest divergence.

    Raises InputError for a model that cannot be driven; what an adapter does wrong is the result's
    `problem`.
    """
    began = time.perf_counter()
    session = Session(subject, definition)
    graph = graph_of(definition, subject.refuses)
    result = Drive(name or type(subject).__name__, subject.surface, definition)
    result.states, result.transitions = len(graph.states), graph.transitions
    result.attempts = sum(map(len, graph.disabled))
    driver = _Driver(session, graph, result)
    try:
        try:
            driver.walk()
            result.performed, result.begun = session.performed, session.begun
            if walks and graph.begins and result.divergence is None:
                driver.wander(walks, seed)
            if result.divergence is not None:
                shrinking = Shrinking(graph, driver.rerun, lambda: session.performed)
                result.divergence = shrinking.shortest(result.divergence)
        finally:
            session.close()
    except SubjectFault as problem:
        result.problem = str(problem)
    result.compared, result.observable, result.hidden = (
        session.compared,
        session.invariants.observable,
        session.invariants.hidden,
    )
    result.seconds = time.perf_counter() - began
    return result


class _Driver:
    def __init__(self, session: Session, graph: Graph, result: Drive) -> None:
        self.session = session
        self.graph = graph
        self.result = result
        self.here: list[int] = []  # where the implementation may be in the model; the likeliest state first
        self.word = ANSWERED  # what came of the last step
        self.seen = Observed({}, {})
        self.start: Label | None = None
        self.path: list[Label] = []
        self.passed: list[int] = []
        self.places = {action.name: place for place, action in enumerate(session.definition.actions)}
        self.tries: dict[tuple[int, Label], int] = {}
        self.given_up: list[tuple[int, Label]] = []

    # --- the walk that covers the graph

    def walk(self) -> None:
        """Every step is driven, each from the nearest state, until the first divergence."""
        plan = Plan(self.graph)
        begins = list(dict.fromkeys(node for _, node in self.graph.begins))
        for label, node in self.graph.begins:
            self.result.divergence = self.result.divergence or self.begin(node, label)
        while plan.waiting and self.result.divergence is None:
            on = plan.nearest(self.here[:1]) if self.here else None
            anew = plan.nearest(begins) if on is None or len(on[1]) > 2 else None
            if anew is not None and (on is None or len(anew[1]) + 1 < len(on[1])):
                node, labels = anew
                self.result.divergence = self.begin(node) or self.along(labels, plan)
            elif on is not None:
                self.result.divergence = self.along(on[1], plan)
            else:
                break
        self.result.undriven = [
            f"{label} where {self.spelled(node)}: its outcome was unknown each time"
            for node, label in self.given_up
        ]
        if self.result.divergence is None:
            left = ((node, label) for node, labels in enumerate(plan.open) for label in labels)
            self.result.undriven += [f"{label} where {self.spelled(node)}" for node, label in left]

    def along(self, labels: list[Label], plan: Plan) -> Divergence | None:
        """The labels performed in turn, as far as the implementation is where the plan thinks it is."""
        for label in labels:
            node = self.here[0]
            if label not in self.graph.edges[node] and label not in self.graph.disabled[node]:
                return None
            parted = self.perform(label)
            if parted:
                return parted
            self.settle(plan, node, label)
        return None

    def settle(self, plan: Plan, node: int, label: Label) -> None:
        """The step is done with if its outcome is known; an unknown one is tried again, and not for ever."""
        edge = self.graph.edges[node].get(label)
        if edge is None:
            self.result.attempted += label in plan.open[node]
            plan.done(node, label)
        elif self.here == [edge.target] and (self.word == ANSWERED or self.told(edge, node)):
            self.result.covered += label in plan.open[node]
            plan.done(node, label)
        else:
            self.tries[node, label] = self.tries.get((node, label), 0) + 1
            if self.tries[node, label] >= TRIES:
                self.given_up += [(node, label)] if label in plan.open[node] else []
                plan.avoid(node, label)

    def told(self, edge: Edge, node: int) -> bool:
        """Whether observing alone tells that the step was taken, and there is no answer left to compare."""
        return edge.target != node and not self.session.answers(self.session.actions[edge.label.action])

    # --- the walks that follow it

    def wander(self, count: int, seed: int) -> None:
        """So many random walks, which meet what a state alone does not tell, until the first divergence."""
        try:
            from falsework.conformance.walks import draw_walks
        except ModuleNotFoundError as problem:
            self.result.unwalked = (
                f"no random walk was taken, for {problem.name} is not installed; "
                "write: pip install 'falsework[hypothesis]', or ask for none: --walks 0"
            )
            return
        draw_walks(count, seed, self.wandered)

    def wandered(self, numbers: Sequence[int], shunned: int) -> bool:
        """Whether the walk, which shuns some actions, has met no divergence."""
        self.result.walks += 1
        label, node = self.graph.begins[shunned % len(self.graph.begins)]
        parted = self.begin(node, label)
        for number in numbers:
            options = self.graph.options(self.here)
            if parted is not None or not options:
                break
            names = [n for n in options if not shunned >> self.places[n] & 1] or list(options)
            of_action = options[names[number % len(names)]]
            parted = self.perform(of_action[number // len(names) % len(of_action)])
            self.result.walked += 1
        self.result.divergence = parted
        return parted is None

    # --- one step

    def begin(self, node: int, start: Label | None = None) -> Divergence | None:
        """The implementation is as new, in that initial state, by that initial action or the first to it."""
        self.start = start or next(label for label, begin in self.graph.begins if begin == node)
        self.path, self.passed, self.here = [], [], [node]
        outcome, seen = self.session.begin(self.start)
        self.word = outcome.word
        if self.agrees(node, seen) and outcome.word == ANSWERED:
            return None
        rows = (Row("answer", "", "begins", "begins" if outcome.word == ANSWERED else outcome.text),)
        return Divergence(self.start, (), (self.graph.states[node],), (*rows, *self.rows(node, node, seen)))

    def perform(self, label: Label) -> Divergence | None:
        """The step is performed; where the implementation may be now agrees with what came of it."""
        self.path.append(label)
        self.passed.append(self.here[0])
        outcome = self.session.ask(label)
        self.word = outcome.word
        seen = self.session.observe()
        fits: list[int] = []
        for node in self.here:
            edge = self.graph.edges[node].get(label)
            fits += [n for n in self.targets(node, edge, outcome) if self.agrees(n, seen)]
        if not fits:
            return self.parted(label, outcome, seen)
        if outcome.word == ANSWERED and len(self.here) == len(fits) == 1:
            self.judge(label, self.here[0], fits[0])
        self.here = list(dict.fromkeys(fits))
        return None

    def judge(self, label: Label, was: int, now: int) -> None:
        """The invariants are judged on the projection, which here is the model's own states."""
        answer = self.graph.edges[was][label].answer
        broken = self.session.broken_by(label, answer, self.graph.states[was], self.graph.states[now])
        if broken:
            raise SubjectFault(
                f"the model itself breaks {broken[0]} by {label}: check {self.session.definition.name} first"
            )

    def targets(self, node: int, edge: Edge | None, outcome: Outcome) -> list[int]:
        """The states that the model allows after that outcome, the observed variables aside."""
        if outcome.word == UNKNOWN:
            return [node] if edge is None else [edge.target, node]
        if edge is None:
            return [node] if outcome.word == REFUSED else []
        return [edge.target] if outcome.word == ANSWERED and self.answers(edge, outcome) else []

    def answers(self, edge: Edge, outcome: Outcome) -> bool:
        """Whether the implementation's answer is the model's."""
        action = self.session.actions[edge.label.action]
        self.session.compared += self.session.answers(action)
        try:
            return bool(self.session.answer_of(action, outcome, edge.answer) == edge.answer)
        except Unreadable:
            return False

    def agrees(self, node: int, seen: Observed) -> bool:
        """Whether everything that was observed is as in that state of the model."""
        state = self.graph.states[node]
        return not seen.odd and self.session.seen_as(state, seen) == state

    # --- where they part

    def parted(self, label: Label, outcome: Outcome, seen: Observed) -> Divergence:
        """The divergence at this step, beside what the likeliest state of the model expected."""
        node = self.here[0]
        edge = self.graph.edges[node].get(label)
        if edge is None:
            expected, same = REFUSED, outcome.word == REFUSED
        else:
            expected = self.session.expected_text(self.session.actions[label.action], edge.answer)
            same = outcome.word == ANSWERED and self.answers(edge, outcome)
        answer = Row("answer", "", expected, expected if same else outcome.text)
        rows = (answer, *self.rows(node, edge.target if edge else node, seen))
        states = tuple(self.graph.states[n] for n in self.passed)
        return Divergence(self.start, tuple(self.path), states, rows)

    def rows(self, node: int, target: int, seen: Observed) -> Iterator[Row]:
        """The observed variables beside the model's."""
        was, wanted = self.graph.states[node], self.graph.states[target]
        for place, variable in enumerate(self.session.definition.variables):
            if variable.name in seen.values or variable.name in seen.odd:
                before, after = (columns(variable.domain, state[place]) for state in (was, wanted))
                yield Row(variable.name, before, after, seen.spelled(variable))

    def rerun(self, begin: int, path: list[Label]) -> Divergence | None:
        """The path driven from scratch."""
        parted = self.begin(begin)
        for label in path:
            parted = parted or self.perform(label)
        return parted

    def spelled(self, node: int) -> str:
        """The state in a line."""
        cells = zip(self.session.definition.variables, self.graph.states[node], strict=True)
        return ", ".join(f"{variable.name} = {spell(cell)}" for variable, cell in cells)
