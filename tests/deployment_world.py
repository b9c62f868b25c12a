"""The walkthrough's deployment file, and edits of it for tests."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import falsework.runtime.examples
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.figures import Deployment, Figures, Kind

EXAMPLE = Path(falsework.runtime.examples.__file__).with_name("disclosure.yaml")


def written(folder: Path, *edits: tuple[str, str]) -> Path:
    """The example with each text replaced by another, as a file of the folder."""
    text = EXAMPLE.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the example"
        text = text.replace(old, new)
    path = folder / "ledger.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@functools.cache
def example() -> Deployment:
    return read_deployment(EXAMPLE)


def with_figures(**figures: int) -> tuple[Kind, Figures]:
    """The example's kind and figures with some of them, a kind's or the instance's, replaced."""
    deployment = example()
    kind = deployment.kinds["ledger"]
    of_kind: dict[str, Any] = {name: value for name, value in figures.items() if hasattr(kind, name)}
    of_instance: dict[str, Any] = {name: value for name, value in figures.items() if name not in of_kind}
    return replace(kind, **of_kind), replace(deployment.figures, **of_instance)
