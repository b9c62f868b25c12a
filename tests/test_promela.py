"""The Promela that a model is written as: its text, its command, what it cannot say. test_spin.py runs it."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from command_line import falsework
from falsework import promela as exporter
from falsework import promela_expressions
from falsework.definition import definition_of
from falsework.errors import InputError, Refused
from falsework.language import (
    Between,
    Length,
    Map,
    Model,
    Seq,
    Upto,
    action,
    bound,
    initial,
    invariant,
    require,
    terminal,
)
from falsework.promela import promela, starts_of

Two = Annotated[int, Upto(2)]
Large = Annotated[int, Upto(100_000)]
Direction = Enum("Direction", "IN OUT")


class Turnstile(Model):
    """A small model with one of each thing that is written in a way of its own."""

    MOST: ClassVar[int] = 2

    inside: Annotated[int, Upto("MOST")] = 0
    coins: Annotated[Seq[Two], Length(2)] = Seq()
    left: Direction = Direction.IN
    right: Direction = Direction.OUT

    @initial
    def opens(self, inside: Two) -> None:
        require(inside < 2)
        self.inside = inside

    @action
    def pay(self, coin: Two) -> None:
        require(coin > 0)
        bound(len(self.coins) < 1)
        self.coins.append(coin)

    @action
    def swap(self) -> None:
        """Each takes the other's value: neither order of assignments would do."""
        self.left, self.right = self.right, self.left

    @action
    def go_in(self) -> None:
        require(len(self.coins) > 0)
        self.coins.pop_first()
        self.inside += 1

    @invariant
    def is_not_full(self) -> bool:
        return self.inside < self.MOST

    @terminal
    def is_closed(self) -> bool:
        return self.inside == self.MOST


def test_the_program_reads_as_it_did(golden: Callable[[str, str], None]) -> None:
    golden("promela/counts", promela(definition_of(Turnstile)))
    golden("promela/assert", promela(definition_of(Turnstile), asserts=True))


def test_the_command_prints_the_program() -> None:
    plain = falsework("export", "classics.two_phase_commit", "-D", "MANAGERS=2", "--to", "promela")
    assert (plain.code, plain.err) == (0, "")
    assert "TwoPhaseCommit MANAGERS=2" in plain.out
    assert "wrong: managers_never_disagree" not in plain.out
    judged = falsework("export", "classics.two_phase_commit", "-D", "MANAGERS=2", "--assert")
    assert "wrong: managers_never_disagree" in judged.out


def test_one_state_that_several_starts_make_is_listed_once() -> None:
    class Same(Turnstile):
        @initial
        def opens(self, inside: Two) -> None:
            self.inside = 0

    assert [start.label for start in starts_of(definition_of(Same))] == ["opens(0)"]


# --- refusals ---------------------------------------------------------------------------------------------


class Wide(Model):
    """A slot beyond an int."""

    far: Annotated[int, Upto(3_000_000_000)] = 0

    @action
    def go(self) -> None:
        require(self.far < 5)
        self.far += 1


class Products(Model):
    """A number beyond an int."""

    x: Large = 0

    @action
    def go(self) -> None:
        require(self.x * self.x < 5)
        self.x += 1


class Quotients(Model):
    """A number that rounding takes beyond an int."""

    x: Annotated[int, Between(-2_147_483_600, 0)] = 0
    y: Annotated[int, Upto(1)] = 0

    @action
    def divide(self) -> None:
        self.x = (self.x - 46 * self.y) // 1000


class Long(Model):
    """A longer effect than is allowed below."""

    x: Map[Two, Two] = Map(0)
    y: Map[Two, Two] = Map(0)

    @action
    def go(self, at: Two) -> None:
        self.x[self.y[self.x[at]]] = self.y[at]


class Many(Model):
    """Nine initial states."""

    x: Two = 0
    y: Two = 0

    @initial
    def put(self, x: Two, y: Two) -> None:
        self.x, self.y = x, y

    @action
    def go(self) -> None:
        self.x = 0


