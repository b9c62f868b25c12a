"""Instance start: the theory against a simulation by ticks, published counts, and the runtime's conditions.

The published figures are the text's: the walkthrough's, and of 432 tuples 420, 396, 324 with 15, 288 with 0.
The exact worst cases were found by an exhaustive search of another program before this one was written.
"""

import itertools
import random
import re
from dataclasses import replace
from typing import Any

import pytest

import deployment_world
from command_line import ROOT, falsework
from falsework.definition import definition_of
from falsework.language import Model, obligation, require, role_of
from falsework.models.recoverable_invocation.timing import (
    RetentionOfTheText,
    Timing,
    WindowSumOfTheText,
)
from falsework.models.recoverable_invocation.timing_claims import (
    BoundOfClosingsOnly,
    Cadence,
    RunBoundAtItsFloor,
    TimingClaims,
)
from falsework.models.recoverable_invocation.timing_figures import StartFigures
from falsework.naming import configurations_of, find, twins_of
from falsework.posed import with_figures
from falsework.proofs import prove, prove_obligation
from falsework.prove_contract import values_text
from falsework.runtime.invocation.conditions import Source, conditions_of
from falsework.runtime.invocation.figures import Fence
from falsework.twins.recoverable_invocation.timing import OldRunFloor, OneRunBoundTerm, TwoRunBoundTerms
from sweep_ticks import Sweep, landings, latest_from_starts, latest_on_ticks

GRID = [
    Sweep(*values)
    for values in itertools.product((2, 3, 4), (0, 1, 2), (2, 3, 4, 5), (4, 5, 6), (1, 2), (1, 2))
]
"""B, K, C, R, L, W: of the contiguous grids of this size the one that gives every published count."""


def figures(sweep: Sweep) -> dict[str, int]:
    """The same by the model's names."""
    return {
        "COMPLETION_BOUND": sweep.bound,
        "CLOCK_OFFSET_ALLOWANCE": sweep.allowance,
        "RECONCILIATION_CADENCE": sweep.cadence,
        "RUN_BOUND": sweep.run,
        "CLOSURE_LATENCY": sweep.latency,
        "JOURNAL_WRITE_BOUND": sweep.write,
    }


# --- the theory and the simulation --------------------------------------------------------------------------


def test_the_theory_lands_on_ticks_as_the_simulation_does() -> None:
    assert len(GRID) == 432
    differing = [
        sweep
        for sweep in GRID
        if with_figures(TimingClaims, CADENCE=Cadence.TICKS, **figures(sweep)).worst_landing()
        != latest_on_ticks(sweep)
    ]
    assert differing == []


def test_the_theory_lands_from_start_to_start_as_the_simulation_does() -> None:
    """B+2K-1 + 2 max(C, R) + R, with R at or above its floor; and so neither 420 nor 396 breaches."""
    breached = [0, 0]
    for sweep in GRID:
        theory = with_figures(TimingClaims, CADENCE=Cadence.FROM_ITS_START, **figures(sweep))
        worst = latest_from_starts(sweep)
        assert theory.worst_landing() == worst
        if theory.condition_4():
            left = sweep.bound + 2 * sweep.allowance - 1
            assert worst == left + 2 * max(sweep.cadence, sweep.run) + sweep.run
        breached = [breached[0] + (worst >= theory.sum_of(1)), breached[1] + (worst >= theory.sum_of(2))]
    assert breached == [384, 96]


def test_the_published_counts_over_the_432_tuples() -> None:
    """Landing at or past the sum is a breach; the text's counts, by the simulation's landings."""
    counted = dict.fromkeys(
        ("one term", "two terms", "old floor", "old breached", "new floor", "breached"), 0
    )
    slack = []
    for sweep in GRID:
        worst = latest_on_ticks(sweep)
        theory = with_figures(TimingClaims, **figures(sweep))
        counted["one term"] += worst >= theory.sum_of(1)
        counted["two terms"] += worst >= theory.sum_of(2)
        if theory.old_floor() <= sweep.run:
            counted["old floor"] += 1
            counted["old breached"] += worst >= theory.worst_closure()
        if theory.condition_4():
            counted["new floor"] += 1
            counted["breached"] += worst >= theory.worst_closure()
            slack.append(theory.worst_closure() - worst)
    assert counted == {
        "one term": 420, "two terms": 396,
        "old floor": 324, "old breached": 15,
        "new floor": 288, "breached": 0,
    }  # fmt: skip
    assert min(slack) == 1


