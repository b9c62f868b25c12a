"""A release: refused where anything is not as it must be, else the sdist and the wheel, built and tried.

Refused is a tree with changes, a rule that nothing carries yet, a benchmark older than what it measured, a
count that is not as confirmed, and a gate that is not green on both stores.
"""

import datetime as dt
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVER = "FALSEWORK_POSTGRES"
STORES = ("driven SQLite", "driven PostgreSQL")
ENGINES = (
    *("explore", "fast", "native", "accounting", "ir", "packing", "program", "rebuild", "model_c", "state"),
    *("lower", "lower_values", "lower_context", "lower_expressions", "lower_loops", "lower_calls"),
    *("lower_statements", "emit_python", "emit_c", "native_build"),
)
MEASURED = {
    "bench/RESULTS.md": (*(f"checker/{name}.py" for name in ENGINES), "checker/engine"),
    "bench/BESIDE_DBOS.md": (
        *("runtime/store", "runtime/trail", "runtime/invocation", "runtime/lease.py", "runtime/clock.py"),
    ),
}
"""Each kept run of the benchmarks, and the files that it measured."""
FOLDERS = {"checker": "falsework", **{room: f"falsework/{room}" for room in ("models", "twins", "runtime")}}
NEEDED = {".py", ".c", ".h", ".json", ".sql", ".toml", ".yaml"}
TRIED = (["--version"], ["list"], ["check", "classics.die_hard:DieHard"], ["show", "lease"])

Reasons = Iterator[str]


def git(root: Path, *arguments: str) -> str:
    """What git says there."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


# --- the reasons to refuse ----------------------------------------------------------------------------------


def changes(root: Path) -> Reasons:
    """The tree is what was committed, and nothing besides."""
    lines = git(root, "status", "--porcelain").splitlines()
    if lines:
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield f"the tree has changes: {lines[0].strip()}{more}; commit them, or take them back"


def uncarried(states: Mapping[str, str], mistakes: Iterable[str]) -> Reasons:
    """Every rule of a specification is carried, or external with its reason."""
    yield from (f"the account of the rules is wrong: {mistake}" for mistake in mistakes)
    left = Counter(state for state in states.values() if state not in {"carried", "external"})
    for state, number in left.items():
        first = next(rule for rule, found in states.items() if found == state)
        yield f"{number} rules are {state!r}, the first: {first}; carry them, or say why they are external"


def stale(root: Path, version: str) -> Reasons:
    """Each kept run of the benchmarks is of this version, and nothing that it measured was changed since."""
    for name, paths in MEASURED.items():
        file = root / name
        if not file.is_file():
            yield f"{name} is not there: run the benchmarks with --write"
            continue
        text = file.read_text("utf-8")
        dated = re.search(r"^(\d{4}-\d\d-\d\d) · ", text, re.MULTILINE)
        if dated is None:
            yield f"{name} names no date of its run; it stands at the beginning of a line: 2026-01-31 · …"
            continue
        if not re.search(rf"falsework(, \w+ \|)? {re.escape(version)}\b", text):
            yield f"{name} is of another version than {version}: run the benchmarks with --write"
        last = git(root, "log", "-1", "--format=%cs %h %s", "--", *paths).strip()
        if last and dt.date.fromisoformat(dated[1]) < dt.date.fromisoformat(last[:10]):
            yield f"{name} is of {dated[1]}, and what it measured was changed on {last}"
            continue
        kept = git(root, "log", "-1", "--format=%H", "--", name).strip()
        since = git(root, "log", "--format=%h %s", f"{kept}..HEAD", "--", *paths).splitlines() if kept else []
        if since:
            yield f"{name} was kept before {len(since)} changes to what it measured, the last: {since[0]}"


def miscounted(code: int, said: str) -> Reasons:
    """The pinned counts are counted again, the longest too."""
    if code:
        yield f"tests/counts.toml is not as confirmed:\n{said.strip()[-2_000:]}"


def ungated(code: int, document: Mapping[str, Any]) -> Reasons:
    """The gate is green, and has driven what is declared on both stores."""
    if code:
        red = [item["headline"] for item in document.get("items", []) if item["status"] != "pass"]
        first = f", the first: {red[0]}" if red else ""
        yield f"the gate is red, exit code {code}, {len(red)} answers{first}"
    if "NOT CHECKED" in document.get("answered", ""):
        yield f"the gate has left something out: {document['answered']}"
    tables = "\n".join(table["text"] for table in document.get("tables", []))
    for store in STORES:
        if store not in tables:
            yield f"the gate has no column {store!r}: is the runtime installed, and {SERVER} set?"


# --- what is built ------------------------------------------------------------------------------------------


def needed_in_wheel(root: Path) -> set[str]:
    """The files of the four folders that the installed packages need, by their names in the wheel."""
    return {
        (Path(room) / path.relative_to(root / folder)).as_posix()
        for folder, room in FOLDERS.items()
        for path in (root / folder).rglob("*")
        if (path.suffix in NEEDED or path.name == "py.typed") and "__pycache__" not in path.parts
    }


def incomplete(wheel: Path, root: Path, version: str) -> Reasons:
    """The wheel holds every file that it must, and says which version it is."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next((name for name in names if name.endswith(".dist-info/METADATA")), "")
        told = archive.read(metadata).decode() if metadata else ""
    missing = sorted(needed_in_wheel(root) - names)
    if missing:
        yield f"{wheel.name} lacks {len(missing)} files, the first: {missing[0]}"
    if f"\nVersion: {version}\n" not in told:
        yield f"{wheel.name} does not say that it is version {version}"


