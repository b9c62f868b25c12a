"""Values across the border to an implementation, and which variables a predicate can read.

What a domain holds is told by its own definition; what is no value of it is told by hand.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, ClassVar, Self

import pytest

from falsework.conformance import drive
from falsework.conformance.projection import Unreadable, observed, plain, read
from falsework.conformance.reads import reads
from falsework.definition import definition_of
from falsework.domains import Domain, MapOf, VariableDomain, freeze, instantiate
from falsework.language import (
    Below,
    Length,
    Map,
    Model,
    Record,
    Seq,
    Set,
    Upto,
    action,
    initial,
    invariant,
    require,
)
from falsework.verdict import Verdict

Colour = Enum("Colour", "RED GREEN")
Other = Enum("Other", "RED GREEN")
Worker = Annotated[int, Below(2)]


class Spot(Record):
    colour: Colour = Colour.RED
    size: Annotated[int, Upto(3)] = 0


class Everything(Model):
    """One variable of each kind of domain."""

    flag: bool = False
    number: Annotated[int, Upto(3)] = 0
    colour: Colour = Colour.RED
    maybe: Worker | None = None
    spot: Spot = Spot()
    cells: Map[Worker, Spot | None] = Map(None)
    pairs: Map[tuple[Worker, Colour], bool] = Map(False)
    members: Set[Colour] = Set()
    queue: Annotated[Seq[Worker], Length(2)] = Seq()

    @action
    def paint(self) -> None:
        self.flag = True

    def deep(self) -> bool:
        return self.number > 0

    @invariant
    def it_reads_one(self) -> bool:
        return self.flag

    @invariant
    def it_reads_by_a_helper(self) -> bool:
        return self.deep() and self.flag

    @invariant
    def it_reads_the_state_before(self, before: Self) -> bool:
        return before.colour is self.colour and before.deep()

    @invariant
    def it_reads_in_a_loop(self) -> bool:
        return all(spot is None for spot in self.cells.values()) and Colour.RED not in self.members

    @invariant(on=paint)
    def it_reads_nothing(self) -> bool:
        return True


EVERYTHING = definition_of(Everything)
DOMAINS: dict[str, VariableDomain] = {variable.name: variable.domain for variable in EVERYTHING.variables}


@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("flag", True, True),
        ("number", 3, 3),
        ("colour", "GREEN", Colour.GREEN),
        ("maybe", None, None),
        ("maybe", 1, 1),
        ("spot", {"size": 2, "colour": "GREEN"}, Spot(Colour.GREEN, 2)),
        ("cells", {1: {"colour": "RED", "size": 1}, 0: None}, (None, Spot(Colour.RED, 1))),
        ("cells", [None, {"colour": "RED", "size": 1}], (None, Spot(Colour.RED, 1))),
        ("cells", {"1": {"colour": "RED", "size": 1}, "0": None}, (None, Spot(Colour.RED, 1))),  # as in JSON
        (
            "pairs",
            {(0, "RED"): True, (0, "GREEN"): False, (1, "RED"): False, (1, "GREEN"): True},
            (True, False, False, True),
        ),
        (
            "pairs",
            {f'[{n},"{c}"]': n < 1 for n in (0, 1) for c in ("RED", "GREEN")},
            (True, True, False, False),
        ),
        ("members", ["GREEN", "RED"], (Colour.RED, Colour.GREEN)),
        ("members", {"GREEN"}, (Colour.GREEN,)),
        ("queue", [1, 0], (1, 0)),
    ],
)
def test_a_plain_value_is_read_into_its_domain(name: str, given: Any, expected: Any) -> None:
    assert read(DOMAINS[name], given) == expected


@pytest.mark.parametrize(
    "name, given",
    [
        ("flag", 1),  # an int is no bool, though Python says that they are equal
        ("number", True),
        ("number", 4),
        ("number", 1.0),
        ("number", None),
        ("colour", "BLUE"),
        ("colour", Other.RED),  # another Enum's member is no name
        ("maybe", 2),
        ("spot", {"size": 2}),
        ("spot", {"size": 2, "colour": "RED", "shape": 1}),
        ("cells", {0: None}),
        ("cells", {0: None, 1: None, 2: None}),
        ("cells", [None]),
        ("cells", "ab"),
        ("members", ["BLUE"]),
        ("queue", [0, 0, 0]),
        ("queue", [2]),
    ],
)
def test_what_is_no_value_of_the_domain_is_unreadable(name: str, given: Any) -> None:
    with pytest.raises(Unreadable):
        read(DOMAINS[name], given)


@pytest.mark.parametrize("name", ["flag", "number", "colour", "maybe", "spot", "cells", "pairs", "members"])
def test_every_value_comes_back_as_it_went(name: str) -> None:
    domain = DOMAINS[name]
    values: list[Any]
    if isinstance(domain, MapOf) or not hasattr(domain, "values"):
        value = next(v for v in EVERYTHING.variables if v.name == name)
        values = [freeze(domain, instantiate(domain, value.initial))[0]]
    else:
        values = list(domain.values())
    for value in values:
        assert read(domain, plain(value)) == value


def test_what_cannot_be_read_is_kept_as_it_was_shown() -> None:
    seen = observed(EVERYTHING, {"number": 9, "flag": True})
    assert (seen.values, seen.odd) == ({"flag": True}, {"number": "9"})


@pytest.mark.parametrize(
    "name, expected",
    [
        ("it_reads_one", {"flag"}),
        ("it_reads_by_a_helper", {"flag", "number"}),
        ("it_reads_the_state_before", {"colour", "number"}),
        ("it_reads_in_a_loop", {"cells", "members"}),
        ("it_reads_nothing", set()),
    ],
)
def test_a_predicate_reads_what_stands_in_it_and_in_its_helpers(name: str, expected: set[str]) -> None:
    prop = next(prop for prop in EVERYTHING.invariants if prop.name == name)
    assert reads(EVERYTHING, prop) == expected


class Compared(Model):
    """Its predicate compares whole states."""

    one: bool = False
    two: bool = False

    @action
    def go(self) -> None:
        self.one = True

    @invariant
    def it_may_rest(self, before: Self) -> bool:
        return self == before or self.one


def test_a_state_that_is_compared_is_read_whole() -> None:
    definition = definition_of(Compared)
    assert reads(definition, definition.invariants[0]) == {"one", "two"}


# --- where a model has several beginnings -------------------------------------------------------------------


class Tank(Model):
    """It begins with any amount, and is emptied by one."""

    SIZE: ClassVar[int] = 2
    level: Annotated[int, Upto("SIZE")] = 0

    @initial
    def fill_up_to(self, amount: Annotated[int, Upto("SIZE")]) -> None:
        self.level = amount

    @action
    def drain(self) -> None:
        require(self.level > 0)
        self.level -= 1


class TankSubject:
    """A tank in memory."""

    model = f"{__name__}:Tank"
    surface = "a tank in memory"
    refuses = ()
    internal = ()
    refusals = ()
    unknowns = ()
    smallest = 0

    def begin(self, constants: Mapping[str, object]) -> None:
        assert constants == {"SIZE": 2}
        self.level = 0

    def perform(self, action: str, arguments: Mapping[str, object]) -> object:
        if action == "fill_up_to":
            self.level = max(int(str(arguments["amount"])), self.smallest)
        else:
            self.level -= 1
        return None

    def observe(self) -> Mapping[str, object]:
        return {"level": self.level}

    def close(self) -> None:
        """Nothing was opened."""


def test_each_beginning_is_performed_as_the_models_initial_action() -> None:
    done = drive(TankSubject(), definition_of(Tank))
    assert done.verdict is Verdict.HOLDS
    assert (done.states, done.covered) == (3, 2)  # levels 0, 1, 2; one drains from each of the last two


def test_a_beginning_that_differs_diverges_before_any_step() -> None:
    class Subject(TankSubject):
        smallest = 1

    done = drive(Subject(), definition_of(Tank))
    assert done.divergence is not None
    assert (str(done.divergence.start), done.divergence.path) == ("fill_up_to(0)", ())


def test_a_domain_is_a_domain() -> None:
    """The list of domains that is read here is that of the language: a new one must be added to both."""
    assert {domain.__name__ for domain in Domain.__args__} == {
        "Bool",
        "Int",
        "EnumOf",
        "OptionOf",
        "RecordOf",
        "TupleOf",
    }
