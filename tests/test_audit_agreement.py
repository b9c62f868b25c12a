"""The auditor and the models say the same of 2,000 simulated histories, half of them of wrong runtimes.

Whatever one of the two finds, the other finds something about the same invariant of the text, or nothing was
found by either. A mistake that left no trace in a history is no mistake of that history.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import audited_histories
from audited_histories import History, Verdicts, picked, verdicts
from falsework.runtime.audit.corroborated import Corroboration
from falsework.runtime.audit.judged import Records
from falsework.runtime.subjects.lease import in_memory
from falsework.twins.runtime.audited import FORGED_PURGE, UNREAD_NOTE, Bend, Stranger, bends
from simulated import CREDENTIALS, Plan, plan_of, template

BENDS = bends(picked, Stranger("olga", CREDENTIALS["olga"]))
ENDINGS = {
    "a purge that forges absence": FORGED_PURGE,
    "a notary that signs what it did not read": UNREAD_NOTE,
}
CLEAN, EACH = 1_000, 1_000
SHARE = 250
WRONG = {
    **dict.fromkeys((*BENDS, *ENDINGS), 111),
    "adoption by equal value": 112,  # so that they are a thousand
}
CALLERS = {"adoption by equal value": 8, "no fence": 8}


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="falsework-audited-", dir=in_memory()) as name:
        template(Path(name))
        yield Path(name)


def history(folder: Path, seed: int, plan: Plan, bend: Bend | None, ending: str | None) -> Verdicts:
    """One history, to its end, and both verdicts on it."""
    path = folder / "run.db"
    for rest in ("", "-wal", "-shm", "-turn", "-next"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    run = History(seed, path, folder / "template.db", plan, bend)
    try:
        run.run()
        run.ends(ending, seed)
        return verdicts(run, path)
    finally:
        run.store.close()


def plan_for(mistake: str, seed: int) -> Plan:
    """One act and many callers; what is declared varies, but a fence that is missed is declared."""
    fence = mistake == "no fence" or seed % 2 == 0
    return Plan(bool(seed % 4), fence, repeatable=True, keys=1, callers=CALLERS.get(mistake, 4))


def test_there_are_two_thousand_of_them_half_of_them_wrong() -> None:
    assert sum(WRONG.values()) == EACH
    assert CLEAN % SHARE == 0


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, CLEAN, SHARE))
def test_of_a_right_runtime_they_say_the_same(folder: Path, first: int) -> None:
    looked, records = Counter[str](), 0
    for seed in range(first, first + SHARE):
        plan = plan_of(seed)
        found = history(folder, seed, replace(plan, callers=plan.callers + 3), None, None)
        assert found.disagreements == [], f"seed {seed}"
        records += found.audit.subject.records
        looked += Counter({check.number: check.looked_at for check in found.audit.checks})
        fenced = seed & 2
        assert not fenced or not found.auditor, f"seed {seed}: {list(found.auditor)}"
    assert records > 10 * SHARE
    # Whatever a journal of this world can have is in some of them; no kind of it is unbound or unattended.
    unseen = [number for number, count in looked.items() if not count]
    assert set(unseen) <= {"3.2", "3.3", "3.4", "3.5"}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG)
def test_of_a_wrong_runtime_they_say_the_same(folder: Path, mistake: str) -> None:
    bend, check = BENDS.get(mistake, (None, ENDINGS.get(mistake, "")))
    rejected = 0
    for seed in range(WRONG[mistake]):
        found = history(folder, seed, plan_for(mistake, seed), bend, mistake if mistake in ENDINGS else None)
        assert found.disagreements == [], f"seed {seed}"
        rejected += check in found.auditor
    assert rejected > 0, f"no history shows it to check {check}"


# The controls: a verdict that is not reached is missed.


def disagreeing(folder: Path, mistake: str) -> str:
    """The first disagreement about the mistake's histories."""
    bend, _ = BENDS[mistake]
    for seed in range(WRONG[mistake]):
        if found := history(folder, seed, plan_for(mistake, seed), bend, None).disagreements:
            return found[0]
    return "none"


@pytest.mark.slow
@pytest.mark.parametrize(
    "part, method, mistake",
    [
        (Corroboration, "_outcome", "a sweep that picks a candidate"),
        (Records, "_shape", "closing under another actor"),
        (Records, "_closings", "blind retry of a lost reply"),
    ],
)
def test_an_auditor_that_looks_away_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, part: type, method: str, mistake: str
) -> None:
    monkeypatch.setattr(part, method, lambda *_: None)
    assert disagreeing(folder, mistake).startswith("the models alone: ")


@pytest.mark.slow
def test_a_model_that_looks_away_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audited_histories, "judged", lambda *_: iter(()))
    assert disagreeing(folder, "blind retry of a lost reply").startswith("the auditor alone: ")
