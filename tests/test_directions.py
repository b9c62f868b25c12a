"""The import directions can fail, and the tree that mypy sees is the folders."""

import shutil
from pathlib import Path

import pytest
from grimp import ImportGraph

import tree
from rooms import Rooms

ROOMS = ["kit -> rich", "kit.words ->", "kit.models -> kit.words", "rich ->"]


def broken(importer: str, imported: str) -> list[str]:
    """What the contract says of a graph with this one import."""
    graph = ImportGraph()
    for module in (importer, imported):
        graph.add_module(module)
    graph.add_import(importer=importer, imported=imported, line_number=3, line_contents="import it")
    contract = Rooms(name="rooms", session_options={}, contract_options={"rooms": ROOMS})
    found = contract.check(graph, verbose=False).metadata["broken"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    "importer, imported",
    [
        ("kit.models.lease", "kit.words"),
        ("kit.models.lease", "kit.models.pair"),
        ("kit", "rich"),
        ("kit", "json"),
    ],
)
def test_an_allowed_import_is_kept(importer: str, imported: str) -> None:
    assert broken(importer, imported) == []


@pytest.mark.parametrize(
    "importer, imported",
    [
        ("kit.models.lease", "kit.search"),
        ("kit.search", "kit.models"),
        ("kit.models.lease", "rich"),
        ("kit.words.x", "kit"),
    ],
)
def test_a_forbidden_import_is_named_with_its_line(importer: str, imported: str) -> None:
    (line,) = broken(importer, imported)
    assert line.startswith(f"{importer}:3 imports {imported} ")


def test_a_name_that_only_begins_like_a_room_is_outside_it() -> None:
    assert broken("kit.models_of_the_world", "rich") == []


def test_the_tree_follows_the_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "ROOT", tmp_path)
    monkeypatch.setattr(tree, "TREE", tmp_path / "build" / "tree")
    for name in ("checker/a.py", "checker/b.py", "models/deep/c.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}", encoding="utf-8")
    tree.sync()
    shutil.rmtree(tmp_path / "models")
    (tmp_path / "checker" / "b.py").write_text("# changed", encoding="utf-8")
    tree.sync()
    laid = {path.relative_to(tree.TREE).as_posix(): path.read_text() for path in tree.TREE.rglob("*.py")}
    assert laid == {"falsework/a.py": "# checker/a.py", "falsework/b.py": "# changed"}


def test_a_module_that_would_hide_a_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "ROOT", tmp_path)
    (tmp_path / "checker").mkdir()
    (tmp_path / "checker" / "models.py").write_text("", encoding="utf-8")
    with pytest.raises(
        SystemExit, match=r"checker/models\.py has the name of a package that another folder holds"
    ):
        tree.sync()


def test_the_tools_name_the_folders() -> None:
    said = "build/tree/falsework/models/lease.py:3: error\nbuild/tree/falsework/explore.py:9: error\n"
    assert tree.folders_again(said) == "models/lease.py:3: error\nchecker/explore.py:9: error\n"
