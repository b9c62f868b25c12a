"""Logs of the race on the real runtime: explained where it is right, rejected where it is wrong."""

import json
from collections.abc import Sequence

import pytest

from falsework.conformance.observed import Known, Validation, validate
from falsework.conformance.observed_log import header_of
from falsework.conformance.observed_steps import Steps
from falsework.definition import definition_of
from falsework.models.recoverable_invocation.race_driven import AsBuilt
from falsework.runtime.subjects.race_log import RaceLogs, RaceWalk
from falsework.twins.runtime import race, race_sweep
from falsework.verdict import Verdict

RACE = definition_of(AsBuilt)
KNOWN: Known = {}
"""What the tests of one process have asked the model."""


def logs(walks: int, walk_class: type[RaceWalk] = RaceWalk) -> list[list[str]]:
    class Some(RaceLogs):
        pass

    Some.walks, Some.walk_class = walks, walk_class
    subject = Some()
    subject.begin(header_of(RACE))
    return [lines for _, lines in subject.logs()]


def judged(lines: Sequence[str], known: Known = KNOWN) -> Validation:
    return validate(RACE, "act", lines, repair=False, known=known)


@pytest.mark.slow
def test_what_an_act_logs_is_explained() -> None:
    found = [judged(lines) for lines in logs(100)]
    assert [(v.problem, v.rejection) for v in found if v.verdict is not Verdict.HOLDS] == []
    # Acts that are closed by their caller, refused, swept up, given up, and cut off by a death.
    told = [json.loads(line) for v in found if v.log for line in (e.text for e in v.log.events)]
    answers = {(line.get("action"), line.get("answer")) for line in told}
    assert {
        ("close_returns", "LANDED_BY_INVOCATION"),
        ("close_returns", "REFUSED"),
        ("run_returns", "CLOSED"),
        ("run_returns", "ABANDONED"),
        ("run_returns", "ESCALATED"),
        ("open_returns", "RECORDING_FAILURE_INTENT"),
    } <= answers
    assert sum(v.log is not None and bool(v.log.pending) for v in found) > 0


class _InTheBackground(RaceWalk, race.OpenInTheBackground):
    """The caller is told that the act is open before its intent has landed."""


class _WithoutALowerEdge(RaceWalk, race_sweep.SweepWithoutALowerEdge):
    """A run takes the section of an act whose invocation may still be at work."""


class _OutageForAbsence(RaceWalk, race_sweep.OutageTakenForAbsence):
    """The store is away, and a run writes a closing all the same."""


class _Chooses(RaceWalk, race_sweep.SweepThatChooses):
    """The store cannot tell, and an outcome lands."""


class _CountsWhatItSent(RaceWalk, race_sweep.RunThatCountsWhatItSent):
    """A run says that it has closed the act, and no closing has landed."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong, action",
    [
        (_InTheBackground, "open_returns"),
        (_WithoutALowerEdge, "run_takes"),
        (_OutageForAbsence, "run_issues"),
        (_Chooses, "land"),
        (_CountsWhatItSent, "run_returns"),
    ],
)
def test_a_wrong_runtime_is_betrayed_by_its_log(wrong: type[RaceWalk], action: str) -> None:
    named = set()
    for lines in logs(40, wrong):
        rejected = judged(lines).rejection
        if rejected is not None and rejected.event.action is not None:
            named.add(rejected.event.action.name)
    assert action in named


@pytest.mark.slow
def test_a_record_that_the_journal_does_not_tell_is_missed() -> None:
    """The landing of a closing is left out: whoever says afterwards that it landed is rejected."""
    missed = 0
    for lines in logs(60):
        body = [json.loads(line) for line in lines]
        if any(line.get("answer") in ("LANDED_BY_INVOCATION", "CLOSED", "ABANDONED") for line in body):
            place = max(i for i, line in enumerate(body) if line.get("node") == "journal")
            without = [*lines[:place], *lines[place + 1 : -1], json.dumps({"end": body[-1]["end"] - 1})]
            assert judged(without).verdict is Verdict.VIOLATED
            missed += 1
    assert missed > 5


@pytest.mark.slow
def test_packed_states_and_the_class_count_the_same() -> None:
    for lines in logs(4)[1:4:2]:  # the shorter ones: of the class each step takes a tenth of a millisecond
        found = []
        for packed_after in (0, 10**9):
            hidden = judged(lines).log
            assert hidden is not None
            steps = Steps(RACE, hidden.hidden, packed_after=packed_after)
            known: Known = {tuple(action.name for action in hidden.hidden): steps}
            done = judged(lines, known)
            assert (steps.packed is None) == (packed_after > 0)
            found.append((done.verdict, done.most, done.survivors, done.violated, done.possible))
        assert found[0] == found[1]
