"""The gate: what is asked is answered, and whatever is not as declared is red and says why.

The lock and the gauge are small enough to be read; their counts are told in locks.py and gauges.py. What is
removed from a model is removed in a copy with a name of its own, and from a runtime for one test only.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from command_line import falsework
from falsework.check import Result, check
from falsework.conformance import driver
from falsework.errors import InputError
from falsework.gate import conform, gate
from falsework.gate_answers import Asked
from falsework.language import Model
from falsework.models import lease as lease_module
from falsework.report_document import render
from falsework.report_gate import gate_document, gate_text
from falsework.runtime.lease import LeaseHost, LeaseRow
from falsework.verdict import Verdict

LOCKS, GAUGES = "tests/locks.py", "tests/gauges.py"
RIGHT = f"{LOCKS}:RightLock"


# --- all as declared ----------------------------------------------------------------------------------------


def test_a_model_with_its_twins_and_an_implementation(
    golden: Callable[[str, str], None],
) -> None:
    said = falsework("gate", LOCKS, "--subject", RIGHT)
    assert said.code == 0, said.all
    golden("gate/as_declared", said.all)


def test_what_is_asked_is_listed_before_it_is_answered_and_all_of_it_is() -> None:
    report = gate([LOCKS], subjects=[RIGHT])
    kinds = [asked.kind for asked in report.asked]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "model": 1,
        "configuration": 1,
        "witness": 1,
        "twin": 3,
        "invariant": 3,
        "subject": 1,
        "runtime twin": 1,
    }
    assert set(report.answers) == set(report.asked)
    assert report.verdict.passes


def test_the_same_class_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[type[Model]] = []

    def counting(cls: type[Model], **options: Any) -> Result:
        searched.append(cls)
        return check(cls, **options)

    monkeypatch.setattr("falsework.gate.check", counting)
    gate([LOCKS])
    assert len(searched) == len(set(searched)) == 5  # the lock, its configuration, three twins


# --- not as declared ----------------------------------------------------------------------------------------


def test_everything_that_is_not_as_declared_is_red_and_shown(golden: Callable[[str, str], None]) -> None:
    said = falsework("gate", GAUGES)
    assert said.code == 10
    golden("gate/not_as_declared", said.all)


MODEL = '''"""A door."""
from falsework.language import Model, action, invariant, reachable, require, twin

class {name}(Model):
    """A door with a lock."""
    open: bool = False
    locked: bool = False

    def may_open(self) -> bool:
        return {guard}

    @action
    def push(self) -> None:
        require(self.may_open())
        self.open = True

    @action
    def pull(self) -> None:
        require(self.open)
        self.open = False

    @action
    def turn(self) -> None:
        require(not self.open)
        self.locked = not self.locked

    @invariant
    def a_locked_door_is_closed(self) -> bool:
        return not (self.open and self.locked)

    @reachable
    def it_is_open(self) -> bool:
        return self.open

{more}
'''
TWIN = '''
@twin(breaks={{{name}.a_locked_door_is_closed: 2}})
class Forced({name}):
    """Whoever pushes hard enough comes in."""
    def may_open(self) -> bool:
        return True
'''


def door(folder: Path, name: str, guard: str = "not self.open and not self.locked", more: str = TWIN) -> str:
    """A file with that door; the name makes its module another one."""
    path = folder / f"{name.lower()}.py"
    path.write_text(MODEL.format(name=name, guard=guard, more=more.format(name=name)), encoding="utf-8")
    return str(path)


def test_a_model_that_lost_a_guard_is_red_with_a_counterexample_to_read(tmp_path: Path) -> None:
    assert falsework("gate", door(tmp_path, "WholeDoor")).code == 0
    said = falsework("gate", door(tmp_path, "DoorWithoutOneGuard", guard="not self.open"))
    assert said.code == 10
    text = said.out
    assert re.search(r"a_locked_door_is_closed +in 2 steps", text)  # turn the key, push
    assert "1  turn()" in text
    assert "2  push()" in text
    assert "return not (self.open and self.locked)" in text or "not (open and locked)" in text


def test_an_invariant_that_no_twin_breaks_is_red(tmp_path: Path) -> None:
    said = falsework("gate", door(tmp_path, "DoorWithoutTwins", more=""))
    assert said.code == 10
    assert "no twin breaks a_locked_door_is_closed" in said.out


def test_a_witness_that_is_not_reached_is_vacuous(tmp_path: Path) -> None:
    report = gate([door(tmp_path, "DoorThatStaysShut", guard="self.open and not self.locked")])
    assert report.exit_code == 11
    answers = {a.name: report.answers[a] for a in report.asked if a.kind == "witness"}
    assert answers["it_is_open"].verdict is Verdict.VACUOUS
    assert answers["it_is_open"].word == "not reached"


# --- not checked --------------------------------------------------------------------------------------------


def test_a_bound_that_ends_the_search_is_incomplete() -> None:
    report = gate([LOCKS], max_states=2)
    assert report.exit_code == 12
    assert "not decided" in {answer.word for answer in report.answers.values()}


def test_what_was_asked_and_not_answered_is_not_checked() -> None:
    def stop(answer: object) -> None:
        raise KeyboardInterrupt

    report = gate([LOCKS], heard=stop)
    assert len(report.answers) == 1
    assert report.unanswered == report.asked[1:]
    assert report.exit_code == 12
    text = gate_text(report)
    assert "answered 1 of 9 · incomplete" in text.splitlines()[0]
    assert re.search(r"twin +FreeByAnybody +NOT CHECKED", text)


def test_steps_that_were_not_driven_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver._Driver, "walk", lambda _: None)
    report = conform(RIGHT)
    assert report.exit_code == 12
    answer = report.answers[Asked("Lock", "subject", RIGHT)]
    assert (answer.word, answer.problems[0].text) == (
        "NOT CHECKED",
        "20 transitions and 8 refusals were not driven",
    )


# --- bad names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("gate", "leese"), "no model 'leese'; did you mean lease?"),
        (("gate", f"{LOCKS}:Lok"), "did you mean Lock?"),
        (("gate", f"{LOCKS}:FreeByAnybody"), "is a twin of Lock; write the model"),
        (("gate", LOCKS, "--subject", f"{LOCKS}:RightLok"), "did you mean RightLock?"),
        (("gate", LOCKS, "--subject", f"{LOCKS}:LockServer"), "is no subject: it has no model"),
        (("gate", GAUGES, "--subject", RIGHT), "is driven along locks:Lock, which is none of"),
        (("conform", "leese"), "no subject 'leese'; did you mean lease?"),
        (("conform", f"{LOCKS}:Nothing"), "has no class 'Nothing'"),
    ],
)
def test_a_name_that_is_not_known_is_bad_input(arguments: tuple[str, ...], told: str) -> None:
    said = falsework(*arguments)
    assert said.code == 13
    assert told in said.err
    assert said.out == ""


def test_a_model_that_is_defined_wrongly_is_an_answer_and_bad(tmp_path: Path) -> None:
    text = MODEL.format(name="DoorWithAGuardTooLate", guard="True", more="")
    path = tmp_path / "late.py"
    path.write_text(
        text.replace(
            "        require(not self.open)\n        self.locked = not self.locked\n",
            "        self.locked = not self.locked\n        require(not self.open)\n",
        ),
        encoding="utf-8",
    )
    said = falsework("gate", str(path))
    assert said.code == 13
    assert "M011" in said.out
    assert "asked 1 model" in said.out.splitlines()[0]


# --- the other formats --------------------------------------------------------------------------------------


def test_every_format_says_the_same() -> None:
    report = gate([GAUGES])
    document = gate_document(report)
    data = json.loads(render(document, "json"))
    assert (data["verdict"], data["exit_code"]) == ("NOT AS DECLARED", 10)
    assert len(data["items"]) == len(report.asked)
    gates = {(item["gate"]["kind"], item["gate"]["name"]): item for item in data["items"]}
    assert gates["twin", "NotWrong"]["gate"]["problems"][0]["word"] == "survived"
    assert gates["twin", "Overfilled"]["status"] == "pass"
    suite = ET.fromstring(render(document, "junit"))  # noqa: S314 - our own text
    red = sum(not answer.verdict.passes for answer in report.answers.values())
    assert int(suite.get("failures", "0")) + int(suite.get("errors", "0")) == red
    assert json.loads(render(document, "sarif"))["runs"][0]["results"]
    assert "SURVIVED" in render(document, "markdown")


# --- the lease ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_runtime_that_lost_a_guard_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def has_standing(self: LeaseHost, row: LeaseRow, holder: str, now: int) -> bool:
        return not self.ended(row, now)  # whose the lease is, is no longer asked

    monkeypatch.setattr(LeaseHost, "has_standing", has_standing)
    said = falsework("conform", "lease")
    assert said.code == 10
    assert "DIVERGES  subject lease" in said.out
    # One takes, and the other asks what is left of it: two steps.
    assert re.search(r"2 +remaining\(1\)\n +before +expected +observed\n +answer +- +3 +<", said.out)
    assert "remaining_answers_the_truth  in 2 steps, as observed" in said.out
    assert re.search(r"remaining_answers_the_truth +holds +violated", said.out)


@pytest.mark.slow
def test_the_lease_is_as_declared() -> None:
    report = gate(["lease"])
    red = [answer.asked for answer in report.answers.values() if not answer.verdict.passes]
    assert (red, report.unanswered, report.exit_code) == ([], [], 0)
    text = gate_text(report)
    assert "lease: twin × invariant" in text
    assert "lease: surface × invariant" in text


def test_a_twin_is_no_model_to_gate() -> None:
    with pytest.raises(InputError, match="is a configuration of Lock"):
        gate([f"{LOCKS}:ThreeWorkers"])


def test_the_lease_that_lost_a_guard_is_red(tmp_path: Path) -> None:
    source = Path(lease_module.__file__).read_text(encoding="utf-8")
    guard = "require(all(deadline is None or deadline > 0 for deadline in self.waiting.values()))"
    assert guard in source
    copy = tmp_path / "lease_that_oversleeps.py"
    copy.write_text(source.replace(guard, "pass"), encoding="utf-8")
    said = falsework("gate", str(copy))
    assert said.code == 10
    # Both take, three ticks to the end of the lease, and one more: WaitOverslept says the same.
    assert "violated: nobody_waits_past_the_deadline is broken in 6 steps" in said.out
    steps = "ask(0) ask(1) pass_time() pass_time() pass_time() pass_time()"
    assert f"falsework replay {copy}:Lease '{steps}'" in said.out


# --- several files ------------------------------------------------------------------------------------------

ELSEWHERE = '''"""A twin apart from its model."""
from falsework.language import twin
from {module} import {name}

@twin(breaks={{{name}.a_locked_door_is_closed: 2}})
class {twin}({name}):
    """Whoever asks twice comes in."""
    def may_open(self) -> bool:
        return not self.open
'''


def apart(folder: Path, name: str, twin: str) -> str:
    """A file beside the door's with a twin of it, and a model of its own."""
    own = MODEL.partition("\n\n")[2].format(
        name=f"{name}Too", guard="not self.open and not self.locked", more=""
    )
    head = MODEL.partition("\n\n")[0].partition("\n")[2]
    path = folder / f"{name.lower()}_apart.py"
    text = ELSEWHERE.format(module=name.lower(), name=name, twin=twin)
    path.write_text(f"{text}\n{head}\n{own}{TWIN.format(name=f'{name}Too')}", encoding="utf-8")
    return str(path)


