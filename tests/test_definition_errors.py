"""Every mistake in defining a model: its number, its line, what was found there and what to write instead."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bad_model import DOOR, cases, gathering, load, module_of
from falsework.definition import definition_of
from falsework.errors import DefinitionError

CASES = cases()
ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "M001": "a source that cannot be read has no file to be written in: below",
    "M016": "comparing an Elapsed with what exceeds its cap takes intervals: test_refusals.py",
}


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The modules of a test are forgotten after it, and their places are printed relative to its folder."""
    monkeypatch.chdir(tmp_path)
    yield
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_named_where_it_stands(
    name: str, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    code, text = CASES[name]
    path = tmp_path / "model.py"
    with pytest.raises(DefinitionError) as caught:
        gathering(path, text)()
    error = caught.value
    assert error.code == code
    assert (error.place is None) == (code == "M000")
    line = ""
    if error.place is not None and error.place.file == "model.py":
        line = f"  there: {path.read_text(encoding='utf-8').splitlines()[error.place.line - 1].strip()}\n"
    golden(f"definition_errors/{name}", f"{error}\n{line}")


def test_the_door_that_the_bad_models_bend_is_good(tmp_path: Path) -> None:
    definition = definition_of(module_of(tmp_path / "model.py", DOOR).Door)
    assert [action.name for action in definition.actions] == ["open", "close"]


def test_a_model_without_a_source_says_so(golden: Callable[[str, str], None]) -> None:
    names: dict[str, type] = {}
    exec(compile(DOOR, "<prompt>", "exec"), names)  # noqa: S102  a prompt is what has no file
    with pytest.raises(DefinitionError) as caught:
        definition_of(names["Door"])
    golden("definition_errors/M001-a-prompt", f"{caught.value}\n")


def test_a_model_edited_since_it_was_imported_says_so(
    tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    module = module_of(tmp_path / "model.py", DOOR)
    (tmp_path / "model.py").write_text(f"\n\n{DOOR}", encoding="utf-8")
    with pytest.raises(DefinitionError) as caught:
        definition_of(module.Door)
    golden("definition_errors/M001-an-edit", f"{caught.value}\n")


def test_a_property_of_a_second_copy_of_the_module_is_no_property(
    tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    module_of(tmp_path / "door.py", DOOR)
    load(tmp_path / "door.py", "copy_of_door")
    text = (
        "from copy_of_door import Door as Copy\nfrom door import Door\nfrom falsework import twin\n\n\n"
        "@twin(breaks={Copy.is_shut: 1})\n"
        "class Bad(Door):\n    def ready(self) -> bool:\n        return True\n"
    )
    with pytest.raises(DefinitionError) as caught:
        definition_of(module_of(tmp_path / "twins.py", text).Bad)
    golden("definition_errors/M022-a-second-copy", f"{caught.value}\n")


def test_a_mistake_is_met_again_each_time(tmp_path: Path) -> None:
    module = module_of(tmp_path / "model.py", DOOR + CASES["M003-an-unbounded-int"][1])
    for _ in range(2):
        with pytest.raises(DefinitionError, match="M003"):
            definition_of(module.Bad)
    with pytest.raises(DefinitionError, match="M003"):
        module.Bad()


KNOWN_AFTER_ALL = """
class Wide(Record):
    colour: Colour | None = None


class Names(Door):
    worn: Wide | None = None
    last: Number | None = None

    def newest(self) -> Number | None:
        return self.last

    @action
    def each_case(self, colour: Colour) -> Number:
        if colour is Colour.RED:
            return 1
        if colour is Colour.GREEN:
            return 2

    @action
    def each_case_otherwise(self, colour: Colour, number: Number) -> Number:
        if number:
            for other in self.queue:
                if other != number:
                    return other
        else:
            match colour:
                case Colour.RED:
                    return 1
                case Colour.GREEN:
                    if number == 0:
                        return 1
                    elif number > 0:
                        return 2

    @action
    def perhaps(self) -> Number | None:
        if self.shut:
            return 1

    @action
    def turn(self, key: Number) -> None:
        import functools as tools
        require(all(held or other == key for other, held in self.held.items()))
        require((least := min([one for one in self.waiting], default=0)) <= key)
        require(tools.reduce(lambda sum_so_far, one: sum_so_far + one, [1, 2]) == 3)
        given(self.newest())
        worn = self.worn
        colour: "NoSuchName" = None if worn is None else worn.colour
        match self.issued:
            case 0 as none_yet:
                self.issued = none_yet
            case several:
                self.issued = several
        try:
            self.shut = least == key
        except ValueError as problem:
            raise problem
        require_later = LATER

    @invariant
    def of_a_class(self) -> bool:
        return __class__ is not None and self.wing.colour is not Colour.GREEN and self.shut is True


class Narrower(Names):
    last: Number = 0

    def newest(self) -> Number:
        return 0

    @action
    def forget(self) -> None:
        given(self.last if self.shut else None)


LATER = 3
"""


def test_a_name_that_something_binds_is_no_mistake(tmp_path: Path) -> None:
    module = module_of(tmp_path / "model.py", DOOR + KNOWN_AFTER_ALL)
    for cls in (module.Names, module.Narrower):
        assert {"turn", "perhaps", "each_case"} < {action.name for action in definition_of(cls).actions}


# --- the table of the errors -------------------------------------------------------------------


def codes_in_the_source() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "checker").rglob("*.py"))]
    return {code for text in texts for code in re.findall(r'"([MP]\d{3})"', text)}


def codes_in_the_table() -> list[str]:
    return re.findall(
        r"^\| ([MP]\d{3}) \|", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_the_table_lists_the_codes_of_the_source_in_order() -> None:
    table = codes_in_the_table()
    assert table == sorted(set(table))
    assert set(table) == codes_in_the_source()


def test_the_example_of_the_table_is_what_is_printed() -> None:
    printed = (ROOT / "tests" / "golden" / "definition_errors" / "M006-a-misspelled-variable.txt").read_text()
    example = "\n".join(printed.splitlines()[:2])
    assert f"```\n{example}\n```" in (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def test_every_code_of_a_definition_is_tried() -> None:
    tried = {code for code, _ in CASES.values()} | set(ELSEWHERE)
    assert tried == {code for code in codes_in_the_table() if code.startswith("M")}
