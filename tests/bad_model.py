"""The bad models of tests/bad_models: read, written into a file of their own, and gathered."""

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from falsework.definition import Definition, definition_of

BAD_MODELS = Path(__file__).parent / "bad_models"
DOOR = (BAD_MODELS / "door.txt").read_text(encoding="utf-8")


def cases() -> dict[str, tuple[str, str]]:
    """Each case by its name, with the code of the error that it must meet and its text."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(BAD_MODELS.glob("M*.txt")):
        _, *parts = re.split(r"^=== (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for title, text in zip(parts[::2], parts[1::2], strict=True):
            name = f"{path.stem}-{re.sub(r'[^a-z]+', '-', title.lower()).strip('-')}"
            assert name not in found, name
            found[name] = (path.stem, text)
    return found


def module_of(path: Path, text: str, name: str = "") -> ModuleType:
    """The text as a module that is imported from that file."""
    path.write_text(text, encoding="utf-8")
    return load(path, name or path.stem)


def load(path: Path, name: str) -> ModuleType:
    """The file as a module of that name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def gathering(path: Path, text: str) -> Callable[[], Definition]:
    """Imports the good door and the text after it, and gathers the class Bad."""
    return lambda: definition_of(module_of(path, DOOR + text).Bad)
