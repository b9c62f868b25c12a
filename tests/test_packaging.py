"""What a user installs is what the folders hold: the wheel is built, installed elsewhere and used there."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import falsework

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {"checker": "falsework", **{room: f"falsework/{room}" for room in ("models", "twins", "runtime")}}
NEEDED = {".py", ".c", ".h", ".json", ".sql", ".toml", ".yaml"}
PUBLIC = "from falsework import Model, action, invariant, require, check"


def needed_files() -> dict[str, Path]:
    """Each file of the four folders that the installed packages need, by its name in the wheel."""
    return {
        (Path(room) / path.relative_to(ROOT / folder)).as_posix(): path
        for folder, room in ROOMS.items()
        for path in (ROOT / folder).rglob("*")
        if (path.suffix in NEEDED or path.name == "py.typed") and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy: a build inside the checkout would pick up what an earlier build left."""
    copy, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for folder in ROOMS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("falsework-*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the installed wheel and nothing else, not even its dependencies."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-index", "--no-compile", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True)
    return target


def python_elsewhere(installed: Path, code: str) -> subprocess.CompletedProcess[str]:
    """The code run beside the checkout, seeing the installed wheel and the standard library alone."""
    elsewhere = installed.with_name("elsewhere")
    elsewhere.mkdir(exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [
            sys.executable,
            "-S",
            "-W",
            "error",
            "-c",
            f"import sys; sys.path.insert(0, {str(installed)!r})\n{code}",
        ],
        cwd=elsewhere,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tests_run_against_the_checkout() -> None:
    """Otherwise everything else here would judge a stale copy."""
    assert falsework.__file__ == str(ROOT / "checker" / "__init__.py")


def test_the_wheel_holds_every_needed_file_and_no_other(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("falsework-")}
    needed = needed_files()
    assert {"falsework/py.typed", "falsework/models/classics/__init__.py"} <= set(needed)
    missing, foreign = sorted(set(needed) - packed), sorted(packed - set(needed))
    assert missing == [], "add the package to [tool.setuptools] packages and package-dir"
    assert foreign == []


def test_the_files_of_the_wheel_are_those_of_the_folders(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        assert [
            name
            for name, path in needed_files().items()
            if name in packed and archive.read(name) != path.read_bytes()
        ] == []


def test_no_folder_hides_another() -> None:
    """checker/models.py would be falsework.models a second time."""
    inside = {path.name.removesuffix(".py") for path in (ROOT / "checker").iterdir()}
    assert inside & set(ROOMS) == set()


def test_the_packages_and_their_folders_are_the_same_list() -> None:
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert sorted(tables["packages"]) == sorted(tables["package-dir"])


def test_the_installed_package_works_from_elsewhere_without_any_dependency(installed: Path) -> None:
    done = python_elsewhere(installed, f"{PUBLIC}\nimport falsework; print(falsework.__file__)")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(installed / "falsework" / "__init__.py")


def test_the_version_is_said_once(wheel: Path) -> None:
    assert wheel.name == f"falsework-{falsework.__version__}-py3-none-any.whl"
