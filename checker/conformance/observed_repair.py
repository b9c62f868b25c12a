"""The nearest change of one event that makes a rejected log explicable, each found by search and verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from falsework.conformance.observed_log import UNSAID, Event, Log
from falsework.conformance.observed_order import INSERTED, Order
from falsework.conformance.observed_search import Limits, Search, Searched
from falsework.conformance.observed_steps import Steps
from falsework.definition import Action
from falsework.domains import spell
from falsework.trace import instances

WINDOW = 24
"""How many lines before the one that is rejected are looked at."""
WORK = 400_000
"""How many candidates are looked at in all; about a second."""
VALUES = 64
TOLD = 4


@dataclass
class Repairs:
    """The nearest changes, each of which explains the whole log; or how far the best of the others leads."""

    found: list[str] = field(default_factory=list)
    furthest: str = ""
    looked: str = ""  # where no more was looked, and why


@dataclass(frozen=True)
class Edit:
    """The events with one of them changed, and how many events stand before the change for certain."""

    text: str
    events: tuple[Event, ...]
    at: tuple[int, ...]  # the places of the events that were moved or changed


class Repairing:
    """The changes of one log, the nearest to the rejected line first."""

    def __init__(self, steps: Steps, log: Log, searched: Searched, limits: Limits) -> None:
        self.steps = steps
        self.log = log
        self.searched = searched
        self.limits = limits
        self.nodes = log.nodes
        self.work = WORK
        self.repairs = Repairs()
        self.best = searched.reached

    def nearest(self, event: Event) -> Repairs:
        """What is found at the smallest distance from that line."""
        place = next((i for i, one in enumerate(self.log.events) if one is event), 0)
        for distance in range(WINDOW):
            at = place - distance
            if at < 0 or self.work <= 0:
                break
            for text in self._at(at, nearest=not distance):
                if text not in self.repairs.found:
                    self.repairs.found.append(text)
                if len(self.repairs.found) == TOLD:
                    break
            if self.repairs.found:
                return self.repairs
        if self.work <= 0:
            self.repairs.looked = "the search for a change ended early: too many candidates"
        else:
            lines = min(place + 1, WINDOW)
            back = (
                f"in line {event.line}" if lines == 1 else f"in line {event.line} and the {lines - 1} before"
            )
            self.repairs.looked = f"no change of one event {back} explains the whole log"
        return self.repairs

    def _at(self, at: int, *, nearest: bool) -> Iterator[str]:
        yield from self._altered(at)
        yield from self._dropped(at)
        yield from self._inserted(at)
        yield from self._swapped(at - 1)
        if nearest:
            yield from self._swapped(at)

    # --- one change

    def _explains(self, edit: Edit) -> bool:
        """Whether the changed log is explained to its end; the one that leads furthest is remembered."""
        order = Order(self.log, edit.events, self.nodes)
        begin = min((order.placed[place].before for place in edit.at if place < order.total), default=None)
        begin = min(order.total, self.searched.reached) if begin is None else begin
        begin = min(begin, self.searched.reached)
        if begin not in self.searched.levels or self.work <= 0:
            return False
        search = Search(self.steps, order, replace(self.limits, work=self.work))
        done = search.run(self.searched.levels[begin], begin)
        self.work -= done.work + 1
        if not done.explained and not done.stop and done.reached > self.best + 1:
            self.best = done.reached
            line = done.front.event.line
            self.repairs.furthest = f"{edit.text}: then line {line} is the first that nothing explains"
        return done.explained

    def _dropped(self, at: int) -> Iterator[str]:
        events = self.log.events
        if len(events) < 2:
            return
        after = tuple(replace(one, began=one.began - (one.began > at)) for one in events[at + 1 :])
        edit = Edit(f"drop line {events[at].line}", (*events[:at], *after), (at,))
        if self._explains(edit):
            yield edit.text

    def _swapped(self, at: int) -> Iterator[str]:
        events = self.log.events
        if at < 0 or at + 1 >= len(events):
            return
        one, two = events[at], events[at + 1]
        if self.log.causal and one.node != two.node:
            return
        swapped = replace(two, began=min(two.began, at)), replace(one, began=at + 1)
        edit = Edit(
            f"swap lines {one.line} and {two.line}", (*events[:at], *swapped, *events[at + 2 :]), (at, at + 1)
        )
        if self._explains(edit):
            yield edit.text

    def _inserted(self, at: int) -> Iterator[str]:
        """A step of any action first, and then which it may be."""
        if self._explains(self._with(at, Event(0, INSERTED, 0, anything=True), "any step")):
            for action in self.steps.seen:
                if not self._explains(self._with(at, Event(0, INSERTED, 0, action), action.name)):
                    continue
                yield self._which(at, action)

    def _with(self, at: int, event: Event, what: str) -> Edit:
        events = self.log.events
        after = tuple(replace(one, began=one.began + (one.began >= at)) for one in events[at:])
        text = f"insert before line {events[at].line}: {what}"
        return Edit(text, (*events[:at], replace(event, began=at), *after), (at,))

    def _which(self, at: int, action: Action) -> str:
        names = [name for name, _ in action.parameters]
        for label in instances(self.steps.definition, action):
            said = dict(zip(names, label.arguments, strict=True))
            edit = self._with(at, Event(0, INSERTED, 0, action, said), str(label))
            if self._explains(edit):
                return edit.text
        return f"insert before line {self.log.events[at].line}: {action.name}"

    # --- another value in one line

    def _altered(self, at: int) -> Iterator[str]:
        """Each thing that the line says left open, and then which values it may have had."""
        event = self.log.events[at]
        for what, said, free, others in self._fields(event):
            if not self._explains(self._changed(at, free, f"{what} is not {said}")):
                continue
            named = [
                (f"{value} instead of {said}", other)
                for value, other in others
                if self._explains(self._changed(at, other, ""))
            ]
            yield f"line {event.line}: {what} {named[0][0] if named else f'is not {said}'}"

    def _changed(self, at: int, event: Event, text: str) -> Edit:
        events = self.log.events
        return Edit(f"line {event.line}: {text}", (*events[:at], event, *events[at + 1 :]), (at,))

    def _fields(self, event: Event) -> Iterator[tuple[str, str, Event, list[tuple[str, Event]]]]:
        """One thing that the line says at a time: name and value, the event without it, and with others."""
        action = event.action
        if action is not None and event.answer is not UNSAID:
            assert action.answer is not None
            answers = [value for value in action.answer.values() if value != event.answer][:VALUES]
            others = [(spell(value), replace(event, answer=value)) for value in answers]
            yield "answer", spell(event.answer), replace(event, answer=UNSAID), others
        if event.refused:
            yield "not", "refused", replace(event, refused=False), []
        for name, domain in action.parameters if action is not None else ():
            if name in event.arguments:
                said = event.arguments[name]
                values = [value for value in domain.values() if value != said][:VALUES]
                bare = {other: value for other, value in event.arguments.items() if other != name}
                others = [(spell(v), replace(event, arguments={**bare, name: v})) for v in values]
                yield name, spell(said), replace(event, arguments=bare), others
        for place, one in enumerate(event.shown):
            variable = self.steps.definition.variables[one.place]
            rest = (*event.shown[:place], *event.shown[place + 1 :])
            seen = dict.fromkeys(one.found(state) for state in self.steps.states)
            values = [value for value in seen if value != one.value][:VALUES]
            others = [
                (one.told(variable, v), replace(event, shown=(*rest, replace(one, value=v)))) for v in values
            ]
            yield one.name, one.told(variable, one.value), replace(event, shown=rest), others
