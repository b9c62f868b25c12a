"""The native engine's programs: compiled when first needed, kept by what they were compiled from."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from falsework.errors import FalseworkError

CORE = Path(__file__).parent / "engine"
SOURCES = ("table.c", "search.c", "trace.c", "main.c")
HEADERS = ("engine.h", "table.h", "search.h")
FLAGS = ("-std=gnu11", "-O2", "-march=native", "-Wall", "-Wextra", "-Werror", "-pthread")


class NoCompiler(FalseworkError):
    """There is no C compiler here, or it cannot compile."""


@cache
def compiler() -> tuple[str, ...]:
    """The C compiler: $CC, cc, gcc or clang, or the one in the ziglang wheel; raises NoCompiler."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and shutil.which(name.split()[0]):
            return tuple(name.split())
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    raise NoCompiler("no C compiler: install cc, gcc or clang, or pip install falsework[native]")


def cache_folder() -> Path:
    """Where programs are kept: $FALSEWORK_CACHE, or falsework under $XDG_CACHE_HOME or ~/.cache."""
    named = os.environ.get("FALSEWORK_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "falsework"


def program(text: str, words: int) -> Path:
    """The program of that source, from the cache where it is whole, else compiled; raises NoCompiler."""
    build = _identity(words)
    name = hashlib.sha256(f"{build}\n{text}".encode()).hexdigest()[:32]
    for folder in (cache_folder(), Path(tempfile.gettempdir()) / f"falsework-{os.getuid()}"):
        kept = folder / name
        if _whole(kept):
            return kept
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return _compile(text, words, folder, kept)
        except OSError:
            continue  # unwritable, or full: the next place
    raise NoCompiler(f"no place to keep a compiled model: {cache_folder()} cannot be written")


@cache
def _identity(words: int) -> str:
    """What a program depends on beside the model: compiler, flags and the core's own text."""
    version = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    parts = [
        version,
        " ".join(FLAGS),
        str(words),
        *((CORE / n).read_text("utf-8") for n in (*HEADERS, *SOURCES)),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _whole(kept: Path) -> bool:
    """Whether the program is there and is the one that was written."""
    try:
        wanted = kept.with_suffix(".sha256").read_text("ascii")
        return hashlib.sha256(kept.read_bytes()).hexdigest() == wanted
    except (OSError, ValueError):
        return False


def _compile(text: str, words: int, folder: Path, kept: Path) -> Path:
    """Compiled aside, then moved into place, so that nobody meets half of it."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="building-") as aside:
        core = _core(words, folder, Path(aside))
        source, made = Path(aside) / "model.c", Path(aside) / "program"
        source.write_text(text, "utf-8")
        _run([*FLAGS, f"-DWORDS={words}", f"-I{CORE}", "-o", str(made), str(source), *map(str, core)])
        digest = Path(aside) / "digest"
        digest.write_text(hashlib.sha256(made.read_bytes()).hexdigest(), "ascii")
        made.replace(kept)
        digest.replace(kept.with_suffix(".sha256"))
    return kept


def _core(words: int, folder: Path, aside: Path) -> list[Path]:
    """The search core's objects for states of that many words, compiled once."""
    made = []
    for name in SOURCES:
        kept = folder / f"core-{_identity(words)[:24]}-{name.removesuffix('.c')}.o"
        if not _whole(kept):
            new = aside / kept.name
            _run([*FLAGS, f"-DWORDS={words}", f"-I{CORE}", "-c", "-o", str(new), str(CORE / name)])
            digest = aside / "digest"
            digest.write_text(hashlib.sha256(new.read_bytes()).hexdigest(), "ascii")
            new.replace(kept)
            digest.replace(kept.with_suffix(".sha256"))
        made.append(kept)
    return made


def _run(arguments: list[str]) -> None:
    try:
        done = subprocess.run([*compiler(), *arguments], capture_output=True, text=True, check=False)
    except OSError as problem:
        raise NoCompiler(f"{compiler()[0]} cannot be run: {problem}") from None
    if done.returncode:
        first = (done.stderr or done.stdout).strip().splitlines()[:8]
        raise NoCompiler(f"{' '.join(compiler())} failed: " + ("\n".join(first) or str(done.returncode)))
