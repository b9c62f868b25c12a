"""A described model for every seed: its actions first, then properties, chosen by what the oracle reaches."""

from typing import Any

import oracle
from evaluate import Description, Frame, Wrong, run, thawed
from model_text import annotation
from oracle import Found, TooLarge
from random_expressions import Expression, Scope
from random_models import Models

SIZES = {"large": (6_000, 200, 2), "middle": (1_800, 40, 1), "small": (240, 7, 0)}
"""The most executions of actions that a search may take, the fewest states, the number of dials."""


def size(seed: int) -> str:
    """One model in a hundred is large, four are middling; the others keep the suite quick."""
    return "large" if seed % 100 == 0 else "middle" if seed % 50 in {20, 40} else "small"


def drawn(seed: int) -> Description:
    """The seed's model: the first draw that is neither too large nor too small."""
    most, least, more = SIZES[size(seed)]
    for attempt in range(400):
        draw = Models(seed * 1_000 + attempt, more)
        about = draw.describe()
        try:
            found = oracle.search(about, limit=most)
        except TooLarge:
            continue
        wanted = 0.6 if found.fault is not None else 0.4 if "deadlock" in found.violations else 0.05
        if found.states >= least or (more == 0 and found.states > 2 and draw.chance(wanted)):
            Properties(draw, found).draw()
            return about
    raise AssertionError(f"seed {seed} draws nothing of its size")


class Properties:
    """Draws the invariants, witnesses and terminal predicates of a model whose states are known."""

    def __init__(self, draw: Models, found: Found) -> None:
        self.draw_one = draw
        self.about = draw.about
        self.states = list(found.reached)
        self.edges = found.edges
        self.stuck = "deadlock" in found.violations

    def draw(self) -> None:
        draw, about = self.draw_one, self.about
        for _ in range(draw.pick((0, 1, 1, 2))):
            self.invariant(broken=draw.chance(0.5), step=False)
        for _ in range(draw.pick((0, 0, 1, 1))):
            self.invariant(broken=draw.chance(0.45), step=True)
        for kind, letter, times in (
            ("witnesses", "w", draw.pick((0, 0, 1, 1, 2))),
            ("terminals", "t", int(self.stuck)),
        ):
            for _ in range(times):
                if kind == "witnesses" or draw.chance(0.6):
                    about[kind].append(self.property(letter, Scope(), {"kind": kind}))

    def property(self, letter: str, scope: Scope, about: dict[str, Any]) -> dict[str, Any]:
        return {
            "on": None,
            "signature": [],
            **about,
            "name": self.draw_one.name(letter),
            "body": self.draw_one.predicate(scope),
        }

    def invariant(self, *, broken: bool, step: bool) -> None:
        """One that is broken somewhere, but not at once, or one that holds; none if a few draws give none."""
        late = self.draw_one.chance(0.8)
        for _ in range(12):
            prop = self.step_invariant() if step else self.state_invariant()
            answers = self.answers(prop)
            wrong = answers.count(False)
            early = False in answers[: len(answers) // 2 if late and not step else not step]
            if None in answers and not self.draw_one.chance(0.4):
                continue
            if (wrong > 0) == broken and not early:
                self.about["invariants"].append(prop)
                return

    def state_invariant(self) -> dict[str, Any]:
        return self.property("inv", Scope(predicate=True), {"kind": "state"})

    def step_invariant(self) -> dict[str, Any]:
        draw = self.draw_one
        scope = Scope(before=draw.chance(0.8), predicate=True)
        signature = [", before: Self"] if scope.before else []
        action = draw.pick(self.about["actions"]) if not scope.before or draw.chance(0.5) else None
        answering = [action for action in self.about["actions"] if action["answer"]]
        if answering and draw.chance(0.6):
            action = draw.pick(answering)
        if action is not None:
            given = [*action["parameters"], *([("answer", action["answer"])] if action["answer"] else [])]
            scope.locals = [(("local", name), domain) for name, domain in given] * 2
            signature += [f", {name}: {annotation(domain)}" for name, domain in given]
        on = action["name"] if action is not None else None
        return self.property("inv", scope, {"kind": "step", "on": on, "signature": signature})

    def answers(self, prop: dict[str, Any]) -> list[bool | None]:
        """What the predicate says of the states or steps, the first of them first; None where it faults."""
        if prop["kind"] == "state":
            return [self.answer(prop, state, None, {}) for state in self.states[:150]]
        found = []
        for before, action, arguments, answer, after in self.edges[:150]:
            if prop["on"] in (None, action["name"]):
                names = [name for name, _ in action["parameters"]]
                local = dict(zip(names, arguments, strict=True)) | {"answer": answer}
                found.append(self.answer(prop, after, before, local))
        return found

    def answer(
        self,
        prop: dict[str, Any],
        state: tuple[Any, ...],
        before: tuple[Any, ...] | None,
        local: dict[str, Any],
    ) -> bool | None:
        frame = Frame(self.about, self.thawed(state), {} if before is None else self.thawed(before), local)
        try:
            answered: Expression | None = run(prop["body"], frame)
        except Wrong:
            return None
        return answered is not None and bool(answered[0])

    def thawed(self, state: tuple[Any, ...]) -> dict[str, Any]:
        pairs = zip(self.about["variables"], state, strict=True)
        return {name: thawed(self.about, domain, cell) for (name, domain, _), cell in pairs}
