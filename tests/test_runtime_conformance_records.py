"""The records slices on the real runtime, on both stores: along a part of each graph, the gate along all."""

import re
from pathlib import Path
from typing import Any

import pytest

from falsework.check import check
from falsework.conformance import drive
from falsework.conformance.finding import NamedSubject, driven_definition, find_subject, shipped_subjects
from falsework.conformance.subject import twins_of_subject
from falsework.models.recoverable_invocation.records_supersession_driven import (
    FencedAsBuilt,
    UnfencedAsBuilt,
)
from falsework.naming import import_module, shipped, subject_of, twins_of
from falsework.verdict import Verdict

SYSTEM = "recoverable_invocation."
PAGE = Path(__file__).parent.parent / "docs" / "recoverable-invocation" / "conformance.md"
SLICES = sorted(
    name for name in shipped_subjects() if name.startswith(f"{SYSTEM}records_") and name.count(".") == 1
)
STORES = ["", pytest.param(".postgres", marks=pytest.mark.postgres)]


def listed(slice_name: str) -> set[str]:
    """The model twins that the page says cannot be made in code."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .{20,} \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {twin for name, twin in rows if name == slice_name}


@pytest.mark.parametrize("name", SLICES)
def test_every_model_twin_is_made_in_code_or_listed_with_its_reason(name: str) -> None:
    import_module(shipped("falsework.twins")[name])
    wanted = {cls.__name__ for cls in twins_of(subject_of(driven_definition(find_subject(name)).cls))}
    here = [found for found in shipped_subjects() if found in (name, f"{name}.unfenced")]
    made = {cls.__name__ for found in here for cls in twins_of_subject(find_subject(found).cls)}
    left_out = listed(name.removeprefix(SYSTEM))
    assert wanted - made == left_out


def part(subject: str, model: str, store: str) -> NamedSubject:
    """The subject along a part of its graph, on that store, or along all where that is little."""
    found = find_subject(f"{SYSTEM}{subject}{store}")
    if not model:
        return found
    where = f"falsework.twins.runtime.{SYSTEM}{subject.removeprefix('records_')}:{model}"
    changes: dict[str, Any] = {"model": where}
    return NamedSubject(found.name, type(found.cls.__name__, (found.cls,), changes))


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    "subject, model",
    [
        ("records_opening", "ServedFenced"),
        ("records_resolving", "EveryTrouble"),
        ("records_adopter", ""),
        ("records_reading", ""),
        ("records_pairing", "Fenced"),
        ("records_supersession", ""),
        ("records_kinds", "Alone"),
    ],
)
def test_the_runtime_does_what_the_slice_says(subject: str, model: str, store: str) -> None:
    named = part(subject, model, store)
    done = drive(named.made(), driven_definition(named), name=named.name)
    assert (done.problem, done.divergence, done.undriven) == ("", None, [])
    assert done.verdict is Verdict.HOLDS
    assert done.hidden == {}


def test_what_is_driven_as_built_holds_but_for_what_it_has_no_room_for() -> None:
    assert {found.word for found in check(FencedAsBuilt).findings} == {"bound-cut"}
    # A chain of three closings needs three.
    assert {found.word for found in check(UnfencedAsBuilt).findings} == {"bound-cut", "witness-not-reached"}


WHOLE = {
    "records_opening": "Opening",
    "records_resolving": "Resolving",
    "records_pairing": "Pairing",
    "records_kinds": "Kinds",
}


@pytest.mark.deep
@pytest.mark.parametrize("slice_name", WHOLE)
def test_the_runtime_does_what_the_whole_slice_says(slice_name: str) -> None:
    found = find_subject(f"{SYSTEM}{slice_name}")
    changes: dict[str, Any] = {"model": f"falsework.models.{SYSTEM}{slice_name}:{WHOLE[slice_name]}"}
    named = NamedSubject(found.name, type(found.cls.__name__, (found.cls,), changes))
    done = drive(named.made(), driven_definition(named), name=named.name)
    assert done.verdict is Verdict.HOLDS
