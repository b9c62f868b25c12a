"""Whether a log can be explained, asked line by line: nothing is shared with the validator but the class.

A configuration is a state of the model, and of each event that has begun and not ended what it did, if it has
taken place already. What an event answers is guessed before its end is read, line by line; the validator
knows it from the beginning, and counts events where this counts lines.
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

Kept = tuple[Any, tuple[Any, ...]]
"""What an event answered, and right after it the variables that the log shows anywhere."""

Configuration = tuple[State, tuple[tuple[str, Kept], ...]]


class Oracle:
    """The model's steps, remembered, and a log's lines one after another."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.actions = {action.name: action for action in definition.actions}
        self.hidden = [a for a in definition.actions if a.kind in ("internal", "fault", "tick")]
        self.known: dict[tuple[State, Label], Done | None] = {}
        self.after_hidden: dict[State, frozenset[State]] = {}
        self.places: list[int] = []
        self.ends: set[tuple[str, int]] = set()

    def first_unexplained(self, lines: Sequence[str]) -> int | None:
        """The first line of which no explanation of the lines before can give account, if there is one."""
        every = [json.loads(text) for text in lines[1:-1]]
        names = {name for line in every for name in line.get("observed", ())}
        self.places = [i for i, v in enumerate(self.definition.variables) if v.name in names]
        self.ends = {(line["node"], line["seq"]) for line in every if not line.get("begun")}
        here: set[Configuration] = {(start.state, ()) for start in starts(self.definition)}
        begun: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(every, 2):
            node = line["node"]
            if line.get("begun"):
                begun[node] = line
                continue
            begun.setdefault(node, line)
            here = set(self.ended(self.grown(here, begun), begun, line))
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
                if node not in dict(done):
                    for step in self.took(state, line):
                        pair = node, self.kept(line, *step)
                        waiting.append((step[1], tuple(sorted([*done, pair], key=_node))))
        return found

    def kept(self, line: dict[str, Any], answer: Any, after: State) -> Kept:
        """What its end may ask of it; nothing where there is none."""
        if (line["node"], line["seq"]) not in self.ends:
            return None, ()
        return answer, tuple(after[place] for place in self.places)

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
            if (done := self.step(state, Label(action.name, arguments))) is not None:
                yield done

    def ended(
        self, here: set[Configuration], begun: dict[str, dict[str, Any]], line: dict[str, Any]
    ) -> Iterator[Configuration]:
        """The configurations in which the event that ends here took place as the line says."""
        node = line["node"]
        for state, every in here:
            done = dict(every)
            rest = tuple(pair for pair in every if pair[0] != node)
            if node not in done:
                if line.get("unknown"):
                    yield state, rest
                continue
            answer, after = done[node]
            if "answer" in line and as_json(answer) != line["answer"]:
                continue
            if all(self.shows(after, name, value) for name, value in line.get("observed", {}).items()):
                yield state, rest

    def shows(self, kept: tuple[Any, ...], name: str, value: Any) -> bool:
        """Whether the variable had that value; of a map only the keys that are named."""
        place = next(i for i, v in enumerate(self.definition.variables) if v.name == name)
        found = kept[self.places.index(place)]
        domain = self.definition.variables[place].domain
        if isinstance(domain, MapOf):
            cells = {str(as_json(key)): cell for key, cell in zip(domain.key.values(), found, strict=True)}
            return all(as_json(cells[key]) == item for key, item in value.items())
        assert isinstance(domain, EnumOf | OptionOf) or not isinstance(value, (dict, list))
        return bool(as_json(found) == value)


def as_json(value: Any) -> Any:
    """A member by its name; the numbers of the lease stand for themselves."""
    return getattr(value, "name", value)


def _node(pair: tuple[str, Kept]) -> str:
    return pair[0]
