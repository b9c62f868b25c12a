"""Lays the four folders under their import names in build/tree, and runs mypy and import-linter there.

Neither tool can see through an editable install that maps `checker/` to `falsework`. The tree is made equal
to the folders before every run, and the places that the tools print are translated back.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "tree"
ROOMS = {"checker": "", "models": "models", "twins": "twins", "runtime": "runtime"}


def sources() -> dict[Path, Path]:
    """Each file of the four folders by its place in the tree; two files for one place is an error."""
    placed: dict[Path, Path] = {}
    for folder, room in ROOMS.items():
        for source in sorted((ROOT / folder).rglob("*")):
            if not source.is_file() or "__pycache__" in source.parts:
                continue
            inside = source.relative_to(ROOT / folder)
            if folder == "checker" and inside.parts[0].removesuffix(".py") in ROOMS:
                sys.exit(f"{source.relative_to(ROOT)} has the name of a package that another folder holds")
            placed[TREE / "falsework" / room / inside] = source
    return placed


def sync() -> None:
    """The tree equals the folders; an unchanged file keeps its time, so that mypy's cache holds."""
    placed = sources()
    for old in sorted(TREE.rglob("*"), reverse=True):
        if old.is_file() and old not in placed:
            old.unlink()
        elif old.is_dir() and not any(old.iterdir()):
            old.rmdir()
    for target, source in placed.items():
        found, wanted = target.stat() if target.exists() else None, source.stat()
        if found is None or (found.st_size, found.st_mtime_ns) != (wanted.st_size, wanted.st_mtime_ns):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def folders_again(text: str) -> str:
    """The tool's text with every place of the tree named as the folder that holds it."""
    text = text.replace(f"{TREE}/", "").replace(f"{TREE.relative_to(ROOT)}/", "")
    text = re.sub(r"\bfalsework/(models|twins|runtime)/", r"\1/", text)
    return re.sub(r"\bfalsework/", "checker/", text)


def run(command: list[str], says: str, **environment: str) -> int:
    """The command's exit code; it says one line when all is well, else all it said, places translated."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(folders_again(done.stdout) if done.returncode else says)
    return done.returncode


def typecheck() -> int:
    """mypy over the packages, the tests and the programs beside them."""
    beside = [str(folder) for name in ("tests", "bench") if any((folder := ROOT / name).glob("*.py"))]
    beside += [str(program) for program in sorted((ROOT / ".ci").glob("*.py"))]
    paths = os.pathsep.join([str(TREE), str(ROOT / "tests"), str(ROOT / ".ci")])
    command = [sys.executable, "-m", "mypy", str(TREE / "falsework"), *beside]
    return run(command, "Types agree.", MYPYPATH=paths)


def lint_imports() -> int:
    """import-linter over the contracts of pyproject.toml."""
    program = str(Path(sys.executable).parent / "lint-imports")
    paths = os.pathsep.join([str(TREE), str(ROOT / ".ci")])
    command = [program, "--no-logo", "--cache-dir", str(ROOT / "build" / "import-linter")]
    return run(command, "Imports go in their directions.", PYTHONPATH=paths)


def main() -> int:
    """Exit code of the tools named on the command line, in their order; the first failure ends it."""
    tools = {"types": typecheck, "imports": lint_imports}
    names = sys.argv[1:]
    if not names or not set(names) <= set(tools):
        print(f"usage: tree.py {{{'|'.join(tools)}}} …", file=sys.stderr)
        return 2
    sync()
    return next((code for code in (tools[name]() for name in names) if code), 0)


if __name__ == "__main__":
    sys.exit(main())
