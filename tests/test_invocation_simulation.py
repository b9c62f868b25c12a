"""Seeded schedules of a whole deployment: whatever dies, sleeps, lies or is away, each act has one account.

The claims are the text's invariants 1, 2, 3, 5 and 8, read off the journal and the store by code that shares
nothing with the protocol's. A control without the journal's fence shows that the schedules can break them.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from falsework.runtime.invocation.answers import Opened
from falsework.runtime.invocation.closing import Sweep
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.use import ActRefused, ConstituentRefused, Invocation, Unrecorded
from falsework.runtime.subjects.lease import in_memory
from falsework.runtime.trail import Record
from simulated import Plan, Simulation, plan_of, template

CLOSING_WORDS = ("disclosed", "refused", "abandoned", "escalated")
MUST_FIRE = (
    "crash between two steps",
    "pause",
    "refusal",
    "commit fenced out",
    "write fenced out",
    "lost reply of the commit",
    "request of a write lost",
    "reply of a write lost",
    "record not placed",
    "store failed",
    "commit of the store unknown",
    "journal away",
    "store away",
    "node started again",
    "resolution",
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="falsework-simulation-", dir=in_memory()) as name:
        yield Path(name)


def simulated(seed: int, folder: Path, plan: Plan | None = None) -> Simulation:
    """The seed's run; its journal's file is gone when the next one is made."""
    founded = folder / "template.db"
    if not founded.exists():
        template(folder)
    for rest in ("", "-wal", "-shm", ".turn", ".next"):
        (folder / f"run.db{rest}").unlink(missing_ok=True)
    made = Simulation(seed, folder / "run.db", founded, plan)
    made.run()
    return made


def by_invocation(records: list[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        assert record.data is not None
        found.setdefault(str(record.data["invocation_id"]), []).append(record)
    return found


def named_by(record: Record) -> list[str]:
    assert record.data is not None
    names = record.data.get("supersedes", [])
    return [names] if isinstance(names, str) else [str(name) for name in names]  # type: ignore[union-attr]


def standing_closings(records: list[Record]) -> list[Record]:
    closings = [record for record in records if record.action_ref.partition(".")[2] in CLOSING_WORDS]
    named = {name for record in closings for name in named_by(record)}
    return [record for record in closings if record.event_id not in named]


def wrong(run: Simulation) -> list[str]:
    """Every claim that does not hold at the end."""
    found: list[str] = []
    applied = run.constituent.applied
    found += [f"datum {datum} was committed {len(at)} times" for datum, at in applied.items() if len(at) > 1]
    accounted: set[int] = set()
    rivals = {
        finding.invocation_id for finding in run.last.findings() if "duplicate" in finding.finding.value
    }
    for invocation_id, records in by_invocation(run.records()).items():
        intents = [record for record in records if record.action_ref.endswith(".intended")]
        if len(intents) != 1 or intents[0] is not records[0]:
            found.append(f"{invocation_id} has {len(intents)} intents, or not first")
            continue
        assert intents[0].data is not None
        datum = int(str(intents[0].data["disclosed_at"]))
        accounted.add(datum)
        standing = standing_closings(records)
        if not standing:
            found.append(f"{invocation_id} is not accounted for")
        if len(standing) > 1 and (run.plan.journal_fence or invocation_id not in rivals):
            found.append(f"{invocation_id} has {len(standing)} closings, and it is not told of")
        found += [f"{invocation_id}: {text}" for text in _untrue(run, datum, intents[0], records)]
    found += [f"datum {datum} was committed without an intent" for datum in applied if datum not in accounted]
    return [*found, *_at_once(run), *_wrongly_told(run, accounted)]


def _at_once(run: Simulation) -> Iterator[str]:
    """Two intents of one act that stood open together, or one that came after an outcome that bars it."""
    open_intent: dict[str, str] = {}
    landed: set[str] = set()
    for record in run.records():
        assert record.data is not None
        key, word = str(record.data["act_key"]), record.action_ref.partition(".")[2]
        invocation_id = str(record.data["invocation_id"])
        if word == "intended":
            if key in open_intent and run.plan.journal_fence:
                yield f"{invocation_id} was opened beside {open_intent[key]}"
            if key in landed and not run.plan.repeatable:
                yield f"{invocation_id} was opened after the act had landed"
            open_intent[key] = invocation_id
        elif word in CLOSING_WORDS and open_intent.get(key) == invocation_id:
            del open_intent[key]
        if word == "disclosed" and run.plan.journal_fence:
            landed.add(key)


def _untrue(run: Simulation, datum: int, intent: Record, records: list[Record]) -> Iterator[str]:
    """What the records say that the store does not, or that their writer may not say."""
    happened = datum in run.constituent.applied
    for number, record in enumerate(records):
        word, data = record.action_ref.partition(".")[2], record.data
        assert data is not None
        swept = data.get("recovery") is True and "resolved_by" not in data
        if word == "disclosed" and (not happened or data["datum"] != datum):
            yield "its outcome is invented"
        if word == "refused" and happened:
            yield "it is refused, and it happened"
        if word == "abandoned" and swept and (happened or not run.plan.commit_fence):
            yield "the sweep abandoned what happened, or might have"
        if word == "abandoned" and not swept and happened:
            yield "the operator abandoned what happened"
        writer = {"ledger-reconciler"} if swept else {intent.actor_ref, data.get("resolved_by")}
        if word in CLOSING_WORDS and record.actor_ref not in writer:
            yield f"{record.actor_ref} wrote its {word}"
        plans = [one for one in records[:number] if one.action_ref.endswith(".recovery_intended")]
        if word == "disclosed" and swept and not plans:
            yield "its recovery was not intended first"


def _wrongly_told(run: Simulation, accounted: set[int]) -> Iterator[str]:
    """What a caller was told that is not so."""
    for datum, code in run.told.items():
        happened = datum in run.constituent.applied
        if code.startswith("closed") and not happened:
            yield f"datum {datum}: told {code}, and it never happened"
        nothing = ("invalid", "act-", "section-", "journal-", "recording-failure(intent)", "no deadline")
        if code.startswith(nothing) and happened:
            yield f"datum {datum}: told {code}, and it happened"
        if code.startswith(nothing[:-1]) and code != "invalid-request" and datum in accounted:
            yield f"datum {datum}: told {code}, and its intent stands"


def swept_through(seeds: range, folder: Path) -> Counter[str]:
    """Every seed's run holds; what went wrong in the world, all together."""
    fired: Counter[str] = Counter()
    for seed in seeds:
        run = simulated(seed, folder)
        problems = wrong(run)
        run.store.close()
        assert not problems, f"seed {seed}, {run.plan}: " + "; ".join(problems)
        fired += run.scheduler.fired
    return fired