def test_as_the_text_words_the_cadence_every_tuple_breaches_the_shorter_sums() -> None:
    """One cadence after each of the first two runs, from its end: then neither 420 nor 396 can arise."""
    for sweep in GRID:
        theory = with_figures(TimingClaims, **figures(sweep))
        assert theory.worst_landing() >= theory.sum_of(2) > theory.sum_of(1)


SMALL = [
    Sweep(*values)
    for values in itertools.product((1, 2, 3), (0, 1, 2), (0, 1, 3), (1, 2, 4, 5), (1, 2), (0, 1))
]


@pytest.mark.parametrize("share", range(4))
def test_the_worst_case_is_reached_and_never_passed(share: int) -> None:
    """Every choice of clock, phase, lengths and death: the latest landing of each case is the theory's."""
    for sweep in SMALL[share::4]:
        latest: dict[tuple[bool, bool], int] = {}
        for landing in set(landings(sweep)):
            case = (landing.in_flight, landing.died)
            latest[case] = max(landing.at, latest.get(case, 0))
        theory = with_figures(Timing, **figures(sweep))
        for (in_flight, died), worst in latest.items():
            assert worst == theory.worst_landing(in_flight, died), (sweep, in_flight, died)
        assert (True, True) in latest or sweep.run == 0


def test_the_worst_cases_are_the_published_sums() -> None:
    """B+2K-1, then R if a run is in flight, C+R for the death, C+R; with R at or above its floor."""
    for sweep in SMALL:
        theory = with_figures(Timing, **figures(sweep))
        edge, one = sweep.bound + 2 * sweep.allowance - 1, sweep.cadence + sweep.run
        if theory.condition_4():
            assert theory.worst_landing(False, False) == edge + one
            assert theory.worst_landing(True, False) == edge + sweep.run + one
            assert theory.worst_landing(False, True) == edge + 2 * one
            assert theory.worst_landing(True, True) == edge + sweep.run + 2 * one
            assert theory.worst_landing(True, True) == theory.worst_closure() - 1
        else:
            longest = max(sweep.run, max(sweep.bound, sweep.latency + sweep.write) + sweep.latency)
            assert theory.worst_landing(True, True) == edge + sweep.run + 2 * sweep.cadence + 2 * longest


# --- the walkthrough ----------------------------------------------------------------------------------------


def test_the_walkthrough_starts_with_its_figures() -> None:
    instance = with_figures(Timing)
    assert (instance.worst_closure(), instance.COMPENSATION_WINDOW) == (559, 600)
    assert (instance.window_end(), instance.lease_spend()) == (632, 11)
    assert (instance.run_floor(), instance.closure_spend(), instance.sweep_lease()) == (42, 9, 15)
    assert (
        with_figures(TimingClaims).backlog_floor() == 126
    )  # three orphans: within 135, past the floor of 42
    assert instance.may_start()


def test_the_earlier_draft_breaches_condition_5_and_no_other() -> None:
    draft = with_figures(Timing, CLOSURE_LATENCY=5)
    conditions = [getattr(draft, f"condition_{number}")() for number in range(1, 6)]
    assert conditions == [True, True, True, True, False]
    assert with_figures(TimingClaims, CLOSURE_LATENCY=5).at_the_second_gate(0) == 3  # the gate lets it pass
    assert with_figures(TimingClaims, CLOSURE_LATENCY=5).at_the_second_gate(1) == 2


