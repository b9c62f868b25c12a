"""What the lowering refuses: its number, its line, what was found there and what to write instead."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import pytest

from bad_model import gathering
from falsework import lower as lowering
from falsework.check import check
from falsework.definition import definition_of
from falsework.errors import DefinitionError, Refused
from falsework.language import Model, Upto, action
from falsework.lower import lower

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "P008": "instances are counted below",
    "P010": "deep models are made in test_lowering_size.py",
}


def cases() -> dict[str, tuple[str, str]]:
    """Each case by its name, with its code and its text."""
    text = (Path(__file__).parent / "refusals.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^=== (\w+) (.+)\n", text, flags=re.MULTILINE)
    return {
        f"{code}-{re.sub(r'[^a-z]+', '-', title.lower())}": (code, body)
        for code, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


CASES = cases()


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The modules of a test are forgotten after it, and their places are printed relative to its folder."""
    monkeypatch.chdir(tmp_path)
    yield
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("name", CASES)
def test_a_refusal_is_named_where_it_stands(
    name: str, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    code, text = CASES[name]
    path = tmp_path / "model.py"
    definition = gathering(path, text)()
    with pytest.raises(DefinitionError if code.startswith("M") else Refused) as caught:
        lower(definition)
    error = caught.value
    assert error.code == code
    assert error.place is not None
    assert error.place.file == "model.py"
    line = path.read_text(encoding="utf-8").splitlines()[error.place.line - 1].strip()
    golden(f"refusals/{name}", f"{error}\n  there: {line}\n")


class Wide(Model):
    """Nine instances of one action."""

    x: Annotated[int, Upto(2)] = 0

    @action
    def put(self, x: Annotated[int, Upto(2)], _: Annotated[int, Upto(2)]) -> None:
        self.x = x


def test_many_instances_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "MOST_INSTANCES", 8)
    with pytest.raises(Refused, match="more than 8 instances of actions") as caught:
        lower(definition_of(Wide))
    assert caught.value.code == "P008"
    assert caught.value.place == definition_of(Wide).actions[0].place
    monkeypatch.setattr(lowering, "MOST_INSTANCES", 9)
    assert len(lower(definition_of(Wide)).instances) == 9


def test_every_refusal_of_the_lowering_is_tried() -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "checker").glob("lower*.py"))]
    raised = {code for source in sources for code in re.findall(r'"([MP]\d{3})"', source)}
    assert {code for code, _ in CASES.values()} | ELSEWHERE.keys() == raised


@pytest.mark.parametrize("engine", ["auto", "explore", "fast"])
def test_a_time_compared_above_its_cap_is_a_mistake_whatever_the_engine(engine: str, tmp_path: Path) -> None:
    definition = gathering(tmp_path / "model.py", CASES["M016-above-the-cap"][1])()
    with pytest.raises(DefinitionError, match="M016"):
        check(definition.cls, engine=engine)


@pytest.mark.parametrize("engine", ["auto", "explore", "fast", "native"])
def test_the_identity_of_numbers_is_a_mistake_whatever_the_engine(engine: str, tmp_path: Path) -> None:
    definition = gathering(
        tmp_path / "model.py", CASES["M034-identity-of-numbers-whose-kinds-the-lowering-sees"][1]
    )()
    with pytest.raises(DefinitionError, match=r"M034 self.issued is self.most"):
        check(definition.cls, engine=engine)


def test_a_refused_model_is_checked_on_the_class(tmp_path: Path) -> None:
    definition = gathering(tmp_path / "model.py", CASES["P001-an-assertion"][1])()
    result = check(definition.cls)
    assert result.engine == "explore"
    assert result.why.startswith("fast refuses the model: P001 at model.py:")
    with pytest.raises(Refused):
        check(definition.cls, engine="fast")