@pytest.mark.slow
def test_every_act_is_accounted_for_once(folder: Path) -> None:
    fired = swept_through(range(300), folder)
    assert [what for what in MUST_FIRE if not fired[what]] == []
    boundaries = {what for what in fired if what.startswith("crash at ")}
    assert len(boundaries) > 10


@pytest.mark.deep
def test_every_act_is_accounted_for_once_in_twenty_thousand_schedules(folder: Path) -> None:
    fired = swept_through(range(20_000), folder)
    assert [what for what in MUST_FIRE if not fired[what]] == []


def test_a_seed_replays(folder: Path) -> None:
    """The same seed gives the same journal, record by record, and the same faults."""
    seed = 12_345
    first = simulated(seed, folder)
    told = [(record.event_id, record.recorded_at, record.data) for record in first.records()]
    first.store.close()
    again = simulated(seed, folder)
    assert [(record.event_id, record.recorded_at, record.data) for record in again.records()] == told
    assert again.scheduler.fired == first.scheduler.fired
    again.store.close()
    assert told
    assert plan_of(seed) == first.plan


@pytest.mark.slow
def test_without_the_journals_fence_two_closings_do_land(folder: Path) -> None:
    """The control: pauses alone break the strong form of the invariant, and every such act is told of."""
    doubled = 0
    for seed in range(200):
        plan = Plan(commit_fence=True, journal_fence=False, repeatable=True, keys=1, callers=3)
        run = simulated(seed, folder, plan)
        assert not wrong(run), f"seed {seed}"
        closings = map(standing_closings, by_invocation(run.records()).values())
        doubled += sum(len(standing) > 1 for standing in closings)
        run.store.close()
    assert doubled > 0


# What the schedules would find: each is one decision of the protocol, undone.


def no_re_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep writes without looking whether another closed the act meanwhile."""
    monkeypatch.setattr(Sweep, "_closed_by_another", lambda _: False)


def a_fence_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep abandons acts whose store may still apply them."""
    monkeypatch.setattr(Kind, "fenced", property(lambda _: True))


def a_refusal_of_the_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit whose reply was lost is refused."""
    real = Invocation._yielded

    def refusing(act: Invocation, opened: Opened, detail: str) -> Unrecorded:
        with suppress(ActRefused):
            act._partitioned(opened, ConstituentRefused("invalid-request"))
        return real(act, opened, detail)

    monkeypatch.setattr(Invocation, "_yielded", refusing)


def an_open_that_sees_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """An act is opened beside another that stands open."""
    monkeypatch.setattr(Indexes, "open_intents", lambda *_: [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "mistake, told",
    [
        (no_re_read, "closings"),
        (a_fence_that_is_none, "the sweep abandoned what happened, or might have"),
        (a_refusal_of_the_unknown, "it is refused, and it happened"),
        (an_open_that_sees_nobody, "was opened beside"),
    ],
)
def test_a_wrong_protocol_is_found(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    mistake: Callable[[pytest.MonkeyPatch], None],
    told: str,
) -> None:
    mistake(monkeypatch)
    for seed in range(300):
        run = simulated(seed, folder)
        problems = wrong(run)
        run.store.close()
        if any(told in problem for problem in problems):
            return
    pytest.fail("no seed of 300 shows it")
