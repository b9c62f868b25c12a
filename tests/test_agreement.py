"""oracle = explore = fast on models drawn at random, field by field; every counterexample executes again.

What is expected comes from the oracle, which reads the description that the model's source was written from
and shares no line with the checker. `--models N` draws N models instead of 500.
"""

import functools
import importlib
import importlib.util
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import oracle
from evaluate import Description
from falsework.accounting import Bounds, Tally
from falsework.definition import Definition, definition_of
from falsework.errors import CutByBound
from falsework.explore import explore
from falsework.judge import broken_by, broken_in, judge
from falsework.trace import Faulted, Label, replay, take
from model_text import written
from random_properties import drawn

DEFAULT = 500
QUICK = 100  # so many of them in `make check`, all of them in `make test`
ENGINES: dict[str, Callable[..., Tally]] = {"explore": explore}
if importlib.util.find_spec("falsework.fast") is not None:
    ENGINES["fast"] = importlib.import_module("falsework.fast").fast


@dataclass(frozen=True)
class Case:
    """One drawn model: its source, what its lines are, and what the oracle says of it."""

    about: Description
    source: str
    expected: tuple[tuple[dict[str, Any], dict[str, Any]], ...]  # bounds, counts


@functools.cache
def case(seed: int) -> Case:
    about = drawn(seed)
    page = written(about)
    bounds: list[dict[str, Any]] = [{"every": True}]
    if seed % 5 == 0:
        bounds.append({"every": False})
    elif seed % 5 == 1:
        bounds.append({"every": True, "max_depth": 2})
    expected = [
        (b, oracle.counts(oracle.search(about, **b), page.lines.__getitem__, page.columns.__getitem__))
        for b in bounds
    ]
    return Case(about, "\n".join(page.written) + "\n", tuple(expected))


@contextmanager
def loaded(name: str, source: str, folder: Path) -> Iterator[Definition]:
    """The definition of the class M of that source, imported from a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield definition_of(module.M)
    finally:
        del sys.modules[name]


def line(place: object) -> int:
    return int(str(place).rsplit(":", 1)[1])


def counted(tally: Tally) -> dict[str, Any]:
    """The engine's counts with places as lines, and with the start of each counterexample."""
    counts: dict[str, Any] = tally.counts()
    counts["cuts"] = {line(place): times for place, times in counts["cuts"].items()}
    counts["premises"] = {(name, *site[1:]): times for (name, site), times in counts["premises"].items()}
    if counts["fault"] is not None:
        counts["fault"] = (line(counts["fault"][0]), counts["fault"][1])
    for name, found in tally.violations.items():
        start = found.trace.start
        counts["violations"][name] = (*counts["violations"][name], None if start is None else str(start))
    if tally.stop is not None:
        counts["stop"] = (tally.stop.bound, tally.stop.limit, tally.stop.unexpanded)
    return counts


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        seeds = range(metafunc.config.getoption("--models"))
        slow = [pytest.param(seed, marks=pytest.mark.slow) for seed in seeds[QUICK:]]
        metafunc.parametrize("seed", [*seeds[:QUICK], *slow])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawn")


def test_the_engines_agree(seed: int, folder: Path) -> None:
    drawn_case = case(seed)
    with loaded(f"drawn_model_{seed}", drawn_case.source, folder) as definition:
        for bounds, expected in drawn_case.expected:
            for name, engine in ENGINES.items():
                tally = engine(definition, Bounds(**bounds))
                found = counted(tally)
                for field, value in expected.items():
                    assert found[field] == value, (
                        f"seed {seed}: {name} and the oracle differ in {field}, {bounds}"
                    )
                assert found.keys() == expected.keys()
                assert_traces_execute(definition, tally)


def assert_traces_execute(definition: Definition, tally: Tally) -> None:
    """Executed on the class, a counterexample ends in what is false, and a witness in what is true."""
    for name, found in tally.violations.items():
        assert is_broken_at_the_end(definition, name, tally, found.trace), (
            f"{name} is true at the end of {found.trace}"
        )
    for name, trace in tally.witness_traces.items():
        witness = next(prop for prop in definition.witnesses if prop.name == name)
        assert judge(definition, witness, replay(definition, trace)[-1].state)[0]
        assert len(trace) == tally.witnesses[name]


def is_broken_at_the_end(definition: Definition, name: str, tally: Tally, trace: Any) -> bool:
    taken = replay(definition, trace)
    last = taken[-1]
    if name == "values_stay_in_domain":
        return last.outside != ""
    if name == "deadlock":
        stays = any(judge(definition, prop, last.state)[0] for prop in definition.terminals)
        return not stays and not any(
            is_enabled(definition, last.state, action) for action in definition.actions
        )
    if last.outside:
        return False
    if name in broken_in(definition, last.state):
        return True
    action = next(action for action in definition.actions if action.name == last.label.action)
    return name in broken_by(definition, action, last.label, last.answer, taken[-2].state, last.state)


