"""The search over the class itself: what it counts on models that are counted by hand, and every fault."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import pytest

import falsework.explore
from falsework import (
    Below,
    Map,
    Model,
    Record,
    Row,
    Upto,
    action,
    bound,
    implies,
    initial,
    invariant,
    reachable,
    require,
    rows,
    terminal,
)
from falsework.accounting import Bounds, Tally
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.trace import replay

EVERY = Bounds(every=True)
Small = Annotated[int, Upto(3)]


def search(cls: type[Model], bounds: Bounds = EVERY) -> Tally:
    return explore(definition_of(cls), bounds)


class Steps(Model):
    """Two walkers climb three stairs, each one stair at a time; on the top both rest."""

    TOP: ClassVar[int] = 3
    at: Map[bool, Annotated[int, Upto("TOP")]] = Map(0)

    @action
    def climb(self, who: bool) -> None:
        require(self.at[who] < self.TOP)
        self.at[who] += 1

    @invariant
    def none_is_two_ahead(self) -> bool:
        return abs(self.at[True] - self.at[False]) < 2

    @invariant
    def nobody_falls(self, before: Self) -> bool:
        return implies(before.at[True] > 0, self.at[True] >= before.at[True])

    @reachable
    def both_are_up(self) -> bool:
        return self.at[True] == self.at[False] == self.TOP

    @terminal
    def all_rest(self) -> bool:
        return self.at[True] == self.at[False] == self.TOP


def test_the_counts_of_a_model_that_is_counted_by_hand() -> None:
    tally = search(Steps)
    # Levels: (0,0); (1,0) (0,1); (1,1) and the violating (2,0) (0,2), which are not expanded; from (1,1) on
    # the same again: (2,1) (1,2); (2,2) and (3,1) (1,3); (3,2) (2,3); (3,3).
    assert tally.levels == [1, 2, 3, 2, 3, 2, 1]
    assert tally.states == 14
    # Two steps each from (0,0) (1,0) (0,1) (1,1) (2,1) (1,2) (2,2), one each from (3,2) and (2,3).
    assert tally.transitions == 7 * 2 + 2
    assert {n: v.steps for n, v in tally.violations.items()} == {"none_is_two_ahead": 2}
    assert str([str(step) for step in tally.violations["none_is_two_ahead"].trace.steps]) == (
        "['climb(no)', 'climb(no)']"
    )
    assert tally.witnesses == {"both_are_up": 6}
    # The premise is true in the steps from states where True has climbed: (1,0) (1,1) (2,1) (1,2) (2,2), two
    # steps each, and (3,2), (2,3) one each.
    assert list(tally.premises.values()) == [5 * 2 + 2]
    assert tally.complete


def test_without_every_the_search_ends_with_the_first_level_that_breaks() -> None:
    tally = search(Steps, Bounds())
    assert (tally.levels, tally.depth) == ([1, 2, 3], 2)


def test_a_bound_of_depth_and_of_states_stops_after_a_level() -> None:
    shallow = search(Steps, Bounds(max_depth=1, every=True))
    assert (shallow.levels, shallow.stop) == ([1, 2], search(Steps, Bounds(max_depth=1)).stop)
    assert shallow.stop is not None
    assert (shallow.stop.bound, shallow.stop.limit, shallow.stop.unexpanded) == ("max-depth", 1, 2)
    few = search(Steps, Bounds(max_states=2, every=True))
    assert few.stop is not None
    assert (few.states, few.stop.bound, few.stop.unexpanded) == (3, "max-states", 2)


def test_a_state_without_a_step_is_a_deadlock_unless_it_is_terminal() -> None:
    class Stuck(Steps):
        def all_rest(self) -> bool:
            return False

    assert search(Stuck).violations["deadlock"].steps == 6
    assert "deadlock" not in search(Steps).violations


def test_a_declared_cut_is_counted_where_it_stands() -> None:
    class Low(Steps):
        def climb(self, who: bool) -> None:
            bound(self.at[who] < 1)
            super().climb(who)

    tally = search(Low)
    # Cut are: who has climbed once, at (1,0), (0,1) one each and at (1,1) both.
    assert list(tally.cuts.values()) == [4]
    assert (tally.coverage["climb"].cut, tally.coverage["climb"].fired) == (4, 4)
    assert "deadlock" not in tally.violations


def test_a_step_out_of_its_domain_adds_no_state() -> None:
    class High(Steps):
        def climb(self, who: bool) -> None:
            self.at[who] += 1

    tally = search(High)
    # (3,2) climbs to (4,2); the violating (3,1) is not expanded, so that is the shortest way out.
    assert tally.violations["values_stay_in_domain"].steps == 6
    assert tally.violations["values_stay_in_domain"].outside == "at[no] = 4"
    assert tally.states == 14


def test_initial_states_are_what_their_guards_leave() -> None:
    class Start(Model):
        at: Small = 0

        @initial
        def start(self, where: Small) -> None:
            require(where % 2 == 1)
            self.at = where

        @action
        def stay(self) -> None:
            return

    tally = search(Start)
    assert (tally.levels, tally.coverage["stay"].self_loops) == ([2], 2)

    class Nowhere(Start):
        def start(self, where: Small) -> None:
            require(where > 3)

    assert search(Nowhere).states == 0


# --- faults ----------------------------------------


class Plain(Model):
    """One number that goes up; what the tests bend is what is asked of it."""

    at: Small = 0
    table: Map[Annotated[int, Below(3)], bool] = Map(False)

    def asked(self) -> Any:
        return True

    def change(self) -> None:
        self.at += 1

    @action
    def go(self) -> None:
        require(self.at < 3)
        self.change()

    @terminal
    def is_done(self) -> bool:
        return self.at == 3

    @invariant
    def is_good(self) -> bool:
        return self.asked()  # type: ignore[no-any-return]


class Silent(Plain):
    def asked(self) -> Any:
        return None


class Counting(Plain):
    def asked(self) -> Any:
        return self.at + 1


class Raising(Plain):
    def asked(self) -> Any:
        return 1 // (self.at - 1) < 1


class Leaving(Plain):
    def asked(self) -> Any:
        raise SystemExit(0)


class Closing(Plain):
    def asked(self) -> Any:
        raise GeneratorExit


class Overrunning(Plain):
    def change(self) -> None:
        self.at += 1
        self.table[self.at] = True


class Unhashable(Plain):
    def change(self) -> None:
        self.table[[1]] = True  # type: ignore[index]


class Replaced(Plain):
    def change(self) -> None:
        self.table = 3  # type: ignore[assignment]


@pytest.mark.parametrize(
    "cls, message, steps, at",
    [
        (Silent, "is_good answered None, not a bool", 0, "is_good"),
        (Counting, "is_good answered 1, not a bool", 0, "is_good"),
        (Raising, "ZeroDivisionError: integer division or modulo by zero", 1, "is_good"),
        (Leaving, "SystemExit: 0", 0, "is_good"),
        (Closing, "GeneratorExit", 0, "is_good"),
        (Overrunning, "key 3 is outside the map's domain", 3, ""),
        (Unhashable, "TypeError: unhashable type: 'list'", 1, ""),
        (Replaced, "table is a Map and cannot become 3", 1, ""),
    ],
)
def test_what_goes_wrong_while_a_model_runs_is_a_fault(
    cls: type[Plain], message: str, steps: int, at: str
) -> None:
    fault = search(cls).fault
    assert fault is not None
    assert (fault.message, len(fault.trace), fault.at) == (message, steps, at)
    assert fault.place is not None
    assert fault.place.line > 0
    if cls is Overrunning:
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        assert lines[fault.place.line - 1].strip() == "self.table[self.at] = True"


def test_a_value_that_no_domain_knows_leaves_the_domain() -> None:
    class Listing(Plain):
        def change(self) -> None:
            self.at = [1]  # type: ignore[assignment]

    assert search(Listing).violations["values_stay_in_domain"].outside == "at = [1]"


def test_an_answer_that_is_not_declared_is_a_fault() -> None:
    class Chatty(Plain):
        def change(self) -> Any:
            return self.asked()

        def go(self) -> None:
            return self.change()  # type: ignore[no-any-return]

    fault = search(Chatty).fault
    assert fault is not None
    assert fault.message == "go answered True and declares no answer"


# --- impurity ----------------------------------------


class Clock:
    """A value outside the model, which moves whenever it is read or told to."""

    now = 0

    def read(self) -> int:
        self.now += 1
        return self.now

    def move(self) -> None:
        self.now += 1


COUNTER = Clock()


class Box(Enum):
    ONE = Clock()


class Note(Record):
    box: Box = Box.ONE


def test_a_step_that_reads_a_counter_is_impure() -> None:
    class Ticket(Plain):
        def change(self) -> None:
            self.at = COUNTER.read() % 4

    fault = search(Ticket).fault
    assert fault is not None
    assert fault.message == "impure: a second evaluation of go() differs from the first"


def test_a_predicate_that_reads_a_counter_is_impure() -> None:
    class Moody(Plain):
        def asked(self) -> Any:
            return COUNTER.read() % 2 == 0

    fault = search(Moody).fault
    assert fault is not None
    assert fault.message == "impure: a second evaluation of is_good differs from the first"


def test_a_value_that_states_share_and_that_a_step_changes_is_impure() -> None:
    class Shared(Plain):
        note: Note = Note()

        def change(self) -> None:
            self.at += 1
            self.note.box.value.move()

        def asked(self) -> Any:
            return self.note.box.value.now < 8

    Box.ONE.value.now = 0
    fault = search(Shared).fault
    # Three steps, each taken twice, have moved it to 6 when the search ends: all holds. The second search, of
    # three steps more, meets 8 before it ends.
    assert fault is not None
    assert fault.message == "impure: a second evaluation of the search differs from the first"
    Box.ONE.value.now = 8
    assert search(Shared).violations["is_good"].steps == 0


def test_a_pure_model_is_not_called_impure() -> None:
    assert search(Plain).fault is None


# --- rows ----------------------------------------

CATALOGUE = """\
# name, price, needs
apple, 1
bread, 2, apple
cheese, 3, bread
"""


class Good(Row):
    price: int
    needs: str | None


def read(text: str, file: str) -> list[Good]:
    """Each line of the catalogue as a row, at its own line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            name, price, *needs = (part.strip() for part in line.split(","))
            found.append(Good(name, file, number, int(price), needs[0] if needs else None))
    return found


