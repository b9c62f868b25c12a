"""What check and show print of a stair climbed by hand: long traces, a fault, members by their names."""

from pathlib import Path

from command_line import falsework

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