# --- what z3 finds ------------------------------------------------------------------------------------------


def refuted(cls: type[Model], name: str) -> dict[str, Any]:
    """The least counterexample that the class declares, and that the gate holds it to."""
    definition = definition_of(cls)
    obligation = next(each for each in definition.obligations if each.name == name)
    found = prove_obligation(definition, obligation, 60).refutation
    assert found is not None
    assert found.smallest
    known = dict(found.values)
    assert definition_of(cls).refutes[name].items() <= known.items()
    return known


def test_a_term_too_few_is_refuted_at_the_published_figures() -> None:
    closed = "an_orphan_is_closed_inside_its_window"
    one = refuted(OneRunBoundTerm, closed)
    assert (one["COMPLETION_BOUND"], one["RUN_BOUND"], one["COMPENSATION_WINDOW"]) == (1, 2, 4)
    two = refuted(TwoRunBoundTerms, closed)
    assert (two["COMPLETION_BOUND"], two["RUN_BOUND"], two["COMPENSATION_WINDOW"]) == (1, 3, 8)
    old = refuted(OldRunFloor, closed)
    assert (old["COMPLETION_BOUND"], old["RUN_BOUND"], old["CLOSURE_LATENCY"]) == (3, 2, 1)
    assert old["COMPENSATION_WINDOW"] == 10


def test_the_texts_shortfalls_begin_where_hand_arguments_say() -> None:
    late = refuted(WindowSumOfTheText, "a_fenced_act_that_did_not_commit_is_closed_inside_its_window")
    assert late["CLOCK_OFFSET_ALLOWANCE"] == 3  # two reach the window, three pass it
    dropped = refuted(RetentionOfTheText, "an_intent_is_in_range_throughout_its_window")
    assert dropped["CLOCK_OFFSET_ALLOWANCE"] == dropped["COMPLETION_BOUND"] + 1  # from K > B on
    missed = refuted(RetentionOfTheText, "the_run_that_lands_still_keeps_the_intent")
    least = missed["COMPLETION_BOUND"] + missed["RUN_BOUND"] + 2
    assert missed["CLOCK_OFFSET_ALLOWANCE"] == least + 1  # from K > B + R + 2 on
    over = refuted(BoundOfClosingsOnly, "a_run_that_lands_nothing_is_budgeted")
    assert over["first"] == over["RUN_BOUND"] + 3  # two over reach the window, three pass it
    assert RunBoundAtItsFloor.RUN_BOUND == with_figures(RunBoundAtItsFloor).run_floor() == 42


class SixthCondition(StartFigures):
    """A condition on the sweep's lease: what it amounts to."""

    def sixth(self) -> bool:
        return max(self.COMPLETION_BOUND, self.CLOSURE_LATENCY) > self.sweep_lease()

    @obligation
    def is_that_the_bound_exceeds_the_lease(self) -> bool:
        return self.sixth() == (self.sweep_lease() < self.COMPLETION_BOUND)

    @obligation
    def is_never_met_by_a_closure_slower_than_the_act(self) -> bool:
        require(self.CLOSURE_LATENCY >= self.COMPLETION_BOUND)
        return not self.sixth()

    @obligation
    def is_refuted_although_the_five_are_met(self) -> bool:
        require(self.five_conditions())
        return self.COMPLETION_BOUND > self.CLOSURE_LATENCY


def test_a_sixth_condition_could_not_be_met() -> None:
    first, second, third = prove(SixthCondition).proofs
    assert (first.word, second.word, third.word) == ("PROVED", "PROVED", "REFUTED")
    assert third.refutation is not None
    values = third.refutation.values
    assert (values["COMPLETION_BOUND"], values["CLOSURE_LATENCY"], values["RUN_BOUND"]) == (1, 1, 2)


def test_every_obligation_is_proved() -> None:
    said = falsework("prove", "recoverable_invocation.timing")
    assert said.code == 0, said.all
    assert said.out.startswith("HOLDS  recoverable_invocation.timing  19 obligations: 19 PROVED\n")