class Ware(Enum):
    apple = 1
    bread = 2
    cheese = 3


class Shop(Model):
    """Whoever buys by the catalogue pays and must have what a good needs."""

    PURSE: ClassVar[int] = 3
    paid: Annotated[int, Upto("PURSE")] = 0
    bought: Map[Ware, bool] = Map(False)

    @rows(read(CATALOGUE, "catalogue.txt"), source="shop 1")
    def buy(self, row: Good, twice: bool) -> None:
        require(self.paid + row.price <= self.PURSE and not self.bought[Ware[row.name]])
        require(row.needs is None or self.bought[Ware[row.needs]])
        self.paid += row.price
        self.bought[Ware[row.name]] = True

    @terminal
    def is_paid(self) -> bool:
        return self.paid == self.PURSE

    @invariant(on=buy)
    def what_is_paid_is_the_price(self, before: Self, row: Good) -> bool:
        return self.paid == before.paid + row.price

    @reachable
    def bread_is_bought(self) -> bool:
        return self.bought[Ware.bread]


def test_each_row_of_a_catalogue_is_an_action_placed_at_its_own_line() -> None:
    definition = definition_of(Shop)
    assert [(a.name, str(a.place), a.kind, a.source) for a in definition.actions] == [
        ("apple", "catalogue.txt:2", "action", ("shop 1",)),
        ("bread", "catalogue.txt:3", "action", ("shop 1",)),
        ("cheese", "catalogue.txt:4", "action", ("shop 1",)),
    ]
    assert [[name for name, _ in a.parameters] for a in definition.actions] == [["twice"]] * 3


