"""One subject under a driver: begun, asked, observed, and judged by the model's invariants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from falsework.conformance.invariants import Invariants
from falsework.conformance.projection import Observed, Unreadable, observed, plain, projected, read
from falsework.conformance.subject import RefusedBySubject, Subject, SubjectFault, UnknownOutcome
from falsework.definition import Action, Definition
from falsework.domains import spell
from falsework.state import State
from falsework.trace import Label

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """What came of one step: the answer, or how there is none."""

    word: str  # answered, refused, unknown, raised
    answer: object = None
    text: str = "done"


def _spoken(word: str, said: Exception, own: type[Exception]) -> str:
    """The outcome as a table prints it: with what was said, where the protocol's own exception says it."""
    reason = str(said) if type(said) is own and str(said) else type(said).__name__
    return f"{word} ({reason})"


def _shape(subject: Subject) -> None:
    """Raises SubjectFault for an attribute of the subject that is not what it has to be."""
    for what in ("refuses", "internal"):
        names: object = getattr(subject, what)
        if isinstance(names, str) or not isinstance(names, Collection):
            raise SubjectFault(f'{what} = {names!r}; write a tuple of actions, such as ("acquire",)')
    for what in ("refusals", "unknowns"):
        kinds: object = getattr(subject, what)
        if not isinstance(kinds, tuple) or not all(
            isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds
        ):
            raise SubjectFault(f"{what} = {kinds!r}; write a tuple of exceptions, such as (KeyError,)")


class Session:
    """A subject and its model. Raises SubjectFault for what the adapter does wrong."""

    def __init__(self, subject: Subject, definition: Definition) -> None:
        self.subject = subject
        self.definition = definition
        self.actions = {action.name: action for action in (*definition.initials, *definition.actions)}
        _shape(subject)
        for what, names in (("refuses", subject.refuses), ("internal", subject.internal)):
            if odd := [name for name in names if name not in self.actions]:
                raise SubjectFault(
                    f"{what} names {odd[0]}, which is no action of {definition.name}; "
                    f"one of: {', '.join(self.actions)}"
                )
        self.constants = {key: plain(value) for key, value in definition.constants.items()}
        self.performed = 0
        self.begun = 0
        self.compared = 0
        self.invariants = Invariants(definition)
        self._shown: frozenset[str] | None = None

    # --- the border

    def begin(self, start: Label | None) -> tuple[Outcome, Observed]:
        """The implementation is as new; the initial action, where the model has one, is performed first."""
        self.begun += 1
        self._guarded("begin", lambda: self.subject.begin(self.constants))
        outcome = self.ask(start) if start is not None else Outcome("answered", text="begins")
        return outcome, self.observe()

    def ask(self, label: Label) -> Outcome:
        """The step is performed; whatever the implementation raises is what came of it."""
        action = self.actions[label.action]
        names = [name for name, _ in action.parameters]
        arguments = {name: plain(value) for name, value in zip(names, label.arguments, strict=True)}
        self.performed += 1
        refusals: tuple[type[Exception], ...] = (RefusedBySubject, *self.subject.refusals)
        unknowns: tuple[type[Exception], ...] = (UnknownOutcome, *self.subject.unknowns)
        try:
            answer = self.subject.perform(action.name, arguments)
        except SubjectFault:
            raise
        except refusals as refusal:
            return Outcome("refused", text=_spoken("refused", refusal, RefusedBySubject))
        except unknowns as unknown:
            return Outcome("unknown", text=_spoken("unknown", unknown, UnknownOutcome))
        except (Exception, SystemExit) as problem:  # noqa: BLE001  the implementation's answer, and compared
            return Outcome("raised", text=f"raised {type(problem).__name__}: {problem}")
        if answer is not None and not self.answers(action):
            if action.name in self.subject.internal:
                return Outcome("answered")
            raise SubjectFault(
                f"perform({action.name!r}) answers {answer!r}, but {action.name} has no answer in "
                f"{self.definition.name}; return None, or give the model's action an answer"
            )
        return Outcome("answered", answer, self._spelled(action, answer))

    def answers(self, action: Action) -> bool:
        """Whether the implementation's answer to the action is compared."""
        return action.answer is not None and action.name not in self.subject.internal

    def answer_of(self, action: Action, outcome: Outcome, expected: Any) -> Any:
        """The answer in the model's domain; what is not compared is as expected. Raises Unreadable."""
        return read(action.answer, outcome.answer) if action.answer and self.answers(action) else expected

    def _spelled(self, action: Action, answer: object) -> str:
        if not self.answers(action):
            return "done"
        assert action.answer is not None
        try:
            return spell(read(action.answer, answer))
        except Unreadable:
            return f"{answer!r}"

    def expected_text(self, action: Action, answer: Any) -> str:
        """The model's answer as a table prints it."""
        return spell(answer) if self.answers(action) else "done"

    def observe(self) -> Observed:
        """What the subject shows: the same variables every time, all of them variables of the model."""
        shown: Mapping[str, object] = self._guarded("observe", self.subject.observe)
        seen: object = shown
        if not isinstance(seen, Mapping):
            raise SubjectFault(f"observe() answers {seen!r}; write a mapping of variables to their values")
        if self._shown is None:
            known = [variable.name for variable in self.definition.variables]
            odd = [name for name in shown if name not in known]
            if odd:
                raise SubjectFault(
                    f"observe() shows {odd[0]}, which is no variable of {self.definition.name}; "
                    f"one of: {', '.join(known)}"
                )
            self._shown = frozenset(shown)
            self.invariants.sort(self._shown)
        if shown.keys() != self._shown:
            wanted = ", ".join(sorted(self._shown)) or "nothing"
            raise SubjectFault(f"observe() shows {', '.join(shown) or 'nothing'} and showed {wanted} before")
        self.compared += len(shown)
        return observed(self.definition, shown)

    def close(self) -> None:
        """Nothing is left open."""
        self._guarded("close", self.subject.close)

    def _guarded(self, method: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except SubjectFault:
            raise
        except (Exception, SystemExit) as problem:
            raise SubjectFault(
                f"{method}() of the adapter raised {type(problem).__name__}: {problem}"
            ) from problem

    # --- the model's invariants on the projection

    def broken_by(self, label: Label, answer: Any, was: State, now: State) -> tuple[str, ...]:
        """The observable invariants that are false of the step from one projected state to another."""
        return self.invariants.broken_by(self.actions[label.action], label, answer, was, now)

    def broken_in(self, state: State) -> tuple[str, ...]:
        """The observable state invariants that are false in the projected state."""
        return self.invariants.broken_in(state)

    def seen_as(self, state: State, seen: Observed) -> State:
        """The model's state with what was observed in the place of its own."""
        return projected(self.definition, state, seen)
