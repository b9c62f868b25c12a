"""The language by itself: a model's instance is one state, and calling its actions takes steps."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import pytest

from falsework import (
    Below,
    Between,
    Countdown,
    Elapsed,
    Length,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    bound,
    count,
    disabled,
    elapse,
    first,
    given,
    implies,
    initial,
    invariant,
    reachable,
    replace,
    require,
    tick,
)
from falsework.annotations import constant_value, size
from falsework.definition import Variable, definition_of
from falsework.domains import Domain, EnumOf, Int, OptionOf, RecordOf
from falsework.errors import CutByBound, DefinitionError, Disabled, ModelFault

Bed = Annotated[int, Below("BEDS")]
Rest = Annotated[int, Countdown("LONGEST")]
Age = Annotated[int, Elapsed("LONGEST - 1")]


class Ward(Enum):
    NORTH = "north"
    SOUTH = "south"


class Guest(Record):
    ward: Ward
    rest: Rest = 0
    age: Age | None = None


class House(Model):
    """A house with beds, whose guests stay for a while."""

    BEDS: ClassVar[int] = 3
    LONGEST: ClassVar[int] = 4

    open: bool = True
    last: Bed | None = None
    chill: Annotated[int, Between(-2, "BEDS")] = 0
    rest: Rest = 4
    since: Age = 0
    pause: Rest | None = None
    best: Guest = Guest(Ward.NORTH, rest=2, age=1)
    guests: Map[Bed, Guest | None] = Map(None)
    spare: Map[Bed, Guest | None] = Map(None)
    stays: Map[tuple[Ward, Bed], Rest] = Map(1)
    queue: Annotated[Seq[Bed], Length("BEDS")] = Seq()
    waits: Annotated[Seq[Age], Length(2)] = Seq([0, 2])
    clean: Set[Bed] = Set([2, 0])
    wards: Set[Ward] = Set()

    @action
    def enter(self, bed: Bed, ward: Ward) -> Bed:
        require(self.open and self.guests[bed] is None)
        self.guests[bed] = Guest(ward, rest=self.LONGEST)
        self.last = bed
        return bed

    @action
    def call(self) -> None:
        bed = given(self.last)
        bound(len(self.queue) < 2)
        self.queue.append(bed)

    @action
    def close(self) -> None:
        if not self.open:
            disabled()
        self.open = False

    @tick
    def pass_time(self) -> None:
        require(self.rest > 0)
        elapse(self)


# --- an instance is a state ----------------------------------------


def test_an_instance_starts_with_the_initial_values() -> None:
    house = House()
    assert (house.open, house.last, house.chill) == (True, None, 0)
    assert list(house.guests.items()) == [(0, None), (1, None), (2, None)]
    assert list(house.clean) == [0, 2]


def test_two_instances_share_nothing() -> None:
    one, other = House(), House()
    one.enter(1, Ward.SOUTH)
    one.queue.append(0)
    one.clean.add(1)
    assert other == House()


def test_an_action_takes_its_step_and_gives_its_answer() -> None:
    house = House()
    assert house.enter(1, Ward.SOUTH) == 1
    assert house.guests[1] == Guest(Ward.SOUTH, rest=4)
    assert house.last == 1


def test_a_false_guard_disables() -> None:
    house = House()
    house.enter(1, Ward.SOUTH)
    with pytest.raises(Disabled):
        house.enter(1, Ward.NORTH)


def test_given_disables_where_there_is_nothing() -> None:
    with pytest.raises(Disabled):
        House().call()


def test_given_of_zero_is_zero() -> None:
    assert given(0) == 0


def test_disabled_disables() -> None:
    house = House()
    house.close()
    with pytest.raises(Disabled):
        house.close()


def test_bound_cuts_and_names_its_line() -> None:
    house = House()
    house.enter(0, Ward.NORTH)
    house.call()
    house.call()
    with pytest.raises(CutByBound) as caught:
        house.call()
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[caught.value.place.line - 1].strip() == "bound(len(self.queue) < 2)"


def test_a_state_reads_well() -> None:
    class Small(Model):
        seen: Set[Bed] = Set([1])
        row: Annotated[Seq[bool], Length(2)] = Seq([True])
        table: Map[bool, Bed] = Map(0)
        BEDS: ClassVar[int] = 2

        @action
        def wait(self) -> None:
            require(self.row[0])

    assert repr(Small()) == "Small(seen=Set([1]), row=Seq([True]), table=Map({False: 0, True: 0}))"
    assert repr(Map(0)) == "Map(0)"
    assert repr(Set([1])) == "Set([1])"
    assert repr(Guest(Ward.NORTH)) == "Guest(ward=<Ward.NORTH: 'north'>, rest=0, age=None)"


def test_states_are_equal_when_their_variables_are() -> None:
    one, other = House(), House()
    assert one == other
    other.clean.discard(0)
    assert one != other
    assert one != "House()"


def test_a_state_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(House())


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(AttributeError, match="House has no state variable opne; it has open, last, chill"):
        House().opne = True
    with pytest.raises(AttributeError, match="the state variable open cannot be deleted"):
        del House().open


# --- values, not references ----------------------------------------


def test_assigning_a_map_copies_its_cells() -> None:
    house = House()
    house.enter(0, Ward.NORTH)
    house.spare = house.guests
    house.guests[0] = None
    assert house.spare[0] == Guest(Ward.NORTH, rest=4)
    assert house.guests[0] is None


def test_a_fresh_collection_takes_the_keys_of_the_variable() -> None:
    house = House()
    house.guests = Map(Guest(Ward.SOUTH))
    house.clean = Set([1])
    house.queue = Seq([2, 2])
    house.queue.append(0)
    assert [bed for bed, guest in house.guests.items() if guest == Guest(Ward.SOUTH)] == [0, 1, 2]
    assert (list(house.clean), list(house.queue)) == ([1], [2, 2, 0])


@pytest.mark.parametrize("value", [None, 3, {0: None}, Set(), Seq()])
def test_a_map_never_becomes_something_else(value: Any) -> None:
    with pytest.raises(ModelFault, match="guests is a Map and cannot become"):
        House().guests = value


def test_a_map_over_other_keys_does_not_fit() -> None:
    house = House()
    with pytest.raises(ModelFault, match="guests cannot become a Map over other keys"):
        house.guests = house.stays  # type: ignore[assignment]


def test_a_record_is_frozen_and_replaced() -> None:
    guest = Guest(Ward.NORTH)
    assert replace(guest, rest=3) == Guest(Ward.NORTH, rest=3)
    with pytest.raises(ModelFault, match=r"replace\(Guest, …\): .*'wardd'"):
        replace(guest, wardd=Ward.SOUTH)
    with pytest.raises(AttributeError):
        guest.rest = 1  # type: ignore[misc]


def test_a_record_may_be_called_a_dataclass_besides() -> None:
    @dataclass(frozen=True)
    class Key(Record):
        worn: bool = False

    assert (Key(), hash(Key())) == (Key(worn=False), hash(Key(False)))
    with pytest.raises(AttributeError):
        Key().worn = True  # type: ignore[misc]


def test_the_initial_values_of_a_class_never_change() -> None:
    for change in (lambda: House.queue.append(1), lambda: House.clean.add(1), lambda: House.guests[0]):
        with pytest.raises(ModelFault, match="initial value of a class"):
            change()  # type: ignore[no-untyped-call]


# --- keys and indices ----------------------------------------


def test_a_key_outside_the_domain_is_a_fault() -> None:
    house = House()
    with pytest.raises(ModelFault, match="key 3 is outside the map's domain"):
        house.guests[3]
    with pytest.raises(ModelFault, match="key 3 is outside the map's domain"):
        house.guests[3] = None
    with pytest.raises(ModelFault, match="3 is outside the set's domain"):
        house.clean.add(3)
    with pytest.raises(ModelFault, match="3 is outside the set's domain"):
        3 in house.clean  # noqa: B015


def test_an_index_outside_a_sequence_is_a_fault() -> None:
    house = House()
    house.queue.append(2)
    for index in (-1, 1):
        with pytest.raises(ModelFault, match=f"index {index} is outside a sequence of length 1"):
            house.queue[index]
        with pytest.raises(ModelFault, match=f"index {index} is outside a sequence of length 1"):
            house.queue[index] = 0


def test_the_first_of_nothing_is_a_fault() -> None:
    with pytest.raises(ModelFault, match="pop_first of an empty sequence"):
        House().queue.pop_first()


def test_a_sequence_is_first_in_first_out() -> None:
    house = House()
    for bed in (2, 0, 1):
        house.queue.append(bed)
    assert house.queue.pop_first() == 2
    house.queue[0] = 1
    assert (list(house.queue), len(house.queue), 0 in house.queue) == ([1, 1], 2, False)


def test_everything_is_met_in_the_order_of_its_domain() -> None:
    house = House()
    for ward in (Ward.SOUTH, Ward.NORTH):
        house.wards.add(ward)
    house.clean.add(1)
    assert list(house.wards) == [Ward.NORTH, Ward.SOUTH]
    assert list(house.clean) == [0, 1, 2]
    assert list(house.stays)[:4] == [(Ward.NORTH, 0), (Ward.NORTH, 1), (Ward.NORTH, 2), (Ward.SOUTH, 0)]


def test_a_loop_may_change_what_it_goes_over_at_its_current_key() -> None:
    class Cleaning(House):
        def wake(self, stay: tuple[Ward, Bed]) -> None:
            self.stays[stay] = 2

        @action
        def clean_all(self) -> None:
            for bed in self.clean:
                self.clean.discard(bed)
            for bed, guest in self.guests.items():
                if guest is None:
                    self.guests[bed] = Guest(Ward.NORTH)
            for ward, bed in self.stays:
                self.stays[ward, bed] = 0
            for stay in self.stays:
                self.wake(stay)
            for place, _ in enumerate(self.waits):
                self.waits[place] = 0

    house = Cleaning()
    house.clean_all()
    assert (len(house.clean), count(guest is None for guest in house.guests.values())) == (0, 0)
    assert (set(house.stays.values()), list(house.waits)) == ({2}, [0, 0])


# --- time ----------------------------------------


def test_elapse_moves_every_clock_wherever_it_stands() -> None:
    house = House()
    house.pause = 1
    house.enter(1, Ward.NORTH)
    house.pass_time()
    # A countdown falls by one, an elapsed time grows by one up to its cap, here 4 - 1.
    assert (house.rest, house.since, house.pause) == (3, 1, 0)
    assert house.best == Guest(Ward.NORTH, rest=1, age=2)
    assert [house.guests[bed] for bed in (0, 1)] == [None, Guest(Ward.NORTH, rest=3)]
    assert set(house.stays.values()) == {0}
    assert list(house.waits) == [1, 3]


def test_a_countdown_rests_at_zero_and_an_elapsed_time_at_its_cap() -> None:
    house = House()
    for _ in range(4):
        house.pass_time()
    assert (house.rest, house.since, house.best.rest, house.best.age) == (0, 3, 0, 3)
    assert list(house.waits) == [3, 3]
    with pytest.raises(Disabled):
        house.pass_time()


def test_nothing_that_is_no_clock_moves() -> None:
    house, before = House(), House()
    house.pass_time()
    assert (house.open, house.chill, house.queue, house.clean) == (True, 0, before.queue, before.clean)


# --- words of predicates ----------------------------------------


def test_the_words() -> None:
    assert [implies(p, q) for p in (False, True) for q in (False, True)] == [True, True, False, True]
    assert first(bed for bed in (1, 2) if bed > 1) == 2
    assert first(bed for bed in (1, 2) if bed > 2) is None
    assert count(bed > 1 for bed in (1, 2, 3)) == 2


# --- domains and definitions ----------------------------------------


def domain_of(name: str) -> Domain:
    found: list[Variable] = [v for v in definition_of(House).variables if v.name == name]
    domain = found[0].domain
    assert isinstance(domain, Int | EnumOf | OptionOf | RecordOf)
    return domain


def test_the_values_of_a_domain_are_in_order() -> None:
    assert list(domain_of("last").values()) == [None, 0, 1, 2]
    assert list(domain_of("chill").values()) == [-2, -1, 0, 1, 2, 3]
    guests = list(domain_of("best").values())
    # Two wards, five rests, and four ages or none; the first field is the slowest.
    assert len(guests) == size(domain_of("best")) == 2 * 5 * 5
    assert guests[:2] == [Guest(Ward.NORTH), Guest(Ward.NORTH, age=0)]
    assert guests[-1] == Guest(Ward.SOUTH, rest=4, age=3)


@pytest.mark.parametrize(
    "bound_, value",
    [
        ("BEDS", 3),
        ("BEDS + max(LAG, 0) * 2", 5),
        ("min(BEDS, 2, LAG)", 1),
        ("-BEDS // 2", -2),
        ("BEDS % 2", 1),
        (7, 7),
    ],
)
def test_a_bound_is_an_expression_over_constants(bound_: str | int, value: int) -> None:
    assert constant_value(bound_, {"BEDS": 3, "LAG": 1}) == value


def test_a_bound_follows_the_constants_of_a_subclass() -> None:
    class Inn(House):
        BEDS = 4

    assert [str(p) for _, p in definition_of(Inn).actions[0].parameters] == ["0..3", "Ward"]
    assert list(Inn().guests) == [0, 1, 2, 3]
    assert list(House().guests) == [0, 1, 2]


def test_a_definition_lists_what_the_class_says() -> None:
    definition = definition_of(House)
    assert [(a.name, a.kind) for a in definition.actions] == [
        ("enter", "action"),
        ("call", "action"),
        ("close", "action"),
        ("pass_time", "tick"),
    ]
    assert definition.constants == {"BEDS": 3, "LONGEST": 4}
    assert definition.actions[0].answer == Int(0, 2)
    assert definition_of(House) is definition


def test_an_override_inherits_its_kind_and_what_it_is_on() -> None:
    class Watched(House):
        @invariant(on=House.enter)
        def the_last_is_in(self, bed: Bed, answer: Bed) -> bool:
            return self.last == bed == answer

        @invariant
        def the_last_stays(self, before: Self) -> bool:
            return self.last is not None or before.last is None

        @reachable
        def someone_is_in(self) -> bool:
            return self.last is not None

        @initial
        def start(self, bed: Bed) -> None:
            require(bed > 0)
            self.clean.add(bed)

    class Other(Watched):
        def the_last_is_in(self, bed: Bed, answer: Bed) -> bool:
            return answer == bed

        def close(self) -> None:
            self.open = False

    definition = definition_of(Other)
    on = [(p.name, p.kind, p.on, p.arguments) for p in definition.invariants]
    assert on == [
        ("the_last_is_in", "step", "enter", ("bed", "answer")),
        ("the_last_stays", "step", None, ("before",)),
    ]
    assert [a.kind for a in definition.actions if a.name == "close"] == ["action"]
    assert [w.name for w in definition.witnesses] == ["someone_is_in"]
    assert [a.name for a in definition.initials] == ["start"]


def test_the_digest_changes_with_the_meaning_alone() -> None:
    class Inn(House):
        BEDS = 4

    class Copy(House):
        """The same house, described in other words."""

    def digest(cls: type[Model]) -> str:
        cls.__qualname__ = "House"
        return definition_of(cls).digest

    assert digest(Copy) == digest(House) != digest(Inn)


def test_a_model_that_is_no_model_cannot_be_made() -> None:
    with pytest.raises(DefinitionError, match="M000 Model is no model"):
        Model()