def test_a_model_of_rows_is_searched_as_any_other() -> None:
    tally = search(Shop)
    # Nothing, then apple, then bread besides; cheese is too dear once bread is bought. Each in two ways.
    assert (tally.levels, tally.transitions) == ([1, 1, 1], 4)
    assert {name: covered.fired for name, covered in tally.coverage.items()} == {
        "apple": 2,
        "bread": 2,
        "cheese": 0,
    }
    assert (tally.witnesses, tally.violations) == ({"bread_is_bought": 2}, {})
    steps = replay(definition_of(Shop), tally.witness_traces["bread_is_bought"])
    assert [str(step.label) for step in steps] == ["start()", "apple(no)", "bread(no)"]


def test_a_row_changed_in_the_catalogue_changes_the_digest() -> None:
    class Dear(Shop):
        @rows(read(CATALOGUE.replace("bread, 2", "bread, 1"), "catalogue.txt"))
        def buy(self, row: Good, twice: bool) -> None:
            super().buy(row, twice)

    Dear.__qualname__ = "Shop"
    assert definition_of(Dear).digest != definition_of(Shop).digest
    assert search(Dear).coverage["cheese"].fired == 0


def test_the_definition_of_a_search_is_short_enough_to_be_read() -> None:
    assert Path(falsework.explore.__file__).read_text(encoding="utf-8").count("\n") < 150
