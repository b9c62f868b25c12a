"""A queue of one place, whose elements carry the rules of the book beside it."""

from typing import ClassVar

from falsework.language import (
    Model,
    action,
    configuration,
    invariant,
    reachable,
    require,
    terminal,
    twin,
)


class Queue(Model):
    """One item at a time is put and taken."""

    PLACES: ClassVar[int] = 1

    full: bool = False
    closed: bool = False

    def has_room(self) -> bool:
        return not self.full

    @action(source="put 1")
    def put(self) -> None:
        require(self.has_room() and not self.closed)
        self.full = True

    @action(source=("take 1", "take 2"))
    def take(self) -> None:
        require(self.full)
        self.full = False

    @action(source="close 1")
    def close(self) -> None:
        require(not self.closed)
        self.closed = True

    @invariant(on=put, source="put 2")
    def what_is_put_is_there(self, before: "Queue") -> bool:
        return self.full and not before.full

    @invariant(on=close, source="close 2")
    def closing_takes_nothing(self, before: "Queue") -> bool:
        return self.full == before.full

    @reachable(source="close 3")
    def closed_with_an_item(self) -> bool:
        return self.full and self.closed

    @terminal
    def done(self) -> bool:
        return self.closed and not self.full


@configuration(holds=True, source="room 1")
class TwoPlaces(Queue):
    """Another figure."""

    PLACES = 2


@twin(breaks={Queue.what_is_put_is_there: 2}, within=TwoPlaces, source="room 2")
class PutsOver(Queue):
    """What was there is lost."""

    def has_room(self) -> bool:
        return True
