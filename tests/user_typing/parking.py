"""A user's model in another file of another project: what mypy must infer of it, line by line."""

from enum import Enum
from typing import Annotated, ClassVar, Self, assert_type

from falsework import (
    Below,
    Countdown,
    Length,
    Map,
    Model,
    Record,
    Row,
    Seq,
    Set,
    action,
    bound,
    configuration,
    count,
    elapse,
    fault,
    first,
    given,
    implies,
    initial,
    internal,
    invariant,
    reachable,
    replace,
    require,
    rows,
    terminal,
    tick,
    twin,
)

Place = Annotated[int, Below("PLACES")]
Paid = Annotated[int, Countdown("HOURS")]


class Kind(Enum):
    CAR = 1
    BIKE = 2


class Car(Record):
    kind: Kind
    paid: Paid = 0
    seen: bool = False


class Tariff(Row):
    hours: int


class Parking(Model):
    """A car park whose warden looks at every car."""

    PLACES: ClassVar[int] = 2
    HOURS: ClassVar[int] = 2

    free: Place | None = 0
    parked: Map[Place, Car | None] = Map(None)
    marks: Map[tuple[Kind, Place], bool] = Map(False)
    queue: Annotated[Seq[Kind], Length("PLACES")] = Seq()
    seen: Set[Place] = Set()

    def paid_at(self, place: Place) -> Paid:
        car = self.parked[place]
        assert_type(car, Car | None)
        return 0 if car is None else car.paid

    @initial
    def start(self, place: Place) -> None:
        self.free = place

    @action
    def enter(self, kind: Kind) -> Place:
        place = given(self.free)
        assert_type(place, int)
        require(self.parked[place] is None)
        self.parked[place] = Car(kind, paid=self.HOURS)
        return place

    @internal(source="parking 1")
    def look(self, place: Place) -> None:
        car = given(self.parked[place])
        assert_type(car, Car)
        seen = replace(car, seen=True)
        assert_type(seen, Car)
        self.parked[place] = seen
        self.seen.add(place)

    @fault
    def forget(self) -> None:
        bound(len(self.queue) < 2)
        self.queue.append(Kind.CAR)
        assert_type(self.queue[0], Kind)
        assert_type(self.queue.pop_first(), Kind)

    @tick
    def hour(self) -> None:
        elapse(self)

    @rows([Tariff("day", "tariffs.yaml", 1, hours=2)])
    def pay(self, row: Tariff, place: Place) -> None:
        car = given(self.parked[place])
        self.parked[place] = replace(car, paid=min(row.hours, self.HOURS))

    @invariant
    def what_is_seen_is_there(self) -> bool:
        assert_type(first(p for p, car in self.parked.items() if car is not None), int | None)
        assert_type(count(car is None for car in self.parked.values()), int)
        assert_type(list(self.marks), list[tuple[Kind, int]])
        return all(self.parked[place] is not None for place in self.seen)

    @invariant(on=enter, source=("parking 2", "parking 3"))
    def who_enters_has_paid(self, before: Self, kind: Kind, answer: Place) -> bool:
        assert_type(before.paid_at(answer), int)
        return implies(before.parked[answer] is None, self.paid_at(answer) > 0)

    @reachable
    def all_are_seen(self) -> bool:
        return len(self.seen) == self.PLACES

    @terminal
    def nobody_queues(self) -> bool:
        return not self.queue


@configuration(holds=True)
class OnePlace(Parking):
    PLACES = 1


@configuration(breaks={Parking.who_enters_has_paid: 1})
class NoHours(Parking):
    HOURS = 0


@twin(
    breaks={Parking.who_enters_has_paid: 1, Parking.all_are_seen: None}, within=OnePlace, source="parking 4"
)
class FreeEntry(Parking):
    """Whoever enters is believed to have paid."""

    def enter(self, kind: Kind) -> Place:
        place = given(self.free)
        self.parked[place] = Car(kind)
        return place


def steps() -> None:
    twin_of_it = FreeEntry()
    assert_type(twin_of_it, FreeEntry)
    assert_type(twin_of_it.enter(Kind.BIKE), int)
    assert_type(OnePlace.PLACES, int)
    assert_type(OnePlace().parked, Map[int, Car | None])
