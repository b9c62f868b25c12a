"""How a model is found by a name: never a second copy, and every slip is met with what is known."""

import sys
from pathlib import Path

import pytest

import models_for_reports as models
import models_for_walks as small
from command_line import MODELS, ROOT
from falsework.definition import definition_of
from falsework.errors import InputError
from falsework.naming import (
    configurations_of,
    configured,
    find,
    import_module,
    setting,
    subject_of,
    twins_of,
    with_constants,
    within,
)

SOURCE = """
from falsework.language import Model, action, invariant, twin
class {name}(Model):
    on: bool = False
    @action
    def switch(self) -> None:
        self.on = not self.on
    @invariant
    def is_on_or_off(self) -> bool:
        return self.on or not self.on
"""


@pytest.fixture(autouse=True)
def _path_and_modules_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", sys.modules)


def test_a_path_and_a_module_name_are_one_class() -> None:
    by_path = find(f"{MODELS}:Lease")[0].cls
    by_module = find("models_for_reports:Lease")[0].cls
    assert by_path is by_module is models.Lease


@pytest.mark.parametrize("path", ["models/lease.py", "./models/../models/lease.py"])
def test_a_file_of_our_own_is_the_shipped_module(path: str) -> None:
    by_path = find(f"{path}:Lease")[0].cls
    assert by_path is find("lease")[0].cls is find("falsework.models.lease:Lease")[0].cls


def test_a_file_beside_one_is_named_by_its_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job_queue.py").write_text(SOURCE.format(name="JobQueue"), encoding="utf-8")
    with pytest.raises(InputError, match=r"no model 'job_queue'; did you mean job_queue\.py\?"):
        find("job_queue")


@pytest.mark.parametrize("name", ["random", "queue"])
def test_a_file_that_hides_a_module_of_python_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text(SOURCE.format(name="Switch"), encoding="utf-8")
    before = list(sys.path)
    with pytest.raises(InputError, match=f"{name}.py has the name of Python's own module {name}"):
        find(f"{tmp_path / name}.py:Switch")
    assert sys.path == before


def test_a_shipped_name_reaches_its_twins() -> None:
    twin = twins_of(find("lease")[0].cls)[0]
    assert find(f"lease:{twin.__name__}")[0].cls is twin
    assert find(f"lease.{twin.__name__}")[0].cls is twin
    assert find(find(f"lease.{twin.__name__}")[0].name)[0].cls is twin


def test_a_shipped_name_reaches_what_is_bound_to_its_models_from_another_file() -> None:
    race = "recoverable_invocation.race"
    for name, file in (("OpenInTheBackground", "race_rules"), ("JournalAhead", "race_limits")):
        (found,) = find(f"{race}:{name}")
        assert (found.name, found.cls.__module__.rpartition(".")[2]) == (f"{race}:{name}", file)


def test_a_prefix_names_every_slice() -> None:
    found = find("classics")
    assert len(found) > 1
    assert all(named.name.startswith("classics.") for named in found)
    assert all(find(named.name)[0].cls is named.cls for named in found)


def test_a_file_in_a_package_of_the_users_own(tmp_path: Path) -> None:
    package = tmp_path / "warehouse"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "stock.py").write_text(SOURCE.format(name="Stock"), encoding="utf-8")
    found = find(f"{package / 'stock.py'}:Stock")[0].cls
    assert found.__module__ == "warehouse.stock"
    assert find("warehouse.stock:Stock")[0].cls is found


def test_a_file_whose_name_is_no_module_name(tmp_path: Path) -> None:
    path = tmp_path / "my first-model.py"
    path.write_text(SOURCE.format(name="First"), encoding="utf-8")
    first, second = find(f"{path}:First")[0].cls, find(str(path))[0].cls
    assert first is second


