"""The native engine's programs: compiled when first needed, kept by what they were compiled from."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from falsework.errors import NoCompiler

CORE = Path(__file__).parent / "engine"
SOURCES = ("table.c", "search.c", "trace.c", "main.c")
HEADERS = ("engine.h", "table.h", "meeting.h", "search.h")
FLAGS: tuple[str, ...] = ("-std=gnu11", "-O2", "-march=native", "-Wall", "-Wextra", "-pthread")
"""A warning is no error here: a compiler that is not yet known must not take the engine away."""
NESTED = ("-fbracket-depth=32768",)
"""Clang, and zig with it, takes expressions for a mistake that nest more than 256 deep, unless it is told."""
FORGOTTEN = 3600.0
"""Seconds after which a folder that somebody was building in is nobody's."""


def compiler() -> tuple[str, ...]:
    """The C compiler: $CC, else cc, gcc, clang, or the one in the ziglang wheel; raises NoCompiler."""
    try:
        named = shlex.split(os.environ.get("CC", ""))
    except ValueError as problem:
        raise NoCompiler(f"CC={os.environ['CC']!r} cannot be read: {problem}") from None
    if named:
        found = shutil.which(named[0])
        if found is None:
            raise NoCompiler(f"CC names {named[0]}, which is no program here: name another, or unset CC")
        here = Path(found).absolute()  # a path from here: it is called elsewhere
        return (named[0] if named[0] == Path(named[0]).name else str(here), *named[1:])
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return (name,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    raise NoCompiler("no C compiler: install cc, gcc or clang, or pip install falsework[native]")


def cache_folder() -> Path:
    """Where programs are kept: $FALSEWORK_CACHE, or falsework under $XDG_CACHE_HOME or ~/.cache."""
    named = os.environ.get("FALSEWORK_CACHE")
    if named:
        return Path(named).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()).absolute() / "falsework"


def folders() -> tuple[Path, ...]:
    """The cache folder, and where programs go if it does not serve; that alone without a home."""
    temporary = Path(tempfile.gettempdir()) / f"falsework-{os.getuid()}"
    try:
        return cache_folder(), temporary
    except RuntimeError:  # a user whom the system does not know, as in a container
        return (temporary,)


def program(text: str, words: int) -> Path:
    """The program of that source, from the cache where it is whole, else compiled; raises NoCompiler."""
    try:
        return _program(text, _Build(compiler(), FLAGS, words))
    except NoCompiler as problem:
        if "-march" not in str(problem):
            raise
    plain = tuple(flag for flag in FLAGS if not flag.startswith("-march"))
    return _program(text, _Build(compiler(), plain, words))


def _program(text: str, build: _Build) -> Path:
    problems = []
    for folder in folders():
        try:
            _private(folder)
            return build.program(text, folder)
        except OSError as problem:
            problems.append(f"{folder}: {problem.strerror or problem}")
    told = "; ".join(problems)
    raise NoCompiler(f"a compiled model can be kept nowhere: {told} (FALSEWORK_CACHE names another folder)")


def _private(folder: Path) -> None:
    """Afterwards the folder is there; raises OSError where somebody else could have put a program into it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.stat()
    if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(None, "others may write there, so no program is taken from it")
    if not os.access(folder, os.W_OK):
        raise PermissionError(None, "it cannot be written")


@cache
def _version(compiler: tuple[str, ...]) -> bytes:
    try:
        return subprocess.run([*compiler, "--version"], capture_output=True, check=False).stdout
    except OSError as problem:
        raise NoCompiler(f"{compiler[0]} cannot be run: {problem.strerror}") from None


@cache
def _identity(compiler: tuple[str, ...], flags: tuple[str, ...], words: int) -> str:
    """What a program depends on beside the model: compiler, processor, flags and the core's own text."""
    core = [(CORE / name).read_bytes() for name in (*HEADERS, *SOURCES)]
    asked = f"{shlex.join(compiler)}\n{shlex.join(flags)}\n{words}\n{_processor()}\n"
    return _digest(b"\0".join([_version(compiler), asked.encode(), *core]))


def _processor() -> str:
    """What -march=native stands for: a folder of programs may be shared by unlike machines."""
    try:
        rows = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({row for row in rows if row.startswith(("flags", "Features", "model name"))}))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


