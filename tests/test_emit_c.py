"""What is printed as C: its text to the letter, its numbers, and states of several words."""

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from compiled import CHEAP, compiled_with
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.emit_c import FIRST_WORD, WORD, Words
from falsework.errors import Refused
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Map, Model, Upto, action, bound, invariant, reachable, require, terminal
from falsework.lower import lower
from falsework.model_c import ModelSource
from falsework.models.lease import Lease
from falsework.native import native

TRILLION = 1_000_000_000_000


@pytest.fixture(autouse=True)
def cheaply(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with compiled_with(CHEAP, tmp_path_factory.getbasetemp() / "emitted"):
        yield


# --- the text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["poll", "release", "pass_time"])
def test_the_lease_is_printed_to_the_letter(name: str, golden: Callable[[str, str], None]) -> None:
    """The first instance of the action, as a reader of the C would look for it."""
    lowered = lower(definition_of(Lease))
    number = next(n for n, i in enumerate(lowered.instances) if i.action.name == name)
    golden(f"emit_c/lease-{name}", ModelSource(lowered).step(number, lowered.instances[number]) + "\n")


def test_a_model_is_printed_alike_every_time() -> None:
    lowered = lower(definition_of(Lease))
    assert ModelSource(lowered).text == ModelSource(lowered).text


class Stuck(Model):
    """No instance of its action can ever be enabled."""

    here: bool = True

    @action
    def go(self) -> None:
        require(False)

    @terminal
    def it_may_stay(self) -> bool:
        return self.here

    @invariant
    def it_is_here(self) -> bool:
        return self.here


@pytest.mark.parametrize("together", [1, 3, 1_000])
@pytest.mark.parametrize("cls", [Stuck, Lease])
def test_steps_are_printed_so_many_in_a_function(
    cls: type[Model], together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the number, none is lost; and nothing to warn of where there is none."""
    monkeypatch.setattr("falsework.model_c.TOGETHER", together)
    definition = definition_of(cls)
    assert native(definition, Bounds(every=True)).counts() == fast(definition, Bounds(every=True)).counts()


# --- states of several words --------------------------------------------------------------------------------


class Size(Enum):
    """Five of them take three bits, which do not divide a word evenly."""

    NONE = 0
    SMALL = 1
    MIDDLE = 2
    LARGE = 3
    HUGE = 4


class Shelf(Model):
    """Boxes grow at four places and are swapped with their neighbours at three, the ends among them."""

    PLACES: ClassVar[int] = 20
    GROWTH: ClassVar[int] = 9

    boxes: Map[Annotated[int, Upto("PLACES - 1")], Size] = Map(Size.NONE)
    heavy: Annotated[int, Upto("1000000000000")] = 0
    grown: Annotated[int, Upto("GROWTH")] = 0

    @action
    def grow(self, quarter: Annotated[int, Upto(3)]) -> None:
        place = quarter * (self.PLACES - 1) // 3
        bound(self.grown < self.GROWTH)
        self.grown += 1
        if self.boxes[place] is Size.NONE:
            self.boxes[place] = Size.SMALL
        elif self.boxes[place] is Size.SMALL:
            self.boxes[place] = Size.HUGE
        self.heavy += 77_777_777_777

    @action
    def swap(self, half: Annotated[int, Upto(2)]) -> None:
        place = half * (self.PLACES - 2) // 2
        require(self.boxes[place] is not self.boxes[place + 1])
        bound(place != 1)
        first = self.boxes[place]
        self.boxes[place] = self.boxes[place + 1]
        self.boxes[place + 1] = first

    @invariant
    def nothing_large_lies_at_the_end(self) -> bool:
        return self.boxes[self.PLACES - 1] is not Size.HUGE or self.grown < 5

    @invariant
    def what_is_heavy_was_grown(self) -> bool:
        return self.heavy == self.grown * 77_777_777_777

    @reachable
    def three_are_large(self) -> bool:
        return sum(self.boxes[place] is Size.HUGE for place in range(self.PLACES)) == 3

    @terminal
    def all_is_grown(self) -> bool:
        return self.grown == self.GROWTH


def shelf(places: int, growth: int) -> type[Shelf]:
    return type("Shelf", (Shelf,), {"PLACES": places, "GROWTH": growth, "__module__": __name__})


@pytest.mark.parametrize("places, growth, words", [(5, 4, 1), (20, 4, 2), (40, 3, 3), (85, 3, 5)])
def test_states_of_several_words_are_searched_like_those_of_one(places: int, growth: int, words: int) -> None:
    definition = definition_of(shelf(places, growth))
    assert Words(lower(definition)).count == words
    for every in (True, False):
        bounds = Bounds(every=every)
        shallow = Bounds(every=every, max_depth=3)
        expected = explore(definition, shallow).counts()
        for threads in (1, 2, 3):
            assert native(definition, bounds, threads=threads).counts() == fast(definition, bounds).counts()
            assert native(definition, shallow, threads=threads).counts() == expected


def test_a_thread_has_room_for_a_state_of_many_words() -> None:
    definition = definition_of(shelf(800, 2))
    assert Words(lower(definition)).count == 39
    assert native(definition, threads=3).counts() == fast(definition).counts()


@pytest.mark.parametrize("places", [1, 5, 17, 18, 19, 20, 38, 39, 40, 41, 85, 120])
def test_no_slot_lies_across_two_words_or_upon_another(places: int) -> None:
    words = Words(lower(definition_of(shelf(places + 1, 3))))
    taken = [0] * words.count
    for field in words.fields:
        assert field.shift + field.width <= (WORD if field.word else FIRST_WORD)
        assert taken[field.word] & field.mask == 0
        taken[field.word] |= field.mask
    ones = words.pack([(1 << field.width) - 1 for field in words.fields])
    assert ones == taken


# --- integers -----------------------------------------------------------------------------------------------


class Wide(Model):
    """Numbers that one slot holds and whose sums and products do not leave 62 bits."""

    FACTOR: ClassVar[int] = 1000

    big: Annotated[int, Upto("1000000000000")] = 0
    other: Annotated[int, Upto("1000000000000")] = 0

    @action
    def leap(self, length: Annotated[int, Upto(3)]) -> None:
        require(self.big <= 999_999_999_000)
        self.big += 333_333_333_333 * length

    @action
    def derive(self) -> None:
        self.other = abs(self.big * self.FACTOR - 999_999_999_999_999) // 1007 + -self.other % 7

    @invariant
    def the_product_is_small(self) -> bool:
        return self.big * self.FACTOR - self.other <= 999_999_999_000_000

    @terminal
    def nothing_is_left(self) -> bool:
        return True


def test_big_numbers_are_those_of_the_class() -> None:
    definition = definition_of(Wide)
    for bounds in (Bounds(every=True), Bounds(every=False)):
        for threads in (1, 2):
            expected = explore(definition, bounds).counts()
            assert native(definition, bounds, threads=threads).counts() == expected
    # A leap of three times a third of a trillion: the product passes its limit while the other number is 0.
    assert native(definition).violations["the_product_is_small"].steps == 1


class LeavesItsDomain(Model):
    """A number that is doubled past the end of a domain that is no power of two."""

    size: Annotated[int, Upto(5_000_000_000)] = 1

    @action
    def double(self) -> None:
        self.size = self.size * 2

    @invariant
    def it_is_something(self) -> bool:
        return self.size > 0


def test_a_number_outside_its_domain_is_found_by_every_engine() -> None:
    definition = definition_of(LeavesItsDomain)
    found = [engine(definition) for engine in (explore, fast, native)]
    # 2**32 lies inside, 2**33 does not.
    assert [tally.violations["values_stay_in_domain"].steps for tally in found] == [33, 33, 33]
    assert {tally.violations["values_stay_in_domain"].outside for tally in found} == {"size = 8589934592"}
    assert [tally.states for tally in found] == [33, 33, 33]


class Product(Wide):
    """The product of two numbers of a trillion."""

    @invariant
    def the_product_is_small(self) -> bool:
        return self.big * self.other <= 5


class Power(Wide):
    """A number that grows beyond 62 bits on its way, though not at its end."""

    FACTOR: ClassVar[int] = 5_000_000

    @action
    def derive(self) -> None:
        self.other = (self.big - 3 * self.FACTOR * self.big) % 1000


class Sum(Model):
    """A slot of more bits than a word has for slots."""

    total: Annotated[int, Upto(1_000_000_000_000_000_000)] = 0

    @action
    def add(self) -> None:
        require(self.total < 3)
        self.total += 1

    @terminal
    def nothing_is_left(self) -> bool:
        return True

    @invariant
    def it_is_a_number(self) -> bool:
        return self.total >= 0


@pytest.mark.parametrize("model", [Product, Power, Sum])
def test_what_62_bits_cannot_hold_is_refused_by_line(
    model: type[Model], golden: Callable[[str, str], None]
) -> None:
    definition = definition_of(model)
    with pytest.raises(Refused) as refusal:
        native(definition)
    assert refusal.value.code == "P012"
    assert refusal.value.place is not None
    source = Path(__file__).read_text("utf-8").splitlines()[refusal.value.place.line - 1].strip()
    golden(f"emit_c/refused-{model.__name__}", f"{refusal.value.found}\n{source}\n{refusal.value.write}\n")
    assert fast(definition, Bounds(max_depth=2)).counts() == explore(definition, Bounds(max_depth=2)).counts()


class Guarded(Model):
    """Reads beyond the end of a map that a guard or an `and` keeps from being made."""

    cells: Map[Annotated[int, Upto(9)], Annotated[int, Upto(6)]] = Map(0)
    at: Annotated[int, Upto(40)] = 0

    @action
    def move(self, step: Annotated[int, Upto(7)]) -> None:
        self.at = (self.at + step * 5) % 41

    @action
    def write(self) -> None:
        require(self.at < 10 and self.cells[self.at] < 2 and self.at + self.cells[self.at] * 4 > 2)
        bound(sum(self.cells.values()) < 2)
        self.cells[self.at] = self.cells[self.at] + 1

    @invariant
    def the_cells_are_small(self) -> bool:
        return self.at >= 10 or self.cells[self.at] * self.cells[self.at] < 4


def test_a_read_that_a_guard_prevents_is_not_made_in_c_either() -> None:
    definition, every = definition_of(Guarded), Bounds(every=True)
    found = native(definition, every)
    assert found.counts() == explore(definition, every).counts()
    # All 41 places can be stood at; each of ten cells can be 1, and the bound cuts at a sum of 2.
    assert found.states > 41 * 10


class Warehouse(Model):
    """A cell is chosen among four hundred by a number in the state, which C spells as so many conditions."""

    CELLS: ClassVar[int] = 400

    cells: Map[Annotated[int, Upto("CELLS")], Annotated[int, Upto(6)]] = Map(0)
    at: Annotated[int, Upto("CELLS")] = 0

    @action
    def move(self) -> None:
        self.at = (self.at + 133) % 399

    @action
    def write(self) -> None:
        require(self.cells[self.at] < 2)
        bound(sum(self.cells.values()) < 2)
        self.cells[self.at] = self.cells[self.at] + 1

    @invariant
    def little_is_stored(self) -> bool:
        return sum(self.cells.values()) < 3


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.clang)])
def test_a_choice_among_many_cells_is_compiled(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", compiler)
    definition = definition_of(Warehouse)
    # Three places are stood at: nothing, one or two written there, the two at one place or at two.
    assert native(definition).states == 3 * (1 + 3 + 6)
    assert native(definition).counts() == fast(definition).counts()