@pytest.mark.parametrize(
    "name, told",
    [
        ("leese", "no model 'leese'; did you mean lease?"),
        ("lease.Laese", "lease has no model 'Laese'; did you mean Lease?"),
        ("classics.bakerie", "no model 'classics.bakerie'; did you mean classics.bakery?"),
        ("classics.bakerie:Bakery", "no model 'classics.bakerie'; did you mean classics.bakery?"),
        ("nowhere.models:Lease", "no module nowhere"),
        ("falsework.models.nothing:Lease", "no module falsework.models.nothing"),
        ("nowhere.py:Lease", "no file nowhere.py"),
        ("README.md/x", "README.md/x is no Python file"),
        ("json:Lease", "json has no model 'Lease'; known: none"),
        ("twins/lease.py", "holds twins and configurations only; name one, such as twins/lease.py:"),
        ("command_line.py:Said", "no file command_line.py"),
        (f"{MODELS}:ROOT", "has no model 'ROOT'"),
    ],
)
def test_a_slip_is_met_with_what_is_known(name: str, told: str) -> None:
    with pytest.raises(InputError) as problem:
        find(name)
    assert told in str(problem.value)


@pytest.mark.parametrize(
    "text, told",
    [
        ("def broken(:\n", ":1: invalid syntax"),
        ("import nothing_of_that_name\n", ":1: "),
        ("x = 1\nraise ValueError('no')\n", ":2: "),
        ("import sys\nsys.exit(0)\n", ":2: "),
        ("x = 1\n", "defines no model; write one: class Name(Model)"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_at_which_line(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / f"wrong{abs(hash(text))}.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as problem:
        find(str(path))
    assert told in str(problem.value)


def test_a_missing_module_inside_a_module_is_not_the_module(tmp_path: Path) -> None:
    (tmp_path / "asks_for_more.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    with pytest.raises(InputError, match=r"asks_for_more cannot be imported.*nothing_of_that_name"):
        import_module("asks_for_more")


def test_a_shipped_module_that_misses_a_library_says_which_extra_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("falsework.runtime.subjects.lease", "falsework.runtime.store.sqlite", "apsw"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "apsw", None)
    with pytest.raises(
        InputError, match=r"import of apsw halted.*\nwrite: pip install 'falsework\[runtime\]'"
    ):
        import_module("falsework.runtime.subjects.lease")


# --- configurations, twins, constants -------------------------------------------------------------------


def test_what_belongs_to_a_model() -> None:
    assert configurations_of(models.Lease) == [models.ThreeWorkers]
    assert twins_of(models.Lease) == [models.StoreWithoutFencing, models.TokenOfAnother]
    assert twins_of(models.Stuck) == []
    assert subject_of(models.TokenOfAnother) is subject_of(models.ThreeWorkers) is models.Lease


@pytest.mark.parametrize("name", ["ThreeWorkers", "three-workers", "three_workers"])
def test_a_configuration_is_found_however_it_is_spelled(name: str) -> None:
    assert configured(models.Lease, name) is models.ThreeWorkers
    assert definition_of(configured(models.StoreWithoutFencing, name)).constants["WORKERS"] == 3


def test_the_default_configuration_is_the_class_itself() -> None:
    assert configured(models.TokenOfAnother, "default") is models.TokenOfAnother


CONFIGURED = """
from typing import ClassVar
from falsework.language import configuration
class {name}(Model):
    SIZE: ClassVar[int] = 1
    on: bool = False
    @action
    def switch(self) -> None:
        self.on = not self.on
"""


def test_a_configuration_is_meant_before_the_class_of_the_same_name(tmp_path: Path) -> None:
    text = SOURCE.format(name="Other") + CONFIGURED.format(name="Small")
    for number, name in enumerate(("Default", "SMALL", "Twice", "Twi_ce"), 2):
        text += f"@configuration(holds=True)\nclass {name}(Small):\n    SIZE = {number}\n"
    (tmp_path / "defaults.py").write_text(text, encoding="utf-8")
    small = find(f"{tmp_path / 'defaults.py'}:Small")[0].cls
    asked = {name: configured(small, name) for name in ("default", "Default", "small", "Twice", "Twi_ce")}
    assert [definition_of(cls).constants["SIZE"] for cls in asked.values()] == [2, 2, 3, 4, 5]
    with pytest.raises(
        InputError, match=r"Small has 2 configurations 'twice': defaults:Twice or defaults:Twi"
    ):
        configured(small, "twice")


def test_files_of_one_name_in_several_folders_are_modules_of_their_own(tmp_path: Path) -> None:
    for size in (1, 2, 3):
        folder = tmp_path / str(size)
        folder.mkdir()
        text = "from __future__ import annotations\nfrom typing import Annotated\n"
        text += "from falsework.language import Model, Upto, action\n"
        text += f"Count = Annotated[int, Upto({size})]\n"
        text += "class Counted(Model):\n    seen: Count = 0\n"
        text += "    @action\n    def see(self, seen: Count) -> None:\n        self.seen = seen\n"
        (folder / "of_one_name.py").write_text(text, encoding="utf-8")
    found = [find(f"{tmp_path / str(size)}/of_one_name.py:Counted")[0].cls for size in (1, 2, 3)]
    assert [str(definition_of(cls).variables[0].domain) for cls in found] == ["0..1", "0..2", "0..3"]
    assert find(f"{tmp_path}/2/of_one_name.py:Counted")[0].cls is found[1]


def test_classes_of_one_name_are_named_by_what_they_are_bound_to(tmp_path: Path) -> None:
    made = SOURCE.format(name="Made").replace("\n", "\n    ").replace("\n    from", "\nfrom", 1)
    text = made.replace("\n    class", "\ndef made():\n    class", 1)
    path = tmp_path / "made_twice.py"
    path.write_text(f"{text}return Made\nOne = made()\nTwo = made()\n", encoding="utf-8")
    found = find(str(path))
    assert [named.name for named in found] == [f"{path}:One", f"{path}:Two"]
    assert all(find(named.name)[0].cls is named.cls for named in found)


def test_a_twin_within_a_configuration_keeps_what_it_bends() -> None:
    bent = within(models.StoreWithoutFencing, models.ThreeWorkers)
    assert bent.__mro__.index(models.StoreWithoutFencing) < bent.__mro__.index(models.ThreeWorkers)
    assert subject_of(bent) is models.Lease
    assert within(models.ThreeWorkers, models.ThreeWorkers) is models.ThreeWorkers


def test_a_setting_is_the_twin_and_the_clean_model_beside_it() -> None:
    twin, clean = setting(models.TokenOfAnother)
    assert clean is models.ThreeWorkers
    assert definition_of(twin).constants == definition_of(clean).constants
    assert setting(models.StoreWithoutFencing) == (models.StoreWithoutFencing, models.Lease)
    assert setting(models.Lease) == (models.Lease, models.Lease)


def test_other_constants_make_another_class_and_leave_the_first_alone() -> None:
    other = with_constants(models.Lease, {"WORKERS": "3", "GRANTS": 1})
    assert dict(definition_of(other).constants) == {"WORKERS": 3, "GRANTS": 1}
    assert dict(definition_of(models.Lease).constants) == {"WORKERS": 2, "GRANTS": 3}
    assert definition_of(other).digest != definition_of(models.Lease).digest


@pytest.mark.parametrize(
    "name, text, told",
    [
        ("WORKER", "3", "no constant 'WORKER'; did you mean WORKERS?"),
        ("WORKERS", "three", "WORKERS=three: write an int"),
        ("ASK", "maybe", "ASK=maybe: write true or false"),
        ("KIND", "INTEND", "KIND=INTEND; did you mean INTENT?"),
        ("ORDER", "1", "ORDER is a tuple, which the command line cannot write; declare a configuration"),
    ],
)
def test_a_constant_that_cannot_be_read(name: str, text: str, told: str) -> None:
    with pytest.raises(InputError) as problem:
        with_constants(small.Constants, {name: text})
    assert told in str(problem.value)


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("ASK", "yes", True),
        ("ASK", "0", False),
        ("KIND", "OUTCOME", models.Kind.OUTCOME),
        ("WORKERS", "-", None),
    ],
)
def test_a_constant_is_read_as_its_own_type(name: str, text: str, value: object) -> None:
    assert definition_of(with_constants(small.Constants, {name: text})).constants[name] is value