def is_enabled(definition: Definition, state: Any, action: Any) -> bool:
    for arguments in itertools.product(*(list(domain.values()) for _, domain in action.parameters)):
        try:
            if take(definition, action, state, Label(action.name, arguments)) is not None:
                return True
        except (CutByBound, Faulted):
            return True
    return False


def test_the_oracle_counts_a_growing_set_as_a_hand_does() -> None:
    """Two letters, added or there already: 4 sets, 2 additions in each, of which 4 change nothing."""
    letter = ("enum", "Letter")
    body = [("add", 1, "members", ("local", "letter"))]
    add = {"name": "add", "kind": "action", "parameters": [("letter", letter)], "answer": None, "body": body}
    nothing: dict[str, Any] = dict.fromkeys(
        ("helpers", "initials", "invariants", "witnesses", "terminals"), ()
    )
    growing = {
        **nothing,
        "constants": {},
        "enums": {"Letter": ("A", "B")},
        "records": {},
        "variables": [("members", ("set", letter), ())],
        "actions": [add],
    }
    found = oracle.search(growing)
    assert (found.levels, found.transitions, found.coverage) == ([1, 2, 1], 8, {"add": [8, 8, 4, 0]})


# --- what is drawn is worth drawing ---------------------------------------------------------------


def words(description: Any) -> Counter[str]:
    """How often each word stands in a description: kinds of expressions, statements and domains."""
    found: Counter[str] = Counter()
    if isinstance(description, dict):
        found += words(tuple(description.values()))
    elif isinstance(description, tuple | list):
        for value in description:
            found += Counter([value]) if isinstance(value, str) else words(value)
    return found


def features(seed: int) -> set[str]:
    """What the seed's model has and does."""
    about, counts = case(seed).about, case(seed).expected[0][1]
    cover = counts["coverage"].values()
    broken = {name.rstrip("0123456789") for name in counts["violations"]}
    kinds = {prop["name"]: prop["kind"] for prop in about["invariants"]}
    domains = [domain for _, domain, _ in about["variables"]]
    said = {
        "violated": bool(broken),
        "holds": not broken and counts["fault"] is None,
        "state invariant broken": any(kinds.get(name) == "state" for name in counts["violations"]),
        "step invariant broken": any(kinds.get(name) == "step" for name in counts["violations"]),
        "deadlock": "deadlock" in broken,
        "domain left": "values_stay_in_domain" in broken,
        "deep counterexample": any(steps >= 3 for steps, *_ in counts["violations"].values()),
        "model faults": counts["fault"] is not None,
        "cut": bool(counts["cuts"]),
        "premise": any(counts["premises"].values()),
        "premise never true": 0 in counts["premises"].values(),
        "self-loop": any(loops for _, _, loops, _ in cover),
        "never fires": any(fired == 0 for _, fired, _, _ in cover),
        "witness reached": any(steps is not None for steps in counts["witnesses"].values()),
        "witness not reached": None in counts["witnesses"].values(),
        "more than 60 states": counts["states"] > 60,
        "more than 200 states": counts["states"] > 200,
        "initial set": bool(about["initials"]),
        "option of a record": any(d[0] == "option" and d[1][0] == "record" for d in domains),
        "tuple keys": any(d[0] in ("map", "set") and d[1][0] == "tuple" for d in domains),
        "super": any(helper["above"] is not None for helper in about["helpers"]),
    }
    return {name for name, true in said.items() if true} | set(words(about))


LEAST = {
    30: "violated, holds, self-loop, tick, map, for, augment, first, any, all, least",
    20: "witness reached, never fires, countdown, elapsed, call, given, most, %, field",
    15: "step invariant broken, option of a record, tuple keys, set, seq, internal, bound, disabled, make",
    10: "state invariant broken, premise, before, initial set, super, append, add, items, enumerate, item",
    5: "witness not reached, premise never true, cut, pop, discard, replace, choose, abs, //, implies",
    3: "copy, deadlock, domain left, deep counterexample, model faults, answer, sum, count, min, max",
    1: "more than 60 states",
    0.5: "more than 200 states",
}
"""At least so many in a hundred models have the feature, lest the generator quietly become trivial."""


@pytest.mark.slow
def test_what_is_drawn_is_not_trivial() -> None:
    found: Counter[str] = Counter()
    for seed in range(DEFAULT):
        found.update(features(seed))
    wanted = {name: least for least, names in LEAST.items() for name in names.split(", ")}
    rare = {name: found[name] for name, least in wanted.items() if found[name] < least / 100 * DEFAULT}
    assert not rare