def test_a_twin_in_a_later_file_is_asked_whatever_the_order_of_the_files(tmp_path: Path) -> None:
    files = [door(tmp_path, "DoorOfTwoFiles"), apart(tmp_path, "DoorOfTwoFiles", "Polite")]
    for names in (files, files[::-1]):
        report = gate(names)
        assert {a.name for a in report.asked if a.kind == "twin"} == {"Forced", "Polite"}
        assert report.verdict.passes


def test_a_twin_whose_model_is_not_asked_is_no_pass(tmp_path: Path) -> None:
    door(tmp_path, "DoorUnasked")
    path = apart(tmp_path, "DoorUnasked", "Polite")
    with pytest.raises(InputError, match=r"the twin Polite would not be asked.*doorunasked:DoorUnasked"):
        gate([path])
    assert gate([f"{path}:DoorUnaskedToo"]).verdict.passes


def test_two_twins_of_one_name_are_told_apart_by_their_author(tmp_path: Path) -> None:
    files = [door(tmp_path, "DoorTwiceForced"), apart(tmp_path, "DoorTwiceForced", "Forced")]
    with pytest.raises(InputError, match=r"two twins of \S+ are named Forced: \S+:\d+ and \S+:\d+"):
        gate(files)


def test_twins_that_a_function_makes_are_all_asked_or_none(tmp_path: Path) -> None:
    made = (
        "\ndef made(word):\n"
        + TWIN.replace("\n", "\n    ").rstrip().replace("True", "word")
        + "\n    return Forced\n"
    )
    path = door(tmp_path, "DoorMadeTwice", more=f"{made}\nONE, TWO = made(True), made(False)\n")
    with pytest.raises(InputError, match=r"two twins of .* are named Forced"):
        gate([path])


def test_a_file_of_twins_alone_is_asked_beside_its_model_and_not_without(tmp_path: Path) -> None:
    model, twins = door(tmp_path, "DoorBesideTwins"), tmp_path / "twins_of_a_door.py"
    names = {"module": "doorbesidetwins", "name": "DoorBesideTwins", "twin": "Polite"}
    twins.write_text(ELSEWHERE.format(**names), encoding="utf-8")
    for asked in ([model, str(twins)], [str(twins), model]):
        report = gate(asked)
        assert {a.name for a in report.asked if a.kind == "twin"} == {"Forced", "Polite"}
        assert report.verdict.passes
    with pytest.raises(InputError, match="the twin Polite would not be asked, for its model is not"):
        gate([LOCKS, str(twins)])
    with pytest.raises(InputError, match="holds twins and configurations only; name one"):
        gate([str(twins)])
