"""What check and show print of a stair climbed by hand: long traces, a fault, members by their names."""

import argparse
import itertools
import shlex
from pathlib import Path

import pytest

from command_line import falsework
from falsework.cli import main

LONG = """
import enum
from typing import Annotated, ClassVar
from falsework import Map, Model, Seq, Set, Upto, action, bound, invariant, require

class Status(enum.Enum):
    READY = "ready"
    DONE = "done"

class Stair(Model):
    TOP: ClassVar[int] = 50
    step: Annotated[int, Upto("TOP")] = 0
    of: Map[Status, Status] = Map(Status.READY)
    some: Set[Status] = Set([Status.DONE])

    @action
    def climb(self) -> None:
        require(self.step < self.TOP)
        self.step += 1

    @action
    def stumble(self) -> None:
        require(self.step == 12)
        self.of[Status.READY] = self.of[None]  # no such key

    @invariant
    def the_top_is_not_reached(self) -> bool:
        return self.step < self.TOP
"""


def test_a_long_trace_is_kept_in_a_file_and_not_in_a_line(tmp_path: Path) -> None:
    source = LONG.partition("    @action\n    def stumble")[0] + LONG[LONG.index("    @invariant") :]
    (tmp_path / "stair.py").write_text(source, encoding="utf-8")
    path = f"{tmp_path}/stair.py:Stair"
    said = falsework("check", path)
    assert said.code == 10
    assert f"again          falsework check {path} --save trace.json; falsework replay trace.json" in said.out
    short = falsework("check", path, "-D", "TOP=2")
    assert f"again          falsework replay {path} -D TOP=2 'climb climb'" in short.out.replace("()", "")


def test_the_step_that_faults_stands_in_the_columns_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "stair_faults.py").write_text(LONG, encoding="utf-8")
    said = falsework("check", f"{tmp_path}/stair_faults.py:Stair", "--engine", "explore")
    lines = said.out.splitlines()
    (last,) = [line for line in lines if line.endswith("the fault")]
    above = lines[lines.index(last) - 1]
    assert said.code == 13
    assert (last.split()[0], above.split()[0]) == ("13", "12")
    assert last.index("the fault") == above.index("12", 3)  # the column of `step`


def test_a_member_in_a_start_is_shown_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "stair_shown.py").write_text(LONG, encoding="utf-8")
    said = falsework("show", f"{tmp_path}/stair_shown.py:Stair")
    assert "= Map(READY)" in said.out
    assert "= Set([DONE])" in said.out


LOW = (
    LONG.replace("action, bound, invariant", "action, bound, configuration, invariant")
    + """
@configuration(breaks={Stair.the_top_is_not_reached: 2})
class Low(Stair):
    TOP = 2
"""
)


def test_the_command_that_is_printed_runs_whatever_the_order_of_its_words(tmp_path: Path) -> None:
    (tmp_path / "stair_low.py").write_text(LOW, encoding="utf-8")
    said = falsework("check", f"{tmp_path}/stair_low.py:Stair", "--config", "Low")
    assert said.out.endswith("as declared: the_top_is_not_reached in 2 steps\n")
    (again,) = [line for line in said.out.splitlines() if line.startswith("again ")]
    program, command, *words = shlex.split(again)[1:]
    assert (program, command) == ("falsework", "replay")
    option = words.index("--config")
    model, setting, steps = words[:option], words[option : option + 2], words[option + 2 :]
    assert len(model) == len(steps) == 1
    for order in ((model, setting, steps), (setting, model, steps), (model, steps, setting)):
        replayed = falsework(command, *itertools.chain(*order))
        assert (replayed.code, replayed.err) == (10, "")
        assert "the_top_is_not_reached" in replayed.out


def test_a_command_with_commands_below_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Below:
        """Weighs.

        example: falsework weigh fruit --exactly
        """

        @staticmethod
        def add_arguments(parser: argparse.ArgumentParser) -> None:
            fruit = parser.add_subparsers(dest="what").add_parser("fruit")
            fruit.add_argument("--exactly", action="store_true")

        @staticmethod
        def run(args: argparse.Namespace) -> int:
            return 10 if (args.what, args.exactly) == ("fruit", True) else 0

    monkeypatch.setattr("falsework.cli.commands", lambda: {"weigh": ("weighing", "weighs")})
    monkeypatch.setattr("falsework.cli._load", lambda *_: Below)
    assert main(["weigh", "fruit", "--exactly"]) == 10