def refusal(model: type[Model]) -> tuple[str, str, str]:
    """The refusal's code, what it says, and the line of this file that it names."""
    with pytest.raises(Refused) as caught:
        promela(definition_of(model))
    assert caught.value.place is not None
    line = Path(__file__).read_text("utf-8").splitlines()[caught.value.place.line - 1].strip()
    return caught.value.code, str(caught.value).partition("P013 ")[2].replace("\n  write", ""), line


def test_a_slot_beyond_an_int_is_refused_where_its_variable_stands() -> None:
    assert refusal(Wide) == (
        "P013",
        "far has 3000000001 values, more than an int of Promela: a smaller domain",
        "far: Annotated[int, Upto(3_000_000_000)] = 0",
    )


def test_a_number_beyond_an_int_is_refused_where_it_is_asked() -> None:
    assert refusal(Products) == (
        "P013",
        "a value from 0 to 10000000000: values up to 2147483647",
        "require(self.x * self.x < 5)",
    )


def test_a_number_that_rounding_takes_beyond_an_int_is_refused() -> None:
    assert refusal(Quotients) == (
        "P013",
        "the quotient of a value from -2147483646: values above -2147482647",
        "def divide(self) -> None:",
    )


def test_a_long_expression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promela_expressions, "LONGEST", 50)
    assert refusal(Long)[:2] == (
        "P013", "an expression of more than 50 signs: shorter loops and conditions"
    )  # fmt: skip
    monkeypatch.setattr(promela_expressions, "LONGEST", 60)
    assert "t0 = (s_x_0 == 0" in promela(definition_of(Long))


def test_many_initial_states_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "MOST_STARTS", 8)
    code, found, line = refusal(Many)
    assert (code, found) == ("P013", "more than 8 initial states: smaller constants")
    assert line in ("@initial", "def put(self, x: Two, y: Two) -> None:")
    monkeypatch.setattr(exporter, "MOST_STARTS", 9)
    assert len(starts_of(definition_of(Many))) == 9


def test_many_options_are_refused_where_the_most_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "MOST_OPTIONS", 4)
    definition = definition_of(Turnstile)  # a step for each of pay(1), pay(2), swap, go_in; and one too many
    with pytest.raises(Refused, match="P013 more than 4 options") as caught:
        promela(definition)
    assert caught.value.place == definition.actions[0].place
    monkeypatch.setattr(exporter, "MOST_OPTIONS", 5)
    assert promela(definition).count(" -> printf") == 7  # with the two starts


def test_a_model_that_starts_nowhere_or_outside_is_no_model_to_export() -> None:
    class Nowhere(Many):
        @initial
        def put(self, x: Two, y: Two) -> None:
            require(x > 2)
            self.x, self.y = x, y

    class Outside(Many):
        @initial
        def put(self, x: Two, y: Two) -> None:
            self.x, self.y = x + 1, y

    class Failing(Many):
        @initial
        def put(self, x: Two, y: Two) -> None:
            self.x, self.y = x, 2 // y

    for model, message in (
        (Nowhere, "Nowhere has no initial state"),
        (Outside, r"put\(2, 0\) leaves a domain"),
        (Failing, "the model faults: .* at .*test_promela.py:"),
    ):
        with pytest.raises(InputError, match=message):
            promela(definition_of(model))


def test_what_the_lowering_refuses_is_refused_by_the_command(tmp_path: Path) -> None:
    text = "from falsework import Model, action\nclass M(Model):\n    x: bool = False\n    @action\n"
    (tmp_path / "m.py").write_text(
        f"{text}    def go(self) -> None:\n        while self.x:\n            self.x = False\n"
    )
    said = falsework("export", f"{tmp_path / 'm.py'}:M")
    assert (said.code, said.out) == (13, "")
    assert "m.py:6: P001" in said.err
