"""One path of a subject, step by step: what it breaks, where it departs, what it is refused."""

from dataclasses import dataclass, field

from falsework.conformance.breaches import Breaches, _Search
from falsework.conformance.finding import NamedSubject, driven_definition
from falsework.conformance.session import Session
from falsework.state import State
from falsework.trace import starts


@dataclass
class Walked:
    """What came of each step of the path."""

    broken: list[tuple[str, ...]] = field(default_factory=list)
    departs: str = ""
    refused: list[int] = field(default_factory=list)  # the steps that were refused, counted from 1


def steps_of(path: str) -> list[str]:
    """The steps as they are printed."""
    return [f"{step})" for step in path.replace(") ", ")\n").replace(")", "").splitlines()]


def walked(cls: type, path: str) -> Walked:
    """The path from the start of a new subject of that class; a step that the model disables is tried too."""
    subject = NamedSubject(cls.__name__, cls)
    definition = driven_definition(subject)
    made = subject.made()
    session = Session(made, definition)
    search = _Search(session, Breaches(cls.__name__, made.surface, definition), None)
    found = Walked()
    try:
        assert search.begin(next(iter(starts(definition))))
        for number, step in enumerate(steps_of(path), 1):
            state: State = search.taken[-1].state
            known = {str(label): expected for label, (_, expected) in search.enabled(state).items()}
            if step in known:
                found.broken.append(search.walk(known[step]).broken)
                continue
            label = next(label for _, label in search.labels if str(label) == step)
            if session.ask(label).word == "refused":
                found.refused.append(number)
            found.broken.append(())
        found.departs = search.departs
    finally:
        session.close()
    return found