@pytest.mark.slow
def test_every_twin_and_every_claim_of_the_text_is_refuted_as_declared() -> None:
    said = falsework("prove", "recoverable_invocation.timing", "--twins")
    assert said.code == 0, said.all
    assert "19 PROVED, 23 AS DECLARED" in said.out


def test_every_element_names_its_rules() -> None:
    for cls in (Timing, TimingClaims):
        assert all(each.source for each in definition_of(cls).obligations)
        roles = [role_of(bent) for bent in (*configurations_of(cls), *twins_of(cls))]
        assert all(role is not None and role.source for role in roles)


# --- the conditions that a deployment is held to ------------------------------------------------------------

KINDS = ("COMPLETION_BOUND", "COMMIT_ROUND_TRIP", "PROBE_ROUND_TRIP", "RETENTION_PERIOD")


def test_the_runtime_holds_a_deployment_to_the_same_conditions() -> None:
    """Random figures, near each condition's limit: the checker of deployments and the theory agree."""
    draw = random.Random(4)  # noqa: S311  the same figures every time
    verdicts = set()
    for _ in range(300):
        values = {name: draw.randint(0, 6) for name in KINDS[:3]}
        values |= {
            f.name: draw.randint(0, 6) for f in definition_of(Timing).figures[:-2] if f.name not in KINDS
        }
        fences = {"COMMIT_FENCE": draw.random() < 0.5, "JOURNAL_FENCE": draw.random() < 0.5}
        theory = with_figures(Timing, **values, **fences)
        values["COMPLETION_BOUND"] = max(0, theory.lease_spend() + draw.randint(-2, 8))
        values["RUN_BOUND"] = max(0, with_figures(Timing, **values).run_floor() + draw.randint(-2, 8))
        theory = with_figures(Timing, **values)
        values["COMPENSATION_WINDOW"] = theory.worst_closure() + draw.randint(-2, 8)
        theory = with_figures(Timing, **values)
        values["RETENTION_PERIOD"] = theory.COMPENSATION_WINDOW + draw.randint(0, 14)
        theory = with_figures(Timing, **values, **fences)
        kind, instance = deployment_world.with_figures(**{n.lower(): v for n, v in values.items()})
        kind = replace(kind, commit_fence=Fence("deadline") if fences["COMMIT_FENCE"] else None)
        instance = replace(instance, journal_fence=Fence("deadline") if fences["JOURNAL_FENCE"] else None)
        for condition in conditions_of(kind, instance):
            text = condition.source is Source.TEXT
            name = f"{'' if text else 'repaired_'}condition_{condition.number}"
            assert condition.holds == getattr(theory, name)(), (name, values, fences)
            verdicts.add((name, condition.holds))
        if theory.charged() and theory.condition_2() and theory.condition_3():
            assert theory.repaired_condition_2()  # which is why a fenced deployment is not asked it
    assert len(verdicts) == 16  # each of the eight conditions was met and was failed


# --- the page of holes --------------------------------------------------------------------------------------


def test_the_page_of_holes_shows_each_least_counterexample() -> None:
    """Each text block under Timing is, words and figures, what the class named under it declares."""
    page = (ROOT / "docs" / "holes.md").read_text("utf-8").partition("\n# Timing\n")[2].partition("\n# ")[0]
    shown = re.findall(r"```text\n(.*?)```\n\n`falsework prove ([\w.]+):(\w+)`", page, re.DOTALL)
    assert len(shown) == 13
    for text, where, name in shown:
        cls = next(named.cls for named in find(f"{where}:{name}"))
        refutes = definition_of(cls).refutes
        assert text.split() == [
            word
            for obligation, values in refutes.items()
            for word in (obligation, "at", *(values_text(values) or "all 0").split())
        ]
    claims = {cls.__name__ for model in (Timing, TimingClaims) for cls in configurations_of(model)}
    assert claims <= {name for _, _, name in shown}
