"""The model's steps as a log asks for them, each taken on the class once, and which invariants it breaks."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from falsework.conformance.observed_log import UNSAID, Event
from falsework.conformance.observed_packed import AtFault, Packed, packed
from falsework.definition import Action, Definition
from falsework.errors import CutByBound, EngineFailed
from falsework.judge import applies, judge, step_arguments
from falsework.state import State
from falsework.trace import Label, instances, starts, take

Move = tuple[int, int]
"""Where a step leads, a state by its number, and the invariants that it breaks, a bit each."""


@dataclass(frozen=True)
class Step:
    """A step from one state: its label and answer, where it leads, what it breaks."""

    label: Label
    answer: Any
    target: int
    broken: int


@dataclass(frozen=True)
class Blocked:
    """A step that is not there, and how: disabled, cut by a bound, or out of its domain."""

    label: Label
    how: str
    text: str = ""


MEMO = 1 << 20
"""How many answers of a kind are remembered; then that kind begins anew."""
PACKED_AFTER = 10_000
"""After so many steps on the class the model is lowered, which takes some seconds where it is large."""


class Steps:
    """States by number; a step or a judgement that was asked for before is not executed again.

    A log that asks for many steps has them counted over packed states, as the fast engine does, but for those
    that a line tells: these are always executed on the class.
    """

    def __init__(
        self, definition: Definition, hidden: tuple[Action, ...], *, packed_after: int = PACKED_AFTER
    ) -> None:
        self.definition = definition
        self.hidden = hidden
        self.packed: Packed | None = None
        self.packed_after = packed_after
        self._states: list[State | None] = []
        self._words: list[int] = []  # of each state, once they are packed
        self._by_word: dict[int, int] = {}
        self.cut_at: set[int] = set()  # where a bound of the model cuts some step that was asked for
        self._numbers: dict[State, int] = {}
        self._broken_in: dict[int, int] = {}
        self._taken: dict[tuple[int, str, tuple[Any, ...]], Step | Blocked] = {}
        self._hidden: dict[int, tuple[Move, ...]] = {}
        self._explained: dict[tuple[int, tuple[Any, ...]], tuple[Move, ...]] = {}
        self._labels: dict[tuple[Any, ...], tuple[Label, ...]] = {}
        self._bits = {prop.name: 1 << place for place, prop in enumerate(definition.invariants)}
        self._hidden_labels = [(a, label) for a in hidden for label in instances(definition, a)]
        self.seen = [a for a in definition.actions if a not in hidden]

    @property
    def every_invariant(self) -> int:
        """The bits of all of them."""
        return (1 << len(self._bits)) - 1

    def names(self, bits: int) -> list[str]:
        """The invariants of those bits."""
        return [name for name, bit in self._bits.items() if bits & bit]

    def number(self, state: State) -> int:
        """The state's number, given to it where it is new."""
        if self.packed is not None:
            return self._of_word(self.packed.packing.pack(state), state)
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self._states)
            self._states.append(state)
        return found

    def state(self, number: int) -> State:
        """The state of that number."""
        found = self._states[number]
        if found is None:
            assert self.packed is not None, "a state that is not packed stands there as it is"
            found = self._states[number] = self.packed.packing.unpack(self._words[number])
        return found

    @property
    def met(self) -> int:
        """How many states were met."""
        return len(self._states)

    @property
    def states(self) -> Iterator[State]:
        """All that were met, in the order of their numbers."""
        return map(self.state, range(len(self._states)))

    def _of_word(self, word: int, state: State | None = None) -> int:
        found = self._by_word.get(word)
        if found is None:
            found = self._by_word[word] = len(self._states)
            self._states.append(state)
            self._words.append(word)
        return found

    def _pack_if_many(self) -> None:
        """From here on the states are words, if so many steps were asked for that lowering pays."""
        if self.packed is None and len(self._taken) >= self.packed_after:
            self.packed = packed(self.definition, self._bits)
            self.packed_after = sys.maxsize
            if self.packed is not None:
                self._words = [self.packed.packing.pack(state) for state in self._numbers]
                self._by_word = {word: number for number, word in enumerate(self._words)}
                self._numbers = {}

    def begins(self) -> Iterator[Move]:
        """The initial states, each with what it breaks."""
        for taken in starts(self.definition):
            if not taken.outside:
                number = self.number(taken.state)
                yield number, self._state_breaks(number)

    # --- one step

    def taken(self, state: int, action: Action, label: Label) -> Step | Blocked:
        """The step from that state, or why there is none. Raises Faulted."""
        key = (state, label.action, label.arguments)
        found = self._taken.get(key)
        if found is None:
            _forget(self._taken)
            found = self._taken[key] = self._take(state, action, label)
        return found

    def _take(self, state: int, action: Action, label: Label) -> Step | Blocked:
        if self.packed is not None and self.packed.disabled(self._words[state], label):
            return Blocked(label, "disabled")
        before = self.state(state)
        try:
            taken = take(self.definition, action, before, label)
        except CutByBound as cut:
            self.cut_at.add(state)
            return Blocked(label, "cut", str(cut))
        if taken is None:
            return Blocked(label, "disabled")
        if taken.outside:
            return Blocked(label, "outside", taken.outside)
        target = self.number(taken.state)
        broken = self._state_breaks(target)
        known = step_arguments(action, label, taken.answer, before)
        for prop in self.definition.invariants:
            if applies(prop, action) and not judge(self.definition, prop, taken.state, known, times=1)[0]:
                broken |= self._bits[prop.name]
        return Step(label, taken.answer, target, broken)

    def _state_breaks(self, number: int) -> int:
        found = self._broken_in.get(number)
        if found is None and self.packed is not None:
            found = self.packed.broken_in(self._words[number])
        if found is None:
            found = sum(
                self._bits[prop.name]
                for prop in self.definition.invariants
                if prop.kind == "state" and not judge(self.definition, prop, self.state(number), times=1)[0]
            )
        self._broken_in[number] = found
        return found

    # --- many

    def hidden_from(self, state: int) -> tuple[Move, ...]:
        """Where the steps that go unlogged lead from that state, itself left out."""
        found = self._hidden.get(state)
        if found is None:
            moves = [(step.target, step.broken) for step in self.hidden_steps(state)]
            _forget(self._hidden)
            found = self._hidden[state] = tuple(dict.fromkeys(moves))
        return found

    def hidden_steps(self, state: int) -> Iterator[Step]:
        """The steps from that state that go unlogged."""
        self._pack_if_many()
        if self.packed is not None:
            yield from self._packed_steps(state, self.packed)
            return
        for action, label in self._hidden_labels:
            step = self.taken(state, action, label)
            if isinstance(step, Step):
                yield step

    def _packed_steps(self, state: int, functions: Packed) -> Iterator[Step]:
        """Likewise; an answer that nobody asked for is left out."""
        try:
            for found in functions.steps(self._words[state], self._hidden_labels):
                if found is None:
                    self.cut_at.add(state)
                    continue
                _, label, word, broken = found
                target = self._of_word(word)
                yield Step(label, None, target, broken | self._state_breaks(target))
        except AtFault as fault:
            take(self.definition, fault.action, self.state(state), fault.label)
            raise EngineFailed(
                f"{fault.label} is at fault over packed states, and is not on the class"
            ) from None

    def explained(self, state: int, event: Event) -> tuple[Move, ...]:
        """Where the event may lead from that state, as far as its line says; nowhere where it cannot be."""
        key = (state, event.pattern)
        found = self._explained.get(key)
        if found is None:
            _forget(self._explained)
            found = self._explained[key] = tuple(dict.fromkeys(self._moves(state, event)))
        return found

    def _moves(self, state: int, event: Event) -> Iterator[Move]:
        shown = event.shown
        stays = event.action is None and not event.anything
        if event.unknown or stays or (event.refused and self.refuses(state, event)):
            if all(one.fits(self.state(state)) for one in shown):
                yield state, 0
            if stays:
                return
        if event.refused:
            return
        for step in self.answered(state, event):
            if all(one.fits(self.state(step.target)) for one in shown):
                yield step.target, step.broken

    def answered(self, state: int, event: Event) -> Iterator[Step]:
        """The steps that the event may be, by action, arguments and answer."""
        for action, label in self.labels(event):
            step = self.taken(state, action, label)
            if isinstance(step, Step) and event.answer in (UNSAID, step.answer):
                yield step

    def refuses(self, state: int, event: Event) -> bool:
        """Whether some step that the event may be is disabled there."""
        found = (self.taken(state, action, label) for action, label in self.labels(event))
        return any(isinstance(step, Blocked) and step.how == "disabled" for step in found)

    def labels(self, event: Event) -> Iterator[tuple[Action, Label]]:
        """Every step's name that the event may stand for."""
        if event.action is None:
            for action in self.seen:
                yield from ((action, label) for label in instances(self.definition, action))
            return
        key = (event.action.name, tuple(event.arguments.items()))
        if key not in self._labels:
            values = [
                (event.arguments[name],) if name in event.arguments else tuple(domain.values())
                for name, domain in event.action.parameters
            ]
            self._labels[key] = tuple(
                Label(event.action.name, chosen) for chosen in itertools.product(*values)
            )
        yield from ((event.action, label) for label in self._labels[key])


def _forget(memo: dict[Any, Any]) -> None:
    """What is remembered stays within bounds: it can be asked for again."""
    if len(memo) >= MEMO:
        memo.clear()