class _Build:
    """Files named by what they are made of and by what they contain, so that half of one is never taken."""

    def __init__(self, compiler: tuple[str, ...], flags: tuple[str, ...], words: int) -> None:
        self.compiler = compiler
        self.flags = (*flags, *(NESTED if b"clang" in _version(compiler) else ()))
        self.words = words
        self.identity = _identity(compiler, self.flags, words)

    def program(self, text: str, folder: Path) -> Path:
        """Kept, or compiled now; raises OSError where the folder does not serve."""
        name = _digest(f"{self.identity}\n{text}".encode())
        kept = _kept(folder, name)
        if kept is not None and os.access(kept, os.X_OK):
            return kept
        _sweep(folder)
        with tempfile.TemporaryDirectory(dir=folder, prefix="building-") as aside:
            source = Path(aside) / "model.c"
            source.write_text(text, "utf-8")
            with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
                made = list(workers.map(lambda path: self.object(path, folder, aside), self._parts(source)))
            new = Path(aside) / "program"
            self.run(["-o", str(new), *map(str, made)], aside, new)
            self._prove(new)
            for path in made[1:]:  # not before: a compiler that fails leaves nothing for the next one
                if path.parent != folder:
                    _keep(path, folder, self._part(path))
            return _keep(new, folder, name)

    def _parts(self, source: Path) -> Iterator[Path]:
        yield source
        for name in SOURCES:
            yield CORE / name

    def _part(self, path: Path) -> str:
        return f"{self.identity}-{path.stem}"

    def object(self, source: Path, folder: Path, aside: str) -> Path:
        """The source compiled; the core's from the folder, where it is kept for states of that many words."""
        kept = _kept(folder, self._part(source)) if source.parent == CORE else None
        if kept is not None:
            return kept
        new = Path(aside) / f"{source.stem}.o"
        self.run([f"-DWORDS={self.words}", f"-I{CORE}", "-c", "-o", str(new), str(source)], aside, new)
        return new

    def run(self, arguments: Sequence[str], aside: str, made: Path) -> None:
        """Afterwards the file is made; what the compiler writes besides lies in the same folder."""
        command = [*self.compiler, *self.flags, *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, check=False, cwd=aside, env={**os.environ, "TMPDIR": aside}
            )
        except OSError as problem:
            if not Path(aside).exists():
                raise  # it is the folder that has gone
            raise NoCompiler(f"{self.compiler[0]} cannot be run: {problem.strerror}") from None
        if not done.returncode and made.exists():
            return
        if shutil.disk_usage(aside).free < 1 << 20:
            raise OSError(None, "the disk is full")
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()[:8]
        ended = f"exit code {done.returncode}" if done.returncode else "no file came of it"
        raise NoCompiler("\n  ".join([f"{shlex.join(self.compiler)} failed ({ended}):", *said]).rstrip(":"))

    def _prove(self, made: Path) -> None:
        """The program was made for here: asked nothing, it answers the words of a state."""
        try:
            done = subprocess.run([str(made)], capture_output=True, check=False, stdin=subprocess.DEVNULL)
        except OSError as problem:
            if isinstance(problem, PermissionError):
                raise PermissionError(None, "programs may not be run there") from None
            raise NoCompiler(self._wrong(problem.strerror or "")) from None
        if done.returncode or done.stdout.split() != [str(self.words).encode()]:
            raise NoCompiler(self._wrong(f"exit code {done.returncode}"))

    def _wrong(self, why: str) -> str:
        return f"what {shlex.join(self.compiler)} compiled is no program for this machine: {why}"


def _kept(folder: Path, name: str) -> Path | None:
    """The file of that name whose content is what its own name says; a damaged one is thrown away."""
    for path in folder.glob(f"{name}-*"):
        try:
            if path.stem == f"{name}-{_digest(path.read_bytes())}":
                return path
            path.unlink()
        except OSError:
            continue
    return None


def _keep(made: Path, folder: Path, name: str) -> Path:
    """Moved into place in one step; it keeps its extension, by which some compilers know what it is."""
    return made.replace(folder / f"{name}-{_digest(made.read_bytes())}{made.suffix}")


def _sweep(folder: Path) -> None:
    """Removes what was left by a builder that was killed."""
    for old in folder.glob("building-*"):
        try:
            if time.time() - old.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            continue
