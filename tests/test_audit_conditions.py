"""The auditor's arithmetic and the runtime's, written apart, say the same of any figures."""

import random
from dataclasses import replace
from typing import Any

from deployment_world import EXAMPLE, example
from falsework.runtime.audit.declared import FIGURES, Bound, Declared, read_declared
from falsework.runtime.audit.timed import conditions
from falsework.runtime.invocation.conditions import Source, conditions_of
from falsework.runtime.invocation.figures import Fence, Figures, Kind

BASE = read_declared(EXAMPLE)
OF_KIND = ("completion_bound", "commit_round_trip", "probe_round_trip", "retention_period")


def drawn(seed: int) -> tuple[Declared, Bound, Kind, Figures]:
    """The walkthrough with every figure small, so that each condition is often just missed or just met."""
    draw = random.Random(seed)  # noqa: S311  a test's choices keep no secret
    of_instance: dict[str, Any] = {name: draw.randrange(1, 9) for name in FIGURES}
    of_kind: dict[str, Any] = {name: draw.randrange(1, 12) for name in OF_KIND}
    of_instance["compensation_window"] = draw.randrange(1, 250)
    of_kind["retention_period"] = draw.randrange(1, 400)
    of_kind["completion_bound"], of_instance["run_bound"] = draw.randrange(1, 60), draw.randrange(1, 60)
    of_instance["closure_latency"] = draw.randrange(1, 40)
    commit, journal = draw.random() < 0.5, draw.random() < 0.5
    fence, deployment = Fence("deadline parameter"), example()
    declared = replace(BASE, instance=replace(BASE.instance, **of_instance, journal_fence=journal))
    bound = replace(BASE.kinds["ledger"], **of_kind, commit_fence=commit)
    kind = replace(deployment.kinds["ledger"], **of_kind, commit_fence=fence if commit else None)
    figures = replace(deployment.figures, **of_instance, journal_fence=fence if journal else None)
    return declared, bound, kind, figures


def test_each_condition_holds_for_both_or_for_neither() -> None:
    met = [0] * 5
    for seed in range(2_000):
        declared, bound, kind, figures = drawn(seed)
        mine = [
            value > least or (not strict and value == least)
            for _, value, least, strict in conditions(declared, bound)
        ]
        theirs = [each.holds for each in conditions_of(kind, figures) if each.source is Source.TEXT]
        assert mine == theirs, seed
        met = [count + holds for count, holds in zip(met, mine, strict=True)]
    assert all(100 < count < 1_900 for count in met), met  # neither answer is the only one
