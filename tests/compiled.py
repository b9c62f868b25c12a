"""Programs for tests: compiled cheaply and several at once, in a folder of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from falsework import native_build
from falsework.definition import Definition
from falsework.lower import lower
from falsework.model_c import ModelSource

STRICT = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread")
CHEAP = (*STRICT, "-O0")
QUICK = (*STRICT, "-O1")  # compiled slower and run faster: for models of tens of thousands of states
SANITIZED = (*STRICT, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@contextmanager
def compiled_with(flags: tuple[str, ...], folder: Path) -> Iterator[None]:
    """Within it programs are compiled with these flags and kept in that folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_build, "FLAGS", flags)
        patch.setenv("FALSEWORK_CACHE", str(folder))
        yield


def compile_all(definitions: Iterable[Definition]) -> None:
    """Afterwards the program of each is in the folder; two compilers at a time."""
    sources = [ModelSource(lower(definition)) for definition in definitions]
    if sources:
        native_build.program(sources[0].text, sources[0].words.count)  # and the core with it
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(lambda source: native_build.program(source.text, source.words.count), sources))
