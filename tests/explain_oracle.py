"""Whether a log can be explained, asked line by line: nothing is shared with the validator but the class.

A configuration is a state of the model, and which of the events that have begun and not ended have taken
place already. The log is read line by line, and how an event ends is known from its beginning on. The
validator counts events where this counts lines.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from falsework.definition import Definition
from falsework.domains import EnumOf, MapOf, OptionOf
from falsework.state import State
from falsework.trace import Label, instances, starts, take

Done = tuple[Any, State]
"""What a step answers, and where it leads."""

Configuration = tuple[State, frozenset[str]]


class Oracle:
    """The model's steps, remembered, and a log's lines one after another."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.actions = {action.name: action for action in definition.actions}
        self.hidden = [a for a in definition.actions if a.kind in ("internal", "fault", "tick")]
        self.known: dict[tuple[State, Label], Done | None] = {}
        self.after_hidden: dict[State, frozenset[State]] = {}
        self.ends: dict[tuple[str, int], dict[str, Any]] = {}

    def first_unexplained(self, lines: Sequence[str]) -> int | None:
        """The first line of which no explanation of the lines before can give account, if there is one."""
        every = [json.loads(text) for text in lines[1:-1]]
        self.ends = {(line["node"], line["seq"]): line for line in every if not line.get("begun")}
        here: set[Configuration] = {(start.state, frozenset()) for start in starts(self.definition)}
        begun: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(every, 2):
            node = line["node"]
            if line.get("begun"):
                begun[node] = line
                continue
            begun.setdefault(node, line)
            here = set(self.ended(self.grown(here, begun), line))
            del begun[node]
            if not here:
                return number
        return None

    def grown(self, here: set[Configuration], begun: dict[str, dict[str, Any]]) -> set[Configuration]:
        """Everything that may have happened since: hidden steps, and events that have begun."""
        found: set[Configuration] = set()
        waiting = list(here)
        while waiting:
            state, done = configuration = waiting.pop()
            if configuration in found:
                continue
            found.add(configuration)
            waiting += [(other, done) for other in self.hidden_from(state)]
            for node, line in begun.items():
                if node not in done:
                    waiting += [(after, done | {node}) for _, after in self.took(state, line)]
        return found

    def hidden_from(self, state: State) -> frozenset[State]:
        if state not in self.after_hidden:
            labels = [label for action in self.hidden for label in instances(self.definition, action)]
            taken = (self.step(state, label) for label in labels)
            self.after_hidden[state] = frozenset(after for _, after in filter(None, taken))
        return self.after_hidden[state]

    def step(self, state: State, label: Label) -> Done | None:
        if (state, label) not in self.known:
            taken = take(self.definition, self.actions[label.action], state, label)
            self.known[state, label] = None if taken is None else (taken.answer, taken.state)
        return self.known[state, label]

    def took(self, state: State, line: dict[str, Any]) -> Iterator[Done]:
        """What the event does there, for each way to fill in the arguments that it leaves out."""
        action, said = self.actions[line["action"]], line.get("arguments", {})
        values = [
            [v for v in domain.values() if name not in said or as_json(v) == said[name]]
            for name, domain in action.parameters
        ]
        for arguments in itertools.product(*values):
            done = self.step(state, Label(action.name, arguments))
            if done is not None and self.as_it_ends(line, *done):
                yield done

    def as_it_ends(self, line: dict[str, Any], answer: Any, after: State) -> bool:
        """Whether the event's end says so, if it has one."""
        end = self.ends.get((line["node"], line["seq"]), {})
        if "answer" in end and as_json(answer) != end["answer"]:
            return False
        return all(self.shows(after, name, value) for name, value in end.get("observed", {}).items())

    def ended(self, here: set[Configuration], line: dict[str, Any]) -> Iterator[Configuration]:
        """The configurations in which the event that ends here has taken place, or need not have."""
        node = line["node"]
        for state, done in here:
            if node in done or line.get("unknown"):
                yield state, done - {node}

    def shows(self, state: State, name: str, value: Any) -> bool:
        """Whether the variable had that value; of a map only the keys that are named."""
        place = next(i for i, v in enumerate(self.definition.variables) if v.name == name)
        found = state[place]
        domain = self.definition.variables[place].domain
        if isinstance(domain, MapOf):
            cells = {str(as_json(key)): cell for key, cell in zip(domain.key.values(), found, strict=True)}
            return all(as_json(cells[key]) == item for key, item in value.items())
        assert isinstance(domain, EnumOf | OptionOf) or not isinstance(value, (dict, list))
        return bool(as_json(found) == value)


def as_json(value: Any) -> Any:
    """A member by its name; the numbers of the lease stand for themselves."""
    return getattr(value, "name", value)