def broken(wheel: Path, folder: Path) -> Reasons:
    """Installed apart from the checkout, the wheel answers."""
    target, elsewhere = folder / "installed", folder / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*command, "--target", str(target), str(wheel)], check=True)
    # Without `site` the checkout's own editable install is not seen; its dependencies are.
    seen = [str(target), *(path for path in sys.path if path.endswith("site-packages"))]
    for arguments in TRIED:
        code = f"import sys; sys.path[1:1] = {seen!r}; from falsework.cli import main; "
        code += f"sys.exit(main({arguments!r}))"
        done = subprocess.run(
            [sys.executable, "-S", "-c", code], cwd=elsewhere, capture_output=True, text=True, check=False
        )
        if done.returncode:
            asked = " ".join(arguments)
            yield f"installed from {wheel.name}, falsework {asked} fails:\n{done.stderr[-1_000:]}"


def built(root: Path, folder: Path) -> tuple[Path, Path]:
    """The sdist of what was committed, laid out in `sources`, and the wheel that is built from the sdist."""
    sources, out = folder / "sources", folder / "out"
    archive = subprocess.run(["git", "-C", str(root), "archive", "HEAD"], capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(sources, filter="data")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"NOT RELEASED: the build fails\n{(done.stdout + done.stderr)[-3_000:]}")
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


# --- all of it ----------------------------------------------------------------------------------------------


def accounts() -> Iterator[str]:
    """What the books of all systems leave uncarried."""
    from falsework.rules import books
    from falsework.rules_account import account

    for book in books(None):
        found = account(book)
        states = {f"{book.system} {entry.rule}": entry.state for entry in found.entries}
        yield from uncarried(states, (f"{m.place}: {m.rule}: {m.text}" for m in found.mistakes))


def counted() -> Reasons:
    """The tests of the counts, all of them."""
    files = [str(ROOT / "tests" / name) for name in ("test_counts.py", "test_counts_native.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--deep", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    yield from miscounted(done.returncode, done.stdout)


def gated() -> Reasons:
    """The gate as CI runs it: nothing is left out."""
    if not os.environ.get(SERVER):
        yield f"{SERVER} names no server, so the gate cannot be green on both stores"
        return
    command = [sys.executable, "-m", "falsework", "gate", "--format", "json"]
    environment = {**os.environ, "CI": "true"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        yield f"the gate gives no report, exit code {done.returncode}: {done.stderr.strip()[-1_000:]}"
        return
    yield from ungated(done.returncode, document)


def refused(stages: Iterable[tuple[str, Callable[[], Iterable[str]]]]) -> bool:
    """Whether some stage has a reason to refuse; all its reasons are told, and no later stage is begun."""
    for name, stage in stages:
        print(f"=== {name}", flush=True)
        reasons = list(stage())
        for reason in reasons:
            print(f"NOT RELEASED: {reason}", file=sys.stderr)
        if reasons:
            return True
    return False


def main() -> int:
    """0 where everything is as it must be: the files are in dist/ then."""
    from falsework import __version__ as version

    def cheap() -> Reasons:
        yield from changes(ROOT)
        yield from accounts()
        yield from stale(ROOT, version)

    if refused((("tree, rules, benchmarks", cheap), ("counts", counted), ("gate", gated))):
        return 1
    with tempfile.TemporaryDirectory(prefix="falsework-release-") as folder:
        sdist, wheel = built(ROOT, Path(folder))
        wrong = [*incomplete(wheel, Path(folder) / "sources", version), *broken(wheel, Path(folder))]
        if refused([("wheel", lambda: wrong)]):
            return 1
        (ROOT / "dist").mkdir(exist_ok=True)
        for file in (sdist, wheel):
            shutil.copy2(file, ROOT / "dist" / file.name)
            print(f"dist/{file.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
