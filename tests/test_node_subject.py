"""A lease in JavaScript behind JSON lines: it conforms, and without one guard it is rejected at once.

By hand: a lease lasts three ticks, so what needs its end takes a take, three ticks, and whatever shows it.
"""

from pathlib import Path

import pytest

from falsework.conformance.finding import find_subject, wrong_subjects
from falsework.gate import conform
from falsework.gate_answers import Asked
from falsework.gate_subjects import Walking, subject_answer

LEASE = str(Path(__file__).parent / "subjects" / "lease.toml")

pytestmark = [pytest.mark.node, pytest.mark.slow]


def test_the_lease_in_javascript_conforms_and_its_twins_are_as_declared() -> None:
    report = conform(LEASE, twins=True)
    assert report.exit_code == 0
    done = report.answers[Asked("Lease", "subject", LEASE)].drive
    assert done is not None
    # The counts are those of the model's graph: tests/counts.toml.
    assert (done.states, done.covered, done.transitions) == (404, 4906, 4906)
    assert done.hidden == {}
    assert all(done.observable.values())


@pytest.mark.parametrize(
    "name, steps, broken",
    [
        (
            "ForgetsTheTerminus",
            "ask(0) pass_time() pass_time() pass_time() remaining(0)",
            {"remaining_answers_the_truth": 5, "nobody_but_the_holder_releases": 5},
        ),
        # One tick is the allowance: at its instant, two ticks after the grant, the lease has one left, so the
        # act is admitted where the model says LATE, and no lease is overrun.
        ("CountsTheInstantIn", "ask(0) mint(0) pass_time() pass_time() admit()", {}),
    ],
)
def test_without_one_guard_it_is_rejected_by_a_shortest_trace(
    name: str, steps: str, broken: dict[str, int]
) -> None:
    wrong = next(twin for twin in wrong_subjects(find_subject(LEASE)) if twin.name == f"{LEASE}:{name}")
    answer = subject_answer(Walking(0), Asked("Lease", "subject", wrong.name), wrong)
    assert answer.drive is not None
    assert answer.drive.divergence is not None
    assert answer.drive.divergence.shortest
    assert " ".join(map(str, answer.drive.divergence.path)) == steps
    assert answer.breaches is not None
    assert {prop: breach.steps for prop, breach in answer.breaches.found.items()} == broken
