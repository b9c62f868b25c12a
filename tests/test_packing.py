"""States packed into a word and back, over every shape of domain; sizes of one and sizes in the billions."""

from enum import Enum
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsework import ir
from falsework.accounting import Bounds
from falsework.definition import definition_of
from falsework.domains import Bool, EnumOf, Int, MapOf, OptionOf, RecordOf, SeqOf, SetOf, TupleOf
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import (
    Below,
    Between,
    Elapsed,
    Length,
    Map,
    Model,
    Record,
    Seq,
    Set,
    Upto,
    action,
    invariant,
    require,
)
from falsework.lower import lower
from falsework.packing import Packing
from falsework.state import State, frozen, live


class Colour(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Only(Enum):
    ONE = 1


Around = Annotated[int, Between(-5, 7)]
Huge = Annotated[int, Upto(10**12)]


class Inner(Record):
    colour: Colour
    number: Around | None


class Outer(Record):
    flag: bool | None
    inner: Inner
    other: Inner | None
    huge: Annotated[int, Between(-(10**6), 10**12)]


class Shapes(Model):
    """Every shape of a variable's domain."""

    flag: bool = False
    around: Around = -5
    huge: Huge | None = None
    colour: Colour = Colour.RED
    only: Only | None = None
    least: Annotated[int, Below(1)] = 0
    waited: Annotated[int, Elapsed(9)] = 0
    flag_or_none: bool | None = None
    outer: Outer | None = None
    cells: Map[Colour, Outer] = Map(Outer(None, Inner(Colour.RED, None), None, 0))
    pairs: Map[tuple[Colour, bool], Around | None] = Map(None)
    members: Set[tuple[bool, Colour]] = Set()
    row: Annotated[Seq[Outer | None], Length(3)] = Seq()
    numbers: Annotated[Seq[Around], Length(2)] = Seq()
    keys: Map[Around | None, bool] = Map(False)

    @action
    def stay(self) -> None:
        pass


def drawn(domain: Any) -> st.SearchStrategy[Any]:
    """A frozen value of the domain."""
    match domain:
        case Bool():
            return st.booleans()
        case Int(low, high, _):
            return st.integers(low, high)
        case EnumOf(cls):
            return st.sampled_from(list(cls))
        case OptionOf(inner):
            return st.none() | drawn(inner)
        case RecordOf(cls, fields):
            return st.builds(cls, *(drawn(inner) for _, inner in fields))
        case TupleOf(parts):
            return st.tuples(*map(drawn, parts))
        case MapOf(key, value):
            return st.tuples(*(drawn(value) for _ in key.values()))
        case SetOf(key):
            keys = list(key.values())
            return st.sets(st.sampled_from(keys)).map(lambda some: tuple(k for k in keys if k in some))
    assert isinstance(domain, SeqOf)
    return st.lists(drawn(domain.item), max_size=domain.length).map(tuple)


DEFINITION = definition_of(Shapes)
STATES = st.tuples(*(drawn(variable.domain) for variable in DEFINITION.variables))


@pytest.mark.slow
@given(one=STATES, two=STATES)
@settings(max_examples=150, deadline=None)
def test_a_state_comes_back_from_its_word(one: State, two: State) -> None:
    lowered = lower(DEFINITION)
    packing = Packing(DEFINITION, lowered.slots)
    words = [packing.pack(state) for state in (one, two)]
    assert [packing.unpack(word) for word in words] == [one, two]
    assert [type(value) for value in packing.unpack(words[0])] == [type(value) for value in one]
    assert (words[0] == words[1]) == (one == two)
    assert 0 <= words[0] < 1 << packing.bits
    assert frozen(DEFINITION, live(DEFINITION, packing.unpack(words[0])))[0] == one


@given(state=STATES)
@settings(max_examples=100, deadline=None)
def test_every_code_lies_below_the_size_of_its_slot(state: State) -> None:
    lowered = lower(DEFINITION)
    packing = Packing(DEFINITION, lowered.slots)
    codes = packing.codes(packing.pack(state))
    assert all(0 <= code < slot.size for code, slot in zip(codes, lowered.slots, strict=True))


def test_a_slot_of_one_code_takes_no_bit() -> None:
    lowered = lower(DEFINITION)
    packing = Packing(DEFINITION, lowered.slots)
    widths = {slot.name: field.width for slot, field in zip(lowered.slots, packing.fields, strict=True)}
    assert (widths["least"], widths["only"], widths["flag"], widths["around"]) == (0, 1, 1, 4)
    assert widths["huge"] == 40  # None and 10**12 + 1 numbers: 2**39 < 10**12 + 2 <= 2**40


class Billions(Model):
    """Numbers far too many to list, halved, compared, kept in records, rows and options."""

    x: Huge = 10**12
    last: Huge | None = 5
    row: Annotated[Seq[Huge], Length(2)] = Seq()
    small: Annotated[int, Upto(2)] = 0

    @action
    def fall(self) -> None:
        require(self.x > 10)
        self.x = self.x // 1000 - 1
        self.last = self.x if self.x % 2 else None

    @action
    def mix(self) -> None:
        self.small = 0 if self.last is None else (self.last + self.x) % 3

    @action
    def halve(self) -> None:
        last = self.last
        if last is not None and last > 0:
            self.last = last // 2

    @action
    def push(self) -> None:
        require(len(self.row) < 2 and self.x not in self.row)
        self.row.append(self.x)

    @action
    def pop(self) -> None:
        require(len(self.row) > 0)
        self.last = self.row.pop_first() - self.small

    @invariant
    def last_is_small(self) -> bool:
        return self.last is None or self.last <= 2 * self.x + 5 or self.last in self.row


@pytest.mark.parametrize("limit", [4096, 2])
def test_numbers_in_the_billions_are_searched_as_the_class_is(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ir, "TABLE_LIMIT", limit)

    class Again(Billions):
        """The same model, lowered anew."""

    counts = fast(definition_of(Again), Bounds(every=True)).counts()
    assert counts == explore(definition_of(Again), Bounds(every=True)).counts()
    assert isinstance(counts["states"], int)
    assert counts["states"] > 300
